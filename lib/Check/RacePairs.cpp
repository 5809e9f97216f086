//===- RacePairs.cpp - All that one instruction asks of another -----------===//

#include "RacePairs.h"

#include <algorithm>
#include <unordered_map>

namespace tally::check {
namespace {

/// A run of an instruction that the code issues.
struct Issued {
  uint32_t run = 0;
  uint32_t number = 0; ///< in its queue, from 1
};

/// Passes through the runs of both instructions in the order of the text.
class PairWalk {
public:
  PairWalk(const RaceSubject &subject, InstrId producer, InstrId consumer)
      : subject(subject), producer(producer), consumer(consumer), earlier(queueOf(producer)),
        later(queueOf(consumer)), producers(runsOf(producer)) {}

  std::vector<PairWait> run() {
    std::vector<PairWait> waits;
    EngineId engine = subject.kernel.engineOf(consumer);
    for (const Issued &issued : runsOf(consumer)) {
      uint32_t number = std::max(numberByAccesses(issued), numberByDeps(issued));
      uint32_t at = subject.system.issuesOf(later)[issued.number - 1];
      if (number != 0) {
        waits.push_back({{engine, at, earlier, number, false}, later, issued.number});
      }
    }
    std::ranges::sort(waits, {}, [](const PairWait &pair) { return pair.wait.at; });
    return waits;
  }

private:
  QueueId queueOf(InstrId instr) const { return subject.kernel.instrs[instr].queue; }

  std::vector<Issued> runsOf(InstrId instr) const {
    std::vector<Issued> runs;
    QueueId queue = queueOf(instr);
    for (uint32_t n = 0; n < subject.system.issuesOf(queue).size(); ++n) {
      Instance instance = subject.system.instanceAt(queue, n);
      if (instance.instr == instr) {
        runs.push_back({instance.run, n + 1});
      }
    }
    std::ranges::sort(runs, {}, &Issued::run);
    return runs;
  }

  /// Accumulations of a queue that adds in order do not wait for each other, nor does anything on a
  /// queue without overlap.
  uint32_t numberByAccesses(const Issued &issued) {
    bool isOrdered = earlier == later && !subject.machine.queueOverlap;
    bool addUp = earlier == later && subject.kernel.queues[later].addsInOrder;
    if (!subject.datapath || isOrdered) {
      return 0;
    }
    for (; next < producers.size() &&
           subject.isInTextBefore({producer, producers[next].run}, {consumer, issued.run});
         ++next) {
      touched({producer, producers[next].run}).forEach([&](CellId cell, AccessKind kind) {
        uint32_t &last = cells[cell][kind];
        last = std::max(last, producers[next].number);
      });
    }
    uint32_t number = 0;
    touched({consumer, issued.run}).forEach([&](CellId cell, AccessKind kind) {
      auto found = cells.find(cell);
      if (found != cells.end()) {
        number = std::max(
            {number, found->second.writerBefore(kind, addUp), found->second.readerBefore(kind)});
      }
    });
    return number;
  }

  const Footprint &touched(Instance instance) const {
    return subject.datapath->footprint(instance);
  }

  uint32_t numberByDeps(const Issued &issued) const {
    uint32_t number = 0;
    for (DepId dep : subject.owed.depsOf(consumer)) {
      uint32_t runs =
          subject.kernel.deps[dep].producer == producer ? subject.owed.of(dep, issued.run) : 0;
      auto end = std::partition_point(producers.begin(), producers.end(),
                                      [&](const Issued &p) { return p.run < runs; });
      // Runs are issued in their order.
      number = end == producers.begin() ? number : std::max(number, std::prev(end)->number);
    }
    return number;
  }

  const RaceSubject &subject;
  InstrId producer, consumer;
  QueueId earlier, later;
  std::vector<Issued> producers;
  size_t next = 0;
  std::unordered_map<CellId, CellMarks> cells; ///< as far as the producer has come
};

} // namespace

std::vector<PairWait> waitsOf(const RaceSubject &subject, InstrId producer, InstrId consumer) {
  return PairWalk(subject, producer, consumer).run();
}

bool areKept(const MustOrder &order, std::span<const PairWait> waits) {
  return std::ranges::all_of(waits, [&](const PairWait &pair) {
    return order.finished(pair.wait.queue, pair.later, pair.laterNumber) >= pair.wait.number;
  });
}

std::vector<AssumedWait> assume(std::span<const PairWait> waits) {
  std::vector<AssumedWait> assumed;
  for (const PairWait &pair : waits) {
    assumed.push_back(pair.wait);
  }
  return assumed;
}

} // namespace tally::check
