//===- Words.h - Enumerations by name -------------------------------------===//
//
// The words of an enumeration stand once, next to it, in its order:
//
//   enum class Overflow : uint8_t { Reset, Refuse, Assume };
//   template <> inline constexpr auto wordsOf<Overflow> = words("reset", "refuse", "assume");
//
// From them follow its text, the way back, and the list of what is allowed.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SUPPORT_WORDS_H
#define TALLY_SUPPORT_WORDS_H

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

template <typename... Texts> constexpr auto words(Texts... texts) {
  return std::array<std::string_view, sizeof...(Texts)>{texts...};
}

/// An empty word is never written: it is what nothing is said for.
template <typename E> inline constexpr auto wordsOf = words();

template <typename E>
concept Worded = !wordsOf<E>.empty();

template <Worded E> constexpr std::string_view toString(E value) {
  return wordsOf<E>[static_cast<size_t>(value)];
}

/// None if it is not a word of the enumeration, or empty.
template <Worded E> constexpr std::optional<E> fromWord(std::string_view word) {
  auto found = std::ranges::find(wordsOf<E>, word);
  bool isWord = !word.empty() && found != wordsOf<E>.end();
  return isWord ? std::optional(static_cast<E>(found - wordsOf<E>.begin())) : std::nullopt;
}

/// All that can be written, in the order of the enumeration.
template <Worded E> std::vector<std::string> allWords() {
  std::vector<std::string> all(wordsOf<E>.begin(), wordsOf<E>.end());
  std::erase(all, "");
  return all;
}

} // namespace tally

#endif // TALLY_SUPPORT_WORDS_H
