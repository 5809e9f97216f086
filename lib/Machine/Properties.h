//===- Properties.h - What is no parameter of a machine, by name ----------===//
//
// Limits, and how counters behave: what code is made for. Named as in machine files.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_MACHINE_PROPERTIES_H
#define TALLY_LIB_MACHINE_PROPERTIES_H

#include "tally/Machine/Machine.h"

namespace tally {

std::vector<std::string_view> propertyNames();

bool isProperty(std::string_view name);

/// Returns what is wrong, or nothing.
std::string setProperty(Machine &machine, std::string_view name, std::string_view value);

} // namespace tally

#endif // TALLY_LIB_MACHINE_PROPERTIES_H
