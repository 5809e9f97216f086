//===- Program.cpp - Operations by name, and the size of a program --------===//

#include "tally/Code/Program.h"

#include <algorithm>

namespace tally {

Op Op::issue(InstrId instr) {
  Op op;
  op.kind = OpKind::Issue;
  op.target = instr.value;
  return op;
}

Op Op::makeWait(SemaId sema, Operand threshold) {
  Op op;
  op.kind = OpKind::Wait;
  op.wait = sema;
  op.a = threshold;
  return op;
}

Op Op::makeSignal(SemaId sema, uint32_t amount) {
  Op op;
  op.kind = OpKind::Signal;
  op.signal = sema;
  op.amount = amount;
  return op;
}

Op Op::reset(SemaId first, uint32_t count) {
  Op op;
  op.kind = OpKind::Reset;
  op.signal = first;
  op.amount = count;
  return op;
}

Op Op::drain() {
  return mark(OpKind::Drain);
}

Op Op::alu2(AluOp alu, RegId dst, Operand a, Operand b) {
  Op op;
  op.kind = OpKind::Alu;
  op.alu = alu;
  op.dst = dst;
  op.a = a;
  op.b = b;
  return op;
}

Op Op::move(RegId dst, Operand a) {
  return alu2(AluOp::Move, dst, a, Operand());
}

Op Op::loopBegin(LoopId loop, RegId counter) {
  Op op;
  op.kind = OpKind::LoopBegin;
  op.target = loop.value;
  op.dst = counter;
  return op;
}

Op Op::ifBegin(LoopId thenBranch) {
  return mark(OpKind::IfBegin, thenBranch.value);
}

Op Op::whenBegin(Operand condition) {
  Op op;
  op.kind = OpKind::WhenBegin;
  op.a = condition;
  return op;
}

Op Op::mark(OpKind kind, uint32_t target) {
  Op op;
  op.kind = kind;
  op.target = target;
  return op;
}

uint32_t encodedSize(const Op &op) {
  switch (op.kind) {
  case OpKind::IfEnd:
  case OpKind::BarrierBegin:
  case OpKind::BarrierEnd:
  case OpKind::WhenEnd:
    return 0;
  default:
    return 1;
  }
}

ProgramSize measure(const Program &program, uint32_t instructionBytes) {
  ProgramSize size;
  IdVector<SemaId, bool> used(program.semaphores.size(), false);
  for (const EngineCode &engine : program.engines) {
    size.maxRegisters = std::max(size.maxRegisters, static_cast<uint32_t>(engine.registers.size()));
    for (const Op &op : engine.ops) {
      size.operations += encodedSize(op);
      size.waits += op.wait.valid();
      size.aluOperations += op.kind == OpKind::Alu;
      for (SemaId sema : {op.wait, op.signal}) {
        if (sema.valid()) {
          used[sema] = true;
        }
      }
    }
  }
  size.semaphores = static_cast<uint32_t>(std::count(used.begin(), used.end(), true));
  size.bytes = size.operations * instructionBytes;
  return size;
}

} // namespace tally
