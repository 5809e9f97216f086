//===- Assembly.cpp - The text of each operation --------------------------===//
//
// Parser and printer of each operation side by side, in the order of TallyOps.td. What is
// printed parses to the same, and clauses that say the default are left out:
//
//   tally.engine "dma" weight 16 whole        prints as   tally.engine "dma" weight 16
//
// A parser accepts what has the right form. Whether names exist and numbers make
// sense is judged later, all at once, by the verifier of the whole kernel. Two things
// cannot wait: numbers that fit nowhere, and bodies nested so deep that parsing them, which
// recurses, would end the process.
//
//===----------------------------------------------------------------------===//

#include "tally/IR/Tally.h"

#include "mlir/IR/Builders.h"

#include <utility>

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

/// ` keyword "name"`, or nothing.
ParseResult parseOptionalName(OpAsmParser &parser, llvm::StringRef keyword, std::string &name,
                              const char *what) {
  return accept(parser, keyword) ? parseName(parser, name, what) : ParseResult(success());
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

ParseResult parseOptionalSignal(OpAsmParser &parser, std::optional<SignalData> &signal) {
  return accept(parser, "signals") ? parseSignal(parser, signal.emplace()) : ParseResult(success());
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

/// ` reserves [0, 1]`, or nothing.
ParseResult parseReserves(OpAsmParser &parser, std::vector<uint64_t> &numbers) {
  return accept(parser, "reserves") ? parseCounts(parser, numbers) : ParseResult(success());
}

void printReserves(OpAsmPrinter &p, const std::vector<uint64_t> &numbers) {
  if (!numbers.empty()) {
    p << " reserves ";
    printCounts(p, numbers);
  }
}

/// ` semaphore 5`, or nothing.
ParseResult parsePin(OpAsmParser &parser, std::optional<uint64_t> &semaphore) {
  return accept(parser, "semaphore") ? parseCount(parser, semaphore.emplace())
                                     : ParseResult(success());
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
      failed(parseReserves(parser, data.reserves))) {
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

/// `weight 16 split`, each part optional.
ParseResult parseQueueTail(OpAsmParser &parser, QueueData &queue) {
  if (accept(parser, "weight") && failed(parseCount(parser, queue.weight))) {
    return failure();
  }
  if (accept(parser, "split")) {
    queue.completion = Completion::Split;
    return success();
  }
  (void)accept(parser, "whole"); // the default
  return success();
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
  return failure(failed(parseName(parser, queue.name, "a queue")) ||
                 failed(parseQueueTail(parser, queue)));
}

} // namespace

ParseResult EngineOp::parse(OpAsmParser &parser, OperationState &result) {
  EngineData data;
  if (failed(parseName(parser, data.own.name, "an engine")) ||
      failed(parseQueueTail(parser, data.own))) {
    return failure();
  }
  if (accept(parser, "queues") &&
      failed(parseList(parser, [&] { return parseQueue(parser, data.queues.emplace_back()); }))) {
    return failure();
  }
  if (failed(parseReserves(parser, data.reserves))) {
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
  if (failed(parseName(parser, data.name, "a buffer"))) {
    return failure();
  }
  if (accept(parser, "shape") && failed(parseCounts(parser, data.shape))) {
    return failure();
  }
  if (failed(parseOptionalName(parser, "type", data.elementType, "an element type")) ||
      failed(parseOptionalName(parser, "space", data.space, "a memory space"))) {
    return failure();
  }
  if (accept(parser, "at") && failed(parseCount(parser, data.address.emplace()))) {
    return failure();
  }
  if ((accept(parser, "alias") && failed(parseNames(parser, data.alias, "a buffer"))) ||
      (accept(parser, "noalias") && failed(parseNames(parser, data.noalias, "a buffer")))) {
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

/// `trips 64`, `trips "n" min 1 max 4096` or `while "more"`.
ParseResult parseTrips(OpAsmParser &parser, LoopData &data) {
  if (accept(parser, "while")) {
    data.kind = Trip::Kind::Guard;
    return parseName(parser, data.symbol, "a condition");
  }
  llvm::SMLoc at = parser.getCurrentLocation();
  if (!accept(parser, "trips")) {
    return parser.emitError(at) << "expected 'trips' with a number or the name of a run-time "
                                   "value, or 'while' with the name of a condition";
  }
  if (failed(parser.parseOptionalString(&data.symbol))) {
    return parseCount(parser, data.trips);
  }
  data.kind = Trip::Kind::Value;
  if (data.symbol.empty()) {
    return parser.emitError(at) << "the name of a run-time value must not be empty";
  }
  if (accept(parser, "min") && failed(parseCount(parser, data.min))) {
    return failure();
  }
  return accept(parser, "max") ? parseCount(parser, data.max.emplace()) : ParseResult(success());
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

/// `unroll 4` or `unroll full`.
ParseResult parseUnroll(OpAsmParser &parser, uint64_t &unroll) {
  if (!accept(parser, "unroll")) {
    return success();
  }
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
  if (failed(parseName(parser, data.name, "a loop")) || failed(parseTrips(parser, data))) {
    return failure();
  }
  data.divergent = accept(parser, "divergent");
  if (failed(parseUnroll(parser, data.unroll)) ||
      failed(parseOptionalName(parser, "sync", data.sync, "a strategy"))) {
    return failure();
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
  if (failed(parseName(parser, data.name, "a condition"))) {
    return failure();
  }
  data.divergent = accept(parser, "divergent");
  if (failed(parseOptionalName(parser, "sync", data.sync, "a strategy"))) {
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

ParseResult parseAccesses(OpAsmParser &parser, llvm::StringRef keyword, Names &accesses) {
  return accept(parser, keyword) ? parseNames(parser, accesses, "a tile") : ParseResult(success());
}

void printAccesses(OpAsmPrinter &p, llvm::StringRef keyword, const Names &accesses) {
  if (!accesses.empty()) {
    p << ' ' << keyword << ' ';
    printNames(p, accesses);
  }
}

} // namespace

ParseResult InstrOp::parse(OpAsmParser &parser, OperationState &result) {
  InstrData data;
  if (failed(parseName(parser, data.name, "an instruction")) ||
      failed(parser.parseKeyword("on", " and the queue that the instruction runs on")) ||
      failed(parseName(parser, data.queue, "a queue")) ||
      failed(parseOptionalName(parser, "op", data.operation, "an operation")) ||
      failed(parseOptionalName(parser, "computes", data.computes, "an expression")) ||
      failed(parseAccesses(parser, "reads", data.reads)) ||
      failed(parseAccesses(parser, "writes", data.writes)) ||
      failed(parseAccesses(parser, "accumulates", data.accumulates)) ||
      failed(parsePin(parser, data.semaphore))) {
    return failure();
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

DepKind parseDepKind(OpAsmParser &parser) {
  for (auto [kind, keyword] : depKinds) {
    if (accept(parser, keyword)) {
      return kind;
    }
  }
  return DepKind::Unspecified;
}

void printDepKind(OpAsmPrinter &p, DepKind kind) {
  for (auto [candidate, keyword] : depKinds) {
    if (candidate == kind) {
      p << ' ' << keyword;
    }
  }
}

/// `at "A" = 1, "B" = -1`, or nothing.
ParseResult parseComponents(OpAsmParser &parser, std::vector<ComponentData> &components) {
  if (!accept(parser, "at")) {
    return success();
  }
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

ParseResult parseDepDistance(OpAsmParser &parser, DepData &data) {
  if (accept(parser, "flat")) {
    data.form = DistanceForm::Flat;
    return parseDistance(parser, data.step);
  }
  if (accept(parser, "element")) {
    data.form = DistanceForm::Element;
    if (failed(parseDistance(parser, data.step))) {
      return failure();
    }
  }
  return parseComponents(parser, data.components);
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

ParseResult DepOp::parse(OpAsmParser &parser, OperationState &result) {
  DepData data;
  if (failed(parseName(parser, data.producer, "the producer")) || failed(parser.parseArrow()) ||
      failed(parseName(parser, data.consumer, "the consumer"))) {
    return failure();
  }
  data.kind = parseDepKind(parser);
  if (failed(parseDepDistance(parser, data))) {
    return failure();
  }
  data.allowDivergent = accept(parser, "allow_divergent");
  if (failed(parsePin(parser, data.semaphore))) {
    return failure();
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
      failed(parseOptionalName(parser, "strategy", data.strategy, "a strategy")) ||
      failed(parseOptionalName(parser, "machine", data.machine, "a machine"))) {
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
      failed(parseOptionalName(parser, "role", data.role, "a role"))) {
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

ParseResult ForOp::parse(OpAsmParser &parser, OperationState &result) {
  ForData data;
  if (failed(parseName(parser, data.loop, "a loop")) ||
      failed(parseOptionalName(parser, "counter", data.counter, "a register")) ||
      (accept(parser, "unroll") && failed(parseCount(parser, data.unroll)))) {
    return failure();
  }
  data.unroll = accept(parser, "at_once") ? atOnce : data.unroll;
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
  if (failed(parseName(parser, data.instr, "an instruction"))) {
    return failure();
  }
  if (accept(parser, "waits") && failed(parseWait(parser, data.wait.emplace()))) {
    return failure();
  }
  if (failed(parseOptionalSignal(parser, data.signal))) {
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
  if (failed(parseName(parser, data.semaphore, "a semaphore"))) {
    return failure();
  }
  if (accept(parser, "count") && failed(parseCount(parser, data.count))) {
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
  if (failed(parseName(parser, data.instr, "an instruction"))) {
    return failure();
  }
  bool waits = accept(parser, "waits");
  if (waits && failed(parseAwait(parser, data.wait.emplace(), threshold))) {
    return failure();
  }
  if (failed(parseOptionalSignal(parser, data.signal)) || failed(parseAttributes(parser, result))) {
    return failure();
  }
  store<RunOp>(result, std::move(data));
  mlir::Type type = parser.getBuilder().getI32Type();
  return waits ? parser.resolveOperand(threshold, type, result.operands) : ParseResult(success());
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
