//===- HappensBeforeTest.cpp - Edges of order, event by event -------------===//
//
// Each test feeds the events of one short run and derives by hand what is ordered in it, and
// whether another schedule could order it differently.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/HappensBefore.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

#include <optional>

using namespace tally;
using Kind = Unsettled::Kind;

namespace {

/// Three engines, each with its queue; that of "c" may complete in parts.
class HappensBeforeTest : public testing::Test {
protected:
  HappensBeforeTest() {
    KernelBuilder b("k");
    a = b.engine("a");
    this->b = b.engine("b");
    c = b.engine("c");
    qa = b.queueOf(a);
    qb = b.queueOf(this->b);
    qc = b.queueOf(c);
    b.setQueue(qc, 2, Completion::Split);
    kernel = b.finish();
    machine = genericMachine();
  }

  HappensBefore &hb() {
    if (!order) {
      order.emplace(kernel, 3, machine);
    }
    return *order;
  }

  uint32_t issue(EngineId engine, QueueId queue) {
    hb().step(engine);
    return hb().issue(queue);
  }

  void signal(EngineId engine, SemaId sema) {
    hb().step(engine);
    hb().signal(engine, sema, 1, who++);
  }

  void wait(EngineId engine, SemaId sema, uint64_t threshold) {
    hb().step(engine);
    hb().wait(engine, sema, threshold, who++);
  }

  void reset(EngineId engine, SemaId sema) {
    hb().step(engine);
    hb().reset(engine, sema, 1, who++);
  }

  std::vector<Kind> reasons() {
    hb().finish();
    std::vector<Kind> kinds;
    for (const Unsettled &unsettled : hb().unsettled()) {
      kinds.push_back(unsettled.kind);
    }
    return kinds;
  }

  Kernel kernel;
  Machine machine;
  std::optional<HappensBefore> order;
  EngineId a, b, c;
  QueueId qa, qb, qc;
  SemaId s{0}, t{1}, u{2};
  uint32_t who = 0;
};

} // namespace

/// That something happened to come first orders nothing; a wait for it does.
TEST_F(HappensBeforeTest, onlyAWaitOrders) {
  issue(a, qa);
  hb().deliver(qa, 0, s, 1, who++);
  issue(b, qb);
  EXPECT_EQ(hb().finished(qa, b), 0u);
  wait(b, s, 1);
  EXPECT_EQ(hb().finished(qa, b), 1u);
  EXPECT_EQ(hb().finished(qa, c), 0u);
  EXPECT_EQ(reasons(), std::vector<Kind>());
}

/// Two had finished when the wait for one passed: only the first is sure to have.
TEST_F(HappensBeforeTest, aWaitOrdersNoMoreThanItAsksFor) {
  issue(a, qa);
  issue(a, qa);
  hb().deliver(qa, 0, s, 1, who++);
  hb().deliver(qa, 0, s, 1, who++);
  wait(b, s, 1);
  EXPECT_EQ(hb().finished(qa, b), 1u);
  EXPECT_EQ(hb().forcedByWait(qa), 1u);
  wait(b, s, 2);
  EXPECT_EQ(hb().finished(qa, b), 2u);
}

/// c waits for b, whose instruction started after a's had finished.
TEST_F(HappensBeforeTest, orderIsTransitive) {
  issue(a, qa);
  hb().deliver(qa, 0, s, 1, who++);
  wait(b, s, 1);
  issue(b, qb);
  hb().deliver(qb, 0, t, 1, who++);
  wait(c, t, 1);
  EXPECT_EQ(hb().finished(qa, c), 1u);
  EXPECT_EQ(hb().finished(qb, c), 1u);
}

/// The same, but b's wait came after its instruction had been issued.
TEST_F(HappensBeforeTest, aWaitDoesNotReachBack) {
  issue(a, qa);
  hb().deliver(qa, 0, s, 1, who++);
  issue(b, qb);
  wait(b, s, 1);
  hb().deliver(qb, 0, t, 1, who++);
  wait(c, t, 1);
  EXPECT_EQ(hb().finished(qa, c), 0u);
}

/// Two halves of two instructions make 2, as do the two halves of one.
TEST_F(HappensBeforeTest, partsOfDifferentInstructionsAddUp) {
  issue(c, qc);
  issue(c, qc);
  hb().deliver(qc, 0, s, 1, who++);
  hb().deliver(qc, 1, s, 1, who++);
  wait(a, s, 2);
  EXPECT_EQ(hb().finished(qc, a), 1u) << "in this schedule";
  hb().deliver(qc, 0, s, 1, who++);
  hb().deliver(qc, 1, s, 1, who++);
  EXPECT_EQ(reasons(), std::vector{Kind::Mixed});
}

/// One ring is ahead by two: 2 says nothing of any instruction as a whole.
TEST_F(HappensBeforeTest, oneRingMayBringTheWholeValue) {
  issue(c, qc);
  issue(c, qc);
  hb().deliver(qc, 0, s, 1, who++);
  hb().deliver(qc, 0, s, 1, who++);
  wait(a, s, 2);
  EXPECT_EQ(hb().finished(qc, a), 0u);
  hb().deliver(qc, 1, s, 1, who++);
  hb().deliver(qc, 1, s, 1, who++);
  EXPECT_EQ(reasons(), std::vector{Kind::Mixed});
}

/// A wait for all parts of all instructions says the same in every schedule.
TEST_F(HappensBeforeTest, allPartsTogetherAreSettled) {
  issue(c, qc);
  issue(c, qc);
  for (uint32_t ring : {0, 0, 1, 1}) {
    hb().deliver(qc, ring, s, 1, who++);
  }
  wait(a, s, 4);
  EXPECT_EQ(hb().finished(qc, a), 2u);
  EXPECT_EQ(reasons(), std::vector<Kind>());
}

TEST_F(HappensBeforeTest, severalRaisersAreSettledByAWaitForAll) {
  signal(a, s);
  signal(b, s);
  wait(c, s, 2);
  EXPECT_EQ(reasons(), std::vector<Kind>());
}

TEST_F(HappensBeforeTest, severalRaisersAreNotByOneForSome) {
  signal(a, s);
  signal(b, s);
  wait(c, s, 1);
  EXPECT_EQ(reasons(), std::vector{Kind::Mixed});
}

/// A wait that passed between the two raises must not make the total look needed.
TEST_F(HappensBeforeTest, aRaiserThatCameLaterCountsToo) {
  signal(a, s);
  wait(c, s, 1);
  signal(b, s);
  EXPECT_EQ(reasons(), std::vector{Kind::Mixed});
}

/// b resets what a raised, after a wait for it, and a knows before it raises again.
TEST_F(HappensBeforeTest, anOrderedResetIsSettled) {
  signal(a, s);
  wait(b, s, 1);
  reset(b, s);
  signal(b, t);
  wait(a, t, 1);
  signal(a, s);
  wait(b, s, 1);
  EXPECT_EQ(reasons(), std::vector<Kind>());
}

TEST_F(HappensBeforeTest, aResetMayMissARaise) {
  signal(a, s);
  reset(b, s);
  EXPECT_EQ(reasons(), std::vector{Kind::LostRaise});
}

TEST_F(HappensBeforeTest, aResetMayEraseALaterRaise) {
  reset(b, s);
  signal(a, s);
  EXPECT_EQ(reasons(), std::vector{Kind::ErasedRaise});
}

/// a raises again after its reset, but c may look before the reset.
TEST_F(HappensBeforeTest, aWaitMaySeeTheValueFromBeforeAReset) {
  signal(a, s);
  reset(a, s);
  signal(a, s);
  wait(c, s, 1);
  EXPECT_EQ(reasons(), std::vector{Kind::EarlyWait});
}

/// The same of a wait that is blocked at the end: it may pass in another schedule.
TEST_F(HappensBeforeTest, soMayOneThatIsBlocked) {
  signal(a, s);
  reset(a, s);
  hb().step(c);
  hb().blocked(c, s, who++);
  EXPECT_EQ(reasons(), std::vector{Kind::EarlyWait});
}

/// c waits for what a raised; a does not ask whether it has passed before it resets.
TEST_F(HappensBeforeTest, aResetMayComeBeforeAWait) {
  signal(a, s);
  wait(c, s, 1);
  reset(a, s);
  EXPECT_EQ(reasons(), std::vector{Kind::ErasedForWait});
}

/// 8 bits tell 255 from 0, but not 256.
TEST_F(HappensBeforeTest, aCounterWrapsAtItsWidth) {
  machine.counterBits = 8;
  for (int i = 0; i < 255; ++i) {
    signal(a, s);
  }
  EXPECT_TRUE(hb().unsettled().empty());
  signal(a, s);
  EXPECT_EQ(hb().value(s), 0u);
  EXPECT_EQ(reasons(), std::vector{Kind::Wrapped});
}

TEST_F(HappensBeforeTest, aDrainWaitsForTheEnginesOwn) {
  issue(a, qa);
  issue(b, qb);
  hb().deliver(qa, 0, {}, 0, who++);
  hb().deliver(qb, 0, {}, 0, who++);
  hb().step(a);
  hb().drain(a);
  EXPECT_EQ(hb().finished(qa, a), 1u);
  EXPECT_EQ(hb().finished(qb, a), 0u);
}
