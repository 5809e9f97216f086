//===- Choose.cpp - Strategy 'auto': the cheapest way to share semaphores -===//
//
// The choice is made for *sets*: the instructions of one queue in one body that are waited for.
// (The others of the body signal nothing.) A set has one semaphore for each member, one for all,
// or is part of one for its whole queue. Those that the kernel pins to one semaphore are a set of
// their own, about which nothing is left to choose. Two in both branches of an `if` that may be
// joined (Joins.h) are one, too: they have one semaphore, or share with others of their branches.
//
// Three parts, each with its own state: the sets and how they share (Sets), the semaphores that
// there are for them (Budget), and what code costs that is really made (Trials).
//
// Steps:
//         1. estimate  plan with separate semaphores and with shared ones; charge what the
//                      waits of each plan cost to the sets they wait for
//         2. pick      the cheaper for each set
//         3. limit     too many semaphores: share where that costs least for each one saved; if all
//                      sets share and it is not enough, whole queues share
//         4. improve   small kernels only: change one set after the other as long as the code that
//                      is written gets better: its run shorter, or where that is not known or
//                      equal, its control cheaper; then let whole queues share where that does
// Small kernels also go through all of it without stepped thresholds, without relying on constant
// trips, and without following tables. Last, all instructions share as under 'per-loop', where two
// thresholds may be one number. What is best after step 3 is improved first. Code is timed with its
// waits before loops, where that pays. The best way is taken, and others that are nearly as good
// can be asked for.
//
// Cost: steps 1 to 3 as two plans, made at the same time where they are large; step 4 is bounded by
// a number of instructions lowered.
//===----------------------------------------------------------------------===//

#include "tally/Compile/Choose.h"

#include "Overflow.h"
#include "Unroll.h"
#include "tally/Code/ControlCost.h"
#include "tally/Code/Limits.h"
#include "tally/Compile/Stopwatch.h"
#include "tally/Lower/WaitCosts.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"
#include "tally/Support/Counted.h"
#include "tally/Sync/Joins.h"
#include "tally/Sync/Split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <map>
#include <tuple>

namespace tally {

using namespace compiling;

namespace {

/// Step 4 lowers at most so many instructions in all.
constexpr size_t mostLowered = 10'000;

/// Instructions of one queue in one body that are waited for.
struct Set {
  LoopId body;
  QueueId queue;
  std::vector<InstrId> members;
  bool decided = false; ///< by the kernel, which pins them or says so of a region
  bool isJoin = false;  ///< two members, one in each branch of an `if` of the body
  Sharing asDecided = Sharing::Body;
  Sharing sharing = Sharing::Body;
  double own = 0;    ///< estimated cost of the waits for it: a semaphore for each,
  double shared = 0; ///< one for all

  /// Of two that are not joined: at most.
  uint32_t numSemaphores() const {
    bool areApart = sharing == Sharing::None || (isJoin && sharing == Sharing::Body);
    return areApart ? static_cast<uint32_t>(members.size()) : 1;
  }

  /// Whether it can have one semaphore for all, or several.
  bool hasChoice() const { return !decided && members.size() > 1; }

  /// As few semaphores as there can be without counting whole queues, or as many.
  Sharing whole() const { return isJoin ? Sharing::Join : Sharing::Body; }

  Sharing apart() const { return isJoin ? Sharing::Body : Sharing::None; }
};

/// The sets of a kernel, and how each shares.
class Sets {
public:
  Sets(const Kernel &kernel, bool mayJoin)
      : kernel(kernel), joins(mayJoin ? findJoins(kernel) : IdVector<InstrId, InstrId>()) {
    find();
  }

  /// Of two that may be joined, the other one; empty if there are none.
  const IdVector<InstrId, InstrId> &twins() const { return joins; }

  std::vector<Set>::iterator begin() { return sets.begin(); }

  std::vector<Set>::iterator end() { return sets.end(); }

  size_t size() const { return sets.size(); }

  /// By instruction; nobody waits for those that are in none.
  const IdVector<InstrId, uint32_t> &ofInstrs() const { return setOf; }

  /// Those that are in none raise nothing, or the semaphores of their bodies, if there are any.
  IdVector<InstrId, Sharing> sharing(bool onlyThese) const {
    IdVector<InstrId, Sharing> result(kernel.instrs.size(),
                                      onlyThese ? Sharing::None : Sharing::Body);
    for (const Set &set : sets) {
      for (InstrId member : set.members) {
        result[member] = set.sharing;
      }
    }
    return result;
  }

  /// One entry for each set; `share` sets what was there.
  std::vector<Sharing> sharingOfSets() const {
    std::vector<Sharing> result;
    for (const Set &set : sets) {
      result.push_back(set.sharing);
    }
    return result;
  }

  void share(const std::vector<Sharing> &each) {
    for (size_t s = 0; s < sets.size(); ++s) {
      sets[s].sharing = each[s];
    }
  }

  uint64_t numSemaphores() const {
    uint64_t count = 0;
    std::vector<bool> shares(kernel.queues.size(), false);
    for (const Set &set : sets) {
      bool again = set.sharing == Sharing::Queue && shares[set.queue.value];
      shares[set.queue.value] = shares[set.queue.value] || set.sharing == Sharing::Queue;
      count += again ? 0 : set.numSemaphores();
    }
    return count;
  }

private:
  static constexpr uint32_t noSet = UINT32_MAX;

  void find() {
    std::vector<bool> waitedFor(kernel.instrs.size(), false);
    for (const Dep &dep : kernel.deps) {
      waitedFor[dep.producer.value] = true;
    }
    setOf.assign(kernel.instrs.size(), noSet);
    const std::map<InstrId, uint32_t> pins = pinnedSemaphores(kernel);
    const IdVector<LoopId, RegionSync> regions = regionSyncs(kernel);
    std::map<uint32_t, uint32_t> setOfPin;
    std::vector<uint32_t> setAt(kernel.loops.size() * kernel.queues.size(), noSet);
    for (InstrId id : kernel.instrs.ids()) {
      if (!waitedFor[id.value]) {
        continue;
      }
      const Instr &instr = kernel.instrs[id];
      if (!joins.empty() && joins[id].valid()) {
        addJoined(id, joins[id]);
        continue;
      }
      auto pin = pins.find(id);
      uint32_t &set = pin != pins.end()
                          ? setOfPin.try_emplace(pin->second, noSet).first->second
                          : setAt[instr.home.value * kernel.queues.size() + instr.queue.value];
      if (set == noSet || mayMix(kernel.queues[instr.queue])) { // no two share there
        set = static_cast<uint32_t>(sets.size());
        sets.push_back({instr.home, instr.queue, {}});
        std::optional<Sharing> said = sharingIn(regions[instr.home]);
        sets.back().decided = pin != pins.end() || said;
        sets.back().asDecided = pin != pins.end() ? Sharing::Body : said.value_or(Sharing::Body);
      }
      sets[set].members.push_back(id);
      setOf[id] = set;
    }
  }

  /// The set is made with the first of the two.
  void addJoined(InstrId id, InstrId twin) {
    if (id < twin) {
      setOf[id] = setOf[twin] = static_cast<uint32_t>(sets.size());
      LoopId body = kernel.loops[kernel.instrs[id].home].parent;
      sets.push_back({body, kernel.instrs[id].queue, {id, twin}});
      sets.back().isJoin = true;
    }
  }

  const Kernel &kernel;
  const IdVector<InstrId, InstrId> joins;
  std::vector<Set> sets;
  IdVector<InstrId, uint32_t> setOf;
};

//===----------------------------------------------------------------------===//
// 3. Limit
//===----------------------------------------------------------------------===//

/// The semaphores that a machine has for instructions.
class Budget {
public:
  Budget(const Kernel &kernel, const Machine &machine, const Request &request, uint64_t spare)
      : kernel(kernel), machine(machine), mayCountQueues(request.wholeQueues), spare(spare),
        limit(unreserved(machine.semaphores, kernel.reserved).value_or(UINT32_MAX)) {}

  /// Lets sets share until there are enough; says what had to, in words.
  std::string respect(Sets &sets) const {
    uint64_t wished = sets.numSemaphores();
    if (enough(wished)) {
      return "";
    }
    uint32_t merged = shareInBodies(sets);
    bool isEnough = enough(sets.numSemaphores()) || !mayCountQueues;
    std::vector<QueueId> whole = isEnough ? std::vector<QueueId>() : shareQueues(sets);
    std::string meeting =
        spare == 0 ? "" : fmt::format(", of which engines need {} to meet", spare);
    std::string text =
        fmt::format("the cheapest plan needs {} semaphores, but machine '{}' has {}{}; "
                    "{} bod{} share{} one semaphore for a queue",
                    wished, machine.name, limit, meeting, merged, merged == 1 ? "y" : "ies",
                    merged == 1 ? "s" : "");
    for (QueueId queue : whole) {
      text += fmt::format("{} '{}'", queue == whole.front() ? ", and one counts all of queue" : ",",
                          kernel.nameOf(queue));
    }
    return text;
  }

  /// Queues whose bodies may share one semaphore.
  std::vector<QueueId> shareable(Sets &sets) const {
    std::vector<QueueId> queues;
    if (mayCountQueues) {
      for (const WholeQueue &queue : wholeQueues(sets)) {
        queues.push_back(queue.queue);
      }
    }
    return queues;
  }

private:
  bool enough(uint64_t count) const { return count + spare <= limit; }

  /// Sets share until there are few enough semaphores, those first that lose least for each one
  /// saved. How many do so.
  uint32_t shareInBodies(Sets &sets) const {
    std::vector<Set *> candidates;
    for (Set &set : sets) {
      if (set.sharing == Sharing::None && set.hasChoice()) {
        candidates.push_back(&set);
      }
    }
    auto loss = [](const Set *set) {
      return (set->shared - set->own) / static_cast<double>(set->members.size() - 1);
    };
    std::ranges::stable_sort(candidates, {}, loss);
    uint64_t count = sets.numSemaphores();
    uint32_t merged = 0;
    for (Set *set : candidates) {
      if (enough(count)) {
        break;
      }
      count -= set->members.size() - 1;
      set->sharing = Sharing::Body;
      ++merged;
    }
    return merged;
  }

  /// A queue that may share one semaphore for all of its bodies.
  struct WholeQueue {
    QueueId queue;
    bool excluded = false;
    bool followed = false; ///< by other engines than its own
    bool exact = true;     ///< no wait gets longer
    double cost = 0;       ///< of following it on the engines that wait
    uint32_t saved = 0;    ///< semaphores

    auto rank() const { return std::tuple(!exact, cost / saved, queue); }
  };

  std::vector<QueueId> shareQueues(Sets &sets) const {
    std::vector<WholeQueue> candidates = wholeQueues(sets);
    std::ranges::sort(candidates, {}, &WholeQueue::rank);
    uint64_t count = sets.numSemaphores();
    std::vector<QueueId> whole;
    for (const WholeQueue &candidate : candidates) {
      if (enough(count)) {
        break;
      }
      count -= candidate.saved;
      whole.push_back(candidate.queue);
    }
    for (Set &set : sets) {
      bool isWhole = !set.decided && std::ranges::count(whole, set.queue) > 0;
      set.sharing = isWhole ? Sharing::Queue : set.sharing;
    }
    return whole;
  }

  /// Queues with several semaphores whose path everybody who waits for them can follow.
  std::vector<WholeQueue> wholeQueues(Sets &sets) const {
    std::vector<WholeQueue> all;
    for (QueueId queue : kernel.queues.ids()) {
      all.push_back({queue, mayMix(kernel.queues[queue])});
    }
    for (const Dep &dep : kernel.deps) {
      WholeQueue &queue = all[kernel.instrs[dep.producer].queue.value];
      queue.followed |= kernel.engineOf(dep.producer) != kernel.engineOf(dep.consumer);
      queue.exact &= dep.form != DistanceForm::Element;
    }
    const IdVector<LoopId, double> entries = expectedEntries(kernel);
    const double alu = ControlPrices(machine).alu;
    for (const Set &set : sets) {
      if (set.decided) {
        continue;
      }
      WholeQueue &queue = all[set.queue.value];
      ++queue.saved;
      queue.cost += entries[set.body] * alu * static_cast<double>(1 + set.members.size());
      for (LoopId l = set.body; l.valid(); l = kernel.loops[l].parent) {
        queue.excluded |= queue.followed && !kernel.loops[l].uniform;
      }
    }
    std::erase_if(all, [](const WholeQueue &queue) { return queue.saved < 2 || queue.excluded; });
    for (WholeQueue &queue : all) {
      --queue.saved;
    }
    return all;
  }

  const Kernel &kernel;
  const Machine &machine;
  const bool mayCountQueues;
  const uint64_t spare; ///< semaphores that are not for instructions
  const uint64_t limit;
};

//===----------------------------------------------------------------------===//
// 4. Improve
//===----------------------------------------------------------------------===//

/// What code needs beyond the limits, how many of its waits are longer than they have to be, how
/// long a run takes, and what its control costs, in this order. If each run takes as long as the
/// one that is timed, its time comes before the waits: an exact one may cost more than it gains.
struct Score {
  uint64_t beyond = 0;
  uint32_t inexactFirst = 0; ///< 0 if time comes first
  Tick time = 0;
  uint32_t inexact = 0;
  double control = 0;

  auto operator<=>(const Score &) const = default;
};

/// What is said of code that was tried.
struct Tried {
  Score score;
  CodeCost cost;
};

/// Scores, found by making the code, as often as is affordable.
class Trials {
public:
  Trials(const Kernel &kernel, const Machine &machine, const Request &request)
      : kernel(kernel), machine(machine), request(request),
        stopwatch(kernel, machine, request.assumedTrips, request.effort,
                  Stopwatch::Long::Beginnings),
        left(request.improve ? static_cast<size_t>(request.effort * mostLowered) : 0) {}

  bool haveTimes() const { return stopwatch.hasTimes(); }

  const std::vector<std::string> &assumed() const { return stopwatch.assumed(); }

  std::optional<uint64_t> numIssued() const { return stopwatch.numIssued(); }

  uint64_t numTried() const { return tried; }

  /// Of all that fitted and were timed, the best of those with the fewest waits that are too long.
  const std::optional<Score> &mostExact() const { return exact; }

  /// Whether the kernel may be lowered once more, and its code timed as that of the others was.
  bool affordable() {
    bool enough = left >= kernel.instrs.size() + 1 && !stopwatch.isSpent();
    left -= enough ? kernel.instrs.size() + 1 : 0;
    return enough;
  }

  Tried tryOut(const Decisions &candidate) {
    ++tried;
    if (request.progress) {
      request.progress(tried);
    }
    Diagnostics ignored;
    SyncPlan plan = makePlan(kernel, candidate.plan, ignored);
    if (ignored.hasErrors()) {
      Tried impossible;
      impossible.score.beyond = impossible.cost.beyond = UINT64_MAX;
      return impossible;
    }
    uint64_t beyond = numOverflows(plan);
    if (request.overflow == Overflow::Reset && beyond == 0) {
      plan = withResets(candidate.plan, std::move(plan));
    }
    Code code = lower(kernel, plan, machine, candidate.lower, ignored);
    auto charge = [&](uint64_t used, std::optional<uint32_t> most) {
      beyond += most && used > *most ? used - *most : 0;
    };
    charge(code.semaphores.size(), machine.semaphores);
    for (const EngineProgram &program : code.engines) {
      charge(program.registers.size(), machine.registersPerEngine);
    }
    const uint64_t operations = measure(kernel, code, 1).operations;
    const double control = controlCost(kernel, code, machine);
    std::optional<Tick> time = timeOf(std::move(code));
    uint32_t inexact = numInexact(plan);
    Score score{.beyond = beyond,
                .inexactFirst = stopwatch.timesEveryRun() ? 0 : inexact,
                .time = time.value_or(stopwatch.hasTimes() ? UINT64_MAX : 0),
                .inexact = inexact,
                .control = control};
    bool isMostExact = time && beyond == 0 &&
                       (!exact || std::pair(inexact, score) < std::pair(exact->inexact, *exact));
    exact = isMostExact ? score : exact;
    return {score,
            {.time = time,
             .control = control,
             .inexact = inexact,
             .beyond = beyond,
             .operations = operations}};
  }

private:
  /// As it will be written: with waits before loops, if that takes no longer.
  std::optional<Tick> timeOf(Code code) {
    std::optional<Tick> time = stopwatch.timeOf(code);
    if (time && request.hoists && hoistAllWaits(kernel, code)) {
      time = std::min(*time, stopwatch.timeOf(code).value_or(*time));
    }
    return time;
  }

  /// The same with the resets that it needs, and those that are known so far, each as seldom as may
  /// be: code is timed as it will be.
  SyncPlan withResets(PlanDecisions decisions, SyncPlan plan) const {
    Diagnostics found;
    // Another plan may need others. They only grow, so the loop ends.
    for (std::vector<ResetPoint> needed = allResets(kernel, plan, machine, found);
         needed != decisions.resets && !found.hasErrors();
         needed = allResets(kernel, plan, machine, found)) {
      decisions.resets = std::move(needed);
      plan = makePlan(kernel, decisions, found);
    }
    if (!found.hasErrors()) {
      plan.decisions.resets = withPeriods(kernel, plan, machine, found);
    }
    return plan;
  }

  /// Bodies whose counters would overflow, and nothing can be done about it.
  uint64_t numOverflows(const SyncPlan &plan) const {
    Diagnostics found;
    switch (request.overflow) {
    case Overflow::Reset:
      findResets(kernel, plan, machine, found);
      break;
    case Overflow::Refuse:
      checkOverflow(kernel, plan, machine, /*refuse=*/true, found);
      break;
    case Overflow::Assume:
      break;
    }
    return found.numErrors();
  }

  const Kernel &kernel;
  const Machine &machine;
  const Request &request;
  Stopwatch stopwatch;
  std::optional<Score> exact;
  uint64_t tried = 0;
  size_t left; ///< instructions that may still be lowered
};

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

bool saysTimes(const Machine &machine) {
  std::vector<std::string> missing;
  return Timing::of(machine, missing).has_value();
}

class Chooser {
public:
  Chooser(const Kernel &kernel, const Request &request, const PlanNeeds &needs,
          const Machine &machine, Diagnostics &diagnostics, Search &search)
      : kernel(kernel), machine(machine), diagnostics(diagnostics), search(search),
        mayKnowTrips(request.constantTrips), hasPrices(saysTimes(machine)),
        numThreads(request.threads), decided(decisionsFor(request, needs, machine)),
        sets(kernel, request.joins), budget(kernel, machine, request, needs.spare),
        trials(kernel, machine, request) {
    decided.plan.twins = sets.twins();
    decided.lower.nativeCounters = true;
    decided.lower.stepThresholds = true;
    decided.lower.countAtOnce = true;
  }

  Decisions run(uint32_t beginning) {
    std::vector<Candidate> candidates = start();
    // What is promising at once is improved first, while that is affordable. Signals that no
    // dependence needs seldom gain anything: only if they do at once.
    std::ranges::stable_sort(candidates, isBetter);
    for (Candidate &candidate : candidates) {
      if (candidate.score && (candidate.savings.signals || &candidate == &candidates.front())) {
        improve(candidate);
      }
    }
    const Candidate &favourite = bestOf(candidates);
    const std::vector<const Candidate *> others = promising(candidates, favourite);
    const Candidate &best =
        beginning == 0 || beginning > others.size() ? favourite : *others[beginning - 1];
    if (&best == &favourite) {
      remarkTraded(best, *std::ranges::min_element(candidates, isBetter));
    }
    if (!best.forced.empty()) {
      diagnostics.remark(kernel.where, best.forced);
    }
    const Candidate &withAll =
        *std::ranges::find(candidates, true, [](const Candidate &c) { return c.savings.hasAll(); });
    if (best.beyond() < withAll.beyond() && !best.savings.steps) {
      diagnostics.remark(
          kernel.where, fmt::format("thresholds are computed at each wait: keeping them needs more "
                                    "registers than machine '{}' has",
                                    machine.name));
    }
    record(candidates, best);
    search.numOthers = static_cast<uint32_t>(others.size());
    return use(best);
  }

private:
  /// What code may be saved by.
  struct Savings {
    bool steps = true;
    bool constant = true;
    bool tables = true;
    bool signals = true; ///< of instructions that nobody waits for

    bool hasAll() const { return steps && constant && tables && signals; }
  };

  /// A way to make the code.
  struct Candidate {
    Savings savings = {};
    std::vector<Sharing> sharing = {};  ///< of each set
    std::string forced = {};            ///< what a limit forced; empty: nothing
    std::optional<Score> score = {};    ///< none: the kernel is too large to lower it so often
    CodeCost cost = {};                 ///< if it has a score
    CodeCost asEstimated = {};          ///< before it was improved
    std::vector<Attempt> attempts = {}; ///< to improve it

    uint64_t beyond() const { return score ? score->beyond : 0; }
  };

  static bool isBetter(const Candidate &a, const Candidate &b) {
    return a.score && (!b.score || *a.score < *b.score);
  }

  /// Exact waits come before short runs at trips that are only assumed, but not at any price: what
  /// computes them costs in each iteration, however many there are.
  const Candidate &bestOf(const std::vector<Candidate> &candidates) const {
    constexpr double mostTime = 1.05, mostControl = 1.5;
    const Candidate &best = *std::ranges::min_element(candidates, isBetter);
    const bool byTime = best.cost.time.has_value();
    if (!best.score || (!byTime && !hasPrices)) {
      return best;
    }
    auto cost = [&](const Candidate &candidate) {
      return byTime ? static_cast<double>(candidate.cost.time.value_or(UINT64_MAX))
                    : candidate.cost.control;
    };
    const Candidate *cheapest = &best;
    for (const Candidate &candidate : candidates) {
      bool fits = candidate.score && candidate.beyond() <= best.beyond();
      cheapest = fits && cost(candidate) < cost(*cheapest) ? &candidate : cheapest;
    }
    const double most = (byTime ? mostTime : mostControl) * cost(*cheapest);
    const Candidate &chosen = cost(best) > most ? *cheapest : best;
    return byTime ? robust(candidates, chosen, most) : chosen;
  }

  /// What takes hardly longer, and does with clearly less control, is better at most other prices.
  static const Candidate &robust(const std::vector<Candidate> &candidates, const Candidate &chosen,
                                 double most) {
    most = std::min(most, precision * static_cast<double>(*chosen.cost.time));
    const Candidate *found = &chosen;
    for (const Candidate &candidate : candidates) {
      bool isAsGood = candidate.score && candidate.beyond() <= chosen.beyond() &&
                      candidate.score->inexactFirst <= chosen.score->inexactFirst &&
                      candidate.cost.time && static_cast<double>(*candidate.cost.time) <= most;
      bool isCheaper = candidate.cost.control <= clearlyLess * chosen.cost.control &&
                       candidate.cost.control < found->cost.control;
      found = isAsGood && isCheaper ? &candidate : found;
    }
    return *found;
  }

  /// Those that are nearly as good, the shortest run first: what is done to code after this may
  /// well shorten it more. Of those that take as long as each other, one.
  static std::vector<const Candidate *> promising(const std::vector<Candidate> &candidates,
                                                  const Candidate &best) {
    constexpr double mostTime = 1.1;
    constexpr size_t mostOthers = 2;
    std::vector<const Candidate *> found;
    for (const Candidate &candidate : candidates) {
      auto takesAsLong = [&](const Candidate *c) { return c->cost.time == candidate.cost.time; };
      bool isGood = candidate.score && best.cost.time && candidate.cost.time &&
                    candidate.beyond() <= best.beyond() &&
                    candidate.score->inexactFirst <= best.score->inexactFirst &&
                    static_cast<double>(*candidate.cost.time) <=
                        mostTime * static_cast<double>(*best.cost.time);
      if (isGood && !takesAsLong(&best) && std::ranges::none_of(found, takesAsLong)) {
        found.push_back(&candidate);
      }
    }
    auto byTime = [](const Candidate *c) { return std::pair(*c->cost.time, c->cost.control); };
    std::ranges::stable_sort(found, {}, byTime);
    auto end = found.begin() + static_cast<ptrdiff_t>(std::min(found.size(), mostOthers));
    return {found.begin(), end};
  }

  /// Steps 1 to 3, with all savings and, if the kernel is small, without some of them.
  std::vector<Candidate> start() {
    // These savings pay nearly always, but not where other waits need the counters anyway.
    std::vector<Candidate> candidates{startWith({true, true, true})};
    for (Savings savings : {Savings{true, false, true},
                            {false, true, true},
                            {false, false, true},
                            {true, true, false},
                            {false, true, false},
                            {true, true, true, false}}) {
      bool isOther =
          (savings.tables || !kernel.tables.empty()) && (mayKnowTrips || !savings.constant);
      if (isOther && candidates.front().score) {
        candidates.push_back(startWith(savings));
      }
    }
    return candidates;
  }

  Candidate startWith(const Savings &savings) {
    Candidate candidate{.savings = savings};
    save(savings);
    estimate();
    for (Set &set : sets) {
      bool alone = set.members.size() == 1 || set.own < set.shared;
      set.sharing = set.decided        ? set.asDecided
                    : !savings.signals ? Sharing::Body
                    : set.isJoin       ? Sharing::Join
                    : alone            ? Sharing::None
                                       : Sharing::Body;
    }
    candidate.forced = budget.respect(sets);
    candidate.sharing = sets.sharingOfSets();
    if (trials.affordable()) {
      Tried tried = trials.tryOut(withSharing());
      candidate.score = tried.score;
      candidate.cost = candidate.asEstimated = tried.cost;
    }
    return candidate;
  }

  /// What is decided is as in the candidate from here on.
  Decisions use(const Candidate &candidate) {
    save(candidate.savings);
    sets.share(candidate.sharing);
    return withSharing();
  }

  void save(const Savings &savings) {
    decided.lower.stepThresholds = savings.steps;
    decided.plan.constantTrips = savings.constant && mayKnowTrips;
    decided.plan.followTables = savings.tables;
    onlySets = savings.signals;
  }

  /// `first` is what would be best if exact waits came before all.
  void remarkTraded(const Candidate &best, const Candidate &first) {
    const std::optional<Score> &exact = trials.mostExact();
    if (best.score && !exact && best.cost.inexact > first.cost.inexact) {
      diagnostics.remark(
          kernel.where,
          fmt::format("{} longer than the dependences ask, because exact values take longer to "
                      "compute than they save: what all sequencers spend on control is {:.0f} % "
                      "less",
                      counted(best.cost.inexact, "wait"),
                      100 * (1 - best.cost.control / first.cost.control)));
    } else if (best.score && exact && best.score->inexact > exact->inexact) {
      diagnostics.remark(kernel.where,
                         whyLonger(best.cost, {.time = exact->time, .control = exact->control}));
    }
  }

  Decisions withSharing() const {
    Decisions result = decided;
    result.plan.sharing = sets.sharing(onlySets);
    return result;
  }

  /// The two plans have nothing to do with each other.
  void estimate() {
    const PlanDecisions ownPlan = allWith(Sharing::None);
    const PlanDecisions sharedPlan = allWith(Sharing::Body);
    constexpr size_t worthAThread = 10'000;
    bool isAtOnce = numThreads > 1 && kernel.instrs.size() >= worthAThread;
    auto policy = isAtOnce ? std::launch::async : std::launch::deferred;
    std::future<std::vector<double>> own = std::async(policy, [&] { return costsOf(ownPlan); });
    std::vector<double> shared = costsOf(sharedPlan);
    std::vector<double> owned = own.get();
    size_t s = 0;
    for (Set &set : sets) {
      set.own = owned[s];
      set.shared = shared[s++];
    }
  }

  PlanDecisions allWith(Sharing sharing) {
    for (Set &set : sets) {
      set.sharing = set.isJoin ? Sharing::Join : sharing;
    }
    return withSharing().plan;
  }

  std::vector<double> costsOf(const PlanDecisions &decisions) const {
    Diagnostics ignored;
    SyncPlan plan = makePlan(kernel, decisions, ignored);
    if (ignored.hasErrors()) {
      return std::vector<double>(sets.size(), 0); // whoever plans next reports them
    }
    return waitCosts(kernel, plan, machine, decided.lower, sets.ofInstrs(), sets.size());
  }

  /// Step 4, for a candidate that has a score.
  void improve(Candidate &candidate) {
    use(candidate);
    while (improveSets(candidate)) {
    }
    if (trials.haveTimes()) {
      shareWholeQueues(candidate);
    }
    candidate.sharing = sets.sharingOfSets();
  }

  /// Changes one set after the other where that is better; whether any was, and more can be tried.
  bool improveSets(Candidate &candidate) {
    bool changed = false;
    for (Set &set : sets) {
      if (!set.hasChoice() || set.sharing == Sharing::Queue) {
        continue;
      }
      if (!trials.affordable()) {
        return false;
      }
      const Sharing before = set.sharing;
      set.sharing = before == set.whole() ? set.apart() : set.whole();
      if (isTaken(candidate, textOf(set))) {
        changed = true;
      } else {
        set.sharing = before;
      }
    }
    return changed;
  }

  /// One semaphore for a queue takes more to follow, and less to decode.
  void shareWholeQueues(Candidate &candidate) {
    for (QueueId queue : budget.shareable(sets)) {
      if (!trials.affordable()) {
        return;
      }
      const std::vector<Sharing> before = sets.sharingOfSets();
      for (Set &set : sets) {
        bool isOfQueue = set.queue == queue && !set.decided;
        set.sharing = isOfQueue ? Sharing::Queue : set.sharing;
      }
      std::string what = fmt::format("one semaphore for all of queue '{}'", kernel.nameOf(queue));
      if (!isTaken(candidate, std::move(what))) {
        sets.share(before);
      }
    }
  }

  /// Tries the sets as they are now; whether that is better than what the candidate had.
  bool isTaken(Candidate &candidate, std::string what) {
    Tried tried = trials.tryOut(withSharing());
    bool isBetter = tried.score < *candidate.score;
    candidate.attempts.push_back(
        {Attempt::Step::Share, std::move(what), isBetter, candidate.cost, tried.cost});
    if (isBetter) {
      candidate.score = tried.score;
      candidate.cost = tried.cost;
    }
    return isBetter;
  }

  std::string textOf(const Set &set) const {
    std::vector<std::string> names;
    for (InstrId member : set.members) {
      names.push_back(fmt::format("'{}'", kernel.nameOf(member)));
    }
    std::string_view what = set.sharing == Sharing::None   ? "a semaphore each"
                            : set.sharing == Sharing::Join ? "one semaphore of both branches"
                            : set.isJoin                   ? "semaphores of their branches"
                                                           : "one semaphore";
    return fmt::format("{} for {}", what, listed(names));
  }

  static std::string textOf(const Savings &savings) {
    std::vector<std::string> without;
    if (!savings.steps) {
      without.push_back("stepped thresholds");
    }
    if (!savings.constant) {
      without.push_back("use of constant trips");
    }
    if (!savings.tables) {
      without.push_back("tables of distances");
    }
    if (!savings.signals) {
      return "semaphores as in per-loop: all instructions of a body raise one";
    }
    return without.empty() ? "all that saves control"
                           : fmt::format("without {}", fmt::join(without, " and "));
  }

  void record(const std::vector<Candidate> &candidates, const Candidate &best) {
    search = {};
    search.assumed = trials.haveTimes() ? trials.assumed() : std::vector<std::string>();
    search.numIssued = trials.haveTimes() ? trials.numIssued() : std::nullopt;
    search.numTried = trials.numTried();
    search.beginning = textOf(best.savings);
    for (const Candidate &candidate : candidates) {
      if (candidate.score) {
        search.attempts.push_back({Attempt::Step::Start, textOf(candidate.savings),
                                   &candidate == &best, std::nullopt, candidate.asEstimated});
      }
    }
    search.attempts.insert(search.attempts.end(), best.attempts.begin(), best.attempts.end());
  }

  const Kernel &kernel;
  const Machine &machine;
  Diagnostics &diagnostics;
  Search &search;
  const bool mayKnowTrips; ///< constant trips may be relied on
  const bool hasPrices;    ///< the machine says what control costs
  const uint32_t numThreads;
  Decisions decided;    ///< but for who shares
  bool onlySets = true; ///< raise semaphores
  Sets sets;
  Budget budget;
  Trials trials;
};

} // namespace

std::string whyLonger(const CodeCost &chosen, const CodeCost &exact) {
  std::string waits =
      fmt::format("{} longer than the dependences ask", counted(chosen.inexact, "wait"));
  if (*chosen.time < *exact.time) {
    return fmt::format("{}, because exact values take longer to compute than they save: simulated, "
                       "a run takes {} instead of {}",
                       waits, timeText(*chosen.time), timeText(*exact.time));
  }
  return fmt::format(
      "{}, because what computes exact values is {:.0f} % more control, and saves "
      "{:.2f} % of a run, as simulated",
      waits, 100 * (exact.control / chosen.control - 1),
      100 * (1 - static_cast<double>(*exact.time) / static_cast<double>(*chosen.time)));
}

Decisions choose(const Kernel &kernel, const Request &request, const PlanNeeds &needs,
                 const Machine &machine, Diagnostics &diagnostics, Search &search,
                 uint32_t beginning) {
  return request.strategy == Strategy::Auto
             ? Chooser(kernel, request, needs, machine, diagnostics, search).run(beginning)
             : decisionsFor(request, needs, machine);
}

} // namespace tally
