//===- Spec.cpp - What the engines may do next, as specified --------------===//
//
// Steps:  1. walk    each engine's way through the tree: entries, exits and runs in a row; at each
//                    run of a consumer, what each dependence owes
//         2. step    issue if all that is owed has retired; commit; retire in order
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Spec.h"

#include "tally/Model/Iterations.h"
#include "tally/Run/KernelCursor.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

//===----------------------------------------------------------------------===//
// 1. Walk
//===----------------------------------------------------------------------===//

void SpecSystem::walk(EngineId engine, KernelCursor &cursor) {
  using Stop = KernelCursor::Stop;
  History history(kernel, engine);
  const IdVector<LoopId, LoopId> &countsAs = options.reading.countsAs;
  IdVector<LoopId, uint32_t> entries(kernel.loops.size(), 0);
  std::vector<SpecPoint> &points = trajectories[engine];
  for (Stop at = cursor.next(); at != Stop::End; at = cursor.next()) {
    if (at == Stop::Enter) {
      LoopId body = cursor.body();
      history.enter(body, cursor.iterations());
      if (!countsAs.empty() && countsAs[body].valid()) {
        history.enter(countsAs[body], cursor.iterations());
      }
      points.push_back({SpecPoint::Kind::Enter, body.value, entries[body]++});
    } else if (at == Stop::Leave) {
      points.push_back({SpecPoint::Kind::Leave, cursor.body().value, 0});
    } else {
      Instance run = owed.addRun(cursor.instr(), history, cursor.iterations());
      cursor.spend(owed.effort(run.instr, cursor.iterations().size()));
      points.push_back({SpecPoint::Kind::Issue, run.instr.value, run.run});
      engineIssues[engine].push_back(run);
      queueIssues[kernel.instrs[run.instr].queue].push_back(run);
    }
  }
}

SpecSystem::SpecSystem(const Kernel &kernel, const Bindings &bindings, const SpecOptions &options)
    : kernel(kernel), options(options), trajectories(kernel.engines.size()),
      engineIssues(kernel.engines.size()), queueIssues(kernel.queues.size()),
      owed(kernel, options.reading.neverOwed) {
  assert(options.inFlight >= 1 && options.inFlight <= maxInFlight && "as many as a word has bits");
  Fuel fuel = options.maxPoints;
  for (EngineId engine : kernel.engines.ids()) {
    KernelCursor cursor(kernel, bindings, engine, fuel);
    walk(engine, cursor);
    isComplete &= !cursor.isCutOff();
  }
}

bool SpecSystem::ready(Instance instance, const IdVector<InstrId, uint32_t> &retirements,
                       DepId *unmet) const {
  for (DepId dep : owed.depsOf(instance.instr)) {
    if (retirements[kernel.deps[dep].producer] < need(dep, instance.run)) {
      if (unmet) {
        *unmet = dep;
      }
      return false;
    }
  }
  return true;
}

std::string SpecSystem::describe(Instance instance) const {
  std::vector<LoopIteration> around;
  if (instance.run < owed.numRuns(instance.instr)) {
    auto iteration = owed.iterationsOf(instance).begin();
    for (LoopId loop : kernel.realLoops(kernel.instrs[instance.instr].home)) {
      around.push_back({loop, *iteration++ - 1});
    }
  }
  std::string text = iterationText(kernel, around);
  return fmt::format("'{}'{}{}", kernel.nameOf(instance.instr), text.empty() ? "" : " at ", text);
}

//===----------------------------------------------------------------------===//
// 2. Step
//===----------------------------------------------------------------------===//

bool SpecState::operator==(const SpecState &other) const {
  return at.raw() == other.at.raw() && queues.raw() == other.queues.raw() &&
         retirements.raw() == other.retirements.raw() && memory == other.memory;
}

SpecState SpecSystem::initial() const {
  SpecState state;
  state.at.assign(kernel.engines.size(), 0);
  state.queues.assign(kernel.queues.size(), {});
  state.retirements.assign(kernel.instrs.size(), 0);
  if (options.datapath) {
    state.memory = options.datapath->initial();
  }
  return state;
}

const SpecPoint *SpecSystem::head(const SpecState &state, EngineId engine) const {
  const std::vector<SpecPoint> &points = trajectories[engine];
  return state.at[engine] < points.size() ? &points[state.at[engine]] : nullptr;
}

bool SpecSystem::isEnabled(const SpecState &state, const Step &step) const {
  const SpecPoint *point = head(state, step.engine);
  switch (step.kind) {
  case StepKind::Control:
    return point && point->kind != SpecPoint::Kind::Issue;
  case StepKind::Issue:
    return point && point->kind == SpecPoint::Kind::Issue &&
           kernel.instrs[point->instr()].queue == step.queue &&
           state.queues[step.queue].inFlight() < options.inFlight &&
           ready({point->instr(), point->run}, state.retirements);
  case StepKind::Commit:
    return state.queues[step.queue].mayCommit(step.index, options.queueOverlap);
  case StepKind::Retire:
    return state.queues[step.queue].inFlight() > 0 && state.queues[step.queue].hasCommitted(0);
  case StepKind::Deliver:
    return false;
  }
  return false;
}

void SpecSystem::enabled(const SpecState &state, std::vector<Step> &steps) const {
  steps.clear();
  auto add = [&](const Step &step) {
    if (isEnabled(state, step)) {
      steps.push_back(step);
    }
  };
  for (EngineId e : kernel.engines.ids()) {
    const SpecPoint *point = head(state, e);
    if (point && point->kind == SpecPoint::Kind::Issue) {
      add(Step::issue(e, kernel.instrs[point->instr()].queue));
    } else {
      add(Step::control(e));
    }
  }
  for (QueueId q : kernel.queues.ids()) {
    EngineId engine = kernel.queues[q].engine;
    for (uint32_t place = 0; place < state.queues[q].inFlight(); ++place) {
      add(Step::commit(engine, q, place));
    }
    add(Step::retire(engine, q));
  }
}

void SpecSystem::apply(SpecState &state, const Step &step) const {
  assert(isEnabled(state, step) && "only enabled steps are performed");
  follow(state, step);
}

void SpecSystem::follow(SpecState &state, const Step &step) const {
  QueueState none;
  QueueState &q = step.queue.valid() ? state.queues[step.queue] : none;
  switch (step.kind) {
  case StepKind::Control:
    ++state.at[step.engine];
    return;
  case StepKind::Issue:
    ++state.at[step.engine];
    ++q.issued;
    return;
  case StepKind::Commit:
    q.committed |= uint64_t(1) << step.index;
    if (options.datapath) {
      options.datapath->commit(state.memory, queueIssues[step.queue][q.retired + step.index]);
    }
    return;
  case StepKind::Retire:
    ++state.retirements[queueIssues[step.queue][q.retired].instr];
    ++q.retired;
    q.committed >>= 1;
    return;
  case StepKind::Deliver:
    return;
  }
}

bool SpecSystem::finished(const SpecState &state) const {
  for (EngineId e : kernel.engines.ids()) {
    if (head(state, e)) {
      return false;
    }
  }
  return std::ranges::all_of(state.queues, [](const QueueState &q) { return q.inFlight() == 0; });
}

} // namespace tally
