//===- Carried.cpp - What lets a loop run so often --------------------------===//

#include "Carried.h"

#include <algorithm>
#include <map>

namespace tally::check {
namespace {

class Carrier {
public:
  Carrier(const Kernel &kernel, LoopId loop, const Wanted &wanted, uint64_t largest, uint64_t steps)
      : nest(kernel, loop), wanted(wanted), largest(largest), fuel(steps),
        choice(nest.mostTrips()) {
    for (RunValueId id : nest.values()) {
      open.push_back({id, {}, kernel.values[id].min, kernel.values[id].max.value_or(largest)});
    }
    for (LoopId id : nest.free()) {
      const Trip &trip = kernel.loops[id].trip;
      open.push_back({{}, id, trip.least(), trip.most().value_or(largest)});
    }
  }

  void run(Carried &carried) {
    const uint64_t last = std::min(lastRadius(), largest);
    for (uint64_t radius = 0; radius <= last && !open.empty() && isMissing(); ++radius) {
      chosen.assign(open.size(), 0);
      choose(0, radius, false);
    }
    for (const auto &found : {exactTrips, enoughTrips, enoughEntries}) {
      for (const auto &[count, numbers] : found) {
        note(numbers, carried);
      }
    }
  }

private:
  using Choice = std::vector<uint64_t>;

  struct Open {
    RunValueId value; ///< or else loop
    LoopId loop;
    uint64_t least, most;
  };

  uint64_t lastRadius() const {
    uint64_t last = 0;
    for (const Open &each : open) {
      last = std::max(last, each.most);
    }
    return last;
  }

  bool isMissing() const {
    return !fuel.isOut() && (exactTrips.size() < wanted.trips.size() ||
                             enoughEntries.size() < wanted.entries.size());
  }

  /// All choices of numbers up to the radius of which one is that number; each within its bounds.
  void choose(size_t at, uint64_t radius, bool isReached) {
    if (fuel.isOut()) {
      return;
    }
    if (at == open.size()) {
      return isReached ? take() : void();
    }
    const Open &own = open[at];
    const uint64_t last = std::min(radius, own.most);
    const bool mustReach = !isReached && at + 1 == open.size();
    for (uint64_t number = mustReach ? last : std::min(own.least, last); number <= last; ++number) {
      chosen[at] = std::max(number, own.least);
      choose(at + 1, radius, isReached || number == radius);
    }
  }

  void take() {
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i].value.valid()) {
        choice.values[open[i].value.value] = static_cast<int64_t>(chosen[i]);
      } else {
        choice.trips[open[i].loop] = chosen[i];
      }
    }
    uint64_t entries = 0;
    bool isWalked = nest.walk(choice, fuel, [&](const Nest::Reached &reached) {
      takeTrips(reached.trips);
      entries = sumOf(entries, timesOf(reached.times, reached.trips));
      return true;
    });
    for (uint64_t count : wanted.entries) {
      if (isWalked && entries >= count) {
        enoughEntries.try_emplace(count, chosen);
      }
    }
  }

  void takeTrips(uint64_t trips) {
    if (wanted.trips.contains(trips)) {
      exactTrips.try_emplace(trips, chosen);
      enoughTrips.erase(trips);
    }
    for (auto at = wanted.trips.begin(); at != wanted.trips.end() && *at < trips; ++at) {
      if (!exactTrips.contains(*at)) {
        enoughTrips.try_emplace(*at, chosen);
      }
    }
  }

  void note(const Choice &numbers, Carried &carried) const {
    for (size_t i = 0; i < open.size(); ++i) {
      (open[i].value.valid() ? carried.values[open[i].value] : carried.trips[open[i].loop])
          .insert(numbers[i]);
    }
  }

  const Nest nest;
  const Wanted &wanted;
  const uint64_t largest;
  Fuel fuel;
  NestChoice choice;
  std::vector<Open> open;
  Choice chosen;
  std::map<uint64_t, Choice> exactTrips, enoughTrips, enoughEntries; ///< by what is wanted
};

} // namespace

void carryBack(const Kernel &kernel, LoopId loop, const Wanted &wanted, uint64_t largest,
               uint64_t steps, Carried &carried) {
  Carrier(kernel, loop, wanted, largest, steps).run(carried);
}

} // namespace tally::check
