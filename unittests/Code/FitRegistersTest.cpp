//===- FitRegistersTest.cpp - What gives way where registers run out ------===//
//
// A limit that is met just so changes nothing. One register fewer, and something gives way: first
// thresholds are no longer kept, then waits remember fewer iterations. Both are said, the code
// stays right, and a wait that became longer still asks only for what comes before it.
//
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"
#include "oracle/CodeComparison.h"
#include "oracle/PlanComparison.h"

#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

using namespace tally;
using namespace tally::oracle;

namespace {

Machine machineWith(std::optional<uint32_t> registers) {
  Machine machine = genericMachine();
  machine.registersPerEngine = registers;
  return machine;
}

Request optionsFor(Strategy strategy) {
  Request options;
  options.overflow = Overflow::Assume;
  options.strategy = strategy;
  return options;
}

struct Outcome {
  std::optional<Compiled> compiled;
  Diagnostics diagnostics;

  uint32_t registers() const {
    uint32_t most = 0;
    for (const EngineProgram &program : compiled->code.engines) {
      most = std::max(most, static_cast<uint32_t>(program.registers.size()));
    }
    return most;
  }

  /// The message that names an engine's shortage; empty if there is none.
  std::string shortage() const {
    for (const Diagnostic &diagnostic : diagnostics.all()) {
      if (diagnostic.message.find("registers, but machine") != std::string::npos) {
        return diagnostic.message;
      }
    }
    return "";
  }
};

Outcome compiled(const Kernel &kernel, Strategy strategy, std::optional<uint32_t> registers) {
  Outcome outcome;
  outcome.compiled =
      compile(kernel, optionsFor(strategy), machineWith(registers), outcome.diagnostics);
  return outcome;
}

/// A { B { P } C } with P -> C at distance 5 on A: C's engine counts A and B, and keeps five
/// copies. B may have another name.
Kernel fiveBack(std::string_view inner = "B") {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  LoopId a = b.beginLoop("A", b.value("n", 0, 100));
  b.beginLoop(inner, b.value("m", 0, 100));
  InstrId p = b.instr("P", producer);
  b.endLoop();
  InstrId c = b.instr("C", consumer);
  b.endLoop();
  b.dep(p, c, {{a, 5}});
  return b.finish();
}

std::string thresholdOf(const Kernel &kernel, const Compiled &compiled) {
  const SyncPlan &plan = compiled.plan;
  return toString(plan.exprs, plan.waits[DepId(0)].threshold, plan.rings, plan.rounds, kernel);
}

} // namespace

TEST(FitRegistersTest, enoughRegistersChangeNothing) {
  Kernel kernel = fiveBack();
  uint32_t needed = compiled(kernel, Strategy::PerLoop, {}).registers();
  Outcome outcome;
  for (uint32_t limit = needed + 8; outcome.shortage().empty(); --limit) {
    ASSERT_TRUE(outcome.diagnostics.all().empty());
    outcome = compiled(kernel, Strategy::PerLoop, limit);
    ASSERT_TRUE(outcome.compiled);
  }
  // Seven counters and copies, and a register for the wait.
  EXPECT_EQ(outcome.registers(), 7u);
  EXPECT_EQ(outcome.shortage(),
            "engine 'c' would need 8 registers, but machine 'generic' has 7 for it; 1 of the "
            "remembered counts is forgotten, which makes waits longer");
  EXPECT_EQ(thresholdOf(kernel, *outcome.compiled), "isGT(total(A), 5)*snapshot(A, 4, total(B))");
  EXPECT_FALSE(outcome.compiled->plan.waits[DepId(0)].exact);
}

/// A threshold of its own for each of many waits is far too much for a machine with few registers
/// and semaphores. That is found in one pass: looking for a register to give up among those that
/// may not be given up would take minutes.
TEST(FitRegistersTest, manyThresholds) {
  constexpr uint32_t n = 400000;
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p")), consumer = b.queueOf(b.engine("c"));
  b.beginLoop("A", b.value("n", 0, 100));
  for (uint32_t i = 0; i < n; ++i) {
    InstrId p = b.instr(fmt::format("p{}", i), producer);
    b.dep(p, b.instr(fmt::format("c{}", i), consumer));
  }
  b.endLoop();
  Machine machine = machineWith(64);
  machine.semaphores = 256;
  Diagnostics diagnostics;
  Kernel kernel = b.finish();
  auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(compile(kernel, optionsFor(Strategy::Auto), machine, diagnostics));
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 40.0);
}

/// When no copy is left, the live counter serves; only when that is too much is it an error.
TEST(FitRegistersTest, countersStayToTheLast) {
  Kernel kernel = fiveBack();
  Outcome last = compiled(kernel, Strategy::PerLoop, 3);
  ASSERT_TRUE(last.compiled);
  EXPECT_EQ(thresholdOf(kernel, *last.compiled), "isGT(total(A), 5)*total(B)");
  Outcome refused = compiled(kernel, Strategy::PerLoop, 2);
  EXPECT_FALSE(refused.compiled);
  EXPECT_EQ(refused.diagnostics.numErrors(), 1u);
  EXPECT_EQ(refused.diagnostics.all().back().message,
            "engine 'c' needs 3 registers, but machine 'generic' has 2 for each engine");
}

/// What a register is for is no question of names: no threshold is kept here, whatever a loop is
/// called.
TEST(FitRegistersTest, namesOfLoopsSayNothing) {
  for (uint32_t limit = 4; limit <= 8; ++limit) {
    Outcome plain = compiled(fiveBack(), Strategy::Auto, limit);
    Outcome named = compiled(fiveBack("next tile"), Strategy::Auto, limit);
    EXPECT_EQ(named.shortage(), plain.shortage());
    EXPECT_EQ(plain.shortage().find("thresholds"), std::string::npos) << plain.shortage();
  }
}

/// Two rings on one engine: the one in the outer loop, which is read less often, gives way.
TEST(FitRegistersTest, whatIsReadLessOftenGivesWayFirst) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  LoopId a = b.beginLoop("A", b.value("n", 0, 100));
  b.beginLoop("B", b.value("m", 0, 100));
  InstrId p = b.instr("P", producer);
  b.endLoop();
  InstrId outer = b.instr("C", consumer);
  LoopId d = b.beginLoop("D", b.value("l", 0, 100));
  b.beginLoop("E", b.value("m", 0, 100));
  InstrId q = b.instr("Q", producer);
  b.endLoop();
  InstrId inner = b.instr("I", consumer);
  b.endLoop();
  b.endLoop();
  DepId often = b.dep(q, inner, {{d, 3}});
  DepId seldom = b.dep(p, outer, {{a, 3}});
  Kernel kernel = b.finish();
  uint32_t needed = compiled(kernel, Strategy::PerLoop, 100).registers();
  for (uint32_t fewer = 0; fewer <= 3; ++fewer) {
    Outcome outcome = compiled(kernel, Strategy::PerLoop, needed - fewer);
    ASSERT_TRUE(outcome.compiled);
    const SyncPlan &plan = outcome.compiled->plan;
    EXPECT_TRUE(plan.waits[often].exact);
    EXPECT_EQ(plan.waits[seldom].slot, 3 - fewer);
  }
  EXPECT_FALSE(compiled(kernel, Strategy::PerLoop, needed - 4).compiled->plan.waits[often].exact);
}

/// The same, but engines may disagree on the runs of P: a wait for more of them might never end. So
/// the other ring gives way, though it is read more often, and then nothing does.
TEST(FitRegistersTest, copiesStayWhereALongerWaitMightNeverEnd) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  LoopId a = b.beginLoop("A", b.value("n", 0, 100));
  b.beginLoop("B", b.value("m", 0, 100), /*uniform=*/false);
  InstrId p = b.instr("P", producer);
  b.endLoop();
  InstrId outer = b.instr("C", consumer);
  LoopId d = b.beginLoop("D", b.value("l", 0, 100));
  b.beginLoop("E", b.value("m", 0, 100));
  InstrId q = b.instr("Q", producer);
  b.endLoop();
  InstrId inner = b.instr("I", consumer);
  b.endLoop();
  b.endLoop();
  DepId often = b.dep(q, inner, {{d, 3}});
  DepId apart = b.dep(p, outer, {{a, 3}});
  b.allowDivergent(apart);
  Kernel kernel = b.finish();
  uint32_t needed = compiled(kernel, Strategy::PerLoop, 100).registers();
  for (uint32_t fewer = 0; fewer <= 3; ++fewer) {
    Outcome outcome = compiled(kernel, Strategy::PerLoop, needed - fewer);
    ASSERT_TRUE(outcome.compiled);
    EXPECT_TRUE(outcome.compiled->plan.waits[apart].exact);
    EXPECT_EQ(outcome.compiled->plan.waits[often].slot, 3 - fewer);
  }
  Outcome refused = compiled(kernel, Strategy::PerLoop, needed - 4);
  EXPECT_FALSE(refused.compiled);
  EXPECT_NE(refused.diagnostics.all().back().message.find("registers, but machine 'generic' has"),
            std::string::npos);
}

/// An engine keeps only the copies that it reads itself.
TEST(FitRegistersTest, eachEngineKeepsItsOwnCopies) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId far = b.queueOf(b.engine("far"));
  QueueId near = b.queueOf(b.engine("near"));
  LoopId a = b.beginLoop("A", b.value("n", 0, 100));
  b.beginLoop("B", b.value("m", 0, 100));
  InstrId p = b.instr("P", producer);
  b.endLoop();
  InstrId f = b.instr("F", far);
  InstrId n = b.instr("N", near);
  b.endLoop();
  b.dep(p, f, {{a, 9}});
  b.dep(p, n, {{a, 2}});
  Kernel kernel = b.finish();
  Outcome outcome = compiled(kernel, Strategy::PerLoop, {});
  const auto &engines = outcome.compiled->code.engines;
  EXPECT_EQ(engines[EngineId(1)].registers.size(), engines[EngineId(2)].registers.size() + 7);
}

/// With less and less, until it is refused: as long as there is code, it is right. A limit that was
/// met just so is met without a word.
TEST(FitRegistersTest, codeWithFewRegistersIsRight) {
  constexpr Strategy strategies[] = {Strategy::PerInstruction, Strategy::PerLoop,
                                     Strategy::PerEngine, Strategy::Auto};
  Findings findings;
  uint32_t recomputed = 0;
  uint32_t longer = 0;
  fuzz::Range seeds = seedsOf(3000, /*work=*/30);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !findings.enough(); ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    Strategy strategy = strategies[seed % 4];
    if (strategy == Strategy::PerEngine && !code.agreeing()) {
      continue;
    }
    Outcome outcome = compiled(code.kernel, strategy, 200);
    ASSERT_TRUE(outcome.compiled) << "seed " << seed;
    for (uint32_t limit = outcome.registers(); limit > 0; --limit) {
      outcome = compiled(code.kernel, strategy, limit);
      if (!outcome.compiled) {
        break;
      }
      const Compiled &program = *outcome.compiled;
      if (!countsAtRunTime(program.plan.decisions.strategy)) {
        break; // what 'auto' falls back to last needs no registers
      }
      std::string shortage = outcome.shortage();
      recomputed += shortage.find("instead of kept") != std::string::npos;
      longer += shortage.find("forgotten") != std::string::npos;
      std::string what = outcome.registers() > limit ? "too many registers" : "";
      what =
          what.empty()
              ? comparePlan(code.kernel, program.plan, code.bindings, code.definitions).value_or("")
              : what;
      what = what.empty() ? compareCode(code.kernel, program.code, machineWith(limit),
                                        code.bindings, code.definitions,
                                        allowancesOf(code.kernel, program.plan), /*written=*/false)
                                .value_or("")
                          : what;
      if (!what.empty()) {
        findings.add(code, fmt::format("{}, {} registers", toString(strategy), limit), what,
                     dump(code.kernel, program.plan));
      }
    }
  }
  EXPECT_EQ(findings.count(), 0u) << findings.report("CodeTests", "FitRegistersTest.code*");
  EXPECT_TRUE(seedsAreChosen() || recomputed >= 20) << recomputed;
  EXPECT_TRUE(seedsAreChosen() || longer >= 200) << longer;
}
