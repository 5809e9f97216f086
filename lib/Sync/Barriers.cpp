//===- Barriers.cpp - Engines meet at the borders of each loop ------------===//
//
// The baseline. Engines drain, meet and start counting from zero again at the back edge of each
// loop, so that a loop body is straight-line code with static thresholds. What a barrier
// separates needs no wait.
//
// Two forms, by which engines take part:
//
//   all    Every engine, at each entry and back edge, and after each `if`. What lies
//          between two barriers is one block; one semaphore per queue serves the kernel.
//
//   work   Back edge of loop l: engines with work in l, resetting the semaphores of
//          l's body (and of branches in it). Entry and exit: also the two engines of each
//          dependence at distance 0 that crosses the border there. An `if` has only an exit
//          barrier, for the dependences that leave it. One semaphore per body and queue.
//
// Where a dependence is honoured ("work"; S the innermost body around both ends):
//
//   carried by a loop (k > 0)              back edge of that loop: both ends work in it
//   distance 0, producer below S           exit of the statement of S that holds it
//   distance 0, consumer in a loop of S    entry of that loop
//   distance 0, both in S, or the          a static wait for the K-th retirement since the
//   consumer in an `if` of S               last reset of S's semaphore
//
// A dependence that is counted apart (Divergence.h) is refused.
//
// A semaphore never holds more than one entry of its body, or one block, adds to it: that has to
// fit a counter, whatever the trips are (groupsFit()).
//
// A back-edge barrier resets only semaphores whose updaters and waiters take part: both are
// engines with work in the loop.
//===----------------------------------------------------------------------===//

#include "Planners.h"

#include "tally/Sync/Split.h"

#include <fmt/format.h>

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
    entry.assign(kernel.loops.size(), 0);
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
    if (!groupsFit(kernel, plan, diagnostics)) {
      return;
    }
    for (DepId dep : kernel.deps.ids()) {
      setThreshold(dep);
    }
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
    if (isCarried(dep, place) || place.order == Order::Opposite) {
      return;
    }
    EngineBits ends = bit(kernel.engineOf(dep.producer)) | bit(kernel.engineOf(dep.consumer));
    if (!place.producerInShared()) {
      exit[borderOf(place.shared, place.producerHome)] |= ends;
      return;
    }
    LoopId nested = kernel.childTowards(place.shared, place.consumerHome);
    if (nested.valid() && (all || !kernel.loops[nested].isBranch())) {
      entry[borderOf(place.shared, place.consumerHome)] |= ends;
      return;
    }
    if (all && place.order != Order::SameBlock) {
      return; // a nested statement with its barriers stands between the two blocks
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

  void placeBarriers() {
    plan.barriers.assign(kernel.loops.size(), LoopBarriers());
    for (LoopId l : kernel.loops.ids()) {
      if (l == rootLoop || kernel.loops[l].kind == LoopKind::Else) {
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
      EngineBits members = all ? everyEngine() : work[l];
      EngineBits linked = all ? members : exit[l] & ~work[l];
      barriers.entry = meet(members | entry[l], around, "before", l);
      barriers.back = meet(members, l, "at the back edge of", l);
      // The last back edge, or the entry barrier of a loop that does not run, separates
      // those who work in the loop; only others have to be told that it is over.
      barriers.exit = meet(all || linked == 0 ? 0 : exit[l], around, "after", l);
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
  IdVector<LoopId, EngineBits>
      work; ///< engines with instructions in the loop, nested ones included
  IdVector<LoopId, EngineBits> entry; ///< ends of dependences that cross the entry ...
  IdVector<LoopId, EngineBits> exit;  ///< ... and the exit
};

} // namespace

void sync::planBarriers(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics) {
  BarrierPlanner(kernel, plan, diagnostics).run();
}

} // namespace tally
