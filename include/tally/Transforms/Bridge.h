//===- Bridge.h - Between the dialect and the core ------------------------===//
//
// The one place where MLIR ops meet the core's values. Everything else works on
// Kernel and Program.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TRANSFORMS_BRIDGE_H
#define TALLY_TRANSFORMS_BRIDGE_H

#include "tally/Written/LoadedKernel.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class MemoryBuffer;
class SourceMgr;
} // namespace llvm

namespace tally {

/// All kernels of a module that the verifier accepts, in order. Reports through `diagnostics`
/// whatever cannot be said in a Kernel (unknown names, wrong tiles); legality is check()'s
/// business. Locations index the file table of the kernel they belong to; the table of a later
/// kernel begins with that of an earlier one, so the last kernel's will do for all diagnostics.
std::vector<LoadedKernel> loadKernels(mlir::ModuleOp module, Diagnostics &diagnostics);

/// Reads a module (ReadModule.h) and loads its kernels, each once. None if it is not sound, which
/// is reported.
std::optional<std::vector<LoadedKernel>> readKernels(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                                     llvm::SourceMgr &sources,
                                                     mlir::MLIRContext *context);

/// How a user names a strategy to a program.
struct StrategyOption {
  std::string_view name; ///< as in `--sync=per-loop`
  bool knowsManual = true;
};

/// Tells of code that goes unused, since a strategy that the user did not name makes its own: a
/// warning if it was written by hand, a remark if another strategy made it.
void warnOfUnusedCode(const LoadedKernel &loaded, Strategy strategy, const StrategyOption &option,
                      Diagnostics &diagnostics);

/// Appends the kernel, and the code if given, to the module.
void storeKernel(const Kernel &kernel, const Code *code, mlir::ModuleOp module);

/// Appends the kernel's dependences to the kernel of its name, which has none.
void storeDeps(const Kernel &kernel, mlir::ModuleOp module);

/// Appends code for a kernel that the module already holds, in place of code that is there.
void storeCode(const Kernel &kernel, const Code &code, mlir::ModuleOp module);

/// Sends core diagnostics through MLIR's engine, so that they show the source line.
void emit(const Kernel &kernel, const Diagnostics &diagnostics, mlir::MLIRContext *context);

} // namespace tally

#endif // TALLY_TRANSFORMS_BRIDGE_H
