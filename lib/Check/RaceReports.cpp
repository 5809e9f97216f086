//===- RaceReports.cpp - From findings to messages ------------------------===//
//
// A finding names runs of instructions and places in trajectories. Here these become what a person
// looks for: names, iterations, what is waited for and what should be.
//
//===----------------------------------------------------------------------===//

#include "RaceReports.h"

#include "tally/Code/Interpret.h"
#include "tally/Sync/Plan.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tally {

std::string_view toString(ReportKind kind) {
  switch (kind) {
  case ReportKind::Race:
    return "race";
  case ReportKind::Unordered:
    return "unordered";
  case ReportKind::Deadlock:
    return "deadlock";
  case ReportKind::Reset:
    return "reset";
  case ReportKind::Wrap:
    return "wrap";
  case ReportKind::OverWait:
    return "over-wait";
  case ReportKind::Stale:
    return "stale";
  }
  return "";
}

namespace {

using Active = std::vector<EngineRun::Active>;

/// One passed or pending wait of an engine.
struct WaitAt {
  const Op *op = nullptr;
  uint32_t at = 0; ///< in the trajectory
  uint32_t threshold = 0;
};

/// What happened to the register of a threshold before it was read.
struct RegisterStory {
  enum class Kind : uint8_t {
    Fresh,     ///< written since the last wait that read it
    NeverSet,  ///< never written: it still holds 0
    SameWait,  ///< last written before an earlier run of the same wait
    OtherWait, ///< last written before a wait on another semaphore
  };
  Kind kind = Kind::Fresh;
  WaitAt before; ///< the earlier wait
};

/// Looks things up about a subject.
class Story {
public:
  explicit Story(const RaceSubject &subject)
      : subject(subject), kernel(subject.kernel), program(subject.program), system(subject.system) {
  }

  std::string_view sema(SemaId id) const { return program.semaphores[id].name; }

  const std::vector<ImplPoint> &points(EngineId engine) const { return system.trajectory(engine); }

  const Op &opAt(EngineId engine, uint32_t at) const {
    return program.engines[engine].ops[points(engine)[at].op];
  }

  QueueId queueOf(InstrId instr) const { return kernel.instrs[instr].queue; }

  /// The number of an instance in its queue, from 1; 0 if it is never issued.
  uint32_t numberOf(Instance instance) const {
    QueueId queue = queueOf(instance.instr);
    for (uint32_t n = 0; n < system.issuesOf(queue).size(); ++n) {
      if (system.instanceAt(queue, n) == instance) {
        return n + 1;
      }
    }
    return 0;
  }

  uint32_t placeOf(Instance instance) const {
    return system.issuesOf(queueOf(instance.instr))[numberOf(instance) - 1];
  }

  /// The loops that an engine is in at a place of its trajectory; operations are counted by those
  /// that touch the outside.
  Active activeAt(EngineId engine, uint32_t at) const {
    EngineRun run(kernel, program, subject.machine, subject.bindings, engine);
    uint64_t outside = 0;
    for (uint32_t i = 0; i <= at; ++i) {
      outside += touchesOutside(opAt(engine, i).kind);
    }
    for (uint64_t i = 0; i < outside; ++i) {
      run.next();
    }
    return run.active();
  }

  std::string iterationText(const Active &active) const {
    std::string text;
    for (const EngineRun::Active &a : active) {
      if (!kernel.loops[a.loop].isBranch()) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", kernel.nameOf(a.loop), a.iteration);
      }
    }
    return text;
  }

  std::string iterationAt(EngineId engine, uint32_t at) const {
    return iterationText(activeAt(engine, at));
  }

  Active activeOf(Instance instance) const {
    return activeAt(kernel.engineOf(instance.instr), placeOf(instance));
  }

  /// `'load' (A=2)`.
  std::string nameOf(Instance instance) const {
    std::string iteration =
        numberOf(instance) != 0 ? iterationText(activeOf(instance)) : std::string();
    return fmt::format("'{}'{}", kernel.nameOf(instance.instr),
                       iteration.empty() ? "" : " (" + iteration + ")");
  }

  /// The instruction that an operation is or comes before; none at the end.
  InstrId instrAfter(EngineId engine, uint32_t at) const {
    for (; at < points(engine).size(); ++at) {
      if (opAt(engine, at).kind == OpKind::Issue) {
        return opAt(engine, at).instr();
      }
    }
    return {};
  }

  Location whereAt(EngineId engine, uint32_t at) const {
    InstrId instr = instrAfter(engine, at);
    return instr.valid() ? kernel.instrs[instr].where : kernel.engines[engine].where;
  }

  /// `'use' on 'act'`, `the wait before 'use' on 'act'`.
  std::string operationText(EngineId engine, uint32_t at) const {
    const Op &op = opAt(engine, at);
    InstrId instr = instrAfter(engine, at);
    if (op.kind == OpKind::Issue) {
      return fmt::format("'{}' on '{}'", kernel.nameOf(instr), kernel.nameOf(engine));
    }
    std::string_view what = op.kind == OpKind::Signal  ? "the signal"
                            : op.kind == OpKind::Reset ? "the reset"
                            : op.kind == OpKind::Drain ? "the drain"
                                                       : "the wait";
    std::string place = instr.valid() ? fmt::format("before '{}'", kernel.nameOf(instr))
                                      : std::string("at the end");
    return fmt::format("{} {} on '{}'", what, place, kernel.nameOf(engine));
  }

  /// Where an operation, numbered over all engines, is executed first.
  std::pair<EngineId, uint32_t> firstRunOf(uint32_t number) const {
    EngineId engine(0);
    for (EngineId e : kernel.engines.ids()) {
      engine = subject.firstOp[e] <= number ? e : engine;
    }
    const std::vector<ImplPoint> &all = points(engine);
    for (uint32_t at = 0; at < all.size(); ++at) {
      if (subject.firstOp[engine] + all[at].op == number) {
        return {engine, at};
      }
    }
    return {engine, 0};
  }

  /// What an instruction's completion brings its semaphore to, all of its queue's counted from the
  /// start.
  uint64_t valueAfter(QueueId queue, uint32_t number, SemaId semaphore) const {
    uint64_t value = 0;
    for (uint32_t n = 0; n < number; ++n) {
      const Op &op = system.issueAt(queue, n);
      value += op.signal == semaphore ? op.amount : 0;
    }
    return value;
  }

  /// The waits directly before an instruction, its own last.
  std::vector<WaitAt> waitsBefore(EngineId engine, uint32_t at) const {
    std::vector<WaitAt> waits;
    for (uint32_t i = at + 1; i-- > 0;) {
      const Op &op = opAt(engine, i);
      if (i != at && (op.kind == OpKind::Issue || op.kind == OpKind::Signal)) {
        break;
      }
      if (op.wait.valid()) {
        waits.push_back({&op, i, points(engine)[i].threshold});
      }
    }
    std::reverse(waits.begin(), waits.end());
    return waits;
  }

  RegisterStory registerStory(EngineId engine, uint32_t at) const {
    RegisterStory story;
    const Op &wait = opAt(engine, at);
    if (!wait.a.isRegister || isLoopCounter(engine, wait.a.asRegister())) {
      return story;
    }
    for (uint32_t i = at; i-- > 0;) {
      const Op &op = opAt(engine, i);
      if (op.kind == OpKind::Alu && op.dst == wait.a.asRegister()) {
        return story;
      }
      if (op.wait.valid() && op.a == wait.a && story.kind == RegisterStory::Kind::Fresh) {
        story.before = {&op, i, points(engine)[i].threshold};
        story.kind = &op == &wait           ? RegisterStory::Kind::SameWait
                     : op.wait != wait.wait ? RegisterStory::Kind::OtherWait
                                            : RegisterStory::Kind::Fresh;
      }
    }
    story.kind = RegisterStory::Kind::NeverSet;
    return story;
  }

  /// A note about the register of a wait, if there is something to say.
  std::string registerNote(EngineId engine, uint32_t at) const {
    RegisterStory story = registerStory(engine, at);
    if (story.kind == RegisterStory::Kind::Fresh) {
      return {};
    }
    std::string_view name = program.engines[engine].registers[opAt(engine, at).a.asRegister()].name;
    if (story.kind == RegisterStory::Kind::NeverSet) {
      return fmt::format("its register '{}' was never set and holds 0", name);
    }
    std::string iteration = iterationAt(engine, story.before.at);
    std::string when = iteration.empty() ? "" : " (" + iteration + ")";
    if (story.kind == RegisterStory::Kind::SameWait) {
      return fmt::format("its register '{}' was not set since the same wait read it before{}", name,
                         when);
    }
    return fmt::format("its register '{}' still holds what {} waited for on '{}'{}", name,
                       operationText(engine, story.before.at), sema(story.before.op->wait), when);
  }

  const RaceSubject &subject;
  const Kernel &kernel;
  const Program &program;
  const ImplSystem &system;

private:
  static bool touchesOutside(OpKind kind) {
    return kind == OpKind::Issue || kind == OpKind::Wait || kind == OpKind::Signal ||
           kind == OpKind::Reset || kind == OpKind::Drain;
  }

  bool isLoopCounter(EngineId engine, RegId reg) const {
    const std::vector<Op> &ops = program.engines[engine].ops;
    return std::any_of(ops.begin(), ops.end(),
                       [&](const Op &op) { return op.kind == OpKind::LoopBegin && op.dst == reg; });
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {

/// The two ends of a fault in the order of the kernel's text, executed one by one.
class OrderStory : Story {
public:
  OrderStory(const RaceSubject &subject, const OrderFault &fault) : Story(subject), fault(fault) {
    earlierActive = fault.earlierIssued ? activeOf(fault.earlier) : Active();
    laterActive = activeOf(fault.later);
    swapped =
        !fault.dep.valid() && runsBefore(fault.later, laterActive, fault.earlier, earlierActive);
  }

  RaceReport report() const {
    RaceReport report;
    report.kind = fault.dep.valid() ? ReportKind::Unordered : ReportKind::Race;
    report.count = fault.count;
    Diagnostic &text = report.text;
    text.where = kernel.instrs[consumer().instr].where;
    text.message = fault.dep.valid() ? unorderedMessage() : raceMessage();
    text.note(kernel.instrs[producer().instr].where,
              fmt::format("'{}' is here", kernel.nameOf(producer().instr)));
    text.note(text.where, waitNote());
    if (std::string note = dependenceNote(); !note.empty()) {
      text.note(text.where, note);
    }
    if (fault.count > 1) {
      text.note(text.where, fmt::format("{} times in this schedule", fault.count));
    }
    facts(report);
    return report;
  }

private:
  Instance producer() const { return swapped ? fault.later : fault.earlier; }

  Instance consumer() const { return swapped ? fault.earlier : fault.later; }

  const Active &producerActive() const { return swapped ? laterActive : earlierActive; }

  const Active &consumerActive() const { return swapped ? earlierActive : laterActive; }

  bool producerWrites() const { return swapped ? fault.laterWrites : fault.earlierWrites; }

  bool consumerWrites() const { return swapped ? fault.earlierWrites : fault.laterWrites; }

  static uint64_t iterationOf(const Active &active, LoopId loop) {
    for (const EngineRun::Active &a : active) {
      if (a.loop == loop) {
        return a.iteration;
      }
    }
    return 0;
  }

  /// The loops around both instructions, outermost first.
  std::vector<LoopId> commonLoops() const {
    std::vector<LoopId> loops;
    LoopId loop = kernel.commonLoop(kernel.instrs[fault.earlier.instr].home,
                                    kernel.instrs[fault.later.instr].home);
    for (; loop != rootLoop; loop = kernel.loops[loop].parent) {
      if (kernel.loops[loop].kind == LoopKind::Loop) {
        loops.push_back(loop);
      }
    }
    std::reverse(loops.begin(), loops.end());
    return loops;
  }

  bool runsBefore(Instance a, const Active &aActive, Instance b, const Active &bActive) const {
    for (LoopId loop : commonLoops()) {
      uint64_t atA = iterationOf(aActive, loop), atB = iterationOf(bActive, loop);
      if (atA != atB) {
        return atA < atB;
      }
    }
    if (a.instr == b.instr) {
      return a.run < b.run;
    }
    return a.instr < b.instr;
  }

  std::string raceMessage() const {
    return fmt::format("race: nothing makes {}, which {} {}, wait for {}, which {} it",
                       nameOf(consumer()), consumerWrites() ? "writes" : "reads",
                       subject.datapath->describe(fault.cell), nameOf(producer()),
                       producerWrites() ? "writes" : "reads");
  }

  std::string unorderedMessage() const {
    return fmt::format("unordered: {} does not wait for {}, as the dependence {} asks{}",
                       nameOf(fault.later), nameOf(fault.earlier),
                       tally::describe(kernel, fault.dep),
                       fault.earlierIssued ? "" : "; it may not even have been issued");
  }

  /// What the consumer should wait for, and what it does wait for.
  std::string waitNote() const {
    QueueId queue = queueOf(producer().instr);
    uint32_t number = numberOf(producer());
    std::string name(kernel.nameOf(consumer().instr));
    if (number == 0) {
      return fmt::format("the code of '{}' never issues that run of '{}'",
                         kernel.nameOf(kernel.engineOf(producer().instr)),
                         kernel.nameOf(producer().instr));
    }
    SemaId raised = system.issueAt(queue, number - 1).signal;
    if (!raised.valid()) {
      return fmt::format("'{}' raises no semaphore that '{}' could wait for; let it raise one",
                         kernel.nameOf(producer().instr), name);
    }
    return fmt::format("'{}' has to wait for '{}' >= {}; it waits for {}", name, sema(raised),
                       valueAfter(queue, number, raised), waitsText(raised));
  }

  /// `'s' >= 1`, or how its register came to be wrong.
  std::string waitsText(SemaId raised) const {
    EngineId engine = kernel.engineOf(consumer().instr);
    std::string text;
    for (const WaitAt &wait : waitsBefore(engine, placeOf(consumer()))) {
      text += fmt::format("{}'{}' >= {}", text.empty() ? "" : " and ", sema(wait.op->wait),
                          wait.threshold);
      std::string note = wait.op->wait == raised ? registerNote(engine, wait.at) : "";
      text += note.empty() ? "" : " (" + note + ")";
    }
    return text.empty() ? "nothing" : text;
  }

  /// The dependence that would ask for the order, unless the kernel has it.
  std::string dependenceNote() const {
    if (fault.dep.valid()) {
      return {};
    }
    for (DepId id : kernel.deps.ids()) {
      const Dep &dep = kernel.deps[id];
      if (dep.producer == producer().instr && dep.consumer == consumer().instr) {
        return fmt::format("the kernel has the dependence {}", tally::describe(kernel, id));
      }
    }
    return "the dependence it would need: " + missingDependence();
  }

  std::string missingDependence() const {
    std::string_view kind = !producerWrites() ? "war" : consumerWrites() ? "waw" : "raw";
    return fmt::format("tally.dep \"{}\" -> \"{}\" {}{}", kernel.nameOf(producer().instr),
                       kernel.nameOf(consumer().instr), kind, distanceText());
  }

  /// Vectors with a negative part are rather counted in runs, where both are in one body.
  std::string distanceText() const {
    std::string text;
    bool negative = false;
    for (LoopId loop : commonLoops()) {
      int64_t distance = int64_t(iterationOf(consumerActive(), loop)) -
                         int64_t(iterationOf(producerActive(), loop));
      negative |= distance < 0;
      if (distance != 0) {
        text += fmt::format("{} \"{}\" = {}", text.empty() ? " at" : ",", kernel.nameOf(loop),
                            distance);
      }
    }
    bool sameBody = kernel.instrs[producer().instr].home == kernel.instrs[consumer().instr].home;
    return negative && sameBody && consumer().run >= producer().run
               ? fmt::format(" flat {}", consumer().run - producer().run)
               : text;
  }

  void facts(RaceReport &report) const {
    auto add = [&](const char *key, std::string value) {
      report.facts.emplace_back(key, std::move(value));
    };
    add("first", std::string(kernel.nameOf(producer().instr)));
    add("first_iteration", iterationText(producerActive()));
    add("second", std::string(kernel.nameOf(consumer().instr)));
    add("second_iteration", iterationText(consumerActive()));
    if (fault.dep.valid()) {
      add("dependence", tally::describe(kernel, fault.dep));
    } else {
      add("first_access", producerWrites() ? "write" : "read");
      add("second_access", consumerWrites() ? "write" : "read");
      add("elements", std::string(subject.datapath->describe(fault.cell)));
      add("needs", missingDependence());
    }
  }

  const OrderFault &fault;
  Active earlierActive, laterActive;
  bool swapped = false;
};

/// How far each component has come.
class Progress {
public:
  Progress(const HappensBefore &order) : order(order), ticks(order.numComponents(), 0) {}

  /// Counts the step; whether it is within `limit`. Commits are not counted.
  bool isWithin(const Step &step, const Clock &limit) {
    uint32_t component = step.kind == StepKind::Retire ? order.componentOf(step.queue, 0)
                         : step.kind == StepKind::Deliver
                             ? order.componentOf(step.queue, step.index)
                             : order.componentOf(step.engine);
    return ++ticks[component] <= limit[component];
  }

private:
  const HappensBefore &order;
  Clock ticks;
};

/// Looks for the clocks of two issues while a schedule is run again.
class IssueFinder {
public:
  IssueFinder(const RaceSubject &subject, const OrderFault &fault)
      : run(subject), fault(fault), limit(run.order.numComponents(), 0) {}

  void find(const std::vector<Step> &steps) {
    for (const Step &step : steps) {
      if (step.kind == StepKind::Issue) {
        const QueueState &queue = run.state.queues[step.queue];
        Instance instance = run.subject.system.instanceAt(step.queue, queue.issued);
        run.apply(step);
        note(instance, run.order.clockOf(step.engine));
        if (instance == fault.later) {
          return;
        }
      } else {
        run.apply(step);
      }
    }
  }

  size_t numSteps() const { return run.steps.size(); }

  const Clock &clock() const { return limit; }

private:
  void note(Instance instance, const Clock &clock) {
    if (instance == fault.earlier || instance == fault.later) {
      for (size_t i = 0; i < limit.size(); ++i) {
        limit[i] = std::max(limit[i], clock[i]);
      }
    }
  }

  RaceRun run;
  const OrderFault &fault;
  Clock limit;
};

/// Whether both instructions of the fault are in flight.
bool isShownBy(const ImplSystem &system, const ImplState &state, const OrderFault &fault) {
  uint32_t found = 0;
  for (QueueId queue : system.kernelOf().queues.ids()) {
    const QueueState &q = state.queues[queue];
    for (uint32_t n = q.retired; n < q.issued; ++n) {
      Instance instance = system.instanceAt(queue, n);
      found += instance == fault.earlier || instance == fault.later;
    }
  }
  return found == 2;
}

/// Keeps the steps within the clock, each queue committing only what then finishes. Empty if these
/// steps cannot be performed alone.
std::vector<Step> keepWithin(const RaceSubject &subject, const std::vector<Step> &steps,
                             const Clock &clock, const OrderFault &fault) {
  HappensBefore order(subject.kernel, 0, subject.machine);
  Progress progress(order);
  ImplState state = subject.system.initial();
  std::vector<Step> kept;
  auto perform = [&](const Step &step) {
    if (!subject.system.isEnabled(state, step)) {
      return false;
    }
    subject.system.apply(state, step);
    kept.push_back(step);
    return true;
  };
  for (const Step &step : steps) {
    if (step.kind == StepKind::Commit || !progress.isWithin(step, clock)) {
      continue;
    }
    if (step.kind == StepKind::Retire || step.kind == StepKind::Deliver) {
      const QueueState &queue = state.queues[step.queue];
      uint32_t place = 0;
      if (step.kind == StepKind::Deliver) {
        place = state.rings[subject.system.firstRing(step.queue) + step.index] - queue.retired;
      }
      if (place < queue.inFlight() && !queue.hasCommitted(place) &&
          !perform(Step::commit(step.engine, step.queue, place))) {
        return {};
      }
    }
    if (!perform(step)) {
      return {};
    }
  }
  return isShownBy(subject.system, state, fault) ? kept : std::vector<Step>();
}

} // namespace

std::vector<Step> witnessOf(const RaceSubject &subject, const std::vector<Step> &steps,
                            const OrderFault &fault, bool &isShown) {
  IssueFinder finder(subject, fault);
  finder.find(steps);
  std::vector<Step> prefix(steps.begin(), steps.begin() + finder.numSteps());
  std::vector<Step> kept = keepWithin(subject, prefix, finder.clock(), fault);
  isShown = !kept.empty() || !fault.earlierIssued;
  return kept.empty() ? prefix : kept;
}

RaceReport reportOf(const RaceSubject &subject, const OrderFault &fault) {
  return OrderStory(subject, fault).report();
}

//===----------------------------------------------------------------------===//
// Semaphores
//===----------------------------------------------------------------------===//

static std::string_view explanationOf(Unsettled::Kind kind) {
  switch (kind) {
  case Unsettled::Kind::LostRaise:
    return "may come before or after it raises, and then erases what it counts or not";
  case Unsettled::Kind::ErasedRaise:
    return "may come after it raises, and then erases what it counts";
  case Unsettled::Kind::EarlyWait:
    return "may come after it waits, which then sees the value from before";
  default:
    return "may come before it waits, which then sees nothing";
  }
}

static bool isWaitedFor(const Program &program, SemaId sema) {
  for (const EngineCode &code : program.engines) {
    for (const Op &op : code.ops) {
      if (op.wait == sema) {
        return true;
      }
    }
  }
  return false;
}

static RaceReport wrapReport(const Story &story, const Unsettled &unsettled) {
  RaceReport report;
  report.kind = ReportKind::Wrap;
  bool matters = isWaitedFor(story.program, unsettled.sema);
  report.text.severity = matters ? Severity::Error : Severity::Warning;
  auto [engine, at] = story.firstRunOf(unsettled.other);
  report.text.where = story.whereAt(engine, at);
  report.text.message = fmt::format(
      "semaphore '{}' goes past {}, the largest value that a wait of {} bits can tell, when {} "
      "raises it; waits on it then pass at the wrong time{}",
      story.sema(unsettled.sema), story.subject.machine.counterLimit() - 1,
      story.subject.machine.counterBits, story.operationText(engine, at),
      matters ? "" : ", but there are none");
  report.text.note(report.text.where,
                   "reset it at a barrier of all who use it, or give fewer trips");
  report.facts.emplace_back("semaphore", story.sema(unsettled.sema));
  return report;
}

RaceReport reportOf(const RaceSubject &subject, const Unsettled &unsettled) {
  Story story(subject);
  if (unsettled.kind == Unsettled::Kind::Wrapped) {
    return wrapReport(story, unsettled);
  }
  RaceReport report;
  report.kind = ReportKind::Reset;
  report.text.severity = Severity::Warning;
  auto [resetEngine, resetAt] = story.firstRunOf(unsettled.reset);
  auto [engine, at] = story.firstRunOf(unsettled.other);
  report.text.where = story.whereAt(resetEngine, resetAt);
  report.text.message =
      fmt::format("nothing orders {}, which sets '{}' to 0, and {}: it {}",
                  story.operationText(resetEngine, resetAt), story.sema(unsettled.sema),
                  story.operationText(engine, at), explanationOf(unsettled.kind));
  report.text.note(story.whereAt(engine, at), "the other one is here");
  report.facts.emplace_back("semaphore", story.sema(unsettled.sema));
  report.facts.emplace_back("first", story.operationText(resetEngine, resetAt));
  report.facts.emplace_back("second", story.operationText(engine, at));
  return report;
}

//===----------------------------------------------------------------------===//
// Waiting too long
//===----------------------------------------------------------------------===//

RaceReport reportOf(const RaceSubject &subject, uint32_t, const WaitExcess &excess,
                    uint64_t passes) {
  Story story(subject);
  const Excess &first = excess.runs.front();
  const Op &op = story.opAt(excess.engine, first.at);
  bool isStale =
      story.registerStory(excess.engine, first.at).kind == RegisterStory::Kind::OtherWait;
  RaceReport report;
  report.kind = isStale ? ReportKind::Stale : ReportKind::OverWait;
  report.count = excess.runs.size();
  report.text.severity = Severity::Warning;
  report.text.where = story.whereAt(excess.engine, first.at);
  std::string iteration = story.iterationAt(excess.engine, first.at);
  uint64_t enough = story.valueAfter(excess.queue, first.needed, op.wait);
  report.text.message = fmt::format(
      "{} waits for '{}' >= {}{}, longer than anything after it asks: {}",
      story.operationText(excess.engine, first.at), story.sema(op.wait),
      story.points(excess.engine)[first.at].threshold, iteration.empty() ? "" : " in " + iteration,
      first.needed == 0 ? std::string("no wait is needed here")
                        : fmt::format("{} would do", enough));
  report.text.note(report.text.where,
                   fmt::format("{} of {} runs of this wait ask for too much; {} of them held "
                               "the engine up in this schedule",
                               excess.runs.size(), passes, excess.held));
  if (std::string note = story.registerNote(excess.engine, first.at); isStale) {
    report.text.note(report.text.where,
                     note + "; set it before this wait, or let the instruction wait for "
                            "nothing");
  }
  report.facts = {{"operation", story.operationText(excess.engine, first.at)},
                  {"iteration", iteration},
                  {"semaphore", std::string(story.sema(op.wait))},
                  {"threshold", std::to_string(story.points(excess.engine)[first.at].threshold)},
                  {"enough", std::to_string(enough)},
                  {"runs", std::to_string(passes)},
                  {"held", std::to_string(excess.held)}};
  return report;
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

namespace {

/// Who is blocked, and who could help.
class DeadlockStory : Story {
public:
  DeadlockStory(const RaceSubject &subject, const ImplState &state)
      : Story(subject), state(state) {}

  RaceReport report() {
    RaceReport report;
    report.kind = ReportKind::Deadlock;
    std::vector<EngineId> chain = chainOfWaits();
    EngineId start = chain.front();
    report.text.where = whereAt(start, state.at[start]);
    report.text.message = "deadlock: " + waitText(start);
    for (EngineId engine : chain) {
      report.text.note(whereAt(engine, state.at[engine]), helpText(engine));
    }
    addOthers(report, chain);
    report.facts.emplace_back("engine", std::string(kernel.nameOf(start)));
    report.facts.emplace_back("cycle", isCycle ? chainText(chain) : "");
    if (isCycle) {
      report.text.note(report.text.where, "the cycle: " + chainText(chain));
    }
    return report;
  }

private:
  bool isBlocked(EngineId engine) const {
    return system.whyBlocked(state, engine).kind == Blocked::Kind::Wait;
  }

  /// Engines that raise the semaphore later in their code, and by how much in all.
  std::vector<std::pair<EngineId, uint64_t>> helpersOf(SemaId semaphore) const {
    std::vector<std::pair<EngineId, uint64_t>> helpers;
    for (EngineId engine : kernel.engines.ids()) {
      uint64_t amount = 0;
      for (uint32_t at = state.at[engine]; at < points(engine).size(); ++at) {
        const Op &op = opAt(engine, at);
        bool raises = op.kind == OpKind::Issue || op.kind == OpKind::Signal;
        amount += raises && op.signal == semaphore ? op.amount : 0;
      }
      if (amount != 0) {
        helpers.emplace_back(engine, amount);
      }
    }
    return helpers;
  }

  /// From a blocked engine to one that could help it, and on, until one comes again (a cycle) or
  /// nobody can help.
  std::vector<EngineId> chainOfWaits() {
    std::vector<EngineId> best;
    for (EngineId start : kernel.engines.ids()) {
      if (!isBlocked(start)) {
        continue;
      }
      std::vector<EngineId> chain;
      EngineId engine = start;
      bool cycle = false;
      while (true) {
        auto seen = std::find(chain.begin(), chain.end(), engine);
        if (seen != chain.end()) {
          chain.erase(chain.begin(), seen);
          cycle = true;
          break;
        }
        chain.push_back(engine);
        auto helpers = helpersOf(system.whyBlocked(state, engine).semaphore);
        if (helpers.empty()) {
          chain = {engine}; // starved: the others only wait behind it
          break;
        }
        engine = helpers.front().first;
      }
      if (best.empty() || (!cycle && isCycle)) {
        best = chain;
        isCycle = cycle;
      }
    }
    return best;
  }

  std::string waitText(EngineId engine) const {
    Blocked blocked = system.whyBlocked(state, engine);
    std::string iteration = iterationAt(engine, state.at[engine]);
    std::string note = registerNote(engine, state.at[engine]);
    return fmt::format(
        "{} waits for '{}' >= {}, which holds {}{}{}", operationText(engine, state.at[engine]),
        sema(blocked.semaphore), blocked.threshold, blocked.value,
        iteration.empty() ? "" : ", in " + iteration, note.empty() ? "" : "; " + note);
  }

  std::string helpText(EngineId engine) const {
    Blocked blocked = system.whyBlocked(state, engine);
    auto helpers = helpersOf(blocked.semaphore);
    if (helpers.empty()) {
      return fmt::format("nobody raises '{}' any more", sema(blocked.semaphore));
    }
    std::string text = fmt::format("'{}' could still be raised", sema(blocked.semaphore));
    for (const auto &[helper, amount] : helpers) {
      text += fmt::format(" by '{}' (by {} in all)", kernel.nameOf(helper), amount);
    }
    EngineId next = helpers.front().first;
    return next == engine ? text + ", which is this engine, later in its code"
                          : text + ", but there " + waitText(next);
  }

  std::string chainText(const std::vector<EngineId> &chain) const {
    std::string text;
    for (EngineId engine : chain) {
      text += fmt::format("'{}' waits for ", kernel.nameOf(engine));
    }
    return text + fmt::format("'{}'", kernel.nameOf(chain.front()));
  }

  void addOthers(RaceReport &report, const std::vector<EngineId> &chain) const {
    for (EngineId engine : kernel.engines.ids()) {
      bool isNamed = std::find(chain.begin(), chain.end(), engine) != chain.end();
      if (isBlocked(engine) && !isNamed) {
        report.text.note(whereAt(engine, state.at[engine]), "also stuck: " + waitText(engine));
      }
    }
  }

  const ImplState &state;
  bool isCycle = false;
};

} // namespace

RaceReport deadlockOf(const RaceSubject &subject, const ImplState &state) {
  return DeadlockStory(subject, state).report();
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

std::string render(const RaceResult &result, const std::vector<std::string> &files) {
  std::string text;
  for (const RaceReport &report : result.reports) {
    text += render(report.text, files);
    text += fmt::format("note: seen in schedule '{}'; {} steps show it\n", report.schedule,
                        report.steps.size());
  }
  return text;
}

static nlohmann::ordered_json placeJson(Location where, const std::vector<std::string> &files) {
  if (!where.known() || where.file >= files.size()) {
    return nullptr;
  }
  return {{"file", files[where.file]}, {"line", where.line}, {"column", where.column}};
}

static nlohmann::ordered_json reportJson(const RaceReport &report,
                                         const std::vector<std::string> &files) {
  nlohmann::ordered_json object;
  object["kind"] = toString(report.kind);
  object["severity"] = report.text.severity == Severity::Error ? "error" : "warning";
  object["message"] = report.text.message;
  object["place"] = placeJson(report.text.where, files);
  object["count"] = report.count;
  object["steps"] = report.steps.size();
  object["facts"] = nlohmann::ordered_json::object();
  for (const auto &[key, value] : report.facts) {
    object["facts"][key] = value;
  }
  object["notes"] = nlohmann::ordered_json::array();
  for (const DiagnosticNote &note : report.text.notes) {
    object["notes"].push_back({{"message", note.message}, {"place", placeJson(note.where, files)}});
  }
  return object;
}

std::string toJson(const RaceResult &result, const std::vector<std::string> &files) {
  nlohmann::ordered_json object;
  object["verdict"] = toString(result.verdict);
  object["reason"] = result.reason;
  object["schedules"] = result.schedules;
  object["steps"] = result.steps;
  object["one_decides"] = result.oneDecides;
  object["reports"] = nlohmann::ordered_json::array();
  for (const RaceReport &report : result.reports) {
    object["reports"].push_back(reportJson(report, files));
  }
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace tally
