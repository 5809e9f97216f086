//===- ReducedTables.cpp - What follows from both systems once and for all ===//

#include "ReducedTables.h"

#include "tally/Run/Interpret.h"

#include <algorithm>
#include <map>

namespace tally::reduced {

Tables::Tables(const Lockstep &lockstep, Reduction reduction)
    : lockstep(lockstep), kernel(lockstep.implOf().kernelOf()), code(lockstep.implOf().programOf()),
      machine(lockstep.implOf().machineOf()), acts(kernel.engines.size()),
      issues(kernel.engines.size()), taken(kernel.queues.size()),
      steady(code.semaphores.size(), true), reset(code.semaphores.size(), false) {
  fillActs();
  fillTaken();
  fillAsks();
  findSteady();
  markEager();
  markWaits();
  markDrains();
  if (reduction == Reduction::Local) {
    nothingIsEager();
  }
}

void Tables::fillActs() {
  const ImplSystem &impl = lockstep.implOf();
  for (EngineId e : kernel.engines.ids()) {
    const std::vector<ImplPoint> &points = impl.trajectory(e);
    const std::vector<Instance> &expected = lockstep.specOf().issuesOf(e);
    size_t numIssues = 0;
    for (uint32_t p = 0; p < points.size(); ++p) {
      const Op &op = *impl.headAt(e, p);
      if (!touchesOutside(op.kind)) {
        continue;
      }
      Act act{op.kind, p, points[p].threshold, op.wait, op.signal, op.amount, {}};
      if (op.kind == OpKind::Issue) {
        act.queue = kernel.instrs[op.instr()].queue;
        act.outOfOrder = numIssues >= expected.size() ||
                         expected[numIssues] != Instance{op.instr(), points[p].run};
        ++numIssues;
      }
      acts[e].push_back(act);
    }
  }
}

void Tables::fillTaken() {
  for (QueueId q : kernel.queues.ids()) {
    const ImplSystem &impl = lockstep.implOf();
    for (uint32_t n = 0; n < impl.issuesOf(q).size(); ++n) {
      const Op &op = impl.issueAt(q, n);
      taken[q].push_back({op.signal, op.signal.valid() ? op.amount : 0, false});
    }
  }
}

/// The place of each run of each producer in its queue, from the specification's order: where the
/// code's differs, nothing behind that is ever issued.
void Tables::fillAsks() {
  const SpecSystem &spec = lockstep.specOf();
  std::vector<std::vector<uint32_t>> countOf(kernel.instrs.size());
  for (QueueId q : kernel.queues.ids()) {
    uint32_t count = 0;
    for (const Instance &instance : spec.issuesOf(q)) {
      countOf[instance.instr.value].push_back(++count);
    }
  }
  for (EngineId e : kernel.engines.ids()) {
    for (const Instance &instance : spec.issuesOf(e)) {
      addIssue(e, instance, countOf);
    }
  }
}

void Tables::addIssue(EngineId engine, const Instance &instance,
                      const std::vector<std::vector<uint32_t>> &countOf) {
  SpecIssue issue{instance, kernel.instrs[instance.instr].queue, static_cast<uint32_t>(asks.size()),
                  0};
  for (DepId dep : lockstep.specOf().depsOf(instance.instr)) {
    uint32_t need = lockstep.specOf().need(dep, instance.run);
    if (need == 0) {
      continue;
    }
    InstrId producer = kernel.deps[dep].producer;
    const std::vector<uint32_t> &counts = countOf[producer.value];
    QueueId queue = kernel.instrs[producer].queue;
    asks.push_back({queue, need <= counts.size() ? counts[need - 1] : never, dep});
    mark(queue, asks.back().count);
    ++issue.numAsks;
  }
  issues[engine].push_back(issue);
}

void Tables::mark(QueueId queue, uint32_t count) {
  if (count >= 1 && count <= taken[queue].size()) {
    taken[queue][count - 1].marked = true;
  }
}

void Tables::findSteady() {
  IdVector<SemaId, uint64_t> raised(code.semaphores.size(), 0);
  for (const std::vector<Taken> &queue : taken) {
    for (const Taken &instr : queue) {
      if (instr.signal.valid()) {
        raised[instr.signal] += instr.amount;
      }
    }
  }
  for (const std::vector<Act> &engine : acts) {
    for (const Act &act : engine) {
      if (act.kind == OpKind::Signal) {
        raised[act.signal] += act.amount;
      }
      for (uint32_t i = 0; act.kind == OpKind::Reset && i < act.amount; ++i) {
        reset[SemaId(act.signal.value + i)] = true;
      }
    }
  }
  for (SemaId s : steady.ids()) {
    steady[s] = !reset[s] && raised[s] < machine.counterLimit();
  }
}

void Tables::markEager() {
  for (std::vector<Act> &engine : acts) {
    for (Act &act : engine) {
      act.eager =
          act.kind == OpKind::Drain || ((act.kind == OpKind::Wait || act.kind == OpKind::Issue) &&
                                        (!act.wait.valid() || steady[act.wait]));
    }
  }
}

/// The counts at which waits may begin to pass. A semaphore raised by several, or split, or not
/// steady: every one of them.
void Tables::markWaits() {
  struct Raiser {
    QueueId queue;
    bool several = false;
    std::vector<uint64_t> values; ///< after each count
  };

  IdVector<SemaId, Raiser> raisers(code.semaphores.size());
  for (const std::vector<Act> &engine : acts) {
    for (const Act &act : engine) {
      if (act.kind == OpKind::Signal) {
        raisers[act.signal].several = true;
      }
    }
  }
  for (QueueId q : kernel.queues.ids()) {
    for (const Taken &instr : taken[q]) {
      if (instr.signal.valid()) {
        Raiser &raiser = raisers[instr.signal];
        raiser.several |= raiser.queue.valid() && raiser.queue != q;
        raiser.queue = q;
      }
    }
  }
  for (SemaId s : raisers.ids()) {
    fillValues(s, raisers[s].queue, raisers[s].values);
  }
  for (const std::vector<Act> &engine : acts) {
    for (const Act &act : engine) {
      if (!act.wait.valid()) {
        continue;
      }
      const Raiser &raiser = raisers[act.wait];
      bool simple = steady[act.wait] && !raiser.several;
      if (simple && raiser.queue.valid()) {
        auto reached =
            std::lower_bound(raiser.values.begin(), raiser.values.end(), uint64_t(act.threshold));
        mark(raiser.queue, static_cast<uint32_t>(reached - raiser.values.begin()));
      } else if (!simple) {
        markAllThatRaise(act.wait);
      }
    }
  }
}

void Tables::fillValues(SemaId semaphore, QueueId queue, std::vector<uint64_t> &values) {
  values = {0};
  if (!queue.valid()) {
    return;
  }
  for (const Taken &instr : taken[queue]) {
    values.push_back(values.back() + (instr.signal == semaphore ? instr.amount : 0));
  }
}

/// But what E1 and E2 say: those have no acts.
void Tables::nothingIsEager() {
  for (std::vector<Act> &engine : acts) {
    for (Act &act : engine) {
      act.eager = false;
    }
  }
  for (std::vector<Taken> &queue : taken) {
    for (Taken &instr : queue) {
      instr.marked = true;
    }
  }
}

/// A drain passes when all that was issued before it has retired.
void Tables::markDrains() {
  for (const std::vector<Act> &engine : acts) {
    std::map<QueueId, uint32_t> issued;
    for (const Act &act : engine) {
      if (act.kind == OpKind::Issue) {
        ++issued[act.queue];
      }
      for (auto [queue, count] : issued) {
        if (act.kind == OpKind::Drain) {
          mark(queue, count);
        }
      }
    }
  }
}

void Tables::markAllThatRaise(SemaId semaphore) {
  for (std::vector<Taken> &queue : taken) {
    for (Taken &instr : queue) {
      instr.marked |= instr.signal == semaphore;
    }
  }
}

} // namespace tally::reduced
