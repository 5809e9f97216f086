//===- Stopwatch.cpp - How long code takes, where the machine says so -----===//

#include "tally/Compile/Stopwatch.h"

#include "tally/Code/ControlCost.h"

#include <algorithm>

namespace tally {

/// All runs together simulate at most so many operations of sequencers, and one run so many.
static constexpr uint64_t mostOperations = 48'000'000;
static constexpr uint64_t mostInRun = 400'000;

/// Of the beginning of a run that is too long.
static constexpr uint64_t numInBeginning = 20'000;

/// Kernels with more are never timed: to write their code takes long enough.
static constexpr size_t mostTimed = 10'000;

Stopwatch::Stopwatch(const Kernel &kernel, const Machine &machine, uint64_t trips, double effort,
                     Long ofLong)
    : kernel(kernel), machine(machine), bindings(kernel), ofLong(ofLong),
      most(static_cast<uint64_t>(effort * static_cast<double>(mostOperations))), left(most) {
  std::vector<std::string> missing;
  const bool isLong = expectedIssues(kernel, trips) >= mostInRun;
  if (!isLong || (ofLong == Long::Beginnings && kernel.instrs.size() <= mostTimed)) {
    timing = Timing::of(machine, missing);
  }
  if (isLong && timing) {
    issued = numInBeginning;
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
  const bool isFirst = left == most;
  SimOptions options;
  options.maxOperations = std::min(left, mostInRun);
  options.maxIssued = issued.value_or(UINT64_MAX);
  SimResult run = simulate(kernel, code, machine, *timing, costs, bindings, options);
  left -= run.operations;
  const bool isWhole = run.outcome == SimResult::Outcome::Finished;
  if (isWhole || (issued && run.instructions >= *issued)) {
    return run.total;
  }
  if (isFirst && run.outcome == SimResult::Outcome::CutOff) { // the others will not be shorter
    if (ofLong == Long::Beginnings && !issued) {
      issued = numInBeginning;
      return timeOf(code);
    }
    timing.reset();
  }
  return std::nullopt;
}

} // namespace tally
