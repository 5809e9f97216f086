//===- CodeJson.h - Code as JSON ------------------------------------------===//
//
// The whole of what the engines execute, with the kernel it belongs to, for
// code generators that do not link this library; and the way back, for code
// made elsewhere. docs/guide/json/Code.md describes the document with an example.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_WRITTEN_CODEJSON_H
#define TALLY_WRITTEN_CODEJSON_H

#include "tally/Written/KernelJson.h"
#include "tally/Written/LoadedKernel.h"

#include <string>
#include <string_view>
#include <vector>

namespace tally {

/// The kernel and its code, ends with a line feed. For code that verifyCode() accepts.
std::string writeCodeJson(const Kernel &kernel, const Code &code, JsonOptions options = {});

/// Reads what writeCodeJson() writes. Reports everything that is not of this form, each with
/// the path of the value; then there is none. Whether kernel and code are
/// any good is the business of check() and verifyCode().
std::optional<LoadedKernel> readCodeJson(std::string_view text, std::string_view fileName,
                                         Diagnostics &diagnostics);

/// The kernels of a text, with the code of those that have it: one document, or an array of them.
/// None, with the reasons reported, if one is not of its form. The files of a later kernel begin
/// with those of an earlier one.
std::vector<LoadedKernel> readKernelsJson(std::string_view text, std::string_view fileName,
                                          Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_WRITTEN_CODEJSON_H
