//===- Picture.h - Timelines as SVG ---------------------------------------===//
#ifndef TALLY_LIB_REPORT_PICTURE_H
#define TALLY_LIB_REPORT_PICTURE_H

#include "Causes.h"

namespace tally::report {

/// The element. With `isAlone` it is a document of its own: style inside, nothing to ask.
std::string pictureOf(const Report &report, const CauseTable &causes, bool isAlone);

} // namespace tally::report

#endif // TALLY_LIB_REPORT_PICTURE_H
