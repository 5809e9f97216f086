//===- Shifted.cpp - What distances on inner loops, too, imply ------------===//

#include "Shifted.h"

#include "Clocks.h"
#include "UpTo.h"

#include <algorithm>
#include <map>

namespace tally::deps {

bool vectorImplies(std::span<const DistanceComponent> a, std::span<const DistanceComponent> b) {
  // Ids follow the text, so that outer loops come first.
  std::map<LoopId, std::pair<int64_t, int64_t>> both;
  for (const DistanceComponent &c : a) {
    both[c.loop].first = c.distance;
  }
  for (const DistanceComponent &c : b) {
    both[c.loop].second = c.distance;
  }
  auto waitsLess = [](const auto &on) {
    return on.second.first > std::max(on.second.second, int64_t(0));
  };
  auto differs = [](const auto &on) { return on.second.first != on.second.second; };
  auto outermost = std::ranges::find_if(both, differs);
  return std::ranges::none_of(both, waitsLess) &&
         (outermost == both.end() || outermost->second.first < outermost->second.second);
}

namespace {

/// Instructions in a body and the bodies inside it: they stand together.
struct Range {
  InstrId first;
  InstrId last;
};

class Shifts {
public:
  Shifts(const Kernel &kernel, Extraction &extraction, const std::vector<bool> &isAsked)
      : kernel(kernel), extraction(extraction), isAsked(isAsked), ranges(kernel.loops.size()) {
    for (InstrId instr : kernel.instrs.ids()) {
      for (LoopId l = kernel.instrs[instr].home; l.valid(); l = kernel.loops[l].parent) {
        Range &range = ranges[l];
        range = {range.first.valid() ? range.first : instr, instr};
      }
    }
  }

  void run() {
    constexpr size_t mostWork = 100'000'000; // instructions; those past it are left to the search
    size_t left = mostWork / (kernel.instrs.size() + 1);
    for (const auto &[shift, asked] : shifts()) {
      if (left-- == 0) {
        return;
      }
      decide(shift, asked);
    }
  }

private:
  /// Iterations of a body that are so far apart.
  struct Shift {
    LoopId body;
    int64_t runs = 0; ///< or else by
    std::vector<DistanceComponent> distance;

    bool operator<(const Shift &other) const {
      auto key = [](const DistanceComponent &c) { return std::pair(c.loop, c.distance); };
      auto own = std::pair(body, runs), others = std::pair(other.body, other.runs);
      return own != others ? own < others
                           : std::ranges::lexicographical_compare(distance, other.distance,
                                                                  std::less(), key, key);
    }
  };

  std::map<Shift, std::vector<size_t>> shifts() const {
    std::map<Shift, std::vector<size_t>> found;
    for (size_t d = 0; d < extraction.deps.size(); ++d) {
      const DerivedDep &derived = extraction.deps[d];
      if (derived.isImplied() || (!isAsked.empty() && !isAsked[d])) {
        continue;
      }
      const Dep &dep = derived.dep;
      std::span<const DistanceComponent> distance = extraction.componentsOf(dep);
      LoopId body = bodyAround(dep);
      if (body == rootLoop) {
        continue; // a flat distance between loops, as it may be written
      }
      bool isInner = dep.form == DistanceForm::Vector && !distance.empty() &&
                     distance.front().distance > 0 && distance.front().loop != body;
      if (isInner) {
        found[{body, 0, {distance.begin(), distance.end()}}].push_back(d);
      }
      int64_t runs = dep.form == DistanceForm::Flat ? dep.step : isInner ? leastRuns(dep, body) : 0;
      if (runs > 0) {
        found[{body, runs, {}}].push_back(d);
      }
    }
    return found;
  }

  /// How many runs of the body lie at least between two iterations at this distance; 0: not known.
  /// Where trips vary, whole iterations of the carrier have the fewest of all loops inside it, and
  /// parts of two make up one.
  int64_t leastRuns(const Dep &dep, LoopId body) const {
    std::span<const DistanceComponent> distance = extraction.componentsOf(dep);
    int64_t runs = distance.front().distance;
    for (LoopId l = body; l != distance.front().loop; l = kernel.loops[l].parent) {
      bool fits = !__builtin_mul_overflow(runs, leastTrips(kernel.loops[l]), &runs);
      if (!fits || runs == 0) {
        return 0;
      }
    }
    bool isOwn = distance.size() == 2 && distance.back().loop == body;
    return distance.size() == 1 ? runs : isOwn ? runs + distance.back().distance : 0;
  }

  LoopId bodyAround(const Dep &dep) const {
    return kernel.realLoop(
        kernel.commonLoop(kernel.instrs[dep.producer].home, kernel.instrs[dep.consumer].home));
  }

  /// What is asked about has distance 1 in the shifted body.
  void decide(const Shift &shift, const std::vector<size_t> &asked) {
    Extraction shifted;
    std::vector<size_t> origin; // of each dependence
    std::vector<bool> isAskedThere;
    const Range range = ranges[shift.body];
    findLast(shift.body);
    auto consumer = [](const DerivedDep &derived) { return derived.dep.consumer; };
    auto first = std::ranges::lower_bound(extraction.deps, range.first, {}, consumer);
    auto end = std::ranges::upper_bound(extraction.deps, range.last, {}, consumer);
    for (auto derived = first; derived != end; ++derived) {
      size_t d = static_cast<size_t>(derived - extraction.deps.begin());
      // A distance may be more runs than are counted.
      bool isLonger = shift.runs > 0 && derived->dep.form == DistanceForm::Vector &&
                      std::ranges::binary_search(asked, d);
      if (!derived->isImplied() && add(shift, isLonger, derived->dep, shifted)) {
        origin.push_back(d);
        isAskedThere.push_back(isLonger || (!isAsked.empty() && isAsked[d]));
      }
    }
    markImpliedByClocks(kernel, shifted, isAskedThere, shift.body);
    for (size_t d : asked) {
      auto at = std::ranges::lower_bound(origin, d);
      if (at != origin.end() && *at == d) { // else implied in the meantime
        takeOver(shifted, origin, static_cast<size_t>(at - origin.begin()));
      }
    }
  }

  /// A dependence, as it is in the shifted body; false if it is none there.
  bool add(const Shift &shift, bool isAskedByRuns, const Dep &dep, Extraction &shifted) const {
    if (!kernel.encloses(shift.body, kernel.instrs[dep.producer].home)) {
      return false;
    }
    std::span<const DistanceComponent> distance = extraction.componentsOf(dep);
    bool isInside = dep.form == DistanceForm::Vector &&
                    (distance.empty() || (distance.front().loop != shift.body &&
                                          kernel.encloses(shift.body, distance.front().loop)));
    const DistanceComponent back{shift.body, isAskedByRuns ? shift.runs : backOf(shift, dep)};
    if (!isInside) {
      distance = {&back, 1};
    }
    if (!isInside && back.distance == 0) {
      return false;
    }
    Dep own = dep;
    if (!isInside && waitsPast(shift, dep)) {
      own.producer = lastOn[kernel.instrs[dep.producer].queue];
    }
    own.form = DistanceForm::Vector;
    own.step = 0;
    own.firstComponent = static_cast<uint32_t>(shifted.components.size());
    own.numComponents = static_cast<uint32_t>(distance.size());
    shifted.components.insert(shifted.components.end(), distance.begin(), distance.end());
    shifted.deps.emplace_back().dep = own;
    return true;
  }

  /// The last instruction of each queue among those that run in every iteration of a body.
  void findLast(LoopId body) {
    lastOn.assign(kernel.queues.size(), {});
    for (InstrId instr = ranges[body].first; instr.value <= ranges[body].last.value;
         instr = InstrId(instr.value + 1)) {
      if (kernel.instrs[instr].home == body) {
        lastOn[kernel.instrs[instr].queue] = instr;
      }
    }
  }

  /// Whether a dependence, whenever there is an iteration u to wait for, waits for a run after u:
  /// the producer runs in every iteration, the distance is shorter, and there is an iteration so
  /// far back.
  bool waitsPast(const Shift &shift, const Dep &dep) const {
    std::span<const DistanceComponent> own = extraction.componentsOf(dep);
    if (shift.runs != 0 || dep.form != DistanceForm::Vector || own.empty() ||
        kernel.instrs[dep.producer].home != shift.body || vectorImplies(shift.distance, own)) {
      return false;
    }
    bool isForward =
        std::ranges::none_of(own, [](const DistanceComponent &c) { return c.distance < 0; });
    bool isThere = true;
    for (LoopId l = shift.body; l != own.front().loop; l = kernel.loops[l].parent) {
      isThere &= kernel.loops[l].knownTrips().has_value();
    }
    return isForward && isThere;
  }

  /// How many iterations of the shifted body; 0: more than are known.
  int64_t backOf(const Shift &shift, const Dep &dep) const {
    switch (dep.form) {
    case DistanceForm::Flat: // of a body farther in, all before is at least one iteration
      return dep.step == 1 ? 1 : shift.runs > 0 && bodyAround(dep) == shift.body ? dep.step : 0;
    case DistanceForm::Element:
      return 0;
    case DistanceForm::Vector:
      return shift.runs == 0 && vectorImplies(extraction.componentsOf(dep), shift.distance);
    }
    return 0;
  }

  void takeOver(const Extraction &shifted, const std::vector<size_t> &origin, size_t number) {
    const DerivedDep &from = shifted.deps[number];
    DerivedDep &to = extraction.deps[origin[number]];
    to.firstStep = static_cast<uint32_t>(extraction.steps.size());
    to.numSteps = from.numSteps;
    for (uint32_t i = 0; i < from.numSteps; ++i) {
      DerivationStep step = shifted.steps[from.firstStep + i];
      bool isWait = step.kind == DerivationStep::Kind::Wait;
      if (isWait) {
        step.dep = static_cast<uint32_t>(origin[step.dep]);
      }
      extraction.steps.push_back(step);
      InstrId producer = isWait ? extraction.deps[step.dep].dep.producer : step.earlier;
      if (producer != step.earlier) {
        extraction.steps.push_back({DerivationStep::Kind::Queue, 0, producer, step.earlier});
        ++to.numSteps;
      }
    }
  }

  const Kernel &kernel;
  Extraction &extraction;
  const std::vector<bool> &isAsked;
  IdVector<LoopId, Range> ranges;
  IdVector<QueueId, InstrId> lastOn; ///< of the shifted body
};

} // namespace

void markImpliedByShifts(const Kernel &kernel, Extraction &extraction,
                         const std::vector<bool> &isAsked) {
  Shifts(kernel, extraction, isAsked).run();
}

} // namespace tally::deps
