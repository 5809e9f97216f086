//===- Compiled.cpp - Random kernels and their code -----------------------===//

#include "Compiled.h"

namespace tally {

static Machine machineOfSeed(uint64_t seed) {
  Machine machine = genericMachine();
  bool wraps = seed % 2 == 0;
  bool isSigned = !wraps && seed % 4 == 1; // the checker knows no machine that is both
  machine.subtraction = wraps ? Subtraction::Wraps : Subtraction::Saturates;
  machine.waitCompare = isSigned ? WaitCompare::Signed : WaitCompare::Unsigned;
  machine.registersPerEngine = seed / 4 % 3 == 0 ? std::optional<uint32_t>(24) : std::nullopt;
  return machine;
}

std::optional<CompiledKernel> compileForSeed(const Kernel &kernel, Strategy strategy,
                                             uint64_t seed) {
  PlanOptions options;
  options.strategy = strategy;
  options.fold = seed % 3 != 0;
  Diagnostics diagnostics;
  CompiledKernel result{makePlan(kernel, options, diagnostics), machineOfSeed(seed), {}};
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  LowerOptions lowering;
  lowering.licm = seed % 5 != 0;
  lowering.cse = seed % 7 != 0;
  result.program = lower(kernel, result.plan, result.machine, lowering, diagnostics);
  return result;
}

} // namespace tally
