//===- Names.cpp - Names of a kernel as identifiers -----------------------===//

#include "Names.h"

#include <algorithm>

namespace tally::exec {

/// Words of C++, what the programs themselves call something, and macros of headers that are not
/// in capitals.
// clang-format off
static constexpr std::string_view words[] = {
    "alignas", "alignof", "all", "alloca", "and", "and_eq", "argc", "argv", "asm", "assert", "auto",
    "be16toh", "be32toh", "be64toh", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
    "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "errno", "explicit",
    "export", "extern", "false", "files", "float", "for", "friend", "goto", "htobe16", "htobe32",
    "htobe64", "htole16", "htole32", "htole64", "if", "inline", "int", "int16_t", "int32_t",
    "int64_t", "int8_t", "issubnormal", "le16toh", "le32toh", "le64toh", "linux", "long", "main",
    "math_errhandling", "mutable", "namespace", "new", "next", "noexcept", "not", "not_eq",
    "nullptr", "offsetof", "operator", "or", "or_eq", "private", "program", "protected",
    "pthread_cleanup_pop", "pthread_cleanup_pop_restore_np", "pthread_cleanup_push",
    "pthread_cleanup_push_defer_np", "public", "register", "reinterpret_cast", "requires", "return",
    "row", "run", "sched_priority", "seed", "short", "signed", "size_t", "sizeof", "start",
    "static", "static_assert", "static_cast", "std", "stderr", "stdin", "stdout", "strdupa",
    "strndupa", "struct", "switch", "tally", "template", "this", "thread_local", "throw",
    "timeradd", "timerclear", "timercmp", "timerisset", "timersub", "true", "try", "typedef",
    "typeid", "typename", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "union", "unix",
    "unsigned", "using", "values", "virtual", "void", "volatile", "wchar_t", "while", "xor",
    "xor_eq",
};
// clang-format on

/// Whether all names that begin or look so are left to others: to macros, and to conditions in
/// functions.
static bool isForeign(std::string_view name) {
  auto isSmall = [](char c) { return c >= 'a' && c <= 'z'; };
  auto isCapital = [](char c) { return c >= 'A' && c <= 'Z'; };
  bool isInCapitals = name.size() > 2 && std::ranges::none_of(name, isSmall) &&
                      std::ranges::count_if(name, isCapital) > 1;
  return isInCapitals || name.starts_with("L_") || name.starts_with("M_") ||
         name.starts_with("P_") || name.starts_with("SYS_") || name.starts_with("touches_");
}

/// Variables of functions are `i`, `r`, `w` or `t` with a number.
static bool isReserved(std::string_view name) {
  bool isWord = std::ranges::binary_search(words, name);
  bool isCounted = name.size() > 1 && std::string_view("irwt").find(name[0]) != std::string::npos &&
                   name.find_first_not_of("0123456789", 1) == std::string::npos;
  return isWord || isCounted;
}

/// In the characters of C++.
static std::string identifier(std::string_view name) {
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
  return result;
}

std::string Names::unique(std::string_view name, std::span<const std::string_view> prefixes) {
  auto isFree = [&](const std::string &tried) {
    return !isReserved(tried) && !taken.contains(tried) &&
           std::ranges::none_of(prefixes, [&](std::string_view prefix) {
             return taken.contains(std::string(prefix) + tried);
           });
  };
  const std::string wanted = identifier(name);
  auto numbered = [&](int number) {
    std::string text = wanted;
    if (number > 1) {
      text += (wanted.back() == '_' ? "" : "_") + std::to_string(number);
    }
    return isForeign(text) ? "n_" + text : text;
  };
  std::string tried = numbered(1);
  for (int number = 2; !isFree(tried); ++number) {
    tried = numbered(number);
  }
  for (std::string_view prefix : prefixes) {
    taken.insert(std::string(prefix) + tried);
  }
  taken.insert(tried);
  return tried;
}

std::string Names::uniqueSpace(std::string_view name) {
  std::string space = unique(name);
  return isOfLibrary(space) ? unique(space + "_kernel") : space;
}

} // namespace tally::exec
