//===- Assembly.cpp - The text of operations that have their own ----------===//
//
// Most operations are parsed and printed by the list of fields of their struct (Grammar.h,
// Text.h). Here are bodies, attributes, and operations with symbols, types or values of MLIR.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

#include "mlir/IR/Builders.h"

namespace tally::ir {

//===----------------------------------------------------------------------===//
// Bodies and attributes
//===----------------------------------------------------------------------===//

namespace {

/// The most bodies open in one text: those that a kernel may have, and some for what stands
/// around and between them. check() reports kernels that use up the reserve.
constexpr uint32_t maxOpenBodies = maxDepth + 64;

/// A call of the parser on this thread's stack, which is what deep nesting would use up. MLIR's
/// parser hands nothing from an operation to those in its body, so a thread counts for itself.
struct OpenBody {
  OpenBody() { ++number; }

  ~OpenBody() { --number; }

  inline static thread_local uint32_t number = 0;
};

} // namespace

ParseResult parseRegion(OpAsmParser &parser, mlir::Region *body) {
  OpenBody open;
  if (OpenBody::number > maxOpenBodies) {
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
