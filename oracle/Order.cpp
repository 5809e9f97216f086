//===- Order.cpp - What each issue has surely waited for ------------------===//

#include "oracle/Order.h"

#include "tally/Check/HappensBefore.h"
#include "tally/Check/Impl.h"
#include "tally/Run/Interpret.h"

#include <algorithm>
#include <fmt/format.h>

namespace tally::oracle {

namespace {

constexpr uint32_t never = UINT32_MAX;

/// Operations of one engine, and steps of a schedule, beyond which a run is given up.
constexpr uint64_t fuel = 200000;

/// That the first `count` instructions of a queue have retired.
struct Requirement {
  QueueId queue;
  uint32_t count;
};

/// One engine, as the order sees it: what stands before each issue.
struct Track {
  std::vector<InstrId> issues;
  std::vector<Requirement> requirements; ///< of all issues, one after the other
  std::vector<uint32_t> ends{0};         ///< those of issue i: [ends[i], ends[i+1])

  void require(Requirement requirement) { requirements.push_back(requirement); }

  void close() { ends.push_back(static_cast<uint32_t>(requirements.size())); }
};

/// Lets all engines go as far as they can, and collects what they know on the way.
class Closure {
public:
  Closure(const Kernel &kernel, const IdVector<EngineId, Track> &tracks)
      : kernel(kernel), tracks(tracks), next(kernel.engines.size(), 0),
        latest(kernel.engines.size(), std::vector<uint32_t>(kernel.queues.size(), 0)),
        issuedAt(kernel.queues.size()) {
    order.numQueues = static_cast<uint32_t>(kernel.queues.size());
    order.issues.resize(kernel.engines.size());
    order.known.resize(kernel.engines.size());
  }

  IssueOrder run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (EngineId engine : kernel.engines.ids()) {
        while (step(engine)) {
          moved = true;
        }
      }
    }
    for (EngineId engine : kernel.engines.ids()) {
      if (next[engine] < tracks[engine].ends.size() - 1) {
        order.state = IssueOrder::State::Deadlock;
      }
    }
    return std::move(order);
  }

private:
  /// Stretch number `next`: the requirements before an issue and the issue, or what follows the
  /// last one.
  bool step(EngineId engine) {
    const Track &track = tracks[engine];
    uint32_t n = next[engine];
    if (n + 1 >= track.ends.size() || !met(track, n)) {
      return false;
    }
    for (uint32_t r = track.ends[n]; r < track.ends[n + 1]; ++r) {
      learn(latest[engine], track.requirements[r]);
    }
    if (n < track.issues.size()) {
      issue(engine, track.issues[n]);
    }
    ++next[engine];
    return true;
  }

  bool met(const Track &track, uint32_t n) const {
    for (uint32_t r = track.ends[n]; r < track.ends[n + 1]; ++r) {
      const Requirement &requirement = track.requirements[r];
      if (requirement.count > issuedAt[requirement.queue].size()) {
        return false;
      }
    }
    return true;
  }

  /// Whoever retired was issued, so its engine knew what it knew then.
  void learn(std::vector<uint32_t> &row, const Requirement &requirement) {
    if (requirement.count == 0) {
      return;
    }
    uint32_t &here = row[requirement.queue.value];
    if (here >= requirement.count) {
      return;
    }
    here = requirement.count;
    EngineId other = kernel.queues[requirement.queue].engine;
    size_t first = size_t(issuedAt[requirement.queue][requirement.count - 1]) * order.numQueues;
    for (uint32_t q = 0; q < order.numQueues; ++q) {
      row[q] = std::max(row[q], order.known[other][first + q]);
    }
  }

  void issue(EngineId engine, InstrId instr) {
    uint32_t place = static_cast<uint32_t>(order.issues[engine].size());
    order.issues[engine].push_back(instr);
    issuedAt[kernel.instrs[instr].queue].push_back(place);
    const std::vector<uint32_t> &row = latest[engine];
    order.known[engine].insert(order.known[engine].end(), row.begin(), row.end());
  }

  const Kernel &kernel;
  const IdVector<EngineId, Track> &tracks;
  IdVector<EngineId, uint32_t> next;
  IdVector<EngineId, std::vector<uint32_t>> latest;  ///< what the engine knows now
  IdVector<QueueId, std::vector<uint32_t>> issuedAt; ///< which issue of its engine each was
  IssueOrder order;
};

IssueOrder unknown() {
  IssueOrder order;
  order.state = IssueOrder::State::Unknown;
  return order;
}

} // namespace

//===----------------------------------------------------------------------===//
// Definition
//===----------------------------------------------------------------------===//

/// For each instruction, which instruction of its queue each of its runs is, from 1.
static IdVector<InstrId, std::vector<uint32_t>>
placesInQueues(const Kernel &kernel, const std::vector<Definition> &definitions) {
  IdVector<InstrId, std::vector<uint32_t>> places(kernel.instrs.size());
  std::vector<uint32_t> count(kernel.queues.size(), 0);
  for (EngineId engine : kernel.engines.ids()) {
    for (InstrId instr : definitions[engine.value].sequence()) {
      if (kernel.engineOf(instr) == engine) {
        places[instr].push_back(++count[kernel.instrs[instr].queue.value]);
      }
    }
  }
  return places;
}

IssueOrder orderOfDefinition(const Kernel &kernel, const std::vector<Definition> &definitions) {
  IdVector<InstrId, std::vector<uint32_t>> places = placesInQueues(kernel, definitions);
  IdVector<InstrId, std::vector<DepId>> depsOf(kernel.instrs.size());
  for (DepId dep : kernel.deps.ids()) {
    depsOf[kernel.deps[dep].consumer].push_back(dep);
  }
  IdVector<EngineId, Track> tracks(kernel.engines.size());
  for (EngineId engine : kernel.engines.ids()) {
    const Definition &definition = definitions[engine.value];
    IdVector<InstrId, uint32_t> runs(kernel.instrs.size(), 0);
    Track &track = tracks[engine];
    for (InstrId instr : definition.sequence()) {
      if (kernel.engineOf(instr) != engine) {
        continue;
      }
      uint32_t run = runs[instr]++;
      for (DepId dep : depsOf[instr]) {
        InstrId producer = kernel.deps[dep].producer;
        if (uint64_t owed = definition.needs(dep)[run].runs; owed != 0) {
          uint32_t count = owed <= places[producer].size() ? places[producer][owed - 1] : never;
          track.require({kernel.instrs[producer].queue, count});
        }
      }
      track.issues.push_back(instr);
      track.close();
    }
  }
  return Closure(kernel, tracks).run();
}

//===----------------------------------------------------------------------===//
// Counting code
//===----------------------------------------------------------------------===//

namespace {

/// Runs each engine alone, then turns thresholds into numbers of retirements.
class CountingReader {
public:
  CountingReader(const Kernel &kernel, const Code &code, const Machine &machine,
                 const Bindings &bindings)
      : kernel(kernel), code(code), machine(machine), bindings(bindings),
        raised(code.semaphores.size()), waits(kernel.engines.size()), issues(kernel.engines.size()),
        taken(kernel.queues.size(), 0) {}

  IssueOrder read() {
    for (const Queue &queue : kernel.queues) {
      isCounting &= queue.completion == Completion::Whole || queue.weight == 1;
    }
    for (EngineId engine : kernel.engines.ids()) {
      runEngine(engine);
    }
    if (!isCounting) {
      return unknown();
    }
    IdVector<EngineId, Track> tracks(kernel.engines.size());
    for (EngineId engine : kernel.engines.ids()) {
      makeTrack(engine, tracks[engine]);
    }
    return Closure(kernel, tracks).run();
  }

private:
  /// Who raises a semaphore, and its value after each raise.
  struct Raised {
    QueueId queue;
    std::vector<uint64_t> values;
    std::vector<uint32_t> places; ///< in the queue, from 1
  };

  struct Passed {
    uint32_t beforeIssue;
    SemaId sema;
    uint64_t threshold;
  };

  void runEngine(EngineId engine) {
    EngineRun run(kernel, code, machine, bindings, engine);
    run.setFuel(fuel);
    while (const Op *op = isCounting ? run.next() : nullptr) {
      isCounting &= op->kind == OpKind::Issue || op->kind == OpKind::Wait;
      if (op->wait.valid()) {
        uint32_t place = static_cast<uint32_t>(issues[engine].size());
        waits[engine].push_back({place, op->wait, run.value(op->a)});
      }
      if (op->kind == OpKind::Issue) {
        issue(engine, *op);
      }
    }
    isCounting &= !run.exhausted();
  }

  void issue(EngineId engine, const Op &op) {
    issues[engine].push_back(op.instr());
    QueueId queue = kernel.instrs[op.instr()].queue;
    uint32_t place = ++taken[queue];
    if (!op.signal.valid()) {
      return;
    }
    Raised &semaphore = raised[op.signal];
    isCounting &= !semaphore.queue.valid() || semaphore.queue == queue;
    semaphore.queue = queue;
    uint64_t before = semaphore.values.empty() ? 0 : semaphore.values.back();
    semaphore.values.push_back(before + op.amount);
    semaphore.places.push_back(place);
    isCounting &= before + op.amount < machine.counterLimit();
  }

  /// Signed waits take a number with the top bit set for a negative one, which is no wait.
  Requirement requirementOf(const Passed &wait) const {
    bool negative =
        machine.waitCompare == WaitCompare::Signed && wait.threshold >= machine.counterLimit();
    const Raised &semaphore = raised[wait.sema];
    if (negative || wait.threshold == 0) {
      return {QueueId(0), 0};
    }
    auto reached =
        std::lower_bound(semaphore.values.begin(), semaphore.values.end(), wait.threshold);
    if (reached == semaphore.values.end()) {
      return {QueueId(0), never};
    }
    return {semaphore.queue,
            semaphore.places[static_cast<size_t>(reached - semaphore.values.begin())]};
  }

  void makeTrack(EngineId engine, Track &track) const {
    track.issues = issues[engine];
    size_t next = 0;
    for (uint32_t place = 0; place <= track.issues.size(); ++place) {
      for (; next < waits[engine].size() && waits[engine][next].beforeIssue == place; ++next) {
        track.require(requirementOf(waits[engine][next]));
      }
      track.close();
    }
  }

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const Bindings &bindings;
  IdVector<SemaId, Raised> raised;
  IdVector<EngineId, std::vector<Passed>> waits;
  IdVector<EngineId, std::vector<InstrId>> issues;
  IdVector<QueueId, uint32_t> taken;
  bool isCounting = true;
};

} // namespace

IssueOrder orderOfCounting(const Kernel &kernel, const Code &code, const Machine &machine,
                           const Bindings &bindings) {
  return CountingReader(kernel, code, machine, bindings).read();
}

//===----------------------------------------------------------------------===//
// One schedule
//===----------------------------------------------------------------------===//

namespace {

/// Feeds the events of a schedule to HappensBefore, and asks it at each issue.
class OrderObserver : public ImplObserver {
public:
  OrderObserver(const Kernel &kernel, const Code &code, const Machine &machine)
      : kernel(kernel), counterLimit(machine.counterLimit()),
        before(kernel, code.semaphores.size(), machine) {
    order.numQueues = static_cast<uint32_t>(kernel.queues.size());
    order.issues.resize(kernel.engines.size());
    order.known.resize(kernel.engines.size());
  }

  void onWait(EngineId engine, SemaId sema, uint32_t threshold) override {
    bool isNegative = threshold >= counterLimit; // signed waits: it passes at once
    before.step(engine);
    before.wait(engine, sema, isNegative ? 0 : threshold, engine.value);
  }

  void onIssue(EngineId engine, QueueId queue, Instance instance) override {
    before.step(engine);
    order.issues[engine].push_back(instance.instr);
    for (QueueId q : kernel.queues.ids()) {
      order.known[engine].push_back(before.finished(q, engine));
    }
    before.issue(queue);
  }

  void onDeliver(QueueId queue, uint32_t ring, Instance, SemaId sema, uint32_t amount) override {
    before.deliver(queue, ring, sema, amount, queue.value);
  }

  void onRetire(QueueId queue, Instance, SemaId sema, uint32_t amount) override {
    before.deliver(queue, 0, sema, amount, queue.value);
  }

  void onSignal(EngineId engine, SemaId sema, uint32_t amount) override {
    before.step(engine);
    before.signal(engine, sema, amount, engine.value);
  }

  void onReset(EngineId engine, SemaId first, uint32_t count) override {
    before.step(engine);
    before.reset(engine, first, count, engine.value);
  }

  void onDrain(EngineId engine) override {
    before.step(engine);
    before.drain(engine);
  }

  const Kernel &kernel;
  uint64_t counterLimit;
  HappensBefore before;
  IssueOrder order;
};

bool hasSplitQueues(const Kernel &kernel) {
  return std::any_of(kernel.queues.begin(), kernel.queues.end(), [](const Queue &queue) {
    return queue.completion == Completion::Split && queue.weight > 1;
  });
}

} // namespace

IssueOrder orderOfSchedule(const Kernel &kernel, const Code &code, const Machine &machine,
                           const Bindings &bindings) {
  ImplOptions options;
  options.maxOperations = fuel;
  ImplSystem system(kernel, code, machine, bindings, options);
  if (!system.complete() || hasSplitQueues(kernel)) {
    return unknown();
  }
  OrderObserver observer(kernel, code, machine);
  ImplState state = system.initial();
  std::vector<Step> steps;
  for (system.enabled(state, steps); !steps.empty(); system.enabled(state, steps)) {
    system.apply(state, steps.front(), &observer);
  }
  for (EngineId engine : kernel.engines.ids()) {
    Blocked blocked = system.whyBlocked(state, engine);
    if (blocked.kind == Blocked::Kind::Wait) {
      observer.before.blocked(engine, blocked.semaphore, engine.value);
    }
  }
  observer.before.finish();
  if (!observer.before.unsettled().empty()) {
    return unknown();
  }
  observer.order.state =
      system.finished(state) ? IssueOrder::State::Complete : IssueOrder::State::Deadlock;
  return std::move(observer.order);
}

IssueOrder orderOf(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Bindings &bindings) {
  IssueOrder order = orderOfCounting(kernel, code, machine, bindings);
  return order.state == IssueOrder::State::Unknown
             ? orderOfSchedule(kernel, code, machine, bindings)
             : order;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

std::string_view toString(Agreement agreement) {
  static constexpr std::string_view names[] = {"exact", "safe", "wrong"};
  return names[static_cast<size_t>(agreement)];
}

Agreement compare(const IssueOrder &asked, const IssueOrder &program) {
  assert(asked.state == IssueOrder::State::Complete && "what is asked for can be done");
  if (program.state != IssueOrder::State::Complete || program.issues.raw() != asked.issues.raw()) {
    return Agreement::Wrong;
  }
  Agreement agreement = Agreement::Exact;
  for (EngineId engine : asked.known.ids()) {
    const std::vector<uint32_t> &want = asked.known[engine];
    const std::vector<uint32_t> &have = program.known[engine];
    for (size_t i = 0; i < want.size(); ++i) {
      if (have[i] < want[i]) {
        return Agreement::Wrong;
      }
      agreement = have[i] > want[i] ? Agreement::Safe : agreement;
    }
  }
  return agreement;
}

/// Where the rows of one engine first differ.
static std::string differenceOn(const Kernel &kernel, EngineId engine, const IssueOrder &asked,
                                const IssueOrder &program) {
  size_t common = std::min(asked.issues[engine].size(), program.issues[engine].size());
  IdVector<InstrId, uint32_t> runs(kernel.instrs.size(), 0);
  for (size_t i = 0; i < common; ++i) {
    InstrId instr = asked.issues[engine][i];
    uint32_t run = runs[instr]++;
    if (program.issues[engine][i] != instr) {
      return fmt::format("'{}' is issued where '{}' is due",
                         kernel.nameOf(program.issues[engine][i]), kernel.nameOf(instr));
    }
    for (QueueId queue : kernel.queues.ids()) {
      size_t at = i * asked.numQueues + queue.value;
      uint32_t want = asked.known[engine][at];
      uint32_t have = program.known[engine][at];
      if (want != have) {
        return fmt::format("run {} of '{}' waits until {} instructions of '{}' have retired, but "
                           "its dependences ask for {}",
                           run, kernel.nameOf(instr), have, kernel.nameOf(queue), want);
      }
    }
  }
  if (common < asked.issues[engine].size()) {
    InstrId instr = asked.issues[engine][common];
    return fmt::format("run {} of '{}' is never issued", runs[instr], kernel.nameOf(instr));
  }
  return {};
}

std::string difference(const Kernel &kernel, const IssueOrder &asked, const IssueOrder &program) {
  for (EngineId engine : kernel.engines.ids()) {
    if (std::string text = differenceOn(kernel, engine, asked, program); !text.empty()) {
      return text;
    }
  }
  return program.state == IssueOrder::State::Deadlock
             ? "an engine never gets to the end of its code"
             : "";
}

} // namespace tally::oracle
