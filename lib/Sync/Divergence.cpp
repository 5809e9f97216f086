//===- Divergence.cpp - Where engines may disagree on a count -------------===//

#include "tally/Sync/Divergence.h"

#include "tally/Model/Place.h"

namespace tally {

Divergence::Divergence(const Kernel &kernel)
    : kernel(kernel), divergent(divergentLoops(kernel)), doubts(kernel.engines.size()) {
  std::vector<uint64_t> waitsFor(kernel.engines.size(), 0); // engines, one bit each
  for (DepId dep : kernel.deps.ids()) {
    EngineId waiting = kernel.engineOf(kernel.deps[dep].consumer);
    waitsFor[waiting.value] |= uint64_t(1) << kernel.engineOf(kernel.deps[dep].producer).value;
    bool first = apartOn(dep).valid() && !doubts[waiting].valid();
    doubts[waiting] = first ? dep : doubts[waiting];
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (EngineId e : kernel.engines.ids()) {
      for (EngineId other : kernel.engines.ids()) {
        bool spreads = (waitsFor[e.value] >> other.value & 1) != 0 && !doubts[e].valid() &&
                       doubts[other].valid();
        doubts[e] = spreads ? doubts[other] : doubts[e];
        changed |= spreads;
      }
    }
  }
}

LoopId Divergence::apartOn(DepId id) const {
  const Dep &dep = kernel.deps[id];
  bool between = kernel.engineOf(dep.producer) != kernel.engineOf(dep.consumer);
  return between ? divergent[kernel.instrs[dep.producer].home] : LoopId();
}

DepId Divergence::mayNeverComeBy(DepId id) const {
  const Dep &dep = kernel.deps[id];
  EngineId producer = kernel.engineOf(dep.producer);
  if (producer == kernel.engineOf(dep.consumer)) {
    return {}; // what it has issued before will retire
  }
  return apartOn(id).valid() ? id : doubts[producer];
}

} // namespace tally
