//===- Tiles.cpp - The tiles of a kernel, read once -----------------------===//

#include "tally/Model/Tiles.h"

#include "tally/Support/FloorDiv.h"

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
  BodyTile tile{home, text, {}, {}, {}, {}};
  if (std::optional<ParsedAccess> access = parse(kernel.text(text), tile.problem)) {
    tile.access = std::move(*access);
  }
  for (const std::string &name : tile.access.names) {
    tile.loops.push_back(loopAround(kernel, home, name));
    tile.values.push_back(kernel.valueNamed(name));
  }
  return tile;
}

TileTable::TileTable(const Kernel &kernel) {
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
