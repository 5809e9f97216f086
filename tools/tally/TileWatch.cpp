//===- TileWatch.cpp - Tiles of which only a run tells whether they stay --===//

#include "TileWatch.h"

#include "Interrupt.h"

#include "tally/Check/Outside.h"
#include "tally/Deps/Bounds.h"

namespace tally::tool {

static std::vector<AccessId> accessesOf(const std::vector<TileBound> &bounds) {
  std::vector<AccessId> accesses;
  for (const TileBound &bound : bounds) {
    accesses.push_back(bound.first.access);
  }
  return accesses;
}

TileWatch::TileWatch(const Kernel &kernel)
    : kernel(kernel), open(accessesOf(findTileBounds(kernel))) {}

/// A short run is walked; of a long one it may be seen without that that all tiles stay.
std::optional<TileProblem> TileWatch::problemOf(const Bindings &bindings) const {
  constexpr uint64_t shortRun = 100'000;
  if (open.empty()) {
    return {};
  }
  OutsideSearch search = findOutside(kernel, bindings, open, shortRun);
  if (!search.isComplete) {
    EndsOnSignals untilSeen;
    search = findOutside(kernel, bindings, accessesOf(findTileBounds(kernel, bindings)));
  }
  if (search.found) {
    return TileProblem{outsideError(kernel, *search.found)};
  }
  if (!search.isComplete) {
    Diagnostic error;
    error.where = kernel.where;
    error.message = "the run is too long to see whether all tiles stay within their buffers; bind "
                    "smaller trips, or state a 'max' for them";
    return TileProblem{std::move(error), /*isSeen=*/false};
  }
  return {};
}

} // namespace tally::tool
