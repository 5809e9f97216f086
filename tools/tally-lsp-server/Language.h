//===- Language.h - The words of the language, and what each means --------===//
//
// Each operation and each clause has one entry: what hover says, what completion offers, and which
// names follow it. The reference of the language is docs/guide/Language.md.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LSP_SERVER_LANGUAGE_H
#define TALLY_LSP_SERVER_LANGUAGE_H

#include <cstdint>
#include <span>
#include <string_view>

namespace tally::server {

enum class NameKind : uint8_t {
  Kernel,
  Engine, ///< also a queue
  Queue,
  Buffer,
  Loop, ///< also a branch
  Instr,
  Value,
  Semaphore,
  Register,
};

std::string_view toString(NameKind kind);

/// What strings stand after a word.
enum class Strings : uint8_t {
  None,     ///< none, or text that names nothing
  Declares, ///< a name that is declared here
  Uses,     ///< a name that is declared elsewhere
  Tile,     ///< a tile of a buffer
  Formula,  ///< how often a loop runs
};

struct Word {
  std::string_view operation; ///< without `tally.`; "tile" for the words of tiles
  std::string_view clause;    ///< empty: the operation itself
  std::string_view form;      ///< how it is written
  std::string_view meaning;
  Strings strings = Strings::None;
  NameKind kind = NameKind::Kernel; ///< of the names that follow
  bool repeats = false;             ///< every string up to the next word is such a name
  std::string_view within = {};     ///< of an operation: those that it may stand in; "-" is a file

  bool isOperation() const { return clause.empty(); }

  /// Whether the operation may stand directly in that one, or in a file for "".
  bool standsIn(std::string_view around) const;
};

std::span<const Word> vocabulary();

/// The entry of a clause, or with no clause of the operation; null if there is none.
const Word *findWord(std::string_view operation, std::string_view clause = {});

} // namespace tally::server

#endif // TALLY_LSP_SERVER_LANGUAGE_H
