//===- Compiled.cpp - Random kernels and their code -----------------------===//

#include "Compiled.h"

#include "KernelCampaign.h"
#include "RandomKernel.h"

#include <algorithm>

namespace tally {

/// Of a table, a certificate asks for more than the kernel does; and element by element, the proof
/// knows two single loops alone, so it takes any other distance for all of the iteration.
static bool isLongerInProof(const Kernel &kernel, const Dep &dep) {
  LoopId producer = kernel.instrs[dep.producer].home, consumer = kernel.instrs[dep.consumer].home;
  LoopId shared = kernel.commonLoop(producer, consumer);
  auto isOneLoop = [&](LoopId home) {
    return home != rootLoop && kernel.loops[home].parent == shared;
  };
  return dep.table.valid() ||
         (dep.form == DistanceForm::Element && !(isOneLoop(producer) && isOneLoop(consumer)));
}

Kernel coveredKernel(uint64_t seed) {
  Kernel kernel = fuzz::kernelOfSeed(seed);
  auto longer = std::remove_if(kernel.deps.begin(), kernel.deps.end(),
                               [&](const Dep &dep) { return isLongerInProof(kernel, dep); });
  kernel.deps.resize(static_cast<size_t>(longer - kernel.deps.begin()));
  for (Loop &loop : kernel.loops) {
    bool covered = loop.sync == RegionSync::PerInstruction || loop.sync == RegionSync::PerLoop;
    loop.sync = covered ? loop.sync : RegionSync::AsAround;
  }
  Diagnostics refused;
  PlanDecisions options;
  options.constantTrips = false; // the theorem knows no trip counts
  makePlan(kernel, options, refused);
  for (Loop &loop : kernel.loops) {
    loop.uniform |= refused.hasErrors();
  }
  return kernel;
}

Machine machineOfSeed(uint64_t seed) {
  Machine machine = genericMachine();
  bool wraps = seed % 2 == 0;
  bool isSigned = !wraps && seed % 4 == 1; // the checker knows no machine that is both
  machine.subtraction = wraps ? Subtraction::Wraps : Subtraction::Saturates;
  machine.waitCompare = isSigned ? WaitCompare::Signed : WaitCompare::Unsigned;
  machine.registersPerEngine = seed / 4 % 3 == 0 ? std::optional<uint32_t>(24) : std::nullopt;
  return machine;
}

/// Under strategy auto: who shares a semaphore, loops' own counters, stepped thresholds.
static void chooseForAuto(const Kernel &kernel, uint64_t seed, PlanDecisions &plan,
                          LowerDecisions &lowering) {
  fuzz::Random random(seed);
  for (size_t i = 0; i < kernel.instrs.size(); ++i) {
    plan.sharing.push(random.percent(50) ? Sharing::None : Sharing::Body);
  }
  lowering.nativeCounters = random.percent(75);
  lowering.stepThresholds = random.percent(75);
  lowering.countAtOnce = seed % 2 == 0;
}

std::optional<CompiledKernel> compileForSeed(const Kernel &kernel, Strategy strategy,
                                             uint64_t seed) {
  PlanDecisions options;
  options.strategy = strategy;
  options.fold = seed % 3 != 0;
  options.constantTrips = false; // the theorem knows no trip counts
  LowerDecisions lowering;
  lowering.licm = seed % 5 != 0;
  lowering.cse = seed % 7 != 0;
  lowering.keepCounters = seed % 11 == 0;
  if (strategy == Strategy::Auto) {
    chooseForAuto(kernel, seed, options, lowering);
  }
  Diagnostics diagnostics;
  CompiledKernel result{makePlan(kernel, options, diagnostics), machineOfSeed(seed), {}};
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  result.code = lower(kernel, result.plan, result.machine, lowering, diagnostics);
  return result;
}

} // namespace tally
