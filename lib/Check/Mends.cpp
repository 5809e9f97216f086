//===- Mends.cpp - Changes of code that may mend a fault ------------------===//

#include "Mends.h"

#include "RacePairs.h"

#include "tally/Run/Interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally {
namespace {

//===----------------------------------------------------------------------===//
// Looking at code
//===----------------------------------------------------------------------===//

bool isStraight(const Op &op) {
  return op.kind == OpKind::Alu || op.kind == OpKind::Wait || op.kind == OpKind::Reset ||
         op.kind == OpKind::Drain;
}

bool opens(OpKind kind) {
  return kind == OpKind::LoopBegin || kind == OpKind::IfBegin || kind == OpKind::WhenBegin ||
         kind == OpKind::BarrierBegin;
}

bool closes(OpKind kind) {
  return kind == OpKind::LoopEnd || kind == OpKind::IfEnd || kind == OpKind::WhenEnd ||
         kind == OpKind::BarrierEnd;
}

/// The loops around an operation, as the places where they begin, innermost first.
std::vector<uint32_t> loopsAround(const std::vector<Op> &ops, uint32_t at) {
  std::vector<uint32_t> loops;
  for (uint32_t i = at, depth = 0; i-- > 0;) {
    depth += closes(ops[i].kind);
    if (opens(ops[i].kind) && depth > 0) {
      --depth;
    } else if (ops[i].kind == OpKind::LoopBegin) {
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

/// One run of the consumer: what it has to wait for, and what registers hold.
struct Sample {
  uint64_t needed = 0; ///< 0: nothing
  uint64_t asked = 0;  ///< by the wait that is there now
  std::vector<uint64_t> registers;
};

class Fit {
public:
  explicit Fit(const std::vector<Sample> &samples) {
    for (const Sample &sample : samples) {
      if (sample.needed != 0) {
        needing.push_back(&sample);
      }
    }
  }

  /// What to add to what is asked for: the same everywhere.
  std::optional<int64_t> shift() const {
    return constant([](const Sample &s) { return int64_t(s.needed) - int64_t(s.asked); });
  }

  /// ... so that it suffices everywhere.
  int64_t largestShift() const {
    int64_t most = INT64_MIN;
    for (const Sample *s : needing) {
      most = std::max(most, int64_t(s->needed) - int64_t(s->asked));
    }
    return most;
  }

  std::optional<int64_t> number() const {
    return constant([](const Sample &s) { return int64_t(s.needed); });
  }

  std::optional<Formula> of(RegId reg) const {
    const Sample *a = needing.empty() ? nullptr : needing.front();
    auto value = [reg](const Sample *s) { return int64_t(s->registers[reg.value]); };
    auto b = std::find_if(needing.begin(), needing.end(),
                          [&](const Sample *s) { return value(s) != value(a); });
    if (b == needing.end()) {
      return {};
    }
    int64_t rise = int64_t((*b)->needed) - int64_t(a->needed), run = value(*b) - value(a);
    Formula formula{reg, rise / run, 0};
    formula.offset = int64_t(a->needed) - formula.factor * value(a);
    bool fits = formula.factor > 0 && std::all_of(needing.begin(), needing.end(), [&](auto *s) {
                  return formula.factor * value(s) + formula.offset == int64_t(s->needed);
                });
    return fits ? std::optional(formula) : std::nullopt;
  }

  bool isEmpty() const { return needing.empty(); }

private:
  template <typename Of> std::optional<int64_t> constant(Of of) const {
    for (const Sample *s : needing) {
      if (of(*s) != of(*needing.front())) {
        return {};
      }
    }
    return needing.empty() ? std::nullopt : std::optional(of(*needing.front()));
  }

  std::vector<const Sample *> needing;
};

//===----------------------------------------------------------------------===//
// Proposing
//===----------------------------------------------------------------------===//

class Mender {
public:
  Mender(const MendSubject &subject, const TryMend &tryMend)
      : subject(subject), kernel(subject.kernel), code(subject.code), tryMend(tryMend) {}

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
    return drainFirst(other) || resetEarlier() || giveLess() || recount(engine) ||
           (other != engine && recount(other)) || raiseNew(producer, consumer);
  }

  bool deadlock(const std::vector<StuckWait> &stuck) {
    return raiseMissing(stuck, true) || raiseInBranch(stuck) || refit(stuck) ||
           raiseMissing(stuck, false) || askLess(stuck) || giveCredit(stuck) || resetEarlier() ||
           recountAll(stuck) || dropWait(stuck);
  }

private:
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
    const Queue &queue = kernel.queues[kernel.instrs[instr].queue];
    return queue.completion == Completion::Split ? queue.weight : 1;
  }

  /// ... and what others of its queue do.
  std::vector<uint32_t> amountsOf(InstrId instr) const {
    std::vector<uint32_t> amounts = {amountOf(instr)};
    for (const Op &op : opsOf(kernel.engineOf(instr))) {
      bool isLike = op.kind == OpKind::Issue && op.signal.valid() &&
                    kernel.instrs[op.instr()].queue == kernel.instrs[instr].queue;
      if (isLike && std::find(amounts.begin(), amounts.end(), op.amount) == amounts.end()) {
        amounts.push_back(op.amount);
      }
    }
    return amounts;
  }

  bool propose(std::string kind, std::string text, Code program) const {
    return tryMend({{std::move(kind), std::move(text)}, std::move(program)});
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

  static std::string offsetText(int64_t offset) {
    return offset == 0
               ? ""
               : fmt::format(" {} {}", offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
  }

  static std::string operandText(const EngineProgram &program, Operand operand, int64_t offset) {
    return operand.isRegister
               ? fmt::format("\"{}\"{}", program.registers[operand.asRegister()].name,
                             offsetText(offset))
               : fmt::format("{}", int64_t(operand.value) + offset);
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
  };

  /// Those that the consumer waits for already, then those that the producer and its engine raise.
  std::vector<SemaId> semaphoresFor(InstrId producer, EngineId engine, uint32_t at) const {
    std::vector<SemaId> semas;
    auto add = [&](SemaId sema) {
      if (sema.valid() && std::find(semas.begin(), semas.end(), sema) == semas.end()) {
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
      if (op.kind == OpKind::Signal || op.kind == OpKind::Issue) {
        add(op.signal);
      }
    }
    return semas;
  }

  /// The registers of an engine as they are, and counters of what goes around.
  struct Draft {
    Code code;
    uint32_t wait = 0, issue = 0; ///< operations
    RegId firstCounter;
    std::vector<std::string> counters; ///< what each counts
  };

  /// Adds a counter of each loop around, and one of the instruction's runs.
  Draft draftOf(const Code &program, const Wanted &wanted) const {
    Draft draft{program, 0, wanted.at, RegId(), {}};
    EngineProgram &engine = draft.code.engines[kernel.engineOf(wanted.consumer)];
    draft.firstCounter = RegId(static_cast<uint32_t>(engine.registers.size()));
    std::optional<uint32_t> wait = wanted.wait;
    if (!wait) {
      wait = draft.issue;
      insert(engine, *wait, {Op::makeWait(wanted.sema, Operand::number(0))});
      ++draft.issue;
    }
    draft.wait = *wait;
    addCounter(draft, engine, draft.wait,
               fmt::format("the runs of '{}'", kernel.nameOf(wanted.consumer)));
    std::vector<uint32_t> loops = loopsAround(engine.ops, draft.wait);
    for (uint32_t loop : loops) {
      addCounter(draft, engine, loop + 1,
                 fmt::format("the iterations of '{}'", kernel.nameOf(engine.ops[loop].loop())));
    }
    std::vector<Op> clear;
    for (uint32_t i = 0; i < draft.counters.size(); ++i) {
      clear.push_back(Op::move(RegId(draft.firstCounter.value + i), Operand::number(0)));
    }
    insert(engine, 0, clear);
    draft.wait += static_cast<uint32_t>(clear.size());
    draft.issue += static_cast<uint32_t>(clear.size());
    return draft;
  }

  static RegId addRegister(EngineProgram &engine, std::string name) {
    return engine.registers.push({std::move(name), ""});
  }

  /// Before an operation that comes before the wait, or is it.
  static void addCounter(Draft &draft, EngineProgram &engine, uint32_t at, std::string what) {
    RegId reg = addRegister(engine, fmt::format("count{}", draft.counters.size()));
    insert(engine, at, {Op::alu2(AluOp::Add, reg, Operand::reg(reg), Operand::number(1))});
    ++draft.wait;
    ++draft.issue;
    draft.counters.push_back(std::move(what));
  }

  /// Of all runs in all choices of trips; none if the semaphore does not tell what is needed.
  std::optional<std::vector<Sample>> samplesOf(const Draft &draft, const Wanted &wanted) const {
    EngineId engine = kernel.engineOf(wanted.consumer);
    Code program = draft.code;
    if (wanted.isForgotten) {
      program.engines[engine].ops[draft.wait].a = Operand::number(0);
    }
    std::vector<Sample> samples;
    for (const Bindings &bindings : subject.choices) {
      if (!sample(program, draft, wanted, bindings, samples)) {
        return {};
      }
    }
    return samples;
  }

  bool sample(const Code &program, const Draft &draft, const Wanted &wanted,
              const Bindings &bindings, std::vector<Sample> &samples) const {
    RaceSubject instance(kernel, program, subject.machine, bindings, subject.options);
    if (!instance.complete()) {
      return false;
    }
    QueueId queue = kernel.instrs[wanted.producer].queue;
    std::vector<PairWait> waits = waitsOf(instance, wanted.producer, wanted.consumer);
    std::vector<uint64_t> largest =
        largestValues(instance.system, assume(waits), wanted.sema, queue);
    if (largest.empty()) {
      return false;
    }
    EngineId engine = kernel.engineOf(wanted.consumer);
    const EngineProgram &ops = draft.code.engines[engine];
    EngineRun run(kernel, draft.code, subject.machine, bindings, engine);
    auto next = waits.begin();
    uint32_t number = 0; // of the run of the consumer in its queue
    std::optional<Sample> atWait;
    while (const Op *op = run.next()) {
      auto place = static_cast<uint32_t>(op - ops.ops.data());
      if (place == draft.wait) {
        atWait = Sample{0, run.value(op->a), {}};
        for (RegId reg : ops.registers.ids()) {
          atWait->registers.push_back(run.value(Operand::reg(reg)));
        }
      }
      bool isOfQueue = op->kind == OpKind::Issue &&
                       kernel.instrs[op->instr()].queue == kernel.instrs[wanted.consumer].queue;
      number += isOfQueue;
      if (place != draft.issue || !atWait) {
        continue;
      }
      while (next != waits.end() && next->laterNumber < number) {
        ++next;
      }
      if (next != waits.end() && next->laterNumber == number) {
        atWait->needed = largest[next->wait.number - 1] + 1;
        if (atWait->needed > largest.back()) {
          return false; // never comes
        }
      }
      samples.push_back(std::move(*atWait));
      atWait.reset();
    }
    return true;
  }

  /// Tries thresholds; `before` tells of changes that `code` has already.
  bool waitFor(const Code &program, Wanted wanted, const std::string &before) {
    EngineId engine = kernel.engineOf(wanted.consumer);
    for (uint32_t wait : waitsBefore(program.engines[engine].ops, wanted.at)) {
      bool isOn = program.engines[engine].ops[wait].wait == wanted.sema;
      wanted.wait = isOn && !wanted.wait ? wait : wanted.wait;
    }
    Draft draft = draftOf(program, wanted);
    std::optional<std::vector<Sample>> samples = samplesOf(draft, wanted);
    if (!samples || Fit(*samples).isEmpty()) {
      return false;
    }
    Fit fit(*samples);
    if (wanted.wait && fit.shift() &&
        shiftWait(program, engine, *wanted.wait, *fit.shift(), before)) {
      return true;
    }
    if (std::optional<int64_t> number = fit.number();
        number && setWait(program, wanted, draft, {{}, 0, *number}, before)) {
      return true;
    }
    const EngineProgram &drafted = draft.code.engines[engine];
    for (RegId reg : drafted.registers.ids()) {
      std::optional<Formula> formula = fit.of(reg);
      if (formula && setWait(program, wanted, draft, *formula, before)) {
        return true;
      }
    }
    return wanted.wait && !fit.shift() && fit.largestShift() > 0 &&
           shiftWait(program, engine, *wanted.wait, fit.largestShift(), before);
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
  bool setWait(const Code &from, const Wanted &wanted, const Draft &draft, Formula formula,
               const std::string &before) const {
    EngineId engine = kernel.engineOf(wanted.consumer);
    const EngineProgram &old = from.engines[engine];
    Code program = from;
    EngineProgram &ops = program.engines[engine];
    uint32_t wait = wanted.wait.value_or(wanted.at);
    std::string counter = count(ops, wait, draft, formula.reg);
    Operand threshold = addFormula(ops, wait, formula);
    std::string text =
        fmt::format("{}let {} wait for '{}' >= {}{}{}", before,
                    waiterText(old, wanted.wait.value_or(wanted.at)), name(program, wanted.sema),
                    formulaText(ops, formula), tooText(old, wanted), counter);
    Op &op = ops.ops[wait];
    if (wanted.wait || (op.kind == OpKind::Issue && !op.wait.valid())) {
      op.wait = wanted.sema;
      op.a = threshold;
    } else {
      insert(ops, wait, {Op::makeWait(wanted.sema, threshold)});
    }
    return propose("wait", std::move(text), std::move(program));
  }

  /// Adds the counter that the draft has, if the register is one of its counters. Says what it
  /// counts.
  std::string count(EngineProgram &ops, uint32_t &wait, const Draft &draft, RegId &reg) const {
    if (!reg.valid() || reg.value < draft.firstCounter.value) {
      return {};
    }
    uint32_t which = reg.value - draft.firstCounter.value;
    reg = addRegister(ops, "count");
    std::vector<uint32_t> loops = loopsAround(ops.ops, wait);
    uint32_t at = which == 0 ? wait : loops[which - 1] + 1;
    insert(ops, at, {Op::alu2(AluOp::Add, reg, Operand::reg(reg), Operand::number(1))});
    insert(ops, 0, {Op::move(reg, Operand::number(0))});
    wait += 2;
    return fmt::format(", where \"count\" counts {} from 1", draft.counters[which]);
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
    std::vector<Op> compute;
    if (formula.factor != 1) {
      auto factor = Operand::number(static_cast<uint32_t>(formula.factor));
      compute.push_back(Op::alu2(AluOp::Mul, reg, value, factor));
      value = Operand::reg(reg);
    }
    if (formula.offset != 0) {
      compute.push_back(sum(reg, value, formula.offset));
    }
    insert(ops, wait, compute);
    wait += static_cast<uint32_t>(compute.size());
    return Operand::reg(reg);
  }

  /// What becomes of what it waits for now.
  static std::string tooText(const EngineProgram &program, const Wanted &wanted) {
    return wanted.wait
               ? fmt::format(", not {}", operandText(program, program.ops[*wanted.wait].a, 0))
           : waitsBefore(program.ops, wanted.at).empty() ? ""
                                                         : ", too";
  }

  static std::string formulaText(const EngineProgram &ops, const Formula &formula) {
    if (!formula.reg.valid()) {
      return fmt::format("{}", formula.offset);
    }
    std::string factor = formula.factor == 1 ? "" : fmt::format("{} * ", formula.factor);
    return fmt::format("{}\"{}\"{}", factor, ops.registers[formula.reg].name,
                       offsetText(formula.offset));
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
    std::vector<uint32_t> places = issuesOf(program, consumer);
    return std::any_of(places.begin(), places.end(), [&](uint32_t at) {
      return waitFor(program, {producer, consumer, at, sema}, before);
    });
  }

  /// The place after an operation that is reached whichever branches are taken.
  static uint32_t afterBranches(const std::vector<Op> &ops, uint32_t at) {
    uint32_t place = at + 1;
    uint32_t depth = 0;
    for (uint32_t i = at + 1; i < ops.size(); ++i) {
      bool isOut = closes(ops[i].kind) && depth == 0;
      if (isOut && ops[i].kind != OpKind::IfEnd) {
        break;
      }
      place = isOut ? i + 1 : place;
      depth += opens(ops[i].kind);
      depth -= closes(ops[i].kind) && !isOut;
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
    for (const auto &instance : isNew ? instances() : none) {
      entry->second = entry->second || !waitsOf(*instance, producer, consumer).empty();
    }
    return entry->second;
  }

  using Instances = std::vector<std::unique_ptr<RaceSubject>>;

  /// Of the code as it is.
  const Instances &instances() {
    if (made.empty()) {
      for (const Bindings &bindings : subject.choices) {
        made.push_back(std::make_unique<RaceSubject>(kernel, code, subject.machine, bindings,
                                                     subject.options));
      }
    }
    return made;
  }

  bool isWaitedFor(SemaId sema) const {
    return std::any_of(code.engines.begin(), code.engines.end(), [&](const EngineProgram &e) {
      return std::any_of(e.ops.begin(), e.ops.end(), [&](const Op &op) { return op.wait == sema; });
    });
  }

  /// By an instruction that it should wait for, or by any.
  bool raiseMissing(const std::vector<StuckWait> &stuck, bool isAsked) {
    for (const StuckWait &wait : stuck) {
      for (EngineId engine : kernel.engines.ids()) {
        for (uint32_t at = 0; at < opsOf(engine).size(); ++at) {
          const Op &op = opsOf(engine)[at];
          bool mayRaise = op.kind == OpKind::Issue && op.signal != wait.sema;
          mayRaise &= isAsked || !op.signal.valid() || !isWaitedFor(op.signal);
          if (!mayRaise || isAskedFor(op.instr(), wait) != isAsked) {
            continue;
          }
          for (uint32_t amount : amountsOf(op.instr())) {
            if (raiseBy(engine, at, wait.sema, amount)) {
              return true;
            }
          }
        }
      }
    }
    return false;
  }

  bool raiseBy(EngineId engine, uint32_t at, SemaId sema, uint32_t amount) const {
    Code program = code;
    Op &op = program.engines[engine].ops[at];
    std::string instead =
        op.signal.valid() ? fmt::format(" instead of '{}'", name(program, op.signal)) : "";
    op.signal = sema;
    op.amount = amount;
    std::string text = fmt::format("let '{}' on '{}' raise '{}'{}{}", kernel.nameOf(op.instr()),
                                   kernel.nameOf(engine), name(program, sema),
                                   op.amount == 1 ? "" : fmt::format(" by {}", op.amount), instead);
    return propose("raise", std::move(text), std::move(program));
  }

  bool giveCredit(const std::vector<StuckWait> &stuck) const {
    for (const StuckWait &wait : stuck) {
      auto by = static_cast<uint32_t>(wait.threshold - wait.value);
      for (EngineId engine : kernel.engines.ids()) {
        const std::vector<Op> &ops = opsOf(engine);
        if (std::none_of(ops.begin(), ops.end(),
                         [&](const Op &op) { return op.signal == wait.sema; })) {
          continue;
        }
        Code program = code;
        insert(program.engines[engine], 0, {Op::makeSignal(wait.sema, by)});
        if (propose("credit",
                    fmt::format("let '{}' raise '{}' by {} before everything else",
                                kernel.nameOf(engine), name(code, wait.sema), by),
                    std::move(program))) {
          return true;
        }
      }
    }
    return false;
  }

  /// One branch raises what is waited for, the other does not.
  bool raiseInBranch(const std::vector<StuckWait> &stuck) const {
    for (const StuckWait &wait : stuck) {
      for (EngineId engine : kernel.engines.ids()) {
        for (uint32_t at = 0; at < opsOf(engine).size(); ++at) {
          if (opsOf(engine)[at].kind == OpKind::IfBegin && balance(engine, at, wait.sema)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  bool balance(EngineId engine, uint32_t begin, SemaId sema) const {
    const std::vector<Op> &ops = opsOf(engine);
    uint32_t otherwise = 0, end = begin + 1;
    uint64_t raises[2] = {0, 0};
    for (uint32_t depth = 0; end < ops.size(); ++end) {
      if (depth == 0 && ops[end].kind == OpKind::IfEnd) {
        break;
      }
      otherwise = depth == 0 && ops[end].kind == OpKind::Else ? end : otherwise;
      depth += opens(ops[end].kind);
      depth -= closes(ops[end].kind);
      bool raise = ops[end].kind == OpKind::Issue || ops[end].kind == OpKind::Signal;
      raises[otherwise != 0] += raise && ops[end].signal == sema ? ops[end].amount : 0;
    }
    if (end == ops.size() || raises[0] == raises[1]) {
      return false;
    }
    bool isThen = raises[0] < raises[1];
    auto by = static_cast<uint32_t>(isThen ? raises[1] - raises[0] : raises[0] - raises[1]);
    std::vector<Op> added = {Op::drain(), Op::makeSignal(sema, by)};
    if (!isThen && otherwise == 0) {
      added.insert(added.begin(), Op::mark(OpKind::Else));
    }
    Code program = code;
    insert(program.engines[engine], isThen ? (otherwise != 0 ? otherwise : end) : end, added);
    return propose("branch",
                   fmt::format("let '{}' drain and raise '{}' by {} in the {} branch of '{}', too",
                               kernel.nameOf(engine), name(code, sema), by,
                               isThen ? "first" : "other", kernel.nameOf(ops[begin].loop())),
                   std::move(program));
  }

  //===--- Other changes --------------------------------------------------===//

  /// What is raised after an instruction was issued may be raised before it has finished.
  bool drainFirst(EngineId engine) const {
    const std::vector<Op> &ops = opsOf(engine);
    for (uint32_t at = 0; at < ops.size(); ++at) {
      bool isEarly = ops[at].kind == OpKind::Signal &&
                     (at == 0 || ops[at - 1].kind != OpKind::Drain) && isWaitedFor(ops[at].signal);
      if (!isEarly) {
        continue;
      }
      Code program = code;
      insert(program.engines[engine], at, {Op::drain()});
      if (propose("drain",
                  fmt::format("let '{}' drain before it raises '{}'{}", kernel.nameOf(engine),
                              name(code, ops[at].signal), placeText(engine, at)),
                  std::move(program))) {
        return true;
      }
    }
    return false;
  }

  bool resetEarlier() const {
    for (EngineId engine : kernel.engines.ids()) {
      const std::vector<Op> &ops = opsOf(engine);
      for (uint32_t at = 1; at < ops.size(); ++at) {
        if (ops[at].kind != OpKind::Reset || ops[at - 1].kind != OpKind::Issue ||
            ops[at - 1].wait.valid()) {
          continue;
        }
        Code program = code;
        std::swap(program.engines[engine].ops[at], program.engines[engine].ops[at - 1]);
        if (propose("reset",
                    fmt::format("let '{}' reset '{}' before it issues '{}', not after",
                                kernel.nameOf(engine), name(code, ops[at].signal),
                                kernel.nameOf(ops[at - 1].instr())),
                    std::move(program))) {
          return true;
        }
      }
    }
    return false;
  }

  /// A credit may be one too many.
  bool giveLess() const {
    for (EngineId engine : kernel.engines.ids()) {
      const std::vector<Op> &ops = opsOf(engine);
      for (uint32_t at = 0; at < ops.size(); ++at) {
        if (ops[at].kind != OpKind::Signal || ops[at].amount < 2 || !isWaitedFor(ops[at].signal)) {
          continue;
        }
        Code program = code;
        uint32_t less = --program.engines[engine].ops[at].amount;
        if (propose("credit",
                    fmt::format("let '{}' raise '{}' by {}, not {}{}", kernel.nameOf(engine),
                                name(code, ops[at].signal), less, less + 1, placeText(engine, at)),
                    std::move(program))) {
          return true;
        }
      }
    }
    return false;
  }

  /// A number that is added to a register, or multiplied with it, may be off by one.
  bool recount(EngineId engine) const {
    const std::vector<Op> &ops = opsOf(engine);
    for (uint32_t at = 0; at < ops.size(); ++at) {
      const Op &op = ops[at];
      bool isCount = op.kind == OpKind::Alu && op.a.isRegister && !op.b.isRegister &&
                     (op.alu == AluOp::Add || op.alu == AluOp::Sub || op.alu == AluOp::Mul);
      for (uint32_t by : {op.b.value + 1, op.b.value - 1}) {
        if (!isCount || by == UINT32_MAX || by == 0) {
          continue;
        }
        Code program = code;
        program.engines[engine].ops[at].b.value = by;
        if (propose("count",
                    fmt::format("let '{}' set \"{}\" to {}, not {}{}", kernel.nameOf(engine),
                                code.engines[engine].registers[op.dst].name,
                                sumText(engine, op, by), sumText(engine, op, op.b.value),
                                placeText(engine, at)),
                    std::move(program))) {
          return true;
        }
      }
    }
    return false;
  }

  std::string sumText(EngineId engine, const Op &op, uint32_t by) const {
    char sign = op.alu == AluOp::Add ? '+' : op.alu == AluOp::Sub ? '-' : '*';
    return fmt::format("\"{}\" {} {}", code.engines[engine].registers[op.a.asRegister()].name, sign,
                       by);
  }

  bool recountAll(const std::vector<StuckWait> &stuck) const {
    return std::any_of(stuck.begin(), stuck.end(),
                       [this](const StuckWait &wait) { return recount(wait.engine); });
  }

  /// What the instructions that have to come before ask for.
  bool refit(const std::vector<StuckWait> &stuck) {
    for (const StuckWait &wait : stuck) {
      InstrId consumer = instrAfter(opsOf(wait.engine), wait.op);
      for (uint32_t at : consumer.valid() ? issuesOf(code, consumer) : std::vector<uint32_t>()) {
        std::vector<uint32_t> waits = waitsBefore(opsOf(wait.engine), at);
        if (std::find(waits.begin(), waits.end(), wait.op) == waits.end()) {
          continue;
        }
        for (InstrId producer : kernel.instrs.ids()) {
          Wanted wanted{producer, consumer, at, wait.sema, wait.op, true};
          if (isAskedFor(producer, wait) && waitFor(code, wanted, "")) {
            return true;
          }
        }
      }
    }
    return false;
  }

  bool askLess(const std::vector<StuckWait> &stuck) const {
    return std::any_of(stuck.begin(), stuck.end(), [this](const StuckWait &wait) {
      return shiftWait(code, wait.engine, wait.op, int64_t(wait.value) - int64_t(wait.threshold),
                       "");
    });
  }

  bool dropWait(const std::vector<StuckWait> &stuck) const {
    for (const StuckWait &wait : stuck) {
      Code program = code;
      Op &op = program.engines[wait.engine].ops[wait.op];
      std::string text =
          fmt::format("let {} not wait for '{}'", waiterText(code.engines[wait.engine], wait.op),
                      name(program, op.wait));
      if (op.kind == OpKind::Wait) {
        program.engines[wait.engine].ops.erase(program.engines[wait.engine].ops.begin() + wait.op);
      } else {
        op.wait = SemaId();
      }
      if (propose("drop", std::move(text), std::move(program))) {
        return true;
      }
    }
    return false;
  }

  const MendSubject &subject;
  const Kernel &kernel;
  const Code &code;
  const TryMend &tryMend;
  const Instances none;
  Instances made;
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
