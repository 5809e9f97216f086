//===- Touches.cpp - Whether runs do anything that is compared ------------===//

#include "tally/Check/Touches.h"

#include "TileRanges.h"

#include "tally/Model/Overlap.h"
#include "tally/Run/Owed.h"

#include <algorithm>

namespace tally {

using namespace check;

void RunsDo::add(const Bindings &bindings, const StopFlag *stop) {
  if (does != RunDoes::Meet) {
    addTouches(bindings);
  }
  if (numUnowed != 0 && !isTooLong) {
    addOwed(bindings, stop);
  }
}

/// Buffers that may share memory count as one.
void RunsDo::addTouches(const Bindings &bindings) {
  struct Group {
    uint64_t firstRun = 0; ///< of an instruction that touches it, counted from 1
    bool isWritten = false;
  };

  TileRanges ranges(kernel);
  SharedMemory shared(kernel);
  IdVector<BufferId, Group> groups(kernel.buffers.size());
  uint64_t run = 0;
  for (EngineId engine : kernel.engines.ids()) {
    Fuel fuel = 1'000'000;
    KernelCursor cursor(kernel, bindings, engine, fuel);
    while (cursor.nextRun()) {
      ++run;
      does = std::max(does, RunDoes::Issue);
      if (kernel.accesses.empty()) {
        return;
      }
      for (AccessId access : kernel.instrs[cursor.instr()].accesses) {
        if (!ranges.isTouched(cursor, access)) {
          continue;
        }
        Group &group = groups[shared.groupOf(kernel.accesses[access].buffer)];
        group.isWritten |= kernel.accesses[access].kind != AccessKind::Read;
        bool isMet = group.isWritten && group.firstRun != 0 && group.firstRun != run;
        group.firstRun = group.firstRun == 0 ? run : group.firstRun;
        does = std::max(does, isMet ? RunDoes::Meet : RunDoes::Touch);
        if (isMet) {
          return;
        }
      }
    }
  }
}

void RunsDo::addOwed(const Bindings &bindings, const StopFlag *stop) {
  constexpr uint64_t mostPoints = 20'000'000;
  Owed owed(kernel, bindings, Fuel(mostPoints, stop));
  isTooLong = !owed.complete();
  for (DepId dep : kernel.deps.ids()) {
    uint32_t numRuns = owed.numRuns(kernel.deps[dep].consumer);
    for (uint32_t run = 0; run < numRuns && !isOwed[dep]; ++run) {
      isOwed[dep] = owed.of(dep, run) != 0;
      numUnowed -= isOwed[dep];
    }
  }
}

std::vector<DepId> RunsDo::neverOwed() const {
  std::vector<DepId> never;
  for (DepId dep : kernel.deps.ids()) {
    if (!isOwed[dep] && !isTooLong) {
      never.push_back(dep);
    }
  }
  return never;
}

} // namespace tally
