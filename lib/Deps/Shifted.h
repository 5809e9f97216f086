//===- Shifted.h - What distances on inner loops, too, imply --------------===//
//
// A clock counts iterations of one loop (Clocks.h). A distance on several is less than that:
//
//   for A { for B { load X[B];  scale X[B];  store X[B] } }
//
//   store -> load    at A = 1: the same iteration of B, so not all iterations of A before
//   scale -> scale   at A = 1: implied, though no iteration of A as a whole is waited for
//
// So each distance D is asked about with iterations of the body that are D apart. Let u be the last
// iteration up to v - D that there is. An iteration v of the body has waited for all up to u in
// each dependence that is no longer than D, and nothing else reaches from v to u. Within u and
// within v stand the waits of the same iteration. That is the body as a loop of its own, in which
// these dependences have the distance 1. Clocks decide it, and what they say of one iteration
// before holds for all iterations up to u. If there is no u, there is nothing to wait for.
//
// A dependence that is shorter than D waits for an iteration after u, if its producer runs in each.
// So all that its queue ran in u has retired, up to the last instruction of the body there.
//
// Or the runs of the body are counted, whatever loops are around it: a loop of its own again, in
// which flat distances are what they are. D is a number of runs at least, by the fewest trips of
// the loops inside its own: what is known of that many runs before implies it.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_SHIFTED_H
#define TALLY_LIB_DEPS_SHIFTED_H

#include "tally/Deps/Extract.h"

#include <span>

namespace tally::deps {

/// Whether what waits at distance `a` has waited at `b`: runs of the producer up to a are no
/// earlier, and a has no wait left out (for lack of iterations behind it) that b has.
bool vectorImplies(std::span<const DistanceComponent> a, std::span<const DistanceComponent> b);

/// Marks more of what is implied, of what is not yet. Those that are only asked about (by index;
/// none if empty) imply nothing themselves.
void markImpliedByShifts(const Kernel &kernel, Extraction &extraction,
                         const std::vector<bool> &isAsked = {});

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_SHIFTED_H
