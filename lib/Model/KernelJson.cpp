//===- KernelJson.cpp - Reads kernels from JSON ---------------------------===//
//
// It goes through KernelBuilder, top to bottom: engines and buffers, the
// tree, then dependences, whose ends must exist by then. Names are looked up in the
// builder's own string pool. A wrong value is reported and replaced by a harmless
// one, so that one run finds all mistakes; the kernel is then thrown away.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/KernelJson.h"

#include "KernelJsonReader.h"

#include "tally/Model/AccessText.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>

namespace tally {

namespace {

/// Ids of one kind by name; of equal names, the first counts (check() reports the others).
template <typename IdT> class NameTable {
public:
  void add(NameId name, IdT id) {
    if (name.value >= ids.size()) {
      ids.resize(2 * size_t(name.value) + 1);
    }
    if (!ids[name.value].valid()) {
      ids[name.value] = id;
    }
  }

  IdT find(NameId name) const {
    return name.valid() && name.value < ids.size() ? ids[name.value] : IdT();
  }

private:
  std::vector<IdT> ids;
};

class KernelReader {
public:
  KernelReader(const JsonAt &document, std::string_view fileName)
      : document(document), builder(document.stringOr("name", ""), document.where()) {
    builder.file(fileName);
  }

  Kernel run();

private:
  template <typename Visit>
  void forEach(const JsonAt &object, std::string_view key, Visit visit) const;
  template <typename IdT>
  IdT lookUp(const NameTable<IdT> &table, const JsonAt &name, std::string_view kind) const;

  template <typename IdT>
  std::string unknown(const NameTable<IdT> &table, std::string_view kind,
                      std::string_view name) const;

  void engine(const JsonAt &at);
  void queueOfEngine(const JsonAt &at);
  uint32_t weightOf(const JsonAt &at) const;
  Completion completionOf(const JsonAt &at) const;
  std::vector<uint32_t> reservedOf(const JsonAt &at) const;
  void buffer(const JsonAt &at);
  void statement(const JsonAt &at);
  void instruction(const JsonAt &at);
  void accesses(const JsonAt &instr, std::string_view key, AccessKind kind);
  void access(const JsonAt &at, AccessKind kind);
  void loop(const JsonAt &at);
  Trip tripOf(const JsonAt &at);
  void branch(const JsonAt &at);
  void region(const JsonAt &at, LoopId id);
  uint32_t unrollOf(const JsonAt &at) const;
  void dependence(const JsonAt &at);
  void dependence(const JsonAt &at, InstrId producer, InstrId consumer);
  std::vector<DistanceComponent> distanceOf(const JsonAt &at) const;

  const JsonAt &document;
  KernelBuilder builder;
  NameTable<QueueId> queues;
  NameTable<BufferId> buffers;
  NameTable<LoopId> loops;
  NameTable<InstrId> instrs;
  mutable uint32_t effort = 100; ///< see unknownName()
};

Kernel KernelReader::run() {
  document.expectObject(
      {"schema", "version", "name", "reserves", "engines", "buffers", "body", "dependences"});
  document.expectSchema("tally-kernel", 1, 1);
  document.need("name");
  builder.reserveSemaphores(reservedOf(document));
  document.need("engines");
  forEach(document, "engines", [&](const JsonAt &at) { engine(at); });
  forEach(document, "buffers", [&](const JsonAt &at) { buffer(at); });
  document.need("body");
  forEach(document, "body", [&](const JsonAt &at) { statement(at); });
  forEach(document, "dependences", [&](const JsonAt &at) { dependence(at); });
  return builder.finish();
}

/// Visits the elements of the array `key`, if it is there.
template <typename Visit>
void KernelReader::forEach(const JsonAt &object, std::string_view key, Visit visit) const {
  std::optional<JsonAt> array = object.find(key);
  if (!array || !array->expectArray()) {
    return;
  }
  for (size_t i = 0; i < array->size(); ++i) {
    visit((*array)[i]);
  }
}

template <typename IdT>
IdT KernelReader::lookUp(const NameTable<IdT> &table, const JsonAt &name,
                         std::string_view kind) const {
  if (!name.isString()) {
    name.string();
    return {};
  }
  std::string text = name.string();
  IdT id = table.find(builder.peek().strings.find(text));
  if (!id.valid()) {
    name.error(unknown(table, kind, text));
  }
  return id;
}

/// All names are only gone through as long as that is not too much work.
template <typename IdT>
std::string KernelReader::unknown(const NameTable<IdT> &table, std::string_view kind,
                                  std::string_view name) const {
  std::vector<std::string_view> known;
  for (uint32_t n = 0; effort != 0 && n < builder.peek().strings.size(); ++n) {
    std::string_view text = builder.peek().text(NameId(n));
    if (table.find(NameId(n)).valid() && !text.empty()) {
      known.push_back(text);
    }
  }
  return unknownName(kind, fmt::format("{}s of this kernel", kind), name, known, effort);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

uint32_t KernelReader::weightOf(const JsonAt &at) const {
  std::optional<JsonAt> weight = at.find("weight");
  return weight ? static_cast<uint32_t>(weight->unsignedIn(1, maxCount)) : 1;
}

Completion KernelReader::completionOf(const JsonAt &at) const {
  std::optional<JsonAt> completion = at.find("completion");
  return completion && completion->oneOf({"whole", "split"}) == 1 ? Completion::Split
                                                                  : Completion::Whole;
}

std::vector<uint32_t> KernelReader::reservedOf(const JsonAt &at) const {
  std::vector<uint32_t> numbers;
  forEach(at, "reserves", [&](const JsonAt &number) {
    numbers.push_back(static_cast<uint32_t>(number.unsignedIn(0, maxReserved)));
  });
  return numbers;
}

void KernelReader::engine(const JsonAt &at) {
  if (!at.expectObject({"name", "weight", "completion", "queues", "reserves"})) {
    return;
  }
  std::optional<JsonAt> name = at.need("name");
  EngineId id = builder.engine(name ? name->string() : "", at.where());
  QueueId own = builder.queueOf(id);
  builder.setQueue(own, weightOf(at), completionOf(at));
  builder.reserveRegisters(id, reservedOf(at));
  queues.add(builder.peek().queues[own].name, own);
  forEach(at, "queues", [&](const JsonAt &queue) { queueOfEngine(queue); });
}

void KernelReader::queueOfEngine(const JsonAt &at) {
  if (!at.expectObject({"name", "weight", "completion"})) {
    return;
  }
  std::optional<JsonAt> name = at.need("name");
  QueueId id =
      builder.queue(name ? name->string() : "", weightOf(at), completionOf(at), at.where());
  queues.add(builder.peek().queues[id].name, id);
}

void KernelReader::buffer(const JsonAt &at) {
  if (!at.expectObject({"name", "shape", "type", "space", "address", "alias", "noalias"})) {
    return;
  }
  std::optional<JsonAt> name = at.need("name");
  std::vector<uint64_t> shape;
  forEach(at, "shape",
          [&](const JsonAt &extent) { shape.push_back(extent.unsignedIn(0, INT64_MAX)); });
  std::optional<uint64_t> address;
  if (std::optional<JsonAt> place = at.find("address")) {
    address = place->unsignedIn(0, UINT64_MAX);
  }
  BufferId id = builder.buffer(name ? name->string() : "", shape, at.stringOr("space", ""),
                               at.stringOr("type", ""), address, at.where());
  forEach(at, "alias", [&](const JsonAt &other) {
    if (BufferId earlier = lookUp(buffers, other, "buffer"); earlier.valid()) {
      builder.alias(id, earlier);
    }
  });
  forEach(at, "noalias", [&](const JsonAt &other) {
    if (BufferId earlier = lookUp(buffers, other, "buffer"); earlier.valid()) {
      builder.noalias(id, earlier);
    }
  });
  buffers.add(builder.peek().buffers[id].name, id);
}

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

/// Nesting is bounded by the parser, so this recursion is.
void KernelReader::statement(const JsonAt &at) {
  if (!at.expectObject()) {
    return;
  }
  if (at.find("instr")) {
    return instruction(at);
  }
  if (at.find("loop")) {
    return loop(at);
  }
  if (at.find("if")) {
    return branch(at);
  }
  at.error("a statement needs one of the keys 'instr', 'loop' and 'if'");
}

void KernelReader::instruction(const JsonAt &at) {
  at.expectObject(
      {"instr", "queue", "op", "computes", "reads", "writes", "accumulates", "semaphore"});
  std::string name = at.find("instr")->string();
  std::optional<JsonAt> queueName = at.need("queue");
  QueueId queue = queueName ? lookUp(queues, *queueName, "queue") : QueueId();
  InstrId id = builder.instr(name, queue, at.stringOr("op", ""), at.where());
  builder.computes(at.stringOr("computes", ""));
  instrs.add(builder.peek().instrs[id].name, id);
  if (std::optional<JsonAt> semaphore = at.find("semaphore")) {
    builder.pin(id, static_cast<uint32_t>(semaphore->unsignedIn(0, maxReserved)));
  }
  accesses(at, "reads", AccessKind::Read);
  accesses(at, "writes", AccessKind::Write);
  accesses(at, "accumulates", AccessKind::Accumulate);
}

void KernelReader::accesses(const JsonAt &instr, std::string_view key, AccessKind kind) {
  forEach(instr, key, [&](const JsonAt &at) { access(at, kind); });
}

void KernelReader::access(const JsonAt &at, AccessKind kind) {
  std::string problem;
  std::optional<ParsedAccess> parsed = parseAccess(at.string(), problem);
  if (!parsed) {
    if (at.isString()) {
      at.error(fmt::format("this is not a tile: {}", problem));
    }
    return;
  }
  BufferId buffer = buffers.find(builder.peek().strings.find(parsed->buffer));
  if (!buffer.valid()) {
    at.error(unknown(buffers, "buffer", parsed->buffer));
    return;
  }
  builder.access(kind, buffer, toString(*parsed));
}

void KernelReader::loop(const JsonAt &at) {
  at.expectObject({"loop", "trips", "uniform", "unroll", "sync", "body"});
  std::string name = at.find("loop")->string();
  std::optional<JsonAt> trips = at.need("trips");
  Trip trip = trips ? tripOf(*trips) : Trip();
  LoopId id = builder.beginLoop(name, trip, at.booleanOr("uniform", true), at.where());
  loops.add(builder.peek().loops[id].name, id);
  region(at, id);
  if (std::optional<JsonAt> unroll = at.find("unroll")) {
    builder.setUnroll(id, unrollOf(*unroll));
  }
  at.need("body");
  forEach(at, "body", [&](const JsonAt &inner) { statement(inner); });
  builder.endLoop();
}

Trip KernelReader::tripOf(const JsonAt &at) {
  if (!at.isObject()) {
    return KernelBuilder::constant(at.unsignedIn(0, maxCount));
  }
  if (std::optional<JsonAt> guard = at.find("while")) {
    at.expectObject({"while"});
    return builder.guard(guard->string());
  }
  at.expectObject({"value", "min", "max"});
  std::optional<JsonAt> symbol = at.need("value");
  std::optional<JsonAt> min = at.find("min");
  std::optional<JsonAt> max = at.find("max");
  std::optional<uint64_t> bound;
  if (max) {
    bound = max->unsignedIn(0, maxCount);
  }
  return builder.value(symbol ? symbol->string() : "", min ? min->unsignedIn(0, maxCount) : 0,
                       bound);
}

void KernelReader::region(const JsonAt &at, LoopId id) {
  std::optional<JsonAt> sync = at.find("sync");
  if (!sync) {
    return;
  }
  std::string name = sync->string();
  if (std::optional<RegionSync> found = regionSyncFrom(name)) {
    builder.setSync(id, *found);
  } else {
    sync->error(fmt::format("unknown strategy '{}' of a region; one of '{}' is allowed", name,
                            fmt::join(regionSyncNames(), "', '")));
  }
}

/// `4` or `"full"`.
uint32_t KernelReader::unrollOf(const JsonAt &at) const {
  if (!at.isString()) {
    return static_cast<uint32_t>(at.unsignedIn(1, maxCount));
  }
  if (at.string() != "full") {
    at.error(fmt::format("unrolled '{}'; a number or 'full' is allowed", at.string()));
  }
  return fullyUnrolled;
}

void KernelReader::branch(const JsonAt &at) {
  at.expectObject({"if", "uniform", "sync", "then", "else"});
  LoopId thenId =
      builder.beginIf(at.find("if")->string(), at.booleanOr("uniform", true), at.where());
  const Loop &loop = builder.peek().loops[thenId];
  loops.add(loop.name, thenId);
  loops.add(builder.peek().loops[loop.otherBranch].name, loop.otherBranch);
  region(at, thenId);
  at.need("then");
  forEach(at, "then", [&](const JsonAt &inner) { statement(inner); });
  builder.beginElse();
  forEach(at, "else", [&](const JsonAt &inner) { statement(inner); });
  builder.endIf();
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

void KernelReader::dependence(const JsonAt &at) {
  if (!at.expectObject({"producer", "consumer", "kind", "distance", "flat", "element",
                        "allow_divergent", "semaphore"})) {
    return;
  }
  std::optional<JsonAt> producer = at.need("producer");
  std::optional<JsonAt> consumer = at.need("consumer");
  InstrId from = producer ? lookUp(instrs, *producer, "instruction") : InstrId();
  InstrId to = consumer ? lookUp(instrs, *consumer, "instruction") : InstrId();
  dependence(at, from, to);
}

void KernelReader::dependence(const JsonAt &at, InstrId producer, InstrId consumer) {
  std::optional<JsonAt> kindName = at.find("kind");
  DepKind kind = kindName ? static_cast<DepKind>(1 + kindName->oneOf({"raw", "war", "waw"}))
                          : DepKind::Unspecified;
  std::vector<DistanceComponent> components = distanceOf(at);
  std::optional<JsonAt> flat = at.find("flat");
  std::optional<JsonAt> element = at.find("element");
  if (flat && (element || at.find("distance"))) {
    at.error("'flat' stands alone; drop it, or drop 'distance' and 'element'");
  }
  DepId id;
  if (flat) {
    id = builder.depFlat(producer, consumer, flat->integer(), kind, at.where());
  } else if (element) {
    id = builder.depElement(producer, consumer, element->integer(), components, kind, at.where());
  } else {
    id = builder.depVector(producer, consumer, components, kind, at.where());
  }
  if (at.booleanOr("allow_divergent", false)) {
    builder.allowDivergent(id);
  }
  if (std::optional<JsonAt> semaphore = at.find("semaphore"); semaphore && producer.valid()) {
    builder.pin(id, static_cast<uint32_t>(semaphore->unsignedIn(0, maxReserved)));
  }
}

std::vector<DistanceComponent> KernelReader::distanceOf(const JsonAt &at) const {
  std::vector<DistanceComponent> components;
  std::optional<JsonAt> distance = at.find("distance");
  if (!distance || !distance->expectObject()) {
    return components;
  }
  distance->forMembers([&](std::string_view name, const JsonAt &component) {
    LoopId loop = loops.find(builder.peek().strings.find(name));
    if (!loop.valid()) {
      component.error(unknown(loops, "loop", name));
      return;
    }
    components.push_back({loop, component.integer()});
  });
  return components;
}

} // namespace

Kernel readKernelJson(const JsonAt &document, std::string_view fileName) {
  return document.expectObject() ? KernelReader(document, fileName).run() : Kernel();
}

std::optional<Kernel> readKernelJson(std::string_view text, std::string_view fileName,
                                     Diagnostics &diagnostics) {
  JsonErrors errors;
  std::optional<Kernel> kernel = readJson(
      text, errors, [&](const JsonAt &document) { return readKernelJson(document, fileName); });
  reportJsonErrors(errors, diagnostics);
  return kernel;
}

} // namespace tally
