//===- Rules.cpp - What code relies on of its machine ---------------------===//

#include "tally/Machine/Rules.h"

#include <fmt/format.h>

namespace tally {

MachineRules rulesOf(const Machine &machine) {
  return {machine.counterBits, machine.subtraction, machine.waitCompare, machine.queueOverlap,
          machine.completion};
}

Machine withRules(Machine machine, const MachineRules &rules) {
  machine.counterBits = rules.counterBits;
  machine.subtraction = rules.subtraction;
  machine.waitCompare = rules.waitCompare;
  machine.queueOverlap = rules.queueOverlap;
  machine.completion = rules.completion;
  return machine;
}

std::string describe(const MachineRules &rules) {
  return fmt::format("{}-bit counters that {}, {} waits, queues that {} and complete {}",
                     rules.counterBits,
                     rules.subtraction == Subtraction::Wraps ? "wrap" : "saturate",
                     rules.waitCompare == WaitCompare::Signed ? "signed" : "unsigned",
                     rules.queueOverlap ? "overlap" : "keep in order",
                     rules.completion == Completion::Split ? "split" : "whole");
}

} // namespace tally
