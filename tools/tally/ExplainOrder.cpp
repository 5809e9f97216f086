//===- ExplainOrder.cpp - Where an engine waits in a run ------------------===//

#include "ExplainOrder.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::tool {
namespace {

class Collector {
public:
  void add(const EngineWait &wait) {
    if (wait.span == 0) {
      return;
    }
    auto known = std::ranges::find_if(waits, [&](const EngineWait &other) {
      return other.before == wait.before &&
             (wait.before.valid() || other.standing == wait.standing);
    });
    if (known == waits.end()) {
      waits.push_back(wait);
    } else {
      known->span += wait.span;
    }
  }

  std::vector<EngineWait> sorted() {
    std::ranges::stable_sort(waits, std::ranges::greater(), &EngineWait::span);
    return std::move(waits);
  }

private:
  std::vector<EngineWait> waits;
};

} // namespace

std::vector<EngineWait> engineWaits(const Kernel &kernel, const Code &code, const SimResult &result,
                                    EngineId engine) {
  const std::vector<Op> &ops = code.engines[engine].ops;
  const std::vector<Standing> standings = standingsOn(kernel, ops);
  Collector waits;
  Tick span = 0; // since the last instruction, but not in barriers
  for (size_t at = 0; at < ops.size(); ++at) {
    const OpStats &stats = result.engines[engine].ops[at];
    Tick here = stats.waiting + stats.queueFull + stats.draining;
    if (standings[at].inBarrier) {
      waits.add({{}, standings[at], here});
      continue;
    }
    span += here;
    if (ops[at].kind == OpKind::Issue) {
      waits.add({ops[at].instr(), standings[at], std::exchange(span, 0)});
    }
  }
  waits.add({{}, {}, span});
  return waits.sorted();
}

std::string placeText(const Kernel &kernel, const EngineWait &wait) {
  return wait.before.valid()          ? fmt::format("'{}'", kernel.nameOf(wait.before))
         : wait.standing.body.valid() ? standingText(kernel, wait.standing, "a wait")
                                      : "the end";
}

} // namespace tally::tool
