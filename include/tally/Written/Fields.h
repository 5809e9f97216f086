//===- Fields.h - The one list of fields of a written struct --------------===//
//
// A written struct lists its fields once, and each line says everything that the forms need:
//
//   struct SignalData {
//     std::string semaphore;
//     uint64_t amount = 1;
//     static constexpr auto fields() {
//       return std::tuple(first("semaphore", &SignalData::semaphore, "a semaphore"),
//                         field("by", &SignalData::amount).key("amount"));
//     }
//   };
//
// From the list follow text (parser and printer), JSON (reader and writer), MLIR's generic form,
// hash and bytecode. A field that has its default value is left out, but for those that are
// needed. Where a type of field is spelt in its own way (Trip, distances), the forms have a
// function for that type; everything else is written once for all structs.
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

/// A field, its word, and how else it is spelt. The word is the keyword in text and the name in
/// MLIR's generic form.
template <typename Struct, typename T> struct Field {
  const char *name;
  T Struct::*member;
  const char *json = nullptr;   ///< its key, if that is not `name`
  const char *what = nullptr;   ///< what a name in it is, as in "a queue"
  const char *needed = nullptr; ///< what is missing without it; null if it may be left out
  const char *lead = nullptr;   ///< First fields: what stands before it, as in "->"
  const char *topic = nullptr;  ///< what its words are about, if they exclude one another
  const char *word = nullptr;   ///< a number that has a name, as in "full"
  uint64_t wordValue = 0;
  bool wordAlone = false; ///< the word stands without the keyword; JSON has the number
  bool isFirst = false;   ///< in text it stands before all clauses, without a keyword
  bool inverted = false;  ///< a flag whose key in JSON says the opposite
  bool always = false;    ///< in JSON it is written though it has its default
  bool neededInJson = false;
  uint64_t min = 0; ///< of numbers, in JSON; text is judged with the whole kernel
  uint64_t max = UINT64_MAX;

  constexpr const char *jsonKey() const { return json ? json : name; }

  constexpr Field key(const char *text) const {
    Field copy = *this;
    copy.json = text;
    return copy;
  }

  constexpr Field of(const char *text) const {
    Field copy = *this;
    copy.what = text;
    return copy;
  }

  constexpr Field need(const char *text) const {
    Field copy = *this;
    copy.needed = text;
    return copy;
  }

  constexpr Field after(const char *text) const {
    Field copy = *this;
    copy.lead = text;
    return copy;
  }

  constexpr Field about(const char *text) const {
    Field copy = *this;
    copy.topic = text;
    return copy;
  }

  constexpr Field within(uint64_t least, uint64_t most) const {
    Field copy = *this;
    copy.min = least;
    copy.max = most;
    return copy;
  }

  constexpr Field orWord(const char *text, uint64_t value, bool alone = false) const {
    Field copy = *this;
    copy.word = text;
    copy.wordValue = value;
    copy.wordAlone = alone;
    return copy;
  }

  /// In JSON it is always written, and, if `isNeeded`, never left out.
  constexpr Field inJson(bool isNeeded) const {
    Field copy = *this;
    copy.always = true;
    copy.neededInJson = isNeeded;
    return copy;
  }

  constexpr Field opposite(const char *text) const {
    Field copy = key(text);
    copy.inverted = true;
    return copy;
  }
};

/// A clause.
template <typename Struct, typename T>
constexpr Field<Struct, T> field(const char *name, T Struct::*member) {
  return {name, member};
}

/// One that stands in text before all clauses.
template <typename Struct, typename T>
constexpr Field<Struct, T> first(const char *name, T Struct::*member, const char *what) {
  Field<Struct, T> result{name, member};
  result.what = what;
  result.needed = what;
  result.isFirst = true;
  return result;
}

template <typename T>
concept Struct = requires { T::fields(); };

template <typename T> inline constexpr bool isVector = false;
template <typename T> inline constexpr bool isVector<std::vector<T>> = true;
template <typename T> inline constexpr bool isOptional = false;
template <typename T> inline constexpr bool isOptional<std::optional<T>> = true;

template <typename S, typename Fn> void forEachField(Fn &&fn) {
  static constexpr auto list = S::fields();
  std::apply([&](const auto &...field) { (fn(field), ...); }, list);
}

} // namespace tally::written

#endif // TALLY_WRITTEN_FIELDS_H
