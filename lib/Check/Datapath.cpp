//===- Datapath.cpp - What instructions do to memory, opaquely ------------===//
//
// Steps:  1. tiles   every run's tiles, as ranges first:count:stride of each dimension; equal ones
//                    are one
//         2. cut     each dimension of a buffer at the ends of all ranges; pieces that the same
//                    ranges cover are one class
//         3. cells   a cell is one class of each dimension; a tile is all cells of its classes
//
// 3 is exact because a tile is a product of ranges and each range is a union of classes. Only cells
// that some tile touches exist.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Datapath.h"

#include "TileRanges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

namespace tally {

using namespace check;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The first values are what the cells hold at first.
ValueId Datapath::valueOf(Instance instance, const std::vector<ValueId> &operands) {
  ValueId next(static_cast<uint32_t>(numCells() + values.size()));
  return values.try_emplace({instance, operands}, next).first->second;
}

std::vector<ValueId> Datapath::initial() const {
  std::vector<ValueId> memory;
  for (uint32_t i = 0; i < numCells(); ++i) {
    memory.push_back(ValueId(i));
  }
  return memory;
}

const Footprint &Datapath::footprint(Instance instance) const {
  const std::vector<uint32_t> &runs = footprintOf[instance.instr];
  return instance.run < runs.size() ? footprints[runs[instance.run]] : nothing;
}

void Datapath::commit(std::vector<ValueId> &memory, Instance instance) {
  const Footprint &touched = footprint(instance);
  std::vector<ValueId> operands;
  for (CellId cell : touched.reads) {
    operands.push_back(memory[cell.value]);
  }
  if (!touched.writes.empty()) {
    ValueId value = valueOf(instance, operands);
    for (CellId cell : touched.writes) {
      memory[cell.value] = value;
    }
  }
  for (CellId cell : touched.accumulates) {
    operands.push_back(memory[cell.value]);
    memory[cell.value] = valueOf(instance, operands);
    operands.pop_back();
  }
}

template <typename T> static void sortUnique(std::vector<T> &items) {
  std::ranges::sort(items);
  items.erase(std::ranges::unique(items).begin(), items.end());
}

//===----------------------------------------------------------------------===//
// 1. Tiles
//===----------------------------------------------------------------------===//

/// Walks the kernel and gathers who touches what; then cuts.
class DatapathBuilder {
public:
  DatapathBuilder(Datapath &result, const Bindings &bindings, Fuel fuel, bool withTouches)
      : result(result), kernel(result.kernel), withTouches(withTouches), ranges(kernel),
        touching(fuel.another(maxTouched)), covering(fuel.another(maxCovered)),
        depCells(kernel.instrs.size()), leftBuffer(kernel.accesses.size(), false),
        touchedBy(kernel.accesses.size()) {
    if (kernel.accesses.empty()) {
      cellsOfDeps();
    }
    result.footprintOf.resize(kernel.instrs.size());
    for (EngineId e : kernel.engines.ids()) {
      KernelCursor cursor(kernel, bindings, e, fuel);
      while (cursor.nextRun()) {
        noteRun(cursor);
      }
      result.isComplete &= !cursor.isCutOff();
    }
    makeCells();
  }

private:
  /// Tiles by AccessKind.
  using TouchedTiles = std::array<std::vector<uint32_t>, 3>;

  void noteRun(const KernelCursor &at) {
    TouchedTiles touched;
    for (AccessId a : kernel.instrs[at.instr()].accesses) {
      if (ranges.isTouched(at, a)) {
        result.touched[a] = true;
        watch(at, a);
        touch(at, a, touched[static_cast<size_t>(kernel.accesses[a].kind)]);
      }
    }
    if (kernel.accesses.empty()) {
      touched = depCells[at.instr()];
    }
    result.footprintOf[at.instr()].push_back(touchedTiles(touched));
  }

  void watch(const KernelCursor &at, AccessId access) {
    std::optional<OutsideRun> run = leftBuffer[access] ? std::nullopt : ranges.outside(at, access);
    if (run) {
      leftBuffer[access] = true;
      result.outsideRuns.push_back(std::move(*run));
    }
  }

  void touch(const KernelCursor &at, AccessId access, std::vector<uint32_t> &touched) {
    auto run = static_cast<uint32_t>(result.footprintOf[at.instr()].size());
    auto add = [&](const RangeTile &tile) {
      touched.push_back(tiles(tile));
      if (withTouches) {
        touchedBy[access].try_emplace(touched.back(), run, run).first->second.second = run;
      }
    };
    RangeTile own = ranges.tileOf(at, access);
    add(own);
    for (const RangeTile &piece : ranges.sharedOf(own, sharedPieces)) {
      add(piece);
    }
    result.isComplete &= sharedPieces != 0;
  }

  /// Without accesses: one cell for each dependence, as a buffer of its own behind the kernel's.
  void cellsOfDeps() {
    for (DepId d : kernel.deps.ids()) {
      uint32_t tile = tiles({BufferId(static_cast<uint32_t>(kernel.buffers.size()) + d.value), {}});
      const Dep &dep = kernel.deps[d];
      depCells[dep.consumer][static_cast<size_t>(AccessKind::Read)].push_back(tile);
      depCells[dep.producer][static_cast<size_t>(AccessKind::Write)].push_back(tile);
    }
  }

  //===--- 2. Cut ---------------------------------------------------------===//

  /// One dimension of a buffer: piece i is [cuts[i], cuts[i+1]).
  struct Dimension {
    std::vector<int64_t> cuts;
    std::vector<uint32_t> classOf;                        ///< by piece
    std::map<TileRange, std::vector<uint32_t>> classesIn; ///< of each range, ascending
    std::vector<uint32_t> firstPiece;                     ///< by class
  };

  void cut(Dimension &dimension, uint64_t extent) {
    dimension.cuts = {0, static_cast<int64_t>(std::max<uint64_t>(extent, 1))};
    for (auto &[range, classes] : dimension.classesIn) {
      forStretches(range, [&](int64_t begin, int64_t end) {
        dimension.cuts.push_back(begin);
        dimension.cuts.push_back(end);
      });
    }
    sortUnique(dimension.cuts);
    classify(dimension);
  }

  void classify(Dimension &dimension) {
    size_t numPieces = dimension.cuts.size() - 1;
    std::vector<std::vector<uint32_t>> coveredBy(numPieces);
    uint32_t number = 0;
    for (auto &[range, classes] : dimension.classesIn) {
      forPieces(dimension, range, [&](size_t piece) {
        if (coveredBy[piece].empty() || coveredBy[piece].back() != number) {
          coveredBy[piece].push_back(number);
        }
      });
      ++number;
    }
    std::map<std::vector<uint32_t>, uint32_t> numbers;
    for (size_t piece = 0; piece < numPieces; ++piece) {
      auto [found, isNew] =
          numbers.try_emplace(coveredBy[piece], static_cast<uint32_t>(numbers.size()));
      if (isNew) {
        dimension.firstPiece.push_back(static_cast<uint32_t>(piece));
      }
      dimension.classOf.push_back(found->second);
    }
    for (auto &[range, classes] : dimension.classesIn) {
      forPieces(dimension, range,
                [&, &into = classes](size_t piece) { into.push_back(dimension.classOf[piece]); });
      sortUnique(classes);
    }
  }

  template <typename Visit>
  void forPieces(const Dimension &dimension, const TileRange &range, Visit visit) {
    auto pieces = [&](int64_t begin, int64_t end) {
      auto piece = std::lower_bound(dimension.cuts.begin(), dimension.cuts.end(), begin);
      for (; piece != dimension.cuts.end() && *piece < end && !covering.isOut(); ++piece) {
        covering.spend();
        visit(static_cast<size_t>(piece - dimension.cuts.begin()));
      }
    };
    if (range.whole) {
      return pieces(dimension.cuts.front(), dimension.cuts.back());
    }
    forStretches(range, pieces);
  }

  //===--- 3. Cells -------------------------------------------------------===//

  /// More cells in all footprints together than anybody wants to look at, and more pieces in all
  /// ranges.
  static constexpr uint64_t maxTouched = 20'000'000;
  static constexpr uint64_t maxCovered = 100'000'000;

  void makeCells() {
    std::map<BufferId, std::vector<Dimension>> cutBuffers;
    for (size_t t = 0; t < tiles.size(); ++t) {
      std::vector<Dimension> &dimensions = cutBuffers[tiles[t].buffer];
      dimensions.resize(tiles[t].ranges.size());
      for (size_t d = 0; d < dimensions.size(); ++d) {
        dimensions[d].classesIn[tiles[t].ranges[d]];
      }
    }
    for (auto &[buffer, dimensions] : cutBuffers) {
      for (size_t d = 0; d < dimensions.size(); ++d) {
        bool isOwn = buffer.value < kernel.buffers.size();
        cut(dimensions[d], isOwn ? kernel.buffers[buffer].shape[d] : 1);
      }
    }
    std::vector<std::vector<CellId>> cellsOfTile;
    for (size_t t = 0; t < tiles.size(); ++t) {
      cellsOfTile.push_back(cellsOf(tiles[t], cutBuffers[tiles[t].buffer]));
    }
    result.isComplete &= !touching.isOut() && !covering.isOut();
    makeFootprints(cellsOfTile);
    for (AccessId access : kernel.accesses.ids()) {
      result.cellTouches.push(touchesOf(touchedBy[access], cellsOfTile));
    }
  }

  /// First and last run that touch each tile.
  using TouchingRuns = std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>>;

  static std::vector<CellTouch> touchesOf(const TouchingRuns &runs,
                                          const std::vector<std::vector<CellId>> &cellsOfTile) {
    std::vector<CellTouch> touches;
    for (const auto &[tile, run] : runs) {
      for (CellId cell : cellsOfTile[tile]) {
        touches.push_back({cell, run.first, run.second});
      }
    }
    std::ranges::sort(touches, {}, &CellTouch::cell);
    size_t kept = 0;
    for (const CellTouch &touch : touches) {
      if (kept > 0 && touches[kept - 1].cell == touch.cell) {
        CellTouch &same = touches[kept - 1];
        same = {touch.cell, std::min(same.first, touch.first), std::max(same.last, touch.last)};
      } else {
        touches[kept++] = touch;
      }
    }
    touches.resize(kept);
    return touches;
  }

  /// All combinations of the classes of a tile's ranges.
  std::vector<CellId> cellsOf(const RangeTile &tile, const std::vector<Dimension> &dimensions) {
    std::vector<std::vector<uint32_t>> places{{}};
    for (size_t d = 0; d < dimensions.size(); ++d) {
      const std::vector<uint32_t> &classes = dimensions[d].classesIn.at(tile.ranges[d]);
      touching.spend(places.size() * classes.size());
      if (touching.isOut()) {
        return {};
      }
      std::vector<std::vector<uint32_t>> longer;
      for (const std::vector<uint32_t> &place : places) {
        for (uint32_t c : classes) {
          longer.push_back(place);
          longer.back().push_back(c);
        }
      }
      places = std::move(longer);
    }
    std::vector<CellId> cells;
    for (const std::vector<uint32_t> &place : places) {
      cells.push_back(cellAt(tile.buffer, place, dimensions));
    }
    return cells;
  }

  CellId cellAt(BufferId buffer, const std::vector<uint32_t> &place,
                const std::vector<Dimension> &dimensions) {
    auto [found, isNew] = cellIds.try_emplace({buffer, place}, CellId());
    if (isNew) {
      found->second = result.cellTexts.push(textOf(buffer, place, dimensions));
    }
    return found->second;
  }

  std::string textOf(BufferId buffer, const std::vector<uint32_t> &place,
                     const std::vector<Dimension> &dimensions) const {
    const auto numBuffers = static_cast<uint32_t>(kernel.buffers.size());
    if (buffer.value >= numBuffers + kernel.deps.size()) { // `bytes of 'X'[64:32]`
      return ranges.sharedName(buffer) +
             (ranges.hasPlaces(buffer) ? placeText(place, dimensions) : "");
    }
    if (buffer.value >= numBuffers) {
      const Dep &dep = kernel.deps[DepId(buffer.value - numBuffers)];
      return fmt::format("'{}' -> '{}'", kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer));
    }
    return std::string(kernel.text(kernel.buffers[buffer].name)) + placeText(place, dimensions);
  }

  static std::string placeText(const std::vector<uint32_t> &place,
                               const std::vector<Dimension> &dimensions) {
    std::string text;
    for (size_t d = 0; d < place.size(); ++d) {
      uint32_t piece = dimensions[d].firstPiece[place[d]];
      int64_t begin = dimensions[d].cuts[piece];
      int64_t count = dimensions[d].cuts[piece + 1] - begin;
      text += fmt::format("{}{}", d == 0 ? "[" : ", ", begin);
      text += count == 1 ? "" : fmt::format(":{}", count);
    }
    return place.empty() ? text : text + ']';
  }

  void makeFootprints(const std::vector<std::vector<CellId>> &cellsOfTile) {
    for (size_t i = 0; i < touchedTiles.size(); ++i) {
      auto cells = [&](AccessKind kind) {
        std::vector<CellId> all;
        for (uint32_t tile : touchedTiles[i][static_cast<size_t>(kind)]) {
          all.insert(all.end(), cellsOfTile[tile].begin(), cellsOfTile[tile].end());
        }
        sortUnique(all);
        return all;
      };
      result.footprints.push_back(
          {cells(AccessKind::Read), cells(AccessKind::Write), cells(AccessKind::Accumulate)});
    }
  }

  Datapath &result;
  const Kernel &kernel;
  const bool withTouches;
  TileRanges ranges;
  Fuel touching;
  Fuel covering;
  IdVector<InstrId, TouchedTiles> depCells;
  IdVector<AccessId, bool> leftBuffer;
  IdVector<AccessId, TouchingRuns> touchedBy;
  Numbering<RangeTile> tiles;
  Numbering<TouchedTiles> touchedTiles;
  std::map<std::pair<BufferId, std::vector<uint32_t>>, CellId> cellIds;
  uint64_t sharedPieces = maxTouched; ///< how many more are looked at
};

Datapath::Datapath(const Kernel &kernel, const Bindings &bindings, const Fuel &fuel,
                   bool withTouches)
    : kernel(kernel), touched(kernel.accesses.size(), false) {
  DatapathBuilder(*this, bindings, fuel, withTouches);
}

} // namespace tally
