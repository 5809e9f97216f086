//===- Anchors.h - Where a value stands still, seen from a consumer -------===//
//
// The inputs of an expression change at the entry of some loops around its consumer, and in
// statements next to it. The innermost body in which any of them changes is the *anchor*; within
// it, the last statement before the consumer that changes one opens an *epoch*. Expression,
// anchor and epoch identify a value.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_ANCHORS_H
#define TALLY_LIB_LOWER_ANCHORS_H

#include "tally/Code/Code.h"
#include "tally/Sync/Plan.h"

namespace tally::lowering {

struct Anchor {
  uint32_t depth = 0; ///< of the body: the one at this depth around the consumer
  uint32_t epoch = 0; ///< 2s + 2: changes in statement s; 2s + 1: as s begins; 0: with the body

  bool operator==(const Anchor &) const = default;
};

/// The body at this depth around `inner`, or `inner`.
LoopId bodyAt(const Kernel &kernel, uint32_t depth, LoopId inner);

/// What is known of an expression on one engine. Consumers come in text order, so of everything
/// only the latest can be of use again.
struct Known {
  StmtId block; ///< whose consumers, on any engine, see it at `anchor`
  Anchor anchor;
  EngineId engine;   ///< of what follows
  StmtId demandedIn; ///< block whose consumers have asked for its counters
  LoopId body;       ///< where `value` belongs, and when
  uint32_t epoch = 0;
  LoopId computedIn; ///< there, or farther in; outside of this body it may not be there
  RegId value;
  LoopId steppedBy;    ///< the loop that keeps it ready for consumers inside; none: no loop does
  uint32_t number = 0; ///< among what that loop steps
  RegId stepped;       ///< its register, once that has started
};

/// By expression; one after the other, engines may use the same memory.
class KnownExprs {
public:
  explicit KnownExprs(size_t numExprs) : known(numExprs) {}

  /// What is known of an expression on an engine; of values nothing, if another engine was here
  /// before.
  Known &on(EngineId engine, ExprId expr) {
    Known &entry = known[expr.value];
    if (entry.engine != engine) {
      entry.engine = engine;
      entry.demandedIn = StmtId();
      entry.body = LoopId();
      entry.steppedBy = LoopId();
    }
    return entry;
  }

  Known &operator[](ExprId expr) { return known[expr.value]; }

  /// Where `expr`, of `exprs`, stands still, seen from a consumer. Consumers of one block see the
  /// same.
  Anchor anchorOf(const Kernel &kernel, const SyncPlan &plan, const ExprPool &exprs, ExprId expr,
                  InstrId consumer);

private:
  std::vector<Known> known;
};

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_ANCHORS_H
