//===- Order.h - Instructions that may stand earlier ----------------------===//
//
// An engine issues in the order of the text. Instructions of one body that stand side by side may
// change places if they never touch the same in one iteration: each iteration computes the same
// then, and so do later ones.
//
//   store writes out[A] from x       load writes y from in[A]       load may stand before store
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_ADVISE_ORDER_H
#define TALLY_LIB_ADVISE_ORDER_H

#include "tally/Advise/Changes.h"

namespace tally::advising {

/// Whether it keeps something for later instructions of its queue, or computes with what is kept.
bool usesKept(const Kernel &kernel, InstrId id);

/// For each body, all that fetch inputs of the kernel and may stand earlier, at once; then each
/// instruction alone that may stand before another one of its engine.
std::vector<Change> ordersOf(const Kernel &kernel);

/// The same kernel, but that each of the instructions stands before the first one of its engine
/// that it may change places with, and with all in between. What fetches inputs keeps its order.
Kernel reordered(const Kernel &kernel, const std::vector<InstrId> &instrs);

/// Before which instruction one stands then; none if it stays.
InstrId placeBefore(const Kernel &kernel, InstrId moved);

} // namespace tally::advising

#endif // TALLY_LIB_ADVISE_ORDER_H
