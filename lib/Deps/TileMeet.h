//===- TileMeet.h - When two tiles meet, as a condition --------------------===//
//
// Two tiles of one buffer meet if they do in each dimension. Two of different buffers that lie over
// one another (Overlap.h) meet if they have a byte in common: each is a number of stretches of
// bytes,
//
//   X[A, 2:4]       first + 8 * (A * 16 + 2)              and 32 bytes from there on
//   X[0:3, 2:4]     first + 8 * (k * 16 + 2), 0 <= k < 3  each
//
// and a number of stretches of partitions, where memory has several (Overlap.h).
//
// In either case they meet only in iterations in which the guards of both hold and neither is
// empty. What is not known is left out, so that the tiles meet more often than they do.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_TILEMEET_H
#define TALLY_LIB_DEPS_TILEMEET_H

#include "PairNest.h"
#include "TileText.h"

namespace tally::deps {

/// A condition as isl reads it.
struct Meeting {
  std::string condition;       ///< empty: always
  Excess vague = Excess::None; ///< why they need not meet even then
};

Meeting meetingOf(const TilePair &pair, const SideNames &producer, const SideNames &consumer);

/// Calls one of the two for each expression of a tile that appears in the condition, and for each
/// guard.
void forDecidingExprs(const TilePair &pair,
                      const std::function<void(const TileBox &, TileExprId)> &visit,
                      const std::function<void(const TileBox &, const TileGuard &)> &visitGuard);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_TILEMEET_H
