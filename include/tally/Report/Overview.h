//===- Overview.h - A whole run of any length, in a thousand buckets ------===//
//
// What one lane of a timeline did, bucket by bucket of equal width: how long each kind of piece
// lasted in it. When a run outgrows the buckets, neighbours are put together and the width doubles,
// so memory does not depend on the length of the run, and nothing of it is left out.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_REPORT_OVERVIEW_H
#define TALLY_REPORT_OVERVIEW_H

#include "tally/Machine/Timing.h"
#include "tally/Model/Kernel.h"

#include <compare>
#include <vector>

namespace tally {

enum class PieceKind : uint8_t { Control, Wait, QueueFull, Drain, Instruction, Path };

/// What pieces that are drawn alike have in common.
struct PieceClass {
  PieceKind kind = PieceKind::Control;
  uint32_t detail = 0; ///< Wait: its operation in the engine's code; Path: the PathKind
  uint32_t by = 0;     ///< Wait: the number of the instruction that ended it, or of none

  auto operator<=>(const PieceClass &) const = default;
};

class Overview {
public:
  static constexpr size_t numBuckets = 1024;

  struct Share {
    PieceClass of;
    Tick span = 0;
  };

  using Bucket = std::vector<Share>; ///< by class

  /// Pieces may come in any order, and must not overlap.
  void add(const PieceClass &of, Tick from, Tick to);

  /// The end of the run: then buckets are in order, and reach up to there at least.
  void finish(Tick total);

  Tick bucketWidth() const { return width; }

  const std::vector<Bucket> &buckets() const { return all; }

private:
  void reach(Tick until);
  void put(size_t bucket, const Share &share);

  Tick width = 1000;
  std::vector<Bucket> all;
  std::vector<size_t> limits; ///< by bucket: the number of shares at which it is put in order
};

} // namespace tally

#endif // TALLY_REPORT_OVERVIEW_H
