//===- Families.h - Accesses of one memory, by how their tiles move -------===//
//
// Within a family (Slots.h), who meets whom is known without a question: the box of each tile
// in its slot is cut into cells at all places where one of them begins or ends, and each cell is a
// place of its own (Reaching.h).
//
//   X[0:4]  X[2:4]           cells [0,2) [2,4) [4,6): the second writes over half of the first
//
// So a range that others cover piece by piece is dropped, too.
//
// An access of another family, or of none, is a guest of all cells that it may touch. Two accesses
// of different families meet only if neither family's cells say that something is written over
// between them.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_FAMILIES_H
#define TALLY_LIB_DEPS_FAMILIES_H

#include "Slots.h"

#include <functional>
#include <map>

namespace tally {

struct Touch {
  AccessId access;
  InstrId instr;
};

/// A producer's access and a consumer's: of memory that may be the same, one of them writes, and a
/// run of the first may come before one of the second.
struct Candidate {
  InstrId producer;
  InstrId consumer;
  AccessId producerAccess;
  AccessId consumerAccess;
};

/// The accesses of memory that nothing else shares, in the order of the text.
class Families {
public:
  Families(const Kernel &kernel, const TileBoxes &tiles, std::span<const Touch> touches);

  /// Whether each access is of some family.
  bool knowAll() const { return !hasOthers; }

  /// Whether one of the two is of some family, so that forCandidates() knows all about them.
  bool know(AccessId a, AccessId b) const { return isMember(a) || isMember(b); }

  /// One of each is of a family; consumers in the order of the text, and their producers.
  void forCandidates(const std::function<void(const Candidate &)> &visit) const;

private:
  static constexpr uint32_t none = UINT32_MAX;

  struct Member {
    uint32_t family = none;
    SlotTile slot;
  };

  struct Family {
    SlotFamily shape;
    std::vector<Touch> touches;
  };

  const Member &memberOf(AccessId access) const { return members.at(tiles.of(access)); }

  bool isMember(AccessId access) const {
    return !members.empty() && memberOf(access).family != none;
  }

  void add(Touch touch);
  Member join(const TileBox &tile);
  void giveUpFragments();
  class Cells;
  class Search;

  const Kernel &kernel;
  const TileBoxes &tiles;
  std::span<const Touch> touches;
  bool hasOthers = false;
  std::map<TileId, Member> members;
  std::vector<Family> families;
  std::map<SlotFamily, uint32_t> known;
};

} // namespace tally

#endif // TALLY_LIB_DEPS_FAMILIES_H
