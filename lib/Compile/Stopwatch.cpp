//===- Stopwatch.cpp - How long code takes, where the machine says so -----===//

#include "tally/Compile/Stopwatch.h"

#include "tally/Code/ControlCost.h"

#include <algorithm>

namespace tally {

/// All runs together simulate at most so many operations of sequencers, and one run so many.
static constexpr uint64_t mostOperations = 48'000'000;
static constexpr uint64_t mostInRun = 400'000;

Stopwatch::Stopwatch(const Kernel &kernel, const Machine &machine, uint64_t trips, double effort)
    : kernel(kernel), machine(machine), bindings(kernel),
      most(static_cast<uint64_t>(effort * static_cast<double>(mostOperations))), left(most) {
  std::vector<std::string> missing;
  if (expectedIssues(kernel) < mostInRun) {
    timing = Timing::of(machine, missing);
  }
  if (timing) {
    Diagnostics ignored; // who simulates the result reports them
    std::optional<InstrCosts> known = instructionCosts(kernel, *timing, ignored);
    costs = known ? std::move(*known) : InstrCosts();
    timing = known ? timing : std::nullopt;
    chosen = bindings.bindOpen(trips);
    assumes = std::ranges::any_of(kernel.loops, [](const Loop &loop) {
      return loop.trip.kind != Trip::Kind::Constant && !loop.trip.condition.valid();
    });
  }
}

std::optional<Tick> Stopwatch::timeOf(const Code &code) {
  if (!hasTimes() || isSpent()) {
    return std::nullopt;
  }
  SimOptions options;
  options.maxOperations = std::min(left, mostInRun);
  SimResult run = simulate(kernel, code, machine, *timing, costs, bindings, options);
  if (run.outcome == SimResult::Outcome::CutOff && left == most) {
    timing.reset(); // the others will not be shorter
  }
  left -= run.operations;
  bool isWhole = run.outcome == SimResult::Outcome::Finished;
  return isWhole ? std::optional(run.total) : std::nullopt;
}

} // namespace tally
