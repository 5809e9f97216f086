//===- Places.h - How places are shown ------------------------------------===//
#ifndef TALLY_SUPPORT_PLACES_H
#define TALLY_SUPPORT_PLACES_H

#include "tally/Support/Diagnostics.h"

namespace tally {

/// `k.py:12:5`
std::string placeText(Location where, const std::vector<std::string> &files);

/// `{"file":"k.py","line":12,"column":5}`; line and column are null where only the file is known,
/// all of it is null where nothing is.
std::string placeJson(Location where, const std::vector<std::string> &files);

} // namespace tally

#endif // TALLY_SUPPORT_PLACES_H
