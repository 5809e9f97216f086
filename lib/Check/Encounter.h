//===- Encounter.h - A run in which two touch the same --------------------===//
//
// Looks for a run of each of two instructions, the first before the second in the order of the
// text, and for trips of the loops around them, such that the guards of both accesses hold and
// their tiles overlap. Both start in the first iteration of everything. The first condition that
// does not hold is mended in every way that changes one number
// - an iteration, or how often a loop runs - and so on, few changes first:
//
//   writes X[0] if A == 3*B and B == 12      A = 0, B = 0
//                                            A = 0, B = 12     B == 12
//                                            A = 36, B = 12    A == 3*B
//
// What it finds is a meeting. What it does not find may be one all the same: equations between
// several loops and numbers beyond its bounds are left alone.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_ENCOUNTER_H
#define TALLY_LIB_CHECK_ENCOUNTER_H

#include "tally/Model/Tiles.h"

#include <array>
#include <optional>
#include <vector>

namespace tally {

/// One of the two; no access: its run is all that counts. The second may be nobody at all.
struct Party {
  InstrId instr;
  AccessId access;
};

/// Where both are. Loops and branches around either are counted as Encounter::loops has them.
struct EncounterPlace {
  std::array<std::vector<int64_t>, 2> iterations; ///< of each of the two
  std::vector<int64_t> trips;                     ///< at each entry

  auto operator<=>(const EncounterPlace &) const = default;
};

class Encounter {
public:
  Encounter(const Kernel &kernel, Party a, Party b);

  /// The place of few changes that is found first; none if there is none nearby. Takes one of
  /// `effort` for each place that is looked at.
  std::optional<EncounterPlace> find(uint64_t &effort) const;

  /// Whether the two meet there, too, if loops run so often.
  bool holdsWith(EncounterPlace place, const std::vector<int64_t> &trips) const;

  /// Loops and branches around either, outer ones first.
  const std::vector<LoopId> &loops() const { return around; }

  /// Whether they are in different branches, so that one run of what is around has one of them.
  bool isParted() const { return parted; }

private:
  using Places = std::vector<EncounterPlace>;

  const BodyTile *tileOf(size_t side) const;
  size_t slotOf(LoopId loop) const;
  LoopIndex indexOf(const EncounterPlace &at, size_t side, LoopId loop) const;
  std::optional<int64_t> valueOf(const EncounterPlace &at, size_t side, TileExprId id) const;
  bool isPossible(const EncounterPlace &at) const;
  bool mend(const EncounterPlace &at, Places &next) const;
  bool mendGuards(const EncounterPlace &at, size_t side, Places &next) const;
  bool mendOverlap(const EncounterPlace &at, Places &next) const;
  bool mendOrder(const EncounterPlace &at, Places &next) const;
  void give(const EncounterPlace &at, size_t side, TileExprId id, int64_t value,
            Places &next) const;
  void giveLeaf(const EncounterPlace &at, size_t side, const TileExpr &leaf, int64_t value,
                Places &next) const;

  const Kernel &kernel;
  std::array<Party, 2> parties;
  std::vector<LoopId> around;
  std::array<std::vector<bool>, 2> isAround; ///< by side and slot
  bool parted = false;
};

} // namespace tally

#endif // TALLY_LIB_CHECK_ENCOUNTER_H
