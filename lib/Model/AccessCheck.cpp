//===- AccessCheck.cpp - Whether a tile can stand where it does -----------===//

#include "tally/Model/AccessText.h"

#include <fmt/format.h>

namespace tally {

/// The loop or branch called `name` at or around `home`; none if there is none.
static LoopId findAround(const Kernel &kernel, LoopId home, std::string_view name) {
  while (home.valid() && (home == rootLoop || kernel.nameOf(home) != name)) {
    home = kernel.loops[home].parent;
  }
  return home;
}

static std::string nameProblem(const Kernel &kernel, LoopId home, const TileExpr &node,
                               std::string_view name) {
  bool wantsLoop = node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Trips;
  if (!wantsLoop && node.kind != TileExpr::Kind::Total) {
    return {};
  }
  LoopId loop = findAround(kernel, home, name);
  if (!loop.valid()) {
    return fmt::format("'{}' is no loop{} around it; a run-time value is written '${}'", name,
                       wantsLoop ? "" : " or branch", name);
  }
  if (wantsLoop && kernel.loops[loop].isBranch()) {
    return fmt::format("'{}' is a branch and has no iterations; 'total({})' counts how often it "
                       "was taken",
                       name, name);
  }
  return {};
}

std::string tileProblem(const Kernel &kernel, LoopId home, const Buffer &buffer,
                        const ParsedAccess &access) {
  if (!access.dims.empty() && access.dims.size() != buffer.shape.size()) {
    return fmt::format("it has {} dimension{}, but buffer '{}' has {}", access.dims.size(),
                       access.dims.size() == 1 ? "" : "s", access.buffer, buffer.shape.size());
  }
  for (const TileExpr &node : access.exprs) {
    std::string problem =
        nameProblem(kernel, home, node, access.names.empty() ? "" : access.names[node.name]);
    if (!problem.empty()) {
      return problem;
    }
  }
  return {};
}

} // namespace tally
