//===- KernelJson.cpp - Kernels as JSON -----------------------------------===//
//
// Reading goes through KernelBuilder, top to bottom: engines and buffers, the
// tree, then dependences, whose ends must exist by then. Names are looked up in the
// builder's own string pool. A wrong value is reported and replaced by a harmless
// one, so that one run finds all mistakes; the kernel is then thrown away.
//
// Writing puts each instruction and each dependence on one line.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/KernelJson.h"

#include "KernelJsonReader.h"
#include "tally/Model/AccessText.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Regions.h"

#include <fmt/format.h>

namespace tally {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

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
      : document(document), builder(document.stringOr("name", "")) {
    builder.file(fileName);
  }

  Kernel run();

private:
  template <typename Visit>
  void forEach(const JsonAt &object, std::string_view key, Visit visit) const;
  template <typename IdT>
  IdT lookUp(const NameTable<IdT> &table, const JsonAt &name, std::string_view kind) const;

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
};

Kernel KernelReader::run() {
  document.expectObject(
      {"schema", "version", "name", "reserves", "engines", "buffers", "body", "dependences"});
  document.expectSchema("tally-kernel", 1);
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
  const std::string &text = name.json().get_ref<const std::string &>();
  IdT id = table.find(builder.peek().strings.find(text));
  if (!id.valid()) {
    name.error(fmt::format("the kernel has no {} '{}'", kind, text));
  }
  return id;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

uint32_t KernelReader::weightOf(const JsonAt &at) const {
  std::optional<JsonAt> weight = at.find("weight");
  return weight ? static_cast<uint32_t>(weight->unsignedIn(0, UINT32_MAX)) : 1;
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
  EngineId id = builder.engine(name ? name->string() : "");
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
  QueueId id = builder.queue(name ? name->string() : "", weightOf(at), completionOf(at));
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
                               at.stringOr("type", ""), address);
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
  InstrId id = builder.instr(name, queue, at.stringOr("op", ""));
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
    at.error(fmt::format("the kernel has no buffer '{}'", parsed->buffer));
    return;
  }
  builder.access(kind, buffer, toString(*parsed));
}

void KernelReader::loop(const JsonAt &at) {
  at.expectObject({"loop", "trips", "uniform", "unroll", "sync", "body"});
  std::string name = at.find("loop")->string();
  std::optional<JsonAt> trips = at.need("trips");
  Trip trip = trips ? tripOf(*trips) : Trip();
  LoopId id = builder.beginLoop(name, trip, at.booleanOr("uniform", true));
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
    return KernelBuilder::constant(at.unsignedIn(0, UINT64_MAX));
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
    bound = max->unsignedIn(0, UINT64_MAX);
  }
  return builder.value(symbol ? symbol->string() : "", min ? min->unsignedIn(0, UINT64_MAX) : 0,
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
  LoopId thenId = builder.beginIf(at.find("if")->string(), at.booleanOr("uniform", true));
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
    id = builder.depFlat(producer, consumer, flat->integer(), kind);
  } else if (element) {
    id = builder.depElement(producer, consumer, element->integer(), components, kind);
  } else {
    id = builder.depVector(producer, consumer, components, kind);
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
  distance->forMembers([&](const std::string &name, const JsonAt &component) {
    LoopId loop = loops.find(builder.peek().strings.find(name));
    if (!loop.valid()) {
      component.error(fmt::format("the kernel has no loop '{}'", name));
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

void reportJsonErrors(const JsonErrors &errors, Diagnostics &diagnostics) {
  for (const JsonError &error : errors) {
    diagnostics.error({0, error.line, error.column}, error.message);
  }
}

std::optional<Kernel> readKernelJson(std::string_view text, std::string_view fileName,
                                     Diagnostics &diagnostics) {
  JsonErrors errors;
  std::optional<Kernel> kernel;
  if (std::optional<Json> document = parseJson(text, errors)) {
    kernel = readKernelJson(JsonAt(*document, errors), fileName);
  }
  reportJsonErrors(errors, diagnostics);
  return errors.empty() ? std::move(kernel) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// Writes objects as `{"key": value, ...}`; arrays of statements get a line each.
class KernelWriter {
public:
  KernelWriter(const Kernel &kernel, unsigned indent)
      : kernel(kernel), pins(pinnedSemaphores(kernel)), indent(indent) {}

  std::string run();

private:
  void line(std::string_view more);
  template <typename IdT, typename Write>
  void list(std::string_view key, IdRange<IdT> ids, Write write, std::string_view after);

  std::string quoted(NameId name) const { return quoteJson(kernel.text(name)); }

  std::string queueText(const Queue &queue) const;
  std::string engineText(const Engine &engine) const;
  std::string bufferText(const Buffer &buffer) const;
  std::string instrText(InstrId id) const;
  std::string othersText(std::string_view key, const std::vector<BufferId> &others) const;
  std::string accessText(const Instr &instr, AccessKind kind, std::string_view key) const;
  std::string tripText(const Loop &loop) const;
  std::string depText(const Dep &dep) const;
  void body(LoopId loop);
  void statement(const Stmt &stmt);
  void loopStatement(const Loop &loop);
  void ifStatement(const Loop &thenBranch);
  void separate();

  const Kernel &kernel;
  const std::map<InstrId, uint32_t> pins;
  unsigned indent;
  std::string text;
};

/// Starts a new line after what was written.
void KernelWriter::line(std::string_view more) {
  text += '\n';
  text.append(indent, ' ');
  text += more;
}

/// A comma, unless this is the first element.
void KernelWriter::separate() {
  if (text.back() != '[') {
    text += ',';
  }
}

template <typename IdT, typename Write>
void KernelWriter::list(std::string_view key, IdRange<IdT> ids, Write write,
                        std::string_view after) {
  line(fmt::format("\"{}\": [", key));
  indent += 2;
  for (IdT id : ids) {
    separate();
    line(write(id));
  }
  indent -= 2;
  if (!ids.empty()) {
    line("");
  }
  text += ']';
  text += after;
}

std::string KernelWriter::queueText(const Queue &queue) const {
  std::string result = fmt::format("\"name\": {}", quoted(queue.name));
  if (queue.weight != 1) {
    result += fmt::format(", \"weight\": {}", queue.weight);
  }
  if (queue.completion == Completion::Split) {
    result += ", \"completion\": \"split\"";
  }
  return result;
}

std::string KernelWriter::engineText(const Engine &engine) const {
  std::string result = "{" + queueText(kernel.queues[engine.queues[0]]);
  const char *separator = ", \"queues\": [";
  for (uint32_t i = 1; i < engine.queues.size(); ++i) {
    result += fmt::format("{}{{{}}}", separator, queueText(kernel.queues[engine.queues[i]]));
    separator = ", ";
  }
  result += engine.queues.size() > 1 ? "]" : "";
  if (!engine.reserved.empty()) {
    result += fmt::format(", \"reserves\": [{}]", fmt::join(engine.reserved, ", "));
  }
  return result + "}";
}

std::string KernelWriter::bufferText(const Buffer &buffer) const {
  std::string result = fmt::format("{{\"name\": {}", quoted(buffer.name));
  if (!buffer.shape.empty()) {
    result += fmt::format(", \"shape\": [{}]", fmt::join(buffer.shape, ", "));
  }
  if (buffer.elementType.valid()) {
    result += fmt::format(", \"type\": {}", quoted(buffer.elementType));
  }
  if (buffer.space.valid()) {
    result += fmt::format(", \"space\": {}", quoted(buffer.space));
  }
  if (buffer.address) {
    result += fmt::format(", \"address\": {}", *buffer.address);
  }
  return result + othersText("alias", buffer.alias) + othersText("noalias", buffer.noalias) + "}";
}

std::string KernelWriter::othersText(std::string_view key,
                                     const std::vector<BufferId> &others) const {
  std::string result;
  for (BufferId id : others) {
    result += result.empty() ? fmt::format(", \"{}\": [", key) : ", ";
    result += quoted(kernel.buffers[id].name);
  }
  return result.empty() ? result : result + "]";
}

std::string KernelWriter::accessText(const Instr &instr, AccessKind kind,
                                     std::string_view key) const {
  std::string result;
  for (AccessId id : instr.accesses) {
    const Access &access = kernel.accesses[id];
    if (access.kind == kind) {
      result += result.empty() ? fmt::format(", \"{}\": [", key) : ", ";
      result += quoted(access.text);
    }
  }
  return result.empty() ? result : result + "]";
}

std::string KernelWriter::instrText(InstrId id) const {
  const Instr &instr = kernel.instrs[id];
  std::string result = fmt::format("{{\"instr\": {}, \"queue\": {}", quoted(instr.name),
                                   quoted(kernel.queues[instr.queue].name));
  if (instr.operation.valid()) {
    result += fmt::format(", \"op\": {}", quoted(instr.operation));
  }
  if (instr.computes.valid()) {
    result += fmt::format(", \"computes\": {}", quoted(instr.computes));
  }
  result += accessText(instr, AccessKind::Read, "reads");
  result += accessText(instr, AccessKind::Write, "writes");
  result += accessText(instr, AccessKind::Accumulate, "accumulates");
  if (auto pin = pins.find(id); pin != pins.end()) {
    result += fmt::format(", \"semaphore\": {}", pin->second);
  }
  return result + "}";
}

std::string KernelWriter::tripText(const Loop &loop) const {
  const Trip &trip = loop.trip;
  NameId symbol = trip.symbol.valid() ? trip.symbol : loop.name;
  switch (trip.kind) {
  case Trip::Kind::Constant:
    return fmt::format("{}", trip.constant);
  case Trip::Kind::Guard:
    return fmt::format("{{\"while\": {}}}", quoted(symbol));
  case Trip::Kind::Value:
    break;
  }
  std::string result = fmt::format("{{\"value\": {}", quoted(symbol));
  if (trip.min != 0) {
    result += fmt::format(", \"min\": {}", trip.min);
  }
  if (trip.max) {
    result += fmt::format(", \"max\": {}", *trip.max);
  }
  return result + "}";
}

std::string KernelWriter::depText(const Dep &dep) const {
  std::string result =
      fmt::format("{{\"producer\": {}, \"consumer\": {}", quoted(kernel.instrs[dep.producer].name),
                  quoted(kernel.instrs[dep.consumer].name));
  if (dep.kind != DepKind::Unspecified) {
    result += fmt::format(", \"kind\": \"{}\"", toString(dep.kind));
  }
  if (dep.form != DistanceForm::Vector) {
    result +=
        fmt::format(", \"{}\": {}", dep.form == DistanceForm::Flat ? "flat" : "element", dep.step);
  }
  const char *separator = ", \"distance\": {";
  for (const DistanceComponent *c = kernel.componentsBegin(dep); c != kernel.componentsEnd(dep);
       ++c) {
    result += fmt::format("{}{}: {}", separator, quoted(kernel.loops[c->loop].name), c->distance);
    separator = ", ";
  }
  result += dep.numComponents != 0 ? "}" : "";
  return result + (dep.allowDivergent ? ", \"allow_divergent\": true}" : "}");
}

/// The elements of a body, after the bracket that opens it.
void KernelWriter::body(LoopId loop) {
  indent += 2;
  for (StmtId s : kernel.loops[loop].body) {
    statement(kernel.stmts[s]);
  }
  indent -= 2;
  if (!kernel.loops[loop].body.empty()) {
    line("");
  }
  text += ']';
}

void KernelWriter::statement(const Stmt &stmt) {
  if (stmt.kind == Stmt::Kind::Block) {
    for (InstrId i : stmt.instrs) {
      separate();
      line(instrText(i));
    }
    return;
  }
  separate();
  const Loop &loop = kernel.loops[stmt.loop];
  return stmt.kind == Stmt::Kind::Loop ? loopStatement(loop) : ifStatement(loop);
}

static std::string syncText(const Loop &loop) {
  return loop.sync == RegionSync::AsAround ? ""
                                           : fmt::format(", \"sync\": \"{}\"", toString(loop.sync));
}

void KernelWriter::loopStatement(const Loop &loop) {
  std::string unroll = loop.unroll == fullyUnrolled ? "\"full\"" : fmt::to_string(loop.unroll);
  line(fmt::format("{{\"loop\": {}, \"trips\": {}{}{}{}, \"body\": [", quoted(loop.name),
                   tripText(loop), loop.uniform ? "" : ", \"uniform\": false",
                   loop.unroll == 1 ? "" : ", \"unroll\": " + unroll, syncText(loop)));
  body(kernel.stmts[loop.stmt].loop);
  text += '}';
}

void KernelWriter::ifStatement(const Loop &thenBranch) {
  line(fmt::format("{{\"if\": {}{}{}, \"then\": [", quoted(thenBranch.name),
                   thenBranch.uniform ? "" : ", \"uniform\": false", syncText(thenBranch)));
  body(kernel.stmts[thenBranch.stmt].loop);
  if (!kernel.loops[thenBranch.otherBranch].body.empty()) {
    text += ", \"else\": [";
    body(thenBranch.otherBranch);
  }
  text += '}';
}

std::string KernelWriter::run() {
  text = "{";
  indent += 2;
  line("\"schema\": \"tally-kernel\",");
  line("\"version\": 1,");
  line(fmt::format("\"name\": {},", quoted(kernel.name)));
  if (!kernel.reserved.empty()) {
    line(fmt::format("\"reserves\": [{}],", fmt::join(kernel.reserved, ", ")));
  }
  list(
      "engines", kernel.engines.ids(), [&](EngineId id) { return engineText(kernel.engines[id]); },
      ",");
  if (!kernel.buffers.empty()) {
    list(
        "buffers", kernel.buffers.ids(),
        [&](BufferId id) { return bufferText(kernel.buffers[id]); }, ",");
  }
  line("\"body\": [");
  body(rootLoop);
  text += ',';
  list("dependences", kernel.deps.ids(), [&](DepId id) { return depText(kernel.deps[id]); }, "");
  indent -= 2;
  line("}");
  return std::move(text);
}

} // namespace

std::string kernelJson(const Kernel &kernel, unsigned indent) {
  return KernelWriter(kernel, indent).run();
}

std::string writeKernelJson(const Kernel &kernel) {
  return kernelJson(kernel, 0) + "\n";
}

} // namespace tally
