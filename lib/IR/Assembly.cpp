//===- Assembly.cpp - The text of each operation --------------------------===//
//
// Parser and printer of each operation side by side, in the order of TallyOps.td. What is
// printed parses to the same. Clauses may come in any order and are printed in one; those that say
// the default are left out:
//
//   tally.engine "dma" whole weight 16        prints as   tally.engine "dma" weight 16
//
// A parser accepts what has the right form. Whether names exist and numbers make
// sense is judged later, all at once, by the verifier of the whole kernel. Two things
// cannot wait: numbers that fit nowhere, and bodies nested so deep that parsing them, which
// recurses, would end the process.
//
//===----------------------------------------------------------------------===//

#include "tally/IR/Tally.h"
#include "tally/Support/Names.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

#include <functional>
#include <utility>
#include <vector>

using mlir::failed;
using mlir::failure;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::OperationState;
using mlir::ParseResult;
using mlir::success;

namespace tally::ir {
namespace {

//===----------------------------------------------------------------------===//
// Names, numbers, lists
//===----------------------------------------------------------------------===//

ParseResult parseName(OpAsmParser &parser, std::string &name, const char *what) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&name))) {
    return parser.emitError(at) << "expected the name of " << what << " in quotes";
  }
  if (name.empty()) {
    return parser.emitError(at) << "the name of " << what << " must not be empty";
  }
  return success();
}

/// A number of any size and sign.
ParseResult parseNumber(OpAsmParser &parser, llvm::APInt &number) {
  llvm::SMLoc at = parser.getCurrentLocation();
  mlir::OptionalParseResult result = parser.parseOptionalInteger(number);
  if (!result.has_value()) {
    return parser.emitError(at) << "expected a number";
  }
  return *result;
}

ParseResult parseCount(OpAsmParser &parser, uint64_t &count) {
  llvm::SMLoc at = parser.getCurrentLocation();
  llvm::APInt number;
  if (failed(parseNumber(parser, number))) {
    return failure();
  }
  if (number.isNegative()) {
    return parser.emitError(at) << "expected a number of at least 0";
  }
  if (number.getActiveBits() > 64) {
    return parser.emitError(at) << "number does not fit in 64 bits";
  }
  count = number.getZExtValue();
  return success();
}

ParseResult parseDistance(OpAsmParser &parser, int64_t &distance) {
  llvm::SMLoc at = parser.getCurrentLocation();
  llvm::APInt number;
  if (failed(parseNumber(parser, number))) {
    return failure();
  }
  if (number.getSignificantBits() > 64) {
    return parser.emitError(at) << "number does not fit in 64 bits";
  }
  distance = number.getSExtValue();
  return success();
}

template <typename Fn> ParseResult parseList(OpAsmParser &parser, Fn &&parseItem) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseItem);
}

template <typename Items, typename Fn>
void printList(OpAsmPrinter &p, const Items &items, Fn &&printItem) {
  p << '[';
  llvm::interleaveComma(items, p, printItem);
  p << ']';
}

ParseResult parseNames(OpAsmParser &parser, Names &names, const char *what) {
  return parseList(parser, [&] { return parseName(parser, names.emplace_back(), what); });
}

void printNames(OpAsmPrinter &p, const Names &names) {
  printList(p, names, [&](const std::string &name) { p.printString(name); });
}

ParseResult parseCounts(OpAsmParser &parser, std::vector<uint64_t> &counts) {
  return parseList(parser, [&] { return parseCount(parser, counts.emplace_back()); });
}

void printCounts(OpAsmPrinter &p, const std::vector<uint64_t> &counts) {
  printList(p, counts, [&](uint64_t count) { p << count; });
}

bool accept(OpAsmParser &parser, llvm::StringRef keyword) {
  return succeeded(parser.parseOptionalKeyword(keyword));
}

void printOptionalName(OpAsmPrinter &p, llvm::StringRef keyword, const std::string &name) {
  if (!name.empty()) {
    p << ' ' << keyword << ' ';
    p.printString(name);
  }
}

void printName(OpAsmPrinter &p, llvm::StringRef name) {
  p << ' ';
  p.printString(name);
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

/// What may follow the names of an operation, in any order, each at most once: a keyword, and
/// perhaps more. Clauses that say the same thing (`whole` and `split`) exclude one another.
class Clauses {
public:
  using Parse = std::function<ParseResult()>;

  explicit Clauses(OpAsmParser &parser) : parser(parser) {}

  /// One that is parsed so. `topic`: what it is about, if others are about the same.
  Clauses &add(llvm::StringRef keyword, Parse parse, llvm::StringRef topic = {}) {
    clauses.push_back({keyword, topic, std::move(parse), {}});
    return *this;
  }

  /// A keyword alone.
  Clauses &flag(llvm::StringRef keyword, std::function<void()> set, llvm::StringRef topic = {}) {
    return add(
        keyword,
        [set = std::move(set)] {
          set();
          return ParseResult(success());
        },
        topic);
  }

  Clauses &name(llvm::StringRef keyword, std::string &into, const char *what) {
    return add(keyword, [this, &into, what] { return parseName(parser, into, what); });
  }

  Clauses &names(llvm::StringRef keyword, Names &into, const char *what) {
    return add(keyword, [this, &into, what] { return parseNames(parser, into, what); });
  }

  Clauses &count(llvm::StringRef keyword, uint64_t &into) {
    return add(keyword, [this, &into] { return parseCount(parser, into); });
  }

  Clauses &count(llvm::StringRef keyword, std::optional<uint64_t> &into) {
    return add(keyword, [this, &into] { return parseCount(parser, into.emplace()); });
  }

  Clauses &counts(llvm::StringRef keyword, std::vector<uint64_t> &into) {
    return add(keyword, [this, &into] { return parseCounts(parser, into); });
  }

  /// As many as there are.
  ParseResult parse() {
    while (Clause *clause = next()) {
      if (failed(checkFree(*clause)) || failed(clause->parse())) {
        return failure();
      }
    }
    return checkEnd();
  }

  /// Whether one with this keyword was there.
  bool has(llvm::StringRef keyword) const {
    return llvm::any_of(clauses, [&](const Clause &clause) {
      return clause.keyword == keyword && clause.where.isValid();
    });
  }

private:
  struct Clause {
    llvm::StringRef keyword;
    llvm::StringRef topic;
    Parse parse;
    llvm::SMLoc where; ///< of the one that was there
  };

  /// The clause whose keyword comes next, which is passed; null if none does.
  Clause *next() {
    at = parser.getCurrentLocation();
    for (Clause &clause : clauses) {
      if (accept(parser, clause.keyword)) {
        return &clause;
      }
    }
    return nullptr;
  }

  ParseResult checkFree(Clause &clause) {
    for (const Clause &other : clauses) {
      bool isSame = other.keyword == clause.keyword;
      if (!other.where.isValid() ||
          (!isSame && (clause.topic.empty() || other.topic != clause.topic))) {
        continue;
      }
      return isSame ? parser.emitError(at) << "'" << clause.keyword << "' is given twice"
                    : parser.emitError(at) << "'" << clause.keyword << "' is given beside '"
                                           << other.keyword << "'; both say " << clause.topic;
    }
    clause.where = at;
    return success();
  }

  /// A word that begins nothing else is a clause that there is not. Names of operations have a dot.
  ParseResult checkEnd() {
    const char *begin = at.getPointer();
    const char *end = begin;
    while (llvm::isAlnum(*end) || *end == '_' || *end == '.' || *end == '$') {
      ++end;
    }
    llvm::StringRef word(begin, static_cast<size_t>(end - begin));
    bool isOther = word.empty() || !llvm::isAlpha(word.front()) || word.contains('.') ||
                   word == "attributes" || word == "loc" || word == "else" || word == "module";
    if (isOther) {
      return success();
    }
    std::vector<std::string_view> known;
    for (const Clause &clause : clauses) {
      known.emplace_back(clause.keyword);
    }
    return parser.emitError(at) << unknownName("clause", "clauses here", word, known);
  }

  OpAsmParser &parser;
  std::vector<Clause> clauses;
  llvm::SMLoc at; ///< of what comes next
};

//===----------------------------------------------------------------------===//
// Bodies and what all operations share
//===----------------------------------------------------------------------===//

/// The most bodies open in one text: those that a kernel may have, and some for what stands
/// around and between them. check() reports kernels that use up the reserve.
constexpr uint32_t maxOpenBodies = maxDepth + 64;

thread_local uint32_t openBodies = 0;

struct OpenBody {
  OpenBody() { ++openBodies; }

  ~OpenBody() { --openBodies; }
};

ParseResult parseBody(OpAsmParser &parser, mlir::Region *body) {
  OpenBody open;
  if (openBodies > maxOpenBodies) {
    return parser.emitError(parser.getCurrentLocation())
           << "bodies nest too deep; at most " << maxDepth
           << " loops and branches may enclose one another";
  }
  if (failed(parser.parseRegion(*body))) {
    return failure();
  }
  if (body->empty()) {
    body->emplaceBlock();
  }
  return success();
}

void printBody(OpAsmPrinter &p, mlir::Region &body) {
  p << ' ';
  p.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

/// `{ ... } else { ... }`; the else-branch is a region without block where it is not written.
ParseResult parseBranches(OpAsmParser &parser, OperationState &result) {
  mlir::Region *thenBody = result.addRegion();
  mlir::Region *elseBody = result.addRegion();
  if (failed(parseBody(parser, thenBody))) {
    return failure();
  }
  if (!accept(parser, "else")) {
    return success();
  }
  if (failed(parseBody(parser, elseBody))) {
    return failure();
  }
  llvm::SMLoc at = parser.getCurrentLocation();
  return accept(parser, "else") ? ParseResult(parser.emitError(at, "at most one 'else' is allowed"))
                                : ParseResult(success());
}

void printBranches(OpAsmPrinter &p, mlir::Region &thenBody, mlir::Region &elseBody) {
  printBody(p, thenBody);
  if (!elseBody.empty()) {
    p << " else";
    printBody(p, elseBody);
  }
}

template <typename OpT, typename Data> void store(OperationState &result, Data data) {
  result.getOrAddProperties<typename OpT::Properties>().data = std::move(data);
}

ParseResult parseAttributes(OpAsmParser &parser, OperationState &result) {
  return parser.parseOptionalAttrDictWithKeyword(result.attributes);
}

/// Attributes that others attach; our own data are properties.
void printAttributes(OpAsmPrinter &p, mlir::Operation *op) {
  auto attributes = op->getDiscardableAttrs();
  llvm::SmallVector<mlir::NamedAttribute> list(attributes.begin(), attributes.end());
  p.printOptionalAttrDictWithKeyword(list);
}

//===----------------------------------------------------------------------===//
// Clauses that several operations use
//===----------------------------------------------------------------------===//

ParseResult parseOperand(OpAsmParser &parser, OperandData &operand) {
  if (succeeded(parser.parseOptionalString(&operand.name))) {
    operand.isRegister = true;
    return success();
  }
  llvm::SMLoc at = parser.getCurrentLocation();
  llvm::APInt number;
  mlir::OptionalParseResult result = parser.parseOptionalInteger(number);
  if (!result.has_value()) {
    return parser.emitError(at) << "expected a number or the name of a register in quotes";
  }
  if (failed(*result)) {
    return failure();
  }
  if (number.isNegative() || number.getActiveBits() > 64) {
    return parser.emitError(at) << "expected a number that a register can hold";
  }
  operand.number = number.getZExtValue();
  return success();
}

void printOperand(OpAsmPrinter &p, const OperandData &operand) {
  if (operand.isRegister) {
    p.printString(operand.name);
    return;
  }
  p << operand.number;
}

ParseResult parseAtLeast(OpAsmParser &parser) {
  return failure(failed(parser.parseGreater()) || failed(parser.parseEqual()));
}

ParseResult parseReasons(OpAsmParser &parser, std::vector<uint64_t> &reasons) {
  return accept(parser, "for") ? parseCounts(parser, reasons) : ParseResult(success());
}

void printReasons(OpAsmPrinter &p, const std::vector<uint64_t> &reasons) {
  if (!reasons.empty()) {
    p << " for ";
    printCounts(p, reasons);
  }
}

/// `"semaphore" >= operand for [...]`
ParseResult parseWait(OpAsmParser &parser, WaitData &wait) {
  return failure(failed(parseName(parser, wait.semaphore, "a semaphore")) ||
                 failed(parseAtLeast(parser)) || failed(parseOperand(parser, wait.threshold)) ||
                 failed(parseReasons(parser, wait.reasons)));
}

void printWait(OpAsmPrinter &p, const WaitData &wait) {
  printName(p, wait.semaphore);
  p << " >= ";
  printOperand(p, wait.threshold);
  printReasons(p, wait.reasons);
}

using ValueName = OpAsmParser::UnresolvedOperand;

/// `"semaphore" >= %value for [...]`
ParseResult parseAwait(OpAsmParser &parser, AwaitData &wait, ValueName &value) {
  return failure(failed(parseName(parser, wait.semaphore, "a semaphore")) ||
                 failed(parseAtLeast(parser)) || failed(parser.parseOperand(value)) ||
                 failed(parseReasons(parser, wait.reasons)));
}

void printAwait(OpAsmPrinter &p, const AwaitData &wait, mlir::Value threshold) {
  printName(p, wait.semaphore);
  p << " >= " << threshold;
  printReasons(p, wait.reasons);
}

/// `"semaphore" by 2`
ParseResult parseSignal(OpAsmParser &parser, SignalData &signal) {
  if (failed(parseName(parser, signal.semaphore, "a semaphore"))) {
    return failure();
  }
  return accept(parser, "by") ? parseCount(parser, signal.amount) : ParseResult(success());
}

void printSignal(OpAsmPrinter &p, const SignalData &signal) {
  printName(p, signal.semaphore);
  if (signal.amount != 1) {
    p << " by " << signal.amount;
  }
}

void printOptionalSignal(OpAsmPrinter &p, const std::optional<SignalData> &signal) {
  if (signal) {
    p << " signals";
    printSignal(p, *signal);
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

void printReserves(OpAsmPrinter &p, const std::vector<uint64_t> &numbers) {
  if (!numbers.empty()) {
    p << " reserves ";
    printCounts(p, numbers);
  }
}

void printPin(OpAsmPrinter &p, const std::optional<uint64_t> &semaphore) {
  if (semaphore) {
    p << " semaphore " << *semaphore;
  }
}

} // namespace

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  KernelData data;
  mlir::StringAttr name;
  if (failed(parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes)) ||
      failed(Clauses(parser).counts("reserves", data.reserves).parse())) {
    return failure();
  }
  store<KernelOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) ||
                 failed(parseBody(parser, result.addRegion())));
}

void KernelOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  printReserves(p, getData().reserves);
  printAttributes(p, *this);
  printBody(p, getBody());
}

namespace {

/// `weight 16`, and `split` or `whole`.
void addQueueClauses(Clauses &clauses, QueueData &queue) {
  constexpr const char *topic = "how a queue completes";
  clauses.count("weight", queue.weight)
      .flag(
          "split", [&queue] { queue.completion = Completion::Split; }, topic)
      .flag("whole", [&queue] { queue.completion = Completion::Whole; }, topic);
}

void printQueueTail(OpAsmPrinter &p, const QueueData &queue) {
  if (queue.weight != 1) {
    p << " weight " << queue.weight;
  }
  if (queue.completion == Completion::Split) {
    p << " split";
  }
}

ParseResult parseQueue(OpAsmParser &parser, QueueData &queue) {
  Clauses clauses(parser);
  addQueueClauses(clauses, queue);
  return failure(failed(parseName(parser, queue.name, "a queue")) || failed(clauses.parse()));
}

} // namespace

ParseResult EngineOp::parse(OpAsmParser &parser, OperationState &result) {
  EngineData data;
  Clauses clauses(parser);
  addQueueClauses(clauses, data.own);
  clauses.add("queues", [&] {
    return parseList(parser, [&] { return parseQueue(parser, data.queues.emplace_back()); });
  });
  clauses.counts("reserves", data.reserves);
  if (failed(parseName(parser, data.own.name, "an engine")) || failed(clauses.parse())) {
    return failure();
  }
  store<EngineOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void EngineOp::print(OpAsmPrinter &p) {
  const EngineData &data = getData();
  printName(p, data.own.name);
  printQueueTail(p, data.own);
  if (!data.queues.empty()) {
    p << " queues ";
    printList(p, data.queues, [&](const QueueData &queue) {
      p.printString(queue.name);
      printQueueTail(p, queue);
    });
  }
  printReserves(p, data.reserves);
  printAttributes(p, *this);
}

ParseResult BufferOp::parse(OpAsmParser &parser, OperationState &result) {
  BufferData data;
  Clauses clauses(parser);
  clauses.counts("shape", data.shape)
      .name("type", data.elementType, "an element type")
      .name("space", data.space, "a memory space")
      .count("at", data.address)
      .names("alias", data.alias, "a buffer")
      .names("noalias", data.noalias, "a buffer");
  if (failed(parseName(parser, data.name, "a buffer")) || failed(clauses.parse())) {
    return failure();
  }
  store<BufferOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void BufferOp::print(OpAsmPrinter &p) {
  const BufferData &data = getData();
  printName(p, data.name);
  if (!data.shape.empty()) {
    p << " shape ";
    printCounts(p, data.shape);
  }
  printOptionalName(p, "type", data.elementType);
  printOptionalName(p, "space", data.space);
  if (data.address) {
    p << " at " << *data.address;
  }
  for (auto [keyword, others] :
       {std::pair(" alias ", &data.alias), std::pair(" noalias ", &data.noalias)}) {
    if (!others->empty()) {
      p << keyword;
      printNames(p, *others);
    }
  }
  printAttributes(p, *this);
}

namespace {

/// `64` or `"n"`, behind `trips`.
ParseResult parseTrips(OpAsmParser &parser, LoopData &data) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&data.symbol))) {
    return parseCount(parser, data.trips);
  }
  data.kind = Trip::Kind::Value;
  return data.symbol.empty()
             ? ParseResult(parser.emitError(at, "the name of a run-time value must not be empty"))
             : ParseResult(success());
}

void printTrips(OpAsmPrinter &p, const LoopData &data) {
  switch (data.kind) {
  case Trip::Kind::Constant:
    p << " trips " << data.trips;
    return;
  case Trip::Kind::Guard:
    p << " while";
    printName(p, data.symbol);
    return;
  case Trip::Kind::Value:
    p << " trips";
    printName(p, data.symbol);
    if (data.min != 0) {
      p << " min " << data.min;
    }
    if (data.max) {
      p << " max " << *data.max;
    }
    return;
  }
}

/// `4` or `full`, behind `unroll`.
ParseResult parseUnroll(OpAsmParser &parser, uint64_t &unroll) {
  if (accept(parser, "full")) {
    unroll = UINT64_MAX;
    return success();
  }
  return parseCount(parser, unroll);
}

void printUnroll(OpAsmPrinter &p, uint64_t unroll) {
  if (unroll == UINT64_MAX) {
    p << " unroll full";
  } else if (unroll != 1) {
    p << " unroll " << unroll;
  }
}

} // namespace

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  LoopData data;
  constexpr const char *topic = "how often the loop runs";
  Clauses clauses(parser);
  clauses.add(
             "trips", [&] { return parseTrips(parser, data); }, topic)
      .add(
          "while",
          [&] {
            data.kind = Trip::Kind::Guard;
            return parseName(parser, data.symbol, "a condition");
          },
          topic)
      .count("min", data.min)
      .count("max", data.max)
      .flag("divergent", [&] { data.divergent = true; })
      .add("unroll", [&] { return parseUnroll(parser, data.unroll); })
      .name("sync", data.sync, "a strategy");
  if (failed(parseName(parser, data.name, "a loop")) || failed(clauses.parse())) {
    return failure();
  }
  if (!clauses.has("trips") && !clauses.has("while")) {
    return parser.emitError(parser.getNameLoc())
           << "expected 'trips' with a number or the name of a run-time "
              "value, or 'while' with the name of a condition";
  }
  if (data.kind != Trip::Kind::Value && (clauses.has("min") || clauses.has("max"))) {
    return parser.emitError(parser.getNameLoc())
           << "'min' and 'max' bound a run-time value, as in 'trips \"n\" min 1'";
  }
  store<LoopOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) ||
                 failed(parseBody(parser, result.addRegion())));
}

void LoopOp::print(OpAsmPrinter &p) {
  const LoopData &data = getData();
  printName(p, data.name);
  printTrips(p, data);
  p << (data.divergent ? " divergent" : "");
  printUnroll(p, data.unroll);
  printOptionalName(p, "sync", data.sync);
  printAttributes(p, *this);
  printBody(p, getBody());
}

ParseResult IfOp::parse(OpAsmParser &parser, OperationState &result) {
  IfData data;
  Clauses clauses(parser);
  clauses.flag("divergent", [&] { data.divergent = true; }).name("sync", data.sync, "a strategy");
  if (failed(parseName(parser, data.name, "a condition")) || failed(clauses.parse())) {
    return failure();
  }
  store<IfOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) || failed(parseBranches(parser, result)));
}

void IfOp::print(OpAsmPrinter &p) {
  printName(p, getData().name);
  p << (getData().divergent ? " divergent" : "");
  printOptionalName(p, "sync", getData().sync);
  printAttributes(p, *this);
  printBranches(p, getThenBody(), getElseBody());
}

namespace {

void printAccesses(OpAsmPrinter &p, llvm::StringRef keyword, const Names &accesses) {
  if (!accesses.empty()) {
    p << ' ' << keyword << ' ';
    printNames(p, accesses);
  }
}

} // namespace

ParseResult InstrOp::parse(OpAsmParser &parser, OperationState &result) {
  InstrData data;
  Clauses clauses(parser);
  clauses.name("on", data.queue, "a queue")
      .name("op", data.operation, "an operation")
      .name("computes", data.computes, "an expression")
      .names("reads", data.reads, "a tile")
      .names("writes", data.writes, "a tile")
      .names("accumulates", data.accumulates, "a tile")
      .count("semaphore", data.semaphore);
  if (failed(parseName(parser, data.name, "an instruction")) || failed(clauses.parse())) {
    return failure();
  }
  if (!clauses.has("on")) {
    return parser.emitError(parser.getNameLoc())
           << "expected 'on' and the queue that the instruction runs on";
  }
  store<InstrOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void InstrOp::print(OpAsmPrinter &p) {
  const InstrData &data = getData();
  printName(p, data.name);
  p << " on";
  printName(p, data.queue);
  printOptionalName(p, "op", data.operation);
  printOptionalName(p, "computes", data.computes);
  printAccesses(p, "reads", data.reads);
  printAccesses(p, "writes", data.writes);
  printAccesses(p, "accumulates", data.accumulates);
  printPin(p, data.semaphore);
  printAttributes(p, *this);
}

namespace {

constexpr std::pair<DepKind, llvm::StringLiteral> depKinds[] = {
    {DepKind::RAW, "raw"}, {DepKind::WAR, "war"}, {DepKind::WAW, "waw"}};

void printDepKind(OpAsmPrinter &p, DepKind kind) {
  for (auto [candidate, keyword] : depKinds) {
    if (candidate == kind) {
      p << ' ' << keyword;
    }
  }
}

/// `"A" = 1, "B" = -1`
ParseResult parseComponents(OpAsmParser &parser, std::vector<ComponentData> &components) {
  return parser.parseCommaSeparatedList([&] {
    ComponentData &component = components.emplace_back();
    return failure(failed(parseName(parser, component.loop, "a loop")) ||
                   failed(parser.parseEqual()) ||
                   failed(parseDistance(parser, component.distance)));
  });
}

void printComponents(OpAsmPrinter &p, const std::vector<ComponentData> &components) {
  if (components.empty()) {
    return;
  }
  p << " at ";
  llvm::interleaveComma(components, p, [&](const ComponentData &component) {
    p.printString(component.loop);
    p << " = " << component.distance;
  });
}

/// `raw`, `war`, `waw`.
void addDepKinds(Clauses &clauses, DepKind &kind) {
  for (auto [candidate, keyword] : depKinds) {
    clauses.flag(keyword, [&kind, candidate] { kind = candidate; }, "what kind it is");
  }
}

/// `flat 3` or `element 1`, and `at`.
void addDistance(Clauses &clauses, OpAsmParser &parser, DepData &data) {
  constexpr const char *topic = "how far the dependence reaches";
  for (auto [form, keyword] :
       {std::pair(DistanceForm::Flat, "flat"), std::pair(DistanceForm::Element, "element")}) {
    clauses.add(
        keyword,
        [&parser, &data, form] {
          data.form = form;
          return parseDistance(parser, data.step);
        },
        topic);
  }
  clauses.add("at", [&parser, &data] { return parseComponents(parser, data.components); });
}

void printDepDistance(OpAsmPrinter &p, const DepData &data) {
  if (data.form == DistanceForm::Flat) {
    p << " flat " << data.step;
    return;
  }
  if (data.form == DistanceForm::Element) {
    p << " element " << data.step;
  }
  printComponents(p, data.components);
}

} // namespace

/// `"a" -> "b" "L" = 1` and `"a" -> "b" = 1` lack an 'at', and the loop. A name alone may begin
/// the next operation.
static ParseResult refuseBareDistance(OpAsmParser &parser) {
  llvm::SMLoc at = parser.getCurrentLocation();
  const char *next = at.getPointer();
  auto skipBlanks = [&next] {
    while (*next == ' ' || *next == '\t') {
      ++next;
    }
  };
  bool isNamed = *next == '"';
  if (isNamed) {
    for (++next; *next != '"' && *next != '\n' && *next != '\0'; ++next) {
    }
    next += *next == '"' ? 1 : 0;
    skipBlanks();
  }
  if (*next != '=') {
    return success();
  }
  return parser.emitError(at) << (isNamed ? "expected 'at' before the loop of a distance"
                                          : "expected 'at' and a loop before the distance")
                              << ", as in 'at \"L\" = 1'";
}

ParseResult DepOp::parse(OpAsmParser &parser, OperationState &result) {
  DepData data;
  Clauses clauses(parser);
  addDepKinds(clauses, data.kind);
  addDistance(clauses, parser, data);
  clauses.flag("allow_divergent", [&] { data.allowDivergent = true; })
      .count("semaphore", data.semaphore);
  if (failed(parseName(parser, data.producer, "the producer")) || failed(parser.parseArrow()) ||
      failed(parseName(parser, data.consumer, "the consumer")) || failed(clauses.parse())) {
    return failure();
  }
  if (failed(refuseBareDistance(parser))) {
    return failure();
  }
  if (clauses.has("flat") && clauses.has("at")) {
    return parser.emitError(parser.getNameLoc())
           << "'flat' counts runs over the whole execution, so 'at' cannot stand beside it";
  }
  store<DepOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void DepOp::print(OpAsmPrinter &p) {
  const DepData &data = getData();
  printName(p, data.producer);
  p << " ->";
  printName(p, data.consumer);
  printDepKind(p, data.kind);
  printDepDistance(p, data);
  p << (data.allowDivergent ? " allow_divergent" : "");
  printPin(p, data.semaphore);
  printAttributes(p, *this);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

ParseResult CodeOp::parse(OpAsmParser &parser, OperationState &result) {
  CodeData data;
  mlir::FlatSymbolRefAttr kernel;
  if (failed(parser.parseAttribute(kernel, getKernelAttrName(result.name), result.attributes)) ||
      failed(Clauses(parser)
                 .name("strategy", data.strategy, "a strategy")
                 .name("machine", data.machine, "a machine")
                 .parse())) {
    return failure();
  }
  store<CodeOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) ||
                 failed(parseBody(parser, result.addRegion())));
}

void CodeOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getKernel());
  printOptionalName(p, "strategy", getData().strategy);
  printOptionalName(p, "machine", getData().machine);
  printAttributes(p, *this);
  printBody(p, getBody());
}

ParseResult SemaphoreOp::parse(OpAsmParser &parser, OperationState &result) {
  SemaphoreData data;
  if (failed(parseName(parser, data.name, "a semaphore"))) {
    return failure();
  }
  store<SemaphoreOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void SemaphoreOp::print(OpAsmPrinter &p) {
  printName(p, getData().name);
  printAttributes(p, *this);
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  ProgramData data;
  if (failed(parseName(parser, data.engine, "an engine"))) {
    return failure();
  }
  store<ProgramOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) ||
                 failed(parseBody(parser, result.addRegion())));
}

void ProgramOp::print(OpAsmPrinter &p) {
  printName(p, getData().engine);
  printAttributes(p, *this);
  printBody(p, getBody());
}

ParseResult RegisterOp::parse(OpAsmParser &parser, OperationState &result) {
  RegisterData data;
  if (failed(parseName(parser, data.name, "a register")) ||
      failed(Clauses(parser).name("role", data.role, "a role").parse())) {
    return failure();
  }
  store<RegisterOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void RegisterOp::print(OpAsmPrinter &p) {
  printName(p, getData().name);
  printOptionalName(p, "role", getData().role);
  printAttributes(p, *this);
}

namespace {

/// The operator after the first operand; none: it was a move.
AluOp parseOperator(OpAsmParser &parser) {
  if (succeeded(parser.parseOptionalPlus())) {
    return AluOp::Add;
  }
  if (succeeded(parser.parseOptionalMinus())) {
    return AluOp::Sub;
  }
  if (succeeded(parser.parseOptionalStar())) {
    return AluOp::Mul;
  }
  if (accept(parser, "min")) {
    return AluOp::Min;
  }
  return accept(parser, "gt") ? AluOp::IsGT : AluOp::Move;
}

const char *spelling(AluOp op) {
  switch (op) {
  case AluOp::Move:
    return "";
  case AluOp::Add:
    return "+";
  case AluOp::Sub:
    return "-";
  case AluOp::Mul:
    return "*";
  case AluOp::Min:
    return "min";
  case AluOp::IsGT:
    return "gt";
  }
  return "";
}

} // namespace

ParseResult SetOp::parse(OpAsmParser &parser, OperationState &result) {
  SetData data;
  if (failed(parseName(parser, data.target, "a register")) || failed(parser.parseEqual()) ||
      failed(parseOperand(parser, data.a))) {
    return failure();
  }
  data.op = parseOperator(parser);
  if (data.op != AluOp::Move && failed(parseOperand(parser, data.b))) {
    return failure();
  }
  store<SetOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void SetOp::print(OpAsmPrinter &p) {
  const SetData &data = getData();
  printName(p, data.target);
  p << " = ";
  printOperand(p, data.a);
  if (data.op != AluOp::Move) {
    p << ' ' << spelling(data.op) << ' ';
    printOperand(p, data.b);
  }
  printAttributes(p, *this);
}

/// How many iterations a pass has. None is how `at_once` is kept, which is written as a word.
static ParseResult parsePasses(OpAsmParser &parser, uint64_t &passes) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (failed(parseCount(parser, passes))) {
    return failure();
  }
  if (passes == atOnce) {
    return parser.emitError(at) << "the number of iterations in a pass must be at least 1; for a "
                                   "loop that is written as a sum, say 'at_once' instead of "
                                   "'unroll'";
  }
  return success();
}

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  ForData data;
  constexpr const char *topic = "how the loop is written out";
  Clauses clauses(parser);
  clauses.name("counter", data.counter, "a register")
      .add(
          "unroll", [&] { return parsePasses(parser, data.unroll); }, topic)
      .flag("at_once", [&] { data.unroll = atOnce; }, topic);
  if (failed(parseName(parser, data.loop, "a loop")) || failed(clauses.parse())) {
    return failure();
  }
  store<ForOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) ||
                 failed(parseBody(parser, result.addRegion())));
}

void ForOp::print(OpAsmPrinter &p) {
  printName(p, getData().loop);
  printOptionalName(p, "counter", getData().counter);
  if (getData().unroll == atOnce) {
    p << " at_once";
  } else if (getData().unroll != 1) {
    p << " unroll " << getData().unroll;
  }
  printAttributes(p, *this);
  printBody(p, getBody());
}

ParseResult BranchOp::parse(OpAsmParser &parser, OperationState &result) {
  BranchData data;
  if (failed(parseName(parser, data.name, "a condition"))) {
    return failure();
  }
  store<BranchOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) || failed(parseBranches(parser, result)));
}

void BranchOp::print(OpAsmPrinter &p) {
  printName(p, getData().name);
  printAttributes(p, *this);
  printBranches(p, getThenBody(), getElseBody());
}

ParseResult WaitOp::parse(OpAsmParser &parser, OperationState &result) {
  WaitData data;
  if (failed(parseWait(parser, data))) {
    return failure();
  }
  store<WaitOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void WaitOp::print(OpAsmPrinter &p) {
  printWait(p, getData());
  printAttributes(p, *this);
}

ParseResult IssueOp::parse(OpAsmParser &parser, OperationState &result) {
  IssueData data;
  Clauses clauses(parser);
  clauses.add("waits", [&] { return parseWait(parser, data.wait.emplace()); }).add("signals", [&] {
    return parseSignal(parser, data.signal.emplace());
  });
  if (failed(parseName(parser, data.instr, "an instruction")) || failed(clauses.parse())) {
    return failure();
  }
  store<IssueOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void IssueOp::print(OpAsmPrinter &p) {
  printName(p, getData().instr);
  if (getData().wait) {
    p << " waits";
    printWait(p, *getData().wait);
  }
  printOptionalSignal(p, getData().signal);
  printAttributes(p, *this);
}

ParseResult BarrierOp::parse(OpAsmParser &parser, OperationState &result) {
  BarrierData data;
  if (failed(parseNames(parser, data.participants, "an engine"))) {
    return failure();
  }
  store<BarrierOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) ||
                 failed(parseBody(parser, result.addRegion())));
}

void BarrierOp::print(OpAsmPrinter &p) {
  p << ' ';
  printNames(p, getData().participants);
  printAttributes(p, *this);
  printBody(p, getBody());
}

ParseResult WhenOp::parse(OpAsmParser &parser, OperationState &result) {
  WhenData data;
  if (failed(parseOperand(parser, data.condition))) {
    return failure();
  }
  store<WhenOp>(result, std::move(data));
  return failure(failed(parseAttributes(parser, result)) ||
                 failed(parseBody(parser, result.addRegion())));
}

void WhenOp::print(OpAsmPrinter &p) {
  p << ' ';
  printOperand(p, getData().condition);
  printAttributes(p, *this);
  printBody(p, getBody());
}

//===----------------------------------------------------------------------===//
// Operations of code that also stand in its scf form
//===----------------------------------------------------------------------===//

ParseResult SignalOp::parse(OpAsmParser &parser, OperationState &result) {
  SignalData data;
  if (failed(parseSignal(parser, data))) {
    return failure();
  }
  store<SignalOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void SignalOp::print(OpAsmPrinter &p) {
  printSignal(p, getData());
  printAttributes(p, *this);
}

ParseResult ResetOp::parse(OpAsmParser &parser, OperationState &result) {
  ResetData data;
  if (failed(parseName(parser, data.semaphore, "a semaphore")) ||
      failed(Clauses(parser).count("count", data.count).parse())) {
    return failure();
  }
  store<ResetOp>(result, std::move(data));
  return parseAttributes(parser, result);
}

void ResetOp::print(OpAsmPrinter &p) {
  printName(p, getData().semaphore);
  if (getData().count != 1) {
    p << " count " << getData().count;
  }
  printAttributes(p, *this);
}

ParseResult DrainOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAttributes(parser, result);
}

void DrainOp::print(OpAsmPrinter &p) {
  printAttributes(p, *this);
}

namespace {

/// `: type`, which must be the one type that the value can have.
ParseResult parseTypeOf(OpAsmParser &parser, mlir::Type expected) {
  llvm::SMLoc at = parser.getCurrentLocation();
  mlir::Type found;
  if (failed(parser.parseColonType(found))) {
    return failure();
  }
  if (found != expected) {
    return parser.emitError(at) << "expected type " << expected << ", found " << found;
  }
  return success();
}

} // namespace

ParseResult TripsOp::parse(OpAsmParser &parser, OperationState &result) {
  TripsData data;
  mlir::Type type = parser.getBuilder().getIndexType();
  if (failed(parseName(parser, data.loop, "a loop")) || failed(parseAttributes(parser, result)) ||
      failed(parseTypeOf(parser, type))) {
    return failure();
  }
  store<TripsOp>(result, std::move(data));
  result.addTypes(type);
  return success();
}

void TripsOp::print(OpAsmPrinter &p) {
  printName(p, getData().loop);
  printAttributes(p, *this);
  p << " : " << getTrips().getType();
}

ParseResult GuardOp::parse(OpAsmParser &parser, OperationState &result) {
  GuardData data;
  mlir::Type type = parser.getBuilder().getI1Type();
  if (failed(parseName(parser, data.name, "a condition")) ||
      failed(parseAttributes(parser, result)) || failed(parseTypeOf(parser, type))) {
    return failure();
  }
  store<GuardOp>(result, std::move(data));
  result.addTypes(type);
  return success();
}

void GuardOp::print(OpAsmPrinter &p) {
  printName(p, getData().name);
  printAttributes(p, *this);
  p << " : " << getHolds().getType();
}

ParseResult AwaitOp::parse(OpAsmParser &parser, OperationState &result) {
  AwaitData data;
  ValueName threshold;
  mlir::Type type = parser.getBuilder().getI32Type();
  if (failed(parseAwait(parser, data, threshold)) || failed(parseAttributes(parser, result)) ||
      failed(parseTypeOf(parser, type))) {
    return failure();
  }
  store<AwaitOp>(result, std::move(data));
  return parser.resolveOperand(threshold, type, result.operands);
}

void AwaitOp::print(OpAsmPrinter &p) {
  printAwait(p, getData(), getThreshold());
  printAttributes(p, *this);
  p << " : " << getThreshold().getType();
}

ParseResult RunOp::parse(OpAsmParser &parser, OperationState &result) {
  RunData data;
  ValueName threshold;
  Clauses clauses(parser);
  clauses.add("waits", [&] { return parseAwait(parser, data.wait.emplace(), threshold); })
      .add("signals", [&] { return parseSignal(parser, data.signal.emplace()); });
  if (failed(parseName(parser, data.instr, "an instruction")) || failed(clauses.parse()) ||
      failed(parseAttributes(parser, result))) {
    return failure();
  }
  store<RunOp>(result, std::move(data));
  mlir::Type type = parser.getBuilder().getI32Type();
  return clauses.has("waits") ? parser.resolveOperand(threshold, type, result.operands)
                              : ParseResult(success());
}

void RunOp::print(OpAsmPrinter &p) {
  printName(p, getData().instr);
  if (getData().wait) {
    p << " waits";
    printAwait(p, *getData().wait, getThreshold());
  }
  printOptionalSignal(p, getData().signal);
  printAttributes(p, *this);
}

} // namespace tally::ir
