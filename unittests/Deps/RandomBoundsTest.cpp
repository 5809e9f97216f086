//===- RandomBoundsTest.cpp - Tiles beyond their buffers, all runs enumerated //
//
// Random kernels whose tiles often leave their buffers, in both directions:
//
//   leaves    the run that is told is allowed by the kernel, and the enumeration sees the tile
//             leave in it, with this index; so, too, with other run-time values and trips without
//             `max`, if it is said to be so anyway
//   stays     in runs of no trips, few, as many as there may be, the enumeration sees no other tile
//             leave its buffer
//   one run   findOutside() says the same of each of these runs
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "RandomAccesses.h"
#include "oracle/Enumerate.h"

#include "tally/Check/Outside.h"
#include "tally/Check/Touches.h"
#include "tally/Deps/Bounds.h"
#include "tally/Model/Values.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

using namespace tally;
using namespace tally::oracle;

namespace {

/// TALLY_BOUNDS_KERNELS=100000 makes a long run of it.
uint64_t numKernels() {
  return test::numKernels("TALLY_BOUNDS_KERNELS", 1'500, 10'000);
}

constexpr uint64_t numParts = 8;

bool isUnbounded(const Loop &loop) {
  return loop.kind == LoopKind::Loop &&
         (loop.trip.kind == Trip::Kind::Guard || loop.trip.kind == Trip::Kind::Formula ||
          (loop.trip.kind == Trip::Kind::Value && !loop.trip.max));
}

/// Whether trips or values have no bound.
bool isOpen(const Kernel &kernel) {
  auto hasNoMax = [](const Loop &loop) {
    return isUnbounded(loop) && loop.trip.kind != Trip::Kind::Formula;
  };
  return std::ranges::any_of(kernel.loops, hasNoMax) ||
         std::ranges::any_of(kernel.values, [](const RunValue &value) { return !value.max; });
}

/// Whether only values decide how the bodies around an instruction, and all others, run.
bool isDecidedByValues(const Kernel &kernel) {
  return std::ranges::all_of(kernel.loops, [](const Loop &loop) {
    return loop.kind == LoopKind::Root || loop.trip.condition.valid() ||
           (loop.kind == LoopKind::Loop &&
            (loop.trip.kind == Trip::Kind::Constant || loop.trip.kind == Trip::Kind::Formula));
  });
}

/// Or a condition.
bool hasFormula(const Kernel &kernel) {
  return std::ranges::any_of(kernel.loops, [](const Loop &loop) {
    return loop.trip.kind == Trip::Kind::Formula || loop.trip.condition.valid();
  });
}

uint64_t fewest(const Loop &loop) {
  return loop.isBranch()                          ? 0
         : loop.trip.kind == Trip::Kind::Constant ? loop.trip.constant
         : loop.trip.kind == Trip::Kind::Value    ? loop.trip.min
                                                  : 0;
}

/// Trips and decisions with which the bodies around an instruction come to where a bound says.
class Way {
public:
  Way(const Kernel &kernel, const TileBound &bound) : kernel(kernel), byLoop(kernel.loops.size()) {
    read(bound.first.also);
    enterAll(bound);
  }

  /// The same, but for what nobody binds: run-time values, and trips without `max`.
  Way(const Kernel &kernel, const TileBound &bound, fuzz::Random &random)
      : kernel(kernel), byLoop(kernel.loops.size()) {
    read(bound.first.also);
    for (auto &[name, value] : symbols) {             // $m is a size
      value = kernel.valueNamed(name).valid() ? value // in trips, too
              : name == "m"                   ? random.in({1, 5})
                                              : static_cast<int64_t>(random.below(12)) - 3;
    }
    for (auto [loop, iteration] : bound.first.iteration) {
      auto found = trips.find(std::string(kernel.nameOf(loop)));
      if (found != trips.end() && isUnbounded(kernel.loops[loop])) {
        int64_t least = static_cast<int64_t>(fewest(kernel.loops[loop]));
        found->second = std::max(static_cast<int64_t>(iteration) + 1, least) +
                        static_cast<int64_t>(random.below(4));
      }
    }
    enterAll(bound);
  }

  uint64_t operator()(LoopId loop, uint64_t entry) const {
    const std::vector<uint64_t> &trips = byLoop[loop];
    if (hasFormula(kernel) && !trips.empty()) {
      return trips.back(); // nobody counts here how often a formula has let a loop run before
    }
    return entry < trips.size() ? trips[entry] : fewest(kernel.loops[loop]);
  }

  std::map<std::string, int64_t> symbols;
  std::map<std::string, int64_t> trips;
  std::map<std::string, int64_t> totals;

private:
  void enterAll(const TileBound &bound) {
    for (const RunValue &value : kernel.values) { // those that no loop around names
      int64_t least = static_cast<int64_t>(value.min);
      symbols.try_emplace(std::string(kernel.text(value.name)), least);
    }
    std::vector<LoopId> around;
    for (LoopId l = kernel.instrs[bound.first.instr].home; l != rootLoop;
         l = kernel.loops[l].parent) {
      around.insert(around.begin(), l);
    }
    uint64_t before = 0; ///< entries of the body around
    for (LoopId body : around) {
      before = choose(body, before, bound.first);
    }
  }

  /// `trips(A) = 3, $n = 0`
  void read(std::string_view text) {
    while (!text.empty()) {
      std::string_view part = text.substr(0, text.find(", "));
      text.remove_prefix(std::min(part.size() + 2, text.size()));
      size_t equals = part.rfind(" = ");
      int64_t value = std::stoll(std::string(part.substr(equals + 3)));
      std::string_view what = part.substr(0, equals);
      if (what.starts_with('$')) {
        symbols[std::string(what.substr(1))] = value;
      } else {
        size_t open = what.find('(');
        auto &map = what.starts_with("trips") ? trips : totals;
        map[std::string(what.substr(open + 1, what.size() - open - 2))] = value;
      }
    }
  }

  /// How often the body was entered before; it was reached `before` times before.
  uint64_t choose(LoopId body, uint64_t before, const OutsideRun &run) {
    const Loop &loop = kernel.loops[body];
    std::string name(kernel.nameOf(body));
    auto at = std::find_if(run.iteration.begin(), run.iteration.end(),
                           [&](const auto &each) { return each.loop == body; });
    int64_t own = at == run.iteration.end() ? 0 : static_cast<int64_t>(at->iteration);
    uint64_t most = loop.isBranch()                          ? 1
                    : loop.trip.kind == Trip::Kind::Constant ? loop.trip.constant
                                                             : loop.trip.max.value_or(1'000'000);
    auto wanted = totals.find(name);
    uint64_t left = wanted == totals.end() ? before * fewest(loop)
                                           : static_cast<uint64_t>(wanted->second - own);
    uint64_t sum = 0;
    std::vector<uint64_t> list;
    for (uint64_t entry = 0; entry < before; ++entry) {
      uint64_t others = (before - entry - 1) * fewest(loop);
      list.push_back(std::clamp(left - std::min(left, others), fewest(loop), most));
      left -= std::min(left, list.back());
      sum += list.back();
    }
    auto given = trips.find(name);
    uint64_t now = loop.isBranch()        ? 1
                   : given != trips.end() ? static_cast<uint64_t>(given->second)
                                          : std::max(fewest(loop), static_cast<uint64_t>(own) + 1);
    list.push_back(now);
    if (loop.kind == LoopKind::Else) {
      for (uint64_t &taken : list) {
        taken = 1 - taken;
      }
      byLoop[loop.otherBranch] = std::move(list);
    } else {
      byLoop[body] = std::move(list);
    }
    return sum + static_cast<uint64_t>(own);
  }

  const Kernel &kernel;
  IdVector<LoopId, std::vector<uint64_t>> byLoop;
};

/// Whether all that the way does is within the bounds of the kernel.
bool isAllowed(const Kernel &kernel, const Way &way) {
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    bool follows = loop.trip.kind == Trip::Kind::Formula;
    for (uint64_t entry = 0; entry < 200 && loop.kind == LoopKind::Loop && !follows; ++entry) {
      uint64_t trips = way(id, entry);
      bool isLow = trips < fewest(loop);
      bool isHigh = loop.trip.kind == Trip::Kind::Constant ? trips > loop.trip.constant
                                                           : trips > loop.trip.max.value_or(trips);
      if (isLow || isHigh) {
        return false;
      }
    }
  }
  return true;
}

/// Whether the enumeration sees the tile leave, with this index if it is given.
bool isSeen(const Kernel &kernel, const TileBound &bound, const Way &way,
            std::optional<int64_t> index) {
  TripsOf trips = [&](LoopId loop, uint64_t entry) { return way(loop, entry); };
  Enumeration runs(kernel, trips, way.symbols);
  std::vector<int64_t> vector;
  for (auto [loop, iteration] : bound.first.iteration) {
    vector.push_back(static_cast<int64_t>(iteration));
  }
  return std::any_of(runs.beyond().begin(), runs.beyond().end(), [&](const Beyond &beyond) {
    return beyond.access == bound.first.access && beyond.dim == bound.first.dim &&
           beyond.vector == vector && (!index || beyond.index == *index);
  });
}

struct Seen {
  size_t leaves = 0, open = 0, anyway = 0, stays = 0, outside = 0, counted = 0;
};

/// Whether totals over trips without `max` take part, which are not changed here.
bool hasOpenTotals(const Kernel &kernel, const Way &way) {
  return !way.totals.empty() && std::any_of(kernel.loops.begin(), kernel.loops.end(), isUnbounded);
}

/// Whether a value that nobody knows is part of a sum: then now this run leaves, now that.
bool addsOpenValue(const BodyTile &tile) {
  return std::ranges::any_of(tile.access.exprs, [&](const TileExpr &node) {
    return node.a.valid() && (tile.isOpen(tile.access.exprs[node.a]) ||
                              (node.b.valid() && tile.isOpen(tile.access.exprs[node.b])));
  });
}

bool hasOpenGuard(const BodyTile &tile) {
  return !tile.access.guards.empty() &&
         std::ranges::any_of(tile.access.exprs,
                             [&](const TileExpr &node) { return tile.isOpen(node); });
}

/// The first failure; empty if there is none.
std::string holdLeaving(const Kernel &kernel, const std::vector<TileBound> &bounds,
                        fuzz::Random &random, Seen &seen) {
  for (const TileBound &bound : bounds) {
    if (bound.kind == TileBound::Kind::TooHard && bound.isCounted && isOpen(kernel)) {
      continue; // there are more runs than can be walked
    }
    if (bound.kind == TileBound::Kind::TooHard) {
      return "a question is too hard";
    }
    Way way(kernel, bound);
    if (!way.totals.empty() && hasFormula(kernel) && !isDecidedByValues(kernel)) {
      continue; // nobody chooses how often such loops have run before
    }
    seen.counted += !way.totals.empty() && hasFormula(kernel);
    if (!isAllowed(kernel, way) || !isSeen(kernel, bound, way, bound.first.index)) {
      return fmt::format("not so: {}", outsideError(kernel, bound.first).message);
    }
    ++(bound.kind == TileBound::Kind::Leaves ? seen.leaves : seen.open);
    bool isAnyway = bound.kind == TileBound::Kind::Leaves && !hasOpenTotals(kernel, way) &&
                    !addsOpenValue((*kernel.tiles)[bound.first.access]);
    for (int i = 0; isAnyway && i < 4; ++i) {
      Way other(kernel, bound, random);
      if (!isSeen(kernel, bound, other, {})) {
        return fmt::format("not anyway: {}", outsideError(kernel, bound.first).message);
      }
      seen.anyway += other.symbols != way.symbols || other.trips != way.trips;
    }
  }
  return {};
}

std::string holdStaying(const Kernel &kernel, const std::vector<TileBound> &bounds, uint64_t seed,
                        Seen &seen) {
  constexpr std::pair<uint64_t, uint64_t> ranges[] = {{0, 2}, {2, 3}, {0, 8}};
  bool isDecided = !isOpen(kernel);
  for (auto [shortest, longest] : ranges) {
    Bindings bindings(kernel);
    bindings.setGuardSeed(seed + longest);
    auto trips = randomTrips(kernel, seed + shortest, shortest, longest);
    for (LoopId id : kernel.loops.ids()) {
      if (id != rootLoop && kernel.loops[id].kind != LoopKind::Else &&
          kernel.loops[id].trip.kind != Trip::Kind::Constant &&
          kernel.loops[id].trip.kind != Trip::Kind::Formula &&
          !kernel.loops[id].trip.condition.valid()) {
        std::vector<uint64_t> list;
        for (uint64_t entry = 0; entry < 7; ++entry) {
          list.push_back(trips(id, entry));
        }
        bindings.set(id, list);
      }
    }
    TripsOf same = [&](LoopId loop, uint64_t entry) {
      return bindings.trips(EngineId(0), loop, entry + 1);
    };
    std::map<std::string, int64_t> values = randomValues(kernel, seed, shortest, longest);
    for (RunValueId id : kernel.values.ids()) {
      bindings.setValue(id, static_cast<uint64_t>(values.at(std::string(kernel.nameOf(id)))));
    }
    Enumeration runs(kernel, same, values);
    std::vector<TileBound> bound = findTileBounds(kernel, bindings);
    for (const Beyond &beyond : runs.beyond()) {
      auto isIt = [&](const TileBound &each) {
        return each.first.access == beyond.access && each.first.dim == beyond.dim;
      };
      auto found = std::find_if(bounds.begin(), bounds.end(), isIt);
      if (found == bounds.end() ||
          (isDecided && found->values.empty() && found->kind != TileBound::Kind::Leaves)) {
        return fmt::format("missed: '{}' at {}", kernel.text(kernel.accesses[beyond.access].text),
                           fmt::join(beyond.vector, ","));
      }
      if (std::none_of(bound.begin(), bound.end(), isIt)) {
        return fmt::format("missed with trips: '{}'",
                           kernel.text(kernel.accesses[beyond.access].text));
      }
    }
    std::vector<AccessId> all;
    for (AccessId id : kernel.accesses.ids()) {
      all.push_back(id);
    }
    OutsideSearch search = findOutside(kernel, bindings, all);
    bool isJudged = std::ranges::none_of(all, [&](AccessId id) {
      return hasOpenGuard((*kernel.tiles)[id]); // which may hold, or not
    });
    if (!search.isComplete || (isJudged && search.found.has_value() == runs.beyond().empty())) {
      return "findOutside() says otherwise";
    }
    seen.outside += search.found.has_value();
    seen.stays += !search.found;
  }
  return {};
}

/// The same kernel, in which nothing else is accessed.
Kernel withOnly(const Kernel &kernel, InstrId only, AccessId access) {
  Kernel one = kernel;
  for (InstrId instr : one.instrs.ids()) {
    one.instrs[instr].accesses = {};
  }
  one.instrs[only].accesses = {access.value, 1};
  return one;
}

/// What runs of no trips, few and many do.
RunDoes mostDone(const Kernel &kernel, uint64_t seed) {
  RunsDo runs(kernel);
  for (uint32_t longest : {2, 4, 9}) {
    runs.add(fuzz::randomBindings(kernel, seed + longest, {0, longest}), nullptr);
  }
  return runs.most();
}

/// Of each access, alone, whether it touches anything. Runs do not know run-time values: a guard
/// that names one may hold in them, whatever else it says.
TEST(RandomTouchTest, whatIsSeenToTouchDoes) {
  size_t touching = 0;
  size_t idle = 0;
  for (uint64_t seed = 1; seed <= numKernels(); ++seed) {
    Kernel kernel = randomAccesses(seed, fuzz::Tiles::MayLeave);
    for (InstrId instr : kernel.instrs.ids()) {
      for (AccessId access : kernel.instrs[instr].accesses) {
        if (kernel.text(kernel.accesses[access].text).find('$') != std::string_view::npos) {
          continue;
        }
        Kernel one = withOnly(kernel, instr, access);
        bool isSeen = isSeenToTouch(one);
        bool does = mostDone(one, seed) >= RunDoes::Touch;
        ASSERT_TRUE(isSeen || !does)
            << "seed " << seed << ": " << kernel.text(kernel.accesses[access].text);
        touching += does;
        idle += !isSeen;
      }
    }
  }
  fmt::print("{} touch, {} are not seen to\n", touching, idle);
  EXPECT_GT(touching, numKernels());
  EXPECT_GT(idle * 20, numKernels());
}

class RandomBoundsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomBoundsTest, leaveOrStayAsEnumerated) {
  Seen seen;
  for (uint64_t seed = 1 + GetParam(); seed <= numKernels(); seed += numParts) {
    Kernel kernel = randomAccesses(seed, fuzz::Tiles::MayLeave);
    fuzz::Random random(seed);
    std::vector<TileBound> bounds = findTileBounds(kernel);
    std::string failure = holdLeaving(kernel, bounds, random, seen);
    failure = failure.empty() ? holdStaying(kernel, bounds, seed, seen) : failure;
    ASSERT_TRUE(failure.empty()) << "seed " << seed << ": " << failure << "\n"
                                 << writeKernelJson(kernel);
  }
  fmt::print("{} leave, {} are open, {} leave anyway, {} by counts; {} runs leave, {} stay\n",
             seen.leaves, seen.open, seen.anyway, seen.counted, seen.outside, seen.stays);
  EXPECT_GT(seen.leaves * 80, numKernels());
  EXPECT_GT(seen.open * 160, numKernels());
  EXPECT_GT(seen.outside * 40, numKernels());
  EXPECT_GT(seen.stays * 40, numKernels());
}

INSTANTIATE_TEST_SUITE_P(Part, RandomBoundsTest, testing::Range<uint64_t>(0, numParts));

//===----------------------------------------------------------------------===//
// All runs
//===----------------------------------------------------------------------===//

/// The same kernel, in which only values decide how loops run, and these are at most 4.
Kernel decidedByValues(uint64_t seed) {
  Kernel kernel = randomAccesses(3 * seed, fuzz::Tiles::MayLeave);
  for (RunValue &value : kernel.values) {
    value.max = std::max<uint64_t>(std::min<uint64_t>(value.max.value_or(4), 4), value.min);
  }
  for (Loop &loop : kernel.loops) {
    bool isFree = loop.trip.kind == Trip::Kind::Value || loop.trip.kind == Trip::Kind::Guard;
    if (loop.kind == LoopKind::Loop && isFree) {
      loop.trip = {.kind = Trip::Kind::Constant, .constant = 1 + seed % 3, .symbol = {}, .max = {}};
    }
  }
  boundFormulas(kernel);
  return kernel;
}

/// What any run sees to leave, by access and dimension: over all values.
std::set<std::pair<AccessId, uint32_t>> leavingInAll(const Kernel &kernel) {
  std::set<std::pair<AccessId, uint32_t>> leaving;
  TripsOf trips = [&](LoopId loop, uint64_t) { return kernel.loops[loop].trip.constant; };
  std::map<std::string, int64_t> values;
  std::function<void(uint32_t)> choose = [&](uint32_t next) {
    if (next == kernel.values.size()) {
      Enumeration runs(kernel, trips, values);
      for (const Beyond &beyond : runs.beyond()) {
        leaving.emplace(beyond.access, beyond.dim);
      }
      return;
    }
    const RunValue &value = kernel.values[RunValueId(next)];
    for (uint64_t number = value.min; number <= *value.max; ++number) {
      values[std::string(kernel.text(value.name))] = static_cast<int64_t>(number);
      choose(next + 1);
    }
  };
  choose(0);
  return leaving;
}

bool namesUnknown(const Kernel &kernel) {
  bool any = false;
  for (AccessId id : kernel.accesses.ids()) {
    const BodyTile &tile = (*kernel.tiles)[id];
    any |= std::ranges::any_of(tile.access.exprs,
                               [&](const TileExpr &node) { return tile.isOpen(node); });
  }
  return any;
}

/// Entries that are counted, too: an error if and only if a run leaves, and then that run does.
TEST(RandomCountedTest, tiedTripsAreExact) {
  size_t leaves = 0, counted = 0, stays = 0;
  for (uint64_t seed = 1; seed <= numKernels(); ++seed) {
    Kernel kernel = decidedByValues(seed);
    if (!isDecidedByValues(kernel) || !hasFormula(kernel) || namesUnknown(kernel)) {
      continue;
    }
    std::set<std::pair<AccessId, uint32_t>> leaving = leavingInAll(kernel);
    std::set<std::pair<AccessId, uint32_t>> found;
    for (const TileBound &bound : findTileBounds(kernel)) {
      ASSERT_EQ(bound.kind, TileBound::Kind::Leaves)
          << "seed " << seed << ": " << kernel.text(kernel.accesses[bound.first.access].text);
      Way way(kernel, bound);
      ASSERT_TRUE(isSeen(kernel, bound, way, bound.first.index))
          << "seed " << seed << ": " << outsideError(kernel, bound.first).message;
      found.emplace(bound.first.access, bound.first.dim);
      counted += !way.totals.empty();
    }
    ASSERT_EQ(found, leaving) << "seed " << seed << "\n" << writeKernelJson(kernel);
    leaves += found.size();
    stays += found.empty();
  }
  fmt::print("{} leave, {} by counts; {} kernels stay\n", leaves, counted, stays);
  EXPECT_GT(counted * 100, numKernels());
  EXPECT_GT(stays * 20, numKernels());
}

} // namespace
