//===- tally-opt.cpp - mlir-opt with the dialect `tally` ------------------===//
//
// All upstream passes, and ours, on any input. Around MLIR's driver stands what every program of
// tally promises. Input that would overflow the stack of MLIR's recursive parser is refused before
// it is parsed. All errors of a wrong input are reported, each at its place. Files are written
// whole or not at all. The exit status is 2 if there is no result, also because it was interrupted.
//
//===----------------------------------------------------------------------===//

#include "tally/Support/WholeFile.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"
#include "tally/Transforms/ShowMessages.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

#include <csignal>
#include <string_view>
#include <unistd.h>

using namespace mlir;

static constexpr int noResult = 2;

static LogicalResult complain(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return failure();
}

/// In a handler only what needs no lock and no memory.
static void tellAndEnd(int) {
  constexpr std::string_view text = "error: interrupted; there is no result\n";
  tally::removeTemporaryFiles();
  ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
  ::_exit(noResult);
}

static void endOnSignals() {
  for (int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, tellAndEnd) == SIG_IGN) { // as in the background of a script
      std::signal(signal, SIG_IGN);
    }
  }
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// Takes the messages that MLIR's handler shows badly; `file` is that of messages without a place.
static LogicalResult showWithoutLine(Diagnostic &diagnostic, llvm::StringRef file) {
  std::vector<std::string> files{file.str()};
  tally::Diagnostic message = tally::fromMlir(diagnostic, files);
  message.message = llvm::StringRef(message.message).rtrim().str(); // MLIR's may end with a line
  if (tally::canShowLines(message, files)) {
    return failure();
  }
  llvm::errs() << tally::render(message, files);
  return success();
}

/// Whether the input is one module as it stands. Otherwise it is for the driver to say what is
/// wrong.
static bool isPlainModule(const MlirOptMainConfig &config) {
  return config.inputSplitMarker().empty() && config.getIrdlFile().empty() &&
         !config.shouldVerifyDiagnostics() && config.shouldVerifyOnParsing() &&
         !config.shouldRunReproducer();
}

/// Reads the input as `tally` does. Tells what is wrong with it; nothing if it is right, since then
/// the driver reads it again.
static bool isSound(const llvm::MemoryBuffer &buffer, const DialectRegistry &registry,
                    const MlirOptMainConfig &config) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  context.printOpOnDiagnostic(false); // the source says more
  llvm::SourceMgr sources;
  sources.setDiagHandler(tally::showWithLine);
  SourceMgrDiagnosticHandler withLine(sources, &context);
  ScopedDiagnosticHandler withoutLine(&context, [&](Diagnostic &diagnostic) {
    return showWithoutLine(diagnostic, buffer.getBufferIdentifier());
  });
  std::vector<Diagnostic> found;
  bool sound = false;
  {
    ScopedDiagnosticHandler collector(
        &context, [&](Diagnostic &diagnostic) { found.push_back(std::move(diagnostic)); });
    auto copy = llvm::MemoryBuffer::getMemBuffer(buffer.getMemBufferRef(), false);
    sound = isPlainModule(config) ? !!tally::readModule(std::move(copy), sources, &context)
                                  : tally::isSafeToParse(buffer, &context);
  }
  for (Diagnostic &each : found) {
    if (!sound) {
      context.getDiagEngine().emit(std::move(each));
    }
  }
  return sound;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// Wrong options of passes have no place in the input, and a module that is written without
/// `module` has none either.
static void showErrorsOfPassesWell(MlirOptMainConfig &config) {
  if (config.shouldVerifyDiagnostics()) {
    return; // which compares all of them
  }
  config.setPassPipelineSetupFn([given = config](PassManager &passes) {
    passes.getContext()->getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
      bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return isError ? showWithoutLine(diagnostic, "") : failure();
    });
    return given.setupPassPipeline(passes);
  });
}

static LogicalResult runToStdout(std::unique_ptr<llvm::MemoryBuffer> input,
                                 DialectRegistry &registry, const MlirOptMainConfig &config) {
  LogicalResult result = MlirOptMain(llvm::outs(), std::move(input), registry, config);
  llvm::outs().flush();
  if (std::error_code problem = llvm::outs().error()) {
    llvm::outs().clear_error(); // which would end the process
    return complain("cannot write '<stdout>': " + problem.message());
  }
  return result;
}

static LogicalResult runToFile(std::unique_ptr<llvm::MemoryBuffer> input, const std::string &path,
                               DialectRegistry &registry, const MlirOptMainConfig &config) {
  std::string text;
  llvm::raw_string_ostream output(text);
  if (failed(MlirOptMain(output, std::move(input), registry, config))) {
    return failure();
  }
  std::string problem = tally::writeWholeFile(path, text);
  return problem.empty() ? success() : complain("cannot write '" + path + "': " + problem);
}

static LogicalResult run(const std::string &inputPath, const std::string &outputPath,
                         DialectRegistry &registry, MlirOptMainConfig &config) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> input = tally::readKernelFile(inputPath, error);
  if (!input) {
    return complain(error);
  }
  if (!isSound(*input, registry, config)) {
    return failure();
  }
  showErrorsOfPassesWell(config);
  return outputPath == "-" ? runToStdout(std::move(input), registry, config)
                           : runToFile(std::move(input), outputPath, registry, config);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  endOnSignals();
  std::signal(SIGXFSZ, SIG_IGN); // LLVM would end the program; writing says what went wrong
  registerAllPasses();
  tally::registerPasses();
  DialectRegistry registry;
  tally::registerDialects(registry);
  llvm::cl::opt<std::string> inputPath(llvm::cl::Positional, llvm::cl::desc("<input file>"),
                                       llvm::cl::init("-"));
  llvm::cl::opt<std::string> outputPath("o", llvm::cl::desc("Output filename"),
                                        llvm::cl::value_desc("filename"), llvm::cl::init("-"));
  std::string header = registerCLIOptions("tally optimizer driver", registry);
  if (!llvm::cl::ParseCommandLineOptions(argc, argv, header, &llvm::errs())) {
    return noResult;
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  LogicalResult result = config.shouldShowDialects() || config.shouldListPasses()
                             ? MlirOptMain(argc, argv, inputPath, outputPath, registry)
                             : run(inputPath, outputPath, registry, config);
  return succeeded(result) ? 0 : noResult;
}
