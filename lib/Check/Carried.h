//===- Carried.h - What lets a loop run so often, or a body be entered so often ===//
//
// A loop whose trips follow from a formula is offered no trips itself: what it does is offered to
// the values in its formula, and to the loops around. The same holds for a distance over all
// entries of a body, wherever its loops get these entries from.
//
//   l trips = "$n floordiv 2"              2 trips of l      $n = 4
//   i trips = "$n" { j trips = "i + 1" }   4 entries of j    $n = 3
//
// For each number, the first choice that leads to it is taken, with all values and loops at about
// the same; if none does, the first that leads beyond it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_CARRIED_H
#define TALLY_LIB_CHECK_CARRIED_H

#include "tally/Model/Nest.h"

#include <set>

namespace tally::check {

/// What is wanted of one loop.
struct Wanted {
  std::set<uint64_t> trips;   ///< this time
  std::set<uint64_t> entries; ///< in the whole run, or more
};

/// Numbers for the values and the free loops of a kernel.
struct Carried {
  explicit Carried(const Kernel &kernel)
      : values(kernel.values.size()), trips(kernel.loops.size()) {}

  IdVector<RunValueId, std::set<uint64_t>> values;
  IdVector<LoopId, std::set<uint64_t>> trips;
};

/// Adds those that lead to what is wanted of `loop`, of numbers up to `largest`, as far as they are
/// found in `steps` steps.
void carryBack(const Kernel &kernel, LoopId loop, const Wanted &wanted, uint64_t largest,
               uint64_t steps, Carried &carried);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_CARRIED_H
