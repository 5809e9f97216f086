//===- Load.h - From operations to the core's values ----------------------===//
//
// Reads a kernel, and code, out of the operations that spell them. What the core has no
// value for (names that do not exist, tiles that are none, numbers beyond 32 bits) is
// reported and left out, so that the rest can still be judged.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_IR_LOAD_H
#define TALLY_IR_LOAD_H

#include "tally/IR/Tally.h"

#include "tally/Code/Code.h"
#include "tally/Model/Kernel.h"
#include "tally/Written/LoadedKernel.h"
#include "tally/Written/Resolve.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>
#include <string_view>
#include <vector>

namespace tally::ir {

/// The files of one module, numbered once for all of its kernels: the file table of a later
/// kernel begins with that of an earlier one, so that the last kernel's serves all.
class FileTable {
public:
  FileTable() = default;

  /// With the file that is read as the first.
  explicit FileTable(mlir::StringAttr own) : files{own}, numbers{{own, 0}} {}

  /// Gives a new kernel all files known so far.
  void startKernel(written::KernelResolver &resolver);

  /// Takes over the files that its queues named. What follows and stands in another file has no
  /// place in this kernel.
  void endKernel(mlir::MLIRContext *context);

  /// The core's form of a location: the first file position in it, or nowhere.
  Location where(mlir::Operation *op);

private:
  written::KernelResolver *resolver = nullptr;
  std::vector<mlir::StringAttr> files;
  llvm::DenseMap<mlir::StringAttr, uint32_t> numbers;
  mlir::StringAttr lastFile;
  uint32_t lastNumber = 0;
};

/// While it lives, what the verifier loads in its context and finds sound is kept here, so that
/// code that reads a module need not load it again.
class LoadedOnce {
public:
  LoadedOnce(mlir::MLIRContext *context, llvm::StringRef file);
  LoadedOnce(const LoadedOnce &) = delete;
  LoadedOnce &operator=(const LoadedOnce &) = delete;
  ~LoadedOnce();

  /// The one for an operation; null if none is asked for.
  static LoadedOnce *find(mlir::Operation *op);

  FileTable files;
  llvm::DenseMap<mlir::Operation *, Kernel> kernels;
  llvm::DenseMap<mlir::Operation *, Code> code;

private:
  struct Keeper;
  Keeper &keeper;
};

/// The kernels of a file that holds nothing else, without making operations of them, as reading it
/// as a module would load them. None where there is anything to report, or anything but the text
/// that tally prints for kernels: then the file must be read as a module. A buffer ends with a NUL,
/// on which grammar and MLIR's parser rely.
std::optional<std::vector<LoadedKernel>> readPlainText(const llvm::MemoryBuffer &buffer);

Kernel loadKernel(KernelOp op, FileTable &files, Diagnostics &diagnostics);

/// Code for a kernel that was loaded from the same module.
Code loadCode(CodeOp op, const Kernel &kernel, FileTable &files, Diagnostics &diagnostics);

/// The MLIR location of a core location in one of these files.
mlir::Location toMlir(mlir::MLIRContext *context, const std::vector<std::string> &files,
                      Location where);

/// Sends core diagnostics through MLIR's engine, so that they show the source line.
void emit(const std::vector<std::string> &files, const Diagnostics &diagnostics,
          mlir::MLIRContext *context);

} // namespace tally::ir

#endif // TALLY_IR_LOAD_H
