//===- EmitCounting.cpp - Code that counts and computes its thresholds ----===//
//
// One engine walks the kernel: it runs the loops in which it has an instruction or has
// to count, keeps the counters that its waits read, and computes each threshold.
//
//   [trip(B) := 0]                         counters start before the loop that moves them
//   loop A:
//     [total(A)++]                         at each entry: counters first,
//     [q2 := q1, q1 := total(B)]           then the rings of this loop
//     [t := isGT(total(A), 1)]             hoisted: its inputs stand still inside B
//     loop B:
//       [trip(B)++]
//       [w := t * ...]
//       {s >= w} consumer
//
// Three parts, each with its own state: ValueWriter appends operations, CounterCode keeps counters,
// ThresholdCode computes what waits compare with, each value where its inputs stand still. Here is
// the walk that calls them in order.
//
// Two ways to count for less, where the options allow: a loop's own counter instead of one that is
// kept with it, and thresholds that are stepped at the end of a body instead of computed in it.
//
// Steps:  1. demand   counters that the engine's waits read, and until when (CounterDemand.h)
//         2. hoist    values wanted before a statement because of a consumer inside it
//         (ThresholdCode.h)
//         3. walk     the operations, in order
//
// Cost: linear in statements + the engine's instructions and waits, times the depth.
//===----------------------------------------------------------------------===//

#include "ThresholdCode.h"

namespace tally {

using namespace lowering;

namespace {

class CountingEmitter {
public:
  CountingEmitter(const EmitContext &context, EmitScratch &scratch, EngineId engine)
      : context(context), kernel(context.kernel), engine(engine),
        demand(context, scratch.known, engine), writer(scratch.program),
        counters(context, demand, scratch.known, writer),
        thresholds(context, context.instrsOf[engine.value], counters, scratch.known, writer) {}

  void run() { walkBody(rootLoop); }

private:
  void walkBody(LoopId body) {
    if (const ResetSite *site = context.meetings.resetIn(body, engine)) {
      counters.reset(*site, engine);
    }
    counters.atEntry(body);
    for (StmtId stmt : kernel.loops[body].body) {
      if (body == rootLoop) {
        counters.startBefore(kernel.stmts[stmt]);
      }
      counters.shiftRings(body, stmt);
      walkStmt(stmt);
      if (body == rootLoop) {
        counters.endAfter(kernel.stmts[stmt]);
      }
    }
    counters.atEnd(body);
    if (const BarrierSite *site = context.meetings.backEdgeOf(body, engine)) {
      context.meetings.barriers().write(*site, engine, writer.code().ops);
    }
  }

  void walkStmt(StmtId id) {
    const Stmt &stmt = kernel.stmts[id];
    if (stmt.kind == Stmt::Kind::Block) {
      walkBlock(stmt);
      return;
    }
    LoopId other = kernel.loops[stmt.loop].otherBranch;
    if (!demand.enters[stmt.loop] && !(other.valid() && demand.enters[other])) {
      return;
    }
    thresholds.before(id);
    if (stmt.kind == Stmt::Kind::Loop) {
      walkLoop(stmt.loop);
    } else {
      walkIf(stmt.loop, other);
    }
  }

  void walkLoop(LoopId loop) {
    RegId native = counters.beforeLoop(loop);
    writer.open(Op::loopBegin(loop, native));
    walkBody(loop);
    writer.close(OpKind::LoopEnd);
    counters.afterLoop(loop);
  }

  void walkIf(LoopId thenBranch, LoopId elseBranch) {
    writer.open(Op::ifBegin(thenBranch));
    if (demand.enters[thenBranch]) {
      walkBody(thenBranch);
    }
    if (demand.enters[elseBranch]) {
      writer.code().ops.push_back(Op::mark(OpKind::Else));
      walkBody(elseBranch);
    }
    writer.close(OpKind::IfEnd);
  }

  void walkBlock(const Stmt &stmt) {
    counters.atBlock(stmt);
    for (InstrId instr : context.instrsIn(stmt, engine)) {
      issue(instr);
    }
  }

  /// The last wait goes with the instruction, others stand before it. All thresholds are computed
  /// before the first: what comes after it, the engine does while it could go on.
  void issue(InstrId instr) {
    operands.clear();
    for (const KeptWait &wait : context.waits.of(instr)) {
      operands.push_back(thresholds.valueOf(context.exprs.legal(wait.threshold), instr, nextUse++));
    }
    Op op = Op::issue(instr);
    auto operand = operands.begin();
    for (const KeptWait &wait : context.waits.of(instr)) {
      makeRoomForWait(writer.code().ops, op);
      writer.touch(*operand);
      setWait(op, SemaId(wait.group.value), *operand++, wait.firstReason, wait.numReasons);
    }
    context.setSignal(op, instr);
    writer.code().ops.push_back(op);
  }

  const EmitContext &context;
  const Kernel &kernel;
  const EngineId engine;
  CounterDemand demand;
  ValueWriter writer;
  CounterCode counters;
  ThresholdCode thresholds;
  uint32_t nextUse = 0;
  std::vector<Operand> operands; ///< of the waits of one instruction
};

} // namespace

void lowering::emitCounting(const EmitContext &context, EmitScratch &scratch, EngineId engine) {
  CountingEmitter(context, scratch, engine).run();
}

} // namespace tally
