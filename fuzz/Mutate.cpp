//===- Mutate.cpp - Code with one mistake ---------------------------------===//
//
// Each kind has a finder, which lists its places in one engine's code, and a case in apply().
// Nothing here knows how the code was made; what a register holds is read off the
// operations that write it:
//
//   r := r + n          a counter update
//   r := s              a shift into a ring slot: r is one slot older than s
//   r := 0              a counter starts again
//
//===----------------------------------------------------------------------===//

#include "Mutate.h"

#include <algorithm>
#include <fmt/format.h>

namespace tally::fuzz {

static constexpr std::string_view kindNames[] = {
    "wait-plus-one", "wait-minus-one",      "wrong-semaphore",
    "lost-update",   "doubled-update",      "lost-register-operation",
    "wrong-mask",    "wrong-snapshot-slot", "hoisted-wait",
    "dropped-wait",  "swapped-nk",          "missing-reset",
};

std::string_view toString(MutantKind kind) {
  return kindNames[static_cast<size_t>(kind)];
}

using Ops = std::vector<Op>;

static bool isAlu(const Op &op, AluOp alu) {
  return op.kind == OpKind::Alu && op.alu == alu;
}

static bool writes(const Op &op, Operand reg) {
  return (op.kind == OpKind::Alu || (op.kind == OpKind::LoopBegin && op.dst.valid())) &&
         reg.isRegister && op.dst == reg.asRegister();
}

/// r := r + n, which counts.
static bool isCounterUpdate(const Op &op) {
  return isAlu(op, AluOp::Add) && op.a == Operand::reg(op.dst);
}

static bool isShift(const Op &op) {
  return isAlu(op, AluOp::Move) && op.a.isRegister;
}

/// The number of a product with one, else 0.
static uint32_t factorOf(const Op &op) {
  bool product = isAlu(op, AluOp::Mul) && op.a.isRegister != op.b.isRegister;
  return !product ? 0 : op.a.isRegister ? op.b.value : op.a.value;
}

static bool isRestart(const Op &op) {
  return isAlu(op, AluOp::Move) && op.a == Operand::number(0);
}

/// Operations that a later one may be moved across without leaving its body or passing an
/// instruction.
static bool isStraight(const Op &op) {
  return op.kind == OpKind::Alu || op.kind == OpKind::Wait;
}

namespace {

/// The places in the code of one engine.
class Finder {
public:
  Finder(const Code &code, const EngineProgram &program, std::vector<Mutation> &found)
      : code(code), ops(program.ops), engine(program.engine), found(found) {}

  void run() {
    for (at = 0; at < ops.size(); ++at) {
      const Op &op = ops[at];
      depth += op.kind == OpKind::LoopBegin;
      depth -= op.kind == OpKind::LoopEnd;
      if (op.wait.valid()) {
        findWait(op);
      }
      if (op.signal.valid() && op.kind != OpKind::Reset) {
        findSignal(op);
      }
      if (op.kind == OpKind::Reset) {
        add(MutantKind::MissingReset);
      }
      if (op.kind == OpKind::Alu) {
        findAlu(op);
      }
    }
  }

private:
  void add(MutantKind kind, uint8_t variant = 0, uint32_t target = 0) {
    found.push_back({kind, engine, at, target, variant});
  }

  void findWait(const Op &op) {
    add(MutantKind::WaitPlusOne);
    if (op.a.isRegister || op.a.value > 0) {
      add(MutantKind::WaitMinusOne);
    }
    findOtherSemaphores(op.wait, 0);
    if (op.kind == OpKind::Wait) {
      add(MutantKind::DroppedWait);
    }
    if (op.a.isRegister) {
      findHoist(op.a, 0);
      findSlots(op.a, 2);
    } else if (uint32_t n = raisedInOneBody(op.wait); op.a.value > 0 && op.a.value < n) {
      add(MutantKind::SwappedNK, 1, n);
    }
  }

  /// What the instructions that raise a semaphore add together, if they all stand in one body and
  /// none of them twice: N, the threshold of the last of them. Else 0.
  uint32_t raisedInOneBody(SemaId sema) const {
    uint32_t sum = 0;
    std::vector<uint32_t> instrs;
    std::optional<size_t> body; ///< where it was opened
    for (const EngineProgram &program : code.engines) {
      std::vector<size_t> open{SIZE_MAX - program.engine.value};
      for (size_t i = 0; i < program.ops.size(); ++i) {
        const Op &op = program.ops[i];
        if (op.kind == OpKind::LoopEnd || op.kind == OpKind::IfEnd || op.kind == OpKind::Else) {
          open.pop_back();
        }
        if (op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin || op.kind == OpKind::Else) {
          open.push_back(i);
        }
        if (op.kind != OpKind::Issue || op.signal != sema) {
          continue;
        }
        bool again = std::find(instrs.begin(), instrs.end(), op.target) != instrs.end();
        if (again || body.value_or(open.back()) != open.back()) {
          return 0;
        }
        body = open.back();
        instrs.push_back(op.target);
        sum += op.amount;
      }
    }
    return sum;
  }

  /// The neighbours of a semaphore, one for each direction.
  void findOtherSemaphores(SemaId sema, uint8_t variant) {
    uint32_t count = static_cast<uint32_t>(code.semaphores.size());
    uint32_t next = (sema.value + 1) % count;
    uint32_t previous = (sema.value + count - 1) % count;
    if (next != sema.value) {
      add(MutantKind::WrongSemaphore, variant, next);
    }
    if (previous != next) {
      add(MutantKind::WrongSemaphore, variant, previous);
    }
  }

  void findSignal(const Op &op) {
    add(MutantKind::LostUpdate);
    add(MutantKind::DoubledUpdate);
    findOtherSemaphores(op.signal, 1);
  }

  void findAlu(const Op &op) {
    if (isRestart(op)) {
      findRestart(op);
      return;
    }
    add(MutantKind::LostRegisterOperation);
    findMask(op);
    findSwap(op);
    findSlots(op.a, 0);
    if (op.alu != AluOp::Move && !isCounterUpdate(op)) {
      findSlots(op.b, 1);
      findHoist(op.a, 1);
      findHoist(op.b, 1);
    }
  }

  /// The first time, at the start of the code, a register is zero anyway.
  void findRestart(const Op &op) {
    Operand counter = Operand::reg(op.dst);
    bool used = std::any_of(ops.begin(), ops.begin() + at,
                            [&](const Op &earlier) { return writes(earlier, counter); });
    if (depth > 0 || used) {
      add(MutantKind::MissingReset);
    }
  }

  void findMask(const Op &op) {
    if (op.alu != AluOp::IsGT) {
      return;
    }
    if (!op.b.isRegister) {
      add(MutantKind::WrongMask, 0, op.b.value + 1);
      if (op.b.value > 0) {
        add(MutantKind::WrongMask, 0, op.b.value - 1);
      }
    }
    add(MutantKind::WrongMask, 1);
  }

  /// The last operation before this one that writes `reg`, none if there is no such.
  std::optional<uint32_t> definitionOf(Operand reg) const {
    for (uint32_t i = at; i-- > 0;) {
      if (writes(ops[i], reg)) {
        return i;
      }
    }
    return {};
  }

  /// N*x - D, where D is not a multiple of N: both carry the weight of the queue, if any.
  void findSwap(const Op &op) {
    bool minus = op.alu == AluOp::Sub && op.a.isRegister && !op.b.isRegister;
    std::optional<uint32_t> product = minus ? definitionOf(op.a) : std::nullopt;
    uint32_t n = product ? factorOf(ops[*product]) : 0;
    if (n > 1 && op.b.value % n != 0) {
      add(MutantKind::SwappedNK, 0, *product);
    }
  }

  /// The slots beside the one in `reg`: what was shifted into it, and what it is shifted into.
  void findSlots(Operand reg, uint8_t operand) {
    if (!reg.isRegister) {
      return;
    }
    bool newer = false;
    bool older = isShift(ops[at]) || isCounterUpdate(ops[at]); // would make it keep its value
    for (const Op &shift : ops) {
      if (!isShift(shift)) {
        continue;
      }
      if (!newer && writes(shift, reg) && !isCounterUpdate(ops[at])) {
        add(MutantKind::WrongSnapshotSlot, operand, shift.a.value);
        newer = true;
      }
      if (!older && shift.a == reg) {
        add(MutantKind::WrongSnapshotSlot, operand, shift.dst.value);
        older = true;
      }
    }
  }

  /// From here to before the nearest write of `reg`, if nothing but arithmetic lies between. Of a
  /// computation only past a counter: over its own inputs' computations it would be
  /// garbage that no compiler makes.
  void findHoist(Operand reg, uint8_t variant) {
    for (uint32_t i = at; i-- > 0 && reg.isRegister && isStraight(ops[i]);) {
      if (writes(ops[i], reg)) {
        if (variant == 0 || isCounterUpdate(ops[i])) {
          add(MutantKind::HoistedWait, variant, i);
        }
        return;
      }
    }
  }

  const Code &code;
  const Ops &ops;
  EngineId engine;
  std::vector<Mutation> &found;
  uint32_t at = 0;
  int depth = 0;
};

/// Makes one mistake.
class Mutator {
public:
  Mutator(EngineProgram &program, const Mutation &mutation)
      : program(program), ops(program.ops), mutation(mutation), op(ops[mutation.at]) {}

  void apply() {
    switch (mutation.kind) {
    case MutantKind::WaitPlusOne:
      return shiftThreshold(AluOp::Add);
    case MutantKind::WaitMinusOne:
      return shiftThreshold(AluOp::Sub);
    case MutantKind::WrongSemaphore:
      (mutation.variant == 0 ? op.wait : op.signal) = SemaId(mutation.target);
      return;
    case MutantKind::LostUpdate:
      return loseUpdate();
    case MutantKind::DoubledUpdate:
      op.amount *= 2;
      return;
    case MutantKind::WrongMask:
      op = mutation.variant == 0
               ? Op::alu2(AluOp::IsGT, op.dst, op.a, Operand::number(mutation.target))
               : Op::move(op.dst, Operand::number(1));
      return;
    case MutantKind::WrongSnapshotSlot:
      (mutation.variant == 1 ? op.b : op.a) = Operand::reg(RegId(mutation.target));
      return;
    case MutantKind::HoistedWait:
      return hoist();
    case MutantKind::SwappedNK:
      return swapPlaces();
    case MutantKind::LostRegisterOperation:
    case MutantKind::DroppedWait:
    case MutantKind::MissingReset:
      erase(mutation.at);
      return;
    }
  }

private:
  void erase(uint32_t at) { ops.erase(ops.begin() + at); }

  void insert(uint32_t at, const Op &extra) { ops.insert(ops.begin() + at, extra); }

  void shiftThreshold(AluOp alu) {
    if (!op.a.isRegister) {
      op.a.value = alu == AluOp::Add ? op.a.value + 1 : op.a.value - 1;
      return;
    }
    RegId shifted = program.registers.push({"mutant", ""});
    Op compute = Op::alu2(alu, shifted, op.a, Operand::number(1));
    op.a = Operand::reg(shifted);
    insert(mutation.at, compute);
  }

  void loseUpdate() {
    if (op.kind == OpKind::Signal) {
      erase(mutation.at);
      return;
    }
    op.signal = SemaId();
    op.amount = 1;
  }

  /// Of an instruction, only its wait goes ahead.
  void hoist() {
    Op moved = op;
    if (op.kind == OpKind::Issue) {
      moved = Op::makeWait(op.wait, op.a);
      moved.firstReason = op.firstReason;
      moved.numReasons = op.numReasons;
      op.wait = SemaId();
      op.a = Operand();
      op.firstReason = op.numReasons = 0;
    } else {
      erase(mutation.at);
    }
    insert(mutation.target, moved);
  }

  /// With D = N*k + (N-K):  N*x - D  becomes  K*x - (K*k + (K-N)).
  void swapPlaces() {
    if (mutation.variant == 1) { // in the first trip: N*1 - (N-K) = K becomes N
      op.a.value = mutation.target;
      return;
    }
    Op &product = ops[mutation.target];
    uint32_t n = factorOf(product);
    uint32_t k = n - op.b.value % n;
    uint32_t whole = k * (op.b.value / n);
    (product.a.isRegister ? product.b : product.a) = Operand::number(k);
    bool negative = whole < n - k;
    op.alu = negative ? AluOp::Add : AluOp::Sub;
    op.b = Operand::number(negative ? n - k - whole : whole - (n - k));
  }

  EngineProgram &program;
  Ops &ops;
  const Mutation &mutation;
  Op &op;
};

} // namespace

std::vector<Mutation> findMutations(const Code &code) {
  std::vector<Mutation> found;
  for (const EngineProgram &program : code.engines) {
    Finder(code, program, found).run();
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Mutation &a, const Mutation &b) { return a.kind < b.kind; });
  return found;
}

Code mutate(const Code &code, const Mutation &mutation) {
  Code mutant = code;
  Mutator(mutant.engines[mutation.engine], mutation).apply();
  return mutant;
}

/// The instruction that the operation is, or stands before.
static InstrId instrAt(const Ops &ops, uint32_t at) {
  auto issue = std::find_if(ops.begin() + at, ops.end(),
                            [](const Op &op) { return op.kind == OpKind::Issue; });
  return issue == ops.end() ? InstrId() : issue->instr();
}

static std::string intoText(const Code &code, const Mutation &mutation) {
  switch (mutation.kind) {
  case MutantKind::WrongSemaphore:
    return fmt::format(", now '{}'", code.semaphores[SemaId(mutation.target)].name);
  case MutantKind::WrongMask:
    return mutation.variant == 0 ? fmt::format(", now > {}", mutation.target) : ", now open";
  case MutantKind::WrongSnapshotSlot:
    return fmt::format(", now '{}'",
                       code.engines[mutation.engine].registers[RegId(mutation.target)].name);
  case MutantKind::HoistedWait:
    return fmt::format(", now before operation {}", mutation.target);
  default:
    return "";
  }
}

std::string describe(const Kernel &kernel, const Code &code, const Mutation &mutation) {
  InstrId instr = instrAt(code.engines[mutation.engine].ops, mutation.at);
  std::string where = instr.valid() ? fmt::format("at or before '{}'", kernel.nameOf(instr))
                                    : std::string("behind all instructions");
  return fmt::format("{} on '{}' in operation {}, {}{}", toString(mutation.kind),
                     kernel.nameOf(mutation.engine), mutation.at, where, intoText(code, mutation));
}

} // namespace tally::fuzz
