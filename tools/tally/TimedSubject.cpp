//===- TimedSubject.cpp - What is run in time -----------------------------===//

#include "TimedSubject.h"

#include "Progress.h"

#include "tally/Compile/Compile.h"
#include "tally/Support/Counted.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tally::tool {

void TimeOptions::add(CLI::App &command) {
  subject.common.addMachine(command);
  subject.values.add(command);
  declare(
      command,
      {{"--set", settings, "change a price of the machine: ctl.alu=20ns", writtenAs("PRICE=VALUE")},
       {"--seed", seed, "if not 0: random delays, from this seed", integerIn(0)},
       {"--jitter", jitter, "the longest random delay, in percent", integerIn(0, 1000)},
       {"--max-operations", maxOperations, "cut a run off after this many operations",
        integerIn(1)}});
  refuseIf(command, {"--jitter"}, "without a '--seed' other than 0", [this] { return seed == 0; });
}

SimOptions TimeOptions::simOptions(const Code &code) const {
  SimOptions options;
  options.seed = seed;
  options.jitterPercent = jitter;
  options.freeSync = code.strategy == Strategy::Ideal;
  options.maxOperations = maxOperations;
  options.stop = subject.stop;
  return options;
}

std::string TimeOptions::changesText() const {
  std::string text = settings.empty() ? "" : fmt::format("set: {}\n", fmt::join(settings, " "));
  return text + (seed == 0 ? "seed: 0, no random delays\n"
                           : fmt::format("seed: {}, delays of up to {}%\n", seed, jitter));
}

/// The runs that the floor goes through take some memory each.
static constexpr uint64_t mostEntriesForFloor = 50'000'000;

TimeBounds boundsOf(const Kernel &kernel, const Machine &machine, const Timing &timing,
                    const InstrCosts &costs, const Bindings &bindings, const TimeOptions &time) {
  nowDoing("finding bounds");
  TimeBounds bounds;
  Request request = time.subject.common.request();
  request.strategy = Strategy::Ideal;
  Diagnostics ignored; // why there is no such code, other commands say
  if (std::optional<Compiled> ideal = compile(kernel, request, machine, ignored)) {
    SimResult result = simulate(kernel, ideal->code, machine, timing, costs, bindings,
                                time.simOptions(ideal->code));
    if (result.outcome == SimResult::Outcome::Finished) {
      bounds.ideal = result.total;
      bounds.numInexact = numInexact(ideal->plan);
    }
  }
  bounds.floor = floorOf(kernel, costs, bindings,
                         {std::min(mostEntriesForFloor, time.maxOperations), time.subject.stop});
  return bounds;
}

std::optional<Timing> timingOf(const Machine &machine) {
  std::vector<std::string> errors;
  std::optional<Timing> timing = Timing::of(machine, errors);
  for (const std::string &error : errors) {
    complain(error);
  }
  return timing;
}

std::optional<std::vector<Subject>> timedSubjects(std::vector<LoadedKernel> kernels,
                                                  const CheckOptions &options, Session &session) {
  std::optional<std::vector<Subject>> subjects = makeSubjects(std::move(kernels), options, session);
  for (size_t i = 0; subjects && i < subjects->size(); ++i) {
    const Subject &subject = (*subjects)[i];
    if (subject.code.strategy == Strategy::Ideal && subject.numInexact > 0) {
      tellNote(fmt::format("{} {} no exact wait, so this is not quite the bound",
                           counted(subject.numInexact, "dependence"),
                           subject.numInexact == 1 ? "has" : "have"));
    }
  }
  return subjects;
}

Exit exitOf(const SimResult &result) {
  return result.outcome == SimResult::Outcome::CutOff     ? Exit::Undecided
         : result.outcome == SimResult::Outcome::Deadlock ? Exit::No
                                                          : Exit::Yes;
}

} // namespace tally::tool
