//===- LeaveOut.cpp - Dependences that need no wait of their own ----------===//

#include "LeaveOut.h"

#include "Trial.h"
#include "tally/Code/Limits.h"
#include "tally/Deps/NoWait.h"
#include "tally/Lower/Lower.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally::compiling {
namespace {

/// Where both branches of an `if` produce, one wait may serve for both (Joins.h): a wait for one of
/// them alone would not.
bool isInBranch(const Kernel &kernel, InstrId instr) {
  return kernel.loops[kernel.instrs[instr].home].isBranch();
}

bool isAsked(const Kernel &kernel, const Request &request) {
  constexpr size_t mostInstrs = 10'000; // beyond, finding them takes longer than all the rest
  return request.strategy == Strategy::Auto && request.leavesOut && !hasRegions(kernel) &&
         kernel.instrs.size() <= mostInstrs;
}

std::vector<DepId> findImplied(const Kernel &kernel) {
  const Extraction written = writtenDeps(kernel);
  const std::map<InstrId, uint32_t> pins = pinnedSemaphores(kernel); // others may look at these
  std::vector<DepId> implied;
  for (DepId dep : kernel.deps.ids()) {
    const InstrId producer = kernel.deps[dep].producer;
    if (written.deps[dep.value].isImplied() && !isInBranch(kernel, producer) &&
        !pins.contains(producer)) {
      implied.push_back(dep);
    }
  }
  return implied;
}

class LeaveOut {
public:
  LeaveOut(const Kernel &kernel, const Request &request, const Machine &machine, Compiled &compiled)
      : kernel(kernel), machine(machine), plan(compiled.plan), code(compiled.code),
        lowering(compiled.lowering), trial(kernel, request, machine, compiled.search) {}

  void run() {
    const std::vector<DepId> all = findImplied(kernel);
    std::optional<Tick> time = all.empty() ? std::nullopt : trial.timeOf(code);
    if (!time || take(all, "", *time)) {
      return;
    }
    for (EngineId engine : kernel.engines.ids()) {
      std::vector<DepId> those;
      std::ranges::copy_if(all, std::back_inserter(those), [&](DepId dep) {
        return kernel.engineOf(kernel.deps[dep].consumer) == engine;
      });
      if (!those.empty() && those.size() < all.size() && !trial.isSpent()) {
        take(those, fmt::format(" of '{}'", kernel.nameOf(engine)), *time);
      }
    }
  }

private:
  /// Whether code without waits for these, too, is possible, and the better one.
  bool take(const std::vector<DepId> &deps, const std::string &whose, Tick &time) {
    PlanDecisions decisions = plan.decisions;
    decisions.leftOut.insert(decisions.leftOut.end(), deps.begin(), deps.end());
    std::ranges::sort(decisions.leftOut);
    Diagnostics found;
    SyncPlan without = makePlan(kernel, decisions, found);
    if (found.hasErrors()) {
      return false;
    }
    Code shorter = lower(kernel, without, machine, lowering, found);
    checkLimits(kernel, shorter, machine, found);
    if (found.hasErrors()) {
      return false;
    }
    std::optional<Tick> then = trial.timeOf(shorter);
    const bool isBetter = then && *then <= time;
    trial.record(Attempt::Step::LeaveOut,
                 fmt::format("no wait for {}{} that others imply",
                             counted(deps.size(), "dependence"), whose),
                 isBetter, {code, time}, {shorter, then});
    if (isBetter) {
      plan = std::move(without);
      code = std::move(shorter);
      time = *then;
    }
    return isBetter;
  }

  const Kernel &kernel;
  const Machine &machine;
  SyncPlan &plan;
  Code &code;
  const LowerDecisions &lowering;
  Trial trial;
};

} // namespace

std::vector<DepId> leftOutByControl(const Kernel &kernel, const Request &request,
                                    const Machine &machine) {
  if (!isAsked(kernel, request)) {
    return {};
  }
  Stopwatch stopwatch(kernel, machine, request.assumedTrips, request.effort,
                      Stopwatch::Long::Beginnings);
  return stopwatch.hasTimes() ? std::vector<DepId>() : findImplied(kernel);
}

void leaveOutWaits(const Kernel &kernel, const Request &request, const Machine &machine,
                   Compiled &compiled) {
  // Resets are planned with all counters.
  if (isAsked(kernel, request) && compiled.plan.decisions.resets.empty()) {
    LeaveOut(kernel, request, machine, compiled).run();
  }
}

} // namespace tally::compiling
