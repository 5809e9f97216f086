//===- LoopsAlike.cpp - Loops that run equally often ---------------------===//

#include "LoopsAlike.h"

#include "tally/Model/Tiles.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tally::deps {
namespace {

/// What says how often a loop runs; only if it says the same at each entry.
struct Number {
  bool isKnown = false;
  uint64_t constant = 0;
  NameId formula;

  auto operator<=>(const Number &) const = default;
};

bool namesLoops(const BodyTile &formula) {
  return std::ranges::any_of(formula.access.exprs, [](const TileExpr &node) {
    return node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Total ||
           node.kind == TileExpr::Kind::Trips;
  });
}

Number numberOf(const Kernel &kernel, LoopId id) {
  const Loop &loop = kernel.loops[id];
  if (id == rootLoop || loop.kind != LoopKind::Loop || !loop.uniform) {
    return {};
  }
  if (std::optional<uint64_t> trips = loop.knownTrips()) {
    return {true, *trips, {}};
  }
  if (loop.trip.kind == Trip::Kind::Formula && !namesLoops(kernel.tiles->formulaOf(id))) {
    return {true, 0, loop.trip.symbol};
  }
  return {};
}

} // namespace

LoopsAlike loopsAlike(const Kernel &kernel) {
  IdVector<LoopId, Number> numbers(kernel.loops.size());
  LoopsAlike first(kernel.loops.size());
  std::map<std::tuple<Number, uint32_t>, LoopId> known; ///< also by how many are around it
  for (LoopId id : kernel.loops.ids()) {
    numbers[id] = numberOf(kernel, id);
    first[id] = id;
    if (numbers[id].isKnown) {
      uint32_t numAround = 0;
      for (LoopId l = kernel.loops[id].parent; l.valid(); l = kernel.loops[l].parent) {
        numAround += numbers[l] == numbers[id];
      }
      first[id] = known.try_emplace({numbers[id], numAround}, id).first->second;
    }
  }
  return first;
}

} // namespace tally::deps
