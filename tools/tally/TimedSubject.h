//===- TimedSubject.h - What is run in time -------------------------------===//
//
// Subjects as for `tally check`, and one more way to synchronise: `ideal`, the bound.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_TIMEDSUBJECT_H
#define TALLY_TOOLS_TALLY_TIMEDSUBJECT_H

#include "CheckCommand.h"

#include "tally/Sim/Bounds.h"

namespace tally::tool {

/// Options of commands that run code in time.
struct TimeOptions {
  CheckOptions subject; ///< kernel, code, strategy, machine, trips
  std::vector<std::string> settings;
  uint64_t seed = 0;
  uint32_t jitter = 25;
  uint64_t maxOperations = 10'000'000'000;

  TimeOptions() { subject.common.needsTimes = true; }

  /// All but the kernel, its code and the strategy.
  void add(CLI::App &command);

  SimOptions simOptions(const Code &code) const;

  /// Which prices are changed, and what delays there are: a line each.
  std::string changesText() const;
};

/// What no code of this kernel can fall below.
TimeBounds boundsOf(const Kernel &kernel, const Machine &machine, const Timing &timing,
                    const InstrCosts &costs, const Bindings &bindings, const TimeOptions &time);

/// What operations cost on a machine; none, with the reasons reported, if it does not say that.
std::optional<Timing> timingOf(const Machine &machine);

/// The code of these kernels; none, with the reasons reported.
std::optional<std::vector<Subject>> timedSubjects(std::vector<LoadedKernel> kernels,
                                                  const CheckOptions &options, Session &session);

/// Yes if a run comes to its end, no if it is stuck.
Exit exitOf(const SimResult &result);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_TIMEDSUBJECT_H
