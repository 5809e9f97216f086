//===- ReducedTables.cpp - What follows from both systems once and for all ===//

#include "ReducedTables.h"

#include "tally/Run/Interpret.h"

#include <algorithm>
#include <map>
#include <ranges>

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
  IdVector<InstrId, std::vector<uint32_t>> countOf(kernel.instrs.size());
  for (QueueId q : kernel.queues.ids()) {
    uint32_t count = 0;
    for (const Instance &instance : spec.issuesOf(q)) {
      countOf[instance.instr].push_back(++count);
    }
  }
  for (EngineId e : kernel.engines.ids()) {
    for (const Instance &instance : spec.issuesOf(e)) {
      SpecIssue issue{instance, kernel.instrs[instance.instr].queue, {}};
      for (DepId dep : spec.depsOf(instance.instr)) {
        InstrId producer = kernel.deps[dep].producer;
        const std::vector<uint32_t> &counts = countOf[producer];
        if (uint32_t need = spec.need(dep, instance.run)) {
          uint32_t count = need <= counts.size() ? counts[need - 1] : never;
          issue.asks.push_back({kernel.instrs[producer].queue, count, dep});
          mark(issue.asks.back().queue, count);
        }
      }
      issues[e].push_back(std::move(issue));
    }
  }
}

void Tables::mark(QueueId queue, uint32_t count) {
  if (count >= 1 && count <= taken[queue].size()) {
    taken[queue][count - 1].marked = true;
  }
}

void Tables::findSteady() {
  IdVector<SemaId, uint64_t> raised(code.semaphores.size(), 0);
  for (const Taken &instr : std::views::join(taken)) {
    if (instr.signal.valid()) {
      raised[instr.signal] += instr.amount;
    }
  }
  for (const Act &act : std::views::join(acts)) {
    if (act.kind == OpKind::Signal) {
      raised[act.signal] += act.amount;
    }
    for (uint32_t i = 0; act.kind == OpKind::Reset && i < act.amount; ++i) {
      reset[SemaId(act.signal.value + i)] = true;
    }
  }
  for (SemaId s : steady.ids()) {
    steady[s] = !reset[s] && raised[s] < machine.counterLimit();
  }
}

void Tables::markEager() {
  for (Act &act : std::views::join(acts)) {
    act.eager =
        act.kind == OpKind::Drain || ((act.kind == OpKind::Wait || act.kind == OpKind::Issue) &&
                                      (!act.wait.valid() || steady[act.wait]));
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
  for (const Act &act : std::views::join(acts)) {
    if (act.kind == OpKind::Signal) {
      raisers[act.signal].several = true;
    }
  }
  for (QueueId q : kernel.queues.ids()) {
    for (uint32_t n = 0; n < taken[q].size(); ++n) {
      if (taken[q][n].signal.valid()) {
        Raiser &raiser = raisers[taken[q][n].signal];
        raiser.several |= raiser.queue.valid() && raiser.queue != q;
        raiser.queue = q;
        uint64_t before = raiser.values.empty() ? 0 : raiser.values.back();
        raiser.values.resize(n + 1, before);
        raiser.values.push_back(before + taken[q][n].amount);
      }
    }
  }
  for (const Act &act : std::views::join(acts)) {
    if (!act.wait.valid()) {
      continue;
    }
    const Raiser &raiser = raisers[act.wait];
    bool simple = steady[act.wait] && !raiser.several;
    if (simple && raiser.queue.valid()) {
      auto reached = std::ranges::lower_bound(raiser.values, uint64_t(act.threshold));
      bool isReached = reached != raiser.values.end();
      mark(raiser.queue,
           isReached ? static_cast<uint32_t>(reached - raiser.values.begin()) : never);
    } else if (!simple) {
      for (Taken &instr : std::views::join(taken)) {
        instr.marked |= instr.signal == act.wait;
      }
    }
  }
}

/// But what E1 and E2 say: those have no acts.
void Tables::nothingIsEager() {
  for (Act &act : std::views::join(acts)) {
    act.eager = false;
  }
  for (Taken &instr : std::views::join(taken)) {
    instr.marked = true;
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

} // namespace tally::reduced
