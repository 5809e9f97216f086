//===- Race.cpp - Races and deadlocks on executed schedules ---------------===//
//
// Steps:  1. prepare   what each instruction touches and is owed, for the given trips
//         2. run       one schedule after the other, until one decides or the limits are reached;
//                      if the first does not because several raise a semaphore, hold back each
//                      queue
//         3. collect   one report for each pair of operations, from the first schedule that
//                      shows it
//         4. excess    waits that asked for too much, in the first schedule: would the run be as
//                      well ordered if they asked for less?
//
//===----------------------------------------------------------------------===//

#include "RaceReports.h"
#include "Schedulers.h"

#include "tally/Check/Spec.h"

#include <chrono>
#include <fmt/format.h>
#include <set>

namespace tally {

using namespace check;

namespace {

using Time = std::chrono::steady_clock;

/// What the dependences alone let happen after a run.
class AskedOrder {
public:
  AskedOrder(const RaceSubject &subject, uint64_t maxPoints)
      : subject(subject), maxPoints(maxPoints) {}

  /// Whether the specification, too, is stuck where a run of the code ended: some engine has more
  /// to issue, and the dependences let none.
  bool isStuck(const ImplState &state) {
    if (!spec) {
      SpecOptions limits;
      limits.maxPoints = maxPoints;
      spec = std::make_unique<SpecSystem>(subject.kernel, subject.bindings, limits);
    }
    IdVector<InstrId, uint32_t> retirements(subject.kernel.instrs.size(), 0);
    std::vector<Instance> next; // by engine that is not at its end
    for (EngineId engine : subject.kernel.engines.ids()) {
      const std::vector<Instance> &expected = spec->issuesOf(engine);
      std::vector<Instance> issued = issuedBy(state, engine);
      for (const Instance &instance : issued) {
        ++retirements[instance.instr];
      }
      if (issued.size() > expected.size() ||
          !std::equal(issued.begin(), issued.end(), expected.begin())) {
        return false; // the code has issued something else
      }
      next.insert(next.end(), expected.begin() + static_cast<ptrdiff_t>(issued.size()),
                  expected.begin() +
                      static_cast<ptrdiff_t>(std::min(issued.size() + 1, expected.size())));
    }
    return spec->complete() && !next.empty() &&
           std::ranges::none_of(next, [&](Instance i) { return spec->ready(i, retirements); });
  }

private:
  std::vector<Instance> issuedBy(const ImplState &state, EngineId engine) const {
    std::vector<Instance> issued;
    for (uint32_t at = 0; at < state.at[engine]; ++at) {
      const Op &op = *subject.system.headAt(engine, at);
      if (op.kind == OpKind::Issue) {
        issued.push_back({op.instr(), subject.system.trajectory(engine)[at].run});
      }
    }
    return issued;
  }

  const RaceSubject &subject;
  const uint64_t maxPoints;
  std::unique_ptr<SpecSystem> spec; ///< made when a run gets stuck
};

/// The reports, as many as there is room for.
class Reports {
public:
  explicit Reports(uint32_t most) : most(most) {}

  /// Keeps as many errors as there is room for, and as many warnings: none crowds out the other,
  /// since the verdict depends on the errors.
  void add(RaceReport report, std::vector<Step> steps, std::string seenIn) {
    uint32_t &kept = report.text.severity == Severity::Error ? numErrors : numWarnings;
    if (kept < most) {
      ++kept;
      report.steps = std::move(steps);
      report.schedule = std::move(seenIn);
      report.facts.emplace_back("schedule", report.schedule);
      reports.push_back(std::move(report));
    }
  }

  /// One that needs no schedule.
  void add(RaceReport report) {
    ++numErrors;
    reports.push_back(std::move(report));
  }

  bool isFull() const { return numErrors >= most; }

  /// Whether there is no report about these yet, and one more could matter.
  bool isNew(ReportKind kind, uint64_t first, uint64_t second) {
    return !isFull() && seen.emplace(kind, first, second).second;
  }

  /// A race is reported of these.
  bool hasRace(uint64_t first, uint64_t second) const {
    return seen.contains({ReportKind::Race, first, second});
  }

  bool isEmpty() const { return reports.empty(); }

  /// Errors first.
  std::vector<RaceReport> take() {
    std::ranges::stable_partition(
        reports, [](const RaceReport &r) { return r.text.severity == Severity::Error; });
    return std::move(reports);
  }

private:
  const uint32_t most;
  std::vector<RaceReport> reports;
  uint32_t numErrors = 0, numWarnings = 0;
  std::set<std::tuple<ReportKind, uint64_t, uint64_t>> seen;
};

/// A wait asks too much if the run is ordered as well when it asks for less; `inAll`: in every
/// schedule, not in this one alone.
bool isTooLong(const RaceSubject &subject, const RaceRun &watched, const WaitExcess &excess,
               bool inAll) {
  std::unique_ptr<MustOrder> less;
  if (inAll) {
    std::vector<AssumedWait> waits;
    for (const ExcessRun &run : excess.runs) {
      waits.push_back({excess.engine, run.at, excess.queue, run.needed, true});
    }
    less = std::make_unique<MustOrder>(subject.system, waits);
  }
  RaceRun relaxed(subject, less.get());
  relaxed.relax(excess.engine, excess);
  for (const Step &step : watched.steps) {
    relaxed.apply(step);
  }
  return relaxed.faults.empty() && (!less || less->isSettled());
}

class RaceCheck {
public:
  RaceCheck(const Kernel &kernel, const Code &code, const Machine &machine,
            const Bindings &bindings, const RaceOptions &options)
      : options(options), end(Time::now() + std::chrono::duration_cast<Time::duration>(
                                                std::chrono::duration<double>(options.seconds))),
        subject(kernel, code, machine, bindings,
                {options.inFlight, {options.maxOperations, options.stop}, nullptr}),
        asked(subject, options.maxOperations), reports(options.maxReports) {
    result.hasRun = IdVector<InstrId, bool>(kernel.instrs.size(), false);
    result.touched = IdVector<AccessId, bool>(kernel.accesses.size(), false);
  }

  RaceResult run() {
    if (!subject.complete()) {
      result.isStopped = isSet(options.stop);
      result.reason =
          result.isStopped
              ? stopReason
              : fmt::format("the run is longer than {} operations, or a queue has more than {} "
                            "rings; give smaller trips",
                            options.maxOperations, ImplSystem::maxRings);
      return std::move(result);
    }
    collectOutside();
    for (uint32_t i = 0; i < options.schedules && !result.oneDecides && !result.timeIsUp; ++i) {
      runSchedule(i);
    }
    decide();
    return std::move(result);
  }

  RaceResult replay(const std::vector<Step> &steps, size_t &performed) {
    collectOutside();
    schedule = "as given";
    RaceRun watched(subject);
    for (performed = 0;
         performed < steps.size() && system.isEnabled(watched.state, steps[performed]);
         ++performed) {
      watched.apply(steps[performed]);
    }
    std::vector<Step> possible;
    system.enabled(watched.state, possible);
    if (possible.empty()) {
      watched.finish();
    }
    isReplay = true;
    result.schedules = 1;
    result.steps = performed;
    collect(watched, possible.empty());
    if (possible.empty() && reports.isEmpty() && !watched.deadlocked()) {
      collectExcesses(watched);
    }
    decide();
    return std::move(result);
  }

private:
  bool keepGoing(uint64_t steps) {
    if (options.progress) {
      options.progress(result.schedules, result.steps + steps);
    }
    result.isStopped = isSet(options.stop);
    result.timeIsUp = result.isStopped || Time::now() > end;
    return !result.timeIsUp;
  }

  /// What nobody waits for orders nothing, whatever happens to it.
  bool isSettled(const RaceRun &watched) const {
    const std::vector<Unsettled> &reasons = watched.order.unsettled();
    return std::ranges::none_of(
        reasons, [&](const Unsettled &reason) { return subject.isWaitedFor[reason.sema]; });
  }

  /// Until nothing can happen; false if there is no time for that.
  bool run(RaceRun &watched, Scheduler &scheduler) {
    while (std::optional<Step> step = scheduler.next(system, watched.state)) {
      watched.apply(*step);
      if ((watched.steps.size() & 0xfff) == 0 && !keepGoing(watched.steps.size())) {
        return false;
      }
    }
    watched.finish();
    return true;
  }

  void runSchedule(uint32_t number) {
    Scheduler scheduler(subject.kernel, number, options.seed);
    schedule = scheduler.name();
    RaceRun watched(subject);
    bool ended = run(watched, scheduler);
    result.steps += watched.steps.size();
    if (!keepGoing(0) && !ended) {
      collect(watched, false);
      return;
    }
    ++result.schedules;
    noteEnd(watched);
    result.oneDecides = isSettled(watched);
    if (number != 0 || !isMixedAlone(watched) || !holdBack(watched)) {
      collect(watched, true);
    }
    bool isWhole = reports.isEmpty() && !watched.deadlocked();
    if (number == 0 && isWhole && !options.isBrief) {
      collectExcesses(watched);
    }
  }

  /// How far the first schedule gets.
  void noteEnd(const RaceRun &watched) {
    if (!result.issued.empty()) {
      return;
    }
    for (const QueueState &queue : watched.state.queues) {
      result.issued.push_back(queue.issued);
    }
    for (EngineId engine : subject.kernel.engines.ids()) {
      if (system.head(watched.state, engine)) {
        result.blocked.push_back(engine);
      }
    }
  }

  /// Whether one schedule would decide if it showed which raises each wait needs.
  bool isMixedAlone(const RaceRun &watched) const {
    const std::vector<Unsettled> &reasons = watched.order.unsettled();
    return !isSettled(watched) && std::ranges::all_of(reasons, [&](const Unsettled &reason) {
      return reason.kind == Unsettled::Kind::Mixed || !subject.isWaitedFor[reason.sema];
    });
  }

  /// Holds back each queue in turn to find what is ordered in every schedule, and judges the run by
  /// that. False if that does not decide either.
  bool holdBack(const RaceRun &watched) {
    auto order = std::make_unique<MustOrder>(system, std::span<const AssumedWait>(),
                                             [this] { return keepGoing(0); });
    collectUnsettled(order->unsettled(), watched.steps);
    if (!order->isSettled()) {
      return false;
    }
    must = std::move(order);
    result.oneDecides = result.heldBack = true;
    RaceRun judged(subject, must.get());
    for (const Step &step : watched.steps) {
      judged.apply(step);
    }
    judged.finish();
    collect(judged, true);
    return true;
  }

  //===--- Collecting -----------------------------------------------------===//

  /// In whatever order the code runs.
  void collectOutside() {
    size_t count = subject.datapath ? subject.datapath->outside().size() : 0;
    for (size_t i = 0; i < count && !reports.isFull(); ++i) {
      reports.add(reportOf(subject, subject.datapath->outside()[i]));
    }
  }

  void collect(const RaceRun &watched, bool ended) {
    noteRuns(watched.state);
    // A counter that wrapped is behind all else.
    collectUnsettled(watched.order.unsettled(), watched.steps);
    collectFaults(watched, ReportKind::Race);
    collectFaults(watched, ReportKind::Unordered);
    bool isStuck = ended && watched.deadlocked();
    if (isStuck && asked.isStuck(watched.state)) {
      result.stuckTogether = true;
    } else if (isStuck && reports.isNew(ReportKind::Deadlock, 0, 0)) {
      for (RaceReport &report : deadlocksOf(subject, watched.state)) {
        reports.add(std::move(report), watched.steps, schedule);
      }
    }
  }

  void noteRuns(const ImplState &state) {
    for (QueueId queue : subject.kernel.queues.ids()) {
      for (uint32_t n = 0; n < state.queues[queue].issued; ++n) {
        result.hasRun[system.instanceAt(queue, n).instr] = true;
      }
    }
    for (InstrId instr : subject.kernel.instrs.ids()) {
      for (AccessId access : subject.kernel.instrs[instr].accesses) {
        result.touched[access] = result.hasRun[instr] && subject.datapath->isTouched(access);
      }
    }
  }

  void collectUnsettled(const std::vector<Unsettled> &reasons, const std::vector<Step> &steps) {
    for (const Unsettled &unsettled : reasons) {
      bool wraps = unsettled.kind == Unsettled::Kind::Wrapped;
      ReportKind kind = wraps ? ReportKind::Wrap : ReportKind::Reset;
      uint64_t who = uint64_t(unsettled.reset) << 32 | unsettled.other;
      if (!wraps && !subject.isWaitedFor[unsettled.sema]) {
        continue;
      }
      if (unsettled.kind != Unsettled::Kind::Mixed &&
          reports.isNew(kind, unsettled.sema.value, wraps ? 0 : who)) {
        reports.add(reportOf(subject, unsettled), steps, schedule);
      }
    }
  }

  /// Where memory shows it, the dependence alone is not reported, too.
  void collectFaults(const RaceRun &watched, ReportKind kind) {
    for (const OrderFault &fault : watched.faults) {
      uint64_t first = fault.producer().instr.value, second = fault.consumer().instr.value;
      bool isOfKind = fault.dep.valid() == (kind == ReportKind::Unordered);
      bool isKnown = reports.hasRace(first, second);
      if (isOfKind && !isKnown && reports.isNew(kind, first, second)) {
        addFault(watched, fault);
      }
    }
  }

  /// A race counts as found when a schedule shows it: both instructions in flight at once.
  void addFault(const RaceRun &watched, const OrderFault &fault) {
    if (options.isBrief) {
      return reports.add(briefReportOf(subject, fault), {}, schedule);
    }
    RaceReport report = reportOf(subject, fault);
    std::vector<Step> held =
        must && !fault.reversed ? holdBackBoth(subject, fault) : std::vector<Step>();
    bool isShown = false;
    std::vector<Step> steps =
        witnessOf(subject, held.empty() ? watched.steps : held, fault, isShown);
    if (!isShown && !must && !isSettled(watched)) {
      report.text.severity = Severity::Warning;
      report.text.note(report.text.where,
                       "no schedule was found in which both run at once; it may be that the "
                       "order is kept by something other than waits");
    }
    reports.add(std::move(report), std::move(steps),
                held.empty() ? schedule : "the earlier one held back");
  }

  void collectExcesses(const RaceRun &watched) {
    bool hasNeeds = subject.datapath || !subject.kernel.deps.empty();
    for (const auto &[op, excess] : watched.excesses) {
      if (!hasNeeds || !keepGoing(0)) {
        return;
      }
      if (isTooLong(subject, watched, excess, must != nullptr) &&
          reports.isNew(ReportKind::OverWait, op, 0)) {
        reports.add(reportOf(subject, excess, watched.passesOf(op)), watched.steps, schedule);
      }
    }
  }

  //===--- Answering ------------------------------------------------------===//

  void decide() {
    result.reports = reports.take();
    bool hasErrors =
        !result.reports.empty() && result.reports.front().text.severity == Severity::Error;
    result.verdict = hasErrors           ? Verdict::No
                     : result.oneDecides ? Verdict::Yes
                                         : Verdict::Undecided;
    bool isOutside = hasErrors && result.reports.front().kind == ReportKind::Outside;
    result.reason = isOutside ? "a tile leaves its buffer, and no access there is compared with it"
                    : hasErrors ? "what is wrong is shown by a schedule"
                                : reasonWithoutErrors();
  }

  std::string reasonWithoutErrors() const {
    return must ? "decided for every schedule: the order holds however late a queue is"
           : result.oneDecides ? "one schedule is enough: the order does not depend on the schedule"
           : result.isStopped  ? fmt::format("{}; nothing wrong was seen so far", stopReason)
           : result.timeIsUp   ? "time is up, and --time gives more; nothing wrong was seen "
                                 "so far"
           : isReplay
               ? "nothing wrong was seen in this schedule; no other was looked at"
               : "nothing wrong was seen, but resets may come at other times in other schedules";
  }

  const RaceOptions &options;
  Time::time_point end;
  const RaceSubject subject;
  const ImplSystem &system = subject.system;
  AskedOrder asked;
  Reports reports;
  std::unique_ptr<MustOrder> must; ///< if that was needed to decide, and does
  bool isReplay = false;           ///< of one schedule, which decides nothing
  std::string schedule;            ///< the one that is run
  RaceResult result;
};

} // namespace

RaceResult checkRaces(const Kernel &kernel, const Code &code, const Machine &machine,
                      const Bindings &bindings, const RaceOptions &options) {
  return RaceCheck(kernel, code, machine, bindings, options).run();
}

RaceResult checkSchedule(const Kernel &kernel, const Code &code, const Machine &machine,
                         const Bindings &bindings, const std::vector<Step> &steps,
                         const RaceOptions &options, size_t &performed) {
  return RaceCheck(kernel, code, machine, bindings, options).replay(steps, performed);
}

} // namespace tally
