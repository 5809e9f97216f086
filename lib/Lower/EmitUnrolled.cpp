//===- EmitUnrolled.cpp - Loops written out, thresholds counted -----------===//
//
// All trips are constant, so every run of an instruction has a place among the runs of its queue,
// and that place is linear in its iteration vector:
//
//   place(P, v) = base(P) + sum over loops l around P of (v_l - 1) * size(l, queue)
//
// size(l, q): runs of queue q in one iteration of l. A dependence names a target vector t; the last
// run of P at or before t, in lexicographic order, is the one to wait for. If t lies before the
// first iteration of some loop, nothing is owed; if it lies behind the last one, all of that
// loop's runs are.
//
// One semaphore per queue counts places; of several waits on one semaphore the largest threshold
// stands.
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "tally/Model/RunNumbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

using namespace lowering;

namespace {

/// The loops around an instruction, outermost first, and how places grow with each.
struct RunLayout {
  struct Level {
    LoopId loop;
    uint64_t trips;
    uint64_t stride; ///< runs of the queue in one iteration
  };

  std::vector<Level> levels;
  uint64_t base = 0; ///< place of the first run
};

class UnrolledEmitter {
public:
  UnrolledEmitter(const EmitContext &context, Code &code, Diagnostics &diagnostics)
      : context(context), kernel(context.kernel), code(code), diagnostics(diagnostics),
        iteration(kernel.loops.size(), 0), layouts(kernel.instrs.size()),
        targetsOf(kernel.instrs.size()) {}

  void run() {
    layOut();
    if (!placesFit()) {
      return;
    }
    gatherWaits();
    for (EngineId e : kernel.engines.ids()) {
      engine = e;
      code.engines.push({});
      code.engines[e].engine = e;
      walkBody(rootLoop);
    }
  }

private:
  //===--- Places ---------------------------------------------------------===//

  size_t sizeKey(LoopId loop, QueueId queue) const {
    return size_t(loop.value) * kernel.queues.size() + queue.value;
  }

  void layOut() {
    sizes.assign(kernel.loops.size() * kernel.queues.size(), 0);
    for (const Instr &instr : kernel.instrs) {
      ++sizes[sizeKey(instr.home, instr.queue)];
    }
    // Inner loops have greater ids, so one backward pass adds them to their parents.
    for (uint32_t l = static_cast<uint32_t>(kernel.loops.size()); --l > 0;) {
      const Loop &loop = kernel.loops[LoopId(l)];
      for (QueueId q : kernel.queues.ids()) {
        sizes[sizeKey(loop.parent, q)] += loop.trip.constant * sizes[sizeKey(LoopId(l), q)];
      }
    }
    std::vector<uint64_t> before(kernel.queues.size(), 0);
    layOutBody(rootLoop, before);
    for (const Dep &dep : kernel.deps) {
      addLevels(dep.producer);
    }
  }

  /// Gives each instruction the place of its first run; `before`: places used up so far, as if
  /// every loop around had run only its first iteration up to here.
  void layOutBody(LoopId body, std::vector<uint64_t> &before) {
    for (StmtId s : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[s];
      if (stmt.kind == Stmt::Kind::Block) {
        for (InstrId instr : stmt.instrs) {
          layouts[instr].base = ++before[kernel.instrs[instr].queue.value];
        }
        continue;
      }
      std::vector<uint64_t> inside = before;
      layOutBody(stmt.loop, inside);
      for (QueueId q : kernel.queues.ids()) {
        before[q.value] += kernel.loops[stmt.loop].trip.constant * sizes[sizeKey(stmt.loop, q)];
      }
    }
  }

  void addLevels(InstrId producer) {
    RunLayout &layout = layouts[producer];
    if (!layout.levels.empty()) {
      return;
    }
    const Instr &instr = kernel.instrs[producer];
    for (LoopId l = instr.home; l != rootLoop; l = kernel.loops[l].parent) {
      layout.levels.push_back({l, kernel.loops[l].trip.constant, sizes[sizeKey(l, instr.queue)]});
    }
    std::reverse(layout.levels.begin(), layout.levels.end());
  }

  /// Of queues that somebody waits for.
  bool placesFit() {
    bool fit = true;
    for (const Group &group : context.plan.groups) {
      QueueId q = group.queue;
      uint64_t raised = sizes[sizeKey(rootLoop, q)] * kernel.queues[q].weight;
      if (raised < context.plan.decisions.counterLimit) {
        continue;
      }
      fit = false;
      diagnostics.error(kernel.queues[q].where,
                        fmt::format("strategy 'unrolled' counts queue '{}' up to {}, but the "
                                    "largest number that counters of this machine tell is {}",
                                    kernel.nameOf(q), raised,
                                    context.plan.decisions.counterLimit - 1));
    }
    return fit;
  }

  //===--- Waits ----------------------------------------------------------===//

  /// The dependences of each consumer, by semaphore; code.reasons lists them so.
  struct Target {
    GroupId group;
    uint32_t firstReason;
    uint32_t numReasons;
  };

  void gatherWaits() {
    code.reasons.clear();
    for (DepId dep : kernel.deps.ids()) {
      code.reasons.push_back(dep);
    }
    std::ranges::stable_sort(code.reasons, {}, [&](DepId dep) {
      return std::pair(kernel.deps[dep].consumer, context.plan.waits[dep].group);
    });
    for (uint32_t i = 0; i < code.reasons.size(); ++i) {
      GroupId group = context.plan.waits[code.reasons[i]].group;
      std::vector<Target> &targets = targetsOf[kernel.deps[code.reasons[i]].consumer];
      if (targets.empty() || targets.back().group != group) {
        targets.push_back({group, i, 0});
      }
      ++targets.back().numReasons;
    }
  }

  /// How many runs of `producer` lie at or before the vector; none owed: 0. `at(level)` gives
  /// the target on each of the first `numLevels` levels.
  template <typename At> uint64_t runsUpTo(const RunLayout &layout, size_t numLevels, At at) const {
    for (size_t j = 0; j < numLevels; ++j) {
      if (at(j) <= 0) {
        return 0;
      }
    }
    uint64_t whole = numLevels == 0; // iterations of the levels so far, up to the target
    bool behind = false;
    for (size_t j = 0; j < layout.levels.size(); ++j) {
      uint64_t trips = layout.levels[j].trips;
      whole *= trips;
      if (j < numLevels && !behind) {
        // Behind the last iteration: all of this loop's are before the target.
        uint64_t before = std::min(static_cast<uint64_t>(at(j)) - 1, trips);
        behind = before == trips;
        whole += before + (!behind && j + 1 == numLevels); // the target iteration itself
      }
    }
    return whole;
  }

  /// Place of run number `run` (from 1).
  uint64_t placeOfRun(const RunLayout &layout, uint64_t run) const {
    uint64_t rest = run - 1;
    uint64_t place = layout.base;
    for (size_t j = layout.levels.size(); j-- > 0;) {
      place += rest % layout.levels[j].trips * layout.levels[j].stride;
      rest /= layout.levels[j].trips;
    }
    return place;
  }

  /// Runs of the producer that the consumer's current run waits for.
  uint64_t required(const Dep &dep) const {
    const RunLayout &layout = layouts[dep.producer];
    if (dep.form == DistanceForm::Flat) {
      uint64_t run = runsUpTo(layout, layout.levels.size(), [&](size_t level) {
        return static_cast<int64_t>(iteration[layout.levels[level].loop]);
      });
      return run > static_cast<uint64_t>(dep.step) ? run - dep.step : 0;
    }
    LoopId shared = kernel.sharedBody(dep);
    size_t common = kernel.loops[shared].depth;
    auto target = [&](size_t level) {
      LoopId loop = layout.levels[level].loop;
      return static_cast<int64_t>(iteration[loop]) - kernel.distanceOn(dep, loop);
    };
    if (dep.form == DistanceForm::Vector) {
      return runsUpTo(layout, common, target);
    }
    std::optional<SideBySide> nests = sideBySide(kernel, dep);
    int64_t run = kernel.runNeeded(dep, numberOf(nests->consumer));
    if (run < 0) {
      return 0;
    }
    return runsUpTo(layout, layout.levels.size(), [&](size_t level) {
      return level < common ? target(level) : 1 + nests->producer.iterationOf(run, level - common);
    });
  }

  /// Of the current run of a nest.
  int64_t numberOf(const RunNumbers &nest) const {
    std::vector<int64_t> iterations;
    for (LoopId loop : nest.loops()) {
      iterations.push_back(static_cast<int64_t>(iteration[loop]) - 1);
    }
    return nest.numberOf(std::span<const int64_t>(iterations));
  }

  //===--- Walk -----------------------------------------------------------===//

  bool worksIn(LoopId loop) const {
    for (QueueId q : kernel.engines[engine].queues) {
      if (sizes[sizeKey(loop, q)] > 0) {
        return true;
      }
    }
    return false;
  }

  void walkBody(LoopId body) {
    for (StmtId s : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[s];
      if (stmt.kind == Stmt::Kind::Block) {
        for (InstrId instr : context.instrsIn(stmt, engine)) {
          issue(instr);
        }
        continue;
      }
      uint64_t trips = worksIn(stmt.loop) ? kernel.loops[stmt.loop].trip.constant : 0;
      for (uint64_t i = 1; i <= trips; ++i) {
        iteration[stmt.loop] = i;
        walkBody(stmt.loop);
      }
    }
  }

  void issue(InstrId instr) {
    std::vector<Op> &ops = code.engines[engine].ops;
    Op op = Op::issue(instr);
    for (const Target &target : targetsOf[instr]) {
      uint64_t threshold = thresholdOf(target);
      if (threshold == 0) {
        continue;
      }
      makeRoomForWait(ops, op);
      setWait(op, SemaId(target.group.value), Operand::number(static_cast<uint32_t>(threshold)),
              target.firstReason, target.numReasons);
    }
    context.setSignal(op, instr);
    ops.push_back(op);
  }

  uint64_t thresholdOf(const Target &target) const {
    uint64_t threshold = 0;
    for (uint32_t r = 0; r < target.numReasons; ++r) {
      const Dep &dep = kernel.deps[code.reasons[target.firstReason + r]];
      uint64_t runs = required(dep);
      if (runs > 0) {
        uint64_t place = placeOfRun(layouts[dep.producer], runs);
        uint32_t weight = kernel.queues[kernel.instrs[dep.producer].queue].weight;
        threshold = std::max(threshold, place * weight);
      }
    }
    return threshold;
  }

  const EmitContext &context;
  const Kernel &kernel;
  Code &code;
  Diagnostics &diagnostics;
  IdVector<LoopId, uint64_t> iteration; ///< of each loop being written out
  IdVector<InstrId, RunLayout> layouts;
  IdVector<InstrId, std::vector<Target>> targetsOf;
  std::vector<uint64_t> sizes; ///< by sizeKey: runs of the queue in one entry of the loop
  EngineId engine;
};

} // namespace

void lowering::emitUnrolled(const EmitContext &context, Code &code, Diagnostics &diagnostics) {
  UnrolledEmitter(context, code, diagnostics).run();
}

} // namespace tally
