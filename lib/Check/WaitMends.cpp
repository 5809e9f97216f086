//===- WaitMends.cpp - Thresholds that would be right ---------------------===//

#include "WaitMends.h"

#include "RacePairs.h"

#include "tally/Run/Interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <ranges>

namespace tally::check {
namespace {

/// The loops around an operation, as the places where they begin, innermost first.
std::vector<uint32_t> loopsAround(const std::vector<Op> &ops, uint32_t at) {
  std::vector<uint32_t> loops, match = matchBrackets(ops);
  for (uint32_t i = at; i-- > 0;) {
    if (ops[i].kind == OpKind::LoopBegin && match[i] >= at) {
      loops.push_back(i);
    }
  }
  return loops;
}

/// One run of the consumer that has to wait for something.
struct Sample {
  int64_t needed = 0;
  int64_t asked = 0;           ///< by the wait that is there now
  std::vector<int64_t> values; ///< of the registers of its engine, then of counters

  int64_t shift() const { return needed - asked; }
};

/// A counter of an engine that its code does not have, but could.
struct Counter {
  uint32_t at; ///< counts how often the engine comes to this operation
  std::string what;
};

/// What all raises of a semaphore are multiples of, and so all that it holds once they are over.
int64_t stepOf(const Code &code, SemaId sema) {
  int64_t step = 0;
  for (const EngineProgram &program : code.engines) {
    for (const Op &op : program.ops) {
      bool raises = op.signal == sema && (op.kind == OpKind::Issue || op.kind == OpKind::Signal);
      step = std::gcd(step, raises ? int64_t{op.amount} : 0);
    }
  }
  return std::max<int64_t>(step, 1);
}

/// The least and the largest that something is over all samples.
template <typename Of> auto rangeOf(const std::vector<Sample> &samples, Of of) {
  return std::ranges::minmax(std::views::transform(samples, of));
}

/// What gives all that is needed from one of the values; none if nothing rising does.
std::optional<Formula> fit(const std::vector<Sample> &samples, RegId reg) {
  auto value = [reg](const Sample &sample) { return sample.values[reg.value]; };
  const Sample &a = samples.front();
  auto b = std::ranges::find_if(samples, [&](const Sample &s) { return value(s) != value(a); });
  if (b == samples.end()) {
    return {};
  }
  Formula formula{reg, (b->needed - a.needed) / (value(*b) - value(a)), 0};
  formula.offset = a.needed - formula.factor * value(a);
  bool fits = formula.factor > 0 && std::ranges::all_of(samples, [&](const Sample &s) {
                return formula.factor * value(s) + formula.offset == s.needed;
              });
  return fits ? std::optional(formula) : std::nullopt;
}

/// For a threshold that is worked out before its wait.
RegId addThreshold(MendedCode &program, EngineId engine, const Formula &formula) {
  return addRegister(program, engine, "mend",
                     "is " + formulaText(program.engines[engine], formula));
}

Op sum(RegId into, Operand a, int64_t by) {
  auto number = Operand::number(static_cast<uint32_t>(by < 0 ? -by : by));
  return Op::alu2(by < 0 ? AluOp::Sub : AluOp::Add, into, a, number);
}

class WaitMender {
public:
  explicit WaitMender(const Edits &edits)
      : edits(edits), subject(edits.subject), kernel(edits.kernel) {}

  /// Tries thresholds; `before` tells of changes that `program` has already.
  bool waitFor(const MendedCode &program, WantedWait wanted, const std::string &before) const {
    const EngineProgram &engine = program.engines[kernel.engineOf(wanted.consumer)];
    for (uint32_t wait : waitsBefore(engine.ops, wanted.at)) {
      bool isOn = engine.ops[wait].wait == wanted.sema;
      wanted.wait = isOn && !wanted.wait ? wait : wanted.wait;
    }
    std::vector<Counter> counters = countersFor(engine.ops, wanted);
    std::vector<Sample> samples = samplesOf(program, wanted, counters);
    if (samples.empty()) {
      return false;
    }
    auto shift = rangeOf(samples, &Sample::shift), number = rangeOf(samples, &Sample::needed);
    auto shiftBy = [&](int64_t by) {
      return wanted.wait && shiftWait(edits, program, engine.engine, *wanted.wait, by, before);
    };
    if ((shift.min == shift.max && shiftBy(shift.max)) ||
        (number.min == number.max &&
         setWait(program, wanted, counters, {{}, 0, number.max}, before))) {
      return true;
    }
    for (uint32_t i = 0; i < samples.front().values.size(); ++i) {
      std::optional<Formula> formula = fit(samples, RegId(i));
      if (formula && setWait(program, wanted, counters, *formula, before)) {
        return true;
      }
    }
    return shift.min != shift.max && shift.max > 0 && shiftBy(shift.max);
  }

private:
  /// One of the consumer's runs, and one of each loop around; all count on from the start.
  std::vector<Counter> countersFor(const std::vector<Op> &ops, const WantedWait &wanted) const {
    uint32_t wait = wanted.waitOrIssue();
    std::vector<Counter> counters = {
        {wait, fmt::format("the runs of '{}'", kernel.nameOf(wanted.consumer))}};
    for (uint32_t loop : loopsAround(ops, wait)) {
      counters.push_back(
          {loop + 1, fmt::format("the iterations of '{}'", kernel.nameOf(ops[loop].loop()))});
    }
    return counters;
  }

  /// Of all runs in all choices of trips; empty if the semaphore does not tell what is needed.
  std::vector<Sample> samplesOf(const Code &program, const WantedWait &wanted,
                                const std::vector<Counter> &counters) const {
    std::vector<Sample> samples;
    for (const Bindings &bindings : subject.choices) {
      if (!sample(program, wanted, counters, bindings, samples)) {
        return {};
      }
    }
    return samples;
  }

  bool sample(const Code &program, const WantedWait &wanted, const std::vector<Counter> &counters,
              const Bindings &bindings, std::vector<Sample> &samples) const {
    EngineId engine = kernel.engineOf(wanted.consumer);
    Code asked = program;
    if (wanted.isForgotten) {
      asked.engines[engine].ops[*wanted.wait].a = Operand::number(0);
    }
    RaceSubject race(kernel, asked, subject.machine, bindings, subject.options);
    if (!race.complete()) {
      return false;
    }
    std::vector<PairWait> waits = waitsOf(race, wanted.producer, wanted.consumer);
    std::vector<uint64_t> largest = largestValues(race.system, assume(waits), wanted.sema,
                                                  kernel.instrs[wanted.producer].queue);
    EngineRun run(kernel, program, subject.machine, bindings, engine);
    std::vector<uint64_t> counts(counters.size(), 0);
    const int64_t step = stepOf(program, wanted.sema);
    std::optional<Sample> atWait;
    auto next = waits.begin();
    for (uint32_t at = 0; !largest.empty() && !run.atEnd(); run.advance(), ++at) {
      for (size_t i = 0; i < counters.size(); ++i) {
        if (run.at() == counters[i].at) {
          counts[i] = aluValue(AluOp::Add, counts[i], 1, subject.machine);
        }
      }
      if (run.at() == wanted.waitOrIssue()) {
        atWait = Sample{0, int64_t(run.value(run.head().a)), {}};
        for (RegId reg : program.engines[engine].registers.ids()) {
          atWait->values.push_back(int64_t(run.value(Operand::reg(reg))));
        }
        atWait->values.insert(atWait->values.end(), counts.begin(), counts.end());
      }
      if (run.at() != wanted.at || !atWait) {
        continue;
      }
      while (next != waits.end() && next->wait.at < at) {
        ++next;
      }
      if (next != waits.end() && next->wait.at == at) {
        uint64_t before = largest[next->wait.number - 1];
        if (before >= largest.back()) {
          return false; // never comes
        }
        atWait->needed = (int64_t(before) / step + 1) * step;
        samples.push_back(std::move(*atWait));
      }
      atWait.reset();
    }
    return !largest.empty();
  }

  /// Lets the consumer wait by a formula.
  bool setWait(const MendedCode &from, const WantedWait &wanted,
               const std::vector<Counter> &counters, Formula formula,
               const std::string &before) const {
    EngineId engine = kernel.engineOf(wanted.consumer);
    const EngineProgram &old = from.engines[engine];
    MendedCode program = from;
    EngineProgram &ops = program.engines[engine];
    uint32_t wait = wanted.waitOrIssue();
    count(program, engine, wait, counters, formula.reg);
    Operand threshold = addFormula(program, engine, wait, formula);
    std::string text = fmt::format(
        "{}let {} wait for '{}' >= {}{}", before, edits.waiterText(old, wanted.waitOrIssue()),
        edits.name(program, wanted.sema), formulaText(ops, formula), tooText(old, wanted));
    Op &op = ops.ops[wait];
    if (wanted.wait || (op.kind == OpKind::Issue && !op.wait.valid())) {
      op.wait = wanted.sema;
      op.a = threshold;
    } else {
      Edits::insert(ops, wait, {Op::makeWait(wanted.sema, threshold)});
    }
    return edits.propose("wait", std::move(text), std::move(program));
  }

  /// Adds the counter that `reg` stands for, if it is not one of the engine's own.
  static void count(MendedCode &program, EngineId engine, uint32_t &wait,
                    const std::vector<Counter> &counters, RegId &reg) {
    EngineProgram &ops = program.engines[engine];
    if (!reg.valid() || reg.value < ops.registers.size()) {
      return;
    }
    const Counter &counter = counters[reg.value - ops.registers.size()];
    reg = addRegister(program, engine, "count", fmt::format("counts {} from 1", counter.what));
    Edits::insert(ops, counter.at,
                  {Op::alu2(AluOp::Add, reg, Operand::reg(reg), Operand::number(1))});
    Edits::insert(ops, 0, {Op::move(reg, Operand::number(0))});
    wait += 2;
  }

  /// Computes it before operation `wait`, which moves on.
  static Operand addFormula(MendedCode &program, EngineId engine, uint32_t &wait,
                            const Formula &formula) {
    if (!formula.reg.valid()) {
      return Operand::number(static_cast<uint32_t>(formula.offset));
    }
    if (formula.factor == 1 && formula.offset == 0) {
      return Operand::reg(formula.reg);
    }
    RegId reg = addThreshold(program, engine, formula);
    EngineProgram &ops = program.engines[engine];
    Operand value = Operand::reg(formula.reg);
    if (formula.factor != 1) {
      auto factor = Operand::number(static_cast<uint32_t>(formula.factor));
      Edits::insert(ops, wait++, {Op::alu2(AluOp::Mul, reg, value, factor)});
      value = Operand::reg(reg);
    }
    if (formula.offset != 0) {
      Edits::insert(ops, wait++, {sum(reg, value, formula.offset)});
    }
    return Operand::reg(reg);
  }

  /// What becomes of what it waits for now.
  static std::string tooText(const EngineProgram &program, const WantedWait &wanted) {
    return wanted.wait
               ? fmt::format(", not {}", operandText(program, program.ops[*wanted.wait].a, 0))
           : waitsBefore(program.ops, wanted.at).empty() ? ""
                                                         : ", too";
  }

  const Edits &edits;
  const MendSubject &subject;
  const Kernel &kernel;
};

} // namespace

bool waitFor(const Edits &edits, const MendedCode &program, WantedWait wanted,
             const std::string &before) {
  return WaitMender(edits).waitFor(program, wanted, before);
}

bool shiftWait(const Edits &edits, MendedCode program, EngineId engine, uint32_t at, int64_t by,
               const std::string &before) {
  EngineProgram &ops = program.engines[engine];
  Op &wait = ops.ops[at];
  bool fits = by != 0 && (wait.a.isRegister || int64_t(wait.a.value) + by > 0);
  if (!fits) {
    return false;
  }
  std::string text =
      fmt::format("{}let {} wait for '{}' >= {}, {} {} than now", before, edits.waiterText(ops, at),
                  edits.name(program, wait.wait), operandText(ops, wait.a, by), by < 0 ? -by : by,
                  by < 0 ? "less" : "more");
  if (wait.a.isRegister) {
    Operand old = wait.a;
    RegId reg = addThreshold(program, engine, {old.asRegister(), 1, by});
    wait.a = Operand::reg(reg);
    Edits::insert(ops, at, {sum(reg, old, by)});
  } else {
    wait.a.value = static_cast<uint32_t>(int64_t(wait.a.value) + by);
  }
  return edits.propose("wait", std::move(text), std::move(program));
}

} // namespace tally::check
