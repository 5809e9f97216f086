//===- AccessWords.h - The words of tiles ---------------------------------===//
#ifndef TALLY_LIB_MODEL_ACCESSWORDS_H
#define TALLY_LIB_MODEL_ACCESSWORDS_H

#include "../Support/Scanner.h"

#include <string_view>

namespace tally::model {

/// In the order of TileGuard::Relation.
inline constexpr std::string_view relationTexts[] = {"==", "!=", "<", "<=", ">", ">="};

/// Whether a name must be quoted to be one.
inline bool isReserved(std::string_view word) {
  return word == "mod" || word == "floordiv" || word == "total" || word == "trips" ||
         word == "if" || word == "and" || word == "not";
}

} // namespace tally::model

#endif // TALLY_LIB_MODEL_ACCESSWORDS_H
