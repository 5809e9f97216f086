//===- Families.cpp - Accesses of one memory, by how their tiles move -----===//

#include "Families.h"

#include "Reaching.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tally {

/// The cells of one family.
class Families::Cells {
public:
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>; ///< by dimension; first, end

  Cells(const Families &families, const Family &family)
      : families(families), shape(family.shape),
        starts(families.kernel.buffers[shape.buffer].shape.size()) {
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

  Ranges ofMember(AccessId access) const {
    const std::vector<Bounds> &inside = families.memberOf(access).slot.inside;
    Ranges ranges;
    for (size_t d = 0; d < starts.size(); ++d) {
      ranges.emplace_back(lower(d, inside[d].first), lower(d, inside[d].last + 1));
    }
    return ranges;
  }

  /// All that it may touch in some run; of a slot that moves, any part.
  Ranges ofGuest(AccessId access) const {
    const TileBox &tile = families.tiles[families.tiles.of(access)];
    std::span<const Bounds> box = families.tiles.bounds(tile);
    Ranges ranges;
    for (size_t d = 0; d < starts.size(); ++d) {
      bool moves = shape.loop.valid() && d == shape.dim;
      Bounds bounds = moves ? Bounds{} : box[d];
      bool meets = !box[d].isEmpty() && (!moves || box[d].meets(wayOfSlots()));
      uint64_t first = lower(d, bounds.first + 1);
      uint64_t end = std::min<uint64_t>(lower(d, bounds.last + 1), starts[d].size() - 1);
      ranges.emplace_back(first == 0 ? 0 : first - 1, meets ? end : 0);
    }
    return ranges;
  }

  static uint64_t count(const Ranges &ranges) {
    uint64_t product = 1;
    for (auto [first, end] : ranges) {
      product = first < end ? std::min(product * (end - first), uint64_t(1) << 32) : 0;
    }
    return product;
  }

  /// Calls `visit` with the number of each cell.
  template <typename Visit> void forEach(const Ranges &ranges, Visit visit) const {
    forFrom(ranges, 0, 0, visit);
  }

private:
  /// Where the slots lie.
  Bounds wayOfSlots() const {
    return shape.length == 0 ? Bounds{}
                             : Bounds{shape.base, shape.base + shape.length * shape.slotSize - 1};
  }

  uint64_t lower(size_t dim, int64_t place) const {
    const std::vector<int64_t> &list = starts[dim];
    return static_cast<uint64_t>(std::lower_bound(list.begin(), list.end(), place) - list.begin());
  }

  template <typename Visit>
  void forFrom(const Ranges &ranges, size_t dim, uint64_t base, Visit &visit) const {
    if (dim == ranges.size()) {
      visit(base);
      return;
    }
    for (uint64_t i = ranges[dim].first; i < ranges[dim].second; ++i) {
      forFrom(ranges, dim + 1, base * starts[dim].size() + i, visit);
    }
  }

  const Families &families;
  const SlotFamily &shape;
  std::vector<std::vector<int64_t>> starts; ///< by dimension, where a cell begins or ends
};

//===----------------------------------------------------------------------===//
// Who belongs where
//===----------------------------------------------------------------------===//

Families::Families(const Kernel &kernel, const TileBoxes &tiles, std::span<const Touch> touches)
    : kernel(kernel), tiles(tiles), touches(touches) {
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
  families[found->second.family].touches.push_back(touch);
}

Families::Member Families::join(const TileBox &tile) {
  std::optional<SlotTile> slot = slotOf(kernel, tiles, tile);
  if (!slot) {
    return {};
  }
  auto [found, isNew] = known.try_emplace(slot->family, static_cast<uint32_t>(families.size()));
  if (isNew) {
    families.push_back({slot->family, {}});
  }
  return {found->second, std::move(*slot)};
}

/// Where there are very many cells, each pair of accesses is looked at instead.
void Families::giveUpFragments() {
  constexpr uint64_t cellsPerTouch = 64;
  constexpr uint64_t fewCells = 4096;
  for (uint32_t f = 0; f < families.size(); ++f) {
    Cells cells(*this, families[f]);
    std::set<int64_t> offsets;
    uint64_t own = 0;
    uint64_t ofGuests = 0;
    for (const Touch &touch : touches) {
      const Member &member = memberOf(touch.access);
      if (member.family == f) {
        own += Cells::count(cells.ofMember(touch.access));
        offsets.insert(member.slot.offset);
      } else {
        ofGuests += Cells::count(cells.ofGuest(touch.access));
      }
    }
    if (own + ofGuests * (2 * offsets.size() + 1) > cellsPerTouch * touches.size() + fewCells) {
      for (const Touch &touch : families[f].touches) {
        members.at(tiles.of(touch.access)).family = none;
      }
      families[f].touches.clear();
      hasOthers = true;
    }
  }
}

//===----------------------------------------------------------------------===//
// Who meets whom
//===----------------------------------------------------------------------===//

class Families::Search {
public:
  explicit Search(const Families &all) : all(all) {}

  /// Sorted, without equal ones.
  std::vector<Candidate> run() {
    for (const Family &family : all.families) {
      if (!family.touches.empty()) {
        look(family);
      }
    }
    std::sort(found.begin(), found.end(), isBefore);
    keepWhatAllFound();
    return std::move(found);
  }

private:
  static auto keyOf(const Candidate &c) {
    return std::tuple(c.consumer, c.producer, c.consumerAccess, c.producerAccess);
  }

  static bool isBefore(const Candidate &a, const Candidate &b) { return keyOf(a) < keyOf(b); }

  static bool isEqual(const Candidate &a, const Candidate &b) { return keyOf(a) == keyOf(b); }

  void look(const Family &family) {
    std::vector<std::pair<uint64_t, PlaceUse>> uses = usesOf(family);
    size_t before = found.size();
    std::vector<PlaceUse> ofCell;
    for (size_t first = 0; first < uses.size();) {
      size_t end = first;
      ofCell.clear();
      for (; end < uses.size() && uses[end].first == uses[first].first; ++end) {
        ofCell.push_back(uses[end].second);
      }
      lookAt(family, ofCell);
      first = end;
    }
    auto own = found.begin() + static_cast<ptrdiff_t>(before);
    std::sort(own, found.end(), isBefore);
    found.erase(std::unique(own, found.end(), isEqual), found.end());
  }

  void lookAt(const Family &family, const std::vector<PlaceUse> &uses) {
    auto isWrite = [](const PlaceUse &use) { return use.writes; };
    auto isGuest = [](const PlaceUse &use) { return use.isGuest; };
    if (std::any_of(uses.begin(), uses.end(), isWrite) &&
        !std::all_of(uses.begin(), uses.end(), isGuest)) {
      forReaching(all.kernel, {family.shape.loop, family.shape.length}, uses,
                  [&](const PlaceUse &producer, const PlaceUse &consumer) {
                    found.push_back(
                        {producer.instr, consumer.instr, producer.access, consumer.access});
                  });
    }
  }

  /// By cell, in the order of the text.
  std::vector<std::pair<uint64_t, PlaceUse>> usesOf(const Family &family) const {
    Cells cells(all, family);
    std::vector<std::pair<uint64_t, PlaceUse>> uses;
    for (const Touch &touch : all.touches) {
      const Member &member = all.memberOf(touch.access);
      bool isOwn = member.family != none && &all.families[member.family] == &family;
      PlaceUse use{touch.access, touch.instr,
                   all.kernel.accesses[touch.access].kind != AccessKind::Read, !isOwn,
                   isOwn ? phaseOf(member.slot) : 0};
      cells.forEach(isOwn ? cells.ofMember(touch.access) : cells.ofGuest(touch.access),
                    [&](uint64_t cell) { uses.emplace_back(cell, use); });
    }
    auto key = [](const std::pair<uint64_t, PlaceUse> &use) {
      return std::tuple(use.first, use.second.instr, !use.second.isGuest, use.second.phase);
    };
    std::stable_sort(uses.begin(), uses.end(),
                     [&](const auto &a, const auto &b) { return key(a) < key(b); });
    return uses;
  }

  /// In which iterations it touches slot 0.
  static int64_t phaseOf(const SlotTile &slot) {
    int64_t length = slot.family.length;
    int64_t phase = slot.family.loop.valid() ? -slot.offset : 0;
    return length == 0 ? phase : phase - floorDiv(phase, length) * length;
  }

  /// Two that are of two families have been looked at twice.
  void keepWhatAllFound() {
    auto end = found.begin();
    for (auto at = found.begin(); at != found.end();) {
      auto next = std::find_if(at, found.end(),
                               [&](const Candidate &other) { return !isEqual(*at, other); });
      if (next - at == timesLookedAt(*at) && mayMeet(*at)) {
        *end++ = *at;
      }
      at = next;
    }
    found.erase(end, found.end());
  }

  ptrdiff_t timesLookedAt(const Candidate &candidate) const {
    uint32_t producer = all.memberOf(candidate.producerAccess).family;
    uint32_t consumer = all.memberOf(candidate.consumerAccess).family;
    return producer != none && consumer != none && producer != consumer ? 2 : 1;
  }

  bool mayMeet(const Candidate &candidate) const {
    auto tileOf = [&](AccessId access) { return all.tiles[all.tiles.of(access)]; };
    return all.tiles.boxesMeet(tileOf(candidate.producerAccess), tileOf(candidate.consumerAccess));
  }

  const Families &all;
  std::vector<Candidate> found;
};

void Families::forCandidates(const std::function<void(const Candidate &)> &visit) const {
  for (const Candidate &candidate : Search(*this).run()) {
    visit(candidate);
  }
}

} // namespace tally
