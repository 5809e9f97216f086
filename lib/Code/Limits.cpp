//===- Limits.cpp - What a program needs and a machine has not ------------===//

#include "Numbers.h"
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
static std::string_view wayOut(std::string_view strategy) {
  if (strategy == "per-instruction") {
    return "; 'per-loop' or 'per-engine' needs fewer, and 'auto' shares what it must";
  }
  return strategy == "per-loop" ? "; 'per-engine' needs fewer, and 'auto' shares what it must" : "";
}

/// ", of which 2 are reserved", if any are.
static std::string reservedText(const std::vector<uint32_t> &reserved, uint32_t limit) {
  uint32_t count = countBelow(reserved, limit);
  return count == 0 ? ""
                    : fmt::format(", of which {} {} reserved", count, count == 1 ? "is" : "are");
}

static void checkSemaphores(const Kernel &kernel, const Program &program, const Machine &machine,
                            Diagnostics &diagnostics) {
  if (!machine.semaphores || program.semaphores.size() <= *machine.semaphores) {
    return;
  }
  diagnostics.error(kernel.where,
                    fmt::format("strategy '{}' needs {} semaphores, but machine '{}' has {}{}{}",
                                program.strategy, measure(kernel, program, 0).semaphores,
                                machine.name, *machine.semaphores,
                                reservedText(kernel.reserved, *machine.semaphores),
                                wayOut(program.strategy)));
}

void checkPinsOn(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics) {
  for (const Pin &pin : kernel.pins) {
    if (machine.semaphores && pin.semaphore >= *machine.semaphores) {
      diagnostics.error(pin.where,
                        fmt::format("'{}' is pinned to semaphore {}, but those of machine '{}' "
                                    "have numbers from 0 to {}",
                                    kernel.nameOf(pin.instr), pin.semaphore, machine.name,
                                    *machine.semaphores - 1));
    }
  }
}

void checkLimits(const Kernel &kernel, const Program &program, const Machine &machine,
                 Diagnostics &diagnostics) {
  checkEngines(kernel, machine, diagnostics);
  checkSemaphores(kernel, program, machine, diagnostics);
  for (const EngineCode &code : program.engines) {
    uint32_t limit = machine.registersPerEngine.value_or(UINT32_MAX);
    if (code.registers.size() > limit) {
      diagnostics.error(kernel.engines[code.engine].where,
                        fmt::format("engine '{}' needs {} registers, but machine '{}' has {} for "
                                    "each engine{}",
                                    kernel.nameOf(code.engine),
                                    *unreserved(static_cast<uint32_t>(code.registers.size()),
                                                kernel.engines[code.engine].reserved),
                                    machine.name, limit,
                                    reservedText(kernel.engines[code.engine].reserved, limit)));
    }
  }
}

} // namespace tally
