//===- TextTarget.cpp - Any text into the parser --------------------------===//
//
// Read, verified, loaded, printed, and read again: what was accepted once must be accepted in the
// form that we print, as the same kernel. Where the reader of plain text has an answer, it is the
// same.
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "tally/IR/Load.h"
#include "tally/Written/KernelJson.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

using namespace tally;
using namespace tally::fuzz;

static std::string print(const LoadedKernel &loaded) {
  mlir::MLIRContext &context = freshContext();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  storeKernel(loaded.kernel, loaded.code ? &*loaded.code : nullptr, *module);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, mlir::OpPrintingFlags().useLocalScope());
  return text;
}

static void expectSamePlain(const std::vector<LoadedKernel> &kernels, llvm::StringRef text) {
  auto isSame = [](const LoadedKernel &loaded, const LoadedKernel &plain) {
    return writeKernelJson(loaded.kernel, {.locations = true}) ==
           writeKernelJson(plain.kernel, {.locations = true});
  };
  auto plain = ir::readPlainText(*llvm::MemoryBuffer::getMemBufferCopy(text, "input"));
  if (plain && !std::ranges::equal(kernels, *plain, isSame)) {
    fmt::print(stderr, "plain text read in another way:\n{}\n", std::string(text));
    std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (isBytecode(data, size)) {
    return -1;
  }
  std::vector<LoadedKernel> kernels = kernelsIn(data, size);
  expectSamePlain(kernels, llvm::StringRef(reinterpret_cast<const char *>(data), size));
  for (const LoadedKernel &loaded : kernels) {
    std::string text = print(loaded);
    std::vector<LoadedKernel> again =
        kernelsIn(reinterpret_cast<const uint8_t *>(text.data()), text.size());
    std::string second = again.size() == 1 ? print(again[0]) : "not accepted";
    if (second != text) {
      fmt::print(stderr, "printed:\n{}\nread and printed again:\n{}\n", text, second);
      std::abort();
    }
  }
  return 0;
}
