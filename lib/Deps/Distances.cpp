//===- Distances.cpp - At which distances two accesses conflict -----------===//

#include "Distances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally {

static constexpr size_t maxDistances = 8;
static constexpr uint64_t maxOperations = 4'000'000;

namespace {

/// Conditions, as isl's text.
class Conditions {
public:
  template <typename... Args> void add(fmt::format_string<Args...> format, Args &&...args) {
    all.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  std::string text() const { return all.empty() ? "1 = 1" : fmt::format("{}", joined(" and ")); }

  /// At least one of them.
  std::string anyText() const {
    return all.empty() ? "1 = 0" : fmt::format("({})", joined(" or "));
  }

private:
  fmt::join_view<std::vector<std::string>::const_iterator, std::vector<std::string>::const_iterator,
                 char>
  joined(std::string_view separator) const {
    return fmt::join(all.begin(), all.end(), separator);
  }

  std::vector<std::string> all;
};

/// The text of the sets for one nest.
class NestText {
public:
  explicit NestText(const PairNest &nest) : nest(nest) {
    for (const char *name : {"d", "c"}) {
      addNames(name, nest.levels.size());
    }
    addNames("u", nest.producerOwn.size());
    addNames("w", nest.consumerOwn.size());
    addNames("s", nest.counters.size());
    addNames("t", nest.counters.size());
  }

  uint32_t numLevels() const { return static_cast<uint32_t>(nest.levels.size()); }

  std::string set(std::string_view conditions) const {
    return fmt::format("{{ [{}] : {} }}", fmt::join(names, ", "), conditions);
  }

  /// The set over distances and the consumer's iterations alone.
  std::string coverSet(std::string_view conditions) const {
    return fmt::format("{{ [{}] : {} }}",
                       fmt::join(names.begin(), names.begin() + 2 * numLevels(), ", "), conditions);
  }

  /// Step 1.
  std::string conflicts() const {
    Conditions all;
    addDomain(all);
    all.add("{}", order());
    if (!nest.overlap.empty()) {
      all.add("({})", nest.overlap);
    }
    return set(all.text());
  }

  /// Distances and consumers that a wait covers.
  std::string covered(const std::vector<int64_t> &distance) const {
    Conditions all;
    addMask(all, distance);
    all.add("{}", atLeast(distance));
    return coverSet(all.text());
  }

  /// All consumers that wait at this distance, with the runs of the producer that may be the last
  /// they wait for. A consumer inside loops of its own waits before the first iteration of
  /// these.
  std::string lastWaitedFor(const std::vector<int64_t> &distance) const {
    Conditions all;
    addDomain(all);
    addMask(all, distance);
    if (!nest.consumerSkips) {
      for (size_t i = 0; i < nest.consumerOwn.size(); ++i) {
        all.add("w{} = 0", i);
      }
    }
    for (size_t i = 0; i < nest.producerOwn.size(); ++i) {
      all.add("{}", mayBeLast(fmt::format("u{}", i), nest.producerOwn[i]));
    }
    Conditions stops;
    for (size_t level = firstThatMayEnd(distance); level <= numLevels(); ++level) {
      stops.add("({})", stopsAt(distance, level));
      if (level < numLevels() && distance[level] == wholeLevel) {
        break;
      }
    }
    all.add("{}", stops.anyText());
    return set(all.text());
  }

  /// From a consumer and a run of the producer to those conflicts that make an earlier or the same
  /// consumer wait for this run or a later one.
  std::string justified() const {
    std::vector<std::string> primed;
    for (const std::string &name : names) {
      primed.push_back(name + "'");
    }
    std::vector<std::string> ways;
    bool everyRunExists = !nest.producerSkips && allConstant();
    if (everyRunExists) {
      ways.push_back(sameConsumer() + " and " + laterProducer());
    }
    if (!nest.levels.empty() && nest.consumerOwn.empty() && !nest.consumerSkips) {
      std::string producers = "(" + sameProducer();
      producers += everyRunExists ? " or " + laterProducer() + ")" : ")";
      ways.push_back(earlierConsumer() + " and " + producers);
    }
    return ways.empty() ? ""
                        : fmt::format("{{ [{}] -> [{}] : ({}) }}", fmt::join(names, ", "),
                                      fmt::join(primed, ", "), fmt::join(ways, ") or ("));
  }

private:
  void addNames(std::string_view prefix, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      names.push_back(fmt::format("{}{}", prefix, i));
    }
  }

  static void addRange(Conditions &all, const std::string &name, const Extent &extent) {
    all.add("0 <= {}", name);
    if (extent.max) {
      all.add("{} < {}", name, *extent.max);
    }
  }

  /// Both runs exist, and counters are what they can be.
  void addDomain(Conditions &all) const {
    for (size_t i = 0; i < nest.levels.size(); ++i) {
      addRange(all, fmt::format("c{}", i), nest.levels[i].consumer);
      addRange(all, fmt::format("c{0} - d{0}", i), nest.levels[i].producer);
    }
    for (size_t i = 0; i < nest.producerOwn.size(); ++i) {
      addRange(all, fmt::format("u{}", i), nest.producerOwn[i]);
    }
    for (size_t i = 0; i < nest.consumerOwn.size(); ++i) {
      addRange(all, fmt::format("w{}", i), nest.consumerOwn[i]);
    }
    for (size_t i = 0; i < nest.counters.size(); ++i) {
      addCounter(all, i, nest.counters[i]);
    }
  }

  /// A counter grows with each entry of its body: by one from iteration to iteration of its loop,
  /// and by the trips that were left when an iteration farther out begins.
  void addCounter(Conditions &all, size_t i, const Counter &counter) const {
    all.add("0 <= s{0} and 0 <= t{0}", i);
    if (!counter.isShared) {
      return;
    }
    uint32_t inner = counter.levels;
    bool isLoop = !counter.isBranch && inner > 0;
    Conditions ways;
    ways.add("({} and t{} = s{})", zeroBefore(inner), i, i);
    if (!isLoop) {
      ways.add("({} and t{} >= s{} + 1)", positiveBefore(inner), i, i);
      all.add("{}", ways.anyText());
      return;
    }
    uint32_t own = inner - 1;
    all.add("c{0} <= t{1} and c{0} - d{0} <= s{1}", own, i);
    ways.add("({0} and d{1} >= 1 and t{2} - s{2} = d{1})", zeroBefore(own), own, i);
    ways.add("({0} and t{1} - c{2} >= s{1} + 1 and t{1} - c{2} >= s{1} - (c{2} - d{2}) + {3})",
             positiveBefore(own), i, own, counter.minTrips);
    all.add("{}", ways.anyText());
  }

  std::string zeroBefore(uint32_t level) const {
    Conditions all;
    for (uint32_t i = 0; i < level; ++i) {
      all.add("d{} = 0", i);
    }
    return all.text();
  }

  /// The first distance that is not 0, of those before `level`, is positive.
  std::string positiveBefore(uint32_t level) const {
    Conditions ways;
    for (uint32_t i = 0; i < level; ++i) {
      ways.add("({} and d{} >= 1)", zeroBefore(i), i);
    }
    return ways.anyText();
  }

  /// The producer's run comes first. A level that pairs two loops orders nothing.
  std::string order() const {
    uint32_t ordering = std::min(numLevels(), nest.unpaired);
    return nest.zeroIsOrdered
               ? fmt::format("({} or {})", positiveBefore(ordering), zeroBefore(ordering))
               : positiveBefore(ordering);
  }

  /// No wait before so many iterations have passed.
  static void addMask(Conditions &all, const std::vector<int64_t> &distance) {
    for (size_t i = 0; i < distance.size(); ++i) {
      if (distance[i] > 0) {
        all.add("c{} >= {}", i, distance[i]);
      }
    }
  }

  /// Distances of at least this one, in lexicographic order.
  static std::string atLeast(const std::vector<int64_t> &distance) {
    Conditions ways;
    std::string equal;
    for (size_t i = 0; i < distance.size(); ++i) {
      if (distance[i] == wholeLevel) {
        ways.add("(1 = 1{})", equal);
        return ways.anyText();
      }
      ways.add("(d{} > {}{})", i, distance[i], equal);
      equal += fmt::format(" and d{} = {}", i, distance[i]);
    }
    ways.add("(1 = 1{})", equal);
    return ways.anyText();
  }

  /// Whether a loop may end with this iteration.
  static std::string mayBeLast(const std::string &name, const Extent &extent) {
    if (extent.isConstant()) {
      return fmt::format("{} = {}", name, static_cast<int64_t>(*extent.max) - 1);
    }
    return fmt::format("{} >= {}", name, std::max<uint64_t>(extent.min, 1) - 1);
  }

  /// The first level on which the iteration aimed at may not exist: farther in than the loop that
  /// carries the distance, or where the producer's loop is another one.
  size_t firstThatMayEnd(const std::vector<int64_t> &distance) const {
    auto carrier = std::find_if(distance.begin(), distance.end(), [](int64_t d) { return d != 0; });
    bool isWhole = carrier != distance.end() && *carrier == wholeLevel;
    size_t after = static_cast<size_t>(carrier - distance.begin()) + (isWhole ? 0 : 1);
    return std::min<size_t>({distance.size(), after, nest.unpaired});
  }

  /// The iteration aimed at exists up to this level, where the producer's loop ends before it.
  std::string stopsAt(const std::vector<int64_t> &distance, size_t level) const {
    Conditions all;
    for (size_t i = 0; i < level; ++i) {
      all.add("d{} = {}", i, distance[i]);
    }
    for (size_t i = level; i < distance.size(); ++i) {
      if (i == level && distance[i] != wholeLevel) {
        all.add("d{} > {}", i, distance[i]);
      }
      all.add("{}", mayBeLast(fmt::format("c{0} - d{0}", i), nest.levels[i].producer));
    }
    return all.text();
  }

  bool allConstant() const {
    auto isConstant = [](const Extent &extent) { return extent.isConstant(); };
    for (size_t i = 0; i < nest.levels.size(); ++i) {
      bool isOutermost = i == 0 && nest.unpaired != 0; // up to the consumer's own, all were run
      if (!isOutermost && !isConstant(nest.levels[i].producer)) {
        return false;
      }
    }
    return nest.counters.empty() &&
           std::all_of(nest.producerOwn.begin(), nest.producerOwn.end(), isConstant);
  }

  std::string same(std::string_view prefix, size_t count) const {
    Conditions all;
    for (size_t i = 0; i < count; ++i) {
      all.add("{0}{1}' = {0}{1}", prefix, i);
    }
    return all.text();
  }

  std::string sameConsumer() const {
    return same("c", numLevels()) + " and " + same("w", nest.consumerOwn.size());
  }

  /// In the same run of the innermost loop.
  std::string earlierConsumer() const {
    uint32_t last = numLevels() - 1;
    return fmt::format("{} and c{}' < c{}", same("c", last), last, last);
  }

  static std::string producerAt(size_t level, std::string_view prime) {
    return fmt::format("c{0}{1} - d{0}{1}", level, prime);
  }

  std::string sameProducer() const {
    Conditions all;
    for (uint32_t i = 0; i < numLevels(); ++i) {
      all.add("{} = {}", producerAt(i, "'"), producerAt(i, ""));
    }
    all.add("{}", same("u", nest.producerOwn.size()));
    return all.text();
  }

  /// In an iteration of the levels that comes later.
  std::string laterProducer() const {
    Conditions ways;
    std::string equal;
    for (uint32_t i = 0; i < numLevels(); ++i) {
      ways.add("({} > {}{})", producerAt(i, "'"), producerAt(i, ""), equal);
      equal += fmt::format(" and {} = {}", producerAt(i, "'"), producerAt(i, ""));
    }
    return ways.anyText();
  }

  const PairNest &nest;
  std::vector<std::string> names;
};

/// One question.
class Search {
public:
  Search(IslContext &context, const PairNest &nest)
      : context(context), nest(nest), text(nest), conflicts(context.parse(text.conflicts())) {}

  Distances run() {
    cover();
    if (!result.list.empty()) {
      judge();
    }
    if (context.gaveUp()) {
      coverAll();
    }
    return std::move(result);
  }

private:
  /// Step 2.
  void cover() {
    IslSet left = conflicts.firstCoordinates(2 * text.numLevels());
    while (!left.isEmpty() && !context.gaveUp()) {
      if (result.list.size() == maxDistances) {
        return coverAll();
      }
      std::vector<int64_t> distance = smallestDistance(left);
      left = left - context.parse(text.covered(distance));
      result.list.push_back({distance, {}, {}});
      addExample(result.list.back());
    }
  }

  std::vector<int64_t> smallestDistance(const IslSet &set) const {
    std::vector<int64_t> distance;
    IslSet rest = set.clone();
    for (uint32_t i = 0; i < text.numLevels(); ++i) {
      bool isUnpaired = i >= nest.unpaired && carriedBefore(distance, nest.pairedFrom);
      std::optional<int64_t> smallest = isUnpaired ? std::nullopt : rest.smallest(i);
      if (!smallest) {
        distance.resize(text.numLevels(), wholeLevel);
        break;
      }
      distance.push_back(*smallest);
      rest = rest.fixed(i, *smallest);
    }
    return distance;
  }

  static bool carriedBefore(const std::vector<int64_t> &distance, uint32_t level) {
    return std::any_of(distance.begin(), distance.begin() + level,
                       [](int64_t d) { return d != 0; });
  }

  /// The first consumer that conflicts at this distance, and the first producer for it.
  void addExample(Distances::One &one) {
    IslSet set = conflicts.clone();
    uint32_t n = text.numLevels();
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
      IslSet unneeded = context.parse(text.lastWaitedFor(result.list[i].components)) - conflicts;
      if (unneeded.isBad() || unneeded.isEmpty()) {
        continue;
      }
      std::string relation = text.justified();
      if (relation.empty() || !(unneeded - context.leadsInto(relation, conflicts)).isEmpty()) {
        result.excess = Excess::Varies;
      }
    }
  }

  /// All earlier runs of the producer: the last resort.
  void coverAll() {
    result = {{}, Excess::Undecided};
    size_t n = text.numLevels();
    if (nest.zeroIsOrdered) {
      result.list.push_back({std::vector<int64_t>(n, 0), {}, {}});
      return;
    }
    for (size_t level = std::min<size_t>(n, nest.unpaired); level-- > 0;) {
      std::vector<int64_t> distance(n, wholeLevel);
      std::fill(distance.begin(), distance.begin() + static_cast<ptrdiff_t>(level), 0);
      distance[level] = 1;
      result.list.push_back({std::move(distance), {}, {}});
    }
  }

  IslContext &context;
  const PairNest &nest;
  NestText text;
  IslSet conflicts;
  Distances result;
};

/// What one nest is known by: all that the answer depends on.
std::string keyOf(const PairNest &nest) {
  std::string key;
  auto addExtent = [&](const Extent &extent) {
    key += fmt::format("{}-{} ", extent.min, extent.max ? int64_t(*extent.max) : -1);
  };
  for (const PairNest::Level &level : nest.levels) {
    addExtent(level.producer);
    addExtent(level.consumer);
  }
  key += '|';
  std::for_each(nest.producerOwn.begin(), nest.producerOwn.end(), addExtent);
  key += '|';
  std::for_each(nest.consumerOwn.begin(), nest.consumerOwn.end(), addExtent);
  key += fmt::format("|{}{}{}{} {} {}|", nest.zeroIsOrdered, nest.consumerSkips, nest.producerSkips,
                     static_cast<int>(nest.vague), nest.pairedFrom, nest.unpaired);
  for (const Counter &counter : nest.counters) {
    key += fmt::format("{} {} {} {}|", counter.isShared, counter.levels, counter.isBranch,
                       counter.minTrips);
  }
  return key + nest.overlap;
}

} // namespace

DistanceFinder::DistanceFinder() : context(maxOperations) {}

const Distances &DistanceFinder::find(const PairNest &nest) {
  auto [found, isNew] = known.try_emplace(keyOf(nest));
  if (isNew) {
    context.startQuestion();
    found->second = Search(context, nest).run();
    undecided += found->second.excess == Excess::Undecided;
  }
  return found->second;
}

} // namespace tally
