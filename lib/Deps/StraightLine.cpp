//===- StraightLine.cpp - What straight-line code implies -----------------===//

#include "StraightLine.h"

#include <algorithm>

namespace tally {
namespace {

/// What is known of one queue: an instruction of it has retired, since a dependence was waited for.
struct Known {
  InstrId retired; ///< none: nothing
  uint32_t dep = 0;

  bool covers(InstrId instr) const { return retired.valid() && instr <= retired; }
};

class StraightLine {
public:
  StraightLine(const Kernel &kernel, Extraction &extraction, const std::vector<bool> &isAsked)
      : kernel(kernel), extraction(extraction), isAsked(isAsked), numQueues(kernel.queues.size()),
        atStart(kernel.instrs.size() * numQueues), ofEngine(kernel.engines.size() * numQueues) {}

  /// Dependences are sorted by consumer.
  void run() {
    size_t next = 0;
    for (InstrId i : kernel.instrs.ids()) {
      size_t first = next;
      while (next < extraction.deps.size() && extraction.deps[next].dep.consumer == i) {
        ++next;
      }
      if (kernel.instrs[i].home == rootLoop) {
        start(i, first, next);
      }
    }
  }

private:
  Known *clockOf(InstrId instr) { return atStart.data() + instr.value * numQueues; }

  void start(InstrId instr, size_t first, size_t end) {
    Known *clock = clockOf(instr);
    Known *engine = ofEngine.data() + kernel.engineOf(instr).value * numQueues;
    std::copy(engine, engine + numQueues, clock);
    // Within a consumer, dependences are sorted by producer.
    forEach(first, end, false, [&](uint32_t d) { wait(clock, d); });
    forEach(first, end, true, [&](uint32_t d) { ask(clock, d); });
    std::copy(clock, clock + numQueues, engine);
  }

  template <typename Action> void forEach(size_t first, size_t end, bool asked, Action action) {
    for (size_t d = end; d-- > first;) {
      if (asked == (!isAsked.empty() && isAsked[d]) &&
          isStraightLine(kernel, extraction.deps[d].dep)) {
        action(static_cast<uint32_t>(d));
      }
    }
  }

  void ask(const Known *clock, uint32_t dep) {
    InstrId producer = extraction.deps[dep].dep.producer;
    if (clock[kernel.instrs[producer].queue.value].covers(producer)) {
      derive(dep);
    }
  }

  void wait(Known *clock, uint32_t dep) {
    InstrId producer = extraction.deps[dep].dep.producer;
    Known &own = clock[kernel.instrs[producer].queue.value];
    if (own.covers(producer)) {
      return derive(dep);
    }
    const Known *before = clockOf(producer);
    for (size_t q = 0; q < numQueues; ++q) {
      if (before[q].retired.valid() && !clock[q].covers(before[q].retired)) {
        clock[q] = {before[q].retired, dep};
      }
    }
    own = {producer, dep};
  }

  /// Follows the clocks back to the producer.
  void derive(uint32_t dep) {
    DerivedDep &derived = extraction.deps[dep];
    InstrId producer = derived.dep.producer;
    QueueId queue = kernel.instrs[producer].queue;
    derived.firstStep = static_cast<uint32_t>(extraction.steps.size());
    InstrId at = derived.dep.consumer;
    while (at != producer) {
      uint32_t by = clockOf(at)[queue.value].dep;
      const Dep &link = extraction.deps[by].dep;
      if (link.consumer != at) {
        step(DerivationStep::Kind::Engine, 0, at, link.consumer);
      }
      step(DerivationStep::Kind::Wait, by, link.consumer, link.producer);
      at = link.producer;
      if (kernel.instrs[at].queue == queue && producer < at) {
        step(DerivationStep::Kind::Queue, 0, at, producer);
        at = producer;
      }
    }
    derived.numSteps = static_cast<uint32_t>(extraction.steps.size()) - derived.firstStep;
  }

  void step(DerivationStep::Kind kind, uint32_t dep, InstrId later, InstrId earlier) {
    extraction.steps.push_back({kind, dep, later, earlier});
  }

  const Kernel &kernel;
  Extraction &extraction;
  const std::vector<bool> &isAsked;
  size_t numQueues;
  std::vector<Known> atStart;  ///< by instruction, then queue
  std::vector<Known> ofEngine; ///< by engine, then queue
};

} // namespace

bool isStraightLine(const Kernel &kernel, const Dep &dep) {
  return kernel.instrs[dep.producer].home == rootLoop &&
         kernel.instrs[dep.consumer].home == rootLoop;
}

void markImpliedStraightLine(const Kernel &kernel, Extraction &extraction,
                             const std::vector<bool> &isAsked) {
  StraightLine(kernel, extraction, isAsked).run();
}

} // namespace tally
