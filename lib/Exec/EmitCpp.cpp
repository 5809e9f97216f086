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

constexpr const char *head = R"(// {name}: what each engine of the kernel does, for threads.
//
//   c++ -std=c++20 -O2 -pthread FILE.cpp -o PROGRAM
//   ./PROGRAM --inputs=FOLDER --outputs=FOLDER --trips=LOOP=N --guards=SEED
//
// One thread is one engine, or one further queue of it. It needs only the standard library.
// The kernel begins at "namespace kernel".

)";

/// Sums have the same bits everywhere only if products are rounded before they are added.
constexpr const char *unfused = R"(
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
)";

} // namespace
} // namespace exec

std::optional<std::string> emitCpp(const Kernel &kernel, const Code &code, const Machine &machine,
                                   Diagnostics &diagnostics, const ProgramOptions &options) {
  using namespace exec;
  std::optional<Subject> subject = prepare(kernel, code, machine, diagnostics, options);
  if (!subject) {
    return std::nullopt;
  }
  CppTarget target(*subject);
  writeProgram(*subject, target);
  std::set<std::string> headers;
  std::string arithmetic = bodyOf(assets::arithmetic, headers);
  std::string mix = bodyOf(assets::mix, headers);
  std::string counters = bodyOf(assets::counters, headers);
  std::string runtime = bodyOf(assets::runtime, headers);
  std::string text =
      fmt::format(fmt::runtime(head), fmt::arg("name", printable(kernel.text(kernel.name))));
  for (const std::string &header : headers) {
    text += header + "\n";
  }
  text += fmt::format("{}\nnamespace tally {{\n{}{}{}{}\n}} // namespace tally\n", unfused,
                      arithmetic, mix, counters, runtime);
  text += fmt::format("\nnamespace kernel {{\n\nuint64_t seed = 0; // of conditions\n{}{}{}\n"
                      "}} // namespace kernel\n",
                      target.declarations(), target.functions(), target.startFunction());
  text += "\nint main(int argc, char **argv) {\n  return kernel::start(argc, argv);\n}\n";
  return text;
}

} // namespace tally
