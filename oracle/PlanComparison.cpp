//===- PlanComparison.cpp - A plan's thresholds against the definition ----===//

#include "oracle/PlanComparison.h"

#include "oracle/KernelWalk.h"

#include "tally/Model/Place.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tally::oracle {

std::vector<Definition> defineAll(const Kernel &kernel, const Bindings &bindings) {
  std::vector<Definition> definitions;
  for (EngineId engine : kernel.engines.ids()) {
    definitions.emplace_back(kernel, bindings, engine);
  }
  return definitions;
}

bool anyCutOff(const std::vector<Definition> &definitions) {
  return std::any_of(definitions.begin(), definitions.end(),
                     [](const Definition &definition) { return definition.cutOff(); });
}

Signals signalsOf(const Kernel &kernel, const SyncPlan &plan) {
  Signals signals(kernel.instrs.size());
  for (InstrId instr : kernel.instrs.ids()) {
    GroupId group = plan.groupOf[instr];
    if (group.valid()) {
      signals[instr] = {group.value, kernel.queues[kernel.instrs[instr].queue].weight};
    }
  }
  return signals;
}

std::string describeRun(const Kernel &kernel, const Definition &definition, InstrId instr,
                        uint64_t run) {
  return fmt::format("'{}' at ({})", kernel.nameOf(instr),
                     fmt::join(definition.vectorOf(instr, run), ", "));
}

/// Counters raised out of order would have no "smallest value that shows a run".
static std::optional<std::string> findMixedGroup(const Kernel &kernel, const SyncPlan &plan) {
  for (InstrId instr : kernel.instrs.ids()) {
    GroupId group = plan.groupOf[instr];
    if (group.valid() && plan.groups[group].queue != kernel.instrs[instr].queue) {
      return fmt::format("'{}' raises a semaphore of another queue", kernel.nameOf(instr));
    }
  }
  return {};
}

namespace {

/// What an engine has counted at some point of its walk.
class Counters {
public:
  Counters(const Kernel &kernel, const SyncPlan &plan)
      : kernel(kernel), plan(plan), totals(kernel.loops.size(), 0), trips(kernel.loops.size(), 0),
        ordinals(kernel.instrs.size(), 0), raisedOn(kernel.queues.size(), 0),
        ringsOfLoop(kernel.loops.size()) {
    for (RingId ring : plan.rings.ids()) {
      ringsOfLoop[plan.rings[ring].loop].push_back(ring);
      slots.push(std::vector<uint64_t>(plan.rings[ring].depth, 0));
    }
  }

  void enter(LoopId loop, uint64_t iteration) {
    shiftRings(loop, StmtId());
    ++totals[loop];
    trips[loop] = iteration;
  }

  /// A statement is about to be reached: late rings are shifted.
  void reach(const Stmt &stmt) { shiftRings(stmt.parent, kernel.loops[stmt.loop].stmt); }

  void leave(LoopId loop) { trips[loop] = 0; }

  /// A block is one step: its engines are not ordered, so none of it is half done.
  void block(const Stmt &stmt) {
    for (InstrId instr : stmt.instrs) {
      QueueId queue = kernel.instrs[instr].queue;
      if (!plan.sharesQueue(instr)) {
        continue;
      }
      ordinals[instr] = raisedOn[queue] += kernel.queues[queue].weight;
    }
  }

  uint64_t read(const Expr &leaf) {
    switch (leaf.op) {
    case ExprOp::Const:
      return leaf.a;
    case ExprOp::Total:
      return totals[LoopId(leaf.a)];
    case ExprOp::Trip:
      uncountable |= trips[LoopId(leaf.a)] == 0;
      return trips[LoopId(leaf.a)];
    case ExprOp::Rounds: {
      const Rounds &rounds = plan.rounds[RoundsId(leaf.a)];
      uint64_t run = runOf(rounds.loop, rounds.around);
      uncountable |= run == 0;
      return run <= rounds.first ? 0 : (run - rounds.first - 1) / rounds.every + 1;
    }
    case ExprOp::Ordinal:
      return ordinals[InstrId(leaf.a)];
    case ExprOp::Snapshot:
      return readSlot(RingId(leaf.a), leaf.b);
    default:
      uncountable = true;
      return 0;
    }
  }

  /// The number of the run of a body in this iteration of `around`, from 1; 0 if it does not run.
  uint64_t runOf(LoopId body, LoopId around) const {
    LoopId outer = kernel.loops[body].parent;
    uint64_t before = outer == around ? 1 : runOf(outer, around);
    bool isRunning = before != 0 && trips[body] != 0;
    return isRunning ? (before - 1) * *kernel.loops[body].knownTrips() + trips[body] : 0;
  }

  /// Whether something was read that no engine has: the trip of a loop that is not
  /// running, a slot that a ring does not have.
  bool readUncountable() const { return uncountable; }

private:
  void shiftRings(LoopId loop, StmtId before) {
    for (RingId ring : ringsOfLoop[loop]) {
      if (plan.rings[ring].before == before) {
        shift(ring);
      }
    }
  }

  void shift(RingId id) {
    const Ring &ring = plan.rings[id];
    std::vector<uint64_t> &values = slots[id];
    uint64_t now = ring.total.valid() ? totals[ring.total] : ordinals[ring.ordinal];
    values.insert(values.begin(), now);
    values.pop_back();
  }

  uint64_t readSlot(RingId ring, uint32_t slot) {
    if (slot == 0 || slot > slots[ring].size()) {
      uncountable = true;
      return 0;
    }
    return slots[ring][slot - 1];
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  IdVector<LoopId, uint64_t> totals;
  IdVector<LoopId, uint64_t> trips;
  IdVector<InstrId, uint64_t> ordinals;
  IdVector<QueueId, uint64_t> raisedOn; ///< runs of a queue times its weight
  IdVector<LoopId, std::vector<RingId>> ringsOfLoop;
  IdVector<RingId, std::vector<uint64_t>> slots;
  bool uncountable = false;
};

/// Walks one consumer engine and compares at each block.
class ComparingVisitor {
public:
  ComparingVisitor(const Kernel &kernel, const SyncPlan &plan, const Definition &definition,
                   EngineId engine)
      : kernel(kernel), plan(plan), definition(definition), engine(engine), counters(kernel, plan),
        depsOf(kernel.instrs.size()), dominated(kernel.instrs.size()), valuesOf(kernel.deps.size()),
        runs(kernel.instrs.size(), 0) {
    Signals signals = signalsOf(kernel, plan);
    for (DepId dep : kernel.deps.ids()) {
      const Dep &ends = kernel.deps[dep];
      if (kernel.engineOf(ends.consumer) == engine) {
        depsOf[ends.consumer].push_back(dep);
        valuesOf[dep] = definition.valuesAfterRuns(ends.producer, signals);
      }
    }
    for (InstrId consumer : kernel.instrs.ids()) {
      findDominated(consumer);
    }
  }

  void reach(const Stmt &stmt) { counters.reach(stmt); }

  void enter(LoopId loop, uint64_t iteration) { counters.enter(loop, iteration); }

  void leave(LoopId loop) { counters.leave(loop); }

  void block(const Stmt &stmt) {
    counters.block(stmt);
    for (InstrId instr : stmt.instrs) {
      if (!mismatch && kernel.engineOf(instr) == engine) {
        check(instr);
      }
    }
  }

  std::optional<std::string> mismatch;

private:
  void findDominated(InstrId consumer) {
    for (DepId strong : depsOf[consumer]) {
      for (DepId weak : depsOf[consumer]) {
        if (strong != weak && plan.waits[strong].group.valid() && plan.waits[weak].group.valid() &&
            dominates(kernel, plan, strong, weak)) {
          dominated[consumer].emplace_back(strong, weak);
        }
      }
    }
  }

  void check(InstrId consumer) {
    uint64_t run = runs[consumer]++;
    for (DepId dep : depsOf[consumer]) {
      checkWait(dep, run);
    }
    for (auto [strong, weak] : dominated[consumer]) {
      bool sameSemaphore = plan.waits[strong].group == plan.waits[weak].group;
      if (!mismatch && (!sameSemaphore || thresholdOf(strong) < thresholdOf(weak))) {
        fail(weak, run,
             fmt::format("threshold {}, but dependence {}, said to dominate it, has {}",
                         thresholdOf(weak), strong.value, thresholdOf(strong)));
      }
    }
  }

  uint64_t thresholdOf(DepId dep) {
    return evaluate(plan.exprs, plan.waits[dep].threshold,
                    [this](const Expr &leaf) { return counters.read(leaf); });
  }

  void checkWait(DepId dep, uint64_t run) {
    const Wait &wait = plan.waits[dep];
    const Need &need = definition.needs(dep)[run];
    if (wait.waitClass == WaitClass::CoveredByBarrier || wait.waitClass == WaitClass::Implied) {
      return; // whether engines meet there, or other waits are enough, is seen when the code runs
    }
    if (!wait.group.valid()) {
      if (need.runs != 0) {
        fail(dep, run, fmt::format("no wait, but {} runs are owed", need.runs));
      }
      return;
    }
    if (plan.groupOf[kernel.deps[dep].producer] != wait.group) {
      fail(dep, run, "the wait is on a semaphore that the producer does not raise");
      return;
    }
    uint64_t low = valuesOf[dep][need.runs];
    uint64_t high = valuesOf[dep][mostRuns(need, allowanceOf(kernel, plan, dep))];
    checkThreshold(dep, run, low, std::max({high, mostOfJoint(dep, run), mostOfTwin(dep, run)}));
  }

  /// What the dependence on the other branch asks for that has the same wait; otherwise 0.
  uint64_t mostOfTwin(DepId dep, uint64_t run) const {
    const Wait &wait = plan.waits[dep];
    uint64_t most = 0;
    if (plan.groups[wait.group].isJoin()) {
      for (DepId other : depsOf[kernel.deps[dep].consumer]) {
        bool isTwin =
            plan.waits[other].group == wait.group && plan.waits[other].threshold == wait.threshold;
        const Need &need = definition.needs(other)[run];
        most = isTwin ? std::max(most,
                                 valuesOf[other][mostRuns(need, allowanceOf(kernel, plan, other))])
                      : most;
      }
    }
    return most;
  }

  /// A distance that is not a number of runs waits as one only together with others of the same
  /// ends: for what any of them needs. Otherwise 0.
  uint64_t mostOfJoint(DepId dep, uint64_t run) const {
    const Dep &ends = kernel.deps[dep];
    uint64_t most = 0;
    if (plan.waits[dep].waitClass == WaitClass::Flat && ends.form != DistanceForm::Flat) {
      for (DepId other : depsOf[ends.consumer]) {
        if (kernel.deps[other].producer == ends.producer) {
          most = std::max(most, valuesOf[other][definition.needs(other)[run].runs]);
        }
      }
    }
    return most;
  }

  void checkThreshold(DepId dep, uint64_t run, uint64_t low, uint64_t high) {
    ExprId expr = plan.waits[dep].threshold;
    uint64_t seen = thresholdOf(dep);
    if (counters.readUncountable()) {
      fail(dep, run, "the threshold reads what the engine does not count there");
    } else if (seen < low || seen > high) {
      fail(dep, run,
           fmt::format("threshold {}, but the definition asks for {}..{}", seen, low, high));
    } else if (uint32_t word = evaluateWord(expr); word != seen) {
      fail(dep, run, fmt::format("threshold {}, but {} in 32-bit words", seen, word));
    }
  }

  uint32_t evaluateWord(ExprId id) {
    const Expr &expr = plan.exprs[id];
    if (isLeaf(expr.op)) {
      return static_cast<uint32_t>(counters.read(expr));
    }
    uint32_t a = evaluateWord(ExprId(expr.a));
    uint32_t b = evaluateWord(ExprId(expr.b));
    switch (expr.op) {
    case ExprOp::Add:
      return a + b;
    case ExprOp::Sub:
      return a - b;
    case ExprOp::Monus:
      return a > b ? a - b : 0;
    case ExprOp::Mul:
      return a * b;
    case ExprOp::Min:
      return std::min(a, b);
    default:
      return a > b;
    }
  }

  void fail(DepId dep, uint64_t run, std::string what) {
    const Dep &ends = kernel.deps[dep];
    mismatch = fmt::format("dependence {} of '{}' on '{}' ({}), run {} of {} on '{}': {}",
                           dep.value, kernel.nameOf(ends.consumer), kernel.nameOf(ends.producer),
                           toString(plan.waits[dep].waitClass), run + 1,
                           describeRun(kernel, definition, ends.consumer, run),
                           kernel.nameOf(engine), what);
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  const Definition &definition;
  EngineId engine;
  Counters counters;
  IdVector<InstrId, std::vector<DepId>> depsOf;
  IdVector<InstrId, std::vector<std::pair<DepId, DepId>>> dominated; ///< stronger, weaker
  IdVector<DepId, std::vector<uint64_t>> valuesOf;
  IdVector<InstrId, uint64_t> runs;
};

} // namespace

Allowance allowanceOf(const Kernel &kernel, const SyncPlan &plan, DepId dep) {
  if (plan.waits[dep].waitClass == WaitClass::Implied) {
    return Allowance::None;
  }
  if (plan.waits[dep].exact) {
    return Allowance::Exact;
  }
  const Dep &what = kernel.deps[dep];
  int64_t reach = what.form == DistanceForm::Flat ? what.step : placeOf(kernel, what).offset;
  bool isForgotten =
      plan.decisions.rememberedFor(dep) < mostRemembered || reach > int64_t(mostRemembered);
  return isForgotten ? Allowance::Sequence : Allowance::Carrier;
}

IdVector<DepId, Allowance> allowancesOf(const Kernel &kernel, const SyncPlan &plan) {
  IdVector<DepId, Allowance> allowances(kernel.deps.size());
  for (DepId dep : kernel.deps.ids()) {
    allowances[dep] = allowanceOf(kernel, plan, dep);
  }
  return allowances;
}

std::optional<std::string> comparePlan(const Kernel &kernel, const SyncPlan &plan,
                                       const Bindings &bindings,
                                       const std::vector<Definition> &definitions) {
  if (std::optional<std::string> mixed = findMixedGroup(kernel, plan)) {
    return mixed;
  }
  for (EngineId engine : kernel.engines.ids()) {
    ComparingVisitor visitor(kernel, plan, definitions[engine.value], engine);
    KernelWalk(kernel, bindings, engine, visitor).run(UINT64_MAX);
    if (visitor.mismatch) {
      return visitor.mismatch;
    }
  }
  return {};
}

} // namespace tally::oracle
