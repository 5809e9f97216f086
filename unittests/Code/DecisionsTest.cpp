//===- DecisionsTest.cpp - Requests, and what is decided for them ---------===//

#include "tally/Compile/Choose.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// A { P0 P1 } C: two producers on one queue.
Kernel twoProducers() {
  KernelBuilder b("k");
  QueueId producer = b.queueOf(b.engine("p"));
  QueueId consumer = b.queueOf(b.engine("c"));
  b.beginLoop("A", b.value("n", 0, 100));
  InstrId first = b.instr("P0", producer);
  InstrId second = b.instr("P1", producer);
  b.endLoop();
  InstrId last = b.instr("C", consumer);
  b.dep(first, last, {});
  b.dep(second, last, {});
  return b.finish();
}

/// The messages about decisions, one a line.
std::string complaints(const Decisions &decisions) {
  Diagnostics diagnostics;
  verifyDecisions(twoProducers(), decisions, genericMachine(), diagnostics);
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    text += diagnostic.message + "\n";
  }
  return text;
}

Decisions decisionsOf(Strategy strategy) {
  return decisionsFor({.strategy = strategy}, {}, genericMachine());
}

} // namespace

TEST(DecisionsTest, whatARequestSettlesHolds) {
  for (Strategy strategy : usableStrategies) {
    EXPECT_EQ(complaints(decisionsOf(strategy)), "") << toString(strategy);
  }
  Diagnostics diagnostics;
  Search search;
  EXPECT_EQ(complaints(choose(twoProducers(), {.strategy = Strategy::Auto}, {}, genericMachine(),
                              diagnostics, search)),
            "");
}

TEST(DecisionsTest, everyMistakeIsReported) {
  Decisions decisions = decisionsOf(Strategy::PerLoop);
  decisions.plan.counterLimit = 7;
  decisions.plan.sharing.assign(3, Sharing::Body);
  decisions.plan.remembered.assign(1, mostRemembered + 1);
  decisions.plan.resets = {{LoopId(1), 0}, {LoopId(1), 0}, {LoopId(9), 0}};
  decisions.lower.recomputes.assign(5, true);
  EXPECT_EQ(complaints(decisions),
            "decisions: table 'remembered' has 1 entries, expected 2 or none\n"
            "decisions: table 'recomputes' has 5 entries, expected 2 or none\n"
            "decisions: counters end at 7, but those of machine 'generic' at 4294967296\n"
            "decisions: strategy 'per-loop' leaves no choice which instructions share a semaphore\n"
            "decisions: a ring remembers at most 64 iterations\n"
            "decisions: resets of 'A' are out of order\n"
            "decisions: there is no loop 9 to reset counters in\n");
  Decisions joined = decisionsOf(Strategy::Auto);
  joined.plan.sharing.assign(3, Sharing::None);
  joined.plan.sharing[InstrId(1)] = Sharing::Join;
  std::string alone = "decisions: 'P1' is joined with no instruction that is joined with it\n";
  EXPECT_EQ(complaints(joined), alone);
  joined.plan.twins.assign(3, InstrId(0));
  EXPECT_EQ(complaints(joined), alone);
  Decisions barrier = decisionsOf(Strategy::Barrier);
  barrier.plan.resets = {{LoopId(1), 0}};
  EXPECT_EQ(complaints(barrier), "decisions: strategy 'barrier' has no counters to reset\n");
}

TEST(DecisionsTest, dumpNamesWhatDiffers) {
  Kernel kernel = twoProducers();
  EXPECT_EQ(dump(kernel, decisionsOf(Strategy::PerLoop)),
            "decisions for strategy 'per-loop', those at work meet, counters end at 4294967296\n"
            "  with fold constant-trips licm cse\n");
  Decisions decisions = decisionsOf(Strategy::Auto);
  decisions.plan.resets = {{LoopId(1), 12}};
  decisions.plan.sharing.assign(3, Sharing::Body);
  decisions.plan.sharing[InstrId(1)] = Sharing::None;
  decisions.plan.remembered.assign(2, mostRemembered);
  decisions.plan.remembered[DepId(1)] = 3;
  decisions.lower.recomputes.assign(2, false);
  decisions.lower.recomputes[EngineId(1)] = true;
  EXPECT_EQ(dump(kernel, decisions),
            "decisions for strategy 'auto', those at work meet, counters end at 4294967296\n"
            "  with fold constant-trips licm cse\n"
            "  reset in 'A' every 12\n"
            "  'P1' shares with none\n"
            "  " +
                describe(kernel, DepId(1)) +
                " remembers 3\n"
                "  'c' recomputes thresholds\n");
}

/// What a plan turned out to need goes into the decisions as it is.
TEST(DecisionsTest, needsAreProvidedFor) {
  PlanNeeds needs;
  needs.resets = {{LoopId(1), 0}};
  EXPECT_EQ(decisionsFor({}, needs, genericMachine()).plan.resets, needs.resets);
}
