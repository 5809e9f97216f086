//===- Families.cpp - Accesses of one memory, by how their tiles move -----===//

#include "Families.h"

#include "Reaching.h"

#include <algorithm>
#include <tuple>

namespace tally {

/// The cells of one family.
class Families::Cells {
public:
  Cells(const Families &families, const Family &family) : families(families) {
    starts.resize(families.kernel.buffers[family.shape.buffer].shape.size());
    for (const Touch &touch : family.touches) {
      const std::vector<Bounds> &inside = families.memberOf(touch.access).slot.inside;
      for (size_t d = 0; d < starts.size(); ++d) {
        starts[d].push_back(inside[d].first);
        starts[d].push_back(inside[d].last + 1);
      }
    }
    for (std::vector<int64_t> &list : starts) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  /// Of a tile.
  uint64_t count(const SlotTile &slot) const {
    uint64_t product = 1;
    for (size_t d = 0; d < starts.size(); ++d) {
      auto [first, end] = rangeOf(d, slot.inside[d]);
      product = std::min(product * (end - first), uint64_t(1) << 32);
    }
    return product;
  }

  /// Calls `visit` with the number of each cell of a tile.
  template <typename Visit> void forEach(const SlotTile &slot, Visit visit) const {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (size_t d = 0; d < starts.size(); ++d) {
      ranges.push_back(rangeOf(d, slot.inside[d]));
    }
    forFrom(ranges, 0, 0, visit);
  }

private:
  std::pair<uint64_t, uint64_t> rangeOf(size_t dim, const Bounds &bounds) const {
    auto at = [&](int64_t place) {
      const std::vector<int64_t> &list = starts[dim];
      return static_cast<uint64_t>(std::lower_bound(list.begin(), list.end(), place) -
                                   list.begin());
    };
    return {at(bounds.first), at(bounds.last + 1)};
  }

  template <typename Visit>
  void forFrom(const std::vector<std::pair<uint64_t, uint64_t>> &ranges, size_t dim, uint64_t base,
               Visit &visit) const {
    if (dim == ranges.size()) {
      visit(base);
      return;
    }
    for (uint64_t i = ranges[dim].first; i < ranges[dim].second; ++i) {
      forFrom(ranges, dim + 1, base * starts[dim].size() + i, visit);
    }
  }

  const Families &families;
  std::vector<std::vector<int64_t>> starts; ///< by dimension, where a cell begins or ends
};

Families::Families(const Kernel &kernel, const TileBoxes &tiles, std::span<const Touch> touches)
    : kernel(kernel), tiles(tiles) {
  auto bufferOf = [&](const Touch &touch) { return kernel.accesses[touch.access].buffer; };
  bool isAlone = std::all_of(touches.begin(), touches.end(), [&](const Touch &touch) {
    return bufferOf(touch) == bufferOf(touches.front());
  });
  if (!isAlone) {
    hasOthers = true;
    return;
  }
  for (const Touch &touch : touches) {
    add(touch);
  }
  giveUpFragments();
}

void Families::add(Touch touch) {
  auto [found, isNew] = members.try_emplace(tiles.of(touch.access));
  if (isNew) {
    found->second = join(tiles[tiles.of(touch.access)]);
  }
  if (found->second.family == none) {
    hasOthers = true;
    return;
  }
  Family &family = families[found->second.family];
  family.touches.push_back(touch);
  family.isWritten |= kernel.accesses[touch.access].kind != AccessKind::Read;
}

Families::Member Families::join(const TileBox &tile) {
  std::optional<SlotTile> slot = slotOf(kernel, tiles, tile);
  if (!slot) {
    return {};
  }
  auto [found, isNew] = known.try_emplace(slot->family, static_cast<uint32_t>(families.size()));
  if (isNew) {
    families.push_back({slot->family, {}, false});
  }
  return {found->second, std::move(*slot)};
}

/// Where tiles are cut into very many cells, each pair of them is looked at instead.
void Families::giveUpFragments() {
  constexpr uint64_t cellsPerTouch = 64;
  constexpr uint64_t fewCells = 4096;
  for (uint32_t f = 0; f < families.size(); ++f) {
    Family &family = families[f];
    Cells cells(*this, family);
    uint64_t count = 0;
    for (const Touch &touch : family.touches) {
      count += cells.count(memberOf(touch.access).slot);
    }
    if (count > cellsPerTouch * family.touches.size() + fewCells) {
      for (const Touch &touch : family.touches) {
        members.at(tiles.of(touch.access)).family = none;
      }
      family.touches.clear();
      hasOthers = true;
    }
  }
}

bool Families::areOne(AccessId a, AccessId b) const {
  if (members.empty()) {
    return false;
  }
  uint32_t family = memberOf(a).family;
  return family != none && family == memberOf(b).family;
}

void Families::forCandidates(const std::function<void(const Candidate &)> &visit) const {
  std::vector<Candidate> found;
  auto collect = [&](const PlaceUse &producer, const PlaceUse &consumer) {
    found.push_back({producer.instr, consumer.instr, producer.access, consumer.access});
  };
  for (const Family &family : families) {
    if (!family.isWritten) {
      continue;
    }
    Cells cells(*this, family);
    std::vector<std::pair<uint64_t, PlaceUse>> uses;
    for (const Touch &touch : family.touches) {
      const SlotTile &slot = memberOf(touch.access).slot;
      int64_t length = family.shape.length;
      int64_t phase =
          length == 0 ? -slot.offset : -slot.offset - floorDiv(-slot.offset, length) * length;
      bool writes = kernel.accesses[touch.access].kind != AccessKind::Read;
      cells.forEach(slot, [&](uint64_t cell) {
        uses.emplace_back(cell, PlaceUse{touch.access, touch.instr, writes,
                                         family.shape.loop.valid() ? phase : 0});
      });
    }
    std::stable_sort(uses.begin(), uses.end(), [](const auto &a, const auto &b) {
      return std::tuple(a.first, a.second.instr, a.second.phase) <
             std::tuple(b.first, b.second.instr, b.second.phase);
    });
    std::vector<PlaceUse> ofCell;
    for (size_t first = 0; first < uses.size();) {
      size_t end = first;
      ofCell.clear();
      for (; end < uses.size() && uses[end].first == uses[first].first; ++end) {
        ofCell.push_back(uses[end].second);
      }
      bool isWritten =
          std::any_of(ofCell.begin(), ofCell.end(), [](const PlaceUse &use) { return use.writes; });
      if (isWritten) {
        forReaching(kernel, {family.shape.loop, family.shape.length}, ofCell, collect);
      }
      first = end;
    }
  }
  auto key = [](const Candidate &c) {
    return std::tuple(c.consumer, c.producer, c.consumerAccess, c.producerAccess);
  };
  std::sort(found.begin(), found.end(),
            [&](const Candidate &a, const Candidate &b) { return key(a) < key(b); });
  found.erase(std::unique(found.begin(), found.end(),
                          [&](const Candidate &a, const Candidate &b) { return key(a) == key(b); }),
              found.end());
  for (const Candidate &candidate : found) {
    visit(candidate);
  }
}

} // namespace tally
