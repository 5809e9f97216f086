//===- LoopChanges.h - What may leave a loop, and where it may be split ---===//
//
// Two changes of a loop after which each run computes what it did:
//
//   once    what is the same in each iteration, and stays until it is read, stands before the loop
//
//     for i { load w from W;  use w, x[i] }       load w from W;  for i { use w, x[i] }
//
//   split   of two parts of a body, the first one runs in all iterations before the second one does
//
//     for i { write t[i];  read t[i] }            for i { write t[i] };  for i.2 { read t[i.2] }
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_LOOPCHANGES_H
#define TALLY_DEPS_LOOPCHANGES_H

#include "tally/Model/Kernel.h"

namespace tally {

/// Instructions of a loop's body that need to run only once each time the loop is reached.
struct Unchanging {
  LoopId loop;
  std::vector<InstrId> instrs; ///< in order
};

/// For each loop all at once, then each instruction alone.
std::vector<Unchanging> mayRunOnce(const Kernel &kernel);

/// The same kernel, but that they stand before the loop.
Kernel runningOnce(const Kernel &kernel, const Unchanging &what);

struct SplitPoint {
  LoopId loop;
  InstrId second; ///< the first instruction of the second part
};

std::vector<SplitPoint> maySplit(const Kernel &kernel);

/// The same kernel, but that the second part has a loop of its own after it.
Kernel splitAt(const Kernel &kernel, const SplitPoint &point);

} // namespace tally

#endif // TALLY_DEPS_LOOPCHANGES_H
