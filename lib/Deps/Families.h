//===- Families.h - Accesses of one memory, by how their tiles move -------===//
//
// Within a family (Slots.h), it is known without a question which tiles meet. The box of each
// tile in its slot is cut into cells at all places where one of them begins or ends, and each cell
// is a separate place (Reaching.h).
//
//   X[0:4]  X[2:4]           cells [0,2) [2,4) [4,6): the second writes over half of the first
//
// So a range that others cover piece by piece is dropped, too.
//
// A tile that lies across slots, or takes every so-manieth element, is several pieces of a family.
//
// Memory that several buffers share, in places that are known, is one row of cells: tiles that are
// always the same are its family. Where two buffers are said to be apart in spite of their
// addresses, cells would say otherwise, and each pair is looked at.
//
// An access of another family, or of none, whose memory lies near is a guest of all cells that it
// may touch. Two accesses of different families meet only if neither family's cells say that
// something is written over between them.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_FAMILIES_H
#define TALLY_LIB_DEPS_FAMILIES_H

#include "Slots.h"

#include <functional>
#include <map>

namespace tally::deps {

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
  /// For each tile of a kernel its number among those of its memory; made once for all memories.
  using Numbers = IdVector<TileId, uint32_t>;

  Families(const Kernel &kernel, const LoopsAlike &alike, const TileBoxes &tiles,
           std::span<const Touch> touches, Numbers &numbers);

  /// Whether each access is of some family.
  bool knowAll() const { return !hasOthers; }

  /// Whether one of the two is of some family, so that forCandidates() knows all about them.
  bool know(AccessId a, AccessId b) const { return isMember(a) || isMember(b); }

  /// One of each is of a family; consumers in the order of the text, and their producers.
  void forCandidates(const std::function<void(const Candidate &)> &visit) const;

private:
  static constexpr uint32_t none = UINT32_MAX;

  /// A tile.
  struct Member {
    TileId tile;
    uint32_t family = none;
    uint32_t place = 0; ///< among the members of the family
    uint32_t party = 0;
    uint32_t firstPiece = 0;
    uint32_t numPieces = 0;
  };

  struct Piece {
    int64_t offset = 0;       ///< of slot iteration + offset
    uint32_t firstInside = 0; ///< into `inside`, one for each dimension
  };

  /// Those who touch the tiles of a family, or one tile that is of none.
  struct Party {
    Bounds hull{0, -1};
    std::vector<uint32_t> touches = {};
  };

  struct Family {
    SlotFamily shape;
    uint32_t party = 0;
    std::vector<uint32_t> members = {};
    std::vector<uint32_t> guests = {}; ///< parties that touch memory near its tiles
  };

  const Member &memberOf(AccessId access) const { return members[numbers[tiles.of(access)]]; }

  const Member &memberOf(uint32_t touch) const { return memberOf(touches[touch].access); }

  bool isMember(AccessId access) const {
    return !members.empty() && memberOf(access).family != none;
  }

  std::span<const Piece> piecesOf(const Member &member) const {
    return std::span(pieces).subspan(member.firstPiece, member.numPieces);
  }

  std::span<const Bounds> insideOf(const Piece &piece) const {
    return std::span(inside).subspan(piece.firstInside, numDims);
  }

  /// Where a tile may lie, by dimension; of memory that is shared, its range.
  std::span<const Bounds> boxOf(const TileBox &tile) const {
    return isShared ? std::span(&tile.hull, 1) : tiles.bounds(tile);
  }

  void add(uint32_t touch);
  Member join(TileId tile);
  void joinByText();
  bool mayCover(const std::vector<uint32_t> &together) const;
  void moveTo(uint32_t family, uint32_t number);
  void addPieces(Member &member, const std::vector<SlotPiece> &added);
  uint32_t newParty();
  void invite();
  void giveUpFragments();
  bool isInFragments(const Family &family) const;
  class Cells;
  class Search;

  const Kernel &kernel;
  const LoopsAlike &alike;
  const TileBoxes &tiles;
  std::span<const Touch> touches;
  Numbers &numbers;
  size_t numDims = 0;
  bool hasOthers = false;
  bool isShared = false;       ///< by several buffers
  std::vector<Member> members; ///< by number
  std::vector<Piece> pieces;
  std::vector<Bounds> inside;
  std::vector<Party> parties;
  std::vector<Family> families;
  std::map<SlotFamily, uint32_t> known;
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_FAMILIES_H
