//===- tally-opt.cpp - mlir-opt with the dialect `tally` ------------------===//
//
// All upstream passes, and ours, on any input: what would make MLIR's recursive parser overflow the
// stack is refused before it is parsed.
//
//===----------------------------------------------------------------------===//

#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static bool isSafe(const llvm::MemoryBuffer &buffer, const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(buffer.getMemBufferRef(), false),
                             llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  return tally::isSafeToParse(buffer, &context);
}

static LogicalResult run(llvm::StringRef inputFilename, llvm::StringRef outputFilename,
                         DialectRegistry &registry) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputFilename, &error);
  if (!input) {
    llvm::errs() << "error: " << error << '\n';
    return failure();
  }
  if (!isSafe(*input, registry)) {
    return failure();
  }
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputFilename, &error);
  if (!output) {
    llvm::errs() << "error: " << error << '\n';
    return failure();
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry,
                         MlirOptMainConfig::createFromCLOptions()))) {
    return failure();
  }
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  registerAllPasses();
  tally::registerPasses();
  DialectRegistry registry;
  tally::registerDialects(registry);
  auto [inputFilename, outputFilename] =
      registerAndParseCLIOptions(argc, argv, "tally optimizer driver", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses()) {
    return asMainReturnCode(MlirOptMain(argc, argv, inputFilename, outputFilename, registry));
  }
  return asMainReturnCode(run(inputFilename, outputFilename, registry));
}
