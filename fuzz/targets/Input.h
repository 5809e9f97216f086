//===- Input.h - Bytes to kernels, for the targets that use MLIR ----------===//
#ifndef TALLY_FUZZ_TARGETS_INPUT_H
#define TALLY_FUZZ_TARGETS_INPUT_H

#include "tally/Transforms/Bridge.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace tally::fuzz {

inline bool isBytecode(const uint8_t *data, size_t size) {
  return size >= 4 && data[0] == 'M' && data[1] == 'L' && data[2] == 0xef && data[3] == 'R';
}

/// A context that swallows messages. A new one every so often: types and attributes stay in it.
inline mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static uint32_t uses = 0;
  if (uses++ % 500 == 0) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
      diagnostic.str(); // what is said must be printable
      return mlir::success();
    });
  }
  return *context;
}

/// What the tools make of a file: the kernels of a module that reads and loads without error.
inline std::vector<LoadedKernel> kernelsIn(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  mlir::MLIRContext &context = freshContext();
  llvm::SourceMgr sources;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      readModule(llvm::MemoryBuffer::getMemBufferCopy(text, "input"), sources, &context);
  if (!module) {
    return {};
  }
  Diagnostics diagnostics;
  std::vector<LoadedKernel> kernels = loadKernels(*module, diagnostics);
  return diagnostics.hasErrors() ? std::vector<LoadedKernel>() : std::move(kernels);
}

} // namespace tally::fuzz

#endif // TALLY_FUZZ_TARGETS_INPUT_H
