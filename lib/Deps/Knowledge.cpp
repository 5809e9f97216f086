//===- Knowledge.cpp - What has surely retired when a run starts ----------===//

#include "Knowledge.h"

#include <algorithm>

namespace tally::deps {

/// Facts of one clock; of more, the oldest are forgotten.
static constexpr size_t maxFacts = 32;

RunLog::RunLog(const Kernel &kernel)
    : kernel(kernel), numQueues(kernel.queues.size()), runs(1), clocks(numQueues), heads(1),
      links(1), factSets(1), lastRun(kernel.instrs.size()), lastOnQueue(kernel.queues.size()) {
  heads[0] = {rootLoop, 1};
  runs.reserve(kernel.instrs.size() + 1); // without loops, all of them
  clocks.reserve(numQueues * (kernel.instrs.size() + 1));
}

uint32_t RunLog::beginHead(LoopId body) {
  heads.push_back({body, next()});
  return static_cast<uint32_t>(heads.size() - 1);
}

RunNo RunLog::push(InstrId instr, uint32_t head, const Clock &clock) {
  QueueId queue = kernel.instrs[instr].queue;
  RunNo run = next();
  runs.push_back({instr, lastRun[instr], lastOnQueue[queue], head, clock.facts});
  clocks.insert(clocks.end(), clock.queues.begin(), clock.queues.end());
  lastRun[instr] = run;
  lastOnQueue[queue] = run;
  return run;
}

RunLog::Mark RunLog::mark() const {
  return {runs.size(), heads.size(), links.size(), facts.size(), factSets.size()};
}

void RunLog::backTo(const Mark &mark) {
  while (runs.size() > mark.runs) {
    const Run &run = runs.back();
    lastRun[run.instr] = run.before;
    lastOnQueue[kernel.instrs[run.instr].queue] = run.beforeOnQueue;
    runs.pop_back();
  }
  clocks.resize(mark.runs * numQueues);
  heads.resize(mark.heads);
  links.resize(mark.links);
  facts.resize(mark.facts);
  factSets.resize(mark.factSets);
}

RunNo RunLog::lastIn(InstrId instr, const HeadRun &head) const {
  RunNo run = lastRun[instr];
  while (run > head.last) {
    run = runs[run].before;
  }
  return run >= head.first ? run : 0;
}

/// The run by which a fact says that `run` has retired.
std::optional<RunNo> RunLog::factCovers(RunNo fact, RunNo run) const {
  const Run &known = runs[fact];
  if (run > fact) {
    return std::nullopt;
  }
  if (known.instr == runs[run].instr) {
    return run;
  }
  const HeadRun &head = heads[known.head];
  if (run < head.first) {
    bool isInside = kernel.encloses(head.body, kernel.instrs[runs[run].instr].home);
    run = isInside ? lastIn(runs[run].instr, head) : 0;
    if (run == 0 || run > fact) {
      return std::nullopt;
    }
  }
  QueueId queue = queueOf(run);
  bool isBefore = queue == queueOf(fact) || clockOf(fact).queues[queue.value].run >= run;
  return isBefore ? std::optional(run) : std::nullopt;
}

std::optional<RunLog::Cover> RunLog::cover(ClockView clock, RunNo run) const {
  const Retired &queue = clock.queues[queueOf(run).value];
  if (queue.run >= run) {
    return Cover{queue.link, run};
  }
  for (const Retired &fact : factsOf(clock.facts)) {
    if (std::optional<RunNo> as = factCovers(fact.run, run)) {
      return Cover{fact.link, *as};
    }
  }
  return std::nullopt;
}

/// Whether a clock says all that a fact says: that the run has retired, and what it knew of the
/// same run of its head.
bool RunLog::says(ClockView clock, std::span<const Retired> more, RunNo fact) const {
  auto covers = [&](RunNo run) {
    return clock.queues[queueOf(run).value].run >= run ||
           std::any_of(more.begin(), more.end(), [&](const Retired &known) {
             return factCovers(known.run, run).has_value();
           });
  };
  if (!covers(fact)) {
    return false;
  }
  RunNo first = heads[runs[fact].head].first;
  const Retired *known = clockOf(fact).queues;
  return std::all_of(known, known + numQueues,
                     [&](const Retired &k) { return k.run < first || covers(k.run); });
}

void RunLog::addFact(Clock &clock, Retired fact) {
  if (says(clock, factsOf(clock.facts), fact.run)) {
    return;
  }
  scratch.clear();
  for (const Retired &known : factsOf(clock.facts)) {
    if (!says(clock, {&fact, 1}, known.run)) {
      scratch.push_back(known);
    }
  }
  scratch.push_back(fact);
  if (scratch.size() > maxFacts) {
    droppedFacts = true;
    scratch.erase(std::min_element(scratch.begin(), scratch.end(),
                                   [](Retired a, Retired b) { return a.run < b.run; }));
  }
  factSets.push_back({static_cast<uint32_t>(facts.size()), static_cast<uint32_t>(scratch.size())});
  facts.insert(facts.end(), scratch.begin(), scratch.end());
  clock.facts = static_cast<uint32_t>(factSets.size() - 1);
}

void RunLog::wait(Clock &clock, Link link, bool isSure) {
  uint32_t number = static_cast<uint32_t>(links.size());
  links.push_back(link);
  RunNo producer = link.producer;
  if (!isSure) {
    addFact(clock, {producer, number});
    return takeFactsInside(clock, producer, number);
  }
  const Retired *known = clockOf(producer).queues;
  for (size_t q = 0; q < numQueues; ++q) {
    if (known[q].run > clock.queues[q].run) {
      clock.queues[q] = {known[q].run, number};
    }
  }
  Retired &own = clock.queues[queueOf(producer).value];
  if (own.run < producer) {
    own = {producer, number};
  }
  uint32_t set = runs[producer].facts;
  for (size_t i = 0; i < factSets[set].second; ++i) {
    addFact(clock, {facts[factSets[set].first + i].run, number});
  }
}

/// Facts of the producer about the same run of its head. They hold for earlier runs, too, if they
/// are about the last runs there.
void RunLog::takeFactsInside(Clock &clock, RunNo producer, uint32_t link) {
  const HeadRun head = heads[runs[producer].head];
  uint32_t set = runs[producer].facts;
  for (size_t i = 0; i < factSets[set].second; ++i) {
    RunNo run = facts[factSets[set].first + i].run;
    if (run >= head.first && lastIn(runs[run].instr, head) == run) {
      addFact(clock, {run, link});
    }
  }
}

} // namespace tally::deps
