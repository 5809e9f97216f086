//===- FitRegisters.cpp - What gives way where registers run out ----------===//
//
// Temporaries have been computed again already (Registers.h). What gives way next, in this order:
//
//   1. stepped thresholds  are computed at each wait: more operations, the same waits
//   2. copies of counters  waits remember fewer iterations: the same operations, longer waits. The
//                          oldest copy of a ring, of that ring whose readers run least often;
//                          none that is read by a wait which might then never end (Divergence.h)
//
// Counters themselves stay. If they are too many, checkLimits() has the last word.
//
// Cost: plan and code are made once for thresholds, and then once or twice for copies. All copies
// that are too many are forgotten at once. There is a second time only if waits that others implied
// replace those that became longer.
//===----------------------------------------------------------------------===//

#include "FitRegisters.h"

#include "tally/Code/ControlCost.h"
#include "tally/Code/Limits.h"
#include "tally/Lower/KeptWaits.h"
#include "tally/Model/Place.h"
#include "tally/Sync/Divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace tally::compiling {
namespace {

/// How many copies of a counter the wait reads, the oldest last.
uint32_t copiesRead(const Wait &wait) {
  return wait.ring.valid() ? wait.slot + (wait.waitClass == WaitClass::Element ? 1 : 0) : 0;
}

/// The copies that one engine keeps of one counter, and who reads them.
struct CopiesOnEngine {
  uint32_t kept = 0;
  uint32_t atLeast = 0; ///< copies that no wait can do without
  std::vector<DepId> readers;
  std::array<double, mostRemembered + 1> runs{}; ///< of waits that read just so many copies

  /// How many waits will be longer for want of the oldest copy.
  double loss() const { return std::accumulate(runs.begin() + kept, runs.end(), 0.0); }
};

class RegisterFitter {
public:
  RegisterFitter(const Kernel &kernel, const Machine &machine, const SyncPlan &plan,
                 const Code &code, Fit fit)
      : kernel(kernel), machine(machine), plan(plan), code(code), fit(std::move(fit)) {}

  Fit run() {
    fit.shortages.resize(kernel.engines.size());
    fit.hasChanged =
        machine.registersPerEngine && countsAtRunTime(plan.decisions.strategy) && giveWay();
    return std::move(fit);
  }

private:
  bool giveWay() {
    bool changed = false;
    bool copiesMustGo = false;
    for (EngineId engine : kernel.engines.ids()) {
      const std::vector<uint32_t> &reserved = kernel.engines[engine].reserved;
      uint32_t size = static_cast<uint32_t>(code.engines[engine].registers.size());
      uint32_t used = *unreserved(size, reserved);
      Shortage &shortage = fit.shortages[engine];
      shortage.limit = *unreserved(machine.registersPerEngine, reserved);
      shortage.excess = used - std::min(used, shortage.limit);
      if (shortage.excess == 0) {
        continue;
      }
      shortage.needed = std::max(shortage.needed, used);
      if (recompute(engine, code.engines[engine])) {
        changed = true;
        shortage.excess = 0;
      }
      copiesMustGo |= shortage.excess > 0;
    }
    if (!copiesMustGo) {
      return changed;
    }
    Code reasons; // of no use here
    const KeptWaits waits(kernel, plan, reasons);
    IdVector<EngineId, std::vector<DepId>> readersOn(kernel.engines.size());
    for (InstrId instr : kernel.instrs.ids()) {
      for (const KeptWait &w : waits.of(instr)) {
        if (plan.waits[w.dep].ring.valid()) {
          readersOn[kernel.engineOf(instr)].push_back(w.dep);
        }
      }
    }
    for (EngineId engine : kernel.engines.ids()) {
      changed |= fit.shortages[engine].excess > 0 && forgetCopies(engine, readersOn[engine]);
    }
    return changed;
  }

  /// Whether the engine keeps thresholds in registers; from now on it does not.
  bool recompute(EngineId engine, const EngineProgram &program) {
    bool steps = fit.decisions.lower.stepsOn(engine) &&
                 std::ranges::any_of(program.registers, [](const Register &reg) {
                   return reg.role.kind == RegisterRole::Kind::NextThreshold;
                 });
    if (steps) {
      fit.decisions.lower.recomputes.resize(kernel.engines.size(), false);
      fit.decisions.lower.recomputes[engine] = true;
    }
    return steps;
  }

  /// Whether there were copies that could be forgotten.
  bool forgetCopies(EngineId engine, std::vector<DepId> readers) {
    const IdVector<LoopId, double> entries = expectedEntries(kernel);
    const Divergence divergence(kernel);
    std::map<RingId, CopiesOnEngine> rings;
    for (DepId dep : readers) {
      const Wait &wait = plan.waits[dep];
      CopiesOnEngine &ring = rings[wait.ring];
      bool needsOne = plan.sharesQueue(kernel.deps[dep].producer) &&
                      placeOf(kernel, kernel.deps[dep]).producerInShared();
      bool needsAll = divergence.mayNeverComeBy(dep).valid();
      ring.kept = std::max(ring.kept, copiesRead(wait));
      ring.atLeast = std::max<uint32_t>(ring.atLeast, needsAll ? copiesRead(wait) : needsOne);
      ring.runs[copiesRead(wait)] += entries[kernel.instrs[kernel.deps[dep].consumer].home];
      ring.readers.push_back(dep);
    }
    Shortage &shortage = fit.shortages[engine];
    bool any = false;
    for (; shortage.excess > 0; --shortage.excess) {
      CopiesOnEngine *cheapest = nullptr;
      for (auto &[id, ring] : rings) {
        bool may = ring.kept > ring.atLeast;
        if (may && (!cheapest || ring.loss() < cheapest->loss())) {
          cheapest = &ring;
        }
      }
      if (!cheapest) {
        break;
      }
      --cheapest->kept;
      ++shortage.forgotten;
      any = true;
    }
    fit.decisions.plan.remembered.resize(kernel.deps.size(), mostRemembered);
    for (const auto &[id, ring] : rings) {
      for (DepId dep : ring.readers) {
        if (copiesRead(plan.waits[dep]) > ring.kept) {
          fit.decisions.plan.remembered[dep] = ring.kept;
        }
      }
    }
    return any;
  }

  const Kernel &kernel;
  const Machine &machine;
  const SyncPlan &plan;
  const Code &code;
  Fit fit;
};

} // namespace

Fit giveWay(const Kernel &kernel, const Machine &machine, const SyncPlan &plan, const Code &code,
            Fit fit) {
  return RegisterFitter(kernel, machine, plan, code, std::move(fit)).run();
}

void remarkShortages(const Kernel &kernel, const Machine &machine, const Fit &fit,
                     Diagnostics &diagnostics) {
  const IdVector<EngineId, bool> &recomputing = fit.decisions.lower.recomputes;
  for (EngineId engine : fit.shortages.ids()) {
    const Shortage &shortage = fit.shortages[engine];
    bool recomputes = !recomputing.empty() && recomputing[engine];
    if (!recomputes && shortage.forgotten == 0) {
      continue;
    }
    std::vector<std::string> done;
    if (recomputes) {
      done.push_back("thresholds are computed at each wait instead of kept");
    }
    if (shortage.forgotten > 0) {
      done.push_back(
          fmt::format("{} of the remembered counts {} forgotten, which makes waits longer",
                      shortage.forgotten, shortage.forgotten == 1 ? "is" : "are"));
    }
    diagnostics.remark(kernel.engines[engine].where,
                       fmt::format("engine '{}' would need {} registers, but machine '{}' has {} "
                                   "for it; {}",
                                   kernel.nameOf(engine), shortage.needed, machine.name,
                                   shortage.limit, fmt::join(done, ", and ")));
  }
}

} // namespace tally::compiling
