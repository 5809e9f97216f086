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

} // namespace

void markImplied(const Kernel &kernel, Extraction &extraction) {
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

} // namespace tally
