//===- Encounter.cpp - A run in which two touch the same ------------------===//

#include "Encounter.h"

#include "tally/Support/FloorDiv.h"

#include <algorithm>
#include <ranges>
#include <set>

namespace tally {
namespace {

using Kind = TileExpr::Kind;
using Relation = TileGuard::Relation;

/// Runs of more iterations take too long to be tried.
constexpr int64_t mostTrips = 1 << 14;

/// What numbers in tiles may be asked to be.
constexpr int64_t mostValue = int64_t(1) << 40;

/// Places that are looked at for one meeting, and changes on the way to one.
constexpr size_t mostPlaces = 200;
constexpr size_t mostChanges = 12;

int64_t leastTrips(const Loop &loop) {
  return loop.isBranch() ? 1 : std::max<int64_t>(1, static_cast<int64_t>(loop.trip.least()));
}

int64_t largestTrips(const Loop &loop) {
  uint64_t most = loop.isBranch() ? 1 : loop.trip.most().value_or(mostTrips);
  return static_cast<int64_t>(std::min<uint64_t>(most, mostTrips));
}

/// How a left side has to change for a relation to hold: to what is on the right, plus this. The
/// right side changes by the opposite.
std::vector<int64_t> shiftsFor(Relation relation) {
  switch (relation) {
  case Relation::NotEqual:
    return {1, -1};
  case Relation::Less:
    return {-1};
  case Relation::Greater:
    return {1};
  default:
    return {0};
  }
}

/// A loop runs at least as far as it has to.
void goTo(EncounterPlace &place, size_t side, size_t slot, int64_t iteration) {
  place.iterations[side][slot] = iteration;
  place.trips[slot] = std::max(place.trips[slot], iteration + 1);
}

} // namespace

Encounter::Encounter(const Kernel &kernel, Party a, Party b) : kernel(kernel), parties{a, b} {
  std::set<LoopId> loops;
  std::array<LoopId, 2> homes = {rootLoop, rootLoop};
  for (size_t side : {0, 1}) {
    homes[side] = parties[side].instr.valid() ? kernel.instrs[parties[side].instr].home : rootLoop;
    for (LoopId l = homes[side]; l != rootLoop; l = kernel.loops[l].parent) {
      loops.insert(l);
    }
  }
  around.assign(loops.begin(), loops.end());
  for (LoopId loop : around) {
    for (size_t side : {0, 1}) {
      isAround[side].push_back(kernel.encloses(loop, homes[side]));
    }
    parted |= kernel.loops[loop].isBranch() && loops.contains(kernel.loops[loop].otherBranch);
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

const BodyTile *Encounter::tileOf(size_t side) const {
  AccessId access = parties[side].access;
  return access.valid() ? &(*kernel.tiles)[access] : nullptr;
}

size_t Encounter::slotOf(LoopId loop) const {
  return static_cast<size_t>(std::ranges::lower_bound(around, loop) - around.begin());
}

/// Loops run equally often at each entry, and branches are taken.
LoopIndex Encounter::indexOf(const EncounterPlace &at, size_t side, LoopId loop) const {
  size_t slot = slotOf(loop);
  LoopIndex index{at.iterations[side][slot], 0, at.trips[slot]};
  for (size_t i = 0; i <= slot; ++i) {
    if (kernel.encloses(around[i], loop)) {
      index.total = index.total * at.trips[i] + at.iterations[side][i];
    }
  }
  return index;
}

std::optional<int64_t> Encounter::valueOf(const EncounterPlace &at, size_t side,
                                          TileExprId id) const {
  return tileOf(side)->valueAt(id, [&](LoopId loop) { return indexOf(at, side, loop); });
}

/// Within the bounds of the loops, and of what is worth a run.
bool Encounter::isPossible(const EncounterPlace &at) const {
  std::array<int64_t, 2> runs = {1, 1};
  for (size_t slot = 0; slot < around.size(); ++slot) {
    const Loop &loop = kernel.loops[around[slot]];
    if (at.trips[slot] < leastTrips(loop) || at.trips[slot] > largestTrips(loop)) {
      return false;
    }
    for (size_t side : {0, 1}) {
      runs[side] *= isAround[side][slot] ? at.trips[slot] : 1;
      if (at.iterations[side][slot] < 0 || at.iterations[side][slot] >= at.trips[slot] ||
          runs[side] > mostTrips) {
        return false;
      }
    }
  }
  return true;
}

std::optional<EncounterPlace> Encounter::find(uint64_t &effort) const {
  EncounterPlace start;
  start.iterations.fill(std::vector<int64_t>(around.size(), 0));
  for (LoopId loop : around) {
    start.trips.push_back(leastTrips(kernel.loops[loop]));
  }
  Places places{std::move(start)};
  std::vector<size_t> changes{0}; // by place
  std::set<EncounterPlace> known(places.begin(), places.end());
  for (size_t i = 0; i < std::min(places.size(), mostPlaces) && effort > 0; ++i, --effort) {
    Places next;
    if (!isPossible(places[i])) {
      continue;
    }
    if (mend(places[i], next)) {
      return places[i];
    }
    for (EncounterPlace &place : next) {
      if (changes[i] < mostChanges && known.insert(place).second) {
        places.push_back(std::move(place));
        changes.push_back(changes[i] + 1);
      }
    }
  }
  return std::nullopt;
}

bool Encounter::holdsWith(EncounterPlace place, const std::vector<int64_t> &trips) const {
  place.trips = trips;
  Places ignored;
  return isPossible(place) && mend(place, ignored);
}

//===----------------------------------------------------------------------===//
// Mending
//===----------------------------------------------------------------------===//

/// Whether all conditions hold; else what may mend the first that does not.
bool Encounter::mend(const EncounterPlace &at, Places &next) const {
  return mendGuards(at, 0, next) && mendGuards(at, 1, next) && mendOverlap(at, next) &&
         mendOrder(at, next);
}

/// What depends on a run-time value may hold.
bool Encounter::mendGuards(const EncounterPlace &at, size_t side, Places &next) const {
  const BodyTile *tile = tileOf(side);
  if (!tile) {
    return true;
  }
  for (const TileDim &dim : tile->access.dims) {
    if (dim.size.valid() && valueOf(at, side, dim.size).value_or(1) < 1) {
      give(at, side, dim.size, 1, next);
      return false;
    }
  }
  for (const TileGuard &guard : tile->access.guards) {
    std::optional<int64_t> left = valueOf(at, side, guard.left);
    std::optional<int64_t> right = valueOf(at, side, guard.right);
    if (left && right && !guard.holds(*left, *right)) {
      for (int64_t shift : shiftsFor(guard.relation)) {
        give(at, side, guard.left, *right + shift, next);
        give(at, side, guard.right, *left - shift, next);
      }
      return false;
    }
  }
  return true;
}

/// In each dimension one begins before the other ends. Different buffers have any bytes in common.
bool Encounter::mendOverlap(const EncounterPlace &at, Places &next) const {
  const BodyTile *a = tileOf(0), *b = tileOf(1);
  if (!a || !b ||
      kernel.accesses[parties[0].access].buffer != kernel.accesses[parties[1].access].buffer) {
    return true;
  }
  for (size_t d = 0; d < std::min(a->access.dims.size(), b->access.dims.size()); ++d) {
    std::array<const TileDim *, 2> dims = {&a->access.dims[d], &b->access.dims[d]};
    std::array<std::optional<int64_t>, 2> first, last;
    for (size_t side : {0, 1}) {
      const TileDim &dim = *dims[side];
      first[side] = valueOf(at, side, dim.first);
      std::optional<int64_t> size = dim.size.valid() ? valueOf(at, side, dim.size) : 1;
      last[side] = first[side] && size ? std::optional(*first[side] + (*size - 1) * dim.stride)
                                       : std::nullopt;
    }
    if (last[0] && last[1] && (*last[0] < *first[1] || *last[1] < *first[0])) {
      give(at, 0, dims[0]->first, *first[1], next);
      give(at, 1, dims[1]->first, *first[0], next);
      return false;
    }
  }
  return true;
}

/// Where the loops around both are in one iteration, the text decides; of two branches, an
/// iteration has one.
bool Encounter::mendOrder(const EncounterPlace &at, Places &next) const {
  if (!parties[1].instr.valid()) {
    return true;
  }
  std::vector<size_t> common;
  for (size_t slot = 0; slot < around.size(); ++slot) {
    if (isAround[0][slot] && isAround[1][slot]) {
      common.push_back(slot);
    }
  }
  auto differs = std::ranges::find_if(
      common, [&](size_t slot) { return at.iterations[0][slot] != at.iterations[1][slot]; });
  bool isBefore = differs == common.end() ? !parted && parties[0].instr < parties[1].instr
                                          : at.iterations[0][*differs] < at.iterations[1][*differs];
  if (!isBefore) {
    for (size_t slot : common | std::views::reverse) {
      EncounterPlace &later = next.emplace_back(at);
      goTo(later, 1, slot, at.iterations[0][slot] + 1);
    }
  }
  return isBefore;
}

/// All ways to give an expression a value by one change.
void Encounter::give(const EncounterPlace &at, size_t side, TileExprId id, int64_t value,
                     Places &next) const {
  const TileExpr &node = tileOf(side)->access.exprs[id];
  if (value < -mostValue || value > mostValue) {
    return;
  }
  std::array<int64_t, 2> now = {};
  for (auto [operand, i] : {std::pair(node.a, 0), {node.b, 1}}) {
    std::optional<int64_t> known = operand.valid() ? valueOf(at, side, operand) : 0;
    if (!known) {
      return; // a run-time value is what it is
    }
    now[static_cast<size_t>(i)] = *known;
  }
  auto giveA = [&](int64_t to) { give(at, side, node.a, to, next); };
  switch (node.kind) {
  case Kind::Constant:
  case Kind::Symbol:
    return;
  case Kind::Loop:
  case Kind::Total:
  case Kind::Trips:
    return giveLeaf(at, side, node, value, next);
  case Kind::Add:
    giveA(value - now[1]);
    return give(at, side, node.b, value - now[0], next);
  case Kind::Sub:
    giveA(value + now[1]);
    return give(at, side, node.b, now[0] - value, next);
  case Kind::Scale:
    if (node.value != 0 && node.value > -mostValue && node.value < mostValue) {
      int64_t down = node.value > 0 ? floorDiv(value, node.value) : floorDiv(-value, -node.value);
      giveA(down);
      giveA(down + 1);
    }
    return;
  case Kind::Mod:
    if (value >= 0 && value < node.value && node.value < mostValue) {
      int64_t base = floorDiv(now[0], node.value) * node.value;
      giveA(base + value);
      giveA(base + value + node.value);
    }
    return;
  case Kind::FloorDiv:
    if (node.value <= mostTrips && value > -mostTrips && value < mostTrips) {
      giveA(value * node.value);
      giveA(value * node.value + node.value - 1);
    }
    return;
  }
}

/// What a loop counts.
void Encounter::giveLeaf(const EncounterPlace &at, size_t side, const TileExpr &leaf, int64_t value,
                         Places &next) const {
  LoopId loop = tileOf(side)->loopOf(leaf);
  size_t slot = slotOf(loop);
  if (value < 0 || value > mostTrips) {
    return;
  }
  if (leaf.kind == Kind::Loop) {
    goTo(next.emplace_back(at), side, slot, value);
    return;
  }
  if (leaf.kind == Kind::Trips) {
    EncounterPlace &place = next.emplace_back(at);
    place.trips[slot] = value;
    for (std::vector<int64_t> &iterations : place.iterations) {
      iterations[slot] = std::min(iterations[slot], std::max<int64_t>(value, 1) - 1);
    }
    return;
  }
  // A total: all of it by this loop, or as much as this loop has, and the rest by those around.
  LoopIndex index = indexOf(at, side, loop);
  goTo(next.emplace_back(at), side, slot, value - (index.total - index.iteration));
  EncounterPlace &spread = next.emplace_back(at);
  size_t outermost = slot;
  for (size_t i = 0; i < slot; ++i) {
    outermost = kernel.encloses(around[i], loop) && !kernel.loops[around[i]].isBranch()
                    ? std::min(outermost, i)
                    : outermost;
  }
  for (size_t i = slot; i > outermost; --i) {
    if (kernel.encloses(around[i], loop)) {
      spread.iterations[side][i] = value % spread.trips[i];
      value /= spread.trips[i];
    }
  }
  goTo(spread, side, outermost, value);
}

} // namespace tally
