//===- RegisterForms.cpp - What a register's value depends on -------------===//

#include "RegisterForms.h"

#include "tally/Run/Interpret.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tally::check {
namespace {

CounterSum plus(const CounterSum &a, const CounterSum &b, int64_t factor) {
  CounterSum sum = a;
  for (const auto &[source, count] : b) {
    int64_t &total = sum[source];
    total += factor * count;
    if (total == 0) {
      sum.erase(source);
    }
  }
  return sum;
}

/// Without its common factor; the first one is positive.
CounterSum direction(CounterSum sum) {
  int64_t common = 0;
  for (const auto &[source, count] : sum) {
    common = std::gcd(common, count);
  }
  common = !sum.empty() && sum.begin()->second < 0 ? -common : common;
  for (auto &[source, count] : sum) {
    count /= common;
  }
  return sum;
}

RegisterForm number(uint64_t value) {
  RegisterForm form;
  form.constant = value;
  return form;
}

RegisterForm source(uint32_t id) {
  RegisterForm form;
  form.sum = {{id, 1}};
  return form;
}

/// All that its value depends on, each by itself.
std::set<CounterSum> directionsOf(const RegisterForm &form) {
  std::set<CounterSum> all = form.bends;
  if (!form.sum.empty()) {
    all.insert(direction(form.sum));
  }
  return all;
}

RegisterForm bentBy(std::set<CounterSum> bends, bool isOpen) {
  RegisterForm form;
  form.isOpen = isOpen || bends.size() > 1;
  form.bends = std::move(bends);
  return form;
}

/// What two values decide together that is no sum of them.
RegisterForm bent(const RegisterForm &x, const RegisterForm &y) {
  std::set<CounterSum> bends = directionsOf(x);
  bends.merge(directionsOf(y));
  return bentBy(std::move(bends), x.isOpen || y.isOpen);
}

/// How far apart they are is what decides.
RegisterForm compared(AluOp alu, const RegisterForm &x, const RegisterForm &y) {
  if (!x.bends.empty() || !y.bends.empty() || x.isOpen || y.isOpen) {
    return bent(x, y);
  }
  CounterSum apart = direction(plus(x.sum, y.sum, -1));
  RegisterForm form = apart.empty() ? RegisterForm() : bentBy({std::move(apart)}, false);
  if (alu == AluOp::Min) { // it goes on as one of the two
    form.sum = x.sum.empty() ? y.sum : x.sum;
    form.isScaled = x.isScaled || y.isScaled;
  }
  return form;
}

RegisterForm added(const RegisterForm &x, const RegisterForm &y) {
  RegisterForm form;
  form.sum = plus(x.sum, y.sum, 1);
  form.bends = x.bends;
  form.bends.insert(y.bends.begin(), y.bends.end());
  form.isOpen = x.isOpen || y.isOpen;
  form.isScaled = x.isScaled || y.isScaled || (!x.isNumber() && !y.isNumber());
  return form;
}

RegisterForm multiplied(const RegisterForm &x, const RegisterForm &y) {
  if (!x.isNumber() && !y.isNumber()) {
    RegisterForm form = bent(x, y);
    form.isScaled = true;
    return form;
  }
  const RegisterForm &factor = x.isNumber() ? x : y;
  RegisterForm form = x.isNumber() ? y : x;
  form.isScaled = !form.isNumber();
  form.constant.reset();
  if (!factor.constant) { // some number, in all iterations the same
    return form;
  }
  for (auto &[id, count] : form.sum) {
    count *= static_cast<int64_t>(*factor.constant);
  }
  return *factor.constant == 0 ? number(0) : form;
}

bool comparesDistance(AluOp alu) {
  return alu == AluOp::Sub || alu == AluOp::Min || alu == AluOp::IsGT;
}

} // namespace

/// Walks the code once, in the order of the text. A loop body begins with what any iteration may
/// begin with.
class RegisterForms::Walk {
public:
  Walk(const EngineProgram &program, const Machine &machine, const std::vector<bool> &mayWrap)
      : program(program), machine(machine), mayWrap(mayWrap), match(matchBrackets(program.ops)),
        forms(program.registers.size(), number(0)),
        nextSource(static_cast<uint32_t>(program.registers.size())) {}

  void run(std::vector<Sides> &sides, std::vector<uint32_t> &open) {
    block(0, static_cast<uint32_t>(program.ops.size()));
    sides.assign(program.ops.size(), {});
    for (const Comparison &each : comparisons) {
      sides[each.at] = sidesOf(each);
    }
    for (const auto &[at, form] : uses) {
      if (isOpen(form)) {
        open.push_back(at);
      }
    }
  }

private:
  using Forms = std::vector<RegisterForm>;

  struct Comparison {
    uint32_t at;
    RegisterForm x, y;
    bool wraps;
  };

  void block(uint32_t from, uint32_t to) {
    for (uint32_t at = from; at < to; ++at) {
      const Op &op = program.ops[at];
      switch (op.kind) {
      case OpKind::Alu:
        compute(at, op);
        break;
      case OpKind::Issue:
      case OpKind::Wait:
        if (op.wait.valid()) {
          uses.emplace_back(at, of(op.a));
        }
        break;
      case OpKind::LoopBegin:
        loop(at, op);
        at = match[at];
        break;
      case OpKind::IfBegin:
        branch(at);
        at = endOfBranch(at);
        break;
      case OpKind::WhenBegin:
        when(at, op);
        at = match[at];
        break;
      default:
        break;
      }
    }
  }

  RegisterForm of(Operand operand) const {
    return operand.isRegister ? forms[operand.value] : number(operand.value);
  }

  /// Whether it may have begun again at 0. A number is known with all that.
  bool wraps(Operand operand) const {
    return operand.isRegister && mayWrap[operand.value] && !forms[operand.value].constant;
  }

  void compute(uint32_t at, const Op &op) {
    const RegisterForm x = of(op.a), y = of(op.b);
    RegisterForm left = result(op.alu, x, y);
    if (comparesDistance(op.alu)) {
      comparisons.push_back({at, x, y, wraps(op.a) || wraps(op.b)});
      left.isOpen |= comparisons.back().wraps;
    }
    forms[op.dst.value] = std::move(left);
  }

  RegisterForm result(AluOp alu, const RegisterForm &x, const RegisterForm &y) const {
    if (alu == AluOp::Move) {
      return x;
    }
    if (x.constant && y.constant) {
      return number(aluValue(alu, *x.constant, *y.constant, machine));
    }
    return alu == AluOp::Add   ? added(x, y)
           : alu == AluOp::Mul ? multiplied(x, y)
                               : compared(alu, x, y);
  }

  //===--- Loops ----------------------------------------------------------===//

  /// Registers that are written between two operations.
  std::set<uint32_t> writtenIn(uint32_t from, uint32_t to) const {
    std::set<uint32_t> written;
    for (uint32_t at = from; at < to; ++at) {
      if (program.ops[at].dst.valid()) {
        written.insert(program.ops[at].dst.value);
      }
    }
    return written;
  }

  void loop(uint32_t at, const Op &op) {
    const std::set<uint32_t> written = writtenIn(at, match[at]);
    for (uint32_t reg : written) {
      forms[reg] = source(reg);
    }
    block(at + 1, match[at]);
    for (uint32_t reg : written) {
      bool isNative = op.dst.valid() && op.dst.value == reg;
      bool isCounter = forms[reg].sum == CounterSum{{reg, 1}} && forms[reg].bends.empty();
      if (isNative || isCounter) {
        rising.insert(reg);
      } else if (!goesOnAlike(reg, forms[reg])) {
        irregular.insert(reg);
      }
      forms[reg] = source(reg); // as the last iteration leaves it, if there was one
    }
  }

  /// Whether what an iteration leaves in a register is as RegisterForms.h wants it.
  static bool goesOnAlike(uint32_t reg, const RegisterForm &left) {
    if (left.isOpen) {
      return false;
    }
    bool isLinear = left.bends.empty();
    bool isOwn = left.sum.contains(reg);
    if (isLinear && (!isOwn || left.sum == CounterSum{{reg, 1}})) {
      return true;
    }
    std::set<CounterSum> all = directionsOf(left);
    return !left.isScaled && all == std::set<CounterSum>{{{reg, 1}}};
  }

  //===--- Branches -------------------------------------------------------===//

  uint32_t endOfBranch(uint32_t begin) const {
    uint32_t middle = match[begin];
    return program.ops[middle].kind == OpKind::Else ? match[middle] : middle;
  }

  void branch(uint32_t begin) {
    const uint32_t middle = match[begin], end = endOfBranch(begin);
    Forms before = forms;
    block(begin + 1, middle);
    Forms then = std::exchange(forms, std::move(before));
    block(std::min(middle + 1, end), end);
    for (size_t reg = 0; reg < forms.size(); ++reg) {
      forms[reg] = either(then[reg], forms[reg]);
    }
  }

  /// One of two, as a branch is taken. Sums that differ by a number are one, which then counts by
  /// more in one branch.
  RegisterForm either(const RegisterForm &x, const RegisterForm &y) {
    if (x == y) {
      return x;
    }
    RegisterForm form;
    form.isOpen = x.isOpen || y.isOpen;
    form.isScaled = x.isScaled || y.isScaled;
    form.bends = x.bends;
    form.bends.insert(y.bends.begin(), y.bends.end());
    if (x.sum == y.sum && !x.sum.empty()) {
      form.sum = x.sum;
      return form;
    }
    for (const CounterSum &sum : {x.sum, y.sum}) {
      if (!sum.empty()) {
        form.bends.insert(direction(sum));
      }
    }
    form.sum = {{nextSource++, 1}};
    return form;
  }

  void when(uint32_t begin, const Op &op) {
    RegisterForm condition = of(op.a);
    condition.isOpen |= wraps(op.a);
    uses.emplace_back(begin, condition);
    comparisons.push_back({begin, condition, number(0), wraps(op.a)});
    Forms before = forms;
    block(begin + 1, match[begin]);
    for (size_t reg = 0; reg < forms.size(); ++reg) {
      if (forms[reg] != before[reg]) {
        RegisterForm form = bent(before[reg], forms[reg]);
        std::set<CounterSum> bends = directionsOf(condition);
        bends.merge(form.bends);
        forms[reg] = bentBy(std::move(bends), form.isOpen || condition.isOpen);
        forms[reg].isScaled = before[reg].isScaled;
      }
    }
  }

  //===--- At the end -----------------------------------------------------===//

  /// What rises is less in short runs, and what falls is more.
  Sides sidesOf(const Comparison &each) const {
    if (!each.x.bends.empty() || !each.y.bends.empty() || each.wraps) {
      return {true, true};
    }
    Sides sides;
    for (const auto &[id, count] : plus(each.x.sum, each.y.sum, -1)) {
      sides.more |= count > 0 || !rising.contains(id);
      sides.less |= count < 0 || !rising.contains(id);
    }
    return sides;
  }

  bool isOpen(const RegisterForm &form) const {
    auto isIrregular = [&](const CounterSum &sum) {
      return std::ranges::any_of(sum,
                                 [&](const auto &part) { return irregular.contains(part.first); });
    };
    return form.isOpen || isIrregular(form.sum) || std::ranges::any_of(form.bends, isIrregular);
  }

  const EngineProgram &program;
  const Machine &machine;
  const std::vector<bool> &mayWrap;
  const std::vector<uint32_t> match;
  Forms forms; ///< by register, where the walk is
  uint32_t nextSource;
  std::set<uint32_t> rising, irregular;
  std::vector<Comparison> comparisons;
  std::vector<std::pair<uint32_t, RegisterForm>> uses; ///< of waits and conditions
};

RegisterForms::RegisterForms(const EngineProgram &program, const Machine &machine,
                             const std::vector<bool> &mayWrap) {
  Walk(program, machine, mayWrap).run(sides, open);
}

} // namespace tally::check
