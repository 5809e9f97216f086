//===- BridgeTest.cpp - Into the dialect and back, nothing lost -----------===//
//
//   Kernel, Program -> operations -> text, generic text or bytecode
//                   -> operations -> Kernel, Program
//
// For random kernels, with buffers and tiles added, and the code of every strategy. What comes back
// is compared as JSON, which holds everything but places; and written once more it gives
// the same text.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "FurnishedKernel.h"
#include "RandomCode.h"
#include "oracle/Campaign.h"

#include "tally/Compile/Compile.h"
#include "tally/Model/Tiles.h"
#include "tally/Transforms/Bridge.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/KernelJson.h"
#include "tally/Written/Text.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

const uint32_t numKernels = test::numKernels(150, 600);
const uint32_t numBytecode = test::numKernels(50, 200); ///< each is first read in a child process

enum class Form { Text, Generic, Bytecode };

std::string asText(mlir::ModuleOp module, Form form) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  switch (form) {
  case Form::Text:
    module->print(stream, flags);
    break;
  case Form::Generic:
    module->print(stream, flags.printGenericOpForm());
    break;
  case Form::Bytecode:
    (void)mlir::writeBytecodeToFile(module, stream);
    break;
  }
  return text;
}

/// The same text without operations of MLIR.
std::string directText(const Kernel &kernel, const Code *code) {
  std::string text = "module {\n";
  written::appendKernelText(text, kernel, 2);
  if (code) {
    written::appendCodeText(text, kernel, *code, 2);
  }
  return text + "}\n";
}

/// Barriers numbered in the order in which code meets them, as reading numbers them.
void renumberBarriers(Code &code) {
  IdVector<BarrierId, BarrierId> renumbered(code.barriers.size());
  IdVector<BarrierId, std::vector<EngineId>> barriers;
  for (EngineProgram &program : code.engines) {
    for (Op &op : program.ops) {
      if (op.kind != OpKind::BarrierBegin && op.kind != OpKind::BarrierEnd) {
        continue;
      }
      BarrierId &renamed = renumbered[op.barrier()];
      if (!renamed.valid()) {
        renamed = barriers.push(code.barriers[op.barrier()]);
      }
      op.target = renamed.value;
    }
  }
  code.barriers = std::move(barriers);
}

class BridgeTest : public testing::Test {
protected:
  BridgeTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  mlir::OwningOpRef<mlir::ModuleOp> stored(const Kernel &kernel, const Code *code) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    storeKernel(kernel, code, *module);
    return module;
  }

  /// Writes, reads, and returns what was read with all that was wrong with it.
  std::vector<LoadedKernel> throughText(mlir::ModuleOp module, Form form, Diagnostics &problems) {
    llvm::SourceMgr sources;
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) { problems.error({}, diagnostic.str()); });
    auto read = readModule(llvm::MemoryBuffer::getMemBufferCopy(asText(module, form), "test"),
                           sources, &context);
    return read ? loadKernels(*read, problems) : std::vector<LoadedKernel>();
  }

  void expectKept(const Kernel &kernel, Form form);
  void expectKept(const Kernel &kernel, Code code, Form form);

  mlir::MLIRContext context;
};

void BridgeTest::expectKept(const Kernel &kernel, Form form) {
  auto module = stored(kernel, nullptr);
  EXPECT_EQ(asText(*module, Form::Text), directText(kernel, nullptr));
  Diagnostics problems;
  std::vector<LoadedKernel> loaded = throughText(*module, form, problems);
  ASSERT_EQ(render(problems, {}), "") << asText(*module, Form::Text);
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_FALSE(loaded[0].code);
  ASSERT_EQ(writeKernelJson(loaded[0].kernel), writeKernelJson(kernel));
  ASSERT_EQ(dump(loaded[0].kernel), dump(kernel));
  ASSERT_EQ(asText(*stored(loaded[0].kernel, nullptr), Form::Text), asText(*module, Form::Text));
}

void BridgeTest::expectKept(const Kernel &kernel, Code code, Form form) {
  renumberBarriers(code);
  code.rules.reset(); // text names the machine alone
  auto module = stored(kernel, &code);
  EXPECT_EQ(asText(*module, Form::Text), directText(kernel, &code));
  Diagnostics problems;
  std::vector<LoadedKernel> loaded = throughText(*module, form, problems);
  ASSERT_EQ(render(problems, {}), "") << asText(*module, Form::Text);
  ASSERT_EQ(loaded.size(), 1u);
  ASSERT_TRUE(loaded[0].code);
  ASSERT_EQ(writeCodeJson(loaded[0].kernel, *loaded[0].code), writeCodeJson(kernel, code));
  ASSERT_EQ(asText(*stored(loaded[0].kernel, &*loaded[0].code), Form::Text),
            asText(*module, Form::Text));
}

Form formFor(uint64_t seed) {
  return seed % 2 == 0 ? Form::Text : Form::Generic;
}

} // namespace

TEST_F(BridgeTest, kernelsComeBackFromText) {
  for (uint64_t seed = 0; seed < numKernels && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expectKept(furnishedKernel(seed), Form::Text);
    expectKept(furnishedKernel(seed), Form::Generic);
  }
}

TEST_F(BridgeTest, kernelsComeBackFromBytecode) {
  for (uint64_t seed = 0; seed < numBytecode && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expectKept(furnishedKernel(seed), Form::Bytecode);
  }
}

TEST_F(BridgeTest, codeComesBack) {
  uint64_t numCompiled = 0;
  for (uint64_t seed = 0; seed < numKernels && !HasFatalFailure(); ++seed) {
    Kernel kernel = furnishedKernel(seed);
    for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                              Strategy::Barrier, Strategy::Unrolled}) {
      SCOPED_TRACE(fmt::format("seed {}, {}", seed, toString(strategy)));
      Request options;
      options.strategy = strategy;
      Diagnostics refused;
      std::optional<Compiled> compiled = compile(kernel, options, genericMachine(), refused);
      if (compiled && !HasFatalFailure()) {
        ++numCompiled;
        bool binary = seed < numBytecode / 4;
        expectKept(kernel, compiled->code, binary ? Form::Bytecode : formFor(seed));
      }
    }
  }
  // Divergent kernels have neither barriers nor per-engine code; few can be unrolled.
  EXPECT_GT(numCompiled, 3 * numKernels);
}

TEST_F(BridgeTest, anyCodeComesBack) {
  for (uint64_t seed = 0; seed < numKernels && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Kernel kernel = furnishedKernel(seed);
    expectKept(kernel, randomCode(kernel, seed), seed % 8 == 0 ? Form::Bytecode : formFor(seed));
  }
}

/// Code stored again takes the place of what was there, and leaves that of other kernels alone.
TEST_F(BridgeTest, storedCodeReplacesOldCode) {
  Kernel one = fuzz::randomKernel(1, {});
  Kernel two = fuzz::randomKernel(2, {});
  Diagnostics diagnostics;
  Request request{.strategy = Strategy::PerLoop};
  auto first = compile(one, request, genericMachine(), diagnostics);
  auto second = compile(two, request, genericMachine(), diagnostics);
  ASSERT_TRUE(first && second) << render(diagnostics, {});
  auto module = stored(one, &first->code);
  storeKernel(two, &second->code, *module);
  first->code.strategy = Strategy::Manual;
  storeCode(one, first->code, *module);
  std::vector<LoadedKernel> loaded = loadKernels(*module, diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  ASSERT_EQ(loaded.size(), 2u);
  EXPECT_EQ(loaded[0].code->strategy, Strategy::Manual);
  EXPECT_EQ(loaded[1].code->strategy, Strategy::PerLoop);
}
