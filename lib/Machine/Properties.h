//===- Properties.h - What is not a parameter of a machine, by name -------===//
//
// Limits, and how counters behave: what code is made for. One list says of each where it stands in
// a machine's file and in Machine, and what it may be; files and `--set` are read by it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_MACHINE_PROPERTIES_H
#define TALLY_LIB_MACHINE_PROPERTIES_H

#include "tally/Machine/Machine.h"

#include <array>
#include <span>

namespace tally::machines {

/// A number, perhaps none, or one of two words. Its name is `group.key`.
struct Property {
  std::string_view group;
  std::string_view key;
  uint32_t least = 0; ///< of a number
  uint32_t most = 0;
  bool mayBeNone = false;
  std::array<std::string_view, 2> words; ///< empty: a number
  std::string_view unit;                 ///< of a number

  /// Stores a number, or which of the words it is.
  void (*store)(Machine &machine, std::optional<uint32_t> value);

  bool isNumber() const { return words[0].empty(); }

  std::string name() const;
};

std::span<const Property> properties();

/// The property of this name; null if there is none.
const Property *findProperty(std::string_view name);

/// Returns what is wrong, or nothing.
std::string setProperty(Machine &machine, const Property &property, std::string_view value);

/// Whether Timing takes a parameter of this name.
bool isTimingParameter(std::string_view name);

} // namespace tally::machines

#endif // TALLY_LIB_MACHINE_PROPERTIES_H
