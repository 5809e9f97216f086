//===- Deadlock.cpp - Who waits for whom, for ever ------------------------===//
//
// Nothing is in flight, so whoever is not at the end waits for a semaphore. It could be raised by
// an engine that is stuck, too, and whose code does that at or behind the place where it
// stands, or in a loop around it. Following these leads into a cycle, or to a semaphore that nobody
// will raise any more.
//
//===----------------------------------------------------------------------===//

#include "Deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tally {
namespace sim {

/// The start of the outermost loop around an operation that is being executed, or that operation.
static uint32_t comesBackTo(const std::vector<Op> &ops, uint32_t at) {
  uint32_t depth = 0;
  uint32_t start = at;
  for (uint32_t i = 0; i < at; ++i) {
    if (ops[i].kind == OpKind::LoopBegin && depth++ == 0) {
      start = i;
    } else if (ops[i].kind == OpKind::LoopEnd && --depth == 0) {
      start = at;
    }
  }
  return start;
}

static bool mayRaise(const std::vector<Op> &ops, uint32_t at, SemaId semaphore) {
  return std::any_of(ops.begin() + comesBackTo(ops, at), ops.end(), [&](const Op &op) {
    return op.signal == semaphore && (op.kind == OpKind::Signal || op.kind == OpKind::Issue);
  });
}

static StuckEngine *stuckAt(SimResult &result, EngineId engine) {
  auto found = std::find_if(result.stuck.begin(), result.stuck.end(),
                            [&](const StuckEngine &stuck) { return stuck.engine == engine; });
  return found != result.stuck.end() ? &*found : nullptr;
}

/// Of several that could raise it, another engine than the waiter is more telling.
static EngineId raiserOf(const Code &code, const IdVector<EngineId, uint32_t> &at,
                         SimResult &result, const StuckEngine &waiter) {
  EngineId raiser;
  for (const StuckEngine &other : result.stuck) {
    bool may = mayRaise(code.engines[other.engine].ops, at[other.engine], waiter.semaphore);
    if (may && (!raiser.valid() || raiser == waiter.engine)) {
      raiser = other.engine;
    }
  }
  return raiser;
}

void findDeadlock(const Kernel &kernel, const Code &code, const IdVector<EngineId, uint32_t> &at,
                  const IdVector<SemaId, uint32_t> &semaphores, SimResult &result) {
  for (EngineId id : kernel.engines.ids()) {
    const std::vector<Op> &ops = code.engines[id].ops;
    if (at[id] < ops.size() && ops[at[id]].wait.valid()) {
      SemaId semaphore = ops[at[id]].wait;
      result.stuck.push_back({id, at[id], semaphore, semaphores[semaphore], 0, {}});
    }
  }
  for (StuckEngine &stuck : result.stuck) {
    stuck.raiser = raiserOf(code, at, result, stuck);
  }
  for (const StuckEngine &first : result.stuck) {
    std::vector<EngineId> way;
    EngineId next = first.engine;
    while (next.valid() && std::find(way.begin(), way.end(), next) == way.end()) {
      way.push_back(next);
      next = stuckAt(result, next)->raiser;
    }
    if (next.valid()) {
      result.cycle.assign(std::find(way.begin(), way.end(), next), way.end());
      return;
    }
  }
}

} // namespace sim

static std::string describeWait(const Kernel &kernel, const Code &code, const StuckEngine &stuck) {
  const Op &op = code.engines[stuck.engine].ops[stuck.op];
  std::string before = op.kind == OpKind::Issue
                           ? fmt::format(" to issue '{}'", kernel.nameOf(op.instr()))
                           : std::string();
  std::string line =
      fmt::format("'{}' waits{} for '{}' >= {}, which holds {}", kernel.nameOf(stuck.engine),
                  before, code.semaphores[stuck.semaphore].name, stuck.threshold, stuck.value);
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    const Dep &dep = kernel.deps[code.reasons[op.firstReason + i]];
    line += fmt::format("{} '{}' -> '{}'", i == 0 ? ", by the dependence" : ",",
                        kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer));
  }
  return line + (stuck.raiser.valid()
                     ? fmt::format("; '{}' would raise it\n", kernel.nameOf(stuck.raiser))
                     : std::string("; nobody will raise it any more\n"));
}

std::string describeDeadlock(const Kernel &kernel, const Code &code, const SimResult &result) {
  std::string text;
  auto describe = [&](const StuckEngine &stuck) {
    text += "  " + describeWait(kernel, code, stuck);
  };
  auto isInCycle = [&](EngineId id) {
    return std::find(result.cycle.begin(), result.cycle.end(), id) != result.cycle.end();
  };
  text += result.cycle.empty() ? "no cycle of waits:\n" : "the cycle of waits:\n";
  for (EngineId id : result.cycle) {
    describe(*std::find_if(result.stuck.begin(), result.stuck.end(),
                           [&](const StuckEngine &stuck) { return stuck.engine == id; }));
  }
  bool isFirst = true;
  for (const StuckEngine &stuck : result.stuck) {
    if (!isInCycle(stuck.engine)) {
      text += isFirst && !result.cycle.empty() ? "also stuck:\n" : "";
      isFirst = false;
      describe(stuck);
    }
  }
  return text;
}

} // namespace tally
