//===- Rings.cpp - Buffers whose slots are taken in turn ------------------===//

#include "tally/Model/Rings.h"

#include "tally/Model/ComputeText.h"
#include "tally/Model/Tiles.h"

#include <algorithm>
#include <cctype>

namespace tally {
namespace {

/// Think of a buffer without end instead, of which an access takes cell `counter + offset`. The
/// ring, and each with as many slots as `least` or more, holds the same as that one if
///
///   - all offsets lie within less than a turn, so that cells that are in use at one time have
///     slots of their own, and
///   - each read is of a cell that was surely written before it: by a write with the same offset
///     before it in the text, or by one with a larger offset in an earlier iteration. Otherwise it
///     would see what the slot has held for a whole turn.
class RingFinder {
public:
  RingFinder(const Kernel &kernel, const std::vector<AccessId> &accesses)
      : kernel(kernel), accesses(accesses), instrOf(kernel.accesses.size()) {
    for (InstrId id : kernel.instrs.ids()) {
      for (AccessId access : kernel.instrs[id].accesses) {
        instrOf[access] = id;
      }
    }
  }

  /// None if it is not such a ring.
  std::optional<SlotRing> find() {
    const std::vector<uint64_t> &shape = kernel.buffers[kernel.accesses[accesses[0]].buffer].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (std::optional<uint64_t> least = leastSlots(d, shape)) {
        return SlotRing{d, *least};
      }
    }
    return std::nullopt;
  }

private:
  struct Use {
    AccessId access;
    InstrId instr;
    int64_t offset = 0;
    bool reads = false;
    bool surelyWrites = false; ///< in each iteration of the counter
  };

  /// How many it needs; none if the dimension is not one of slots.
  std::optional<uint64_t> leastSlots(size_t d, const std::vector<uint64_t> &shape) {
    counter = LoopId();
    std::vector<Use> uses;
    for (AccessId access : accesses) {
      std::optional<Use> use = useOf(access, d, shape);
      if (!use) {
        return std::nullopt;
      }
      uses.push_back(*use);
    }
    auto isWritten = [&](const Use &read) {
      return !read.reads || std::ranges::any_of(uses, [&](const Use &write) {
        return write.surelyWrites && covers(write, read, d, shape) && isBefore(write, read);
      });
    };
    auto [first, last] = std::ranges::minmax(uses, {}, &Use::offset);
    const uint64_t least = static_cast<uint64_t>(last.offset - first.offset) + 1;
    bool isRing = std::ranges::count(uses, true, &Use::reads) > 0 && // otherwise others read it
                  least <= shape[d] && std::ranges::all_of(uses, isWritten);
    return isRing ? std::optional(least) : std::nullopt;
  }

  /// None if it is not to one slot.
  std::optional<Use> useOf(AccessId access, size_t d, const std::vector<uint64_t> &shape) {
    const BodyTile &tile = (*kernel.tiles)[access];
    const IdVector<TileExprId, TileExpr> &exprs = tile.access.exprs;
    if (tile.access.dims.size() != shape.size() || tile.access.dims[d].size.valid()) {
      return std::nullopt;
    }
    const TileExpr &index = exprs[tile.access.dims[d].first];
    if (index.kind != TileExpr::Kind::Mod || index.value != static_cast<int64_t>(shape[d])) {
      return std::nullopt;
    }
    Use use{.access = access, .instr = instrOf[access]};
    const TileExpr *leaf = &exprs[index.a];
    if (leaf->kind == TileExpr::Kind::Add || leaf->kind == TileExpr::Kind::Sub) {
      if (!tile.access.isConstant(leaf->b)) {
        return std::nullopt;
      }
      use.offset = (leaf->kind == TileExpr::Kind::Sub ? -1 : 1) * exprs[leaf->b].value;
      leaf = &exprs[leaf->a];
    }
    return isCounter(*leaf, tile) && findEffect(use) ? std::optional(use) : std::nullopt;
  }

  /// The same for all accesses, around all of them, and the same on all engines.
  bool isCounter(const TileExpr &leaf, const BodyTile &tile) {
    if (leaf.kind != TileExpr::Kind::Loop && leaf.kind != TileExpr::Kind::Total) {
      return false;
    }
    bool isFirst = !counter.valid();
    bool isTotal = leaf.kind == TileExpr::Kind::Total;
    if (!tile.loopOf(leaf).valid()) {
      return false; // check() says so
    }
    if (isFirst) {
      counter = tile.loopOf(leaf);
      countsOn = isTotal || kernel.loops[counter].parent == rootLoop;
      countsTotal = isTotal;
      for (LoopId loop = counter; loop != rootLoop; loop = kernel.loops[loop].parent) {
        if (!kernel.loops[loop].uniform) {
          return false;
        }
      }
    }
    return counter == tile.loopOf(leaf) && countsTotal == isTotal;
  }

  /// False if it is not known.
  bool findEffect(Use &use) const {
    const AccessKind kind = kernel.accesses[use.access].kind;
    use.reads = kind == AccessKind::Read;
    bool isSure = (*kernel.tiles)[use.access].access.guards.empty();
    for (LoopId loop = kernel.instrs[use.instr].home; loop != counter;
         loop = kernel.loops[loop].parent) {
      isSure = isSure && !kernel.loops[loop].isBranch() && kernel.loops[loop].trip.least() > 0;
    }
    use.surelyWrites = isSure && kind != AccessKind::Read;
    return kind != AccessKind::Accumulate || beginsInCounter(use.instr);
  }

  /// Whether a sum starts anew in each iteration of the counter.
  bool beginsInCounter(InstrId id) const {
    const NameId text = kernel.instrs[id].computes;
    if (!text.valid() || !(*kernel.computes)[text].problem.empty()) {
      return false;
    }
    const std::vector<ComputeResult> &results = (*kernel.computes)[text].compute.results;
    return std::ranges::all_of(results, [&](const ComputeResult &result) {
      return result.kind == ComputeResult::Kind::Start && startsInside(id, result.loop);
    });
  }

  /// Whether a loop of this name lies between the counter and the instruction.
  bool startsInside(InstrId id, std::string_view name) const {
    for (LoopId loop = kernel.instrs[id].home; loop != counter; loop = kernel.loops[loop].parent) {
      if (kernel.nameOf(loop) == name && !kernel.loops[loop].isBranch()) {
        return true;
      }
    }
    return name.empty(); // in each run
  }

  /// Whether the write leaves nothing of what the read takes from its slot.
  bool covers(const Use &write, const Use &read, size_t d,
              const std::vector<uint64_t> &shape) const {
    const ParsedAccess &a = (*kernel.tiles)[write.access].access;
    const ParsedAccess &b = (*kernel.tiles)[read.access].access;
    auto numberOf = [](const ParsedAccess &tile, TileExprId id) -> std::optional<int64_t> {
      return !id.valid()           ? std::optional<int64_t>(1)
             : tile.isConstant(id) ? std::optional(tile.exprs[id].value)
                                   : std::nullopt;
    };
    for (size_t i = 0; i < shape.size(); ++i) {
      std::optional<int64_t> first = numberOf(a, a.dims[i].first),
                             size = numberOf(a, a.dims[i].size);
      bool isWhole = a.dims[i].isRange() && first == 0 &&
                     size == std::optional(static_cast<int64_t>(shape[i]));
      bool isSame = first && size && a.dims[i].stride == b.dims[i].stride &&
                    first == numberOf(b, b.dims[i].first) && size == numberOf(b, b.dims[i].size);
      if (i != d && !isWhole && !isSame) {
        return false;
      }
    }
    return true;
  }

  /// Whether the cell that is read has been written by then, but for the first iterations, whose
  /// cells nothing has written at all.
  bool isBefore(const Use &write, const Use &read) const {
    return write.offset == read.offset ? write.instr < read.instr
                                       : countsOn && write.offset > read.offset;
  }

  const Kernel &kernel;
  const std::vector<AccessId> &accesses;
  IdVector<AccessId, InstrId> instrOf;
  LoopId counter;
  bool countsTotal = false;
  bool countsOn = false; ///< it never begins again
};

} // namespace

IdVector<BufferId, std::vector<AccessId>> accessesOf(const Kernel &kernel) {
  IdVector<BufferId, std::vector<AccessId>> result(kernel.buffers.size());
  for (AccessId id : kernel.accesses.ids()) {
    result[kernel.accesses[id].buffer].push_back(id);
  }
  return result;
}

std::optional<SlotRing> ringOf(const Kernel &kernel, const std::vector<AccessId> &accesses) {
  return accesses.empty() ? std::nullopt : RingFinder(kernel, accesses).find();
}

bool isOnChip(const Kernel &kernel, BufferId buffer) {
  const NameId named = kernel.buffers[buffer].space;
  std::string space(named.valid() ? kernel.text(named) : "");
  std::ranges::transform(space, space.begin(), [](unsigned char c) { return std::tolower(c); });
  auto isPart = [&](std::string_view outside) { return space.find(outside) != std::string::npos; };
  return !space.empty() && !isPart("hbm") && !isPart("dram") && !isPart("ddr");
}

bool hasOpenPlace(const Kernel &kernel, BufferId buffer) {
  const Buffer &what = kernel.buffers[buffer];
  auto names = [&](const Buffer &other) { return std::ranges::count(other.alias, buffer) > 0; };
  return !what.address && what.alias.empty() && std::ranges::none_of(kernel.buffers, names);
}

std::optional<Kernel> withSlots(const Kernel &kernel, std::span<const SlotsOf> rings) {
  Kernel result = kernel;
  const IdVector<BufferId, std::vector<AccessId>> accesses = accessesOf(kernel);
  for (const SlotsOf &each : rings) {
    std::optional<SlotRing> ring = ringOf(kernel, accesses[each.buffer]);
    if (!ring || each.slots < ring->least || !hasOpenPlace(kernel, each.buffer)) {
      return std::nullopt;
    }
    result.buffers[each.buffer].shape[ring->dim] = each.slots;
    for (AccessId access : accesses[each.buffer]) {
      ParsedAccess tile = (*kernel.tiles)[access].access;
      tile.guards.resize((*kernel.tiles)[access].ownGuards().size());
      // A node of its own, as others may have the same operand.
      TileExpr index = tile.exprs[tile.dims[ring->dim].first];
      index.value = static_cast<int64_t>(each.slots);
      tile.dims[ring->dim].first = tile.exprs.push(index);
      result.accesses[access].text = result.strings.intern(toString(tile));
    }
  }
  result.tiles = std::make_shared<TileTable>(result);
  return result;
}

} // namespace tally
