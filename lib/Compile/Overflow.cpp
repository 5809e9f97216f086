//===- Overflow.cpp - Do counters stay below the machine's limit? ---------===//
//
// A semaphore of body l is raised by w*N at each entry of l, and thresholds run one entry ahead (or
// d more, for an inner index d ahead): w*N*(entries + 1) must stay below 2^bits (2^(bits-1) where
// waits compare signed). The kernel itself is entered once, and nothing runs ahead of that. Entries
// are bounded by the trip bounds around l. Where those are missing or too large, the code is right
// up to a number of entries that is said.
//
// Counters that are reset between iterations of a loop R have only the entries of l since then:
// if R has at most that many, entries = iterations of R * entries of l in each. Of the loops around
// l the outermost one that will do is taken: it comes to its barrier least often.
//===----------------------------------------------------------------------===//

#include "Overflow.h"

#include "tally/Model/RunNumbers.h"
#include "tally/Support/Counted.h"
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tally::compiling {
namespace {

constexpr uint64_t unbounded = UINT64_MAX;

uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  bool isTooLarge = __builtin_mul_overflow(a, b, &product);
  return a == unbounded || b == unbounded || isTooLarge ? unbounded : product;
}

class Growth {
public:
  Growth(const Kernel &kernel, const SyncPlan &plan, const Machine &machine)
      : kernel(kernel), plan(plan), machine(machine), entries(kernel.loops.size(), 1),
        perEntry(kernel.loops.size(), 0), ahead(kernel.loops.size(), 1) {
    boundEntries();
    sumPerEntry();
  }

  /// Whether the counters of a body stay below the limit, if nobody resets them.
  bool fits(LoopId loop) const {
    if (perEntry[loop] == 0) {
      return true;
    }
    return entries[loop] != unbounded &&
           times(perEntry[loop], entries[loop] + ahead[loop]) < machine.counterLimit();
  }

  /// How many entries of a body its counters hold.
  uint64_t mostEntries(LoopId loop) const {
    uint64_t most = (machine.counterLimit() - 1) / perEntry[loop];
    return most > ahead[loop] ? most - ahead[loop] : 0;
  }

  /// How many iterations of `around` the counters of a body hold; 0: not even one.
  uint64_t mostIterations(LoopId around, LoopId loop) const {
    uint64_t inside = mostInIteration(around, loop);
    return inside == unbounded ? 0 : inside == 0 ? unbounded : mostEntries(loop) / inside;
  }

  /// How often an iteration of `around` may enter a body in it.
  uint64_t mostInIteration(LoopId around, LoopId loop) const {
    uint64_t inside = 1;
    for (LoopId l = loop; l != around; l = kernel.loops[l].parent) {
      inside = times(inside, maxTrips(kernel.loops[l]));
    }
    return inside;
  }

  /// The outermost loop around a body between whose iterations its counters can be reset.
  LoopId resetterOf(LoopId loop) const {
    LoopId found;
    bool agreed = true; // from the root up to here
    std::vector<LoopId> path;
    for (LoopId l = loop; l != rootLoop; l = kernel.loops[l].parent) {
      path.push_back(l);
    }
    for (size_t i = path.size(); i-- > 0 && agreed && !found.valid();) {
      agreed = kernel.loops[path[i]].uniform;
      bool isLoop = kernel.loops[path[i]].kind == LoopKind::Loop;
      found = agreed && isLoop && mostIterations(path[i], loop) > 0 ? path[i] : LoopId();
    }
    return found;
  }

  /// For how many entries the code is right.
  std::string heldText(LoopId loop) const {
    return fmt::format("counters of '{}' have room for {} of it ({} bits; an entry adds up to {})",
                       kernel.nameOf(loop), counted(mostEntries(loop), "entry"),
                       machine.counterBits, perEntry[loop]);
  }

  /// The same, beside what one iteration of a loop around it may take of that.
  std::string heldText(LoopId around, LoopId loop) const {
    std::string text = heldText(loop);
    if (around != loop) {
      text += fmt::format(", and one iteration of '{}' may make {}", kernel.nameOf(around),
                          mostInIteration(around, loop));
    }
    return text;
  }

  /// What would show that they are never more.
  std::string wayOut(LoopId loop) const {
    std::vector<std::string> open; // outermost first
    for (LoopId l = loop; l.valid() && l != rootLoop; l = kernel.loops[l].parent) {
      if (maxTrips(kernel.loops[l]) == unbounded) {
        bool isWhile = kernel.loops[l].trip.kind == Trip::Kind::Guard;
        open.insert(open.begin(),
                    fmt::format("'{}'{}", kernel.nameOf(l),
                                isWhile ? " (with trips instead of a condition)" : ""));
      }
    }
    if (!open.empty()) {
      return fmt::format("; {} 'max' on the trips of {} would settle it",
                         open.size() == 1 ? "a bound" : "bounds", fmt::join(open, " and "));
    }
    return fmt::format(", but its trip bounds allow {}; a smaller 'max' on a loop around it would "
                       "settle it",
                       entries[loop]);
  }

  bool counts(LoopId loop) const { return perEntry[loop] > 0; }

private:
  uint64_t maxTrips(const Loop &loop) const { return loop.trip.most().value_or(unbounded); }

  void boundEntries() {
    for (LoopId l : kernel.loops.ids()) {
      const Loop &loop = kernel.loops[l];
      entries[l] = loop.parent.valid() ? times(entries[loop.parent], maxTrips(loop)) : 1;
    }
  }

  /// The most that any semaphore or counter grows by at one entry of each loop. A semaphore of a
  /// whole queue grows in many loops: each is charged all of it.
  void sumPerEntry() {
    for (InstrId instr : kernel.instrs.ids()) {
      if (plan.groupOf[instr].valid()) {
        const Group &group = plan.groups[plan.groupOf[instr]];
        uint64_t raised = uint64_t(group.numSignals) * kernel.queues[group.queue].weight;
        uint64_t &most = perEntry[plan.countedIn(kernel, instr)];
        most = std::max(most, raised);
      }
    }
    for (const Wait &wait : plan.waits) {
      if (wait.maskLoop.valid()) {
        perEntry[wait.maskLoop] = std::max<uint64_t>(perEntry[wait.maskLoop], 1);
      }
    }
    for (DepId dep : plan.waits.ids()) {
      LoopId home = plan.countedIn(kernel, kernel.deps[dep].producer);
      ahead[home] = std::max<uint64_t>(ahead[home], plan.waits[dep].times);
      for (const NestLevel &level : plan.levelsOf(plan.waits[dep])) {
        ahead[home] = std::max<uint64_t>(ahead[home], level.times);
      }
      if (plan.waits[dep].innerLoop.valid()) {
        chargeElement(plan.waits[dep], home);
      }
    }
    ahead[rootLoop] = 0; // thresholds there are constants
  }

  /// An inner index is added to a count of the producer: each must leave the other half of the
  /// range. That is so if the counters of the consumer's loop may count on for twice as many as the
  /// index is ahead, whatever they grow by.
  void chargeElement(const Wait &wait, LoopId producerHome) {
    for (LoopId loop : {producerHome, wait.innerLoop}) {
      perEntry[loop] = std::max<uint64_t>(perEntry[loop], 2);
    }
    int64_t most = RunNumbers::below(kernel, wait.innerAround, wait.innerLoop)->ahead();
    int64_t step = std::abs(wait.innerStep);
    if (wait.table.valid()) {
      const RunTable &table = kernel.tables[wait.table];
      uint64_t &growth = perEntry[wait.innerLoop];
      growth = std::max(growth, 2 * static_cast<uint64_t>(table.largestRise()));
      step = std::max(std::abs(table.at(0)), std::abs(table.runs.back())) + table.each;
    }
    uint64_t reach = 2 * (1 + static_cast<uint64_t>(most + step));
    uint64_t growth = perEntry[wait.innerLoop];
    ahead[wait.innerLoop] = std::max(ahead[wait.innerLoop], (reach + growth - 1) / growth);
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  const Machine &machine;
  IdVector<LoopId, uint64_t> entries;  ///< the most that there can be; or unbounded
  IdVector<LoopId, uint64_t> perEntry; ///< growth of the fastest counter; 0: nothing is counted
  IdVector<LoopId, uint64_t> ahead;    ///< entries that a threshold may run ahead
};

} // namespace

void checkOverflow(const Kernel &kernel, const SyncPlan &plan, const Machine &machine, bool refuse,
                   Diagnostics &diagnostics) {
  Growth growth(kernel, plan, machine);
  for (LoopId loop : kernel.loops.ids()) {
    if (growth.fits(loop)) {
      continue;
    }
    std::string message = growth.heldText(loop) + growth.wayOut(loop);
    if (refuse) {
      diagnostics.error(kernel.loops[loop].where, std::move(message));
    } else {
      diagnostics.remark(kernel.loops[loop].where, std::move(message));
    }
  }
}

std::vector<ResetPoint> findResets(const Kernel &kernel, const SyncPlan &plan,
                                   const Machine &machine, Diagnostics &diagnostics) {
  Growth growth(kernel, plan, machine);
  IdVector<LoopId, bool> isPoint(kernel.loops.size(), false);
  for (LoopId loop : kernel.loops.ids()) {
    if (growth.fits(loop)) {
      continue;
    }
    LoopId resetter = growth.resetterOf(loop);
    if (resetter.valid()) {
      isPoint[resetter] = true;
      continue;
    }
    diagnostics.error(
        kernel.loops[loop].where,
        fmt::format("{}, and there is not a loop around it on which all engines agree "
                    "and between whose iterations they could be reset{}",
                    growth.heldText(loop), growth.wayOut(loop)));
  }
  std::vector<ResetPoint> points;
  for (LoopId loop : kernel.loops.ids()) {
    if (isPoint[loop]) {
      points.push_back({loop, 0});
    }
  }
  return points;
}

std::vector<ResetPoint> allResets(const Kernel &kernel, const SyncPlan &plan,
                                  const Machine &machine, Diagnostics &diagnostics) {
  std::vector<ResetPoint> all;
  std::ranges::set_union(plan.decisions.resets, findResets(kernel, plan, machine, diagnostics),
                         std::back_inserter(all), {}, &ResetPoint::loop, &ResetPoint::loop);
  return all;
}

std::vector<ResetPoint> withPeriods(const Kernel &kernel, const SyncPlan &plan,
                                    const Machine &machine, Diagnostics &diagnostics) {
  std::vector<ResetPoint> points = plan.decisions.resets;
  if (points.empty()) {
    return points;
  }
  Growth growth(kernel, plan, machine);
  IdVector<LoopId, LoopId> resetBy(kernel.loops.size()); // the innermost point around each body
  IdVector<LoopId, uint64_t> most(kernel.loops.size(), machine.counterLimit() - 2);
  IdVector<LoopId, LoopId> reason(kernel.loops.size()); // what has room for the fewest iterations
  for (LoopId loop : kernel.loops.ids()) {
    LoopId parent = kernel.loops[loop].parent;
    resetBy[loop] = plan.resetAt(loop) ? loop : parent.valid() ? resetBy[parent] : LoopId();
    LoopId point = resetBy[loop];
    if (point.valid() && growth.counts(loop)) {
      most[point] = std::min(most[point], growth.mostIterations(point, loop));
    }
    if (!growth.fits(loop)) {
      assert(point.valid() && "found by findResets()");
      uint64_t here = growth.mostIterations(point, loop);
      bool isLess = !reason[point].valid() || here < growth.mostIterations(point, reason[point]);
      reason[point] = isLess ? loop : reason[point];
    }
  }
  for (ResetPoint &point : points) {
    point.every = static_cast<uint32_t>(most[point.loop]);
    LoopId loop = reason[point.loop]; // none if an inner point has taken over
    std::string when = point.every == 1
                           ? "each iteration"
                           : fmt::format("every {}", counted(point.every, "iteration"));
    std::string text = fmt::format("engines drain and reset the counters in '{}' after {} of it",
                                   kernel.nameOf(point.loop), when);
    if (loop.valid()) {
      text += ": " + growth.heldText(point.loop, loop) + growth.wayOut(loop);
    }
    diagnostics.remark(kernel.loops[point.loop].where, std::move(text));
  }
  return points;
}

} // namespace tally::compiling
