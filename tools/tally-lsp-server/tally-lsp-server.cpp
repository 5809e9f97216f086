//===- tally-lsp-server.cpp - Kernels in an editor ------------------------===//
//
// Diagnostics come from the verifier of the kernel, which asks the core, so an editor shows
// what `tally check` would say.
//
//===----------------------------------------------------------------------===//

#include "tally/Transforms/Passes.h"

#include "mlir/IR/Dialect.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/LogicalResult.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tally::registerDialects(registry);
  return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
