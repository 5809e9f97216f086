//===- Fewest.cpp - The dependences that nothing else stands for ----------===//

#include "oracle/Fewest.h"

#include <algorithm>
#include <functional>

namespace tally::oracle {
namespace {

/// By queue: how many of its runs are over.
using Over = std::vector<uint32_t>;

class Needing {
public:
  using Need = std::function<void(const Run &producer, const Run &consumer)>;

  Needing(const Kernel &kernel, const Enumeration &runs, bool queueOverlap, const Need &need)
      : kernel(kernel), runs(runs), queueOverlap(queueOverlap), need(need),
        onEngine(kernel.engines.size(), Over(kernel.queues.size(), 0)),
        inQueue(kernel.queues.size()) {}

  void all() {
    for (uint32_t run = 0; run < runs.runs().size(); ++run) {
      start(run);
    }
  }

private:
  const Run &at(uint32_t run) const { return runs.runs()[run]; }

  QueueId queueOf(uint32_t run) const { return kernel.instrs[at(run).instr].queue; }

  /// What is over once this run is.
  Over after(uint32_t run) const {
    Over over = started[run];
    uint32_t &own = over[queueOf(run).value];
    own = std::max(own, at(run).place);
    return over;
  }

  static void join(Over &into, const Over &from) {
    for (size_t q = 0; q < into.size(); ++q) {
      into[q] = std::max(into[q], from[q]);
    }
  }

  bool isOver(const Over &over, uint32_t run) const {
    return over[queueOf(run).value] >= at(run).place;
  }

  void start(uint32_t run) {
    const QueueId queue = queueOf(run);
    Over &engine = onEngine[kernel.queues[queue].engine.value];
    Over anyway = engine;
    if (!queueOverlap && !inQueue[queue.value].empty()) {
      join(anyway, after(inQueue[queue.value].back()));
    }
    const std::vector<uint32_t> last = lastConflicts(run, anyway);
    for (uint32_t producer : last) {
      bool isImplied = std::ranges::any_of(last, [&](uint32_t other) {
        return other != producer && isOver(after(other), producer);
      });
      if (!isImplied) {
        need(at(producer), at(run));
      }
      join(engine, after(producer));
      join(anyway, engine);
    }
    started.push_back(std::move(anyway));
    inQueue[queue.value].push_back(run);
  }

  /// Of each queue the last run that conflicts with this one, unless it is over anyway.
  std::vector<uint32_t> lastConflicts(uint32_t run, const Over &anyway) const {
    std::vector<uint32_t> last;
    for (const std::vector<uint32_t> &earlier : inQueue) {
      auto found = std::ranges::find_if(earlier.rbegin(), earlier.rend(), [&](uint32_t other) {
        return isOver(anyway, other) || runs.conflict(at(other), at(run));
      });
      if (found != earlier.rend() && !isOver(anyway, *found)) {
        last.push_back(*found);
      }
    }
    return last;
  }

  const Kernel &kernel;
  const Enumeration &runs;
  const bool queueOverlap;
  const Need &need;
  std::vector<Over> onEngine;
  std::vector<Over> started;                  ///< by run
  std::vector<std::vector<uint32_t>> inQueue; ///< runs by place
};

} // namespace

void Fewest::need(const Enumeration &runs, const Run &producer, const Run &consumer) {
  if (!runs.neverSkipped(producer.instr) || !runs.neverSkipped(consumer.instr)) {
    return;
  }
  const LoopId homes[] = {kernel.instrs[producer.instr].home, kernel.instrs[consumer.instr].home};
  const std::vector<LoopId> a = kernel.realLoops(homes[0]), b = kernel.realLoops(homes[1]);
  size_t loop = 0;
  int64_t apart = 0;
  for (; loop < std::min(a.size(), b.size()) && a[loop] == b[loop] && apart == 0; ++loop) {
    apart = consumer.vector[loop] - producer.vector[loop];
  }
  Between &between = needed[{producer.instr, consumer.instr}];
  between.onLoop[apart == 0 ? loop + 1 : loop].insert(apart);
  if (homes[0] == homes[1]) {
    between.runs.insert(int64_t{consumer.number} - int64_t{producer.number});
  }
}

size_t Fewest::Between::count() const {
  size_t count = 0;
  for (const auto &[loop, distances] : onLoop) {
    count += distances.size();
  }
  return runs.empty() ? count : std::min(count, runs.size());
}

void Fewest::add(const Enumeration &runs) {
  Needing::Need tell = [&](const Run &producer, const Run &consumer) {
    need(runs, producer, consumer);
  };
  Needing(kernel, runs, queueOverlap, tell).all();
}

size_t Fewest::count() const {
  size_t count = 0;
  for (const auto &[ends, between] : needed) {
    count += between.count();
  }
  return count;
}

} // namespace tally::oracle
