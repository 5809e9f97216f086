//===- UpTo.cpp - Dependences as "all runs up to an iteration" ------------===//

#include "UpTo.h"

#include <algorithm>
#include <numeric>

namespace tally::deps {

uint64_t leastTrips(const Loop &loop) {
  if (loop.isBranch()) {
    return 0;
  }
  return loop.trip.least();
}

uint64_t mostTrips(const Loop &loop) {
  if (loop.isBranch()) {
    return 1;
  }
  return loop.trip.most().value_or(maxCount);
}

UpToWaits::UpToWaits(const Kernel &kernel, const Extraction &extraction, LoopId body, bool asksFrom)
    : endless(body), asksFrom(asksFrom), distances(kernel.loops.size()),
      heads(kernel.loops.size(), rootLoop), agreed(kernel.loops.size(), true) {
  for (LoopId l : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[l];
    if (l != rootLoop) { // what is around has a smaller number
      heads[l] = leastTrips(loop) == 0 ? l : heads[loop.parent];
      agreed[l] = loop.uniform && agreed[loop.parent];
    }
  }
  waits.reserve(extraction.deps.size());
  for (uint32_t d = 0; d < extraction.deps.size(); ++d) {
    addDep(kernel, extraction, d);
  }
  index(kernel, extraction);
}

void UpToWaits::addDep(const Kernel &kernel, const Extraction &extraction, uint32_t dep) {
  const Dep &d = extraction.deps[dep].dep;
  if (!agreed[kernel.instrs[d.producer].home] || !agreed[kernel.instrs[d.consumer].home]) {
    return;
  }
  if (extraction.deps[dep].from.isLater() && extraction.deps[dep].isImplied()) {
    return;
  }
  switch (d.form) {
  case DistanceForm::Vector:
    return addVector(kernel, extraction, dep);
  case DistanceForm::Flat:
    return addFlat(kernel, d, dep);
  case DistanceForm::Element: {
    bool isCarried = d.numComponents != 0;
    return addElement(kernel, d, isCarried ? extraction.componentsOf(d)[0].distance : 0, dep);
  }
  }
}

void UpToWaits::addVector(const Kernel &kernel, const Extraction &extraction, uint32_t dep) {
  const Dep &d = extraction.deps[dep].dep;
  std::span<const DistanceComponent> components(extraction.components.data() + d.firstComponent,
                                                d.numComponents);
  if (components.empty()) {
    NeededFrom from = asksFrom ? extraction.deps[dep].from : NeededFrom();
    if (d.producer < d.consumer && !from.isLater()) {
      add(kernel, d, {.dep = dep});
    } else if (d.producer < d.consumer) {
      LoopId consumer = kernel.instrs[d.consumer].home;
      LoopId common = kernel.commonLoop(kernel.instrs[d.producer].home, consumer);
      LoopId own = kernel.realLoops(consumer, common)[from.loop];
      add(kernel, d, {.dep = dep, .loop = own, .from = from.iteration, .isUsed = false});
    }
    return;
  }
  const DistanceComponent &carrier = components.front();
  if (carrier.distance < 1) {
    return;
  }
  bool isWhole = true;
  bool isMasked = false; // nothing is waited for in first iterations of loops inside
  LoopId common = kernel.commonLoop(kernel.instrs[d.producer].home, kernel.instrs[d.consumer].home);
  for (LoopId l = common; l != carrier.loop; l = kernel.loops[l].parent) {
    auto own = std::find_if(components.begin(), components.end(),
                            [&](const DistanceComponent &c) { return c.loop == l; });
    int64_t distance = own == components.end() ? 0 : own->distance;
    isMasked |= distance > 0;
    isWhole &= kernel.loops[l].isBranch() ||
               distance <= 1 - static_cast<int64_t>(mostTrips(kernel.loops[l]));
  }
  uint32_t back = static_cast<uint32_t>(carrier.distance);
  UpTo wait{.dep = dep, .loop = carrier.loop, .back = back, .isUsed = isWhole};
  add(kernel, d, wait);
  if (!isWhole && !isMasked) {
    wait = {.dep = dep, .loop = carrier.loop, .back = back + 1, .isAsked = false};
    add(kernel, d, wait);
  }
}

void UpToWaits::addFlat(const Kernel &kernel, const Dep &dep, uint32_t number) {
  LoopId home = kernel.instrs[dep.consumer].home;
  if (dep.step < 1 || kernel.instrs[dep.producer].home != home) {
    return;
  }
  for (LoopId l = home; l != rootLoop; l = kernel.loops[l].parent) {
    if (!kernel.loops[l].isBranch()) {
      add(kernel, dep, {.dep = number, .loop = l, .back = 1, .isUsed = dep.step == 1});
    }
  }
}

void UpToWaits::addElement(const Kernel &kernel, const Dep &dep, int64_t distance,
                           uint32_t number) {
  if (dep.table.valid()) {
    return; // the run that is needed may lie before any that is counted
  }
  LoopId loop = kernel.realLoop(
      kernel.commonLoop(kernel.instrs[dep.producer].home, kernel.instrs[dep.consumer].home));
  add(kernel, dep,
      {.dep = number, .loop = loop, .back = static_cast<uint32_t>(distance), .isUsed = false});
  if (distance == 0 && dep.step <= 0 && loop != rootLoop) {
    add(kernel, dep, {.dep = number, .loop = loop, .back = 1, .isAsked = false});
  }
}

void UpToWaits::add(const Kernel &kernel, const Dep &dep, UpTo wait) {
  const uint32_t first = wait.back + wait.from;
  uint64_t most = first > 0 ? mostTrips(kernel.loops[wait.loop]) : 0;
  if (most != 0 && first >= most && wait.loop != endless) {
    return; // no iteration waits; a loop that never runs is taken as if it did
  }
  LoopId producer = kernel.instrs[dep.producer].home;
  LoopId around =
      wait.back == 0 ? kernel.commonLoop(producer, kernel.instrs[dep.consumer].home) : wait.loop;
  wait.isSure = kernel.encloses(heads[producer], around);
  waits.push_back(wait);
  if (wait.isAsked && first > 0) {
    distances[wait.loop].push_back(first);
  }
}

void UpToWaits::index(const Kernel &kernel, const Extraction &extraction) {
  auto consumer = [&](const UpTo &wait) { return extraction.deps[wait.dep].dep.consumer.value; };
  firstOf.assign(kernel.instrs.size() + 1, 0);
  for (const UpTo &wait : waits) {
    ++firstOf[consumer(wait) + 1];
  }
  std::partial_sum(firstOf.begin(), firstOf.end(), firstOf.begin());
  auto isBefore = [&](const UpTo &a, const UpTo &b) { return consumer(a) < consumer(b); };
  if (!std::is_sorted(waits.begin(), waits.end(), isBefore)) {
    std::stable_sort(waits.begin(), waits.end(), isBefore);
  }
  for (std::vector<int64_t> &list : distances) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

} // namespace tally::deps
