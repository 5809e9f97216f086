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
/// follows from them more often. If it is kept, it is made as short as it may be. What then does
/// not follow any more is kept as well.
class Shortening {
public:
  Shortening(const Kernel &kernel, Extraction &extraction)
      : kernel(kernel), extraction(extraction) {
    for (const DerivedDep &derived : extraction.deps) {
      wasImplied.push_back(derived.isImplied());
    }
  }

  void run() {
    bool anyShorter = false;
    for (DerivedDep &derived : extraction.deps) {
      if (!derived.isImplied() && derived.waitsTooLong()) {
        derived.shorten();
        anyShorter = true;
      }
    }
    if (anyShorter) {
      keepSome(findOpen());
    }
  }

private:
  /// What does not follow from the shorter ones. What does not as if it were needed at once may
  /// still as it is needed.
  std::vector<bool> findOpen() {
    std::vector<bool> open = followAgain();
    bool anyShorter = false;
    for (size_t dep = 0; dep < open.size(); ++dep) {
      if (open[dep] && extraction.deps[dep].waitsTooLong()) {
        extraction.deps[dep].shorten();
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

  /// Of those that do not follow any more, others follow from the first that is kept. Past a few,
  /// of large kernels fewer, they are all kept.
  void keepSome(std::vector<bool> open) {
    constexpr size_t most = 16, mostFollowed = 50'000;
    const size_t affordable = std::min(most, mostFollowed / open.size());
    for (size_t kept = 0; std::ranges::find(open, true) != open.end(); ++kept) {
      if (kept == affordable) {
        return;
      }
      wasImplied[std::ranges::find(open, true) - open.begin()] = false;
      open = followAgain();
    }
  }

  const Kernel &kernel;
  Extraction &extraction;
  std::vector<bool> wasImplied;
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

/// Of those that are asked about and open, in all their runs. What was shown before follows, too.
void markRunByRun(const Kernel &kernel, Extraction &all, std::vector<bool> isAsked,
                  std::vector<bool> &isOpen) {
  bool areAny = std::ranges::find(isOpen, true) != isOpen.end();
  std::optional<RunByRun> runs;
  if (areAny) {
    runs = RunByRun::of(kernel, all, isOpen);
  }
  if (!runs) {
    return;
  }
  isAsked.flip();
  std::vector<bool> isFollowing = runs->follow(isOpen, /*isUsed=*/isAsked);
  for (size_t d = 0; d < isOpen.size(); ++d) {
    if (isFollowing[d]) {
      isOpen[d] = false;
      all.deps[d].shorten(); // it was asked about so
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
  markRunByRun(kernel, all, isAsked, isOpen);
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
