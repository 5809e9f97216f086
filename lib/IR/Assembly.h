//===- Assembly.h - Text of operations, from the fields of their structs --===//
//
// Parses an operation: its struct (Grammar.h), attributes, bodies. Bodies nested so deep that
// parsing them, which recurses, would end the process are refused at once; all else is judged
// later, by the verifier of the whole kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_IR_ASSEMBLY_H
#define TALLY_LIB_IR_ASSEMBLY_H

#include "Grammar.h"
#include "tally/IR/Tally.h"
#include "tally/Written/Text.h"

namespace tally::ir {

using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::OperationState;

/// Whether an operation stands in no body where it may not be (Verify.cpp).
mlir::LogicalResult verifyPlace(mlir::Operation *op);

ParseResult parseAttributes(OpAsmParser &parser, OperationState &result);
ParseResult parseRegion(OpAsmParser &parser, mlir::Region *body);
ParseResult parseBranches(OpAsmParser &parser, OperationState &result);
void printAttributes(OpAsmPrinter &p, mlir::Operation *op);
void printBody(OpAsmPrinter &p, mlir::Region &body);

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

template <typename OpT, typename Data> void store(OperationState &result, Data data) {
  result.getOrAddProperties<typename OpT::Properties>().data = std::move(data);
}

/// Its struct, attributes, then bodies.
template <typename OpT> ParseResult parseOp(OpAsmParser &parser, OperationState &result) {
  DataOf<OpT> data;
  if (failed(parseStruct(parser, data)) || failed(parseAttributes(parser, result))) {
    return mlir::failure();
  }
  store<OpT>(result, std::move(data));
  if constexpr (HasBranches<OpT>) {
    return parseBranches(parser, result);
  } else if constexpr (HasBody<OpT>) {
    return parseRegion(parser, result.addRegion());
  }
  return mlir::success();
}

template <Struct S> void printStruct(OpAsmPrinter &p, const S &data) {
  std::string text;
  appendText(text, data);
  p.getStream() << text;
}

template <typename OpT> void printOp(OpAsmPrinter &p, OpT op) {
  printStruct(p, op.getData());
  printAttributes(p, op);
  if constexpr (HasBranches<OpT>) {
    printBody(p, op.getThenBody());
    if (!op.getElseBody().empty()) {
      p << " else";
      printBody(p, op.getElseBody());
    }
  } else if constexpr (HasBody<OpT>) {
    printBody(p, op.getBody());
  }
}

} // namespace tally::ir

#endif // TALLY_LIB_IR_ASSEMBLY_H
