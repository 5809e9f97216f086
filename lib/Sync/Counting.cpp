//===- Counting.cpp - Waits computed from what an engine has counted ------===//
//
// Turns each dependence into `semaphore >= mask * w*(N*x - (N-K))`.
//
// Terms:  S, P    innermost body around both ends; the producer's body
//         L, k    loop that carries the distance, and the distance on it
//         x       runs of the producer to wait for, from counters of the
//                 consumer's engine
//         N, K    instructions that share the semaphore; the producer's place
//         w       what one retirement adds
// Steps:  1. group     instructions get their semaphore, and N and K with it
//         2. form      where the ends lie decides how x is found (Forms.h)
//         3. wait      the expression, from form and group
//
// Shared by a queue, one semaphore counts its retirements in all bodies. Then no
// formula in N and K gives the place of a run; the consumer's engine follows the queue's
// instructions itself: place(P) is the place of the latest run of P (for k runs ago, a
// ring of it). That needs the engine to take the same path as the queue's.
//
// A region may say otherwise than the kernel how its instructions share, or that its engines meet
// (Meet.cpp); then some dependences need no wait.
//
// Strategy 'auto' leaves out a mask that compares the very counter it masks: then total(P) - k, cut
// off at zero, is zero until something is owed.
//
// Why total(S) - k may use Sub but the others Monus: with P = S and the mask 1, x >= 1, and then
// N*x - (N-K) >= K > 0. A nested producer may not have run at all, x = 0, although the mask is 1.
//
// Where counters are reset between iterations of a loop, everything before has retired: whatever
// was counted is zero, and so is every threshold made of it, until something new is owed. Only an
// index of a loop does not start again with the count of its runs, so an element needs both ends
// outside; and a loop around a reset point does not count what is inside.
//
// A distance may reach farther than counters do. As long as they hold what they count (Overflow.cpp
// sees to that), nothing is owed over it: the threshold is 0, and no number is made that does not
// fit.
//
// Cost: linear in instructions + dependences, times the depth where counters are reset.
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Joint.h"
#include "Planners.h"

#include "tally/Model/Regions.h"
#include "tally/Model/RunNumbers.h"
#include "tally/Support/Counted.h"
#include "tally/Sync/Split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>

namespace tally {

using namespace sync;

namespace {

/// Copies of counters: one ring for each counter and each loop over which it is remembered.
class Rings {
public:
  Rings(const Kernel &kernel, SyncPlan &plan)
      : kernel(kernel), plan(plan), ofTotal(kernel.loops.size(), RingId()),
        ofPlace(kernel.instrs.size(), RingId()) {}

  /// Whether there is a ring, shifted at entry, that serves so far back.
  bool serves(LoopId loop, InstrId producer, uint32_t depth) const {
    for (RingId r = ofTotal[plan.countedIn(kernel, producer)]; r.valid(); r = nextRing[r]) {
      const Ring &ring = plan.rings[r];
      if (ring.loop == loop && !ring.before.valid() && ring.depth >= depth) {
        return true;
      }
    }
    return false;
  }

  /// The ring of the producer's counter over `loop`, at least `depth` deep. A counter has few
  /// rings (one or two per carrying loop around it), so they are chained and searched.
  RingId over(LoopId loop, InstrId producer, uint32_t depth, StmtId before = {}) {
    LoopId home = plan.countedIn(kernel, producer);
    bool places = plan.sharesQueue(producer);
    RingId &head = places ? ofPlace[producer] : ofTotal[home];
    for (RingId r = head; r.valid(); r = nextRing[r]) {
      if (plan.rings[r].loop == loop && plan.rings[r].before == before) {
        plan.rings[r].depth = std::max(plan.rings[r].depth, depth);
        return r;
      }
    }
    Ring ring;
    ring.loop = loop;
    ring.total = places ? LoopId() : home;
    ring.ordinal = places ? producer : InstrId();
    ring.before = before;
    ring.depth = depth;
    nextRing.push(head);
    head = plan.rings.push(ring);
    return head;
  }

private:
  const Kernel &kernel;
  SyncPlan &plan;
  IdVector<LoopId, RingId> ofTotal;  ///< newest ring of each counter
  IdVector<InstrId, RingId> ofPlace; ///< the same, of queues that share one semaphore
  IdVector<RingId, RingId> nextRing; ///< older ring of the same counter
};

/// The expression of a wait, of what is decided about it.
class Thresholds {
public:
  Thresholds(const Kernel &kernel, SyncPlan &plan)
      : kernel(kernel), plan(plan), totalOf(kernel.loops.size(), ExprId()),
        tripOf(kernel.loops.size(), ExprId()) {}

  ExprId of(const Wait &wait, InstrId producer) {
    return masked(wait,
                  plan.sharesQueue(producer) ? counter(wait, producer) : decode(wait, producer));
  }

private:
  ExprId total(LoopId loop) {
    ExprId &id = totalOf[loop];
    if (!id.valid()) {
      id = loop == rootLoop ? plan.exprs.constant(1) : plan.exprs.total(loop);
    }
    return id;
  }

  /// A loop that no other loop repeats is in its first trip: total and trip are the same number.
  ExprId trip(LoopId loop) {
    if (loop == rootLoop) {
      return total(loop);
    }
    ExprId &id = tripOf[loop];
    if (!id.valid()) {
      bool repeated = kernel.realLoop(kernel.loops[loop].parent) != rootLoop;
      id = repeated || !plan.decisions.fold ? plan.exprs.trip(loop) : total(loop);
    }
    return id;
  }

  ExprId counter(const Wait &wait, InstrId producer) {
    if (isLimited(wait)) {
      return nestCounter(wait);
    }
    if (wait.outer.valid()) {
      return total(wait.outer);
    }
    return wait.waitClass == WaitClass::Element ? elementCounter(wait, producer)
                                                : slotOf(wait, wait.slot, producer);
  }

  bool isLimited(const Wait &wait) const {
    return std::ranges::any_of(plan.levelsOf(wait),
                               [](const NestLevel &level) { return level.times > 0; });
  }

  /// The least of times * (total - minus) over the loops of the nest.
  ExprId nestCounter(const Wait &wait) {
    ExprId runs = runsOf(wait.outer, wait.times, wait.minus);
    for (const NestLevel &level : plan.levelsOf(wait)) {
      if (level.times > 0) {
        runs = plan.exprs.make(ExprOp::Min, runs, runsOf(level.loop, level.times, level.minus));
      }
    }
    return runs;
  }

  ExprId runsOf(LoopId loop, uint32_t times, uint32_t minus) {
    ExprPool &exprs = plan.exprs;
    ExprId entries = exprs.make(ExprOp::Sub, total(loop), exprs.constant(minus));
    return exprs.make(ExprOp::Mul, exprs.constant(times), entries);
  }

  /// The number of the consumer's run among those of its nest, from 1, as a counter less a
  /// constant.
  struct InnerRuns {
    ExprId counter;
    int64_t ahead = 0;
  };

  InnerRuns innerRuns(const Wait &wait) { return innerRunsFrom(ExprId(), wait, false); }

  /// The same and a count: it comes first, as it stands still longest, so that what does not change
  /// in the innermost loop is computed outside. Nor need the number be ahead: as iterations are
  /// numbered from 1, what an outer loop has too many can be subtracted there.
  InnerRuns innerRunsFrom(ExprId count, const Wait &wait, bool isExact) {
    ExprPool &exprs = plan.exprs;
    auto plus = [&](ExprId sum, ExprId more) {
      return sum.valid() ? exprs.make(ExprOp::Add, sum, more) : more;
    };
    RunNumbers numbers = *RunNumbers::below(kernel, wait.innerAround, wait.innerLoop);
    bool isOnce = kernel.realLoop(wait.innerAround) == rootLoop;
    if (numbers.isSingle() || (numbers.loops().size() > 1 && isOnce)) {
      return {plus(count, total(wait.innerLoop))};
    }
    ExprId sum = count;
    for (size_t level = 0; level < numbers.loops().size(); ++level) {
      ExprId runs = exprs.constant(static_cast<uint32_t>(numbers.runsPerIteration(level)));
      ExprId each = exprs.make(ExprOp::Mul, runs, trip(numbers.loops()[level]));
      sum = plus(sum, each);
      if (isExact && level + 1 < numbers.loops().size()) {
        sum = exprs.make(ExprOp::Sub, sum, runs);
      }
    }
    return {sum, isExact ? 0 : numbers.ahead()};
  }

  /// How many runs of the producer's nest the table asks for: so many more with each run of the
  /// consumer, and with each step that it has come by. What is subtracted comes last, so that
  /// nothing is below zero before.
  ExprId tableRuns(const Wait &wait) {
    ExprPool &exprs = plan.exprs;
    const RunTable &table = kernel.tables[wait.table];
    const int64_t slope = table.slope();
    auto [counter, ahead] = innerRuns(wait);
    Balance runs{exprs};
    runs.add(table.at(0) + 1 - slope * (ahead + 1));
    runs.add(slope, counter);
    addSteps(wait, table, runs);
    return runs.difference();
  }

  /// What is added, and what is subtracted.
  struct Balance {
    ExprPool &exprs;
    ExprId plus = exprs.constant(0);
    ExprId minus = exprs.constant(0);

    void add(int64_t number) { add(number, exprs.constant(1)); }

    void add(int64_t times, ExprId what) {
      ExprId &side = times < 0 ? minus : plus;
      ExprId all =
          exprs.make(ExprOp::Mul, exprs.constant(static_cast<uint32_t>(std::abs(times))), what);
      side = exprs.make(ExprOp::Add, all, side);
    }

    ExprId difference() const { return exprs.make(ExprOp::Sub, plus, minus); }
  };

  /// Steps that come but a few times are compared with. Otherwise the rounds are counted that begin
  /// with the first step, and the others are compared with where in its round a run stands.
  void addSteps(const Wait &wait, const RunTable &table, Balance &runs) {
    constexpr uint64_t few = 2;
    ExprPool &exprs = plan.exprs;
    const std::vector<RunTable::Step> steps = table.steps();
    auto [counter, ahead] = innerRuns(wait);
    RunNumbers numbers = *RunNumbers::below(kernel, wait.innerAround, wait.innerLoop);
    const std::optional<uint64_t> most = numbers.most(kernel);
    const auto every = static_cast<int64_t>(table.runs.size());
    if (steps.empty()) {
      return;
    }
    auto isBehind = [&](ExprId number, int64_t run) {
      return exprs.make(ExprOp::IsGT, number, exprs.constant(static_cast<uint32_t>(run + ahead)));
    };
    if (most && *most <= static_cast<uint64_t>(steps.front().at) + few * table.runs.size()) {
      for (const RunTable::Step &step : steps) {
        for (int64_t run = step.at; run < static_cast<int64_t>(*most); run += every) {
          runs.add(step.by, isBehind(counter, run));
        }
      }
      return;
    }
    const auto first = static_cast<uint32_t>(steps.front().at);
    const auto period = static_cast<uint32_t>(every);
    ExprId begun = exprs.rounds(roundsOf({wait.innerLoop, wait.innerAround, period, first}));
    ExprId past = exprs.make(ExprOp::Mul, exprs.constant(period), begun);
    ExprId inRound =
        exprs.make(ExprOp::Sub, exprs.make(ExprOp::Add, counter, exprs.constant(period)), past);
    runs.add(table.each - table.slope() * every, begun);
    for (size_t i = 1; i < steps.size(); ++i) {
      runs.add(-steps[i].by);
      runs.add(steps[i].by, isBehind(inRound, steps[i].at));
    }
  }

  RoundsId roundsOf(const Rounds &rounds) {
    auto [known, isNew] = roundsKnown.try_emplace(rounds);
    if (isNew) {
      known->second = plan.rounds.push(rounds);
    }
    return known->second;
  }

  /// Whether there are always as many runs of the producer as the table asks for. An earlier
  /// iteration may have left out a branch around both, with all runs in it.
  bool staysWithin(const Wait &wait, InstrId producer) const {
    if (wait.slot > 0 && kernel.realLoop(wait.innerAround) != wait.innerAround) {
      return false;
    }
    LoopId home = kernel.instrs[producer].home;
    std::optional<uint64_t> consumers =
        RunNumbers::below(kernel, wait.innerAround, wait.innerLoop)->most(kernel);
    uint64_t producers = RunNumbers::below(kernel, wait.innerAround, home)->least(kernel);
    bool isKnown = consumers && *consumers > 0;
    return home == wait.innerLoop ||
           (isKnown && kernel.tables[wait.table].at(static_cast<int64_t>(*consumers) - 1) <
                           static_cast<int64_t>(producers));
  }

  /// min(q_(k+1) + the runs that the table asks for, q_k)
  ExprId tableCounter(const Wait &wait, InstrId producer) {
    ExprPool &exprs = plan.exprs;
    ExprId runs = tableRuns(wait);
    if (wait.ring.valid()) {
      runs = exprs.make(ExprOp::Add, exprs.snapshot(wait.ring, wait.slot + 1), runs);
    }
    return staysWithin(wait, producer)
               ? runs
               : exprs.make(ExprOp::Min, runs, slotOf(wait, wait.slot, producer));
  }

  /// min(q_(k+1) + trip(I) - d, q_k)
  ExprId elementCounter(const Wait &wait, InstrId producer) {
    ExprPool &exprs = plan.exprs;
    if (wait.table.valid()) {
      return tableCounter(wait, producer);
    }
    ExprId before = wait.ring.valid() ? exprs.snapshot(wait.ring, wait.slot + 1) : ExprId();
    auto [runs, ahead] = innerRunsFrom(before, wait, wait.innerStep == 0);
    int64_t back = wait.innerStep + ahead;
    ExprOp op = back < 0 ? ExprOp::Add : ExprOp::Sub;
    uint32_t step = static_cast<uint32_t>(std::abs(back));
    runs = exprs.make(op, runs, exprs.constant(step));
    return exprs.make(ExprOp::Min, runs, slotOf(wait, wait.slot, producer));
  }

  /// Slot 0 is the live counter.
  ExprId slotOf(const Wait &wait, uint32_t slot, InstrId producer) {
    if (wait.ring.valid() && slot > 0) {
      return plan.exprs.snapshot(wait.ring, slot);
    }
    return plan.sharesQueue(producer) ? plan.exprs.ordinal(producer)
                                      : total(plan.countedIn(kernel, producer));
  }

  /// w*(N*x - (N-K)) with x = times*(counter - minus) - less. Folded, the subtractions are one.
  ExprId decode(const Wait &wait, InstrId producer) {
    const Group &group = plan.groups[wait.group];
    uint32_t weight = kernel.queues[group.queue].weight;
    uint32_t perEntry = weight * group.numSignals * (isLimited(wait) ? 1 : wait.times);
    uint32_t minus = isLimited(wait) ? 0 : wait.minus;
    uint32_t missing = weight * (group.numSignals * (1 + wait.less) - plan.placeOf[producer]);
    if (uint64_t(perEntry) * minus + missing >= plan.decisions.counterLimit) {
      return plan.exprs.constant(0); // the counter never gets to where something is left
    }
    if (cutsOffItself(wait)) {
      return owedSinceThen(wait, producer, perEntry, missing);
    }
    if (!plan.decisions.fold) {
      return literalDecode(wait, producer, perEntry, missing);
    }
    ExprId scaled =
        plan.exprs.make(ExprOp::Mul, plan.exprs.constant(perEntry), counter(wait, producer));
    ExprOp subtraction = atLeastOneRun(wait) || missing == 0 ? ExprOp::Sub : ExprOp::Monus;
    return plan.exprs.make(subtraction, scaled, plan.exprs.constant(perEntry * minus + missing));
  }

  /// Whether the mask compares the counter that it masks, with the number subtracted from it.
  bool cutsOffItself(const Wait &wait) {
    if (plan.decisions.strategy != Strategy::Auto || wait.minus == 0) {
      return false;
    }
    bool onceEntered =
        wait.waitClass == WaitClass::InShared && trip(wait.maskLoop) == total(wait.maskLoop);
    return wait.maskTotal || onceEntered;
  }

  /// w*(N*x - (N-K)), which is zero as long as the mask would be.
  ExprId owedSinceThen(const Wait &wait, InstrId producer, uint32_t perEntry, uint32_t missing) {
    ExprPool &exprs = plan.exprs;
    ExprId runs = counter(wait, producer);
    ExprId factor = exprs.constant(perEntry);
    if (missing == 0) {
      ExprId owed = exprs.make(ExprOp::Monus, runs, exprs.constant(wait.minus));
      return exprs.make(ExprOp::Mul, factor, owed);
    }
    return exprs.make(ExprOp::Monus, exprs.make(ExprOp::Mul, factor, runs),
                      exprs.constant(perEntry * wait.minus + missing));
  }

  /// Whether x >= 1 whenever the mask is 1, so that N*x - (N-K) is never below zero.
  static bool atLeastOneRun(const Wait &wait) {
    return wait.waitClass == WaitClass::InShared || wait.waitClass == WaitClass::Flat ||
           wait.waitClass == WaitClass::Nest;
  }

  /// Step by step, as the formula reads.
  ExprId literalDecode(const Wait &wait, InstrId producer, uint32_t perEntry, uint32_t missing) {
    ExprPool &exprs = plan.exprs;
    ExprId runs = counter(wait, producer);
    if (!isLimited(wait) && (wait.minus > 0 || wait.waitClass == WaitClass::InShared)) {
      runs = exprs.make(ExprOp::Sub, runs, exprs.constant(wait.minus));
    }
    if (plan.groups[wait.group].sole.valid() && perEntry == 1) {
      return runs;
    }
    ExprId scaled = exprs.make(ExprOp::Mul, exprs.constant(perEntry), runs);
    return exprs.make(atLeastOneRun(wait) ? ExprOp::Sub : ExprOp::Monus, scaled,
                      exprs.constant(missing));
  }

  /// Before which run nothing is owed, though the counter says otherwise: it has runs of earlier
  /// iterations, or would be below zero.
  int64_t firstByTable(const Wait &wait) const {
    const RunTable *table = wait.table.valid() ? &kernel.tables[wait.table] : nullptr;
    bool needsMask = table && (wait.ring.valid() || table->at(0) + 1 < 0);
    return needsMask ? *table->firstNeeding() : 0;
  }

  /// The mask comes last: a value that wrapped below zero is then multiplied away.
  ExprId masked(const Wait &wait, ExprId value) {
    if (int64_t first = firstByTable(wait); first > 0) {
      ExprPool &exprs = plan.exprs;
      auto [runs, ahead] = innerRuns(wait);
      ExprId before = exprs.constant(static_cast<uint32_t>(first + ahead));
      value = exprs.make(ExprOp::Mul, exprs.make(ExprOp::IsGT, runs, before), value);
    }
    if (wait.innerLoop.valid() && wait.innerStep > 0) {
      ExprPool &exprs = plan.exprs;
      auto [runs, ahead] = innerRuns(wait);
      ExprId step = exprs.constant(static_cast<uint32_t>(wait.innerStep + ahead));
      value = exprs.make(ExprOp::Mul, exprs.make(ExprOp::IsGT, runs, step), value);
    }
    for (const NestLevel &level : plan.levelsOf(wait)) {
      if (level.skipped > 0) {
        ExprPool &exprs = plan.exprs;
        ExprId isOwed = exprs.make(ExprOp::IsGT, trip(level.loop), exprs.constant(level.skipped));
        value = exprs.make(ExprOp::Mul, isOwed, value);
      }
    }
    // A run f ago that never was has place 0 in the ring: no mask is needed.
    bool places = !plan.groups[wait.group].body.valid();
    if (!wait.maskLoop.valid() || (places ? wait.maskTotal : cutsOffItself(wait))) {
      return value;
    }
    ExprId counted = wait.maskTotal ? total(wait.maskLoop) : trip(wait.maskLoop);
    ExprId mask = plan.exprs.make(ExprOp::IsGT, counted, plan.exprs.constant(wait.maskOffset));
    return plan.exprs.make(ExprOp::Mul, mask, value);
  }

  const Kernel &kernel;
  SyncPlan &plan;
  IdVector<LoopId, ExprId> totalOf; ///< expressions already made
  IdVector<LoopId, ExprId> tripOf;  ///< the same
  std::map<Rounds, RoundsId> roundsKnown;
};

class CountingPlanner {
public:
  CountingPlanner(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics)
      : kernel(kernel), plan(plan), diagnostics(diagnostics), divergence(kernel),
        rings(kernel, plan), thresholds(kernel, plan) {}

  void run() {
    if (hasRegions(kernel)) {
      regions = regionSyncs(kernel);
      coverByBarriers(kernel, divergence, plan, diagnostics);
    }
    leaveOut();
    makeGroups(
        kernel, plan, [this](InstrId instr) { return sharingOf(instr); },
        [this](DepId dep) { return !isCovered(dep); });
    if (!enginesAgree() || !groupsFit(kernel, plan, diagnostics)) {
      return;
    }
    plan.exprs.reserve(kernel.deps.size() + kernel.deps.size() / 2);
    if (plan.decisions.strategy == Strategy::Auto && plan.decisions.constantTrips) {
      joint = jointDistances(kernel);
    }
    for (DepId dep : kernel.deps.ids()) {
      if (!isCovered(dep)) {
        planWait(dep);
      }
    }
    remarkLonger();
    refuseResets(kernel, divergence, plan, diagnostics);
  }

private:
  //===--- 1. Group -------------------------------------------------------===//

  Sharing sharingOf(InstrId instr) const {
    if (mayMix(kernel.queues[kernel.instrs[instr].queue])) {
      return Sharing::None;
    }
    if (!regions.empty()) {
      if (std::optional<Sharing> said = sharingIn(regions[kernel.instrs[instr].home])) {
        return *said;
      }
    }
    switch (plan.decisions.strategy) {
    case Strategy::PerInstruction:
      return Sharing::None;
    case Strategy::PerEngine:
      return Sharing::Queue;
    case Strategy::Auto:
      return plan.decisions.sharing.empty() ? Sharing::Body : plan.decisions.sharing[instr];
    default:
      return Sharing::Body;
    }
  }

  void leaveOut() {
    for (DepId dep : plan.decisions.leftOut) {
      plan.waits[dep].waitClass = WaitClass::Implied;
    }
  }

  /// Whether it needs no wait of its own.
  bool isCovered(DepId dep) const {
    WaitClass waitClass = plan.waits[dep].waitClass;
    return waitClass == WaitClass::CoveredByBarrier || waitClass == WaitClass::Implied;
  }

  /// Whether every engine that waits for a queue as a whole follows its path: all loops with
  /// instructions that share its semaphore are uniform.
  bool enginesAgree() {
    std::vector<LoopId> divergentOf(kernel.queues.size());
    for (InstrId id : kernel.instrs.ids()) {
      const Instr &instr = kernel.instrs[id];
      LoopId &divergent = divergentOf[instr.queue.value];
      if (plan.sharesQueue(id) && !divergent.valid()) {
        divergent = divergence.around(instr.home);
      }
    }
    bool agree = true;
    for (DepId id : kernel.deps.ids()) {
      const Dep &dep = kernel.deps[id];
      QueueId queue = kernel.instrs[dep.producer].queue;
      LoopId divergent = divergentOf[queue.value];
      if (isCovered(id) || !plan.sharesQueue(dep.producer) || !divergent.valid() ||
          kernel.engineOf(dep.producer) == kernel.engineOf(dep.consumer)) {
        continue;
      }
      agree = false;
      diagnostics
          .error(dep.where, fmt::format("one semaphore cannot count queue '{}' for '{}': "
                                        "engines may disagree on a loop that holds its "
                                        "instructions",
                                        kernel.nameOf(queue), kernel.nameOf(dep.consumer)))
          .note(kernel.loops[divergent].where,
                fmt::format("divergent loop '{}' is here", kernel.nameOf(divergent)));
    }
    return agree;
  }

  //===--- 2. and 3. Form and wait ----------------------------------------===//

  void planWait(DepId id) {
    const Dep &dep = kernel.deps[id];
    bool isJoined = plan.groups[plan.groupOf[dep.producer]].isJoin();
    DepPlace place = placeOf(kernel, dep, plan.countedIn(kernel, dep.producer));
    Form form = formOf(kernel, plan, id, place, joint.empty() || isJoined ? 0 : joint[id]);
    Wait &wait = plan.waits[id];
    if (form.isOverRun && form.offset > 0 && form.carrier == rootLoop) {
      return; // the root has no earlier run
    }
    wait.waitClass = form.waitClass;
    wait.exact = form.exact;
    wait.group = plan.groupOf[dep.producer];
    setMask(wait, form, place);
    if (isBeyondCounters(form.offset)) {
      wait.threshold = plan.exprs.constant(0);
      return;
    }
    wait.innerLoop = form.inner;
    wait.innerAround = form.innerAround;
    wait.innerStep = form.innerStep;
    wait.table = form.table;
    if (form.waitClass == WaitClass::Element) {
      setElement(wait, form, dep.producer);
    } else if (form.snapshot) {
      setRing(wait, form, id, place);
    } else {
      wait.minus = form.minus;
      wait.times = form.times;
      wait.outer = form.outer;
      wait.less = form.less;
      wait.firstLevel = static_cast<uint32_t>(plan.nestLevels.size());
      wait.numLevels = static_cast<uint32_t>(form.levels.size());
      plan.nestLevels.insert(plan.nestLevels.end(), form.levels.begin(), form.levels.end());
    }
    wait.threshold = thresholds.of(wait, dep.producer);
    if (!wait.exact) {
      reportLonger(id, form.reason);
    }
  }

  /// A wait for more than is owed: an error where that might never come.
  void reportLonger(DepId id, const std::string &reason) {
    Location where = kernel.deps[id].where;
    DepId doubt = divergence.mayNeverComeBy(id);
    if (!doubt.valid()) {
      auto [found, isNew] = longerFor.try_emplace(reason, longer.size());
      if (isNew) {
        longer.push_back({id, reason});
      }
      ++longer[found->second].count;
      return;
    }
    Diagnostic &error = diagnostics.error(
        where, fmt::format("{} would wait longer than it has to, and might wait forever: {}; and "
                           "{}",
                           describe(kernel, id), reason, disagreement(kernel, divergence, doubt)));
    noteDoubt(kernel, divergence, doubt, error);
  }

  /// Dependences that wait longer for one reason are told in one remark, at the first of them.
  void remarkLonger() {
    for (const Longer &each : longer) {
      std::string others =
          each.count == 1
              ? ""
              : fmt::format("; so {} {}, for the same reason", each.count == 2 ? "does" : "do",
                            counted(each.count - 1, "other dependence"));
      diagnostics.remark(kernel.deps[each.first].where,
                         fmt::format("{} waits longer than it has to: {}{}",
                                     describe(kernel, each.first), each.reason, others));
    }
  }

  /// Of as many copies as may be remembered, the oldest. A younger one counts more runs, all of
  /// them before this one in sequence: longer than needed, but never stuck.
  void setRing(Wait &wait, Form &form, DepId id, const DepPlace &place) {
    InstrId producer = kernel.deps[id].producer;
    bool places = plan.sharesQueue(producer);
    bool late =
        form.before.valid() && !places && !rings.serves(form.carrier, producer, form.offset);
    uint32_t ahead = late ? 1 : 0; // iterations that a copy of a late ring is older than its slot
    bool needsCopy = places && place.producerInShared();
    uint32_t most = std::max<uint32_t>(plan.decisions.rememberedFor(id), needsCopy ? 1 : 0);
    wait.slot = std::min(form.offset - ahead, most);
    if (wait.slot + ahead < form.offset) {
      wait.waitClass = WaitClass::Conservative;
      wait.exact = false;
      form.reason = tooFarBack(form.offset, wait.slot + ahead);
    }
    if (wait.slot > 0) {
      wait.ring = rings.over(form.carrier, producer, wait.slot, late ? form.before : StmtId());
    } else {
      wait.minus = place.producerInShared() ? 1 : 0;
    }
  }

  /// Before the first iteration of the root nothing has run: no copy is needed.
  void setElement(Wait &wait, const Form &form, InstrId producer) {
    wait.slot = form.offset;
    if (form.carrier != rootLoop) {
      wait.ring = rings.over(form.carrier, producer, form.offset + 1);
    }
  }

  void setMask(Wait &wait, const Form &form, const DepPlace &place) const {
    if (form.offset > 0) {
      wait.maskLoop = form.carrier;
      wait.maskOffset = form.offset;
      wait.maskTotal = form.isOverRun;
      return;
    }
    // Distance 0 is always owed. Only where nothing is to be folded is the mask written out.
    bool literal = !plan.decisions.fold && !form.isOverRun;
    if (literal && !kernel.loops[place.shared].isBranch()) {
      wait.maskLoop = place.shared;
    }
  }

  /// Whether no counter that starts from zero gets to so many. With w*N*(entries + 1) below the
  /// limit, entries and trips stay below it by two.
  bool isBeyondCounters(uint64_t number) const { return number + 1 >= plan.decisions.counterLimit; }

  const Kernel &kernel;
  SyncPlan &plan;
  Diagnostics &diagnostics;
  const Divergence divergence;
  IdVector<LoopId, RegionSync> regions; ///< empty if there are none
  IdVector<DepId, uint32_t> joint;      ///< see Joint.h; empty if there are none

  struct Longer {
    DepId first;
    std::string reason;
    uint64_t count = 0;
  };

  std::vector<Longer> longer;
  std::unordered_map<std::string, size_t> longerFor; ///< by reason
  Rings rings;
  Thresholds thresholds;
};

} // namespace

void sync::planCounting(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics) {
  CountingPlanner(kernel, plan, diagnostics).run();
}

} // namespace tally
