//===- Divergence.h - Where engines may disagree on a count ---------------===//
//
// A wait is computed from what its own engine has counted. If engines may disagree on a loop around
// the producer, that is not what the producer's engine has done: the runs that are waited for may
// come late, in a later iteration, or never. Such a dependence, which says 'allow_divergent', is
// *counted apart*. It means exactly what the consumer's engine counts, and only that can be waited
// for: one run more might be one that never comes.
//
// The same holds for all engines that depend on one that waits in this way. As long as it is stuck,
// its own runs do not come; a wait for exactly what is owed may pass, a wait for more is
// stuck, too. Such an engine is *doubtful*. Of all other engines, every run comes: they wait for
// what lies before them in the program on which all agree.
//
//   loop A:                    e1 counts two runs of P in each iteration of A, e0 makes one.
//     loop B, divergent:       In iteration 1, C waits for a run that e0 makes in iteration 2;
//       P on e0                and if engines met at the back edge of A, it would never come.
//     C on e1                  e1 is doubtful. So is e0, if it waits for anything of e1.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SYNC_DIVERGENCE_H
#define TALLY_SYNC_DIVERGENCE_H

#include "tally/Model/Kernel.h"

namespace tally {

class Divergence {
public:
  /// For a legal kernel. Linear in its size, and cubic in the number of engines.
  explicit Divergence(const Kernel &kernel);

  /// The innermost divergent loop or branch at or around a body; none if engines agree on all.
  LoopId around(LoopId body) const { return divergent[body]; }

  /// The divergent loop or branch around the producer of a dependence between two engines; none if
  /// they agree on all of them.
  LoopId apartOn(DepId dep) const;

  /// A dependence that is counted apart, on which the engine depends; none if it is not doubtful.
  DepId doubtOf(EngineId engine) const { return doubts[engine]; }

  /// Why a wait for more than a dependence asks might never end: the dependence itself, or the one
  /// that makes the producer's engine doubtful; none if it always ends.
  DepId mayNeverComeBy(DepId dep) const;

private:
  const Kernel &kernel;
  IdVector<LoopId, LoopId> divergent;
  IdVector<EngineId, DepId> doubts;
};

} // namespace tally

#endif // TALLY_SYNC_DIVERGENCE_H
