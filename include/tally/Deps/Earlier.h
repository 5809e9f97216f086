//===- Earlier.h - Instructions that may stand earlier --------------------===//
//
// An engine issues in the order of the text. Instructions of one body that stand side by side may
// change places if they never touch the same in one iteration: each iteration computes the same
// then, and so do later ones.
//
//   store writes out[A] from x       load writes y from in[A]       load may stand before store
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_EARLIER_H
#define TALLY_DEPS_EARLIER_H

#include "tally/Model/Kernel.h"

namespace tally {

/// What may stand earlier: for each body, all that fetch inputs of the kernel, at once; then each
/// instruction alone that may stand before another one of its engine.
std::vector<std::vector<InstrId>> mayStandEarlier(const Kernel &kernel);

/// The same kernel, but that each of the instructions stands before the first one of its engine
/// that it may change places with, and with all in between. What fetches inputs keeps its order.
Kernel withEarlier(const Kernel &kernel, const std::vector<InstrId> &instrs);

/// `'load' before 'store'`; of several, `'load' and 'next' as early as possible`.
std::string earlierText(const Kernel &kernel, const std::vector<InstrId> &instrs);

} // namespace tally

#endif // TALLY_DEPS_EARLIER_H
