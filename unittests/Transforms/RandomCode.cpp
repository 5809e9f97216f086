//===- RandomCode.cpp - Well-formed code that no strategy makes -----------===//
//
// Each engine walks the kernel's tree: loops and branches now and then left out,
// its own instructions issued once, and between any two of them a few other operations.
//
//===----------------------------------------------------------------------===//

#include "RandomCode.h"

#include "RandomKernel.h"

#include <fmt/format.h>

namespace tally::oracle {
namespace {

class CodeDrawer {
public:
  CodeDrawer(const Kernel &kernel, uint64_t seed) : kernel(kernel), random(seed) {}

  Code draw();

private:
  void engine(EngineId id);
  void body(LoopId id);
  void statement(const Stmt &stmt);
  void loop(LoopId id);
  void addAtOnce(LoopId id);
  void branch(LoopId id);
  void issue(InstrId id);
  void others();
  void other();
  void alu();
  void barrier();
  void drawOnce();
  void addWait(Op &op);
  void addReasons(Op &op);
  void addSignal(Op &op);

  SemaId semaphore() { return SemaId(pick(code.semaphores.size())); }

  RegId reg() { return RegId(pick(program->registers.size())); }

  uint32_t pick(size_t bound) { return static_cast<uint32_t>(random.below(bound)); }

  Operand operand();

  void push(Op op) { program->ops.push_back(op); }

  const Kernel &kernel;
  fuzz::Random random;
  Code code;
  EngineProgram *program = nullptr;
};

Code CodeDrawer::draw() {
  code.strategy = Strategy::Manual;
  code.machine = "generic";
  uint32_t numSemaphores = random.in(fuzz::Range{1, 4});
  for (uint32_t i = 0; i < numSemaphores; ++i) {
    code.semaphores.push({fmt::format("s{}", i)});
  }
  for (EngineId id : kernel.engines.ids()) {
    code.engines.push({id, {}, {}});
  }
  for (EngineId id : kernel.engines.ids()) {
    engine(id);
  }
  drawOnce();
  return std::move(code);
}

/// Some waits for numbers, directly in unrolled loops, are tested once in a pass.
void CodeDrawer::drawOnce() {
  const IdVector<SemaId, bool> isReset = resetBy(code);
  for (EngineProgram &each : code.engines) {
    std::vector<const Op *> open;
    for (Op &op : each.ops) {
      bool isInPass = !open.empty() && open.back()->kind == OpKind::LoopBegin &&
                      open.back()->amount > 1 && op.wait.valid();
      op.once = isInPass && !op.a.isRegister && !isReset[op.wait] && random.percent(50);
      if (opensBracket(op.kind)) {
        open.push_back(&op);
      } else if (closesBracket(op.kind)) {
        open.pop_back();
      }
    }
  }
}

void CodeDrawer::engine(EngineId id) {
  program = &code.engines[id];
  uint32_t numRegisters = random.in(fuzz::Range{1, 5});
  for (uint32_t i = 0; i < numRegisters; ++i) {
    std::string role = random.percent(30) ? "total(L0)" : "";
    program->registers.push({fmt::format("r{}", i), role});
  }
  body(rootLoop);
}

void CodeDrawer::body(LoopId id) {
  others();
  for (StmtId stmt : kernel.loops[id].body) {
    statement(kernel.stmts[stmt]);
    others();
  }
}

void CodeDrawer::statement(const Stmt &stmt) {
  switch (stmt.kind) {
  case Stmt::Kind::Block:
    for (InstrId instr : stmt.instrs) {
      if (kernel.engineOf(instr) == program->engine) {
        issue(instr);
        others();
      }
    }
    return;
  case Stmt::Kind::Loop:
    return loop(stmt.loop);
  case Stmt::Kind::If:
    return branch(stmt.loop);
  }
}

void CodeDrawer::addAtOnce(LoopId id) {
  Op begin = Op::loopBegin(id);
  begin.amount = atOnce;
  push(begin);
  for (uint32_t i = random.in({0, 2}); i > 0; --i) {
    RegId counter = reg();
    push(Op::alu2(AluOp::Add, counter, Operand::reg(counter), Operand::number(random.in({1, 5}))));
  }
  push(Op::mark(OpKind::LoopEnd));
}

void CodeDrawer::loop(LoopId id) {
  if (random.percent(5)) {
    return;
  }
  Op begin = Op::loopBegin(id, random.percent(40) ? reg() : RegId());
  bool counted = kernel.loops[id].trip.kind != Trip::Kind::Guard;
  if (counted && random.percent(5)) {
    return addAtOnce(id);
  }
  begin.amount = counted && random.percent(30) ? random.in({2, 5}) : 1;
  push(begin);
  body(id);
  push(Op::mark(OpKind::LoopEnd));
}

void CodeDrawer::branch(LoopId id) {
  LoopId otherwise = kernel.loops[id].otherBranch;
  push(Op::ifBegin(id));
  body(id);
  if (!kernel.loops[otherwise].body.empty() || random.percent(50)) {
    push(Op::mark(OpKind::Else));
    body(otherwise);
  }
  push(Op::mark(OpKind::IfEnd));
}

void CodeDrawer::issue(InstrId id) {
  Op op = Op::issue(id);
  if (random.percent(60)) {
    addWait(op);
  }
  if (random.percent(60)) {
    addSignal(op);
  }
  push(op);
}

void CodeDrawer::others() {
  for (uint32_t n = random.in(fuzz::Range{0, 4}); n != 0; --n) {
    other();
  }
}

void CodeDrawer::other() {
  Op op;
  switch (random.below(10)) {
  case 0:
    return push(Op::drain());
  case 1: {
    SemaId first = semaphore();
    uint32_t most = static_cast<uint32_t>(code.semaphores.size()) - first.value;
    return push(Op::reset(first, random.in(fuzz::Range{1, most})));
  }
  case 2:
    op.kind = OpKind::Signal;
    addSignal(op);
    return push(op);
  case 3:
  case 4:
    op.kind = OpKind::Wait;
    addWait(op);
    return push(op);
  case 5:
    return barrier();
  default:
    return alu();
  }
}

void CodeDrawer::alu() {
  AluOp op = static_cast<AluOp>(random.below(6));
  RegId dst = reg();
  Operand a = operand();
  push(op == AluOp::Move ? Op::move(dst, a) : Op::alu2(op, dst, a, operand()));
}

/// With this engine and all before it: a set that no other engine draws, since which of two equal
/// ones belong together only a reader decides.
void CodeDrawer::barrier() {
  std::vector<EngineId> participants;
  for (EngineId id : kernel.engines.ids()) {
    if (id <= program->engine) {
      participants.push_back(id);
    }
  }
  BarrierId id = code.barriers.push(std::move(participants));
  push(Op::mark(OpKind::BarrierBegin, id.value));
  others();
  push(Op::mark(OpKind::BarrierEnd, id.value));
}

Operand CodeDrawer::operand() {
  static constexpr uint32_t edges[] = {0,      1,      2,          3,          7,
                                       0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
  return random.percent(60) ? Operand::reg(reg()) : Operand::number(edges[pick(std::size(edges))]);
}

void CodeDrawer::addWait(Op &op) {
  op.wait = semaphore();
  op.a = operand();
  addReasons(op);
}

/// Of an instruction only those whose consumer it is.
void CodeDrawer::addReasons(Op &op) {
  op.firstReason = static_cast<uint32_t>(code.reasons.size());
  for (DepId dep : kernel.deps.ids()) {
    bool allowed = op.kind != OpKind::Issue || kernel.deps[dep].consumer == op.instr();
    if (allowed && random.percent(50)) {
      code.reasons.push_back(dep);
      ++op.numReasons;
    }
  }
}

void CodeDrawer::addSignal(Op &op) {
  op.signal = semaphore();
  op.amount = random.in(fuzz::Range{1, 3});
}

} // namespace

Code randomCode(const Kernel &kernel, uint64_t seed) {
  return CodeDrawer(kernel, seed).draw();
}

} // namespace tally::oracle
