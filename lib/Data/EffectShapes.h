//===- EffectShapes.h - What an instruction makes, and of which shape -----===//
#ifndef TALLY_LIB_DATA_EFFECTSHAPES_H
#define TALLY_LIB_DATA_EFFECTSHAPES_H

#include "EffectTable.h"

namespace tally::data {

/// What it reads and writes.
Effect readTiles(const Kernel &kernel, InstrId id, std::span<const int64_t> known);

/// Reads the text of an instruction, its tiles and loops; none if it has no effect. `problems`: why
/// its data cannot be followed.
std::optional<Effect> readEffect(const Kernel &kernel, InstrId id, std::span<const int64_t> known,
                                 std::vector<std::string> &problems);

/// Finds the shapes of everything that it makes, from those of its tiles, which are there, and of
/// what its queue has kept. The reason why they do not fit, or nothing.
std::string inferShapes(const Kernel &kernel, Effect &effect, QueueId queue,
                        const std::optional<Shape> &kept);

} // namespace tally::data

#endif // TALLY_LIB_DATA_EFFECTSHAPES_H
