//===- Candidates.cpp - Which accesses may conflict at all ----------------===//

#include "Candidates.h"

#include <algorithm>
#include <map>
#include <span>

namespace tally::deps {
namespace {

/// Those who touched a range of memory and still matter.
struct Segment {
  int64_t last = 0;
  std::vector<Touch> readers;
  std::vector<Touch> writers;
};

class Sweep {
public:
  Sweep(const Kernel &kernel, const TileBoxes &tiles, const Families &families,
        IdVector<AccessId, uint32_t> &seenBy, const IdVector<LoopId, LoopId> &nestOf,
        const std::function<void(const Candidate &)> &visit)
      : kernel(kernel), tiles(tiles), families(families), seenBy(seenBy), nestOf(nestOf),
        visit(visit) {}

  /// All accesses of one instruction. They see what was there before any of them.
  void add(std::span<const Touch> touches) {
    for (const Touch &touch : touches) {
      const TileBox &tile = tileOf(touch);
      if (!tile.hull.isEmpty()) {
        split(tile.hull.first);
        split(tile.hull.last + 1);
        fill(tile.hull);
        meetEarlier(touch, tile);
      }
    }
    for (const Touch &touch : touches) {
      meetSame(touch, touches);
      enter(touch, tileOf(touch));
    }
  }

private:
  /// Lets a segment begin at `at`, if one holds it.
  void split(int64_t at) {
    auto next = segments.upper_bound(at);
    if (next == segments.begin()) {
      return;
    }
    auto holder = std::prev(next);
    if (holder->first < at && at <= holder->second.last) {
      Segment rest = holder->second;
      holder->second.last = at - 1;
      segments.emplace_hint(next, at, std::move(rest));
    }
  }

  /// Makes segments for what nobody has touched.
  void fill(const Bounds &range) {
    int64_t at = range.first;
    for (auto s = segments.lower_bound(at); at <= range.last; ++s) {
      int64_t end = s == segments.end() ? range.last : std::min(range.last, s->first - 1);
      if (at <= end) {
        s = segments.emplace_hint(s, at, Segment{end, {}, {}});
      }
      at = s->second.last + 1;
    }
  }

  const TileBox &tileOf(Touch touch) const { return tiles[tiles.of(touch.access)]; }

  bool writes(Touch touch) const { return kernel.accesses[touch.access].kind != AccessKind::Read; }

  LoopId nest(Touch touch) const { return nestOf[kernel.instrs[touch.instr].home]; }

  template <typename Visit> void forSegments(const Bounds &range, Visit segment) {
    for (auto s = segments.lower_bound(range.first); s != segments.end() && s->first <= range.last;
         ++s) {
      segment(s->second);
    }
  }

  void meetEarlier(Touch touch, const TileBox &tile) {
    forSegments(tile.hull, [&](Segment &segment) {
      meet(touch, tile, segment.writers);
      if (writes(touch)) {
        meet(touch, tile, segment.readers);
      }
    });
  }

  void meet(Touch touch, const TileBox &tile, const std::vector<Touch> &others) {
    for (const Touch &other : others) {
      if (seenBy[other.access] == touch.access.value) {
        continue;
      }
      seenBy[other.access] = touch.access.value;
      if (!families.know(touch.access, other.access) && tiles.boxesMeet(tile, tileOf(other))) {
        visit({other.instr, touch.instr, other.access, touch.access});
        if (nest(touch).valid() && nest(other) == nest(touch)) {
          visit({touch.instr, other.instr, touch.access, other.access});
        }
      }
    }
  }

  /// Accesses of one instruction conflict with those of its other runs.
  void meetSame(Touch touch, std::span<const Touch> touches) {
    for (const Touch &other : touches) {
      if (nest(touch).valid() && (writes(touch) || writes(other)) &&
          !families.know(touch.access, other.access) &&
          tiles.boxesMeet(tileOf(touch), tileOf(other))) {
        visit({other.instr, touch.instr, other.access, touch.access});
      }
    }
  }

  /// Drops what matters no more after this access.
  void enter(Touch touch, const TileBox &tile) {
    bool replaces = tile.isFixed && tile.home == rootLoop;
    auto isCovered = [&](Touch other) {
      return other.instr != touch.instr && tiles.boxHolds(tile, tileOf(other));
    };
    auto retiresBefore = [&](Touch other) {
      return kernel.instrs[other.instr].queue == kernel.instrs[touch.instr].queue &&
             tileOf(other).home == rootLoop && isCovered(other);
    };
    forSegments(tile.hull, [&](Segment &segment) {
      if (replaces && writes(touch)) {
        std::erase_if(segment.readers, isCovered);
        std::erase_if(segment.writers, isCovered);
      } else if (replaces) {
        std::erase_if(segment.readers, retiresBefore);
      }
      (writes(touch) ? segment.writers : segment.readers).push_back(touch);
    });
  }

  const Kernel &kernel;
  const TileBoxes &tiles;
  const Families &families;
  IdVector<AccessId, uint32_t> &seenBy; ///< the last access for which this one was looked at
  const IdVector<LoopId, LoopId> &nestOf;
  const std::function<void(const Candidate &)> &visit;
  std::map<int64_t, Segment> segments; ///< by where they begin
};

/// For each body the outermost real loop around it.
IdVector<LoopId, LoopId> outermostLoops(const Kernel &kernel) {
  IdVector<LoopId, LoopId> nestOf(kernel.loops.size());
  for (LoopId id : kernel.loops.ids()) { // parents come first
    const Loop &loop = kernel.loops[id];
    if (loop.parent.valid()) {
      LoopId outer = nestOf[loop.parent];
      nestOf[id] = !outer.valid() && loop.kind == LoopKind::Loop ? id : outer;
    }
  }
  return nestOf;
}

} // namespace

void forCandidates(const Kernel &kernel, const TileBoxes &tiles,
                   const std::function<void(const Candidate &)> &visit) {
  IdVector<BufferId, std::vector<Touch>> byGroup(kernel.buffers.size());
  for (InstrId i : kernel.instrs.ids()) {
    for (AccessId a : kernel.instrs[i].accesses) {
      byGroup[tiles.groupOf(kernel.accesses[a].buffer)].push_back({a, i});
    }
  }
  const LoopsAlike alike = loopsAlike(kernel);
  Families::Numbers numbers(tiles.size(), UINT32_MAX);
  IdVector<AccessId, uint32_t> seenBy(kernel.accesses.size(), UINT32_MAX);
  IdVector<LoopId, LoopId> nestOf = outermostLoops(kernel);
  for (const std::vector<Touch> &touches : byGroup) {
    Families families(kernel, alike, tiles, touches, numbers);
    families.forCandidates(visit);
    if (families.knowAll()) {
      continue;
    }
    Sweep sweep(kernel, tiles, families, seenBy, nestOf, visit);
    for (size_t first = 0; first < touches.size();) {
      size_t end = first;
      while (end < touches.size() && touches[end].instr == touches[first].instr) {
        ++end;
      }
      sweep.add(std::span(touches).subspan(first, end - first));
      first = end;
    }
  }
}

} // namespace tally::deps
