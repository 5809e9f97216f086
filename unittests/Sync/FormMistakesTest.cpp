//===- FormMistakesTest.cpp - Mistakes in the rarer forms of waits --------===//
//
// Late rings, flat and conservative waits, semaphores that are shared by some, and waits for which
// copies of counters were given up: as PlanMistakesTest, each mistake must be noticed.
//
//===----------------------------------------------------------------------===//

#include "Mistakes.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

/// A mistake that is made only in waits of one class.
Mistake inClass(WaitClass waitClass, const Mistake &mistake) {
  return [=](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    return plan.waits[dep].waitClass == waitClass && mistake(kernel, plan, dep);
  };
}

/// Every copy that is read becomes one that is `by` entries older.
Mistake olderCopies(uint32_t by) {
  return inNodes([by](const Kernel &, SyncPlan &plan, const Expr &expr) {
    if (expr.op != ExprOp::Snapshot) {
      return ExprId();
    }
    Ring &ring = plan.rings[RingId(expr.a)];
    ring.depth = std::max(ring.depth, expr.b + by);
    return plan.exprs.snapshot(RingId(expr.a), expr.b + by);
  });
}

/// Every counter, less what is subtracted from it, becomes one more or less.
Mistake countsBeside(int by) {
  return inNodes([by](const Kernel &, SyncPlan &plan, const Expr &expr) {
    if (expr.op != ExprOp::Total) {
      return ExprId();
    }
    ExprId counter = plan.exprs.total(LoopId(expr.a));
    return plan.exprs.make(by > 0 ? ExprOp::Add : ExprOp::Monus, counter, plan.exprs.constant(1));
  });
}

/// At most one copy for each wait, for every third none.
OptionsOf withFewCopies() {
  return [](const RandomCodeCase &code) {
    PlanDecisions options;
    options.remembered.assign(code.kernel.deps.size(), 1);
    for (DepId dep : code.kernel.deps.ids()) {
      options.remembered[dep] = dep.value % 3 == 0 ? 0 : 1;
    }
    return options;
  };
}

/// Semaphores shared as chance decides, also by whole queues.
OptionsOf withMixedGroups() {
  return [](const RandomCodeCase &code) { return optionsOf(code, Strategy::Auto); };
}

bool wasGivenUp(const SyncPlan &plan, DepId dep) {
  return !plan.waits[dep].exact && plan.decisions.rememberedFor(dep) < mostRemembered;
}

} // namespace

//===----------------------------------------------------------------------===//
// Late rings
//===----------------------------------------------------------------------===//

/// Shifted as the body is entered, it has one entry less than a late ring is asked for.
TEST(FormMistakesTest, lateRingIsShiftedEarly) {
  expectCaught(Strategy::PerLoop, [](const Kernel &, SyncPlan &plan, DepId dep) {
    const Wait &wait = plan.waits[dep];
    bool late = wait.ring.valid() && plan.rings[wait.ring].before.valid();
    if (late) {
      plan.rings[wait.ring].before = StmtId();
    }
    return late;
  });
}

/// The slot that an early ring would have.
TEST(FormMistakesTest, lateRingIsReadLikeAnEarlyOne) {
  Mistake older = olderCopies(1);
  expectCaught(Strategy::PerLoop, [older](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    const Wait &wait = plan.waits[dep];
    bool late = wait.ring.valid() && plan.rings[wait.ring].before.valid();
    return late && older(kernel, plan, dep);
  });
}

//===----------------------------------------------------------------------===//
// Flat, two levels, conservative
//===----------------------------------------------------------------------===//

TEST(FormMistakesTest, flatReachesOneRunTooFar) {
  expectCaught(Strategy::PerLoop, inClass(WaitClass::Flat, countsBeside(-1)));
}

TEST(FormMistakesTest, flatReachesOneRunTooShort) {
  expectCaught(Strategy::PerLoop, inClass(WaitClass::Flat, countsBeside(+1)));
}

/// All of the iteration instead of one index of it is not wrong, but longer than it has to be.
TEST(FormMistakesTest, elementWaitsForTheWholeIteration) {
  auto second = [](const Kernel &, SyncPlan &, const Expr &expr) {
    return expr.op == ExprOp::Min ? ExprId(expr.b) : ExprId();
  };
  expectCaught(Strategy::PerLoop, inClass(WaitClass::Element, inNodes(second)));
}

TEST(FormMistakesTest, nestReachesOneRunTooFar) {
  expectCaught(Strategy::PerLoop, inClass(WaitClass::Nest, countsBeside(-1)));
}

TEST(FormMistakesTest, nestReachesOneRunTooShort) {
  expectCaught(Strategy::PerLoop, inClass(WaitClass::Nest, countsBeside(+1)));
}

/// Beyond the last iteration of an inner loop the next one out says how many runs there are.
TEST(FormMistakesTest, nestForgetsWhereALoopEnds) {
  auto first = [](const Kernel &, SyncPlan &, const Expr &expr) {
    return expr.op == ExprOp::Min ? ExprId(expr.a) : ExprId();
  };
  expectCaught(Strategy::PerLoop, inClass(WaitClass::Nest, inNodes(first)));
}

/// Longer than it has to be is allowed here, an iteration too few is not.
TEST(FormMistakesTest, conservativeStopsAnIterationTooEarly) {
  expectCaught(Strategy::PerLoop, inClass(WaitClass::Conservative, olderCopies(1)));
}

/// What comes later in sequence than the wait itself is never there in time.
TEST(FormMistakesTest, conservativeWaitsForWhatIsYetToCome) {
  auto live = [](const Kernel &, SyncPlan &plan, const Expr &expr) {
    if (expr.op != ExprOp::Snapshot) {
      return ExprId();
    }
    ExprId total = plan.exprs.total(plan.rings[RingId(expr.a)].total);
    return plan.exprs.make(ExprOp::Add, total, plan.exprs.constant(1));
  };
  expectCaught(Strategy::PerLoop, inClass(WaitClass::Conservative, inNodes(live)));
}

//===----------------------------------------------------------------------===//
// Too few registers
//===----------------------------------------------------------------------===//

/// The entry at hand is not over: its own run may come later than the wait.
TEST(FormMistakesTest, liveCounterIncludesTheEntryAtHand) {
  Mistake more = countsBeside(+1);
  expectCaught(withFewCopies(), [more](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    return wasGivenUp(plan, dep) && plan.waits[dep].minus == 1 && more(kernel, plan, dep);
  });
}

/// One run less than all before is less than what is owed, now and then.
TEST(FormMistakesTest, liveCounterIsOneTooSmall) {
  Mistake less = countsBeside(-1);
  expectCaught(withFewCopies(), [less](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    return wasGivenUp(plan, dep) && !plan.waits[dep].ring.valid() && less(kernel, plan, dep);
  });
}

/// The copy that the distance asks for is no longer kept; the next older one of what is kept is
/// too old.
TEST(FormMistakesTest, oldestCopyIsTakenForAnOlderOne) {
  Mistake older = olderCopies(9);
  expectCaught(withFewCopies(), [older](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    return wasGivenUp(plan, dep) && older(kernel, plan, dep);
  });
}

//===----------------------------------------------------------------------===//
// Semaphores that some share
//===----------------------------------------------------------------------===//

/// N counts all of the body and queue, also those that have a semaphore of their own.
TEST(FormMistakesTest, othersOfTheBodyAreCounted) {
  expectCaught(withMixedGroups(), inParts([](Formula &f) {
                 const Kernel &kernel = f.kernel;
                 InstrId producer = kernel.deps[f.dep].producer;
                 uint32_t others = 0;
                 for (InstrId instr : kernel.instrs.ids()) {
                   others += kernel.instrs[instr].home == kernel.instrs[producer].home &&
                             kernel.instrs[instr].queue == kernel.instrs[producer].queue &&
                             f.plan.groupOf[instr] != f.plan.groupOf[producer];
                 }
                 f.signals += others;
                 f.behind += others;
                 const Wait &wait = f.plan.waits[f.dep];
                 return others != 0 && !wait.outer.valid() &&
                        f.plan.groups[wait.group].body.valid();
               }));
}

/// A wait on the semaphore of a neighbour, which the producer does not raise.
TEST(FormMistakesTest, waitIsOnANeighboursSemaphore) {
  expectCaught(withMixedGroups(), [](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    Wait &wait = plan.waits[dep];
    for (InstrId instr : kernel.instrs.ids()) {
      GroupId other = plan.groupOf[instr];
      if (wait.group.valid() && other.valid() && other != wait.group) {
        wait.group = other;
        return true;
      }
    }
    return false;
  });
}
