//===- LiteralRules.h - The published rules, taken at their word ----------===//
//
// The paper's rules need a precise reading in five places (docs/internals/Rationale.md). Here they
// are as they stand, to show that the checks notice: each flag turns right code into what the
// literal rule would have made of it, and the explorer then finds the schedule that goes wrong.
//
//   oneIdPerConditional    an `if` has one loop id: entries of both branches are counted as one
//   unguardedSubtraction   `N*x - (N-K)` wraps below zero
//   perEngineClosedForm    per-engine waits are summed up at the consumer: N*r - (N-K) for the
//                          producer's body, N*(r-1) for all others with instructions of the queue
//   rootCountersAtZero     the root was never entered: distances end before its first iteration
//   totalWaitOf            every instruction waits; one without dependence for whatever the wait
//                          register holds
//
// The first and the fourth are rules of the specification as well. With the flags on both sides the
// two agree again (they are bisimilar, and wrong together).
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_UNITTESTS_PAPER_LITERALRULES_H
#define TALLY_UNITTESTS_PAPER_LITERALRULES_H

#include "tally/Check/Impl.h"
#include "tally/Check/Spec.h"

namespace tally::paper {

struct LiteralRules {
  bool oneIdPerConditional = false;
  bool unguardedSubtraction = false;
  bool perEngineClosedForm = false;
  bool rootCountersAtZero = false;
  bool totalWaitOf = false;
};

/// How the specification of `kernel` reads under those rules that concern it.
SpecReading readingOf(const Kernel &kernel, const LiteralRules &rules);

/// What the literal rules make of code that this compiler made for `kernel`, and of the machine
/// that it runs on. Registers are known by their roles, waits by their reasons, so hand-written
/// code stays as it is. perEngineClosedForm is for code of strategy 'per-engine' and distances
/// of 0, others keep their waits.
void makeLiteral(const Kernel &kernel, const LiteralRules &rules, Code &code, Machine &machine);

} // namespace tally::paper

#endif // TALLY_UNITTESTS_PAPER_LITERALRULES_H
