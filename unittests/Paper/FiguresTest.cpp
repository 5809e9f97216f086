//===- FiguresTest.cpp - The figures and the table of the paper -----------===//
//
// Each figure of the paper that shows code or wait values is compiled here, and each number in
// it is compared. Instructions, loops and engines have the figure's names. One
// difference runs through all of them: the figures let every instruction raise a semaphore, this
// compiler only those whose semaphore is waited for.
//
//===----------------------------------------------------------------------===//

#include "PaperCase.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::paper;

namespace {

size_t countLines(const Lines &lines, std::string_view start) {
  return static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(),
                    [&](const std::string &line) { return line.starts_with(start); }));
}

//===----------------------------------------------------------------------===//
// Section 2: straight-line code, the motivating example, barriers
//===----------------------------------------------------------------------===//

/// Engine 0: I0, I1. Engine 1: I2, I3. I2 depends on I1.
Kernel straightLine() {
  Writer k;
  k.on(0, "I0");
  InstrId i1 = k.on(0, "I1");
  InstrId i2 = k.on(1, "I2");
  k.on(1, "I3");
  k.dep(i1, i2);
  return k.finish();
}

} // namespace

/// I1 is the second instruction of engine 0, so s0 >= 2 says that it has retired. The root runs
/// once: its counters are the constant 1, and nothing is left to compute.
TEST(PaperFigureTest, straightLineThresholds) {
  Case figure(straightLine());
  EXPECT_EQ(figure.program("e0"), (Lines{"I0 {e0++}", "I1 {e0++}"}));
  EXPECT_EQ(figure.program("e1"), (Lines{"{e0 >= 2} I2", "I3"}));
  EXPECT_EQ(figure.registers("e0"), 0u);
  EXPECT_EQ(figure.registers("e1"), 0u);
  EXPECT_EQ(figure.semaphores(), 1u);
}

/// The same threshold whatever shares the semaphore: with one per engine the place of I1 on
/// its queue is 2 as well, with one per instruction it is the first retirement.
TEST(PaperFigureTest, straightLineWithOtherStrategies) {
  EXPECT_EQ(Case(straightLine(), with(Strategy::PerInstruction)).waits("I2"), Lines{"I1 >= 1"});
  EXPECT_EQ(Case(straightLine(), with(Strategy::PerEngine)).waits("I2"), Lines{"e0 >= 2"});
  EXPECT_EQ(Case(straightLine(), baseline()).waits("I2"), Lines{"e0 >= 2"});
}

namespace {

/// [0] I0; [1] I1; loop { [2] I2; [1] I3 }; [2] I4; [0] I5. Iteration n of I2 depends on
/// iteration n-2 of I3, as the red edge of the timeline (b) shows: the third I2 starts
/// when the first I3 ends.
Kernel motivating() {
  Writer k(3);
  k.on(0, "I0");
  k.on(1, "I1");
  LoopId loop = k.loop("loop");
  InstrId i2 = k.on(2, "I2");
  InstrId i3 = k.on(1, "I3");
  k.endLoop();
  k.on(2, "I4");
  k.on(0, "I5");
  k.dep(i3, i2, {{loop, 2}});
  return k.finish();
}

} // namespace

/// (b): no barrier anywhere. The only waits are those of I2: none in the first two
/// iterations, then for I3 of two iterations ago. Engine 0 does not even run the loop.
TEST(PaperFigureTest, motivatingExampleWithoutBarriers) {
  Case figure(motivating());
  figure.trips("loop", {5});
  for (const char *engine : {"e0", "e1", "e2"}) {
    EXPECT_EQ(countLines(figure.program(engine), "SYNC"), 0u) << engine;
  }
  EXPECT_EQ(figure.thresholds("I2"), (Values{0, 0, 1, 2, 3}));
  EXPECT_EQ(figure.thresholds("I3"), (Values{0, 0, 0, 0, 0}));
  EXPECT_EQ(figure.program("e0"), (Lines{"I0", "I5"}));
}

/// (a): four dashed lines for three iterations: all three engines meet before the loop and at
/// the end of each iteration, and the dependence needs no wait of its own.
TEST(PaperFigureTest, motivatingExampleWithBarriers) {
  Case figure(motivating(), baseline());
  figure.trips("loop", {3});
  for (const char *engine : {"e0", "e1", "e2"}) {
    EXPECT_EQ(countLines(figure.program(engine), "SYNC e0, e1, e2"), 2u) << engine;
    EXPECT_EQ(figure.executed(engine, OpKind::Drain), 4u) << engine;
  }
  EXPECT_EQ(figure.waits("I2"), (Lines{"", "", ""}));
}

namespace {

/// Engine 0: I0; loop A { I1; I2 }. Engine 1: loop A { I3 }. I3 depends on I2.
Kernel barrierExample() {
  Writer k;
  k.on(0, "I0");
  k.loop("A");
  k.on(0, "I1");
  InstrId i2 = k.on(0, "I2");
  InstrId i3 = k.on(1, "I3");
  k.endLoop();
  k.dep(i2, i3);
  return k.finish();
}

} // namespace

/// SYNC stands before the loop and at its back edge on both engines, and I3 waits
/// for the second retirement since.
TEST(PaperFigureTest, barrierExampleCode) {
  Case figure(barrierExample(), baseline());
  EXPECT_EQ(figure.program("e0"), (Lines{"I0 {e0++}", "SYNC e0, e1", "loop A:", "I1 {e0++}",
                                         "I2 {e0++}", "SYNC e0, e1"}));
  EXPECT_EQ(figure.program("e1"), (Lines{"SYNC e0, e1", "loop A:", "{e0 >= 2} I3", "SYNC e0, e1"}));
  EXPECT_EQ(figure.registers("e1"), 0u);
}

/// The threshold can be a constant because each SYNC resets s0: I2 takes it to 2 in every
/// iteration. Without the resets it would read 3, 5, 7.
TEST(PaperFigureTest, barrierResetsTheSemaphore) {
  Case figure(barrierExample(), baseline());
  figure.trips("A", {3});
  EXPECT_EQ(figure.raised("I2"), (Values{2, 2, 2}));
  EXPECT_EQ(figure.waits("I3"), (Lines{"e0 >= 2", "e0 >= 2", "e0 >= 2"}));
}

//===----------------------------------------------------------------------===//
// Section 3: the table of a loop-carried dependence
//===----------------------------------------------------------------------===//

namespace {

/// A { B { Producer; Consumer } }, the consumer at (a, b) depends on the producer at (a, b-2).
Kernel loopCarried() {
  Writer k;
  k.loop("A");
  LoopId b = k.loop("B");
  InstrId producer = k.on(0, "Producer");
  InstrId consumer = k.on(1, "Consumer");
  k.endLoop();
  k.endLoop();
  k.dep(producer, consumer, {{b, 2}});
  return k.finish();
}

} // namespace

/// delta = (0,2); B runs 3 times, then 4 times. The seven rows:
///   (1,1) and (1,2) underflow, (1,3) has the target (1,1): 1 retirement;
///   (2,1) and (2,2) underflow, (2,3) has (2,1): 3 + 1 = 4; (2,4) has (2,2): 3 + 2 = 5.
TEST(PaperFigureTest, loopCarriedRows) {
  for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine}) {
    Case figure(loopCarried(), with(strategy));
    figure.trips("A", {2});
    figure.trips("B", {3, 4});
    EXPECT_EQ(figure.thresholds("Consumer"), (Values{0, 0, 1, 0, 0, 4, 5})) << toString(strategy);
    EXPECT_EQ(figure.messages(), "");
  }
}

/// The no-wait rows come from the mask on the trip register: what is computed without one at (2,1),
/// r_B - 2 = 4 - 2, is a wait for run (1,2), which the consumer is not owed.
TEST(PaperFigureTest, loopCarriedMaskIsOnTheTripOfB) {
  Case figure(loopCarried(), literal(Strategy::PerInstruction));
  EXPECT_EQ(figure.wait(0).waitClass, WaitClass::InShared);
  ASSERT_TRUE(figure.wait(0).maskLoop.valid());
  EXPECT_EQ(figure.kernelOf().nameOf(figure.wait(0).maskLoop), "B");
  EXPECT_EQ(figure.wait(0).maskOffset, 2u);
}

//===----------------------------------------------------------------------===//
// Section 4: nested producers
//===----------------------------------------------------------------------===//

namespace {

/// Outer { A { B { Producer }; Consumer } }, or with the consumer first and offset 1 on A.
Kernel nested(bool forward) {
  Writer k;
  k.loop("Outer");
  LoopId a = k.loop("A");
  InstrId consumer;
  if (!forward) {
    consumer = k.on(1, "Consumer");
  }
  k.loop("B");
  InstrId producer = k.on(0, "Producer");
  k.endLoop();
  if (forward) {
    consumer = k.on(1, "Consumer");
  }
  k.endLoop();
  k.endLoop();
  std::vector<DistanceComponent> distance;
  if (!forward) {
    distance.push_back({a, 1});
  }
  k.depVector(producer, consumer, distance);
  return k.finish();
}

/// Two trips of A, two iterations each; B runs 3, 4, 2, 1 times.
void setNestedTrips(Case &figure) {
  figure.trips("Outer", {2});
  figure.trips("A", {2});
  figure.trips("B", {3, 4, 2, 1});
}

} // namespace

/// r_B counts B through the current iteration of A: 3, 3+4, 3+4+2, 3+4+2+1. Offset 0 is always
/// owed: no mask, and the wait is the bare register.
TEST(PaperFigureTest, nestedForward) {
  Case figure(nested(true));
  setNestedTrips(figure);
  EXPECT_EQ(figure.thresholds("Consumer"), (Values{3, 7, 9, 10}));
  EXPECT_EQ(figure.wait(0).waitClass, WaitClass::Nested);
  EXPECT_FALSE(figure.wait(0).maskLoop.valid());
  EXPECT_EQ(figure.computations("e1"), 0u);
  EXPECT_EQ(figure.registers("e1"), 1u);
}

/// At the consumer r_B counts B through the previous iteration of A: masked in the first
/// iteration of each trip, then 3, and 3+4+2 in the second trip.
TEST(PaperFigureTest, nestedBackward) {
  Case figure(nested(false));
  setNestedTrips(figure);
  EXPECT_EQ(figure.thresholds("Consumer"), (Values{0, 3, 0, 9}));
  EXPECT_EQ(figure.wait(0).waitClass, WaitClass::Nested);
  ASSERT_TRUE(figure.wait(0).maskLoop.valid());
  EXPECT_EQ(figure.kernelOf().nameOf(figure.wait(0).maskLoop), "A");
  EXPECT_EQ(figure.wait(0).maskOffset, 1u);
}

//===----------------------------------------------------------------------===//
// Section 4: per-instruction and per-loop allocation of one program
//===----------------------------------------------------------------------===//

namespace {

/// Engine 0: loop A { I0; I1 }. Engine 1: loop A { I2 }. I2 depends on I1.
Kernel allocationExample() {
  Writer k;
  k.loop("A");
  k.on(0, "I0");
  InstrId i1 = k.on(0, "I1");
  InstrId i2 = k.on(1, "I2");
  k.endLoop();
  k.dep(i1, i2);
  return k.finish();
}

} // namespace

/// As printed: w := isGT(trip, 0) * r_A, three operations with expr = r_A - k, k = 0. r0 is
/// r_A and r1 the trip register; r2 and r3 are computed.
TEST(PaperFigureTest, perInstructionLiteral) {
  Case figure(allocationExample(), literal(Strategy::PerInstruction));
  EXPECT_EQ(figure.program("e1"),
            (Lines{"[r0 := 0]", "[r1 := 0]", "loop A:", "[r1++]", "[r0++]", "[r2 := isGT(r1, 0)]",
                   "[r3 := r0 - 0]", "[r2 := r2 * r3]", "{I1 >= r2} I2"}));
  EXPECT_EQ(figure.program("e0"), (Lines{"loop A:", "I0", "I1 {I1++}"}));
  figure.trips("A", {3});
  EXPECT_EQ(figure.thresholds("I2"), (Values{1, 2, 3}));
}

/// "Omit the trip register where every offset is 0": the mask is always 1, and r_A - 0 is r_A.
/// Nothing is left to compute.
TEST(PaperFigureTest, perInstructionFolded) {
  Case figure(allocationExample(), with(Strategy::PerInstruction));
  EXPECT_EQ(figure.program("e1"), (Lines{"[r0 := 0]", "loop A:", "[r0++]", "{I1 >= r0} I2"}));
}

/// N = K = 2: w := 2 * r_A on the semaphore that I0 and I1 share.
TEST(PaperFigureTest, perLoopFolded) {
  Case figure(allocationExample());
  EXPECT_EQ(figure.program("e0"), (Lines{"loop A:", "I0 {A.e0++}", "I1 {A.e0++}"}));
  EXPECT_EQ(figure.program("e1"),
            (Lines{"[r0 := 0]", "loop A:", "[r0++]", "[r1 := 2 * r0]", "{A.e0 >= r1} I2"}));
  figure.trips("A", {3});
  EXPECT_EQ(figure.thresholds("I2"), (Values{2, 4, 6}));
  EXPECT_EQ(figure.thresholds("I2"), figure.raised("I1"));
}

/// Unfolded, the same values: isGT(trip, 0) * (2*(r_A - 0) - 0).
TEST(PaperFigureTest, perLoopLiteral) {
  Case figure(allocationExample(), literal(Strategy::PerLoop));
  figure.trips("A", {3});
  EXPECT_EQ(figure.thresholds("I2"), (Values{2, 4, 6}));
  EXPECT_EQ(figure.computations("e1"), 5u);
}

//===----------------------------------------------------------------------===//
// Section 5: the table of resources
//===----------------------------------------------------------------------===//

namespace {

/// `depth` loops inside one another, in the innermost P, X and `consumers` instructions that depend
/// on the P of one iteration ago. N = 2, K = 1: nothing of the formula is trivial.
Kernel inSharedFamily(uint32_t depth, uint32_t consumers) {
  Writer k;
  LoopId innermost;
  for (uint32_t d = 0; d < depth; ++d) {
    innermost = k.loop(fmt::format("L{}", d));
  }
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  for (uint32_t c = 0; c < consumers; ++c) {
    k.dep(p, k.on(1, fmt::format("C{}", c)), {{innermost, 1}});
  }
  for (uint32_t d = 0; d < depth; ++d) {
    k.endLoop();
  }
  return k.finish();
}

/// A { B { P; X }; C } with the nested producer P.
Kernel nestedFamily() {
  Writer k;
  k.loop("A");
  k.loop("B");
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  k.endLoop();
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c);
  return k.finish();
}

uint64_t operationsPerIssue(Strategy strategy, uint32_t depth, const Machine &machine) {
  constexpr uint64_t consumers = 3;
  Case measured(inSharedFamily(depth, consumers), literal(strategy), machine);
  EXPECT_TRUE(measured.accepted()) << measured.messages();
  EXPECT_EQ(measured.computations("e1") % consumers, 0u);
  return measured.computations("e1") / consumers;
}

} // namespace

/// Column "ALU/issue": 3 for mask, expr and their product; 5 with N * and - (N-K). A wrapping
/// machine needs no more: r >= k + 1 wherever the mask is 1, so nothing goes below zero.
TEST(PaperTableTest, operationsPerIssue) {
  for (const Machine &machine : {saturatingMachine(), wrappingMachine(), signedMachine()}) {
    for (uint32_t depth : {1u, 3u}) {
      EXPECT_EQ(operationsPerIssue(Strategy::PerInstruction, depth, machine), 3u);
      EXPECT_EQ(operationsPerIssue(Strategy::PerLoop, depth, machine), 5u);
    }
  }
}

/// A nested producer has expr = r_B, which is not computed: 2 (mask, product) and 4. Here r_B may
/// be 0 under a mask of 1, and a machine whose subtraction wraps and whose waits compare unsigned
/// guards N*r - (N-K) by a comparison and a product: 6. Signed waits take a negative value as it
/// is.
TEST(PaperTableTest, guardedOperationsPerIssue) {
  auto measure = [](Strategy strategy, const Machine &machine) {
    return Case(nestedFamily(), literal(strategy), machine).computations("e1");
  };
  EXPECT_EQ(measure(Strategy::PerInstruction, saturatingMachine()), 2u);
  EXPECT_EQ(measure(Strategy::PerInstruction, wrappingMachine()), 2u);
  EXPECT_EQ(measure(Strategy::PerLoop, saturatingMachine()), 4u);
  EXPECT_EQ(measure(Strategy::PerLoop, wrappingMachine()), 6u);
  EXPECT_EQ(measure(Strategy::PerLoop, signedMachine()), 4u);
}

/// What waitCost() predicts is what the code has.
TEST(PaperTableTest, predictedCostIsTheMeasuredOne) {
  for (const Machine &machine : {saturatingMachine(), wrappingMachine()}) {
    for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop}) {
      Kernel kernel = nestedFamily();
      Diagnostics diagnostics;
      SyncPlan plan =
          makePlan(kernel, decisionsFor(literal(strategy), {}, genericMachine()).plan, diagnostics);
      EXPECT_EQ(waitCost(plan, machine, DepId(0)),
                Case(nestedFamily(), literal(strategy), machine).computations("e1"));
    }
  }
}

/// The paper's per-engine sum costs O(D) at each issue. This compiler follows the producer's queue
/// instead: one operation at the block of P gives its place, for all consumers, and
/// each issue has the mask and the product left, whatever the depth.
TEST(PaperTableTest, perEngineOperationsDoNotGrowWithDepth) {
  for (uint32_t depth = 1; depth <= 6; ++depth) {
    for (uint64_t consumers : {1u, 3u}) {
      Case measured(inSharedFamily(depth, consumers), literal(Strategy::PerEngine));
      EXPECT_EQ(measured.computations("e1"), 1 + 2 * consumers) << depth;
    }
  }
}

/// Shared computations: three consumers of one value compute it once, mask included.
TEST(PaperTableTest, sharingDividesTheCost) {
  Request shared = literal(Strategy::PerLoop);
  shared.cse = true;
  EXPECT_EQ(Case(inSharedFamily(2, 3), shared).computations("e1"), 5u);
}

namespace {

/// `loops` loops one after the other, in each of them, on each engine, `perBody` instructions that
/// all are producers: each feeds the first instruction of the next engine, one iteration later.
Kernel semaphoreFamily(uint32_t loops, uint32_t engines, uint32_t perBody) {
  Writer k(engines);
  for (uint32_t l = 0; l < loops; ++l) {
    LoopId loop = k.loop(fmt::format("L{}", l));
    std::vector<std::vector<InstrId>> of(engines);
    for (uint32_t e = 0; e < engines; ++e) {
      for (uint32_t i = 0; i < perBody; ++i) {
        of[e].push_back(k.on(e, fmt::format("I{}.{}.{}", l, e, i)));
      }
    }
    k.endLoop();
    for (uint32_t e = 0; e < engines; ++e) {
      for (InstrId producer : of[e]) {
        k.dep(producer, of[(e + 1) % engines][0], {{loop, 1}});
      }
    }
  }
  return k.finish();
}

} // namespace

/// Column "Semaphores": O(N), O(L*E), O(E) are here exactly N, L*E and E.
TEST(PaperTableTest, semaphores) {
  for (uint32_t loops : {1u, 2u, 5u}) {
    for (uint32_t engines : {2u, 4u}) {
      for (uint32_t perBody : {1u, 3u}) {
        auto measure = [&](Strategy strategy) {
          return Case(semaphoreFamily(loops, engines, perBody), with(strategy)).semaphores();
        };
        EXPECT_EQ(measure(Strategy::PerInstruction), loops * engines * perBody);
        EXPECT_EQ(measure(Strategy::PerLoop), loops * engines);
        EXPECT_EQ(measure(Strategy::PerEngine), engines);
      }
    }
  }
}

namespace {

/// `depth` loops inside one another; in each, P on engine 0 and C on engine 1 that depends on the P
/// of one iteration ago.
Kernel registerFamily(uint32_t depth) {
  Writer k;
  std::vector<InstrId> producers, consumers;
  std::vector<LoopId> loops;
  for (uint32_t d = 0; d < depth; ++d) {
    loops.push_back(k.loop(fmt::format("L{}", d)));
    producers.push_back(k.on(0, fmt::format("P{}", d)));
    consumers.push_back(k.on(1, fmt::format("C{}", d)));
  }
  for (uint32_t d = 0; d < depth; ++d) {
    k.endLoop();
    k.dep(producers[d], consumers[d], {{loops[d], 1}});
  }
  return k.finish();
}

} // namespace

/// Column "Registers/engine": two counters for each loop (the outermost needs one, as its trip and
/// its total are the same), and the two values of one wait. Engine 0 waits for nothing.
TEST(PaperTableTest, registersGrowWithTheLoops) {
  for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop}) {
    for (uint32_t depth = 1; depth <= 8; ++depth) {
      Case measured(registerFamily(depth), with(strategy));
      EXPECT_LE(measured.registers("e1"), 2 * depth - 1 + 2) << depth;
      EXPECT_GE(measured.registers("e1"), 2 * depth - 1) << depth;
      EXPECT_EQ(measured.registers("e0"), 0u) << depth;
    }
  }
}
