//===- Fields.h - The one list of fields of a written struct --------------===//
//
// A written struct lists its fields once, and each line says everything that the forms need:
//
//   struct SignalData {
//     std::string semaphore;
//     uint64_t amount = 1;
//     static constexpr auto fields =
//         std::tuple(first("semaphore", &SignalData::semaphore, "a semaphore"),
//                    field("by", &SignalData::amount, {.key = "amount"}));
//   };
//
// From the list follow text (parser and printer), JSON (reader and writer), MLIR's generic form,
// equality, hash and bytecode. A field that has its default value is left out, except for those
// that are needed. Where a type of field is spelt in its own way (Trip, distances), the forms have
// a function for that type; everything else is written once for all structs.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_WRITTEN_FIELDS_H
#define TALLY_WRITTEN_FIELDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace tally::written {

/// How else a field is spelt than by its word.
struct Spelling {
  const char *key = nullptr;    ///< in JSON, if that is not the word
  const char *what = nullptr;   ///< what a name in it is, as in "a queue"
  const char *needed = nullptr; ///< what is missing without it; null if it may be left out
  const char *lead = nullptr;   ///< first() fields: what stands before it, as in "->"
  const char *topic = nullptr;  ///< what its words are about, if they exclude one another
  const char *word = nullptr;   ///< a number that has a name, as in "full"
  uint64_t wordValue = 0;
  bool wordAlone = false;    ///< the word stands without the keyword; JSON has the number
  bool isFirst = false;      ///< in text it stands before all clauses, without a keyword
  bool inverted = false;     ///< a flag whose key in JSON says the opposite
  bool neededInJson = false; ///< there it is always written
  bool mayBeNull = false;    ///< ... if it has its default, as null
  uint64_t min = 0;          ///< of numbers, in JSON; text is judged with the whole kernel
  uint64_t max = UINT64_MAX;
};

/// A field, its word, and how else it is spelt. The word is the keyword in text and the name in
/// MLIR's generic form.
template <typename Struct, typename T> struct Field : Spelling {
  const char *name;
  T Struct::*member;

  constexpr const char *jsonKey() const { return key ? key : name; }

  /// Whether a JSON object without it is wrong; one with it holds it, whatever its value.
  constexpr bool isNeededInJson() const { return needed || neededInJson || mayBeNull; }
};

/// A clause.
template <typename Struct, typename T>
constexpr Field<Struct, T> field(const char *name, T Struct::*member, Spelling spelling = {}) {
  return {spelling, name, member};
}

/// One that stands in text before all clauses.
template <typename Struct, typename T>
constexpr Field<Struct, T> first(const char *name, T Struct::*member, const char *what,
                                 Spelling spelling = {}) {
  spelling.what = spelling.needed = what;
  spelling.isFirst = true;
  return {spelling, name, member};
}

template <typename T>
concept Struct = requires { T::fields; };

/// Whether all fields are equal.
template <Struct S> bool operator==(const S &a, const S &b) {
  return std::apply([&](auto... field) { return ((a.*field.member == b.*field.member) && ...); },
                    S::fields);
}

template <typename T> inline constexpr bool isVector = false;
template <typename T> inline constexpr bool isVector<std::vector<T>> = true;
template <typename T> inline constexpr bool isOptional = false;
template <typename T> inline constexpr bool isOptional<std::optional<T>> = true;

template <typename S, typename Fn> void forEachField(Fn &&fn) {
  std::apply([&](const auto &...field) { (fn(field), ...); }, S::fields);
}

} // namespace tally::written

#endif // TALLY_WRITTEN_FIELDS_H
