//===- Dialect.cpp - Registration of the dialect `tally` ------------------===//
#include "tally/IR/Tally.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "tally/IR/TallyDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tally/IR/TallyOps.cpp.inc"

void tally::ir::TallyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tally/IR/TallyOps.cpp.inc"
      >();
}
