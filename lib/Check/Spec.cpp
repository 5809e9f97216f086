//===- Spec.cpp - What the engines may do next, as specified --------------===//
//
// Steps:  1. walk    each engine's way through the tree: entries, exits and runs in a row, H on
//                    the way
//         2. count   at each run of a consumer, in H as it is then, what each dependence owes
//         3. step    issue if all that is owed has retired; commit; retire in order
//
// In 2, the entries of one body follow one another in the lexicographic order of their vectors, for
// an engine runs iterations in order. So those up to a target are a prefix, found by bisection.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Spec.h"

#include "Walk.h"

#include "tally/Model/Iterations.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

//===----------------------------------------------------------------------===//
// 1. Walk, 2. Count
//===----------------------------------------------------------------------===//

namespace {

/// All entries of one body so far: their vectors, one after the other.
struct Entries {
  uint32_t rank = 0;
  uint32_t count = 0;
  std::vector<uint32_t> vectors;

  /// How many have a vector that begins with something <= target.
  uint32_t upTo(std::span<const int64_t> target) const {
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      const uint32_t *vector = vectors.data() + size_t(middle) * rank;
      bool beyond = std::lexicographical_compare(target.begin(), target.end(), vector,
                                                 vector + target.size());
      (beyond ? high : low) = beyond ? middle : middle + 1;
    }
    return low;
  }
};

/// A dependence, as it is counted: by the iterations of the loops around both, outermost first.
struct Comparison {
  DepId dep;
  LoopId producerBody;
  std::vector<int64_t> deltas; ///< by common real loop; then of the inner loops, if element-wise
};

} // namespace

class SpecBuilder {
public:
  SpecBuilder(SpecSystem &result, const Bindings &bindings)
      : result(result), kernel(result.kernel), comparisons(kernel.deps.size()),
        runs(kernel.instrs.size(), 0) {
    for (DepId dep : kernel.deps.ids()) {
      comparisons[dep] = comparisonOf(dep);
      result.consumedBy[kernel.deps[dep].consumer].push_back(dep);
    }
    uint64_t fuel = result.options.maxPoints;
    for (EngineId e : kernel.engines.ids()) {
      engine = e;
      history.assign(kernel.loops.size(), {});
      result.isComplete &= Walk(kernel, bindings, e, *this, fuel).run();
    }
  }

  void enter(LoopId loop, uint64_t iteration, uint64_t) {
    if (kernel.loops[loop].kind == LoopKind::Loop) {
      vector.push_back(static_cast<uint32_t>(iteration));
    }
    result.rankOf[loop] = static_cast<uint32_t>(vector.size());
    record(loop);
    const IdVector<LoopId, LoopId> &countsAs = result.options.reading.countsAs;
    if (!countsAs.empty() && countsAs[loop].valid()) {
      record(countsAs[loop]);
    }
    point(SpecPoint::Kind::Enter, loop.value, history[loop].count - 1);
  }

  void leave(LoopId loop) {
    if (kernel.loops[loop].kind == LoopKind::Loop) {
      vector.pop_back();
    }
    point(SpecPoint::Kind::Leave, loop.value, 0);
  }

  void instr(InstrId id) {
    Instance instance{id, runs[id]++};
    for (DepId dep : result.consumedBy[id]) {
      result.needs[dep].push_back(needNow(comparisons[dep]));
    }
    result.vectors[id].insert(result.vectors[id].end(), vector.begin(), vector.end());
    result.engineIssues[engine].push_back(instance);
    result.queueIssues[kernel.instrs[id].queue].push_back(instance);
    point(SpecPoint::Kind::Issue, id.value, instance.run);
  }

private:
  void point(SpecPoint::Kind kind, uint32_t id, uint32_t run) {
    result.trajectories[engine].push_back({kind, id, run});
  }

  void record(LoopId body) {
    Entries &entries = history[body];
    entries.rank = static_cast<uint32_t>(vector.size());
    entries.vectors.insert(entries.vectors.end(), vector.begin(), vector.end());
    ++entries.count;
  }

  Comparison comparisonOf(DepId id) const {
    const Dep &dep = kernel.deps[id];
    Comparison comparison;
    comparison.dep = id;
    comparison.producerBody = kernel.instrs[dep.producer].home;
    LoopId consumerBody = kernel.instrs[dep.consumer].home;
    LoopId shared = kernel.commonLoop(comparison.producerBody, consumerBody);
    for (LoopId l = shared; l != rootLoop; l = kernel.loops[l].parent) {
      if (!kernel.loops[l].isBranch()) {
        comparison.deltas.insert(comparison.deltas.begin(), kernel.distanceOn(dep, l));
      }
    }
    if (dep.form == DistanceForm::Element) {
      comparison.deltas.push_back(dep.step);
    }
    return comparison;
  }

  /// What is owed to the consumer that is met now.
  uint32_t needNow(const Comparison &comparison) const {
    const Dep &dep = kernel.deps[comparison.dep];
    const Entries &entries = history[comparison.producerBody];
    const IdVector<DepId, bool> &neverOwed = result.options.reading.neverOwed;
    if (!neverOwed.empty() && neverOwed[comparison.dep]) {
      return 0;
    }
    if (dep.form == DistanceForm::Flat) {
      return static_cast<uint32_t>(std::max<int64_t>(0, int64_t(entries.count) - dep.step));
    }
    std::vector<int64_t> target;
    for (size_t j = 0; j < comparison.deltas.size(); ++j) {
      // The consumer's inner loop stands at the same place as the producer's: behind the common
      // ones. No other real loop lies between.
      target.push_back(int64_t(vector[j]) - comparison.deltas[j]);
      if (target.back() <= 0) {
        return 0;
      }
    }
    return entries.upTo(target);
  }

  SpecSystem &result;
  const Kernel &kernel;
  IdVector<DepId, Comparison> comparisons;
  IdVector<InstrId, uint32_t> runs;
  IdVector<LoopId, Entries> history; ///< H of the engine being walked
  std::vector<uint32_t> vector;
  EngineId engine;
};

SpecSystem::SpecSystem(const Kernel &kernel, const Bindings &bindings, const SpecOptions &options)
    : kernel(kernel), options(options), trajectories(kernel.engines.size()),
      engineIssues(kernel.engines.size()), queueIssues(kernel.queues.size()),
      consumedBy(kernel.instrs.size()), needs(kernel.deps.size()), vectors(kernel.instrs.size()),
      rankOf(kernel.loops.size(), 0) {
  assert(options.inFlight >= 1 && options.inFlight <= maxInFlight && "as many as a word has bits");
  SpecBuilder(*this, bindings);
}

uint32_t SpecSystem::need(DepId dep, uint32_t consumerRun) const {
  return consumerRun < needs[dep].size() ? needs[dep][consumerRun] : 0;
}

bool SpecSystem::ready(Instance instance, const IdVector<InstrId, uint32_t> &retirements,
                       DepId *unmet) const {
  for (DepId dep : consumedBy[instance.instr]) {
    if (retirements[kernel.deps[dep].producer] < need(dep, instance.run)) {
      if (unmet) {
        *unmet = dep;
      }
      return false;
    }
  }
  return true;
}

std::span<const uint32_t> SpecSystem::iterationsOf(Instance instance) const {
  size_t rank = rankOf[kernel.instrs[instance.instr].home];
  if (vectors[instance.instr].size() < rank * (instance.run + 1)) {
    return {};
  }
  return std::span(vectors[instance.instr]).subspan(rank * instance.run, rank);
}

std::string SpecSystem::describe(Instance instance) const {
  std::span<const uint32_t> vector = iterationsOf(instance);
  std::vector<LoopIteration> around(vector.size());
  size_t level = vector.size();
  for (LoopId l = kernel.instrs[instance.instr].home; l != rootLoop && level > 0;
       l = kernel.loops[l].parent) {
    if (!kernel.loops[l].isBranch()) {
      --level;
      around[level] = {l, vector[level] - 1};
    }
  }
  std::string text = iterationText(kernel, around);
  return fmt::format("'{}'{}{}", kernel.nameOf(instance.instr), text.empty() ? "" : " at ", text);
}

//===----------------------------------------------------------------------===//
// 3. Step
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
  case StepKind::Commit: {
    const QueueState &q = state.queues[step.queue];
    return q.mayCommit(step.index, options.queueOverlap);
  }
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
  return std::all_of(state.queues.begin(), state.queues.end(),
                     [](const QueueState &q) { return q.inFlight() == 0; });
}

} // namespace tally
