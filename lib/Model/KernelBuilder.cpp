//===- KernelBuilder.cpp - Builds the flat tables of a kernel -------------===//
//
// Statements of a body must be contiguous, but bodies are built inside one
// another. So statements of open bodies wait on a stack; a body that closes
// moves its own to the kernel, and inner bodies close first.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/KernelBuilder.h"

#include "tally/Model/ComputeText.h"

#include "tally/Model/Tiles.h"
#include "tally/Model/Values.h"

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

void KernelBuilder::setQueue(QueueId queue, uint32_t weight, Completion completion) {
  kernel.queues[queue].weight = weight;
  kernel.queues[queue].completion = completion;
}

Trip KernelBuilder::value(std::string_view symbol, uint64_t min, std::optional<uint64_t> max) {
  return {Trip::Kind::Value, 1, kernel.strings.intern(symbol), min, max};
}

Trip KernelBuilder::guard(std::string_view symbol) {
  return {Trip::Kind::Guard, 1, kernel.strings.intern(symbol), 0, {}};
}

Trip KernelBuilder::formula(std::string_view text, uint64_t min, std::optional<uint64_t> max) {
  return {Trip::Kind::Formula, 1, kernel.strings.intern(text), min, max};
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
  pending.push_back({Stmt::Kind::Loop, open.back().loop, 0, {}, id});
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

void KernelBuilder::setCondition(LoopId then, std::string_view text) {
  Loop &loop = kernel.loops[then];
  loop.trip.condition = kernel.loops[loop.otherBranch].trip.condition = said(text);
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
  pending.push_back({Stmt::Kind::If, open.back().loop, 0, {}, thenId});
}

void KernelBuilder::setSync(LoopId id, RegionSync sync) {
  kernel.loops[id].sync = sync;
  if (LoopId other = kernel.loops[id].otherBranch; other.valid()) {
    kernel.loops[other].sync = sync;
  }
}

/// None of an empty text.
NameId KernelBuilder::said(std::string_view text) {
  return text.empty() ? NameId() : kernel.strings.intern(text);
}

BufferId KernelBuilder::buffer(std::string_view name, std::span<const uint64_t> shape,
                               std::string_view space, std::string_view elementType,
                               std::optional<uint64_t> address, Location where) {
  Buffer buffer;
  buffer.name = kernel.strings.intern(name);
  buffer.space = said(space);
  buffer.elementType = said(elementType);
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.address = address;
  buffer.where = where;
  return kernel.buffers.push(std::move(buffer));
}

void KernelBuilder::declareValue(std::string_view name, uint64_t min, std::optional<uint64_t> max,
                                 Location where) {
  kernel.declaredValues.push_back({kernel.strings.intern(name), min, max, where});
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
  instr.operation = said(operation);
  instr.queue = queue;
  instr.home = open.back().loop;
  instr.accesses = {static_cast<uint32_t>(kernel.accesses.size()), 0};
  instr.where = where;
  return kernel.instrs.push(instr);
}

/// Instructions since the last nested statement become a block.
void KernelBuilder::flushBlock() {
  uint32_t end = static_cast<uint32_t>(kernel.instrs.size());
  if (blockStart != end) {
    pending.push_back({Stmt::Kind::Block, open.back().loop, 0, {blockStart, end - blockStart}, {}});
  }
  blockStart = end;
}

void KernelBuilder::orOn(QueueId queue) {
  assert(!kernel.instrs.empty() && "a queue is left open for the instruction added last");
  const InstrId last(static_cast<uint32_t>(kernel.instrs.size()) - 1);
  if (kernel.openQueues.empty() || kernel.openQueues.back().instr != last) {
    kernel.openQueues.push_back({last, {}});
  }
  kernel.openQueues.back().others.push_back(queue);
}

void KernelBuilder::computes(std::string_view text) {
  assert(!kernel.instrs.empty() && "what is computed belongs to the instruction added last");
  kernel.instrs.raw().back().computes = said(text);
}

void KernelBuilder::loads(std::string_view value) {
  assert(!kernel.instrs.empty() && "a value is loaded by the instruction added last");
  const InstrId last(static_cast<uint32_t>(kernel.instrs.size()) - 1);
  kernel.loads.push_back({last, kernel.strings.intern(value)});
}

AccessId KernelBuilder::access(AccessKind kind, BufferId buffer, std::string_view canonicalText) {
  assert(!kernel.instrs.empty() && "an access belongs to the instruction added last");
  ++kernel.instrs.raw().back().accesses.count;
  return kernel.accesses.push({kind, buffer, kernel.strings.intern(canonicalText)});
}

DepId KernelBuilder::dep(InstrId producer, InstrId consumer, DistanceForm form, int64_t step,
                         std::span<const DistanceComponent> components, DepKind kind,
                         Location where) {
  auto begin = static_cast<uint32_t>(kernel.components.size());
  std::ranges::copy_if(components, std::back_inserter(kernel.components),
                       [](const DistanceComponent &each) { return each.distance != 0; });
  std::stable_sort(kernel.components.begin() + begin, kernel.components.end(),
                   [&](const DistanceComponent &a, const DistanceComponent &b) {
                     return kernel.loops[a.loop].depth < kernel.loops[b.loop].depth;
                   });
  auto count = static_cast<uint32_t>(kernel.components.size() - begin);
  return kernel.deps.push({producer, consumer, kind, form, false, begin, count, where, step});
}

void KernelBuilder::reserveSemaphores(std::span<const uint32_t> numbers) {
  kernel.reserved.insert(kernel.reserved.end(), numbers.begin(), numbers.end());
}

void KernelBuilder::reserveRegisters(EngineId engine, std::span<const uint32_t> numbers) {
  std::vector<uint32_t> &reserved = kernel.engines[engine].reserved;
  reserved.insert(reserved.end(), numbers.begin(), numbers.end());
}

void KernelBuilder::reserve(size_t instrs, size_t deps) {
  kernel.instrs.reserve(instrs);
  kernel.deps.reserve(deps);
}

Kernel KernelBuilder::finish() {
  assert(open.size() == 1 && "every loop and branch is closed");
  closeBody();
  findValues(kernel);
  kernel.tiles = std::make_shared<const TileTable>(kernel);
  kernel.computes = std::make_shared<const ComputeTable>(kernel);
  boundFormulas(kernel);
  return std::move(kernel);
}

} // namespace tally
