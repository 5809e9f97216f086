//===- ProgramJson.h - Code as JSON ---------------------------------------===//
//
// The whole of what the engines execute, with the kernel it belongs to, for
// code generators that do not link this library; and the way back, for code
// made elsewhere. docs/Json.md describes the document with an example.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CODE_PROGRAMJSON_H
#define TALLY_CODE_PROGRAMJSON_H

#include "tally/Code/Program.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally {

/// The kernel and its code, indented, ends with a line feed. For programs that
/// verifyProgram() accepts.
std::string writeProgramJson(const Kernel &kernel, const Program &program);

struct KernelAndProgram {
  Kernel kernel;
  Program program;
};

/// Reads what writeProgramJson() writes. Reports everything that is not of this form, each with
/// the path of the value; then there is no program. Whether kernel and code are
/// any good is the business of check() and verifyProgram().
std::optional<KernelAndProgram> readProgramJson(std::string_view text, std::string_view fileName,
                                                Diagnostics &diagnostics);

/// The kernels of a text, with the code of those that have it: one document, or an array of them.
/// None, with the reasons reported, if one is not of its form.
std::vector<std::pair<Kernel, std::optional<Program>>>
readKernelsJson(std::string_view text, std::string_view fileName, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_CODE_PROGRAMJSON_H
