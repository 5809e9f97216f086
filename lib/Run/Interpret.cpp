//===- Interpret.cpp - Runs one engine's code, control only ---------------===//

#include "tally/Run/Interpret.h"

#include <algorithm>

namespace tally {

uint64_t aluValue(AluOp op, uint64_t a, uint64_t b, const Machine &machine) {
  uint64_t mask = (uint64_t(1) << machine.counterBits) - 1;
  switch (op) {
  case AluOp::Move:
    return a & mask;
  case AluOp::Add:
    return (a + b) & mask;
  case AluOp::Sub:
    return machine.subtraction == Subtraction::Saturates && b > a ? 0 : (a - b) & mask;
  case AluOp::Mul:
    return (a * b) & mask;
  case AluOp::Min:
    return std::min(a, b) & mask;
  case AluOp::IsGT:
    return a > b ? 1 : 0;
  }
  return 0;
}

/// For each bracket its partner: begins know their end (an IfBegin its Else, if there is one, and
/// the Else its IfEnd), ends their begin. Only called on code that verifyCode() accepts.
static std::vector<uint32_t> matchBrackets(const std::vector<Op> &ops) {
  std::vector<uint32_t> match(ops.size(), 0);
  std::vector<uint32_t> open;
  auto close = [&](uint32_t at) {
    assert(!open.empty() && "brackets match in verified code");
    match[open.back()] = at;
    match[at] = open.back();
    open.pop_back();
  };
  for (uint32_t at = 0; at < ops.size(); ++at) {
    switch (ops[at].kind) {
    case OpKind::LoopBegin:
    case OpKind::IfBegin:
    case OpKind::WhenBegin:
      open.push_back(at);
      break;
    case OpKind::Else:
      close(at);
      open.push_back(at);
      break;
    case OpKind::LoopEnd:
    case OpKind::IfEnd:
    case OpKind::WhenEnd:
      close(at);
      break;
    default:
      break;
    }
  }
  assert(open.empty() && "brackets match in verified code");
  return match;
}

EngineRun::EngineRun(const Kernel &kernel, const Code &code, const Machine &machine,
                     const Bindings &bindings, EngineId engine)
    : kernel(kernel), machine(machine), bindings(bindings), program(code.engines[engine]),
      match(matchBrackets(program.ops)), registers(program.registers.size(), 0),
      reached(kernel.loops.size(), 0) {}

uint64_t EngineRun::value(Operand operand) const {
  return operand.isRegister ? registers[operand.value] : operand.value;
}

static bool touchesOutside(OpKind kind) {
  return kind == OpKind::Issue || kind == OpKind::Wait || kind == OpKind::Signal ||
         kind == OpKind::Reset || kind == OpKind::Drain;
}

const Op *EngineRun::next() {
  if (pending) {
    pending = false;
    ++at;
  }
  while (at < program.ops.size() && !outOfFuel) {
    if (fuel == 0) {
      outOfFuel = true;
      break;
    }
    --fuel;
    if (touchesOutside(program.ops[at].kind)) {
      pending = true;
      return &program.ops[at];
    }
    step();
  }
  return nullptr;
}

void EngineRun::enter(LoopId loop, uint64_t trips) {
  stack.push_back({loop, 0});
  remaining.push_back(trips - 1);
}

void EngineRun::leave() {
  stack.pop_back();
  remaining.pop_back();
}

/// The machine's own counter counts from 1.
void EngineRun::setCounter(const Op &loopBegin) {
  if (loopBegin.dst.valid()) {
    registers[loopBegin.dst.value] = aluValue(AluOp::Move, stack.back().iteration + 1, 0, machine);
  }
}

void EngineRun::beginLoop(const Op &op) {
  uint64_t trips = bindings.trips(program.engine, op.loop(), ++reached[op.loop()]);
  if (trips == 0) {
    at = match[at] + 1;
    return;
  }
  enter(op.loop(), trips);
  setCounter(op);
  ++at;
}

void EngineRun::endLoop() {
  if (remaining.back() == 0) {
    leave();
    ++at;
    return;
  }
  --remaining.back();
  ++stack.back().iteration;
  const uint32_t begin = match[at];
  setCounter(program.ops[begin]);
  at = begin + 1;
}

/// Both branches are asked about with the number of times their statement was reached.
void EngineRun::beginIf(const Op &op) {
  bool holds = bindings.trips(program.engine, op.loop(), ++reached[op.loop()]) != 0;
  uint32_t partner = match[at];
  if (holds) {
    enter(op.loop(), 1);
    ++at;
    return;
  }
  if (program.ops[partner].kind == OpKind::Else) {
    enter(kernel.loops[op.loop()].otherBranch, 1);
  }
  at = partner + 1;
}

void EngineRun::step() {
  const Op &op = program.ops[at];
  switch (op.kind) {
  case OpKind::Alu:
    registers[op.dst.value] = aluValue(op.alu, value(op.a), value(op.b), machine);
    ++at;
    return;
  case OpKind::LoopBegin:
    return beginLoop(op);
  case OpKind::LoopEnd:
    return endLoop();
  case OpKind::IfBegin:
    return beginIf(op);
  case OpKind::Else: // from the then-branch only, as beginIf() jumps past it
    leave();
    at = match[at] + 1;
    return;
  case OpKind::IfEnd:
    leave();
    ++at;
    return;
  case OpKind::WhenBegin:
    at = value(op.a) != 0 ? at + 1 : match[at] + 1;
    return;
  default:
    ++at; // other brackets do nothing by themselves
    return;
  }
}

} // namespace tally
