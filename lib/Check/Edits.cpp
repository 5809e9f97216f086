//===- Edits.cpp - Changes of code, and how they are said -----------------===//

#include "Edits.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::check {

bool isStraight(const Op &op) {
  return op.kind == OpKind::Alu || op.kind == OpKind::Wait || op.kind == OpKind::Reset ||
         op.kind == OpKind::Drain;
}

bool isRaise(const Op &op) {
  return op.kind == OpKind::Signal || op.kind == OpKind::Issue;
}

std::vector<uint32_t> waitsBefore(const std::vector<Op> &ops, uint32_t at) {
  std::vector<uint32_t> waits;
  for (uint32_t i = at;; --i) {
    if (ops[i].wait.valid()) {
      waits.push_back(i);
    }
    if (i == 0 || !isStraight(ops[i - 1])) {
      return waits;
    }
  }
}

InstrId instrAfter(const std::vector<Op> &ops, uint32_t at) {
  for (; at < ops.size(); ++at) {
    if (ops[at].kind == OpKind::Issue) {
      return ops[at].instr();
    }
  }
  return {};
}

std::vector<uint32_t> Edits::issuesOf(const Code &program, InstrId instr) const {
  std::vector<uint32_t> places;
  const std::vector<Op> &ops = program.engines[kernel.engineOf(instr)].ops;
  for (uint32_t at = 0; at < ops.size(); ++at) {
    if (ops[at].kind == OpKind::Issue && ops[at].instr() == instr) {
      places.push_back(at);
    }
  }
  return places;
}

std::vector<uint32_t> Edits::amountsRaised(SemaId sema) const {
  std::vector<uint32_t> amounts;
  for (const EngineProgram &program : code.engines) {
    for (const Op &op : program.ops) {
      if (isRaise(op) && op.signal == sema && std::ranges::count(amounts, op.amount) == 0) {
        amounts.push_back(op.amount);
      }
    }
  }
  return amounts;
}

//===----------------------------------------------------------------------===//
// What mends make
//===----------------------------------------------------------------------===//

/// A name that nothing in the code has: `count`, `count2`, ...
template <typename IsTaken> static std::string freshName(std::string_view base, IsTaken isTaken) {
  std::string name(base);
  for (int i = 2; isTaken(name); ++i) {
    name = fmt::format("{}{}", base, i);
  }
  return name;
}

RegId addRegister(MendedCode &program, EngineId engine, std::string_view base,
                  std::string meaning) {
  std::string name = freshName(base, [&](const std::string &tried) {
    return std::ranges::any_of(program.engines, [&](const EngineProgram &other) {
      return std::ranges::count(other.registers, tried, &Register::name) != 0;
    });
  });
  program.made.push_back({fmt::format("\"{}\"", name), std::move(meaning)});
  return program.engines[engine].registers.push({std::move(name), ""});
}

SemaId addSemaphore(MendedCode &program, const std::string &base) {
  std::string name = freshName(base, [&](const std::string &tried) {
    return std::ranges::count(program.semaphores, tried, &Semaphore::name) != 0;
  });
  program.made.push_back({fmt::format("'{}'", name), "is the semaphore of another mend"});
  return program.semaphores.push({std::move(name)});
}

bool Edits::isGiven(EngineId engine, RegId reg) const {
  std::string quoted = fmt::format("\"{}\"", code.engines[engine].registers[reg].name);
  return std::ranges::count(code.made, quoted, &Made::quoted) == 0;
}

bool Edits::propose(std::string kind, std::string text, MendedCode program) const {
  return tryMend({{std::move(kind), withMade(std::move(text), program)}, std::move(program)});
}

/// What one means may name those that were made before it. A new semaphore is introduced where it
/// is named.
std::string Edits::withMade(std::string text, const MendedCode &program) const {
  for (size_t i = program.made.size(); i-- > 0;) {
    const Made &made = program.made[i];
    bool isIntroduced = i >= code.made.size() && made.quoted.starts_with('\'');
    if (!isIntroduced && text.find(made.quoted) != std::string::npos) {
      text += fmt::format(", where {} {}", made.quoted, made.meaning);
    }
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Naming
//===----------------------------------------------------------------------===//

std::string Edits::waiterText(const EngineProgram &program, uint32_t at) const {
  std::string_view engine = kernel.nameOf(program.engine);
  InstrId instr = instrAfter(program.ops, at);
  return !instr.valid() ? fmt::format("the last wait on '{}'", engine)
         : program.ops[at].kind == OpKind::Issue
             ? fmt::format("'{}' on '{}'", kernel.nameOf(instr), engine)
             : fmt::format("the wait before '{}' on '{}'", kernel.nameOf(instr), engine);
}

std::string Edits::placeText(EngineId engine, uint32_t at) const {
  const std::vector<Op> &ops = opsOf(engine);
  InstrId next = instrAfter(ops, at);
  auto last = std::find_if(ops.rend() - at, ops.rend(),
                           [](const Op &op) { return op.kind == OpKind::Issue; });
  return next.valid()         ? fmt::format(", before '{}'", kernel.nameOf(next))
         : last != ops.rend() ? fmt::format(", after '{}'", kernel.nameOf(last->instr()))
                              : "";
}

std::string formulaText(const EngineProgram &program, const Formula &formula) {
  if (!formula.reg.valid()) {
    return fmt::format("{}", formula.offset);
  }
  std::string factor = formula.factor == 1 ? "" : fmt::format("{} * ", formula.factor);
  std::string text = fmt::format("{}\"{}\"", factor, program.registers[formula.reg].name);
  return formula.offset == 0  ? text
         : formula.offset > 0 ? fmt::format("{} + {}", text, formula.offset)
                              : fmt::format("{} - {}", text, -formula.offset);
}

std::string operandText(const EngineProgram &program, Operand operand, int64_t offset) {
  return formulaText(program, operand.isRegister ? Formula{operand.asRegister(), 1, offset}
                                                 : Formula{{}, 0, int64_t(operand.value) + offset});
}

} // namespace tally::check
