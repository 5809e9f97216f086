//===- Numbers.cpp - Which semaphores and registers code uses -------------===//

#include "Emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tally {

using namespace lowering;

namespace {

using Numbers = std::vector<uint32_t>;

/// The smallest numbers that are not taken.
Numbers freeNumbers(size_t count, const Numbers &taken) {
  const std::set<uint32_t> isTaken(taken.begin(), taken.end());
  Numbers numbers;
  for (uint32_t number = 0; numbers.size() < count; ++number) {
    if (!isTaken.contains(number)) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

uint32_t tableSize(const Numbers &numbers) {
  return numbers.empty() ? 0 : *std::ranges::max_element(numbers) + 1;
}

/// What stands in a table at a number that nobody uses.
std::string_view placeholder(const Numbers &reserved, uint32_t number) {
  return std::ranges::find(reserved, number) == reserved.end() ? "unused" : "reserved";
}

class Renumberer {
public:
  Renumberer(const Kernel &kernel, const SyncPlan &plan, Code &code)
      : kernel(kernel), code(code), semaNumbers(numberSemaphores(plan)) {}

  void run() {
    for (EngineProgram &program : code.engines) {
      const Numbers &reserved = kernel.engines[program.engine].reserved;
      regNumbers = freeNumbers(program.registers.size(), reserved);
      renumber(program.ops);
      program.registers = registers(program.registers, reserved);
    }
    code.semaphores = semaphores();
  }

private:
  Numbers numberSemaphores(const SyncPlan &plan) const {
    Numbers taken = kernel.reserved;
    for (const Group &group : plan.groups) {
      taken.insert(taken.end(), group.pinned.has_value(), group.pinned.value_or(0));
    }
    const Numbers free = freeNumbers(code.semaphores.size(), taken);
    size_t next = 0;
    Numbers result;
    for (uint32_t sema = 0; sema < code.semaphores.size(); ++sema) {
      bool isPinned = sema < plan.groups.size() && plan.groups[GroupId(sema)].pinned;
      result.push_back(isPinned ? *plan.groups[GroupId(sema)].pinned : free[next++]);
    }
    return result;
  }

  void renumber(std::vector<Op> &ops) {
    std::vector<Op> renumbered;
    renumbered.reserve(ops.size());
    for (Op op : ops) {
      for (Operand *operand : {&op.a, &op.b}) {
        operand->value = operand->isRegister ? regNumbers[operand->value] : operand->value;
      }
      op.dst = op.dst.valid() ? RegId(regNumbers[op.dst.value]) : op.dst;
      op.wait = op.wait.valid() ? SemaId(semaNumbers[op.wait.value]) : op.wait;
      if (op.kind == OpKind::Reset) {
        reset(renumbered, op);
        continue;
      }
      op.signal = op.signal.valid() ? SemaId(semaNumbers[op.signal.value]) : op.signal;
      renumbered.push_back(op);
    }
    ops = std::move(renumbered);
  }

  /// One reset for each run of consecutive numbers.
  void reset(std::vector<Op> &ops, const Op &op) const {
    auto first = semaNumbers.begin() + op.signal.value;
    Numbers cleared(first, first + op.amount);
    std::ranges::sort(cleared);
    for (size_t begin = 0, end = 0; begin < cleared.size(); begin = end) {
      while (end < cleared.size() && cleared[end] - cleared[begin] == end - begin) {
        ++end;
      }
      ops.push_back(Op::reset(SemaId(cleared[begin]), static_cast<uint32_t>(end - begin)));
    }
  }

  IdVector<SemaId, Semaphore> semaphores() const {
    IdVector<SemaId, Semaphore> table(tableSize(semaNumbers));
    for (SemaId old : code.semaphores.ids()) {
      table[SemaId(semaNumbers[old.value])] = code.semaphores[old];
    }
    for (SemaId sema : table.ids()) {
      std::string &name = table[sema].name;
      if (name.empty()) {
        name = fmt::format("{}.{}", placeholder(kernel.reserved, sema.value), sema.value);
      }
    }
    return table;
  }

  IdVector<RegId, Register> registers(const IdVector<RegId, Register> &old,
                                      const Numbers &reserved) const {
    IdVector<RegId, Register> table(tableSize(regNumbers));
    for (RegId reg : table.ids()) {
      table[reg] = {fmt::format("r{}", reg.value), std::string(placeholder(reserved, reg.value))};
    }
    for (RegId reg : old.ids()) {
      table[RegId(regNumbers[reg.value])].role = old[reg].role;
    }
    return table;
  }

  const Kernel &kernel;
  Code &code;
  const Numbers semaNumbers; ///< by number so far
  Numbers regNumbers;        ///< the same, of the engine at hand
};

} // namespace

void lowering::assignNumbers(const Kernel &kernel, const SyncPlan &plan, Code &code) {
  bool anyReserved =
      !kernel.reserved.empty() || !kernel.pins.empty() ||
      std::ranges::any_of(kernel.engines, [](const Engine &e) { return !e.reserved.empty(); });
  if (anyReserved) {
    Renumberer(kernel, plan, code).run();
  }
}

} // namespace tally
