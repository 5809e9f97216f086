//===- Forms.cpp - From which counters a wait value is made ---------------===//
//
// Where the two ends of a dependence lie decides how the number of runs to wait for is found: its
// class. docs/internals/allocation/Classes.md has the table of them, "x, by class": when each
// applies, x, its mask, and why that is right. P, S, L and I are named as there. What is said here
// is only what the table leaves open.
//
// Where fewer copies are remembered than a distance asks for, the youngest that is left serves, at
// last the live counter, less the current entry of the shared body: all that has run before. It
// comes first in sequence, so that such a wait is long but never stuck.
//
// Strategy 'auto' counts no loop between S and P if all of them have constant trips. S carries
// the distance, if there is one. With n runs of P in each entry of S, x = n * (total(S) - k),
// wherever the consumer stands.
//
// In a nest of constant trips, a distance that crosses whole runs of inner loops is a number of
// entries. A loop has T entries for each iteration of the one around it, so total(l) - m is the
// target if no component leaves its loop. A component below zero may lead beyond the last
// iteration; then the end of the target's iteration one loop further out is meant, and the smaller
// of the two numbers is that end.
//===----------------------------------------------------------------------===//

#include "Forms.h"

#include "tally/Model/RunNumbers.h"
#include "tally/Support/Counted.h"
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

namespace tally::sync {
namespace {

/// The farthest that two inner indices may lie apart: beyond all loops that can be foreseen, and
/// far below what a counter holds.
int64_t mostElements(const SyncPlan &plan) {
  uint64_t quarter = plan.decisions.counterLimit / 4;
  return static_cast<int64_t>(std::min<uint64_t>(1 << 20, quarter - 1));
}

class Classifier {
public:
  Classifier(const Kernel &kernel, const SyncPlan &plan, DepId id, const DepPlace &place,
             uint32_t joint)
      : kernel(kernel), plan(plan), dep(kernel.deps[id]), place(place), joint(joint),
        remembered(plan.decisions.rememberedFor(id)) {}

  Form run() const {
    Form form = exactForm();
    if (plan.decisions.strategy == Strategy::Auto && plan.decisions.constantTrips &&
        !plan.sharesQueue(dep.producer)) {
      countOuter(form);
    }
    // place(P) already moves at the start of the block, so an earlier run needs the ring.
    form.snapshot |= plan.sharesQueue(dep.producer) && form.minus > 0;
    return form;
  }

private:
  /// If the producer runs equally often in each entry of the shared body, counting those is enough.
  void countOuter(Form &form) const {
    bool countsWholeRuns = form.waitClass == WaitClass::Nested || form.waitClass == WaitClass::Ring;
    bool countsUpToOne = form.waitClass == WaitClass::Element && form.inner == rootLoop &&
                         form.innerStep <= 0 && !form.table.valid();
    if (!(countsWholeRuns || countsUpToOne) ||
        resetBelow(place.shared, place.producerHome).valid() ||
        (form.carrier.valid() && form.carrier != place.shared)) {
      return;
    }
    uint64_t times = runsIn(place.shared, place.producerHome);
    if (times == 0 || !isCounted(times, form.offset)) {
      return;
    }
    form.waitClass = WaitClass::InShared;
    form.snapshot = false;
    form.minus = form.offset;
    form.times = static_cast<uint32_t>(times);
    form.outer = place.shared;
    if (countsUpToOne) {
      uint64_t upTo = 1 + static_cast<uint64_t>(-form.innerStep);
      form.less = static_cast<uint32_t>(times - std::min(times, upTo));
      form.inner = LoopId();
    }
  }

  /// How often `inner` is entered in each entry of `outer`; 0 if that varies, or is too much.
  uint64_t runsIn(LoopId outer, LoopId inner) const {
    uint64_t runs = 1;
    for (LoopId id = inner; id != outer; id = kernel.loops[id].parent) {
      std::optional<uint64_t> trips = kernel.loops[id].knownTrips();
      if (!trips || *trips >= plan.decisions.counterLimit / runs) {
        return 0;
      }
      runs *= *trips;
      if (runs == 0) {
        return 0;
      }
    }
    return runs;
  }

  /// Exact where counters can tell.
  Form exactForm() const {
    if (dep.form == DistanceForm::Flat) {
      return flat(static_cast<uint32_t>(dep.step));
    }
    if (joint > 0 && !plan.sharesQueue(dep.producer)) {
      return flat(joint);
    }
    if (dep.form == DistanceForm::Element) {
      return elementForm();
    }
    return vectorForm();
  }

  /// So many runs ago, over the whole run.
  Form flat(uint32_t runs) const {
    Form form;
    form.waitClass = WaitClass::Flat;
    form.isOverRun = true;
    form.carrier = place.producerHome;
    form.offset = runs;
    form.minus = runs;
    return form;
  }

  /// Where both run equally often in each entry of the shared body, the consumer's runs count those
  /// of the producer, from one index to the same one.
  std::optional<Form> inStep() const {
    if (dep.table.valid()) {
      return std::nullopt;
    }
    uint64_t runs = runsIn(place.shared, place.producerHome);
    bool isEqual = dep.step == 0 && runs != 0 && runs == runsIn(place.shared, place.consumerHome);
    if (!isEqual || !plan.decisions.constantTrips || plan.sharesQueue(dep.producer) ||
        (place.carrier.valid() && place.carrier != place.shared) ||
        resetBelow(place.shared, place.producerHome).valid() ||
        resetBelow(place.shared, place.consumerHome).valid() || !isCounted(runs, place.offset)) {
      return std::nullopt;
    }
    Form form = carried(WaitClass::Nest, static_cast<uint32_t>(runs * place.offset));
    form.outer = place.consumerHome;
    return form;
  }

  /// From one loop to the next, index by index; from one nest to the next, run by run.
  Form elementForm() const {
    if (std::optional<Form> form = inStep()) {
      return *std::move(form);
    }
    return dep.table.valid() ? tableForm() : elementForm(dep.step);
  }

  Form elementForm(int64_t step) const {
    RunNumbers numbers = *RunNumbers::below(kernel, place.shared, place.consumerHome);
    if (place.producerInShared()) {
      return fromRunOf(numbers);
    }
    Form whole = place.offset == 0 ? nested() : carriedByWholeIterations();
    LoopId around = kernel.realLoop(place.shared);
    const int64_t most = mostElements(plan);
    if (numbers.loops().size() != 1 || kernel.loops[place.producerHome].parent != place.shared) {
      if (!plan.decisions.constantTrips) {
        return conservative(
            whole, "only runs of two loops are numbered where constant trips are not made use of");
      }
      if (numbers.ahead() + std::abs(step) > most) {
        return conservative(whole,
                            fmt::format("runs of a nest are {} apart, of which {} are counted",
                                        numbers.ahead() + std::abs(step), most));
      }
    }
    if (numbers.isSingle()) { // the one trip of the root is its number
      Form form = element(std::move(whole), around, rootLoop, step);
      form.innerAround = rootLoop;
      return form;
    }
    Form form = element(std::move(whole), around, place.consumerHome, step);
    form.innerAround = place.shared;
    return form;
  }

  /// By a table. If it cannot be followed: as far as is always needed.
  Form tableForm() const {
    const RunTable &table = kernel.tables[dep.table];
    LoopId outer = kernel.sharedBody(dep);
    bool isInside = outer != place.shared; // of a loop around both, whose runs are numbered
    if (table.runs.size() == 1 && table.each == 1 && !table.over.valid()) { // it is a distance
      return isInside ? vectorForm() : elementForm(table.shortestDistance());
    }
    if (std::string problem = cannotFollow(outer); !problem.empty()) {
      return longer(withoutTable(table), problem);
    }
    Form counted = isInside            ? allSoFar()
                   : place.offset == 0 ? nested()
                                       : carriedByWholeIterations();
    Form form = element(counted, kernel.realLoop(outer), place.consumerHome, 0);
    if (form.waitClass != WaitClass::Element) {
      return longer(withoutTable(table), form.reason);
    }
    form.innerAround = outer;
    form.table = dep.table;
    return form;
  }

  /// Up to the shortest distance that there ever is; or, if there is none, all of the iteration
  /// around both. Over a loop, that is counted on from one iteration to the next.
  Form withoutTable(const RunTable &table) const {
    bool isOneLoop = place.producerHome == place.consumerHome;
    if (table.over.valid() && isOneLoop) {
      return place.offset > 0 ? flat(static_cast<uint32_t>(place.offset)) : vectorForm();
    }
    if (table.over.valid() && table.over != place.shared) {
      bool isStillToCome = place.producerInShared() && place.order == Order::Backward;
      std::optional<Form> form = iterationsAgo();
      return form ? *form : isStillToCome ? flat(1) : allSoFar();
    }
    if (table.over.valid()) {
      return vectorForm();
    }
    std::optional<int64_t> shortest =
        table.shortestWithin(sideBySide(kernel, dep)->consumer.most(kernel));
    return isOneLoop           ? vectorForm()
           : shortest          ? elementForm(*shortest)
           : place.offset == 0 ? nested()
                               : carriedByWholeIterations();
  }

  /// Why the steps of a table are not counted; empty if they are.
  std::string cannotFollow(LoopId outer) const {
    const RunTable &table = kernel.tables[dep.table];
    const int64_t most = mostElements(plan);
    if (!plan.decisions.followTables) {
      return "to count the steps of its table takes longer than it saves";
    }
    if (!plan.decisions.constantTrips) {
      return "tables are only followed where constant trips are made use of";
    }
    RunNumbers numbers = *RunNumbers::below(kernel, outer, place.consumerHome);
    bool isFar = numbers.ahead() > most || table.runs.front() < -most || table.runs.back() > most ||
                 table.each > most;
    return isFar ? fmt::format("its table leads farther than {} runs, which are counted", most)
                 : "";
  }

  /// The one run of the producer, needed from some run of the consumer's nest on.
  Form fromRunOf(const RunNumbers &numbers) const {
    Form form = vectorForm();
    if (!plan.decisions.constantTrips) {
      return conservative(
          form, "only runs of two loops are numbered where constant trips are not made use of");
    }
    const int64_t most = mostElements(plan);
    if (numbers.ahead() + dep.step > most) {
      return conservative(form, tooFarApart(place.consumerHome, dep.step, most));
    }
    form.inner = place.consumerHome;
    form.innerAround = place.shared;
    form.innerStep = dep.step;
    return form;
  }

  /// A distance on a loop and on the one below it.
  Form twoLevels() const {
    const DistanceComponent &last = kernel.componentsOf(dep).back();
    int64_t step = last.loop == place.shared ? last.distance : 0;
    Form form = element(ring(), place.carrier, place.shared, step);
    form.innerAround = kernel.loops[place.shared].parent;
    return form;
  }

  /// A distance as far as trip counts go stands for any: the loop says of no trip that it is the
  /// last.
  std::string tooFarApart(LoopId inner, int64_t step, int64_t most) const {
    auto apart = static_cast<uint64_t>(std::abs(step));
    const Trip &trip = kernel.loops[inner].trip;
    if (apart + 1 >= maxCount && !trip.most()) {
      return fmt::format("inner indices may be arbitrarily far apart, as '{}' has no 'max', and {} "
                         "are counted",
                         kernel.text(trip.symbol), most);
    }
    return fmt::format("inner indices are {} apart, of which {} are counted", apart, most);
  }

  /// One run of the producer in each iteration of a loop that `around` runs at most once an
  /// iteration. If that cannot be counted: all of the iteration, as `whole` says.
  Form element(Form whole, LoopId around, LoopId inner, int64_t step) const {
    if (plan.sharesQueue(dep.producer)) {
      return conservative(whole, "a semaphore of a whole queue tells whole iterations only");
    }
    if (const int64_t most = mostElements(plan); step > most || step < -most) {
      return conservative(whole, tooFarApart(inner, step, most));
    }
    if (around != rootLoop && whole.offset + 1 > remembered) {
      return conservative(whole, tooFarBack(whole.offset + 1, remembered));
    }
    for (LoopId end : {place.producerHome, place.consumerHome}) {
      LoopId reset = resetBelow(around, end);
      if (reset.valid()) {
        return conservative(whole, fmt::format("counters are reset between iterations of '{}', so "
                                               "its runs are not told apart",
                                               kernel.nameOf(reset)));
      }
    }
    Form form = whole;
    form.waitClass = WaitClass::Element;
    form.carrier = around;
    form.snapshot = true;
    form.inner = inner;
    form.innerStep = step;
    return form;
  }

  /// A reset point below `outer`, around `inner` or that itself; none if there is none.
  LoopId resetBelow(LoopId outer, LoopId inner) const {
    if (plan.decisions.resets.empty()) {
      return {};
    }
    while (inner.valid() && inner != outer && !plan.resetAt(inner)) {
      inner = kernel.loops[inner].parent;
    }
    return inner != outer ? inner : LoopId();
  }

  static Form conservative(Form form, std::string reason) {
    form.waitClass = WaitClass::Conservative;
    return longer(std::move(form), std::move(reason));
  }

  static Form longer(Form form, std::string reason) {
    form.waitClass =
        form.waitClass == WaitClass::Element ? WaitClass::Element : WaitClass::Conservative;
    form.exact = false;
    form.reason = std::move(reason);
    return form;
  }

  Form vectorForm() const {
    if (!place.carrier.valid()) {
      return place.producerInShared() ? inShared() : nested();
    }
    if (place.loopsBelowCarrier) {
      if (std::optional<Form> form = nest()) {
        return *std::move(form);
      }
      return isTwoLevels()
                 ? twoLevels()
                 : conservative(
                       ring(),
                       fmt::format("the distance on loop '{}' crosses whole runs of the inner "
                                   "loop '{}', so all of that iteration of '{}' is waited for",
                                   kernel.nameOf(place.carrier),
                                   kernel.nameOf(kernel.realLoop(place.shared)),
                                   kernel.nameOf(place.carrier)));
    }
    if (place.producerInShared() && place.shared == place.carrier) {
      return inShared();
    }
    if (place.producerInShared() && place.offset == 1) {
      return carried(WaitClass::SameBranch, 1);
    }
    return carriedByWholeIterations();
  }

  /// A distance in a nest of constant trips; none if it is not one.
  std::optional<Form> nest() const {
    uint64_t perIteration = runsIn(place.carrier, place.producerHome);
    if (!plan.decisions.constantTrips || plan.sharesQueue(dep.producer) || perIteration == 0 ||
        resetBelow(place.carrier, place.producerHome).valid() ||
        !isCounted(perIteration, place.offset)) {
      return std::nullopt;
    }
    Form form = carried(WaitClass::Nest, static_cast<uint32_t>(place.offset));
    countFrom(form, place.carrier, perIteration);
    std::span<const DistanceComponent> components = kernel.componentsOf(dep);
    bool isInside = true; // so far, the target is one iteration, and not the end of a loop
    for (LoopId l : loopsBelowCarrier()) {
      int64_t trips = static_cast<int64_t>(*kernel.loops[l].knownTrips());
      auto found = std::ranges::find(components, l, &DistanceComponent::loop);
      int64_t distance = found != components.end() ? found->distance : 0;
      if (distance > 0) {
        form.levels.push_back({l, static_cast<uint32_t>(std::min(distance, trips))});
      }
      if (isInside && distance < 0 && distance > -trips) {
        form.levels.push_back({form.outer, 0, form.times, form.minus});
      }
      isInside &= distance > -trips && distance < trips;
      if (isInside) {
        form.minus = static_cast<uint32_t>(int64_t(form.minus) * trips + distance);
        countFrom(form, l, runsIn(l, place.producerHome));
      }
    }
    return form;
  }

  static void countFrom(Form &form, LoopId loop, uint64_t runsInEach) {
    form.outer = loop;
    form.times = static_cast<uint32_t>(runsInEach);
  }

  /// From the one below the carrier down to the shared body; all of them are loops.
  std::vector<LoopId> loopsBelowCarrier() const {
    std::vector<LoopId> below;
    for (LoopId l = place.shared; l != place.carrier; l = kernel.loops[l].parent) {
      below.push_back(l);
    }
    std::ranges::reverse(below);
    return below;
  }

  /// Whether so many runs in each entry of a loop, over so many entries, stay within the range of
  /// counters.
  bool isCounted(uint64_t runsInEach, uint64_t entries) const {
    const Group &group = plan.groups[plan.groupOf[dep.producer]];
    uint64_t perRun = uint64_t(group.numSignals) * kernel.queues[group.queue].weight;
    return runsInEach <= (plan.decisions.counterLimit - 1) / perRun / (entries + 1);
  }

  /// Whether the producer runs once in each iteration of the one real loop below the carrier.
  bool isTwoLevels() const {
    return place.producerInShared() && kernel.loops[place.shared].kind == LoopKind::Loop &&
           kernel.realLoop(kernel.loops[place.shared].parent) == place.carrier;
  }

  /// Distance k on a loop that runs the shared body at most once an iteration,
  /// producer nested or k > 1: the live counter if the producer's loop is still to come
  /// in this iteration, else a ring.
  Form carriedByWholeIterations() const {
    bool stillToCome = place.order == Order::Backward || place.order == Order::Opposite;
    bool live = stillToCome && place.offset == 1 && !place.producerInShared();
    Form form = live ? nested() : ring();
    if (!live && place.order == Order::Backward && place.carrier == place.shared) {
      form.before = kernel.loops[kernel.childTowards(place.shared, place.producerHome)].stmt;
    }
    return form;
  }

  Form carried(WaitClass waitClass, uint32_t minus = 0) const {
    Form form;
    form.waitClass = waitClass;
    form.carrier = place.carrier;
    form.offset = static_cast<uint32_t>(place.offset);
    form.snapshot = waitClass == WaitClass::Ring;
    form.minus = minus;
    return form;
  }

  Form inShared() const {
    return carried(WaitClass::InShared, static_cast<uint32_t>(place.offset));
  }

  Form nested() const { return carried(WaitClass::Nested); }

  /// So many iterations of the shared body ago, counted over the whole run, if all have equally
  /// many runs.
  std::optional<Form> iterationsAgo() const {
    uint64_t times = runsIn(place.shared, place.producerHome);
    bool isRegular = plan.decisions.constantTrips && !plan.sharesQueue(dep.producer) &&
                     times != 0 && !resetBelow(place.shared, place.producerHome).valid() &&
                     isCounted(times, place.offset);
    if (!isRegular) {
      return std::nullopt;
    }
    Form form = flat(static_cast<uint32_t>(place.offset));
    form.carrier = place.shared;
    form.times = static_cast<uint32_t>(times);
    form.outer = place.shared;
    return form;
  }

  /// Whatever iterations they were in.
  static Form allSoFar() {
    Form form;
    form.waitClass = WaitClass::Nested;
    return form;
  }

  Form ring() const { return carried(WaitClass::Ring); }

  const Kernel &kernel;
  const SyncPlan &plan;
  const Dep &dep;
  const DepPlace &place;
  const uint32_t joint;
  const uint32_t remembered; ///< copies that the wait may read
};

} // namespace

std::string tooFarBack(uint32_t offset, uint32_t remembered) {
  return fmt::format("it reaches {} back, of which {} {} remembered", counted(offset, "iteration"),
                     remembered, remembered == 1 ? "is" : "are");
}

Form formOf(const Kernel &kernel, const SyncPlan &plan, DepId dep, const DepPlace &place,
            uint32_t joint) {
  return Classifier(kernel, plan, dep, place, joint).run();
}

} // namespace tally::sync
