//===- VerifyCodeTest.cpp - Every reason to refuse code -------------------===//

#include "tally/Code/Code.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

Location at(uint32_t line) {
  return {0, line, 1};
}

/// A { x@act  B { y@act }  if c { z@act } }  u@dma, and a dependence x -> y.
struct Draft {
  KernelBuilder b{"k", at(1)};
  EngineId act = b.engine("act", at(2));
  EngineId dma = b.engine("dma", at(3));
  LoopId a, inB, c;
  InstrId x, y, z, u;
  Kernel kernel;
  Code code;

  Draft() {
    QueueId q = b.queueOf(act);
    a = b.beginLoop("A", b.value("n"), true, at(4));
    x = b.instr("x", q, {}, at(5));
    inB = b.beginLoop("B", b.value("m"), true, at(6));
    y = b.instr("y", q, {}, at(7));
    b.endLoop();
    c = b.beginIf("c", true, at(8));
    z = b.instr("z", q, {}, at(9));
    b.endIf();
    b.endLoop();
    u = b.instr("u", b.queueOf(dma), {}, at(10));
    b.dep(x, y, {}, DepKind::RAW, at(11));
    kernel = b.finish();
    code.strategy = Strategy::Manual;
    code.semaphores.push({"s"});
    code.engines.push({act, {}, {}});
    code.engines.push({dma, {}, {}});
    code.engines[act].registers.push({"r0", ""});
  }

  Draft &add(Op op) {
    code.engines[act].ops.push_back(op);
    return *this;
  }

  Draft &end(OpKind kind) { return add(Op::mark(kind)); }

  std::string problems(bool complete = false) const {
    Diagnostics diagnostics;
    verifyCode(kernel, code, diagnostics, complete);
    return render(diagnostics, {"k"});
  }
};

/// What an error on engine act begins with.
std::string act(uint32_t line, std::string_view message) {
  return "k:" + std::to_string(line) +
         ":1: error: in the code of engine 'act': " + std::string(message) + "\n";
}

Op waiting(Op op, SemaId sema, Operand threshold) {
  op.wait = sema;
  op.a = threshold;
  return op;
}

} // namespace

TEST(VerifyCodeTest, acceptsGoodCode) {
  Draft k;
  RegId r(0);
  k.code.reasons = {DepId(0)};
  k.code.barriers.push({k.act, k.dma});
  k.add(Op::move(r, Operand::number(0))).add(Op::loopBegin(k.a, r)).add(Op::issue(k.x));
  k.add(Op::mark(OpKind::BarrierBegin, 0)).add(Op::drain()).add(Op::mark(OpKind::BarrierEnd, 0));
  k.add(Op::loopBegin(k.inB));
  Op wait = Op::makeWait(SemaId(0), Operand::reg(r));
  wait.numReasons = 1;
  Op issue = waiting(Op::issue(k.y), SemaId(0), Operand::number(1));
  issue.numReasons = 1;
  issue.signal = SemaId(0);
  k.add(wait).add(issue).end(OpKind::LoopEnd);
  k.add(Op::ifBegin(k.c)).add(Op::issue(k.z)).end(OpKind::Else).end(OpKind::IfEnd);
  k.add(Op::makeSignal(SemaId(0), 3)).add(Op::reset(SemaId(0), 1)).end(OpKind::LoopEnd);
  k.code.engines[k.dma].ops.push_back(Op::issue(k.u));
  EXPECT_EQ(k.problems(true), "");
}

TEST(VerifyCodeTest, brackets) {
  EXPECT_EQ(Draft().end(OpKind::LoopEnd).problems(),
            act(1, "a loop is closed, but nothing is open"));
  Draft open;
  EXPECT_EQ(open.add(Op::loopBegin(open.a)).problems(), act(4, "a loop is not closed"));
  Draft crossed;
  crossed.add(Op::loopBegin(crossed.a)).end(OpKind::IfEnd).end(OpKind::LoopEnd);
  EXPECT_EQ(crossed.problems(),
            act(4, "a branch is closed, but the innermost that is open is a loop"));
  Draft elseAlone;
  Draft twice;
  twice.add(Op::loopBegin(twice.a)).add(Op::ifBegin(twice.c)).end(OpKind::Else).end(OpKind::Else);
  twice.end(OpKind::IfEnd).end(OpKind::LoopEnd);
  EXPECT_EQ(twice.problems(), act(8, "'else' without the branch before it"));
  elseAlone.add(Op::loopBegin(elseAlone.a)).end(OpKind::Else).end(OpKind::LoopEnd);
  EXPECT_EQ(elseAlone.problems(), act(4, "'else' without the branch before it"));
}

TEST(VerifyCodeTest, loopsStandWhereTheKernelHasThem) {
  Draft skipped;
  skipped.add(Op::loopBegin(skipped.inB)).end(OpKind::LoopEnd);
  EXPECT_EQ(skipped.problems(),
            act(6, "loop 'B' is opened outside all loops, but the kernel has it directly in 'A'"));
  Draft inside;
  inside.add(Op::loopBegin(inside.a)).add(Op::loopBegin(inside.inB)).add(Op::ifBegin(inside.c));
  inside.end(OpKind::IfEnd).end(OpKind::LoopEnd).end(OpKind::LoopEnd);
  EXPECT_EQ(inside.problems(),
            act(8, "branch 'c' is opened in 'B', but the kernel has it directly in 'A'"));
  Draft kind;
  kind.add(Op::loopBegin(kind.a)).add(Op::loopBegin(kind.c)).end(OpKind::LoopEnd);
  kind.add(Op::ifBegin(LoopId(77))).end(OpKind::IfEnd).end(OpKind::LoopEnd);
  EXPECT_EQ(kind.problems(),
            act(4, "a loop is opened that the kernel does not have as one: number 3") +
                act(4, "a branch is opened that the kernel does not have as one: number 77"));
}

/// Inside a loop nobody knows, nothing is said about places; after it, all is as before.
TEST(VerifyCodeTest, unknownLoopsDoNotCascade) {
  Draft k;
  k.add(Op::loopBegin(k.a)).add(Op::loopBegin(LoopId(77))).add(Op::issue(k.z));
  k.add(Op::loopBegin(k.a)).end(OpKind::LoopEnd).end(OpKind::LoopEnd);
  k.add(Op::issue(k.y)).end(OpKind::LoopEnd);
  EXPECT_EQ(k.problems(),
            act(4, "a loop is opened that the kernel does not have as one: number 77") +
                act(7, "'y' is issued in 'A', but the kernel has it in 'B'") +
                "k:4:1: note: the code is in this body\n");
}

TEST(VerifyCodeTest, instructions) {
  Draft k;
  k.add(Op::issue(k.u)).add(Op::issue(k.z)).add(Op::issue(InstrId(9)));
  EXPECT_EQ(k.problems(),
            act(10, "'u' is issued, but it is an instruction of engine 'dma'") +
                act(9, "'z' is issued outside all loops, but the kernel has it in 'c'") +
                "k:1:1: note: the code is in this body\n" +
                act(1, "instruction 9 is issued, but the kernel has only 4"));
}

/// The else-branch is another body than the then-branch.
TEST(VerifyCodeTest, branchesAreTwoBodies) {
  Draft k;
  k.add(Op::loopBegin(k.a)).add(Op::ifBegin(k.c)).end(OpKind::Else).add(Op::issue(k.z));
  k.end(OpKind::IfEnd).end(OpKind::LoopEnd);
  EXPECT_EQ(k.problems(), act(9, "'z' is issued in 'c.else', but the kernel has it in 'c'") +
                              "k:8:1: note: the code is in this body\n");
}

TEST(VerifyCodeTest, onlyUnrolledCodeRepeats) {
  Draft k;
  k.add(Op::loopBegin(k.a)).add(Op::issue(k.x)).add(Op::issue(k.x)).add(Op::issue(k.x));
  k.end(OpKind::LoopEnd);
  EXPECT_EQ(k.problems(),
            act(5, "'x' is issued more than once; only unrolled code repeats instructions"));
  Draft unrolled;
  unrolled.code.strategy = Strategy::Unrolled;
  unrolled.add(Op::issue(unrolled.x)).add(Op::issue(unrolled.x)).add(Op::issue(unrolled.y));
  EXPECT_EQ(unrolled.problems(), "");
}

TEST(VerifyCodeTest, followsTheOrderOfTheKernel) {
  Draft k;
  k.add(Op::loopBegin(k.a)).add(Op::loopBegin(k.inB)).end(OpKind::LoopEnd);
  k.add(Op::issue(k.x)).end(OpKind::LoopEnd);
  EXPECT_EQ(k.problems(), "k:5:1: error: in the code of engine 'act': 'x' comes after 'B', but "
                          "the kernel has it before that; an engine follows the order of the "
                          "kernel, so change one of the two\n"
                          "k:6:1: note: 'B' is here\n");
}

TEST(VerifyCodeTest, runsEachLoopOnce) {
  Draft k;
  k.add(Op::loopBegin(k.a)).end(OpKind::LoopEnd);
  k.add(Op::loopBegin(k.a)).end(OpKind::LoopEnd);
  EXPECT_EQ(k.problems(), "k:4:1: error: in the code of engine 'act': 'A' is run more than once\n");
}

TEST(VerifyCodeTest, keepsPins) {
  Draft k;
  k.kernel.pins.push_back({k.x, 1, at(5)});
  Op issue = Op::issue(k.x);
  issue.signal = SemaId(0);
  k.add(Op::loopBegin(k.a)).add(issue).end(OpKind::LoopEnd);
  EXPECT_EQ(k.problems(), "k:5:1: error: in the code of engine 'act': 'x' raises semaphore 0, but "
                          "is pinned to semaphore 1\n");
}

TEST(VerifyCodeTest, complete) {
  Draft k;
  EXPECT_EQ(k.problems(), "");
  EXPECT_EQ(k.problems(true),
            act(5, "'x' is never issued") + act(7, "'y' is never issued") +
                act(9, "'z' is never issued") +
                "k:10:1: error: in the code of engine 'dma': 'u' is never issued\n");
}

TEST(VerifyCodeTest, registersAndSemaphores) {
  Draft k;
  Operand r7 = Operand::reg(RegId(7));
  k.add(Op::move(RegId(1), Operand::number(0)));
  k.add(Op::alu2(AluOp::Add, RegId(0), Operand::number(0), r7));
  k.add(Op::makeWait(SemaId(1), r7));
  k.add(Op::makeWait(SemaId(), Operand::number(0)));
  k.add(Op::makeSignal(SemaId(2), 0));
  k.add(Op::reset(SemaId(0), 2));
  k.add(Op::reset(SemaId(0), 0));
  k.add(Op::loopBegin(k.a, RegId(3))).end(OpKind::LoopEnd);
  EXPECT_EQ(k.problems(), act(1, "register 1 is used, but the engine has only 1") +
                              act(1, "register 7 is used, but the engine has only 1") +
                              act(1, "semaphore 1 is used, but the program has only 1") +
                              act(1, "register 7 is used, but the engine has only 1") +
                              act(1, "semaphore 4294967295 is used, but the program has only 1") +
                              act(1, "semaphore 2 is used, but the program has only 1") +
                              act(1, "a signal adds 0; it must add at least 1") +
                              act(1, "semaphores 0 to 1 are reset, but the program has only 1") +
                              act(1, "a reset of 0 semaphores; it must reset at least 1") +
                              act(1, "register 3 is used, but the engine has only 1"));
}

TEST(VerifyCodeTest, names) {
  Draft k;
  k.code.engines[k.act].registers.push({"r0", ""});
  k.code.engines[k.act].registers.push({"r0", ""});
  k.code.semaphores.push({"s"});
  EXPECT_EQ(k.problems(),
            "k:1:1: error: several semaphores are named 's'\n"
            "k:2:1: error: in the code of engine 'act': several registers are named 'r0'\n");
}

TEST(VerifyCodeTest, reasons) {
  Draft k;
  k.code.reasons = {DepId(0), DepId(5)};
  Op issue = waiting(Op::issue(k.x), SemaId(0), Operand::number(1));
  issue.numReasons = 2;
  Op wait = Op::makeWait(SemaId(0), Operand::number(1));
  wait.firstReason = 1;
  wait.numReasons = 2;
  Op idle = Op::drain();
  idle = Op::makeSignal(SemaId(0));
  idle.numReasons = 1;
  k.add(Op::loopBegin(k.a)).add(issue).add(wait).add(idle).end(OpKind::LoopEnd);
  EXPECT_EQ(k.problems(),
            act(5, "'x' waits for dependence 0, whose consumer is 'y'") +
                "k:11:1: note: the dependence is here\n" +
                act(4, "dependence 5 is named, but the kernel has only 1") +
                act(4, "reasons 1 to 2 are used, but the program has only 2") +
                act(4, "an operation names the dependences behind its wait, but does not wait"));
}

TEST(VerifyCodeTest, barriers) {
  Draft k;
  k.code.barriers.push({k.dma, EngineId(4)});
  k.add(Op::mark(OpKind::BarrierBegin, 0)).add(Op::mark(OpKind::BarrierEnd, 0));
  k.add(Op::mark(OpKind::BarrierBegin, 1)).add(Op::mark(OpKind::BarrierEnd, 1));
  EXPECT_EQ(k.problems(),
            "k:1:1: error: engine 4 takes part in barrier 0, but the kernel has only 2 engines\n" +
                act(1, "barrier 0 is opened, in which this engine takes no part") +
                act(1, "barrier 1 is opened, but the program has only 1"));
}

TEST(VerifyCodeTest, oneCodeForEachEngine) {
  Draft k;
  k.code.engines.raw().pop_back();
  EXPECT_EQ(k.problems(), "k:1:1: error: there is code for 1 engines, but the kernel has 2\n");
  Draft swapped;
  swapped.code.engines[swapped.act].engine = swapped.dma;
  EXPECT_EQ(swapped.problems(),
            "k:2:1: error: the code of engine 'act' is filed as that of engine 1\n");
}

/// What the first body of a pass has waited for holds in the others only if nothing changes it.
TEST(VerifyCodeTest, waitsOnceInAPass) {
  auto unrolledLoop = [](LoopId loop, RegId counter = {}) {
    Op begin = Op::loopBegin(loop, counter);
    begin.amount = 2;
    return begin;
  };
  auto once = [](Operand threshold) {
    Op wait = Op::makeWait(SemaId(0), threshold);
    wait.once = true;
    return wait;
  };
  const RegId r0(0);
  const Op known = once(Operand::number(1)), asCounted = once(Operand::reg(r0));
  const Op step = Op::alu2(AluOp::Add, r0, Operand::reg(r0), Operand::number(1));
  const std::string misplaced =
      "'once' stands at a wait that no unrolled loop directly holds; it is "
      "for waits directly in an unrolled loop";
  const std::string changes = "a wait is tested once in a pass, but its threshold, register 'r0', "
                              "changes in the loop";
  {
    Draft k;
    k.add(step).add(unrolledLoop(k.a)).add(known).add(asCounted).end(OpKind::LoopEnd).add(step);
    EXPECT_EQ(k.problems(), "");
  }
  { // before and behind what changes it
    Draft k;
    k.add(unrolledLoop(k.a)).add(asCounted).add(step).add(asCounted).end(OpKind::LoopEnd);
    EXPECT_EQ(k.problems(), act(4, changes) + act(4, changes));
  }
  { // by the loop itself, and in a loop within
    Draft k;
    k.add(unrolledLoop(k.a, r0)).add(asCounted).end(OpKind::LoopEnd);
    EXPECT_EQ(k.problems(), act(4, changes));
    Draft inner;
    inner.add(unrolledLoop(inner.a)).add(asCounted).add(Op::loopBegin(inner.inB)).add(step);
    inner.end(OpKind::LoopEnd).end(OpKind::LoopEnd);
    EXPECT_EQ(inner.problems(), act(4, changes));
  }
  { // by another engine, which sets back what has been counted
    Draft k;
    k.add(unrolledLoop(k.a)).add(known).end(OpKind::LoopEnd);
    k.code.engines[k.dma].ops = {Op::reset(SemaId(0), 1)};
    EXPECT_EQ(k.problems(),
              act(4, "a wait for 's' is tested once in a pass, but the code resets it: "
                     "what has passed need not hold any more"));
  }
  { // outside of loops, in one that is not unrolled, under a condition
    Draft k;
    k.add(Op::loopBegin(k.a)).add(known).end(OpKind::LoopEnd).add(known);
    EXPECT_EQ(k.problems(), act(4, misplaced) + act(1, misplaced));
    Draft branch;
    branch.add(unrolledLoop(branch.a)).add(Op::ifBegin(branch.c)).add(known).end(OpKind::IfEnd);
    branch.end(OpKind::LoopEnd);
    EXPECT_EQ(branch.problems(), act(8, misplaced));
  }
  { // on what waits for nothing
    Draft k;
    Op signal = Op::makeSignal(SemaId(0));
    signal.once = true;
    k.add(unrolledLoop(k.a)).add(signal).end(OpKind::LoopEnd);
    EXPECT_EQ(k.problems(),
              act(4, "'once' stands at what does not wait; it is for waits directly in "
                     "an unrolled loop"));
  }
}
