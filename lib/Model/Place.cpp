//===- Place.cpp - How the two ends of a dependence lie to each other -----===//

#include "tally/Model/Place.h"

#include "tally/Model/RunNumbers.h"

namespace tally {

static Order orderOf(const Kernel &kernel, LoopId shared, const Dep &dep) {
  StmtId producer = kernel.stmtTowards(shared, dep.producer);
  StmtId consumer = kernel.stmtTowards(shared, dep.consumer);
  if (producer != consumer) {
    return kernel.stmts[producer].position < kernel.stmts[consumer].position ? Order::Forward
                                                                             : Order::Backward;
  }
  // The innermost common body has no common nested body, so one statement for
  // both is a block, or an `if` with an end in each branch.
  return kernel.stmts[producer].kind == Stmt::Kind::Block ? Order::SameBlock : Order::Opposite;
}

DepPlace placeOf(const Kernel &kernel, const Dep &dep) {
  return placeOf(kernel, dep, kernel.instrs[dep.producer].home);
}

DepPlace placeOf(const Kernel &kernel, const Dep &dep, LoopId producerHome) {
  DepPlace place;
  place.producerHome = producerHome;
  place.consumerHome = kernel.instrs[dep.consumer].home;
  place.shared = kernel.commonLoop(place.producerHome, place.consumerHome);
  place.order = orderOf(kernel, place.shared, dep);
  bool isOneLoop = place.producerHome == place.consumerHome;
  if (dep.table.valid() && (isOneLoop || kernel.tables[dep.table].over.valid())) {
    place.offset = iterationsBack(kernel, dep, place.shared);
    place.carrier = place.offset > 0 ? place.shared : LoopId();
    return place;
  }
  if (dep.numComponents == 0) {
    return place;
  }
  const DistanceComponent &outermost = kernel.componentsOf(dep).front();
  place.carrier = outermost.loop;
  place.offset = outermost.distance;
  place.loopsBelowCarrier = kernel.realLoop(place.shared) != place.carrier;
  return place;
}

IdVector<LoopId, LoopId> divergentLoops(const Kernel &kernel) {
  IdVector<LoopId, LoopId> divergent(kernel.loops.size());
  for (LoopId id : kernel.loops.ids()) { // parents come first
    const Loop &loop = kernel.loops[id];
    divergent[id] = !loop.uniform ? id : loop.parent.valid() ? divergent[loop.parent] : LoopId();
  }
  return divergent;
}

} // namespace tally
