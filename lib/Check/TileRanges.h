//===- TileRanges.h - Where the tile of one run lies ----------------------===//
//
// The tile of an access in one iteration, as a range first:count:stride of each dimension; and
// where its buffer shares memory with others, what they may have in common:
//
//   Known     partitions and stretches of bytes in them, of memory that has the group's name; or of
//             memory of the two alone, where some of the group are stated to share nothing
//   Unknown   a plane with the tiles of the one buffer as rows and those of the other as columns,
//             so that each row meets each column, and no other row
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_TILERANGES_H
#define TALLY_LIB_CHECK_TILERANGES_H

#include "tally/Model/Outside.h"
#include "tally/Model/Overlap.h"
#include "tally/Model/Ranges.h"
#include "tally/Run/KernelCursor.h"

#include <map>
#include <optional>

namespace tally::check {

/// Elements first, first + stride, ..., count of them; or all of a dimension.
struct TileRange {
  int64_t first = 0;
  int64_t count = 0;
  int64_t stride = 1;
  bool whole = false;

  auto operator<=>(const TileRange &) const = default;
};

struct RangeTile {
  BufferId buffer; ///< or memory that is common to several: past the kernel's own
  std::vector<TileRange> ranges;

  auto operator<=>(const RangeTile &) const = default;
};

/// Numbers equal things equally.
template <typename T> class Numbering {
public:
  uint32_t operator()(const T &item) {
    auto [found, isNew] = numbers.try_emplace(item, static_cast<uint32_t>(items.size()));
    if (isNew) {
      items.push_back(&found->first);
    }
    return found->second;
  }

  size_t size() const { return items.size(); }

  const T &operator[](size_t i) const { return *items[i]; }

private:
  std::map<T, uint32_t> numbers;
  std::vector<const T *> items;
};

/// Elements beyond this many are taken for one range of stride 1.
inline constexpr int64_t maxStrided = 1 << 16;

/// The stretches of neighbouring elements that a range, not a whole one, consists of.
template <typename Visit> void forStretches(const TileRange &range, Visit visit) {
  if (range.count == 0) {
    return;
  }
  if (range.stride == 1 || range.count == 1) {
    return visit(range.first, range.first + range.count);
  }
  if (range.count > maxStrided) {
    int64_t last = range.first + (range.count - 1) * range.stride;
    return visit(std::min(range.first, last), std::max(range.first, last) + 1);
  }
  for (int64_t i = 0; i < range.count; ++i) {
    int64_t element = range.first + i * range.stride;
    visit(element, element + 1);
  }
}

/// Evaluates tiles where a cursor stands.
class TileRanges {
public:
  explicit TileRanges(const Kernel &kernel);

  /// False if one of the guards does not hold, or the tile is empty. With a run-time value it may
  /// hold, and is not.
  bool isTouched(const KernelCursor &at, AccessId id) const;
  RangeTile tileOf(const KernelCursor &at, AccessId id) const;

  /// What of this run is beyond the buffer, as far as is known; the tile is touched.
  std::optional<OutsideRun> outside(const KernelCursor &at, AccessId id) const;

  /// What a tile has in common with other buffers. Not all of it if it is in more pieces than
  /// `left`, which is counted down and then 0.
  std::vector<RangeTile> sharedOf(const RangeTile &tile, uint64_t &left);

  /// Whether places in memory that is common to several buffers are bytes, after partitions if it
  /// has several.
  bool hasPlaces(BufferId memory) const;

  /// What such memory is called.
  std::string sharedName(BufferId memory) const;

private:
  /// The value of an index; none if it depends on a run-time value.
  using Index = std::optional<int64_t>;

  static Index indexBeyond(const KernelCursor &at, const BodyTile &tile, size_t d, uint64_t extent);
  TileRange rangeOf(const KernelCursor &at, const BodyTile &tile, size_t d, BufferId buffer) const;
  TileRange rangeOfAll(const BodyTile &tile, const TileDim &dim) const;
  std::vector<TileRange> placesOf(const RangeTile &tile, int64_t first, int64_t count) const;
  TileRange partitionsOf(const RangeTile &tile) const;
  BufferId memoryOfPair(BufferId a, BufferId b);
  void addBytes(const RangeTile &tile, BufferId memory, size_t d, uint64_t start, uint64_t &left,
                std::vector<RangeTile> &pieces) const;
  RangeTile lineOf(const RangeTile &tile, BufferId other);
  BufferId firstShared() const;

  const Kernel &kernel;
  SharedMemory shared;
  IdVector<BufferId, bool> hasNoalias; ///< of groups
  const TileTable &tiles;
  Numbering<std::pair<BufferId, BufferId>> planes; ///< the first comes first in the kernel
  Numbering<RangeTile> lines;                      ///< rows and columns of planes
};

} // namespace tally::check

#endif // TALLY_LIB_CHECK_TILERANGES_H
