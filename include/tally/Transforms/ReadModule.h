//===- ReadModule.h - Reads a module from whatever a file holds -----------===//
//
// Every tool reads its input here: text or bytecode, sound or damaged. What
// comes back has been verified; if nothing comes back, the reasons have been reported,
// those of all kernels and not only of the first.
//
// MLIR's parser recurses into every bracket, as do its verifier, its printer, and even the
// destruction of operations. So depth is judged before anything recurses: in text by
// counting brackets and aliases; bytecode is first read in a child process, which may crash.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TRANSFORMS_READMODULE_H
#define TALLY_TRANSFORMS_READMODULE_H

#include "tally/Model/Kernel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <optional>

namespace tally {

/// The most brackets open at once. A loop of a kernel is one in pretty form and two in
/// generic form, `({`; some are for what stands around loops.
inline constexpr uint32_t maxBrackets = 2 * maxDepth + 64;

/// The most regions around one another in bytecode.
inline constexpr uint32_t maxRegions = maxDepth + 64;

/// The most decimal digits of one number; MLIR takes quadratic time to read them.
inline constexpr size_t maxDigits = 1000;

/// The most operations of one affine expression, which MLIR keeps as a tree.
inline constexpr size_t maxOperations = 1000;

/// The most attributes and types of a text of so many bytes, if its aliases are written out, as
/// MLIR does when it prints them. Sixty lines of `#b = [#a, #a]` would be 2^60.
inline constexpr size_t maxExpanded(size_t bytes) {
  return 100'000 + 100 * bytes;
}

/// Where a text first has more than maxBrackets brackets open, aliases as deep, or more of the
/// other things above than there may be; strings and comments do not count. The location's file is
/// 0. Linear, without recursion.
std::optional<Diagnostic> checkNesting(llvm::StringRef text);

/// Whether regions nest at most maxRegions deep under `op`. Without recursion.
bool isShallow(mlir::Operation *op);

/// What a file of kernels and code holds ("-": standard input); nothing, with the reason in
/// `problem`, if it cannot be read or is too large.
std::unique_ptr<llvm::MemoryBuffer> readKernelFile(llvm::StringRef path, std::string &problem);

/// checkNesting() for text, a trial in a child process for bytecode. Reports an
/// error and returns false if MLIR should not be given this buffer.
bool isSafeToParse(const llvm::MemoryBuffer &buffer, mlir::MLIRContext *context);

/// Reads `path` ("-": standard input) into `sources`, so that a
/// SourceMgrDiagnosticHandler on them can show lines, and parses and verifies it.
mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::StringRef path, llvm::SourceMgr &sources,
                                             mlir::MLIRContext *context);

/// The same for a buffer.
mlir::OwningOpRef<mlir::ModuleOp> readModule(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                             llvm::SourceMgr &sources, mlir::MLIRContext *context);

} // namespace tally

#endif // TALLY_TRANSFORMS_READMODULE_H
