//===- EmitCpp.cpp - Code as a program in C++ -----------------------------===//
//
//   head        how to compile and run it
//   tally       Arithmetic.h, Mix.h, Counters.h and Runtime.h
//   kernel      buffers, counters, instructions, engines
//   main        what is there, by name
//
//===----------------------------------------------------------------------===//

#include "tally/Exec/EmitCpp.h"

#include "Assets.h"
#include "CppTarget.h"
#include "ProgramWriter.h"

#include "tally/Data/Npy.h"
#include "tally/Support/Printable.h"

#include <fmt/format.h>

#include <set>

namespace tally {
namespace exec {
namespace {

/// What stands between the first and the last line of the namespace; the headers that it includes
/// are added to `headers`.
std::string bodyOf(std::string_view header, std::set<std::string> &headers) {
  std::string body;
  bool isInside = false;
  for (size_t at = 0; at < header.size();) {
    size_t end = header.find('\n', at);
    std::string_view line = header.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("#include <")) {
      headers.emplace(line);
    } else if (line.starts_with("namespace ")) {
      isInside = true;
    } else if (line.starts_with("} // namespace")) {
      isInside = false;
    } else if (isInside) {
      body += line;
      body += '\n';
    }
  }
  return body;
}

constexpr const char *programHead = R"(// {name}: what each engine of the kernel does, for threads.
//
//   c++ -std=c++20 -O2 -pthread FILE.cpp -o PROGRAM
//   ./PROGRAM --inputs=FOLDER --outputs=FOLDER --trips=LOOP=N --guards=SEED
//
// One thread is one engine, or one further queue of it. It needs only the standard library.
// The kernel begins at "namespace kernel".

)";

constexpr const char *includedHead = R"(// {name}: what each engine of the kernel does, for threads.
//
// Include this file once, where you write the functions that are declared at "namespace {space}",
// and call {space}::run().
//
// One thread is one engine, or one further queue of it. It needs only the standard library.

)";

/// Sums have the same bits everywhere only if products are rounded before they are added.
constexpr const char *unfused = R"(
#if defined(__clang__)
#pragma float_control(push)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif
)";

/// As it was before.
constexpr const char *fused = R"(
#if defined(__clang__)
#pragma float_control(pop)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif
)";

} // namespace
} // namespace exec

std::optional<std::string> emitCpp(const Kernel &kernel, const Code &code, const Machine &machine,
                                   Diagnostics &diagnostics, const ProgramOptions &options) {
  using namespace exec;
  if (!options.calls) {
    checkFileNames(kernel, diagnostics);
  }
  std::optional<Subject> subject = prepare(kernel, code, machine, diagnostics, options);
  if (!subject || diagnostics.hasErrors()) {
    return std::nullopt;
  }
  CppTarget target(*subject);
  writeProgram(*subject, target);
  std::set<std::string> headers;
  std::string arithmetic = bodyOf(assets::arithmetic, headers);
  std::string mix = bodyOf(assets::mix, headers);
  std::string counters = bodyOf(assets::counters, headers);
  std::string runtime = bodyOf(assets::runtime, headers);
  std::string space = options.calls ? Names().uniqueSpace(kernel.text(kernel.name)) : "kernel";
  std::string text =
      fmt::format(fmt::runtime(options.calls ? includedHead : programHead),
                  fmt::arg("name", printable(kernel.text(kernel.name))), fmt::arg("space", space));
  for (const std::string &header : headers) {
    text += header + "\n";
  }
  text += unfused;
  text += options.calls
              ? "\n#ifndef TALLY_RUNTIME // several kernels share it\n#define TALLY_RUNTIME\n"
              : "";
  text += fmt::format("\nnamespace tally {{\n{}{}{}{}\n}} // namespace tally\n", arithmetic, mix,
                      counters, runtime);
  text += options.calls ? "\n#endif\n" : "";
  text += fmt::format("\nnamespace {} {{\n", space);
  if (!target.ownFunctions().empty()) {
    text += "\n// What you write. Counts of loops, from 0; where tiles begin, rows of buffers.\n" +
            target.ownFunctions();
  }
  text += fmt::format("\nuint64_t seed = 0; // of conditions\n{}{}{}\n}} // namespace {}\n",
                      target.declarations(), target.functions(), target.startFunction(), space);
  text += options.calls
              ? fused
              : "\nint main(int argc, char **argv) {\n  return kernel::start(argc, argv);\n}\n";
  return text;
}

} // namespace tally
