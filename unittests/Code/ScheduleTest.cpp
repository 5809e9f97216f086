//===- ScheduleTest.cpp - All engines at once, in random order ------------===//
//
// Runs the code of all engines together, with real semaphores: an engine steps when
// its wait is met, a queue retires its oldest instruction whenever chance says so.
// Whatever the order:
//
//   - no engine waits forever;
//   - when a consumer is issued, every run of a producer that the definition
//     asks for has retired.
//
// This needs no threshold to be exact, so it also covers barriers, whose resets and handshakes no
// formula describes. Some engines and queues are made slow, so that others run far ahead.
//
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"
#include "oracle/PlanComparison.h"

#include "tally/Lower/Lower.h"
#include "tally/Run/Interpret.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <memory>

using namespace tally;
using namespace tally::oracle;

namespace {

constexpr uint32_t numPrograms = 10000;

/// One run of all engines in an order that `seed` picks.
class Schedule {
public:
  Schedule(const RandomCodeCase &code, const Code &program, const Machine &machine, uint64_t seed)
      : code(code), kernel(code.kernel), machine(machine), random(seed),
        semaphores(program.semaphores.size(), 0), retiring(kernel.queues.size()),
        issued(kernel.instrs.size(), 0), retired(kernel.instrs.size(), 0),
        depsOf(kernel.instrs.size()) {
    for (EngineId engine : kernel.engines.ids()) {
      runs.push_back(std::make_unique<EngineRun>(kernel, program, machine, code.bindings, engine));
      current.push(runs.back()->next());
    }
    for (size_t i = 0; i < kernel.engines.size() + kernel.queues.size(); ++i) {
      speeds.push_back(random.percent(50) ? 100 : 1 + static_cast<uint32_t>(random.below(100)));
    }
    for (DepId dep : kernel.deps.ids()) {
      depsOf[kernel.deps[dep].consumer].push_back(dep);
    }
  }

  /// What went wrong, or nothing.
  std::string run() {
    while (problem.empty()) {
      collectEnabled();
      if (enabled.empty()) {
        return everythingDone() ? "" : describeDeadlock();
      }
      size_t actor = enabled[random.below(enabled.size())];
      if (!random.percent(speeds[actor])) {
        continue;
      }
      if (actor < kernel.engines.size()) {
        step(EngineId(static_cast<uint32_t>(actor)));
      } else {
        retire(QueueId(static_cast<uint32_t>(actor - kernel.engines.size())));
      }
    }
    return problem;
  }

private:
  struct InFlight {
    InstrId instr;
    SemaId signal;
    uint32_t amount;
  };

  void collectEnabled() {
    enabled.clear();
    for (EngineId engine : kernel.engines.ids()) {
      if (current[engine] && mayStep(engine, *current[engine])) {
        enabled.push_back(engine.value);
      }
    }
    for (QueueId queue : kernel.queues.ids()) {
      if (!retiring[queue].empty()) {
        enabled.push_back(kernel.engines.size() + queue.value);
      }
    }
  }

  bool mayStep(EngineId engine, const Op &op) const {
    if (op.kind == OpKind::Drain) {
      for (QueueId queue : kernel.engines[engine].queues) {
        if (!retiring[queue].empty()) {
          return false;
        }
      }
    }
    return !op.wait.valid() || semaphores[op.wait] >= threshold(engine, op);
  }

  uint64_t threshold(EngineId engine, const Op &op) const {
    uint64_t value = runs[engine.value]->value(op.a);
    bool negative = machine.waitCompare == WaitCompare::Signed && value >= machine.counterLimit();
    return negative ? 0 : value;
  }

  void step(EngineId engine) {
    const Op &op = *current[engine];
    switch (op.kind) {
    case OpKind::Issue:
      checkIssue(engine, op.instr());
      retiring[kernel.instrs[op.instr()].queue].push_back({op.instr(), op.signal, op.amount});
      break;
    case OpKind::Signal:
      semaphores[op.signal] += op.amount;
      break;
    case OpKind::Reset:
      for (uint32_t i = 0; i < op.amount; ++i) {
        semaphores[SemaId(op.signal.value + i)] = 0;
      }
      break;
    default:
      break;
    }
    current[engine] = runs[engine.value]->next();
  }

  void checkIssue(EngineId engine, InstrId consumer) {
    uint64_t runNumber = issued[consumer]++;
    for (DepId dep : depsOf[consumer]) {
      const Definition &definition = code.definitions[engine.value];
      uint64_t owed = definition.needs(dep)[runNumber].runs;
      InstrId producer = kernel.deps[dep].producer;
      if (retired[producer] < owed) {
        problem = fmt::format("run {} of {} is issued after {} runs of '{}', but needs {}",
                              runNumber + 1, describeRun(kernel, definition, consumer, runNumber),
                              retired[producer], kernel.nameOf(producer), owed);
      }
    }
  }

  void retire(QueueId queue) {
    InFlight oldest = retiring[queue].front();
    retiring[queue].pop_front();
    ++retired[oldest.instr];
    if (oldest.signal.valid()) {
      semaphores[oldest.signal] += oldest.amount;
    }
  }

  bool everythingDone() const {
    return std::all_of(current.begin(), current.end(), [](const Op *op) { return !op; });
  }

  std::string describeDeadlock() const {
    std::string text = "deadlock:";
    for (EngineId engine : kernel.engines.ids()) {
      if (const Op *op = current[engine]; op && op->wait.valid()) {
        text +=
            fmt::format(" '{}' waits for semaphore {} >= {}, which is {};", kernel.nameOf(engine),
                        op->wait.value, threshold(engine, *op), semaphores[op->wait]);
      }
    }
    return text;
  }

  const RandomCodeCase &code;
  const Kernel &kernel;
  const Machine &machine;
  fuzz::Random random;
  std::vector<std::unique_ptr<EngineRun>> runs;
  IdVector<EngineId, const Op *> current; ///< the operation to come; null at the end
  IdVector<SemaId, uint64_t> semaphores;
  IdVector<QueueId, std::deque<InFlight>> retiring;
  IdVector<InstrId, uint64_t> issued;
  IdVector<InstrId, uint64_t> retired;
  IdVector<InstrId, std::vector<DepId>> depsOf;
  std::vector<uint32_t> speeds; ///< by actor, engines first: per cent of the chances it takes
  std::vector<size_t> enabled;  ///< actors that can do something
  std::string problem;
};

/// A change to code that was right.
using Mistake = std::function<void(Code &program)>;

/// Compiles, runs a few schedules; what went wrong, or nothing.
std::string examine(const RandomCodeCase &code, const PlanDecisions &options,
                    const Mistake &mistake) {
  Machine machine = genericMachine();
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(code.kernel, options, diagnostics);
  if (diagnostics.hasErrors()) {
    return "no plan: " + render(diagnostics, {});
  }
  Code program = lower(code.kernel, plan, machine, {}, diagnostics);
  if (diagnostics.hasErrors()) {
    return "no code: " + render(diagnostics, {});
  }
  Diagnostics faults;
  verifyCode(code.kernel, program, faults);
  if (faults.hasErrors()) {
    return "verifyProgram: " + render(faults, {});
  }
  if (mistake) {
    mistake(program);
  }
  std::string problem;
  for (uint64_t i = 0; i < 3 && problem.empty(); ++i) {
    problem = Schedule(code, program, machine, code.seed * 3 + i).run();
  }
  return problem;
}

Findings findingsOf(const PlanDecisions &options, const fuzz::RandomKernelOptions &kernelOptions,
                    fuzz::Range seeds, const Mistake &mistake = {}) {
  Findings findings;
  for (uint64_t seed = seeds.min; seed <= seeds.max && !findings.enough(); ++seed) {
    RandomCodeCase code(seed, kernelOptions);
    std::string problem = examine(code, options, mistake);
    if (!problem.empty()) {
      findings.add(code, std::string(toString(options.strategy)), problem, "");
    }
  }
  return findings;
}

void runCampaign(const PlanDecisions &options, const fuzz::RandomKernelOptions &kernelOptions,
                 std::string_view test) {
  Findings findings = findingsOf(options, kernelOptions, seedsOf(numPrograms));
  EXPECT_EQ(findings.count(), 0u) << findings.report("CodeTests", test);
}

/// Random order finds the mistake in many programs.
void expectCaught(const PlanDecisions &options, const std::function<bool(Op &)> &change) {
  Mistake mistake = [&](Code &program) {
    for (EngineProgram &engine : program.engines) {
      std::erase_if(engine.ops, change);
    }
  };
  EXPECT_TRUE(findingsOf(options, {}, {0, numPrograms - 1}, mistake).enough());
}

PlanDecisions optionsFor(Strategy strategy, Participants participants = Participants::Work) {
  PlanDecisions options;
  options.strategy = strategy;
  options.participants = participants;
  return options;
}

} // namespace

TEST(ScheduleTest, perInstruction) {
  runCampaign(optionsFor(Strategy::PerInstruction), {}, "ScheduleTest.perInstruction");
}

TEST(ScheduleTest, perLoop) {
  runCampaign(optionsFor(Strategy::PerLoop), {}, "ScheduleTest.perLoop");
}

TEST(ScheduleTest, perEngine) {
  runCampaign(optionsFor(Strategy::PerEngine), {}, "ScheduleTest.perEngine");
}

TEST(ScheduleTest, barrierOfEnginesWithWork) {
  runCampaign(optionsFor(Strategy::Barrier), {}, "ScheduleTest.barrierOf*");
}

TEST(ScheduleTest, barrierOfAllEngines) {
  runCampaign(optionsFor(Strategy::Barrier, Participants::All), {}, "ScheduleTest.barrierOfAll*");
}

TEST(ScheduleTest, unrolled) {
  fuzz::RandomKernelOptions options;
  options.constantPercent = 100;
  options.ifPercent = 0;
  runCampaign(optionsFor(Strategy::Unrolled), options, "ScheduleTest.unrolled");
}

//===----------------------------------------------------------------------===//
// Seeded mistakes: would the schedules notice?
//===----------------------------------------------------------------------===//

TEST(ScheduleMistakesTest, waitsOfInstructionsAreDropped) {
  expectCaught(optionsFor(Strategy::PerLoop), [](Op &op) {
    if (op.kind == OpKind::Issue) {
      op.wait = SemaId();
    }
    return false;
  });
}

TEST(ScheduleMistakesTest, thresholdsAreOneTooHigh) {
  expectCaught(optionsFor(Strategy::PerLoop), [](Op &op) {
    op.a.value += op.wait.valid() && !op.a.isRegister;
    return false;
  });
}

/// A barrier without its drain resets semaphores under instructions in flight.
TEST(ScheduleMistakesTest, drainsAreRemoved) {
  expectCaught(optionsFor(Strategy::Barrier), [](Op &op) { return op.kind == OpKind::Drain; });
}

/// Without resets, thresholds are met by what an earlier iteration left behind.
TEST(ScheduleMistakesTest, resetsAreRemoved) {
  expectCaught(optionsFor(Strategy::Barrier), [](Op &op) { return op.kind == OpKind::Reset; });
}

TEST(ScheduleMistakesTest, handshakesAreNotWaitedFor) {
  expectCaught(optionsFor(Strategy::Barrier), [](Op &op) { return op.kind == OpKind::Wait; });
}
