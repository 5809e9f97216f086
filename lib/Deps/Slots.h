//===- Slots.h - Tiles that are slots of a ring, or always the same -------===//
//
// A tile that is made of constants, except for one dimension in which it moves with one loop:
//
//   X[0:128]                       always the same
//   X[(A + 1) mod 4, 0:128]        slot A + 1 of a ring of 4
//   X[128 * (A mod 2) + 64 : 32]   slot A of a ring of 2, elements 64 to 95 of 128
//   X[(3 * A + 5) mod 8]           slot A + 7 of a ring of 8 with a step of 3
//   X[16 * A : 16]                 slot A; no slot comes again in one entry of A
//   X[16 * A + 8 : 16]             half of slot A, and half of slot A + 1
//   X[3 : 4 : 16]                  always the same four pieces
//
// A tile of any other form is still the same as one of equal text, as long as no loop that it names
// goes on: `X[A, B]`, `X[16 * A + B]`, `X[total(B) mod 3]` within one iteration of B. So is `X[@]`
// for what has to wait: all accesses of it wait for one another. So do those of `X[$p]` and
// `X[$q]`, if nothing is known of these values.
//
// Loops that are alike (LoopsAlike.h) count as one. Where several buffers share memory, a tile is a
// range of that memory.
//
// Tiles of one *family* - the same buffer, dimension, loop, length, step and size of a slot - meet
// in a slot exactly if they meet in what they touch of it.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_SLOTS_H
#define TALLY_LIB_DEPS_SLOTS_H

#include "LoopsAlike.h"
#include "TileBoxes.h"

namespace tally::deps {

struct SlotFamily {
  BufferId buffer;
  LoopId loop;        ///< none: always the same
  uint32_t dim = 0;   ///< the one that moves
  int64_t length = 0; ///< of the ring; 0: none
  int64_t slotSize = 0;
  int64_t base = 0;    ///< where slot 0 of a ring begins
  int64_t step = 1;    ///< how far on the next slot of a ring is; no divisor of the length
  NameId text = {};    ///< of all its tiles, if that is all that is known of them
  LoopId fixedIn = {}; ///< ... the innermost that the text names; none: it names none

  auto operator<=>(const SlotFamily &) const = default;
};

/// A part of a tile, in one slot.
struct SlotPiece {
  int64_t offset = 0;         ///< of slot iteration + offset
  std::vector<Bounds> inside; ///< by dimension; in the one that moves, from the slot's start
};

struct SlotTile {
  SlotFamily family;
  std::vector<SlotPiece> pieces;
};

/// None if it is not of this form, or engines may disagree on how often it is touched.
std::optional<SlotTile> slotOf(const Kernel &kernel, const LoopsAlike &alike,
                               const TileBoxes &tiles, const TileBox &tile);

/// The same for a tile of memory that several buffers share, in places that are known: always the
/// same range of it.
std::optional<SlotTile> rangeOf(const Kernel &kernel, const TileBoxes &tiles, const TileBox &tile);

/// The text without the names of run-time values of which nothing is known; empty if it has none.
/// Tiles of equal such texts may always meet, as those of `X[@]` may.
std::string anonymousText(const BodyTile &tile);

/// The family of the tiles of equal text, for a tile of any form. None if engines may disagree on
/// where it lies.
std::optional<SlotFamily> sameTextAs(const Kernel &kernel, const TileBoxes &tiles,
                                     const TileBox &tile);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_SLOTS_H
