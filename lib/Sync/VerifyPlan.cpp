//===- VerifyPlan.cpp - Does a plan hold together? ------------------------===//
//
// Counts members again and looks at every wait, knowing nothing of how the plan was made.
// What it cannot see is whether a threshold is the right number: the tests compare
// those with the definition.
//===----------------------------------------------------------------------===//

#include "tally/Sync/Plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace tally {
namespace {

class PlanVerifier {
public:
  PlanVerifier(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics)
      : kernel(kernel), plan(plan), diagnostics(diagnostics) {}

  void run() {
    checkMembers();
    for (DepId dep : kernel.deps.ids()) {
      checkWait(dep);
    }
  }

private:
  /// N counted afresh; places ascend in program order, over the body or within a block.
  void checkMembers() {
    IdVector<GroupId, uint32_t> members(plan.groups.size(), 0);
    IdVector<GroupId, StmtId> lastBlock(plan.groups.size());
    IdVector<GroupId, uint32_t> lastPlace(plan.groups.size(), 0);
    for (InstrId id : kernel.instrs.ids()) {
      GroupId g = plan.groupOf[id];
      if (!g.valid()) {
        continue;
      }
      const Instr &instr = kernel.instrs[id];
      const Group &group = plan.groups[g];
      ++members[g];
      if (group.isJoin()) {
        checkJoined(id, group);
        continue;
      }
      if (group.queue != instr.queue || (group.body.valid() && group.body != instr.home)) {
        complain(instr.where, fmt::format("'{}' raises a semaphore of another queue or body",
                                          kernel.nameOf(id)));
      }
      bool continues = group.body.valid() || lastBlock[g] == instr.block;
      uint32_t least = (continues ? lastPlace[g] : 0) + 1;
      // Between barriers, places go on past inner loops that are part of a stretch.
      bool isLater = plan.decisions.strategy == Strategy::Barrier &&
                     plan.decisions.participants == Participants::All;
      if (isLater ? plan.placeOf[id] < least : plan.placeOf[id] != least) {
        complain(instr.where, fmt::format("'{}' has place {} in its group", kernel.nameOf(id),
                                          plan.placeOf[id]));
      }
      lastBlock[g] = instr.block;
      lastPlace[g] = plan.placeOf[id];
    }
    for (GroupId g : plan.groups.ids()) {
      uint32_t said = plan.groups[g].isJoin() ? 2 : plan.groups[g].numSignals;
      if (members[g] != said) {
        complain(kernel.where,
                 fmt::format("group {} has {} members but says {}", g.value, members[g], said));
      }
    }
    checkJoinedWaits();
  }

  /// One of two, of which each entry of the group's body runs exactly one, and raises once.
  void checkJoined(InstrId id, const Group &group) {
    const Instr &instr = kernel.instrs[id];
    const Loop &inThen = kernel.loops[kernel.instrs[group.inThen].home];
    bool isRight = (id == group.inThen || id == group.inElse) && instr.queue == group.queue &&
                   inThen.kind == LoopKind::Then && inThen.parent == group.body &&
                   kernel.instrs[group.inElse].home == inThen.otherBranch &&
                   group.numSignals == 1 && plan.placeOf[id] == 1;
    if (!isRight) {
      complain(instr.where, fmt::format("'{}' is not one of two that branches of an `if` hold",
                                        kernel.nameOf(id)));
    }
  }

  /// Whoever waits for one of two that are joined has a dependence on the other that asks for the
  /// same: otherwise it would wait for a run that it does not need, or be told of one that is not
  /// its producer's.
  void checkJoinedWaits() {
    std::map<std::tuple<GroupId, InstrId, ExprId>, std::array<uint32_t, 2>> waits;
    for (DepId id : kernel.deps.ids()) {
      const Wait &wait = plan.waits[id];
      if (wait.group.valid() && plan.groups[wait.group].isJoin()) {
        const Dep &dep = kernel.deps[id];
        bool isElse = dep.producer == plan.groups[wait.group].inElse;
        ++waits[{wait.group, dep.consumer, wait.threshold}][isElse ? 1 : 0];
      }
    }
    for (const auto &[wait, numOf] : waits) {
      InstrId consumer = std::get<InstrId>(wait);
      if (numOf[0] == 0 || numOf[1] == 0) {
        complain(kernel.instrs[consumer].where,
                 fmt::format("'{}' waits for one of two that are joined", kernel.nameOf(consumer)));
      }
    }
  }

  void checkWait(DepId id) {
    const Wait &wait = plan.waits[id];
    const Dep &dep = kernel.deps[id];
    if (!wait.group.valid()) {
      bool covered = wait.waitClass == WaitClass::CoveredByBarrier &&
                     (!countsAtRunTime(plan.decisions.strategy) || meetBetween(dep));
      bool isLeftOut = wait.waitClass == WaitClass::Implied &&
                       std::ranges::binary_search(plan.decisions.leftOut, id);
      if (!covered && !isLeftOut && wait.waitClass != WaitClass::Never) {
        complain(dep.where, describe(kernel, id) + " has no wait");
      }
      return;
    }
    if (wait.group != plan.groupOf[dep.producer]) {
      complain(dep.where,
               describe(kernel, id) + " waits on a semaphore its producer does not raise");
    }
    if (plan.decisions.strategy == Strategy::Unrolled) {
      return; // thresholds are counted when the code is written out
    }
    if (!wait.threshold.valid()) {
      complain(dep.where, describe(kernel, id) + " has no threshold");
      return;
    }
    checkExpr(wait.threshold, id);
  }

  /// Whether both ends lie in a loop at whose back edge their engines meet.
  bool meetBetween(const Dep &dep) const {
    for (LoopId l = kernel.instrs[dep.producer].home; !plan.barriers.empty() && l.valid();
         l = kernel.loops[l].parent) {
      const std::vector<EngineId> &members = plan.barriers[l].back;
      auto meets = [&](InstrId end) {
        return kernel.encloses(l, kernel.instrs[end].home) &&
               std::ranges::binary_search(members, kernel.engineOf(end));
      };
      if (meets(dep.producer) && meets(dep.consumer)) {
        return true;
      }
    }
    return false;
  }

  void checkExpr(ExprId expr, DepId id) {
    const Expr &node = plan.exprs[expr];
    if (!isLeaf(node.op)) {
      checkExpr(ExprId(node.a), id);
      checkExpr(ExprId(node.b), id);
      return;
    }
    if (!leafIsCountable(node, kernel.deps[id])) {
      complain(kernel.deps[id].where,
               fmt::format("{} waits for '{}', which its engine cannot count", describe(kernel, id),
                           toString(plan.exprs, expr, plan.rings, plan.rounds, kernel)));
    }
  }

  bool leafIsCountable(const Expr &leaf, const Dep &dep) const {
    LoopId home = kernel.instrs[dep.consumer].home;
    switch (leaf.op) {
    case ExprOp::Total:
      return leaf.a < kernel.loops.size() && LoopId(leaf.a) != rootLoop;
    case ExprOp::Trip:
      return leaf.a < kernel.loops.size() && kernel.encloses(LoopId(leaf.a), home);
    case ExprOp::Rounds:
      return leaf.a < plan.rounds.size() && plan.rounds[RoundsId(leaf.a)].every > 0 &&
             kernel.encloses(plan.rounds[RoundsId(leaf.a)].loop, home);
    case ExprOp::Snapshot: {
      const Ring &ring = plan.rings[RingId(leaf.a)];
      return leaf.b >= 1 && leaf.b <= ring.depth && kernel.encloses(ring.loop, home) &&
             (!ring.before.valid() || readsBefore(ring, dep.consumer));
    }
    case ExprOp::Ordinal:
      return kernel.instrs[InstrId(leaf.a)].queue == kernel.instrs[dep.producer].queue;
    default:
      return true;
    }
  }

  /// A late ring is what it says only before the statement at which it is shifted.
  bool readsBefore(const Ring &ring, InstrId consumer) const {
    StmtId here = kernel.stmtTowards(ring.loop, consumer);
    return kernel.stmts[here].position < kernel.stmts[ring.before].position;
  }

  void complain(Location where, std::string message) {
    diagnostics.error(where, "the plan does not hold: " + std::move(message));
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  Diagnostics &diagnostics;
};

} // namespace

void verifyPlan(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics) {
  PlanVerifier(kernel, plan, diagnostics).run();
}

} // namespace tally
