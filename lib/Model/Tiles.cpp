//===- Tiles.cpp - The tiles of a kernel, read once -----------------------===//

#include "tally/Model/Tiles.h"

#include "tally/Support/FloorDiv.h"

#include <algorithm>
#include <unordered_map>

namespace tally {

int64_t combined(TileExpr::Kind kind, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a);
  auto y = static_cast<uint64_t>(b);
  switch (kind) {
  case TileExpr::Kind::Add:
    return static_cast<int64_t>(x + y);
  case TileExpr::Kind::Sub:
    return static_cast<int64_t>(x - y);
  case TileExpr::Kind::Scale:
    return static_cast<int64_t>(x * y);
  case TileExpr::Kind::Mod:
    return a - floorDiv(a, b) * b;
  default:
    return floorDiv(a, b);
  }
}

/// The loop or branch of this name at or around `home`; none if there is none.
static LoopId loopAround(const Kernel &kernel, LoopId home, std::string_view name) {
  while (home.valid() && (home == rootLoop || kernel.nameOf(home) != name)) {
    home = kernel.loops[home].parent;
  }
  return home;
}

static BodyTile read(const Kernel &kernel, LoopId home, NameId text,
                     std::optional<ParsedAccess> (*parse)(std::string_view, std::string &)) {
  BodyTile tile{home, text, {}, {}, 0, {}, {}};
  if (std::optional<ParsedAccess> access = parse(kernel.text(text), tile.problem)) {
    tile.access = std::move(*access);
    tile.numOwnGuards = static_cast<uint32_t>(tile.access.guards.size());
  }
  for (const std::string &name : tile.access.names) {
    tile.loops.push_back(loopAround(kernel, home, name));
    tile.values.push_back(kernel.valueNamed(name));
  }
  return tile;
}

/// The expression, and all that it is made of, in another tile.
static TileExprId copied(const BodyTile &from, TileExprId id, BodyTile &to) {
  TileExpr node = from.access.exprs[id];
  node.a = node.a.valid() ? copied(from, node.a, to) : node.a;
  node.b = node.b.valid() ? copied(from, node.b, to) : node.b;
  if (node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Trips ||
      node.kind == TileExpr::Kind::Symbol) {
    const std::string &name = from.access.names[node.name];
    auto found = std::ranges::find(to.access.names, name);
    if (found == to.access.names.end()) {
      to.loops.push_back(from.loops[node.name]);
      to.values.push_back(from.values[node.name]);
    }
    node.name = static_cast<uint32_t>(found - to.access.names.begin());
    if (node.name == to.access.names.size()) {
      to.access.names.push_back(name);
    }
  }
  return to.access.exprs.push(node);
}

/// Of what is not, check() says why.
static bool isUnderstood(const Kernel &kernel, const BodyTile &condition) {
  return condition.problem.empty() &&
         std::ranges::all_of(condition.access.exprs, [&](const TileExpr &node) {
           const bool wantsLoop =
               node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Trips;
           const LoopId loop = wantsLoop ? condition.loopOf(node) : LoopId();
           return node.kind != TileExpr::Kind::Total &&
                  (!wantsLoop || (loop.valid() && !kernel.loops[loop].isBranch()));
         });
}

/// A tile is in the branches around it only where their conditions say so.
static void addConditions(const Kernel &kernel, const std::map<LoopId, BodyTile> &conditions,
                          BodyTile &tile) {
  for (LoopId l = tile.home; l != rootLoop; l = kernel.loops[l].parent) {
    auto found = conditions.find(l);
    if (found == conditions.end() || !isUnderstood(kernel, found->second)) {
      continue;
    }
    const BodyTile &condition = found->second;
    const bool isElse = kernel.loops[l].kind == LoopKind::Else;
    const size_t numDecided =
        condition.decidesAllGroups(!isElse) ? condition.access.numGroups() : 0;
    for (size_t at = 0; at < numDecided; ++at) {
      const std::span<const TileGuard> group = condition.access.group(at);
      if (group.size() > 1) {
        continue; // one of them holds
      }
      TileGuard added = isElse ? group[0].opposite() : group[0];
      added.left = copied(condition, added.left, tile);
      added.right = copied(condition, added.right, tile);
      tile.access.guards.push_back(added);
    }
  }
}

TileTable::TileTable(const Kernel &kernel) {
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    if (loop.trip.condition.valid()) {
      conditions.emplace(id, read(kernel, loop.parent, loop.trip.condition, parseCondition));
    }
  }
  std::unordered_map<uint64_t, TileId> known;
  std::vector<TileId> lastOf(kernel.strings.size()); // by text, as most stand in one body
  tileOf.resize(kernel.accesses.size());
  for (InstrId i : kernel.instrs.ids()) {
    LoopId home = kernel.instrs[i].home;
    for (AccessId a : kernel.instrs[i].accesses) {
      NameId text = kernel.accesses[a].text;
      TileId &last = lastOf[text.value];
      if (!last.valid() || tiles[last].home != home) {
        auto [found, isNew] = known.try_emplace(uint64_t(text.value) << 32 | home.value);
        if (isNew) {
          found->second = tiles.push(read(kernel, home, text, parseAccess));
          addConditions(kernel, conditions, tiles[found->second]);
        }
        last = found->second;
      }
      tileOf[a] = last;
    }
  }
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    if (loop.trip.kind == Trip::Kind::Formula) {
      formulas.emplace(id, read(kernel, loop.parent, loop.trip.symbol, parseFormula));
    }
  }
}

} // namespace tally
