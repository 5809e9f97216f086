//===- Rules.h - What code relies on of its machine -----------------------===//
//
// Code computes thresholds with the arithmetic of one machine and counts on the way its queues
// complete. These few facts travel with the code, so that a file of code says by itself what it
// does. Limits and times stay with the machine: they decide whether code can run there and how
// fast, not what it does.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MACHINE_RULES_H
#define TALLY_MACHINE_RULES_H

#include "tally/Machine/Machine.h"

namespace tally {

struct MachineRules {
  uint32_t counterBits = 32; ///< width of registers and semaphores
  Subtraction subtraction = Subtraction::Wraps;
  WaitCompare waitCompare = WaitCompare::Unsigned;
  bool queueOverlap = true;
  Completion completion = Completion::Whole;
  // By which it was planned; none: no limit, or not known.
  std::optional<uint32_t> semaphores = {};
  std::optional<uint32_t> registersPerEngine = {};
  /// Engines that add up in order; none: any, or not known.
  std::optional<std::vector<std::string>> sumsInOrder = {};

  bool operator==(const MachineRules &) const = default;
};

MachineRules rulesOf(const Machine &machine);

/// Whether a machine has these rules; what is not known does not count.
bool accords(const Machine &machine, const MachineRules &rules);

/// The same machine under other rules.
Machine withRules(Machine machine, const MachineRules &rules);

/// `LEAD` and `sums in order on tensor`; empty if the kernel is trusted.
std::string sumsText(std::string_view lead, const std::optional<std::vector<std::string>> &engines);

/// `8-bit counters that wrap, unsigned waits, queues that overlap and complete whole`
std::string describe(const MachineRules &rules);

} // namespace tally

#endif // TALLY_MACHINE_RULES_H
