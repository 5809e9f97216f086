//===- Barriers.cpp - Engines meet at the borders of each loop ------------===//
//
// The baseline. Engines drain, meet and start counting from zero again at the back edge of a
// loop, so that a loop body is straight-line code with static thresholds. What a barrier
// separates needs no wait.
//
// Two forms, by which engines take part:
//
//   all    Every engine, at each entry and back edge, and around each `if`. What lies
//          between two barriers is one stretch; one semaphore per queue serves the kernel.
//          An inner loop of one engine with constant trips that orders nothing itself is
//          part of a stretch, as if it were written out. If its trips are not constant, it has
//          no back-edge barrier, and one at its exit if a dependence leaves it.
//
//   work   Only where something asks for it, and only the engines that it concerns.
//          Back edge of loop l: the ends of each dependence that l carries, and the engines
//          that raise or wait for semaphores of l's body (and of branches in it), which are
//          reset there. Entry, exit: the ends of each dependence at distance 0 that crosses
//          the border there. An `if` has only an exit barrier. One semaphore per body and queue.
//
// Where a dependence is honoured ("work"; S the innermost body around both ends):
//
//   carried by a loop (k > 0)              back edge of that loop
//   distance 0, producer below S           exit of the statement of S that holds it; or, of a loop,
//                                          its last back edge, if the two ends meet there
//   distance 0, consumer in a loop of S    entry of that loop
//   distance 0, both in S, or the          a static wait for the K-th retirement since the
//   consumer in an `if` of S               last reset of S's semaphore ("all": both in a stretch)
//
// A dependence that is counted apart (Divergence.h) is refused.
//
// A semaphore never holds more than one entry of its body, or one block, adds to it: that has to
// fit a counter, whatever the trips are (groupsFit()).
//===----------------------------------------------------------------------===//

#include "Planners.h"

#include "tally/Sync/Split.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace tally {

using namespace sync;

namespace {

class BarrierPlanner {
public:
  BarrierPlanner(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics)
      : kernel(kernel), plan(plan), diagnostics(diagnostics), divergence(kernel),
        all(plan.decisions.participants == Participants::All) {}

  void run() {
    findWork();
    findStretches();
    entry.assign(kernel.loops.size(), 0);
    back.assign(kernel.loops.size(), 0);
    exit.assign(kernel.loops.size(), 0);
    for (DepId dep : kernel.deps.ids()) {
      honour(dep);
    }
    Sharing sharing = all ? Sharing::Queue : Sharing::Body;
    makeGroups(
        kernel, plan,
        [&](InstrId instr) {
          return mayMix(kernel.queues[kernel.instrs[instr].queue]) ? Sharing::None : sharing;
        },
        [&](DepId dep) { return plan.waits[dep].waitClass == WaitClass::Static; });
    if (all) {
      countStretches();
    }
    if (!groupsFit(kernel, plan, diagnostics)) {
      return;
    }
    for (DepId dep : kernel.deps.ids()) {
      setThreshold(dep);
    }
    meetToReset();
    placeBarriers();
  }

private:
  EngineBits bit(EngineId engine) const { return EngineBits(1) << engine.value; }

  EngineBits everyEngine() const {
    return kernel.engines.size() == 64 ? ~EngineBits(0)
                                       : (EngineBits(1) << kernel.engines.size()) - 1;
  }

  void findWork() {
    work.assign(kernel.loops.size(), 0);
    for (InstrId i : kernel.instrs.ids()) {
      work[kernel.instrs[i].home] |= bit(kernel.engineOf(i));
    }
    // A loop's id is greater than its parent's, so one backward pass sums the subtrees.
    for (uint32_t l = static_cast<uint32_t>(kernel.loops.size()); --l > 0;) {
      work[kernel.loops[LoopId(l)].parent] |= work[LoopId(l)];
    }
  }

  //===--- Stretches ------------------------------------------------------===//

  /// What lies between two barriers, in the paper's form. Each inner loop counts as written out.
  void findStretches() {
    isWrittenOut.assign(kernel.loops.size(), false);
    stretchOf.assign(kernel.instrs.size(), 0);
    if (!all) {
      return;
    }
    findWrittenOut();
    uint32_t stretch = 0;
    for (LoopId body : kernel.loops.ids()) {
      if (isWrittenOut[body]) {
        continue; // with what is around it
      }
      ++stretch;
      for (StmtId s : kernel.loops[body].body) {
        const Stmt &stmt = kernel.stmts[s];
        bool isBlock = stmt.kind == Stmt::Kind::Block;
        stretch += isBlock || isWrittenOut[stmt.loop] ? 0 : 1;
        forInstrs(stmt, [&](InstrId instr) { stretchOf[instr] = stretch; });
      }
    }
  }

  /// Of a block, or a loop that is written out.
  template <typename Visit> void forInstrs(const Stmt &stmt, Visit visit) const {
    if (stmt.kind == Stmt::Kind::Block) {
      for (InstrId instr : stmt.instrs) {
        visit(instr);
      }
    } else if (isWrittenOut[stmt.loop]) {
      for (StmtId inner : kernel.loops[stmt.loop].body) {
        forInstrs(kernel.stmts[inner], visit);
      }
    }
  }

  void findWrittenOut() {
    for (LoopId l : kernel.loops.ids()) {
      const Loop &loop = kernel.loops[l];
      bool isInner = true;
      for (StmtId s : loop.body) {
        isInner &= kernel.stmts[s].kind == Stmt::Kind::Block;
      }
      isWrittenOut[l] = l != rootLoop && loop.kind == LoopKind::Loop && isInner &&
                        std::has_single_bit(work[l]) && loop.trip.kind == Trip::Kind::Constant &&
                        loop.trip.constant > 0;
    }
    for (const Instr &instr : kernel.instrs) {
      if (mayMix(kernel.queues[instr.queue])) {
        isWrittenOut[instr.home] = false; // parts of several runs would come together
      }
    }
    for (const Dep &dep : kernel.deps) {
      DepPlace place = placeOf(kernel, dep);
      LoopId carrier = place.offset > 0 ? place.carrier : kernel.realLoop(place.shared);
      isWrittenOut[carrier] = false; // it orders runs of its own
    }
    leaveOutLarge();
  }

  /// What a counter could not hold.
  void leaveOutLarge() {
    IdVector<LoopId, std::map<QueueId, uint64_t>> signals(kernel.loops.size());
    std::vector<LoopId> large;
    for (InstrId i : kernel.instrs.ids()) {
      const Instr &instr = kernel.instrs[i];
      const Loop &home = kernel.loops[instr.home];
      uint64_t runs = isWrittenOut[instr.home] ? home.trip.constant : 1;
      uint64_t &sum = signals[outsideOf(instr.home)][instr.queue];
      sum += runs * kernel.queues[instr.queue].weight;
      if (sum >= plan.decisions.counterLimit) {
        large.push_back(outsideOf(instr.home));
      }
    }
    for (LoopId l : kernel.loops.ids()) {
      bool isIn = std::ranges::find(large, kernel.loops[l].parent) != large.end();
      isWrittenOut[l] = isWrittenOut[l] && !isIn;
    }
  }

  /// The body in which a body stands as if written out; else itself.
  LoopId outsideOf(LoopId body) const {
    return isWrittenOut[body] ? kernel.loops[body].parent : body;
  }

  /// Places in a group count from 1 in each stretch; those in an inner loop are of its last
  /// iteration.
  void countStretches() {
    struct Count {
      uint32_t stretch = 0; ///< what it is of
      uint64_t before = 0;  ///< the statement
      uint64_t here = 0;    ///< in it, each time
    };

    IdVector<GroupId, Count> counts(plan.groups.size());
    forStretches([&](const Stmt &stmt, uint64_t trips) {
      forCounted(stmt, [&](InstrId instr, GroupId group) {
        Count &count = counts[group];
        if (count.stretch != stretchOf[instr]) {
          count = {stretchOf[instr]};
        }
        plan.placeOf[instr] = static_cast<uint32_t>(count.before + ++count.here);
      });
      forCounted(stmt, [&](InstrId instr, GroupId group) {
        plan.placeOf[instr] += static_cast<uint32_t>((trips - 1) * counts[group].here);
      });
      forCounted(stmt, [&](InstrId, GroupId group) {
        counts[group].before += trips * counts[group].here;
        counts[group].here = 0;
      });
    });
  }

  /// Of statements that hold instructions, with how often these run there.
  template <typename Visit> void forStretches(Visit visit) const {
    for (LoopId body : kernel.loops.ids()) {
      for (StmtId s : kernel.loops[body].body) {
        const Stmt &stmt = kernel.stmts[s];
        if (stmt.kind != Stmt::Kind::Block && isWrittenOut[stmt.loop]) {
          visit(stmt, kernel.loops[stmt.loop].trip.constant);
        } else if (stmt.kind == Stmt::Kind::Block && !isWrittenOut[body]) {
          visit(stmt, 1);
        }
      }
    }
  }

  template <typename Visit> void forCounted(const Stmt &stmt, Visit visit) const {
    forInstrs(stmt, [&](InstrId instr) {
      if (plan.groupOf[instr].valid()) {
        visit(instr, plan.groupOf[instr]);
      }
    });
  }

  //===--- Where each dependence is honoured ------------------------------===//

  static bool isCarried(const Dep &dep, const DepPlace &place) {
    return place.offset > 0 || (dep.form == DistanceForm::Flat && dep.step > 0);
  }

  void honour(DepId id) {
    if (refuseApart(kernel, divergence, id, diagnostics)) {
      return;
    }
    const Dep &dep = kernel.deps[id];
    DepPlace place = placeOf(kernel, dep);
    Wait &wait = plan.waits[id];
    wait.waitClass = WaitClass::CoveredByBarrier;
    wait.exact = false;
    EngineBits ends = bit(kernel.engineOf(dep.producer)) | bit(kernel.engineOf(dep.consumer));
    if (isCarried(dep, place) || place.order == Order::Opposite) {
      back[place.offset > 0 ? place.carrier : kernel.realLoop(place.shared)] |= ends;
      return;
    }
    LoopId shared = outsideOf(place.shared);
    if (outsideOf(place.producerHome) != shared) {
      exit[borderOf(shared, place.producerHome)] |= ends;
      return;
    }
    LoopId nested = kernel.childTowards(shared, outsideOf(place.consumerHome));
    if (nested.valid() && (all || !kernel.loops[nested].isBranch())) {
      entry[borderOf(shared, place.consumerHome)] |= ends;
      return;
    }
    if (stretchOf[dep.producer] != stretchOf[dep.consumer]) {
      return; // a nested statement with its barriers stands between the two
    }
    wait.waitClass = WaitClass::Static;
    wait.exact = true;
  }

  /// The loop, or then-branch, that stands for the statement of `outer` around `inner`.
  LoopId borderOf(LoopId outer, LoopId inner) const {
    LoopId child = kernel.childTowards(outer, inner);
    return kernel.loops[child].kind == LoopKind::Else ? kernel.loops[child].otherBranch : child;
  }

  //===--- Semaphores and thresholds --------------------------------------===//

  void setThreshold(DepId id) {
    Wait &wait = plan.waits[id];
    if (wait.waitClass != WaitClass::Static) {
      return;
    }
    InstrId producer = kernel.deps[id].producer;
    wait.group = plan.groupOf[producer];
    uint32_t weight = kernel.queues[kernel.instrs[producer].queue].weight;
    wait.threshold = plan.exprs.constant(plan.placeOf[producer] * weight);
  }

  //===--- Who meets where ------------------------------------------------===//

  /// What is counted in the body of a loop, or in a branch of it, is reset at its back edge.
  void meetToReset() {
    for (InstrId i : kernel.instrs.ids()) {
      if (plan.groupOf[i].valid()) {
        back[resetOf(i)] |= bit(kernel.engineOf(i));
      }
    }
    for (DepId dep : kernel.deps.ids()) {
      if (plan.waits[dep].group.valid()) {
        back[resetOf(kernel.deps[dep].producer)] |= bit(kernel.engineOf(kernel.deps[dep].consumer));
      }
    }
  }

  LoopId resetOf(InstrId instr) const {
    return kernel.realLoop(outsideOf(kernel.instrs[instr].home));
  }

  /// Whether the paper's form leaves the back edge alone.
  bool isQuiet(LoopId loop) const { return std::has_single_bit(work[loop]) && back[loop] == 0; }

  void placeBarriers() {
    plan.barriers.assign(kernel.loops.size(), LoopBarriers());
    for (LoopId l : kernel.loops.ids()) {
      if (l == rootLoop || kernel.loops[l].kind == LoopKind::Else || isWrittenOut[l]) {
        continue;
      }
      LoopBarriers &barriers = plan.barriers[l];
      LoopId around = kernel.loops[l].parent;
      if (kernel.loops[l].isBranch()) {
        EngineBits leaving = all ? everyEngine() : exit[l];
        barriers.entry = meet(all ? leaving : 0, around, "before", l);
        barriers.exit = meet(leaving, around, "after", l);
        continue;
      }
      EngineBits ending = all && !isQuiet(l) ? everyEngine() : back[l];
      bool hasLeft = (exit[l] & ~ending) == 0; // since the last back edge
      barriers.entry = meet(all ? everyEngine() : entry[l], around, "before", l);
      barriers.back = meet(ending, l, "at the back edge of", l);
      barriers.exit = meet(hasLeft ? 0 : all ? everyEngine() : exit[l], around, "after", l);
    }
  }

  std::vector<EngineId> meet(EngineBits members, LoopId body, const char *where, LoopId loop) {
    return tally::meet(kernel, divergence, members, body, where, loop, diagnostics);
  }

  const Kernel &kernel;
  SyncPlan &plan;
  Diagnostics &diagnostics;
  const Divergence divergence;
  const bool all;
  IdVector<LoopId, bool> isWrittenOut; ///< is part of a stretch of the body around it
  IdVector<InstrId, uint32_t> stretchOf;
  IdVector<LoopId, EngineBits>
      work; ///< engines with instructions in the loop, nested ones included
  IdVector<LoopId, EngineBits> entry; ///< ends of dependences that cross the entry ...
  IdVector<LoopId, EngineBits> exit;  ///< ... and the exit
  IdVector<LoopId, EngineBits> back;  ///< ... or are carried; and who counts in the body
};

} // namespace

void sync::planBarriers(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics) {
  BarrierPlanner(kernel, plan, diagnostics).run();
}

} // namespace tally
