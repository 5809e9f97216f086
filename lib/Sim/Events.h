//===- Events.h - What happens next ---------------------------------------===//
//
// Everything that can have a next event (an *actor*) has one slot with its time. There are few of
// them, as queues work in order, so that finding the earliest is a handful of comparisons.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_SIM_EVENTS_H
#define TALLY_LIB_SIM_EVENTS_H

#include "tally/Machine/Timing.h"

#include <bit>
#include <cassert>
#include <vector>

namespace tally::sim {

inline constexpr Tick never = UINT64_MAX;

/// A moment in the order of events: a time, and the actor that comes first among those of that
/// time.
struct Moment {
  Tick time = never;
  uint32_t actor = UINT32_MAX;

  auto operator<=>(const Moment &) const = default;
};

/// A tournament: each inner node knows the earlier one of its two sides; of equals the lower actor.
class EventTree {
public:
  explicit EventTree(uint32_t numActors)
      : size(std::bit_ceil(std::max(numActors, 2u))), times(size, never), winner(2 * size) {
    for (uint32_t i = 0; i < size; ++i) {
      winner[size + i] = i;
    }
    for (uint32_t node = size; --node > 0;) {
      winner[node] = winner[2 * node];
    }
  }

  void set(uint32_t actor, Tick time) {
    times[actor] = time;
    for (uint32_t node = (size + actor) / 2; node > 0; node /= 2) {
      uint32_t left = winner[2 * node];
      uint32_t right = winner[2 * node + 1];
      winner[node] = times[right] < times[left] ? right : left;
    }
  }

  Moment first() const { return {times[winner[1]], winner[1]}; }

private:
  uint32_t size;
  std::vector<Tick> times;
  std::vector<uint32_t> winner;
};

} // namespace tally::sim

#endif // TALLY_LIB_SIM_EVENTS_H
