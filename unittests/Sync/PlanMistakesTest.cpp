//===- PlanMistakesTest.cpp - Would the comparison notice? ----------------===//
//
// Plausible mistakes in wait formulas, put into correct plans one kind at a time.
// Each must be reported within a few thousand programs, or the property test
// that finds nothing says nothing.
//
//===----------------------------------------------------------------------===//

#include "Mistakes.h"

#include "tally/Model/RunNumbers.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

/// What the other tests rest on: the formulas put together again are the planned ones.
TEST(PlanMistakesTest, noMistakeIsNotReported) {
  Score score = scoreOf(Strategy::PerLoop, inParts([](Formula &) { return true; }));
  EXPECT_GT(score.changed, 1000u);
  EXPECT_EQ(score.reported, 0u);
}

//===----------------------------------------------------------------------===//
// Which value of the semaphore shows the run
//===----------------------------------------------------------------------===//

TEST(PlanMistakesTest, decodeIsOffByOne) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.behind = f.behind == 0 ? 1 : f.behind - 1;
                 return true;
               }));
}

TEST(PlanMistakesTest, decodeIsForgotten) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 bool had = f.behind != 0;
                 f.behind = 0;
                 return had;
               }));
}

TEST(PlanMistakesTest, weightIsForgotten) {
  expectCaught(Strategy::PerInstruction, inParts([](Formula &f) {
                 bool had = f.weight != 1;
                 f.weight = 1;
                 return had;
               }));
}

/// N counts the body's instructions of the whole engine, not of the one queue.
TEST(PlanMistakesTest, queueIsTakenForEngine) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 const Kernel &kernel = f.kernel;
                 InstrId producer = kernel.deps[f.dep].producer;
                 uint32_t others = 0;
                 for (InstrId instr : kernel.instrs.ids()) {
                   others += kernel.instrs[instr].home == f.place.producerHome &&
                             kernel.engineOf(instr) == kernel.engineOf(producer) &&
                             kernel.instrs[instr].queue != kernel.instrs[producer].queue;
                 }
                 f.signals += others;
                 return others != 0;
               }));
}

/// An instruction of the group does not signal after all.
TEST(PlanMistakesTest, signalIsLost) {
  expectCaught(Strategy::PerLoop, [](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    InstrId producer = kernel.deps[dep].producer;
    for (InstrId instr : kernel.instrs.ids()) {
      if (instr != producer && plan.groupOf[instr].valid() &&
          plan.groupOf[instr] == plan.groupOf[producer]) {
        plan.groupOf[instr] = GroupId();
        return true;
      }
    }
    return false;
  });
}

//===----------------------------------------------------------------------===//
// How many runs
//===----------------------------------------------------------------------===//

TEST(PlanMistakesTest, offsetIsOneTooSmall) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.count = f.more(f.count, 1);
                 return f.waitClass() == WaitClass::InShared && f.place.offset > 0;
               }));
}

TEST(PlanMistakesTest, offsetIsOneTooLarge) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.count = f.less(f.count, 1);
                 return f.waitClass() == WaitClass::InShared;
               }));
}

TEST(PlanMistakesTest, nestedFormulaForAProducerInTheSharedBody) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.count = f.pool().total(f.place.producerHome);
                 return f.waitClass() == WaitClass::InShared && f.place.offset > 0;
               }));
}

TEST(PlanMistakesTest, totalOfTheWrongLoop) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.count = f.pool().total(f.place.shared);
                 return f.waitClass() == WaitClass::Nested;
               }));
}

/// At distance 1 the total is right for a producer behind the consumer, but not for one before it,
/// which has already run in this iteration.
TEST(PlanMistakesTest, forwardIsTakenForBackward) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.count = f.pool().total(f.place.producerHome);
                 return f.place.order == Order::Forward && f.place.offset == 1 &&
                        !f.place.producerInShared();
               }));
}

/// The other way round: distance 1 of a producer behind the consumer is treated like distance 0 of
/// one before it, which needs no mask.
TEST(PlanMistakesTest, backwardIsTakenForForward) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.maskLoop = LoopId();
                 return f.place.order == Order::Backward && f.place.offset == 1 &&
                        !f.place.producerInShared();
               }));
}

TEST(PlanMistakesTest, ringSlotIsOneTooNew) {
  expectCaught(Strategy::PerLoop, inNodes([](const Kernel &, SyncPlan &plan, const Expr &expr) {
                 return expr.op == ExprOp::Snapshot && expr.b > 1
                            ? plan.exprs.snapshot(RingId(expr.a), expr.b - 1)
                            : ExprId();
               }));
}

TEST(PlanMistakesTest, ringSlotIsOneTooOld) {
  expectCaught(Strategy::PerLoop, inNodes([](const Kernel &, SyncPlan &plan, const Expr &expr) {
                 if (expr.op != ExprOp::Snapshot) {
                   return ExprId();
                 }
                 Ring &ring = plan.rings[RingId(expr.a)];
                 ring.depth = std::max(ring.depth, expr.b + 1);
                 return plan.exprs.snapshot(RingId(expr.a), expr.b + 1);
               }));
}

TEST(PlanMistakesTest, ringOfTheWrongLoop) {
  expectCaught(Strategy::PerLoop, [](const Kernel &kernel, SyncPlan &plan, DepId) {
    bool changed = false;
    for (Ring &ring : plan.rings) {
      LoopId outer = kernel.realLoop(kernel.loops[ring.loop].parent);
      changed |= outer != rootLoop;
      ring.loop = outer;
    }
    return changed;
  });
}

//===----------------------------------------------------------------------===//
// When nothing is owed
//===----------------------------------------------------------------------===//

TEST(PlanMistakesTest, maskIsDropped) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 bool had = f.maskLoop.valid();
                 f.maskLoop = LoopId();
                 return had;
               }));
}

TEST(PlanMistakesTest, maskIsOneTooLoose) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 bool had = f.maskLoop.valid();
                 f.maskOffset -= had;
                 return had;
               }));
}

TEST(PlanMistakesTest, maskIsOneTooStrict) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.maskOffset += 1;
                 return f.maskLoop.valid();
               }));
}

/// The trip of a branch is 1 whenever one is in it: this mask never opens.
TEST(PlanMistakesTest, maskCountsTheBranch) {
  expectCaught(Strategy::PerLoop, inParts([](Formula &f) {
                 f.maskLoop = f.place.shared;
                 return f.waitClass() == WaitClass::SameBranch;
               }));
}

/// A flat distance counts over the whole run; masked by the trip it forgets at each new one.
TEST(PlanMistakesTest, flatIsMaskedByTheTrip) {
  expectCaught(Strategy::PerLoop, [](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    Wait &wait = plan.waits[dep];
    LoopId home = kernel.instrs[kernel.deps[dep].consumer].home;
    if (wait.waitClass != WaitClass::Flat || kernel.deps[dep].step == 0) {
      return false;
    }
    ExprId step = plan.exprs.constant(static_cast<uint32_t>(kernel.deps[dep].step));
    ExprId mask = plan.exprs.make(ExprOp::IsGT, plan.exprs.trip(home), step);
    wait.threshold = plan.exprs.make(ExprOp::Mul, mask, wait.threshold);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

namespace {

/// The parts of x = min(slot base + index - step, slot end), free to be changed; the index is
/// trip(inner), or the number of the run in the nest down to there.
struct ElementParts {
  uint32_t base;
  uint32_t end;
  bool clamped = true;
  bool indexIsTotal = false;
  bool innermostOnly = false;
  bool innerMask;
  bool outerMask;
  LoopId inner;
  LoopId around;
  int64_t step;
};

/// Slot 0 is the live counter; without a ring, older slots are empty.
ExprId slotAt(SyncPlan &plan, const Wait &wait, LoopId home, uint32_t slot) {
  if (slot == 0) {
    return plan.exprs.total(home);
  }
  return wait.ring.valid() ? plan.exprs.snapshot(wait.ring, slot) : plan.exprs.constant(0);
}

ExprId indexOf(const Kernel &kernel, ExprPool &exprs, const ElementParts &parts) {
  RunNumbers numbers = *RunNumbers::below(kernel, parts.around, parts.inner);
  if (numbers.isSingle()) {
    return exprs.constant(1);
  }
  if (parts.indexIsTotal || parts.innermostOnly || numbers.loops().size() == 1) {
    return parts.indexIsTotal ? exprs.total(parts.inner) : exprs.trip(parts.inner);
  }
  ExprId sum = exprs.constant(0);
  for (size_t level = 0; level < numbers.loops().size(); ++level) {
    ExprId runs = exprs.constant(static_cast<uint32_t>(numbers.runsPerIteration(level)));
    sum = exprs.make(ExprOp::Add, sum,
                     exprs.make(ExprOp::Mul, runs, exprs.trip(numbers.loops()[level])));
  }
  return exprs.make(ExprOp::Sub, sum, exprs.constant(static_cast<uint32_t>(numbers.ahead())));
}

ExprId countOf(const Kernel &kernel, SyncPlan &plan, const Wait &wait, LoopId home,
               const ElementParts &parts) {
  ExprPool &exprs = plan.exprs;
  ExprId index = indexOf(kernel, exprs, parts);
  ExprId count = exprs.make(ExprOp::Add, slotAt(plan, wait, home, parts.base), index);
  ExprId step = exprs.constant(static_cast<uint32_t>(std::abs(parts.step)));
  count = exprs.make(parts.step < 0 ? ExprOp::Add : ExprOp::Monus, count, step);
  return parts.clamped ? exprs.make(ExprOp::Min, count, slotAt(plan, wait, home, parts.end))
                       : count;
}

void write(const Kernel &kernel, SyncPlan &plan, DepId dep, const ElementParts &parts) {
  ExprPool &exprs = plan.exprs;
  Wait &wait = plan.waits[dep];
  InstrId producer = kernel.deps[dep].producer;
  uint32_t weight = kernel.queues[kernel.instrs[producer].queue].weight;
  uint32_t signals = plan.groups[wait.group].numSignals;
  ExprId value = countOf(kernel, plan, wait, kernel.instrs[producer].home, parts);
  value = exprs.make(ExprOp::Mul, exprs.constant(signals), value);
  value = exprs.make(ExprOp::Monus, value, exprs.constant(signals - plan.placeOf[producer]));
  value = exprs.make(ExprOp::Mul, exprs.constant(weight), value);
  auto maskBy = [&](ExprId count, uint64_t offset) {
    ExprId number = exprs.constant(static_cast<uint32_t>(offset));
    value = exprs.make(ExprOp::Mul, exprs.make(ExprOp::IsGT, count, number), value);
  };
  if (parts.innerMask && wait.innerStep > 0) {
    ElementParts own = parts;
    own.indexIsTotal = false;
    maskBy(indexOf(kernel, exprs, own), static_cast<uint64_t>(wait.innerStep));
  }
  if (parts.outerMask && wait.maskLoop.valid()) {
    maskBy(exprs.trip(wait.maskLoop), wait.maskOffset);
  }
  wait.threshold = value;
}

/// A mistake that `change` makes in the parts; it returns false if it cannot be made there.
Mistake inElement(const std::function<bool(const Kernel &, DepId, ElementParts &)> &change) {
  return [change](const Kernel &kernel, SyncPlan &plan, DepId dep) {
    const Wait &wait = plan.waits[dep];
    if (wait.waitClass != WaitClass::Element || wait.table.valid()) {
      return false;
    }
    ElementParts parts{.base = wait.slot + 1,
                       .end = wait.slot,
                       .innerMask = true,
                       .outerMask = true,
                       .inner = wait.innerLoop,
                       .around = wait.innerAround,
                       .step = wait.innerStep};
    if (!change(kernel, dep, parts)) {
      return false;
    }
    write(kernel, plan, dep, parts);
    return true;
  };
}

using ChangeElement = void (*)(ElementParts &);

Mistake inElement(ChangeElement change) {
  return inElement([change](const Kernel &, DepId, ElementParts &parts) {
    change(parts);
    return true;
  });
}

} // namespace

TEST(PlanMistakesTest, noMistakeInElementsIsNotReported) {
  Score score = scoreOf(Strategy::PerLoop, inElement([](ElementParts &) {}));
  EXPECT_GT(score.changed, 200u);
  EXPECT_EQ(score.reported, 0u);
}

/// Where the producer's loop has fewer iterations, runs of later ones are waited for.
TEST(PlanMistakesTest, elementIsNotClamped) {
  expectCaught(Strategy::PerLoop, inElement([](ElementParts &e) { e.clamped = false; }));
}

TEST(PlanMistakesTest, elementIsClampedAnIterationTooEarly) {
  expectCaught(Strategy::PerLoop, inElement([](ElementParts &e) { e.end = e.base; }));
}

TEST(PlanMistakesTest, elementsAreCountedFromTheEndOfTheIteration) {
  expectCaught(Strategy::PerLoop, inElement([](ElementParts &e) { e.base = e.end; }));
}

/// The producer's loop is still to come: one slot less would do for whole iterations, but not here.
TEST(PlanMistakesTest, elementIsTakenAnIterationTooYoung) {
  expectCaught(Strategy::PerLoop, inElement([](const Kernel &, DepId, ElementParts &e) {
                 if (e.end == 0) {
                   return false;
                 }
                 --e.base;
                 --e.end;
                 return true;
               }));
}

TEST(PlanMistakesTest, runsOfANestAreCountedInItsInnermostLoop) {
  expectCaught(Strategy::PerLoop, inElement([](const Kernel &kernel, DepId, ElementParts &e) {
                 e.innermostOnly = true;
                 return e.inner != rootLoop && kernel.loops[e.inner].parent != e.around;
               }));
}

TEST(PlanMistakesTest, elementStepIsReversed) {
  expectCaught(Strategy::PerLoop, inElement([](const Kernel &, DepId, ElementParts &e) {
                 e.step = -e.step;
                 return e.step != 0;
               }));
}

TEST(PlanMistakesTest, elementStepIsOneTooFew) {
  expectCaught(Strategy::PerLoop, inElement([](ElementParts &e) { --e.step; }));
}

TEST(PlanMistakesTest, elementStepIsOneTooMany) {
  expectCaught(Strategy::PerLoop, inElement([](ElementParts &e) { ++e.step; }));
}

/// Before index d nothing of the target iteration is owed, but its beginning would be waited for.
TEST(PlanMistakesTest, innerMaskIsForgotten) {
  expectCaught(Strategy::PerLoop, inElement([](const Kernel &, DepId, ElementParts &e) {
                 e.innerMask = false;
                 return e.step > 0;
               }));
}

TEST(PlanMistakesTest, outerMaskIsForgotten) {
  expectCaught(Strategy::PerLoop, inElement([](const Kernel &, DepId, ElementParts &e) {
                 e.outerMask = false;
                 return e.end > 0;
               }));
}

/// The index of the producer's loop, which has stopped at its last one.
TEST(PlanMistakesTest, innerIndexIsTheProducers) {
  expectCaught(Strategy::PerLoop, inElement([](const Kernel &kernel, DepId dep, ElementParts &e) {
                 LoopId consumers = e.inner;
                 e.inner = kernel.instrs[kernel.deps[dep].producer].home;
                 return e.inner != consumers && consumers != rootLoop;
               }));
}

/// An index that goes on counting over the trips.
TEST(PlanMistakesTest, innerIndexIsNotReset) {
  expectCaught(Strategy::PerLoop, inElement([](ElementParts &e) { e.indexIsTotal = true; }));
}

/// Where a producer has not run yet, N*0 - (N-K) must be 0; a machine that wraps waits for ever.
TEST(PlanMistakesTest, subtractionIsNotGuarded) {
  expectCaught(Strategy::PerLoop, inNodes([](const Kernel &, SyncPlan &plan, const Expr &expr) {
                 return expr.op == ExprOp::Monus
                            ? plan.exprs.make(ExprOp::Sub, ExprId(expr.a), ExprId(expr.b))
                            : ExprId();
               }));
}

//===----------------------------------------------------------------------===//
// One semaphore for a whole queue
//===----------------------------------------------------------------------===//

/// The place of an instruction is not the sum over all bodies of their sizes times
/// their totals: at the consumer, loops behind the producer have been counted too.
TEST(PlanMistakesTest, placeIsTakenForASumOfTotals) {
  auto change = [](const Kernel &kernel, SyncPlan &plan, const Expr &expr) {
    if (expr.op != ExprOp::Ordinal) {
      return ExprId();
    }
    QueueId queue = kernel.instrs[InstrId(expr.a)].queue;
    ExprId sum = plan.exprs.constant(0);
    for (InstrId instr : kernel.instrs.ids()) {
      if (kernel.instrs[instr].queue == queue) {
        sum = plan.exprs.make(ExprOp::Add, sum, plan.exprs.total(kernel.instrs[instr].home));
      }
    }
    return plan.exprs.make(ExprOp::Mul, plan.exprs.constant(kernel.queues[queue].weight), sum);
  };
  expectCaught(Strategy::PerEngine, inNodes(change));
}

TEST(PlanMistakesTest, placeOfTheNeighbour) {
  auto change = [](const Kernel &kernel, SyncPlan &plan, const Expr &expr) {
    InstrId next(expr.a + 1);
    return expr.op == ExprOp::Ordinal && next.value < kernel.instrs.size()
               ? plan.exprs.ordinal(next)
               : ExprId();
  };
  expectCaught(Strategy::PerEngine, inNodes(change));
}
