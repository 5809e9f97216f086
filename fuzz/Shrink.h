//===- Shrink.h - The smallest kernel that still shows it -----------------===//
//
// A kernel on which something fails is made smaller, edit by edit, as long as it stays
// legal and still fails:
//
//   leave out    a statement, an instruction, a dependence, a pin, a reserved number, a tile
//   open up      a loop or branch: its body takes its place
//   simplify     a run-time trip count to a constant, a constant, distance or weight to a smaller
//                one, a queue to its engine's own, divergence to agreement
//
// The edits are tried in a fixed order, again and again, until none succeeds: the result cannot
// be made smaller by one edit, and is the same on every run.
//
// Cost: edits of one pass are linear in the kernel; each costs a rebuild and one question.
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_SHRINK_H
#define TALLY_FUZZ_SHRINK_H

#include "tally/Model/Kernel.h"

#include <functional>

namespace tally::fuzz {

/// Whether a legal kernel still fails. Always the same answer for equal kernels.
using Fails = std::function<bool(const Kernel &)>;

/// The shrunk kernel; `kernel` itself if it does not fail or nothing smaller does. Asks at most
/// `maxQuestions` times.
Kernel shrink(const Kernel &kernel, const Fails &fails, uint32_t maxQuestions = 5000);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_SHRINK_H
