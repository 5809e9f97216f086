//===- Dialect.cpp - Registration of the dialect `tally` ------------------===//
#include "Assembly.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "tally/IR/TallyDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tally/IR/TallyOps.cpp.inc"

namespace {

struct Version : mlir::DialectVersion {};

/// Says in bytecode which encoding it has, and reads no other.
class BytecodeForm : public mlir::BytecodeDialectInterface {
public:
  explicit BytecodeForm(mlir::Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(mlir::DialectBytecodeWriter &writer) const override {
    writer.writeVarInt(tally::ir::bytecodeVersion);
  }

  std::unique_ptr<mlir::DialectVersion>
  readVersion(mlir::DialectBytecodeReader &reader) const override {
    uint64_t version = 0;
    if (mlir::failed(reader.readVarInt(version))) {
      return nullptr;
    }
    if (version != tally::ir::bytecodeVersion) {
      reader.emitError("bytecode of version ")
          << version << " of tally; this one reads version " << tally::ir::bytecodeVersion
          << "; write it again from its source";
      return nullptr;
    }
    return std::make_unique<Version>();
  }
};

} // namespace

void tally::ir::TallyDialect::initialize() {
  addInterfaces<BytecodeForm>();
  addOperations<
#define GET_OP_LIST
#include "tally/IR/TallyOps.cpp.inc"
      >();
}
