//===- Encounter.h - Whether two accesses ever touch the same -------------===//
//
// Of two accesses, is there a run of the kernel in which the first touches memory, and after it, in
// the order of the text, the second touches some of it, too? Trips are what the kernel allows,
// different at each entry; branches go either way; run-time values are whatever makes the two meet.
//
//   writes X[0] if A == 998   reads X[0] if A == 999            at A = 998 and A = 999
//   writes X[A + k]           reads X[C]                        where C == A + k, the first such
//   place writes X[2*A]             reads X[2*A + 1]                  never
//
// "Never" is exact; it is not said of questions that are too hard (isl). A place is a proposal:
// counters of entries (`total`) that no run has are possible here, so code that relies on
// it enumerates that run.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_ENCOUNTER_H
#define TALLY_DEPS_ENCOUNTER_H

#include "tally/Model/Tiles.h"

#include <array>
#include <map>
#include <memory>

namespace tally {

/// One of the two; both without access: it is enough that they run.
struct Party {
  InstrId instr;
  AccessId access;

  auto operator<=>(const Party &) const = default;
};

/// Where both are.
struct Encounter {
  /// Negative: whatever it takes.
  static constexpr int64_t any = -1;

  /// Of each of the two: the real loops around it; with `trips` and `total` where tiles ask for
  /// them, of branches, too.
  std::array<std::map<LoopId, LoopIndex>, 2> at;
  std::map<RunValueId, int64_t> values; ///< of those on which it depends
};

class EncounterFinder {
public:
  enum class Answer : uint8_t {
    Never,
    Found,
    Open, ///< too hard, or too far out to be tried
  };

  /// Of a kernel that check() accepts. Iterations and trips of `mostTrips` and more are too far
  /// out.
  EncounterFinder(const Kernel &kernel, int64_t mostTrips);
  ~EncounterFinder();
  EncounterFinder(const EncounterFinder &) = delete;
  EncounterFinder &operator=(const EncounterFinder &) = delete;

  /// A first look: false if their tiles lie apart in all runs.
  bool mayMeet(Party first, Party second) const;

  /// Where the two are close to one another, in few iterations rather than many.
  Answer find(Party first, Party second, Encounter &place);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tally

#endif // TALLY_DEPS_ENCOUNTER_H
