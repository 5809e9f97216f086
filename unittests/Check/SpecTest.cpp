//===- SpecTest.cpp - What the engines may do next, as specified ----------===//
//
// What the specification finds owed by bisecting its history is compared with the definition,
// which lists and counts.
//
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"

#include "tally/Check/Spec.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

constexpr uint32_t numPrograms = 4400;

/// Where the two differ, or nothing.
std::string difference(const RandomCodeCase &code, uint64_t &compared) {
  SpecSystem spec(code.kernel, code.bindings);
  for (DepId dep : code.kernel.deps.ids()) {
    InstrId consumer = code.kernel.deps[dep].consumer;
    const Definition &definition = code.definitions[code.kernel.engineOf(consumer).value];
    const std::vector<Need> &needs = definition.needs(dep);
    for (uint32_t run = 0; run < needs.size(); ++run) {
      ++compared;
      if (spec.need(dep, run) != needs[run].runs) {
        return fmt::format("dependence {}, {}: {} instead of {}", dep.value,
                           spec.describe({consumer, run}), spec.need(dep, run), needs[run].runs);
      }
    }
    if (spec.need(dep, static_cast<uint32_t>(needs.size())) != 0) {
      return fmt::format("dependence {} has too many runs", dep.value);
    }
  }
  return {};
}

Kernel producerInLoop() {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0");
  EngineId e1 = b.engine("e1");
  LoopId a = b.beginLoop("A", b.value("n"));
  InstrId p = b.instr("P", b.queueOf(e0));
  InstrId c = b.instr("C", b.queueOf(e1));
  b.endLoop();
  b.dep(p, c, {{a, 1}});
  return b.finish();
}

} // namespace

TEST(SpecTest, owesWhatTheDefinitionSays) {
  Findings findings;
  Coverage coverage;
  uint64_t compared = 0;
  fuzz::Range seeds = seedsOf(numPrograms);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !findings.enough(); ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    if (code.cutOff()) {
      continue;
    }
    coverage.add(code);
    std::string problem = difference(code, compared);
    if (!problem.empty()) {
      findings.add(code, "spec", problem, "");
    }
  }
  EXPECT_EQ(findings.count(), 0u) << findings.report("CheckTests", "SpecTest.owes*");
  if (!seedsAreChosen()) {
    EXPECT_GT(compared, 50000u);
    for (size_t i = 0; i < numDepClasses; ++i) {
      EXPECT_GT(coverage.of(static_cast<DepClass>(i)), 50u) << coverage.text();
    }
  }
}

/// A run of C waits for the run of P one iteration before: none at A = 1.
TEST(SpecTest, issueNeedsRetirements) {
  Kernel kernel = producerInLoop();
  Bindings bindings(kernel);
  bindings.set(LoopId(1), {2});
  SpecSystem spec(kernel, bindings);
  SpecState state = spec.initial();
  const EngineId e0(0), e1(1);
  const QueueId q0(0), q1(1);
  EXPECT_TRUE(spec.isEnabled(state, Step::control(e1))) << "the root is entered by a step";
  for (int i = 0; i < 2; ++i) {
    spec.apply(state, Step::control(e0));
    spec.apply(state, Step::control(e1));
  }
  EXPECT_TRUE(spec.isEnabled(state, Step::issue(e1, q1)));
  spec.apply(state, Step::issue(e1, q1));
  spec.apply(state, Step::control(e1));
  spec.apply(state, Step::control(e1));
  EXPECT_FALSE(spec.isEnabled(state, Step::issue(e1, q1)));
  spec.apply(state, Step::issue(e0, q0));
  spec.apply(state, Step::commit(e0, q0, 0));
  EXPECT_FALSE(spec.isEnabled(state, Step::issue(e1, q1))) << "a commit is not enough";
  spec.apply(state, Step::retire(e0, q0));
  EXPECT_TRUE(spec.isEnabled(state, Step::issue(e1, q1)));
  EXPECT_EQ(spec.describe({InstrId(1), 1}), "'C' at A = 1");
}

/// Any schedule ends with everything retired: the first enabled step, again and again.
TEST(SpecTest, runsToTheEnd) {
  uint32_t finished = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    fuzz::RandomKernelOptions options;
    RandomCodeCase code(seed, options);
    SpecSystem spec(code.kernel, code.bindings);
    SpecState state = spec.initial();
    std::vector<Step> steps;
    for (spec.enabled(state, steps); !steps.empty(); spec.enabled(state, steps)) {
      spec.apply(state, steps[seed % steps.size()]);
    }
    EXPECT_TRUE(spec.finished(state)) << "seed " << seed;
    ++finished;
    for (InstrId i : code.kernel.instrs.ids()) {
      EngineId e = code.kernel.engineOf(i);
      EXPECT_EQ(state.retirements[i], code.definitions[e.value].runsOf(i));
    }
  }
  EXPECT_EQ(finished, 200u);
}

TEST(SpecTest, tooManyPoints) {
  Kernel kernel = producerInLoop();
  Bindings bindings(kernel);
  bindings.set(LoopId(1), {100});
  SpecOptions options;
  options.maxPoints = 50;
  EXPECT_FALSE(SpecSystem(kernel, bindings, options).complete());
  options.maxPoints = 5000;
  EXPECT_TRUE(SpecSystem(kernel, bindings, options).complete());
}
