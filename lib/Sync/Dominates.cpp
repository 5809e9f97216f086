//===- Dominates.cpp - When one wait makes another unnecessary ------------===//
//
// Two waits of one consumer on one semaphore: if the first passes, has the second passed? Both are
// mask * w*(N*x - (N-K)) with the same w and N. It suffices that
//
//   1. whenever b's mask is 1, so is a's; and then
//   2. N*x_a + K_a >= N*x_b + K_b, for which either
//      a. x_a >= x_b and K_a >= K_b, or
//      b. x_a > x_b, since K_a and K_b differ by less than N.
//
// Both x come from total(P) of the same body P, so they compare by how far back they look.
//===----------------------------------------------------------------------===//

#include "tally/Sync/Plan.h"

namespace tally {

static bool maskImplies(const Wait &a, const Wait &b) {
  if (!a.maskLoop.valid()) {
    return true;
  }
  return a.maskLoop == b.maskLoop && a.maskTotal == b.maskTotal && a.maskOffset <= b.maskOffset;
}

/// All runs of the producer that come first in sequence: no dependence on it asks for more.
static bool asksForAll(const Dep &dep) {
  return dep.form == DistanceForm::Vector && dep.numComponents == 0;
}

/// How the counters of two waits compare, in every state.
enum class Compared : uint8_t { Greater, NotLess, Unknown };

static Compared compareCounts(const SyncPlan &plan, const Wait &a, const Wait &b) {
  if (a.innerLoop.valid()) {
    return Compared::Unknown; // it may stop short of its slot
  }
  if (a.numLevels > 0 || b.numLevels > 0 || a.outer != b.outer || a.times != b.times ||
      a.less != b.less) {
    return Compared::Unknown; // counted from different loops, or not always owed
  }
  if (!a.ring.valid() && !b.ring.valid()) {
    // The same live counter, less a constant.
    return a.minus < b.minus ? Compared::Greater
                             : (a.minus == b.minus ? Compared::NotLess : Compared::Unknown);
  }
  if (!a.ring.valid()) {
    return a.minus == 0 ? Compared::NotLess : Compared::Unknown;
  }
  if (!b.ring.valid() || plan.rings[a.ring].loop != plan.rings[b.ring].loop) {
    return Compared::Unknown;
  }
  bool youngerOrEqual =
      plan.rings[a.ring].iterationsBack(a.slot) <= plan.rings[b.ring].iterationsBack(b.slot);
  return youngerOrEqual ? Compared::NotLess : Compared::Unknown;
}

bool dominates(const Kernel &kernel, const SyncPlan &plan, DepId da, DepId db) {
  const Wait &a = plan.waits[da];
  const Wait &b = plan.waits[db];
  if (!b.group.valid()) {
    return true;
  }
  if (a.group != b.group) {
    return false;
  }
  if (a.threshold == b.threshold) {
    return true;
  }
  if (plan.exprs.isConstant(a.threshold) && plan.exprs.isConstant(b.threshold)) {
    return plan.exprs[a.threshold].a >= plan.exprs[b.threshold].a;
  }
  InstrId pa = kernel.deps[da].producer;
  InstrId pb = kernel.deps[db].producer;
  if (pa == pb && asksForAll(kernel.deps[da])) {
    return true;
  }
  if (plan.countedIn(kernel, pa) != plan.countedIn(kernel, pb) || !maskImplies(a, b)) {
    return false;
  }
  // Places on a whole queue compare by K only within one block and equally far back.
  if (plan.sharesQueue(pa) &&
      (kernel.instrs[pa].block != kernel.instrs[pb].block || a.slot != b.slot)) {
    return false;
  }
  Compared counts = compareCounts(plan, a, b);
  if (counts == Compared::Unknown && asksForAll(kernel.deps[da])) {
    counts = Compared::NotLess;
  }
  if (counts == Compared::Greater) {
    return true;
  }
  return counts == Compared::NotLess && plan.placeOf[pa] >= plan.placeOf[pb];
}

} // namespace tally
