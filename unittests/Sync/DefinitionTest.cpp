//===- DefinitionTest.cpp - The oracle against counts made by hand --------===//
//
// The oracle judges everything else, so it is judged by hand: the worked example
// of the paper, and each counterexample to a tempting reading of it.
//
//===----------------------------------------------------------------------===//

#include "oracle/Definition.h"

#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

using Numbers = std::vector<uint64_t>;

/// Two engines: "p" has producers, "c" has consumers.
struct Code {
  KernelBuilder builder{"k"};
  EngineId p = builder.engine("p");
  EngineId c = builder.engine("c");
  Kernel kernel;

  LoopId loop(const char *name) { return builder.beginLoop(name, builder.value(name)); }

  void end() { builder.endLoop(); }

  InstrId producer(const char *name = "P") { return builder.instr(name, builder.queueOf(p)); }

  InstrId consumer(const char *name = "C") { return builder.instr(name, builder.queueOf(c)); }

  Bindings finish() {
    kernel = builder.finish();
    return Bindings(kernel);
  }
};

Numbers runsNeeded(const Code &code, const Bindings &bindings, DepId dep = DepId(0)) {
  Definition definition(code.kernel, bindings, code.c);
  Numbers runs;
  for (const Need &need : definition.needs(dep)) {
    EXPECT_LE(need.runs, need.ceiling);
    EXPECT_LE(need.ceiling, need.before);
    runs.push_back(need.runs);
  }
  return runs;
}

} // namespace

/// The seven rows of the paper's loop-carried example: distance 2 on B, which runs 3, then 4
/// times.
TEST(DefinitionTest, paperLoopCarried) {
  Code k;
  LoopId a = k.loop("A");
  LoopId b = k.loop("B");
  InstrId p = k.producer(), c = k.consumer();
  k.end();
  k.end();
  k.builder.dep(p, c, {{b, 2}});
  Bindings bindings = k.finish();
  bindings.set(a, {2});
  bindings.set(b, {3, 4});
  EXPECT_EQ(runsNeeded(k, bindings), (Numbers{0, 0, 1, 0, 0, 4, 5}));
}

TEST(DefinitionTest, straightLineNeedsOneRun) {
  Code k;
  InstrId p = k.producer(), c = k.consumer();
  k.builder.dep(p, c);
  EXPECT_EQ(runsNeeded(k, k.finish()), (Numbers{1}));
}

/// B runs 2, 0, 1 times; the consumer follows it and needs all of it.
TEST(DefinitionTest, nestedForwardCountsAllSoFar) {
  Code k;
  LoopId a = k.loop("A");
  LoopId b = k.loop("B");
  InstrId p = k.producer();
  k.end();
  InstrId c = k.consumer();
  k.end();
  k.builder.dep(p, c);
  k.builder.dep(p, c, {{a, 1}});
  Bindings bindings = k.finish();
  bindings.set(a, {3});
  bindings.set(b, {2, 0, 1});
  EXPECT_EQ(runsNeeded(k, bindings, DepId(0)), (Numbers{2, 2, 3}));
  // One iteration late, in the second the two runs of the first, in the third still these: the
  // second ran the producer zero times, but older runs stay owed.
  EXPECT_EQ(runsNeeded(k, bindings, DepId(1)), (Numbers{0, 2, 2}));
}

TEST(DefinitionTest, nestedBackwardCountsTheLastIteration) {
  Code k;
  LoopId a = k.loop("A");
  InstrId c = k.consumer();
  LoopId b = k.loop("B");
  InstrId p = k.producer();
  k.end();
  k.end();
  k.builder.dep(p, c, {{a, 1}});
  Bindings bindings = k.finish();
  bindings.set(a, {3});
  bindings.set(b, {2, 1, 4});
  EXPECT_EQ(runsNeeded(k, bindings), (Numbers{0, 2, 3}));
}

/// The count is the consumer's own, also where its engine runs the loop less often.
TEST(DefinitionTest, countsOnTheConsumersEngine) {
  Code k;
  LoopId a = k.loop("A");
  LoopId b = k.builder.beginLoop("B", k.builder.value("B"), /*uniform=*/false);
  InstrId p = k.producer();
  k.end();
  InstrId c = k.consumer();
  k.end();
  k.builder.allowDivergent(k.builder.dep(p, c));
  Bindings bindings = k.finish();
  bindings.set(a, {1});
  bindings.set(b, {3}, k.p);
  bindings.set(b, {1}, k.c);
  EXPECT_EQ(runsNeeded(k, bindings), (Numbers{1}));
}

/// A branch has no component of its own: taken, skipped, taken, the consumer in
/// iteration 3 needs the one run of iteration 1.
TEST(DefinitionTest, branchesAreTransparent) {
  Code k;
  LoopId a = k.loop("A");
  LoopId branch = k.builder.beginIf("c");
  InstrId p = k.producer(), c = k.consumer();
  k.builder.endIf();
  k.end();
  k.builder.dep(p, c, {{a, 1}});
  Bindings bindings = k.finish();
  bindings.set(a, {4});
  bindings.set(branch, {1, 0, 1, 1});
  EXPECT_EQ(runsNeeded(k, bindings), (Numbers{0, 1, 2}));
}

TEST(DefinitionTest, oppositeBranchesCountEarlierDecisions) {
  Code k;
  LoopId a = k.loop("A");
  LoopId branch = k.builder.beginIf("c");
  InstrId p = k.producer();
  k.builder.beginElse();
  InstrId c = k.consumer();
  k.builder.endIf();
  k.end();
  k.builder.dep(p, c);
  k.builder.dep(p, c, {{a, 1}});
  k.builder.dep(p, c, {{a, 2}});
  Bindings bindings = k.finish();
  bindings.set(a, {5});
  bindings.set(branch, {0, 1, 0, 1, 0});
  EXPECT_EQ(runsNeeded(k, bindings, DepId(0)), (Numbers{0, 1, 2}));
  EXPECT_EQ(runsNeeded(k, bindings, DepId(1)), (Numbers{0, 1, 2}));
  EXPECT_EQ(runsNeeded(k, bindings, DepId(2)), (Numbers{0, 0, 1}));
}

/// Distance (1, 0, 0) needs the trip counts of the whole last iteration of A: with equal sums, the
/// consumer at (2, 2, 1) is owed 4 runs or 2.
TEST(DefinitionTest, outerDistancesFollowInnerTripCounts) {
  Code k;
  LoopId a = k.loop("A");
  LoopId b = k.loop("B");
  LoopId inner = k.loop("D");
  InstrId p = k.producer(), c = k.consumer();
  k.end();
  k.end();
  k.end();
  k.builder.dep(p, c, {{a, 1}});
  Bindings bindings = k.finish();
  bindings.set(a, {2});
  bindings.set(b, {3});
  bindings.set(inner, {3, 1, 2, 1, 1, 1});
  EXPECT_EQ(runsNeeded(k, bindings)[7], 4u);
  bindings.set(inner, {1, 3, 2, 1, 1, 1});
  EXPECT_EQ(runsNeeded(k, bindings)[7], 2u);
}

/// A halo: distance (1, -1) needs one inner index further, cut off at the end of the row.
TEST(DefinitionTest, negativeInnerComponent) {
  Code k;
  LoopId a = k.loop("A");
  LoopId b = k.loop("B");
  InstrId p = k.producer(), c = k.consumer();
  k.end();
  k.end();
  k.builder.dep(p, c, {{a, 1}, {b, -1}});
  Bindings bindings = k.finish();
  bindings.set(a, {2});
  bindings.set(b, {3});
  EXPECT_EQ(runsNeeded(k, bindings), (Numbers{0, 0, 0, 2, 3, 3}));
}

/// One buffer through two loops: load number q waits for use number q - 1, over the whole run.
TEST(DefinitionTest, flatCountsOverTheWholeRun) {
  Code k;
  LoopId a = k.loop("A");
  LoopId b = k.loop("B");
  InstrId load = k.consumer("load"), use = k.producer("use");
  k.end();
  k.end();
  k.builder.depFlat(use, load, 1);
  Bindings bindings = k.finish();
  bindings.set(a, {2});
  bindings.set(b, {2, 3});
  EXPECT_EQ(runsNeeded(k, bindings), (Numbers{0, 1, 2, 3, 4}));
}

namespace {

/// S { LP { P }  LC { C } }: S runs twice, LP 3 times, LC 4 times.
Numbers elementRuns(int64_t element, int64_t offset) {
  Code k;
  LoopId s = k.loop("S");
  LoopId lp = k.loop("LP");
  InstrId p = k.producer();
  k.end();
  LoopId lc = k.loop("LC");
  InstrId c = k.consumer();
  k.end();
  k.end();
  DistanceComponent component{s, offset};
  k.builder.depElement(p, c, element, {&component, 1});
  Bindings bindings = k.finish();
  bindings.set(s, {2});
  bindings.set(lp, {3});
  bindings.set(lc, {4});
  return runsNeeded(k, bindings);
}

} // namespace

/// Index i needs index i: the fourth finds only three.
TEST(DefinitionTest, elementSameIndex) {
  EXPECT_EQ(elementRuns(0, 0), (Numbers{1, 2, 3, 3, 4, 5, 6, 6}));
}

TEST(DefinitionTest, elementEarlierIndexOwesNothingBeforeTheFirst) {
  EXPECT_EQ(elementRuns(1, 0), (Numbers{0, 1, 2, 3, 0, 4, 5, 6}));
}

TEST(DefinitionTest, elementLaterIndexIsCutOffAtTheEnd) {
  EXPECT_EQ(elementRuns(-1, 0), (Numbers{2, 3, 3, 3, 5, 6, 6, 6}));
}

TEST(DefinitionTest, elementOfAnEarlierIteration) {
  EXPECT_EQ(elementRuns(0, 1), (Numbers{0, 0, 0, 0, 1, 2, 3, 3}));
}

/// A { B { C trips 2 { P } }  D { E trips 3 { C } } }, two iterations of A: B runs twice, D twice.
TEST(DefinitionTest, elementsOfNestsAreRuns) {
  Code k;
  LoopId a = k.loop("A");
  LoopId b = k.loop("B");
  k.builder.beginLoop("C", KernelBuilder::constant(2));
  InstrId p = k.producer();
  k.end();
  k.end();
  LoopId d = k.loop("D");
  k.builder.beginLoop("E", KernelBuilder::constant(3));
  InstrId c = k.consumer();
  k.end();
  k.end();
  k.end();
  k.builder.depElement(p, c, 1, {});
  Bindings bindings = k.finish();
  bindings.set(a, {2});
  bindings.set(b, {2});
  bindings.set(d, {2});
  EXPECT_EQ(runsNeeded(k, bindings), (Numbers{0, 1, 2, 3, 4, 4, 0, 5, 6, 7, 8, 8}));
}

/// Two queues of one engine, A { P Q R }: P and R share a queue and a counter of weight 2.
TEST(DefinitionTest, countersShowTheLastOfARun) {
  Code k;
  LoopId a = k.loop("A");
  InstrId p = k.producer("P"), q = k.producer("Q"), r = k.producer("R");
  k.end();
  Bindings bindings = k.finish();
  bindings.set(a, {3});
  Signals signals(k.kernel.instrs.size());
  signals[p] = signals[r] = {0, 2};
  signals[q] = {1, 1};
  Definition definition(k.kernel, bindings, k.c);
  EXPECT_EQ(definition.valuesAfterRuns(p, signals), (Numbers{0, 2, 6, 10}));
  EXPECT_EQ(definition.valuesAfterRuns(r, signals), (Numbers{0, 4, 8, 12}));
  EXPECT_EQ(definition.valuesAfterRuns(q, signals), (Numbers{0, 1, 2, 3}));
}

/// One counter for a whole queue, A { P; B { Q } }, B running 2, 1, 1 times: the runs of
/// P are the first, fourth and sixth of all.
TEST(DefinitionTest, countersOfAQueueFollowInnerLoops) {
  Code k;
  LoopId a = k.loop("A");
  InstrId p = k.producer("P");
  LoopId b = k.loop("B");
  InstrId q = k.producer("Q");
  k.end();
  k.end();
  Bindings bindings = k.finish();
  bindings.set(a, {3});
  bindings.set(b, {2, 1, 1});
  Signals signals(k.kernel.instrs.size());
  signals[p] = signals[q] = {0, 1};
  Definition definition(k.kernel, bindings, k.c);
  EXPECT_EQ(definition.valuesAfterRuns(p, signals), (Numbers{0, 1, 4, 6}));
}
