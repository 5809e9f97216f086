//===- Picture.h - Timelines as SVG ---------------------------------------===//
#ifndef TALLY_LIB_REPORT_PICTURE_H
#define TALLY_LIB_REPORT_PICTURE_H

#include "tally/Report/Report.h"

namespace tally::report {

/// The element. With `isAlone` it is a document of its own, with its style and its legend.
std::string pictureOf(const Report &report, bool isAlone);

} // namespace tally::report

#endif // TALLY_LIB_REPORT_PICTURE_H
