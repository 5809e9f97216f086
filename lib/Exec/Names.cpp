//===- Names.cpp - Names of a kernel as identifiers -----------------------===//

#include "Names.h"

#include <algorithm>
#include <array>

namespace tally::exec {

/// Also what the files themselves define, and what headers define as macros.
static constexpr std::array words{"alignas",
                                  "alignof",
                                  "and",
                                  "and_eq",
                                  "asm",
                                  "assert",
                                  "auto",
                                  "bitand",
                                  "bitor",
                                  "bool",
                                  "break",
                                  "case",
                                  "catch",
                                  "char",
                                  "char8_t",
                                  "char16_t",
                                  "char32_t",
                                  "class",
                                  "compl",
                                  "concept",
                                  "const",
                                  "consteval",
                                  "constexpr",
                                  "constinit",
                                  "const_cast",
                                  "continue",
                                  "co_await",
                                  "co_return",
                                  "co_yield",
                                  "decltype",
                                  "default",
                                  "delete",
                                  "do",
                                  "double",
                                  "dynamic_cast",
                                  "else",
                                  "enum",
                                  "errno",
                                  "explicit",
                                  "export",
                                  "extern",
                                  "false",
                                  "float",
                                  "for",
                                  "friend",
                                  "goto",
                                  "if",
                                  "inline",
                                  "int",
                                  "int64_t",
                                  "linux",
                                  "long",
                                  "main",
                                  "mutable",
                                  "namespace",
                                  "new",
                                  "noexcept",
                                  "not",
                                  "not_eq",
                                  "nullptr",
                                  "operator",
                                  "or",
                                  "or_eq",
                                  "private",
                                  "protected",
                                  "public",
                                  "register",
                                  "reinterpret_cast",
                                  "requires",
                                  "return",
                                  "run",
                                  "seed",
                                  "short",
                                  "signed",
                                  "sizeof",
                                  "static",
                                  "static_assert",
                                  "static_cast",
                                  "std",
                                  "stderr",
                                  "stdin",
                                  "stdout",
                                  "struct",
                                  "switch",
                                  "tally",
                                  "template",
                                  "this",
                                  "thread_local",
                                  "throw",
                                  "true",
                                  "try",
                                  "typedef",
                                  "typeid",
                                  "typename",
                                  "uint32_t",
                                  "union",
                                  "unix",
                                  "unsigned",
                                  "using",
                                  "virtual",
                                  "void",
                                  "volatile",
                                  "wchar_t",
                                  "while",
                                  "xor",
                                  "xor_eq",
                                  "size_t",
                                  "files",
                                  "all",
                                  "values",
                                  "row",
                                  "start"};

/// Macros are in capitals, and variables of functions are `i`, `r`, `w` or `t` with a number.
static bool isReserved(std::string_view name) {
  bool isWord = std::ranges::find(words, name) != words.end();
  bool isCounted = name.size() > 1 && std::string_view("irwt").find(name[0]) != std::string::npos &&
                   name.find_first_not_of("0123456789", 1) == std::string::npos;
  bool isMacro = name == "EOF" || name == "NAN" || name == "INFINITY" || name == "NULL" ||
                 name.ends_with("_MAX") || name.ends_with("_MIN");
  return isWord || isCounted || isMacro;
}

std::string Names::unique(std::string_view name) {
  std::string result;
  for (char c : name) {
    bool isPart = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    // Two `_` in a row, and one before a capital, belong to the implementation.
    if (isPart) {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  if (result.empty() || (result[0] >= '0' && result[0] <= '9')) {
    result = "n" + result;
  }
  std::string tried = result;
  for (int number = 2; isReserved(tried) || taken.contains(tried); ++number) {
    tried = result + (result.back() == '_' ? "" : "_") + std::to_string(number);
  }
  taken.insert(tried);
  return tried;
}

} // namespace tally::exec
