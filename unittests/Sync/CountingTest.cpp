//===- CountingTest.cpp - Edges of the counting strategies ----------------===//

#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Sync/Plan.h"

#include <gtest/gtest.h>

#include <array>

using namespace tally;

namespace {

/// A { B { P } C } with P -> C at distance `distance` on A, P's queue of weight `weight`.
Kernel nestedProducer(int64_t distance, uint32_t weight = 1) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  b.setQueue(producer, weight, Completion::Whole);
  LoopId a = b.beginLoop("A", b.value("n"));
  b.beginLoop("B", b.value("m"));
  InstrId p = b.instr("P", producer);
  b.endLoop();
  InstrId c = b.instr("C", consumer);
  b.endLoop();
  b.dep(p, c, {{a, distance}});
  return b.finish();
}

} // namespace

/// Each remembered iteration costs a register and a move: up to 64 the wait is exact.
TEST(CountingTest, sixtyFourIterationsAreRememberedExactly) {
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(nestedProducer(64), {}, diagnostics);
  EXPECT_EQ(plan.waits[DepId(0)].waitClass, WaitClass::Ring);
  EXPECT_TRUE(plan.waits[DepId(0)].exact);
  EXPECT_EQ(plan.rings[RingId(0)].depth, 64u);
  EXPECT_TRUE(diagnostics.all().empty());
}

/// One further, the oldest copy serves: it counts one iteration more than owed, and that is said.
/// The mask still knows the true distance.
TEST(CountingTest, fartherBackIsConservative) {
  Kernel kernel = nestedProducer(65);
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, {}, diagnostics);
  const Wait &wait = plan.waits[DepId(0)];
  EXPECT_EQ(wait.waitClass, WaitClass::Conservative);
  EXPECT_FALSE(wait.exact);
  EXPECT_EQ(plan.rings[RingId(0)].depth, 64u);
  EXPECT_EQ(toString(plan.exprs, wait.threshold, plan.rings, plan.rounds, kernel),
            "isGT(total(A), 65)*snapshot(A, 64, total(B))");
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].severity, Severity::Remark);
  EXPECT_NE(diagnostics.all()[0].message.find("it reaches 65 iterations back, of which 64 are "
                                              "remembered"),
            std::string::npos);
}

/// A { P C } with P -> C at distance `distance` on A: w*total(A) - w*distance, masked.
static std::string thresholdOver(int64_t distance, uint32_t weight, uint64_t limit) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  b.setQueue(producer, weight, Completion::Whole);
  LoopId a = b.beginLoop("A", b.value("n"));
  InstrId p = b.instr("P", producer);
  InstrId c = b.instr("C", consumer);
  b.endLoop();
  b.dep(p, c, {{a, distance}});
  Kernel kernel = b.finish();
  PlanDecisions options;
  options.counterLimit = limit;
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, options, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors());
  const Wait &wait = plan.waits[DepId(0)];
  EXPECT_EQ(wait.maskLoop, a) << "it is still counted against the limit";
  return toString(plan.exprs, wait.threshold, plan.rings, plan.rounds, kernel);
}

/// A distance of D iterations reaches over D*w*N retirements. Where counters hold fewer, nothing is
/// ever owed before they are reset, and no number is made that they cannot hold.
TEST(CountingTest, distanceBeyondCountersIsNeverOwed) {
  EXPECT_EQ(thresholdOver(15, 16, 256), "isGT(total(A), 15)*(16*total(A) - 240)");
  EXPECT_EQ(thresholdOver(16, 16, 256), "0");
  EXPECT_EQ(thresholdOver(16, 16, 65536), "isGT(total(A), 16)*(16*total(A) - 256)");
  EXPECT_EQ(thresholdOver(254, 1, 256), "isGT(total(A), 254)*(total(A) - 254)");
  EXPECT_EQ(thresholdOver(255, 1, 256), "0");
}

/// With so few bits, inner indices are counted less far, and farther apart whole iterations are
/// waited for.
TEST(CountingTest, innerIndicesKeepToAQuarterOfTheCounters) {
  for (int64_t step : {-64, -63, 63, 64}) {
    KernelBuilder b("k");
    QueueId producer = b.queueOf(b.engine("p"));
    QueueId consumer = b.queueOf(b.engine("c"));
    b.beginLoop("A", b.value("n"));
    InstrId p = b.instr("P", producer);
    b.endLoop();
    b.beginLoop("B", b.value("n"));
    InstrId c = b.instr("C", consumer);
    b.endLoop();
    b.depElement(p, c, step, {});
    Kernel kernel = b.finish();
    PlanDecisions options;
    options.counterLimit = 256;
    Diagnostics diagnostics;
    SyncPlan plan = makePlan(kernel, options, diagnostics);
    EXPECT_EQ(plan.waits[DepId(0)].exact, step == 63 || step == -63) << step;
  }
}

/// No number that only says "the largest" is told as a distance.
TEST(CountingTest, innerIndicesWithoutABoundAreSaidToHaveNone) {
  for (auto [max, reason] :
       {std::pair(maxCount, "inner indices are 2147483646 apart, of which 1048576 are counted"),
        std::pair(uint64_t(0), "inner indices may be arbitrarily far apart, as 'n' has no 'max', "
                               "and 1048576 are counted")}) {
    KernelBuilder b("k");
    QueueId producer = b.queueOf(b.engine("p"));
    QueueId consumer = b.queueOf(b.engine("c"));
    Trip trip = max != 0 ? b.value("n", 0, max) : b.value("n");
    b.beginLoop("A", trip);
    InstrId p = b.instr("P", producer);
    b.endLoop();
    b.beginLoop("B", trip);
    InstrId c = b.instr("C", consumer);
    b.endLoop();
    b.depElement(p, c, -static_cast<int64_t>(maxCount - 1), {});
    Kernel kernel = b.finish();
    Diagnostics diagnostics;
    makePlan(kernel, {}, diagnostics);
    std::string said = diagnostics.all().empty() ? "" : diagnostics.all().back().message;
    EXPECT_NE(said.find(reason), std::string::npos) << said;
  }
}

/// What one entry of a body raises at once has to fit.
TEST(CountingTest, queueThatRaisesTooMuchIsRefused) {
  Diagnostics fits;
  makePlan(nestedProducer(1, maxCount), {}, fits);
  EXPECT_FALSE(fits.hasErrors());
  Diagnostics tooMuch;
  makePlan(nestedProducer(1, static_cast<uint32_t>(maxCount) + 1), {}, tooMuch);
  EXPECT_TRUE(tooMuch.hasErrors());
}

/// Sixteen parts in order per ring only: part 16 of the count may be the next run's, while one of
/// this run's is still missing. With weight 1, or one run in all, there is nothing to mix; and
/// where loops are written out, one semaphore counts all of the queue.
TEST(CountingTest, splitQueuesAreRefusedWhereTheyMayMix) {
  for (uint32_t weight : {1u, 16u}) {
    for (bool repeated : {false, true}) {
      KernelBuilder b("k");
      QueueId producer = b.queueOf(b.engine("p"));
      QueueId consumer = b.queueOf(b.engine("c"));
      b.setQueue(producer, weight, Completion::Split);
      b.setQueue(consumer, 16, Completion::Split);
      b.beginLoop("A", KernelBuilder::constant(repeated ? 3 : 1));
      if (!repeated) {
        b.endLoop();
      }
      InstrId p = b.instr("P", producer);
      b.dep(p, b.instr("C", consumer));
      if (repeated) {
        b.endLoop();
      }
      Kernel kernel = b.finish();
      for (Strategy strategy : {Strategy::PerLoop, Strategy::PerEngine, Strategy::Barrier,
                                Strategy::Unrolled, Strategy::PerInstruction}) {
        PlanDecisions options;
        options.strategy = strategy;
        Diagnostics diagnostics;
        makePlan(kernel, options, diagnostics);
        bool mixes = strategy == Strategy::Unrolled || (repeated && strategy != Strategy::Barrier);
        EXPECT_EQ(diagnostics.numErrors(), weight > 1 && mixes ? 1u : 0u)
            << toString(strategy) << (repeated ? " in a loop" : "");
      }
    }
  }
}

/// In a loop, the next transfer has to wait for whoever waits for this one: itself, or by way of
/// others. Two under way at a time need two instructions.
TEST(CountingTest, splitQueuesAreWaitedForWhereTheNextTransferWaits) {
  auto errors = [](int64_t reuse, bool byWayOfAnother) {
    KernelBuilder b("k");
    QueueId dma = b.queueOf(b.engine("dma"));
    QueueId act = b.queueOf(b.engine("act"));
    QueueId pool = b.queueOf(b.engine("pool"));
    b.setQueue(dma, 16, Completion::Split);
    LoopId a = b.beginLoop("A", b.value("n"));
    InstrId load = b.instr("load", dma);
    InstrId use = b.instr("use", act);
    InstrId store = b.instr("store", pool);
    b.endLoop();
    b.dep(load, use);
    b.dep(use, store);
    b.dep(byWayOfAnother ? store : use, load, {{a, reuse}});
    Diagnostics diagnostics;
    makePlan(b.finish(), {}, diagnostics);
    return diagnostics.numErrors();
  };
  EXPECT_EQ(errors(1, false), 0u);
  EXPECT_EQ(errors(1, true), 0u);
  EXPECT_EQ(errors(2, false), 1u);
  EXPECT_EQ(errors(2, true), 1u);
}

/// Who waits for it only sometimes does not hold the next transfer back every time.
TEST(CountingTest, splitQueuesAreNotHeldBackByABranch) {
  KernelBuilder b("k");
  QueueId dma = b.queueOf(b.engine("dma"));
  QueueId act = b.queueOf(b.engine("act"));
  QueueId pool = b.queueOf(b.engine("pool"));
  b.setQueue(dma, 16, Completion::Split);
  LoopId a = b.beginLoop("A", b.value("n"));
  InstrId load = b.instr("load", dma);
  InstrId use = b.instr("use", act);
  b.beginIf("last");
  InstrId store = b.instr("store", pool);
  b.endIf();
  b.endLoop();
  b.dep(load, use);
  b.dep(use, store);
  b.dep(store, load, {{a, 1}});
  Diagnostics diagnostics;
  makePlan(b.finish(), {}, diagnostics);
  EXPECT_EQ(diagnostics.numErrors(), 1u);
}

/// Before the producer's loop, what it was two iterations ago is what it was before its last one: a
/// copy taken there serves for one more iteration than one taken at the entry.
TEST(CountingTest, beforeTheProducersLoopOneCopyFewerServes) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  LoopId a = b.beginLoop("A", b.value("n"));
  InstrId c = b.instr("C", consumer);
  b.beginLoop("B", b.value("m"));
  InstrId p = b.instr("P", producer);
  b.endLoop();
  b.endLoop();
  b.dep(p, c, {{a, 3}});
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, {}, diagnostics);
  EXPECT_EQ(toString(plan.exprs, plan.waits[DepId(0)].threshold, plan.rings, plan.rounds, kernel),
            "isGT(total(A), 3)*late(A, 2, total(B))");
  EXPECT_EQ(plan.rings[RingId(0)].depth, 2u);
}

/// A { B { D { P; C } } } with three iterations of B and two of D: an iteration of A is six runs. A
/// target beyond the last iteration of B is the end of the target's iteration of A.
namespace {

/// R { N { M { P  K { C } } } } with M of 16 trips and N of 4, and P -> C at these distances on R,
/// N and M.
struct RingInNest {
  KernelBuilder b{"k"};
  std::vector<LoopId> loops;
  InstrId p, c;

  explicit RingInNest(bool isConstant = true) {
    QueueId producer = b.queueOf(b.engine("p"));
    QueueId consumer = b.queueOf(b.engine("c"));
    loops.push_back(b.beginLoop("R", b.value("n")));
    loops.push_back(b.beginLoop("N", KernelBuilder::constant(4)));
    loops.push_back(b.beginLoop("M", isConstant ? KernelBuilder::constant(16) : b.value("m")));
    p = b.instr("P", producer);
    loops.push_back(b.beginLoop("K", b.value("k")));
    c = b.instr("C", consumer);
    for (size_t i = 0; i < loops.size(); ++i) {
      b.endLoop();
    }
  }

  /// The thresholds by dependence, in `auto` code or as published.
  std::vector<std::string> thresholds(std::vector<std::array<int64_t, 3>> distances,
                                      Strategy strategy = Strategy::Auto) {
    for (const std::array<int64_t, 3> &each : distances) {
      b.dep(p, c, {{loops[0], each[0]}, {loops[1], each[1]}, {loops[2], each[2]}});
    }
    Kernel kernel = b.finish();
    PlanDecisions decisions;
    decisions.strategy = strategy;
    Diagnostics diagnostics;
    SyncPlan plan = makePlan(kernel, decisions, diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors());
    std::vector<std::string> texts;
    for (const Wait &wait : plan.waits) {
      texts.push_back(toString(plan.exprs, wait.threshold, plan.rings, plan.rounds, kernel));
    }
    return texts;
  }
};

constexpr const char *twoAgo = "max(total(M) - 2, 0)";

} // namespace

/// A ring of two over M goes on when M is entered again, whichever loop around went on.
TEST(CountingTest, distancesOfOneRingAreOne) {
  EXPECT_EQ(RingInNest().thresholds({{0, 0, 2}, {0, 1, -14}, {1, -3, -14}}),
            std::vector<std::string>(3, twoAgo));
  EXPECT_EQ(RingInNest().thresholds({{1, -3, -14}, {0, 0, 2}, {0, 1, -14}}),
            std::vector<std::string>(3, twoAgo));
}

/// Without one of them, nothing is owed where it would be: then each has its mask.
TEST(CountingTest, otherDistancesAreNotOne) {
  using Distances = std::vector<std::array<int64_t, 3>>;
  for (const Distances &distances : {
           Distances{{0, 0, 2}, {0, 1, -14}},               // the first iteration of R owes nothing
           Distances{{0, 0, 2}, {1, -3, -14}},              // nor does that of N
           Distances{{0, 1, -14}, {1, -3, -14}},            // nor the rest of M
           Distances{{0, 0, 2}, {0, 1, -13}, {1, -3, -14}}, // three before, in one of them
           Distances{{0, 0, 2}, {0, 1, -14}, {1, -2, -14}}, // not the last iteration of N
           Distances{{0, 0, 2}, {0, 2, -14}, {1, -3, -14}}, // an iteration of N too far
       }) {
    for (const std::string &text : RingInNest().thresholds(distances)) {
      EXPECT_NE(text, twoAgo);
    }
  }
  for (const std::string &text :
       RingInNest(/*isConstant=*/false).thresholds({{0, 0, 2}, {0, 1, -14}, {1, -3, -14}})) {
    EXPECT_NE(text, twoAgo);
  }
  for (const std::string &text :
       RingInNest().thresholds({{0, 0, 2}, {0, 1, -14}, {1, -3, -14}}, Strategy::PerLoop)) {
    EXPECT_NE(text, twoAgo) << "code as published";
  }
}

TEST(CountingTest, constantNestsAreCountedInRuns) {
  struct Distance {
    int64_t onB, onD;
    std::string_view threshold;
  };

  constexpr Distance distances[] = {
      {0, 0, "isGT(total(A), 1)*(total(D) - 6)"},
      {1, 0, "isGT(total(A), 1)*(isGT(trip(B), 1)*(total(D) - 8))"},
      {-1, 0, "isGT(total(A), 1)*min(total(D) - 4, 6*(total(A) - 1))"},
      {-3, 1, "isGT(total(A), 1)*(isGT(trip(D), 1)*(6*total(A) - 6))"},
  };
  for (const Distance &distance : distances) {
    KernelBuilder b("k");
    QueueId producer = b.queueOf(b.engine("p"));
    QueueId consumer = b.queueOf(b.engine("c"));
    LoopId outer = b.beginLoop("A", b.value("n", 0, 1000));
    LoopId middle = b.beginLoop("B", KernelBuilder::constant(3));
    LoopId inner = b.beginLoop("D", KernelBuilder::constant(2));
    InstrId p = b.instr("P", producer);
    InstrId c = b.instr("C", consumer);
    b.endLoop();
    b.endLoop();
    b.endLoop();
    b.dep(p, c, {{outer, 1}, {middle, distance.onB}, {inner, distance.onD}});
    Kernel kernel = b.finish();
    Diagnostics diagnostics;
    SyncPlan plan = makePlan(kernel, {}, diagnostics);
    const Wait &wait = plan.waits[DepId(0)];
    EXPECT_EQ(wait.waitClass, WaitClass::Nest);
    EXPECT_TRUE(wait.exact);
    EXPECT_EQ(toString(plan.exprs, wait.threshold, plan.rings, plan.rounds, kernel),
              distance.threshold);
    EXPECT_TRUE(diagnostics.all().empty());
  }
}

/// With four runs in each iteration, the count of iterations is enough: under 'auto' nothing is
/// remembered, and nobody has to run the producer's loop in order to count.
TEST(CountingTest, constantTripsAreNotCounted) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  LoopId a = b.beginLoop("A", b.value("n"));
  b.beginLoop("B", KernelBuilder::constant(4));
  InstrId p = b.instr("P", producer);
  b.endLoop();
  InstrId c = b.instr("C", consumer);
  b.endLoop();
  b.dep(p, c);
  b.dep(p, c, {{a, 70}});
  Kernel kernel = b.finish();
  PlanDecisions options;
  options.strategy = Strategy::Auto;
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, options, diagnostics);
  EXPECT_EQ(diagnostics.all().size(), 0u);
  EXPECT_TRUE(plan.rings.empty());
  auto threshold = [&](uint32_t dep) {
    return toString(plan.exprs, plan.waits[DepId(dep)].threshold, plan.rings, plan.rounds, kernel);
  };
  EXPECT_EQ(threshold(0), "4*total(A)");
  EXPECT_EQ(threshold(1), "4*max(total(A) - 70, 0)");
  EXPECT_TRUE(dominates(kernel, plan, DepId(0), DepId(1)));
}

//===----------------------------------------------------------------------===//
// Limits of the planner, each crossed by one
//===----------------------------------------------------------------------===//

/// A copy that is taken before the producer's loop reaches one iteration farther back.
TEST(CountingTest, lateRingsRememberOneMore) {
  for (int64_t distance : {65, 66}) {
    KernelBuilder b("k");
    QueueId producer = b.queueOf(b.engine("p"));
    QueueId consumer = b.queueOf(b.engine("c"));
    LoopId a = b.beginLoop("A", b.value("n"));
    InstrId c = b.instr("C", consumer);
    b.beginLoop("B", b.value("m"));
    InstrId p = b.instr("P", producer);
    b.endLoop();
    b.endLoop();
    b.dep(p, c, {{a, distance}});
    Diagnostics diagnostics;
    SyncPlan plan = makePlan(b.finish(), {}, diagnostics);
    EXPECT_EQ(plan.waits[DepId(0)].exact, distance == 65);
    EXPECT_EQ(plan.rings[RingId(0)].depth, mostRemembered);
  }
}

/// A { B { P C } }, P -> C an iteration of A and `step` of B apart.
static Wait elementsApart(int64_t step) {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  LoopId a = b.beginLoop("A", b.value("n"));
  LoopId inner = b.beginLoop("B", b.value("m"));
  InstrId p = b.instr("P", producer);
  InstrId c = b.instr("C", consumer);
  b.endLoop();
  b.endLoop();
  b.dep(p, c, {{a, 1}, {inner, step}});
  Diagnostics diagnostics;
  return makePlan(b.finish(), {}, diagnostics).waits[DepId(0)];
}

TEST(CountingTest, innerIndicesMayLieAMillionApart) {
  for (int64_t sign : {-1, 1}) {
    EXPECT_EQ(elementsApart(sign * (1 << 20)).waitClass, WaitClass::Element);
    EXPECT_EQ(elementsApart(sign * ((1 << 20) + 1)).waitClass, WaitClass::Conservative);
  }
}

/// So many instructions are written out, and no more.
TEST(CountingTest, fiftyMillionInstructionsAreWrittenOut) {
  for (uint64_t trips : {50'000'000u, 50'000'001u}) {
    KernelBuilder b("k");
    QueueId queue = b.queueOf(b.engine("p"));
    b.beginLoop("A", KernelBuilder::constant(trips));
    b.instr("P", queue);
    b.endLoop();
    PlanDecisions options;
    options.strategy = Strategy::Unrolled;
    Diagnostics diagnostics;
    makePlan(b.finish(), options, diagnostics);
    EXPECT_EQ(diagnostics.hasErrors(), trips == 50'000'001u);
  }
}
