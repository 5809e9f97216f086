//===- Load.cpp - From tally.kernel to Kernel -----------------------------===//
//
// Three walks over the operations of a kernel, so that their order in the text is free
// where it means nothing:
//
//   1. declare   engines with their queues, buffers
//   2. tree      loops, branches and instructions, in order
//   3. depend    dependences, by the names that 2. found
//
// A name costs one hash lookup, in the kernel's own string pool; what it names lies in
// a dense table by NameId. The first of several equal names wins; check() reports them.
//
//===----------------------------------------------------------------------===//

#include "tally/IR/Load.h"

#include "NameTable.h"
#include "tally/Model/AccessText.h"
#include "tally/Model/Regions.h"

#include "llvm/ADT/StringSet.h"

#include <fmt/format.h>

namespace tally::ir {
namespace {

class KernelLoader {
public:
  KernelLoader(KernelOp op, FileTable &files, Diagnostics &diagnostics)
      : op(op), files(files), diagnostics(diagnostics), builder(std::string_view(op.getSymName())),
        queues(builder.peek().strings), loops(builder.peek().strings),
        instrs(builder.peek().strings), buffers(builder.peek().strings) {
    files.startKernel(builder);
  }

  Kernel load();

private:
  void declare(EngineOp engine);
  void declare(BufferOp buffer);
  std::optional<uint32_t> reservable(uint64_t number, Location where);
  std::vector<uint32_t> reserved(const std::vector<uint64_t> &numbers, Location where);
  template <typename IdT>
  void pin(IdT id, const std::optional<uint64_t> &semaphore, Location where);
  void addQueue(const QueueData &data, Location where);
  uint32_t weightOf(const QueueData &data, Location where);
  void body(mlir::Region &region);
  void add(LoopOp loop);
  void setSync(LoopId id, const std::string &name, Location where);
  void add(IfOp branch);
  void add(InstrOp instr);
  void addAccesses(AccessKind kind, const Names &texts, Location where);
  void addAccess(AccessKind kind, const std::string &text, Location where);
  Trip tripOf(const LoopData &data);
  void add(DepOp dep);
  InstrId instrNamed(const std::string &name, Location where);
  bool componentsOf(const DepData &data, Location where);
  DepId addDep(const DepData &data, InstrId producer, InstrId consumer, Location where);
  template <typename Table>
  void unknown(std::string_view kind, std::string_view plural, std::string_view name,
               const Table &table, Location where);

  KernelOp op;
  FileTable &files;
  Diagnostics &diagnostics;
  KernelBuilder builder;
  NameTable<QueueId> queues;
  NameTable<LoopId> loops;
  NameTable<InstrId> instrs;
  NameTable<BufferId> buffers;
  llvm::StringSet<> leftOut; ///< instructions on unknown queues; no errors about what names them
  std::vector<DepOp> deps;
  std::vector<DistanceComponent> components; ///< of the dependence at hand
  uint32_t effort = 16;
};

Kernel KernelLoader::load() {
  Location where = files.where(op);
  builder.reserveSemaphores(reserved(op.getData().reserves, where));
  for (mlir::Operation &nested : op.getBody().getOps()) {
    if (auto engine = mlir::dyn_cast<EngineOp>(nested)) {
      declare(engine);
    } else if (auto buffer = mlir::dyn_cast<BufferOp>(nested)) {
      declare(buffer);
    }
  }
  body(op.getBody());
  for (DepOp dep : deps) {
    add(dep);
  }
  Kernel kernel = builder.finish();
  kernel.where = where;
  kernel.loops[rootLoop].where = where;
  return kernel;
}

template <typename Table>
void KernelLoader::unknown(std::string_view kind, std::string_view plural, std::string_view name,
                           const Table &table, Location where) {
  std::vector<std::string_view> allowed = allowedNames(builder.peek(), table, effort);
  diagnostics.error(where, unknownName(kind, plural, name, allowed, effort));
}

//===----------------------------------------------------------------------===//
// 1. declare
//===----------------------------------------------------------------------===//

/// The builder holds weights in 32 bits; check() knows the smaller limit that counts.
uint32_t KernelLoader::weightOf(const QueueData &data, Location where) {
  if (data.weight <= maxCount) {
    return static_cast<uint32_t>(data.weight);
  }
  diagnostics.error(where, fmt::format("queue '{}' has weight {}; a weight is at most {}",
                                       data.name, data.weight, maxCount));
  return 1;
}

/// The number of a semaphore or register, or none if it is too large.
std::optional<uint32_t> KernelLoader::reservable(uint64_t number, Location where) {
  if (number <= maxReserved) {
    return static_cast<uint32_t>(number);
  }
  diagnostics.error(where, fmt::format("semaphores and registers are reserved and pinned by "
                                       "numbers of at most {}, found {}",
                                       maxReserved, number));
  return std::nullopt;
}

std::vector<uint32_t> KernelLoader::reserved(const std::vector<uint64_t> &numbers, Location where) {
  std::vector<uint32_t> result;
  for (uint64_t number : numbers) {
    if (std::optional<uint32_t> known = reservable(number, where)) {
      result.push_back(*known);
    }
  }
  return result;
}

/// Pins an instruction, or the wait of a dependence.
template <typename IdT>
void KernelLoader::pin(IdT id, const std::optional<uint64_t> &semaphore, Location where) {
  if (semaphore) {
    if (std::optional<uint32_t> number = reservable(*semaphore, where)) {
      builder.pin(id, *number);
    }
  }
}

void KernelLoader::addQueue(const QueueData &data, Location where) {
  QueueId queue = builder.queue(data.name, weightOf(data, where), data.completion, where);
  queues.add(builder.peek().queues[queue].name, queue);
}

void KernelLoader::declare(EngineOp engine) {
  const EngineData &data = engine.getData();
  Location where = files.where(engine);
  EngineId id = builder.engine(data.own.name, where);
  QueueId own = builder.queueOf(id);
  builder.setQueue(own, weightOf(data.own, where), data.own.completion);
  builder.reserveRegisters(id, reserved(data.reserves, where));
  queues.add(builder.peek().queues[own].name, own);
  for (const QueueData &queue : data.queues) {
    addQueue(queue, where);
  }
}

void KernelLoader::declare(BufferOp buffer) {
  const BufferData &data = buffer.getData();
  Location where = files.where(buffer);
  BufferId id =
      builder.buffer(data.name, data.shape, data.space, data.elementType, data.address, where);
  auto earlier = [&](const std::string &name) {
    BufferId other = buffers.find(name);
    if (!other.valid()) {
      unknown("buffer", "buffers above this one", name, builder.peek().buffers, where);
    }
    return other;
  };
  for (const std::string &name : data.alias) {
    if (BufferId other = earlier(name); other.valid()) {
      builder.alias(id, other);
    }
  }
  for (const std::string &name : data.noalias) {
    if (BufferId other = earlier(name); other.valid()) {
      builder.noalias(id, other);
    }
  }
  buffers.add(builder.peek().buffers[id].name, id);
}

//===----------------------------------------------------------------------===//
// 2. tree
//===----------------------------------------------------------------------===//

/// What may not stand here is skipped: the verifier reports it.
void KernelLoader::body(mlir::Region &region) {
  for (mlir::Operation &nested : region.getOps()) {
    if (auto instr = mlir::dyn_cast<InstrOp>(nested)) {
      add(instr);
    } else if (auto loop = mlir::dyn_cast<LoopOp>(nested)) {
      add(loop);
    } else if (auto branch = mlir::dyn_cast<IfOp>(nested)) {
      add(branch);
    } else if (auto dep = mlir::dyn_cast<DepOp>(nested)) {
      deps.push_back(dep);
    }
  }
}

Trip KernelLoader::tripOf(const LoopData &data) {
  switch (data.kind) {
  case Trip::Kind::Constant:
    return KernelBuilder::constant(data.trips);
  case Trip::Kind::Value:
    return builder.value(data.symbol, data.min, data.max);
  case Trip::Kind::Guard:
    return builder.guard(data.symbol);
  }
  return {};
}

void KernelLoader::add(LoopOp loop) {
  const LoopData &data = loop.getData();
  LoopId id = builder.beginLoop(data.name, tripOf(data), !data.divergent, files.where(loop));
  loops.add(builder.peek().loops[id].name, id);
  // Numbers too large for the core are judged by check().
  builder.setUnroll(id,
                    static_cast<uint32_t>(std::min<uint64_t>(
                        data.unroll, data.unroll == UINT64_MAX ? fullyUnrolled : maxCount + 1)));
  setSync(id, data.sync, files.where(loop));
  body(loop.getBody());
  builder.endLoop();
}

void KernelLoader::setSync(LoopId id, const std::string &name, Location where) {
  if (name.empty()) {
    return;
  }
  if (std::optional<RegionSync> sync = regionSyncFrom(name)) {
    builder.setSync(id, *sync);
  } else {
    diagnostics.error(where,
                      fmt::format("unknown strategy '{}' of a region; one of '{}' is allowed", name,
                                  fmt::join(regionSyncNames(), "', '")));
  }
}

void KernelLoader::add(IfOp branch) {
  const IfData &data = branch.getData();
  LoopId then = builder.beginIf(data.name, !data.divergent, files.where(branch));
  LoopId otherwise = builder.peek().loops[then].otherBranch;
  loops.add(builder.peek().loops[then].name, then);
  loops.add(builder.peek().loops[otherwise].name, otherwise);
  setSync(then, data.sync, files.where(branch));
  body(branch.getThenBody());
  if (!branch.getElseBody().empty()) {
    builder.beginElse();
    body(branch.getElseBody());
  }
  builder.endIf();
}

void KernelLoader::add(InstrOp instr) {
  const InstrData &data = instr.getData();
  Location where = files.where(instr);
  QueueId queue = queues.find(data.queue);
  if (!queue.valid()) {
    unknown("queue", "queues of this kernel", data.queue, builder.peek().queues, where);
    leftOut.insert(data.name);
    return;
  }
  InstrId id = builder.instr(data.name, queue, data.operation, where);
  builder.computes(data.computes);
  instrs.add(builder.peek().instrs[id].name, id);
  pin(id, data.semaphore, where);
  addAccesses(AccessKind::Read, data.reads, where);
  addAccesses(AccessKind::Write, data.writes, where);
  addAccesses(AccessKind::Accumulate, data.accumulates, where);
}

void KernelLoader::addAccesses(AccessKind kind, const Names &texts, Location where) {
  for (const std::string &text : texts) {
    addAccess(kind, text, where);
  }
}

void KernelLoader::addAccess(AccessKind kind, const std::string &text, Location where) {
  std::string problem;
  std::optional<ParsedAccess> access = parseAccess(text, problem);
  if (!access) {
    diagnostics.error(where, fmt::format("'{}' is not a tile: {}", text, problem));
    return;
  }
  BufferId buffer = buffers.find(access->buffer);
  if (!buffer.valid()) {
    unknown("buffer", "buffers of this kernel", access->buffer, builder.peek().buffers, where);
    return;
  }
  builder.access(kind, buffer, toString(*access));
}

//===----------------------------------------------------------------------===//
// 3. depend
//===----------------------------------------------------------------------===//

InstrId KernelLoader::instrNamed(const std::string &name, Location where) {
  InstrId id = instrs.find(name);
  if (!id.valid() && !leftOut.contains(name)) {
    unknown("instruction", "instructions of this kernel", name, builder.peek().instrs, where);
  }
  return id;
}

bool KernelLoader::componentsOf(const DepData &data, Location where) {
  components.clear();
  bool known = true;
  for (const ComponentData &component : data.components) {
    LoopId loop = loops.find(component.loop);
    if (!loop.valid()) {
      unknown("loop", "loops of this kernel", component.loop, builder.peek().loops, where);
      known = false;
      continue;
    }
    components.push_back({loop, component.distance});
  }
  return known;
}

DepId KernelLoader::addDep(const DepData &data, InstrId producer, InstrId consumer,
                           Location where) {
  switch (data.form) {
  case DistanceForm::Vector:
    return builder.depVector(producer, consumer, components, data.kind, where);
  case DistanceForm::Flat:
    return builder.depFlat(producer, consumer, data.step, data.kind, where);
  case DistanceForm::Element:
    return builder.depElement(producer, consumer, data.step, components, data.kind, where);
  }
  return {};
}

void KernelLoader::add(DepOp dep) {
  const DepData &data = dep.getData();
  Location where = files.where(dep);
  InstrId producer = instrNamed(data.producer, where);
  InstrId consumer = instrNamed(data.consumer, where);
  bool known = componentsOf(data, where);
  if (!producer.valid() || !consumer.valid() || !known) {
    return;
  }
  DepId id = addDep(data, producer, consumer, where);
  if (data.allowDivergent) {
    builder.allowDivergent(id);
  }
  pin(id, data.semaphore, where);
}

} // namespace

Kernel loadKernel(KernelOp op, FileTable &files, Diagnostics &diagnostics) {
  Kernel kernel = KernelLoader(op, files, diagnostics).load();
  files.endKernel();
  return kernel;
}

} // namespace tally::ir
