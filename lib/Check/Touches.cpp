//===- Touches.cpp - Whether a run does anything that is compared ---------===//

#include "tally/Check/Touches.h"

#include "TileRanges.h"

namespace tally {

RunDoes doesRun(const Kernel &kernel, const Bindings &bindings) {
  TileRanges ranges(kernel);
  RunDoes most = RunDoes::Nothing;
  for (EngineId engine : kernel.engines.ids()) {
    Fuel fuel = 1'000'000;
    KernelCursor cursor(kernel, bindings, engine, fuel);
    while (cursor.nextRun()) {
      most = RunDoes::Issue;
      if (kernel.accesses.empty()) {
        return most;
      }
      for (AccessId access : kernel.instrs[cursor.instr()].accesses) {
        if (ranges.isTouched(cursor, access)) {
          return RunDoes::Touch;
        }
      }
    }
  }
  return most;
}

} // namespace tally
