//===- CodeComparison.cpp - Code against the definition -------------------===//

#include "oracle/CodeComparison.h"

#include "oracle/PlanComparison.h"

#include "tally/Run/Interpret.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace tally::oracle {

namespace {

/// No random program comes near this; code that does not end is cut off.
constexpr uint64_t fuel = 1000000;

/// What the code of all engines raises.
struct Raised {
  Signals signals;
  std::string problem;
};

class RaisedReader {
public:
  RaisedReader(const Kernel &kernel, const Code &code)
      : kernel(kernel), code(code), queueOf(code.semaphores.size()),
        seen(kernel.instrs.size(), false) {
    raised.signals.resize(kernel.instrs.size());
  }

  Raised read() {
    for (const EngineProgram &program : code.engines) {
      for (const Op &op : program.ops) {
        readOp(op);
      }
    }
    return std::move(raised);
  }

private:
  void readOp(const Op &op) {
    if (op.kind == OpKind::Signal || op.kind == OpKind::Reset) {
      raised.problem = "the code touches a semaphore other than by instructions that retire";
    }
    if (op.kind != OpKind::Issue) {
      return;
    }
    Signal signal;
    if (op.signal.valid()) {
      signal = {op.signal.value, op.amount};
      checkQueue(op);
    }
    Signal &known = raised.signals[op.instr()];
    if (seen[op.instr()] && (known.counter != signal.counter || known.amount != signal.amount)) {
      fail(op, "raises its semaphore differently in two places");
    }
    seen[op.instr()] = true;
    known = signal;
  }

  /// Only one queue retires in order, so only one may raise a semaphore.
  void checkQueue(const Op &op) {
    QueueId queue = kernel.instrs[op.instr()].queue;
    QueueId &known = queueOf[op.signal];
    if (known.valid() && known != queue) {
      fail(op, "raises a semaphore of another queue");
    }
    known = queue;
    if (op.amount != kernel.queues[queue].weight) {
      fail(op, fmt::format("raises by {}, not by the weight of its queue", op.amount));
    }
  }

  void fail(const Op &op, std::string_view what) {
    raised.problem = fmt::format("'{}' {}", kernel.nameOf(op.instr()), what);
  }

  const Kernel &kernel;
  const Code &code;
  Raised raised;
  IdVector<SemaId, QueueId> queueOf;
  IdVector<InstrId, bool> seen;
};

/// What is asked for, or was seen, on one semaphore.
struct Bounds {
  uint64_t low = 0;
  uint64_t high = 0;
  uint64_t seen = 0;
};

/// Runs the code of one engine.
class EngineComparison {
public:
  EngineComparison(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Bindings &bindings, const Definition &definition, EngineId engine,
                   const Signals &signals, const IdVector<DepId, Allowance> &allowances)
      : kernel(kernel), code(code), machine(machine), definition(definition), engine(engine),
        signals(signals), allowances(allowances), run(kernel, code, machine, bindings, engine),
        depsOf(kernel.instrs.size()), valuesOf(kernel.deps.size()), runs(kernel.instrs.size(), 0),
        largestPassed(code.semaphores.size(), 0) {
    for (DepId dep : kernel.deps.ids()) {
      const Dep &ends = kernel.deps[dep];
      if (kernel.engineOf(ends.consumer) == engine) {
        depsOf[ends.consumer].push_back(dep);
        valuesOf[dep] = definition.valuesAfterRuns(ends.producer, signals);
      }
    }
  }

  std::optional<std::string> compare(bool written) {
    run.setFuel(fuel);
    for (InstrId expected : definition.sequence()) {
      if (kernel.engineOf(expected) == engine) {
        expectIssue(expected, written);
      }
      if (!problem.empty()) {
        return problem;
      }
    }
    if (const Op *op = nextIssue()) {
      return fmt::format("'{}' is issued once too often", kernel.nameOf(op->instr()));
    }
    if (run.exhausted()) {
      return fmt::format("the code of '{}' does not end", kernel.nameOf(engine));
    }
    return {};
  }

private:
  /// Runs up to the next instruction; waits on the way are collected.
  const Op *nextIssue() {
    passed.clear();
    while (const Op *op = run.next()) {
      if (op->wait.valid()) {
        passed.push_back(op);
        Bounds &bounds = onSemaphore[op->wait.value];
        bounds.seen = std::max(bounds.seen, threshold(op->a));
        largestPassed[op->wait] = std::max(largestPassed[op->wait], bounds.seen);
      }
      if (op->kind == OpKind::Issue) {
        return op;
      }
    }
    return nullptr;
  }

  /// A signed comparison takes a threshold with the top bit set for a negative one: no wait.
  uint64_t threshold(Operand operand) const {
    uint64_t value = run.value(operand);
    bool negative = machine.waitCompare == WaitCompare::Signed && value >= machine.counterLimit();
    return negative ? 0 : value;
  }

  void expectIssue(InstrId expected, bool written) {
    onSemaphore.clear();
    const Op *op = nextIssue();
    if (!op) {
      problem = fmt::format("the code of '{}' ends before '{}'", kernel.nameOf(engine),
                            kernel.nameOf(expected));
    } else if (op->instr() != expected) {
      problem = fmt::format("'{}' is issued where '{}' is due", kernel.nameOf(op->instr()),
                            kernel.nameOf(expected));
    } else if (uint64_t runNumber = runs[expected]++; !written && !sameIteration(runNumber, *op)) {
      fail(expected, "is issued in another iteration");
    } else {
      checkReasons(expected);
      checkWaits(expected, runNumber);
    }
  }

  bool sameIteration(uint64_t runNumber, const Op &op) const {
    std::vector<uint32_t> vector;
    for (const LoopIteration &active : run.active()) {
      if (kernel.loops[active.loop].kind == LoopKind::Loop) {
        vector.push_back(static_cast<uint32_t>(active.iteration + 1));
      }
    }
    std::span<const uint32_t> expected = definition.vectorOf(op.instr(), runNumber);
    return std::equal(vector.begin(), vector.end(), expected.begin(), expected.end());
  }

  /// The dependences named at a wait are this instruction's, on this semaphore.
  void checkReasons(InstrId consumer) {
    for (const Op *op : passed) {
      for (uint32_t i = 0; i < op->numReasons; ++i) {
        const Dep &dep = kernel.deps[code.reasons[op->firstReason + i]];
        uint32_t counter = signals[dep.producer].counter;
        bool neverIssued = counter == Signal::none;
        if (dep.consumer != consumer || (counter != op->wait.value && !neverIssued)) {
          fail(consumer, "passes a wait with the reason of another");
        }
      }
    }
  }

  void checkWaits(InstrId consumer, uint64_t runNumber) {
    for (DepId dep : depsOf[consumer]) {
      if (allowances[dep] == Allowance::None) {
        continue;
      }
      const Need &need = definition.needs(dep)[runNumber];
      uint32_t semaphore = signals[kernel.deps[dep].producer].counter;
      if (semaphore == Signal::none) {
        if (need.runs != 0) {
          fail(consumer,
               fmt::format("needs a producer (dependence {}) that signals nothing", dep.value));
        }
        continue;
      }
      Bounds &bounds = onSemaphore[semaphore];
      bounds.low = std::max(bounds.low, valuesOf[dep][need.runs]);
      uint64_t most = mostRuns(need, allowances[dep]);
      bounds.high = std::max(bounds.high, valuesOf[dep][most]);
    }
    for (auto [semaphore, bounds] : onSemaphore) {
      const uint64_t passedSoFar = largestPassed[SemaId(semaphore)];
      if (passedSoFar < bounds.low || bounds.seen > bounds.high) {
        fail(consumer, fmt::format("waits for '{}' >= {}, after {} so far, but the definition asks "
                                   "for {}..{}",
                                   code.semaphores[SemaId(semaphore)].name, bounds.seen,
                                   passedSoFar, bounds.low, bounds.high));
      }
    }
  }

  void fail(InstrId instr, const std::string &what) {
    if (problem.empty()) {
      problem = fmt::format("run {} of {} on '{}' {}", runs[instr],
                            describeRun(kernel, definition, instr, runs[instr] - 1),
                            kernel.nameOf(engine), what);
    }
  }

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const Definition &definition;
  EngineId engine;
  const Signals &signals;
  const IdVector<DepId, Allowance> &allowances;
  EngineRun run;
  IdVector<InstrId, std::vector<DepId>> depsOf;
  IdVector<DepId, std::vector<uint64_t>> valuesOf;
  IdVector<InstrId, uint64_t> runs;
  std::map<uint32_t, Bounds> onSemaphore;   ///< at the current instruction
  IdVector<SemaId, uint64_t> largestPassed; ///< threshold, by this engine
  std::vector<const Op *> passed;           ///< waits at the current instruction
  std::string problem;
};

} // namespace

std::optional<std::string> compareCode(const Kernel &kernel, const Code &code,
                                       const Machine &machine, const Bindings &bindings,
                                       const std::vector<Definition> &definitions,
                                       const IdVector<DepId, Allowance> &allowances, bool written) {
  Raised raised = RaisedReader(kernel, code).read();
  if (!raised.problem.empty()) {
    return raised.problem;
  }
  for (EngineId engine : kernel.engines.ids()) {
    EngineComparison comparison(kernel, code, machine, bindings, definitions[engine.value], engine,
                                raised.signals, allowances);
    if (std::optional<std::string> difference = comparison.compare(written)) {
      return difference;
    }
  }
  return {};
}

} // namespace tally::oracle
