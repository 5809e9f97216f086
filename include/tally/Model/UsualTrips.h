//===- UsualTrips.h - How often loops run if nothing is said --------------===//
#ifndef TALLY_MODEL_USUALTRIPS_H
#define TALLY_MODEL_USUALTRIPS_H

#include <cstdint>

namespace tally {

/// What Bindings::bindOpen() is given for one run, as of `tally sim`: enough for pipelines to fill.
inline constexpr uint64_t usualTrips = 16;

} // namespace tally

#endif // TALLY_MODEL_USUALTRIPS_H
