//===- ExplainOrder.h - What an instruction need not wait for -------------===//
//
// Two things that no wait of an instruction shows:
//
//   no wait   a conflict that other waits and the order of issue and retirement imply, or that one
//             queue settles because it runs both instructions, one after the other
//   order     an engine issues in order, so an instruction also stands behind the waits of others
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_EXPLAINORDER_H
#define TALLY_TOOLS_TALLY_EXPLAINORDER_H

#include "tally/Sim/Simulate.h"

#include <string>
#include <vector>

namespace tally::tool {

struct NoWait {
  std::string dependence; ///< and what the two touch
  std::string because;
};

/// Of a kernel whose dependences are found.
std::vector<NoWait> noWaitsOf(const Kernel &kernel, const Machine &machine, InstrId consumer);

struct EngineWait {
  InstrId before; ///< the instruction at which the engine waited
  Tick span = 0;
};

/// At which instructions an engine waited in a run, the longest first.
std::vector<EngineWait> engineWaits(const Code &code, const SimResult &result, EngineId engine);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_EXPLAINORDER_H
