//===- Bounds.h - The time below which no code of a kernel can come -------===//
//
//   ideal   keeps the order of instructions and what loops cost: code of Strategy::Ideal, simulated
//           with SimOptions::freeSync. Nothing that synchronises takes time.
//   floor   a bound on whatever could be done with these instructions
//
// The floor keeps three things, and is the one of them that takes longest:
//
//   queue         works off all its instructions, one after the other
//   bandwidth     is shared by all transfers
//   dependences   a chain of runs of which each reads what the one before it has written (only
//                 raw: of no kind, a dependence may be for room in a buffer)
//
// Nothing else takes time: the order of instructions, sequencers, loops, all that synchronises, and
// waits for room in a buffer.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SIM_BOUNDS_H
#define TALLY_SIM_BOUNDS_H

#include "tally/Sim/Simulate.h"

namespace tally {

struct Floor {
  enum class By : uint8_t { Queue, Bandwidth, Dependences };

  Tick total = 0;
  By by = By::Queue;
  QueueId queue; ///< By::Queue: which
};

template <> inline constexpr auto wordsOf<Floor::By> = words("queue", "bandwidth", "dependences");

/// Of one run of a kernel, with the dependences that it has; implied ones that it lacks can only
/// make the floor lower. Nothing if there are more runs than the fuel is for.
std::optional<Floor> floorOf(const Kernel &kernel, const InstrCosts &costs,
                             const Bindings &bindings, Fuel fuel);

struct TimeBounds {
  std::optional<Tick> ideal;  ///< nothing: there is no such code, or its run did not end
  uint32_t numInexact = 0;    ///< dependences for which the ideal run waits longer than they ask
  std::optional<Floor> floor; ///< nothing: too many runs
};

/// What the floor is due to: `queue 'vector' works without a pause`.
std::string describe(const Kernel &kernel, const Floor &floor);

/// What each bound keeps, and what it is due to.
std::string describeIdeal(const TimeBounds &bounds);
std::string describeFloor(const Kernel &kernel, const Floor &floor);

} // namespace tally

#endif // TALLY_SIM_BOUNDS_H
