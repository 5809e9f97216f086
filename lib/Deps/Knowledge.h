//===- Knowledge.h - What has surely retired when a run starts ------------===//
//
// A walk writes down the runs of instructions, each body once on every path (Clocks.h). What is
// known when a run starts is, for each queue, the last run in it up to which all have retired. A
// run that may not exist in a real run says less: only that all runs of its instruction up to there
// have retired, a *fact*. What follows from it:
//
//   head    its innermost body that may not run at all; each run of that body has one of it
//   queue   so what entered its queue before it in the same run of the head has retired, too,
//   clock   and what it knew of the same run of the head; and both hold for each earlier run of the
//           head, with what ran last in that one
//
// With each piece goes the wait that brought it, so that the chain back can be followed.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_KNOWLEDGE_H
#define TALLY_LIB_DEPS_KNOWLEDGE_H

#include "tally/Model/Kernel.h"

#include <optional>
#include <span>

namespace tally::deps {

/// Numbers in the walk, from 1; 0 is none.
using RunNo = uint32_t;

/// `waiter` waited for `producer`.
struct Link {
  RunNo waiter = 0;
  RunNo producer = 0;
  uint32_t dep = 0;
};

/// All runs up to this one: of its queue, or of its instruction.
struct Retired {
  RunNo run = 0;
  uint32_t link = 0;
};

struct Clock {
  std::vector<Retired> queues;
  uint32_t facts = 0; ///< a set of them; 0: none
};

/// The same, of a run that has started.
struct ClockView {
  const Retired *queues;
  uint32_t facts;

  ClockView(const Retired *queues, uint32_t facts) : queues(queues), facts(facts) {}

  ClockView(const Clock &clock) : queues(clock.queues.data()), facts(clock.facts) {}
};

/// One run of a body that may not run.
struct HeadRun {
  LoopId body;
  RunNo first = 0;
  RunNo last = UINT32_MAX; ///< so far
};

/// All runs so far, with what each knew.
class RunLog {
public:
  explicit RunLog(const Kernel &kernel);

  struct Run {
    InstrId instr;
    RunNo before = 0;        ///< the run before of the same instruction
    RunNo beforeOnQueue = 0; ///< and in the same queue
    uint32_t head = 0;
    uint32_t facts = 0;
  };

  /// Of everything, to go back to.
  struct Mark {
    size_t runs, heads, links, facts, factSets;
  };

  RunNo next() const { return static_cast<RunNo>(runs.size()); }

  const Run &operator[](RunNo run) const { return runs[run]; }

  QueueId queueOf(RunNo run) const { return kernel.instrs[runs[run].instr].queue; }

  RunNo lastOf(InstrId instr) const { return lastRun[instr]; }

  RunNo lastOn(QueueId queue) const { return lastOnQueue[queue]; }

  const Link &link(uint32_t number) const { return links[number]; }

  ClockView clockOf(RunNo run) const { return {clocks.data() + run * numQueues, runs[run].facts}; }

  std::span<const Retired> factsOf(uint32_t set) const {
    return {facts.data() + factSets[set].first, factSets[set].second};
  }

  /// Not all facts were kept.
  bool hasDroppedFacts() const { return droppedFacts; }

  uint32_t beginHead(LoopId body);

  void endHead(uint32_t head) { heads[head].last = next() - 1; }

  RunNo push(InstrId instr, uint32_t head, const Clock &clock);

  Mark mark() const;
  void backTo(const Mark &mark);

  /// By what a clock knows of a run, and of which: of an earlier run of a body, what is known of
  /// the last one says it.
  struct Cover {
    uint32_t link = 0;
    RunNo run = 0;
  };

  std::optional<Cover> cover(ClockView clock, RunNo run) const;

  /// What is known after waiting for a run that surely exists, or may not.
  void wait(Clock &clock, Link link, bool isSure);

  void addFact(Clock &clock, Retired fact);

private:
  std::optional<RunNo> factCovers(RunNo fact, RunNo run) const;
  bool says(ClockView clock, std::span<const Retired> more, RunNo fact) const;
  RunNo lastIn(InstrId instr, const HeadRun &head) const;
  void takeFactsInside(Clock &clock, RunNo producer, uint32_t link);

  const Kernel &kernel;
  size_t numQueues;
  std::vector<Run> runs;
  std::vector<Retired> clocks; ///< by run, then queue
  std::vector<HeadRun> heads;
  std::vector<Link> links;
  std::vector<Retired> facts;
  std::vector<std::pair<uint32_t, uint32_t>> factSets; ///< first, and how many
  IdVector<InstrId, RunNo> lastRun;
  IdVector<QueueId, RunNo> lastOnQueue;
  std::vector<Retired> scratch;
  bool droppedFacts = false;
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_KNOWLEDGE_H
