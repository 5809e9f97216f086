//===- VerifyCode.cpp - Is this code well formed? -------------------------===//
//
// One pass over the operations of each engine, in which six parts take a look, each with its own
// state:
//
//   References   registers, semaphores, dependences: is there what an operation names?
//   Brackets     a stack of open ones; the innermost loop or branch on it is the body that the code
//                is in
//   BodyOrder    in each body, what stands there stands in the order of the kernel
//   Issues       each instruction once, on its engine, in its body
//   Loads        has the engine loaded what says how often a loop or branch runs?
//   Passes       waits that only the first body of a pass tests: would the others pass?
//
// What may stand in a body is what the kernel has there:
//
//   LoopBegin A     A's parent must be the open body
//   Issue x         x's home must be the open body, unless the code is unrolled
//
// Whether the waits are right is not asked here.
//
//===----------------------------------------------------------------------===//

#include "tally/Code/Code.h"

#include "../Support/Report.h"

#include "tally/Model/Loads.h"
#include "tally/Model/NeverRuns.h"
#include "tally/Model/Pins.h"
#include "tally/Support/Printable.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tally {

namespace {

/// What all parts look at, and tell.
struct EngineContext {
  const Kernel &kernel;
  const Code &code;
  const EngineProgram &program;
  Diagnostics &diagnostics;

  template <typename... Args>
  Diagnostic &error(Location where, fmt::format_string<Args...> format, Args &&...args) const {
    return report(diagnostics, where, "in the code of engine '{}': {}",
                  kernel.nameOf(program.engine), fmt::format(format, std::forward<Args>(args)...));
  }

  /// Whether a table has an entry of this number; if not, says who has only so many.
  bool has(size_t size, uint64_t number, Location place, std::string_view what,
           std::string_view who) const {
    if (number >= size) {
      error(place, "{}, but the {} has only {}", fmt::format(fmt::runtime(what), number), who,
            size);
    }
    return number < size;
  }

  bool isUnrolled() const { return code.strategy == Strategy::Unrolled; }
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

//===----------------------------------------------------------------------===//
// References
//===----------------------------------------------------------------------===//

/// Registers, semaphores and dependences that operations name; `place` is the body they stand in.
class References {
public:
  explicit References(const EngineContext &context) : context(context) {}

  void useRegister(RegId reg, Location place) const {
    context.has(context.program.registers.size(), reg.value, place, "register {} is used",
                "engine");
  }

  void useOperand(Operand operand, Location place) const {
    if (operand.isRegister) {
      useRegister(operand.asRegister(), place);
    }
  }

  /// Issue may have each; Wait and Signal must have theirs.
  void waitAndSignal(const Op &op, Location place) const {
    if (op.wait.valid() || op.kind == OpKind::Wait) {
      useSemaphore(op.wait, place);
      useOperand(op.a, place);
    }
    if (op.signal.valid() || op.kind == OpKind::Signal) {
      useSemaphore(op.signal, place);
      if (op.amount == 0) {
        context.error(place, "a signal adds 0; it must add at least 1");
      }
    }
    reasons(op, place);
  }

  void reset(const Op &op, Location place) const {
    if (op.amount == 0) {
      context.error(place, "a reset of 0 semaphores; it must reset at least 1");
      return;
    }
    uint64_t last = uint64_t(op.signal.value) + op.amount - 1;
    if (useSemaphore(op.signal, place) && last >= context.code.semaphores.size()) {
      context.error(place, "semaphores {} to {} are reset, but the program has only {}",
                    op.signal.value, last, context.code.semaphores.size());
    }
  }

  void alu(const Op &op, Location place) const {
    useRegister(op.dst, place);
    useOperand(op.a, place);
    if (op.alu != AluOp::Move) {
      useOperand(op.b, place);
    }
  }

private:
  bool useSemaphore(SemaId semaphore, Location place) const {
    return context.has(context.code.semaphores.size(), semaphore.value, place,
                       "semaphore {} is used", "program");
  }

  void reasons(const Op &op, Location place) const {
    const Kernel &kernel = context.kernel;
    const Code &code = context.code;
    if (op.numReasons == 0) {
      return;
    }
    if (!op.wait.valid()) {
      context.error(place, "an operation names the dependences behind its wait, but does not wait");
    }
    if (uint64_t(op.firstReason) + op.numReasons > code.reasons.size()) {
      context.error(place, "reasons {} to {} are used, but the program has only {}", op.firstReason,
                    uint64_t(op.firstReason) + op.numReasons - 1, code.reasons.size());
      return;
    }
    for (uint32_t i = 0; i < op.numReasons; ++i) {
      DepId dep = code.reasons[op.firstReason + i];
      bool isKnown =
          context.has(kernel.deps.size(), dep.value, place, "dependence {} is named", "kernel");
      if (isKnown && op.kind == OpKind::Issue && kernel.deps[dep].consumer != op.instr()) {
        context
            .error(kernel.instrs[op.instr()].where,
                   "'{}' waits for dependence {}, whose consumer is '{}'",
                   kernel.nameOf(op.instr()), dep.value, kernel.nameOf(kernel.deps[dep].consumer))
            .note(kernel.deps[dep].where, "the dependence is here");
      }
    }
  }

  const EngineContext &context;
};

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// What stands in a body stands there in the order of the kernel, which is the one in which its
/// instructions are meant to be issued. Each loop, and each branch, is there once.
class BodyOrder {
public:
  explicit BodyOrder(const EngineContext &context) : context(context) {}

  /// The place of a statement of a body, and of an instruction in it, from 1.
  struct Place {
    uint32_t position = 0, instr = 0;
    NameId name;
    Location where;

    bool operator<(const Place &other) const {
      return std::pair(position, instr) < std::pair(other.position, other.instr);
    }
  };

  /// Something stands in a body.
  void add(LoopId body, Place place) {
    const Kernel &kernel = context.kernel;
    if (context.isUnrolled()) {
      return;
    }
    Place &before = last[body];
    if (!before.name.valid() || before < place) {
      before = place;
      return;
    }
    if (!(place < before)) {
      context.error(place.where, "'{}' is run more than once", kernel.text(place.name));
      return;
    }
    context
        .error(place.where,
               "'{}' comes after '{}', but the kernel has it before that; an engine follows the "
               "order of the kernel, so change one of the two",
               kernel.text(place.name), kernel.text(before.name))
        .note(before.where, fmt::format("'{}' is here", kernel.text(before.name)));
  }

private:
  const EngineContext &context;
  std::map<LoopId, Place> last; ///< by body: what stands there furthest down in the kernel
};

//===----------------------------------------------------------------------===//
// Brackets
//===----------------------------------------------------------------------===//

/// The loops, branches, barriers and conditions that are open.
class Brackets {
public:
  explicit Brackets(const EngineContext &context) : context(context), kernel(context.kernel) {}

  /// The innermost open loop or branch.
  LoopId body() const { return innermost; }

  /// Whether it is one of the kernel's; else it says nothing about what may stand in it.
  bool isKnown() const { return unknownBodies == 0; }

  /// Where it, or the kernel, is written.
  Location place() const { return kernel.loops[innermost].where; }

  std::string bodyName() const {
    return innermost == rootLoop ? "outside all loops"
                                 : fmt::format("in '{}'", kernel.nameOf(innermost));
  }

  /// What every run of the kernel needs may not depend on a register.
  void onlySometimes(const Op &op) const {
    bool inside = std::any_of(stack.begin(), stack.end(),
                              [](const Open &o) { return o.kind == OpKind::WhenBegin; });
    bool always = op.kind == OpKind::Issue || op.kind == OpKind::LoopBegin ||
                  op.kind == OpKind::IfBegin || op.kind == OpKind::WhenBegin;
    if (inside && always) {
      context.error(
          place(), "{} stands in a 'when'; only operations on registers and semaphores may",
          op.kind == OpKind::Issue ? "an instruction" : fmt::format("a {}", nameOf(op.kind)));
    }
  }

  /// Whether the kernel has such a loop (or branch); that it stands elsewhere is told.
  bool isOfKernel(const Op &op, bool isBranch) const {
    std::string_view what = isBranch ? "branch" : "loop";
    LoopKind wanted = isBranch ? LoopKind::Then : LoopKind::Loop;
    if (op.target >= kernel.loops.size() || kernel.loops[op.loop()].kind != wanted) {
      context.error(place(), "a {} is opened that the kernel does not have as one: number {}", what,
                    op.target);
      return false;
    }
    const Loop &loop = kernel.loops[op.loop()];
    if (isKnown() && loop.parent != innermost) {
      context.error(loop.where, "{} '{}' is opened {}, but the kernel has it {}", what,
                    kernel.text(loop.name), bodyName(),
                    loop.parent == rootLoop
                        ? "outside all loops"
                        : fmt::format("directly in '{}'", kernel.nameOf(loop.parent)));
    }
    return true;
  }

  /// A loop or branch that the kernel does not have is opened with no target.
  void open(OpKind kind, uint32_t target) {
    stack.push_back({kind, target, innermost});
    bool isBody = kind != OpKind::BarrierBegin && kind != OpKind::WhenBegin;
    if (isBody && target == Id<void>::noneValue) {
      ++unknownBodies;
    } else if (isBody) {
      innermost = LoopId(target);
    }
  }

  void elseBranch() {
    if (stack.empty() || stack.back().kind != OpKind::IfBegin) {
      context.error(place(), "'else' without the branch before it");
      return;
    }
    Open &branch = stack.back();
    branch.kind = OpKind::Else;
    if (branch.target != Id<void>::noneValue) {
      innermost = kernel.loops[LoopId(branch.target)].otherBranch;
      branch.target = innermost.value;
    }
  }

  void end(OpKind begin) {
    bool matches =
        !stack.empty() && (stack.back().kind == begin ||
                           (begin == OpKind::IfBegin && stack.back().kind == OpKind::Else));
    if (!matches) {
      context.error(place(), "a {} is closed, but {}", nameOf(begin),
                    stack.empty() ? std::string("nothing is open")
                                  : fmt::format("the innermost that is open is a {}",
                                                nameOf(stack.back().kind)));
      return;
    }
    Open closed = stack.back();
    stack.pop_back();
    if (closed.kind == OpKind::BarrierBegin || closed.kind == OpKind::WhenBegin) {
      return;
    }
    unknownBodies -= closed.target == Id<void>::noneValue ? 1 : 0;
    innermost = closed.outer;
  }

  void unclosed() const {
    for (const Open &bracket : stack) {
      context.error(place(), "a {} is not closed", nameOf(bracket.kind));
    }
  }

private:
  struct Open {
    OpKind kind;
    uint32_t target;
    LoopId outer; ///< body around it
  };

  const EngineContext &context;
  const Kernel &kernel;
  std::vector<Open> stack;
  LoopId innermost = rootLoop;
  uint32_t unknownBodies = 0; ///< open brackets that are not the kernel's
};

//===----------------------------------------------------------------------===//
// Issues
//===----------------------------------------------------------------------===//

/// Which instructions have been issued.
class Issues {
public:
  Issues(const EngineContext &context, IdVector<InstrId, uint32_t> &timesIssued)
      : context(context), kernel(context.kernel), timesIssued(timesIssued) {}

  /// An instruction in the open body.
  void add(const Op &op, const Brackets &brackets, BodyOrder &order) {
    const Instr &instr = kernel.instrs[op.instr()];
    EngineId engine = kernel.engineOf(op.instr());
    if (engine != context.program.engine) {
      context.error(instr.where, "'{}' is issued, but it is an instruction of engine '{}'",
                    kernel.text(instr.name), kernel.nameOf(engine));
    }
    bool isAtHome = instr.home == brackets.body();
    if (!context.isUnrolled() && brackets.isKnown() && !isAtHome) {
      notAtHome(instr, brackets);
    }
    uint32_t times = engine == context.program.engine ? ++timesIssued[op.instr()] : 0;
    if (times == 2 && !context.isUnrolled()) {
      context.error(instr.where,
                    "'{}' is issued more than once; only unrolled code repeats instructions",
                    kernel.text(instr.name));
    } else if (times == 1 && isAtHome && brackets.isKnown()) {
      order.add(brackets.body(),
                {kernel.stmts[instr.block].position, op.target + 1, instr.name, instr.where});
    }
    keepPin(op);
  }

private:
  void notAtHome(const Instr &instr, const Brackets &brackets) const {
    Diagnostic &wrong =
        context.error(instr.where, "'{}' is issued {}, but the kernel has it {}",
                      kernel.text(instr.name), brackets.bodyName(),
                      instr.home == rootLoop ? "outside all loops"
                                             : fmt::format("in '{}'", kernel.nameOf(instr.home)));
    if (brackets.place().known()) {
      wrong.note(brackets.place(), "the code is in this body");
    }
  }

  /// An instruction that the kernel pins to a semaphore raises no other one.
  void keepPin(const Op &op) const {
    auto pin = pins.find(op.instr());
    if (pin != pins.end() && op.signal.valid() && op.signal.value != pin->second) {
      context.error(kernel.instrs[op.instr()].where,
                    "'{}' raises semaphore {}, but is pinned to semaphore {}",
                    kernel.nameOf(op.instr()), op.signal.value, pin->second);
    }
  }

  const EngineContext &context;
  const Kernel &kernel;
  IdVector<InstrId, uint32_t> &timesIssued; ///< on their own engines; one table for all
  const std::map<InstrId, uint32_t> pins = pinnedSemaphores(kernel);
};

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Waits that are tested once in each pass of an unrolled loop. In the other bodies they pass,
/// since a semaphore that is not reset only grows, and as long as the threshold stays as it is.
class Passes {
public:
  Passes(const EngineContext &context, const IdVector<SemaId, bool> &isReset)
      : context(context), isReset(isReset), writtenAt(context.program.registers.size(), 0) {}

  /// The operation number `at`, from 1; those before it have been looked at.
  void look(uint32_t at, const Op &op, Location place) {
    if (op.dst.valid() && op.dst.value < writtenAt.size()) {
      writtenAt[op.dst] = at;
    }
    if (op.once) {
      waits.push_back({&op, place});
      checkPlace(op, place);
    }
    if (opensBracket(op.kind)) {
      open.push_back({&op, at, waits.size()});
    } else if (closesBracket(op.kind)) {
      close();
    }
  }

private:
  struct Open {
    const Op *begin;
    uint32_t at;
    size_t firstWait;
  };

  struct OnceWait {
    const Op *op;
    Location place;
  };

  void checkPlace(const Op &op, Location place) const {
    bool isInPass = !open.empty() && open.back().begin->kind == OpKind::LoopBegin &&
                    open.back().begin->amount > 1;
    if (!op.wait.valid() || !isInPass) {
      context.error(place, "'once' stands at {}; it is for waits directly in an unrolled loop",
                    op.wait.valid() ? "a wait that no unrolled loop directly holds"
                                    : "what does not wait");
    } else if (op.wait.value < isReset.size() && isReset[op.wait]) {
      context.error(place,
                    "a wait for '{}' is tested once in a pass, but the code resets it: what has "
                    "passed need not hold any more",
                    context.code.semaphores[op.wait].name);
    }
  }

  /// Now it is known what the innermost body that is open writes.
  void close() {
    if (open.empty()) {
      return; // reported as a bracket
    }
    for (size_t i = open.back().firstWait; i < waits.size(); ++i) {
      const Operand threshold = waits[i].op->a;
      bool isKnown = threshold.isRegister && threshold.value < writtenAt.size();
      if (isKnown && writtenAt[threshold.asRegister()] >= open.back().at) {
        context.error(waits[i].place,
                      "a wait is tested once in a pass, but its threshold, register '{}', changes "
                      "in the loop",
                      context.program.registers[threshold.asRegister()].name);
      }
    }
    waits.resize(open.back().firstWait);
    open.pop_back();
  }

  const EngineContext &context;
  const IdVector<SemaId, bool> &isReset;
  IdVector<RegId, uint32_t> writtenAt; ///< by which operation last, from 1; 0: by none
  std::vector<Open> open;
  std::vector<OnceWait> waits; ///< of bodies that are open
};

//===----------------------------------------------------------------------===//
// All operations of an engine
//===----------------------------------------------------------------------===//

class EngineVerifier {
public:
  EngineVerifier(const EngineContext &context, IdVector<InstrId, uint32_t> &timesIssued,
                 const IdVector<SemaId, bool> &isReset)
      : context(context), references(context), brackets(context), order(context),
        issues(context, timesIssued), passes(context, isReset) {}

  void run() {
    uint32_t at = 0;
    for (const Op &op : context.program.ops) {
      passes.look(++at, op, brackets.place());
      operation(op);
    }
    brackets.unclosed();
  }

private:
  void operation(const Op &op);
  void issue(const Op &op);
  void beginBody(const Op &op);
  void checkLoaded(const Loop &loop, LoopId id);
  void checkWritten(const Op &begin);
  void beginBarrier(const Op &op);

  const EngineContext &context;
  References references;
  Brackets brackets;
  BodyOrder order;
  Issues issues;
  Passes passes;
  std::set<NameId> loaded; ///< values, so far
};

} // namespace

void EngineVerifier::operation(const Op &op) {
  brackets.onlySometimes(op);
  switch (op.kind) {
  case OpKind::Issue:
    return issue(op);
  case OpKind::Wait:
  case OpKind::Signal:
    return references.waitAndSignal(op, brackets.place());
  case OpKind::Reset:
    return references.reset(op, brackets.place());
  case OpKind::Drain:
    return;
  case OpKind::Alu:
    return references.alu(op, brackets.place());
  case OpKind::LoopBegin:
  case OpKind::IfBegin:
    return beginBody(op);
  case OpKind::Else:
    return brackets.elseBranch();
  case OpKind::BarrierBegin:
    return beginBarrier(op);
  case OpKind::LoopEnd:
    return brackets.end(OpKind::LoopBegin);
  case OpKind::IfEnd:
    return brackets.end(OpKind::IfBegin);
  case OpKind::BarrierEnd:
    return brackets.end(OpKind::BarrierBegin);
  case OpKind::WhenBegin:
    references.useOperand(op.a, brackets.place());
    return brackets.open(OpKind::WhenBegin, 0);
  case OpKind::WhenEnd:
    return brackets.end(OpKind::WhenBegin);
  }
}

void EngineVerifier::issue(const Op &op) {
  if (context.has(context.kernel.instrs.size(), op.target, brackets.place(),
                  "instruction {} is issued", "kernel")) {
    issues.add(op, brackets, order);
    references.waitAndSignal(op, brackets.place());
    for (const LoadedValue &value : context.kernel.loadsOf(op.instr())) {
      loaded.insert(value.value);
    }
  }
}

void EngineVerifier::beginBody(const Op &op) {
  const Kernel &kernel = context.kernel;
  bool isKnown = brackets.isOfKernel(op, op.kind == OpKind::IfBegin);
  if (isKnown && brackets.isKnown() && kernel.loops[op.loop()].parent == brackets.body()) {
    const Loop &loop = kernel.loops[op.loop()];
    order.add(brackets.body(), {kernel.stmts[loop.stmt].position, 0, loop.name, loop.where});
  }
  if (op.dst.valid()) {
    references.useRegister(op.dst, brackets.place());
  }
  if (isKnown && op.amount != 1) {
    checkWritten(op);
  }
  if (isKnown) {
    checkLoaded(context.kernel.loops[op.loop()], op.loop());
  }
  brackets.open(op.kind, isKnown ? op.target : Id<void>::noneValue);
}

/// An engine may have to run a loop only to count it.
void EngineVerifier::checkLoaded(const Loop &loop, LoopId id) {
  for (const LoadedValue &value : context.kernel.loads) {
    const std::string_view name = context.kernel.text(value.value);
    if (!loaded.contains(value.value) && isGivenBy(context.kernel, id, name) &&
        !isLoadedOnlyInside(context.kernel, context.program.engine, id, value.value)) {
      const EngineId other = context.kernel.engineOf(value.instr);
      const bool isInside = isLoadedOnlyInside(context.kernel, other, id, value.value);
      context
          .error(loop.where,
                 "it runs '{}', which '{}' gives, and has not loaded that; add an instruction on "
                 "this engine, {} '{}', with loads [\"{}\"]",
                 context.kernel.text(loop.name), name, isInside ? "in" : "before",
                 context.kernel.text(loop.name), name)
          .note(context.kernel.instrs[value.instr].where,
                fmt::format("'{}' loads it for engine '{}'", context.kernel.nameOf(value.instr),
                            context.kernel.nameOf(other)));
      return;
    }
  }
}

/// Whether a loop can be written as it is said to be.
void EngineVerifier::checkWritten(const Op &begin) {
  const Loop &loop = context.kernel.loops[begin.loop()];
  if (loop.trip.kind == Trip::Kind::Guard) {
    context.error(loop.where,
                  "loop '{}' runs as long as a condition holds, and can neither be unrolled nor "
                  "counted at once",
                  context.kernel.text(loop.name));
  }
  if (begin.amount != atOnce) {
    return;
  }
  const Op *end = context.program.ops.data() + context.program.ops.size();
  for (const Op *op = &begin + 1; op != end && op->kind != OpKind::LoopEnd; ++op) {
    bool adds = op->kind == OpKind::Alu && op->alu == AluOp::Add && !op->b.isRegister &&
                op->a == Operand::reg(op->dst);
    if (!adds) {
      context.error(loop.where,
                    "only additions of numbers to registers can be made at once, and loop '{}' "
                    "does other things",
                    context.kernel.text(loop.name));
      return;
    }
  }
}

void EngineVerifier::beginBarrier(const Op &op) {
  const Code &code = context.code;
  brackets.open(OpKind::BarrierBegin, op.target);
  bool isThere = context.has(code.barriers.size(), op.target, brackets.place(),
                             "barrier {} is opened", "program");
  if (isThere && std::ranges::count(code.barriers[op.barrier()], context.program.engine) == 0) {
    context.error(brackets.place(), "barrier {} is opened, in which this engine takes no part",
                  op.target);
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

static void verifyRegisterNames(const EngineContext &context) {
  forEqualNames(context.program.registers, [&](std::string_view name) {
    context.error(context.kernel.engines[context.program.engine].where,
                  "several registers are named '{}'", name);
  });
}

static void verifyComplete(const Kernel &kernel, const IdVector<InstrId, uint32_t> &timesIssued,
                           Diagnostics &diagnostics) {
  for (InstrId i : kernel.instrs.ids()) {
    if (timesIssued[i] == 0 && !neverRuns(kernel, kernel.instrs[i].home)) {
      report(diagnostics, kernel.instrs[i].where,
             "in the code of engine '{}': '{}' is never issued", kernel.nameOf(kernel.engineOf(i)),
             kernel.nameOf(i));
    }
  }
}

static void verifyBarriers(const Kernel &kernel, const Code &code, Diagnostics &diagnostics) {
  for (BarrierId b : code.barriers.ids()) {
    for (EngineId e : code.barriers[b]) {
      if (e.value >= kernel.engines.size()) {
        report(diagnostics, kernel.where,
               "engine {} takes part in barrier {}, but the kernel has only {} engines", e.value,
               b.value, kernel.engines.size());
      }
    }
  }
}

/// Those texts of code that its kernel does not have.
static void verifyTexts(const Kernel &kernel, const Code &code, Diagnostics &diagnostics) {
  auto refuse = [&](std::string_view kind, std::string_view text, Location where) {
    if (!isQuotable(text)) {
      diagnostics.error(where, unquotableName(kind, text));
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
    report(diagnostics, kernel.where, "several semaphores are named '{}'", name);
  });
  verifyBarriers(kernel, code, diagnostics);
  if (code.engines.size() != kernel.engines.size()) {
    report(diagnostics, kernel.where, "there is code for {} engines, but the kernel has {}",
           code.engines.size(), kernel.engines.size());
    return;
  }
  IdVector<InstrId, uint32_t> timesIssued(kernel.instrs.size(), 0);
  const IdVector<SemaId, bool> isReset = resetBy(code);
  for (EngineId e : code.engines.ids()) {
    if (code.engines[e].engine != e) {
      report(diagnostics, kernel.engines[e].where,
             "the code of engine '{}' is filed as that of engine {}", kernel.nameOf(e),
             code.engines[e].engine.value);
      continue;
    }
    const EngineContext context{kernel, code, code.engines[e], diagnostics};
    verifyRegisterNames(context);
    EngineVerifier(context, timesIssued, isReset).run();
  }
  if (complete) {
    verifyComplete(kernel, timesIssued, diagnostics);
  }
}

} // namespace tally
