//===- Families.cpp - Accesses of one memory, by how their tiles move -----===//

#include "Families.h"

#include "Reaching.h"

#include "tally/Support/SortByNumber.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tally::deps {

/// One that holds both.
static Bounds around(const Bounds &a, const Bounds &b) {
  return a.isEmpty()   ? b
         : b.isEmpty() ? a
                       : Bounds{std::min(a.first, b.first), std::max(a.last, b.last)};
}

/// The cells of one family.
class Families::Cells {
public:
  using Range = std::pair<uint64_t, uint64_t>; ///< first, end
  using Ranges = std::vector<Range>;           ///< by dimension
  static constexpr uint64_t many = uint64_t(1) << 32;

  Cells(const Families &families, const Family &family)
      : families(families), shape(family.shape), starts(families.numDims) {
    for (uint32_t number : family.members) {
      for (const Piece &piece : families.piecesOf(families.members[number])) {
        std::span<const Bounds> inside = families.insideOf(piece);
        for (size_t d = 0; d < starts.size(); ++d) {
          starts[d].push_back(inside[d].first);
          starts[d].push_back(inside[d].last + 1);
        }
      }
    }
    for (std::vector<int64_t> &list : starts) {
      if (!std::is_sorted(list.begin(), list.end())) {
        std::sort(list.begin(), list.end());
      }
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    for (uint32_t number : family.members) {
      firstOf.push_back(static_cast<uint32_t>(ranges.size()));
      for (const Piece &piece : families.piecesOf(families.members[number])) {
        std::span<const Bounds> inside = families.insideOf(piece);
        for (size_t d = 0; d < starts.size(); ++d) {
          ranges.emplace_back(lower(d, inside[d].first), lower(d, inside[d].last + 1));
        }
      }
    }
  }

  /// Of one piece of a member of the family.
  std::span<const Range> ofPiece(const Member &member, uint32_t piece) const {
    size_t first = firstOf[member.place] + piece * starts.size();
    return std::span(ranges).subspan(first, starts.size());
  }

  /// All that it may touch in some run; of a slot that moves, any part.
  Ranges ofGuest(const Member &guest) const {
    const TileBox &tile = families.tiles[guest.tile];
    std::span<const Bounds> box = families.boxOf(tile);
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

  static uint64_t count(std::span<const Range> ranges) {
    uint64_t product = 1;
    for (auto [first, end] : ranges) {
      product = first < end ? std::min(product * (end - first), many) : 0;
    }
    return product;
  }

  /// All numbers of cells are below this one, if it is not `many`.
  uint64_t size() const {
    uint64_t product = 1;
    for (const std::vector<int64_t> &list : starts) {
      product = std::min(product * list.size(), many);
    }
    return product;
  }

  /// Calls `visit` with the number of each cell.
  template <typename Visit> void forEach(std::span<const Range> ranges, Visit visit) const {
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
  void forFrom(std::span<const Range> ranges, size_t dim, uint64_t base, Visit &visit) const {
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
  Ranges ranges;                            ///< of the members' pieces
  std::vector<uint32_t> firstOf;            ///< by place of a member in the family
};

//===----------------------------------------------------------------------===//
// Who belongs where
//===----------------------------------------------------------------------===//

Families::Families(const Kernel &kernel, const LoopsAlike &alike, const TileBoxes &tiles,
                   std::span<const Touch> touches, Numbers &numbers)
    : kernel(kernel), alike(alike), tiles(tiles), touches(touches), numbers(numbers) {
  auto bufferOf = [&](const Touch &touch) { return kernel.accesses[touch.access].buffer; };
  bool isAlone = std::all_of(touches.begin(), touches.end(), [&](const Touch &touch) {
    return bufferOf(touch) == bufferOf(touches.front());
  });
  isShared = !isAlone;
  bool isByAddress = std::ranges::all_of(touches, [&](const Touch &touch) {
    BufferId buffer = bufferOf(touch);
    return tiles.isPlaced(buffer) && kernel.buffers[buffer].noalias.empty();
  });
  if (isShared && !isByAddress) {
    hasOthers = true;
    return;
  }
  numDims = isShared          ? 1
            : touches.empty() ? 0
                              : kernel.buffers[bufferOf(touches.front())].shape.size();
  for (uint32_t touch = 0; touch < touches.size(); ++touch) {
    add(touch);
  }
  joinByText();
  invite();
  giveUpFragments();
}

void Families::add(uint32_t touch) {
  TileId tile = tiles.of(touches[touch].access);
  if (numbers[tile] == none) {
    numbers[tile] = static_cast<uint32_t>(members.size());
    members.push_back(join(tile));
  }
  const Member &member = members[numbers[tile]];
  hasOthers |= member.family == none;
  parties[member.party].touches.push_back(touch);
}

Families::Member Families::join(TileId tile) {
  Member member{.tile = tile};
  std::optional<SlotTile> slot =
      isShared ? rangeOf(kernel, tiles, tiles[tile]) : slotOf(kernel, alike, tiles, tiles[tile]);
  if (slot) {
    auto [found, isNew] = known.try_emplace(slot->family, static_cast<uint32_t>(families.size()));
    if (isNew) {
      families.push_back({slot->family, newParty()});
    }
    Family &family = families[found->second];
    member.place = static_cast<uint32_t>(family.members.size());
    family.members.push_back(static_cast<uint32_t>(members.size()));
    member.family = found->second;
    member.party = family.party;
    addPieces(member, slot->pieces);
  } else {
    member.party = newParty();
  }
  parties[member.party].hull = around(parties[member.party].hull, tiles[tile].hull);
  return member;
}

/// Tiles of which no more is known than that others have the same text.
void Families::joinByText() {
  std::map<SlotFamily, std::vector<uint32_t>> alone; // numbers of members
  std::unordered_map<std::string, NameId> anonymous; // the first text of each
  for (uint32_t number = 0; number < members.size(); ++number) {
    if (members[number].family == none) {
      const TileBox &tile = tiles[members[number].tile];
      if (std::optional<SlotFamily> family = sameTextAs(kernel, tiles, tile)) {
        if (std::string text = anonymousText(tiles.read(tile)); !text.empty()) {
          family->text = anonymous.try_emplace(std::move(text), family->text).first->second;
        }
        alone[*family].push_back(number);
      }
    }
  }
  for (const auto &[shape, together] : alone) {
    if (!mayCover(together)) {
      continue;
    }
    families.push_back({shape, newParty()});
    for (uint32_t number : together) {
      moveTo(static_cast<uint32_t>(families.size() - 1), number);
    }
    std::ranges::sort(parties[families.back().party].touches);
  }
  hasOthers = std::ranges::any_of(members, [](const Member &m) { return m.family == none; });
}

/// Whether one of them may write over what another one touches.
bool Families::mayCover(const std::vector<uint32_t> &together) const {
  size_t numTouches = 0;
  bool writes = false;
  for (uint32_t number : together) {
    const std::vector<uint32_t> &ofOne = parties[members[number].party].touches;
    numTouches += ofOne.size();
    writes |= std::ranges::any_of(ofOne, [&](uint32_t touch) {
      return kernel.accesses[touches[touch].access].kind != AccessKind::Read;
    });
  }
  return writes && numTouches > 1;
}

/// A member that was alone.
void Families::moveTo(uint32_t family, uint32_t number) {
  Member &member = members[number];
  Party alone = std::exchange(parties[member.party], {});
  member.family = family;
  member.place = static_cast<uint32_t>(families[family].members.size());
  member.party = families[family].party;
  families[family].members.push_back(number);
  std::span<const Bounds> box = boxOf(tiles[member.tile]);
  addPieces(member, {{0, {box.begin(), box.end()}}});
  Party &party = parties[member.party];
  party.hull = around(party.hull, alone.hull);
  party.touches.insert(party.touches.end(), alone.touches.begin(), alone.touches.end());
}

void Families::addPieces(Member &member, const std::vector<SlotPiece> &added) {
  member.firstPiece = static_cast<uint32_t>(pieces.size());
  member.numPieces = static_cast<uint32_t>(added.size());
  for (const SlotPiece &piece : added) {
    pieces.push_back({piece.offset, static_cast<uint32_t>(inside.size())});
    inside.insert(inside.end(), piece.inside.begin(), piece.inside.end());
  }
}

uint32_t Families::newParty() {
  parties.emplace_back();
  return static_cast<uint32_t>(parties.size() - 1);
}

/// Finds the guests of each family: those whose hull meets its own.
void Families::invite() {
  std::vector<uint32_t> order;
  std::vector<uint32_t> familyOf(parties.size(), none);
  for (uint32_t party = 0; party < parties.size(); ++party) {
    if (!parties[party].hull.isEmpty()) {
      order.push_back(party);
    }
  }
  for (uint32_t family = 0; family < families.size(); ++family) {
    familyOf[families[family].party] = family;
  }
  auto inviteTo = [&](uint32_t host, uint32_t guest) {
    if (familyOf[host] != none) {
      families[familyOf[host]].guests.push_back(guest);
    }
  };
  std::ranges::sort(order, {}, [&](uint32_t party) { return parties[party].hull.first; });
  std::vector<uint32_t> near;
  for (uint32_t party : order) {
    std::erase_if(near, [&](uint32_t earlier) {
      return parties[earlier].hull.last < parties[party].hull.first;
    });
    for (uint32_t earlier : near) {
      inviteTo(earlier, party);
      inviteTo(party, earlier);
    }
    near.push_back(party);
  }
}

/// Where there are very many cells, more than pairs of accesses, each pair is looked at instead.
void Families::giveUpFragments() {
  for (Family &family : families) {
    if (!isInFragments(family)) {
      continue;
    }
    for (uint32_t number : family.members) {
      members[number].family = none;
    }
    family.members.clear();
    hasOthers = true;
  }
}

bool Families::isInFragments(const Family &family) const {
  constexpr uint64_t cellsPerTouch = 64;
  constexpr uint64_t fewCells = 4096;
  Cells cells(*this, family);
  std::set<int64_t> offsets;
  for (uint32_t number : family.members) {
    for (const Piece &piece : piecesOf(members[number])) {
      offsets.insert(piece.offset);
    }
  }
  uint64_t numTouches = parties[family.party].touches.size();
  uint64_t numCells = 0;
  for (uint32_t touch : parties[family.party].touches) {
    const Member &member = memberOf(touch);
    for (uint32_t piece = 0; piece < member.numPieces; ++piece) {
      numCells += Cells::count(cells.ofPiece(member, piece));
    }
  }
  for (uint32_t guest : family.guests) {
    numTouches += parties[guest].touches.size();
    for (uint32_t touch : parties[guest].touches) {
      numCells += Cells::count(cells.ofGuest(memberOf(touch))) * (2 * offsets.size() + 1);
    }
  }
  return numCells > cellsPerTouch * numTouches + fewCells && numCells > numTouches * numTouches;
}

//===----------------------------------------------------------------------===//
// Who meets whom
//===----------------------------------------------------------------------===//

class Families::Search {
  static auto keyOf(const Candidate &c) {
    return std::tuple(c.consumer, c.producer, c.consumerAccess, c.producerAccess);
  }

  static bool isSame(const Candidate &a, const Candidate &b) { return keyOf(a) == keyOf(b); }

public:
  explicit Search(const Families &all) : all(all) {}

  /// Sorted, without equal ones.
  std::vector<Candidate> run() {
    for (const Family &family : all.families) {
      if (!family.members.empty()) {
        look(family);
      }
    }
    sortByNumber(
        found, all.kernel.instrs.size(), [](const Found &one) { return one.ends.consumer.value; },
        [](const Found &a, const Found &b) {
          return std::pair(keyOf(a.ends), a.family) < std::pair(keyOf(b.ends), b.family);
        });
    return whatAllFound();
  }

private:
  /// In a cell of a family.
  struct Found {
    Candidate ends;
    uint32_t family = none;
  };

  void look(const Family &family) {
    std::vector<Use> uses = usesOf(family);
    std::vector<PlaceUse> ofCell;
    for (size_t first = 0, end = 0; first < uses.size(); first = end) {
      ofCell.clear();
      for (; end < uses.size() && uses[end].cell == uses[first].cell; ++end) {
        ofCell.push_back(placeUse(family, uses[end]));
      }
      if (!std::ranges::is_sorted(ofCell, {}, orderOf)) {
        std::ranges::stable_sort(ofCell, {}, orderOf);
      }
      lookAt(family, ofCell);
    }
  }

  void lookAt(const Family &family, const std::vector<PlaceUse> &uses) {
    auto isWrite = [](const PlaceUse &use) { return use.writes; };
    auto isGuest = [](const PlaceUse &use) { return use.isGuest; };
    if (std::any_of(uses.begin(), uses.end(), isWrite) &&
        !std::all_of(uses.begin(), uses.end(), isGuest)) {
      uint32_t number = static_cast<uint32_t>(&family - all.families.data());
      forReaching(
          all.kernel, all.alike, {family.shape.loop, family.shape.length, family.shape.fixedIn},
          uses, [&](const PlaceUse &producer, const PlaceUse &consumer) {
            found.push_back(
                {{producer.instr, consumer.instr, producer.access, consumer.access}, number});
          });
    }
  }

  /// A cell, and who touches it.
  struct Use {
    uint64_t cell;
    uint32_t touch;
    uint32_t piece; ///< none: it is a guest

    auto operator<=>(const Use &) const = default;
  };

  /// By cell, in the order of the text.
  std::vector<Use> usesOf(const Family &family) const {
    Cells cells(all, family);
    std::vector<Use> uses;
    auto add = [&](std::span<const Cells::Range> ranges, uint32_t touch, uint32_t piece) {
      cells.forEach(ranges, [&](uint64_t cell) { uses.push_back({cell, touch, piece}); });
    };
    for (uint32_t touch : all.parties[family.party].touches) {
      const Member &member = all.memberOf(touch);
      for (uint32_t piece = 0; piece < member.numPieces; ++piece) {
        add(cells.ofPiece(member, piece), touch, member.firstPiece + piece);
      }
    }
    for (uint32_t guest : family.guests) {
      for (uint32_t touch : all.parties[guest].touches) {
        add(cells.ofGuest(all.memberOf(touch)), touch, none);
      }
    }
    constexpr uint64_t cellsPerUse = 4;
    if (cells.size() <= cellsPerUse * uses.size()) {
      sortByNumber(
          uses, cells.size(), [](const Use &use) { return use.cell; },
          [](const Use &a, const Use &b) { return a < b; });
    } else {
      std::ranges::sort(uses);
    }
    return uses;
  }

  PlaceUse placeUse(const Family &family, const Use &use) const {
    const auto [access, instr] = all.touches[use.touch];
    bool isGuest = use.piece == none;
    bool writes = all.kernel.accesses[access].kind != AccessKind::Read;
    int64_t phase = isGuest ? 0 : phaseOf(family.shape, all.pieces[use.piece].offset);
    return {access, instr, writes, isGuest, phase};
  }

  /// Those of an instruction: guests first, then by phase.
  static std::tuple<InstrId, bool, int64_t> orderOf(const PlaceUse &use) {
    return {use.instr, !use.isGuest, use.phase};
  }

  /// In which iterations it touches slot 0.
  static int64_t phaseOf(const SlotFamily &family, int64_t offset) {
    int64_t length = family.length;
    int64_t phase = family.loop.valid() ? -offset : 0;
    return length == 0 ? phase : phase - floorDiv(phase, length) * length;
  }

  /// Sorted; two that are of two families matter if both say so.
  std::vector<Candidate> whatAllFound() const {
    std::vector<Candidate> result;
    for (size_t first = 0, end = 0; first < found.size(); first = end) {
      const Candidate &ends = found[first].ends;
      uint32_t numFamilies = 0;
      for (uint32_t last = none; end < found.size() && isSame(found[end].ends, ends); ++end) {
        numFamilies += found[end].family != last;
        last = found[end].family;
      }
      if (numFamilies == timesLookedAt(ends) && mayMeet(ends)) {
        result.push_back(ends);
      }
    }
    return result;
  }

  uint32_t timesLookedAt(const Candidate &candidate) const {
    uint32_t producer = all.memberOf(candidate.producerAccess).family;
    uint32_t consumer = all.memberOf(candidate.consumerAccess).family;
    return producer != none && consumer != none && producer != consumer ? 2 : 1;
  }

  bool mayMeet(const Candidate &candidate) const {
    auto tileOf = [&](AccessId access) -> const TileBox & {
      return all.tiles[all.tiles.of(access)];
    };
    return all.tiles.boxesMeet(tileOf(candidate.producerAccess), tileOf(candidate.consumerAccess));
  }

  const Families &all;
  std::vector<Found> found;
};

void Families::forCandidates(const std::function<void(const Candidate &)> &visit) const {
  for (const Candidate &candidate : Search(*this).run()) {
    visit(candidate);
  }
}

} // namespace tally::deps
