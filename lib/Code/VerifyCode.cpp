//===- VerifyCode.cpp - Is this code well formed? -------------------------===//
//
// One pass over the operations of each engine with a stack of open brackets.
// The innermost loop or branch on it is the body that the code is in; what may
// stand there is what the kernel has there:
//
//   LoopBegin A     A's parent must be the open body
//   Issue x         x's home must be the open body, unless the code is unrolled
//
// Whether the waits are right is not asked here.
//
//===----------------------------------------------------------------------===//

#include "tally/Code/Code.h"

#include "tally/Model/Pins.h"
#include "tally/Support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tally {

namespace {

class EngineVerifier {
public:
  EngineVerifier(const Kernel &kernel, const Code &code, const EngineProgram &program,
                 IdVector<InstrId, uint32_t> &timesIssued, Diagnostics &diagnostics)
      : kernel(kernel), code(code), program(program), timesIssued(timesIssued),
        diagnostics(diagnostics) {}

  void run();

private:
  struct Open {
    OpKind kind;
    uint32_t target;
    LoopId outer; ///< body around it
  };

  /// The place of a statement of a body, and of an instruction in it, from 1.
  struct Place {
    uint32_t position = 0, instr = 0;
    NameId name;
    Location where;

    bool operator<(const Place &other) const {
      return std::pair(position, instr) < std::pair(other.position, other.instr);
    }
  };

  template <typename... Args>
  Diagnostic &error(Location where, fmt::format_string<Args...> format, Args &&...args) {
    return diagnostics.error(where, fmt::format("in the code of engine '{}': {}",
                                                kernel.nameOf(program.engine),
                                                fmt::format(format, std::forward<Args>(args)...)));
  }

  void operation(const Op &op);
  void issue(const Op &op);
  void inOrder(Place place);
  void keepPin(const Op &op);
  void waitAndSignal(const Op &op);
  void reset(const Op &op);
  void alu(const Op &op);
  void reasons(const Op &op);
  void useRegister(RegId reg);
  void useOperand(Operand operand);
  void useSemaphore(SemaId semaphore);

  void checkWritten(const Op &begin);
  void beginLoop(const Op &op);
  void beginIf(const Op &op);
  void beginBarrier(const Op &op);
  void beginWhen(const Op &op);
  void onlySometimes(const Op &op);
  bool beginBody(const Op &op, bool isBranch);
  void open(OpKind kind, uint32_t target);
  void elseBranch();
  void end(OpKind begin);
  void unclosed();
  void registerNames();

  /// Where the open body, or the kernel, is written.
  Location place() const { return kernel.loops[body].where; }

  std::string bodyName() const {
    return body == rootLoop ? "outside all loops" : fmt::format("in '{}'", kernel.nameOf(body));
  }

  bool isUnrolled() const { return code.strategy == Strategy::Unrolled; }

  const Kernel &kernel;
  const Code &code;
  const EngineProgram &program;
  IdVector<InstrId, uint32_t> &timesIssued; ///< on their own engines; one table for all
  Diagnostics &diagnostics;
  std::vector<Open> stack;
  LoopId body = rootLoop; ///< innermost open loop or branch
  const std::map<InstrId, uint32_t> pins = pinnedSemaphores(kernel);
  std::map<LoopId, Place> last; ///< by body: what stands there furthest down in the kernel
  uint32_t unknownBodies =
      0; ///< open brackets that are not the kernel's; inside, `body` says nothing
};

std::string_view nameOf(OpKind kind) {
  switch (kind) {
  case OpKind::LoopBegin:
    return "loop";
  case OpKind::IfBegin:
  case OpKind::Else:
    return "branch";
  case OpKind::WhenBegin:
    return "'when'";
  default:
    return "barrier";
  }
}

} // namespace

void EngineVerifier::run() {
  registerNames();
  for (const Op &op : program.ops) {
    operation(op);
  }
  unclosed();
}

void EngineVerifier::operation(const Op &op) {
  onlySometimes(op);
  switch (op.kind) {
  case OpKind::Issue:
    return issue(op);
  case OpKind::Wait:
  case OpKind::Signal:
    return waitAndSignal(op);
  case OpKind::Reset:
    return reset(op);
  case OpKind::Drain:
    return;
  case OpKind::Alu:
    return alu(op);
  case OpKind::LoopBegin:
    return beginLoop(op);
  case OpKind::IfBegin:
    return beginIf(op);
  case OpKind::Else:
    return elseBranch();
  case OpKind::BarrierBegin:
    return beginBarrier(op);
  case OpKind::LoopEnd:
    return end(OpKind::LoopBegin);
  case OpKind::IfEnd:
    return end(OpKind::IfBegin);
  case OpKind::BarrierEnd:
    return end(OpKind::BarrierBegin);
  case OpKind::WhenBegin:
    return beginWhen(op);
  case OpKind::WhenEnd:
    return end(OpKind::WhenBegin);
  }
}

//===----------------------------------------------------------------------===//
// Single operations
//===----------------------------------------------------------------------===//

void EngineVerifier::useRegister(RegId reg) {
  if (reg.value >= program.registers.size()) {
    error(place(), "register {} is used, but the engine has only {}", reg.value,
          program.registers.size());
  }
}

void EngineVerifier::useOperand(Operand operand) {
  if (operand.isRegister) {
    useRegister(operand.asRegister());
  }
}

void EngineVerifier::useSemaphore(SemaId semaphore) {
  if (semaphore.value >= code.semaphores.size()) {
    error(place(), "semaphore {} is used, but the program has only {}", semaphore.value,
          code.semaphores.size());
  }
}

void EngineVerifier::issue(const Op &op) {
  if (op.target >= kernel.instrs.size()) {
    error(place(), "instruction {} is issued, but the kernel has only {}", op.target,
          kernel.instrs.size());
    return;
  }
  const Instr &instr = kernel.instrs[op.instr()];
  EngineId engine = kernel.engineOf(op.instr());
  if (engine != program.engine) {
    error(instr.where, "'{}' is issued, but it is an instruction of engine '{}'",
          kernel.text(instr.name), kernel.nameOf(engine));
  }
  if (!isUnrolled() && unknownBodies == 0 && instr.home != body) {
    Diagnostic &wrong =
        error(instr.where, "'{}' is issued {}, but the kernel has it {}", kernel.text(instr.name),
              bodyName(),
              instr.home == rootLoop ? "outside all loops"
                                     : fmt::format("in '{}'", kernel.nameOf(instr.home)));
    if (place().known()) {
      wrong.note(place(), "the code is in this body");
    }
  }
  uint32_t times = engine == program.engine ? ++timesIssued[op.instr()] : 0;
  if (times == 2 && !isUnrolled()) {
    error(instr.where, "'{}' is issued more than once; only unrolled code repeats instructions",
          kernel.text(instr.name));
  } else if (times == 1 && instr.home == body) {
    inOrder({kernel.stmts[instr.block].position, op.target + 1, instr.name, instr.where});
  }
  keepPin(op);
  waitAndSignal(op);
}

/// What stands in the open body stands there in the order of the kernel, which is the one in which
/// its instructions are meant to be issued. Each loop, and each branch, is there once.
void EngineVerifier::inOrder(Place place) {
  if (isUnrolled() || unknownBodies > 0) {
    return;
  }
  Place &before = last[body];
  if (!before.name.valid() || before < place) {
    before = place;
    return;
  }
  if (!(place < before)) {
    error(place.where, "'{}' is run more than once", kernel.text(place.name));
    return;
  }
  error(place.where,
        "'{}' stands behind '{}', but the kernel has it before that; an engine follows the order "
        "of the kernel, so change one of the two",
        kernel.text(place.name), kernel.text(before.name))
      .note(before.where, fmt::format("'{}' is here", kernel.text(before.name)));
}

/// An instruction that the kernel pins to a semaphore raises no other one.
void EngineVerifier::keepPin(const Op &op) {
  auto pin = pins.find(op.instr());
  if (pin != pins.end() && op.signal.valid() && op.signal.value != pin->second) {
    error(kernel.instrs[op.instr()].where,
          "'{}' raises semaphore {}, but is pinned to semaphore {}", kernel.nameOf(op.instr()),
          op.signal.value, pin->second);
  }
}

/// Issue may have each; Wait and Signal must have theirs.
void EngineVerifier::waitAndSignal(const Op &op) {
  if (op.wait.valid() || op.kind == OpKind::Wait) {
    useSemaphore(op.wait);
    useOperand(op.a);
  }
  if (op.signal.valid() || op.kind == OpKind::Signal) {
    useSemaphore(op.signal);
    if (op.amount == 0) {
      error(place(), "a signal adds 0; it must add at least 1");
    }
  }
  reasons(op);
}

void EngineVerifier::reasons(const Op &op) {
  if (op.numReasons == 0) {
    return;
  }
  if (!op.wait.valid()) {
    error(place(), "an operation names the dependences behind its wait, but does not wait");
  }
  if (uint64_t(op.firstReason) + op.numReasons > code.reasons.size()) {
    error(place(), "reasons {} to {} are used, but the program has only {}", op.firstReason,
          uint64_t(op.firstReason) + op.numReasons - 1, code.reasons.size());
    return;
  }
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    DepId dep = code.reasons[op.firstReason + i];
    if (dep.value >= kernel.deps.size()) {
      error(place(), "dependence {} is named, but the kernel has only {}", dep.value,
            kernel.deps.size());
    } else if (op.kind == OpKind::Issue && kernel.deps[dep].consumer != op.instr()) {
      error(kernel.instrs[op.instr()].where, "'{}' waits for dependence {}, whose consumer is '{}'",
            kernel.nameOf(op.instr()), dep.value, kernel.nameOf(kernel.deps[dep].consumer))
          .note(kernel.deps[dep].where, "the dependence is here");
    }
  }
}

void EngineVerifier::reset(const Op &op) {
  if (op.amount == 0) {
    error(place(), "a reset of 0 semaphores; it must reset at least 1");
    return;
  }
  useSemaphore(op.signal);
  if (op.signal.value < code.semaphores.size() &&
      uint64_t(op.signal.value) + op.amount > code.semaphores.size()) {
    error(place(), "semaphores {} to {} are reset, but the program has only {}", op.signal.value,
          uint64_t(op.signal.value) + op.amount - 1, code.semaphores.size());
  }
}

void EngineVerifier::alu(const Op &op) {
  useRegister(op.dst);
  useOperand(op.a);
  if (op.alu != AluOp::Move) {
    useOperand(op.b);
  }
}

//===----------------------------------------------------------------------===//
// Brackets
//===----------------------------------------------------------------------===//

/// A loop or branch that the kernel does not have is opened with no target.
void EngineVerifier::open(OpKind kind, uint32_t target) {
  stack.push_back({kind, target, body});
  bool isBody = kind != OpKind::BarrierBegin && kind != OpKind::WhenBegin;
  unknownBodies += isBody && target == Id<void>::noneValue ? 1 : 0;
}

/// Whether the kernel has this loop (or branch) directly in the open body.
bool EngineVerifier::beginBody(const Op &op, bool isBranch) {
  std::string_view what = isBranch ? "branch" : "loop";
  LoopKind wanted = isBranch ? LoopKind::Then : LoopKind::Loop;
  if (op.target >= kernel.loops.size() || kernel.loops[op.loop()].kind != wanted) {
    error(place(), "a {} is opened that the kernel does not have as one: number {}", what,
          op.target);
    return false;
  }
  const Loop &loop = kernel.loops[op.loop()];
  if (unknownBodies == 0 && loop.parent != body) {
    error(loop.where, "{} '{}' is opened {}, but the kernel has it {}", what,
          kernel.text(loop.name), bodyName(),
          loop.parent == rootLoop ? "outside all loops"
                                  : fmt::format("directly in '{}'", kernel.nameOf(loop.parent)));
  } else {
    inOrder({kernel.stmts[loop.stmt].position, 0, loop.name, loop.where});
  }
  return true;
}

/// Whether a loop can be written as it is said to be.
void EngineVerifier::checkWritten(const Op &begin) {
  const Loop &loop = kernel.loops[begin.loop()];
  if (loop.trip.kind == Trip::Kind::Guard) {
    error(loop.where,
          "loop '{}' runs as long as a condition holds, and can neither be unrolled nor "
          "counted at once",
          kernel.text(loop.name));
  }
  if (begin.amount != atOnce) {
    return;
  }
  const Op *end = program.ops.data() + program.ops.size();
  for (const Op *op = &begin + 1; op != end && op->kind != OpKind::LoopEnd; ++op) {
    bool adds = op->kind == OpKind::Alu && op->alu == AluOp::Add && !op->b.isRegister &&
                op->a == Operand::reg(op->dst);
    if (!adds) {
      error(loop.where,
            "only additions of numbers to registers can be made at once, and loop '{}' "
            "does other things",
            kernel.text(loop.name));
      return;
    }
  }
}

void EngineVerifier::beginLoop(const Op &op) {
  bool known = beginBody(op, false);
  if (op.dst.valid()) {
    useRegister(op.dst);
  }
  if (known && op.amount != 1) {
    checkWritten(op);
  }
  open(OpKind::LoopBegin, known ? op.target : Id<void>::noneValue);
  body = known ? op.loop() : body;
}

void EngineVerifier::beginIf(const Op &op) {
  bool known = beginBody(op, true);
  open(OpKind::IfBegin, known ? op.target : Id<void>::noneValue);
  body = known ? op.loop() : body;
}

void EngineVerifier::elseBranch() {
  if (stack.empty() || stack.back().kind != OpKind::IfBegin) {
    error(place(), "'else' without the branch before it");
    return;
  }
  Open &branch = stack.back();
  branch.kind = OpKind::Else;
  if (branch.target != Id<void>::noneValue) {
    body = kernel.loops[LoopId(branch.target)].otherBranch;
    branch.target = body.value;
  }
}

void EngineVerifier::beginBarrier(const Op &op) {
  open(OpKind::BarrierBegin, op.target);
  if (op.target >= code.barriers.size()) {
    error(place(), "barrier {} is opened, but the program has only {}", op.target,
          code.barriers.size());
    return;
  }
  const std::vector<EngineId> &participants = code.barriers[op.barrier()];
  if (std::find(participants.begin(), participants.end(), program.engine) == participants.end()) {
    error(place(), "barrier {} is opened, in which this engine takes no part", op.target);
  }
}

/// What every run of the kernel needs may not depend on a register.
void EngineVerifier::onlySometimes(const Op &op) {
  bool inside = std::any_of(stack.begin(), stack.end(),
                            [](const Open &o) { return o.kind == OpKind::WhenBegin; });
  bool always = op.kind == OpKind::Issue || op.kind == OpKind::LoopBegin ||
                op.kind == OpKind::IfBegin || op.kind == OpKind::WhenBegin;
  if (inside && always) {
    error(place(), "{} stands in a 'when'; only operations on registers and semaphores may",
          op.kind == OpKind::Issue ? "an instruction" : fmt::format("a {}", nameOf(op.kind)));
  }
}

void EngineVerifier::beginWhen(const Op &op) {
  useOperand(op.a);
  open(OpKind::WhenBegin, 0);
}

void EngineVerifier::end(OpKind begin) {
  bool matches =
      !stack.empty() && (stack.back().kind == begin ||
                         (begin == OpKind::IfBegin && stack.back().kind == OpKind::Else));
  if (!matches) {
    error(place(), "a {} is closed, but {}", nameOf(begin),
          stack.empty()
              ? std::string("nothing is open")
              : fmt::format("the innermost that is open is a {}", nameOf(stack.back().kind)));
    return;
  }
  Open closed = stack.back();
  stack.pop_back();
  if (closed.kind == OpKind::BarrierBegin || closed.kind == OpKind::WhenBegin) {
    return;
  }
  unknownBodies -= closed.target == Id<void>::noneValue ? 1 : 0;
  body = closed.outer;
}

void EngineVerifier::unclosed() {
  for (const Open &bracket : stack) {
    error(place(), "a {} is not closed", nameOf(bracket.kind));
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Reports each name that a table holds more than once.
template <typename IdT, typename T, typename Report>
static void forEqualNames(const IdVector<IdT, T> &table, Report report) {
  std::vector<std::string_view> names;
  names.reserve(table.size());
  for (const T &item : table) {
    names.push_back(item.name);
  }
  std::sort(names.begin(), names.end());
  for (size_t i = 1; i < names.size(); ++i) {
    if (names[i] == names[i - 1] && (i < 2 || names[i] != names[i - 2])) {
      report(names[i]);
    }
  }
}

void EngineVerifier::registerNames() {
  forEqualNames(program.registers, [&](std::string_view name) {
    error(kernel.engines[program.engine].where, "several registers are named '{}'", name);
  });
}

static void verifyComplete(const Kernel &kernel, const IdVector<InstrId, uint32_t> &timesIssued,
                           Diagnostics &diagnostics) {
  for (InstrId i : kernel.instrs.ids()) {
    if (timesIssued[i] == 0) {
      diagnostics.error(kernel.instrs[i].where,
                        fmt::format("in the code of engine '{}': '{}' is never issued",
                                    kernel.nameOf(kernel.engineOf(i)), kernel.nameOf(i)));
    }
  }
}

static void verifyBarriers(const Kernel &kernel, const Code &code, Diagnostics &diagnostics) {
  for (BarrierId b : code.barriers.ids()) {
    for (EngineId e : code.barriers[b]) {
      if (e.value >= kernel.engines.size()) {
        diagnostics.error(kernel.where,
                          fmt::format("engine {} takes part in barrier {}, but the kernel has only "
                                      "{} engines",
                                      e.value, b.value, kernel.engines.size()));
      }
    }
  }
}

/// Those texts of code that its kernel does not have.
static void verifyTexts(const Kernel &kernel, const Code &code, Diagnostics &diagnostics) {
  auto refuse = [&](std::string_view kind, std::string_view text, Location where) {
    if (!isPrintable(text)) {
      diagnostics.error(where, unprintableName(kind, text));
    }
  };
  refuse("machine", code.machine, kernel.where);
  for (const Semaphore &semaphore : code.semaphores) {
    refuse("semaphore", semaphore.name, kernel.where);
  }
  for (const EngineProgram &program : code.engines) {
    for (const Register &reg : program.registers) {
      refuse("register", reg.name, kernel.where);
      refuse("role", reg.role.text, kernel.where);
    }
  }
}

void verifyCode(const Kernel &kernel, const Code &code, Diagnostics &diagnostics, bool complete) {
  verifyTexts(kernel, code, diagnostics);
  forEqualNames(code.semaphores, [&](std::string_view name) {
    diagnostics.error(kernel.where, fmt::format("several semaphores are named '{}'", name));
  });
  verifyBarriers(kernel, code, diagnostics);
  if (code.engines.size() != kernel.engines.size()) {
    diagnostics.error(kernel.where,
                      fmt::format("there is code for {} engines, but the kernel has {}",
                                  code.engines.size(), kernel.engines.size()));
    return;
  }
  IdVector<InstrId, uint32_t> timesIssued(kernel.instrs.size(), 0);
  for (EngineId e : code.engines.ids()) {
    if (code.engines[e].engine != e) {
      diagnostics.error(kernel.engines[e].where,
                        fmt::format("the code of engine '{}' is filed as that of engine {}",
                                    kernel.nameOf(e), code.engines[e].engine.value));
      continue;
    }
    EngineVerifier(kernel, code, code.engines[e], timesIssued, diagnostics).run();
  }
  if (complete) {
    verifyComplete(kernel, timesIssued, diagnostics);
  }
}

} // namespace tally
