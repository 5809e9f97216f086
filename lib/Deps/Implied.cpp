//===- Implied.cpp - Dependences that others imply ------------------------===//

#include "tally/Deps/Implied.h"

#include "ChainSearch.h"
#include "Clocks.h"
#include "Following.h"
#include "RunByRun.h"
#include "Shifted.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace tally {

using namespace deps;

namespace {

/// Whose removal saves most comes first: waits that are too long, then those in inner loops, on
/// long distances, and for a buffer to be free; of equal ones those of consumers that wait for
/// most, as each further wait takes an instruction of its own, and on semaphores (one for the
/// instructions of a body on one queue) that fewest others wait on.
std::vector<size_t> removalOrder(const Kernel &kernel, const Extraction &extraction,
                                 const std::vector<bool> &isWanted) {
  std::vector<int64_t> waitsOf(kernel.instrs.size(), 0);
  std::vector<int64_t> waitsOn(kernel.loops.size() * kernel.queues.size(), 0);
  auto semaphore = [&](const Dep &dep) {
    const Instr &producer = kernel.instrs[dep.producer];
    return producer.home.value * kernel.queues.size() + producer.queue.value;
  };
  for (const DerivedDep &derived : extraction.deps) {
    ++waitsOf[derived.dep.consumer.value];
    ++waitsOn[semaphore(derived.dep)];
  }
  auto costOf = [&](size_t i) {
    const DerivedDep &derived = extraction.deps[i];
    int64_t distance = derived.dep.form == DistanceForm::Vector ? 0 : derived.dep.step;
    for (const DistanceComponent &c : extraction.componentsOf(derived.dep)) {
      distance = std::max(distance, c.distance);
    }
    return std::tuple(derived.excess != Excess::None, derived.dep.numComponents,
                      kernel.loops[kernel.instrs[derived.dep.consumer].home].depth, distance,
                      derived.dep.kind, waitsOf[derived.dep.consumer.value],
                      -waitsOn[semaphore(derived.dep)]);
  };
  std::vector<std::pair<decltype(costOf(0)), size_t>> costs;
  for (size_t i = 0; i < extraction.deps.size(); ++i) {
    if (isWanted[i]) {
      costs.emplace_back(costOf(i), i);
    }
  }
  std::ranges::stable_sort(costs, std::ranges::greater(),
                           [](const auto &cost) -> const auto & { return cost.first; });
  std::vector<size_t> order;
  for (const auto &[cost, dep] : costs) {
    order.push_back(dep);
  }
  return order;
}

/// Why a dependence is implied.
void noteChain(Extraction &extraction, size_t dep, const std::vector<DerivationStep> &chain) {
  extraction.deps[dep].firstStep = static_cast<uint32_t>(extraction.steps.size());
  extraction.deps[dep].numSteps = static_cast<uint32_t>(chain.size());
  extraction.steps.insert(extraction.steps.end(), chain.begin(), chain.end());
}

/// How many runs were gone through.
void noteRuns(Extraction &extraction, size_t dep, uint32_t numRuns) {
  DerivationStep step{DerivationStep::Kind::Runs, numRuns, extraction.deps[dep].dep.consumer, {}};
  noteChain(extraction, dep, {step});
}

/// A wait that is needed from a later run on, or by a table, is first taken as if it were needed at
/// once, and for all up to the shortest distance: it then asks for no more than others say, and
/// follows from them more often. If it is kept, it is made as short as it may be. Where something
/// then does not follow any more, what only begins later stays as it is, since that costs little,
/// unless all trips are constant: no wait is too long then. Otherwise the other is kept as well.
class Shortening {
public:
  Shortening(const Kernel &kernel, Extraction &extraction)
      : kernel(kernel), extraction(extraction) {
    for (size_t dep = 0; dep < extraction.deps.size(); ++dep) {
      const DerivedDep &derived = extraction.deps[dep];
      wasImplied.push_back(derived.isImplied());
      isShort.push_back(!derived.isImplied() && derived.waitsTooLong());
    }
  }

  void run() {
    if (std::ranges::find(isShort, true) == isShort.end()) {
      return;
    }
    for (bool again = true; again;) {
      Before before = shortenAll();
      std::vector<bool> open = findOpen(before);
      again = std::ranges::find(open, true) != open.end() && takeBack(open, before);
      if (again) {
        restore(before);
      } else {
        keepSome(std::move(open));
      }
    }
  }

private:
  bool hasConstantTrips() const {
    for (LoopId id : kernel.loops.ids()) {
      const Loop &loop = kernel.loops[id];
      bool isConstant = loop.kind == LoopKind::Loop && loop.trip.kind == Trip::Kind::Constant;
      if (id != rootLoop && !isConstant) {
        return false;
      }
    }
    return true;
  }

  /// What a trial changes.
  struct Before {
    std::vector<std::pair<uint32_t, uint32_t>> steps; ///< first and number, of each dependence
    std::vector<std::pair<size_t, DerivedDep>> longer;
    size_t numSteps = 0;
  };

  Before shortenAll() {
    Before before;
    before.numSteps = extraction.steps.size();
    for (size_t dep = 0; dep < extraction.deps.size(); ++dep) {
      DerivedDep &derived = extraction.deps[dep];
      before.steps.emplace_back(derived.firstStep, derived.numSteps);
      if (isShort[dep]) {
        before.longer.emplace_back(dep, derived);
        derived.shorten();
      }
    }
    return before;
  }

  /// What does not follow from the shorter ones. What does not as if it were needed at once may
  /// still as it is needed.
  std::vector<bool> findOpen(Before &before) {
    std::vector<bool> open = followAgain();
    bool anyShorter = false;
    for (size_t dep = 0; dep < open.size(); ++dep) {
      DerivedDep &derived = extraction.deps[dep];
      if (open[dep] && derived.waitsTooLong()) {
        before.longer.emplace_back(dep, derived);
        derived.shorten();
        anyShorter = true;
      }
    }
    return anyShorter ? followAgain() : open;
  }

  std::vector<bool> followAgain() {
    for (DerivedDep &derived : extraction.deps) {
      derived.numSteps = 0;
    }
    return markFollowing(kernel, extraction, wasImplied);
  }

  void restore(const Before &before) {
    for (const auto &[dep, derived] : before.longer) {
      extraction.deps[dep] = derived;
    }
    for (size_t dep = 0; dep < extraction.deps.size(); ++dep) {
      std::tie(extraction.deps[dep].firstStep, extraction.deps[dep].numSteps) = before.steps[dep];
    }
    extraction.steps.resize(before.numSteps);
  }

  /// Of those that only begin later, the ones from which these are known to have followed; if none
  /// is known, all. False if there are none.
  bool takeBack(const std::vector<bool> &open, const Before &before) {
    if (hasConstantTrips()) {
      return false;
    }
    std::vector<bool> isToBlame(isShort.size(), false);
    for (size_t dep = 0; dep < open.size(); ++dep) {
      auto [first, number] = before.steps[dep];
      for (uint32_t i = 0; open[dep] && i < number; ++i) {
        const DerivationStep &step = extraction.steps[first + i];
        if (step.kind == DerivationStep::Kind::Wait) {
          isToBlame[step.dep] = true;
        }
      }
    }
    auto takeBackIf = [&](auto isIt) {
      bool any = false;
      for (size_t dep = 0; dep < isShort.size(); ++dep) {
        bool isIn = isShort[dep] && extraction.deps[dep].fromRun != 0 && isIt(dep);
        isShort[dep] = isShort[dep] && !isIn;
        any |= isIn;
      }
      return any;
    };
    return takeBackIf([&](size_t dep) { return isToBlame[dep]; }) ||
           takeBackIf([](size_t) { return true; });
  }

  /// Of those that do not follow any more, others follow from the first that is kept. Past a few,
  /// they are all kept.
  void keepSome(std::vector<bool> open) {
    constexpr int most = 16;
    for (int kept = 0; std::ranges::find(open, true) != open.end(); ++kept) {
      if (kept == most) {
        for (size_t dep = 0; dep < open.size(); ++dep) {
          keep(dep, open[dep]);
        }
        return;
      }
      size_t first = static_cast<size_t>(std::ranges::find(open, true) - open.begin());
      keep(first, true);
      open = followAgain();
    }
  }

  void keep(size_t dep, bool isOpen) { wasImplied[dep] = wasImplied[dep] && !isOpen; }

  const Kernel &kernel;
  Extraction &extraction;
  std::vector<bool> wasImplied;
  std::vector<bool> isShort; ///< is made as short as it may be
};

/// By clocks, shifts and chains. Which of the others may still follow.
std::vector<bool> removeImplied(const Kernel &kernel, Extraction &extraction) {
  std::vector<bool> mayFollow = markImpliedByClocks(kernel, extraction);
  if (std::find(mayFollow.begin(), mayFollow.end(), true) == mayFollow.end()) {
    return mayFollow;
  }
  markImpliedByShifts(kernel, extraction);
  Places places(kernel);
  WaitIndex index(kernel, extraction);
  std::vector<bool> removed;
  for (const DerivedDep &derived : extraction.deps) {
    mayFollow[removed.size()] = mayFollow[removed.size()] && !derived.isImplied();
    removed.push_back(derived.isImplied());
  }
  Scratch scratch(kernel);
  ChainProblem problem{places, index, extraction, removed, scratch};
  for (size_t dep : removalOrder(kernel, extraction, mayFollow)) {
    auto [chain, wasBounded] = findChain(problem, dep);
    extraction.numUnsearched += wasBounded;
    if (!chain.empty()) {
      removed[dep] = true;
      noteChain(extraction, dep, chain);
    }
  }
  return mayFollow;
}

/// Of those that are open, in all their runs.
void markRunByRun(const Kernel &kernel, Extraction &all, std::vector<bool> &isOpen) {
  bool areAny = std::ranges::find(isOpen, true) != isOpen.end();
  std::optional<RunByRun> runs;
  if (areAny) {
    runs = RunByRun::of(kernel, all, isOpen);
  }
  if (!runs) {
    return;
  }
  std::vector<bool> isUsed = isOpen;
  isUsed.flip();
  std::vector<bool> isFollowing = runs->follow(isOpen, isUsed);
  for (size_t d = 0; d < isOpen.size(); ++d) {
    if (isFollowing[d]) {
      isOpen[d] = false;
      noteRuns(all, d, runs->numRuns(all.deps[d].dep));
    }
  }
}

/// Of what is kept, what follows from the rest, now by one chain and now by another. Not where
/// clocks have decided all.
void removeRunByRun(const Kernel &kernel, Extraction &extraction,
                    const std::vector<bool> &mayFollow) {
  const std::vector<bool> none(extraction.deps.size(), false);
  std::vector<bool> isKept = none;
  bool areDecided = true;
  for (size_t dep = 0; dep < isKept.size(); ++dep) {
    const DerivedDep &derived = extraction.deps[dep];
    isKept[dep] = !derived.isImplied();
    areDecided &= !isKept[dep] || (!mayFollow[dep] && derived.dep.form != DistanceForm::Element);
  }
  if (areDecided) {
    return;
  }
  std::optional<RunByRun> runs = RunByRun::of(kernel, extraction, none);
  size_t left = runs ? runs->numQuestions() : 0;
  for (size_t dep : removalOrder(kernel, extraction, isKept)) {
    if (left-- == 0) {
      break;
    }
    std::vector<bool> isAsked = none;
    isAsked[dep] = true;
    isKept[dep] = false;
    isKept[dep] = !runs->follow(isAsked, isKept)[dep];
    if (!isKept[dep]) {
      noteRuns(extraction, dep, runs->numRuns(extraction.deps[dep].dep));
    }
  }
}

} // namespace

std::vector<bool> deps::markFollowing(const Kernel &kernel, Extraction &all,
                                      const std::vector<bool> &isAsked) {
  std::vector<bool> isOpen = isAsked;
  markImpliedByClocks(kernel, all, isOpen);
  markImpliedByShifts(kernel, all, isOpen);
  for (size_t d = 0; d < isOpen.size(); ++d) {
    isOpen[d] = isOpen[d] && !all.deps[d].isImplied();
  }
  // What was shown from a later run on says less than it seems.
  std::vector<bool> isUnusable = isOpen;
  for (size_t d = 0; d < isOpen.size(); ++d) {
    isUnusable[d] = isOpen[d] || (isAsked[d] && all.deps[d].from.isLater());
  }
  Places places(kernel);
  WaitIndex index(kernel, all);
  Scratch scratch(kernel);
  ChainProblem problem{places, index, all, isUnusable, scratch};
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t d = 0; d < isOpen.size(); ++d) {
      std::vector<DerivationStep> chain =
          isOpen[d] ? findChain(problem, d).steps : std::vector<DerivationStep>();
      if (!chain.empty()) {
        noteChain(all, d, chain);
        isOpen[d] = isUnusable[d] = false;
        changed = true;
      }
    }
  }
  markRunByRun(kernel, all, isOpen);
  return isOpen;
}

void shortenAll(Extraction &extraction) {
  std::ranges::for_each(extraction.deps, &DerivedDep::shorten);
}

void markImplied(const Kernel &kernel, Extraction &extraction) {
  std::vector<bool> mayFollow = removeImplied(kernel, extraction);
  Shortening(kernel, extraction).run();
  removeRunByRun(kernel, extraction, mayFollow);
}

} // namespace tally
