//===- AllSchedules.h - All states that code can come to ------------------===//
//
// Walks every schedule of small code and notes what it shows. It notes which instructions that
// touch the same memory are in flight at once, or are issued before one that the kernel has first;
// whether it gets stuck; and what memory holds at the end. It knows nothing of clocks, of order, or
// of what the race check holds back.
//
// Independent of  the race check, and of the explorer's reductions
// Shared          the steps of code (Check/Impl.h)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_ALLSCHEDULES_H
#define TALLY_ORACLE_ALLSCHEDULES_H

#include "KernelWalk.h"

#include "tally/Check/Impl.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_set>

namespace tally::oracle {

struct StateHash {
  size_t operator()(const std::vector<uint32_t> &key) const {
    uint64_t hash = 0;
    for (uint32_t word : key) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// All states that code can come to.
class AllSchedules {
public:
  /// With a datapath in the system, effects on memory are steps of their own.
  /// What `mayIssue`, if there is one, says no to is not issued then.
  AllSchedules(const ImplSystem &system, const Bindings &bindings, const Datapath &datapath,
               size_t maxStates,
               const std::function<bool(const ImplState &, Instance)> &mayIssue = {})
      : system(system), datapath(datapath), hasMemory(system.optionsOf().datapath),
        mayIssue(mayIssue) {
    findRuns(bindings);
    visit(system.initial());
    while (!todo.empty() && complete) {
      ImplState state = std::move(todo.back());
      todo.pop_back();
      judge(state);
      expand(state);
      complete = known.size() <= maxStates;
    }
  }

  bool complete = true;
  bool deadlock = false;
  std::set<std::pair<uint32_t, uint32_t>> racing; ///< instructions, in both orders
  /// Of instructions in one loop, without branches: the one that comes first in the text, and the
  /// other.
  std::set<std::pair<uint32_t, uint32_t>> racingInText;
  /// Instructions that are issued although one that the kernel has before them, and that touches
  /// the same memory, is not yet: that one, and they.
  std::set<std::pair<uint32_t, uint32_t>> reversed;
  std::set<std::vector<ValueId>> memories; ///< at the end

private:
  using Key = std::vector<uint32_t>;

  /// An instruction of a queue.
  struct Issued {
    Instance instance;
    QueueId queue;
    uint32_t number = 0;
  };

  /// Runs in the order in which one engine after the other would meet them, statement by statement.
  struct TextOrder {
    const Kernel &kernel;
    std::map<Instance, uint32_t> places;
    std::map<InstrId, uint32_t> runs;

    void reach(const Stmt &) {}

    void enter(LoopId, uint64_t) {}

    void leave(LoopId) {}

    void block(const Stmt &stmt) {
      for (InstrId instr : stmt.instrs) {
        places.emplace(Instance{instr, runs[instr]++}, static_cast<uint32_t>(places.size()));
      }
    }
  };

  /// What has to be issued before each run, for code that issues all of them. The engines agree.
  void findRuns(const Bindings &bindings) {
    const Kernel &kernel = system.kernelOf();
    TextOrder order{kernel, {}, {}};
    oracle::KernelWalk(kernel, bindings, EngineId(0), order).run(1'000'000);
    std::vector<Issued> all;
    for (QueueId queue : kernel.queues.ids()) {
      for (uint32_t n = 0; n < system.issuesOf(queue).size(); ++n) {
        all.push_back({system.instanceAt(queue, n), queue, n});
      }
    }
    for (const Issued &a : all) {
      for (const Issued &b : all) {
        bool isFirst = order.places[a.instance] < order.places[b.instance];
        if (isFirst && (conflict(a.instance, b.instance) || conflict(b.instance, a.instance))) {
          before[b.instance].push_back(a);
        }
      }
    }
  }

  void noteIssue(const ImplState &state, Instance instance) {
    for (const Issued &first : before[instance]) {
      if (state.queues[first.queue].issued <= first.number) {
        reversed.emplace(first.instance.instr.value, instance.instr.value);
      }
    }
  }

  void visit(ImplState state) {
    passLocal(state);
    Key key(state.at.raw());
    for (const QueueState &q : state.queues) {
      key.insert(key.end(), {q.issued, q.retired, uint32_t(q.committed)});
    }
    key.insert(key.end(), state.semaphores.begin(), state.semaphores.end());
    key.insert(key.end(), state.rings.begin(), state.rings.end());
    for (ValueId value : state.memory) {
      key.push_back(value.value);
    }
    if (known.insert(std::move(key)).second) {
      todo.push_back(std::move(state));
    }
  }

  void expand(const ImplState &state) {
    std::vector<Step> steps;
    system.enabled(state, steps);
    if (steps.empty()) {
      deadlock |= !system.finished(state);
      memories.insert(state.memory);
    }
    for (const Step &step : steps) {
      if (hasMemory || step.kind == StepKind::Control || step.kind == StepKind::Issue) {
        follow(state, {step});
      }
    }
    for (QueueId queue : system.kernelOf().queues.ids()) {
      if (!hasMemory) {
        finish(state, queue);
      }
    }
  }

  /// Without memory an instruction has its effect when it finishes.
  void finish(const ImplState &state, QueueId queue) {
    EngineId engine = system.kernelOf().queues[queue].engine;
    const QueueState &q = state.queues[queue];
    if (!system.isSplit(queue)) {
      follow(state, {Step::commit(engine, queue, 0), Step::retire(engine, queue)});
      return;
    }
    for (uint32_t ring = 0; ring < system.kernelOf().queues[queue].weight; ++ring) {
      uint32_t place = state.rings[system.firstRing(queue) + ring] - q.retired;
      std::vector<Step> steps;
      for (uint32_t i = 0; i <= place; ++i) {
        steps.push_back(Step::commit(engine, queue, i));
      }
      steps.push_back(Step::deliver(engine, queue, ring));
      follow(state, steps);
    }
  }

  /// Commits that have happened are left out; nothing follows if another step cannot happen.
  void follow(ImplState state, const std::vector<Step> &steps) {
    for (const Step &step : steps) {
      bool isDone = step.kind == StepKind::Commit && !hasMemory &&
                    step.index < state.queues[step.queue].inFlight() &&
                    state.queues[step.queue].hasCommitted(step.index);
      if (isDone) {
        continue;
      }
      bool isHeld =
          step.kind == StepKind::Issue && mayIssue &&
          !mayIssue(state, system.instanceAt(step.queue, state.queues[step.queue].issued));
      if (isHeld || !system.isEnabled(state, step)) {
        return;
      }
      if (step.kind == StepKind::Issue) {
        noteIssue(state, system.instanceAt(step.queue, state.queues[step.queue].issued));
      }
      system.apply(state, step);
    }
    visit(std::move(state));
  }

  /// What only its engine can see happens at once.
  void passLocal(ImplState &state) const {
    for (EngineId engine : system.kernelOf().engines.ids()) {
      for (const Op *op = system.head(state, engine); op && isLocal(op->kind);
           op = system.head(state, engine)) {
        system.apply(state, Step::control(engine));
      }
    }
  }

  static bool isLocal(OpKind kind) {
    return kind == OpKind::Alu || kind == OpKind::LoopBegin || kind == OpKind::LoopEnd ||
           kind == OpKind::IfBegin || kind == OpKind::Else || kind == OpKind::IfEnd ||
           kind == OpKind::WhenBegin || kind == OpKind::WhenEnd;
  }

  void judge(const ImplState &state) {
    std::vector<std::pair<QueueId, Instance>> flight;
    for (QueueId queue : system.kernelOf().queues.ids()) {
      for (uint32_t n = state.queues[queue].retired; n < state.queues[queue].issued; ++n) {
        flight.emplace_back(queue, system.instanceAt(queue, n));
      }
    }
    for (size_t i = 0; i < flight.size(); ++i) {
      for (size_t j = i + 1; j < flight.size(); ++j) {
        auto [queueA, a] = flight[i];
        auto [queueB, b] = flight[j];
        bool inOrder = queueA == queueB && !system.machineOf().queueOverlap;
        if (!inOrder && (conflict(a, b) || conflict(b, a))) {
          racing.emplace(a.instr.value, b.instr.value);
          racing.emplace(b.instr.value, a.instr.value);
          bool isFirst = a.run < b.run || (a.run == b.run && a.instr.value < b.instr.value);
          racingInText.emplace((isFirst ? a : b).instr.value, (isFirst ? b : a).instr.value);
        }
      }
    }
  }

  /// Whether `a` writes what `b` touches.
  bool conflict(Instance a, Instance b) const {
    const Footprint &fa = datapath.footprint(a), &fb = datapath.footprint(b);
    std::set<CellId> touched(fb.reads.begin(), fb.reads.end());
    touched.insert(fb.writes.begin(), fb.writes.end());
    return std::any_of(fa.writes.begin(), fa.writes.end(),
                       [&](CellId cell) { return touched.contains(cell); });
  }

  const ImplSystem &system;
  const Datapath &datapath;
  bool hasMemory;
  std::function<bool(const ImplState &, Instance)> mayIssue;
  std::map<Instance, std::vector<Issued>> before;
  std::unordered_set<Key, StateHash> known;
  std::vector<ImplState> todo;
};

} // namespace tally::oracle

#endif // TALLY_ORACLE_ALLSCHEDULES_H
