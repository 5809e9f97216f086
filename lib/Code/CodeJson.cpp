//===- CodeJson.cpp - Code as JSON ----------------------------------------===//
//
// Brackets of the flat code become nested arrays:
//
//   LoopBegin A r0   ->  {"op": "loop", "loop": "A", "counter": 0, "body": [
//     Issue x        ->    {"op": "issue", "instr": "x", "wait": ..., "signal": ...}
//   LoopEnd          ->  ]}
//
//===----------------------------------------------------------------------===//

#include "tally/Code/CodeJson.h"

#include "../Model/KernelJsonReader.h"
#include "tally/Code/CodeStrategy.h"

#include <fmt/format.h>

namespace tally {

/// In the order of AluOp.
static constexpr std::string_view aluNames[] = {"move", "add", "sub", "mul", "min", "gt"};

// In the order of Subtraction, WaitCompare and Completion.
static constexpr std::string_view subtractionNames[] = {"wraps", "saturates"};
static constexpr std::string_view compareNames[] = {"unsigned", "signed"};
static constexpr std::string_view completionNames[] = {"whole", "split"};

/// The values of "op" and what they begin.
static constexpr std::string_view opNames[] = {"issue", "wait", "signal", "reset",   "drain",
                                               "alu",   "loop", "if",     "barrier", "when"};
static constexpr OpKind opKinds[] = {
    OpKind::Issue, OpKind::Wait,      OpKind::Signal,  OpKind::Reset,        OpKind::Drain,
    OpKind::Alu,   OpKind::LoopBegin, OpKind::IfBegin, OpKind::BarrierBegin, OpKind::WhenBegin};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

class CodeJsonWriter {
public:
  CodeJsonWriter(const Kernel &kernel, const Code &code) : kernel(kernel), code(code) {}

  std::string run();

private:
  void line(std::string_view more);
  void element(std::string_view more);
  void openList(std::string_view before);
  void closeList(std::string_view after);
  std::string machineText() const;
  void semaphores();
  void barriers();
  void engine(const EngineProgram &program);
  void operation(const Op &op);
  void dependences();

  std::string waitText(const Op &op) const;
  std::string signalText(const Op &op) const;
  static std::string operandText(Operand operand);
  static std::string aluText(const Op &op);

  const Kernel &kernel;
  const Code &code;
  unsigned indent = 2;
  std::string text;
};

void CodeJsonWriter::line(std::string_view more) {
  text += '\n';
  text.append(indent, ' ');
  text += more;
}

/// An element of the innermost open list, on its own line.
void CodeJsonWriter::element(std::string_view more) {
  if (text.back() != '[') {
    text += ',';
  }
  line(more);
}

void CodeJsonWriter::openList(std::string_view before) {
  line(before);
  text += '[';
  indent += 2;
}

void CodeJsonWriter::closeList(std::string_view after) {
  indent -= 2;
  if (text.back() != '[') {
    line("");
  }
  text += ']';
  text += after;
}

std::string CodeJsonWriter::operandText(Operand operand) {
  return fmt::format("{{\"{}\": {}}}", operand.isRegister ? "register" : "value", operand.value);
}

std::string CodeJsonWriter::waitText(const Op &op) const {
  if (!op.wait.valid()) {
    return "null";
  }
  std::string result = fmt::format("{{\"semaphore\": {}, \"threshold\": {}, \"dependences\": [",
                                   op.wait.value, operandText(op.a));
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    result += fmt::format("{}{}", i == 0 ? "" : ", ", code.reasons[op.firstReason + i].value);
  }
  return result + "]}";
}

std::string CodeJsonWriter::signalText(const Op &op) const {
  return op.signal.valid()
             ? fmt::format("{{\"semaphore\": {}, \"amount\": {}}}", op.signal.value, op.amount)
             : "null";
}

std::string CodeJsonWriter::aluText(const Op &op) {
  std::string result =
      fmt::format("{{\"op\": \"alu\", \"operation\": \"{}\", \"dst\": {}, \"a\": {}",
                  aluNames[static_cast<size_t>(op.alu)], op.dst.value, operandText(op.a));
  return result + (op.alu == AluOp::Move ? "}" : fmt::format(", \"b\": {}}}", operandText(op.b)));
}

void CodeJsonWriter::operation(const Op &op) {
  switch (op.kind) {
  case OpKind::Issue:
    return element(fmt::format("{{\"op\": \"issue\", \"instr\": {}, \"wait\": {}, \"signal\": {}}}",
                               quoteJson(kernel.nameOf(op.instr())), waitText(op), signalText(op)));
  case OpKind::Wait:
    return element(fmt::format("{{\"op\": \"wait\", \"wait\": {}}}", waitText(op)));
  case OpKind::Signal:
    return element(fmt::format("{{\"op\": \"signal\", \"signal\": {}}}", signalText(op)));
  case OpKind::Reset:
    return element(fmt::format("{{\"op\": \"reset\", \"semaphore\": {}, \"count\": {}}}",
                               op.signal.value, op.amount));
  case OpKind::Drain:
    return element("{\"op\": \"drain\"}");
  case OpKind::Alu:
    return element(aluText(op));
  case OpKind::LoopBegin:
    element(fmt::format("{{\"op\": \"loop\", \"loop\": {}, \"counter\": {}{}, \"body\": [",
                        quoteJson(kernel.nameOf(op.loop())),
                        op.dst.valid() ? std::to_string(op.dst.value) : "null",
                        op.amount == 1 ? "" : fmt::format(", \"unroll\": {}", op.amount)));
    break;
  case OpKind::IfBegin:
    element(fmt::format("{{\"op\": \"if\", \"if\": {}, \"then\": [",
                        quoteJson(kernel.nameOf(op.loop()))));
    break;
  case OpKind::BarrierBegin:
    element(fmt::format("{{\"op\": \"barrier\", \"barrier\": {}, \"body\": [", op.target));
    break;
  case OpKind::WhenBegin:
    element(fmt::format("{{\"op\": \"when\", \"condition\": {}, \"body\": [", operandText(op.a)));
    break;
  case OpKind::Else:
    closeList(", \"else\": [");
    break;
  case OpKind::LoopEnd:
  case OpKind::IfEnd:
  case OpKind::BarrierEnd:
  case OpKind::WhenEnd:
    return closeList("}");
  }
  indent += 2;
}

std::string CodeJsonWriter::machineText() const {
  std::string result = fmt::format("{{\"name\": {}", quoteJson(code.machine));
  if (const std::optional<MachineRules> &rules = code.rules) {
    result +=
        fmt::format(", \"counter_bits\": {}, \"subtraction\": \"{}\", \"compare\": \"{}\", "
                    "\"overlap\": {}, \"completion\": \"{}\"",
                    rules->counterBits, subtractionNames[static_cast<size_t>(rules->subtraction)],
                    compareNames[static_cast<size_t>(rules->waitCompare)], rules->queueOverlap,
                    completionNames[static_cast<size_t>(rules->completion)]);
  }
  return result + "}";
}

void CodeJsonWriter::semaphores() {
  openList("\"semaphores\": ");
  for (SemaId s : code.semaphores.ids()) {
    element(
        fmt::format("{{\"id\": {}, \"name\": {}}}", s.value, quoteJson(code.semaphores[s].name)));
  }
  closeList(",");
}

void CodeJsonWriter::barriers() {
  openList("\"barriers\": ");
  for (BarrierId b : code.barriers.ids()) {
    std::string names;
    for (EngineId e : code.barriers[b]) {
      names += names.empty() ? "" : ", ";
      names += quoteJson(kernel.nameOf(e));
    }
    element(fmt::format("{{\"id\": {}, \"participants\": [{}]}}", b.value, names));
  }
  closeList(",");
}

void CodeJsonWriter::engine(const EngineProgram &program) {
  element(fmt::format("{{\"engine\": {},", quoteJson(kernel.nameOf(program.engine))));
  ++indent;
  openList("\"registers\": ");
  for (RegId r : program.registers.ids()) {
    const Register &reg = program.registers[r];
    const std::string &text = reg.role.text;
    std::string role = text.empty() ? "" : fmt::format(", \"role\": {}", quoteJson(text));
    element(fmt::format("{{\"id\": {}, \"name\": {}{}}}", r.value, quoteJson(reg.name), role));
  }
  closeList(",");
  openList("\"code\": ");
  for (const Op &op : program.ops) {
    operation(op);
  }
  closeList("}");
  --indent;
}

void CodeJsonWriter::dependences() {
  openList("\"dependences\": ");
  for (DepId d : kernel.deps.ids()) {
    const Dep &dep = kernel.deps[d];
    element(fmt::format("{{\"id\": {}, \"producer\": {}, \"consumer\": {}}}", d.value,
                        quoteJson(kernel.nameOf(dep.producer)),
                        quoteJson(kernel.nameOf(dep.consumer))));
  }
  closeList("");
}

std::string CodeJsonWriter::run() {
  text = "{";
  line("\"schema\": \"tally-code\",");
  line("\"version\": 2,");
  line(fmt::format("\"kernel\": {},", kernelJson(kernel, indent)));
  line(fmt::format("\"strategy\": {},", quoteJson(toString(code.strategy))));
  line(fmt::format("\"machine\": {},", machineText()));
  semaphores();
  barriers();
  openList("\"engines\": ");
  for (const EngineProgram &program : code.engines) {
    engine(program);
  }
  closeList(",");
  dependences();
  return text + "\n}\n";
}

} // namespace

std::string writeCodeJson(const Kernel &kernel, const Code &code) {
  return CodeJsonWriter(kernel, code).run();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

class CodeReader {
public:
  CodeReader(const Kernel &kernel, const JsonAt &document, uint64_t version);

  Code run();

private:
  template <typename Visit>
  void forEach(const JsonAt &object, std::string_view key, Visit visit) const;
  template <typename IdT>
  IdT lookUp(const std::vector<IdT> &byName, const JsonAt &object, std::string_view key) const;
  void expectId(const JsonAt &object, size_t expected) const;
  static uint32_t number(const JsonAt &object, std::string_view key);
  static std::string text(const JsonAt &object, std::string_view key);

  void machine(const JsonAt &at);
  static MachineRules rules(const JsonAt &at);
  void semaphore(const JsonAt &at);
  void barrier(const JsonAt &at);
  void engine(const JsonAt &at);
  void registerOf(EngineProgram &program, const JsonAt &at) const;
  void dependence(const JsonAt &at, size_t index) const;

  void operations(const JsonAt &object, std::string_view key);
  void operation(const JsonAt &at);
  void issue(const JsonAt &at);
  void alu(const JsonAt &at);
  void loop(const JsonAt &at);
  void branch(const JsonAt &at);
  void barrierBody(const JsonAt &at);
  void when(const JsonAt &at);
  void waitInto(Op &op, const JsonAt &object);
  void signalInto(Op &op, const JsonAt &object) const;
  Operand operand(const JsonAt &object, std::string_view key) const;

  void emit(Op op) { ops->push_back(op); }

  const Kernel &kernel;
  const JsonAt &document;
  uint64_t version;
  Code code;
  std::vector<Op> *ops = nullptr; ///< of the engine being read
  std::vector<EngineId> engineByName;
  std::vector<LoopId> loopByName;
  std::vector<InstrId> instrByName;
};

template <typename IdT, typename T>
std::vector<IdT> tableOf(const Kernel &kernel, const IdVector<IdT, T> &items) {
  std::vector<IdT> byName(kernel.strings.size());
  for (IdT id : items.ids()) {
    byName[items[id].name.value] = id;
  }
  return byName;
}

CodeReader::CodeReader(const Kernel &kernel, const JsonAt &document, uint64_t version)
    : kernel(kernel), document(document), version(version),
      engineByName(tableOf(kernel, kernel.engines)), loopByName(tableOf(kernel, kernel.loops)),
      instrByName(tableOf(kernel, kernel.instrs)) {}

template <typename Visit>
void CodeReader::forEach(const JsonAt &object, std::string_view key, Visit visit) const {
  std::optional<JsonAt> array = object.need(key);
  if (!array || !array->expectArray()) {
    return;
  }
  for (size_t i = 0; i < array->size(); ++i) {
    JsonAt item = (*array)[i];
    if (item.expectObject()) {
      visit(item, i);
    }
  }
}

template <typename IdT>
IdT CodeReader::lookUp(const std::vector<IdT> &byName, const JsonAt &object,
                       std::string_view key) const {
  std::optional<JsonAt> at = object.need(key);
  if (!at || !at->isString()) {
    return at ? (at->string(), IdT()) : IdT();
  }
  std::string name = at->string();
  NameId id = kernel.strings.find(name);
  IdT found = id.valid() ? byName[id.value] : IdT();
  if (!found.valid()) {
    at->error(fmt::format("the kernel has no such {}: '{}'", key, name));
  }
  return found;
}

uint32_t CodeReader::number(const JsonAt &object, std::string_view key) {
  std::optional<JsonAt> at = object.need(key);
  return at ? static_cast<uint32_t>(at->unsignedIn(0, UINT32_MAX)) : 0;
}

std::string CodeReader::text(const JsonAt &object, std::string_view key) {
  std::optional<JsonAt> at = object.need(key);
  return at ? at->string() : "";
}

/// Ids are written for the reader's ease; they are places in the list.
void CodeReader::expectId(const JsonAt &object, size_t expected) const {
  std::optional<JsonAt> id = object.need("id");
  if (id) {
    id->unsignedIn(expected, expected);
  }
}

Code CodeReader::run() {
  std::string strategy = text(document, "strategy");
  code.strategy = strategyFrom(strategy).value_or(Strategy::Manual);
  if (std::optional<JsonAt> at = document.find("strategy"); at && at->isString()) {
    if (std::string unknown = unknownCodeStrategy(strategy); !unknown.empty()) {
      at->error(unknown);
    }
  }
  if (std::optional<JsonAt> at = document.need("machine")) {
    machine(*at);
  }
  forEach(document, "semaphores", [&](const JsonAt &at, size_t) { semaphore(at); });
  forEach(document, "barriers", [&](const JsonAt &at, size_t) { barrier(at); });
  for (EngineId e : kernel.engines.ids()) {
    code.engines.push({e, {}, {}});
  }
  forEach(document, "engines", [&](const JsonAt &at, size_t) { engine(at); });
  if (document.find("dependences")) {
    forEach(document, "dependences",
            [&](const JsonAt &at, size_t index) { dependence(at, index); });
  }
  return std::move(code);
}

/// Version 1 has the name alone.
void CodeReader::machine(const JsonAt &at) {
  if (version == 1 && at.isObject()) {
    at.error("version 1 has the machine's name alone; with its rules it is version 2");
    return;
  }
  if (version == 2 && at.isString()) {
    at.error(R"(version 2 has an object, {"name": ...}; with the name alone it is version 1)");
    return;
  }
  if (version == 1) {
    code.machine = at.string();
    return;
  }
  if (!at.expectObject(
          {"name", "counter_bits", "subtraction", "compare", "overlap", "completion"})) {
    return;
  }
  code.machine = text(at, "name");
  if (at.size() > 1) { // all of the rules, or none
    code.rules = rules(at);
  }
}

MachineRules CodeReader::rules(const JsonAt &at) {
  MachineRules rules;
  if (std::optional<JsonAt> bits = at.need("counter_bits")) {
    rules.counterBits = static_cast<uint32_t>(bits->unsignedIn(8, 32));
  }
  if (std::optional<JsonAt> name = at.need("subtraction")) {
    rules.subtraction = static_cast<Subtraction>(name->oneOf(subtractionNames));
  }
  if (std::optional<JsonAt> name = at.need("compare")) {
    rules.waitCompare = static_cast<WaitCompare>(name->oneOf(compareNames));
  }
  if (std::optional<JsonAt> overlap = at.need("overlap")) {
    rules.queueOverlap = overlap->boolean();
  }
  if (std::optional<JsonAt> name = at.need("completion")) {
    rules.completion = static_cast<Completion>(name->oneOf(completionNames));
  }
  return rules;
}

void CodeReader::semaphore(const JsonAt &at) {
  at.expectObject({"id", "name"});
  expectId(at, code.semaphores.size());
  code.semaphores.push({text(at, "name")});
}

void CodeReader::barrier(const JsonAt &at) {
  at.expectObject({"id", "participants"});
  expectId(at, code.barriers.size());
  std::vector<EngineId> participants;
  std::optional<JsonAt> list = at.need("participants");
  for (size_t i = 0; list && list->expectArray() && i < list->size(); ++i) {
    NameId name = kernel.strings.find((*list)[i].string());
    EngineId engine = name.valid() ? engineByName[name.value] : EngineId();
    if (engine.valid()) {
      participants.push_back(engine);
    } else if ((*list)[i].isString()) {
      (*list)[i].error("the kernel has no such engine");
    }
  }
  code.barriers.push(std::move(participants));
}

void CodeReader::engine(const JsonAt &at) {
  at.expectObject({"engine", "registers", "code"});
  EngineId id = lookUp(engineByName, at, "engine");
  if (!id.valid()) {
    return;
  }
  EngineProgram &program = code.engines[id];
  if (!program.ops.empty() || !program.registers.empty()) {
    at.error(fmt::format("engine '{}' has code already", kernel.nameOf(id)));
    return;
  }
  forEach(at, "registers", [&](const JsonAt &reg, size_t) { registerOf(program, reg); });
  ops = &program.ops;
  operations(at, "code");
}

void CodeReader::registerOf(EngineProgram &program, const JsonAt &at) const {
  at.expectObject({"id", "name", "role"});
  expectId(at, program.registers.size());
  program.registers.push({text(at, "name"), at.stringOr("role", "")});
}

void CodeReader::dependence(const JsonAt &at, size_t index) const {
  at.expectObject({"id", "producer", "consumer"});
  expectId(at, index);
  if (index >= kernel.deps.size()) {
    at.error(fmt::format("the kernel has only {} dependences", kernel.deps.size()));
    return;
  }
  const Dep &dep = kernel.deps[DepId(static_cast<uint32_t>(index))];
  if (text(at, "producer") != kernel.nameOf(dep.producer) ||
      text(at, "consumer") != kernel.nameOf(dep.consumer)) {
    at.error(fmt::format("the kernel's dependence {} is '{}' -> '{}'", index,
                         kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer)));
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Nesting is bounded by the parser, so this recursion is.
void CodeReader::operations(const JsonAt &object, std::string_view key) {
  forEach(object, key, [&](const JsonAt &at, size_t) { operation(at); });
}

void CodeReader::operation(const JsonAt &at) {
  std::optional<JsonAt> name = at.need("op");
  if (!name) {
    return;
  }
  size_t before = at.numErrors();
  OpKind kind = opKinds[name->oneOf(opNames)];
  if (at.numErrors() != before) {
    return;
  }
  Op op;
  op.kind = kind;
  switch (kind) {
  case OpKind::Issue:
    return issue(at);
  case OpKind::Wait:
    at.expectObject({"op", "wait"});
    waitInto(op, at);
    return emit(op);
  case OpKind::Signal:
    at.expectObject({"op", "signal"});
    signalInto(op, at);
    return emit(op);
  case OpKind::Reset:
    at.expectObject({"op", "semaphore", "count"});
    return emit(Op::reset(SemaId(number(at, "semaphore")), number(at, "count")));
  case OpKind::Drain:
    at.expectObject({"op"});
    return emit(Op::drain());
  case OpKind::Alu:
    return alu(at);
  case OpKind::LoopBegin:
    return loop(at);
  case OpKind::IfBegin:
    return branch(at);
  case OpKind::WhenBegin:
    return when(at);
  default:
    return barrierBody(at);
  }
}

void CodeReader::issue(const JsonAt &at) {
  at.expectObject({"op", "instr", "wait", "signal"});
  Op op = Op::issue(lookUp(instrByName, at, "instr"));
  waitInto(op, at);
  signalInto(op, at);
  emit(op);
}

/// Reads the member "wait", which may be null, or not there, where a wait is not the point.
void CodeReader::waitInto(Op &op, const JsonAt &object) {
  std::optional<JsonAt> wait = op.kind == OpKind::Wait ? object.need("wait") : object.find("wait");
  if (!wait || (wait->isNull() && op.kind != OpKind::Wait) ||
      !wait->expectObject({"semaphore", "threshold", "dependences"})) {
    return;
  }
  op.wait = SemaId(number(*wait, "semaphore"));
  op.a = operand(*wait, "threshold");
  op.firstReason = static_cast<uint32_t>(code.reasons.size());
  std::optional<JsonAt> reasons = wait->find("dependences");
  if (!reasons || !reasons->expectArray()) {
    return;
  }
  if (reasons->size() > UINT16_MAX) {
    reasons->error(fmt::format("a wait names at most {} dependences", UINT16_MAX));
    return;
  }
  for (size_t i = 0; i < reasons->size(); ++i) {
    code.reasons.push_back(DepId(static_cast<uint32_t>((*reasons)[i].unsignedIn(0, UINT32_MAX))));
  }
  op.numReasons = static_cast<uint16_t>(reasons->size());
}

void CodeReader::signalInto(Op &op, const JsonAt &object) const {
  std::optional<JsonAt> signal =
      op.kind == OpKind::Signal ? object.need("signal") : object.find("signal");
  if (!signal || (signal->isNull() && op.kind != OpKind::Signal) ||
      !signal->expectObject({"semaphore", "amount"})) {
    return;
  }
  op.signal = SemaId(number(*signal, "semaphore"));
  op.amount = number(*signal, "amount");
}

Operand CodeReader::operand(const JsonAt &object, std::string_view key) const {
  std::optional<JsonAt> at = object.need(key);
  if (!at || !at->expectObject({"register", "value"})) {
    return {};
  }
  bool isRegister = at->find("register").has_value();
  if (isRegister == at->find("value").has_value()) {
    at->error("expected either 'register' or 'value'");
    return {};
  }
  return {number(*at, isRegister ? "register" : "value"), isRegister};
}

void CodeReader::alu(const JsonAt &at) {
  at.expectObject({"op", "operation", "dst", "a", "b"});
  std::optional<JsonAt> name = at.need("operation");
  size_t before = at.numErrors();
  AluOp op = name ? static_cast<AluOp>(name->oneOf(aluNames)) : AluOp::Move;
  if (!name || at.numErrors() != before) {
    return;
  }
  RegId dst(number(at, "dst"));
  Operand a = operand(at, "a");
  if (op == AluOp::Move && at.find("b")) {
    at.error("'move' has no operand 'b'");
  }
  emit(Op::alu2(op, dst, a, op == AluOp::Move ? Operand() : operand(at, "b")));
}

void CodeReader::loop(const JsonAt &at) {
  at.expectObject({"op", "loop", "counter", "unroll", "body"});
  LoopId id = lookUp(loopByName, at, "loop");
  std::optional<JsonAt> counter = at.find("counter");
  bool hasCounter = counter && !counter->isNull();
  Op begin = Op::loopBegin(id, hasCounter ? RegId(number(at, "counter")) : RegId());
  if (at.find("unroll")) {
    begin.amount = number(at, "unroll");
  }
  emit(begin);
  operations(at, "body");
  emit(Op::mark(OpKind::LoopEnd));
}

void CodeReader::branch(const JsonAt &at) {
  at.expectObject({"op", "if", "then", "else"});
  emit(Op::ifBegin(lookUp(loopByName, at, "if")));
  operations(at, "then");
  if (at.find("else")) {
    emit(Op::mark(OpKind::Else));
    operations(at, "else");
  }
  emit(Op::mark(OpKind::IfEnd));
}

void CodeReader::when(const JsonAt &at) {
  at.expectObject({"op", "condition", "body"});
  emit(Op::whenBegin(operand(at, "condition")));
  operations(at, "body");
  emit(Op::mark(OpKind::WhenEnd));
}

void CodeReader::barrierBody(const JsonAt &at) {
  at.expectObject({"op", "barrier", "body"});
  uint32_t id = number(at, "barrier");
  emit(Op::mark(OpKind::BarrierBegin, id));
  operations(at, "body");
  emit(Op::mark(OpKind::BarrierEnd, id));
}

} // namespace

/// The code is only read with a kernel to look names up in.
static KernelAndCode readDocument(const JsonAt &document, std::string_view fileName) {
  if (!document.expectObject({"schema", "version", "kernel", "strategy", "machine", "semaphores",
                              "barriers", "engines", "dependences"})) {
    return {};
  }
  uint64_t version = document.expectSchema("tally-code", 1, 2);
  std::optional<JsonAt> kernelAt = document.need("kernel");
  size_t before = document.numErrors();
  if (!kernelAt) {
    return {};
  }
  KernelAndCode result;
  result.kernel = readKernelJson(*kernelAt, fileName);
  if (document.numErrors() == before) {
    result.code = CodeReader(result.kernel, document, version).run();
  }
  return result;
}

std::optional<KernelAndCode> readCodeJson(std::string_view text, std::string_view fileName,
                                          Diagnostics &diagnostics) {
  JsonErrors errors;
  std::optional<KernelAndCode> result = readJson(
      text, errors, [&](const JsonAt &document) { return readDocument(document, fileName); });
  reportJsonErrors(errors, diagnostics);
  return result;
}

static std::pair<Kernel, std::optional<Code>> readEither(const JsonAt &document,
                                                         std::string_view fileName) {
  std::optional<JsonAt> schema = document.expectObject() ? document.need("schema") : std::nullopt;
  size_t before = document.numErrors();
  bool hasCode = schema && schema->oneOf({"tally-kernel", "tally-code"}) == 1;
  if (!schema || document.numErrors() != before) {
    return {};
  }
  if (!hasCode) {
    return {readKernelJson(document, fileName), std::nullopt};
  }
  KernelAndCode both = readDocument(document, fileName);
  return {std::move(both.kernel), std::move(both.code)};
}

std::vector<std::pair<Kernel, std::optional<Code>>>
readKernelsJson(std::string_view text, std::string_view fileName, Diagnostics &diagnostics) {
  using Read = std::vector<std::pair<Kernel, std::optional<Code>>>;
  JsonErrors errors;
  std::optional<Read> read = readJson(text, errors, [&](const JsonAt &root) {
    Read all;
    for (size_t i = 0; root.isArray() && i < root.size(); ++i) {
      all.push_back(readEither(root[i], fileName));
    }
    if (!root.isArray()) {
      all.push_back(readEither(root, fileName));
    }
    return all;
  });
  reportJsonErrors(errors, diagnostics);
  return read ? std::move(*read) : Read();
}

} // namespace tally
