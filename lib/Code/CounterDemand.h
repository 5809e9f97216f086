//===- CounterDemand.h - What one engine has to count ---------------------===//
//
// The counters that the waits of an engine read, until where in the kernel each is read, and
// the loops that the engine has to run: those with its instructions, and those whose entries it
// counts.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CODE_COUNTERDEMAND_H
#define TALLY_LIB_CODE_COUNTERDEMAND_H

#include "Emit.h"

namespace tally {

/// A counter of one engine.
struct Counter {
  bool wanted = false;
  RegId value;           ///< set when it starts
  uint32_t lastStmt = 0; ///< the last statement of the root that reads it, as a position
};

class CounterDemand {
public:
  CounterDemand(const EmitContext &context, KnownExprs &known, EngineId engine);

  IdVector<LoopId, Counter> totals, trips;
  IdVector<RingId, Counter> rings;   ///< value: slot 1, the others follow
  IdVector<InstrId, Counter> places; ///< empty where no queue shares one semaphore, like `running`
  IdVector<QueueId, Counter> running;
  IdVector<LoopId, std::vector<RingId>> ringsAt; ///< wanted rings over each loop
  std::vector<InstrId> followed;                 ///< whose places are wanted, in order
  IdVector<LoopId, bool> enters;                 ///< loops that this engine runs

  /// Whether retirements of the queue in a statement of the root are counted: somebody reads the
  /// count there or later.
  bool isFollowed(QueueId queue, uint32_t stmt) const {
    return running[queue].wanted && stmt <= running[queue].lastStmt;
  }

private:
  void demand(ExprId expr, uint32_t stmt);
  void demandRing(RingId id, uint32_t stmt);
  void demandPlace(InstrId producer, uint32_t stmt);
  void findPath();
  void enter(LoopId loop);

  const EmitContext &context;
  KnownExprs &knownExprs;
  const EngineId engine;
};

} // namespace tally

#endif // TALLY_LIB_CODE_COUNTERDEMAND_H
