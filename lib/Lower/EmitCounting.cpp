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
// Where a value is computed. The inputs of an expression, seen from a consumer, change at the entry
// of some loops around the consumer, and in statements beside it. The innermost body in which any
// of them changes is the *anchor*; within it, the last statement before the consumer that
// changes one opens an *epoch*. Expression, anchor and epoch identify a value: computed once, in
// the anchor's body before the statement that holds the first consumer, it serves every consumer of
// that epoch, in nested loops too. That is loop-invariant code motion and common subexpressions
// in one rule, with no analysis of the emitted code.
//
// Two ways to count for less, where the options allow: a loop's own counter instead of one that is
// kept beside it, and thresholds that are stepped at the end of a body instead of computed in it.
//
// Steps:  1. demand   counters that the engine's waits read, and until when (CounterDemand.h)
//         2. hoist    values wanted before a statement because of a consumer inside it
//         3. walk     the operations, in order
//
// Cost: linear in statements + the engine's instructions and waits, times the depth.
//===----------------------------------------------------------------------===//

#include "CounterDemand.h"
#include "EmitReset.h"

#include <algorithm>
#include <map>

namespace tally {
namespace {

class CountingEmitter {
public:
  CountingEmitter(const EmitContext &context, EmitScratch &scratch, EngineId engine)
      : context(context), knownExprs(scratch.known), program(scratch.program),
        kernel(context.kernel), plan(context.plan), exprs(context.exprs.pool()), engine(engine),
        mine(context.instrsOf[engine.value]), counters(context, scratch.known, engine),
        endings(kernel.loops[rootLoop].body.size()) {}

  void run() {
    program.ops.clear();
    program.values.clear();
    program.regions.clear();
    if (context.decisions.licm) {
      findHoists();
    }
    regionAtDepth.push_back(noRegion);
    walkBody(rootLoop);
  }

private:
  static constexpr uint32_t noRegion = Id<void>::noneValue;

  //===--- 2. Hoist -------------------------------------------------------===//

  /// A value wanted before a statement for a consumer inside it.
  struct Hoist {
    StmtId before;
    ExprId expr;
    InstrId consumer;
    uint32_t use; ///< which wait, where values are not shared
  };

  void findHoists() {
    uint32_t use = 0;
    for (InstrId instr : mine) {
      uint32_t home = kernel.loops[kernel.instrs[instr].home].depth;
      for (const KeptWait *w = context.waits.begin(instr); w != context.waits.end(instr); ++w) {
        hoist(context.exprs.legal(w->threshold), instr, home, use++);
      }
    }
    std::stable_sort(hoists.begin(), hoists.end(),
                     [](const Hoist &a, const Hoist &b) { return a.before < b.before; });
  }

  /// Records `expr`, and below it every subexpression, that belongs further out than what uses it:
  /// a body at `depth`.
  void hoist(ExprId expr, InstrId consumer, uint32_t depth, uint32_t use) {
    const Expr &node = exprs[expr];
    if (isLeaf(node.op) || isStepped(expr, consumer)) {
      return;
    }
    Anchor anchor = anchorOf(expr, consumer);
    hoist(ExprId(node.a), consumer, anchor.depth, use);
    hoist(ExprId(node.b), consumer, anchor.depth, use);
    if (anchor.depth < depth) {
      LoopId body = bodyAt(anchor.depth, kernel.instrs[consumer].home);
      hoists.push_back({kernel.stmtTowards(body, consumer), expr, consumer, use});
    }
  }

  /// Whether a loop around a consumer keeps `expr` ready for it.
  bool isStepped(ExprId expr, InstrId consumer) {
    LoopId loop = knownExprs[expr].steppedBy;
    return loop.valid() && kernel.encloses(loop, kernel.instrs[consumer].home);
  }

  /// Where `expr` belongs, seen from a consumer.
  Anchor anchorOf(ExprId expr, InstrId consumer) {
    return knownExprs.anchorOf(kernel, plan, exprs, expr, consumer);
  }

  LoopId bodyAt(uint32_t depth, LoopId inner) const {
    while (kernel.loops[inner].depth > depth) {
      inner = kernel.loops[inner].parent;
    }
    return inner;
  }

  //===--- 3. Walk --------------------------------------------------------===//

  void walkBody(LoopId body) {
    if (const ResetSite *site =
            context.meetings ? context.meetings->resetIn(body, engine) : nullptr) {
      emitReset(context, counters, knownExprs, *site, engine, program);
    }
    countEntry(body);
    for (StmtId stmt : kernel.loops[body].body) {
      if (body == rootLoop) {
        startCounters(kernel.stmts[stmt]);
      }
      shiftRings(body, stmt);
      walkStmt(stmt);
      if (body == rootLoop) {
        endCounters(kernel.stmts[stmt].position);
      }
    }
    step(body);
    if (const BarrierSite *site =
            context.meetings ? context.meetings->backEdgeOf(body, engine) : nullptr) {
      context.meetings->barriers().write(*site, engine, program.ops);
    }
  }

  void walkStmt(StmtId id) {
    const Stmt &stmt = kernel.stmts[id];
    if (stmt.kind == Stmt::Kind::Block) {
      walkBlock(stmt);
      return;
    }
    LoopId other = kernel.loops[stmt.loop].otherBranch;
    if (!counters.enters[stmt.loop] && !(other.valid() && counters.enters[other])) {
      return;
    }
    auto [first, last] =
        std::equal_range(hoists.begin(), hoists.end(), Hoist{id, {}, {}, 0},
                         [](const Hoist &a, const Hoist &b) { return a.before < b.before; });
    for (; first != last; ++first) {
      valueOf(first->expr, first->consumer, first->use);
    }
    if (stmt.kind == Stmt::Kind::Loop) {
      walkLoop(stmt.loop);
    } else {
      walkIf(stmt.loop, other);
    }
  }

  void walkLoop(LoopId loop) {
    Counter &trip = counters.trips[loop];
    Counter &total = counters.totals[loop];
    if (trip.wanted && !trip.native) {
      trip.value = startCounter({RegisterRole::Kind::Trip, loop.value, 0});
    }
    RegId native;
    if (trip.native) {
      native = trip.value = newCounter({RegisterRole::Kind::Trip, loop.value, 0});
    } else if (total.native) {
      native = total.value = newCounter({RegisterRole::Kind::Total, loop.value, 0});
    }
    openRegion(Op::loopBegin(loop, native));
    walkBody(loop);
    closeRegion(OpKind::LoopEnd);
    for (const Counter *counter : {&trip, &total}) {
      if (counter->native || (counter == &trip && counter->wanted)) {
        end(counter->value);
      }
    }
  }

  void walkIf(LoopId thenBranch, LoopId elseBranch) {
    openRegion(Op::ifBegin(thenBranch));
    if (counters.enters[thenBranch]) {
      walkBody(thenBranch);
    }
    if (counters.enters[elseBranch]) {
      program.ops.push_back(Op::mark(OpKind::Else));
      walkBody(elseBranch);
    }
    closeRegion(OpKind::IfEnd);
  }

  void openRegion(Op begin) {
    regionAtDepth.push_back(static_cast<uint32_t>(program.regions.size()));
    program.regions.push_back({position(), 0});
    program.ops.push_back(begin);
  }

  void closeRegion(OpKind kind) {
    program.regions[regionAtDepth.back()].end = position();
    regionAtDepth.pop_back();
    program.ops.push_back(Op::mark(kind));
  }

  uint32_t position() const { return static_cast<uint32_t>(program.ops.size()); }

  void walkBlock(const Stmt &stmt) {
    countPlaces(stmt);
    uint32_t end = stmt.instrs.first + stmt.instrs.count;
    while (next < mine.size() && mine[next].value < end) {
      issue(mine[next++]);
    }
  }

  //===--- Counters -------------------------------------------------------===//

  RegId newValue(RegisterValue value) {
    program.values.push_back(value);
    return RegId(static_cast<uint32_t>(program.values.size() - 1));
  }

  RegId newCounter(CounterRole role) {
    RegisterValue value;
    value.role = role;
    return newValue(value);
  }

  /// A counter that starts here.
  RegId startCounter(CounterRole role, uint32_t from = 0) {
    RegId id = newCounter(role);
    program.ops.push_back(Op::move(id, Operand::number(from)));
    return id;
  }

  void end(RegId counter) { program.values[counter.value].lastUse = position() - 1; }

  /// Counters that first move in this statement of the root start before it. (Those of trips start
  /// before their own loop.) Ids ascend with the text, so cursors find them.
  void startCounters(const Stmt &stmt) {
    while (nextLoop < kernel.loops.size() &&
           context.rootPosition[LoopId(nextLoop)] == stmt.position) {
      startCountersOf(LoopId(nextLoop++));
    }
    for (QueueId queue : counters.running.ids()) {
      bool first = context.firstPosition[queue] == stmt.position;
      if (first && counters.isFollowed(queue, stmt.position)) {
        start(counters.running[queue], {RegisterRole::Kind::Running, queue.value, 0});
      }
    }
    while (nextFollowed < counters.followed.size() &&
           context.rootPositionOf(counters.followed[nextFollowed]) == stmt.position) {
      InstrId producer = counters.followed[nextFollowed++];
      start(counters.places[producer], {RegisterRole::Kind::Place, producer.value, 0});
    }
  }

  void startCountersOf(LoopId loop) {
    if (counters.totals[loop].wanted && !counters.totals[loop].native) {
      start(counters.totals[loop], {RegisterRole::Kind::Total, loop.value, 0});
    }
    for (const Stepped &stepped : counters.steppedAt[loop]) {
      RegId value =
          startCounter({RegisterRole::Kind::NextThreshold, stepped.expr.value, 0}, stepped.form.first());
      knownExprs[stepped.expr].stepped = value;
      endings[stepped.lastStmt].push_back(value);
    }
    for (RingId ring : counters.ringsAt[loop]) {
      for (uint32_t slot = 1; slot <= counters.rings[ring].slots; ++slot) {
        RegId value = startCounter({RegisterRole::Kind::Slot, ring.value, slot});
        endings[counters.rings[ring].lastStmt].push_back(value);
        counters.rings[ring].value = slot == 1 ? value : counters.rings[ring].value;
      }
    }
  }

  void start(Counter &counter, CounterRole role) {
    counter.value = startCounter(role);
    endings[counter.lastStmt].push_back(counter.value);
  }

  void endCounters(uint32_t stmt) {
    for (RegId counter : endings[stmt]) {
      end(counter);
    }
  }

  void bump(RegId counter, uint32_t by = 1) {
    program.ops.push_back(
        Op::alu2(AluOp::Add, counter, Operand::reg(counter), Operand::number(by)));
  }

  /// At the start of a body: its own counters, then the rings over it.
  void countEntry(LoopId body) {
    for (const Counter *counter : {&counters.trips[body], &counters.totals[body]}) {
      if (counter->wanted && !counter->native) {
        bump(counter->value);
      }
    }
    shiftRings(body, StmtId());
  }

  /// The rings over `body` that are shifted before one of its statements; none: as it is entered.
  void shiftRings(LoopId body, StmtId before) {
    for (RingId ring : counters.ringsAt[body]) {
      if (plan.rings[ring].before == before) {
        shift(ring);
      }
    }
  }

  /// At the end of a body: what its next entry needs.
  void step(LoopId body) {
    for (const Stepped &stepped : counters.steppedAt[body]) {
      bump(knownExprs[stepped.expr].stepped, stepped.form.factor);
    }
  }

  void shift(RingId id) {
    const Ring &ring = plan.rings[id];
    uint32_t first = counters.rings[id].value.value;
    for (uint32_t slot = counters.rings[id].slots; slot-- > 1;) {
      program.ops.push_back(Op::move(RegId(first + slot), Operand::reg(RegId(first + slot - 1))));
    }
    RegId counter = ring.total.valid() ? counters.totals[ring.total].value
                                       : counters.places[ring.ordinal].value;
    program.ops.push_back(Op::move(RegId(first), Operand::reg(counter)));
  }

  /// As a block begins: the place of each of its producers, then the running count of its queues.
  void countPlaces(const Stmt &stmt) {
    if (counters.running.empty()) {
      return;
    }
    queuesHere.clear();
    uint32_t here = context.rootPositionOf(stmt.instrs[0]);
    for (InstrId instr : stmt.instrs) {
      QueueId queue = kernel.instrs[instr].queue;
      if (!plan.sharesQueue(instr) || !counters.isFollowed(queue, here)) {
        continue;
      }
      if (plan.placeOf[instr] == 1) {
        queuesHere.push_back({queue, 0});
      }
      if (counters.places[instr].wanted && here <= counters.places[instr].lastStmt) {
        uint32_t place = plan.placeOf[instr] * kernel.queues[queue].weight;
        program.ops.push_back(Op::alu2(AluOp::Add, counters.places[instr].value,
                                       Operand::reg(counters.running[queue].value),
                                       Operand::number(place)));
      }
      auto entry = std::find_if(queuesHere.begin(), queuesHere.end(),
                                [&](const auto &e) { return e.first == queue; });
      entry->second += kernel.queues[queue].weight;
    }
    for (auto [queue, raised] : queuesHere) {
      bump(counters.running[queue].value, raised);
    }
  }

  //===--- Values and waits -----------------------------------------------===//

  /// Where `expr` is computed: where it belongs, or, unhoisted, in the consumer's own body.
  Anchor computedAt(ExprId expr, InstrId consumer) {
    Anchor anchor = anchorOf(expr, consumer);
    uint32_t home = kernel.loops[kernel.instrs[consumer].home].depth;
    return context.decisions.licm || anchor.depth == home ? anchor : Anchor{home, 0};
  }

  /// The operand that holds `expr` for a consumer, computed here if no earlier one will do.
  Operand valueOf(ExprId expr, InstrId consumer, uint32_t use) {
    const Expr &node = exprs[expr];
    if (isLeaf(node.op)) {
      return leafOperand(node);
    }
    if (isStepped(expr, consumer)) {
      return Operand::reg(knownExprs[expr].stepped);
    }
    Anchor anchor = computedAt(expr, consumer);
    if (!context.decisions.cse) {
      return unsharedValue(expr, consumer, use, anchor.depth);
    }
    LoopId body = bodyAt(anchor.depth, kernel.instrs[consumer].home);
    Known &known = knownExprs[expr];
    if (known.body != body || known.epoch != anchor.epoch) {
      known.value = compute(node, consumer, use, anchor.depth);
      known.body = body;
      known.epoch = anchor.epoch;
    }
    return Operand::reg(known.value);
  }

  /// Each wait for itself: it finds only what was hoisted for it.
  Operand unsharedValue(ExprId expr, InstrId consumer, uint32_t use, uint32_t depth) {
    auto [found, isNew] = unshared.try_emplace({expr, use});
    if (isNew) {
      RegId value = compute(exprs[expr], consumer, use, depth);
      unshared[{expr, use}] = value;
      return Operand::reg(value);
    }
    return Operand::reg(found->second);
  }

  Operand leafOperand(const Expr &leaf) const {
    switch (leaf.op) {
    case ExprOp::Total:
      return Operand::reg(counters.totals[LoopId(leaf.a)].value);
    case ExprOp::Trip:
      return Operand::reg(counters.trips[LoopId(leaf.a)].value);
    case ExprOp::Snapshot:
      return Operand::reg(RegId(counters.rings[RingId(leaf.a)].value.value + leaf.b - 1));
    case ExprOp::Ordinal:
      return Operand::reg(counters.places[InstrId(leaf.a)].value);
    default:
      return Operand::number(leaf.a);
    }
  }

  static AluOp aluOf(ExprOp op) {
    switch (op) {
    case ExprOp::Add:
      return AluOp::Add;
    case ExprOp::Mul:
      return AluOp::Mul;
    case ExprOp::Min:
      return AluOp::Min;
    case ExprOp::IsGT:
      return AluOp::IsGT;
    default:
      return AluOp::Sub;
    }
  }

  RegId compute(const Expr &node, InstrId consumer, uint32_t use, uint32_t depth) {
    Operand a = valueOf(ExprId(node.a), consumer, use);
    Operand b = valueOf(ExprId(node.b), consumer, use);
    RegisterValue value;
    value.depth = depth;
    value.definition = position();
    value.lastUse = position();
    RegId id = newValue(value);
    touch(a);
    touch(b);
    program.ops.push_back(Op::alu2(aluOf(node.op), id, a, b));
    return id;
  }

  /// The next operation reads `operand`.
  void touch(Operand operand) {
    if (!operand.isRegister || program.values[operand.value].isCounter()) {
      return;
    }
    RegisterValue &value = program.values[operand.value];
    bool inside = regionAtDepth.size() > value.depth + 1;
    value.lastUse = position();
    value.lastRegion = inside ? regionAtDepth[value.depth + 1] : noRegion;
  }

  /// The last wait goes with the instruction, others stand before it.
  void issue(InstrId instr) {
    Op op = Op::issue(instr);
    const KeptWait *end = context.waits.end(instr);
    for (const KeptWait *w = context.waits.begin(instr); w != end; ++w) {
      makeRoomForWait(program.ops, op);
      Operand threshold = valueOf(context.exprs.legal(w->threshold), instr, nextUse++);
      setWait(op, SemaId(w->group.value), threshold, w->firstReason, w->numReasons);
      touch(threshold);
    }
    context.setSignal(op, instr);
    program.ops.push_back(op);
  }

  const EmitContext &context;
  KnownExprs &knownExprs;
  ValueCode &program;
  const Kernel &kernel;
  const SyncPlan &plan;
  const ExprPool &exprs;
  const EngineId engine;
  const std::vector<InstrId> &mine; ///< its instructions, in order
  CounterDemand counters;
  std::vector<std::vector<RegId>> endings; ///< by statement of the root: counters read last in it
  std::vector<Hoist> hoists;               ///< sorted by statement
  std::map<std::pair<ExprId, uint32_t>, RegId> unshared; ///< by expression and use, without CSE

  std::vector<uint32_t> regionAtDepth; ///< of each open body, outermost first
  std::vector<std::pair<QueueId, uint32_t>> queuesHere;
  size_t next = 0; ///< of `mine`
  uint32_t nextLoop = 1;
  size_t nextFollowed = 0;
  uint32_t nextUse = 0;
};

} // namespace

void emitCounting(const EmitContext &context, EmitScratch &scratch, EngineId engine) {
  CountingEmitter(context, scratch, engine).run();
}

} // namespace tally
