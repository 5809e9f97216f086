//===- PlainTiles.h - Tiles without what changes nothing --------------------===//
//
//   load  writes X[$two * A mod 4] if A >= 0        is  X[2 * A mod 4]
//
// Values and trips whose bounds agree are numbers, and a guard that no run fails is left out. Most
// of what is known of tiles is known of those without; so this comes before anything is asked.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_PLAINTILES_H
#define TALLY_LIB_DEPS_PLAINTILES_H

#include "tally/Model/Kernel.h"

#include <optional>

namespace tally::deps {

/// The same kernel, with the same numbers for everything. None if all its tiles are plain.
std::optional<Kernel> withPlainTiles(const Kernel &kernel);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_PLAINTILES_H
