//===- RaceWitness.cpp - A short schedule that shows a race ---------------===//
//
// Of a schedule in which two instructions were not ordered, keeps what comes before either by
// happens-before, and both issues: at its end both are in flight. The steps kept are closed under
// what they need, so they can be performed alone, in the same order.
//
//===----------------------------------------------------------------------===//

#include "RaceReports.h"

#include <algorithm>

namespace tally {
namespace {

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
  std::vector<Step> prefix(steps.begin(),
                           steps.begin() + static_cast<ptrdiff_t>(finder.numSteps()));
  std::vector<Step> kept = keepWithin(subject, prefix, finder.clock(), fault);
  isShown = !kept.empty() || !fault.earlierIssued;
  return kept.empty() ? prefix : kept;
}

} // namespace tally
