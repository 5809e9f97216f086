//===- Clocks.cpp - What dependences imply, by clocks ---------------------===//

#include "Clocks.h"

#include "Knowledge.h"
#include "UpTo.h"

#include <algorithm>

namespace tally::deps {
namespace {

/// What the engines know at one point.
using Clocks = IdVector<EngineId, Clock>;

/// What became of one wait.
struct Verdict {
  enum class Kind : uint8_t { Open, Kept, Implied };
  Kind kind = Kind::Open;
  uint32_t firstStep = 0;
  uint32_t numSteps = 0;
};

/// A loop that is being walked.
struct Frame {
  struct Copy {
    int64_t iteration;
    RunNo first;
  };

  LoopId loop;
  int64_t iteration = 0;
  std::vector<Copy> copies;
};

/// One of the ways through a branch, or past a loop: where it ended.
struct Path {
  Clocks engines;
  std::vector<RunNo> last; ///< on each queue
  uint32_t head = 0;
  RunNo first = 0; ///< its own runs
  RunNo end = 0;

  bool owns(RunNo run) const { return first <= run && run < end; }
};

/// Which copies of a body are walked.
class Copies {
public:
  Copies(const Kernel &kernel, const UpToWaits &waits) : kernel(kernel), waits(waits) {}

  /// The fewest trips, at least one; deep in a nest, one is all that is taken for sure, for copies
  /// within copies multiply.
  int64_t tripsWalked(LoopId loop) const {
    constexpr uint64_t mostCopies = 64;
    constexpr uint64_t usual = 4; // after that many, little changes
    uint64_t copies = 1;
    for (LoopId l = loop; l != rootLoop && copies <= mostCopies; l = kernel.loops[l].parent) {
      copies *= std::clamp<uint64_t>(leastTrips(kernel.loops[l]), 1, usual);
    }
    bool isDeep = copies > mostCopies;
    return isDeep ? 1 : static_cast<int64_t>(std::max<uint64_t>(leastTrips(kernel.loops[loop]), 1));
  }

  int64_t farthest(LoopId loop) const {
    std::span<const int64_t> distances = waits.distancesOn(loop);
    return distances.empty() ? 0 : distances.back();
  }

  /// The largest distance that reaches into the loop from an iteration.
  int64_t mostActive(LoopId loop, int64_t iteration) const {
    std::span<const int64_t> distances = waits.distancesOn(loop);
    auto past = std::upper_bound(distances.begin(), distances.end(), iteration);
    return past == distances.begin() ? 1 : std::min<int64_t>(*(past - 1), 4);
  }

  /// The next iteration in which something is decided, or the one after such a one: what follows
  /// in one step from it.
  int64_t nextDistance(LoopId loop, int64_t iteration) const {
    std::span<const int64_t> distances = waits.distancesOn(loop);
    if (std::binary_search(distances.begin(), distances.end(), iteration)) {
      return iteration + 1;
    }
    auto next = std::upper_bound(distances.begin(), distances.end(), iteration);
    return next == distances.end() ? maxCount : *next;
  }

private:
  const Kernel &kernel;
  const UpToWaits &waits;
};

/// Whether copies of a body go on changing what engines know, relative to the copy.
class Steady {
public:
  Steady(const Clocks &engines, RunNo first) : before(engines), start(first), copy(first) {}

  /// After another copy; whether the last few are alike, and one more.
  bool after(const Clocks &engines, const RunLog &log, int64_t few) {
    RunNo length = log.next() - copy;
    bool isSame = length == lastLength;
    for (EngineId e : engines.ids()) {
      isSame = isSame && isAlike(before[e].queues, engines[e].queues, length) &&
               isAlike(log.factsOf(before[e].facts), log.factsOf(engines[e].facts), length);
    }
    numSame = isSame ? numSame + 1 : 0;
    before = engines;
    copy = log.next();
    lastLength = length;
    return numSame > few;
  }

private:
  bool isAlike(std::span<const Retired> a, std::span<const Retired> b, RunNo length) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](Retired x, Retired y) {
      return y.run == (x.run < start ? x.run : x.run + length);
    });
  }

  Clocks before;
  RunNo start;
  RunNo copy;
  RunNo lastLength = 0;
  int64_t numSame = 0;
};

/// Follows the clocks back from a consumer that is about to start to the producer.
void derive(const RunLog &log, const Clock &clock, InstrId consumer, RunNo producer,
            std::vector<DerivationStep> &steps) {
  using Kind = DerivationStep::Kind;
  size_t first = steps.size();
  ClockView known = clock;
  RunNo at = log.next();
  InstrId instr = consumer;
  while (true) {
    std::optional<RunLog::Cover> by = log.cover(known, producer);
    if (!by) {
      steps.resize(first); // told by no one wait
      return;
    }
    const Link &link = log.link(by->link);
    producer = by->run;
    InstrId waiter = link.waiter == log.next() ? consumer : log[link.waiter].instr;
    if (link.waiter != at) {
      steps.push_back({Kind::Engine, 0, instr, waiter});
    }
    at = link.producer;
    instr = log[at].instr;
    steps.push_back({Kind::Wait, link.dep, waiter, instr});
    if (instr == log[producer].instr) {
      return;
    }
    if (log.queueOf(at) == log.queueOf(producer) && producer < at) {
      steps.push_back({Kind::Queue, 0, instr, log[producer].instr});
      return;
    }
    known = log.clockOf(at);
  }
}

/// Where two paths meet, the engines know what both say.
class PathMeeting {
public:
  PathMeeting(const Kernel &kernel, RunLog &log) : kernel(kernel), log(log) {}

  /// One of the two was taken. The second one's runs have larger numbers.
  void meet(const Path &a, const Path &b, const Path &before, Clocks &engines) {
    if (a.first == b.end) {
      return; // nothing ran on either
    }
    for (EngineId e : kernel.engines.ids()) {
      Clock both = a.engines[e];
      both.facts = 0;
      for (QueueId q : kernel.queues.ids()) {
        both.queues[q.value] = meetQueue(a, b, before, a.engines[e].queues[q.value],
                                         b.engines[e].queues[q.value], q.value);
      }
      meetFacts(both, a, b, e);
      meetFacts(both, b, a, e);
      engines[e] = both;
    }
  }

private:
  /// On a path that was not taken there are no runs, so all before them says all up to them.
  static Retired meetQueue(const Path &a, const Path &b, const Path &before, Retired onA,
                           Retired onB, size_t q) {
    RunNo upToA = onA.run >= a.last[q] ? b.last[q] : onA.run;
    bool isPastA = onB.run >= before.last[q] && onB.run < a.last[q];
    RunNo upToB = isPastA ? a.last[q] : onB.run;
    RunNo both = std::min(upToA, upToB);
    bool isByA = onA.run >= both || (onB.run < both && onA.run >= onB.run);
    return {both, isByA ? onA.link : onB.link};
  }

  /// What one path knows of runs, and the other, too.
  void meetFacts(Clock &both, const Path &mine, const Path &other, EngineId e) {
    const Clock &own = mine.engines[e];
    const std::span<const Retired> facts = log.factsOf(own.facts);
    meeting.assign(facts.begin(), facts.end());
    std::erase_if(meeting,
                  [&](Retired fact) { return !isKnown(other.engines[e], mine, fact.run); });
    for (QueueId q : kernel.queues.ids()) {
      if (own.queues[q.value].run > both.queues[q.value].run) {
        addRunsOf(mine, own.queues[q.value], other.engines[e], both.queues[q.value].run);
      }
    }
    for (const Retired &fact : meeting) {
      log.addFact(both, fact);
    }
  }

  /// Whether all runs of an instruction up to one are known on the other path, too: up to the last
  /// one before the paths part.
  bool isKnown(const Clock &other, const Path &mine, RunNo run) const {
    while (mine.owns(run)) {
      run = log[run].before;
    }
    return run == 0 || log.cover(other, run);
  }

  /// The last run of a path in a queue, and those in bodies inside that come after it.
  void addRunsOf(const Path &path, Retired known, const Clock &other, RunNo floor) {
    constexpr int most = 64;
    RunNo run = known.run;
    uint32_t head = UINT32_MAX;
    for (int i = 0; i < most && run > floor && path.owns(run) && head != path.head; ++i) {
      if (log[run].head != head && isKnown(other, path, run)) {
        head = log[run].head;
        meeting.push_back({run, known.link});
      }
      run = log[run].beforeOnQueue;
    }
  }

  const Kernel &kernel;
  RunLog &log;
  std::vector<Retired> meeting;
};

class ClockWalk {
public:
  ClockWalk(const Kernel &kernel, Extraction &extraction, const std::vector<bool> &isAsked,
            LoopId body, bool asksFrom)
      : kernel(kernel), extraction(extraction), isAsked(isAsked), body(body), asksFrom(asksFrom),
        waits(kernel, extraction, body, asksFrom), copies(kernel, waits), log(kernel),
        paths(kernel, log), verdicts(waits.size()), keptCopies(kernel.loops.size()),
        frameOf(kernel.loops.size()) {
    clock.queues.resize(kernel.queues.size());
    engines.assign(kernel.engines.size(), clock);
    constexpr size_t usualSteps = 3; // growing would need the room twice
    extraction.steps.reserve(usualSteps * extraction.deps.size());
  }

  std::vector<bool> run() {
    if (body == rootLoop) {
      walk(body, 0);
    } else {
      walkLoop(body, 0);
    }
    return conclude();
  }

private:
  //===--- The walk -------------------------------------------------------===//

  void walk(LoopId body, uint32_t head) {
    for (StmtId s : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[s];
      switch (stmt.kind) {
      case Stmt::Kind::Block:
        for (InstrId instr : stmt.instrs) {
          start(instr, head);
        }
        break;
      case Stmt::Kind::Loop:
        walkLoop(stmt.loop, head);
        break;
      case Stmt::Kind::If:
        walkBranches(stmt.loop);
        break;
      }
    }
  }

  bool isWalked(LoopId body) const { return body.valid() && kernel.loops[body].uniform; }

  void walkBranches(LoopId then) {
    Path before = pathFrom(log.next());
    Path sides[2] = {before, before};
    LoopId bodies[2] = {then, kernel.loops[then].otherBranch};
    for (int i = 0; i < 2; ++i) {
      engines = before.engines;
      Path &side = sides[i];
      side.first = log.next();
      if (isWalked(bodies[i])) {
        side.head = log.beginHead(bodies[i]);
        walk(bodies[i], side.head);
        log.endHead(side.head);
      }
      endPath(side);
    }
    paths.meet(sides[0], sides[1], before, engines);
  }

  Path pathFrom(RunNo first) const { return {engines, lastOnQueues(), 0, first, first}; }

  void endPath(Path &path) {
    path.engines = engines;
    path.last = lastOnQueues();
    path.end = log.next();
  }

  std::vector<RunNo> lastOnQueues() const {
    std::vector<RunNo> last;
    for (QueueId q : kernel.queues.ids()) {
      last.push_back(log.lastOn(q));
    }
    return last;
  }

  void walkLoop(LoopId loop, uint32_t head) {
    if (!isWalked(loop)) {
      return;
    }
    bool maySkip = leastTrips(kernel.loops[loop]) == 0;
    Path skipped = pathFrom(log.next());
    Path ran = skipped;
    ran.head = repeat(loop, head);
    if (maySkip) {
      endPath(ran);
      skipped.last = ran.last; // nothing between
      skipped.first = skipped.end = log.next();
      Path before = {{}, lastBefore(ran.first), 0, ran.first, ran.first};
      paths.meet(ran, skipped, before, engines);
    }
  }

  std::vector<RunNo> lastBefore(RunNo first) const {
    std::vector<RunNo> last = lastOnQueues();
    for (RunNo &run : last) {
      while (run >= first) {
        run = log[run].beforeOnQueue;
      }
    }
    return last;
  }

  /// Where a loop has come to.
  struct Position {
    Clocks engines;
    RunLog::Mark mark;
    uint32_t head;
  };

  /// Walks copies of the body, and leaves those of the fewest trips. Returns the last one's head.
  uint32_t repeat(LoopId loop, uint32_t head) {
    const bool decides = numLater == 0;
    const int64_t trips = copies.tripsWalked(loop);
    std::optional<Position> exit;
    Steady steady(engines, log.next());
    frames.push_back({loop, 0, {}});
    frameOf[loop] = frames.size() - 1;
    for (int64_t iteration = 0, number = 1;; ++number) {
      uint32_t own = walkCopy(loop, head, iteration);
      bool isSteady = steady.after(engines, log, copies.mostActive(loop, iteration));
      bool isEnough =
          keptCopies[loop] != 0 ? number == keptCopies[loop] : number == trips || isSteady;
      if (!exit && isEnough) {
        exit = {engines, log.mark(), own};
        keptCopies[loop] = number;
      }
      iteration = exit && isSteady ? copies.nextDistance(loop, iteration) : iteration + 1;
      bool isNeeded = !exit || (decides && iteration <= copies.farthest(loop));
      if (!isNeeded) {
        break;
      }
    }
    frames.pop_back();
    engines = std::move(exit->engines);
    log.backTo(exit->mark);
    return exit->head;
  }

  uint32_t walkCopy(LoopId loop, uint32_t head, int64_t iteration) {
    Frame &frame = frames.back();
    frame.iteration = iteration;
    frame.copies.push_back({iteration, log.next()});
    bool isOwn = leastTrips(kernel.loops[loop]) == 0;
    uint32_t own = isOwn ? log.beginHead(loop) : head;
    numLater += iteration > 0;
    walk(loop, own);
    numLater -= iteration > 0;
    if (isOwn) {
      log.endHead(own);
    }
    return own;
  }

  //===--- One run --------------------------------------------------------===//

  struct Waiting {
    RunNo producer = 0;
    uint32_t wait = 0;
    bool isDecided = false; ///< here
  };

  void start(InstrId instr, uint32_t head) {
    Clock &engine = engines[kernel.engineOf(instr)];
    clock.queues = engine.queues;
    clock.facts = engine.facts;
    collect(instr);
    for (const Waiting &waiting : pending) {
      if (isUsed(waiting)) {
        take(instr, waiting);
      }
    }
    for (const Waiting &waiting : pending) {
      if (!isUsed(waiting) && waiting.isDecided) {
        decide(instr, waiting);
      }
    }
    engine.queues = clock.queues;
    engine.facts = clock.facts;
    log.push(instr, head, clock);
  }

  bool isUsed(const Waiting &waiting) const {
    const UpTo &wait = waits[waiting.wait];
    return wait.isUsed && (isAsked.empty() || !isAsked[wait.dep]);
  }

  /// What is waited for, latest first; of two waits for one run, the one that is known to stay.
  void collect(InstrId instr) {
    pending.clear();
    for (uint32_t w = waits.first(instr); w < waits.end(instr); ++w) {
      RunNo producer = verdicts[w].kind == Verdict::Kind::Implied ? 0 : producerOf(waits[w]);
      if (producer != 0) {
        pending.push_back({producer, w, isDecidedHere(waits[w])});
      }
    }
    std::sort(pending.begin(), pending.end(), [&](const Waiting &a, const Waiting &b) {
      auto rank = [&](const Waiting &w) {
        return std::tuple(w.isDecided, waits[w.wait].back, w.wait);
      };
      return a.producer != b.producer ? a.producer > b.producer : rank(a) < rank(b);
    });
  }

  /// The last run that is waited for; 0: there is none.
  RunNo producerOf(const UpTo &wait) const {
    RunNo run = log.lastOf(extraction.deps[wait.dep].dep.producer);
    if (wait.back == 0) {
      return run;
    }
    const Frame &frame = frames[frameOf[wait.loop]];
    int64_t iteration = frame.iteration - wait.back;
    if (iteration < 0) {
      return 0;
    }
    auto next = std::upper_bound(frame.copies.begin(), frame.copies.end(), iteration,
                                 [](int64_t i, const Frame::Copy &c) { return i < c.iteration; });
    while (run >= next->first) {
      run = log[run].before;
    }
    return run >= frame.copies.front().first ? run : 0;
  }

  bool isDecidedHere(const UpTo &wait) const {
    const uint32_t first = wait.back + wait.from;
    int64_t iteration = first == 0 ? 0 : frames[frameOf[wait.loop]].iteration;
    return wait.isAsked && iteration == first && numLater == (first > 0);
  }

  void take(InstrId instr, const Waiting &waiting) {
    bool isImplied =
        waiting.isDecided ? decide(instr, waiting) : log.cover(clock, waiting.producer).has_value();
    if (!isImplied) {
      const UpTo &wait = waits[waiting.wait];
      log.wait(clock, {log.next(), waiting.producer, wait.dep}, wait.isSure);
    }
  }

  bool decide(InstrId instr, const Waiting &waiting) {
    Verdict &verdict = verdicts[waiting.wait];
    bool isImplied = log.cover(clock, waiting.producer).has_value();
    verdict.kind = isImplied ? Verdict::Kind::Implied : Verdict::Kind::Kept;
    if (isImplied) {
      verdict.firstStep = static_cast<uint32_t>(extraction.steps.size());
      derive(log, clock, instr, waiting.producer, extraction.steps);
      verdict.numSteps = static_cast<uint32_t>(extraction.steps.size()) - verdict.firstStep;
    }
    return isImplied;
  }

  //===--- The result -----------------------------------------------------===//

  /// Implied are those all of whose waits are. For the others a search may find more if this was
  /// not all that could be known.
  std::vector<bool> conclude() {
    std::vector<uint32_t> numLeft(extraction.deps.size(), 0);
    std::vector<bool> isExact;
    for (const DerivedDep &derived : extraction.deps) {
      isExact.push_back(derived.from.isLater() && derived.isImplied());
    }
    for (uint32_t w = 0; w < waits.size(); ++w) {
      const UpTo &wait = waits[w];
      if (asksFrom && wait.from == 0) {
        continue; // decided when all are used
      }
      bool isImplied = verdicts[w].kind == Verdict::Kind::Implied && verdicts[w].numSteps != 0;
      numLeft[wait.dep] += wait.isAsked && !isImplied;
      isExact[wait.dep] = wait.isUsed && wait.isAsked;
      if (isImplied) {
        extraction.deps[wait.dep].firstStep = verdicts[w].firstStep;
        extraction.deps[wait.dep].numSteps = verdicts[w].numSteps;
      }
    }
    bool isAll = !log.hasDroppedFacts() && !hasBranches() &&
                 std::find(isExact.begin(), isExact.end(), false) == isExact.end();
    std::vector<bool> mayFollow;
    for (size_t d = 0; d < extraction.deps.size(); ++d) {
      if (numLeft[d] != 0) {
        extraction.deps[d].numSteps = 0;
      }
      mayFollow.push_back(!isAll && !extraction.deps[d].isImplied());
    }
    return mayFollow;
  }

  bool hasBranches() const {
    return std::any_of(kernel.loops.begin(), kernel.loops.end(),
                       [](const Loop &loop) { return loop.isBranch(); });
  }

  const Kernel &kernel;
  Extraction &extraction;
  const std::vector<bool> &isAsked;
  const LoopId body;   ///< the root, or one by itself
  const bool asksFrom; ///< only about what no run needs before a later iteration
  UpToWaits waits;
  const Copies copies;
  RunLog log;
  PathMeeting paths;
  std::vector<Verdict> verdicts; ///< by wait
  IdVector<LoopId, int64_t> keptCopies;
  IdVector<LoopId, size_t> frameOf;
  std::vector<Frame> frames;
  int64_t numLater = 0; ///< loops around that are past their first iteration
  Clocks engines;
  Clock clock; ///< of the run that is about to start
  std::vector<Waiting> pending;
};

} // namespace

std::vector<bool> markImpliedByClocks(const Kernel &kernel, Extraction &extraction,
                                      const std::vector<bool> &isAsked, LoopId body) {
  // These first, while none of them is used (UpTo.h).
  bool isLater = std::ranges::any_of(
      extraction.deps, [](const DerivedDep &derived) { return derived.from.isLater(); });
  if (isLater) {
    ClockWalk(kernel, extraction, isAsked, body, true).run();
  }
  return ClockWalk(kernel, extraction, isAsked, body, false).run();
}

} // namespace tally::deps
