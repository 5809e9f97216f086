//===- MaxPlus.h - Times of a run without events --------------------------===//
//
// A second way to the same times, for code whose semaphores are each raised by one queue and
// never reset, and for kernels with transfers on one queue at most. Every time is a maximum of sums
// of others, so they can be worked out in any order that respects the dependences between them;
// here one engine after the other goes as far as it can. No clock, no event, no order of time.
//
// Independent of  the simulator's events and queues (Sim)
// Shared          costs (Sim/Costs.h), and control: which operation comes next (Check/Impl.h,
// Spec.h)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_MAXPLUS_H
#define TALLY_ORACLE_MAXPLUS_H

#include "tally/Check/Impl.h"
#include "tally/Check/Spec.h"
#include "tally/Sim/Simulate.h"

namespace tally::oracle {

/// By the code: waits and signals as they are written.
class MaxPlus {
public:
  MaxPlus(const Kernel &kernel, const Code &code, const Machine &machine, const Timing &timing,
          const InstrCosts &costs, const Bindings &bindings, QueueId transfers = {})
      : transfers(transfers), kernel(kernel), code(code), machine(machine), timing(timing),
        costs(costs), bindings(bindings), system(kernel, code, machine, bindings),
        open(kernel.engines.size()), reached(kernel.engines.size() * kernel.loops.size(), 0),
        at(kernel.engines.size(), 0), now(kernel.engines.size(), 0), queues(kernel.queues.size()),
        raises(code.semaphores.size()), starts(kernel.instrs.size()) {}

  /// False if an engine is stuck.
  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (EngineId e : kernel.engines.ids()) {
        while (at[e] < system.trajectory(e).size() && step(e)) {
          moved = true;
        }
      }
    }
    bool isDone = true;
    for (EngineId e : kernel.engines.ids()) {
      total = std::max(total, now[e]);
      isDone &= at[e] == system.trajectory(e).size();
    }
    return isDone;
  }

  /// Starts of all runs of an instruction.
  const std::vector<Tick> &startsOf(InstrId instr) const { return starts[instr]; }

  Tick total = 0;

private:
  struct Queue {
    std::vector<Tick> starts;
    Tick next = 0;
    Tick retire = 0;
  };

  struct Raised {
    Tick at;
    uint64_t sum; ///< of all raises up to this one
  };

  bool step(EngineId e) {
    const ImplPoint &point = system.trajectory(e)[at[e]];
    const Op &op = code.engines[e].ops[point.op];
    bool waits = op.wait.valid() && !(op.once && isLaterInPass(e));
    if (waits && !wait(e, op.wait, point.threshold)) {
      return false;
    }
    if (op.kind == OpKind::Issue) {
      issue(e, op, waits);
    } else if (op.kind == OpKind::Wait) {
      now[e] += waits ? timing.wait : 0;
    } else {
      now[e] += price(e, op);
    }
    ++at[e];
    return true;
  }

  bool wait(EngineId e, SemaId semaphore, uint32_t threshold) {
    if (threshold == 0) {
      return true;
    }
    for (const Raised &raised : raises[semaphore]) {
      if (raised.sum >= threshold) {
        now[e] = raised.at > now[e] ? raised.at + timing.wake : now[e];
        return true;
      }
    }
    return false;
  }

  void issue(EngineId e, const Op &op, bool waits) {
    const InstrCost &cost = costs[op.instr()];
    Tick carried = waits ? timing.carried : 0;
    QueueId id = kernel.instrs[op.instr()].queue;
    Queue &queue = queues[id];
    uint32_t depth = id == transfers ? timing.transferDepth : timing.queueDepth;
    if (queue.starts.size() >= depth) {
      now[e] = std::max(now[e], queue.starts[queue.starts.size() - depth]);
    }
    Tick start = std::max(now[e] + carried + cost.issue + cost.startup, queue.next);
    now[e] += carried + cost.issue + cost.dispatch;
    queue.starts.push_back(start);
    starts[op.instr()].push_back(start);
    Tick finish = start + cost.duration + (cost.isTransfer ? cost.interval : 0);
    queue.next = start + cost.interval;
    queue.next = machine.queueOverlap ? queue.next : std::max(queue.next, finish);
    queue.retire = std::max(queue.retire, finish + timing.visible);
    total = std::max(total, queue.retire);
    if (op.signal.valid()) {
      std::vector<Raised> &list = raises[op.signal];
      list.push_back({queue.retire, (list.empty() ? 0 : list.back().sum) + op.amount});
    }
  }

  /// A loop that is being executed: its iterations, and how many of them are over.
  struct Running {
    const Op *begin;
    uint64_t trips, over;
  };

  /// A loop of n iterations, u in a pass: n / u passes, each with a branch, and then a loop of what
  /// is left. All of it is straight code where n is known to be u, or where only sums are made.
  Tick beginLoop(EngineId e, const Op &op, bool skips) {
    uint32_t entry = ++reached[e.value * kernel.loops.size() + op.target];
    uint64_t trips = bindings.trips(e, op.loop(), entry, [&](LoopId around) {
      auto found = std::ranges::find_if(
          open[e.value], [&](const Running &each) { return each.begin->loop() == around; });
      return found->over;
    });
    const Trip &trip = kernel.loops[op.loop()].trip;
    bool known = trip.kind == Trip::Kind::Constant;
    if (!skips) {
      open[e.value].push_back({&op, trips, 0});
    }
    if (op.amount == 0) {
      const Op *last = &op;
      while (last->kind != OpKind::LoopEnd) {
        ++last;
      }
      return skips ? static_cast<Tick>(last - &op - 1) * timing.alu : 0;
    }
    if (known && op.amount > 1 && trip.constant == op.amount) {
      return 0;
    }
    bool twice = op.amount > 1 && (!known || trip.constant % op.amount > 0);
    return timing.loopBegin * (twice ? 2 : 1) + (skips ? timing.branch : 0);
  }

  /// Whether the innermost loop is in a pass, and this is not its first iteration.
  bool isLaterInPass(EngineId e) const {
    const Running &loop = open[e.value].back();
    return loop.over < loop.trips / loop.begin->amount * loop.begin->amount &&
           loop.over % loop.begin->amount > 0;
  }

  Tick endIteration(EngineId e) {
    Running &loop = open[e.value].back();
    const Op &begin = *loop.begin;
    const Trip &trip = kernel.loops[begin.loop()].trip;
    uint64_t number = ++loop.over, trips = loop.trips;
    if (number == trips) {
      open[e.value].pop_back();
    }
    bool straight = begin.amount == 0 || (begin.amount > 1 && trip.kind == Trip::Kind::Constant &&
                                          trip.constant == begin.amount);
    if (straight) {
      return 0;
    }
    bool inRest = number > trips / begin.amount * begin.amount;
    return inRest || number % begin.amount == 0 ? timing.loopEnd : 0;
  }

  Tick addition(EngineId e) const {
    bool again = !open[e.value].empty() && open[e.value].back().begin->amount == 0 &&
                 open[e.value].back().over > 0;
    return again ? 0 : timing.alu;
  }

  /// Where an operation leads is seen from the one after it.
  Tick price(EngineId e, const Op &op) {
    bool skips = at[e] + 1 < system.trajectory(e).size()
                     ? system.trajectory(e)[at[e] + 1].op != system.trajectory(e)[at[e]].op + 1
                     : system.trajectory(e)[at[e]].op + 1 != code.engines[e].ops.size();
    switch (op.kind) {
    case OpKind::Alu:
      return addition(e);
    case OpKind::LoopBegin:
      return beginLoop(e, op, skips);
    case OpKind::LoopEnd:
      return endIteration(e);
    case OpKind::IfBegin:
    case OpKind::WhenBegin:
    case OpKind::Else:
      return timing.branch;
    default:
      return 0;
    }
  }

  QueueId transfers; ///< the queue that may have them
  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const Timing &timing;
  const InstrCosts &costs;
  const Bindings &bindings;
  ImplSystem system;
  std::vector<std::vector<Running>> open; ///< by engine, the innermost last
  std::vector<uint32_t> reached;          ///< by engine and loop: how often
  IdVector<EngineId, size_t> at;
  IdVector<EngineId, Tick> now;
  IdVector<QueueId, Queue> queues;
  IdVector<SemaId, std::vector<Raised>> raises;
  IdVector<InstrId, std::vector<Tick>> starts;
};

/// By the dependences: no code at all. Control is free except issuing.
class SpecMaxPlus {
public:
  SpecMaxPlus(const Kernel &kernel, const Machine &machine, const Timing &timing,
              const InstrCosts &costs, const Bindings &bindings)
      : kernel(kernel), machine(machine), timing(timing), costs(costs), system(kernel, bindings),
        at(kernel.engines.size(), 0), now(kernel.engines.size(), 0), next(kernel.queues.size(), 0),
        retire(kernel.queues.size(), 0), queueStarts(kernel.queues.size()),
        starts(kernel.instrs.size()), retires(kernel.instrs.size()) {}

  bool run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (EngineId e : kernel.engines.ids()) {
        while (at[e] < system.issuesOf(e).size() && issue(e, system.issuesOf(e)[at[e]])) {
          ++at[e];
          moved = true;
        }
      }
    }
    for (EngineId e : kernel.engines.ids()) {
      if (at[e] < system.issuesOf(e).size()) {
        return false;
      }
    }
    return true;
  }

  const std::vector<Tick> &startsOf(InstrId instr) const { return starts[instr]; }

private:
  bool issue(EngineId e, Instance instance) {
    for (DepId dep : system.depsOf(instance.instr)) {
      uint32_t need = system.need(dep, instance.run);
      const std::vector<Tick> &done = retires[kernel.deps[dep].producer];
      if (need > done.size()) {
        return false;
      }
      now[e] = std::max(now[e], need > 0 ? done[need - 1] : 0);
    }
    const InstrCost &cost = costs[instance.instr];
    QueueId queue = kernel.instrs[instance.instr].queue;
    std::vector<Tick> &before = queueStarts[queue];
    if (before.size() >= timing.queueDepth) {
      now[e] = std::max(now[e], before[before.size() - timing.queueDepth]);
    }
    Tick start = std::max(now[e] + cost.issue + cost.startup, next[queue]);
    now[e] += cost.issue + cost.dispatch;
    before.push_back(start);
    starts[instance.instr].push_back(start);
    next[queue] =
        start + (machine.queueOverlap ? cost.interval : std::max(cost.interval, cost.duration));
    retire[queue] = std::max(retire[queue], start + cost.duration);
    retires[instance.instr].push_back(retire[queue]);
    return true;
  }

  const Kernel &kernel;
  const Machine &machine;
  const Timing &timing;
  const InstrCosts &costs;
  SpecSystem system;
  IdVector<EngineId, size_t> at;
  IdVector<EngineId, Tick> now;
  IdVector<QueueId, Tick> next;
  IdVector<QueueId, Tick> retire;
  IdVector<QueueId, std::vector<Tick>> queueStarts;
  IdVector<InstrId, std::vector<Tick>> starts;
  IdVector<InstrId, std::vector<Tick>> retires;
};

} // namespace tally::oracle

#endif // TALLY_ORACLE_MAXPLUS_H
