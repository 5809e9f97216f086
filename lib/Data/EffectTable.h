//===- EffectTable.h - What each instruction does, read once --------------===//
#ifndef TALLY_LIB_DATA_EFFECTTABLE_H
#define TALLY_LIB_DATA_EFFECTTABLE_H

#include "Tiles.h"

#include "tally/Data/Effects.h"
#include "tally/Model/ComputeText.h"

namespace tally::data {

/// An instruction whose text has been read, with the shapes of all that it makes.
struct Effect {
  static constexpr uint32_t always = UINT32_MAX;

  ParsedCompute compute;
  std::vector<Tile> reads;
  std::vector<Tile> writes;          ///< then the accumulated ones
  uint32_t numWrites = 0;            ///< that are not accumulated
  std::vector<uint32_t> startDepths; ///< by result: which loop around begins a sum; or `always`
  std::vector<Shape> readShapes;
  std::vector<Shape> writeShapes;
  IdVector<ComputeId, Shape> shapes; ///< of each node
};

/// How many loops and branches lie around the loop of this name, which is around `home`.
inline uint32_t depthOf(const Kernel &kernel, LoopId home, std::string_view loop) {
  while (kernel.nameOf(home) != loop || kernel.loops[home].isBranch()) {
    home = kernel.loops[home].parent;
  }
  return kernel.loops[home].depth - 1;
}

} // namespace tally::data

struct tally::Effects::Table {
  const Kernel &kernel;
  const Runs &runs;
  IdVector<InstrId, std::optional<data::Effect>> effects; ///< none: nothing to do
};

#endif // TALLY_LIB_DATA_EFFECTTABLE_H
