//===- TileWatch.h - Tiles of which only a run tells whether they stay ----===//
//
// Most tiles are shown to stay within their buffers when a kernel is read (tally/Deps/Bounds.h).
// The others are looked at in each run that a command makes.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_TILEWATCH_H
#define TALLY_TOOLS_TALLY_TILEWATCH_H

#include "tally/Model/Bindings.h"

#include <optional>

namespace tally::tool {

struct TileProblem {
  Diagnostic error;
  bool isSeen = true; ///< if not, the run is too long to tell
};

class TileWatch {
public:
  explicit TileWatch(const Kernel &kernel);

  /// The first tile that leaves its buffer with these trips, or that this cannot be told; none if
  /// all stay.
  std::optional<TileProblem> problemOf(const Bindings &bindings) const;

private:
  const Kernel &kernel;
  std::vector<AccessId> open;
};

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_TILEWATCH_H
