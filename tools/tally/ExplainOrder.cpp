//===- ExplainOrder.cpp - Where an engine waits in a run ------------------===//

#include "ExplainOrder.h"

#include <algorithm>

namespace tally::tool {

std::vector<EngineWait> engineWaits(const Code &code, const SimResult &result, EngineId engine) {
  std::vector<EngineWait> waits;
  const std::vector<Op> &ops = code.engines[engine].ops;
  Tick span = 0;
  for (size_t at = 0; at < ops.size(); ++at) {
    const OpStats &stats = result.engines[engine].ops[at];
    span += stats.waiting + stats.queueFull + stats.draining;
    if (ops[at].kind == OpKind::Issue && span > 0) {
      InstrId instr = ops[at].instr();
      auto known = std::ranges::find(waits, instr, &EngineWait::before);
      if (known == waits.end()) {
        waits.push_back({instr, span});
      } else {
        known->span += span;
      }
      span = 0;
    }
  }
  std::ranges::stable_sort(waits, std::ranges::greater(), &EngineWait::span);
  return waits;
}

} // namespace tally::tool
