//===- Mends.cpp - Changes of code that may mend a fault ------------------===//

#include "Mends.h"

#include "RacePairs.h"

#include "tally/Run/Interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>

namespace tally {
namespace {

//===----------------------------------------------------------------------===//
// Looking at code
//===----------------------------------------------------------------------===//

bool isStraight(const Op &op) {
  return op.kind == OpKind::Alu || op.kind == OpKind::Wait || op.kind == OpKind::Reset ||
         op.kind == OpKind::Drain;
}

bool isRaise(const Op &op) {
  return op.kind == OpKind::Signal || op.kind == OpKind::Issue;
}

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

/// The waits directly before an instruction, its own first.
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

//===----------------------------------------------------------------------===//
// Thresholds
//===----------------------------------------------------------------------===//

/// factor * register + offset; without a register, offset.
struct Formula {
  RegId reg;
  int64_t factor = 1;
  int64_t offset = 0;
};

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

//===----------------------------------------------------------------------===//
// Proposing
//===----------------------------------------------------------------------===//

class Mender {
public:
  Mender(const MendSubject &subject, const TryMend &tryMend)
      : subject(subject), kernel(subject.kernel), code(subject.code), tryMend(tryMend),
        isWaitedFor(waitedFor(code)) {}

  bool order(InstrId producer, InstrId consumer) {
    EngineId engine = kernel.engineOf(consumer);
    for (uint32_t at : issuesOf(code, consumer)) {
      for (SemaId sema : semaphoresFor(producer, engine, at)) {
        if (waitFor(code, {producer, consumer, at, sema}, "")) {
          return true;
        }
      }
    }
    EngineId other = kernel.engineOf(producer);
    return anyOp(other, &Mender::drainFirst) || anyOp(&Mender::resetEarlier) ||
           anyOp(&Mender::giveLess) || anyOp(engine, &Mender::recount) ||
           (other != engine && anyOp(other, &Mender::recount)) || raiseNew(producer, consumer);
  }

  bool deadlock(const std::vector<StuckWait> &stuck) {
    auto any = [&](auto mend) {
      return std::ranges::any_of(stuck, [&](const StuckWait &wait) { return mend(wait); });
    };
    return any([&](auto &wait) { return raiseMissing(wait, true); }) ||
           any([&](auto &wait) { return raiseInBranch(wait); }) ||
           any([&](auto &wait) { return refit(wait); }) ||
           any([&](auto &wait) { return raiseMissing(wait, false); }) ||
           any([&](auto &wait) { return askLess(wait); }) ||
           any([&](auto &wait) { return giveCredit(wait); }) || anyOp(&Mender::resetEarlier) ||
           any([&](auto &wait) { return anyOp(wait.engine, &Mender::recount); }) ||
           any([&](auto &wait) { return dropWait(wait); });
  }

private:
  using OpMend = bool (Mender::*)(EngineId, uint32_t) const;

  /// Tries a change at one operation of the engine after the other.
  template <typename AtOp> bool anyOp(EngineId engine, AtOp mend) const {
    auto numOps = static_cast<uint32_t>(opsOf(engine).size());
    return std::ranges::any_of(std::views::iota(0u, numOps),
                               [&](uint32_t at) { return mend(engine, at); });
  }

  bool anyOp(EngineId engine, OpMend mend) const {
    return anyOp(engine, [&](EngineId e, uint32_t at) { return (this->*mend)(e, at); });
  }

  template <typename AtOp> bool anyOp(AtOp mend) const {
    return std::ranges::any_of(
        code.engines, [&](const EngineProgram &program) { return anyOp(program.engine, mend); });
  }

  const std::vector<Op> &opsOf(EngineId engine) const { return code.engines[engine].ops; }

  std::vector<uint32_t> issuesOf(const Code &program, InstrId instr) const {
    std::vector<uint32_t> places;
    const std::vector<Op> &ops = program.engines[kernel.engineOf(instr)].ops;
    for (uint32_t at = 0; at < ops.size(); ++at) {
      if (ops[at].kind == OpKind::Issue && ops[at].instr() == instr) {
        places.push_back(at);
      }
    }
    return places;
  }

  /// What an instruction's queue raises a semaphore by: one for each of its rings.
  uint32_t amountOf(InstrId instr) const {
    return numRings(kernel.queues[kernel.instrs[instr].queue]);
  }

  /// ... and what others of its queue do.
  std::vector<uint32_t> amountsOf(InstrId instr) const {
    std::vector<uint32_t> amounts = {amountOf(instr)};
    for (const Op &op : opsOf(kernel.engineOf(instr))) {
      bool isLike = op.kind == OpKind::Issue && op.signal.valid() &&
                    kernel.instrs[op.instr()].queue == kernel.instrs[instr].queue;
      if (isLike && std::ranges::count(amounts, op.amount) == 0) {
        amounts.push_back(op.amount);
      }
    }
    return amounts;
  }

  bool propose(std::string kind, std::string text, Code program) const {
    return tryMend({{std::move(kind), std::move(text)}, std::move(program)});
  }

  /// The code with a change of one engine.
  template <typename Edit>
  bool change(std::string kind, EngineId engine, Edit edit, std::string text) const {
    Code program = code;
    edit(program.engines[engine]);
    return propose(std::move(kind), std::move(text), std::move(program));
  }

  static void insert(EngineProgram &program, uint32_t at, const std::vector<Op> &ops) {
    program.ops.insert(program.ops.begin() + at, ops.begin(), ops.end());
  }

  //===--- Naming ---------------------------------------------------------===//

  /// `'load' on 'dma'`, `the wait before 'load' on 'dma'`.
  std::string waiterText(const EngineProgram &program, uint32_t at) const {
    std::string_view engine = kernel.nameOf(program.engine);
    InstrId instr = instrAfter(program.ops, at);
    return !instr.valid() ? fmt::format("the last wait on '{}'", engine)
           : program.ops[at].kind == OpKind::Issue
               ? fmt::format("'{}' on '{}'", kernel.nameOf(instr), engine)
               : fmt::format("the wait before '{}' on '{}'", kernel.nameOf(instr), engine);
  }

  /// `, before 'load'`: where an engine does something by itself.
  std::string placeText(EngineId engine, uint32_t at) const {
    const std::vector<Op> &ops = opsOf(engine);
    InstrId next = instrAfter(ops, at);
    auto last = std::find_if(ops.rend() - at, ops.rend(),
                             [](const Op &op) { return op.kind == OpKind::Issue; });
    return next.valid()         ? fmt::format(", before '{}'", kernel.nameOf(next))
           : last != ops.rend() ? fmt::format(", after '{}'", kernel.nameOf(last->instr()))
                                : "";
  }

  /// `3 * "r0" - 1`
  static std::string formulaText(const EngineProgram &program, const Formula &formula) {
    if (!formula.reg.valid()) {
      return fmt::format("{}", formula.offset);
    }
    std::string factor = formula.factor == 1 ? "" : fmt::format("{} * ", formula.factor);
    std::string text = fmt::format("{}\"{}\"", factor, program.registers[formula.reg].name);
    return formula.offset == 0  ? text
           : formula.offset > 0 ? fmt::format("{} + {}", text, formula.offset)
                                : fmt::format("{} - {}", text, -formula.offset);
  }

  static std::string operandText(const EngineProgram &program, Operand operand, int64_t offset) {
    return formulaText(program, operand.isRegister
                                    ? Formula{operand.asRegister(), 1, offset}
                                    : Formula{{}, 0, int64_t(operand.value) + offset});
  }

  std::string_view name(const Code &program, SemaId sema) const {
    return program.semaphores[sema].name;
  }

  //===--- Waiting --------------------------------------------------------===//

  struct Wanted {
    InstrId producer, consumer;
    uint32_t at = 0; ///< the operation that issues the consumer
    SemaId sema;
    /// The wait whose threshold is wrong; the one that is on this semaphore, if there is one.
    std::optional<uint32_t> wait = {};
    bool isForgotten = false; ///< that wait counts for nothing

    uint32_t waitOrIssue() const { return wait.value_or(at); }
  };

  /// Those that the consumer waits for already, then those that the producer and its engine raise.
  std::vector<SemaId> semaphoresFor(InstrId producer, EngineId engine, uint32_t at) const {
    std::vector<SemaId> semas;
    auto add = [&](SemaId sema) {
      if (sema.valid() && std::ranges::count(semas, sema) == 0) {
        semas.push_back(sema);
      }
    };
    for (uint32_t wait : waitsBefore(opsOf(engine), at)) {
      add(opsOf(engine)[wait].wait);
    }
    for (uint32_t issue : issuesOf(code, producer)) {
      add(opsOf(kernel.engineOf(producer))[issue].signal);
    }
    for (const Op &op : opsOf(kernel.engineOf(producer))) {
      if (isRaise(op)) {
        add(op.signal);
      }
    }
    return semas;
  }

  /// One of the consumer's runs, and one of each loop around; all count on from the start.
  std::vector<Counter> countersFor(const std::vector<Op> &ops, const Wanted &wanted) const {
    uint32_t wait = wanted.waitOrIssue();
    std::vector<Counter> counters = {
        {wait, fmt::format("the runs of '{}'", kernel.nameOf(wanted.consumer))}};
    for (uint32_t loop : loopsAround(ops, wait)) {
      counters.push_back(
          {loop + 1, fmt::format("the iterations of '{}'", kernel.nameOf(ops[loop].loop()))});
    }
    return counters;
  }

  static RegId addRegister(EngineProgram &engine, std::string name) {
    return engine.registers.push({std::move(name), ""});
  }

  /// Of all runs in all choices of trips; empty if the semaphore does not tell what is needed.
  std::vector<Sample> samplesOf(const Code &program, const Wanted &wanted,
                                const std::vector<Counter> &counters) const {
    std::vector<Sample> samples;
    for (const Bindings &bindings : subject.choices) {
      if (!sample(program, wanted, counters, bindings, samples)) {
        return {};
      }
    }
    return samples;
  }

  bool sample(const Code &program, const Wanted &wanted, const std::vector<Counter> &counters,
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
        uint64_t needed = largest[next->wait.number - 1] + 1;
        if (needed > largest.back()) {
          return false; // never comes
        }
        atWait->needed = int64_t(needed);
        samples.push_back(std::move(*atWait));
      }
      atWait.reset();
    }
    return !largest.empty();
  }

  /// Tries thresholds; `before` tells of changes that `program` has already.
  bool waitFor(const Code &program, Wanted wanted, const std::string &before) const {
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
      return wanted.wait && shiftWait(program, engine.engine, *wanted.wait, by, before);
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

  /// Lets a wait ask for so much more.
  bool shiftWait(Code program, EngineId engine, uint32_t at, int64_t by,
                 const std::string &before) const {
    EngineProgram &ops = program.engines[engine];
    Op &wait = ops.ops[at];
    bool fits = by != 0 && (wait.a.isRegister || int64_t(wait.a.value) + by > 0);
    if (!fits) {
      return false;
    }
    std::string text =
        fmt::format("{}let {} wait for '{}' >= {}, {} {} than now", before, waiterText(ops, at),
                    name(program, wait.wait), operandText(ops, wait.a, by), by < 0 ? -by : by,
                    by < 0 ? "less" : "more");
    if (wait.a.isRegister) {
      Operand old = wait.a;
      RegId reg = addRegister(ops, freshRegister(ops));
      wait.a = Operand::reg(reg);
      insert(ops, at, {sum(reg, old, by)});
    } else {
      wait.a.value = static_cast<uint32_t>(int64_t(wait.a.value) + by);
    }
    return propose("wait", std::move(text), std::move(program));
  }

  static std::string freshRegister(const EngineProgram &program) {
    return fmt::format("mend{}", program.registers.size());
  }

  static Op sum(RegId into, Operand a, int64_t by) {
    auto number = Operand::number(static_cast<uint32_t>(by < 0 ? -by : by));
    return Op::alu2(by < 0 ? AluOp::Sub : AluOp::Add, into, a, number);
  }

  /// Lets the consumer wait by a formula.
  bool setWait(const Code &from, const Wanted &wanted, const std::vector<Counter> &counters,
               Formula formula, const std::string &before) const {
    EngineId engine = kernel.engineOf(wanted.consumer);
    const EngineProgram &old = from.engines[engine];
    Code program = from;
    EngineProgram &ops = program.engines[engine];
    uint32_t wait = wanted.waitOrIssue();
    std::string counter = count(ops, wait, counters, formula.reg);
    Operand threshold = addFormula(ops, wait, formula);
    std::string text = fmt::format(
        "{}let {} wait for '{}' >= {}{}{}", before, waiterText(old, wanted.waitOrIssue()),
        name(program, wanted.sema), formulaText(ops, formula), tooText(old, wanted), counter);
    Op &op = ops.ops[wait];
    if (wanted.wait || (op.kind == OpKind::Issue && !op.wait.valid())) {
      op.wait = wanted.sema;
      op.a = threshold;
    } else {
      insert(ops, wait, {Op::makeWait(wanted.sema, threshold)});
    }
    return propose("wait", std::move(text), std::move(program));
  }

  /// Adds the counter that `reg` stands for, if it is not one of the engine's own. Says what it
  /// counts.
  static std::string count(EngineProgram &ops, uint32_t &wait, const std::vector<Counter> &counters,
                           RegId &reg) {
    if (!reg.valid() || reg.value < ops.registers.size()) {
      return {};
    }
    const Counter &counter = counters[reg.value - ops.registers.size()];
    reg = addRegister(ops, "count");
    insert(ops, counter.at, {Op::alu2(AluOp::Add, reg, Operand::reg(reg), Operand::number(1))});
    insert(ops, 0, {Op::move(reg, Operand::number(0))});
    wait += 2;
    return fmt::format(", where \"count\" counts {} from 1", counter.what);
  }

  /// Computes it before operation `wait`, which moves on.
  static Operand addFormula(EngineProgram &ops, uint32_t &wait, const Formula &formula) {
    if (!formula.reg.valid()) {
      return Operand::number(static_cast<uint32_t>(formula.offset));
    }
    if (formula.factor == 1 && formula.offset == 0) {
      return Operand::reg(formula.reg);
    }
    RegId reg = addRegister(ops, freshRegister(ops));
    Operand value = Operand::reg(formula.reg);
    if (formula.factor != 1) {
      auto factor = Operand::number(static_cast<uint32_t>(formula.factor));
      insert(ops, wait++, {Op::alu2(AluOp::Mul, reg, value, factor)});
      value = Operand::reg(reg);
    }
    if (formula.offset != 0) {
      insert(ops, wait++, {sum(reg, value, formula.offset)});
    }
    return Operand::reg(reg);
  }

  /// What becomes of what it waits for now.
  static std::string tooText(const EngineProgram &program, const Wanted &wanted) {
    return wanted.wait
               ? fmt::format(", not {}", operandText(program, program.ops[*wanted.wait].a, 0))
           : waitsBefore(program.ops, wanted.at).empty() ? ""
                                                         : ", too";
  }

  //===--- Raising --------------------------------------------------------===//

  /// A semaphore for the producer alone: it raises it, or its engine does after a drain.
  bool raiseNew(InstrId producer, InstrId consumer) {
    EngineId engine = kernel.engineOf(producer);
    std::string sema = fmt::format("{}.done", kernel.nameOf(producer));
    std::string who = fmt::format("let '{}' on '{}' raise a new semaphore '{}', and ",
                                  kernel.nameOf(producer), kernel.nameOf(engine), sema);
    std::string after =
        fmt::format("let '{}' drain after '{}' and raise a new semaphore '{}', and ",
                    kernel.nameOf(engine), kernel.nameOf(producer), sema);
    Code itself = code, drained = code;
    SemaId id = itself.semaphores.push({sema});
    drained.semaphores.push({sema});
    bool isFree = true;
    std::vector<uint32_t> places = issuesOf(code, producer);
    for (auto at = places.rbegin(); at != places.rend(); ++at) {
      Op &op = itself.engines[engine].ops[*at];
      isFree = isFree && !op.signal.valid();
      op.signal = id;
      op.amount = amountOf(producer);
      insert(drained.engines[engine], afterBranches(opsOf(engine), *at),
             {Op::drain(), Op::makeSignal(id)});
    }
    return (isFree && waitForNew(itself, producer, consumer, id, who)) ||
           waitForNew(drained, producer, consumer, id, after);
  }

  bool waitForNew(const Code &program, InstrId producer, InstrId consumer, SemaId sema,
                  const std::string &before) {
    return std::ranges::any_of(issuesOf(program, consumer), [&](uint32_t at) {
      return waitFor(program, {producer, consumer, at, sema}, before);
    });
  }

  /// The place after an operation that is reached whichever branches are taken.
  static uint32_t afterBranches(const std::vector<Op> &ops, uint32_t at) {
    std::vector<uint32_t> match = matchBrackets(ops);
    uint32_t place = at + 1;
    for (uint32_t i = at; i-- > 0;) {
      uint32_t end = ops[match[i]].kind == OpKind::Else ? match[match[i]] : match[i];
      if (end > at && ops[i].kind == OpKind::IfBegin) {
        place = end + 1;
      } else if (end > at && ops[i].kind != OpKind::Else) {
        break;
      }
    }
    return place;
  }

  /// Whether a wait comes before an instruction that has to wait for this one.
  bool isAskedFor(InstrId producer, const StuckWait &wait) {
    InstrId consumer = instrAfter(opsOf(wait.engine), wait.op);
    if (!consumer.valid()) {
      return false;
    }
    auto [entry, isNew] = asked.try_emplace({producer, consumer}, false);
    if (isNew) {
      entry->second = std::ranges::any_of(
          races(), [&](const auto &race) { return !waitsOf(*race, producer, consumer).empty(); });
    }
    return entry->second;
  }

  /// Of the code as it is, by choice of trips.
  const std::vector<std::unique_ptr<RaceSubject>> &races() {
    for (size_t i = made.size(); i < subject.choices.size(); ++i) {
      made.push_back(std::make_unique<RaceSubject>(kernel, code, subject.machine,
                                                   subject.choices[i], subject.options));
    }
    return made;
  }

  /// By an instruction that it should wait for, or by any.
  bool raiseMissing(const StuckWait &wait, bool isAsked) {
    return anyOp([&](EngineId engine, uint32_t at) {
      const Op &op = opsOf(engine)[at];
      return op.kind == OpKind::Issue && op.signal != wait.sema &&
             (isAsked || !op.signal.valid() || !isWaitedFor[op.signal]) &&
             isAskedFor(op.instr(), wait) == isAsked &&
             std::ranges::any_of(amountsOf(op.instr()), [&](uint32_t amount) {
               return raiseBy(engine, at, wait.sema, amount);
             });
    });
  }

  bool raiseBy(EngineId engine, uint32_t at, SemaId sema, uint32_t amount) const {
    const Op &op = opsOf(engine)[at];
    std::string instead =
        op.signal.valid() ? fmt::format(" instead of '{}'", name(code, op.signal)) : "";
    auto raise = [&](EngineProgram &program) {
      program.ops[at].signal = sema;
      program.ops[at].amount = amount;
    };
    return change("raise", engine, raise,
                  fmt::format("let '{}' on '{}' raise '{}'{}{}", kernel.nameOf(op.instr()),
                              kernel.nameOf(engine), name(code, sema),
                              amount == 1 ? "" : fmt::format(" by {}", amount), instead));
  }

  bool giveCredit(const StuckWait &wait) const {
    auto by = static_cast<uint32_t>(wait.threshold - wait.value);
    return std::ranges::any_of(code.engines, [&](const EngineProgram &raiser) {
      if (std::ranges::count(raiser.ops, wait.sema, &Op::signal) == 0) {
        return false;
      }
      return change(
          "credit", raiser.engine,
          [&](EngineProgram &program) { insert(program, 0, {Op::makeSignal(wait.sema, by)}); },
          fmt::format("let '{}' raise '{}' by {} before everything else",
                      kernel.nameOf(raiser.engine), name(code, wait.sema), by));
    });
  }

  /// One branch raises what is waited for, the other does not.
  bool raiseInBranch(const StuckWait &wait) const {
    return anyOp([&](EngineId engine, uint32_t at) {
      return opsOf(engine)[at].kind == OpKind::IfBegin && balance(engine, at, wait.sema);
    });
  }

  bool balance(EngineId engine, uint32_t begin, SemaId sema) const {
    const std::vector<Op> &ops = opsOf(engine);
    std::vector<uint32_t> match = matchBrackets(ops);
    uint32_t middle = match[begin]; // the Else, or the end
    uint32_t end = ops[middle].kind == OpKind::Else ? match[middle] : middle;
    auto raises = [&](uint32_t from, uint32_t to) {
      uint32_t sum = 0;
      for (uint32_t at = from; at < to; ++at) {
        sum += isRaise(ops[at]) && ops[at].signal == sema ? ops[at].amount : 0;
      }
      return sum;
    };
    uint32_t first = raises(begin, middle), other = raises(middle, end);
    if (first == other) {
      return false;
    }
    bool isThen = first < other;
    uint32_t by = isThen ? other - first : first - other;
    std::vector<Op> added = {Op::drain(), Op::makeSignal(sema, by)};
    if (!isThen && middle == end) {
      added.insert(added.begin(), Op::mark(OpKind::Else));
    }
    return change(
        "branch", engine,
        [&](EngineProgram &program) { insert(program, isThen ? middle : end, added); },
        fmt::format("let '{}' drain and raise '{}' by {} in the {} branch of '{}', too",
                    kernel.nameOf(engine), name(code, sema), by, isThen ? "first" : "other",
                    kernel.nameOf(ops[begin].loop())));
  }

  //===--- Other changes --------------------------------------------------===//

  /// What is raised after an instruction was issued may be raised before it has finished.
  bool drainFirst(EngineId engine, uint32_t at) const {
    const std::vector<Op> &ops = opsOf(engine);
    bool isEarly = ops[at].kind == OpKind::Signal &&
                   (at == 0 || ops[at - 1].kind != OpKind::Drain) && isWaitedFor[ops[at].signal];
    if (!isEarly) {
      return false;
    }
    return change(
        "drain", engine, [&](EngineProgram &program) { insert(program, at, {Op::drain()}); },
        fmt::format("let '{}' drain before it raises '{}'{}", kernel.nameOf(engine),
                    name(code, ops[at].signal), placeText(engine, at)));
  }

  bool resetEarlier(EngineId engine, uint32_t at) const {
    const std::vector<Op> &ops = opsOf(engine);
    bool isAfterIssue = at > 0 && ops[at].kind == OpKind::Reset &&
                        ops[at - 1].kind == OpKind::Issue && !ops[at - 1].wait.valid();
    if (!isAfterIssue) {
      return false;
    }
    return change(
        "reset", engine,
        [&](EngineProgram &program) { std::swap(program.ops[at], program.ops[at - 1]); },
        fmt::format("let '{}' reset '{}' before it issues '{}', not after", kernel.nameOf(engine),
                    name(code, ops[at].signal), kernel.nameOf(ops[at - 1].instr())));
  }

  /// A credit may be one too many.
  bool giveLess(EngineId engine, uint32_t at) const {
    const Op &op = opsOf(engine)[at];
    if (op.kind != OpKind::Signal || op.amount < 2 || !isWaitedFor[op.signal]) {
      return false;
    }
    return change(
        "credit", engine, [&](EngineProgram &program) { --program.ops[at].amount; },
        fmt::format("let '{}' raise '{}' by {}, not {}{}", kernel.nameOf(engine),
                    name(code, op.signal), op.amount - 1, op.amount, placeText(engine, at)));
  }

  /// A number that is added to a register, or multiplied with it, may be off by one.
  bool recount(EngineId engine, uint32_t at) const {
    const Op &op = opsOf(engine)[at];
    bool isCount = op.kind == OpKind::Alu && op.a.isRegister && !op.b.isRegister &&
                   (op.alu == AluOp::Add || op.alu == AluOp::Sub || op.alu == AluOp::Mul);
    return isCount &&
           std::ranges::any_of(std::array{op.b.value + 1, op.b.value - 1}, [&](uint32_t by) {
             return by != UINT32_MAX && by != 0 &&
                    change(
                        "count", engine,
                        [&](EngineProgram &program) { program.ops[at].b.value = by; },
                        fmt::format("let '{}' set \"{}\" to {}, not {}{}", kernel.nameOf(engine),
                                    code.engines[engine].registers[op.dst].name,
                                    sumText(engine, op, by), sumText(engine, op, op.b.value),
                                    placeText(engine, at)));
           });
  }

  std::string sumText(EngineId engine, const Op &op, uint32_t by) const {
    char sign = op.alu == AluOp::Add ? '+' : op.alu == AluOp::Sub ? '-' : '*';
    return fmt::format("\"{}\" {} {}", code.engines[engine].registers[op.a.asRegister()].name, sign,
                       by);
  }

  /// What the instructions that have to come before ask for.
  bool refit(const StuckWait &wait) {
    InstrId consumer = instrAfter(opsOf(wait.engine), wait.op);
    for (uint32_t at : consumer.valid() ? issuesOf(code, consumer) : std::vector<uint32_t>()) {
      if (std::ranges::count(waitsBefore(opsOf(wait.engine), at), wait.op) == 0) {
        continue;
      }
      for (InstrId producer : kernel.instrs.ids()) {
        Wanted wanted{producer, consumer, at, wait.sema, wait.op, true};
        if (isAskedFor(producer, wait) && waitFor(code, wanted, "")) {
          return true;
        }
      }
    }
    return false;
  }

  bool askLess(const StuckWait &wait) const {
    return shiftWait(code, wait.engine, wait.op, int64_t(wait.value) - int64_t(wait.threshold), "");
  }

  bool dropWait(const StuckWait &wait) const {
    auto drop = [&](EngineProgram &program) {
      Op &op = program.ops[wait.op];
      op.wait = SemaId();
      if (op.kind == OpKind::Wait) {
        program.ops.erase(program.ops.begin() + wait.op);
      }
    };
    return change("drop", wait.engine, drop,
                  fmt::format("let {} not wait for '{}'",
                              waiterText(code.engines[wait.engine], wait.op),
                              name(code, opsOf(wait.engine)[wait.op].wait)));
  }

  const MendSubject &subject;
  const Kernel &kernel;
  const Code &code;
  const TryMend &tryMend;
  const IdVector<SemaId, bool> isWaitedFor;
  std::vector<std::unique_ptr<RaceSubject>> made;
  std::map<std::pair<InstrId, InstrId>, bool> asked;
};

} // namespace

bool mendOrder(const MendSubject &subject, InstrId producer, InstrId consumer,
               const TryMend &tryMend) {
  return Mender(subject, tryMend).order(producer, consumer);
}

bool mendDeadlock(const MendSubject &subject, const std::vector<StuckWait> &stuck,
                  const TryMend &tryMend) {
  return Mender(subject, tryMend).deadlock(stuck);
}

} // namespace tally
