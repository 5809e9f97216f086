//===- Textures.h - How stalls are filled ---------------------------------===//
//
// What is waited for has one of six hues (picture.css); when they run out, the same hues with
// stripes, then with dots, then with stripes the other way. Barriers, draining and full queues have
// textures of their own, so that they are told apart without colour.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_REPORT_TEXTURES_H
#define TALLY_LIB_REPORT_TEXTURES_H

#include "tally/Report/Report.h"

namespace tally::report {

/// Of what is left when there are no more fillings.
inline constexpr const char *otherStyle = "w";

/// The class of each cause.
std::vector<std::string> stylesOf(const std::vector<Cause> &causes);

/// Patterns, and the styles that use them. Pieces of time are drawn stretched by `scale`; there
/// patterns are shrunk as much, to look the same at any zoom.
std::string textures(double scale);

} // namespace tally::report

#endif // TALLY_LIB_REPORT_TEXTURES_H
