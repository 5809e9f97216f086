//===- PairNest.h - Two accesses of a kernel as a question ----------------===//
//
// Three views of one pair, by the distances that a dependence can have:
//
//   vector   the levels are the real loops around both
//   flat     both in one body: one level, the runs of that body, counted over the whole run
//   element  each in a loop or nest of its own, side by side in one body, or one of them directly
//            there: the numbers of the runs (RunNumbers.h) are the last level; or each run of
//            a nest around both has a number for either
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_PAIRNEST_H
#define TALLY_LIB_DEPS_PAIRNEST_H

#include "Distances.h"
#include "TileBoxes.h"

#include <span>

namespace tally::deps {

/// How the bodies of two instructions lie to each other; the same for all instructions in them.
struct PairPlace {
  LoopId producerHome;
  LoopId consumerHome;
  LoopId shared;              ///< innermost body around both
  std::vector<LoopId> levels; ///< the real loops around both, outermost first
  LoopId branch;              ///< around the producer, if the consumer is in the other one
};

PairPlace placeOfBodies(const Kernel &kernel, LoopId producerHome, LoopId consumerHome);

/// Two tiles of memory that may be the same, touched by different runs.
struct TilePair {
  const Kernel &kernel;
  const TileBoxes &tiles;
  PairPlace place;
  const TileBox &producer;
  const TileBox &consumer;
  bool producerIsBefore = false; ///< in the text
  bool isOneEngine = false;      ///< so that both run equally often, also where engines disagree
  /// Whether only runs that there are have numbers: then what branches around say always holds.
  bool countsRuns = false;
};

/// The body whose entries a counter of a nest counts; one that is not shared, for one side alone.
struct CountedBody {
  LoopId body;
  bool atProducer = false;

  bool operator==(const CountedBody &) const = default;
};

/// What the variables of a nest that are not iterations stand for, by number.
struct NestNames {
  std::vector<CountedBody> counted;
  std::vector<RunValueId> values;
};

/// When any of these pairs, of the same two instructions, meets.
PairNest vectorView(std::span<const TilePair> pairs, NestNames *meaning = nullptr);

/// None if the tiles depend on more than how often the body ran; or if there is but one loop, for
/// which the vector is as good.
std::optional<PairNest> flatView(const TilePair &pair);

/// The same; none if the runs of the two have no numbers, or if the tiles depend on more than
/// these.
std::optional<PairNest> elementView(std::span<const TilePair> pairs);

/// The same over a loop around both: runs are numbered in all of its iterations.
std::optional<PairNest> elementView(std::span<const TilePair> pairs, LoopId over);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_PAIRNEST_H
