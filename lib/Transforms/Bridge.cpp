//===- Bridge.cpp - Between the dialect and the core ----------------------===//
//
// Loading is in lib/IR (the verifier needs it too); here kernels are paired with their code.
// Storing writes the text that a person would have written: the tree in order, then all
// dependences.
//
//===----------------------------------------------------------------------===//

#include "tally/Transforms/Bridge.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"
#include "tally/Sync/Plan.h"

#include "tally/IR/Load.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <fmt/format.h>

namespace tally {

//===----------------------------------------------------------------------===//
// Load
//===----------------------------------------------------------------------===//

namespace {

/// The code of each kernel by name. The verifier has seen to it that there is one at most, and that
/// the kernel is there.
llvm::DenseMap<mlir::StringAttr, ir::CodeOp> codeByKernel(mlir::ModuleOp module) {
  llvm::DenseMap<mlir::StringAttr, ir::CodeOp> byKernel;
  for (ir::CodeOp code : module.getOps<ir::CodeOp>()) {
    byKernel.try_emplace(code.getKernelAttr().getAttr(), code);
  }
  return byKernel;
}

} // namespace

std::vector<LoadedKernel> loadKernels(mlir::ModuleOp module, Diagnostics &diagnostics) {
  std::vector<LoadedKernel> loaded;
  ir::FileTable files;
  auto codes = codeByKernel(module);
  for (ir::KernelOp op : module.getOps<ir::KernelOp>()) {
    LoadedKernel &next = loaded.emplace_back();
    next.kernel = ir::loadKernel(op, files, diagnostics);
    auto found = codes.find(op.getSymNameAttr());
    if (found != codes.end()) {
      next.codeAt = files.where(found->second);
      next.code = ir::loadCode(found->second, next.kernel, files, diagnostics);
    }
  }
  return loaded;
}

mlir::Location toMlir(mlir::MLIRContext *context, const Kernel &kernel, Location where) {
  return ir::toMlir(context, kernel, where);
}

void emit(const Kernel &kernel, const Diagnostics &diagnostics, mlir::MLIRContext *context) {
  ir::emit(kernel, diagnostics, context);
}

/// Code that a strategy of ours made is there to be made again; what was written by hand is not.
static bool isByHand(const Code &code) {
  return code.strategy == Strategy::Manual || code.strategy == Strategy::Ideal;
}

void warnOfUnusedCode(const LoadedKernel &loaded, std::string_view strategy,
                      const StrategyOption &option, Diagnostics &diagnostics) {
  if (!loaded.code || !isByHand(*loaded.code)) {
    return;
  }
  std::string keep = option.knowsManual ? fmt::format("{}=manual keeps it, ", option.name) : "";
  std::string text = fmt::format(
      "the code beside kernel '{}' was written by hand and is not used: strategy '{}' makes its "
      "own; {}{}={} replaces it without this warning",
      loaded.kernel.text(loaded.kernel.name), strategy, keep, option.name, strategy);
  Location where = loaded.codeAt.known() ? loaded.codeAt : loaded.kernel.where;
  diagnostics.remark(where, std::move(text)).severity = Severity::Warning;
}

//===----------------------------------------------------------------------===//
// Store
//===----------------------------------------------------------------------===//

namespace {

/// What both writers need.
class Writer {
protected:
  Writer(const Kernel &kernel, mlir::ModuleOp module)
      : kernel(kernel), builder(mlir::OpBuilder::atBlockEnd(module.getBody())) {
    for (const std::string &file : kernel.files) {
      files.push_back(builder.getStringAttr(file));
    }
  }

  mlir::Location at(Location where) {
    if (!where.known() || where.file >= files.size()) {
      return builder.getUnknownLoc();
    }
    return mlir::FileLineColLoc::get(files[where.file], where.line, where.column);
  }

  /// Continues in a new block of an empty region, until `outer` is restored.
  void enter(mlir::Region &region) { builder.setInsertionPointToEnd(&region.emplaceBlock()); }

  std::string text(NameId name) const { return std::string(kernel.text(name)); }

  template <typename IdT> std::string name(IdT id) const { return std::string(kernel.nameOf(id)); }

  const Kernel &kernel;
  mlir::OpBuilder builder;

private:
  std::vector<mlir::StringAttr> files;
};

class KernelWriter : Writer {
public:
  KernelWriter(const Kernel &kernel, mlir::ModuleOp module)
      : Writer(kernel, module), pins(pinnedSemaphores(kernel)) {}

  void write();

  /// The dependences alone.
  void writeDeps(ir::KernelOp op);

private:
  static ir::QueueData queueData(const Kernel &kernel, QueueId id);
  void engine(const Engine &engine);
  void buffer(const Buffer &buffer);
  void body(LoopId id);
  void loop(LoopId id);
  void branches(LoopId thenId);
  void instr(InstrId id);
  void dep(const Dep &dep);

  const std::map<InstrId, uint32_t> pins;
};

void KernelWriter::write() {
  ir::KernelData data{{kernel.reserved.begin(), kernel.reserved.end()}};
  auto op = ir::KernelOp::create(builder, at(kernel.where), text(kernel.name), data);
  enter(op.getBody());
  for (const Engine &each : kernel.engines) {
    engine(each);
  }
  for (const Buffer &each : kernel.buffers) {
    buffer(each);
  }
  body(rootLoop);
  writeDeps(op);
}

void KernelWriter::writeDeps(ir::KernelOp op) {
  builder.setInsertionPointToEnd(&op.getBody().front());
  for (const Dep &each : kernel.deps) {
    dep(each);
  }
}

ir::QueueData KernelWriter::queueData(const Kernel &kernel, QueueId id) {
  const Queue &queue = kernel.queues[id];
  return {std::string(kernel.text(queue.name)), queue.weight, queue.completion};
}

void KernelWriter::engine(const Engine &engine) {
  ir::EngineData data;
  data.own = queueData(kernel, engine.queues[0]);
  for (uint32_t i = 1; i < engine.queues.size(); ++i) {
    data.queues.push_back(queueData(kernel, engine.queues[i]));
  }
  data.reserves.assign(engine.reserved.begin(), engine.reserved.end());
  ir::EngineOp::create(builder, at(engine.where), data);
}

void KernelWriter::buffer(const Buffer &buffer) {
  ir::BufferData data{text(buffer.name),
                      buffer.shape,
                      text(buffer.elementType),
                      text(buffer.space),
                      buffer.address,
                      {},
                      {}};
  for (BufferId earlier : buffer.alias) {
    data.alias.push_back(text(kernel.buffers[earlier].name));
  }
  for (BufferId earlier : buffer.noalias) {
    data.noalias.push_back(text(kernel.buffers[earlier].name));
  }
  ir::BufferOp::create(builder, at(buffer.where), data);
}

void KernelWriter::body(LoopId id) {
  for (StmtId stmtId : kernel.loops[id].body) {
    const Stmt &stmt = kernel.stmts[stmtId];
    switch (stmt.kind) {
    case Stmt::Kind::Block:
      for (InstrId each : stmt.instrs) {
        instr(each);
      }
      break;
    case Stmt::Kind::Loop:
      loop(stmt.loop);
      break;
    case Stmt::Kind::If:
      branches(stmt.loop);
      break;
    }
  }
}

void KernelWriter::loop(LoopId id) {
  const Loop &loop = kernel.loops[id];
  ir::LoopData data;
  data.name = text(loop.name);
  data.kind = loop.trip.kind;
  data.divergent = !loop.uniform;
  data.unroll = loop.unroll == fullyUnrolled ? UINT64_MAX : loop.unroll;
  data.sync = toString(loop.sync);
  if (data.kind == Trip::Kind::Constant) {
    data.trips = loop.trip.constant;
  } else {
    data.symbol = text(loop.trip.symbol.valid() ? loop.trip.symbol : loop.name);
  }
  if (data.kind == Trip::Kind::Value) {
    data.min = loop.trip.min;
    data.max = loop.trip.max;
  }
  mlir::OpBuilder::InsertionGuard outer(builder);
  enter(ir::LoopOp::create(builder, at(loop.where), data).getBody());
  body(id);
}

/// An empty else-branch is not written.
void KernelWriter::branches(LoopId thenId) {
  const Loop &loop = kernel.loops[thenId];
  ir::IfData data{text(loop.name), !loop.uniform, std::string(toString(loop.sync))};
  mlir::OpBuilder::InsertionGuard outer(builder);
  auto op = ir::IfOp::create(builder, at(loop.where), data);
  enter(op.getThenBody());
  body(thenId);
  if (!kernel.loops[loop.otherBranch].body.empty()) {
    enter(op.getElseBody());
    body(loop.otherBranch);
  }
}

void KernelWriter::instr(InstrId id) {
  const Instr &instr = kernel.instrs[id];
  ir::InstrData data{text(instr.name),
                     name(instr.queue),
                     text(instr.operation),
                     text(instr.computes),
                     {},
                     {},
                     {},
                     {}};
  if (auto pin = pins.find(id); pin != pins.end()) {
    data.semaphore = pin->second;
  }
  for (AccessId each : instr.accesses) {
    const Access &access = kernel.accesses[each];
    ir::Names &list = access.kind == AccessKind::Read    ? data.reads
                      : access.kind == AccessKind::Write ? data.writes
                                                         : data.accumulates;
    list.push_back(text(access.text));
  }
  ir::InstrOp::create(builder, at(instr.where), data);
}

void KernelWriter::dep(const Dep &dep) {
  ir::DepData data;
  data.producer = name(dep.producer);
  data.consumer = name(dep.consumer);
  data.kind = dep.kind;
  data.form = dep.form;
  data.step = dep.step;
  data.allowDivergent = dep.allowDivergent;
  for (const auto *each = kernel.componentsBegin(dep); each != kernel.componentsEnd(dep); ++each) {
    data.components.push_back({name(each->loop), each->distance});
  }
  ir::DepOp::create(builder, at(dep.where), data);
}

class CodeWriter : Writer {
public:
  CodeWriter(const Kernel &kernel, const Code &code, mlir::ModuleOp module)
      : Writer(kernel, module), code(code) {}

  void write();

private:
  void engine(const EngineProgram &program);
  void step(const Op &op);
  void openBody(mlir::Region &region);
  void closeBody();
  mlir::Location where(const Op &op);
  ir::OperandData operand(Operand operand) const;
  ir::WaitData wait(const Op &op) const;
  ir::SignalData signal(const Op &op) const;

  std::string semaphore(SemaId id) const { return code.semaphores[id].name; }

  std::string registerName(RegId id) const { return program->registers[id].name; }

  const Code &code;
  const EngineProgram *program = nullptr;
  std::vector<mlir::Operation *> open; ///< operations whose bodies are being written
};

void CodeWriter::write() {
  auto kernelName = mlir::FlatSymbolRefAttr::get(builder.getContext(), text(kernel.name));
  ir::CodeData data{std::string(toString(code.strategy)), code.machine};
  enter(ir::CodeOp::create(builder, at(kernel.where), kernelName, data).getBody());
  for (const Semaphore &each : code.semaphores) {
    ir::SemaphoreOp::create(builder, at(kernel.where), ir::SemaphoreData{each.name});
  }
  for (const EngineProgram &each : code.engines) {
    engine(each);
  }
}

void CodeWriter::engine(const EngineProgram &engineProgram) {
  program = &engineProgram;
  const Engine &engine = kernel.engines[program->engine];
  mlir::OpBuilder::InsertionGuard outer(builder);
  enter(ir::ProgramOp::create(builder, at(engine.where), ir::ProgramData{text(engine.name)})
            .getBody());
  for (const Register &each : program->registers) {
    ir::RegisterOp::create(builder, at(engine.where), ir::RegisterData{each.name, each.role.text});
  }
  for (const Op &each : program->ops) {
    step(each);
  }
}

/// The place in the kernel that an operation comes from: its instruction or loop; for a wait alone
/// the consumer that it serves, with the first dependence behind it; or else the loop around it.
mlir::Location CodeWriter::where(const Op &op) {
  switch (op.kind) {
  case OpKind::Issue:
    return at(kernel.instrs[op.instr()].where);
  case OpKind::LoopBegin:
  case OpKind::IfBegin:
    return at(kernel.loops[op.loop()].where);
  default:
    break;
  }
  if (op.numReasons != 0) {
    const Dep &dep = kernel.deps[code.reasons[op.firstReason]];
    return builder.getFusedLoc({at(kernel.instrs[dep.consumer].where), at(dep.where)});
  }
  return builder.getBlock()->getParentOp()->getLoc();
}

void CodeWriter::openBody(mlir::Region &region) {
  open.push_back(region.getParentOp());
  enter(region);
}

void CodeWriter::closeBody() {
  builder.setInsertionPointAfter(open.back());
  open.pop_back();
}

ir::OperandData CodeWriter::operand(Operand operand) const {
  if (operand.isRegister) {
    return {true, registerName(operand.asRegister()), 0};
  }
  return {false, {}, operand.value};
}

ir::WaitData CodeWriter::wait(const Op &op) const {
  ir::WaitData data{semaphore(op.wait), operand(op.a), {}};
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    data.reasons.push_back(code.reasons[op.firstReason + i].value);
  }
  return data;
}

ir::SignalData CodeWriter::signal(const Op &op) const {
  return {semaphore(op.signal), op.amount};
}

void CodeWriter::step(const Op &op) {
  mlir::Location loc = where(op);
  switch (op.kind) {
  case OpKind::Issue: {
    ir::IssueData data{name(op.instr()), {}, {}};
    if (op.wait.valid()) {
      data.wait = wait(op);
    }
    if (op.signal.valid()) {
      data.signal = signal(op);
    }
    ir::IssueOp::create(builder, loc, data);
    return;
  }
  case OpKind::Wait:
    ir::WaitOp::create(builder, loc, wait(op));
    return;
  case OpKind::Signal:
    ir::SignalOp::create(builder, loc, signal(op));
    return;
  case OpKind::Reset:
    ir::ResetOp::create(builder, loc, ir::ResetData{semaphore(op.signal), op.amount});
    return;
  case OpKind::Drain:
    ir::DrainOp::create(builder, loc);
    return;
  case OpKind::Alu: {
    ir::OperandData b = op.alu == AluOp::Move ? ir::OperandData() : operand(op.b);
    ir::SetOp::create(builder, loc, ir::SetData{registerName(op.dst), op.alu, operand(op.a), b});
    return;
  }
  case OpKind::LoopBegin: {
    std::string counter = op.dst.valid() ? registerName(op.dst) : std::string();
    openBody(ir::ForOp::create(builder, loc, ir::ForData{name(op.loop()), counter, op.amount})
                 .getBody());
    return;
  }
  case OpKind::IfBegin:
    openBody(ir::BranchOp::create(builder, loc, ir::BranchData{name(op.loop())}).getThenBody());
    return;
  case OpKind::Else:
    enter(mlir::cast<ir::BranchOp>(open.back()).getElseBody());
    return;
  case OpKind::BarrierBegin: {
    ir::BarrierData data;
    for (EngineId each : code.barriers[op.barrier()]) {
      data.participants.push_back(name(each));
    }
    openBody(ir::BarrierOp::create(builder, loc, data).getBody());
    return;
  }
  case OpKind::WhenBegin:
    openBody(ir::WhenOp::create(builder, loc, ir::WhenData{operand(op.a)}).getBody());
    return;
  case OpKind::LoopEnd:
  case OpKind::IfEnd:
  case OpKind::BarrierEnd:
  case OpKind::WhenEnd:
    closeBody();
    return;
  }
}

} // namespace

void storeKernel(const Kernel &kernel, const Code *code, mlir::ModuleOp module) {
  // A context that has read no text of the dialect, but JSON, may not know its operations yet.
  module.getContext()->loadDialect<ir::TallyDialect>();
  KernelWriter(kernel, module).write();
  if (code) {
    CodeWriter(kernel, *code, module).write();
  }
}

void storeDeps(const Kernel &kernel, mlir::ModuleOp module) {
  for (ir::KernelOp op : module.getOps<ir::KernelOp>()) {
    if (std::string_view(op.getSymName()) == kernel.text(kernel.name)) {
      KernelWriter(kernel, module).writeDeps(op);
    }
  }
}

void storeCode(const Kernel &kernel, const Code &code, mlir::ModuleOp module) {
  for (auto code : llvm::make_early_inc_range(module.getOps<ir::CodeOp>())) {
    if (std::string_view(code.getKernel()) == kernel.text(kernel.name)) {
      code.erase();
    }
  }
  CodeWriter(kernel, code, module).write();
}

} // namespace tally
