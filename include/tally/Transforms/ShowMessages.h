//===- ShowMessages.h - What MLIR reports, as all our messages look -------===//
//
// MLIR's handler shows source lines, which is good. But it writes `<unknown>:0` or `k.mlir:0:0`
// where there is no place, and passes on control characters of the input. So a handler that is
// asked first takes messages of that kind, and leaves the others to MLIR's.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TRANSFORMS_SHOWMESSAGES_H
#define TALLY_TRANSFORMS_SHOWMESSAGES_H

#include "tally/Support/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

#include <string>
#include <vector>

namespace tally {

/// The message in the core's form. The files of its places are appended to `files`, whose first is
/// that of messages without a place.
Diagnostic fromMlir(mlir::Diagnostic &diagnostic, std::vector<std::string> &files);

/// Whether MLIR's handler shows it well: everything has a place, and can be printed as it is.
bool canShowLines(const Diagnostic &message, const std::vector<std::string> &files);

/// As LLVM does, but of a source line only what people can read; for SourceMgr::setDiagHandler().
void showWithLine(const llvm::SMDiagnostic &diagnostic, void *);

} // namespace tally

#endif // TALLY_TRANSFORMS_SHOWMESSAGES_H
