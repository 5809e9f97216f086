//===- Tiles.h - Which elements a run of an instruction touches -----------===//
//
// The place of a tile (Model/Tiles.h) in an iteration. Dimensions that follow one another in memory
// are joined: a tile of whole rows is one run of elements.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DATA_TILES_H
#define TALLY_LIB_DATA_TILES_H

#include "tally/Data/Memory.h"
#include "tally/Data/Runs.h"

namespace tally::data {

using Shape = std::vector<uint64_t>;

/// `2, 128`. (fmt::join of these numbers makes g++ 12 see an overflow at -O3 that cannot be.)
std::string joined(std::span<const uint64_t> numbers);

/// `[128, 512]`
std::string shapeText(const Shape &shape);

uint64_t numElements(const Shape &shape);

/// A tile in one iteration. Its dimensions in memory, outermost first, are joined where they can.
struct TilePlace {
  bool isTouched = true; ///< its guards hold; otherwise only its shape means something
  size_t first = 0;
  std::vector<std::pair<size_t, size_t>> dims; ///< count and stride
  Shape shape;                                 ///< without the dimensions of a single index

  /// Calls visit(ElementRun, elements of the tile before it) for each stretch, in order.
  template <typename Visit> void forRuns(Visit visit) const {
    size_t inner = dims.empty() ? 1 : dims.back().first;
    size_t stride = dims.empty() ? 1 : dims.back().second;
    std::vector<size_t> at(dims.empty() ? 0 : dims.size() - 1, 0);
    size_t start = first;
    for (size_t done = 0;; done += inner) {
      visit(ElementRun{start, inner, stride}, done);
      size_t d = at.size();
      while (d > 0 && ++at[d - 1] == dims[d - 1].first) {
        start -= (dims[d - 1].first - 1) * dims[d - 1].second;
        at[--d] = 0;
      }
      if (d == 0) {
        return;
      }
      start += dims[d - 1].second;
    }
  }

  /// Whether it holds this element of its buffer.
  bool contains(size_t element) const;
};

class Tile {
public:
  /// The tile of an access of a kernel that check() accepts, and that outlives it.
  /// So do the values of the kernel, `known`.
  Tile(const Kernel &kernel, AccessId access, std::span<const int64_t> known);

  AccessId access() const { return id; }

  BufferId buffer() const { return bufferId; }

  /// Whether the place is known only at run time (`X[@]`): then it is the whole buffer.
  bool isAnywhere() const { return read->access.anywhere; }

  /// Run-time values are not known here: their name, or nothing.
  std::string_view unknownValue() const;

  /// Where it is in an iteration; none, and why, if it is touched and not within its buffer.
  bool place(std::span<const LoopIndex> indices, TilePlace &place, std::string &problem) const;

private:
  /// The elements of one dimension.
  struct Range {
    uint64_t first;
    uint64_t count;
    uint64_t stride;
  };

  std::optional<Range> rangeOf(size_t d, std::span<const LoopIndex> indices, bool isTouched,
                               std::string &problem) const;
  static void addRange(TilePlace &place, const Range &range);

  const Kernel *kernel;
  std::span<const int64_t> known;
  const BodyTile *read;
  AccessId id;
  BufferId bufferId;
  Shape extents;
};

} // namespace tally::data

#endif // TALLY_LIB_DATA_TILES_H
