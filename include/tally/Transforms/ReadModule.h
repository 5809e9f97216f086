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

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <string>

namespace tally {

/// What a file of kernels and code holds ("-": standard input); nothing, with the reason in
/// `problem`, if it cannot be read or is too large.
std::unique_ptr<llvm::MemoryBuffer> readKernelFile(llvm::StringRef path, std::string &problem);

/// A look at brackets and aliases for text, a trial in a child process for bytecode. Reports an
/// error and returns false if MLIR should not be given this buffer.
bool isSafeToParse(const llvm::MemoryBuffer &buffer, mlir::MLIRContext *context);

/// Reads a buffer into `sources`, so that a SourceMgrDiagnosticHandler on them can show lines, and
/// parses and verifies it.
mlir::OwningOpRef<mlir::ModuleOp> readModule(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                             llvm::SourceMgr &sources, mlir::MLIRContext *context);

} // namespace tally

#endif // TALLY_TRANSFORMS_READMODULE_H
