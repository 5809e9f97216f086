//===- Choices.h - Which runs of a kernel are tried -----------------------===//
//
// What is asked of all runs of a kernel is tried on a few:
//
//   usual   every loop 0, 1, 2, 3, and more times than the longest distance
//           each loop in turn not at all, or once within longer ones
//           each loop in turn, with those around it, three times, and all others once
//           all of them another number of times at each entry
//           those that diverge another number of times on each engine;
//           each with several decisions of branches and guards, if there are any, and loops in
//           loops less often where the run would be too long
//   decided branches that are decided alike at each entry: all ways if there are few, or all
//           taken, none, and each one in turn alone or left out
//   rare    for two that may conflict, and that meet (Meetings.h) in none of these, a run in which
//           they do: where the two touch the same is asked of isl (Deps/Encounter.h), and the run
//           is enumerated before it counts (RunsTo.h)
//
//   turns   runs in which the counters of code pass the numbers in it; Turns.h
//
//   writes X[0] if A == 998   reads X[0] if A == 999      A runs 1000 times
//   writes X[A]               reads X[900] if B == 600    A runs 901 times, B 601 times
//   writes X[A + k]           reads X[C]                  C once where C == A + k
//
// Two that can never meet need no run. All others that meet in no run are told: there, code was
// compared with nothing.
//
// The same kernel has the same choices in each check. What is given is in all of them as it is,
// and the rest is chosen as if the kernel bounded it so (Bindings::narrow).
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_CHOICES_H
#define TALLY_CHECK_CHOICES_H

#include "tally/Check/Race.h"
#include "tally/Deps/Encounter.h"

namespace tally {

/// Two that may conflict, the first before the second; without accesses those of a dependence.
struct Apart {
  Party first, second;
};

/// One run.
struct RunChoice {
  Bindings bindings;
  std::vector<std::string> options; ///< `--trips` values that say the same
  uint64_t guards = 0;
  /// Perhaps it has more iterations than ever happen.
  bool isRare = false;
  std::vector<Apart> meeting; ///< of a rare one: what no run before it brings together

  /// Binds what is not bound yet, within the bounds of the kernel.
  void bind(const Kernel &kernel, RunValueId id, uint64_t number);
  void bind(const Kernel &kernel, LoopId id, EngineId engine, std::vector<uint64_t> trips);
};

/// Nothing is given.
inline RunChoice nothingGiven(const Kernel &kernel) {
  return {Bindings(kernel), {}, 0, false, {}};
}

struct ChosenRuns {
  std::vector<RunChoice> runs;
  std::vector<Apart> apart; ///< they meet in none of the runs; one for all whose tiles are the same
  bool leavesOut = false;   ///< there are more pairs than were looked at
};

/// `asked`: the kernel with all dependences that code for it is held to. `given`: what all runs
/// have in common.
ChosenRuns chooseRuns(const Kernel &kernel, const Kernel &asked, const Machine &machine,
                      const RunChoice &given, const StopFlag *stop = nullptr);

/// Performs one after the other, with `options.seconds` for all together, and then what is left of
/// that. Calls visit(choice, result), which says whether to go on; but not for rare runs in which a
/// tile leaves its buffer, so that they never happen, or that take too long.
void raceRuns(const Kernel &kernel, const Code &code, const Machine &machine,
              const std::vector<RunChoice> &choices, RaceOptions &options,
              const std::function<bool(const RunChoice &, RaceResult)> &visit);

/// Whether a run of an access may touch the same as another that it may conflict with.
bool mayMeetAny(const Kernel &kernel, const Machine &machine, Party party);

/// What has to hold for a run of an instruction: `loop 'A' runs, branch 'c' is not taken`; empty if
/// it always runs.
std::string whenRuns(const Kernel &kernel, InstrId instr);

/// A tile, and what has to hold for a run to touch it: `X[0:1]`, `A == 999`.
struct TouchText {
  std::string tile;
  std::string needs; ///< empty: no guard
};

TouchText touchText(const Kernel &kernel, AccessId access);

/// A branch that all engines decide alike, or that one of them decides for itself.
struct Decision {
  LoopId branch;
  EngineId engine; ///< none: all
};

/// Those that are not given.
std::vector<Decision> decisionsOf(const Kernel &kernel, const Bindings &given);

/// Whether branches or conditions decide how a kernel runs.
bool hasGuards(const Kernel &kernel);

} // namespace tally

#endif // TALLY_CHECK_CHOICES_H
