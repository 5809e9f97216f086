//===- Emit.h - The code of one engine, for each family of strategies -----===//
#ifndef TALLY_LIB_CODE_EMIT_H
#define TALLY_LIB_CODE_EMIT_H

#include "Anchors.h"
#include "Legalize.h"
#include "Registers.h"
#include "Waits.h"
#include "tally/Code/Lower.h"

namespace tally {

/// What is known of an expression. Consumers come in text order, so of everything only the latest
/// can be of use again.
struct Known {
  StmtId block; ///< whose consumers, on any engine, see it at `anchor`
  Anchor anchor;
  EngineId engine;                           ///< of what follows
  uint32_t demandedIn = Id<void>::noneValue; ///< statement of the root
  LoopId body;                               ///< where `value` was computed, and when
  uint32_t epoch = 0;
  RegId value;
};

/// What emission of all engines shares.
struct EmitContext {
  EmitContext(const Kernel &kernel, const SyncPlan &plan, const LowerOptions &options,
              const KeptWaits &waits, LegalExprs &exprs, Program &program);

  const Kernel &kernel;
  const SyncPlan &plan;
  const LowerOptions &options;
  const KeptWaits &waits;
  LegalExprs &exprs;
  Program &program;
  std::vector<std::vector<InstrId>> instrsOf;     ///< by engine, in program order
  IdVector<LoopId, uint32_t> rootPosition;        ///< statement of the root, as a position
  IdVector<QueueId, std::vector<LoopId>> loopsOf; ///< bodies with instructions of the queue
  IdVector<QueueId, uint32_t> firstPosition;      ///< of the root, with the queue's first one
  std::vector<Known> known;                       ///< by expression

  /// The statement of the root in which an instruction lies, as a position.
  uint32_t rootPositionOf(InstrId instr) const;

  /// What is known of an expression on an engine; nothing yet, if another one was here before.
  Known &knownOn(EngineId engine, ExprId expr);

  /// Semaphore and weight an instruction signals with, or none.
  void setSignal(Op &op, InstrId instr) const;
};

/// Gives `op`, an Issue, one more wait: one that it has already becomes a wait-only operation.
/// To be called before the operations that compute the new threshold.
void makeRoomForWait(std::vector<Op> &ops, Op &op);

/// Sets the wait of an operation and the dependences behind it.
void setWait(Op &op, SemaId sema, Operand threshold, uint32_t firstReason, uint32_t numReasons);

/// Code that counts and computes its thresholds (per-instruction, per-loop, per-engine), over
/// values.
ValueCode emitCounting(EmitContext &context, EngineId engine);

/// Code that meets at barriers, its semaphores added to the program. All engines at once.
void emitBarriers(EmitContext &context);

/// Loops written out, thresholds counted. All engines at once.
void emitUnrolled(EmitContext &context, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_LIB_CODE_EMIT_H
