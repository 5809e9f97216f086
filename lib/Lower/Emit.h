//===- Emit.h - The code of one engine, for each family of strategies -----===//
#ifndef TALLY_LIB_LOWER_EMIT_H
#define TALLY_LIB_LOWER_EMIT_H

#include "Anchors.h"
#include "Legalize.h"
#include "MeetingCode.h"
#include "Registers.h"
#include "tally/Lower/KeptWaits.h"
#include "tally/Lower/Lower.h"

#include <span>

namespace tally::lowering {

/// What emission of all engines shares, and does not change.
struct EmitContext {
  /// Adds the reasons of waits, and what engines meet by, to the code.
  EmitContext(const Kernel &kernel, const SyncPlan &plan, const Machine &machine,
              const LowerDecisions &decisions, Code &code);

  const Kernel &kernel;
  const SyncPlan &plan;
  const LowerDecisions &decisions;
  const KeptWaits waits;
  const LegalExprs exprs;
  const MeetingCode meetings;
  std::vector<std::vector<InstrId>> instrsOf; ///< by engine, in program order
  IdVector<LoopId, uint32_t> rootPosition;    ///< statement of the root, as a position
  IdVector<QueueId, std::vector<LoopId>>
      loopsOf; ///< bodies with instructions that share the queue's semaphore
  IdVector<QueueId, uint32_t> firstPosition; ///< of the root, with the first of these

  /// The instructions of a block on an engine.
  std::span<const InstrId> instrsIn(const Stmt &block, EngineId engine) const;

  /// The statement of the root in which an instruction lies, as a position.
  uint32_t rootPositionOf(InstrId id) const;

  /// Semaphore and weight an instruction signals with, or none.
  void setSignal(Op &op, InstrId instr) const;
};

/// Gives `op`, an Issue, one more wait: one that it has already becomes a wait-only operation.
/// To be called before the operations that compute the new threshold.
void makeRoomForWait(std::vector<Op> &ops, Op &op);

/// Sets the wait of an operation and the dependences behind it.
void setWait(Op &op, SemaId sema, Operand threshold, uint32_t firstReason, uint32_t numReasons);

/// Memory that one emission after the other uses, but no two at the same time.
struct EmitScratch {
  KnownExprs known;
  ValueCode program; ///< the result
};

/// Code that counts and computes its thresholds, over values, into the scratch memory.
void emitCounting(const EmitContext &context, EmitScratch &scratch, EngineId engine);

/// Code that meets at barriers, its semaphores added to the code. All engines at once.
void emitBarriers(const EmitContext &context, Code &code);

/// Loops written out, thresholds counted. All engines at once.
void emitUnrolled(const EmitContext &context, Code &code, Diagnostics &diagnostics);

/// Loops are unrolled as the kernel says; with `countAtOnce`, those on an engine that only counts
/// them become additions, where it knows how often they run.
void writeOut(const Kernel &kernel, bool countAtOnce, uint64_t counterLimit, Code &code);

/// Gives the semaphores and registers of code, which so far are numbered from zero on, their
/// numbers: those that the kernel pins get theirs, and all others the smallest that are neither
/// pinned nor reserved. For strategies that count, its semaphores are those of the groups of the
/// plan. The ones in between are not used.
void assignNumbers(const Kernel &kernel, const SyncPlan &plan, Code &code);

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_EMIT_H
