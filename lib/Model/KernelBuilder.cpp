//===- KernelBuilder.cpp - Builds the flat tables of a kernel -------------===//
//
// Statements of a body must be contiguous, but bodies are built inside one
// another. So statements of open bodies wait on a stack; a body that closes
// moves its own to the kernel, and inner bodies close first.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/KernelBuilder.h"

#include "tally/Model/Tiles.h"

#include <algorithm>
#include <cassert>

namespace tally {

KernelBuilder::KernelBuilder(std::string_view name, Location where) {
  kernel.name = kernel.strings.intern(name);
  kernel.where = where;
  Loop root;
  root.name = kernel.strings.intern("");
  root.kind = LoopKind::Root;
  root.where = where;
  kernel.loops.push(root);
  open.push_back({rootLoop, 0});
}

uint32_t KernelBuilder::file(std::string_view path) {
  auto found = std::find(kernel.files.begin(), kernel.files.end(), path);
  if (found == kernel.files.end()) {
    found = kernel.files.insert(found, std::string(path));
  }
  return static_cast<uint32_t>(found - kernel.files.begin());
}

EngineId KernelBuilder::engine(std::string_view name, Location where) {
  EngineId id(static_cast<uint32_t>(kernel.engines.size()));
  Queue own{kernel.strings.intern(name), id, 1, Completion::Whole, where};
  QueueId queue = kernel.queues.push(own);
  return kernel.engines.push({own.name, {queue.value, 1}, where});
}

QueueId KernelBuilder::queue(std::string_view name, uint32_t weight, Completion completion,
                             Location where) {
  assert(!kernel.engines.empty() && "a queue belongs to the engine declared last");
  EngineId engine(static_cast<uint32_t>(kernel.engines.size() - 1));
  ++kernel.engines[engine].queues.count;
  return kernel.queues.push({kernel.strings.intern(name), engine, weight, completion, where});
}

QueueId KernelBuilder::queueOf(EngineId engine) const {
  return kernel.engines[engine].queues[0];
}

void KernelBuilder::setQueue(QueueId queue, uint32_t weight, Completion completion) {
  kernel.queues[queue].weight = weight;
  kernel.queues[queue].completion = completion;
}

Trip KernelBuilder::constant(uint64_t trips) {
  Trip trip;
  trip.constant = trips;
  return trip;
}

Trip KernelBuilder::value(std::string_view symbol, uint64_t min, std::optional<uint64_t> max) {
  Trip trip;
  trip.kind = Trip::Kind::Value;
  trip.symbol = kernel.strings.intern(symbol);
  trip.min = min;
  trip.max = max;
  return trip;
}

Trip KernelBuilder::guard(std::string_view symbol) {
  Trip trip;
  trip.kind = Trip::Kind::Guard;
  trip.symbol = kernel.strings.intern(symbol);
  return trip;
}

LoopId KernelBuilder::addLoop(std::string_view name, LoopKind kind, Trip trip, bool uniform,
                              Location where) {
  Loop loop;
  loop.name = kernel.strings.intern(name);
  loop.kind = kind;
  loop.uniform = uniform;
  loop.parent = open.back().loop;
  loop.depth = kernel.loops[loop.parent].depth + 1;
  loop.trip = trip;
  loop.where = where;
  return kernel.loops.push(loop);
}

LoopId KernelBuilder::beginLoop(std::string_view name, Trip trip, bool uniform, Location where) {
  flushBlock();
  LoopId id = addLoop(name, LoopKind::Loop, trip, uniform, where);
  open.push_back({id, pending.size()});
  return id;
}

/// Moves the statements of the innermost open body to the kernel.
void KernelBuilder::closeBody() {
  flushBlock();
  OpenBody body = open.back();
  open.pop_back();
  uint32_t first = static_cast<uint32_t>(kernel.stmts.size());
  uint32_t count = static_cast<uint32_t>(pending.size() - body.firstPending);
  kernel.loops[body.loop].body = {first, count};
  for (uint32_t i = 0; i < count; ++i) {
    Stmt stmt = pending[body.firstPending + i];
    stmt.position = i;
    StmtId id = kernel.stmts.push(stmt);
    if (stmt.kind == Stmt::Kind::Block) {
      for (InstrId instr : stmt.instrs) {
        kernel.instrs[instr].block = id;
      }
    } else {
      kernel.loops[stmt.loop].stmt = id;
    }
    if (stmt.kind == Stmt::Kind::If) {
      kernel.loops[kernel.loops[stmt.loop].otherBranch].stmt = id;
    }
  }
  pending.resize(body.firstPending);
}

void KernelBuilder::endLoop() {
  LoopId id = open.back().loop;
  assert(kernel.loops[id].kind == LoopKind::Loop && "endLoop closes a loop");
  closeBody();
  Stmt stmt;
  stmt.kind = Stmt::Kind::Loop;
  stmt.parent = open.back().loop;
  stmt.loop = id;
  pending.push_back(stmt);
}

LoopId KernelBuilder::beginIf(std::string_view name, bool uniform, Location where) {
  flushBlock();
  Trip once = guard(name);
  once.max = 1;
  LoopId thenId = addLoop(name, LoopKind::Then, once, uniform, where);
  LoopId elseId = addLoop(std::string(name) + ".else", LoopKind::Else, once, uniform, where);
  kernel.loops[thenId].otherBranch = elseId;
  kernel.loops[elseId].otherBranch = thenId;
  open.push_back({thenId, pending.size()});
  return thenId;
}

LoopId KernelBuilder::beginElse() {
  LoopId thenId = open.back().loop;
  assert(kernel.loops[thenId].kind == LoopKind::Then && "else follows a then-branch");
  closeBody();
  LoopId elseId = kernel.loops[thenId].otherBranch;
  open.push_back({elseId, pending.size()});
  return elseId;
}

void KernelBuilder::endIf() {
  assert(kernel.loops[open.back().loop].isBranch() && "endIf closes a branch");
  if (kernel.loops[open.back().loop].kind == LoopKind::Then) {
    beginElse();
  }
  LoopId thenId = kernel.loops[open.back().loop].otherBranch;
  closeBody();
  Stmt stmt;
  stmt.kind = Stmt::Kind::If;
  stmt.parent = open.back().loop;
  stmt.loop = thenId;
  pending.push_back(stmt);
}

void KernelBuilder::setSync(LoopId id, RegionSync sync) {
  kernel.loops[id].sync = sync;
  if (LoopId other = kernel.loops[id].otherBranch; other.valid()) {
    kernel.loops[other].sync = sync;
  }
}

void KernelBuilder::setUnroll(LoopId loop, uint32_t iterations) {
  kernel.loops[loop].unroll = iterations;
}

BufferId KernelBuilder::buffer(std::string_view name, std::span<const uint64_t> shape,
                               std::string_view space, std::string_view elementType,
                               std::optional<uint64_t> address, Location where) {
  Buffer buffer;
  buffer.name = kernel.strings.intern(name);
  buffer.space = space.empty() ? NameId() : kernel.strings.intern(space);
  buffer.elementType = elementType.empty() ? NameId() : kernel.strings.intern(elementType);
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.address = address;
  buffer.where = where;
  return kernel.buffers.push(std::move(buffer));
}

void KernelBuilder::alias(BufferId later, BufferId earlier) {
  assert(earlier < later && "buffers name earlier ones");
  kernel.buffers[later].alias.push_back(earlier);
}

void KernelBuilder::noalias(BufferId later, BufferId earlier) {
  assert(earlier < later && "buffers name earlier ones");
  kernel.buffers[later].noalias.push_back(earlier);
}

InstrId KernelBuilder::instr(std::string_view name, QueueId queue, std::string_view operation,
                             Location where) {
  Instr instr;
  instr.name = kernel.strings.intern(name);
  instr.operation = operation.empty() ? NameId() : kernel.strings.intern(operation);
  instr.queue = queue;
  instr.home = open.back().loop;
  instr.accesses = {static_cast<uint32_t>(kernel.accesses.size()), 0};
  instr.where = where;
  return kernel.instrs.push(instr);
}

/// Instructions since the last nested statement become a block.
void KernelBuilder::flushBlock() {
  uint32_t end = static_cast<uint32_t>(kernel.instrs.size());
  if (blockStart == end) {
    return;
  }
  Stmt stmt;
  stmt.kind = Stmt::Kind::Block;
  stmt.parent = open.back().loop;
  stmt.instrs = {blockStart, end - blockStart};
  pending.push_back(stmt);
  blockStart = end;
}

void KernelBuilder::computes(std::string_view text) {
  assert(!kernel.instrs.empty() && "what is computed belongs to the instruction added last");
  kernel.instrs.raw().back().computes = text.empty() ? NameId() : kernel.strings.intern(text);
}

AccessId KernelBuilder::access(AccessKind kind, BufferId buffer, std::string_view canonicalText) {
  assert(!kernel.instrs.empty() && "an access belongs to the instruction added last");
  ++kernel.instrs.raw().back().accesses.count;
  return kernel.accesses.push({kind, buffer, kernel.strings.intern(canonicalText)});
}

DepId KernelBuilder::addDep(Dep dep, std::span<const DistanceComponent> components) {
  dep.firstComponent = static_cast<uint32_t>(kernel.components.size());
  for (const DistanceComponent &component : components) {
    if (component.distance != 0) {
      kernel.components.push_back(component);
      ++dep.numComponents;
    }
  }
  auto first = kernel.components.begin() + dep.firstComponent;
  std::stable_sort(first, kernel.components.end(),
                   [&](const DistanceComponent &a, const DistanceComponent &b) {
                     return kernel.loops[a.loop].depth < kernel.loops[b.loop].depth;
                   });
  return kernel.deps.push(dep);
}

DepId KernelBuilder::dep(InstrId producer, InstrId consumer,
                         std::initializer_list<DistanceComponent> components, DepKind kind,
                         Location where) {
  return depVector(producer, consumer, {components.begin(), components.size()}, kind, where);
}

DepId KernelBuilder::depVector(InstrId producer, InstrId consumer,
                               std::span<const DistanceComponent> components, DepKind kind,
                               Location where) {
  Dep dep;
  dep.producer = producer;
  dep.consumer = consumer;
  dep.kind = kind;
  dep.where = where;
  return addDep(dep, components);
}

DepId KernelBuilder::depFlat(InstrId producer, InstrId consumer, int64_t runs, DepKind kind,
                             Location where) {
  Dep dep;
  dep.producer = producer;
  dep.consumer = consumer;
  dep.kind = kind;
  dep.form = DistanceForm::Flat;
  dep.step = runs;
  dep.where = where;
  return addDep(dep, {});
}

DepId KernelBuilder::depElement(InstrId producer, InstrId consumer, int64_t element,
                                std::span<const DistanceComponent> components, DepKind kind,
                                Location where) {
  Dep dep;
  dep.producer = producer;
  dep.consumer = consumer;
  dep.kind = kind;
  dep.form = DistanceForm::Element;
  dep.step = element;
  dep.where = where;
  return addDep(dep, components);
}

void KernelBuilder::allowDivergent(DepId dep) {
  kernel.deps[dep].allowDivergent = true;
}

void KernelBuilder::reserveSemaphores(std::span<const uint32_t> numbers) {
  kernel.reserved.insert(kernel.reserved.end(), numbers.begin(), numbers.end());
}

void KernelBuilder::reserveRegisters(EngineId engine, std::span<const uint32_t> numbers) {
  std::vector<uint32_t> &reserved = kernel.engines[engine].reserved;
  reserved.insert(reserved.end(), numbers.begin(), numbers.end());
}

void KernelBuilder::pin(InstrId instr, uint32_t semaphore) {
  kernel.pins.push_back({instr, semaphore, kernel.instrs[instr].where});
}

void KernelBuilder::pin(DepId dep, uint32_t semaphore) {
  kernel.pins.push_back({kernel.deps[dep].producer, semaphore, kernel.deps[dep].where});
}

void KernelBuilder::reserve(size_t instrs, size_t deps) {
  kernel.instrs.reserve(instrs);
  kernel.deps.reserve(deps);
}

Kernel KernelBuilder::finish() {
  assert(open.size() == 1 && "every loop and branch is closed");
  closeBody();
  kernel.tiles = std::make_shared<const TileTable>(kernel);
  return std::move(kernel);
}

} // namespace tally
