//===- Check.h - Is this a legal kernel? ----------------------------------===//
#ifndef TALLY_MODEL_CHECK_H
#define TALLY_MODEL_CHECK_H

#include "tally/Model/Kernel.h"

namespace tally {

/// Reports every violation, each at its place with what would be legal; adds
/// nothing for a legal kernel. Linear in the size of the kernel.
///
/// Names are unique per kind; numbers are in range; bodies nest at most
/// maxDepth deep; buffers end by maxMemory (Overlap.h), and the numbers of tiles fit in
/// 64 bits (AccessText.h). Trips and conditions do not
/// have the name of a buffer that the kernel writes. A dependence
///   - names only real loops around both ends, and is not lexicographically negative;
///   - at distance 0 goes forward: to a later statement of the innermost common body, or
///     inside one block without a cycle of such dependences and engine order;
///   - if flat, has both ends in one body; if element-wise, in two loops of one body;
///   - between engines, has no divergent loop on the producer's path, unless it says so.
void check(const Kernel &kernel, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_MODEL_CHECK_H
