//===- Outside.cpp - Tiles beyond their buffers, in one run ---------------===//

#include "tally/Check/Outside.h"

#include "TileRanges.h"
#include "Walk.h"

namespace tally {
namespace {

/// Told by the walk of one engine after the other.
class Watcher {
public:
  Watcher(const Kernel &kernel, std::span<const AccessId> watched, uint64_t &fuel)
      : kernel(kernel), ranges(kernel), isWatched(kernel.accesses.size(), false), fuel(fuel) {
    for (AccessId id : watched) {
      isWatched[id] = true;
    }
  }

  void restart() { ranges.restart(); }

  void enter(LoopId loop, uint64_t number, uint64_t trips) { ranges.enter(loop, number, trips); }

  void leave(LoopId) {}

  /// What was found ends the walk.
  void instr(InstrId id) {
    for (AccessId access : kernel.instrs[id].accesses) {
      if (isWatched[access] && !found && ranges.isTouched(kernel.instrs[id].home, access)) {
        found = ranges.outside(id, access);
        fuel = found ? 0 : fuel;
      }
    }
  }

  std::optional<OutsideRun> found;

private:
  const Kernel &kernel;
  TileRanges ranges;
  IdVector<AccessId, bool> isWatched;
  uint64_t &fuel;
};

} // namespace

OutsideSearch findOutside(const Kernel &kernel, const Bindings &bindings,
                          std::span<const AccessId> watched, uint64_t maxRuns) {
  OutsideSearch search;
  if (watched.empty()) {
    return search;
  }
  uint64_t fuel = maxRuns;
  Watcher watcher(kernel, watched, fuel);
  for (EngineId engine : kernel.engines.ids()) {
    watcher.restart();
    search.isComplete &= Walk(kernel, bindings, engine, watcher, fuel).run();
    if (watcher.found) {
      search.found = std::move(watcher.found);
      search.isComplete = true;
      break;
    }
  }
  return search;
}

} // namespace tally
