//===- Names.h - Which machines there are ---------------------------------===//

#ifndef TALLY_MACHINE_NAMES_H
#define TALLY_MACHINE_NAMES_H

#include <string>
#include <vector>

namespace tally {

/// The names that loadMachine() finds in $TALLY_MACHINES and with the program, sorted.
std::vector<std::string> machineNames();

} // namespace tally

#endif // TALLY_MACHINE_NAMES_H
