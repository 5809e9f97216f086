//===- Tally.h - The dialect `tally` --------------------------------------===//
#ifndef TALLY_IR_TALLY_H
#define TALLY_IR_TALLY_H

#include "tally/IR/StructProperties.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tally::ir {

/// Everything that a sequencer does outside its registers, as one place in memory.
struct SequencerResource : mlir::SideEffects::Resource::Base<SequencerResource> {
  llvm::StringRef getName() final { return "sequencer"; }
};

} // namespace tally::ir

#include "tally/IR/TallyDialect.h.inc"

#define GET_OP_CLASSES
#include "tally/IR/TallyOps.h.inc"

#endif // TALLY_IR_TALLY_H
