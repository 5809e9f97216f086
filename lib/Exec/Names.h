//===- Names.h - Names of a kernel as identifiers -------------------------===//
#ifndef TALLY_LIB_EXEC_NAMES_H
#define TALLY_LIB_EXEC_NAMES_H

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace tally::exec {

/// Each name once: what is not a letter, a digit or `_` becomes `_`, and what is taken, a word of
/// C++, or like a macro, gets a number.
class Names {
public:
  /// Also takes what each of the prefixes makes of it.
  std::string unique(std::string_view name, std::span<const std::string_view> prefixes = {});

  void reserve(std::string_view name) { taken.emplace(name); }

  /// The same for a namespace outside of all others, where the C library has names, too.
  std::string uniqueSpace(std::string_view name);

private:
  std::set<std::string, std::less<>> taken;
};

/// Whether the C library may have something of this name.
bool isOfLibrary(std::string_view name);

} // namespace tally::exec

#endif // TALLY_LIB_EXEC_NAMES_H
