//===- Words.h - The characters of words in tiles and computations --------===//
#ifndef TALLY_LIB_MODEL_WORDS_H
#define TALLY_LIB_MODEL_WORDS_H

namespace tally {

inline bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

inline bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

inline bool isWordChar(char c) {
  return isWordStart(c) || isDigit(c) || c == '.';
}

} // namespace tally

#endif // TALLY_LIB_MODEL_WORDS_H
