//===- Assembly.cpp - The text of operations that have their own ----------===//
//
// Most operations are parsed and printed by the list of fields of their struct (Assembly.h,
// Text.h). Here are the values of fields, the types of fields with a spelling of their own (trips,
// distances, `tally.set`), and operations with symbols, types or values of MLIR.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

#include "tally/Support/Names.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using mlir::failed;
using mlir::failure;
using mlir::success;

namespace tally::ir {

//===----------------------------------------------------------------------===//
// Names and numbers
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
static ParseResult parseNumber(OpAsmParser &parser, llvm::APInt &number) {
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

/// How many iterations a pass has. None is how `at_once` is kept, which is written as a word.
ParseResult parsePasses(OpAsmParser &parser, uint64_t &passes) {
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

static ParseResult parseDistance(OpAsmParser &parser, int64_t &distance) {
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

ParseResult parseOperand(OpAsmParser &parser, OperandData &operand) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalString(&operand.reg.name))) {
    return operand.reg.name.empty()
               ? ParseResult(parser.emitError(at, "the name of a register must not be empty"))
               : ParseResult(success());
  }
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

/// `->`, `>=` or nothing.
ParseResult parseLead(OpAsmParser &parser, llvm::StringRef lead) {
  if (lead == "->") {
    return parser.parseArrow();
  }
  return failure(lead == ">=" && (failed(parser.parseGreater()) || failed(parser.parseEqual())));
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

llvm::StringRef Clauses::next() {
  llvm::StringRef word;
  at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&word, words.texts))) {
    return {};
  }
  last = static_cast<size_t>(llvm::find(words.texts, word) - words.texts.begin());
  return words.texts[last];
}

ParseResult Clauses::checkFree() {
  llvm::StringRef word = words.texts[last];
  if (places[last].isValid()) {
    return parser.emitError(at) << "'" << word << "' is given twice";
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].isValid() && words.topics[last] && words.topics[i] == words.topics[last]) {
      return parser.emitError(at) << "'" << word << "' is given beside '" << words.texts[i]
                                  << "'; both say " << words.topics[last];
    }
  }
  places[last] = at;
  return success();
}

/// Names of operations have a dot.
ParseResult Clauses::checkEnd() const {
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
  for (llvm::StringRef text : words.texts) {
    known.emplace_back(text);
  }
  return parser.emitError(at) << unknownName("clause", "clauses here", word, known);
}

ParseResult Clauses::missing(const char *word, const char *needed) const {
  return parser.emitError(parser.getNameLoc()) << "expected '" << word << "' and " << needed;
}

ParseResult Clauses::checkTrips(const TripData &trip) const {
  if (!has("trips") && !has("while")) {
    return parser.emitError(parser.getNameLoc())
           << "expected 'trips' with a number or the name of a run-time "
              "value, or 'while' with the name of a condition";
  }
  if (trip.kind != Trip::Kind::Value && (has("min") || has("max"))) {
    return parser.emitError(parser.getNameLoc())
           << "'min' and 'max' bound a run-time value, as in 'trips \"n\" min 1'";
  }
  return success();
}

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

ParseResult Clauses::checkDistance() const {
  if (failed(refuseBareDistance(parser))) {
    return failure();
  }
  if (has("flat") && has("at")) {
    return parser.emitError(parser.getNameLoc())
           << "'flat' counts runs over the whole execution, so 'at' cannot stand beside it";
  }
  return success();
}

/// `64` or `"n"`, behind `trips`.
static ParseResult parseTrips(OpAsmParser &parser, TripData &trip) {
  llvm::SMLoc at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&trip.symbol))) {
    return parseCount(parser, trip.trips);
  }
  trip.kind = Trip::Kind::Value;
  return trip.symbol.empty()
             ? ParseResult(parser.emitError(at, "the name of a run-time value must not be empty"))
             : ParseResult(success());
}

ParseResult parseClause(OpAsmParser &parser, TripData &trip, llvm::StringRef word) {
  if (word == "trips") {
    return parseTrips(parser, trip);
  }
  if (word == "while") {
    trip.kind = Trip::Kind::Guard;
    return parseName(parser, trip.symbol, "a condition");
  }
  return parseCount(parser, word == "min" ? trip.min : trip.max.emplace());
}

/// `flat 3`, `element 1`, `at "A" = 1, "B" = -1`.
ParseResult parseClause(OpAsmParser &parser, DistanceData &distance, llvm::StringRef word) {
  if (word != "at") {
    distance.form = word == "flat" ? DistanceForm::Flat : DistanceForm::Element;
    return parseDistance(parser, distance.step);
  }
  return parser.parseCommaSeparatedList([&] {
    ComponentData &component = distance.components.emplace_back();
    return failure(failed(parseName(parser, component.loop, "a loop")) ||
                   failed(parser.parseEqual()) ||
                   failed(parseDistance(parser, component.distance)));
  });
}

//===----------------------------------------------------------------------===//
// Bodies and attributes
//===----------------------------------------------------------------------===//

namespace {

/// The most bodies open in one text: those that a kernel may have, and some for what stands
/// around and between them. check() reports kernels that use up the reserve.
constexpr uint32_t maxOpenBodies = maxDepth + 64;

thread_local uint32_t openBodies = 0;

struct OpenBody {
  OpenBody() { ++openBodies; }

  ~OpenBody() { --openBodies; }
};

} // namespace

ParseResult parseRegion(OpAsmParser &parser, mlir::Region *body) {
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
  if (failed(parseRegion(parser, thenBody))) {
    return failure();
  }
  if (failed(parser.parseOptionalKeyword("else"))) {
    return success();
  }
  if (failed(parseRegion(parser, elseBody))) {
    return failure();
  }
  llvm::SMLoc at = parser.getCurrentLocation();
  return succeeded(parser.parseOptionalKeyword("else"))
             ? ParseResult(parser.emitError(at, "at most one 'else' is allowed"))
             : ParseResult(success());
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
// Operations with symbols
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  mlir::StringAttr name;
  if (failed(parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes))) {
    return failure();
  }
  return parseOp<KernelOp>(parser, result);
}

void KernelOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  printOp(p, *this);
}

ParseResult CodeOp::parse(OpAsmParser &parser, OperationState &result) {
  mlir::FlatSymbolRefAttr kernel;
  if (failed(parser.parseAttribute(kernel, getKernelAttrName(result.name), result.attributes))) {
    return failure();
  }
  return parseOp<CodeOp>(parser, result);
}

void CodeOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getKernel());
  printOp(p, *this);
}

//===----------------------------------------------------------------------===//
// Set
//===----------------------------------------------------------------------===//

/// The operator after the first operand; none: it was a move.
static AluOp parseOperator(OpAsmParser &parser) {
  if (succeeded(parser.parseOptionalPlus())) {
    return AluOp::Add;
  }
  if (succeeded(parser.parseOptionalMinus())) {
    return AluOp::Sub;
  }
  if (succeeded(parser.parseOptionalStar())) {
    return AluOp::Mul;
  }
  if (succeeded(parser.parseOptionalKeyword("min"))) {
    return AluOp::Min;
  }
  return succeeded(parser.parseOptionalKeyword("gt")) ? AluOp::IsGT : AluOp::Move;
}

ParseResult parseStruct(OpAsmParser &parser, SetData &data) {
  if (failed(parseName(parser, data.target.name, "a register")) || failed(parser.parseEqual()) ||
      failed(parseOperand(parser, data.a))) {
    return failure();
  }
  data.op = parseOperator(parser);
  return data.op == AluOp::Move ? ParseResult(success()) : parseOperand(parser, data.b.emplace());
}

//===----------------------------------------------------------------------===//
// Operations with values
//===----------------------------------------------------------------------===//

namespace {

using ValueName = OpAsmParser::UnresolvedOperand;

/// `"semaphore" >= %value for [...]`
ParseResult parseAwait(OpAsmParser &parser, AwaitData &wait, ValueName &value) {
  if (failed(parseName(parser, wait.semaphore, "a semaphore")) || failed(parseLead(parser, ">=")) ||
      failed(parser.parseOperand(value))) {
    return failure();
  }
  constexpr auto reasons = std::get<1>(AwaitData::fields);
  return succeeded(parser.parseOptionalKeyword(reasons.name))
             ? parseValue(parser, reasons, wait.reasons)
             : ParseResult(success());
}

void printAwait(OpAsmPrinter &p, const AwaitData &wait, mlir::Value threshold) {
  std::string reasons;
  appendField(reasons, std::get<1>(AwaitData::fields), wait);
  p << ' ';
  p.printString(wait.semaphore);
  p << " >= " << threshold << reasons;
}

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

/// An operation that asks for a value of the run.
template <typename OpT>
ParseResult parseAsking(OpAsmParser &parser, OperationState &result, mlir::Type type) {
  result.addTypes(type);
  return failure(failed(parseOp<OpT>(parser, result)) || failed(parseTypeOf(parser, type)));
}

template <typename OpT> void printAsking(OpAsmPrinter &p, OpT op) {
  printOp(p, op);
  p << " : " << op->getResult(0).getType();
}

} // namespace

ParseResult TripsOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAsking<TripsOp>(parser, result, parser.getBuilder().getIndexType());
}

void TripsOp::print(OpAsmPrinter &p) {
  printAsking(p, *this);
}

ParseResult GuardOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseAsking<GuardOp>(parser, result, parser.getBuilder().getI1Type());
}

void GuardOp::print(OpAsmPrinter &p) {
  printAsking(p, *this);
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
  static const Words words{{"waits", "signals"}, {nullptr, nullptr}};
  if (failed(parseName(parser, data.instr, "an instruction"))) {
    return failure();
  }
  Clauses clauses(parser, words);
  for (llvm::StringRef word = clauses.next(); !word.empty(); word = clauses.next()) {
    if (failed(clauses.checkFree()) ||
        failed(word == "waits" ? parseAwait(parser, data.wait.emplace(), threshold)
                               : parseStruct(parser, data.signal.emplace(), nullptr, true))) {
      return failure();
    }
  }
  if (failed(clauses.checkEnd()) || failed(parseAttributes(parser, result))) {
    return failure();
  }
  store<RunOp>(result, std::move(data));
  mlir::Type type = parser.getBuilder().getI32Type();
  return clauses.has("waits") ? parser.resolveOperand(threshold, type, result.operands)
                              : ParseResult(success());
}

void RunOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printString(getData().instr);
  if (getData().wait) {
    p << " waits";
    printAwait(p, *getData().wait, getThreshold());
  }
  if (getData().signal) {
    p << " signals";
    printStruct(p, *getData().signal);
  }
  printAttributes(p, *this);
}

} // namespace tally::ir
