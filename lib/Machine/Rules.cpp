//===- Rules.cpp - What code relies on of its machine ---------------------===//

#include "tally/Machine/Rules.h"

#include <fmt/format.h>

namespace tally {

MachineRules rulesOf(const Machine &machine) {
  return {machine.counterBits,        machine.subtraction, machine.waitCompare,
          machine.queueOverlap,       machine.completion,  machine.semaphores,
          machine.registersPerEngine, machine.sumsInOrder};
}

bool accords(const Machine &machine, const MachineRules &rules) {
  MachineRules own = rulesOf(machine);
  own.semaphores = rules.semaphores ? own.semaphores : std::nullopt;
  own.registersPerEngine = rules.registersPerEngine ? own.registersPerEngine : std::nullopt;
  own.sumsInOrder = rules.sumsInOrder ? own.sumsInOrder : std::nullopt;
  return own == rules;
}

Machine withRules(Machine machine, const MachineRules &rules) {
  machine.counterBits = rules.counterBits;
  machine.subtraction = rules.subtraction;
  machine.waitCompare = rules.waitCompare;
  machine.queueOverlap = rules.queueOverlap;
  machine.completion = rules.completion;
  machine.semaphores = rules.semaphores ? rules.semaphores : machine.semaphores;
  machine.registersPerEngine =
      rules.registersPerEngine ? rules.registersPerEngine : machine.registersPerEngine;
  machine.sumsInOrder = rules.sumsInOrder ? rules.sumsInOrder : machine.sumsInOrder;
  return machine;
}

std::string sumsText(std::string_view lead,
                     const std::optional<std::vector<std::string>> &engines) {
  if (!engines) {
    return "";
  }
  return fmt::format("{}sums in order on {}", lead,
                     engines->empty() ? "no engine" : fmt::format("{}", fmt::join(*engines, ", ")));
}

std::string describe(const MachineRules &rules) {
  auto limit = [](std::optional<uint32_t> most, std::string_view of) {
    return most ? fmt::format(", {} {}", *most, of) : "";
  };
  return fmt::format(
      "{}-bit counters that {}, {} waits, queues that {} and complete {}{}{}{}", rules.counterBits,
      rules.subtraction == Subtraction::Wraps ? "wrap" : "saturate", toString(rules.waitCompare),
      rules.queueOverlap ? "overlap" : "keep in order", toString(rules.completion),
      limit(rules.semaphores, "semaphores"),
      limit(rules.registersPerEngine, "registers on an engine"), sumsText(", ", rules.sumsInOrder));
}

} // namespace tally
