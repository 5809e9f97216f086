//===- Turns.cpp - Where code goes on otherwise beyond a number -----------===//

#include "tally/Check/Turns.h"

#include "RegisterForms.h"

#include "tally/Model/Nest.h"
#include "tally/Run/Interpret.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tally {

using namespace check;

/// Operations of a run that is tried, and of all that are followed to find them.
static constexpr uint64_t mostOperations = 200'000;
static constexpr uint64_t mostFollowed = 20'000'000;

/// Of a run that is too long, so many shorter ones are looked at.
static constexpr uint32_t mostTooLong = 4;

static constexpr uint64_t mostTurningTrips = 1 << 14;
static constexpr size_t mostTurningRuns = 64;

/// Runs of up to so many iterations are tried in any case.
static constexpr uint64_t mostUsual = 3;

/// So many iterations show by how much a wait and its semaphore go on.
static constexpr uint64_t driftSpan = 8;

static constexpr uint32_t noTurn = UINT32_MAX;

//===----------------------------------------------------------------------===//
// How far counters get
//===----------------------------------------------------------------------===//

/// The most and the least that registers and semaphores may come to, as far as the kernel bounds
/// its loops; all that it does not bound are taken to run a million times together. Infinite where
/// a value grows by itself. Resets are left out, so it may be more than that.
class Turns::Bounds {
public:
  Bounds(const Kernel &kernel, const Code &code, const Machine &machine)
      : code(code), numbers(static_cast<double>(uint64_t(1) << machine.counterBits)),
        subtractionWraps(machine.subtraction == Subtraction::Wraps), unbounded(usualTrips(kernel)),
        runs(code.engines.size()), registers(code.engines.size()), results(code.engines.size()),
        setters(code.engines.size()), lowest(code.engines.size()),
        raised(code.semaphores.size(), 0), largest(code.semaphores.size(), 1) {
    for (EngineId engine : kernel.engines.ids()) {
      countRuns(kernel, engine);
      findSetters(engine);
      findLowest(engine);
      boundRegisters(kernel, engine);
      addRaises(engine);
    }
  }

  /// As if the machine had all numbers.
  double of(EngineId engine, Operand operand) const {
    return operand.isRegister ? registers[engine][operand.value] : operand.value;
  }

  /// What an operation on registers gives.
  double resultOf(EngineId engine, uint32_t at) const { return results[engine][at]; }

  /// Whether it may be beyond the machine's numbers, where it begins again at 0.
  bool mayWrap(EngineId engine, Operand operand) const { return of(engine, operand) >= numbers; }

  double most(EngineId engine, Operand operand) const {
    return std::min(of(engine, operand), numbers - 1);
  }

  double least(EngineId engine, Operand operand) const {
    return !operand.isRegister        ? operand.value
           : mayWrap(engine, operand) ? 0
                                      : lowest[engine][operand.value];
  }

  double of(SemaId sema) const { return raised[sema]; }

  double largestRaise(SemaId sema) const { return largest[sema]; }

private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  static constexpr uint32_t none = UINT32_MAX;

  static double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

  /// How often a loop without a `max` runs, so that nested ones do a million iterations.
  static double usualTrips(const Kernel &kernel) {
    uint32_t deepest = 1;
    IdVector<LoopId, uint32_t> depth(kernel.loops.size(), 0);
    for (LoopId id : kernel.loops.ids()) {
      if (id != rootLoop) {
        depth[id] = depth[kernel.loops[id].parent] +
                    (kernel.loops[id].isBranch() || kernel.loops[id].trip.most() ? 0 : 1);
        deepest = std::max(deepest, depth[id]);
      }
    }
    return std::exp2(20.0 / deepest);
  }

  /// Whether its trips, or those of a loop around it, follow from something else.
  static bool isTied(const Kernel &kernel, LoopId loop) {
    while (loop != rootLoop && kernel.loops[loop].trip.kind != Trip::Kind::Formula) {
      loop = kernel.loops[loop].parent;
    }
    return loop != rootLoop;
  }

  double mostTrips(const Kernel &kernel, LoopId loop) const {
    std::optional<uint64_t> count = kernel.loops[loop].trip.most();
    return count ? static_cast<double>(*count) : unbounded;
  }

  /// What only adds numbers to where it begins never comes below that.
  void findLowest(EngineId engine) {
    const EngineProgram &program = code.engines[engine];
    std::vector<double> &low = lowest[engine];
    low.assign(program.registers.size(), infinite);
    std::vector<bool> isAssigned(program.registers.size(), false);
    uint32_t depth = 0;
    for (const Op &op : program.ops) {
      depth += op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin ||
               op.kind == OpKind::WhenBegin;
      depth -= op.kind == OpKind::LoopEnd || op.kind == OpKind::IfEnd || op.kind == OpKind::WhenEnd;
      if (!op.dst.valid()) {
        continue;
      }
      double &least = low[op.dst.value];
      bool isSet = op.kind == OpKind::Alu && op.alu == AluOp::Move && !op.a.isRegister;
      bool isRaised = op.kind == OpKind::Alu && op.alu == AluOp::Add &&
                      (op.a == Operand::reg(op.dst) || op.b == Operand::reg(op.dst));
      bool isFirst = isSet && depth == 0 && !isAssigned[op.dst.value];
      least = isSet ? std::min<double>(least, op.a.value) : isRaised ? least : 0;
      least = !isAssigned[op.dst.value] && !isFirst ? 0 : least;
      isAssigned[op.dst.value] = true;
    }
    std::ranges::replace(low, infinite, 0.0);
  }

  /// How often each operation may run.
  void countRuns(const Kernel &kernel, EngineId engine) {
    std::vector<double> around = {1};
    for (const Op &op : code.engines[engine].ops) {
      if (op.kind == OpKind::LoopEnd) {
        around.pop_back();
      }
      runs[engine].push_back(around.back());
      if (op.kind == OpKind::LoopBegin) {
        std::optional<uint64_t> entries =
            isTied(kernel, op.loop()) ? mostEntries(kernel, op.loop()) : std::nullopt;
        around.push_back(entries ? static_cast<double>(*entries)
                                 : product(around.back(), mostTrips(kernel, op.loop())));
      }
    }
  }

  /// The operation that has set an operand just before; none if that was outside of these brackets.
  struct Setters {
    uint32_t a = none, b = none;
    bool isStep = false; ///< adds to what the register held where these brackets begin
  };

  void findSetters(EngineId engine) {
    const EngineProgram &program = code.engines[engine];
    std::vector<uint32_t> last(program.registers.size(), none);
    uint32_t begin = 0; // of what stands in the same brackets
    auto setterOf = [&](Operand operand) {
      uint32_t at = operand.isRegister ? last[operand.value] : none;
      return at != none && at >= begin ? at : none;
    };
    for (uint32_t at = 0; at < program.ops.size(); ++at) {
      const Op &op = program.ops[at];
      Setters &set = setters[engine].emplace_back();
      if (op.kind == OpKind::Alu) {
        const Operand self = Operand::reg(op.dst);
        const uint32_t before = setterOf(self);
        set = {setterOf(op.a), setterOf(op.b)};
        set.isStep = op.alu == AluOp::Add && (op.a == self) != (op.b == self) &&
                     (before == none || setters[engine][before].isStep);
        last[op.dst.value] = at;
      } else if (isBracket(op) || op.dst.valid()) {
        begin = at + 1;
      }
    }
  }

  static bool isBracket(const Op &op) {
    switch (op.kind) {
    case OpKind::LoopBegin:
    case OpKind::LoopEnd:
    case OpKind::IfBegin:
    case OpKind::Else:
    case OpKind::IfEnd:
    case OpKind::WhenBegin:
    case OpKind::WhenEnd:
      return true;
    default:
      return false;
    }
  }

  void boundRegisters(const Kernel &kernel, EngineId engine) {
    const EngineProgram &program = code.engines[engine];
    const size_t count = program.registers.size();
    registers[engine].assign(count, 0);
    results[engine].assign(program.ops.size(), 0);
    for (size_t round = 0; round <= count + 1; ++round) {
      std::vector<double> next = onceMore(kernel, engine);
      if (next == registers[engine]) {
        return;
      }
      for (size_t r = 0; r < count; ++r) {
        // What still grows when all have been passed on depends on itself.
        bool grows = round > count && next[r] != registers[engine][r];
        next[r] = grows ? infinite : next[r];
      }
      registers[engine] = std::move(next);
    }
    onceMore(kernel, engine); // the results of what has come out last
  }

  std::vector<double> onceMore(const Kernel &kernel, EngineId engine) {
    const std::vector<Op> &ops = code.engines[engine].ops;
    std::vector<double> base(code.engines[engine].registers.size(), 0), steps(base);
    for (uint32_t at = 0; at < ops.size(); ++at) {
      const Op &op = ops[at];
      if (op.kind == OpKind::LoopBegin && op.dst.valid()) {
        base[op.dst.value] = std::max(base[op.dst.value], mostTrips(kernel, op.loop()));
      } else if (op.kind == OpKind::Alu) {
        const Operand self = Operand::reg(op.dst);
        const Setters &set = setters[engine][at];
        double &result = results[engine][at];
        if (set.isStep) {
          steps[op.dst.value] +=
              product(runs[engine][at],
                      op.a == self ? valueOf(engine, op.b, set.b) : valueOf(engine, op.a, set.a));
          result = of(engine, self);
        } else {
          result = resultFrom(engine, op, set);
          base[op.dst.value] = std::max(base[op.dst.value], result);
        }
      }
    }
    for (size_t r = 0; r < base.size(); ++r) {
      base[r] += steps[r];
    }
    return base;
  }

  double valueOf(EngineId engine, Operand operand, uint32_t setter) const {
    return setter == none ? of(engine, operand) : results[engine][setter];
  }

  double resultFrom(EngineId engine, const Op &op, const Setters &set) const {
    const double a = valueOf(engine, op.a, set.a), b = valueOf(engine, op.b, set.b);
    switch (op.alu) {
    case AluOp::Move:
      return a;
    case AluOp::Sub: {
      const bool wraps = subtractionWraps && least(engine, op.a) < b;
      // What falls from iteration to iteration adds nothing.
      const double kept = op.a == Operand::reg(op.dst) && set.a == none ? 0 : a;
      return wraps ? std::max(kept, numbers - 1) : kept;
    }
    case AluOp::Add:
      return a + b;
    case AluOp::Mul:
      return product(a, b);
    case AluOp::Min:
      return std::min(a, b);
    case AluOp::IsGT:
      return 1;
    }
    return infinite;
  }

  void addRaises(EngineId engine) {
    const std::vector<Op> &ops = code.engines[engine].ops;
    for (size_t at = 0; at < ops.size(); ++at) {
      bool raises = ops[at].kind == OpKind::Signal || ops[at].kind == OpKind::Issue;
      if (raises && ops[at].signal.valid()) {
        const double amount = ops[at].amount;
        raised[ops[at].signal] += product(runs[engine][at], amount);
        largest[ops[at].signal] = std::max(largest[ops[at].signal], amount);
      }
    }
  }

  const Code &code;
  const double numbers; ///< that the machine has, from 0
  const bool subtractionWraps;
  const double unbounded;
  IdVector<EngineId, std::vector<double>> runs; ///< by operation
  IdVector<EngineId, std::vector<double>> registers;
  IdVector<EngineId, std::vector<double>> results; ///< by operation
  IdVector<EngineId, std::vector<Setters>> setters;
  IdVector<EngineId, std::vector<double>> lowest;
  IdVector<SemaId, double> raised, largest;
};

//===----------------------------------------------------------------------===//
// Finding turns
//===----------------------------------------------------------------------===//

Turns::Turns(const Kernel &kernel, const Code &code, const Machine &machine, RunChoice given,
             uint64_t longest)
    : kernel(kernel), code(code), machine(machine), given(std::move(given)),
      turnAt(code.engines.size()) {
  for (EngineId engine : kernel.engines.ids()) {
    turnAt[engine].assign(code.engines[engine].ops.size(), noTurn);
  }
  if (this->given.bindings.isComplete()) {
    return; // there are no other runs that could differ
  }
  Bounds bounds(kernel, code, machine);
  for (EngineId engine : kernel.engines.ids()) {
    addNumbers(bounds, engine);
    if (!code.isCompiled) {
      addLimits(bounds, engine);
    }
  }
  if (!code.isCompiled) {
    addSemaphores(bounds);
  }
  addDrifts(longest);
}

void Turns::add(Turn turn) {
  if (turn.engine.valid()) {
    turnAt[turn.engine][turn.op] = static_cast<uint32_t>(turns.size());
  }
  turns.push_back(turn);
}

void Turns::addNumbers(const Bounds &bounds, EngineId engine) {
  const std::vector<Op> &ops = code.engines[engine].ops;
  std::vector<bool> mayWrap(code.engines[engine].registers.size(), false);
  for (uint32_t reg = 0; reg < mayWrap.size(); ++reg) {
    mayWrap[reg] = !code.isCompiled && bounds.mayWrap(engine, Operand::reg(RegId(reg)));
  }
  const RegisterForms forms(code.engines[engine], machine, mayWrap);
  for (uint32_t at = 0; at < ops.size(); ++at) {
    const Op &op = ops[at];
    const Operand other = op.kind == OpKind::WhenBegin ? Operand::number(0) : op.b;
    const Sides sides = forms.sidesAt(at);
    bool mayBeMore = bounds.most(engine, op.a) > bounds.least(engine, other);
    bool mayBeLess = bounds.most(engine, other) >= bounds.least(engine, op.a);
    if (sides.any() && mayBeMore && mayBeLess) {
      Turn turn{Turn::Kind::Number, engine, at};
      turn.needsLess = sides.less;
      turn.needsMore = sides.more;
      add(turn);
    }
  }
  if (!code.isCompiled) {
    for (uint32_t at : forms.openUses()) {
      addOpen(engine, at);
    }
  }
}

void Turns::addOpen(EngineId engine, uint32_t at) {
  const Op &op = code.engines[engine].ops[at];
  std::string what =
      fmt::format("\"{}\" on '{}'", code.engines[engine].registers[op.a.asRegister()].name,
                  kernel.nameOf(engine));
  openTexts.push_back(fmt::format(
      "{} is made of several comparisons, or counted in no regular way, or begins again "
      "at 0, so that other runs may have other waits",
      what));
}

/// Of registers. A loop's counter is looked at where its body ends.
void Turns::addLimits(const Bounds &bounds, EngineId engine) {
  const std::vector<Op> &ops = code.engines[engine].ops;
  const std::vector<uint32_t> match = matchBrackets(ops);
  const auto limit = static_cast<double>(uint64_t(1) << machine.counterBits);
  for (uint32_t at = 0; at < ops.size(); ++at) {
    const Op &op = ops[at];
    bool isAdd = op.kind == OpKind::Alu && op.alu == AluOp::Add;
    bool isMul = op.kind == OpKind::Alu && op.alu == AluOp::Mul;
    bool isCounter = op.kind == OpKind::LoopBegin && op.dst.valid();
    double most = isCounter        ? bounds.of(engine, Operand::reg(op.dst))
                  : isAdd || isMul ? bounds.resultOf(engine, at)
                                   : 0;
    if (most >= limit && (isCounter || turnAt[engine][at] == noTurn)) {
      bool isFar = !isMul && !std::isinf(most) && limit > static_cast<double>(mostOperations);
      Turn turn{Turn::Kind::Limit, engine, isCounter ? match[at] : at};
      turn.isFar = isFar;
      add(turn);
    }
  }
}

void Turns::addSemaphores(const Bounds &bounds) {
  const IdVector<SemaId, bool> isWaitedFor = waitedFor(code);
  const auto limit = static_cast<double>(machine.counterLimit());
  for (SemaId sema : code.semaphores.ids()) {
    if (isWaitedFor[sema] && bounds.of(sema) >= limit) {
      Turn turn{Turn::Kind::Limit};
      turn.sema = sema;
      turn.isFar = limit / bounds.largestRaise(sema) > static_cast<double>(mostOperations);
      add(turn);
    }
  }
}

//===----------------------------------------------------------------------===//
// Following
//===----------------------------------------------------------------------===//

/// What the engines do in one run, each by itself.
class Turns::Following {
public:
  Following(const Turns &turns)
      : turns(turns), raised(turns.code.semaphores.size(), 0), less(turns.turns.size(), false),
        more(less), asked(turns.code.engines.size()) {}

  /// False if it takes more operations than `fuel`, which it uses up.
  bool run(const Bindings &bindings, uint64_t &fuel) {
    for (EngineId engine : turns.kernel.engines.ids()) {
      asked[engine].assign(turns.code.engines[engine].ops.size(), 0);
      EngineRun run(turns.kernel, turns.code, turns.machine, bindings, engine);
      for (; !run.atEnd(); run.advance()) {
        if (fuel == 0) {
          return false;
        }
        --fuel;
        see(run, engine);
      }
    }
    return true;
  }

  std::vector<bool> passed() const {
    std::vector<bool> passed(turns.turns.size(), false);
    for (size_t i = 0; i < passed.size(); ++i) {
      const Turn &turn = turns.turns[i];
      passed[i] = turn.kind == Turn::Kind::Number
                      ? (less[i] || !turn.needsLess) && (more[i] || !turn.needsMore)
                  : turn.kind == Turn::Kind::Drift ? apart(turn.engine, turn.op) >= turn.far
                  : turn.sema.valid() ? raised[turn.sema] >= turns.machine.counterLimit()
                                      : more[i];
    }
    return passed;
  }

  /// How far the largest threshold of a wait is from all that is raised.
  uint64_t apart(EngineId engine, uint32_t at) const {
    uint64_t value = raised[turns.code.engines[engine].ops[at].wait], most = asked[engine][at];
    return value > most ? value - most : most - value;
  }

  uint64_t raisedTo(SemaId sema) const { return raised[sema]; }

  uint64_t mostAsked(EngineId engine, uint32_t at) const { return asked[engine][at]; }

private:
  void see(const EngineRun &run, EngineId engine) {
    const Op &op = run.head();
    if ((op.kind == OpKind::Issue || op.kind == OpKind::Signal) && op.signal.valid()) {
      raised[op.signal] += op.amount;
    }
    if (op.wait.valid()) {
      uint64_t &most = asked[engine][run.at()];
      most = std::max<uint64_t>(most, run.value(op.a));
    }
    const uint32_t number = turns.turnAt[engine][run.at()];
    if (number == noTurn) {
      return;
    }
    const uint64_t limit = uint64_t(1) << turns.machine.counterBits;
    if (turns.turns[number].kind == Turn::Kind::Number) {
      bool isMore = run.value(op.a) > (op.kind == OpKind::WhenBegin ? 0 : run.value(op.b));
      (isMore ? more : less)[number] = true;
    } else if (op.kind == OpKind::LoopEnd) {
      more[number] = more[number] || run.active().back().iteration + 1 >= limit;
    } else if (op.kind == OpKind::Alu) {
      const uint64_t a = run.value(op.a), b = run.value(op.b);
      more[number] = more[number] || (op.alu == AluOp::Mul ? a * b : a + b) >= limit;
    }
  }

  const Turns &turns;
  IdVector<SemaId, uint64_t> raised;
  std::vector<bool> less, more;                    ///< by turn: in this run
  IdVector<EngineId, std::vector<uint64_t>> asked; ///< by operation: the largest threshold
};

std::optional<std::vector<bool>> Turns::passedIn(const Bindings &bindings, uint64_t &fuel) const {
  Following following(*this);
  return following.run(bindings, fuel) ? std::optional(following.passed()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Drift
//===----------------------------------------------------------------------===//

/// Each loop by itself: what is waited for in it, and what is raised, go on by so much in each
/// iteration.
void Turns::addDrifts(uint64_t longest) {
  uint64_t fuel = mostFollowed / 4;
  if (!kernel.values.empty()) {
    addDrift({}, longest, fuel);
  }
  for (LoopId loop : kernel.loops.ids()) {
    if (isLeftOpen(loop)) {
      addDrift(loop, longest, fuel);
    }
  }
}

void Turns::addDrift(LoopId loop, uint64_t longest, uint64_t &fuel) {
  const uint64_t least = loop.valid() ? kernel.loops[loop].trip.least() : 0;
  const uint64_t most =
      loop.valid() ? kernel.loops[loop].trip.most().value_or(UINT64_MAX) : UINT64_MAX;
  // Rather where most comparisons have turned; a long body may be too long for that.
  for (uint64_t usual : {64, 16}) {
    uint64_t end = std::min(std::max(usual, least + driftSpan), most);
    if (end < least + driftSpan) {
      return; // all that it may run is tried, or nearly
    }
    Following one(*this), other(*this);
    uint64_t left = std::min(fuel, mostOperations);
    const uint64_t had = left;
    bool isShort = other.run(choiceWith(loop, true, end).bindings, left) &&
                   one.run(choiceWith(loop, true, end - driftSpan).bindings, left);
    fuel -= had - left;
    if (isShort) {
      return addDrifts(one, other, most - end, longest);
    }
  }
}

/// `other` has so many iterations more than `one`, and may have `more` still.
void Turns::addDrifts(const Following &one, const Following &other, uint64_t more,
                      uint64_t longest) {
  for (EngineId engine : kernel.engines.ids()) {
    const std::vector<Op> &ops = code.engines[engine].ops;
    for (uint32_t at = 0; at < ops.size(); ++at) {
      bool isOpen = ops[at].wait.valid() && turnAt[engine][at] == noTurn;
      uint64_t before = isOpen ? one.mostAsked(engine, at) : 0;
      uint64_t asked = isOpen ? other.mostAsked(engine, at) : 0;
      if (asked <= before) {
        continue;
      }
      uint64_t step = asked - before;
      uint64_t raise = other.raisedTo(ops[at].wait) - one.raisedTo(ops[at].wait);
      if (step == raise) {
        continue;
      }
      // As far again as they are apart at the beginning, and one raise more than the longest
      // dependence can hide; or as far as the loop lets them come.
      uint64_t each = (std::max(step, raise) + driftSpan - 1) / driftSpan;
      uint64_t apart = std::max(one.apart(engine, at), other.apart(engine, at));
      uint64_t far = 2 * apart + each * (longest + 2);
      double rate = double(std::max(step, raise) - std::min(step, raise)) / double(driftSpan);
      bool isApproaching = other.apart(engine, at) < one.apart(engine, at);
      double now = double(other.apart(engine, at));
      double reach = rate * double(more) + (isApproaching ? -now : now);
      if (reach > 0) {
        Turn turn{Turn::Kind::Drift, engine, at};
        turn.far = reach < double(far) ? uint64_t(reach) : far;
        add(turn);
      }
    }
  }
}

std::string Turns::neverText(const Turn &turn) const {
  if (turn.sema.valid()) {
    return fmt::format("semaphore '{}' never came to {}, the limit of {} bits",
                       code.semaphores[turn.sema].name, machine.counterLimit(),
                       machine.counterBits);
  }
  const EngineProgram &program = code.engines[turn.engine];
  const Op &op = program.ops[turn.op];
  auto nameOf = [&](uint32_t reg) {
    return fmt::format("\"{}\"", program.registers[RegId(reg)].name);
  };
  auto textOf = [&](Operand operand) {
    return operand.isRegister ? nameOf(operand.value) : fmt::format("{}", operand.value);
  };
  if (turn.kind == Turn::Kind::Drift) {
    return fmt::format(
        "{} on '{}' goes on by another number than '{}' is raised by, and never came "
        "to where that shows",
        textOf(op.a), kernel.nameOf(turn.engine), code.semaphores[op.wait].name);
  }
  if (turn.kind == Turn::Kind::Limit) {
    const Op &counted =
        op.kind == OpKind::LoopEnd ? program.ops[matchBrackets(program.ops)[turn.op]] : op;
    return fmt::format("{} on '{}' never came to {}, the limit of {} bits",
                       nameOf(counted.dst.value), kernel.nameOf(turn.engine),
                       uint64_t(1) << machine.counterBits, machine.counterBits);
  }
  if (op.kind == OpKind::WhenBegin) {
    return fmt::format("{} on '{}' was never both 0 and more, on which what is set depends",
                       textOf(op.a), kernel.nameOf(turn.engine));
  }
  bool isLeft = !op.a.isRegister;
  return fmt::format("{} on '{}' never passed {}, from where {} is another",
                     textOf(isLeft ? op.b : op.a), kernel.nameOf(turn.engine),
                     textOf(isLeft ? op.a : op.b), nameOf(op.dst.value));
}

//===----------------------------------------------------------------------===//
// Runs that pass them
//===----------------------------------------------------------------------===//

bool Turns::isLeftOpen(LoopId loop) const {
  return kernel.loops[loop].kind == LoopKind::Loop && given.bindings.leavesOpen(loop);
}

RunChoice Turns::choiceWith(LoopId one, bool taken, uint64_t count) const {
  RunChoice choice = given;
  choice.isRare = true;
  for (RunValueId id : kernel.values.ids()) {
    choice.bind(kernel, id, one.valid() ? 1 : count);
  }
  for (LoopId id : kernel.loops.ids()) {
    if (isLeftOpen(id)) {
      choice.bind(kernel, id, {}, {!one.valid() || one == id ? count : 1});
    } else if (kernel.loops[id].kind == LoopKind::Then && kernel.loops[id].trip.isOpaque()) {
      choice.bind(kernel, id, {}, {taken ? 1u : 0u});
    }
  }
  return choice;
}

namespace {

class TurningRuns {
public:
  TurningRuns(const Turns &turns, const Kernel &kernel, std::vector<RunChoice> &runs,
              const StopFlag *stop)
      : turns(turns), kernel(kernel), runs(runs), stop(stop) {
    for (const RunChoice &run : runs) {
      known.insert(run.options);
    }
    decides = turns.leavesGuardsOpen();
  }

  void run() {
    if (std::ranges::all_of(turns.all(), &Turn::isFar)) {
      return;
    }
    for (bool taken : {true, false}) {
      followAll({}, taken);
      for (LoopId loop : kernel.loops.ids()) {
        if (turns.isLeftOpen(loop)) {
          followAll(loop, taken);
        }
      }
      if (!decides) {
        return;
      }
    }
  }

private:
  /// Which turns are passed, if the run is short enough.
  std::optional<std::vector<bool>> passedBy(const RunChoice &choice) {
    uint64_t fuel = std::min(mostOperations, left);
    const uint64_t given = fuel;
    std::optional<std::vector<bool>> passed = turns.passedIn(choice.bindings, fuel);
    left -= given - fuel;
    return passed;
  }

  /// Twice as often each time, until the run gets too long or changes no more. What is passed
  /// between two of these is looked for between them.
  void followAll(LoopId one, bool taken) {
    std::vector<bool> before(turns.all().size(), false);
    RunChoice last = turns.choiceWith(one, taken, 0);
    uint64_t few = 0;
    uint32_t tooLong = 0;
    for (uint64_t count = 1; few < mostTurningTrips && !isDone();) {
      RunChoice choice = turns.choiceWith(one, taken, count);
      std::optional<std::vector<bool>> passed = passedBy(choice);
      if (!passed) {
        if (count - few <= 1 || ++tooLong == mostTooLong) {
          return;
        }
        count = few + (count - few) / 2;
        continue;
      }
      for (size_t i = 0; i < passed->size() && !isDone(); ++i) {
        if ((*passed)[i] && !before[i]) {
          addAround(one, taken, firstThatPasses(i, one, taken, few, count));
        }
      }
      if ((choice.options == last.options && count > 1) ||
          std::ranges::all_of(*passed, std::identity())) {
        return;
      }
      before = std::move(*passed);
      last = std::move(choice);
      few = count;
      count = std::min(2 * count, mostTurningTrips);
    }
  }

  bool isDone() const { return left == 0 || numAdded >= mostTurningRuns || isSet(stop); }

  uint64_t firstThatPasses(size_t turn, LoopId one, bool taken, uint64_t few, uint64_t enough) {
    while (few + 1 < enough && left > 0) {
      uint64_t middle = few + (enough - few) / 2;
      std::optional<std::vector<bool>> passed = passedBy(turns.choiceWith(one, taken, middle));
      (passed && (*passed)[turn] ? enough : few) = middle;
    }
    return enough;
  }

  void addAround(LoopId one, bool taken, uint64_t count) {
    if (count < mostUsual) {
      return;
    }
    for (uint64_t near : {count - 1, count, count + 1}) {
      RunChoice choice = turns.choiceWith(one, taken, near);
      if (known.insert(choice.options).second) {
        runs.push_back(std::move(choice));
        ++numAdded;
      }
    }
  }

  const Turns &turns;
  const Kernel &kernel;
  std::vector<RunChoice> &runs;
  const StopFlag *stop;
  std::set<std::vector<std::string>> known;
  bool decides = false;
  size_t numAdded = 0;
  uint64_t left = mostFollowed;
};

} // namespace

void addTurningRuns(const Turns &turns, const Kernel &kernel, std::vector<RunChoice> &runs,
                    const StopFlag *stop) {
  if (!turns.all().empty()) {
    TurningRuns(turns, kernel, runs, stop).run();
  }
}

} // namespace tally
