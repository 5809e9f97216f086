//===- Repeats.cpp - After how many iterations two tiles are as before ----===//

#include "Repeats.h"

#include "TileMeet.h"

#include <numeric>

namespace tally::deps {
namespace {

constexpr uint64_t mostRepeats = 4096;

/// After `period` entries of the counted body, an expression is larger by `step`.
struct Drift {
  uint64_t period = 1;
  int64_t step = 0;
};

/// Of the expressions of one tile. What overflows is not known.
class Drifts {
public:
  Drifts(const Kernel &kernel, const BodyTile &tile, LoopId counted)
      : kernel(kernel), tile(tile), counted(counted) {}

  std::optional<Drift> of(TileExprId id) const {
    const TileExpr &node = tile.access.exprs[id];
    switch (node.kind) {
    case TileExpr::Kind::Constant:
      return Drift();
    case TileExpr::Kind::Loop:
      return Drift{1, tile.loopOf(node) == counted};
    case TileExpr::Kind::Total:
      return entries(tile.loopOf(node));
    case TileExpr::Kind::Trips:
      return kernel.loops[tile.loopOf(node)].knownTrips() ? std::optional(Drift()) : std::nullopt;
    case TileExpr::Kind::Symbol:
      return std::nullopt;
    case TileExpr::Kind::Add:
      return plus(of(node.a), 1, of(node.b));
    case TileExpr::Kind::Sub:
      return plus(of(node.a), -1, of(node.b));
    case TileExpr::Kind::Scale:
      return plus(Drift(), node.value, of(node.a));
    case TileExpr::Kind::Mod:
    case TileExpr::Kind::FloorDiv:
      return divided(of(node.a), node);
    }
    return std::nullopt;
  }

  /// What a comparison asks for. Both sides may grow, if they do so together.
  std::optional<Drift> of(const TileGuard &guard) const {
    return plus(of(guard.left), -1, of(guard.right));
  }

private:
  /// Of a body that is entered equally often in each entry of the counted one.
  std::optional<Drift> entries(LoopId body) const {
    uint64_t each = 1;
    for (LoopId loop = body; loop != counted; loop = kernel.loops[loop].parent) {
      std::optional<uint64_t> trips = kernel.loops[loop].knownTrips();
      if (!trips || __builtin_mul_overflow(each, *trips, &each) || each > maxCount) {
        return std::nullopt;
      }
    }
    return Drift{1, static_cast<int64_t>(each)};
  }

  /// a + factor * b
  static std::optional<Drift> plus(const std::optional<Drift> &a, int64_t factor,
                                   const std::optional<Drift> &b) {
    if (!a || !b) {
      return std::nullopt;
    }
    Drift sum{std::lcm(a->period, b->period), 0};
    auto in = [&](const Drift &part) { return static_cast<int64_t>(sum.period / part.period); };
    int64_t ofA = 0, ofB = 0;
    bool isTooLarge = sum.period > mostRepeats || __builtin_mul_overflow(in(*a), a->step, &ofA) ||
                      __builtin_mul_overflow(in(*b), b->step, &ofB) ||
                      __builtin_mul_overflow(factor, ofB, &ofB) ||
                      __builtin_add_overflow(ofA, ofB, &sum.step);
    return isTooLarge ? std::nullopt : std::optional(sum);
  }

  /// After so many periods that the divisor goes into the step, a quotient grows by what it is
  /// there, and a rest is the same.
  static std::optional<Drift> divided(const std::optional<Drift> &part, const TileExpr &node) {
    if (!part) {
      return std::nullopt;
    }
    const auto divisor = static_cast<uint64_t>(node.value);
    const auto step = static_cast<uint64_t>(part->step);
    const uint64_t times = divisor / std::gcd(divisor, part->step < 0 ? 0 - step : step);
    Drift result;
    int64_t grown = 0;
    if (__builtin_mul_overflow(part->period, times, &result.period) ||
        result.period > mostRepeats ||
        __builtin_mul_overflow(part->step, static_cast<int64_t>(times), &grown)) {
      return std::nullopt;
    }
    result.step = node.kind == TileExpr::Kind::Mod ? 0 : grown / node.value;
    return result;
  }

  const Kernel &kernel;
  const BodyTile &tile;
  LoopId counted;
};

} // namespace

uint64_t repeatsOf(std::span<const TilePair> pairs, LoopId counted) {
  uint64_t repeats = 1;
  auto add = [&](const std::optional<Drift> &drift) {
    bool comesAgain = repeats != 0 && drift && drift->step == 0;
    repeats = comesAgain ? std::lcm(repeats, drift->period) : 0;
    repeats = repeats > mostRepeats ? 0 : repeats;
  };
  for (const TilePair &pair : pairs) {
    auto driftOf = [&](const TileBox &tile, const auto &what) {
      add(Drifts(pair.kernel, pair.tiles.read(tile), counted).of(what));
    };
    forDecidingExprs(
        pair,
        [&](const TileBox &tile, TileExprId expr) {
          if (expr.valid()) {
            driftOf(tile, expr);
          }
        },
        driftOf);
  }
  return repeats;
}

} // namespace tally::deps
