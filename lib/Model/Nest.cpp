//===- Nest.cpp - The loops around one body, walked -------------------------===//

#include "tally/Model/Nest.h"

#include <algorithm>

namespace tally {

uint64_t timesOf(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? Nest::endless : result;
}

uint64_t sumOf(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? Nest::endless : result;
}

Nest::Nest(const Kernel &kernel, LoopId body)
    : kernel(kernel), path(kernel.realLoops(body)), names(path.size(), false) {
  for (LoopId loop : path) {
    const Trip &trip = kernel.loops[loop].trip;
    if (trip.kind == Trip::Kind::Value || trip.kind == Trip::Kind::Guard) {
      chosen.push_back(loop);
    }
    if (trip.kind != Trip::Kind::Formula) {
      continue;
    }
    isTied = true;
    const BodyTile &formula = kernel.tiles->formulaOf(loop);
    for (const TileExpr &node : formula.access.exprs) {
      if (node.kind == TileExpr::Kind::Loop) {
        auto level = std::ranges::find(path, formula.loopOf(node)) - path.begin();
        names[static_cast<size_t>(level)] = true;
      } else if (node.kind == TileExpr::Kind::Symbol) {
        named.push_back(formula.valueOf(node));
      }
    }
  }
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
}

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

struct Nest::Walk {
  const NestChoice &choice;
  Fuel &fuel;
  const std::function<bool(const Reached &)> &visit;
  std::vector<uint64_t> iterations; ///< by level
};

uint64_t Nest::tripsAt(const Walk &walk, size_t level) const {
  const LoopId id = path[level];
  const Trip &trip = kernel.loops[id].trip;
  if (trip.kind == Trip::Kind::Constant) {
    return trip.constant;
  }
  if (trip.kind != Trip::Kind::Formula) {
    return walk.choice.trips[id];
  }
  const BodyTile &formula = kernel.tiles->formulaOf(id);
  auto indexOf = [&](LoopId around) {
    auto at = static_cast<size_t>(std::ranges::find(path, around) - path.begin());
    return LoopIndex{static_cast<int64_t>(walk.iterations[at]), 0, 0};
  };
  std::optional<int64_t> count =
      formula.valueAt(formula.access.dims[0].first, indexOf, walk.choice.values);
  return static_cast<uint64_t>(std::max<int64_t>(count.value_or(0), 0));
}

bool Nest::walkFrom(Walk &walk, size_t level, uint64_t times) const {
  if (walk.fuel.isOut()) {
    return false;
  }
  walk.fuel.spend();
  if (level == path.size()) {
    return walk.visit({1, times, {}}); // the kernel itself
  }
  const uint64_t trips = tripsAt(walk, level);
  if (level + 1 == path.size()) {
    return walk.visit({trips, times, std::span(walk.iterations).first(level)});
  }
  if (!names[level]) {
    walk.iterations[level] = std::max<uint64_t>(trips, 1) - 1;
    return trips == 0 || walkFrom(walk, level + 1, timesOf(times, trips));
  }
  for (uint64_t i = 0; i < trips; ++i) {
    walk.iterations[level] = i;
    if (!walkFrom(walk, level + 1, times)) {
      return false;
    }
  }
  return true;
}

bool Nest::walk(const NestChoice &choice, Fuel &fuel,
                const std::function<bool(const Reached &)> &visit) const {
  Walk walk{choice, fuel, visit, std::vector<uint64_t>(path.size(), 0)};
  return walkFrom(walk, 0, 1);
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

NestChoice Nest::mostTrips() const {
  NestChoice choice;
  choice.values.assign(kernel.values.size(), 0);
  choice.trips = IdVector<LoopId, uint64_t>(kernel.loops.size(), 0);
  for (LoopId loop : chosen) {
    choice.trips[loop] = kernel.loops[loop].trip.most().value_or(endless);
  }
  return choice;
}

/// What a value without `max` is tried with besides the least, if there are others or it gives no
/// trips.
static constexpr uint64_t fewMore = 16;

bool forValues(const Kernel &kernel, std::span<const RunValueId> values, NestChoice choice,
               Fuel &fuel, const std::function<bool(const NestChoice &)> &visit) {
  bool isAll = true;
  // A larger one lets loops run longer, which ends; to a condition or a tile that names it, it may
  // be all one.
  auto last = [&](const RunValue &value) {
    const bool isFew = values.size() > 1 || kernel.loops[value.loop].kind != LoopKind::Loop;
    return static_cast<int64_t>(value.max.value_or(isFew ? value.min + fewMore : maxCount));
  };
  for (RunValueId id : values) {
    choice.values[id.value] = static_cast<int64_t>(kernel.values[id].min);
    isAll &= kernel.values[id].max.has_value();
  }
  for (;;) {
    if (fuel.isOut() || !visit(choice)) {
      return false;
    }
    fuel.spend();
    // Like a number whose digits are the values, the last one counts fastest.
    size_t at = values.size();
    for (; at > 0; --at) {
      const RunValue &value = kernel.values[values[at - 1]];
      int64_t &number = choice.values[values[at - 1].value];
      if (number < last(value)) {
        ++number;
        break;
      }
      number = static_cast<int64_t>(value.min);
    }
    if (at == 0) {
      return isAll && !fuel.isOut();
    }
  }
}

std::optional<uint64_t> mostEntries(const Kernel &kernel, LoopId body) {
  constexpr uint64_t mostSteps = 1'000'000;
  Nest nest(kernel, body);
  Fuel fuel(mostSteps);
  uint64_t most = 0;
  auto count = [&](const NestChoice &choice) {
    uint64_t entries = 0;
    bool isWalked = nest.walk(choice, fuel, [&](const Nest::Reached &reached) {
      entries = sumOf(entries, timesOf(reached.times, reached.trips));
      return true;
    });
    most = std::max(most, entries);
    return isWalked;
  };
  bool isDone = forValues(kernel, nest.values(), nest.mostTrips(), fuel, count);
  return isDone && most != Nest::endless ? std::optional(most) : std::nullopt;
}

} // namespace tally
