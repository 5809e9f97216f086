//===- ScfOutput.cpp - Code as scf, arith and a few operations of ours ----===//
//
// One engine's code is a flat list that changes registers; its scf form is a function whose
// registers are values.
//
//   tally.for "A" {                         %n = tally.trips "A" : index
//     tally.set "r0" = "r0" + 1             %r = scf.for ... iter_args(%r0 = %zero) -> i32 {
//     tally.wait "s" >= "r0"                  %1 = arith.addi %r0, %c1 : i32
//   }                                         tally.await "s" >= %1 : i32
//                                             scf.yield %1 : i32 }
//
// Steps:  1. tree   brackets become nodes with bodies; barrier brackets vanish, their
//                   operations stay
//         2. write  what a body may write
//         3. live   backwards: what is still read after each loop and branch
//         4. emit   a register that a body may write becomes an iteration argument or a result if
//                   it is read afterwards or, for loops, at the start of an iteration
// A loop may run zero times, so it surely writes nothing. Registers start at zero.
// Cost: linear in operations, times registers of the engine over 64 for each body.
//
//===----------------------------------------------------------------------===//

#include "tally/Transforms/ScfOutput.h"

#include "tally/Code/Origin.h"
#include "tally/IR/Load.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/SaveAndRestore.h"

namespace tally {
namespace {

namespace arith = mlir::arith;

using RegSet = llvm::BitVector;

//===----------------------------------------------------------------------===//
// 1. tree
//===----------------------------------------------------------------------===//

struct Node {
  const Op *op = nullptr;
  std::vector<Node> body; ///< of a loop, or the then-branch
  std::vector<Node> otherwise;
  RegSet exposed;   ///< of a loop: what an iteration reads before it surely writes it
  RegSet writes;    ///< what its bodies may write, and a loop's own counter
  RegSet liveAfter; ///< loops and branches only
};

bool hasBody(const Op &op) {
  return op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin || op.kind == OpKind::WhenBegin;
}

/// The operations up to the end of a body, which is passed. Returns what ends it.
OpKind readBody(std::span<const Op> &ops, std::vector<Node> &nodes) {
  while (!ops.empty()) {
    const Op &op = ops.front();
    ops = ops.subspan(1);
    switch (op.kind) {
    case OpKind::LoopEnd:
    case OpKind::Else:
    case OpKind::IfEnd:
    case OpKind::WhenEnd:
      return op.kind;
    case OpKind::BarrierBegin:
    case OpKind::BarrierEnd:
      break;
    default:
      Node &node = nodes.emplace_back();
      node.op = &op;
      if (hasBody(op) && readBody(ops, node.body) == OpKind::Else) {
        readBody(ops, node.otherwise);
      }
    }
  }
  return OpKind::LoopEnd;
}

//===----------------------------------------------------------------------===//
// 2. write, 3. live
//===----------------------------------------------------------------------===//

template <typename Fn> void forEachRead(const Op &op, Fn &&fn) {
  bool readsA = op.kind == OpKind::Alu || op.kind == OpKind::WhenBegin || op.wait.valid();
  bool readsB = op.kind == OpKind::Alu && op.alu != AluOp::Move;
  if (readsA && op.a.isRegister) {
    fn(op.a.value);
  }
  if (readsB && op.b.isRegister) {
    fn(op.b.value);
  }
}

/// What the list may write, of so many registers.
RegSet findWrites(std::vector<Node> &nodes, unsigned size) {
  RegSet writes(size);
  for (Node &node : nodes) {
    if (hasBody(*node.op)) {
      node.writes = findWrites(node.body, size);
      node.writes |= findWrites(node.otherwise, size);
    }
    if (node.op->dst.valid()) {
      (hasBody(*node.op) ? node.writes : writes).set(node.op->dst.value);
    }
    writes |= node.writes;
  }
  return writes;
}

void reset(RegSet &set, RegId reg) {
  if (reg.valid()) {
    set.reset(reg.value);
  }
}

/// Backwards: `live` is what is read after the list, and becomes what is read from its start. What
/// iterations of loops read is found by a first walk, in which nothing is read afterwards.
void findLive(std::vector<Node> &nodes, RegSet &live, bool isFirst) {
  for (Node &node : llvm::reverse(nodes)) {
    const Op &op = *node.op;
    if (op.kind == OpKind::LoopBegin) {
      if (isFirst) {
        node.exposed = RegSet(live.size());
        findLive(node.body, node.exposed, isFirst);
        reset(node.exposed, op.dst);
      }
      node.liveAfter = live;
      live |= node.exposed; // also at the end of the body, for the next iteration
      if (!isFirst) {
        RegSet inBody = live;
        findLive(node.body, inBody, isFirst);
      }
      continue;
    }
    if (hasBody(op)) {
      node.liveAfter = live;
      RegSet otherwise = live;
      findLive(node.body, live, isFirst);
      findLive(node.otherwise, otherwise, isFirst);
      live |= otherwise;
    } else {
      reset(live, op.dst);
    }
    forEachRead(op, [&](uint32_t reg) { live.set(reg); });
  }
}

std::vector<uint32_t> membersOf(const RegSet &set) {
  auto bits = set.set_bits();
  return {bits.begin(), bits.end()};
}

//===----------------------------------------------------------------------===//
// 4. emit
//===----------------------------------------------------------------------===//

/// Numbers of counters, at the place that is being written.
class Numbers {
public:
  Numbers(const Machine &machine, mlir::OpBuilder &builder, const mlir::Location &loc)
      : machine(machine), builder(builder), loc(loc) {}

  template <typename OpT, typename... Args> mlir::Value make(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...);
  }

  mlir::Value number(uint32_t value) {
    return make<arith::ConstantIntOp>(builder.getI32Type(), static_cast<int32_t>(value));
  }

  mlir::Value index(uint64_t value) {
    return make<arith::ConstantIndexOp>(static_cast<int64_t>(value));
  }

  /// Counters narrower than 32 bits wrap at their own width.
  mlir::Value masked(mlir::Value value) {
    if (machine.counterBits >= 32) {
      return value;
    }
    mlir::Value mask = number((1u << machine.counterBits) - 1);
    return make<arith::AndIOp>(value, mask);
  }

  mlir::Value aluValue(AluOp op, mlir::Value a, mlir::Value b) {
    switch (op) {
    case AluOp::Move:
      return masked(a);
    case AluOp::Add:
      return masked(make<arith::AddIOp>(a, b));
    case AluOp::Sub:
      return difference(a, b);
    case AluOp::Mul:
      return masked(make<arith::MulIOp>(a, b));
    case AluOp::Min:
      return masked(make<arith::MinUIOp>(a, b));
    case AluOp::IsGT:
      return make<arith::ExtUIOp>(builder.getI32Type(),
                                  make<arith::CmpIOp>(arith::CmpIPredicate::ugt, a, b));
    }
    return {};
  }

private:
  mlir::Value difference(mlir::Value a, mlir::Value b) {
    mlir::Value wrapped = masked(make<arith::SubIOp>(a, b));
    if (machine.subtraction == Subtraction::Wraps) {
      return wrapped;
    }
    mlir::Value below = make<arith::CmpIOp>(arith::CmpIPredicate::ugt, b, a);
    return make<arith::SelectOp>(below, number(0), wrapped);
  }

  const Machine &machine;
  mlir::OpBuilder &builder;
  const mlir::Location &loc;
};

class FunctionWriter {
public:
  FunctionWriter(const Kernel &kernel, const Code &code, const Machine &machine,
                 const EngineProgram &program, mlir::OpBuilder &builder)
      : kernel(kernel), code(code), program(program), builder(builder),
        loc(at(kernel.engines[program.engine].where)), numbers(machine, builder, loc) {}

  mlir::func::FuncOp write() {
    std::string symbol =
        std::string(kernel.text(kernel.name)) + "_" + std::string(kernel.nameOf(program.engine));
    auto function =
        mlir::func::FuncOp::create(builder, loc, symbol, builder.getFunctionType({}, {}));
    function->setAttr("tally.strategy", builder.getStringAttr(toString(code.strategy)));
    if (!code.machine.empty()) {
      function->setAttr("tally.machine", builder.getStringAttr(code.machine));
    }
    mlir::OpBuilder::InsertionGuard outer(builder);
    builder.setInsertionPointToStart(function.addEntryBlock());

    std::span<const Op> ops = program.ops;
    std::vector<Node> nodes;
    readBody(ops, nodes);
    const unsigned size = static_cast<unsigned>(program.registers.size());
    RegSet writes = findWrites(nodes, size);
    RegSet exposed(size), live(size);
    findLive(nodes, exposed, /*isFirst=*/true);
    findLive(nodes, live, /*isFirst=*/false);

    bool usesRegisters = writes.any() || live.any();
    values.assign(size, usesRegisters ? numbers.number(0) : mlir::Value());
    emit(nodes);
    mlir::func::ReturnOp::create(builder, loc);
    unroll();
    return function;
  }

private:
  void emit(const std::vector<Node> &nodes) {
    for (const Node &node : nodes) {
      llvm::SaveAndRestore around(loc);
      if (node.op->kind == OpKind::LoopBegin) {
        emitLoop(node);
      } else if (hasBody(*node.op)) {
        emitBranches(node);
      } else {
        emitOp(*node.op);
      }
    }
  }

  void emitOp(const Op &op) {
    loc = where(op);
    switch (op.kind) {
    case OpKind::Issue:
      return emitRun(op);
    case OpKind::Alu:
      return emitAlu(op);
    case OpKind::Wait:
      ir::AwaitOp::create(builder, loc, waitData(op), value(op.a));
      return;
    case OpKind::Signal:
      ir::SignalOp::create(builder, loc, signalData(op));
      return;
    case OpKind::Reset:
      ir::ResetOp::create(builder, loc,
                          ir::ResetData{{code.semaphores[op.signal].name}, op.amount});
      return;
    case OpKind::Drain:
      ir::DrainOp::create(builder, loc, ir::DrainData());
      return;
    default:
      return; // brackets are nodes
    }
  }

  void emitRun(const Op &op) {
    ir::RunData data{std::string(kernel.nameOf(op.instr())), {}, {}};
    mlir::Value threshold;
    if (op.wait.valid()) {
      threshold = value(op.a);
      data.wait = waitData(op);
    }
    if (op.signal.valid()) {
      data.signal = signalData(op);
    }
    ir::RunOp::create(builder, loc, data, threshold);
  }

  void emitAlu(const Op &op) {
    mlir::Value a = value(op.a);
    mlir::Value b = op.alu == AluOp::Move ? mlir::Value() : value(op.b);
    values[op.dst.value] = numbers.aluValue(op.alu, a, b);
  }

  void emitLoop(const Node &node) {
    loc = at(kernel.loops[node.op->loop()].where);
    RegSet carried = node.liveAfter;
    carried |= node.exposed;
    carried &= node.writes;
    if (node.op->amount == atOnce) {
      return emitAtOnce(node);
    }
    if (kernel.loops[node.op->loop()].trip.kind == Trip::Kind::Guard) {
      return emitWhile(node, membersOf(carried));
    }
    emitFor(node, membersOf(carried));
  }

  void emitFor(const Node &node, const std::vector<uint32_t> &carried) {
    mlir::Value zero = numbers.index(0);
    mlir::Value one = numbers.index(1);
    auto op =
        mlir::scf::ForOp::create(builder, loc, zero, tripsOf(*node.op), one, valuesOf(carried));
    std::vector<mlir::Value> outside = values;
    {
      mlir::OpBuilder::InsertionGuard outer(builder);
      mlir::Block *body = op.getBody();
      if (!body->empty()) {
        body->getTerminator()->erase(); // there is one if nothing is carried
      }
      builder.setInsertionPointToEnd(body);
      setValues(carried, op.getRegionIterArgs());
      if (node.op->dst.valid()) {
        mlir::Value iteration = numbers.make<arith::AddIOp>(op.getInductionVar(), one);
        values[node.op->dst.value] =
            numbers.masked(numbers.make<arith::IndexCastOp>(builder.getI32Type(), iteration));
      }
      emit(node.body);
      mlir::scf::YieldOp::create(builder, loc, valuesOf(carried));
    }
    values = std::move(outside);
    setValues(carried, op.getResults());
    if (node.op->amount > 1) {
      unrolled.push_back({op, writtenLoop(kernel, *node.op)});
    }
  }

  void emitAtOnce(const Node &node) {
    mlir::Value trips =
        numbers.masked(numbers.make<arith::IndexCastOp>(builder.getI32Type(), tripsOf(*node.op)));
    for (const Node &each : node.body) {
      mlir::Value sum = trips;
      if (each.op->b.value != 1) {
        sum = numbers.masked(numbers.make<arith::MulIOp>(trips, numbers.number(each.op->b.value)));
      }
      mlir::Value &counter = values[each.op->dst.value];
      counter = numbers.masked(numbers.make<arith::AddIOp>(counter, sum));
    }
  }

  mlir::Value tripsOf(const Op &begin) {
    const Loop &loop = kernel.loops[begin.loop()];
    if (loop.trip.kind == Trip::Kind::Constant) {
      return numbers.index(loop.trip.constant);
    }
    return ir::TripsOp::create(builder, loc, builder.getIndexType(),
                               ir::TripsData{name(begin.loop())})
        .getTrips();
  }

  /// Inner loops first, once their values are not looked up any more.
  void unroll() {
    for (auto [loop, written] : unrolled) {
      bool done = written.isStraight ? succeeded(mlir::loopUnrollFull(loop))
                                     : succeeded(mlir::loopUnrollByFactor(loop, written.inPass));
      assert(done && "loops from zero by one can be unrolled");
      (void)done;
    }
  }

  /// The native counter of a while-loop is one more carried value, from 0.
  void emitWhile(const Node &node, const std::vector<uint32_t> &carried) {
    std::vector<mlir::Value> inits = valuesOf(carried);
    bool counts = node.op->dst.valid();
    if (counts) {
      inits.push_back(numbers.number(0));
    }
    llvm::SmallVector<mlir::Type> types(inits.size(), builder.getI32Type());
    llvm::SmallVector<mlir::Location> locations(inits.size(), loc);
    auto op = mlir::scf::WhileOp::create(builder, loc, types, inits);
    std::vector<mlir::Value> outside = values;
    {
      mlir::OpBuilder::InsertionGuard outer(builder);
      mlir::Block *before = builder.createBlock(&op.getBefore(), {}, types, locations);
      mlir::Value holds = ir::GuardOp::create(builder, loc, builder.getI1Type(),
                                              ir::GuardData{name(node.op->loop())});
      mlir::scf::ConditionOp::create(builder, loc, holds, before->getArguments());

      mlir::Block *body = builder.createBlock(&op.getAfter(), {}, types, locations);
      setValues(carried, body->getArguments());
      mlir::Value iteration;
      if (counts) {
        iteration = numbers.masked(
            numbers.make<arith::AddIOp>(body->getArguments().back(), numbers.number(1)));
        values[node.op->dst.value] = iteration;
      }
      emit(node.body);
      std::vector<mlir::Value> yielded = valuesOf(carried);
      if (counts) {
        yielded.push_back(iteration);
      }
      mlir::scf::YieldOp::create(builder, loc, yielded);
    }
    values = std::move(outside);
    setValues(carried, op.getResults());
  }

  /// Whether the branch is taken: the kernel's condition, or that of a register.
  mlir::Value condition(const Op &op) {
    if (op.kind == OpKind::WhenBegin) {
      return numbers.make<arith::CmpIOp>(arith::CmpIPredicate::ne, value(op.a), numbers.number(0));
    }
    loc = at(kernel.loops[op.loop()].where);
    return ir::GuardOp::create(builder, loc, builder.getI1Type(), ir::GuardData{name(op.loop())});
  }

  void emitBranches(const Node &node) {
    RegSet written = node.liveAfter;
    written &= node.writes;
    std::vector<uint32_t> results = membersOf(written);
    llvm::SmallVector<mlir::Type> types(results.size(), builder.getI32Type());
    mlir::Value holds = condition(*node.op);
    auto op = mlir::scf::IfOp::create(builder, loc, types, holds);
    emitBranch(op.getThenRegion(), node.body, results);
    if (!node.otherwise.empty() || !results.empty()) {
      emitBranch(op.getElseRegion(), node.otherwise, results);
    }
    setValues(results, op.getResults());
  }

  void emitBranch(mlir::Region &region, const std::vector<Node> &nodes,
                  const std::vector<uint32_t> &results) {
    mlir::OpBuilder::InsertionGuard outer(builder);
    std::vector<mlir::Value> outside = values;
    builder.createBlock(&region);
    emit(nodes);
    mlir::scf::YieldOp::create(builder, loc, valuesOf(results));
    values = std::move(outside);
  }

  mlir::Value value(Operand operand) {
    return operand.isRegister ? values[operand.value] : numbers.number(operand.value);
  }

  std::vector<mlir::Value> valuesOf(const std::vector<uint32_t> &registers) const {
    std::vector<mlir::Value> result;
    result.reserve(registers.size());
    for (uint32_t reg : registers) {
      result.push_back(values[reg]);
    }
    return result;
  }

  void setValues(const std::vector<uint32_t> &registers, mlir::ValueRange newValues) {
    for (size_t i = 0; i < registers.size(); ++i) {
      values[registers[i]] = newValues[i];
    }
  }

  ir::AwaitData waitData(const Op &op) const {
    ir::AwaitData data{code.semaphores[op.wait].name, {}};
    for (uint32_t i = 0; i < op.numReasons; ++i) {
      data.reasons.push_back(code.reasons[op.firstReason + i].value);
    }
    return data;
  }

  ir::SignalData signalData(const Op &op) const {
    return {{code.semaphores[op.signal].name}, op.amount};
  }

  mlir::Location at(Location where) {
    return ir::toMlir(builder.getContext(), kernel.files, where);
  }

  /// The same places that code in the dialect has: see CodeWriter in Written/Write.h.
  mlir::Location where(const Op &op) {
    Origin origin = originOf(kernel, code, op);
    return !origin.where   ? loc
           : origin.behind ? builder.getFusedLoc({at(*origin.where), at(*origin.behind)})
                           : at(*origin.where);
  }

  std::string name(LoopId loop) const { return std::string(kernel.nameOf(loop)); }

  const Kernel &kernel;
  const Code &code;
  const EngineProgram &program;
  mlir::OpBuilder &builder;
  mlir::Location loc; ///< of the operation being written, or the body around it
  Numbers numbers;
  std::vector<mlir::Value> values; ///< of each register now
  std::vector<std::pair<mlir::scf::ForOp, WrittenLoop>> unrolled;
};

} // namespace

void storeScf(const Kernel &kernel, const Code &code, const Machine &machine,
              mlir::ModuleOp module) {
  mlir::MLIRContext *context = module.getContext();
  context->loadDialect<ir::TallyDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                       mlir::scf::SCFDialect>();
  mlir::SymbolTable symbols(module); // renames what would collide
  for (const EngineProgram &program : code.engines) {
    mlir::OpBuilder builder(context);
    symbols.insert(FunctionWriter(kernel, code, machine, program, builder).write());
  }
}

} // namespace tally
