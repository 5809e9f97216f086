//===- KernelJson.h - Kernels as JSON -------------------------------------===//
//
// The door for compilers that have no MLIR of our version. One document holds
// one kernel; docs/guide/json/Kernel.md describes it with an example.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_WRITTEN_KERNELJSON_H
#define TALLY_WRITTEN_KERNELJSON_H

#include "tally/Model/Kernel.h"

#include <optional>
#include <string>
#include <string_view>

namespace tally {

/// Reads one kernel. Reports everything that is not of this form (unknown keys, unknown
/// names, wrong types), each with the path of the value; then there is no kernel. Legality is
/// check()'s business. `fileName` becomes file 0 of the kernel; a statement is there, or where its
/// `loc` says.
std::optional<Kernel> readKernelJson(std::string_view text, std::string_view fileName,
                                     Diagnostics &diagnostics);

struct JsonOptions {
  bool locations = false; ///< the kernel says where its statements come from
  bool compact = false;   ///< without repeated names, for programs; otherwise indented, for people
};

/// The kernel as JSON, ends with a line feed. Reading it gives the same
/// kernel, and with locations the same places.
std::string writeKernelJson(const Kernel &kernel, JsonOptions options = {});

} // namespace tally

#endif // TALLY_WRITTEN_KERNELJSON_H
