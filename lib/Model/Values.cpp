//===- Values.cpp - Numbers that are the same throughout a run ------------===//

#include "tally/Model/Values.h"

#include "tally/Model/Ranges.h"

#include <algorithm>

namespace tally {
namespace {

class ValueFinder {
public:
  explicit ValueFinder(Kernel &kernel) : kernel(kernel) {}

  void add(LoopId id) {
    const Trip &trip = kernel.loops[id].trip;
    std::string ignored;
    std::optional<ParsedAccess> formula = parseFormula(kernel.text(trip.symbol), ignored);
    if (!formula) {
      return; // check() says so
    }
    addNamed(*formula, id);
    if (std::string_view alone = aloneIn(*formula); !alone.empty()) {
      RunValue &value = kernel.values[valueOf(alone, id)];
      value.loop = value.isStated ? value.loop : id;
      value.isStated = true;
      bound(value, trip.min, trip.max);
    }
  }

  void add(const DeclaredValue &declared) {
    RunValue &value = kernel.values[valueOf(kernel.text(declared.name), rootLoop)];
    bound(value, declared.min, declared.max);
  }

  void addCondition(LoopId id) {
    std::string ignored;
    if (auto condition = parseCondition(kernel.text(kernel.loops[id].trip.condition), ignored)) {
      addNamed(*condition, id);
    }
  }

private:
  void addNamed(const ParsedAccess &text, LoopId id) {
    for (const TileExpr &node : text.exprs) {
      if (node.kind == TileExpr::Kind::Symbol) {
        valueOf(text.names[node.name], id);
      }
    }
  }

  RunValueId valueOf(std::string_view name, LoopId loop) {
    RunValueId known = kernel.valueNamed(name);
    return known.valid() ? known
                         : kernel.values.push({kernel.strings.intern(name), 0, {}, loop, false});
  }

  static void bound(RunValue &value, uint64_t min, std::optional<uint64_t> max) {
    value.min = std::max(value.min, min);
    value.max = value.max && max ? std::min(*value.max, *max) : max ? max : value.max;
  }

  Kernel &kernel;
};

} // namespace

/// A value that gives trips is told by the first loop that it gives them, even if an `if` before
/// names it.
void findValues(Kernel &kernel) {
  kernel.values = {};
  for (LoopId id : kernel.loops.ids()) {
    if (kernel.loops[id].trip.kind == Trip::Kind::Formula) {
      ValueFinder(kernel).add(id);
    }
  }
  for (LoopId id : kernel.loops.ids()) {
    if (kernel.loops[id].trip.condition.valid()) {
      ValueFinder(kernel).addCondition(id);
    }
  }
  for (const DeclaredValue &declared : kernel.declaredValues) {
    ValueFinder(kernel).add(declared);
  }
}

/// A loop comes behind those around it, so what it names has its bounds.
void boundFormulas(Kernel &kernel) {
  for (LoopId id : kernel.loops.ids()) {
    Trip &trip = kernel.loops[id].trip;
    if (trip.kind != Trip::Kind::Formula) {
      continue;
    }
    const BodyTile &formula = kernel.tiles->formulaOf(id);
    bool isSound = controlProblem(kernel, formula).empty();
    Bounds bounds =
        isSound ? boundsOf(kernel, formula, formula.access.dims[0].first) : Bounds{0, 0};
    trip.min = static_cast<uint64_t>(std::clamp<int64_t>(bounds.first, 0, maxCount));
    trip.max.reset();
    if (bounds.last < static_cast<int64_t>(maxCount)) {
      trip.max = static_cast<uint64_t>(std::max<int64_t>(bounds.last, 0));
      trip.min = std::min(trip.min, *trip.max); // of what never runs, bounds may be crossed
    }
  }
}

} // namespace tally
