//===- CountedTiles.cpp - Tiles by entries that are counted, walked ---------===//

#include "CountedTiles.h"

#include "tally/Model/Nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace tally::deps {
namespace {

/// Entries of bodies and tiles that are looked at: of one group of tiles, and of all.
constexpr uint64_t mostOfGroup = 2'000'000;
constexpr uint64_t mostOfAll = 8'000'000;

/// Of loops without `max`, so many more trips than the least are tried, one number after the other.
constexpr uint64_t moreTrips[] = {3, 15, 63, 1023};

template <typename Visit> void forNodes(const BodyTile &tile, Visit visit) {
  std::ranges::for_each(tile.access.exprs, visit);
}

/// The bodies whose entries a tile counts.
std::vector<LoopId> countedBy(const BodyTile &tile) {
  std::set<LoopId> all;
  forNodes(tile, [&](const TileExpr &node) {
    if (node.kind == TileExpr::Kind::Total && tile.loopOf(node) != rootLoop) {
      all.insert(tile.loopOf(node));
    }
  });
  return {all.begin(), all.end()};
}

/// The entries of each counted body so far.
using Counts = std::vector<int64_t>;
/// All that are possible, in order.
using CountSet = std::vector<Counts>;

CountSet unionOf(CountSet a, const CountSet &b) {
  CountSet all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

/// Tiles that count the same.
class GroupWalk {
public:
  GroupWalk(const Kernel &kernel, const TileBoxes &tiles, std::vector<LoopId> counted,
            const std::vector<TileId> &group, Fuel &fuel)
      : kernel(kernel), tiles(tiles), counted(std::move(counted)), fuel(fuel),
        byHome(kernel.loops.size()), matters(kernel.loops.size(), false),
        isSplit(kernel.loops.size(), false), at(kernel.loops.size(), {0, 0, 0}) {
    std::set<RunValueId> named;
    for (TileId id : group) {
      byHome[tiles[id].home].push_back(id);
      addAround(tiles[id].home);
      forNodes(tiles.read(tiles[id]), [&](const TileExpr &node) {
        const BodyTile &tile = tiles.read(tiles[id]);
        if (node.kind == TileExpr::Kind::Symbol) {
          named.insert(tile.valueOf(node));
        } else if (node.kind == TileExpr::Kind::Trips) {
          isSplit[tile.loopOf(node)] = true;
        }
      });
    }
    std::ranges::for_each(this->counted, [&](LoopId body) { addAround(body); });
    for (LoopId id : kernel.loops.ids()) {
      if (matters[id] && (isFormula(id) || kernel.loops[id].trip.condition.valid())) {
        const BodyTile &decides =
            isFormula(id) ? kernel.tiles->formulaOf(id) : kernel.tiles->conditionOf(id);
        for (RunValueId value : decides.values) {
          if (value.valid()) {
            named.insert(value);
          }
        }
      }
    }
    values.assign(named.begin(), named.end());
  }

  void run(std::map<std::pair<TileId, uint32_t>, CountedAnswer> &answers) {
    found = &answers;
    NestChoice choice;
    choice.values.assign(kernel.values.size(), 0);
    bool isAll = false;
    for (size_t i = 0; i == 0 || (i < std::size(moreTrips) && !isEndless.empty()); ++i) {
      more = moreTrips[i];
      isAll = forValues(kernel, values, choice, fuel, [&](const NestChoice &each) {
        known = each.values;
        visit(rootLoop, {Counts(counted.size(), 0)});
        return !fuel.isOut();
      });
    }
    isAll &= isEndless.empty();
    for (LoopId home : kernel.loops.ids()) {
      for (TileId id : byHome[home]) {
        for (uint32_t d = 0; d < tiles.numDims(tiles[id]); ++d) {
          CountedAnswer &answer = answers[{id, d}];
          answer.isAll = isAll;
        }
      }
    }
  }

private:
  bool isFormula(LoopId id) const { return kernel.loops[id].trip.kind == Trip::Kind::Formula; }

  void addAround(LoopId body) {
    for (LoopId l = body; l != rootLoop; l = kernel.loops[l].parent) {
      matters[l] = true;
    }
    matters[rootLoop] = true;
  }

  //===--- Walking --------------------------------------------------------===//

  /// One entry of a body: what is counted when it ends.
  CountSet visit(LoopId body, CountSet counts) {
    fuel.spend(counts.size());
    auto own = std::ranges::find(counted, body);
    for (Counts &each : counts) {
      if (own != counted.end()) {
        ++each[static_cast<size_t>(own - counted.begin())];
      }
    }
    for (TileId id : byHome[body]) {
      look(id, counts);
    }
    for (StmtId id : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[id];
      if (stmt.kind == Stmt::Kind::Loop && matters[stmt.loop]) {
        counts = loop(stmt.loop, std::move(counts));
      } else if (stmt.kind == Stmt::Kind::If) {
        counts = branches(stmt.loop, kernel.loops[stmt.loop].otherBranch, std::move(counts));
      }
    }
    return counts;
  }

  CountSet branches(LoopId then, LoopId otherwise, CountSet counts) {
    if (!matters[then] && !matters[otherwise]) {
      return counts;
    }
    if (kernel.loops[then].trip.condition.valid()) {
      const bool isTaken =
          kernel.tiles->conditionOf(then).isMet([&](LoopId around) { return at[around]; }, known);
      const LoopId body = isTaken ? then : otherwise;
      return matters[body] ? visit(body, std::move(counts)) : counts;
    }
    CountSet taken = matters[then] ? visit(then, counts) : counts;
    CountSet other = matters[otherwise] ? visit(otherwise, counts) : counts;
    return unionOf(std::move(taken), other);
  }

  CountSet loop(LoopId id, CountSet counts) {
    auto [least, most] = tripsOf(id);
    if (!isSplit[id]) {
      return iterate(id, least, most, std::move(counts));
    }
    CountSet all;
    for (uint64_t trips = least; trips <= most && !fuel.isOut(); ++trips) {
      at[id].trips = static_cast<int64_t>(trips);
      all = unionOf(std::move(all), iterate(id, trips, trips, counts));
    }
    return all;
  }

  /// It ends after any number of iterations between the two.
  CountSet iterate(LoopId id, uint64_t least, uint64_t most, CountSet counts) {
    CountSet ended = least == 0 ? counts : CountSet();
    for (uint64_t i = 0; i < most && !fuel.isOut(); ++i) {
      at[id].iteration = static_cast<int64_t>(i);
      counts = visit(id, std::move(counts));
      if (i + 1 >= least && i + 1 < most) {
        ended = unionOf(std::move(ended), counts);
      }
    }
    return most == 0 ? ended : unionOf(std::move(ended), counts);
  }

  std::pair<uint64_t, uint64_t> tripsOf(LoopId id) {
    const Trip &trip = kernel.loops[id].trip;
    if (trip.kind == Trip::Kind::Formula) {
      const BodyTile &formula = kernel.tiles->formulaOf(id);
      int64_t count = *formula.valueAt(
          formula.access.dims[0].first, [&](LoopId around) { return at[around]; }, known);
      auto trips = static_cast<uint64_t>(std::max<int64_t>(count, 0));
      at[id].trips = static_cast<int64_t>(trips);
      return {trips, trips};
    }
    if (!trip.most()) {
      isEndless.insert(id);
    }
    at[id].trips = static_cast<int64_t>(trip.least());
    return {trip.least(), trip.most().value_or(trip.least() + more)};
  }

  //===--- Looking --------------------------------------------------------===//

  void look(TileId id, const CountSet &counts) {
    const BodyTile &tile = tiles.read(tiles[id]);
    fuel.spend(counts.size());
    for (const Counts &each : counts) {
      for (size_t i = 0; i < counted.size(); ++i) {
        at[counted[i]].total = each[i] - 1;
      }
      lookAt(id, tile);
    }
  }

  void lookAt(TileId id, const BodyTile &tile) {
    auto indexOf = [&](LoopId loop) { return at[loop]; };
    auto isEmpty = [&](const TileDim &dim) { return *tile.sizeAt(dim, indexOf, known) < 1; };
    if (!tile.mayHold(indexOf, known) || std::ranges::any_of(tile.access.dims, isEmpty)) {
      return;
    }
    const std::vector<uint64_t> &shape = kernel.buffers[tiles[id].buffer].shape;
    for (uint32_t d = 0; d < tile.access.dims.size(); ++d) {
      const TileDim &dim = tile.access.dims[d];
      int64_t first = *tile.valueAt(dim.first, indexOf, known);
      auto steps = static_cast<uint64_t>(*tile.sizeAt(dim, indexOf, known) - 1);
      auto last = static_cast<int64_t>(static_cast<uint64_t>(first) +
                                       static_cast<uint64_t>(dim.stride) * steps);
      if (first < 0 || static_cast<uint64_t>(last) >= shape[d]) {
        note((*found)[{id, d}], id, tile, d, first < 0 ? first : last);
      }
    }
  }

  void note(CountedAnswer &answer, TileId id, const BodyTile &tile, uint32_t d, int64_t index) {
    if (answer.first) {
      return;
    }
    OutsideRun run{{}, {}, d, index, {}, alsoText(tile)};
    for (LoopId loop : kernel.realLoops(tiles[id].home)) {
      run.iteration.push_back({loop, static_cast<uint64_t>(at[loop].iteration)});
    }
    answer.first = std::move(run);
    if (values.size() == 1 && isEndless.empty() && !kernel.values[values[0]].max) {
      auto number = static_cast<uint64_t>(known[values[0].value]);
      bool isLeast = number == kernel.values[values[0]].min;
      answer.enoughMax = isLeast ? std::nullopt : std::optional(number - 1);
    }
  }

  /// What else says where the tile lies.
  std::string alsoText(const BodyTile &tile) const {
    std::vector<std::string> parts;
    std::set<LoopId> loops;
    forNodes(tile, [&](const TileExpr &node) {
      if (node.kind == TileExpr::Kind::Trips && loops.insert(tile.loopOf(node)).second) {
        LoopId loop = tile.loopOf(node);
        parts.push_back(fmt::format("trips({}) = {}", kernel.nameOf(loop), at[loop].trips));
      }
    });
    for (LoopId body : countedBy(tile)) {
      parts.push_back(fmt::format("total({}) = {}", kernel.nameOf(body), at[body].total));
    }
    for (RunValueId value : values) {
      parts.push_back(fmt::format("${} = {}", kernel.nameOf(value), known[value.value]));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  const Kernel &kernel;
  const TileBoxes &tiles;
  const std::vector<LoopId> counted;
  Fuel &fuel;
  IdVector<LoopId, std::vector<TileId>> byHome;
  IdVector<LoopId, bool> matters; ///< it is around a tile, or around what is counted
  IdVector<LoopId, bool> isSplit; ///< a tile names its trips
  std::vector<RunValueId> values; ///< that are chosen
  std::vector<int64_t> known;     ///< by value
  IdVector<LoopId, LoopIndex> at;
  std::set<LoopId> isEndless; ///< loops without `max` that were walked
  uint64_t more = 0;          ///< trips of these than the least
  std::map<std::pair<TileId, uint32_t>, CountedAnswer> *found = nullptr;
};

} // namespace

bool isCounted(const Kernel &kernel, const BodyTile &tile) {
  bool isKnown = std::ranges::none_of(tile.access.exprs,
                                      [&](const TileExpr &node) { return tile.isOpen(node); });
  auto isTied = [&](LoopId body) {
    for (LoopId l = body; l != rootLoop; l = kernel.loops[l].parent) {
      bool isOutermost = kernel.realLoop(kernel.loops[l].parent) == rootLoop;
      if ((kernel.loops[l].trip.kind == Trip::Kind::Formula && !isOutermost) ||
          kernel.loops[l].trip.condition.valid()) {
        return true;
      }
    }
    return false;
  };
  return isKnown && std::ranges::any_of(countedBy(tile), isTied);
}

std::map<std::pair<TileId, uint32_t>, CountedAnswer>
walkCounted(const Kernel &kernel, const TileBoxes &tiles, const std::vector<TileId> &asked) {
  std::map<std::vector<LoopId>, std::vector<TileId>> groups;
  for (TileId id : asked) {
    if (isCounted(kernel, tiles.read(tiles[id]))) {
      groups[countedBy(tiles.read(tiles[id]))].push_back(id);
    }
  }
  std::map<std::pair<TileId, uint32_t>, CountedAnswer> answers;
  uint64_t left = mostOfAll;
  for (const auto &[counted, group] : groups) {
    Fuel fuel(std::min(left, mostOfGroup));
    left -= std::min(left, mostOfGroup);
    GroupWalk(kernel, tiles, counted, group, fuel).run(answers);
  }
  return answers;
}

} // namespace tally::deps
