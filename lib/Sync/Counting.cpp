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
// Steps:  1. classify  where the ends lie decides how x is found
//         2. group     instructions get their semaphore, and N and K with it
//         3. wait      the expression, from class and group
//
//   class         when                                        x           mask
//   in-shared     P = S, carried by S or not at all           total(S)-k  trip(S) > k
//   nested        P below S: forward k = 0, backward k = 1;   total(P)    trip(L) > k
//                 ends in opposite branches, k = 0 or 1
//   same-branch   P = S, a branch under L, k = 1              total(S)-1  trip(L) > 1
//   ring          any other k, no loop between L and S        q_k         trip(L) > k
//   flat          f runs ago, over the whole run              total(P)-f  total(P) > f
//   element       one run of P for each iteration of a loop   see below   trip(L) > k
//                 that L runs at most once an iteration                   and trip(I) > d
//   conservative  anything else                               q_k         trip(L) > k
//
// q_k is total(P) as it was at the entry of L that is k iterations younger than the target: all
// runs of the producer up to the end of the target iteration; q_0 = total(P). A mask for k = 0 is
// 1. A consumer before the producer's loop in L gets q_k from a ring with one copy fewer, shifted
// just before that loop.
//
// Element: P's loop is S itself, the one real loop below L, or a loop beside the consumer's. With
// I the loop whose index the consumer has (S, or its own loop) and d the distance between indices,
// the target is run number trip(I) - d of P in that iteration of L, or its last run if it has
// fewer:  x = min(q_(k+1) + trip(I) - d, q_k).
//
// Shared by a queue, one semaphore counts its retirements in all bodies. Then no
// formula in N and K gives the place of a run; the consumer's engine follows the queue's
// instructions itself: place(P) is the place of the latest run of P (for k runs ago, a
// ring of it). That needs the engine to take the same path as the queue's.
//
// Strategy 'auto' counts no loop between S and P if all of them have constant trips: with n runs of
// P in each entry of S, which carries the distance if there is one, x = n * (total(S) - k),
// wherever the consumer stands.
//
// Strategy 'auto' leaves out a mask that compares the very counter it masks: then total(P) - k, cut
// off at zero, is zero until something is owed.
//
// Why total(S) - k may use Sub but the others Monus: with P = S and the mask 1, x >= 1, and then
// N*x - (N-K) >= K > 0. A nested producer may not have run at all, x = 0, although the mask is 1.
//
// Cost: linear in instructions + dependences.
//===----------------------------------------------------------------------===//

#include "Planners.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tally {
namespace {

/// The most iterations that a ring remembers, each in a register of its own.
constexpr uint32_t maxRemembered = 64;

/// The farthest that two inner indices may lie apart: beyond all loops that can be foreseen, and
/// far below what a counter holds.
constexpr int64_t mostElements = 1 << 20;

/// What classification finds, before it is known which semaphore counts.
struct Form {
  WaitClass waitClass = WaitClass::InShared;
  bool exact = true;
  LoopId carrier;        ///< L; none for distance 0
  uint32_t offset = 0;   ///< k, or f
  bool snapshot = false; ///< the counter is slot `offset` of a ring at `carrier`
  StmtId before;         ///< of a late ring
  uint32_t minus = 0;    ///< x = counter - minus
  uint32_t times = 1;    ///< x = times * (counter - minus), counter = total(outer)
  LoopId outer;
  LoopId inner;          ///< element: I
  int64_t innerStep = 0; ///< element: d
  std::string reason;    ///< why it is not exact
};

class CountingPlanner {
public:
  CountingPlanner(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics)
      : kernel(kernel), plan(plan), diagnostics(diagnostics) {}

  void run() {
    makeGroups(
        kernel, plan, [this](InstrId instr) { return sharingOf(instr); },
        [](DepId) { return true; });
    if (!enginesAgree() || !countersCanHoldOneEntry()) {
      return;
    }
    ringOfTotal.assign(kernel.loops.size(), RingId());
    ringOfPlace.assign(anyQueueShared() ? kernel.instrs.size() : 0, RingId());
    totalOf.assign(kernel.loops.size(), ExprId());
    plan.exprs.reserve(kernel.deps.size() + kernel.deps.size() / 2);
    for (DepId dep : kernel.deps.ids()) {
      planWait(dep);
    }
  }

private:
  //===--- 1. Classify ----------------------------------------------------===//

  Form classify(const Dep &dep, const DepPlace &place) const {
    Form form = formOf(dep, place);
    if (plan.options.strategy == Strategy::Auto && plan.options.constantTrips &&
        !plan.sharesQueue(dep.producer)) {
      countOuter(form, dep, place);
    }
    // place(P) already moves at the start of the block, so an earlier run needs the ring.
    form.snapshot |= plan.sharesQueue(dep.producer) && form.minus > 0;
    return form;
  }

  /// If the producer runs equally often in each entry of the shared body, counting those is enough.
  void countOuter(Form &form, const Dep &dep, const DepPlace &place) const {
    bool countsWholeRuns = form.waitClass == WaitClass::Nested || form.waitClass == WaitClass::Ring;
    if (!countsWholeRuns || (form.carrier.valid() && form.carrier != place.shared)) {
      return;
    }
    uint64_t times = runsIn(place.shared, place.producerHome);
    const Group &group = plan.groups[plan.groupOf[dep.producer]];
    uint64_t perRun = uint64_t(group.numSignals) * kernel.queues[group.queue].weight;
    if (times == 0 || times > maxCount / perRun / (uint64_t(form.offset) + 1)) {
      return;
    }
    form.waitClass = WaitClass::InShared;
    form.snapshot = false;
    form.minus = form.offset;
    form.times = static_cast<uint32_t>(times);
    form.outer = place.shared;
  }

  /// How often `inner` is entered in each entry of `outer`; 0 if that varies, or is too much.
  uint64_t runsIn(LoopId outer, LoopId inner) const {
    uint64_t runs = 1;
    for (LoopId id = inner; id != outer; id = kernel.loops[id].parent) {
      const Loop &loop = kernel.loops[id];
      bool constant = loop.kind == LoopKind::Loop && loop.trip.kind == Trip::Kind::Constant;
      if (!constant || loop.trip.constant > maxCount / runs) {
        return 0;
      }
      runs *= loop.trip.constant;
      if (runs == 0) {
        return 0;
      }
    }
    return runs;
  }

  Form formOf(const Dep &dep, const DepPlace &place) const {
    if (dep.form == DistanceForm::Flat) {
      uint32_t runs = static_cast<uint32_t>(dep.step);
      Form form;
      form.waitClass = WaitClass::Flat;
      form.carrier = place.producerHome;
      form.offset = runs;
      form.minus = runs;
      return form;
    }
    if (dep.form == DistanceForm::Element) {
      return elementForm(dep, place);
    }
    return vectorForm(dep, place);
  }

  /// From one loop to the next, index by index.
  Form elementForm(const Dep &dep, const DepPlace &place) const {
    Form whole = place.offset == 0 ? nested(place) : carriedByWholeIterations(place);
    LoopId around = kernel.realLoop(place.shared);
    return element(dep, std::move(whole), around, place.consumerHome, dep.step);
  }

  /// A distance on a loop and on the one below it.
  Form twoLevels(const Dep &dep, const DepPlace &place) const {
    const DistanceComponent *last = kernel.componentsEnd(dep) - 1;
    int64_t step = last->loop == place.shared ? last->distance : 0;
    return element(dep, ring(place), place.carrier, place.shared, step);
  }

  /// One run of the producer in each iteration of a loop that `around` runs at most once an
  /// iteration. If that cannot be counted: all of the iteration, as `whole` says.
  Form element(const Dep &dep, Form whole, LoopId around, LoopId inner, int64_t step) const {
    if (plan.sharesQueue(dep.producer)) {
      return conservative(whole, "a semaphore of a whole queue tells whole iterations only");
    }
    if (step > mostElements || step < -mostElements) {
      return conservative(whole, fmt::format("inner indices are {} apart, of which {} are counted",
                                             step < 0 ? -step : step, mostElements));
    }
    if (whole.offset + 1 > maxRemembered) {
      return conservative(whole, tooFarBack(whole.offset, maxRemembered - 1));
    }
    Form form = whole;
    form.waitClass = WaitClass::Element;
    form.carrier = around;
    form.snapshot = true;
    form.inner = inner;
    form.innerStep = step;
    return form;
  }

  static Form conservative(Form form, std::string reason) {
    form.waitClass = WaitClass::Conservative;
    form.exact = false;
    form.reason = std::move(reason);
    return form;
  }

  Form vectorForm(const Dep &dep, const DepPlace &place) const {
    if (!place.carrier.valid()) {
      return place.producerInShared() ? inShared(place) : nested(place);
    }
    if (place.loopsBelowCarrier) {
      return isTwoLevels(place)
                 ? twoLevels(dep, place)
                 : conservative(
                       ring(place),
                       fmt::format("the distance on loop '{}' crosses whole runs of the inner "
                                   "loop '{}', so all of that iteration of '{}' is waited for",
                                   kernel.nameOf(place.carrier),
                                   kernel.nameOf(kernel.realLoop(place.shared)),
                                   kernel.nameOf(place.carrier)));
    }
    if (place.producerInShared() && place.shared == place.carrier) {
      return inShared(place);
    }
    if (place.producerInShared() && place.offset == 1) {
      return sameBranch(place);
    }
    return carriedByWholeIterations(place);
  }

  /// Whether the producer runs once in each iteration of the one real loop below the carrier.
  bool isTwoLevels(const DepPlace &place) const {
    return place.producerInShared() && kernel.loops[place.shared].kind == LoopKind::Loop &&
           kernel.realLoop(kernel.loops[place.shared].parent) == place.carrier;
  }

  /// Distance k on a loop that runs the shared body at most once an iteration,
  /// producer nested or k > 1: the live counter if the producer's loop is still to come
  /// in this iteration, else a ring.
  Form carriedByWholeIterations(const DepPlace &place) const {
    bool stillToCome = place.order == Order::Backward || place.order == Order::Opposite;
    bool live = stillToCome && place.offset == 1 && !place.producerInShared();
    Form form = live ? nested(place) : ring(place);
    if (!live && place.order == Order::Backward && place.carrier == place.shared) {
      form.before = kernel.loops[kernel.childTowards(place.shared, place.producerHome)].stmt;
    }
    return form;
  }

  Form carried(WaitClass waitClass, const DepPlace &place) const {
    Form form;
    form.waitClass = waitClass;
    form.carrier = place.carrier;
    form.offset = static_cast<uint32_t>(place.offset);
    return form;
  }

  Form inShared(const DepPlace &place) const {
    Form form = carried(WaitClass::InShared, place);
    form.minus = form.offset;
    return form;
  }

  Form sameBranch(const DepPlace &place) const {
    Form form = carried(WaitClass::SameBranch, place);
    form.minus = 1;
    return form;
  }

  Form nested(const DepPlace &place) const { return carried(WaitClass::Nested, place); }

  Form ring(const DepPlace &place) const {
    Form form = carried(WaitClass::Ring, place);
    form.snapshot = true;
    return form;
  }

  //===--- 2. Group -------------------------------------------------------===//

  Sharing sharingOf(InstrId instr) const {
    switch (plan.options.strategy) {
    case Strategy::PerInstruction:
      return Sharing::Nobody;
    case Strategy::PerEngine:
      return Sharing::Queue;
    case Strategy::Auto:
      return plan.options.sharing.empty() ? Sharing::Body : plan.options.sharing[instr];
    default:
      return Sharing::Body;
    }
  }

  bool anyQueueShared() const {
    return std::ranges::any_of(plan.groups, [](const Group &g) { return !g.body.valid(); });
  }

  /// Whether one entry of each body raises its semaphore by a number that a counter holds.
  bool countersCanHoldOneEntry() {
    bool fits = true;
    for (const Group &group : plan.groups) {
      uint64_t raised = uint64_t(group.numSignals) * kernel.queues[group.queue].weight;
      if (raised <= maxCount) {
        continue;
      }
      fits = false;
      diagnostics.error(kernel.queues[group.queue].where,
                        fmt::format("queue '{}' would raise one semaphore by {} at once, which no "
                                    "counter holds; the most is {}",
                                    kernel.nameOf(group.queue), raised, maxCount));
    }
    return fits;
  }

  /// Whether every engine that waits for a queue as a whole follows its path: all loops with
  /// instructions that share its semaphore are uniform.
  bool enginesAgree() {
    std::vector<LoopId> divergentOf(kernel.queues.size());
    for (InstrId id : kernel.instrs.ids()) {
      const Instr &instr = kernel.instrs[id];
      LoopId &divergent = divergentOf[instr.queue.value];
      if (!plan.sharesQueue(id)) {
        continue;
      }
      for (LoopId l = instr.home; !divergent.valid() && l.valid(); l = kernel.loops[l].parent) {
        divergent = kernel.loops[l].uniform ? LoopId() : l;
      }
    }
    bool agree = true;
    for (const Dep &dep : kernel.deps) {
      QueueId queue = kernel.instrs[dep.producer].queue;
      LoopId divergent = divergentOf[queue.value];
      if (!plan.sharesQueue(dep.producer) || !divergent.valid() ||
          kernel.engineOf(dep.producer) == kernel.engineOf(dep.consumer)) {
        continue;
      }
      agree = false;
      diagnostics
          .error(dep.where, fmt::format("one semaphore cannot count queue '{}' for '{}': "
                                        "engines may disagree on a loop that holds its "
                                        "instructions; use 'per-loop'",
                                        kernel.nameOf(queue), kernel.nameOf(dep.consumer)))
          .note(kernel.loops[divergent].where,
                fmt::format("divergent loop '{}' is here", kernel.nameOf(divergent)));
    }
    return agree;
  }

  //===--- 3. Wait --------------------------------------------------------===//

  void planWait(DepId id) {
    const Dep &dep = kernel.deps[id];
    DepPlace place = placeOf(kernel, dep);
    Form form = classify(dep, place);
    Wait &wait = plan.waits[id];
    if (form.waitClass == WaitClass::Flat && form.offset > 0 && form.carrier == rootLoop) {
      return; // the root has no earlier run
    }
    wait.waitClass = form.waitClass;
    wait.exact = form.exact;
    wait.group = plan.groupOf[dep.producer];
    if (!distanceFits(id, form)) {
      return;
    }
    setMask(wait, form, place);
    if (form.waitClass == WaitClass::Element) {
      setElement(wait, form, dep.producer);
    } else if (form.snapshot) {
      setRing(wait, form, dep.producer);
    } else {
      wait.minus = form.minus;
      wait.times = form.times;
      wait.outer = form.outer;
    }
    wait.threshold = masked(wait, plan.sharesQueue(dep.producer) ? counter(wait, dep.producer)
                                                                 : decode(wait, dep.producer));
    if (!wait.exact) {
      diagnostics.remark(dep.where, fmt::format("{} waits longer than it has to: {}",
                                                describe(kernel, id), form.reason));
    }
  }

  void setRing(Wait &wait, Form &form, InstrId producer) {
    uint32_t back = rememberedSlot(wait, form);
    bool late = form.before.valid() && !plan.sharesQueue(producer) &&
                !hasRing(form.carrier, producer, back);
    wait.slot = late ? back - 1 : back;
    wait.ring = ringFor(form.carrier, producer, wait.slot, late ? form.before : StmtId());
  }

  /// The slot of a ring that serves a distance: beyond what is remembered, the oldest one. A
  /// younger copy counts more runs, all of past iterations: longer than needed, but never stuck.
  static uint32_t rememberedSlot(Wait &wait, Form &form) {
    if (form.offset <= maxRemembered) {
      return form.offset;
    }
    wait.waitClass = WaitClass::Conservative;
    wait.exact = false;
    form.reason = tooFarBack(form.offset, maxRemembered);
    return maxRemembered;
  }

  static std::string tooFarBack(uint32_t offset, uint32_t remembered) {
    return fmt::format("it reaches {} iterations back, of which {} are remembered", offset,
                       remembered);
  }

  /// Before the first iteration of the root nothing has run: no copy is needed.
  void setElement(Wait &wait, const Form &form, InstrId producer) {
    wait.slot = form.offset;
    wait.innerLoop = form.inner;
    wait.innerStep = form.innerStep;
    if (form.carrier != rootLoop) {
      wait.ring = ringFor(form.carrier, producer, form.offset + 1);
    }
  }

  /// Whether the semaphore can count as far as the distance reaches.
  bool distanceFits(DepId id, const Form &form) const {
    const Group &group = plan.groups[plan.groupOf[kernel.deps[id].producer]];
    uint64_t perEntry = uint64_t(group.numSignals) * kernel.queues[group.queue].weight;
    if (form.offset <= maxCount / perEntry) {
      return true;
    }
    diagnostics.error(kernel.deps[id].where,
                      fmt::format("{} reaches over {} retirements, which no counter holds; the "
                                  "most is {}",
                                  describe(kernel, id), perEntry * form.offset, maxCount));
    return false;
  }

  void setMask(Wait &wait, const Form &form, const DepPlace &place) const {
    if (form.offset > 0) {
      wait.maskLoop = form.carrier;
      wait.maskOffset = form.offset;
      wait.maskTotal = form.waitClass == WaitClass::Flat;
      return;
    }
    // Distance 0 is always owed. Only where nothing is to be folded is the mask written out.
    bool literal = !plan.options.fold && form.waitClass != WaitClass::Flat;
    if (literal && !kernel.loops[place.shared].isBranch()) {
      wait.maskLoop = place.shared;
    }
  }

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
    bool repeated = kernel.realLoop(kernel.loops[loop].parent) != rootLoop;
    return repeated || !plan.options.fold ? plan.exprs.trip(loop) : total(loop);
  }

  ExprId counter(const Wait &wait, InstrId producer) {
    if (wait.outer.valid()) {
      return total(wait.outer);
    }
    return wait.innerLoop.valid() ? elementCounter(wait, producer)
                                  : slotOf(wait, wait.slot, producer);
  }

  /// min(q_(k+1) + trip(I) - d, q_k)
  ExprId elementCounter(const Wait &wait, InstrId producer) {
    ExprPool &exprs = plan.exprs;
    ExprId runs = trip(wait.innerLoop);
    if (wait.ring.valid()) {
      runs = exprs.make(ExprOp::Add, exprs.snapshot(wait.ring, wait.slot + 1), runs);
    }
    ExprOp op = wait.innerStep < 0 ? ExprOp::Add : ExprOp::Sub;
    uint32_t step = static_cast<uint32_t>(std::abs(wait.innerStep));
    runs = exprs.make(op, runs, exprs.constant(step));
    return exprs.make(ExprOp::Min, runs, slotOf(wait, wait.slot, producer));
  }

  /// Slot 0 is the live counter.
  ExprId slotOf(const Wait &wait, uint32_t slot, InstrId producer) {
    if (wait.ring.valid() && slot > 0) {
      return plan.exprs.snapshot(wait.ring, slot);
    }
    return plan.sharesQueue(producer) ? plan.exprs.ordinal(producer)
                                      : total(kernel.instrs[producer].home);
  }

  /// w*(N*x - (N-K)) with x = counter - minus. Folded, the two subtractions are one.
  ExprId decode(const Wait &wait, InstrId producer) {
    const Group &group = plan.groups[wait.group];
    uint32_t weight = kernel.queues[group.queue].weight;
    uint32_t perEntry = weight * group.numSignals * wait.times;
    uint32_t missing = weight * (group.numSignals - plan.placeOf[producer]);
    if (cutsOffItself(wait)) {
      return owedSinceThen(wait, producer, perEntry, missing);
    }
    if (!plan.options.fold) {
      return literalDecode(wait, producer, perEntry, missing);
    }
    ExprId scaled =
        plan.exprs.make(ExprOp::Mul, plan.exprs.constant(perEntry), counter(wait, producer));
    ExprOp subtraction = atLeastOneRun(wait) || missing == 0 ? ExprOp::Sub : ExprOp::Monus;
    return plan.exprs.make(subtraction, scaled,
                           plan.exprs.constant(perEntry * wait.minus + missing));
  }

  /// Whether the mask compares the counter that it masks, with the number subtracted from it.
  bool cutsOffItself(const Wait &wait) {
    if (plan.options.strategy != Strategy::Auto || wait.minus == 0) {
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
    return wait.waitClass == WaitClass::InShared || wait.waitClass == WaitClass::Flat;
  }

  /// Step by step, as the formula reads.
  ExprId literalDecode(const Wait &wait, InstrId producer, uint32_t perEntry, uint32_t missing) {
    ExprPool &exprs = plan.exprs;
    ExprId runs = counter(wait, producer);
    if (wait.minus > 0 || wait.waitClass == WaitClass::InShared) {
      runs = exprs.make(ExprOp::Sub, runs, exprs.constant(wait.minus));
    }
    if (plan.groups[wait.group].sole.valid() && perEntry == 1) {
      return runs;
    }
    ExprId scaled = exprs.make(ExprOp::Mul, exprs.constant(perEntry), runs);
    return exprs.make(atLeastOneRun(wait) ? ExprOp::Sub : ExprOp::Monus, scaled,
                      exprs.constant(missing));
  }

  /// The mask comes last: a value that wrapped below zero is then multiplied away.
  ExprId masked(const Wait &wait, ExprId value) {
    if (wait.innerLoop.valid() && wait.innerStep > 0) {
      ExprPool &exprs = plan.exprs;
      ExprId step = exprs.constant(static_cast<uint32_t>(wait.innerStep));
      value = exprs.make(ExprOp::Mul, exprs.make(ExprOp::IsGT, trip(wait.innerLoop), step), value);
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

  //===--- Rings ----------------------------------------------------------===//

  /// Whether there is a ring, shifted at entry, that serves so far back.
  bool hasRing(LoopId loop, InstrId producer, uint32_t depth) const {
    for (RingId r = ringOfTotal[kernel.instrs[producer].home]; r.valid(); r = nextRing[r]) {
      const Ring &ring = plan.rings[r];
      if (ring.loop == loop && !ring.before.valid() && ring.depth >= depth) {
        return true;
      }
    }
    return false;
  }

  /// The ring of the producer's counter over `loop`, at least `depth` deep. A counter has few
  /// rings (one or two per carrying loop around it), so they are chained and searched.
  RingId ringFor(LoopId loop, InstrId producer, uint32_t depth, StmtId before = {}) {
    LoopId home = kernel.instrs[producer].home;
    bool places = plan.sharesQueue(producer);
    RingId &head = places ? ringOfPlace[producer] : ringOfTotal[home];
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

  const Kernel &kernel;
  SyncPlan &plan;
  Diagnostics &diagnostics;
  IdVector<LoopId, ExprId> totalOf;      ///< expressions already made
  IdVector<LoopId, RingId> ringOfTotal;  ///< newest ring of each counter
  IdVector<InstrId, RingId> ringOfPlace; ///< empty if no queue shares one semaphore
  IdVector<RingId, RingId> nextRing;     ///< older ring of the same counter
};

} // namespace

void planCounting(const Kernel &kernel, SyncPlan &plan, Diagnostics &diagnostics) {
  CountingPlanner(kernel, plan, diagnostics).run();
}

} // namespace tally
