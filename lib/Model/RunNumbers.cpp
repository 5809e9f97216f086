//===- RunNumbers.cpp - The runs of a nest, numbered ------------------------===//

#include "tally/Model/RunNumbers.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tally {

std::optional<RunNumbers> RunNumbers::below(const Kernel &kernel, LoopId outer, LoopId home) {
  RunNumbers numbers;
  uint64_t runs = 1;
  for (LoopId l = home; l != outer; l = kernel.loops[l].parent) {
    const Loop &loop = kernel.loops[l];
    if (loop.kind != LoopKind::Loop || runs == 0) {
      return std::nullopt;
    }
    numbers.path.push_back(l);
    numbers.weights.push_back(runs);
    if (loop.parent != outer) {
      std::optional<uint64_t> trips = loop.knownTrips();
      if (!trips || *trips > maxCount / runs) {
        return std::nullopt;
      }
      runs *= *trips;
    }
  }
  std::ranges::reverse(numbers.path);
  std::ranges::reverse(numbers.weights);
  return numbers;
}

uint64_t RunNumbers::runsPerIterationOf(LoopId loop) const {
  auto found = std::ranges::find(path, loop);
  assert(found != path.end() && "one of the nest");
  return weights[static_cast<size_t>(found - path.begin())];
}

int64_t RunNumbers::ahead() const {
  uint64_t all = std::accumulate(weights.begin(), weights.end(), uint64_t(0));
  return isSingle() ? 0 : static_cast<int64_t>(all - 1);
}

int64_t RunNumbers::iterationOf(int64_t number, size_t level) const {
  int64_t rest = level == 0 ? number : number % static_cast<int64_t>(weights[level - 1]);
  return rest / static_cast<int64_t>(weights[level]);
}

uint64_t RunNumbers::least(const Kernel &kernel) const {
  if (isSingle()) {
    return 1;
  }
  uint64_t outermost = kernel.loops[path.front()].trip.least();
  return outermost <= maxCount / weights.front() ? outermost * weights.front() : maxCount;
}

std::optional<uint64_t> RunNumbers::most(const Kernel &kernel) const {
  if (isSingle()) {
    return 1;
  }
  std::optional<uint64_t> outermost = kernel.loops[path.front()].trip.most();
  bool isKnown = outermost && *outermost <= maxCount / weights.front();
  return isKnown ? std::optional(*outermost * weights.front()) : std::nullopt;
}

std::optional<SideBySide> sideBySide(const Kernel &kernel, LoopId shared, LoopId producerHome,
                                     LoopId consumerHome) {
  std::optional<RunNumbers> producer = RunNumbers::below(kernel, shared, producerHome);
  std::optional<RunNumbers> consumer = RunNumbers::below(kernel, shared, consumerHome);
  if (!producer || !consumer || (producer->isSingle() && consumer->isSingle())) {
    return std::nullopt;
  }
  return SideBySide{*std::move(producer), *std::move(consumer)};
}

std::optional<SideBySide> sideBySide(const Kernel &kernel, const Dep &dep) {
  return sideBySide(kernel, kernel.sharedBody(dep), kernel.instrs[dep.producer].home,
                    kernel.instrs[dep.consumer].home);
}

int64_t iterationsBack(const Kernel &kernel, const Dep &dep, LoopId shared) {
  const SideBySide nests = *sideBySide(kernel, dep);
  return kernel.tables[dep.table].iterationsBack(nests.producer.runsPerIterationOf(shared),
                                                 nests.consumer.runsPerIterationOf(shared));
}

} // namespace tally
