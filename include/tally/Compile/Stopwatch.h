//===- Stopwatch.h - How long code takes, where the machine says so -------===//
//
// Candidates for code are compared by one simulated run each, at the trips that are assumed where
// the kernel leaves them open. Where that is too long, the beginning of the run stands for it,
// until a number of instructions is issued that is the same for all. Work is counted, not timed:
// the same input gets the same answer on every computer.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_STOPWATCH_H
#define TALLY_COMPILE_STOPWATCH_H

#include "tally/Model/UsualTrips.h"
#include "tally/Sim/Simulate.h"

namespace tally {

class Stopwatch {
public:
  /// Of runs that are too long if the first one is.
  enum class Long : uint8_t { None, Beginnings };

  /// `trips` where the kernel leaves them open; `effort` is how much may be simulated in all,
  /// relative to the usual.
  Stopwatch(const Kernel &kernel, const Machine &machine, uint64_t trips = usualTrips,
            double effort = 1, Long ofLong = Long::None);

  /// How long a run takes, or its beginning. Nothing if it does not come to its end, is too long
  /// for this, or if there are no times, or none any more.
  std::optional<Tick> timeOf(const Code &code);

  /// How many instructions are issued until then, where beginnings are timed; none: whole runs are.
  std::optional<uint64_t> numIssued() const { return issued; }

  /// Whether the machine says what things cost, and the first run was not too long.
  bool hasTimes() const { return timing.has_value(); }

  /// Whether every run of the kernel is like the one that is timed: no trips are assumed.
  bool timesEveryRun() const { return hasTimes() && !assumes && !issued; }

  /// The trips that are assumed: `tiles=16`.
  const std::vector<std::string> &assumed() const { return chosen; }

  /// Whether there were times, and there are none any more: all runs together were too long.
  bool isSpent() const { return hasTimes() && left == 0; }

private:
  const Kernel &kernel;
  const Machine &machine;
  std::optional<Timing> timing; ///< none: there are no times
  InstrCosts costs;
  Bindings bindings;
  std::vector<std::string> chosen;
  bool assumes = false; ///< trips, or outcomes of conditions
  const Long ofLong;
  std::optional<uint64_t> issued;
  const uint64_t most; ///< operations that all runs together may simulate
  uint64_t left;       ///< of these
};

} // namespace tally

#endif // TALLY_COMPILE_STOPWATCH_H
