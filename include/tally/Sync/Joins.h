//===- Joins.h - Producers of which each entry of an `if` runs one --------===//
//
// A buffer that is written in both branches of an `if` makes two dependences, one on each writer.
// If both writers are on one queue, and all consumers of one are consumers of the other, at the
// same distance, the two may raise one semaphore. Then one wait is enough, and the engine that
// waits counts the `if`, but need not run it:
//
//   loop A: if c: near writes X; otherwise: far writes X. Then use reads X
//
//   apart    runs of near >= total(then), runs of far >= total(otherwise)
//   joined   runs of near or far >= total(A)
//
// That is exact: a queue retires in order, so what its r-th raise tells is that the r-th entry of
// the `if` has retired, whichever branch that took. Where another branch writes nothing, or on
// another queue, or is not waited for, the writers are not joined: there an entry raises nothing,
// or a wait would be for a run that no dependence asks for.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SYNC_JOINS_H
#define TALLY_SYNC_JOINS_H

#include "tally/Model/Kernel.h"

namespace tally {

/// By instruction: the one in the other branch with which it may raise one semaphore; none for most
/// of them. Empty if there are none at all.
IdVector<InstrId, InstrId> findJoins(const Kernel &kernel);

} // namespace tally

#endif // TALLY_SYNC_JOINS_H
