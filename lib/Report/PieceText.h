//===- PieceText.h - What a piece of a timeline is, in words --------------===//

#ifndef TALLY_LIB_REPORT_PIECETEXT_H
#define TALLY_LIB_REPORT_PIECETEXT_H

#include "tally/Report/Report.h"

namespace tally::report {

/// Some lines of plain text: the instruction or operation with its iterations; times; of a wait,
/// semaphore, threshold, dependences and what ended it.
std::string pieceText(const Kernel &kernel, const Timeline &timeline, const Lane &lane,
                      const Piece &piece);

} // namespace tally::report

#endif // TALLY_LIB_REPORT_PIECETEXT_H
