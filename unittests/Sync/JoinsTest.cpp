//===- JoinsTest.cpp - Two branches of an `if`, one semaphore -------------===//
//
// In a loop A, `near` and `far` in both branches of an `if` are on one queue. `use` waits for both.
// What may be joined, what the wait is then, and what one change of the kernel makes of it. That
// joined waits are exact is shown by PlanPropertyTest, on kernels of which some have them.
//
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"

#include "tally/Model/KernelBuilder.h"
#include "tally/Sync/Joins.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

/// What differs from the kernel above.
struct Change {
  bool otherQueue = false;     ///< of `far`
  bool split = false;          ///< of the queue of both
  bool divergent = false;      ///< the `if`
  bool pinned = false;         ///< `near`
  bool region = false;         ///< the `if` says how it is synchronised
  int64_t farDistance = 0;     ///< of `far` -> `use` on A
  bool alsoInBranch = false;   ///< somebody in the branch waits for `near`, too
  bool alsoForNear = false;    ///< another instruction waits for `near` alone
  bool alsoForBoth = false;    ///< another instruction waits for both, in the next iteration
  bool flat = false;           ///< both distances count runs of their producers
  bool neverWaitedFor = false; ///< nobody waits for `far`
};

struct Joined {
  KernelBuilder b{"k"};
  QueueId dma = b.queueOf(b.engine("dma"));
  QueueId other = b.queueOf(b.engine("other"));
  QueueId act = b.queueOf(b.engine("act"));
  LoopId loop;
  InstrId near, far, use;

  explicit Joined(const Change &change = {}) {
    b.setQueue(dma, 16, change.split ? Completion::Split : Completion::Whole);
    loop = b.beginLoop("A", b.value("n"));
    LoopId branch = b.beginIf("c", !change.divergent);
    if (change.region) {
      b.setSync(branch, RegionSync::PerLoop);
    }
    near = b.instr("near", dma);
    InstrId inside = b.instr("inside", act);
    b.beginElse();
    far = b.instr("far", change.otherQueue ? other : dma);
    b.endIf();
    use = b.instr("use", act);
    InstrId late = b.instr("late", other);
    b.endLoop();
    if (change.flat) {
      b.depFlat(near, use, 1);
      b.depFlat(far, use, 1);
    } else {
      allow(b.dep(near, use), change);
      if (!change.neverWaitedFor) {
        allow(depAt(far, use, change.farDistance), change);
      }
    }
    if (change.alsoInBranch) {
      b.dep(near, inside);
    }
    if (change.alsoForNear || change.alsoForBoth) {
      depAt(near, late, 1);
    }
    if (change.alsoForBoth) {
      depAt(far, late, 1);
    }
    if (change.pinned) {
      b.pin(near, 3);
    }
  }

  DepId depAt(InstrId from, InstrId to, int64_t distance) {
    return distance == 0 ? b.dep(from, to) : b.dep(from, to, {{loop, distance}});
  }

  void allow(DepId dep, const Change &change) {
    if (change.divergent) {
      b.allowDivergent(dep);
    }
  }
};

bool mayJoin(const Change &change) {
  Joined k(change);
  Kernel kernel = k.b.finish();
  IdVector<InstrId, InstrId> joins = findJoins(kernel);
  EXPECT_TRUE(joins.empty() || (joins[k.near] == k.far && joins[k.far] == k.near));
  return !joins.empty();
}

SyncPlan planOf(const Kernel &kernel) {
  PlanDecisions decisions;
  decisions.strategy = Strategy::Auto;
  decisions.sharing.assign(kernel.instrs.size(), Sharing::None);
  decisions.twins = findJoins(kernel);
  for (InstrId id : decisions.twins.ids()) {
    decisions.sharing[id] = decisions.twins[id].valid() ? Sharing::Join : Sharing::None;
  }
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, decisions, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  return plan;
}

std::string faultsOf(const Kernel &kernel, const SyncPlan &plan) {
  Diagnostics faults;
  verifyPlan(kernel, plan, faults);
  return faults.hasErrors() ? faults.all().front().message : "";
}

} // namespace

TEST(JoinsTest, bothBranchesOnOneQueueForTheSame) {
  EXPECT_TRUE(mayJoin({}));
  EXPECT_TRUE(mayJoin({.alsoForBoth = true}));
}

TEST(JoinsTest, notWhereARunIsNotToldByEntriesOfTheIf) {
  EXPECT_FALSE(mayJoin({.otherQueue = true}));
  EXPECT_FALSE(mayJoin({.split = true}));
  EXPECT_FALSE(mayJoin({.divergent = true}));
  EXPECT_FALSE(mayJoin({.flat = true}));
}

TEST(JoinsTest, notWhereSomebodyWaitsForOneOfThem) {
  EXPECT_FALSE(mayJoin({.farDistance = 1}));
  EXPECT_FALSE(mayJoin({.alsoInBranch = true}));
  EXPECT_FALSE(mayJoin({.alsoForNear = true}));
  EXPECT_FALSE(mayJoin({.neverWaitedFor = true}));
}

TEST(JoinsTest, notWhereTheKernelSaysHowTheyShare) {
  EXPECT_FALSE(mayJoin({.pinned = true}));
  EXPECT_FALSE(mayJoin({.region = true}));
}

/// One semaphore and one count, of the loop around: the branches are not counted.
TEST(JoinsTest, waitsForEntriesOfTheIf) {
  Joined k;
  Kernel kernel = k.b.finish();
  SyncPlan plan = planOf(kernel);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[GroupId(0)].body, k.loop);
  EXPECT_EQ(plan.groups[GroupId(0)].numSignals, 1u);
  for (DepId dep : kernel.deps.ids()) {
    EXPECT_EQ(toString(plan.exprs, plan.waits[dep].threshold, plan.rings, plan.rounds, kernel),
              "16*total(A)");
    EXPECT_TRUE(plan.waits[dep].exact);
    EXPECT_TRUE(dominates(kernel, plan, dep, DepId(1 - dep.value)));
  }
  EXPECT_EQ(faultsOf(kernel, plan), "");
}

/// An iteration ago, whichever branch that took.
TEST(JoinsTest, distancesCountTheLoopAround) {
  Joined k({.alsoForBoth = true});
  Kernel kernel = k.b.finish();
  SyncPlan plan = planOf(kernel);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(toString(plan.exprs, plan.waits[DepId(2)].threshold, plan.rings, plan.rounds, kernel),
            "16*max(total(A) - 1, 0)");
  EXPECT_EQ(faultsOf(kernel, plan), "");
}

TEST(JoinsTest, aPlanThatJoinsWhatItMustNotIsNotRight) {
  Joined k;
  Kernel kernel = k.b.finish();
  const SyncPlan right = planOf(kernel);
  SyncPlan plan = right;
  plan.groups[GroupId(0)].inElse = k.use;
  EXPECT_EQ(faultsOf(kernel, plan),
            "the plan does not hold: 'near' is not one of two that branches of an `if` hold");
  plan = right;
  plan.groups[GroupId(0)].body = rootLoop;
  EXPECT_NE(faultsOf(kernel, plan), "");
  plan = right;
  plan.groupOf[k.far] = GroupId();
  EXPECT_NE(faultsOf(kernel, plan), "");
  plan = right;
  plan.waits[DepId(1)].threshold = plan.exprs.constant(16);
  EXPECT_EQ(faultsOf(kernel, plan),
            "the plan does not hold: 'use' waits for one of two that are joined");
}

/// Kernels that are drawn have them, often enough for properties to be about them, too.
TEST(JoinsTest, areDrawn) {
  uint32_t joined = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    PlanDecisions options = optionsOf(code, Strategy::Auto);
    joined += std::ranges::count(options.sharing, Sharing::Join) > 0;
  }
  EXPECT_GE(joined, 15u);
}
