//===- InterpretTest.cpp - Running one engine's code ----------------------===//

#include "tally/Run/Interpret.h"

#include "tally/Code/Code.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// A { x  if c { y } else { z }  B { w } }  on one engine.
struct Example {
  KernelBuilder b{"k"};
  EngineId act = b.engine("act");
  LoopId a, c, inB;
  InstrId x, y, z, w;
  Kernel kernel;
  Code code;
  Machine machine = genericMachine();

  Example() {
    QueueId q = b.queueOf(act);
    a = b.beginLoop("A", b.value("n"));
    x = b.instr("x", q);
    c = b.beginIf("c");
    y = b.instr("y", q);
    b.beginElse();
    z = b.instr("z", q);
    b.endIf();
    inB = b.beginLoop("B", b.value("m"));
    w = b.instr("w", q);
    b.endLoop();
    b.endLoop();
    kernel = b.finish();
    code.engines.push({act, {}, {}});
  }

  RegId reg(const char *name) { return code.engines[act].registers.push({name, ""}); }

  void add(Op op) { code.engines[act].ops.push_back(op); }

  void end(OpKind kind) { add(Op::mark(kind)); }

  /// The whole kernel.
  void addAll() {
    add(Op::loopBegin(a));
    add(Op::issue(x));
    add(Op::ifBegin(c));
    add(Op::issue(y));
    end(OpKind::Else);
    add(Op::issue(z));
    end(OpKind::IfEnd);
    add(Op::loopBegin(inB));
    add(Op::issue(w));
    end(OpKind::LoopEnd);
    end(OpKind::LoopEnd);
  }

  /// Names of the instructions issued, with the iterations of the loops around them.
  std::string run(const Bindings &bindings, uint64_t fuel = UINT64_MAX) const {
    EngineRun run(kernel, code, machine, bindings, act);
    run.setFuel(fuel);
    std::string text;
    while (const Op *op = run.next()) {
      text += op->kind == OpKind::Issue ? std::string(kernel.nameOf(op->instr())) : "?";
      for (const LoopIteration &active : run.active()) {
        text += std::string(kernel.nameOf(active.loop)) + std::to_string(active.iteration);
      }
      text += ' ';
    }
    return run.exhausted() ? text + "exhausted" : text;
  }
};

} // namespace

/// Trips count by how often the statement was reached: B is reached twice, c twice.
TEST(InterpretTest, walksLoopsAndBranches) {
  Example k;
  k.addAll();
  Bindings bindings(k.kernel);
  bindings.set(k.a, {2});
  bindings.set(k.c, {1, 0});
  bindings.set(k.inB, {0, 2});
  EXPECT_EQ(k.run(bindings), "xA0 yA0c0 xA1 zA1c.else0 wA1B0 wA1B1 ");
}

TEST(InterpretTest, zeroTripsSkipTheBody) {
  Example k;
  k.addAll();
  Bindings bindings(k.kernel);
  bindings.set(k.a, {0});
  EXPECT_EQ(k.run(bindings), "");
}

/// An `if` without `else` in the code, taken and not taken.
TEST(InterpretTest, ifWithoutElse) {
  Example k;
  k.add(Op::loopBegin(k.a));
  k.add(Op::ifBegin(k.c));
  k.add(Op::issue(k.y));
  k.end(OpKind::IfEnd);
  k.add(Op::issue(k.x));
  k.end(OpKind::LoopEnd);
  Bindings bindings(k.kernel);
  bindings.set(k.a, {3});
  bindings.set(k.c, {0, 1});
  EXPECT_EQ(k.run(bindings), "xA0 yA1c0 xA1 xA2 ");
}

/// Loops that the code does not have are not run, and reached less often.
TEST(InterpretTest, leavesOutLoopsWithoutCode) {
  Example k;
  k.add(Op::loopBegin(k.a));
  k.add(Op::issue(k.x));
  k.end(OpKind::LoopEnd);
  Bindings bindings(k.kernel);
  bindings.set(k.a, {2});
  EXPECT_EQ(k.run(bindings), "xA0 xA1 ");
}

TEST(InterpretTest, everyOutsideOperationStops) {
  Example k;
  k.code.semaphores.push({"s"});
  k.add(Op::makeWait(SemaId(0), Operand::number(1)));
  k.add(Op::mark(OpKind::BarrierBegin, 0));
  k.add(Op::makeSignal(SemaId(0)));
  k.add(Op::mark(OpKind::BarrierEnd, 0));
  k.add(Op::reset(SemaId(0), 1));
  k.add(Op::drain());
  Bindings bindings(k.kernel);
  EngineRun run(k.kernel, k.code, k.machine, bindings, k.act);
  for (OpKind kind : {OpKind::Wait, OpKind::Signal, OpKind::Reset, OpKind::Drain}) {
    const Op *op = run.next();
    ASSERT_NE(op, nullptr);
    EXPECT_EQ(op->kind, kind);
  }
  EXPECT_EQ(run.next(), nullptr);
  EXPECT_EQ(run.next(), nullptr);
}

/// The native counter starts at 1 each time; the sum over two trips of 3 is 12.
TEST(InterpretTest, countersAndRegisters) {
  Example k;
  RegId i = k.reg("i"), sum = k.reg("sum");
  k.add(Op::loopBegin(k.a));
  k.add(Op::loopBegin(k.inB, i));
  k.add(Op::alu2(AluOp::Add, sum, Operand::reg(sum), Operand::reg(i)));
  k.add(Op::issue(k.w));
  k.end(OpKind::LoopEnd);
  k.end(OpKind::LoopEnd);
  Bindings bindings(k.kernel);
  bindings.set(k.a, {2});
  bindings.set(k.inB, {3});
  EngineRun run(k.kernel, k.code, k.machine, bindings, k.act);
  std::vector<uint64_t> counters, sums;
  while (run.next()) {
    counters.push_back(run.value(Operand::reg(i)));
    sums.push_back(run.value(Operand::reg(sum)));
  }
  EXPECT_EQ(counters, (std::vector<uint64_t>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(sums, (std::vector<uint64_t>{1, 3, 6, 7, 9, 12}));
  EXPECT_EQ(run.value(Operand::number(5)), 5u);
}

/// An endless loop without operations runs out of fuel as well.
TEST(InterpretTest, fuel) {
  Example k;
  k.addAll();
  Bindings bindings(k.kernel);
  bindings.set(k.a, {maxCount});
  bindings.set(k.c, {1});
  bindings.set(k.inB, {0});
  EXPECT_EQ(k.run(bindings, 4), "xA0 yA0c0 exhausted");
  Example empty;
  empty.add(Op::loopBegin(empty.a));
  empty.end(OpKind::LoopEnd);
  EXPECT_EQ(empty.run(bindings, 1000), "exhausted");
}

TEST(InterpretTest, aluOnBothMachines) {
  Machine wraps = genericMachine(), saturates = genericMachine();
  wraps.subtraction = Subtraction::Wraps;
  wraps.counterBits = saturates.counterBits = 8;
  EXPECT_EQ(aluValue(AluOp::Sub, 3, 5, wraps), 254u);
  EXPECT_EQ(aluValue(AluOp::Sub, 3, 5, saturates), 0u);
  EXPECT_EQ(aluValue(AluOp::Sub, 3, 4, saturates), 0u);
  EXPECT_EQ(aluValue(AluOp::Sub, 5, 3, saturates), 2u);
  for (const Machine &machine : {wraps, saturates}) {
    EXPECT_EQ(aluValue(AluOp::Add, 255, 2, machine), 1u);
    EXPECT_EQ(aluValue(AluOp::Mul, 16, 17, machine), 16u);
    EXPECT_EQ(aluValue(AluOp::Min, 3, 5, machine), 3u);
    EXPECT_EQ(aluValue(AluOp::IsGT, 5, 3, machine), 1u);
    EXPECT_EQ(aluValue(AluOp::IsGT, 3, 3, machine), 0u);
    EXPECT_EQ(aluValue(AluOp::Move, 300, 0, machine), 44u);
  }
}
