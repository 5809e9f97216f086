//===- ExplainOrder.h - Where an engine waits in a run --------------------===//
//
// An engine issues in order, so an instruction also waits for those before it.
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_EXPLAINORDER_H
#define TALLY_TOOLS_TALLY_EXPLAINORDER_H

#include "Standing.h"

#include "tally/Sim/Simulate.h"

#include <vector>

namespace tally::tool {

struct EngineWait {
  InstrId before;    ///< the instruction at which the engine waited; none: a barrier, or the end
  Standing standing; ///< if there is none
  Tick span = 0;
};

/// Where an engine waited in a run, the longest first.
std::vector<EngineWait> engineWaits(const Kernel &kernel, const Code &code, const SimResult &result,
                                    EngineId engine);

/// `'load'`, `a barrier in 'n'` or `the end`.
std::string placeText(const Kernel &kernel, const EngineWait &wait);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_EXPLAINORDER_H
