//===- Outside.cpp - What an engine does to the outside, in order ---------===//
//
// The interpreter keeps one number for each value, a bit pattern as wide as the type. A
// region runs its operations in order and gives the operands of its terminator:
//
//   scf.for     bounds, then the body once for each step, its results carried on
//   scf.while   before-region, whose first result decides; the others go to the body
//   scf.if      one of two regions
//
// Run-time values come from Bindings, by how often each was asked for. `trips` and the
// `guard` of an if are one entry of their loop each. The `guard` of a while-loop is asked once
// for each iteration and once more to end.
//
//===----------------------------------------------------------------------===//

#include "oracle/Outside.h"

#include "oracle/KernelWalk.h"

#include "tally/IR/Tally.h"
#include "tally/Run/Interpret.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>

namespace tally::oracle {

/// More than any program of these tests does.
static constexpr uint64_t maxOperations = 200000;

std::string toString(const Effect &effect) {
  static constexpr std::string_view kinds[] = {"issue", "wait", "signal", "reset", "drain"};
  std::string text(kinds[static_cast<size_t>(effect.kind)]);
  text += effect.instr.empty() ? "" : fmt::format(" '{}'", effect.instr);
  if (!effect.wait.empty()) {
    text += fmt::format(" waits '{}' >= {} for [{}]", effect.wait, effect.threshold,
                        fmt::join(effect.reasons, ", "));
  }
  if (!effect.signal.empty()) {
    text += fmt::format(" on '{}' by {}", effect.signal, effect.amount);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// The core's code
//===----------------------------------------------------------------------===//

static Effect effectOf(const Kernel &kernel, const Code &code, const EngineRun &run, const Op &op) {
  Effect effect;
  effect.kind = op.kind;
  if (op.kind == OpKind::Issue) {
    effect.instr = kernel.nameOf(op.instr());
  }
  if (op.wait.valid()) {
    effect.wait = code.semaphores[op.wait].name;
    effect.threshold = run.value(op.a);
    for (uint32_t i = 0; i < op.numReasons; ++i) {
      effect.reasons.push_back(code.reasons[op.firstReason + i].value);
    }
  }
  if (op.signal.valid()) {
    effect.signal = code.semaphores[op.signal].name;
    effect.amount = op.amount;
  }
  return effect;
}

Trace runCode(const Kernel &kernel, const Code &code, const Machine &machine,
              const Bindings &bindings, EngineId engine) {
  Trace trace;
  EngineRun run(kernel, code, machine, bindings, engine);
  run.setFuel(maxOperations);
  while (const Op *op = run.next()) {
    trace.effects.push_back(effectOf(kernel, code, run, *op));
  }
  trace.problem = run.exhausted() ? "the code does not end" : "";
  return trace;
}

//===----------------------------------------------------------------------===//
// The scf form
//===----------------------------------------------------------------------===//

namespace {

using Numbers = llvm::SmallVector<llvm::APInt, 4>;

/// What formulas and conditions come to at each entry, on the kernel's own way: code names no
/// iterations.
struct FormulaTrips {
  FormulaTrips(const Kernel &kernel, const Bindings &bindings, EngineId engine)
      : trips(kernel.loops.size()), kernel(kernel) {
    if (std::ranges::any_of(kernel.loops, isFormula)) {
      KernelWalk(kernel, bindings, engine, *this).run(UINT64_MAX);
    }
  }

  /// Whether what stands in the kernel decides.
  static bool isFormula(const Loop &loop) {
    return loop.trip.kind == Trip::Kind::Formula ||
           (loop.trip.condition.valid() && loop.kind == LoopKind::Then);
  }

  void reach(const Stmt &stmt) { trips[stmt.loop].push_back(0); }

  void enter(LoopId loop, uint64_t iteration) {
    if (isFormula(kernel.loops[loop])) {
      trips[loop].back() = iteration;
    }
  }

  void leave(LoopId /*loop*/) {}

  void block(const Stmt & /*block*/) {}

  IdVector<LoopId, std::vector<uint64_t>> trips;

private:
  const Kernel &kernel;
};

/// What one engine is told each time it asks.
class Answers {
public:
  Answers(const Kernel &kernel, const Bindings &bindings, EngineId engine)
      : kernel(kernel), bindings(bindings), engine(engine), asked(kernel.loops.size(), 0),
        left(kernel.loops.size()), formulas(kernel, bindings, engine) {}

  /// The loop or then-branch of this name; none if there is none.
  LoopId find(std::string_view name) const {
    for (LoopId id : kernel.loops.ids()) {
      if (id != rootLoop && kernel.nameOf(id) == name) {
        return id;
      }
    }
    return {};
  }

  uint64_t trips(LoopId loop) {
    uint64_t entry = asked[loop]++;
    return FormulaTrips::isFormula(kernel.loops[loop]) ? formulas.trips[loop].at(entry)
                                                       : bindings.trips(engine, loop, entry + 1);
  }

  bool holds(LoopId loop) {
    if (kernel.loops[loop].isBranch()) {
      return trips(loop) != 0;
    }
    if (!left[loop]) {
      left[loop] = trips(loop);
    }
    if (*left[loop] == 0) {
      left[loop].reset();
      return false;
    }
    --*left[loop];
    return true;
  }

private:
  const Kernel &kernel;
  const Bindings &bindings;
  EngineId engine;
  IdVector<LoopId, uint64_t> asked;
  IdVector<LoopId, std::optional<uint64_t>> left; ///< iterations, of while-loops being run
  FormulaTrips formulas;
};

class ScfRun {
public:
  explicit ScfRun(Answers answers) : answers(std::move(answers)) {}

  Trace run(mlir::func::FuncOp function) {
    block(function.getBody().front(), {});
    return std::move(trace);
  }

private:
  Numbers block(mlir::Block &block, llvm::ArrayRef<llvm::APInt> arguments);
  void step(mlir::Operation &op);
  bool control(mlir::Operation &op);
  bool outside(mlir::Operation &op);
  bool arithmetic(mlir::Operation &op);
  void loop(mlir::scf::ForOp op);
  void loop(mlir::scf::WhileOp op);
  void branch(mlir::scf::IfOp op);
  void ask(ir::TripsOp op);
  void ask(ir::GuardOp op);
  void run(ir::RunOp op);
  void wait(ir::AwaitOp op);
  void setWait(Effect &effect, const ir::AwaitData &data, mlir::Value threshold);
  llvm::APInt widened(mlir::Operation &op, bool isSigned);

  llvm::APInt &operator[](mlir::Value value) { return numbers[value]; }

  llvm::APInt operand(mlir::Operation &op, unsigned i) { return numbers[op.getOperand(i)]; }

  Numbers all(mlir::ValueRange values) {
    Numbers result;
    for (mlir::Value value : values) {
      result.push_back(numbers[value]);
    }
    return result;
  }

  void define(mlir::ValueRange values, llvm::ArrayRef<llvm::APInt> newNumbers) {
    assert(values.size() == newNumbers.size() && "the verifier counted");
    for (auto [value, number] : llvm::zip(values, newNumbers)) {
      numbers[value] = number;
    }
  }

  void count() {
    if (++numOperations > maxOperations) {
      stop("the scf form does not end");
    }
  }

  bool stopped() const { return !trace.problem.empty(); }

  void stop(std::string problem) { trace.problem = stopped() ? trace.problem : std::move(problem); }

  Answers answers;
  Trace trace;
  llvm::DenseMap<mlir::Value, llvm::APInt> numbers;
  uint64_t numOperations = 0;
};

unsigned widthOf(mlir::Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

/// The operands of the terminator; zeros once the run has stopped.
Numbers ScfRun::block(mlir::Block &block, llvm::ArrayRef<llvm::APInt> arguments) {
  define(block.getArguments(), arguments);
  count(); // the terminator, so that empty loops end, too
  for (mlir::Operation &op : block.without_terminator()) {
    count();
    if (stopped()) {
      break;
    }
    step(op);
  }
  mlir::Operation *terminator = block.getTerminator();
  if (stopped()) {
    Numbers zeros;
    for (mlir::Type type : terminator->getOperandTypes()) {
      zeros.push_back(llvm::APInt(widthOf(type), 0));
    }
    return zeros;
  }
  return all(terminator->getOperands());
}

void ScfRun::step(mlir::Operation &op) {
  if (!arithmetic(op) && !outside(op) && !control(op)) {
    stop(fmt::format("cannot run '{}'", std::string_view(op.getName().getStringRef())));
  }
}

//===--- Bodies -----------------------------------------------------------===//

bool ScfRun::control(mlir::Operation &op) {
  return llvm::TypeSwitch<mlir::Operation &, bool>(op)
      .Case<mlir::scf::ForOp, mlir::scf::WhileOp>([&](auto each) {
        loop(each);
        return true;
      })
      .Case([&](mlir::scf::IfOp each) {
        branch(each);
        return true;
      })
      .Default(false);
}

void ScfRun::loop(mlir::scf::ForOp op) {
  int64_t upper = (*this)[op.getUpperBound()].getSExtValue();
  int64_t step = (*this)[op.getStep()].getSExtValue();
  Numbers carried = all(op.getInitArgs());
  int64_t at = (*this)[op.getLowerBound()].getSExtValue();
  for (; at < upper && !stopped(); at += step) {
    Numbers arguments{llvm::APInt(widthOf(op.getInductionVar().getType()), uint64_t(at))};
    arguments.append(carried);
    carried = block(*op.getBody(), arguments);
  }
  define(op.getResults(), carried);
}

void ScfRun::loop(mlir::scf::WhileOp op) {
  Numbers carried = all(op.getInits());
  while (true) {
    Numbers decision = block(*op.getBeforeBody(), carried);
    bool goesOn = decision.front().getBoolValue();
    decision.erase(decision.begin());
    if (!goesOn || stopped()) {
      return define(op.getResults(), decision);
    }
    carried = block(*op.getAfterBody(), decision);
  }
}

void ScfRun::branch(mlir::scf::IfOp op) {
  mlir::Region &region =
      (*this)[op.getCondition()].getBoolValue() ? op.getThenRegion() : op.getElseRegion();
  if (!region.empty()) {
    define(op.getResults(), block(region.front(), {}));
  }
}

//===--- The outside ------------------------------------------------------===//

bool ScfRun::outside(mlir::Operation &op) {
  return llvm::TypeSwitch<mlir::Operation &, bool>(op)
      .Case<ir::TripsOp, ir::GuardOp>([&](auto each) {
        ask(each);
        return true;
      })
      .Case([&](ir::RunOp each) {
        run(each);
        return true;
      })
      .Case([&](ir::AwaitOp each) {
        wait(each);
        return true;
      })
      .Case([&](ir::SignalOp each) {
        const ir::SignalData &data = each.getData();
        trace.effects.push_back({OpKind::Signal, {}, {}, 0, {}, data.semaphore.name, data.amount});
        return true;
      })
      .Case([&](ir::ResetOp each) {
        const ir::ResetData &data = each.getData();
        trace.effects.push_back({OpKind::Reset, {}, {}, 0, {}, data.semaphore.name, data.count});
        return true;
      })
      .Case([&](ir::DrainOp) {
        trace.effects.emplace_back();
        return true;
      })
      .Default(false);
}

void ScfRun::ask(ir::TripsOp op) {
  LoopId loop = answers.find(op.getData().loop);
  if (!loop.valid()) {
    return stop(fmt::format("asks for the trips of '{}', which is no loop", op.getData().loop));
  }
  (*this)[op.getTrips()] = llvm::APInt(64, answers.trips(loop));
}

void ScfRun::ask(ir::GuardOp op) {
  LoopId loop = answers.find(op.getData().name);
  if (!loop.valid()) {
    return stop(fmt::format("asks for guard '{}', which nobody has", op.getData().name));
  }
  (*this)[op.getHolds()] = llvm::APInt(1, answers.holds(loop));
}

void ScfRun::setWait(Effect &effect, const ir::AwaitData &data, mlir::Value threshold) {
  effect.wait = data.semaphore;
  effect.reasons = data.reasons;
  effect.threshold = (*this)[threshold].getZExtValue();
}

void ScfRun::run(ir::RunOp op) {
  const ir::RunData &data = op.getData();
  Effect effect;
  effect.kind = OpKind::Issue;
  effect.instr = data.instr;
  if (data.wait) {
    setWait(effect, *data.wait, op.getThreshold());
  }
  if (data.signal) {
    effect.signal = data.signal->semaphore.name;
    effect.amount = data.signal->amount;
  }
  trace.effects.push_back(std::move(effect));
}

void ScfRun::wait(ir::AwaitOp op) {
  Effect effect;
  effect.kind = OpKind::Wait;
  setWait(effect, op.getData(), op.getThreshold());
  trace.effects.push_back(std::move(effect));
}

//===--- Arithmetic -------------------------------------------------------===//

/// The operand as wide as the result: cut off, or filled with zeros or the sign.
llvm::APInt ScfRun::widened(mlir::Operation &op, bool isSigned) {
  unsigned width = widthOf(op.getResult(0).getType());
  llvm::APInt number = operand(op, 0);
  return isSigned ? number.sextOrTrunc(width) : number.zextOrTrunc(width);
}

bool ScfRun::arithmetic(mlir::Operation &op) {
  using namespace mlir;
  auto a = [&] { return operand(op, 0); };
  auto b = [&] { return operand(op, 1); };
  using Result = std::optional<llvm::APInt>;
  Result result =
      llvm::TypeSwitch<Operation &, Result>(op)
          .Case(
              [&](arith::ConstantOp each) { return cast<IntegerAttr>(each.getValue()).getValue(); })
          .Case([&](arith::AddIOp) { return a() + b(); })
          .Case([&](arith::SubIOp) { return a() - b(); })
          .Case([&](arith::MulIOp) { return a() * b(); })
          .Case([&](arith::RemSIOp) { return a().srem(b()); })
          .Case([&](arith::DivUIOp) { return a().udiv(b()); })
          .Case([&](arith::AndIOp) { return a() & b(); })
          .Case([&](arith::OrIOp) { return a() | b(); })
          .Case([&](arith::XOrIOp) { return a() ^ b(); })
          .Case([&](arith::MinUIOp) { return llvm::APIntOps::umin(a(), b()); })
          .Case([&](arith::MaxUIOp) { return llvm::APIntOps::umax(a(), b()); })
          .Case([&](arith::SelectOp) { return a().getBoolValue() ? b() : operand(op, 2); })
          .Case([&](arith::CmpIOp each) {
            return llvm::APInt(1, arith::applyCmpPredicate(each.getPredicate(), a(), b()));
          })
          .Case<arith::ExtUIOp, arith::TruncIOp, arith::IndexCastUIOp>(
              [&](auto) { return widened(op, false); })
          .Case<arith::ExtSIOp, arith::IndexCastOp>([&](auto) { return widened(op, true); })
          .Default(std::nullopt);
  if (result) {
    (*this)[op.getResult(0)] = *result;
  }
  return result.has_value();
}

} // namespace

Trace runScf(const Kernel &kernel, const Bindings &bindings, EngineId engine,
             mlir::func::FuncOp function) {
  return ScfRun(Answers(kernel, bindings, engine)).run(function);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static std::string effectAt(const Trace &trace, size_t at) {
  return at < trace.effects.size() ? toString(trace.effects[at]) : "nothing";
}

std::optional<std::string> differenceOf(const Trace &program, const Trace &scf) {
  for (const Trace *trace : {&program, &scf}) {
    if (!trace->problem.empty()) {
      return trace->problem;
    }
  }
  if (program.effects == scf.effects) {
    return std::nullopt;
  }
  size_t at = 0;
  while (at < std::min(program.effects.size(), scf.effects.size()) &&
         program.effects[at] == scf.effects[at]) {
    ++at;
  }
  return fmt::format("effect {}: the code does {}, the scf form does {}", at, effectAt(program, at),
                     effectAt(scf, at));
}

} // namespace tally::oracle
