//===- FeaturesTest.cpp - Whole cases, and which features met in them -----===//

#include "Features.h"
#include "HandWritten.h"
#include "KernelCampaign.h"
#include "Promises.h"

#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

using namespace tally;
using namespace tally::fuzz;

namespace {

size_t numberOf(std::string_view name) {
  for (size_t i = 0; i < numFeatures(); ++i) {
    if (featureName(i) == name) {
      return i;
    }
  }
  ADD_FAILURE() << "no feature '" << name << "'";
  return 0;
}

FeatureSet setOf(std::initializer_list<std::string_view> names) {
  FeatureSet set;
  for (std::string_view name : names) {
    set.set(numberOf(name));
  }
  return set;
}

/// A { P C } with P -> C, `max` trips.
Kernel oneLoop(uint64_t max) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  b.beginLoop("A", b.value("n", 0, max));
  InstrId p = b.instr("P", producer);
  InstrId c = b.instr("C", consumer);
  b.endLoop();
  b.depVector(p, c, {});
  return b.finish();
}

std::string textOf(const KernelReport &report) {
  std::string text;
  for (const Finding &finding : report.findings) {
    text += fmt::format("{}: {}\n{}\n", toString(finding.failure.strategy), finding.failure.what,
                        replayCommand(finding));
  }
  return text;
}

} // namespace

TEST(FeaturesTest, namesAreUnique) {
  std::set<std::string> names;
  for (size_t i = 0; i < numFeatures(); ++i) {
    EXPECT_TRUE(names.insert(featureName(i)).second) << featureName(i);
  }
}

/// A name in the list of impossible pairs that is in no table would excuse nothing, silently.
TEST(FeaturesTest, theListOfImpossiblePairsNamesFeatures) {
  EXPECT_EQ(impossibleWithoutFeature(), std::vector<std::string>());
}

TEST(FeaturesTest, pairsAreCounted) {
  PairTable table;
  table.add(setOf({"queues: split", "nesting: two loops"}));
  table.add(setOf({"queues: split", "nesting: one loop"}));
  size_t split = numberOf("queues: split");
  EXPECT_EQ(table.at(split, split), 2u);
  EXPECT_EQ(table.at(split, numberOf("nesting: two loops")), 1u);
  EXPECT_EQ(table.at(numberOf("nesting: one loop"), split), 1u);
  EXPECT_EQ(table.at(split, numberOf("nesting: no loop")), 0u);
  EXPECT_TRUE(contradictions(table).empty());
  FeaturePair met = std::minmax(split, numberOf("nesting: two loops"));
  FeaturePair never = std::minmax(split, numberOf("nesting: no loop"));
  std::vector<FeaturePair> missing = missingPairs(table);
  EXPECT_EQ(std::ranges::count(missing, met), 0);
  EXPECT_EQ(std::ranges::count(missing, never), 1);
}

/// What is listed as impossible, with a reason, must not meet.
TEST(FeaturesTest, impossiblePairsThatMeetAreReported) {
  PairTable table;
  table.add(setOf({"counters: 8 bits", "counters: 9 bits", "nesting: no loop", "loops: while"}));
  EXPECT_EQ(contradictions(table).size(), 2u);
  std::string text = toText(table);
  EXPECT_NE(text.find("met, although listed as impossible:"), std::string::npos) << text;
  EXPECT_EQ(whyImpossible({numberOf("counters: 8 bits"), numberOf("counters: 9 bits")}),
            "a machine has counters of one width");
}

/// Features are read off the case, not off what was wished for.
TEST(FeaturesTest, featuresAreThoseOfTheProgram) {
  Case drawn(oneLoop(5));
  drawn.machine.counterBits = 9;
  drawn.machine.registersPerEngine = 3;
  drawn.how.strategy = Strategy::PerLoop;
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(drawn.kernel, drawn.how, drawn.machine, diagnostics);
  ASSERT_TRUE(compiled);
  FeatureSet met =
      featuresOf({drawn, drawn.kernel, Strategy::PerLoop, compiled->plan, compiled->code, false});
  FeatureSet expected = setOf({"strategy: per-loop", "overflow: reset", "counters: 9 bits",
                               "subtraction: saturates", "comparison: unsigned",
                               "semaphores: unlimited", "registers: 3 or 4", "queues: weight 1",
                               "nesting: one loop", "loops: bounded trips", "dependences: written",
                               "ends: on two engines", "distance: 0", "waits: in the shared body"});
  for (size_t i = 0; i < numFeatures(); ++i) {
    EXPECT_EQ(met[i], expected[i]) << featureName(i);
  }
}

/// Mixed cases are right, and among a few hundred most pairs have met.
TEST(FeaturesTest, mixedCasesAreRight) {
  Extent extent;
  extent.seed = 77;
  extent.count = 300;
  KernelReport report = fuzzKernels(extent, mixedCase);
  EXPECT_EQ(textOf(report), "");
  EXPECT_TRUE(contradictions(report.pairs).empty()) << toText(report.pairs);
  EXPECT_LT(missingPairs(report.pairs).size(), 1500u);
  EXPECT_GT(report.counts.written, 50u);
  EXPECT_GT(report.counts.raced, report.counts.runs / 2);
}

/// What is found in a mixed case is shrunk to the generic machine and plain options.
TEST(FeaturesTest, sabotageOfMixedCasesIsFound) {
  Extent extent;
  extent.seed = 100; // what 'loseCounts' does may hang on a number that is reserved
  extent.count = 100;
  KernelReport report = fuzzKernels(extent, mixedCase, /*maxFindings=*/3, loseCounts);
  ASSERT_EQ(report.findings.size(), 3u);
  for (const Finding &finding : report.findings) {
    EXPECT_TRUE(examine(finding.drawn, finding.seed, loseCounts).failure);
    EXPECT_FALSE(examine(finding.drawn, finding.seed).failure);
    EXPECT_TRUE(finding.drawn.kernel.pins.empty() && finding.drawn.kernel.reserved.empty());
  }
}

/// Every edit leaves the code right, and there is one in most programs.
TEST(HandWrittenTest, rearrangedCodeIsAnotherCode) {
  Case drawn(oneLoop(5));
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(drawn.kernel, drawn.how, drawn.machine, diagnostics);
  ASSERT_TRUE(compiled);
  std::string reason;
  uint32_t changed = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::optional<Code> code = writtenAndRead(drawn.kernel, compiled->code, reason);
    ASSERT_TRUE(code) << reason;
    changed += rearrange(*code, seed);
    verifyCode(drawn.kernel, *code, diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  }
  EXPECT_GT(changed, 20u);
}

/// 8 bits hold 254 iterations of one signal each: the remark says so, and runs are held to it.
TEST(PromisesTest, theRemarkIsUnderstood) {
  Case drawn(oneLoop(1000));
  drawn.machine.counterBits = 8;
  drawn.how.overflow = Overflow::Assume;
  Diagnostics diagnostics;
  ASSERT_TRUE(compile(drawn.kernel, drawn.how, drawn.machine, diagnostics));
  std::vector<Promise> promises = promisesOf(drawn.kernel, diagnostics);
  ASSERT_EQ(promises.size(), 1u);
  LoopId loop = promises[0].loop;
  EXPECT_EQ(drawn.kernel.nameOf(loop), "A");
  Bindings bindings(drawn.kernel);
  bindings.set(loop, {promises[0].entries}, {});
  EXPECT_TRUE(isPromised(drawn.kernel, promises, bindings));
  bindings.set(loop, {promises[0].entries + 1}, {});
  EXPECT_FALSE(isPromised(drawn.kernel, promises, bindings));
}
