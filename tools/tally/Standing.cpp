//===- Standing.cpp - Where operations stand -------------------------------===//

#include "Standing.h"

#include <fmt/format.h>

namespace tally::tool {

std::vector<Standing> standingsOn(const Kernel &kernel, const std::vector<Op> &ops) {
  std::vector<Standing> standings;
  Standing now{rootLoop};
  for (const Op &op : ops) {
    if (op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin) {
      now.body = op.loop();
    } else if (op.kind == OpKind::Else) {
      now.body = kernel.loops[now.body].otherBranch;
    } else if (op.kind == OpKind::BarrierBegin) {
      now.inBarrier = true;
    }
    standings.push_back(now);
    if (op.kind == OpKind::LoopEnd || op.kind == OpKind::IfEnd) {
      now.body = kernel.loops[now.body].parent;
    } else if (op.kind == OpKind::BarrierEnd) {
      now.inBarrier = false;
    }
  }
  return standings;
}

std::string standingText(const Kernel &kernel, Standing standing, std::string_view what) {
  return fmt::format(
      "{}{}", standing.inBarrier ? "a barrier" : what,
      standing.body == rootLoop ? "" : fmt::format(" in '{}'", kernel.nameOf(standing.body)));
}

} // namespace tally::tool
