//===- ResolveKernel.cpp - Names of a kernel become ids -------------------===//
#include "tally/Written/Resolve.h"

#include "tally/Model/AccessText.h"
#include "tally/Model/Regions.h"
#include "tally/Model/Source.h"

#include <fmt/format.h>

namespace tally::written {

KernelResolver::KernelResolver(Errors &errors)
    : Resolver(errors), builder(""), queues(builder.peek().strings), loops(builder.peek().strings),
      instrs(builder.peek().strings), buffers(builder.peek().strings) {}

std::string KernelResolver::sourceOf(Location where) const {
  return sourceText(builder.peek(), where, "; this statement comes from ");
}

void KernelResolver::open(std::string_view kernelName, const KernelData &data, Location at) {
  name = kernelName;
  whole = where = at;
  builder.reserveSemaphores(reserved(data.reserves));
}

Kernel KernelResolver::finish() {
  Kernel kernel = builder.finish();
  kernel.name = kernel.strings.intern(name);
  kernel.where = whole;
  kernel.loops[rootLoop].where = whole;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// The builder holds weights in 32 bits; check() knows the smaller limit that counts.
uint32_t KernelResolver::weightOf(const QueueData &data) {
  if (data.weight <= maxCount) {
    return static_cast<uint32_t>(data.weight);
  }
  errors.error(at("weight"), fmt::format("queue '{}' has weight {}; a weight is at most {}",
                                         data.name, data.weight, maxCount));
  return 1;
}

/// What it says itself, or the place of its engine.
Location KernelResolver::placeOf(const QueueData &data) {
  if (!data.loc) {
    return where;
  }
  if (data.loc->line < 1 || std::max(data.loc->line, data.loc->column) > UINT32_MAX) {
    errors.error(at("queues"), fmt::format("queue '{}' is at {}:{}:{}; a line is at least 1, lines "
                                           "and columns are at most {}",
                                           data.name, data.loc->file, data.loc->line,
                                           data.loc->column, UINT32_MAX));
    return where;
  }
  return {builder.file(data.loc->file), static_cast<uint32_t>(data.loc->line),
          static_cast<uint32_t>(data.loc->column)};
}

/// The number of a semaphore or register, or none if it is too large.
std::optional<uint32_t> KernelResolver::reservable(uint64_t number, std::string_view key,
                                                   size_t index) {
  if (number <= maxReserved) {
    return static_cast<uint32_t>(number);
  }
  errors.error(at(key, index), fmt::format("semaphores and registers are reserved and pinned by "
                                           "numbers of at most {}, found {}",
                                           maxReserved, number));
  return std::nullopt;
}

std::vector<uint32_t> KernelResolver::reserved(const std::vector<uint64_t> &numbers) {
  std::vector<uint32_t> result;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::optional<uint32_t> known = reservable(numbers[i], "reserves", i)) {
      result.push_back(*known);
    }
  }
  return result;
}

/// Pins an instruction, or the wait of a dependence.
template <typename IdT> void KernelResolver::pin(IdT id, const std::optional<uint64_t> &semaphore) {
  std::optional<uint32_t> number = semaphore ? reservable(*semaphore, "semaphore") : std::nullopt;
  if (number) {
    builder.pin(id, *number);
  }
}

void KernelResolver::add(const EngineData &data, Location place) {
  where = place;
  where = placeOf(data.own);
  EngineId id = builder.engine(data.own.name, where);
  QueueId own = builder.queueOf(id);
  builder.setQueue(own, weightOf(data.own), data.own.completion);
  builder.reserveRegisters(id, reserved(data.reserves));
  queues.add(builder.peek().queues[own].name, own);
  for (const QueueData &each : data.queues) {
    QueueId queue = builder.queue(each.name, weightOf(each), each.completion, placeOf(each));
    queues.add(builder.peek().queues[queue].name, queue);
  }
}

std::vector<BufferId> KernelResolver::earlierBuffers(const Names &names, std::string_view key) {
  std::vector<BufferId> result;
  for (size_t i = 0; i < names.size(); ++i) {
    if (BufferId earlier = buffers.find(names[i]); earlier.valid()) {
      result.push_back(earlier);
    } else {
      unknown(builder.peek(), "buffer", "buffers above this one", names[i], builder.peek().buffers,
              at(key, i));
    }
  }
  return result;
}

void KernelResolver::add(const ValueData &data, Location place) {
  builder.declareValue(data.name, data.min, data.max, place);
}

void KernelResolver::add(const BufferData &data, Location place) {
  where = place;
  std::vector<BufferId> alias = earlierBuffers(data.alias, "alias");
  std::vector<BufferId> noalias = earlierBuffers(data.noalias, "noalias");
  BufferId id =
      builder.buffer(data.name, data.shape, data.space, data.elementType, data.address, where);
  if (data.partitions) {
    builder.partitions(id, {data.partitions->first, static_cast<uint32_t>(data.partitions->dim)});
  }
  for (BufferId earlier : alias) {
    builder.alias(id, earlier);
  }
  for (BufferId earlier : noalias) {
    builder.noalias(id, earlier);
  }
  if (data.ring) {
    builder.ring(id, {data.ring->min, data.ring->max});
  }
  buffers.add(builder.peek().buffers[id].name, id);
}

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

Trip KernelResolver::tripOf(const LoopData &loop) {
  const TripData &data = loop.trip;
  switch (data.kind) {
  case Trip::Kind::Constant:
    return KernelBuilder::constant(data.trips);
  case Trip::Kind::Value:
    return builder.value(data.symbol, data.min, data.max);
  case Trip::Kind::Guard:
    return builder.guard(data.symbol);
  case Trip::Kind::Formula:
    return formulaOf(loop);
  }
  return {};
}

Trip KernelResolver::formulaOf(const LoopData &loop) {
  const TripData &data = loop.trip;
  std::string problem;
  std::optional<ParsedAccess> formula = parseFormula(data.symbol, problem);
  if (!formula) {
    errors.error(at("trips"), fmt::format("'{}' does not say how often '{}' runs: {}", data.symbol,
                                          loop.name, problem));
    return KernelBuilder::constant(0);
  }
  if (aloneIn(*formula).empty() && (data.min != 0 || data.max)) {
    errors.error(
        at("trips"),
        fmt::format("'min' and 'max' bound a value alone, such as '$n'; those of the formula '{}' "
                    "follow from the bounds of what it names",
                    data.symbol));
  }
  return builder.formula(formulaText(*formula), data.min, data.max);
}

void KernelResolver::open(const LoopData &data, Location place) {
  where = place;
  opened.push_back(false);
  LoopId id = builder.beginLoop(data.name, tripOf(data), !data.divergent, where);
  loops.add(builder.peek().loops[id].name, id);
  // Numbers too large for the core are judged by check().
  uint64_t most = data.unroll == allIterations ? fullyUnrolled : maxCount + 1;
  builder.setUnroll(id, static_cast<uint32_t>(std::min<uint64_t>(data.unroll, most)));
  setSync(id, data.sync);
}

void KernelResolver::setSync(LoopId id, const std::string &name) {
  if (name.empty()) {
    return;
  }
  if (std::optional<RegionSync> sync = fromWord<RegionSync>(name)) {
    builder.setSync(id, *sync);
  } else {
    errors.error(at("sync"),
                 fmt::format("unknown strategy '{}' of a region; one of '{}' is allowed", name,
                             fmt::join(allWords<RegionSync>(), "', '")));
  }
}

void KernelResolver::open(const IfData &data, Location place) {
  where = place;
  opened.push_back(true);
  LoopId then = builder.beginIf(data.name, !data.divergent, where);
  LoopId otherwise = builder.peek().loops[then].otherBranch;
  loops.add(builder.peek().loops[then].name, then);
  loops.add(builder.peek().loops[otherwise].name, otherwise);
  setSync(then, data.sync);
  setCondition(then, data);
}

void KernelResolver::setCondition(LoopId then, const IfData &data) {
  if (data.when.empty()) {
    return;
  }
  std::string problem;
  if (std::optional<ParsedAccess> condition = parseCondition(data.when, problem)) {
    builder.setCondition(then, conditionText(*condition));
  } else {
    errors.error(at("when"),
                 fmt::format("'{}' does not decide about '{}': {}", data.when, data.name, problem));
  }
}

void KernelResolver::close() {
  opened.back() ? builder.endIf() : builder.endLoop();
  opened.pop_back();
}

void KernelResolver::add(const InstrData &data, Location place) {
  where = place;
  QueueId queue = queues.find(data.queue);
  if (!queue.valid()) {
    unknown(builder.peek(), "queue", "queues of this kernel", data.queue, builder.peek().queues,
            at("queue"));
    leftOut.insert(data.name);
    return;
  }
  InstrId id = builder.instr(data.name, queue, data.operation, where);
  for (size_t i = 0; i < data.others.size(); ++i) {
    if (QueueId other = queues.find(data.others[i]); other.valid()) {
      builder.orOn(other);
    } else {
      unknown(builder.peek(), "queue", "queues of this kernel", data.others[i],
              builder.peek().queues, at("or", i));
    }
  }
  builder.computes(data.computes);
  for (const std::string &value : data.loads) {
    builder.loads(value);
  }
  instrs.add(builder.peek().instrs[id].name, id);
  pin(id, data.semaphore);
  accesses(AccessKind::Read, data.reads, "reads");
  accesses(AccessKind::Write, data.writes, "writes");
  accesses(AccessKind::Accumulate, data.accumulates, "accumulates");
}

void KernelResolver::accesses(AccessKind kind, const Names &texts, std::string_view key) {
  for (size_t i = 0; i < texts.size(); ++i) {
    access(kind, texts[i], at(key, i));
  }
}

void KernelResolver::access(AccessKind kind, const std::string &text, const Spot &spot) {
  std::string problem;
  std::optional<ParsedAccess> access = parseAccess(text, problem);
  if (!access) {
    errors.error(spot, fmt::format("'{}' is not a tile: {}", text, problem));
    return;
  }
  BufferId buffer = buffers.find(access->buffer);
  if (!buffer.valid()) {
    unknown(builder.peek(), "buffer", "buffers of this kernel", access->buffer,
            builder.peek().buffers, spot);
    return;
  }
  builder.access(kind, buffer, toString(*access));
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

InstrId KernelResolver::instrNamed(const std::string &name, std::string_view key) {
  InstrId id = instrs.find(name);
  if (!id.valid() && !leftOut.contains(name)) {
    unknown(builder.peek(), "instruction", "instructions of this kernel", name,
            builder.peek().instrs, at(key));
  }
  return id;
}

bool KernelResolver::componentsOf(const DistanceData &data) {
  components.clear();
  bool known = true;
  for (size_t i = 0; i < data.components.size(); ++i) {
    const ComponentData &component = data.components[i];
    LoopId loop = loops.find(component.loop);
    if (!loop.valid()) {
      unknown(builder.peek(), "loop", "loops of this kernel", component.loop, builder.peek().loops,
              at("distance", i));
      known = false;
      continue;
    }
    components.push_back({loop, component.distance});
  }
  return known;
}

void KernelResolver::add(const DepData &data, Location place) {
  where = place;
  InstrId producer = instrNamed(data.producer, "producer");
  InstrId consumer = instrNamed(data.consumer, "consumer");
  bool known = componentsOf(data.distance);
  if (!producer.valid() || !consumer.valid() || !known) {
    return;
  }
  const DistanceData &distance = data.distance;
  bool isTable = !distance.runs.empty();
  if (isTable ? distance.form != DistanceForm::Element : !distance.over.empty()) {
    errors.error(at("distance"), "runs of a table stand with 'element' alone", {});
    return;
  }
  LoopId over = distance.over.empty() ? LoopId() : loops.find(distance.over);
  if (!distance.over.empty() && !over.valid()) {
    unknown(builder.peek(), "loop", "loops of this kernel", distance.over, builder.peek().loops,
            at("element.over"));
    return;
  }
  DepId id = isTable ? builder.depTable(producer, consumer, {distance.runs, distance.step, over},
                                        components, data.kind, where)
                     : builder.dep(producer, consumer, distance.form, distance.step, components,
                                   data.kind, where);
  if (data.allowDivergent) {
    builder.allowDivergent(id);
  }
  pin(id, data.semaphore);
}

} // namespace tally::written
