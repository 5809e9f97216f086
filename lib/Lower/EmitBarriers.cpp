//===- EmitBarriers.cpp - Code that meets at barriers ---------------------===//
//
// Barriers stand where the plan has them; BarrierCode.h says what one is made of. Semaphores are
// numbered so that what one barrier resets is one run: a single operation. The second handshake is
// left out where nothing is reset (but not in the paper's form, --barrier-participants=all).
//===----------------------------------------------------------------------===//

#include "BarrierCode.h"
#include "Emit.h"

#include <algorithm>

namespace tally {

using namespace lowering;

namespace {

class BarrierEmitter {
public:
  BarrierEmitter(const EmitContext &context, Code &code)
      : context(context), kernel(context.kernel), plan(context.plan), code(code),
        barriers(kernel, code), enters(kernel.loops.size(), 0) {}

  void run() {
    numberSemaphores();
    numberBarriers();
    findPaths();
    for (EngineId e : kernel.engines.ids()) {
      engine = e;
      code.engines.push({});
      code.engines[e].engine = e;
      walkBody(rootLoop);
    }
  }

private:
  bool paperForm() const { return plan.decisions.participants == Participants::All; }

  //===--- Semaphores -----------------------------------------------------===//

  /// The loop whose back edge resets a group; groups of one loop get consecutive numbers.
  LoopId resetter(const Group &group) const {
    return group.body.valid() ? kernel.realLoop(group.body) : rootLoop;
  }

  void numberSemaphores() {
    std::vector<GroupId> order;
    for (GroupId g : plan.groups.ids()) {
      order.push_back(g);
    }
    std::ranges::stable_sort(order, {}, [&](GroupId g) { return resetter(plan.groups[g]); });
    semaOf.resize(plan.groups.size());
    resets.resize(kernel.loops.size());
    IdVector<SemaId, Semaphore> named = std::move(code.semaphores);
    code.semaphores = {};
    for (GroupId g : order) {
      SemaId sema = code.semaphores.push(named[SemaId(g.value)]);
      semaOf[g] = sema;
      SemaRun &reset = resets[resetter(plan.groups[g])];
      reset.first = reset.count++ == 0 ? sema.value : reset.first;
    }
    allGroups = {0, static_cast<uint32_t>(plan.groups.size())};
  }

  //===--- Barriers -------------------------------------------------------===//

  void numberBarriers() {
    sites.resize(3 * kernel.loops.size());
    for (LoopId l : kernel.loops.ids()) {
      makeSite(l, Entry);
      makeSite(l, Back);
      makeSite(l, Exit);
    }
  }

  enum Where : uint32_t { Entry, Back, Exit };

  const EngineSet &membersAt(LoopId loop, Where where) const {
    const LoopBarriers &b = plan.barriers[loop];
    return where == Entry ? b.entry : where == Back ? b.back : b.exit;
  }

  BarrierSite &siteAt(LoopId loop, Where where) { return sites[3 * loop.value + where]; }

  void makeSite(LoopId loop, Where where) {
    const EngineSet &members = membersAt(loop, where);
    if (members.empty()) {
      return;
    }
    SemaRun run = paperForm() ? allGroups : where == Back ? resets[loop] : SemaRun();
    std::vector<SemaRun> reset;
    if (run.count > 0) {
      reset.push_back(run);
    }
    bool shakesTwice = run.count > 0 || paperForm();
    siteAt(loop, where) = barriers.add(members, std::move(reset), shakesTwice);
  }

  void emitBarrier(LoopId loop, Where where) {
    if (std::ranges::binary_search(membersAt(loop, where), engine)) {
      barriers.write(siteAt(loop, where), engine, code.engines[engine].ops);
    }
  }

  //===--- Which engines run which loops ----------------------------------===//

  void findPaths() {
    for (InstrId i : kernel.instrs.ids()) {
      enter(kernel.engineOf(i), kernel.instrs[i].home);
    }
    for (LoopId l : kernel.loops.ids()) {
      for (EngineId e : membersAt(l, Back)) {
        enter(e, l);
      }
      for (Where where : {Entry, Exit}) {
        for (EngineId e : membersAt(l, where)) {
          enter(e, kernel.loops[l].parent);
        }
      }
    }
  }

  void enter(EngineId e, LoopId loop) {
    uint64_t bit = uint64_t(1) << e.value;
    while (loop.valid() && (enters[loop] & bit) == 0) {
      enters[loop] |= bit;
      loop = kernel.loops[loop].parent;
    }
  }

  bool runs(LoopId loop) const { return loop.valid() && (enters[loop] >> engine.value & 1) != 0; }

  //===--- Walk -----------------------------------------------------------===//

  void push(Op op) { code.engines[engine].ops.push_back(op); }

  void walkBody(LoopId body) {
    for (StmtId s : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[s];
      if (stmt.kind == Stmt::Kind::Block) {
        for (InstrId instr : context.instrsIn(stmt, engine)) {
          issue(instr);
        }
        continue;
      }
      emitBarrier(stmt.loop, Entry);
      if (stmt.kind == Stmt::Kind::Loop) {
        walkLoop(stmt.loop);
      } else {
        walkIf(stmt.loop);
      }
      emitBarrier(stmt.loop, Exit);
    }
  }

  void walkLoop(LoopId loop) {
    if (!runs(loop)) {
      return;
    }
    push(Op::loopBegin(loop));
    walkBody(loop);
    emitBarrier(loop, Back);
    push(Op::mark(OpKind::LoopEnd));
  }

  void walkIf(LoopId thenBranch) {
    LoopId elseBranch = kernel.loops[thenBranch].otherBranch;
    if (!runs(thenBranch) && !runs(elseBranch)) {
      return;
    }
    push(Op::ifBegin(thenBranch));
    walkBody(thenBranch);
    if (runs(elseBranch)) {
      push(Op::mark(OpKind::Else));
      walkBody(elseBranch);
    }
    push(Op::mark(OpKind::IfEnd));
  }

  void issue(InstrId instr) {
    Op op = Op::issue(instr);
    for (const KeptWait &w : context.waits.of(instr)) {
      makeRoomForWait(code.engines[engine].ops, op);
      setWait(op, semaOf[w.group], Operand::number(plan.exprs[w.threshold].a), w.firstReason,
              w.numReasons);
    }
    context.setSignal(op, instr);
    if (op.signal.valid()) {
      op.signal = semaOf[plan.groupOf[instr]];
    }
    push(op);
  }

  const EmitContext &context;
  const Kernel &kernel;
  const SyncPlan &plan;
  Code &code;
  IdVector<GroupId, SemaId> semaOf;
  IdVector<LoopId, SemaRun> resets; ///< groups reset at the back edge of each loop
  SemaRun allGroups;
  BarrierCode barriers;
  std::vector<BarrierSite> sites;
  IdVector<LoopId, uint64_t> enters; ///< engines that run each loop
  EngineId engine;
};

} // namespace

void lowering::emitBarriers(const EmitContext &context, Code &code) {
  BarrierEmitter(context, code).run();
}

} // namespace tally
