//===- CounterDemand.h - What one engine has to count ---------------------===//
//
// The counters that the waits of an engine read, until where in the kernel each is read, and
// the loops that the engine has to run: those with its instructions, and those whose entries it
// counts.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_COUNTERDEMAND_H
#define TALLY_LIB_LOWER_COUNTERDEMAND_H

#include "Emit.h"
#include "Linear.h"

namespace tally::lowering {

/// A counter of one engine.
struct Counter {
  bool wanted = false;
  bool native = false;                      ///< the loop's own counter will do
  RegId value;                              ///< set when it starts
  uint32_t firstStmt = Id<void>::noneValue; ///< the first statement of the root that reads it
  uint32_t lastStmt = 0; ///< the last statement of the root that reads it, as a position
  uint32_t slots = 0;    ///< of a ring: the oldest that is read
};

/// An expression that grows by the same number at each entry of a loop, kept in a register. At the
/// end of the body it becomes what the next entry needs.
struct Stepped {
  ExprId expr;
  Linear form;
  uint32_t firstStmt = 0; ///< the first statement of the root that reads it, as a position
  uint32_t lastStmt = 0;  ///< the last one
};

class CounterDemand {
public:
  CounterDemand(const EmitContext &context, KnownExprs &known, EngineId engine);

  IdVector<LoopId, Counter> totals, trips;
  IdVector<RingId, Counter> rings; ///< value: slot 1, the others follow
  IdVector<RoundsId, Counter>
      rounds; ///< value: how many have begun; when the next one does, follows
  IdVector<InstrId, Counter> places; ///< empty where no queue shares one semaphore, like `running`
  IdVector<QueueId, Counter> running;
  IdVector<LoopId, std::vector<RingId>> ringsAt;      ///< wanted rings over each loop
  IdVector<LoopId, std::vector<RoundsId>> roundsAt;   ///< wanted rounds of each loop
  IdVector<LoopId, std::vector<RoundsId>> roundsFrom; ///< and those that start with it
  std::vector<InstrId> followed;                      ///< whose places are wanted, in order
  IdVector<LoopId, std::vector<Stepped>> steppedAt;   ///< by the loop that steps them
  IdVector<LoopId, bool> enters;                      ///< loops that this engine runs

  /// Whether retirements of the queue in a statement of the root are counted: the count is
  /// read there or later.
  bool isFollowed(QueueId queue, uint32_t stmt) const {
    return running[queue].wanted && stmt <= running[queue].lastStmt;
  }

private:
  void demand(ExprId expr, InstrId consumer, uint32_t stmt);
  void step(ExprId expr, const Linear &form, uint32_t stmt);
  void demandResets();
  void dropSteps();
  void wantAll();
  void findNative();
  void demandRing(RingId id, uint32_t slot, uint32_t stmt);
  void demandRounds(RoundsId id, uint32_t stmt);
  void demandPlace(InstrId producer, uint32_t stmt);
  void findPath();
  void enter(LoopId loop);

  const EmitContext &context;
  KnownExprs &knownExprs;
  const EngineId engine;
};

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_COUNTERDEMAND_H
