//===- Regions.cpp - Parts of a kernel that are synchronised in their own way ===//

#include "tally/Model/Regions.h"

#include "../Support/Report.h"

#include <algorithm>

namespace tally {

/// A loop's id is greater than its parent's.
IdVector<LoopId, RegionSync> regionSyncs(const Kernel &kernel) {
  IdVector<LoopId, RegionSync> result(kernel.loops.size(), RegionSync::AsAround);
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    bool inherits = loop.sync == RegionSync::AsAround && loop.parent.valid();
    result[id] = inherits ? result[loop.parent] : loop.sync;
  }
  return result;
}

bool hasRegions(const Kernel &kernel) {
  return std::ranges::any_of(kernel.loops,
                             [](const Loop &loop) { return loop.sync != RegionSync::AsAround; });
}

uint64_t iterationsWrittenOut(const Loop &loop) {
  if (loop.trip.kind != Trip::Kind::Constant) {
    return loop.unroll;
  }
  return std::max<uint64_t>(1, std::min<uint64_t>(loop.unroll, loop.trip.constant));
}

void checkUnrolling(const Loop &loop, std::string_view name, Diagnostics &diagnostics) {
  bool full = loop.unroll == fullyUnrolled;
  if (loop.unroll == 0 || (!full && loop.unroll > maxCount)) {
    report(diagnostics, loop.where,
           "'{}' is unrolled {} times; a number from 1 to {}, or 'full', is allowed", name,
           loop.unroll, maxCount);
  } else if (loop.unroll > 1 && loop.trip.kind == Trip::Kind::Guard) {
    report(diagnostics, loop.where,
           "'{}' cannot be unrolled: how often it runs is only known when it ends; give it "
           "'trips', or leave 'unroll' out",
           name);
  } else if (full && loop.trip.kind != Trip::Kind::Constant) {
    report(diagnostics, loop.where,
           "'{}' cannot be unrolled fully: how often it runs is only known at run time; say how "
           "many iterations, as in 'unroll 4'",
           name);
  }
}

} // namespace tally
