//===- MustOrder.cpp - What surely comes before what, exactly -------------===//
//
// Steps:  1. write down  what each engine does to counters, one flat list of events per engine
//         2. cut         semaphores into counters at their resets, by one run
//         3. hold back   each ring of each queue, and each engine if there are resets: one run each
//
// A ring has a counter of its own that each of its completions raises. So waiting for all
// instructions of an engine, and waits that are assumed, are waits on counters like all others.
//
// Cost: (rings + engines) x events in time, events x queues in memory.
//
//===----------------------------------------------------------------------===//

#include "MustOrder.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tally::check {
namespace {

constexpr uint32_t none = UINT32_MAX;

/// What an engine does, as far as others can tell.
struct Event {
  enum class Kind : uint8_t {
    Wait,   ///< until `counter` is at least `value`
    Signal, ///< raises `counter` by `value`
    Issue,  ///< an instruction enters queue `counter`
    Reset,  ///< begins `counter`
  };
  Kind kind;
  uint32_t counter; ///< a semaphore until step 2
  uint32_t value;
  uint32_t op; ///< numbered over all engines
};

/// What a completion raises.
struct Arrival {
  uint32_t counter = none;
  uint32_t amount = 0;
  uint32_t op = 0;
};

/// One ring of one queue.
struct Ring {
  QueueId queue;
  uint32_t counter; ///< its own
  std::vector<Arrival> arrivals;
};

/// What lies between two resets of a semaphore, or is a ring's own.
struct Counter {
  SemaId sema;                 ///< none: a ring's own
  uint32_t predecessor = none; ///< none: it is there from the start
  uint32_t begunBy = 0;        ///< the operation that resets
};

/// Code as events on counters.
struct Model {
  IdVector<EngineId, std::vector<Event>> events;
  std::vector<Ring> rings;               ///< by queue
  IdVector<QueueId, uint32_t> firstRing; ///< in `rings`; one more at the end
  std::vector<Counter> counters;         ///< of semaphores, of rings, and those that resets begin
  bool hasResets = false;

  uint32_t ringsEnd(QueueId queue) const { return firstRing[QueueId(queue.value + 1)]; }
};

//===----------------------------------------------------------------------===//
// 1. Write down
//===----------------------------------------------------------------------===//

class Writer {
public:
  /// `watched`, if any, counts as waited for.
  Writer(const ImplSystem &system, std::span<const AssumedWait> assumed, SemaId watched = {})
      : system(system), kernel(system.kernelOf()), code(system.programOf()), assumed(assumed),
        isWaitedFor(waitedFor(code)) {
    if (watched.valid()) {
      isWaitedFor[watched] = true;
    }
  }

  Model run() {
    for (SemaId sema : code.semaphores.ids()) {
      model.counters.push_back({sema, none, 0});
    }
    for (QueueId queue : kernel.queues.ids()) {
      model.firstRing.push(static_cast<uint32_t>(model.rings.size()));
      for (uint32_t ring = 0; ring < system.ringsOf(queue); ++ring) {
        model.rings.push_back({queue, static_cast<uint32_t>(model.counters.size()), {}});
        model.counters.emplace_back();
      }
    }
    model.firstRing.push(static_cast<uint32_t>(model.rings.size()));
    uint32_t firstOp = 0;
    for (EngineId engine : kernel.engines.ids()) {
      model.events.push({});
      write(engine, firstOp);
      firstOp += static_cast<uint32_t>(code.engines[engine].ops.size());
    }
    return std::move(model);
  }

private:
  void write(EngineId engine, uint32_t firstOp) {
    std::vector<uint32_t> issued(kernel.queues.size(), 0);
    for (uint32_t at = 0; const ImplPoint &point : system.trajectory(engine)) {
      const Op &op = code.engines[engine].ops[point.op];
      number = firstOp + point.op;
      bool isReplaced = writeAssumed(engine, at++);
      if (op.wait.valid() && !isReplaced) {
        writeWait(engine, op.wait.value, point.threshold);
      }
      switch (op.kind) {
      case OpKind::Issue:
        writeIssue(engine, kernel.instrs[op.instr()].queue, op);
        break;
      case OpKind::Signal:
        if (isWaitedFor[op.signal]) {
          add(engine, Event::Kind::Signal, op.signal.value, op.amount);
        }
        break;
      case OpKind::Reset:
        writeReset(engine, op);
        break;
      case OpKind::Drain:
        for (QueueId queue : kernel.engines[engine].queues) {
          writeWaitForQueue(engine, queue, numIssued(queue));
        }
        break;
      default:
        break;
      }
    }
  }

  void add(EngineId engine, Event::Kind kind, uint32_t counter, uint32_t value) {
    model.events[engine].push_back({kind, counter, value, number});
  }

  /// A threshold that passes at once, being 0 or negative, orders nothing.
  void writeWait(EngineId engine, uint32_t counter, uint32_t threshold) {
    if (threshold != 0 && threshold < system.machineOf().counterLimit()) {
      add(engine, Event::Kind::Wait, counter, threshold);
    }
  }

  void writeWaitForQueue(EngineId engine, QueueId queue, uint32_t count) {
    for (uint32_t ring = model.firstRing[queue]; count != 0 && ring < model.ringsEnd(queue);
         ++ring) {
      add(engine, Event::Kind::Wait, model.rings[ring].counter, count);
    }
  }

  /// Whether the wait of the operation itself is left out.
  bool writeAssumed(EngineId engine, uint32_t at) {
    bool isReplaced = false;
    for (; nextAssumed < assumed.size() && assumed[nextAssumed].engine == engine &&
           assumed[nextAssumed].at == at;
         ++nextAssumed) {
      writeWaitForQueue(engine, assumed[nextAssumed].queue, assumed[nextAssumed].number);
      isReplaced |= assumed[nextAssumed].replaces;
    }
    return isReplaced;
  }

  void writeIssue(EngineId engine, QueueId queue, const Op &op) {
    add(engine, Event::Kind::Issue, queue.value, 0);
    bool matters = op.signal.valid() && isWaitedFor[op.signal];
    for (uint32_t ring = model.firstRing[queue]; ring < model.ringsEnd(queue); ++ring) {
      uint32_t amount = matters ? system.shareOf(queue, op, ring - model.firstRing[queue]) : 0;
      model.rings[ring].arrivals.push_back({amount > 0 ? op.signal.value : none, amount, number});
    }
  }

  void writeReset(EngineId engine, const Op &op) {
    for (uint32_t i = 0; i < op.amount; ++i) {
      SemaId sema(op.signal.value + i);
      if (isWaitedFor[sema]) {
        model.hasResets = true;
        add(engine, Event::Kind::Reset, sema.value, 0);
      }
    }
  }

  uint32_t numIssued(QueueId queue) const {
    return static_cast<uint32_t>(model.rings[model.firstRing[queue]].arrivals.size());
  }

  const ImplSystem &system;
  const Kernel &kernel;
  const Code &code;
  std::span<const AssumedWait> assumed;
  size_t nextAssumed = 0;
  uint32_t number = 0; ///< of the operation at hand
  IdVector<SemaId, bool> isWaitedFor;
  Model model;
};

//===----------------------------------------------------------------------===//
// 2. Cut
//===----------------------------------------------------------------------===//

/// Runs the code in any order, each completion at once, and notes which counter each event is on.
class Cutter {
public:
  explicit Cutter(Model &model)
      : model(model), current(model.counters.size()), value(model.counters.size(), 0),
        at(model.events.size(), 0), delivered(model.rings.size(), 0) {
    std::iota(current.begin(), current.end(), 0);
  }

  void run() {
    bool goesOn = true;
    while (goesOn) {
      goesOn = false;
      for (EngineId engine : model.events.ids()) {
        goesOn |= advance(engine);
      }
    }
    for (EngineId engine : model.events.ids()) {
      if (at[engine] < model.events[engine].size()) {
        Event &blocked = model.events[engine][at[engine]];
        blocked.counter = current[blocked.counter];
      }
    }
  }

private:
  /// Whether the engine could do anything.
  bool advance(EngineId engine) {
    std::vector<Event> &events = model.events[engine];
    uint32_t before = at[engine];
    for (uint32_t &i = at[engine]; i < events.size() && execute(events[i]); ++i) {
    }
    return at[engine] != before;
  }

  /// False if it is a wait that does not pass.
  bool execute(Event &event) {
    if (event.kind == Event::Kind::Issue) {
      deliver(QueueId(event.counter));
      return true;
    }
    uint32_t &counter = current[event.counter];
    if (event.kind == Event::Kind::Wait && value[counter] < event.value) {
      return false;
    }
    if (event.kind == Event::Kind::Reset) {
      model.counters.push_back({SemaId(event.counter), counter, event.op});
      counter = static_cast<uint32_t>(value.size());
      value.push_back(0);
    } else if (event.kind == Event::Kind::Signal) {
      value[counter] += event.value;
    }
    event.counter = counter;
    return true;
  }

  void deliver(QueueId queue) {
    for (uint32_t i = model.firstRing[queue]; i < model.ringsEnd(queue); ++i) {
      Ring &ring = model.rings[i];
      ++value[ring.counter];
      Arrival &arrival = ring.arrivals[delivered[i]++];
      if (arrival.counter != none) {
        arrival.counter = current[arrival.counter];
        value[arrival.counter] += arrival.amount;
      }
    }
  }

  Model &model;
  std::vector<uint32_t> current; ///< the counter that stands for a semaphore, by semaphore
  std::vector<uint64_t> value;   ///< by counter
  IdVector<EngineId, uint32_t> at;
  std::vector<uint32_t> delivered; ///< by ring
};

//===----------------------------------------------------------------------===//
// 3. Hold back
//===----------------------------------------------------------------------===//

/// A run in which one component moves only when nothing else can.
class HeldRun {
public:
  HeldRun(const Model &model, uint64_t limit, UnsettledList &reasons)
      : model(model), limit(limit), reasons(reasons), value(model.counters.size(), 0),
        isBegun(model.counters.size(), false), endedBy(model.counters.size(), none),
        firstWaiting(model.counters.size()), nextWaiting(model.events.size()),
        at(model.events.size(), 0), issued(model.firstRing.size() - 1) {
    for (uint32_t i = 0; i < model.counters.size(); ++i) {
      isBegun[i] = model.counters[i].predecessor == none;
    }
  }

  /// What `counter` is whenever nothing else can happen without another completion of the ring.
  std::vector<uint64_t> holdRing(uint32_t ring, uint32_t counter) {
    std::vector<uint64_t> values;
    heldRing = ring;
    start(EngineId());
    do {
      goOn();
      values.push_back(value[counter]);
    } while (deliverHeld());
    return values;
  }

  void holdEngine(EngineId engine) {
    start(engine);
    do {
      goOn();
    } while (stepHeld(engine));
  }

  /// For each instruction of a queue that was issued, how many the held ring had completed then.
  const std::vector<uint32_t> &completionsAtIssue(QueueId queue) const { return issued[queue]; }

  bool isStuck() const {
    for (EngineId engine : model.events.ids()) {
      if (at[engine] < model.events[engine].size()) {
        return true;
      }
    }
    return false;
  }

private:
  void start(EngineId held) {
    for (EngineId engine : model.events.ids()) {
      if (engine != held) {
        ready.push_back(engine);
      }
    }
  }

  /// Until nothing but the held component can move.
  void goOn() {
    while (!ready.empty()) {
      EngineId engine = ready.back();
      ready.pop_back();
      const std::vector<Event> &events = model.events[engine];
      for (uint32_t &i = at[engine]; i < events.size(); ++i) {
        const Event &event = events[i];
        if (!arrive(event)) {
          nextWaiting[engine] = firstWaiting[event.counter];
          firstWaiting[event.counter] = engine;
          break;
        }
        execute(event);
      }
    }
  }

  bool deliverHeld() {
    if (delivered == issued[model.rings[heldRing].queue].size()) {
      return false;
    }
    deliver(model.rings[heldRing], delivered++);
    return true;
  }

  bool stepHeld(EngineId engine) {
    const std::vector<Event> &events = model.events[engine];
    if (at[engine] == events.size() || !arrive(events[at[engine]])) {
      return false;
    }
    execute(events[at[engine]++]);
    return true;
  }

  /// The engine has come to this event; false if it has to wait.
  bool arrive(const Event &event) {
    if (event.kind != Event::Kind::Wait) {
      return true;
    }
    checkBegun(Unsettled::Kind::EarlyWait, event.counter, event.op);
    if (value[event.counter] < event.value) {
      return false;
    }
    checkNotEnded(Unsettled::Kind::ErasedForWait, event.counter, event.op);
    return true;
  }

  void execute(const Event &event) {
    switch (event.kind) {
    case Event::Kind::Wait:
      return;
    case Event::Kind::Signal:
      raise(event.counter, event.value, event.op);
      return;
    case Event::Kind::Issue: {
      QueueId queue(event.counter);
      auto place = static_cast<uint32_t>(issued[queue].size());
      issued[queue].push_back(delivered);
      for (uint32_t ring = model.firstRing[queue]; ring < model.ringsEnd(queue); ++ring) {
        if (ring != heldRing) {
          deliver(model.rings[ring], place);
        }
      }
      return;
    }
    case Event::Kind::Reset:
      reset(event);
      return;
    }
  }

  void deliver(const Ring &ring, uint32_t place) {
    add(ring.counter, 1);
    const Arrival &arrival = ring.arrivals[place];
    if (arrival.counter != none) {
      raise(arrival.counter, arrival.amount, arrival.op);
    }
  }

  void raise(uint32_t counter, uint32_t amount, uint32_t op) {
    checkBegun(Unsettled::Kind::ErasedRaise, counter, op);
    checkNotEnded(Unsettled::Kind::LostRaise, counter, op);
    if (value[counter] < limit && value[counter] + amount >= limit) {
      report(Unsettled::Kind::Wrapped, counter, 0, op);
    }
    add(counter, amount);
  }

  /// Those that wait look again.
  void add(uint32_t counter, uint32_t amount) {
    value[counter] += amount;
    for (EngineId engine = firstWaiting[counter]; engine.valid(); engine = nextWaiting[engine]) {
      ready.push_back(engine);
    }
    firstWaiting[counter] = EngineId();
  }

  void reset(const Event &event) {
    uint32_t predecessor = model.counters[event.counter].predecessor;
    if (predecessor != none) { // otherwise the run that cut did not get here
      checkBegun(Unsettled::Kind::ErasedRaise, predecessor, event.op);
      endedBy[predecessor] = event.op;
      isBegun[event.counter] = true;
    }
  }

  void checkBegun(Unsettled::Kind kind, uint32_t counter, uint32_t op) {
    if (!isBegun[counter]) {
      report(kind, counter, model.counters[counter].begunBy, op);
    }
  }

  void checkNotEnded(Unsettled::Kind kind, uint32_t counter, uint32_t op) {
    if (endedBy[counter] != none) {
      report(kind, counter, endedBy[counter], op);
    }
  }

  void report(Unsettled::Kind kind, uint32_t counter, uint32_t reset, uint32_t op) {
    reasons.add({kind, model.counters[counter].sema, reset, op});
  }

  const Model &model;
  uint64_t limit; ///< the first value that a wait reads as something else
  UnsettledList &reasons;
  std::vector<uint64_t> value; ///< by counter
  std::vector<bool> isBegun;
  std::vector<uint32_t> endedBy;
  std::vector<EngineId> firstWaiting; ///< by counter: engines that wait on it, linked by the next
  IdVector<EngineId, EngineId> nextWaiting;
  IdVector<EngineId, uint32_t> at;
  IdVector<QueueId, std::vector<uint32_t>> issued;
  uint32_t heldRing = none;
  uint32_t delivered = 0; ///< completions of the held ring
  std::vector<EngineId> ready;
};

} // namespace

MustOrder::MustOrder(const ImplSystem &system, std::span<const AssumedWait> assumed,
                     const std::function<bool()> &keepGoing) {
  Model model = Writer(system, assumed).run();
  if (model.hasResets) {
    Cutter(model).run();
  }
  size_t numQueues = system.kernelOf().queues.size();
  for (QueueId queue : system.kernelOf().queues.ids()) {
    rows.push(std::vector<uint32_t>(system.issuesOf(queue).size() * numQueues, UINT32_MAX));
  }
  uint64_t limit = system.machineOf().counterLimit();
  for (const Ring &ring : model.rings) {
    HeldRun run(model, limit, reasons);
    run.holdRing(static_cast<uint32_t>(&ring - model.rings.data()), ring.counter);
    for (QueueId queue : rows.ids()) {
      uint32_t *entry = rows[queue].data() + ring.queue.value;
      for (uint32_t completions : run.completionsAtIssue(queue)) {
        *entry = std::min(*entry, completions);
        entry += numQueues;
      }
    }
    stuck = run.isStuck();
    if (keepGoing && !keepGoing()) {
      isCutOff = true;
      return;
    }
  }
  for (EngineId engine : system.kernelOf().engines.ids()) {
    if (model.hasResets) {
      HeldRun(model, limit, reasons).holdEngine(engine);
    }
  }
}

std::vector<uint64_t> largestValues(const ImplSystem &system, std::span<const AssumedWait> assumed,
                                    SemaId sema, QueueId queue) {
  Model model = Writer(system, assumed, sema).run();
  if (model.hasResets) {
    return {};
  }
  UnsettledList reasons;
  std::vector<uint64_t> largest(system.issuesOf(queue).size() + 1, 0);
  for (uint32_t ring = model.firstRing[queue]; ring < model.ringsEnd(queue); ++ring) {
    HeldRun run(model, system.machineOf().counterLimit(), reasons);
    std::vector<uint64_t> values = run.holdRing(ring, sema.value);
    values.resize(largest.size(), values.back()); // no more are issued
    for (size_t i = 0; i < largest.size(); ++i) {
      largest[i] = std::max(largest[i], values[i]);
    }
  }
  return largest;
}

} // namespace tally::check
