//===- Distances.cpp - At which distances two accesses conflict -----------===//

#include "Distances.h"

#include "FewRuns.h"
#include "NestText.h"
#include "Period.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally::deps {

static constexpr size_t maxDistances = 8;

/// What one question may take, in isl's operations, and how many questions of a kernel may be asked
/// again, with more patience each time, so that all of them together end in seconds. Nearly all
/// take hundredths of a second or less. An operation goes through a table that grows with the
/// square of the coordinates, so deep nests may take fewer. A modulus of millions lets the numbers
/// in it outgrow a word, which costs as much as many coordinates.
struct Patience {
  uint64_t operations;
  size_t mostQuestions;
};

static constexpr Patience patiences[numPatiences] = {
    {16'000, SIZE_MAX}, {64'000, 64}, {256'000, 8}, {1'000'000, 4}};
static constexpr uint64_t usualCoordinates = 10;
static constexpr uint64_t coordinatesOfLargeModulus = 10;
static constexpr size_t digitsOfLargeModulus = 7;

/// Pairs of runs that a kernel may look at (FewRuns.h), for the same reason.
static constexpr uint64_t mostPairsOfKernel = uint64_t{1} << 26;

static uint64_t numLargeModuli(std::string_view text) {
  constexpr std::string_view before = " mod ", digits = "0123456789";
  uint64_t count = 0;
  for (size_t at = text.find(before); at != text.npos; at = text.find(before, at)) {
    at += before.size();
    size_t end = std::min(text.find_first_not_of(digits, at), text.size());
    count += end - at >= digitsOfLargeModulus;
  }
  return count;
}

static uint64_t forNest(uint64_t operations, const PairNest &nest) {
  uint64_t coordinates = 2 * nest.levels.size() + nest.producerOwn.size() +
                         nest.consumerOwn.size() + nest.counters.size() + nest.lengths.size() +
                         nest.values.size() +
                         coordinatesOfLargeModulus * numLargeModuli(nest.overlap);
  uint64_t size = std::max(coordinates, usualCoordinates);
  return operations * usualCoordinates * usualCoordinates / (size * size);
}

/// All earlier runs of the producer: the last resort.
static Distances allRuns(const PairNest &nest) {
  Distances result{{}, Excess::Undecided, {}};
  size_t n = nest.levels.size();
  if (nest.zeroIsOrdered) {
    result.list.push_back({std::vector<int64_t>(n, 0), {}, {}});
    return result;
  }
  for (size_t level = std::min<size_t>(n, nest.unpaired); level-- > 0;) {
    std::vector<int64_t> distance(n, wholeLevel);
    std::fill(distance.begin(), distance.begin() + static_cast<ptrdiff_t>(level), 0);
    distance[level] = 1;
    result.list.push_back({std::move(distance), {}, {}});
  }
  return result;
}

static bool carriedBefore(const std::vector<int64_t> &distance, uint32_t level) {
  return std::any_of(distance.begin(), distance.begin() + level, [](int64_t d) { return d != 0; });
}

/// Whether a table can say more than one of the distances.
static bool mayHaveTable(const PairNest &nest, const Distances::One &one) {
  const std::vector<int64_t> &distance = one.components;
  bool isWhole = std::ranges::count(distance, wholeLevel) > (distance.back() == wholeLevel);
  bool isUnpaired = nest.levels.size() > nest.unpaired && carriedBefore(distance, nest.pairedFrom);
  return !isWhole && !isUnpaired && nest.vague == Excess::None;
}

namespace {

/// One question.
class Search {
public:
  Search(IslContext &context, const PairNest &nest)
      : context(context), nest(nest), numLevels(static_cast<uint32_t>(nest.levels.size())),
        text(nest), conflicts(context.parse(text.conflicts())) {}

  Distances run() {
    cover();
    if (!result.list.empty()) {
      judge();
    }
    if (context.gaveUp()) {
      return allRuns(nest);
    }
    return std::move(result);
  }

  /// A question of its own.
  TableAnswer table(const Distances &distances, size_t which) {
    const std::vector<int64_t> &distance = distances.list[which].components;
    const uint64_t most =
        std::min(nest.levels.back().consumer.max.value_or(mostRunsAsked), mostRunsAsked);
    NeededRuns needed;
    for (uint64_t asked = std::min(most, firstRunsAsked); !context.gaveUp();
         asked = std::min(2 * asked, most)) {
      askUpTo(asked, distance, needed);
      TableAnswer found = periodOf(nest, needed);
      bool isSure = found && (wereAllAsked(needed) || isRight(*found, distances, which));
      if (isSure && !context.gaveUp()) {
        return found;
      }
      if (asked == most) {
        break;
      }
    }
    return std::nullopt;
  }

  /// What is only worth knowing: a question of its own, so that it takes nothing from the first.
  NeededFrom neededFrom() const {
    NeededFrom from = firstOfConsumer();
    return context.gaveUp() ? NeededFrom{} : from;
  }

private:
  /// Step 2. Coordinates that no distance depends on stay: without them, taking away would first
  /// have to find formulas for them, which can take longer than all the rest.
  void cover() {
    IslSet left = conflicts.clone();
    while (!left.isEmpty() && !context.gaveUp()) {
      if (result.list.size() == maxDistances) {
        result = allRuns(nest);
        return;
      }
      std::vector<int64_t> distance = smallestDistance(left);
      left = left - context.parse(text.covered({distance}));
      result.list.push_back({distance, {}, {}});
      addExample(result.list.back());
    }
  }

  std::vector<int64_t> smallestDistance(const IslSet &set) const {
    std::vector<int64_t> distance;
    IslSet rest = set.clone();
    for (uint32_t i = 0; i < numLevels; ++i) {
      bool isUnpaired = i >= nest.unpaired && carriedBefore(distance, nest.pairedFrom);
      std::optional<int64_t> smallest = isUnpaired ? std::nullopt : rest.smallest(i);
      if (!smallest) {
        distance.resize(numLevels, wholeLevel);
        break;
      }
      distance.push_back(*smallest);
      rest = rest.fixed(i, *smallest);
    }
    return distance;
  }

  /// The first consumer that conflicts at this distance, and the first producer for it.
  void addExample(Distances::One &one) {
    IslSet set = conflicts.clone();
    uint32_t n = numLevels;
    for (uint32_t i = 0; i < n && one.components[i] != wholeLevel; ++i) {
      set = set.fixed(i, one.components[i]);
    }
    for (uint32_t i = 0; i < n; ++i) {
      one.consumer.push_back(fixSmallest(set, n + i));
    }
    for (uint32_t i = 0; i < n; ++i) {
      int64_t distance = set.largest(i).value_or(0);
      set = set.fixed(i, distance);
      one.producer.push_back(one.consumer[i] - distance);
    }
    uint32_t at = 2 * n;
    for (size_t i = 0; i < nest.producerOwn.size(); ++i) {
      one.producer.push_back(fixSmallest(set, at++));
    }
    for (size_t i = 0; i < nest.consumerOwn.size(); ++i) {
      one.consumer.push_back(fixSmallest(set, at++));
    }
  }

  static int64_t fixSmallest(IslSet &set, uint32_t coordinate) {
    int64_t value = set.smallest(coordinate).value_or(0);
    set = set.fixed(coordinate, value);
    return value;
  }

  /// Step 3.
  void judge() {
    result.excess = nest.vague;
    for (size_t i = 0; i < result.list.size() && result.excess == Excess::None; ++i) {
      result.excess = isExact({result.list[i].components}) ? Excess::None : Excess::Varies;
    }
  }

  bool isExact(const Waited &waited) {
    return areNeeded(text.lastWaitedFor(waited)) ||
           (text.knowsProducers() && areNeeded(text.allWaitedFor(waited)));
  }

  /// All that is waited for, by this consumer or by an earlier one.
  bool areNeeded(const std::string &waitedFor) {
    IslSet unneeded = context.parse(waitedFor) - conflicts;
    if (unneeded.isBad() || unneeded.isEmpty()) {
      return true;
    }
    std::string relation = text.justified();
    return !relation.empty() && (unneeded - context.leadsInto(relation, conflicts)).isEmpty();
  }

  //===--- Tables ---------------------------------------------------------===//

  /// Most periods are short, and are seen to come again soon.
  static constexpr uint64_t firstRunsAsked = 64;
  static constexpr uint64_t mostRunsAsked = 2 * mostTableRuns;

  /// By number of the consumer's run, up to one: the last run of the producer that it or an earlier
  /// one conflicts with, at this distance on all other levels.
  void askUpTo(uint64_t end, const std::vector<int64_t> &distance, NeededRuns &needed) const {
    const uint32_t last = numLevels - 1;
    IslSet set = conflicts.clone();
    for (uint32_t level = 0; level < last; ++level) {
      set = set.fixed(level, distance[level]);
    }
    for (uint64_t run = needed.size(); run < end && !context.gaveUp(); ++run) {
      auto number = static_cast<int64_t>(run);
      IslSet here = set.fixed(numLevels + last, number);
      std::optional<int64_t> nearest = here.isEmpty() ? std::nullopt : here.smallest(last);
      int64_t before = needed.empty() ? noRun : needed.back();
      needed.push_back(nearest ? std::max(before, number - *nearest) : before);
    }
  }

  /// Whether what is needed is all that can be: the same runs exist each time.
  bool wereAllAsked(const NeededRuns &needed) const {
    const PairNest::Level &level = nest.levels.back();
    return numLevels == 1 && nest.producerOwn.empty() && nest.consumerOwn.empty() &&
           nest.counters.empty() && nest.values.empty() && level.producer.isConstant() &&
           level.consumer.isConstant() && level.consumer.max == needed.size();
  }

  /// Whether the table, at one of the distances, asks for all that the others do not ask for, and
  /// for no more. Each place of the period is looked at alone, where what is needed is a line.
  bool isRight(const RunTable &table, const Distances &distances, size_t which) {
    IslSet left = conflicts.clone();
    for (size_t i = 0; i < distances.list.size(); ++i) {
      if (i != which) {
        left = left - context.parse(text.covered({distances.list[i].components}));
      }
    }
    const std::vector<int64_t> &distance = distances.list[which].components;
    bool isRight = true;
    for (size_t place = 0; place < table.runs.size() && isRight && !context.gaveUp(); ++place) {
      Waited waited(distance, table, place);
      IslSet here = left & context.parse(text.atPlace(table, place));
      isRight = (here - context.parse(text.covered(waited))).isEmpty() && isExact(waited);
    }
    return isRight;
  }

  /// In all conflicts, or in those within the first iterations of outer loops; but the latter count
  /// only if there surely are as many iterations, for then they come before all other conflicts.
  NeededFrom firstOfConsumer() const {
    IslSet first = conflicts.clone();
    uint32_t at = 2 * numLevels + static_cast<uint32_t>(nest.producerOwn.size());
    for (uint32_t loop = 0; loop < nest.consumerOwn.size(); ++loop, ++at) {
      int64_t always = conflicts.smallest(at).value_or(0);
      int64_t once = first.smallest(at).value_or(0);
      int64_t iteration = runsSurely(loop, once) ? once : always;
      if (iteration > 0) {
        return {loop, static_cast<uint32_t>(std::min<int64_t>(iteration, UINT32_MAX))};
      }
      first = first.fixed(at, 0);
    }
    return {};
  }

  /// Whether the consumer has a run in this iteration of its loop, whenever it has any.
  bool runsSurely(uint32_t loop, int64_t iteration) const {
    bool isInside = std::all_of(nest.consumerOwn.begin() + loop + 1, nest.consumerOwn.end(),
                                [](const Extent &extent) { return extent.min > 0; });
    return isInside && !nest.consumerSkips &&
           static_cast<uint64_t>(iteration) < nest.consumerOwn[loop].min;
  }

  IslContext &context;
  const PairNest &nest;
  uint32_t numLevels;
  const NestText text;
  IslSet conflicts;
  Distances result;
};

} // namespace

void DistanceFinder::startKernel(size_t most) {
  mostQuestions = most;
  std::fill(std::begin(numAsked), std::end(numAsked), 0);
  numTablesGivenUp = 0;
  pairsLeft = mostPairsOfKernel;
  tables.clear();
  std::erase_if(known, [](const auto &entry) { return entry.second.excess == Excess::Undecided; });
}

/// Each pair of runs, if they are few.
std::optional<FewRuns> DistanceFinder::lookAt(const PairNest &nest) {
  if (FewRuns::numPairs(nest) == 0 || pairsLeft == 0) {
    return std::nullopt;
  }
  uint64_t numLookedAt = 0;
  std::optional<FewRuns> few = FewRuns::of(nest, numLookedAt);
  pairsLeft -= std::min(numLookedAt, pairsLeft);
  return few;
}

const TableAnswer &DistanceFinder::tableOf(const PairNest &nest, size_t distance) {
  constexpr Patience forTables{256'000, 8};
  auto [found, isNew] = tables.try_emplace({nest, distance});
  const Distances &all = find(nest);
  if (!isNew || !mayHaveTable(nest, all.list[distance])) {
    return found->second;
  }
  if (std::optional<FewRuns> few = lookAt(nest)) {
    found->second = few->table(all, distance);
    return found->second;
  }
  if (numTablesGivenUp < forTables.mostQuestions) {
    context.startQuestion(forNest(forTables.operations, nest));
    found->second = Search(context, nest).table(all, distance);
    numTablesGivenUp += context.gaveUp();
  }
  return found->second;
}

const Distances &DistanceFinder::find(const PairNest &nest) {
  auto [found, isNew] = known.try_emplace(nest);
  if (isNew) {
    found->second = answer(nest);
    undecided += found->second.excess == Excess::Undecided;
  }
  return found->second;
}

/// Most questions are easy for isl; where few runs are all there is, to look at them is easier.
Distances DistanceFinder::answer(const PairNest &nest) {
  constexpr uint64_t fewPairs = uint64_t{1} << 16;
  const uint64_t numPairs = FewRuns::numPairs(nest);
  bool areFew = numPairs <= fewPairs;
  for (size_t i = 0; i < numPatiences; ++i) {
    if (numPairs != 0 && i == (areFew ? 0 : 1)) {
      std::optional<FewRuns> few = lookAt(nest);
      std::optional<Distances> distances = few ? few->distances(maxDistances) : std::nullopt;
      if (distances) {
        return *std::move(distances);
      }
    }
    if (numAsked[i] >= std::min(patiences[i].mostQuestions, mostQuestions)) {
      break;
    }
    ++numAsked[i];
    const uint64_t operations = forNest(patiences[i].operations, nest);
    context.startQuestion(operations);
    Search search(context, nest);
    Distances distances = search.run();
    if (distances.excess == Excess::Varies) {
      context.startQuestion(operations);
      distances.from = search.neededFrom();
    }
    if (distances.excess != Excess::Undecided) {
      return distances;
    }
  }
  return allRuns(nest);
}

} // namespace tally::deps
