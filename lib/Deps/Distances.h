//===- Distances.h - At which distances two accesses conflict -------------===//
//
// The heart of extraction, freed from kernels: two accesses inside nested loops, some of them
// around both. Written with one variable for each coordinate, counted from 0:
//
//   d0, d1, ..   distance on each common loop ("level"), outermost first
//   c0, c1, ..   the consumer's iteration there; so the producer's is c0 - d0, ..
//   u0, ..       the producer's iteration of loops around it alone
//   w0, ..       the consumer's, likewise
//   s0, t0, ..   counters over the whole run, as the producer and the consumer see them
//   n0, ..       how often loops run this time, where an index or guard asks for it
//   v0, ..       values that are the same throughout the run
//
// Steps:  1. conflicts  the set of all points where both runs exist, the producer's comes first,
//                       and both touch the same element
//         2. cover      take the lexicographically smallest distance; drop the conflicts that a
//                       wait at it covers; again, until none is left. (A wait at distance d
//                       covers all producers at d or farther, for consumers that have d
//                       iterations behind them on each loop: others do not wait.)
//         3. excess     a distance is exact if the last run of the producer that its wait covers
//                       conflicts with the consumer, or with an earlier one
//
// Example, X[j mod 2] in a loop of 5 trips inside another, the producer after the consumer:
// smallest is (0, 2); then c1 < 2 is left, whose smallest is (1, -4): the producer's last
// iteration.
//
// Two distances are always enough for one loop around both, and few are in practice; past
// `maxDistances` the rest is covered by all earlier iterations.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_DISTANCES_H
#define TALLY_LIB_DEPS_DISTANCES_H

#include "Isl.h"
#include "tally/Deps/Extract.h"

#include <map>
#include <string>

namespace tally::deps {

/// How often a loop runs each time.
struct Extent {
  uint64_t min = 0;
  std::optional<uint64_t> max;
  std::string formula;     ///< exactly so often, in the coordinates of its side; not at all below 1
  uint64_t multipleOf = 1; ///< as all its numbers are: of a nest, the runs in each iteration

  bool isConstant() const { return formula.empty() && max == min; }

  /// Whether the coordinates of a point say how often.
  bool isKnown() const { return isConstant() || !formula.empty(); }

  auto operator<=>(const Extent &) const = default;
};

/// A counter of the entries of a body, for which no formula is known.
struct EntryCounter {
  bool isShared = false; ///< both count the same body; otherwise only one counter is used
  /// How many levels lie at or around the body. At the last of them it is the loop itself, unless
  /// it is a branch.
  uint32_t levels = 0;
  bool isBranch = false;
  uint64_t minTrips = 0; ///< of the loop

  auto operator<=>(const EntryCounter &) const = default;
};

/// How often a loop runs this time; not a constant.
struct Length {
  uint32_t loop = 0;  ///< a level, or one of the loops of one side alone
  bool isOwn = false; ///< the latter
  bool atProducer = false;

  auto operator<=>(const Length &) const = default;
};

/// Two accesses; see above.
struct PairNest {
  struct Level {
    Extent producer;
    Extent consumer; ///< the same, except at a level that pairs two loops side by side

    auto operator<=>(const Level &) const = default;
  };

  std::vector<Level> levels;
  std::vector<Extent> producerOwn;
  std::vector<Extent> consumerOwn;
  bool zeroIsOrdered = false; ///< at distance 0 the producer's run comes first
  /// A branch lies between the consumer and its outermost loop of its own; without one, between it
  /// and the innermost level.
  bool consumerSkips = false;
  bool producerSkips = false; ///< a branch lies around the producer
  /// Only the run decides about a branch between the consumer and the innermost level, or around
  /// the producer: so it is not known which runs there are.
  bool consumerIsOpen = false;
  bool producerIsOpen = false;
  /// A distance carried by one of the levels before this one says nothing about the levels from
  /// `unpaired` on.
  uint32_t pairedFrom = 0;
  uint32_t unpaired = UINT32_MAX;

  /// Of a loop around both whose runs the last level numbers, or that it is: how many runs of each
  /// one iteration has, and whether those of the producer come first in it.
  struct Turn {
    uint64_t producerRuns = 1;
    uint64_t consumerRuns = 1;
    bool isOrdered = false;

    auto operator<=>(const Turn &) const = default;
  };

  std::optional<Turn> turn;

  /// How many iterations of the outermost loop around both make a rhythm (Repeats.h). Where the
  /// last level is the only one, and numbers the runs of a loop around both: iterations of the
  /// turn. 0: not known.
  uint64_t repeats = 0;
  std::vector<EntryCounter> counters;
  std::vector<Length> lengths;
  std::vector<Extent> values; ///< between which bounds each is
  std::string overlap;        ///< when the accesses meet; empty: always
  std::string consumerRuns; ///< when there is a run of the consumer; empty: not known more closely
  std::string producerRuns; ///< likewise
  Excess vague = Excess::None; ///< they may meet only then, and need not

  /// Whether levels alone tell one run from another.
  bool isToldByLevels() const {
    return producerOwn.empty() && consumerOwn.empty() && counters.empty() && lengths.empty() &&
           values.empty();
  }

  auto operator<=>(const PairNest &) const = default;
};

/// All earlier iterations of this level and those inside it.
inline constexpr int64_t wholeLevel = INT64_MIN;

struct Distances {
  struct One {
    std::vector<int64_t> components; ///< one for each level
    std::vector<int64_t> producer;   ///< an example: levels, then own loops
    std::vector<int64_t> consumer;
  };

  std::vector<One> list; ///< empty: the accesses never conflict
  Excess excess = Excess::None;
  NeededFrom from; ///< where distances vary
};

/// How far back on the last level, where that is not the same in all iterations: of one of the
/// distances of a nest, which then is exact, and covers all that the others do not.
using TableAnswer = std::optional<RunTable>;

/// How often a question may be asked again, with more patience each time, and once at first.
inline constexpr size_t numPatiences = 4;

class FewRuns;

class DistanceFinder {
public:
  /// Another kernel has patience of its own: its answers do not depend on those before it.
  void startKernel(size_t mostQuestions);

  /// What was found for this nest, now or before. Valid until the finder ends.
  const Distances &find(const PairNest &nest);

  /// Of a nest with distances that vary, for one of these, by number.
  const TableAnswer &tableOf(const PairNest &nest, size_t distance);

  /// How many different nests were looked at, and how many took too much work.
  size_t numShapes() const { return known.size(); }

  size_t numUndecided() const { return undecided; }

private:
  Distances answer(const PairNest &nest);
  std::optional<FewRuns> lookAt(const PairNest &nest);

  IslContext context;
  std::map<PairNest, Distances> known;
  std::map<std::pair<PairNest, size_t>, TableAnswer> tables; ///< of this kernel
  size_t undecided = 0;
  size_t mostQuestions = 0;           ///< that this kernel may ask, each counted once
  size_t numAsked[numPatiences] = {}; ///< questions, by how patiently
  size_t numTablesGivenUp = 0;        ///< questions about tables without an answer
  uint64_t pairsLeft = 0;             ///< that this kernel may look at
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_DISTANCES_H
