//===- Outside.cpp - Tiles beyond their buffers, in one run ---------------===//

#include "tally/Check/Outside.h"

#include "TileRanges.h"

namespace tally {

using namespace check;

OutsideSearch findOutside(const Kernel &kernel, const Bindings &bindings,
                          std::span<const AccessId> watched, Fuel fuel) {
  OutsideSearch search;
  if (watched.empty()) {
    return search;
  }
  TileRanges ranges(kernel);
  IdVector<AccessId, bool> isWatched(kernel.accesses.size(), false);
  for (AccessId id : watched) {
    isWatched[id] = true;
  }
  for (EngineId engine : kernel.engines.ids()) {
    KernelCursor cursor(kernel, bindings, engine, fuel);
    while (cursor.nextRun()) {
      for (AccessId access : kernel.instrs[cursor.instr()].accesses) {
        if (isWatched[access] && ranges.isTouched(cursor, access)) {
          search.found = ranges.outside(cursor, access);
        }
        if (search.found) {
          search.isComplete = true;
          return search;
        }
      }
    }
    search.isComplete &= !cursor.isCutOff();
  }
  return search;
}

} // namespace tally
