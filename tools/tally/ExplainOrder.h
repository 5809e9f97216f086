//===- ExplainOrder.h - Where an engine waits in a run --------------------===//
//
// An engine issues in order, so an instruction also stands behind the waits of others.
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_EXPLAINORDER_H
#define TALLY_TOOLS_TALLY_EXPLAINORDER_H

#include "tally/Sim/Simulate.h"

#include <vector>

namespace tally::tool {

struct EngineWait {
  InstrId before; ///< the instruction at which the engine waited
  Tick span = 0;
};

/// At which instructions an engine waited in a run, the longest first.
std::vector<EngineWait> engineWaits(const Code &code, const SimResult &result, EngineId engine);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_EXPLAINORDER_H
