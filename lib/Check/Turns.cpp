//===- Turns.cpp - Where code goes on otherwise beyond a number -----------===//

#include "tally/Check/Turns.h"

#include "tally/Run/Interpret.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

namespace tally {

/// Operations of a run that is tried, and of all that are followed to find them.
static constexpr uint64_t mostOperations = 200'000;
static constexpr uint64_t mostFollowed = 20'000'000;

/// Of a run that is too long, so many shorter ones are looked at.
static constexpr uint32_t mostTooLong = 4;

static constexpr uint64_t mostTurningTrips = 1 << 14;
static constexpr size_t mostTurningRuns = 64;

/// Runs of up to so many iterations are tried in any case.
static constexpr uint64_t mostUsual = 3;

static constexpr uint32_t noTurn = UINT32_MAX;

//===----------------------------------------------------------------------===//
// How far counters get
//===----------------------------------------------------------------------===//

/// The most that registers and semaphores may come to, as far as the kernel bounds its loops;
/// infinite where it does not. Resets are left out, so it may be more than that.
class Turns::Bounds {
public:
  Bounds(const Kernel &kernel, const Code &code)
      : code(code), runs(code.engines.size()), registers(code.engines.size()),
        raised(code.semaphores.size(), 0), largest(code.semaphores.size(), 1) {
    for (EngineId engine : kernel.engines.ids()) {
      countRuns(kernel, engine);
      boundRegisters(kernel, engine);
      addRaises(engine);
    }
  }

  double of(EngineId engine, Operand operand) const {
    return operand.isRegister ? registers[engine][operand.value] : operand.value;
  }

  double of(SemaId sema) const { return raised[sema]; }

  double largestRaise(SemaId sema) const { return largest[sema]; }

private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  static double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

  /// How often each operation may run.
  void countRuns(const Kernel &kernel, EngineId engine) {
    std::vector<double> around = {1};
    for (const Op &op : code.engines[engine].ops) {
      if (op.kind == OpKind::LoopEnd) {
        around.pop_back();
      }
      runs[engine].push_back(around.back());
      if (op.kind == OpKind::LoopBegin) {
        std::optional<uint64_t> most = kernel.loops[op.loop()].trip.most();
        around.push_back(product(around.back(), most ? static_cast<double>(*most) : infinite));
      }
    }
  }

  void boundRegisters(const Kernel &kernel, EngineId engine) {
    const EngineProgram &program = code.engines[engine];
    const size_t count = program.registers.size();
    registers[engine].assign(count, 0);
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
  }

  std::vector<double> onceMore(const Kernel &kernel, EngineId engine) const {
    const EngineProgram &program = code.engines[engine];
    std::vector<double> base(program.registers.size(), 0), steps(base);
    for (size_t at = 0; at < program.ops.size(); ++at) {
      const Op &op = program.ops[at];
      if (op.kind == OpKind::LoopBegin && op.dst.valid()) {
        std::optional<uint64_t> most = kernel.loops[op.loop()].trip.most();
        base[op.dst.value] =
            std::max(base[op.dst.value], most ? static_cast<double>(*most) : infinite);
      } else if (op.kind == OpKind::Alu) {
        const Operand self = Operand::reg(op.dst);
        if (op.alu == AluOp::Add && (op.a == self) != (op.b == self)) {
          steps[op.dst.value] += product(runs[engine][at], of(engine, op.a == self ? op.b : op.a));
        } else if (!(op.alu == AluOp::Sub && op.a == self)) {
          base[op.dst.value] =
              std::max(base[op.dst.value], result(op.alu, of(engine, op.a), of(engine, op.b)));
        }
      }
    }
    for (size_t r = 0; r < base.size(); ++r) {
      base[r] += steps[r];
    }
    return base;
  }

  static double result(AluOp alu, double a, double b) {
    switch (alu) {
    case AluOp::Move:
    case AluOp::Sub:
      return a;
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
  IdVector<EngineId, std::vector<double>> runs; ///< by operation
  IdVector<EngineId, std::vector<double>> registers;
  IdVector<SemaId, double> raised, largest;
};

//===----------------------------------------------------------------------===//
// Finding turns
//===----------------------------------------------------------------------===//

/// By register: whether it is written once and for all, before what it is compared with counts.
static std::vector<bool> steadyOnes(const EngineProgram &program) {
  std::vector<bool> steady(program.registers.size(), true);
  size_t depth = 0;
  for (const Op &op : program.ops) {
    bool opens =
        op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin || op.kind == OpKind::WhenBegin;
    bool closes =
        op.kind == OpKind::LoopEnd || op.kind == OpKind::IfEnd || op.kind == OpKind::WhenEnd;
    bool isChanged = op.dst.valid() && (op.kind == OpKind::LoopBegin || depth > 0);
    if (op.kind == OpKind::Alu) {
      auto isOpen = [&](Operand operand) { return operand.isRegister && !steady[operand.value]; };
      isChanged |= isOpen(op.a) || (op.alu != AluOp::Move && isOpen(op.b));
    }
    if (isChanged) {
      steady[op.dst.value] = false;
    }
    depth += opens;
    depth -= closes;
  }
  return steady;
}

Turns::Turns(const Kernel &kernel, const Code &code, const Machine &machine)
    : kernel(kernel), code(code), machine(machine), turnAt(code.engines.size()),
      steady(code.engines.size()) {
  Bounds bounds(kernel, code);
  for (EngineId engine : kernel.engines.ids()) {
    turnAt[engine].assign(code.engines[engine].ops.size(), noTurn);
    steady[engine] = steadyOnes(code.engines[engine]);
    addNumbers(bounds, engine);
    if (code.strategy == Strategy::Manual) {
      addLimits(bounds, engine);
    }
  }
  if (code.strategy == Strategy::Manual) {
    addSemaphores(bounds);
  }
}

bool Turns::isSteady(EngineId engine, Operand operand) const {
  return !operand.isRegister || steady[engine][operand.value];
}

void Turns::add(Turn turn) {
  if (turn.engine.valid()) {
    turnAt[turn.engine][turn.op] = static_cast<uint32_t>(turns.size());
  }
  turns.push_back(turn);
}

void Turns::addNumbers(const Bounds &bounds, EngineId engine) {
  const std::vector<Op> &ops = code.engines[engine].ops;
  for (uint32_t at = 0; at < ops.size(); ++at) {
    const Op &op = ops[at];
    bool compares = op.kind == OpKind::Alu &&
                    (op.alu == AluOp::Min || op.alu == AluOp::IsGT || op.alu == AluOp::Sub);
    if (compares && isSteady(engine, op.a) != isSteady(engine, op.b)) {
      bool isLeft = isSteady(engine, op.a);
      double number = bounds.of(engine, isLeft ? op.a : op.b);
      double counted = bounds.of(engine, isLeft ? op.b : op.a);
      if (counted > number) {
        add({engine, at, {}, false, true, false});
      }
    }
  }
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
    double most = isAdd || isMul || isCounter ? bounds.of(engine, Operand::reg(op.dst)) : 0;
    bool isFar = !isMul && limit > static_cast<double>(mostOperations);
    if (most >= limit && (!std::isinf(most) || !isFar)) {
      add({engine, isCounter ? match[at] : at, {}, true, !std::isinf(most), isFar});
    }
  }
}

void Turns::addSemaphores(const Bounds &bounds) {
  const IdVector<SemaId, bool> isWaitedFor = waitedFor(code);
  const auto limit = static_cast<double>(machine.counterLimit());
  for (SemaId sema : code.semaphores.ids()) {
    double most = bounds.of(sema);
    bool isFar = limit / bounds.largestRaise(sema) > static_cast<double>(mostOperations);
    if (isWaitedFor[sema] && most >= limit && (!std::isinf(most) || !isFar)) {
      add({{}, 0, sema, true, !std::isinf(most), isFar});
    }
  }
}

//===----------------------------------------------------------------------===//
// Following
//===----------------------------------------------------------------------===//

bool Turns::passes(const Turn &turn, uint64_t a, uint64_t b) const {
  const Op &op = code.engines[turn.engine].ops[turn.op];
  if (turn.isLimit) {
    return (op.alu == AluOp::Mul ? a * b : a + b) >= uint64_t(1) << machine.counterBits;
  }
  const bool isLeft = isSteady(turn.engine, op.a);
  const uint64_t number = isLeft ? a : b, counted = isLeft ? b : a;
  const bool turnsAtIt = op.alu == AluOp::Sub || (op.alu == AluOp::IsGT && isLeft);
  return counted > number || (counted == number && turnsAtIt);
}

std::optional<std::vector<bool>> Turns::passedIn(const Bindings &bindings, uint64_t &fuel) const {
  std::vector<bool> passed(turns.size(), false);
  IdVector<SemaId, uint64_t> raised(code.semaphores.size(), 0);
  for (EngineId engine : kernel.engines.ids()) {
    for (EngineRun run(kernel, code, machine, bindings, engine); !run.atEnd(); run.advance()) {
      if (fuel == 0) {
        return std::nullopt;
      }
      --fuel;
      const Op &op = run.head();
      if ((op.kind == OpKind::Issue || op.kind == OpKind::Signal) && op.signal.valid()) {
        raised[op.signal] += op.amount;
      }
      const uint32_t turn = turnAt[engine][run.at()];
      if (turn != noTurn && !passed[turn]) {
        passed[turn] = op.kind == OpKind::LoopEnd
                           ? run.active().back().iteration + 1 >= uint64_t(1) << machine.counterBits
                           : passes(turns[turn], run.value(op.a), run.value(op.b));
      }
    }
  }
  for (size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].sema.valid()) {
      passed[i] = raised[turns[i].sema] >= machine.counterLimit();
    }
  }
  return passed;
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
  if (turn.isLimit) {
    const Op &counted =
        op.kind == OpKind::LoopEnd ? program.ops[matchBrackets(program.ops)[turn.op]] : op;
    return fmt::format("{} on '{}' never came to {}, the limit of {} bits",
                       nameOf(counted.dst.value), kernel.nameOf(turn.engine),
                       uint64_t(1) << machine.counterBits, machine.counterBits);
  }
  bool isLeft = isSteady(turn.engine, op.a);
  return fmt::format("{} on '{}' never passed {}, from where {} is another",
                     textOf(isLeft ? op.b : op.a), kernel.nameOf(turn.engine),
                     textOf(isLeft ? op.a : op.b), nameOf(op.dst.value));
}

//===----------------------------------------------------------------------===//
// Runs that pass them
//===----------------------------------------------------------------------===//

namespace {

class TurningRuns {
public:
  TurningRuns(const Turns &turns, const Kernel &kernel, std::vector<RunChoice> &runs,
              const StopFlag *stop)
      : turns(turns), kernel(kernel), runs(runs), stop(stop) {
    for (const RunChoice &run : runs) {
      known.insert(run.options);
    }
    decides = hasGuards(kernel);
  }

  void run() {
    if (std::ranges::all_of(turns.all(), &Turn::isFar)) {
      return;
    }
    for (bool taken : {true, false}) {
      followAll({}, taken);
      for (LoopId loop : kernel.loops.ids()) {
        if (isOpen(loop)) {
          followAll(loop, taken);
        }
      }
      if (!decides) {
        return;
      }
    }
  }

private:
  bool isOpen(LoopId id) const {
    const Loop &loop = kernel.loops[id];
    return loop.kind == LoopKind::Loop && loop.trip.kind != Trip::Kind::Constant &&
           loop.trip.kind != Trip::Kind::Formula;
  }

  /// `one` so often, and those that it is not once; none: all of them.
  RunChoice choiceOf(LoopId one, bool taken, uint64_t count) const {
    RunChoice choice{Bindings(kernel), {}, 0, true, {}};
    auto bind = [&](LoopId id, uint64_t trips) {
      choice.options.push_back(fmt::format("{}={}", kernel.nameOf(id), trips));
      choice.bindings.set(id, {trips});
    };
    for (RunValueId id : kernel.values.ids()) {
      const RunValue &value = kernel.values[id];
      uint64_t number =
          std::min(std::max(one.valid() ? 1 : count, value.min), value.max.value_or(UINT64_MAX));
      choice.options.push_back(fmt::format("{}={}", kernel.nameOf(id), number));
      choice.bindings.setValue(id, number);
    }
    for (LoopId id : kernel.loops.ids()) {
      const Loop &loop = kernel.loops[id];
      if (isOpen(id)) {
        uint64_t wanted = !one.valid() || one == id ? count : 1;
        bind(id,
             std::min(std::max(wanted, loop.trip.least()), loop.trip.most().value_or(UINT64_MAX)));
      } else if (loop.kind == LoopKind::Then) {
        bind(id, taken ? 1 : 0);
      }
    }
    return choice;
  }

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
    RunChoice last = choiceOf(one, taken, 0);
    uint64_t few = 0;
    uint32_t tooLong = 0;
    for (uint64_t count = 1; few < mostTurningTrips && !isDone();) {
      RunChoice choice = choiceOf(one, taken, count);
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
      std::optional<std::vector<bool>> passed = passedBy(choiceOf(one, taken, middle));
      (passed && (*passed)[turn] ? enough : few) = middle;
    }
    return enough;
  }

  void addAround(LoopId one, bool taken, uint64_t count) {
    if (count < mostUsual) {
      return;
    }
    for (uint64_t near : {count - 1, count, count + 1}) {
      RunChoice choice = choiceOf(one, taken, near);
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
