//===- NestText.h - The sets of a question, as text -------------------------===//
//
// The sets of points (d, c, u, w, s, t, n, v) by which Distances.h answers, as isl reads them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_NESTTEXT_H
#define TALLY_LIB_DEPS_NESTTEXT_H

#include "Distances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally::deps {

/// Conditions, as isl's text.
class Conditions {
public:
  template <typename... Args> void add(fmt::format_string<Args...> format, Args &&...args) {
    all.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  std::string text() const {
    return all.empty() ? "1 = 1" : fmt::format("{}", fmt::join(all, " and "));
  }

  /// At least one of them.
  std::string anyText() const {
    return all.empty() ? "1 = 0" : fmt::format("({})", fmt::join(all, " or "));
  }

private:
  std::vector<std::string> all;
};

/// How far back is waited for: on each level; on the last, perhaps by a table, by those runs of the
/// consumer that stand at one place of the period.
struct Waited {
  Waited(const std::vector<int64_t> &distance) : distance(distance) {}

  Waited(const std::vector<int64_t> &distance, const RunTable &table, size_t place)
      : distance(distance), table(&table), place(place) {}

  const std::vector<int64_t> &distance;
  const RunTable *table = nullptr;
  size_t place = 0;
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
    addNames("n", nest.lengths.size());
    addNames("v", nest.values.size());
  }

  /// All points at which the two conflict.
  std::string conflicts() const {
    Conditions all;
    addDomain(all);
    all.add("{}", order());
    if (!nest.overlap.empty()) {
      all.add("({})", nest.overlap);
    }
    return set(all.text());
  }

  /// The pairs (d, c) that a wait at this distance covers.
  std::string covered(const Waited &waited) const {
    Conditions all;
    addMask(all, waited);
    all.add("{}", atLeast(waited));
    return set(all.text());
  }

  /// All whose consumers stand at a place of the period.
  std::string atPlace(const RunTable &table, size_t place) const {
    return set(isAtPlace(table, place, numLevels() - 1));
  }

  /// All consumers that wait at this distance, with the runs of the producer that may be the last
  /// they wait for. A consumer inside loops of its own waits before the first iteration of
  /// these.
  std::string lastWaitedFor(const Waited &waited) const {
    const std::vector<int64_t> &distance = waited.distance;
    Conditions all;
    addConsumers(all, waited);
    for (uint32_t i = 0; i < nest.producerOwn.size(); ++i) {
      all.add("{}", mayBeLast({i, true, true}));
    }
    Conditions stops;
    for (size_t level = firstThatMayEnd(distance); level <= numLevels(); ++level) {
      stops.add("({})", stopsAt(waited, level));
      if (level < numLevels() && distance[level] == wholeLevel && !isTabled(waited, level)) {
        break;
      }
    }
    all.add("{}", stops.anyText());
    return set(all.text());
  }

  /// Whether it is known which runs of the producer there are, and not all that there may be.
  bool knowsProducers() const {
    return !nest.producerRuns.empty() && nest.unpaired == UINT32_MAX && !nest.turn;
  }

  /// The same consumers, with all runs of the producer that there are up to this distance: the last
  /// of these is the last they wait for, wherever there is none at the distance itself.
  std::string allWaitedFor(const Waited &waited) const {
    Conditions all;
    addConsumers(all, waited);
    all.add("({})", nest.producerRuns);
    all.add("{}", order());
    all.add("{}", atLeast(waited));
    return set(all.text());
  }

  /// A relation from a consumer and a run of the producer to those conflicts that make an earlier
  /// or the same consumer wait for this run or a later one. Empty if none is known.
  std::string justified() const {
    std::vector<std::string> primed;
    primed.reserve(names.size());
    for (const std::string &name : names) {
      primed.push_back(name + "'");
    }
    std::vector<std::string> ways;
    bool everyRunExists = !nest.producerIsOpen && allKnown();
    if (everyRunExists) {
      ways.push_back(sameConsumer() + " and " + laterProducer());
    }
    bool everyConsumerExists = !nest.consumerIsOpen && areKnown(nest.consumerOwn);
    if (!nest.levels.empty() && everyConsumerExists) {
      std::string producers = "(" + sameProducer();
      producers += everyRunExists ? " or " + laterProducer() + ")" : ")";
      ways.push_back(earlierConsumer() + " and " + producers);
    }
    bool isBesideProducer = !nest.consumerIsOpen && nest.consumerOwn.empty() &&
                            std::ranges::all_of(nest.counters, &EntryCounter::isShared);
    if (knowsProducers() && isBesideProducer) {
      ways.push_back(consumerBesideProducer());
    }
    return ways.empty()
               ? ""
               : fmt::format("{{ [{}] -> [{}] : {} and {} and (({})) }}", fmt::join(names, ", "),
                             fmt::join(primed, ", "), same("n", nest.lengths.size()),
                             same("v", nest.values.size()), fmt::join(ways, ") or ("));
  }

private:
  uint32_t numLevels() const { return static_cast<uint32_t>(nest.levels.size()); }

  std::string set(std::string_view conditions) const {
    return fmt::format("{{ [{}] : {} }}", fmt::join(names, ", "), conditions);
  }

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
    if (!extent.formula.empty()) {
      all.add("{} < {}", name, extent.formula);
    }
  }

  /// Both runs exist, and counters are what they can be.
  void addDomain(Conditions &all) const {
    for (size_t i = 0; i < nest.levels.size(); ++i) {
      addRange(all, fmt::format("c{}", i), nest.levels[i].consumer);
      addRange(all, fmt::format("c{0} - d{0}", i), nest.levels[i].producer);
    }
    for (auto [name, own] : {std::pair('u', &nest.producerOwn), {'w', &nest.consumerOwn}}) {
      for (size_t i = 0; i < own->size(); ++i) {
        addRange(all, fmt::format("{}{}", name, i), (*own)[i]);
      }
    }
    for (size_t i = 0; i < nest.counters.size(); ++i) {
      addCounter(all, i, nest.counters[i]);
    }
    for (size_t i = 0; i < nest.lengths.size(); ++i) {
      addLength(all, i, nest.lengths[i]);
    }
    for (size_t i = 0; i < nest.values.size(); ++i) {
      all.add("{} <= v{}", nest.values[i].min, i);
      if (nest.values[i].max) {
        all.add("v{} <= {}", i, *nest.values[i].max);
      }
    }
  }

  std::string iterationOf(const Length &length) const {
    return length.isOwn        ? fmt::format("{}{}", length.atProducer ? 'u' : 'w', length.loop)
           : length.atProducer ? producerAt(length.loop, "")
                               : fmt::format("c{}", length.loop);
  }

  const Extent &extentOf(const Length &length) const {
    if (length.isOwn) {
      return (length.atProducer ? nest.producerOwn : nest.consumerOwn)[length.loop];
    }
    const PairNest::Level &level = nest.levels[length.loop];
    return length.atProducer ? level.producer : level.consumer;
  }

  /// A loop that both are in has one length for both, and ends after either.
  void addLength(Conditions &all, size_t i, const Length &length) const {
    const Extent &extent = extentOf(length);
    all.add("{} < n{}", iterationOf(length), i);
    all.add("{} <= n{}", extent.min, i);
    if (extent.max) {
      all.add("n{} <= {}", i, *extent.max);
    }
    if (length.isOwn || length.loop >= nest.unpaired) {
      return;
    }
    Length other{length.loop, false, !length.atProducer};
    auto found = std::find(nest.lengths.begin(), nest.lengths.end(), other);
    std::string sameLoop = found == nest.lengths.end()
                               ? fmt::format("{} < n{}", iterationOf(other), i)
                               : fmt::format("n{} = n{}", i, found - nest.lengths.begin());
    all.add("({} or ({} and {}))", positiveBefore(length.loop), zeroBefore(length.loop), sameLoop);
  }

  /// A counter grows with each entry of its body: by one from iteration to iteration of its loop,
  /// and by the trips that were left when an iteration farther out begins.
  void addCounter(Conditions &all, size_t i, const EntryCounter &counter) const {
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
    if (own > 0 && nest.levels[own].producer.max) {
      all.add("({} or t{} - c{} <= s{} - ({}) + {})", isNotInNextEntry(own), i, own, i,
              producerAt(own, ""), *nest.levels[own].producer.max);
    }
  }

  /// That the consumer is not in the entry of a loop that follows the producer's.
  std::string isNotInNextEntry(uint32_t level) const {
    return fmt::format("not ({} and d{} = 1)", zeroBefore(level - 1), level - 1);
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

  /// No wait before the iterations of the distance have passed.
  static void addMask(Conditions &all, const Waited &waited) {
    for (size_t i = 0; i < waited.distance.size(); ++i) {
      if (isTabled(waited, i)) {
        all.add("{}", isAtPlace(*waited.table, waited.place, i));
        all.add("{} >= 0", runNeeded(waited, i));
      } else if (waited.distance[i] > 0) {
        all.add("c{} >= {}", i, waited.distance[i]);
      }
    }
  }

  static bool isTabled(const Waited &waited, size_t level) {
    return waited.table && level + 1 == waited.distance.size();
  }

  /// How far back on one level.
  static std::string back(const Waited &waited, size_t level) {
    return isTabled(waited, level) ? fmt::format("(c{} - {})", level, runNeeded(waited, level))
                                   : fmt::format("{}", waited.distance[level]);
  }

  static std::string isAtPlace(const RunTable &table, size_t place, size_t level) {
    return fmt::format("c{} mod {} = {}", level, table.runs.size(), place);
  }

  /// What the table says of the consumer's iteration.
  static std::string runNeeded(const Waited &waited, size_t level) {
    const RunTable &table = *waited.table;
    return fmt::format("({} + {} * floor(c{} / {}))", table.runs[waited.place], table.each, level,
                       table.runs.size());
  }

  /// Distances of at least this one, in lexicographic order.
  static std::string atLeast(const Waited &waited) {
    Conditions ways;
    std::string equal;
    for (size_t i = 0; i < waited.distance.size(); ++i) {
      if (waited.distance[i] == wholeLevel && !isTabled(waited, i)) {
        ways.add("(1 = 1{})", equal);
        return ways.anyText();
      }
      ways.add("(d{} > {}{})", i, back(waited, i), equal);
      equal += fmt::format(" and d{} = {}", i, back(waited, i));
    }
    ways.add("(1 = 1{})", equal);
    return ways.anyText();
  }

  /// Whether a loop may end with this iteration.
  std::string mayBeLast(const Length &length) const {
    std::string name = iterationOf(length);
    const Extent &extent = extentOf(length);
    auto found = std::find(nest.lengths.begin(), nest.lengths.end(), length);
    if (found != nest.lengths.end()) {
      return fmt::format("{} = n{} - 1", name, found - nest.lengths.begin());
    }
    if (!extent.formula.empty()) {
      return fmt::format("{} = {} - 1", name, extent.formula);
    }
    if (extent.isConstant()) {
      return fmt::format("{} = {}", name, static_cast<int64_t>(*extent.max) - 1);
    }
    std::string last = fmt::format("{} >= {}", name, std::max<uint64_t>(extent.min, 1) - 1);
    return extent.multipleOf == 1
               ? last
               : fmt::format("{} and ({} + 1) mod {} = 0", last, name, extent.multipleOf);
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
  std::string stopsAt(const Waited &waited, size_t level) const {
    Conditions all;
    for (size_t i = 0; i < level; ++i) {
      all.add("d{} = {}", i, back(waited, i));
    }
    for (uint32_t i = static_cast<uint32_t>(level); i < waited.distance.size(); ++i) {
      if (i == level && (waited.distance[i] != wholeLevel || isTabled(waited, i))) {
        all.add("d{} > {}", i, back(waited, i));
      }
      all.add("{}", mayBeLast({i, false, true}));
      if (nest.turn && i >= nest.unpaired) {
        all.add("{}", isNotBeforeConsumer(i));
      }
    }
    addCountersAtEnd(all, level);
    return all.text();
  }

  /// Where a loop ends with the producer's iteration, and the consumer is in the next iteration of
  /// the loop around it, a counter goes on by one.
  void addCountersAtEnd(Conditions &all, size_t level) const {
    for (size_t i = 0; i < nest.counters.size(); ++i) {
      const EntryCounter &counter = nest.counters[i];
      const uint32_t own = counter.levels - 1;
      bool isEnded = counter.isShared && !counter.isBranch && counter.levels > 1 && level <= own;
      if (isEnded && own < nest.unpaired) {
        all.add("({0} or t{1} = s{1} + 1 + c{2})", isNotInNextEntry(own), i, own);
      }
    }
  }

  /// Of two in a loop around both: in its iteration of the consumer or a later one, unless an outer
  /// loop has gone on. All earlier iterations have run.
  std::string isNotBeforeConsumer(uint32_t level) const {
    return fmt::format("(floor(({}) / {}) >= floor(c{} / {}) or {})", producerAt(level, ""),
                       nest.turn->producerRuns, level, nest.turn->consumerRuns,
                       positiveBefore(level));
  }

  void addConsumers(Conditions &all, const Waited &waited) const {
    addDomain(all);
    addMask(all, waited);
    if (!nest.consumerSkips) {
      for (size_t i = 0; i < nest.consumerOwn.size(); ++i) {
        all.add("w{} = 0", i);
      }
    }
    if (!nest.consumerRuns.empty()) {
      all.add("({})", nest.consumerRuns);
    }
  }

  static bool areKnown(const std::vector<Extent> &extents) {
    return std::ranges::all_of(extents, [](const Extent &extent) { return extent.isKnown(); });
  }

  bool allKnown() const {
    for (size_t i = 0; i < nest.levels.size(); ++i) {
      bool isOutermost = i == 0 && nest.unpaired != 0; // up to the consumer's own, all were run
      if (!isOutermost && !nest.levels[i].producer.isKnown()) {
        return false;
      }
    }
    return nest.counters.empty() && areKnown(nest.producerOwn);
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
    Conditions all;
    all.add("{} and c{}' < c{}", same("c", last), last, last);
    for (size_t i = 0; i < nest.counters.size(); ++i) {
      all.add("t{0}' <= t{0}", i);
    }
    return all.text();
  }

  /// In the iteration of the same run of the producer, where the consumer has a run, too.
  std::string consumerBesideProducer() const {
    Conditions all;
    for (uint32_t i = 0; i < numLevels(); ++i) {
      all.add("d{}' = 0 and c{}' = {}", i, i, producerAt(i, ""));
    }
    all.add("{} and {}", same("u", nest.producerOwn.size()), same("s", nest.counters.size()));
    return all.text();
  }

  static std::string producerAt(size_t level, std::string_view prime) {
    return fmt::format("c{0}{1} - d{0}{1}", level, prime);
  }

  std::string sameProducer() const {
    Conditions all;
    for (uint32_t i = 0; i < numLevels(); ++i) {
      all.add("{} = {}", producerAt(i, "'"), producerAt(i, ""));
    }
    all.add("{} and {}", same("u", nest.producerOwn.size()), same("s", nest.counters.size()));
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

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_NESTTEXT_H
