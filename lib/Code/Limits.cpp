//===- Limits.cpp - What a program needs and a machine has not ------------===//

#include "tally/Code/Lower.h"

#include <fmt/format.h>

namespace tally {

static void checkEngines(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics) {
  for (const Engine &engine : kernel.engines) {
    if (machine.hasEngine(kernel.text(engine.name))) {
      continue;
    }
    diagnostics.error(engine.where,
                      fmt::format("machine '{}' has no engine '{}'; it has {}", machine.name,
                                  kernel.text(engine.name), fmt::join(machine.engines, ", ")));
  }
}

/// Strategies that need fewer semaphores than this one.
static std::string wayOut(std::string_view strategy) {
  if (strategy == "per-instruction") {
    return "; 'per-loop' or 'per-engine' needs fewer";
  }
  return strategy == "per-loop" ? "; 'per-engine' needs fewer" : "";
}

static void checkSemaphores(const Kernel &kernel, const Program &program, const Machine &machine,
                            Diagnostics &diagnostics) {
  if (!machine.semaphores || program.semaphores.size() <= *machine.semaphores) {
    return;
  }
  diagnostics.error(kernel.where,
                    fmt::format("strategy '{}' needs {} semaphores, but machine '{}' has {}{}",
                                program.strategy, program.semaphores.size(), machine.name,
                                *machine.semaphores, wayOut(program.strategy)));
}

void checkLimits(const Kernel &kernel, const Program &program, const Machine &machine,
                 Diagnostics &diagnostics) {
  checkEngines(kernel, machine, diagnostics);
  checkSemaphores(kernel, program, machine, diagnostics);
  for (const EngineCode &code : program.engines) {
    size_t limit = machine.registersPerEngine.value_or(UINT32_MAX);
    if (code.registers.size() > limit) {
      diagnostics.error(kernel.engines[code.engine].where,
                        fmt::format("engine '{}' needs {} registers, but machine '{}' has {} for "
                                    "each engine",
                                    kernel.nameOf(code.engine), code.registers.size(), machine.name,
                                    limit));
    }
  }
}

} // namespace tally
