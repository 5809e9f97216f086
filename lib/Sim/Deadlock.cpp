//===- Deadlock.cpp - Which engines wait for which ------------------------===//
//
// Nothing is in flight, so each engine that is not at its end waits for a semaphore. It could be
// raised by an engine that is stuck, too, and whose code does that at or after the place where it
// stands, or in a loop around it. Following these leads into a cycle, or to a semaphore that
// nothing will raise any more.
//
//===----------------------------------------------------------------------===//

#include "Simulator.h"

#include "tally/Model/Source.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {
namespace sim {

/// Whether an engine may still raise a semaphore: where it stands or behind, or in a loop around.
static bool mayRaise(const EngineRun &run, const std::vector<Op> &ops, SemaId semaphore) {
  uint32_t from = 0;
  while (from < run.at() &&
         !(ops[from].kind == OpKind::LoopBegin && run.partnerOf(from) > run.at())) {
    ++from;
  }
  return std::any_of(ops.begin() + from, ops.end(), [&](const Op &op) {
    return op.signal == semaphore && (op.kind == OpKind::Signal || op.kind == OpKind::Issue);
  });
}

/// Of several that could raise it, another engine than the waiter is more telling.
EngineId Simulator::raiserOf(const StuckEngine &waiter) const {
  EngineId raiser;
  for (const StuckEngine &other : result.stuck) {
    bool may =
        mayRaise(engines[other.engine].run, code.engines[other.engine].ops, waiter.semaphore);
    if (may && (!raiser.valid() || raiser == waiter.engine)) {
      raiser = other.engine;
    }
  }
  return raiser;
}

void Simulator::findDeadlock() {
  for (const SimEngine &engine : engines) {
    SemaId sema = engine.run.atEnd() ? SemaId() : engine.run.head().wait;
    if (sema.valid()) {
      result.stuck.push_back(
          {engine.id, engine.at(), sema, semaphores[sema], engine.threshold, {}});
    }
  }
  for (StuckEngine &stuck : result.stuck) {
    stuck.raiser = raiserOf(stuck);
  }
  for (const StuckEngine &first : result.stuck) {
    std::vector<EngineId> way;
    EngineId next = first.engine;
    while (next.valid() && std::ranges::count(way, next) == 0) {
      way.push_back(next);
      next = std::ranges::find(result.stuck, next, &StuckEngine::engine)->raiser;
    }
    if (next.valid()) {
      result.cycle.assign(std::ranges::find(way, next), way.end());
      return;
    }
  }
}

} // namespace sim

static std::string describeWait(const Kernel &kernel, const Code &code, const StuckEngine &stuck) {
  const Op &op = code.engines[stuck.engine].ops[stuck.op];
  std::string before = op.kind == OpKind::Issue
                           ? fmt::format(" to issue {}", nameWithSource(kernel, op.instr()))
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
                     : std::string("; nothing will raise it any more\n"));
}

std::string describeDeadlock(const Kernel &kernel, const Code &code, const SimResult &result) {
  std::string text;
  auto describe = [&](const StuckEngine &stuck) {
    text += "  " + describeWait(kernel, code, stuck);
  };
  text += result.cycle.empty() ? "no cycle of waits:\n" : "the cycle of waits:\n";
  for (EngineId id : result.cycle) {
    describe(*std::ranges::find(result.stuck, id, &StuckEngine::engine));
  }
  bool isFirst = true;
  for (const StuckEngine &stuck : result.stuck) {
    if (std::ranges::count(result.cycle, stuck.engine) == 0) {
      text += isFirst && !result.cycle.empty() ? "also stuck:\n" : "";
      isFirst = false;
      describe(stuck);
    }
  }
  return text;
}

} // namespace tally
