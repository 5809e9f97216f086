//===- Meetings.cpp - What touches the same in one run --------------------===//

#include "Meetings.h"

namespace tally::check {

/// Longer runs are not looked at.
static constexpr uint64_t maxSteps = 1'000'000;

Meetings::Meetings(const Kernel &kernel, const Bindings &bindings, const StopFlag *stop)
    : kernel(kernel), owed(kernel, bindings, {maxSteps, stop}),
      datapath(kernel, bindings, {maxSteps, stop}, true) {}

bool Meetings::meet(Party first, Party second) const {
  auto areInOrder = [&](uint32_t a, uint32_t b) {
    return isInTextBefore(kernel, owed, {first.instr, a}, {second.instr, b});
  };
  if (!owed.complete() || !datapath.complete()) {
    return false;
  }
  if (!first.access.valid()) {
    uint32_t numFirst = owed.numRuns(first.instr), numSecond = owed.numRuns(second.instr);
    return numFirst > 0 && numSecond > 0 && areInOrder(0, numSecond - 1);
  }
  std::span<const CellTouch> a = datapath.touches(first.access);
  std::span<const CellTouch> b = datapath.touches(second.access);
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].cell == b[j].cell && areInOrder(a[i].first, b[j].last)) {
      return true;
    }
    bool isBehind = a[i].cell < b[j].cell;
    i += isBehind ? 1 : 0;
    j += isBehind ? 0 : 1;
  }
  return false;
}

bool isInTextBefore(const Kernel &kernel, const Owed &owed, Instance a, Instance b) {
  bool hasA = a.run < owed.numRuns(a.instr), hasB = b.run < owed.numRuns(b.instr);
  if (!hasA || !hasB) {
    return !hasA && hasB;
  }
  size_t common = 0;
  for (LoopId loop = kernel.commonLoop(kernel.instrs[a.instr].home, kernel.instrs[b.instr].home);
       loop.valid(); loop = kernel.loops[loop].parent) {
    common += kernel.loops[loop].kind == LoopKind::Loop;
  }
  std::span<const uint32_t> ofA = owed.iterationsOf(a), ofB = owed.iterationsOf(b);
  for (size_t i = 0; i < common; ++i) {
    if (ofA[i] != ofB[i]) {
      return ofA[i] < ofB[i];
    }
  }
  return a < b;
}

} // namespace tally::check
