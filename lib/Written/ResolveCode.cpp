//===- ResolveCode.cpp - Names of code become ids -------------------------===//
//
// Bodies become begin and end in one flat list per engine. Semaphores and registers are numbered in
// the order of their declarations. Where a form has numbers alone, they are taken as they
// are: verifyCode() says which are out of range.
//
//===----------------------------------------------------------------------===//

#include "tally/Written/Resolve.h"

#include <fmt/format.h>

namespace tally::written {

template <typename Table, typename IdT>
static void addNames(const Table &table, NameTable<IdT> &names) {
  for (IdT id : table.ids()) {
    names.add(table[id].name, id);
  }
}

CodeResolver::CodeResolver(const Kernel &kernel, Errors &errors)
    : Resolver(errors), kernel(kernel), engines(kernel.strings), loops(kernel.strings),
      instrs(kernel.strings) {
  addNames(kernel.engines, engines);
  addNames(kernel.loops, loops);
  addNames(kernel.instrs, instrs);
  for (EngineId id : kernel.engines.ids()) {
    code.engines.push({id, {}, {}});
  }
}

void CodeResolver::begin(const CodeData &data, Location place) {
  where = place;
  code.strategy = fromWord<Strategy>(data.strategy).value_or(Strategy::Manual);
  if (!data.strategy.empty() && !fromWord<Strategy>(data.strategy)) {
    std::vector<std::string> names = allWords<Strategy>();
    errors.error(at("strategy"), unknownName("strategy", "strategies", data.strategy,
                                             {names.begin(), names.end()}));
  }
  code.machine = data.machine;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

template <typename IdT, typename T>
void CodeResolver::declare(IdsByName<IdT> &ids, IdVector<IdT, T> &table, T item,
                           std::string_view kind, std::string_view within) {
  if (ids.try_emplace(item.name, IdT(static_cast<uint32_t>(table.size()))).second) {
    table.push(std::move(item));
    return;
  }
  errors.error(at("name"), fmt::format("{0} '{1}' is declared twice; names of {0}s are unique{2}",
                                       kind, item.name, within));
}

void CodeResolver::add(const SemaphoreData &data, Location place) {
  where = place;
  declare(semaphores, code.semaphores, {data.name}, "semaphore", "");
}

void CodeResolver::add(const BarrierData &data, Location place) {
  where = place;
  code.barriers.push(participantsOf(data));
}

bool CodeResolver::open(const ProgramData &data, Location place) {
  where = place;
  EngineId id = engines.find(data.engine);
  if (!id.valid()) {
    unknown(kernel, "engine", "engines of the kernel", data.engine, kernel.engines, at("engine"));
    return false;
  }
  program = &code.engines[id];
  if (!program->ops.empty() || !program->registers.empty()) {
    errors.error(at("engine"),
                 fmt::format("engine '{}' has two programs; one is allowed", data.engine));
    return false;
  }
  registers.clear();
  barriersSeen.clear();
  opened.clear();
  around = rootLoop;
  return true;
}

void CodeResolver::add(const RegisterData &data, Location place) {
  where = place;
  declare(registers, program->registers, {data.name, data.role}, "register", " on an engine");
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

void CodeResolver::open(const Op &begin, OpKind end, LoopId inside) {
  bool isBarrier = end == OpKind::BarrierEnd;
  opened.push_back({Op::mark(end, isBarrier ? begin.target : Id<void>::noneValue), around});
  around = inside;
  push(begin);
}

void CodeResolver::open(const ForData &data, Location place) {
  where = place;
  LoopId id = loopNamed(data.loop, LoopKind::Loop, "loop");
  Op begin = Op::loopBegin(id, data.counter.isGiven() ? reg(data.counter, "counter") : RegId());
  begin.amount = data.unroll == atOnce
                     ? atOnce
                     : number(data.unroll, "the number of iterations in a pass", "unroll");
  open(begin, OpKind::LoopEnd, id);
}

void CodeResolver::open(const BranchData &data, Location place) {
  where = place;
  LoopId id = loopNamed(data.name, LoopKind::Then, "if");
  open(Op::ifBegin(id), OpKind::IfEnd, id);
}

void CodeResolver::otherwise() {
  push(Op::mark(OpKind::Else));
  around = around.valid() ? kernel.loops[around].otherBranch : around;
}

void CodeResolver::open(const BarrierData &data, Location place) {
  where = place;
  bool isListed = data.number && data.participants.empty();
  uint32_t id = isListed ? *data.number : barrierOf(participantsOf(data)).value;
  open(Op::mark(OpKind::BarrierBegin, id), OpKind::BarrierEnd, around);
}

void CodeResolver::open(const WhenData &data, Location place) {
  where = place;
  open(Op::whenBegin(operand(data.condition, "condition")), OpKind::WhenEnd, around);
}

void CodeResolver::close() {
  push(opened.back().end);
  around = opened.back().around;
  opened.pop_back();
}

std::vector<EngineId> CodeResolver::participantsOf(const BarrierData &data) {
  std::vector<EngineId> participants;
  for (size_t i = 0; i < data.participants.size(); ++i) {
    EngineId id = engines.find(data.participants[i]);
    if (!id.valid()) {
      unknown(kernel, "engine", "engines of the kernel", data.participants[i], kernel.engines,
              at("participants", i));
      continue;
    }
    participants.push_back(id);
  }
  return participants;
}

BarrierId CodeResolver::barrierOf(std::vector<EngineId> participants) {
  std::ranges::sort(participants);
  auto [end, last] = std::ranges::unique(participants);
  participants.erase(end, last);
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

void CodeResolver::add(const IssueData &data, Location place) {
  where = place;
  InstrId instr = instrs.find(data.instr);
  if (!instr.valid()) {
    unknown(kernel, "instruction", "instructions of the kernel", data.instr, kernel.instrs,
            at("instr"));
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

void CodeResolver::add(const WaitData &data, Location place) {
  where = place;
  Op op = Op::mark(OpKind::Wait);
  addWait(op, data);
  push(op);
}

void CodeResolver::add(const SignalData &data, Location place) {
  where = place;
  Op op = Op::mark(OpKind::Signal);
  addSignal(op, data);
  push(op);
}

void CodeResolver::add(const ResetData &data, Location place) {
  where = place;
  push(Op::reset(semaphore(data.semaphore), number(data.count, "a count", "count")));
}

void CodeResolver::add(const DrainData &, Location) {
  push(Op::drain());
}

void CodeResolver::add(const SetData &data, Location place) {
  where = place;
  RegId target = reg(data.target, "dst");
  Operand a = operand(data.a, "a");
  bool isMove = data.op == AluOp::Move;
  if (isMove == data.b.has_value()) {
    errors.error(at({}), isMove ? "'move' has no operand 'b'" : "the operand 'b' is missing");
  }
  push(Op::alu2(data.op, target, a, data.b ? operand(*data.b, "b") : Operand()));
}

void CodeResolver::addWait(Op &op, const WaitData &data) {
  op.wait = semaphore(data.semaphore);
  op.a = operand(data.threshold, "wait.threshold");
  op.once = data.once;
  if (data.reasons.size() > UINT16_MAX) {
    errors.error(at("wait.dependences"),
                 fmt::format("this wait names {} dependences; at most {} are allowed",
                             data.reasons.size(), UINT16_MAX));
    return;
  }
  op.firstReason = static_cast<uint32_t>(code.reasons.size());
  op.numReasons = static_cast<uint32_t>(data.reasons.size());
  for (size_t i = 0; i < data.reasons.size(); ++i) {
    if (data.reasons[i] >= kernel.deps.size()) {
      errors.error(at("wait.dependences", i),
                   fmt::format("unknown dependence {}; the kernel has {}, numbered from 0",
                               data.reasons[i], kernel.deps.size()));
    }
    code.reasons.push_back(DepId(static_cast<uint32_t>(data.reasons[i])));
  }
}

void CodeResolver::addSignal(Op &op, const SignalData &data) {
  op.signal = semaphore(data.semaphore);
  op.amount = number(data.amount, "an amount", "signal.amount");
}

//===----------------------------------------------------------------------===//
// Names and numbers
//===----------------------------------------------------------------------===//

/// The id that a table has for a name; an unknown one is reported once.
template <typename IdT, typename T>
IdT CodeResolver::lookUp(const Ref &ref, IdsByName<IdT> &ids, const IdVector<IdT, T> &table,
                         std::string_view kind, std::string_view plural, std::string_view key) {
  if (ref.number && ref.name.empty()) {
    return IdT(*ref.number);
  }
  auto [entry, isUnknown] = ids.try_emplace(ref.name);
  if (isUnknown) {
    std::vector<std::string_view> allowed;
    for (const T &each : table) {
      allowed.push_back(each.name);
    }
    errors.error(at(key), unknownName(kind, plural, ref.name, allowed, effort));
  }
  return entry->second;
}

SemaId CodeResolver::semaphore(const Ref &ref) {
  return lookUp(ref, semaphores, code.semaphores, "semaphore", "semaphores declared here",
                "semaphore");
}

RegId CodeResolver::reg(const Ref &ref, std::string_view key) {
  return lookUp(ref, registers, program->registers, "register", "registers of this engine", key);
}

LoopId CodeResolver::loopNamed(const std::string &name, LoopKind kind, std::string_view key) {
  LoopId id = loops.find(name);
  if (!id.valid()) {
    unknown(kernel, kind == LoopKind::Loop ? "loop" : "condition",
            "loops and branches of the kernel", name, kernel.loops, at(key));
    return {};
  }
  if (kernel.loops[id].kind == kind) {
    return id;
  }
  errors.error(at(key),
               kind == LoopKind::Loop
                   ? fmt::format("'{}' is a branch; run it with 'tally.branch'", name)
                   : fmt::format("'{}' is not a condition of an if; 'tally.branch' runs an if, "
                                 "'tally.for' a loop",
                                 name),
               {{kernel.loops[id].where, fmt::format("'{}' is here", name)}});
  return {};
}

Operand CodeResolver::operand(const OperandData &data, std::string_view key) {
  if (data.reg.isGiven()) {
    return Operand::reg(reg(data.reg, key));
  }
  if (data.number > UINT32_MAX) {
    errors.error(at(key), fmt::format("number {} does not fit in a register; at most {} is allowed",
                                      data.number, UINT32_MAX));
    return Operand::number(0);
  }
  return Operand::number(static_cast<uint32_t>(data.number));
}

uint32_t CodeResolver::number(uint64_t value, std::string_view what, std::string_view key) {
  if (value >= 1 && value <= maxCount) {
    return static_cast<uint32_t>(value);
  }
  errors.error(at(key), fmt::format("{} is {}; it lies between 1 and {}", what, value, maxCount));
  return 1;
}

} // namespace tally::written
