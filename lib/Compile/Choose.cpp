//===- Choose.cpp - Strategy 'auto': the cheapest way to share semaphores -===//
//
// The choice is made for *sets*: the instructions of one queue in one body that somebody waits for.
// (The others of the body signal nothing.) A set has one semaphore for each member, one for all,
// or is part of one for its whole queue. Those that the kernel pins to one semaphore are a set of
// their own, about which nothing is left to choose.
//
// Steps:  1. estimate  plan with semaphores of one's own and with shared ones; charge what the
//                      waits of each plan cost to the sets they wait for
//         2. pick      the cheaper for each set
//         3. limit     too many semaphores: share where that costs least for each one saved; if all
//                      sets share and it is not enough, whole queues share
//         4. improve   small kernels only: change one set after the other as long as the code,
//         written
//                      and priced, gets cheaper
// Small kernels go through all of it once more without stepped thresholds, and without relying on
// constant trips.
//
// Cost: steps 1 to 3 as two plans; step 4 is bounded by a number of instructions lowered.
//===----------------------------------------------------------------------===//

#include "tally/Compile/Choose.h"

#include "Overflow.h"
#include "tally/Code/ControlCost.h"
#include "tally/Code/Limits.h"
#include "tally/Lower/WaitCosts.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"
#include "tally/Sync/Split.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tally {
namespace {

/// Step 4 lowers at most so many instructions in all.
constexpr size_t mostLowered = 50'000;

/// Instructions of one queue in one body that are waited for.
struct Set {
  LoopId body;
  QueueId queue;
  std::vector<InstrId> members;
  bool decided = false; ///< by the kernel, which pins them or says so of a region
  Sharing asDecided = Sharing::Body;
  Sharing sharing = Sharing::Body;
  double own = 0;    ///< estimated cost of the waits for it: a semaphore for each,
  double shared = 0; ///< one for all

  uint32_t numSemaphores() const {
    return sharing == Sharing::Nobody ? static_cast<uint32_t>(members.size()) : 1;
  }
};

class Chooser {
public:
  Chooser(const Kernel &kernel, const Request &request, const PlanNeeds &needs,
          const Machine &machine, Diagnostics &diagnostics)
      : kernel(kernel), request(request), decided(decisionsFor(request, needs, machine)),
        machine(machine), diagnostics(diagnostics), entries(expectedEntries(kernel)),
        prices(machine), spare(needs.spare),
        limit(unreserved(machine.semaphores, kernel.reserved).value_or(UINT32_MAX)),
        mayKnowTrips(request.constantTrips) {
    decided.lower.nativeCounters = true;
    decided.lower.stepThresholds = true;
    decided.lower.countAtOnce = true;
  }

  Decisions run() {
    findSets();
    Candidate best = search();
    const uint64_t beyondAtFirst = best.beyond();
    // Two savings pay nearly always, but not where other waits need the counters anyway.
    for (auto [step, constant] : {std::pair(true, false), {false, true}, {false, false}}) {
      if (!best.score || (constant && !mayKnowTrips)) {
        continue;
      }
      decided.lower.stepThresholds = step;
      decided.plan.constantTrips = constant && mayKnowTrips;
      Candidate other = search();
      if (other.score && *other.score < *best.score) {
        best = std::move(other);
      }
    }
    if (!best.forced.empty()) {
      diagnostics.remark(kernel.where, best.forced);
    }
    if (best.beyond() < beyondAtFirst && !best.decisions.lower.stepThresholds) {
      diagnostics.remark(
          kernel.where, fmt::format("thresholds are computed at each wait: keeping them needs more "
                                    "registers than machine '{}' has",
                                    machine.name));
    }
    return best.decisions;
  }

private:
  /// What compiling with some decisions needs beyond the limits, and then costs.
  using Score = std::tuple<uint64_t, double>;

  struct Candidate {
    Decisions decisions;
    std::string forced;         ///< what a limit forced; empty: nothing
    std::optional<Score> score; ///< none: the kernel is too large to lower it so often

    uint64_t beyond() const { return score ? std::get<0>(*score) : 0; }
  };

  /// Steps 1 to 4, for one setting of the savings.
  Candidate search() {
    estimate();
    for (Set &set : sets) {
      bool alone = set.members.size() == 1 || set.own < set.shared;
      set.sharing = set.decided ? set.asDecided : alone ? Sharing::Nobody : Sharing::Body;
    }
    Candidate found;
    found.forced = respectLimit();
    found.score = improve();
    found.decisions = withSharing(sharing());
    return found;
  }

  //===--- Sets -----------------------------------------------------------===//

  void findSets() {
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

  IdVector<InstrId, Sharing> sharing() const {
    IdVector<InstrId, Sharing> result(kernel.instrs.size(), Sharing::Nobody);
    for (const Set &set : sets) {
      for (InstrId member : set.members) {
        result[member] = set.sharing;
      }
    }
    return result;
  }

  Decisions withSharing(IdVector<InstrId, Sharing> choice) const {
    Decisions result = decided;
    result.plan.sharing = std::move(choice);
    return result;
  }

  //===--- 1. Estimate ----------------------------------------------------===//

  void estimate() {
    std::vector<double> own = costsWith(Sharing::Nobody);
    std::vector<double> shared = costsWith(Sharing::Body);
    for (size_t s = 0; s < sets.size(); ++s) {
      sets[s].own = own[s];
      sets[s].shared = shared[s];
    }
  }

  std::vector<double> costsWith(Sharing all) {
    for (Set &set : sets) {
      set.sharing = all;
    }
    Diagnostics ignored;
    SyncPlan plan = makePlan(kernel, withSharing(sharing()).plan, ignored);
    if (ignored.hasErrors()) {
      return std::vector<double>(sets.size(), 0); // whoever plans next reports them
    }
    return waitCosts(kernel, plan, machine, decided.lower, setOf, sets.size());
  }

  //===--- 3. Limit -------------------------------------------------------===//

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

  bool enough(uint64_t count) const { return count + spare <= limit; }

  bool enough() const { return enough(numSemaphores()); }

  /// What had to be shared, in words.
  std::string respectLimit() {
    uint64_t wished = numSemaphores();
    if (enough()) {
      return "";
    }
    uint32_t merged = shareInBodies();
    std::vector<QueueId> whole = enough() ? std::vector<QueueId>() : shareQueues();
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

  /// Sets share until there are few enough semaphores, those first that lose least for each one
  /// saved. How many do so.
  uint32_t shareInBodies() {
    std::vector<uint32_t> candidates;
    for (uint32_t s = 0; s < sets.size(); ++s) {
      if (sets[s].sharing == Sharing::Nobody && sets[s].members.size() > 1 && !sets[s].decided) {
        candidates.push_back(s);
      }
    }
    auto loss = [&](uint32_t s) {
      return (sets[s].shared - sets[s].own) / static_cast<double>(sets[s].members.size() - 1);
    };
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](uint32_t a, uint32_t b) { return loss(a) < loss(b); });
    uint64_t count = numSemaphores();
    uint32_t merged = 0;
    for (uint32_t s : candidates) {
      if (enough(count)) {
        break;
      }
      count -= sets[s].members.size() - 1;
      sets[s].sharing = Sharing::Body;
      ++merged;
    }
    return merged;
  }

  /// A queue that may share one semaphore for all of its bodies.
  struct WholeQueue {
    QueueId queue;
    bool exact = true;  ///< no wait gets longer
    double cost = 0;    ///< of following it on the engines that wait
    uint32_t saved = 0; ///< semaphores

    auto rank() const { return std::tuple(!exact, cost / saved, queue); }
  };

  std::vector<QueueId> shareQueues() {
    std::vector<WholeQueue> candidates = wholeQueues();
    std::sort(candidates.begin(), candidates.end(),
              [](const WholeQueue &a, const WholeQueue &b) { return a.rank() < b.rank(); });
    uint64_t count = numSemaphores();
    std::vector<QueueId> whole;
    std::vector<bool> isWhole(kernel.queues.size(), false);
    for (const WholeQueue &candidate : candidates) {
      if (enough(count)) {
        break;
      }
      count -= candidate.saved;
      whole.push_back(candidate.queue);
      isWhole[candidate.queue.value] = true;
    }
    for (Set &set : sets) {
      set.sharing = isWhole[set.queue.value] && !set.decided ? Sharing::Queue : set.sharing;
    }
    return whole;
  }

  /// Queues with several semaphores whose path everybody who waits for them can follow.
  std::vector<WholeQueue> wholeQueues() const {
    std::vector<WholeQueue> all;
    std::vector<bool> excluded(kernel.queues.size(), false);
    for (QueueId queue : kernel.queues.ids()) {
      excluded[queue.value] = mayMix(kernel.queues[queue]);
      all.push_back({queue});
    }
    std::vector<bool> followed(kernel.queues.size(), false); // by other engines than its own
    for (const Dep &dep : kernel.deps) {
      bool byItself = kernel.engineOf(dep.producer) == kernel.engineOf(dep.consumer);
      followed[kernel.instrs[dep.producer].queue.value] =
          followed[kernel.instrs[dep.producer].queue.value] || !byItself;
    }
    for (const Set &set : sets) {
      if (set.decided) {
        continue;
      }
      WholeQueue &queue = all[set.queue.value];
      ++queue.saved;
      queue.cost += entries[set.body] * prices.alu * static_cast<double>(1 + set.members.size());
      for (LoopId l = set.body; l.valid(); l = kernel.loops[l].parent) {
        bool disagree = followed[set.queue.value] && !kernel.loops[l].uniform;
        excluded[set.queue.value] = excluded[set.queue.value] || disagree;
      }
    }
    for (const Dep &dep : kernel.deps) {
      all[kernel.instrs[dep.producer].queue.value].exact &= dep.form != DistanceForm::Element;
    }
    std::erase_if(all, [&](const WholeQueue &w) { return w.saved < 2 || excluded[w.queue.value]; });
    for (WholeQueue &queue : all) {
      --queue.saved;
    }
    return all;
  }

  //===--- 4. Improve -----------------------------------------------------===//

  Score scoreOf(const Decisions &candidate) const {
    Diagnostics ignored;
    SyncPlan plan = makePlan(kernel, candidate.plan, ignored);
    if (ignored.hasErrors()) {
      return {UINT64_MAX, 0};
    }
    Code code = lower(kernel, plan, machine, candidate.lower, ignored);
    uint64_t beyond = numOverflows(plan);
    auto charge = [&](uint64_t used, std::optional<uint32_t> most) {
      beyond += most && used > *most ? used - *most : 0;
    };
    charge(code.semaphores.size(), machine.semaphores);
    for (const EngineProgram &program : code.engines) {
      charge(program.registers.size(), machine.registersPerEngine);
    }
    return {beyond, controlCost(kernel, code, machine)};
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

  bool affordable() {
    bool enough = left >= kernel.instrs.size() + 1;
    left -= enough ? kernel.instrs.size() + 1 : 0;
    return enough;
  }

  std::optional<Score> improve() {
    if (!affordable()) {
      return std::nullopt;
    }
    Score best = scoreOf(withSharing(sharing()));
    for (bool changed = true; changed;) {
      changed = false;
      for (Set &set : sets) {
        if (set.members.size() == 1 || set.decided || set.sharing == Sharing::Queue) {
          continue;
        }
        if (!affordable()) {
          return best;
        }
        set.sharing = other(set.sharing);
        Score score = scoreOf(withSharing(sharing()));
        if (score < best) {
          best = score;
          changed = true;
        } else {
          set.sharing = other(set.sharing);
        }
      }
    }
    return best;
  }

  static Sharing other(Sharing sharing) {
    return sharing == Sharing::Body ? Sharing::Nobody : Sharing::Body;
  }

  static constexpr uint32_t noSet = UINT32_MAX;

  const Kernel &kernel;
  const Request &request;
  Decisions decided; ///< but for who shares
  const Machine &machine;
  Diagnostics &diagnostics;
  const IdVector<LoopId, double> entries;
  const ControlPrices prices;
  const uint64_t spare; ///< semaphores that are not for instructions
  const uint64_t limit;
  const bool mayKnowTrips;   ///< constant trips may be relied on
  size_t left = mostLowered; ///< instructions that may still be lowered
  std::vector<Set> sets;
  IdVector<InstrId, uint32_t> setOf;
};

} // namespace

Decisions choose(const Kernel &kernel, const Request &request, const PlanNeeds &needs,
                 const Machine &machine, Diagnostics &diagnostics) {
  return request.strategy == Strategy::Auto
             ? Chooser(kernel, request, needs, machine, diagnostics).run()
             : decisionsFor(request, needs, machine);
}

} // namespace tally
