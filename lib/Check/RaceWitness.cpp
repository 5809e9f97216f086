//===- RaceWitness.cpp - A short schedule that shows a race ---------------===//
//
// Of a schedule in which two instructions were not ordered, keeps what comes before either by
// happens-before, and both issues: at its end both are in flight. The steps kept are closed under
// what they need, so they can be performed alone, in the same order.
//
//===----------------------------------------------------------------------===//

#include "RaceReports.h"
#include "RaceStory.h"

#include <algorithm>

namespace tally {

using namespace check;

namespace {

/// The first steps of a schedule, up to the issue that shows the fault, and what surely came before
/// both instructions.
struct Prefix {
  std::vector<Step> steps;
  Clock clock;
};

Prefix prefixOf(const RaceSubject &subject, const std::vector<Step> &steps,
                const OrderFault &fault) {
  RaceRun run(subject);
  Clock limit(run.order.numComponents(), 0);
  bool hasEarlier = !fault.earlierIssued, hasLater = fault.reversed;
  for (const Step &step : steps) {
    Instance issued;
    if (step.kind == StepKind::Issue) {
      issued = subject.system.instanceAt(step.queue, run.state.queues[step.queue].issued);
    }
    run.apply(step);
    hasEarlier |= issued == fault.earlier;
    hasLater |= issued == fault.later;
    if (issued == fault.earlier || (issued == fault.later && !fault.reversed)) {
      std::ranges::transform(limit, run.order.clockOf(step.engine), limit.begin(),
                             [](uint32_t a, uint32_t b) { return std::max(a, b); });
    }
    if (hasEarlier && hasLater && issued.instr.valid()) {
      break;
    }
  }
  return {std::move(run.steps), std::move(limit)};
}

/// Whether both instructions of the fault are in flight; if the code has them the wrong way round,
/// the one that should come second, alone.
bool isShownBy(const ImplSystem &system, const ImplState &state, const OrderFault &fault) {
  uint32_t found = fault.reversed;
  for (QueueId queue : system.kernelOf().queues.ids()) {
    const QueueState &q = state.queues[queue];
    for (uint32_t n = q.retired; n < q.issued; ++n) {
      Instance instance = system.instanceAt(queue, n);
      found += instance == fault.earlier || instance == fault.later;
    }
  }
  return found == 2;
}

/// Steps of the code that could be performed, and where they lead.
struct PartialRun {
  explicit PartialRun(const ImplSystem &system) : system(system), state(system.initial()) {}

  /// False if the step cannot happen.
  bool perform(const Step &step) {
    if (!system.isEnabled(state, step)) {
      return false;
    }
    system.apply(state, step);
    steps.push_back(step);
    return true;
  }

  const ImplSystem &system;
  ImplState state;
  std::vector<Step> steps;
};

/// Keeps the steps within the clock, each queue committing only what then finishes. Empty if these
/// steps cannot be performed alone.
std::vector<Step> keepWithin(const RaceSubject &subject, const Prefix &prefix,
                             const OrderFault &fault) {
  HappensBefore order(subject.kernel, 0, subject.machine);
  Clock ticks(order.numComponents(), 0);
  auto isWithin = [&](const Step &step) {
    uint32_t component = step.kind == StepKind::Control || step.kind == StepKind::Issue
                             ? order.componentOf(step.engine)
                             : order.componentOf(step.queue, step.index);
    return ++ticks[component] <= prefix.clock[component];
  };
  PartialRun run(subject.system);
  for (const Step &step : prefix.steps) {
    if (step.kind == StepKind::Commit || !isWithin(step)) {
      continue;
    }
    if (step.kind == StepKind::Retire || step.kind == StepKind::Deliver) {
      const QueueState &queue = run.state.queues[step.queue];
      uint32_t place = subject.system.nextOf(run.state, step.queue, step.index) - queue.retired;
      if (place < queue.inFlight() && !queue.hasCommitted(place) &&
          !run.perform(Step::commit(step.engine, step.queue, place))) {
        return {};
      }
    }
    if (!run.perform(step)) {
      return {};
    }
  }
  return isShownBy(subject.system, run.state, fault) ? std::move(run.steps) : std::vector<Step>();
}

/// All go on in turn, but one ring does not deliver one instruction, nor a second one another.
class HoldingRun : public PartialRun {
public:
  /// A completion that does not come.
  struct Held {
    QueueId queue;
    uint32_t ring = 0;
    uint32_t place = 0; ///< in the queue, from 0

    bool operator==(const Held &) const = default;
  };

  HoldingRun(const ImplSystem &system, std::vector<Held> held)
      : PartialRun(system), held(std::move(held)) {}

  /// Until `isDone()`; false if nothing can go on before.
  template <typename IsDone> bool run(IsDone isDone) {
    bool goesOn = true;
    while (goesOn) {
      goesOn = false;
      for (EngineId engine : system.kernelOf().engines.ids()) {
        goesOn |= advance(engine);
        if (isDone()) {
          return true;
        }
      }
      for (QueueId queue : system.kernelOf().queues.ids()) {
        goesOn |= finish(queue);
      }
    }
    return false;
  }

private:
  bool advance(EngineId engine) {
    return system.head(state, engine) && perform(system.stepOf(state, engine));
  }

  bool finish(QueueId queue) {
    bool any = false;
    for (uint32_t ring = 0; ring < system.ringsOf(queue); ++ring) {
      uint32_t place = system.nextOf(state, queue, ring);
      const QueueState &q = state.queues[queue];
      if (place < q.issued && std::ranges::count(held, Held{queue, ring, place}) == 0) {
        Step completion = system.completionOf(queue, ring);
        perform(Step::commit(completion.engine, queue, place - q.retired));
        any |= perform(completion);
      }
    }
    return any;
  }

  std::vector<Held> held;
};

} // namespace

std::vector<Step> check::holdBackBoth(const RaceSubject &subject, const OrderFault &fault) {
  const ImplSystem &system = subject.system;
  const Story story(subject);
  QueueId earlierQueue = story.queueOf(fault.earlier.instr);
  QueueId laterQueue = story.queueOf(fault.later.instr);
  uint32_t earlier = story.numberOf(fault.earlier) - 1, later = story.numberOf(fault.later) - 1;
  // Which ring is late does not matter to a queue that completes as a whole.
  for (uint32_t i = 0; i < system.ringsOf(earlierQueue); ++i) {
    for (uint32_t j = 0; j < (fault.dep.valid() ? 1 : system.ringsOf(laterQueue)); ++j) {
      std::vector<HoldingRun::Held> held = {{earlierQueue, i, earlier}};
      if (!fault.dep.valid()) {
        held.push_back({laterQueue, j, later});
      }
      HoldingRun run(system, held);
      if (run.run([&] {
            bool isIssued = run.state.queues[laterQueue].issued > later;
            return isIssued && (fault.dep.valid() || isShownBy(system, run.state, fault));
          })) {
        return std::move(run.steps);
      }
    }
  }
  return {};
}

std::vector<Step> check::witnessOf(const RaceSubject &subject, const std::vector<Step> &steps,
                                   const OrderFault &fault, bool &isShown) {
  Prefix prefix = prefixOf(subject, steps, fault);
  std::vector<Step> kept = keepWithin(subject, prefix, fault);
  isShown = !kept.empty() || !fault.earlierIssued;
  return kept.empty() ? std::move(prefix.steps) : kept;
}

} // namespace tally
