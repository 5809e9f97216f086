//===- Interpret.cpp - One engine's way through its code ------------------===//

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

std::vector<uint32_t> matchBrackets(const std::vector<Op> &ops) {
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
    : kernel(&kernel), machine(&machine), bindings(&bindings), program(&code.engines[engine]),
      match(matchBrackets(program->ops)), registers(program->registers.size(), 0),
      reached(kernel.loops.size(), 0) {}

const Op *EngineRun::next() {
  if (pending) {
    pending = false;
    advance();
  }
  while (!atEnd() && !outOfFuel) {
    if (fuel == 0) {
      outOfFuel = true;
      break;
    }
    --fuel;
    if (touchesOutside(head().kind)) {
      pending = true;
      return &head();
    }
    advance();
  }
  return nullptr;
}

/// The machine's own counter counts from 1.
void EngineRun::setCounter(const Op &loopBegin) {
  if (loopBegin.dst.valid()) {
    uint64_t number = stack.back().iteration + 1;
    registers[loopBegin.dst.value] =
        static_cast<uint32_t>(aluValue(AluOp::Move, number, 0, *machine));
  }
}

void EngineRun::beginLoop(const Op &op) {
  uint64_t count = tripsOf(op.loop());
  if (count == 0) {
    place = match[place] + 1;
    return;
  }
  enter(op.loop(), count);
  setCounter(op);
  ++place;
}

/// Both branches are asked about with the number of times their statement was reached.
void EngineRun::beginIf(const Op &op) {
  bool holds = tripsOf(op.loop()) != 0;
  uint32_t partner = match[place];
  if (holds) {
    enter(op.loop(), 1);
    ++place;
    return;
  }
  if (program->ops[partner].kind == OpKind::Else) {
    enter(kernel->loops[op.loop()].otherBranch, 1);
  }
  place = partner + 1;
}

} // namespace tally
