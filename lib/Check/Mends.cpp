//===- Mends.cpp - Changes of code that may mend a fault ------------------===//

#include "Mends.h"

#include "RacePairs.h"
#include "WaitMends.h"

#include "tally/Run/Interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ranges>

namespace tally::check {
namespace {

//===----------------------------------------------------------------------===//
// At one operation
//===----------------------------------------------------------------------===//

std::string sumText(const Edits &edits, EngineId engine, const Op &op, uint32_t by) {
  char sign = op.alu == AluOp::Add ? '+' : op.alu == AluOp::Sub ? '-' : '*';
  return fmt::format("\"{}\" {} {}", edits.code.engines[engine].registers[op.a.asRegister()].name,
                     sign, by);
}

/// What is raised after an instruction was issued may be raised before it has finished.
bool drainFirst(const Edits &edits, EngineId engine, uint32_t at) {
  const std::vector<Op> &ops = edits.opsOf(engine);
  bool isEarly = ops[at].kind == OpKind::Signal && (at == 0 || ops[at - 1].kind != OpKind::Drain) &&
                 edits.isWaitedFor[ops[at].signal];
  if (!isEarly) {
    return false;
  }
  return edits.change(
      "drain", engine, [&](EngineProgram &program) { Edits::insert(program, at, {Op::drain()}); },
      fmt::format("let '{}' drain before it raises '{}'{}", edits.kernel.nameOf(engine),
                  edits.name(edits.code, ops[at].signal), edits.placeText(engine, at)));
}

bool resetEarlier(const Edits &edits, EngineId engine, uint32_t at) {
  const std::vector<Op> &ops = edits.opsOf(engine);
  bool isAfterIssue = at > 0 && ops[at].kind == OpKind::Reset &&
                      ops[at - 1].kind == OpKind::Issue && !ops[at - 1].wait.valid();
  if (!isAfterIssue) {
    return false;
  }
  return edits.change(
      "reset", engine,
      [&](EngineProgram &program) { std::swap(program.ops[at], program.ops[at - 1]); },
      fmt::format("let '{}' reset '{}' before it issues '{}', not after",
                  edits.kernel.nameOf(engine), edits.name(edits.code, ops[at].signal),
                  edits.kernel.nameOf(ops[at - 1].instr())));
}

/// A flag that is taken down has to be up: by as much as one raise of it.
bool awaitReset(const Edits &edits, EngineId engine, uint32_t at) {
  const std::vector<Op> &ops = edits.opsOf(engine);
  SemaId sema = ops[at].signal;
  bool isBlind = ops[at].kind == OpKind::Reset && ops[at].amount == 1 &&
                 (at == 0 || ops[at - 1].kind != OpKind::Wait || ops[at - 1].wait != sema);
  if (!isBlind) {
    return false;
  }
  return std::ranges::any_of(edits.amountsRaised(sema), [&](uint32_t amount) {
    Op wait = Op::makeWait(sema, Operand::number(amount));
    return edits.change(
        "reset", engine, [&](EngineProgram &program) { Edits::insert(program, at, {wait}); },
        fmt::format("let '{}' wait for '{}' >= {} before it resets it{}",
                    edits.kernel.nameOf(engine), edits.name(edits.code, sema), amount,
                    edits.placeText(engine, at)));
  });
}

/// A credit may be one too many.
bool giveLess(const Edits &edits, EngineId engine, uint32_t at) {
  const Op &op = edits.opsOf(engine)[at];
  if (op.kind != OpKind::Signal || op.amount < 2 || !edits.isWaitedFor[op.signal]) {
    return false;
  }
  return edits.change(
      "credit", engine, [&](EngineProgram &program) { --program.ops[at].amount; },
      fmt::format("let '{}' raise '{}' by {}, not {}{}", edits.kernel.nameOf(engine),
                  edits.name(edits.code, op.signal), op.amount - 1, op.amount,
                  edits.placeText(engine, at)));
}

/// A number that is added to a register, or multiplied with it, may be off by one.
bool recount(const Edits &edits, EngineId engine, uint32_t at) {
  const Op &op = edits.opsOf(engine)[at];
  bool isCount = op.kind == OpKind::Alu && edits.isGiven(engine, op.dst) && op.a.isRegister &&
                 !op.b.isRegister &&
                 (op.alu == AluOp::Add || op.alu == AluOp::Sub || op.alu == AluOp::Mul);
  return isCount &&
         std::ranges::any_of(std::array{op.b.value + 1, op.b.value - 1}, [&](uint32_t by) {
           return by != UINT32_MAX && by != 0 &&
                  edits.change(
                      "count", engine,
                      [&](EngineProgram &program) { program.ops[at].b.value = by; },
                      fmt::format(
                          "let '{}' set \"{}\" to {}, not {}{}", edits.kernel.nameOf(engine),
                          edits.code.engines[engine].registers[op.dst].name,
                          sumText(edits, engine, op, by), sumText(edits, engine, op, op.b.value),
                          edits.placeText(engine, at)));
         });
}

/// The two branches of an `if`, as ranges of operations. Without an `else`, the other one is empty.
struct Branches {
  uint32_t begin, middle, last; ///< the If, the Else or again the end, and the end

  Branches(const std::vector<Op> &ops, uint32_t begin) : begin(begin) {
    std::vector<uint32_t> match = matchBrackets(ops);
    middle = match[begin];
    last = ops[middle].kind == OpKind::Else ? match[middle] : middle;
  }

  bool hasElse() const { return middle != last; }

  uint32_t first(bool isThen) const { return isThen ? begin + 1 : middle + (hasElse() ? 1 : 0); }

  uint32_t end(bool isThen) const { return isThen ? middle : last; }
};

//===----------------------------------------------------------------------===//
// Proposing
//===----------------------------------------------------------------------===//

class Mender {
public:
  Mender(const MendSubject &subject, const TryMend &tryMend)
      : edits(subject, tryMend), subject(subject), kernel(subject.kernel), code(subject.code) {}

  bool order(InstrId producer, InstrId consumer) {
    EngineId engine = kernel.engineOf(consumer);
    for (uint32_t at : edits.issuesOf(code, consumer)) {
      for (SemaId sema : semaphoresFor(producer, engine, at)) {
        if (waitFor(edits, code, {producer, consumer, at, sema}, "")) {
          return true;
        }
      }
    }
    EngineId other = kernel.engineOf(producer);
    return anyOp(other, drainFirst) || anyOp(resetEarlier) || anyOp(awaitReset) ||
           anyOp([&](EngineId e, uint32_t at) { return takeDownInBranch(e, at); }) ||
           anyOp(giveLess) || anyOp(engine, recount) ||
           (other != engine && anyOp(other, recount)) || raiseNew(producer, consumer);
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
           any([&](auto &wait) { return giveCredit(wait); }) || anyOp(resetEarlier) ||
           anyOp(awaitReset) || any([&](auto &wait) { return anyOp(wait.engine, recount); }) ||
           any([&](auto &wait) { return dropWait(wait); });
  }

private:
  using OpMend = bool (*)(const Edits &, EngineId, uint32_t);

  /// Tries a change at one operation of the engine after the other.
  template <typename AtOp> bool anyOp(EngineId engine, AtOp mend) const {
    auto numOps = static_cast<uint32_t>(edits.opsOf(engine).size());
    return std::ranges::any_of(std::views::iota(0u, numOps),
                               [&](uint32_t at) { return mend(engine, at); });
  }

  bool anyOp(EngineId engine, OpMend mend) const {
    return anyOp(engine, [&](EngineId e, uint32_t at) { return mend(edits, e, at); });
  }

  template <typename AtOp> bool anyOp(AtOp mend) const {
    return std::ranges::any_of(
        code.engines, [&](const EngineProgram &program) { return anyOp(program.engine, mend); });
  }

  /// What an instruction's queue raises a semaphore by: one for each of its rings.
  uint32_t amountOf(InstrId instr) const {
    return numRings(kernel.queues[kernel.instrs[instr].queue]);
  }

  /// ... and what others of its queue do.
  std::vector<uint32_t> amountsOf(InstrId instr) const {
    std::vector<uint32_t> amounts = {amountOf(instr)};
    for (const Op &op : edits.opsOf(kernel.engineOf(instr))) {
      bool isLike = op.kind == OpKind::Issue && op.signal.valid() &&
                    kernel.instrs[op.instr()].queue == kernel.instrs[instr].queue;
      if (isLike && std::ranges::count(amounts, op.amount) == 0) {
        amounts.push_back(op.amount);
      }
    }
    return amounts;
  }

  /// Those that the consumer waits for already, then those that the producer and its engine raise.
  std::vector<SemaId> semaphoresFor(InstrId producer, EngineId engine, uint32_t at) const {
    std::vector<SemaId> semas;
    auto add = [&](SemaId sema) {
      if (sema.valid() && std::ranges::count(semas, sema) == 0) {
        semas.push_back(sema);
      }
    };
    for (uint32_t wait : waitsBefore(edits.opsOf(engine), at)) {
      add(edits.opsOf(engine)[wait].wait);
    }
    for (uint32_t issue : edits.issuesOf(code, producer)) {
      add(edits.opsOf(kernel.engineOf(producer))[issue].signal);
    }
    for (const Op &op : edits.opsOf(kernel.engineOf(producer))) {
      if (isRaise(op)) {
        add(op.signal);
      }
    }
    return semas;
  }

  //===--- Raising --------------------------------------------------------===//

  /// A semaphore for the producer alone: it raises it, or its engine does after a drain.
  bool raiseNew(InstrId producer, InstrId consumer) {
    EngineId engine = kernel.engineOf(producer);
    MendedCode itself = code, drained = code;
    std::string done = fmt::format("{}.done", kernel.nameOf(producer));
    SemaId id = addSemaphore(itself, done);
    addSemaphore(drained, done);
    std::string_view sema = edits.name(itself, id);
    std::string who = fmt::format("let '{}' on '{}' raise a new semaphore '{}', and ",
                                  kernel.nameOf(producer), kernel.nameOf(engine), sema);
    std::string after =
        fmt::format("let '{}' drain after '{}' and raise a new semaphore '{}', and ",
                    kernel.nameOf(engine), kernel.nameOf(producer), sema);
    bool isFree = true;
    std::vector<uint32_t> places = edits.issuesOf(code, producer);
    for (auto at = places.rbegin(); at != places.rend(); ++at) {
      Op &op = itself.engines[engine].ops[*at];
      isFree = isFree && !op.signal.valid();
      op.signal = id;
      op.amount = amountOf(producer);
      Edits::insert(drained.engines[engine], afterBranches(edits.opsOf(engine), *at),
                    {Op::drain(), Op::makeSignal(id)});
    }
    return (isFree && waitForNew(itself, producer, consumer, id, who)) ||
           waitForNew(drained, producer, consumer, id, after);
  }

  bool waitForNew(const MendedCode &program, InstrId producer, InstrId consumer, SemaId sema,
                  const std::string &before) {
    return std::ranges::any_of(edits.issuesOf(program, consumer), [&](uint32_t at) {
      return waitFor(edits, program, {producer, consumer, at, sema}, before);
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
    InstrId consumer = instrAfter(edits.opsOf(wait.engine), wait.op);
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
      const Op &op = edits.opsOf(engine)[at];
      return op.kind == OpKind::Issue && op.signal != wait.sema &&
             (isAsked || !op.signal.valid() || !edits.isWaitedFor[op.signal]) &&
             isAskedFor(op.instr(), wait) == isAsked &&
             std::ranges::any_of(amountsOf(op.instr()), [&](uint32_t amount) {
               return raiseBy(engine, at, wait.sema, amount);
             });
    });
  }

  bool raiseBy(EngineId engine, uint32_t at, SemaId sema, uint32_t amount) const {
    const Op &op = edits.opsOf(engine)[at];
    std::string instead =
        op.signal.valid() ? fmt::format(" instead of '{}'", edits.name(code, op.signal)) : "";
    auto raise = [&](EngineProgram &program) {
      program.ops[at].signal = sema;
      program.ops[at].amount = amount;
    };
    return edits.change("raise", engine, raise,
                        fmt::format("let '{}' on '{}' raise '{}'{}{}", kernel.nameOf(op.instr()),
                                    kernel.nameOf(engine), edits.name(code, sema),
                                    amount == 1 ? "" : fmt::format(" by {}", amount), instead));
  }

  bool giveCredit(const StuckWait &wait) const {
    auto by = static_cast<uint32_t>(wait.threshold - wait.value);
    return std::ranges::any_of(code.engines, [&](const EngineProgram &raiser) {
      if (std::ranges::count(raiser.ops, wait.sema, &Op::signal) == 0) {
        return false;
      }
      return edits.change(
          "credit", raiser.engine,
          [&](EngineProgram &program) {
            Edits::insert(program, 0, {Op::makeSignal(wait.sema, by)});
          },
          fmt::format("let '{}' raise '{}' by {} before everything else",
                      kernel.nameOf(raiser.engine), edits.name(code, wait.sema), by));
    });
  }

  /// One branch raises what is waited for, the other does not.
  bool raiseInBranch(const StuckWait &wait) const {
    return anyOp([&](EngineId engine, uint32_t at) {
      return edits.opsOf(engine)[at].kind == OpKind::IfBegin && balance(engine, at, wait.sema);
    });
  }

  bool balance(EngineId engine, uint32_t begin, SemaId sema) const {
    const std::vector<Op> &ops = edits.opsOf(engine);
    Branches branches(ops, begin);
    auto raises = [&](bool isThen) {
      uint32_t sum = 0;
      for (uint32_t at = branches.first(isThen); at < branches.end(isThen); ++at) {
        sum += isRaise(ops[at]) && ops[at].signal == sema ? ops[at].amount : 0;
      }
      return sum;
    };
    uint32_t first = raises(true), other = raises(false);
    if (first == other) {
      return false;
    }
    bool isThen = first < other;
    uint32_t by = isThen ? other - first : first - other;
    return changeBranch(engine, branches, isThen, branches.end(isThen),
                        {Op::drain(), Op::makeSignal(sema, by)},
                        fmt::format("drain and raise '{}' by {}", edits.name(code, sema), by));
  }

  /// One branch waits for a flag and takes it down, the other has nothing to do with it.
  bool takeDownInBranch(EngineId engine, uint32_t begin) const {
    const std::vector<Op> &ops = edits.opsOf(engine);
    if (ops[begin].kind != OpKind::IfBegin) {
      return false;
    }
    Branches branches(ops, begin);
    for (bool isThen : {false, true}) {
      for (uint32_t at = branches.first(!isThen); at < branches.end(!isThen); ++at) {
        std::optional<uint32_t> wait = waitOfReset(ops, branches.first(!isThen), at);
        if (wait && !usesFlag(ops, branches.first(isThen), branches.end(isThen), ops[at].signal) &&
            takeDown(engine, branches, isThen, ops[*wait])) {
          return true;
        }
      }
    }
    return false;
  }

  /// The wait for a number that comes before the reset at this place.
  static std::optional<uint32_t> waitOfReset(const std::vector<Op> &ops, uint32_t from,
                                             uint32_t at) {
    if (ops[at].kind == OpKind::Reset && ops[at].amount == 1) {
      for (uint32_t i = at; i-- > from;) {
        if (ops[i].wait == ops[at].signal && !ops[i].a.isRegister) {
          return i;
        }
      }
    }
    return {};
  }

  static bool usesFlag(const std::vector<Op> &ops, uint32_t from, uint32_t to, SemaId sema) {
    return std::any_of(ops.begin() + from, ops.begin() + to,
                       [&](const Op &op) { return op.wait == sema || op.signal == sema; });
  }

  bool takeDown(EngineId engine, const Branches &branches, bool isThen, const Op &wait) const {
    return changeBranch(
        engine, branches, isThen, branches.first(isThen),
        {Op::makeWait(wait.wait, wait.a), Op::reset(wait.wait, 1)},
        fmt::format("wait for '{}' >= {} and reset it", edits.name(code, wait.wait), wait.a.value));
  }

  bool changeBranch(EngineId engine, const Branches &branches, bool isThen, uint32_t at,
                    std::vector<Op> added, std::string_view what) const {
    if (!isThen && !branches.hasElse()) {
      added.insert(added.begin(), Op::mark(OpKind::Else));
    }
    LoopId branch = edits.opsOf(engine)[branches.begin].loop();
    return edits.change(
        "branch", engine, [&](EngineProgram &program) { Edits::insert(program, at, added); },
        fmt::format("let '{}' {} in the {} branch of '{}', too", kernel.nameOf(engine), what,
                    isThen ? "first" : "other", kernel.nameOf(branch)));
  }

  /// What the instructions that have to come before ask for.
  bool refit(const StuckWait &wait) {
    InstrId consumer = instrAfter(edits.opsOf(wait.engine), wait.op);
    for (uint32_t at :
         consumer.valid() ? edits.issuesOf(code, consumer) : std::vector<uint32_t>()) {
      if (std::ranges::count(waitsBefore(edits.opsOf(wait.engine), at), wait.op) == 0) {
        continue;
      }
      for (InstrId producer : kernel.instrs.ids()) {
        WantedWait wanted{producer, consumer, at, wait.sema, wait.op, true};
        if (isAskedFor(producer, wait) && waitFor(edits, code, wanted, "")) {
          return true;
        }
      }
    }
    return false;
  }

  bool askLess(const StuckWait &wait) const {
    return shiftWait(edits, code, wait.engine, wait.op,
                     int64_t(wait.value) - int64_t(wait.threshold), "");
  }

  bool dropWait(const StuckWait &wait) const {
    auto drop = [&](EngineProgram &program) {
      Op &op = program.ops[wait.op];
      op.wait = SemaId();
      if (op.kind == OpKind::Wait) {
        program.ops.erase(program.ops.begin() + wait.op);
      }
    };
    return edits.change("drop", wait.engine, drop,
                        fmt::format("let {} not wait for '{}'",
                                    edits.waiterText(code.engines[wait.engine], wait.op),
                                    edits.name(code, edits.opsOf(wait.engine)[wait.op].wait)));
  }

  const Edits edits;
  const MendSubject &subject;
  const Kernel &kernel;
  const MendedCode &code;
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

} // namespace tally::check
