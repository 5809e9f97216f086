//===- NoWait.cpp - What an instruction need not wait for -----------------===//

#include "tally/Deps/NoWait.h"

#include "tally/Deps/Implied.h"
#include "tally/Deps/Render.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace tally {
namespace {

bool isSum(const Kernel &kernel, AccessId access) {
  return kernel.accesses[access].kind == AccessKind::Accumulate;
}

IdVector<InstrId, std::vector<size_t>> byConsumer(const Kernel &kernel,
                                                  const Extraction &extraction) {
  IdVector<InstrId, std::vector<size_t>> result(kernel.instrs.size());
  for (size_t i = 0; i < extraction.deps.size(); ++i) {
    result[extraction.deps[i].dep.consumer].push_back(i);
  }
  return result;
}

/// Does the machine keep any order within a queue that a kernel could rely on?
bool hasOrder(const Kernel &kernel, bool queueOverlap) {
  bool has = !queueOverlap;
  for (InstrId instr : kernel.instrs.ids()) {
    for (AccessId access : kernel.instrs[instr].accesses) {
      has |= kernel.queues[kernel.instrs[instr].queue].addsInOrder && isSum(kernel, access);
    }
  }
  return has;
}

} // namespace

NoWaits::NoWaits(const Kernel &kernel, const Extraction &found, bool queueOverlap,
                 Extractor &extractor)
    : kernel(kernel), found(found), queueOverlap(queueOverlap) {
  if (hasOrder(kernel, queueOverlap)) {
    Kernel unordered = kernel;
    for (Queue &queue : unordered.queues) {
      queue.addsInOrder = false;
    }
    all = extractor.extract(unordered, {.queueOverlap = true});
  }
  foundFor = byConsumer(kernel, found);
  allFor = byConsumer(kernel, all);
}

std::vector<NoWait> NoWaits::of(InstrId consumer) const {
  std::vector<NoWait> noWaits;
  for (size_t i : foundFor[consumer]) {
    if (found.deps[i].isImplied()) {
      noWaits.push_back(implied(found.deps[i]));
    }
  }
  for (size_t i : allFor[consumer]) {
    if (isInOrder(all.deps[i])) {
      std::string_view queue = kernel.nameOf(kernel.instrs[consumer].queue);
      noWaits.push_back(
          {describe(kernel, all, all.deps[i]),
           fmt::format("queue '{}' {}", queue,
                       queueOverlap ? "adds up in order" : "runs one after the other"),
           {}});
    }
  }
  return noWaits;
}

NoWait NoWaits::implied(const DerivedDep &derived) const {
  NoWait noWait{
      describe(kernel, found, derived), "by " + derivationText(kernel, found, derived), {}};
  for (const DerivationStep &step :
       std::span(found.steps).subspan(derived.firstStep, derived.numSteps)) {
    if (step.kind == DerivationStep::Kind::Engine) {
      noWait.behind.push_back(step.earlier);
    }
  }
  return noWait;
}

bool NoWaits::isInOrder(const DerivedDep &derived) const {
  const QueueId queue = kernel.instrs[derived.dep.consumer].queue;
  return kernel.instrs[derived.dep.producer].queue == queue &&
         (!queueOverlap ||
          (kernel.queues[queue].addsInOrder && isSum(kernel, derived.producerAccess) &&
           isSum(kernel, derived.consumerAccess)));
}

Extraction writtenDeps(const Kernel &kernel) {
  Extraction written;
  written.components = kernel.components;
  written.tables = kernel.tables;
  // Those that are found come by consumer and producer, and so they are looked through.
  std::vector<uint32_t> order(kernel.deps.size());
  std::iota(order.begin(), order.end(), 0);
  auto ends = [&](uint32_t dep) {
    return std::pair(kernel.deps[DepId(dep)].consumer, kernel.deps[DepId(dep)].producer);
  };
  std::ranges::stable_sort(order, {}, ends);
  for (uint32_t dep : order) {
    written.deps.emplace_back().dep = kernel.deps[DepId(dep)];
  }
  markImplied(kernel, written);
  std::vector<DerivedDep> asWritten(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    asWritten[order[i]] = std::move(written.deps[i]);
  }
  written.deps = std::move(asWritten);
  for (DerivationStep &step : written.steps) {
    if (step.kind == DerivationStep::Kind::Wait || step.kind == DerivationStep::Kind::Branches) {
      step.dep = order[step.dep];
    }
  }
  return written;
}

} // namespace tally
