//===- Compile.cpp - The whole way from kernel to code --------------------===//

#include "tally/Code/Compile.h"

#include "FitRegisters.h"
#include "WriteOut.h"
#include "tally/Code/Choose.h"
#include "tally/Model/Check.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

static std::optional<Compiled> keepWritten(const Kernel &kernel, const Program *written,
                                           const Machine &machine, Diagnostics &diagnostics) {
  if (!written) {
    diagnostics.error(kernel.where,
                      fmt::format("strategy 'manual' keeps the code in the input, but there is no "
                                  "'tally.code @{}'; write one, or let another strategy make it",
                                  kernel.text(kernel.name)));
    return std::nullopt;
  }
  Compiled compiled;
  compiled.program = *written;
  compiled.program.strategy = toString(Strategy::Manual);
  compiled.program.machine = machine.name;
  compiled.program.rules = rulesOf(machine);
  verifyProgram(kernel, compiled.program, diagnostics);
  if (!diagnostics.hasErrors()) {
    checkLimits(kernel, compiled.program, machine, diagnostics);
  }
  return compiled;
}

static bool hasBarrierRegion(const Kernel &kernel) {
  return std::ranges::any_of(kernel.loops,
                             [](const Loop &loop) { return loop.sync == RegionSync::Barrier; });
}

/// A machine whose semaphores leave room for those by which engines meet.
static Machine withRoomToMeet(Machine machine, const Kernel &kernel) {
  if (machine.semaphores) {
    uint32_t used = static_cast<uint32_t>(kernel.engines.size());
    machine.semaphores = *machine.semaphores - std::min(*machine.semaphores, used);
  }
  return machine;
}

/// What is chosen with fewer semaphores may count faster elsewhere.
static std::vector<ResetPoint> withMore(std::vector<ResetPoint> points, const Kernel &kernel,
                                        const PlanOptions &options, const Machine &machine,
                                        Diagnostics &diagnostics) {
  Diagnostics ignored;
  SyncPlan plan = makePlan(kernel, options, ignored);
  std::vector<ResetPoint> more = findResets(kernel, plan, machine, diagnostics);
  std::vector<ResetPoint> all;
  std::ranges::set_union(points, more, std::back_inserter(all), {}, &ResetPoint::loop,
                         &ResetPoint::loop);
  return all;
}

/// Everything chosen; with reset points if that is how counters are kept from overflowing.
static CompileOptions decide(const Kernel &kernel, const CompileOptions &given,
                             const Machine &machine, Diagnostics &diagnostics) {
  Diagnostics found;
  CompileOptions options = choose(
      kernel, given, hasBarrierRegion(kernel) ? withRoomToMeet(machine, kernel) : machine, found);
  if (!countsAtRunTime(options.plan.strategy)) {
    return options;
  }
  Diagnostics ignored; // whoever plans next reports them
  SyncPlan plan = makePlan(kernel, options.plan, ignored);
  std::vector<ResetPoint> resets;
  if (ignored.hasErrors()) {
    return options;
  }
  if (given.overflow == Overflow::Reset) {
    resets = findResets(kernel, plan, machine, found);
  } else {
    checkOverflow(kernel, plan, machine, given.overflow == Overflow::Refuse, found);
  }
  if (!resets.empty() && !found.hasErrors()) {
    found = {};
    options = choose(kernel, given, withRoomToMeet(machine, kernel), found);
    options.plan.resets = withMore(std::move(resets), kernel, options.plan, machine, found);
  }
  diagnostics.append(std::move(found));
  return options;
}

static std::optional<Compiled> plan(const Kernel &kernel, const CompileOptions &given,
                                    const Machine &machine, Diagnostics &diagnostics) {
  RegisterFitter fitter(kernel, machine, decide(kernel, given, machine, diagnostics));
  Compiled compiled;
  Diagnostics found;
  do {
    found = {};
    compiled.plan = makePlan(kernel, fitter.options().plan, found);
    if (found.hasErrors()) {
      break;
    }
    setResetPeriods(kernel, compiled.plan, machine, found);
    compiled.program = lower(kernel, compiled.plan, machine, fitter.options().lower, found);
  } while (fitter.giveWay(compiled.plan, compiled.program));
  if (compiled.plan.options.strategy == Strategy::Auto && !found.hasErrors()) {
    unrollWithin(kernel, given.lower.codeGrowth, machine, compiled.program);
  }
  fitter.explain(diagnostics);
  diagnostics.append(std::move(found));
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  verifyPlan(kernel, compiled.plan, diagnostics);
  checkLimits(kernel, compiled.program, machine, diagnostics);
  verifyProgram(kernel, compiled.program, diagnostics);
  return compiled;
}

std::optional<Compiled> compile(const Kernel &kernel, const CompileOptions &options,
                                const Machine &machine, Diagnostics &diagnostics,
                                const Program *written) {
  if (changesCompletion(kernel, machine)) {
    Kernel asOnMachine = kernel;
    setCompletion(asOnMachine, machine);
    return compile(asOnMachine, options, machine, diagnostics, written);
  }
  check(kernel, diagnostics);
  checkPinsOn(kernel, machine, diagnostics);
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  bool manual = options.plan.strategy == Strategy::Manual;
  std::optional<Compiled> compiled = manual ? keepWritten(kernel, written, machine, diagnostics)
                                            : plan(kernel, options, machine, diagnostics);
  return diagnostics.hasErrors() ? std::nullopt : std::move(compiled);
}

} // namespace tally
