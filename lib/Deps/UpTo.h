//===- UpTo.h - Dependences as "all runs up to an iteration" --------------===//
//
// What a clock can take over is that all runs of an instruction up to some point have retired. So
// dependences are read as waits of this form. Where they have another one, as one that says no
// more, which is used, and one that says no less, and implies the dependence if it is implied:
//
//                                   used                     implied if
//   none                            up to now, in the same iteration of the loops around both
//   at 'A' = k, 'B' = all           up to iteration a - k of A, in the same entry of A
//   at 'A' = k, 'B' = anything      up to a - (k + 1)        up to a - k
//   flat 1                          up to one iteration before, of each loop around the body
//   flat k                                                   the same
//   element, at 'A' = k             (nothing)                all of iteration a - k of A
//   element                         one iteration before of  all so far of this iteration
//                                   the loop around both,
//                                   if at all
//
// A dependence of the first form that no run needs before some iteration of a loop around the
// consumer alone (NeededFrom) is first only asked about, there; later runs of an engine know no
// less:
//
//   none, from iteration k of 'B'   (nothing)                up to now, in iteration k of B
//
// It is not used then, since it stands as if it waited from iteration 0 on: it would imply itself.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_UPTO_H
#define TALLY_LIB_DEPS_UPTO_H

#include "tally/Deps/Extract.h"

#include <span>

namespace tally::deps {

struct UpTo {
  uint32_t dep = 0;
  LoopId loop = {};    ///< of which iterations are counted; with `back` 0 no matter
  uint32_t back = 0;   ///< nothing is waited for before iteration `back`
  uint32_t from = 0;   ///< no run before this iteration asks
  bool isUsed = true;  ///< the dependence says it
  bool isAsked = true; ///< the dependence is implied if this is, with all others that are asked
  bool isSure = false; ///< the producer runs in each such iteration
};

class UpToWaits {
public:
  /// Of a body that is repeated without end, if it is not the whole kernel. With `asksFrom`, what
  /// is needed from a later iteration on is only asked about.
  UpToWaits(const Kernel &kernel, const Extraction &extraction, LoopId body = rootLoop,
            bool asksFrom = false);

  /// Numbers of the waits of a consumer.
  uint32_t first(InstrId consumer) const { return firstOf[consumer.value]; }

  uint32_t end(InstrId consumer) const { return firstOf[consumer.value + 1]; }

  const UpTo &operator[](uint32_t wait) const { return waits[wait]; }

  size_t size() const { return waits.size(); }

  /// That are asked on one loop, each once, ascending.
  std::span<const int64_t> distancesOn(LoopId loop) const { return distances[loop]; }

  /// The innermost body at or around one that may not run; the root if there is none.
  LoopId headOf(LoopId body) const { return heads[body]; }

private:
  void addDep(const Kernel &kernel, const Extraction &extraction, uint32_t dep);
  void addVector(const Kernel &kernel, const Extraction &extraction, uint32_t dep);
  void addFlat(const Kernel &kernel, const Dep &dep, uint32_t number);
  void addElement(const Kernel &kernel, const Dep &dep, int64_t distance, uint32_t number);
  void add(const Kernel &kernel, const Dep &dep, UpTo wait);
  void index(const Kernel &kernel, const Extraction &extraction);

  const LoopId endless;
  const bool asksFrom;
  std::vector<UpTo> waits; ///< by consumer
  std::vector<uint32_t> firstOf;
  IdVector<LoopId, std::vector<int64_t>> distances;
  IdVector<LoopId, LoopId> heads;
  IdVector<LoopId, bool> agreed; ///< all engines run the body equally often
};

/// How often a body runs at least and at most each time it is reached.
uint64_t leastTrips(const Loop &loop);
uint64_t mostTrips(const Loop &loop);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_UPTO_H
