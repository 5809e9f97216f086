//===- Implied.cpp - Dependences that others imply ------------------------===//

#include "tally/Deps/Implied.h"

#include "ChainSearch.h"
#include "Clocks.h"
#include "Shifted.h"

#include <algorithm>
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

/// A wait that is needed from a later run on is first taken as if it were needed at once: it then
/// asks for no more than others say, and follows from them more often. If it is kept, it begins
/// where it is needed, unless something follows from it that then would not.
class Beginnings {
public:
  Beginnings(const Kernel &kernel, Extraction &extraction)
      : extraction(extraction), places(kernel), index(kernel, extraction), scratch(kernel),
        usersOf(extraction.deps.size()) {
    for (const DerivedDep &derived : extraction.deps) {
      removed.push_back(derived.isImplied());
      noteUses(removed.size() - 1);
    }
  }

  void run(std::span<const size_t> kept) {
    for (size_t dep : kept) {
      DerivedDep &derived = extraction.deps[dep];
      const DerivedDep before = derived;
      derived.dep = derived.beginningWhereNeeded();
      derived.excess = Excess::None;
      if (!othersStillFollow(dep)) {
        derived = before;
      }
    }
  }

private:
  void noteUses(size_t implied) {
    const DerivedDep &derived = extraction.deps[implied];
    for (uint32_t i = 0; i < derived.numSteps; ++i) {
      const DerivationStep &step = extraction.steps[derived.firstStep + i];
      bool isOfDep =
          step.kind == DerivationStep::Kind::Wait || step.kind == DerivationStep::Kind::Branches;
      if (isOfDep && (usersOf[step.dep].empty() || usersOf[step.dep].back() != implied)) {
        usersOf[step.dep].push_back(implied);
      }
    }
  }

  bool othersStillFollow(size_t dep) {
    ChainProblem problem{places, index, extraction, removed, scratch};
    std::vector<std::vector<DerivationStep>> chains;
    for (size_t user : usersOf[dep]) {
      chains.push_back(findChain(problem, user).steps);
      if (chains.back().empty()) {
        return false;
      }
    }
    for (size_t i = 0; i < chains.size(); ++i) {
      DerivedDep &derived = extraction.deps[usersOf[dep][i]];
      derived.firstStep = static_cast<uint32_t>(extraction.steps.size());
      derived.numSteps = static_cast<uint32_t>(chains[i].size());
      extraction.steps.insert(extraction.steps.end(), chains[i].begin(), chains[i].end());
    }
    for (size_t user : std::vector(usersOf[dep])) {
      noteUses(user);
    }
    return true;
  }

  Extraction &extraction;
  Places places;
  WaitIndex index;
  Scratch scratch;
  std::vector<bool> removed;
  std::vector<std::vector<size_t>> usersOf; ///< which are implied by each
};

void beginWhereNeeded(const Kernel &kernel, Extraction &extraction) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < extraction.deps.size(); ++i) {
    if (extraction.deps[i].fromRun != 0 && !extraction.deps[i].isImplied()) {
      kept.push_back(i);
    }
  }
  if (!kept.empty()) {
    Beginnings(kernel, extraction).run(kept);
  }
}

void removeImplied(const Kernel &kernel, Extraction &extraction) {
  std::vector<bool> mayFollow = markImpliedByClocks(kernel, extraction);
  if (std::find(mayFollow.begin(), mayFollow.end(), true) == mayFollow.end()) {
    return;
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
      extraction.deps[dep].firstStep = static_cast<uint32_t>(extraction.steps.size());
      extraction.deps[dep].numSteps = static_cast<uint32_t>(chain.size());
      extraction.steps.insert(extraction.steps.end(), chain.begin(), chain.end());
    }
  }
}

} // namespace

void markImplied(const Kernel &kernel, Extraction &extraction) {
  removeImplied(kernel, extraction);
  beginWhereNeeded(kernel, extraction);
}

} // namespace tally
