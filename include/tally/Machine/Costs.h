//===- Costs.h - Whether the formulas of a machine can be costs -----------===//

#ifndef TALLY_MACHINE_COSTS_H
#define TALLY_MACHINE_COSTS_H

#include "tally/Machine/Machine.h"

#include <string>
#include <vector>

namespace tally {

/// Why formulas of a machine never give a time, whatever the sizes of an operation: one line for
/// each of them. The machine has a timing.
std::vector<std::string> formulasWithoutValue(const Machine &machine);

} // namespace tally

#endif // TALLY_MACHINE_COSTS_H
