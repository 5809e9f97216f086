//===- tally-plugin.cpp - The dialect and its passes in a stock mlir-opt --===//
//
//   mlir-opt-22 --load-dialect-plugin=TallyPlugin.so --load-pass-plugin=TallyPlugin.so
//               --pass-pipeline='builtin.module(tally-sync{strategy=per-loop})' kernel.mlir
//
//===----------------------------------------------------------------------===//

#include "tally/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "tally", "0.1",
          [](mlir::DialectRegistry *registry) { tally::registerDialects(*registry); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "tally", "0.1", [] { tally::registerPasses(); }};
}
