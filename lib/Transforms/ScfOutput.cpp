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
//         2. use    forwards: what a body may write, surely writes, and reads from before
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

/// What a list of operations does to registers.
struct Use {
  RegSet exposed; ///< read before it is surely written
  RegSet mayWrite;
  RegSet mustWrite;

  explicit Use(size_t size = 0)
      : exposed(static_cast<unsigned>(size)), mayWrite(static_cast<unsigned>(size)),
        mustWrite(static_cast<unsigned>(size)) {}
};

struct Node {
  const Op *op = nullptr;
  std::vector<Node> body; ///< of a loop, or the then-branch
  std::vector<Node> otherwise;
  Use bodyUse;      ///< of a loop's body
  RegSet writes;    ///< of all bodies
  RegSet liveAfter; ///< loops and branches only
};

class TreeBuilder {
public:
  explicit TreeBuilder(const std::vector<Op> &ops) : ops(ops) {}

  std::vector<Node> build() {
    std::vector<Node> nodes;
    list(nodes);
    return nodes;
  }

private:
  /// Up to the end of the body, which is passed.
  OpKind list(std::vector<Node> &nodes);
  void open(std::vector<Node> &nodes, const Op &op);

  const std::vector<Op> &ops;
  size_t at = 0;
};

OpKind TreeBuilder::list(std::vector<Node> &nodes) {
  while (at < ops.size()) {
    const Op &op = ops[at++];
    switch (op.kind) {
    case OpKind::LoopBegin:
    case OpKind::IfBegin:
    case OpKind::WhenBegin:
      open(nodes, op);
      break;
    case OpKind::LoopEnd:
    case OpKind::Else:
    case OpKind::IfEnd:
    case OpKind::WhenEnd:
      return op.kind;
    case OpKind::BarrierBegin:
    case OpKind::BarrierEnd:
      break;
    default:
      nodes.emplace_back().op = &op;
    }
  }
  return OpKind::LoopEnd;
}

void TreeBuilder::open(std::vector<Node> &nodes, const Op &op) {
  Node node;
  node.op = &op;
  if (list(node.body) == OpKind::Else) {
    list(node.otherwise);
  }
  nodes.push_back(std::move(node));
}

//===----------------------------------------------------------------------===//
// 2. use, 3. live
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

bool isBranch(OpKind kind) {
  return kind == OpKind::IfBegin || kind == OpKind::WhenBegin;
}

class Liveness {
public:
  explicit Liveness(size_t numRegisters) : size(numRegisters) {}

  Use use(std::vector<Node> &nodes);

  /// `live` is what is read after the list, and becomes what is read from its start.
  void backwards(std::vector<Node> &nodes, RegSet &live);

private:
  void addLoop(Node &node, Use &use);
  void addBranches(Node &node, Use &use);
  void addOp(const Op &op, Use &use);

  static void expose(Use &use, RegSet reads) {
    reads.reset(use.mustWrite);
    use.exposed |= reads;
  }

  size_t size;
};

Use Liveness::use(std::vector<Node> &nodes) {
  Use use(size);
  for (Node &node : nodes) {
    addOp(*node.op, use); // what a loop or a branch reads, and no more
    if (node.op->kind == OpKind::LoopBegin) {
      addLoop(node, use);
    } else if (isBranch(node.op->kind)) {
      addBranches(node, use);
    }
  }
  return use;
}

void Liveness::addOp(const Op &op, Use &use) {
  forEachRead(op, [&](uint32_t reg) {
    if (!use.mustWrite[reg]) {
      use.exposed.set(reg);
    }
  });
  if (op.kind == OpKind::Alu) {
    use.mayWrite.set(op.dst.value);
    use.mustWrite.set(op.dst.value);
  }
}

void Liveness::addLoop(Node &node, Use &use) {
  node.bodyUse = this->use(node.body);
  if (node.op->dst.valid()) {
    node.bodyUse.exposed.reset(node.op->dst.value);
    node.bodyUse.mayWrite.set(node.op->dst.value);
  }
  node.writes = node.bodyUse.mayWrite;
  expose(use, node.bodyUse.exposed);
  use.mayWrite |= node.writes;
}

void Liveness::addBranches(Node &node, Use &use) {
  Use then = this->use(node.body);
  Use otherwise = this->use(node.otherwise);
  node.writes = then.mayWrite;
  node.writes |= otherwise.mayWrite;
  expose(use, then.exposed);
  expose(use, otherwise.exposed);
  use.mayWrite |= node.writes;
  then.mustWrite &= otherwise.mustWrite;
  use.mustWrite |= then.mustWrite;
}

void Liveness::backwards(std::vector<Node> &nodes, RegSet &live) {
  for (Node &node : llvm::reverse(nodes)) {
    if (node.op->kind == OpKind::LoopBegin) {
      node.liveAfter = live;
      live |= node.bodyUse.exposed; // also at the end of the body, for the next iteration
      RegSet inBody = live;
      backwards(node.body, inBody);
    } else if (isBranch(node.op->kind)) {
      node.liveAfter = live;
      RegSet otherwise = live;
      backwards(node.body, live);
      backwards(node.otherwise, otherwise);
      live |= otherwise;
      forEachRead(*node.op, [&](uint32_t reg) { live.set(reg); });
    } else {
      if (node.op->kind == OpKind::Alu) {
        live.reset(node.op->dst.value);
      }
      forEachRead(*node.op, [&](uint32_t reg) { live.set(reg); });
    }
  }
}

//===----------------------------------------------------------------------===//
// 4. emit
//===----------------------------------------------------------------------===//

class FunctionWriter {
public:
  FunctionWriter(const Kernel &kernel, const Code &code, const Machine &machine,
                 const EngineProgram &program, mlir::OpBuilder &builder)
      : kernel(kernel), code(code), machine(machine), program(program), builder(builder),
        loc(at(kernel.engines[program.engine].where)) {}

  mlir::func::FuncOp write();

private:
  void emit(const std::vector<Node> &nodes);
  void emit(const Node &node);
  void emitOp(const Op &op);
  void emitRun(const Op &op);
  void emitAlu(const Op &op);
  mlir::Value aluValue(AluOp op, mlir::Value a, mlir::Value b);
  void emitLoop(const Node &node);
  void emitFor(const Node &node, const std::vector<uint32_t> &carried);
  void emitAtOnce(const Node &node);
  mlir::Value tripsOf(const Op &begin);
  void unroll();
  void emitWhile(const Node &node, const std::vector<uint32_t> &carried);
  mlir::Value condition(const Op &op);
  void emitBranches(const Node &node);
  void emitBranch(mlir::Region &region, const std::vector<Node> &nodes,
                  const std::vector<uint32_t> &results);

  template <typename OpT, typename... Args> mlir::Value make(Args &&...args) {
    return OpT::create(builder, loc, std::forward<Args>(args)...);
  }

  mlir::Value number(uint32_t value);
  mlir::Value index(uint64_t value);
  mlir::Value value(Operand operand);
  mlir::Value masked(mlir::Value value);
  mlir::Value difference(mlir::Value a, mlir::Value b);
  std::vector<mlir::Value> valuesOf(const std::vector<uint32_t> &registers) const;
  void setValues(const std::vector<uint32_t> &registers, mlir::ValueRange newValues);
  ir::AwaitData waitData(const Op &op) const;
  ir::SignalData signalData(const Op &op) const;

  mlir::Location at(Location where) {
    return ir::toMlir(builder.getContext(), kernel.files, where);
  }

  mlir::Location where(const Op &op);

  std::string name(LoopId loop) const { return std::string(kernel.nameOf(loop)); }

  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  const EngineProgram &program;
  mlir::OpBuilder &builder;
  mlir::Location loc;              ///< of the operation being written, or the body around it
  std::vector<mlir::Value> values; ///< of each register now
  std::vector<std::pair<mlir::scf::ForOp, WrittenLoop>> unrolled;
};

mlir::func::FuncOp FunctionWriter::write() {
  std::string symbol =
      std::string(kernel.text(kernel.name)) + "_" + std::string(kernel.nameOf(program.engine));
  auto function = mlir::func::FuncOp::create(builder, loc, symbol, builder.getFunctionType({}, {}));
  mlir::OpBuilder::InsertionGuard outer(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());

  std::vector<Node> nodes = TreeBuilder(program.ops).build();
  Liveness liveness(program.registers.size());
  Use use = liveness.use(nodes);
  RegSet live(static_cast<unsigned>(program.registers.size()));
  liveness.backwards(nodes, live);

  values.assign(program.registers.size(), mlir::Value());
  if (use.mayWrite.any() || use.exposed.any()) {
    std::fill(values.begin(), values.end(), number(0));
  }
  emit(nodes);
  mlir::func::ReturnOp::create(builder, loc);
  unroll();
  return function;
}

void FunctionWriter::emit(const std::vector<Node> &nodes) {
  for (const Node &node : nodes) {
    emit(node);
  }
}

void FunctionWriter::emit(const Node &node) {
  llvm::SaveAndRestore around(loc);
  switch (node.op->kind) {
  case OpKind::LoopBegin:
    return emitLoop(node);
  case OpKind::IfBegin:
  case OpKind::WhenBegin:
    return emitBranches(node);
  default:
    return emitOp(*node.op);
  }
}

//===--- Values -----------------------------------------------------------===//

mlir::Value FunctionWriter::number(uint32_t value) {
  return make<arith::ConstantIntOp>(builder.getI32Type(), static_cast<int32_t>(value));
}

mlir::Value FunctionWriter::index(uint64_t value) {
  return make<arith::ConstantIndexOp>(static_cast<int64_t>(value));
}

mlir::Value FunctionWriter::value(Operand operand) {
  return operand.isRegister ? values[operand.value] : number(operand.value);
}

/// Counters narrower than 32 bits wrap at their own width.
mlir::Value FunctionWriter::masked(mlir::Value value) {
  if (machine.counterBits >= 32) {
    return value;
  }
  mlir::Value mask = number((1u << machine.counterBits) - 1);
  return make<arith::AndIOp>(value, mask);
}

mlir::Value FunctionWriter::difference(mlir::Value a, mlir::Value b) {
  mlir::Value wrapped = masked(make<arith::SubIOp>(a, b));
  if (machine.subtraction == Subtraction::Wraps) {
    return wrapped;
  }
  mlir::Value below = make<arith::CmpIOp>(arith::CmpIPredicate::ugt, b, a);
  return make<arith::SelectOp>(below, number(0), wrapped);
}

void FunctionWriter::emitAlu(const Op &op) {
  mlir::Value a = value(op.a);
  mlir::Value b = op.alu == AluOp::Move ? mlir::Value() : value(op.b);
  values[op.dst.value] = aluValue(op.alu, a, b);
}

mlir::Value FunctionWriter::aluValue(AluOp op, mlir::Value a, mlir::Value b) {
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

std::vector<mlir::Value> FunctionWriter::valuesOf(const std::vector<uint32_t> &registers) const {
  std::vector<mlir::Value> result;
  result.reserve(registers.size());
  for (uint32_t reg : registers) {
    result.push_back(values[reg]);
  }
  return result;
}

void FunctionWriter::setValues(const std::vector<uint32_t> &registers, mlir::ValueRange newValues) {
  for (size_t i = 0; i < registers.size(); ++i) {
    values[registers[i]] = newValues[i];
  }
}

//===--- Operations -------------------------------------------------------===//

ir::AwaitData FunctionWriter::waitData(const Op &op) const {
  ir::AwaitData data{code.semaphores[op.wait].name, {}};
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    data.reasons.push_back(code.reasons[op.firstReason + i].value);
  }
  return data;
}

ir::SignalData FunctionWriter::signalData(const Op &op) const {
  return {{code.semaphores[op.signal].name}, op.amount};
}

void FunctionWriter::emitRun(const Op &op) {
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

/// The same places that code in the dialect has: see CodeWriter in Written/Write.h.
mlir::Location FunctionWriter::where(const Op &op) {
  Origin origin = originOf(kernel, code, op);
  return !origin.where   ? loc
         : origin.behind ? builder.getFusedLoc({at(*origin.where), at(*origin.behind)})
                         : at(*origin.where);
}

void FunctionWriter::emitOp(const Op &op) {
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
    ir::ResetOp::create(builder, loc, ir::ResetData{{code.semaphores[op.signal].name}, op.amount});
    return;
  case OpKind::Drain:
    ir::DrainOp::create(builder, loc, ir::DrainData());
    return;
  default:
    return; // brackets are nodes
  }
}

//===--- Bodies -----------------------------------------------------------===//

std::vector<uint32_t> membersOf(const RegSet &set) {
  auto bits = set.set_bits();
  return {bits.begin(), bits.end()};
}

void FunctionWriter::emitLoop(const Node &node) {
  loc = at(kernel.loops[node.op->loop()].where);
  RegSet carried = node.liveAfter;
  carried |= node.bodyUse.exposed;
  carried &= node.writes;
  if (node.op->amount == atOnce) {
    return emitAtOnce(node);
  }
  if (kernel.loops[node.op->loop()].trip.kind == Trip::Kind::Guard) {
    return emitWhile(node, membersOf(carried));
  }
  emitFor(node, membersOf(carried));
}

mlir::Value FunctionWriter::tripsOf(const Op &begin) {
  const Loop &loop = kernel.loops[begin.loop()];
  if (loop.trip.kind == Trip::Kind::Constant) {
    return index(loop.trip.constant);
  }
  return ir::TripsOp::create(builder, loc, builder.getIndexType(),
                             ir::TripsData{name(begin.loop())})
      .getTrips();
}

void FunctionWriter::emitAtOnce(const Node &node) {
  mlir::Value trips = masked(make<arith::IndexCastOp>(builder.getI32Type(), tripsOf(*node.op)));
  for (const Node &each : node.body) {
    mlir::Value sum = trips;
    if (each.op->b.value != 1) {
      sum = masked(make<arith::MulIOp>(trips, number(each.op->b.value)));
    }
    mlir::Value &counter = values[each.op->dst.value];
    counter = masked(make<arith::AddIOp>(counter, sum));
  }
}

void FunctionWriter::emitFor(const Node &node, const std::vector<uint32_t> &carried) {
  mlir::Value zero = index(0);
  mlir::Value one = index(1);
  auto op = mlir::scf::ForOp::create(builder, loc, zero, tripsOf(*node.op), one, valuesOf(carried));
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
      mlir::Value iteration = make<arith::AddIOp>(op.getInductionVar(), one);
      values[node.op->dst.value] =
          masked(make<arith::IndexCastOp>(builder.getI32Type(), iteration));
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

/// Inner loops first, once their values are not looked up any more.
void FunctionWriter::unroll() {
  for (auto [loop, written] : unrolled) {
    bool done = written.isStraight ? succeeded(mlir::loopUnrollFull(loop))
                                   : succeeded(mlir::loopUnrollByFactor(loop, written.inPass));
    assert(done && "loops from zero by one can be unrolled");
    (void)done;
  }
}

/// The native counter of a while-loop is one more carried value, from 0.
void FunctionWriter::emitWhile(const Node &node, const std::vector<uint32_t> &carried) {
  std::vector<mlir::Value> inits = valuesOf(carried);
  bool counts = node.op->dst.valid();
  if (counts) {
    inits.push_back(number(0));
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
      iteration = masked(make<arith::AddIOp>(body->getArguments().back(), number(1)));
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

void FunctionWriter::emitBranch(mlir::Region &region, const std::vector<Node> &nodes,
                                const std::vector<uint32_t> &results) {
  mlir::OpBuilder::InsertionGuard outer(builder);
  std::vector<mlir::Value> outside = values;
  builder.createBlock(&region);
  emit(nodes);
  mlir::scf::YieldOp::create(builder, loc, valuesOf(results));
  values = std::move(outside);
}

/// Whether the branch is taken: the kernel's condition, or that of a register.
mlir::Value FunctionWriter::condition(const Op &op) {
  if (op.kind == OpKind::WhenBegin) {
    return make<arith::CmpIOp>(arith::CmpIPredicate::ne, value(op.a), number(0));
  }
  loc = at(kernel.loops[op.loop()].where);
  return ir::GuardOp::create(builder, loc, builder.getI1Type(), ir::GuardData{name(op.loop())});
}

void FunctionWriter::emitBranches(const Node &node) {
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
