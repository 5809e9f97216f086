//===- ExplainOrder.cpp - What an instruction need not wait for -----------===//

#include "ExplainOrder.h"

#include "tally/Deps/Implied.h"
#include "tally/Deps/Render.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::tool {
namespace {

bool isSum(const Kernel &kernel, AccessId access) {
  return kernel.accesses[access].kind == AccessKind::Accumulate;
}

/// Conflicts within one queue that the machine keeps in order: of queues that run one instruction
/// after the other, and sums of those that add up in order.
void addOrdered(const Kernel &kernel, const Machine &machine, Extractor &extractor,
                InstrId consumer, std::vector<NoWait> &noWaits) {
  Kernel unordered = kernel;
  for (Queue &queue : unordered.queues) {
    queue.addsInOrder = false;
  }
  Extraction all = extractor.extract(unordered, {.queueOverlap = true});
  const QueueId queue = kernel.instrs[consumer].queue;
  for (const DerivedDep &derived : all.deps) {
    const Dep &dep = derived.dep;
    if (dep.consumer != consumer || kernel.instrs[dep.producer].queue != queue) {
      continue;
    }
    bool addUp = kernel.queues[queue].addsInOrder && isSum(kernel, derived.producerAccess) &&
                 isSum(kernel, derived.consumerAccess);
    if (addUp || !machine.queueOverlap) {
      noWaits.push_back(
          {describe(kernel, all, derived),
           fmt::format("queue '{}' {}", kernel.nameOf(queue),
                       machine.queueOverlap ? "adds up in order" : "runs one after the other")});
    }
  }
}

} // namespace

std::vector<NoWait> noWaitsOf(const Kernel &kernel, const Machine &machine, InstrId consumer) {
  Extractor extractor;
  Extraction found = extractor.extract(kernel, {.queueOverlap = machine.queueOverlap});
  markImplied(kernel, found);
  std::vector<NoWait> noWaits;
  for (const DerivedDep &derived : found.deps) {
    if (derived.dep.consumer == consumer && derived.isImplied()) {
      noWaits.push_back(
          {describe(kernel, found, derived), "by " + derivationText(kernel, found, derived)});
    }
  }
  bool adds = false;
  for (AccessId access : kernel.instrs[consumer].accesses) {
    adds |= isSum(kernel, access);
  }
  if (adds || !machine.queueOverlap) {
    addOrdered(kernel, machine, extractor, consumer, noWaits);
  }
  return noWaits;
}

std::vector<EngineWait> engineWaits(const Code &code, const SimResult &result, EngineId engine) {
  std::vector<EngineWait> waits;
  const std::vector<Op> &ops = code.engines[engine].ops;
  Tick span = 0;
  for (size_t at = 0; at < ops.size(); ++at) {
    const OpStats &stats = result.engines[engine].ops[at];
    span += stats.waiting + stats.queueFull + stats.draining;
    if (ops[at].kind == OpKind::Issue && span > 0) {
      InstrId instr = ops[at].instr();
      auto known = std::ranges::find(waits, instr, &EngineWait::before);
      if (known == waits.end()) {
        waits.push_back({instr, span});
      } else {
        known->span += span;
      }
      span = 0;
    }
  }
  std::ranges::stable_sort(waits, std::ranges::greater(), &EngineWait::span);
  return waits;
}

} // namespace tally::tool
