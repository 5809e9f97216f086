//===- RunOrder.cpp - Runs of instructions in the order of the text -------===//

#include "RunOrder.h"

#include "tally/Run/KernelCursor.h"

namespace tally {

static uint32_t numRealLoops(const Kernel &kernel, LoopId loop) {
  uint32_t count = 0;
  for (; loop.valid(); loop = kernel.loops[loop].parent) {
    count += kernel.loops[loop].kind == LoopKind::Loop;
  }
  return count;
}

RunOrder::RunOrder(const Kernel &kernel, const Bindings &bindings, uint64_t maxSteps)
    : kernel(kernel), vectors(kernel.instrs.size()), rank(kernel.instrs.size(), 0),
      numRuns(kernel.instrs.size(), 0) {
  for (InstrId id : kernel.instrs.ids()) {
    rank[id] = numRealLoops(kernel, kernel.instrs[id].home);
  }
  uint64_t fuel = maxSteps;
  for (EngineId engine : kernel.engines.ids()) {
    using Stop = KernelCursor::Stop;
    KernelCursor cursor(kernel, bindings, engine, fuel);
    for (Stop at = cursor.next(); at != Stop::End; at = cursor.next()) {
      if (at == Stop::Instr) {
        std::vector<uint32_t> &all = vectors[cursor.instr()];
        all.insert(all.end(), cursor.iterations().begin(), cursor.iterations().end());
        ++numRuns[cursor.instr()];
      }
    }
  }
}

bool RunOrder::isBefore(Instance a, Instance b) const {
  bool hasA = a.run < numRuns[a.instr], hasB = b.run < numRuns[b.instr];
  if (!hasA || !hasB) {
    return !hasA && hasB;
  }
  const uint32_t *atA = vectors[a.instr].data() + size_t(a.run) * rank[a.instr];
  const uint32_t *atB = vectors[b.instr].data() + size_t(b.run) * rank[b.instr];
  uint32_t common = numRealLoops(
      kernel, kernel.commonLoop(kernel.instrs[a.instr].home, kernel.instrs[b.instr].home));
  for (uint32_t i = 0; i < common; ++i) {
    if (atA[i] != atB[i]) {
      return atA[i] < atB[i];
    }
  }
  return a.instr != b.instr ? a.instr < b.instr : a.run < b.run;
}

} // namespace tally
