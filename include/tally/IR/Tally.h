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

namespace tally::ir {

/// The written struct of an operation.
template <typename OpT> using DataOf = std::remove_cvref_t<decltype(std::declval<OpT>().getData())>;

template <typename Data, typename... Ops> struct Holder;

template <typename Data, typename First, typename... Rest>
struct Holder<Data, First, Rest...>
    : std::conditional_t<std::is_same_v<DataOf<First>, Data>, std::type_identity<First>,
                         Holder<Data, Rest...>> {};

/// The operation of a written struct.
template <typename Data>
using OpOf = Holder<Data,
#define GET_OP_LIST
#include "tally/IR/TallyOps.cpp.inc"
                    >::type;

template <typename OpT>
concept HasBranches = requires(OpT op) { op.getThenBody(); };

template <typename OpT>
concept HasBody = !HasBranches<OpT> && requires(OpT op) { op.getBody(); };

} // namespace tally::ir

#endif // TALLY_IR_TALLY_H
