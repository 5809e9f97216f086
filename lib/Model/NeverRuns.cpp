//===- NeverRuns.cpp - What no run of a kernel reaches --------------------===//

#include "tally/Model/NeverRuns.h"

namespace tally {

static bool isEmpty(const Trip &trip) {
  return trip.most() == uint64_t(0);
}

bool neverRuns(const Kernel &kernel, LoopId id) {
  const Loop &loop = kernel.loops[id];
  return (loop.kind == LoopKind::Loop && isEmpty(loop.trip)) ||
         (loop.parent.valid() && neverRuns(kernel, loop.parent));
}

} // namespace tally
