//===- CompactFormTest.cpp - Into the compact form and back ---------------===//
//
// Kernels and code are written in the compact form and read again; written in the usual form, they
// are then the same as before, byte by byte. Of random kernels with everything that a kernel may
// have, with any code whatever; and of the kernels of this project, as they are compiled.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "FurnishedKernel.h"
#include "RandomCode.h"

#include "tally/Compile/Compile.h"
#include "tally/Compile/Prepare.h"
#include "tally/Transforms/Bridge.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"
#include "tally/Written/CodeJson.h"

#include "mlir/IR/MLIRContext.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

using namespace tally;

namespace {

/// Kernels that were not read have no places.
JsonOptions form(const Kernel &kernel, bool compact) {
  return {.locations = !kernel.files.empty(), .compact = compact};
}

void expectKept(const Kernel &kernel) {
  Diagnostics diagnostics;
  std::string text = writeKernelJson(kernel, form(kernel, /*compact=*/true));
  std::optional<Kernel> read = readKernelJson(text, "k.json", diagnostics);
  ASSERT_TRUE(read) << render(diagnostics, {});
  EXPECT_EQ(writeKernelJson(*read, form(kernel, false)),
            writeKernelJson(kernel, form(kernel, false)));
}

void expectKept(const Kernel &kernel, Code code) {
  if (code.machine.empty()) {
    code.machine = "generic"; // JSON names one
  }
  Diagnostics diagnostics;
  std::string text = writeCodeJson(kernel, code, form(kernel, /*compact=*/true));
  std::optional<LoadedKernel> read = readCodeJson(text, "k.json", diagnostics);
  ASSERT_TRUE(read) << render(diagnostics, {});
  EXPECT_EQ(writeCodeJson(read->kernel, *read->code, form(kernel, false)),
            writeCodeJson(kernel, code, form(kernel, false)));
}

/// Compiles it in every way, and says how many there are.
uint32_t expectCodeKept(const Kernel &kernel) {
  uint32_t compiledIn = 0;
  for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                            Strategy::Barrier, Strategy::Unrolled}) {
    SCOPED_TRACE(toString(strategy));
    Request request;
    request.strategy = strategy;
    Diagnostics refused;
    if (std::optional<Compiled> compiled = compile(kernel, request, genericMachine(), refused)) {
      ++compiledIn;
      expectKept(kernel, compiled->code);
    }
  }
  return compiledIn;
}

} // namespace

TEST(CompactFormTest, anyKernelAndCode) {
  const uint64_t numKernels = test::numKernels(150, 3000);
  for (uint64_t seed = 0; seed < numKernels && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Kernel kernel = oracle::furnishedKernel(seed);
    expectKept(kernel);
    expectKept(kernel, oracle::randomCode(kernel, seed));
    expectCodeKept(kernel);
  }
}

TEST(CompactFormTest, ownKernels) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::DialectRegistry registry;
  registerDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  mlir::ScopedDiagnosticHandler ignored(&context, [](mlir::Diagnostic &) {});
  Extractor extractor;
  uint32_t compiled = 0;
  for (const char *folder : {"kernels", "test"}) {
    for (const auto &entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(SOURCE_DIRECTORY) / folder)) {
      if (entry.path().extension() != ".mlir") {
        continue;
      }
      SCOPED_TRACE(entry.path());
      llvm::SourceMgr sources;
      auto file = llvm::MemoryBuffer::getFile(entry.path().string());
      auto loaded = readKernels(std::move(*file), sources, &context);
      for (LoadedKernel &each : loaded.value_or(std::vector<LoadedKernel>())) {
        Diagnostics diagnostics;
        expectKept(each.kernel);
        if (each.code) {
          expectKept(each.kernel, *each.code);
        }
        Kernel kernel = findAsked(each.kernel, {}, genericMachine(), extractor, diagnostics);
        compiled += diagnostics.hasErrors() ? 0 : expectCodeKept(kernel);
      }
    }
  }
  EXPECT_GT(compiled, 100u);
}
