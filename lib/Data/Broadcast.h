//===- Broadcast.h - Operands of several shapes, element by element -------===//
//
// Shapes are aligned at their first axes, and an axis of 1, or none, goes with any.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DATA_BROADCAST_H
#define TALLY_LIB_DATA_BROADCAST_H

#include "Value.h"

namespace tally::data {

/// Walks the rows of a result: where each row of the operands starts, and whether it goes on (1) or
/// stays at one element (0).
template <size_t N> class Rows {
public:
  Rows(const Shape &result, std::array<const Shape *, N> operands) : result(result) {
    size_t rank = result.size();
    for (size_t n = 0; n < N; ++n) {
      strides[n].assign(rank, 0);
      size_t stride = 1;
      for (size_t axis = rank; axis-- > 0;) {
        uint64_t extent = extentOf(*operands[n], axis);
        strides[n][axis] = extent == 1 ? 0 : stride;
        stride *= extent;
      }
      inner[n] = rank == 0 ? 0 : strides[n][rank - 1];
    }
  }

  /// visit(first element of the row, first of each operand)
  template <typename Visit> void each(Visit visit) const {
    size_t rank = result.size();
    size_t length = rank == 0 ? 1 : result[rank - 1];
    size_t count = numElements(result) / std::max<size_t>(length, 1);
    std::vector<size_t> at(rank, 0);
    std::array<size_t, N> starts{};
    for (size_t row = 0; row < count; ++row) {
      visit(row * length, length, starts);
      for (size_t axis = rank; axis-- > 1;) {
        size_t outer = axis - 1;
        ++at[outer];
        for (size_t n = 0; n < N; ++n) {
          starts[n] += strides[n][outer];
        }
        if (at[outer] < result[outer]) {
          break;
        }
        for (size_t n = 0; n < N; ++n) {
          starts[n] -= at[outer] * strides[n][outer];
        }
        at[outer] = 0;
      }
    }
  }

  std::array<size_t, N> inner{}; ///< 0 or 1

private:
  const Shape &result;
  std::array<std::vector<size_t>, N> strides;
};

/// Poison where an operand is.
template <size_t N>
void joinPoison(const Rows<N> &rows, const std::array<const Value *, N> &operands, Value &result) {
  for (size_t n = 0; n < N; ++n) {
    if (operands[n]->poison.empty()) {
      continue;
    }
    rows.each([&](size_t to, size_t length, const std::array<size_t, N> &from) {
      for (size_t i = 0; i < length; ++i) {
        if (operands[n]->isPoison(from[n] + i * rows.inner[n])) {
          result.makePoison(to + i);
        }
      }
    });
  }
}

} // namespace tally::data

#endif // TALLY_LIB_DATA_BROADCAST_H
