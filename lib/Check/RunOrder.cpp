//===- RunOrder.cpp - Runs of instructions in the order of the text -------===//

#include "RunOrder.h"

#include "Walk.h"

namespace tally {

static uint32_t numRealLoops(const Kernel &kernel, LoopId loop) {
  uint32_t count = 0;
  for (; loop.valid(); loop = kernel.loops[loop].parent) {
    count += kernel.loops[loop].kind == LoopKind::Loop;
  }
  return count;
}

/// Notes the iterations of one engine's runs.
class RunOrderVisitor {
public:
  explicit RunOrderVisitor(RunOrder &order) : order(order) {}

  void enter(LoopId loop, uint64_t iteration, uint64_t) {
    if (order.kernel.loops[loop].kind == LoopKind::Loop) {
      iterations.push_back(static_cast<uint32_t>(iteration));
    }
  }

  void leave(LoopId loop) {
    if (order.kernel.loops[loop].kind == LoopKind::Loop) {
      iterations.pop_back();
    }
  }

  void instr(InstrId id) {
    std::vector<uint32_t> &all = order.vectors[id];
    all.insert(all.end(), iterations.begin(), iterations.end());
    ++order.numRuns[id];
  }

private:
  RunOrder &order;
  std::vector<uint32_t> iterations; ///< of the loops around the body being walked
};

RunOrder::RunOrder(const Kernel &kernel, const Bindings &bindings, uint64_t maxSteps)
    : kernel(kernel), vectors(kernel.instrs.size()), rank(kernel.instrs.size(), 0),
      numRuns(kernel.instrs.size(), 0) {
  for (InstrId id : kernel.instrs.ids()) {
    rank[id] = numRealLoops(kernel, kernel.instrs[id].home);
  }
  uint64_t fuel = maxSteps;
  for (EngineId engine : kernel.engines.ids()) {
    RunOrderVisitor visitor(*this);
    Walk(kernel, bindings, engine, visitor, fuel).run();
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
