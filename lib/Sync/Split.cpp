//===- Split.cpp - Waiting for queues that complete in parts --------------===//
//
// A queue of weight w that completes `split` raises its semaphore w times by 1, each time from
// another ring; rings are in order only by themselves. So a value of w*T may be made of parts of
// later instructions, unless none has been issued: a wait for T runs of an instruction is right if
// run T + 1 cannot be issued before the wait has passed. Then w*T is all that there can be. That is
// why each instruction of such a queue has a semaphore of its own (Groups.cpp).
//
// There are two ways to show that. Either C, which waits, comes before run T + 1; or each run of
// the producer P comes after the one before it has retired. (Suppose that some wait is the first to
// pass wrongly. Those by which run T + 1 was held back passed before that, so they were right.)
//
// Where a run of one instruction comes before which later run of another is found for each loop
// around both by itself. Let C run in iteration v of these loops, outermost first, and let v' be
// the iteration of a later run of P. At some level j the two differ first, and v' lies later there;
// or they are equal. So it suffices to show, for each level j, that
//
//   this run of C comes before every run of P that lies in iteration v_j + d of l_j or later, in
//   the same entry of l_j                                                            ("(P, d)")
//
// with d = 1; at the innermost level with d = 1 - k, if the wait is for the runs of k iterations
// ago. Levels are needed because each entry of a loop begins with iterations in which a dependence
// at a distance on it owes nothing. What holds P back within the innermost loop need not do so when
// an outer loop enters it again.
//
// What follows at level j, with m the distance of a dependence on l_j and no other:
//
//   C itself   X later on its engine                      (X, 0), or (X, 1) past the end of l_j
//              X depends on C; l_j is the innermost loop  (X, m)
//                around both
//              X depends on C at distance 0, or flat 1,   (X, 1)
//                in a loop below l_j
//              both engines meet at a back edge in l_j    (X, 1)
//   (X, d)     Y later on the engine of X, or depends on  (Y, d), if Y lies in the body that holds
//                it at distance 0                           X, or below it
//              Y on the engine of X, not later            (Y, d + 1)  if X stands in l_j itself, so
//              Y depends on X                             (Y, d + m)  that it surely runs
//
// For the second way, what depends on P comes first, or on what follows P in its queue, for that
// retires later; and (P, 1) is to be shown at all levels.
//
// All of this speaks of iterations that all engines count alike: instructions of several engines
// take part only if no loop around them is divergent.
//
// Cost: for each wait on such a queue and each loop around both ends, the instructions and
// dependences of that loop.
//===----------------------------------------------------------------------===//

#include "tally/Sync/Split.h"

#include "tally/Model/Place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <span>

namespace tally {
namespace {

class SplitChecker {
public:
  SplitChecker(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics)
      : kernel(kernel), plan(plan), diagnostics(diagnostics), depsFrom(kernel.instrs.size()),
        instrsOn(kernel.engines.size()), firstIn(kernel.loops.size()), lastIn(kernel.loops.size()),
        divergent(divergentLoops(kernel)), seen(kernel.instrs.size()),
        followed(kernel.instrs.size()) {
    for (DepId dep : kernel.deps.ids()) {
      depsFrom[kernel.deps[dep].producer].push_back(dep);
    }
    for (InstrId instr : kernel.instrs.ids()) {
      instrsOn[kernel.engineOf(instr)].push_back(instr);
      for (LoopId l = kernel.instrs[instr].home; l.valid(); l = kernel.loops[l].parent) {
        firstIn[l] = firstIn[l].valid() ? firstIn[l] : instr;
        lastIn[l] = instr;
      }
    }
  }

  void run() {
    for (DepId dep : kernel.deps.ids()) {
      const Queue &queue = kernel.queues[kernel.instrs[kernel.deps[dep].producer].queue];
      if (plan.waits[dep].group.valid() && mayMix(queue)) {
        check(dep, queue);
      }
    }
  }

private:
  //===--- One wait -------------------------------------------------------===//

  /// Refuses a wait beyond which something can have been issued.
  void check(DepId id, const Queue &queue) {
    const Dep &dep = kernel.deps[id];
    LoopId repeated = kernel.realLoop(kernel.instrs[dep.producer].home);
    if (!plan.groups[plan.waits[id].group].sole.valid()) {
      refuse(id, queue, "may be counted instead of it",
             "use a strategy by which it has a semaphore of its own ('per-instruction')");
    } else if (repeated == rootLoop) {
      return; // it runs once
    } else if (plan.decisions.strategy == Strategy::Barrier) {
      assert(meetsAt(repeated, kernel.engineOf(dep.producer)) && "it runs once between barriers");
    } else if (!countTogether(dep)) {
      refuse(id, queue, "the waiting engine may not count, for a loop around it is divergent",
             "let all engines agree on that loop");
    } else if (std::optional<LoopId> in = overtakenIn(id); in && !runsOneByOne(dep.producer)) {
      refuseOvertaken(id, queue, *in);
    }
  }

  bool countTogether(const Dep &dep) const {
    return kernel.engineOf(dep.producer) == kernel.engineOf(dep.consumer) ||
           (agrees(dep.producer) && agrees(dep.consumer));
  }

  bool agrees(InstrId instr) const { return !divergent[kernel.instrs[instr].home].valid(); }

  /// The loop in an iteration of which a later run of the producer may be issued before the wait
  /// has passed; none if there is none. At the root, all runs of an earlier statement are over.
  std::optional<LoopId> overtakenIn(DepId id) {
    const Dep &dep = kernel.deps[id];
    LoopId innermost = kernel.realLoop(placeOf(kernel, dep).shared);
    std::optional<uint32_t> back = iterationsBack(id);
    if (!back || *back > 1) {
      return innermost;
    }
    for (LoopId l = innermost; l != rootLoop; l = kernel.realLoop(kernel.loops[l].parent)) {
      if (!reaches(dep, l, l == innermost ? 1 - *back : 1)) {
        return l;
      }
    }
    return std::nullopt;
  }

  /// Whether no run of an instruction is issued before the last one has retired.
  bool runsOneByOne(InstrId producer) {
    for (LoopId l = kernel.realLoop(kernel.instrs[producer].home); l != rootLoop;
         l = kernel.realLoop(kernel.loops[l].parent)) {
      begin(producer, l, 1);
      startFromRetired(producer);
      followQueue(producer);
      if (!reachTarget()) {
        return false;
      }
    }
    return agrees(producer);
  }

  /// How many iterations ago the target lies, if the wait is for every run up to the end of it.
  std::optional<uint32_t> iterationsBack(DepId id) const {
    const Wait &wait = plan.waits[id];
    DepPlace place = placeOf(kernel, kernel.deps[id]);
    if (wait.less != 0) {
      return std::nullopt;
    }
    switch (wait.waitClass) {
    case WaitClass::InShared:
    case WaitClass::SameBranch:
    case WaitClass::Flat:
      return wait.minus;
    case WaitClass::Nested: // the other branch does not run in this iteration
      return place.order == Order::Opposite ? 0 : static_cast<uint32_t>(place.offset);
    default:
      return std::nullopt;
    }
  }

  //===--- Facts at one level ---------------------------------------------===//

  struct Fact {
    InstrId instr;
    uint32_t distance;
  };

  /// Whether every run of the producer, so many iterations of `level` later or more, comes after
  /// the consumer.
  bool reaches(const Dep &dep, LoopId level, uint32_t distance) {
    begin(dep.producer, level, distance);
    startFrom(dep.consumer);
    return reachTarget();
  }

  void begin(InstrId producer, LoopId level, uint32_t distance) {
    loop = level;
    target = producer;
    most = distance;
    todo.clear();
    ++search;
  }

  bool reachTarget() {
    while (!todo.empty()) {
      Fact fact = todo.front();
      todo.pop_front();
      if (fact.instr == target) {
        return true;
      }
      followEngine(fact);
      followDeps(fact);
    }
    return false;
  }

  void add(InstrId instr, uint64_t distance) {
    bool inside = kernel.encloses(loop, kernel.instrs[instr].home);
    if (distance > most || !inside || !(agrees(instr) || instr == target) ||
        seen[instr][distance] == search) {
      return;
    }
    for (uint64_t later = distance; later <= most; ++later) {
      seen[instr][later] = search;
    }
    todo.push_back({instr, static_cast<uint32_t>(distance)});
  }

  /// What follows from the issue of an instruction.
  void startFrom(InstrId consumer) {
    for (InstrId instr : instrsOf(kernel.engineOf(consumer), loop)) {
      add(instr, comesAfter(instr, consumer) ? 0 : 1);
    }
    startFromRetired(consumer);
  }

  /// What follows from its retirement.
  void startFromRetired(InstrId from) {
    if (!agrees(from)) {
      return;
    }
    for (DepId id : depsFrom[from]) {
      if (std::optional<uint64_t> distance = heldBackFrom(kernel.deps[id])) {
        add(kernel.deps[id].consumer, *distance);
      }
    }
    bool meets = !plan.barriers.empty();
    for (LoopId l = kernel.instrs[from].home; meets && kernel.encloses(loop, l);
         l = kernel.loops[l].parent) {
      if (meetsAt(l, kernel.engineOf(from)) && meetsAt(l, kernel.engineOf(target))) {
        add(target, 1);
      }
    }
  }

  /// What retires later on the queue of an instruction retires after it.
  void followQueue(InstrId from) {
    for (InstrId instr : instrsOf(kernel.engineOf(from), loop)) {
      if (kernel.instrs[instr].queue == kernel.instrs[from].queue && agrees(instr)) {
        followDeps({instr, comesAfter(instr, from) ? 0u : 1u});
      }
    }
  }

  /// Whether all runs of `b` in this iteration of the loop come after one of `a`, on one engine.
  bool comesAfter(InstrId b, InstrId a) const {
    LoopId shared = kernel.commonLoop(kernel.instrs[a].home, kernel.instrs[b].home);
    if (kernel.realLoop(shared) != loop) {
      return false; // a loop in between repeats both
    }
    StmtId first = kernel.stmtTowards(shared, a);
    StmtId second = kernel.stmtTowards(shared, b);
    if (first == second) {
      bool opposite = kernel.stmts[first].kind != Stmt::Kind::Block; // `b` does not run in this one
      return opposite || a < b;
    }
    return first < second;
  }

  /// From which iteration on a dependence on the consumer holds back.
  std::optional<uint64_t> heldBackFrom(const Dep &dep) const {
    DepPlace place = placeOf(kernel, dep);
    LoopId around = kernel.realLoop(place.shared);
    bool below = around != loop;
    bool elsewhere = place.carrier.valid() && (below || place.carrier != loop);
    if (dep.form == DistanceForm::Element || !kernel.encloses(loop, around) || elsewhere) {
      return std::nullopt;
    }
    uint64_t distance =
        static_cast<uint64_t>(dep.form == DistanceForm::Flat ? dep.step : place.offset);
    return below ? std::max<uint64_t>(distance, 1) : distance;
  }

  void followEngine(Fact fact) {
    if (followed[fact.instr][fact.distance] == search) {
      return; // by an earlier one of the same body
    }
    LoopId home = kernel.instrs[fact.instr].home;
    EngineId engine = kernel.engineOf(fact.instr);
    for (InstrId instr : instrsOf(engine, home)) {
      if (instr > fact.instr) {
        add(instr, fact.distance);
        if (kernel.instrs[instr].home == home) {
          followed[instr][fact.distance] = search;
        }
      } else if (home == loop) {
        add(instr, fact.distance + 1);
      }
    }
  }

  void followDeps(Fact fact) {
    LoopId home = kernel.instrs[fact.instr].home;
    for (DepId id : depsFrom[fact.instr]) {
      const Dep &dep = kernel.deps[id];
      DepPlace place = placeOf(kernel, dep);
      if (dep.form == DistanceForm::Element || place.shared != home) {
        continue;
      }
      bool isFlat = dep.form == DistanceForm::Flat;
      uint64_t distance = static_cast<uint64_t>(isFlat ? dep.step : place.offset);
      if (distance == 0 || (home == loop && (isFlat || place.carrier == loop))) {
        add(dep.consumer, fact.distance + distance);
      }
    }
  }

  /// Of one engine in a body and below it: they follow one another in the text.
  std::span<const InstrId> instrsOf(EngineId engine, LoopId body) const {
    const std::vector<InstrId> &all = instrsOn[engine];
    auto begin = std::ranges::lower_bound(all, firstIn[body]);
    auto end = std::ranges::upper_bound(all, lastIn[body]);
    return {begin, std::max(begin, end)};
  }

  bool meetsAt(LoopId body, EngineId engine) const {
    return std::ranges::binary_search(plan.barriers[body].back, engine);
  }

  //===--- Refusing -------------------------------------------------------===//

  void refuseOvertaken(DepId id, const Queue &queue, LoopId in) {
    const Dep &dep = kernel.deps[id];
    LoopId innermost = kernel.realLoop(placeOf(kernel, dep).shared);
    std::optional<uint32_t> back = iterationsBack(id);
    bool isNear = back && *back <= 1;
    bool isSame = isNear && *back == 1 && in == innermost;
    std::string when = isNear ? fmt::format("in the {} iteration of '{}' ",
                                            isSame ? "same" : "next", kernel.nameOf(in))
                              : "";
    refuse(id, queue,
           fmt::format("may be issued {}before '{}' has waited", when, kernel.nameOf(dep.consumer)),
           (isNear ? order(dep, in, isSame) + ", " : "") +
               "write the iterations that are under way at a time as instructions of their own");
  }

  /// What would hold the next run of the producer back.
  std::string order(const Dep &dep, LoopId in, bool isSame) const {
    std::string_view producer = kernel.nameOf(dep.producer);
    std::string_view consumer = kernel.nameOf(dep.consumer);
    LoopId home = kernel.instrs[dep.producer].home;
    if (isSame) {
      return fmt::format("let '{}' depend on '{}'", producer, consumer);
    }
    if (home == kernel.instrs[dep.consumer].home) {
      return fmt::format("let '{}' depend on '{}' with 'flat 1'", producer, consumer);
    }
    if (in == kernel.realLoop(placeOf(kernel, dep).shared)) {
      return fmt::format("let '{}' depend on '{}' at '{}' = 1", producer, consumer,
                         kernel.nameOf(in));
    }
    return fmt::format("let an instruction of '{}' itself, which engine '{}' issues before '{}', "
                       "depend on '{}'",
                       kernel.nameOf(in), kernel.nameOf(kernel.engineOf(dep.producer)), producer,
                       consumer);
  }

  /// `why`: about the next run of the producer.
  void refuse(DepId id, const Queue &queue, std::string_view why, std::string_view wayOut) {
    const Dep &dep = kernel.deps[id];
    Diagnostic &error = diagnostics.error(
        dep.where,
        fmt::format("{} cannot be waited for: queue '{}' completes in {} parts that may mix "
                    "with those of the next '{}', which {}; {}, or say 'whole', at the queue "
                    "and of the machine, if its parts stay together",
                    describe(kernel, id), kernel.nameOf(kernel.instrs[dep.producer].queue),
                    queue.weight, kernel.nameOf(dep.producer), why, wayOut));
    error.note(queue.where, "the queue is declared here");
    if (!kernel.accesses.empty()) {
      error.note(kernel.instrs[dep.consumer].where,
                 "accesses ask for dependences only where none is written: with one more, write "
                 "the others, too; 'tally deps' lists them");
    }
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  Diagnostics &diagnostics;
  IdVector<InstrId, std::vector<DepId>> depsFrom;
  IdVector<EngineId, std::vector<InstrId>> instrsOn; ///< ascending
  IdVector<LoopId, InstrId> firstIn, lastIn;         ///< in a body or below it
  const IdVector<LoopId, LoopId> divergent;
  // Of one search:
  InstrId target;
  LoopId loop;
  uint32_t most = 0; ///< iterations
  uint32_t search = 0;
  std::deque<Fact> todo;
  IdVector<InstrId, std::array<uint32_t, 2>> seen;     ///< in which search, at which distance
  IdVector<InstrId, std::array<uint32_t, 2>> followed; ///< ... its engine was
};

} // namespace

void checkSplitWaits(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics) {

  if (std::ranges::any_of(kernel.queues, mayMix)) {
    SplitChecker(kernel, plan, diagnostics).run();
  }
}

} // namespace tally
