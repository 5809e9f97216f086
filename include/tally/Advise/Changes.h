//===- Changes.h - What could be changed about a kernel -------------------===//
//
// A change keeps what a kernel means: it computes the same, in the same order if it runs
// sequentially, or in one in which only what does not meet changes places. There are six kinds:
//
//   move    transfers are issued by another engine, from a queue of its own
//   ring    a buffer of several slots that are used in turn gets more of them
//   order   instructions stand earlier in their body, before others of their engine
//   once    what is the same in each iteration stands before the loop
//   split   one part of a body runs in all iterations before the other one does
//   grow    code may be larger: loops are unrolled where that pays
//
// All but the last are for kernels whose dependences follow from their accesses: written ones would
// speak of the kernel as it was.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ADVISE_CHANGES_H
#define TALLY_ADVISE_CHANGES_H

#include "tally/Deps/Extract.h"
#include "tally/Model/Rings.h"
#include "tally/Sim/Simulate.h"

#include <optional>
#include <string>
#include <vector>

namespace tally {

struct Change {
  enum class Kind : uint8_t { Move, Ring, Order, Once, Split, Grow };

  Kind kind = Kind::Grow;
  /// Move; Order, Once: those that stand earlier, in order; Split: the first of the second part.
  std::vector<InstrId> instrs = {};
  std::string engine = {};         ///< Move: that issues them from now on
  std::vector<SlotsOf> rings = {}; ///< Ring
  LoopId loop = {};                ///< Once, Split
  double growth = 1;               ///< Grow: as --max-code-growth
};

template <>
inline constexpr auto wordsOf<Change::Kind> =
    words("move", "ring", "order", "once", "split", "grow");

/// All that may be tried on a kernel as it is; those of many instructions at once first.
std::vector<Change> changesOf(const Kernel &kernel, const Machine &machine, const InstrCosts &costs,
                              double growth);

/// The kernel with any change but a Grow, as it is on the machine; none if it would mean
/// something else, or is not legal. The kernel has no dependences, and neither has what comes back.
std::optional<Kernel> withChange(const Kernel &kernel, const Change &change,
                                 const Machine &machine);

/// `issue 'store' from 'scalar' instead of 'sync'`
std::string describe(const Kernel &kernel, const Change &change);

/// What is to be edited.
Location placeOf(const Kernel &kernel, const Change &change);

/// How many bytes of memory it takes beyond what the kernel takes; none if types are not stated.
std::optional<uint64_t> bytesOf(const Kernel &kernel, const Change &change);

} // namespace tally

#endif // TALLY_ADVISE_CHANGES_H
