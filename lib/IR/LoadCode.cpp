//===- LoadCode.cpp - From tally.code to Program --------------------------===//
//
// Bodies become begin and end in one flat list per engine. Semaphores and registers
// are numbered in the order of their declarations.
//
// A barrier of the core is one object that all its participants share, while the text has
// one operation in the program of each. They are matched by what they must have in
// common: the participants, the innermost loop or branch around, and the how-manieth
// they are there. So the first of engine A belongs to the first of engine B.
//
//===----------------------------------------------------------------------===//

#include "tally/IR/Load.h"

#include "NameTable.h"
#include "tally/Code/CodeStrategy.h"

#include "llvm/ADT/StringMap.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace tally::ir {
namespace {

class CodeLoader {
public:
  CodeLoader(CodeOp op, const Kernel &kernel, FileTable &files, Diagnostics &diagnostics)
      : op(op), kernel(kernel), files(files), diagnostics(diagnostics), engines(kernel.strings),
        loops(kernel.strings), instrs(kernel.strings) {}

  Code load();

private:
  void numberNames();
  void declare(SemaphoreOp semaphore);
  void engine(ProgramOp op);
  void declare(RegisterOp op);
  void body(mlir::Region &region);
  void step(mlir::Operation &op);
  void add(SetOp set);
  void add(ForOp loop);
  void add(BranchOp branch);
  void add(WaitOp wait);
  void add(IssueOp issue);
  void add(SignalOp signal);
  void add(ResetOp reset);
  void add(BarrierOp barrier);
  void add(WhenOp when);
  void addWait(Op &op, const WaitData &data);
  void addSignal(Op &op, const SignalData &data);
  std::vector<EngineId> participantsOf(const BarrierData &data);
  BarrierId barrierOf(std::vector<EngineId> participants);
  void inside(LoopId loop, mlir::Region &region);

  SemaId semaphoreNamed(const std::string &name);
  RegId registerNamed(const std::string &name);
  LoopId loopNamed(const std::string &name, LoopKind kind);
  Operand operand(const OperandData &data);
  uint32_t number(uint64_t value, std::string_view what);

  void push(Op op) { program->ops.push_back(op); }

  void error(std::string message) { diagnostics.error(where, std::move(message)); }

  template <typename Table>
  void unknown(std::string_view kind, std::string_view plural, std::string_view name,
               const Table &table);

  CodeOp op;
  const Kernel &kernel;
  FileTable &files;
  Diagnostics &diagnostics;
  Code code;
  NameTable<EngineId> engines;
  NameTable<LoopId> loops;
  NameTable<InstrId> instrs;
  llvm::StringMap<SemaId> semaphores;

  /// Participants, body, and number there.
  using BarrierKey = std::tuple<std::vector<EngineId>, LoopId, uint32_t>;
  std::map<BarrierKey, BarrierId> barriers;

  // Of the engine at hand.
  EngineProgram *program = nullptr;
  llvm::StringMap<RegId> registers;
  LoopId around = rootLoop; ///< innermost loop or branch
  std::map<std::pair<std::vector<EngineId>, LoopId>, uint32_t> barriersSeen;

  Location where; ///< of the operation at hand
  uint32_t effort = 16;
};

Code CodeLoader::load() {
  std::string strategy = op.getData().strategy.empty() ? "manual" : op.getData().strategy;
  code.strategy = strategyFrom(strategy).value_or(Strategy::Manual);
  if (std::string unknown = unknownCodeStrategy(strategy); !unknown.empty()) {
    where = files.where(op);
    error(unknown);
  }
  code.machine = op.getData().machine;
  numberNames();
  for (SemaphoreOp semaphore : op.getBody().getOps<SemaphoreOp>()) {
    declare(semaphore);
  }
  for (ProgramOp code : op.getBody().getOps<ProgramOp>()) {
    engine(code);
  }
  return std::move(code);
}

void CodeLoader::numberNames() {
  for (EngineId id : kernel.engines.ids()) {
    engines.add(kernel.engines[id].name, id);
    code.engines.push({id, {}, {}});
  }
  for (LoopId id : kernel.loops.ids()) {
    loops.add(kernel.loops[id].name, id);
  }
  for (InstrId id : kernel.instrs.ids()) {
    instrs.add(kernel.instrs[id].name, id);
  }
}

void CodeLoader::declare(SemaphoreOp semaphore) {
  const std::string &name = semaphore.getData().name;
  SemaId id(static_cast<uint32_t>(code.semaphores.size()));
  where = files.where(semaphore);
  if (!semaphores.try_emplace(name, id).second) {
    error(fmt::format("semaphore '{}' is declared twice; names of semaphores are unique", name));
    return;
  }
  code.semaphores.push({name});
}

void CodeLoader::engine(ProgramOp op) {
  const std::string &name = op.getData().engine;
  where = files.where(op);
  EngineId id = engines.find(name);
  if (!id.valid()) {
    unknown("engine", "engines of the kernel", name, kernel.engines);
    return;
  }
  program = &code.engines[id];
  if (!program->ops.empty() || !program->registers.empty()) {
    error(fmt::format("engine '{}' has two programs; one is allowed", name));
    return;
  }
  registers.clear();
  barriersSeen.clear();
  for (RegisterOp declared : op.getBody().getOps<RegisterOp>()) {
    declare(declared);
  }
  inside(rootLoop, op.getBody());
}

void CodeLoader::declare(RegisterOp op) {
  const RegisterData &data = op.getData();
  RegId id(static_cast<uint32_t>(program->registers.size()));
  where = files.where(op);
  if (!registers.try_emplace(data.name, id).second) {
    error(fmt::format("register '{}' is declared twice; names of registers are unique on an engine",
                      data.name));
    return;
  }
  program->registers.push({data.name, data.role});
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void CodeLoader::inside(LoopId loop, mlir::Region &region) {
  LoopId outer = around;
  around = loop;
  body(region);
  around = outer;
}

void CodeLoader::body(mlir::Region &region) {
  for (mlir::Operation &nested : region.getOps()) {
    where = files.where(&nested);
    step(nested);
  }
}

/// What may not stand here is skipped: the verifier reports it.
void CodeLoader::step(mlir::Operation &op) {
  if (auto issue = mlir::dyn_cast<IssueOp>(op)) {
    add(issue);
  } else if (auto set = mlir::dyn_cast<SetOp>(op)) {
    add(set);
  } else if (auto wait = mlir::dyn_cast<WaitOp>(op)) {
    add(wait);
  } else if (auto loop = mlir::dyn_cast<ForOp>(op)) {
    add(loop);
  } else if (auto branch = mlir::dyn_cast<BranchOp>(op)) {
    add(branch);
  } else if (auto signal = mlir::dyn_cast<SignalOp>(op)) {
    add(signal);
  } else if (auto reset = mlir::dyn_cast<ResetOp>(op)) {
    add(reset);
  } else if (mlir::isa<DrainOp>(op)) {
    push(Op::drain());
  } else if (auto barrier = mlir::dyn_cast<BarrierOp>(op)) {
    add(barrier);
  } else if (auto when = mlir::dyn_cast<WhenOp>(op)) {
    add(when);
  }
}

void CodeLoader::add(ForOp loop) {
  const ForData &data = loop.getData();
  LoopId id = loopNamed(data.loop, LoopKind::Loop);
  RegId counter = data.counter.empty() ? RegId() : registerNamed(data.counter);
  Op begin = Op::loopBegin(id, counter);
  begin.amount =
      data.unroll == atOnce ? atOnce : number(data.unroll, "the number of iterations in a pass");
  push(begin);
  inside(id, loop.getBody());
  push(Op::mark(OpKind::LoopEnd));
}

void CodeLoader::add(BranchOp branch) {
  LoopId id = loopNamed(branch.getData().name, LoopKind::Then);
  push(Op::ifBegin(id));
  inside(id, branch.getThenBody());
  if (!branch.getElseBody().empty()) {
    push(Op::mark(OpKind::Else));
    inside(id.valid() ? kernel.loops[id].otherBranch : id, branch.getElseBody());
  }
  push(Op::mark(OpKind::IfEnd));
}

void CodeLoader::add(BarrierOp barrier) {
  BarrierId id = barrierOf(participantsOf(barrier.getData()));
  push(Op::mark(OpKind::BarrierBegin, id.value));
  body(barrier.getBody());
  push(Op::mark(OpKind::BarrierEnd, id.value));
}

void CodeLoader::add(WhenOp when) {
  push(Op::whenBegin(operand(when.getData().condition)));
  body(when.getBody());
  push(Op::mark(OpKind::WhenEnd));
}

std::vector<EngineId> CodeLoader::participantsOf(const BarrierData &data) {
  std::vector<EngineId> participants;
  for (const std::string &name : data.participants) {
    EngineId id = engines.find(name);
    if (!id.valid()) {
      unknown("engine", "engines of the kernel", name, kernel.engines);
      continue;
    }
    participants.push_back(id);
  }
  std::sort(participants.begin(), participants.end());
  auto end = std::unique(participants.begin(), participants.end());
  participants.erase(end, participants.end());
  return participants;
}

BarrierId CodeLoader::barrierOf(std::vector<EngineId> participants) {
  uint32_t number = barriersSeen[{participants, around}]++;
  BarrierId next(static_cast<uint32_t>(code.barriers.size()));
  auto [entry, isNew] = barriers.try_emplace({participants, around, number}, next);
  if (isNew) {
    code.barriers.push(std::move(participants));
  }
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void CodeLoader::add(SetOp set) {
  const SetData &data = set.getData();
  RegId target = registerNamed(data.target);
  Operand a = operand(data.a);
  Operand b = data.op == AluOp::Move ? Operand() : operand(data.b);
  push(Op::alu2(data.op, target, a, b));
}

void CodeLoader::add(WaitOp wait) {
  Op op;
  op.kind = OpKind::Wait;
  addWait(op, wait.getData());
  push(op);
}

void CodeLoader::add(IssueOp issue) {
  const IssueData &data = issue.getData();
  InstrId instr = instrs.find(data.instr);
  if (!instr.valid()) {
    unknown("instruction", "instructions of the kernel", data.instr, kernel.instrs);
  }
  Op op = Op::issue(instr);
  if (data.wait) {
    addWait(op, *data.wait);
  }
  if (data.signal) {
    addSignal(op, *data.signal);
  }
  push(op);
}

void CodeLoader::add(SignalOp signal) {
  Op op;
  op.kind = OpKind::Signal;
  addSignal(op, signal.getData());
  push(op);
}

void CodeLoader::add(ResetOp reset) {
  const ResetData &data = reset.getData();
  push(Op::reset(semaphoreNamed(data.semaphore), number(data.count, "a count")));
}

void CodeLoader::addWait(Op &op, const WaitData &data) {
  op.wait = semaphoreNamed(data.semaphore);
  op.a = operand(data.threshold);
  if (data.reasons.size() > UINT16_MAX) {
    error(fmt::format("this wait names {} dependences; at most {} are allowed", data.reasons.size(),
                      UINT16_MAX));
    return;
  }
  op.firstReason = static_cast<uint32_t>(code.reasons.size());
  op.numReasons = static_cast<uint16_t>(data.reasons.size());
  for (uint64_t reason : data.reasons) {
    if (reason >= kernel.deps.size()) {
      error(fmt::format("unknown dependence {}; the kernel has {}, numbered from 0", reason,
                        kernel.deps.size()));
    }
    code.reasons.push_back(DepId(static_cast<uint32_t>(reason)));
  }
}

void CodeLoader::addSignal(Op &op, const SignalData &data) {
  op.signal = semaphoreNamed(data.semaphore);
  op.amount = number(data.amount, "an amount");
}

//===----------------------------------------------------------------------===//
// Names and numbers
//===----------------------------------------------------------------------===//

template <typename Table>
void CodeLoader::unknown(std::string_view kind, std::string_view plural, std::string_view name,
                         const Table &table) {
  error(unknownName(kind, plural, name, allowedNames(kernel, table, effort), effort));
}

SemaId CodeLoader::semaphoreNamed(const std::string &name) {
  auto found = semaphores.find(name);
  if (found != semaphores.end()) {
    return found->second;
  }
  std::vector<std::string_view> allowed;
  for (const Semaphore &semaphore : code.semaphores) {
    allowed.push_back(semaphore.name);
  }
  error(unknownName("semaphore", "semaphores declared here", name, allowed, effort));
  semaphores.try_emplace(name, SemaId()); // once is enough
  return {};
}

RegId CodeLoader::registerNamed(const std::string &name) {
  auto found = registers.find(name);
  if (found != registers.end()) {
    return found->second;
  }
  std::vector<std::string_view> allowed;
  for (const Register &known : program->registers) {
    allowed.push_back(known.name);
  }
  error(unknownName("register", "registers of this engine", name, allowed, effort));
  registers.try_emplace(name, RegId()); // once is enough
  return {};
}

LoopId CodeLoader::loopNamed(const std::string &name, LoopKind kind) {
  std::string_view what = kind == LoopKind::Loop ? "loop" : "condition";
  LoopId id = loops.find(name);
  if (!id.valid()) {
    unknown(what, "loops and branches of the kernel", name, kernel.loops);
    return {};
  }
  if (kernel.loops[id].kind == kind) {
    return id;
  }
  diagnostics
      .error(where, kind == LoopKind::Loop
                        ? fmt::format("'{}' is a branch; run it with 'tally.branch'", name)
                        : fmt::format("'{}' is no condition of an if; 'tally.branch' runs an if, "
                                      "'tally.for' a loop",
                                      name))
      .note(kernel.loops[id].where, fmt::format("'{}' is here", name));
  return {};
}

Operand CodeLoader::operand(const OperandData &data) {
  if (data.isRegister) {
    return Operand::reg(registerNamed(data.name));
  }
  if (data.number > UINT32_MAX) {
    error(fmt::format("number {} does not fit in a register; at most {} is allowed", data.number,
                      UINT32_MAX));
    return Operand::number(0);
  }
  return Operand::number(static_cast<uint32_t>(data.number));
}

uint32_t CodeLoader::number(uint64_t value, std::string_view what) {
  if (value >= 1 && value <= maxCount) {
    return static_cast<uint32_t>(value);
  }
  error(fmt::format("{} is {}; it lies between 1 and {}", what, value, maxCount));
  return 1;
}

} // namespace

Code loadCode(CodeOp op, const Kernel &kernel, FileTable &files, Diagnostics &diagnostics) {
  return CodeLoader(op, kernel, files, diagnostics).load();
}

} // namespace tally::ir
