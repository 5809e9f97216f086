//===- CounterCode.h - Where counters start, move and end -----------------===//
//
// The operations that keep the counters of one engine, each for the walk to call where it is due:
// at a statement of the root, as a body or a block begins, at the end of a body.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_COUNTERCODE_H
#define TALLY_LIB_LOWER_COUNTERCODE_H

#include "CounterDemand.h"
#include "ValueWriter.h"

namespace tally::lowering {

class CounterCode {
public:
  CounterCode(const EmitContext &context, CounterDemand &demand, KnownExprs &known,
              ValueWriter &writer);

  /// Counters that first move in this statement of the root start before it. (Those of trips start
  /// before their own loop.) To be called for one after the other.
  void startBefore(const Stmt &stmt);

  /// Counters that are read last in this statement of the root.
  void endAfter(const Stmt &stmt);

  /// Starts the count of trips before the loop; the counter that the loop itself is to keep, if
  /// any.
  RegId beforeLoop(LoopId loop);
  void afterLoop(LoopId loop);

  /// At the start of a body: its own counters, then the rings over it.
  void atEntry(LoopId body);

  /// Rings over `body` that are shifted before one of its statements; none: as it is entered.
  void shiftRings(LoopId body, StmtId before);

  /// At the end of a body: thresholds become what its next entry needs.
  void atEnd(LoopId body);

  /// As a block begins: the place of each of its producers, then the running count of its queues.
  void atBlock(const Stmt &stmt);

  /// At the start of an iteration that has a reset point: before the first that might not fit, the
  /// engine meets the others, and sets back everything that it has counted.
  void reset(const ResetSite &site, EngineId engine);

  /// The register or number that a leaf of an expression is.
  Operand operandOf(const Expr &leaf) const;

private:
  void startCountersOf(LoopId loop);
  void start(Counter &counter, CounterRole role);
  void shift(RingId ring);
  void beginRound(RoundsId rounds);
  Operand runNumber(const Rounds &rounds);
  void setBackCountersOf(LoopId loop);
  void setBackRingsAt(LoopId loop, LoopId reset);
  void setBackPlaces(uint32_t here);
  void setBack(const Counter &counter);
  void set(RegId counter, uint32_t to);

  const EmitContext &context;
  const Kernel &kernel;
  const SyncPlan &plan;
  CounterDemand &demand;
  KnownExprs &known;
  ValueWriter &writer;
  std::vector<std::vector<RegId>> endings; ///< by statement of the root: counters read last in it
  std::vector<std::pair<QueueId, uint32_t>> queuesHere;
  uint32_t nextLoop = 1; ///< ids ascend with the text, so cursors find what starts in a statement
  size_t nextFollowed = 0;
};

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_COUNTERCODE_H
