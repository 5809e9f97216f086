//===- FloorDiv.h - Division that rounds down -----------------------------===//
#ifndef TALLY_SUPPORT_FLOORDIV_H
#define TALLY_SUPPORT_FLOORDIV_H

#include <cstdint>

namespace tally {

/// a / b, rounded down.
inline int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

} // namespace tally

#endif // TALLY_SUPPORT_FLOORDIV_H
