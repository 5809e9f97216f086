//===- Choices.h - Which runs of a kernel are tried -----------------------===//
//
// What is asked of all runs of a kernel is tried on a few:
//
//   usual   every loop 0, 1, 2, 3, and more times than the longest distance
//           each loop in turn not at all, or once within longer ones
//           each loop in turn, with those around it, three times, and all others once
//           all of them another number of times at each entry
//           those that diverge another number of times on each engine;
//           each with several decisions of branches and guards, if there are any
//   rare    for two that may conflict, and that none of these is seen to bring together, a run that
//           does (Encounter.h)
//
//   writes X[0] if A == 998   reads X[0] if A == 999      A runs 1000 times
//   writes X[A]               reads X[900] if B == 600    A runs 901 times, B 601 times
//
// The same kernel has the same choices, whoever asks.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CHECK_CHOICES_H
#define TALLY_CHECK_CHOICES_H

#include "tally/Check/Race.h"

namespace tally {

/// One run.
struct RunChoice {
  Bindings bindings;
  std::vector<std::string> options; ///< `--trips` values that say the same
  uint64_t guards = 0;
  /// Perhaps it has more iterations than ever happen.
  bool isRare = false;
};

/// `asked`: the kernel with all dependences that code for it is held to. `leavesOut` tells whether
/// there are more rare runs than are tried.
std::vector<RunChoice> chooseRuns(const Kernel &kernel, const Kernel &asked, const Machine &machine,
                                  bool *leavesOut = nullptr);

/// Performs one after the other, with `options.seconds` for all together, and then what is left of
/// that. Calls visit(choice, result), which says whether to go on; but not for rare runs in which a
/// tile leaves its buffer, so that they never happen, or that take too long.
void raceRuns(const Kernel &kernel, const Code &code, const Machine &machine,
              const std::vector<RunChoice> &choices, RaceOptions &options,
              const std::function<bool(const RunChoice &, RaceResult)> &visit);

/// What some run has to do, else two that may conflict were never compared: each access that is one
/// of such two, and each instruction that has such an access, or a dependence, and may run.
struct Comparable {
  IdVector<AccessId, bool> accesses;
  IdVector<InstrId, bool> instrs;
};

Comparable findComparable(const Kernel &kernel, const Machine &machine);

/// An access of an instruction.
struct Toucher {
  InstrId instr;
  AccessId access;
};

/// The first few pairs of accesses that may conflict and were touched, but not in one run.
/// `touched` is by run.
std::vector<std::pair<Toucher, Toucher>>
neverTogether(const Kernel &kernel, const Machine &machine,
              const std::vector<IdVector<AccessId, bool>> &touched);

/// False if the guards of an access are seen to hold in no iteration, whatever the trips.
bool mayTouch(const Kernel &kernel, AccessId access);

/// What has to hold for a run of an instruction: `loop 'A' runs, branch 'c' is not taken`; empty if
/// it always runs.
std::string whenRuns(const Kernel &kernel, InstrId instr);

/// A tile, and what has to hold for a run to touch it: `X[0:1]`, `A == 999`.
struct TouchText {
  std::string tile;
  std::string needs; ///< empty: no guard
};

TouchText touchText(const Kernel &kernel, AccessId access);

/// Whether branches or conditions decide how a kernel runs.
bool hasGuards(const Kernel &kernel);

} // namespace tally

#endif // TALLY_CHECK_CHOICES_H
