//===- Ranges.h - Between which numbers an expression lies ----------------===//
//
// Of the expressions of tiles and of trips, whatever the loops around and the values of the kernel
// are within their bounds. Each name is taken by itself: of `i - i` the range is not 0 alone.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_RANGES_H
#define TALLY_MODEL_RANGES_H

#include "tally/Model/Tiles.h"

namespace tally {

/// Numbers from `first` to `last`. From -endless on, or up to endless: without a bound.
struct Bounds {
  static constexpr int64_t endless = int64_t(1) << 60;
  int64_t first = -endless;
  int64_t last = endless;

  bool isEmpty() const { return first > last; }

  bool meets(const Bounds &other) const { return first <= other.last && other.first <= last; }

  bool holds(const Bounds &other) const { return first <= other.first && other.last <= last; }
};

/// a + b and a * factor. What has no bound on one side has none there afterwards.
Bounds sum(const Bounds &a, const Bounds &b);
Bounds scaled(const Bounds &a, int64_t factor);

/// a * b; endless, with its sign, if it does not fit.
int64_t product(int64_t a, int64_t b);

/// Of an expression.
Bounds boundsOf(const Kernel &kernel, const BodyTile &tile, TileExprId id);

/// The elements of one dimension of a tile; empty if it surely has none. Guards are not looked at.
Bounds boundsOf(const Kernel &kernel, const BodyTile &tile, const TileDim &dim);

} // namespace tally

#endif // TALLY_MODEL_RANGES_H
