//===- Limits.cpp - What code needs and a machine has not -----------------===//

#include "tally/Code/Limits.h"

#include "tally/Code/Origin.h"

#include "../Support/Report.h"

#include <set>

namespace tally {

uint32_t countBelow(const std::vector<uint32_t> &numbers, uint32_t limit) {
  std::set<uint32_t> below(numbers.begin(), numbers.end());
  return static_cast<uint32_t>(std::distance(below.begin(), below.lower_bound(limit)));
}

std::optional<uint32_t> unreserved(std::optional<uint32_t> limit,
                                   const std::vector<uint32_t> &reserved) {
  return limit ? std::optional(*limit - countBelow(reserved, *limit)) : std::nullopt;
}

static void checkEngines(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics) {
  for (const Engine &engine : kernel.engines) {
    if (machine.hasEngine(kernel.text(engine.name))) {
      continue;
    }
    report(diagnostics, engine.where, "machine '{}' has no engine '{}'; it has {}", machine.name,
           kernel.text(engine.name), fmt::join(machine.engines, ", "));
  }
}

/// ", of which 2 are reserved", if any are.
static std::string reservedText(const std::vector<uint32_t> &reserved, uint32_t limit) {
  uint32_t count = countBelow(reserved, limit);
  return count == 0 ? ""
                    : fmt::format(", of which {} {} reserved", count, count == 1 ? "is" : "are");
}

static void checkSemaphores(const Kernel &kernel, const Code &code, const Machine &machine,
                            Diagnostics &diagnostics) {
  if (!machine.semaphores || code.semaphores.size() <= *machine.semaphores) {
    return;
  }
  report(diagnostics, kernel.where, "strategy '{}' needs {} semaphores, but machine '{}' has {}{}",
         toString(code.strategy), measure(kernel, code, 0).semaphores, machine.name,
         *machine.semaphores, reservedText(kernel.reserved, *machine.semaphores));
}

/// Errors for numbers in the code that the machine's counters are too narrow for: what it would
/// make of them is nowhere said.
class ConstantChecker {
public:
  ConstantChecker(const Kernel &kernel, const Code &code, const Machine &machine,
                  Diagnostics &diagnostics)
      : kernel(kernel), code(code), machine(machine), diagnostics(diagnostics) {}

  void run(const EngineProgram &program) {
    where = kernel.engines[program.engine].where;
    for (const Op &op : program.ops) {
      where = originOf(kernel, code, op).where.value_or(where); // or of what is before it
      bool signals = op.signal.valid() && op.kind != OpKind::Reset;
      for (Operand number : {op.a, op.b, Operand::number(signals ? op.amount : 0)}) {
        if (!number.isRegister && number.value >> (machine.counterBits - 1) > 1) {
          complain(program.engine, number.value);
        }
      }
    }
  }

private:
  void complain(EngineId engine, uint32_t number) {
    report(diagnostics, where,
           "in the code of engine '{}': the number {} does not fit counters of {} bits, which hold "
           "at most {} on machine '{}'; count in smaller steps, or let a strategy make the code",
           kernel.nameOf(engine), number, machine.counterBits,
           (uint64_t(1) << machine.counterBits) - 1, machine.name);
  }

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  Diagnostics &diagnostics;
  Location where;
};

void checkPinsOn(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics) {
  for (const Pin &pin : kernel.pins) {
    if (machine.semaphores && pin.semaphore >= *machine.semaphores) {
      report(diagnostics, pin.where,
             "'{}' is pinned to semaphore {}, but those of machine '{}' have numbers from 0 to {}",
             kernel.nameOf(pin.instr), pin.semaphore, machine.name, *machine.semaphores - 1);
    }
  }
}

void checkLimits(const Kernel &kernel, const Code &code, const Machine &machine,
                 Diagnostics &diagnostics) {
  checkEngines(kernel, machine, diagnostics);
  checkSemaphores(kernel, code, machine, diagnostics);
  for (const EngineProgram &program : code.engines) {
    ConstantChecker(kernel, code, machine, diagnostics).run(program);
    uint32_t limit = machine.registersPerEngine.value_or(UINT32_MAX);
    if (program.registers.size() > limit) {
      report(diagnostics, kernel.engines[program.engine].where,
             "engine '{}' needs {} registers, but machine '{}' has {} for each engine{}",
             kernel.nameOf(program.engine),
             *unreserved(static_cast<uint32_t>(program.registers.size()),
                         kernel.engines[program.engine].reserved),
             machine.name, limit, reservedText(kernel.engines[program.engine].reserved, limit));
    }
  }
}

} // namespace tally
