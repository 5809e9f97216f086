//===- Bindings.h - Run-time values for one run of a kernel ---------------===//
//
// What a kernel leaves to run time, bound the same way by every command:
//
//   --trips=A=64        every entry of loop A (or every loop with value "A") runs 64 times
//   --trips=n=64        the value `$n` is 64, wherever it stands
//   --trips=B=3,0,4     its entries run 3, 0, 4 times, then again from the start
//   --trips=B@act=1,2   only on engine act; for divergent loops
//   --guards=7          branches and while-loops: pseudo-random with this seed,
//                       the same on all engines unless divergent
//
// Where there are several kernels, a name counts for those that have it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_BINDINGS_H
#define TALLY_MODEL_BINDINGS_H

#include "tally/Model/Tiles.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace tally {

class Bindings {
public:
  /// Nothing is set; guards go as with the seed 0.
  explicit Bindings(const Kernel &kernel);

  /// Reads `--trips` values (without the option's name) and a guard seed; reports
  /// unknown loops and engines, numbers outside the loop's bounds, trips for constant loops
  /// that contradict the constant, and per-engine trips for uniform loops.
  static Bindings parse(const Kernel &kernel, std::span<const std::string> trips,
                        std::optional<uint64_t> guardSeed, Diagnostics &diagnostics);

  /// Which of these values are for each of the kernels of an input: those whose name it has. A name
  /// that none of them has is reported.
  static std::vector<std::vector<std::string>> divide(std::span<const Kernel *const> kernels,
                                                      std::span<const std::string> trips,
                                                      Diagnostics &diagnostics);

  /// Sets the trips of a loop on one engine (none: on all), by entry, repeated when they run out.
  void set(LoopId loop, std::vector<uint64_t> tripsByEntry, EngineId engine = {});

  /// Binds a value of the kernel for the whole run.
  void setValue(RunValueId id, uint64_t number) {
    known[id.value] = static_cast<int64_t>(number);
    isBound[id.value] = true;
  }

  /// All values of the kernel, by number. One that was not bound is max(min, min(2, max)).
  std::span<const int64_t> values() const { return known; }

  /// Binds everything that was left open to the number within its bounds that is closest to
  /// `usual`, and says so as `--trips` does: {"n=16", "B=4"}.
  std::vector<std::string> bindOpen(uint64_t usual);

  bool isSet(RunValueId id) const { return isBound[id.value]; }

  /// Whether the trips of a loop are set, on all engines or on each; a seed sets all conditions.
  bool isSet(LoopId loop) const;

  /// On one engine; none: on all.
  bool isSet(LoopId loop, EngineId engine) const;

  /// Whether a loop or branch may run as often as each run chooses.
  bool leavesOpen(LoopId loop) const;

  /// Whether branches or conditions go as a seed says that was not given.
  bool leavesGuardsOpen() const;

  /// Whether there is one such run only.
  bool isComplete() const;

  /// Whether what is set lets no run enter a body.
  bool keepsOut(LoopId body) const;

  /// Bounds values, and loops whose trips are set, by what they are set to. `bounded` is this
  /// kernel, or one that has the same loops and values.
  void narrow(Kernel &bounded) const;

  void setGuardSeed(uint64_t seed) { guardSeed = seed; }

  /// How often loop `id`, which has no formula and no condition, runs on `engine` the `entry`-th
  /// time (from 1) that its statement is reached. For branches 0 or 1: the else-branch runs when
  /// the then-branch does not. A run-time value that was not bound runs max(min, min(2, max))
  /// times.
  uint64_t trips(EngineId engine, LoopId id, uint64_t entry) const;

  /// The same of any loop: `iterationOf(loop)` is where each of those around it is, from 0.
  template <typename IterationOf>
  uint64_t trips(EngineId engine, LoopId id, uint64_t entry, const IterationOf &iterationOf) const {
    const Trip &trip = kernel->loops[id].trip;
    if (trip.kind != Trip::Kind::Formula && !trip.condition.valid()) {
      return trips(engine, id, entry);
    }
    auto indexOf = [&](LoopId loop) {
      return LoopIndex{static_cast<int64_t>(iterationOf(loop)), 0, 0};
    };
    if (trip.condition.valid()) {
      return kernel->tiles->conditionOf(id).isMet(indexOf, known) ==
             (kernel->loops[id].kind == LoopKind::Then);
    }
    const BodyTile &formula = kernel->tiles->formulaOf(id);
    int64_t count = *formula.valueAt(formula.access.dims[0].first, indexOf, known);
    return static_cast<uint64_t>(std::max<int64_t>(count, 0));
  }

  /// The fewest and the most times that a loop may run, whatever its entries are. Of a formula that
  /// is left to its values.
  std::pair<uint64_t, uint64_t> tripRange(LoopId id) const;

private:
  const Kernel *kernel;
  std::vector<int64_t> known; ///< by value
  std::vector<bool> isBound;  ///< by value: to a number that was set
  /// By loop; each holds one list for all engines at index 0, then one per engine.
  IdVector<LoopId, std::vector<std::vector<uint64_t>>> byLoop;
  std::optional<uint64_t> guardSeed;
};

} // namespace tally

#endif // TALLY_MODEL_BINDINGS_H
