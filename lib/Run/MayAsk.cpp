//===- MayAsk.cpp - Whether a dependence asks for anything in some run ------===//

#include "tally/Run/MayAsk.h"

#include "tally/Model/Nest.h"
#include "tally/Model/RunNumbers.h"

#include <algorithm>
#include <optional>

namespace tally {
namespace {

constexpr uint64_t mostSteps = 1'000'000;

class Asking {
public:
  Asking(const Kernel &kernel, const Dep &dep)
      : kernel(kernel), dep(dep), producers(kernel, kernel.instrs[dep.producer].home),
        consumers(kernel, kernel.instrs[dep.consumer].home) {
    LoopId shared = kernel.sharedBody(dep);
    for (LoopId loop : kernel.realLoops(shared)) {
      distance.push_back(kernel.distanceOn(dep, loop));
    }
    numCommon = distance.size();
    if (dep.form == DistanceForm::Element) {
      distance.push_back(dep.step);
      nests = sideBySide(kernel, dep);
    }
    excludes = areApart(kernel.childTowards(shared, kernel.instrs[dep.producer].home),
                        kernel.childTowards(shared, kernel.instrs[dep.consumer].home));
  }

  bool may() {
    std::vector<RunValueId> values = producers.values();
    values.insert(values.end(), consumers.values().begin(), consumers.values().end());
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    NestChoice choice = producers.mostTrips();
    const NestChoice other = consumers.mostTrips();
    for (LoopId loop : kernel.loops.ids()) {
      choice.trips[loop] = std::max(choice.trips[loop], other.trips[loop]);
    }
    bool asks = false;
    bool isAll = forValues(kernel, values, std::move(choice), fuel, [&](const NestChoice &each) {
      asks = asksWith(each);
      return !asks && !fuel.isOut();
    });
    return asks || (!isAll && mayByBounds());
  }

private:
  using Vector = std::vector<uint64_t>;

  /// Whether one entry of a body leads to one of the two at most.
  bool areApart(LoopId a, LoopId b) const {
    bool areBranches = a.valid() && b.valid() && a != b && kernel.loops[a].otherBranch == b;
    return areBranches && (kernel.loops[a].uniform ||
                           kernel.engineOf(dep.producer) == kernel.engineOf(dep.consumer));
  }

  bool asksWith(const NestChoice &choice) {
    if (dep.form == DistanceForm::Flat) {
      return entriesWith(choice) > static_cast<uint64_t>(dep.step);
    }
    std::optional<Vector> first = firstProducer(choice);
    bool asks = false;
    if (first) {
      asOneNumber(*first, true);
      consumers.walk(choice, fuel, [&](const Nest::Reached &reached) {
        Vector last(reached.iterations.begin(), reached.iterations.end());
        last.push_back(reached.trips - std::min<uint64_t>(reached.trips, 1));
        asOneNumber(last, false);
        asks = reached.trips != 0 && isOwed(*first, last);
        return !asks;
      });
    }
    return asks;
  }

  uint64_t entriesWith(const NestChoice &choice) {
    uint64_t entries = 0;
    producers.walk(choice, fuel, [&](const Nest::Reached &reached) {
      entries = sumOf(entries, timesOf(reached.times, reached.trips));
      return true;
    });
    return entries;
  }

  /// The iterations of its first run.
  std::optional<Vector> firstProducer(const NestChoice &choice) {
    std::optional<Vector> first;
    producers.walk(choice, fuel, [&](const Nest::Reached &reached) {
      if (reached.trips != 0) {
        first.emplace(reached.iterations.begin(), reached.iterations.end());
        for (size_t level = 0; level < first->size(); ++level) {
          (*first)[level] = producers.isNamed(level) ? (*first)[level] : 0;
        }
        first->push_back(0);
      }
      return !first;
    });
    return first;
  }

  /// Of an element form, behind the common loops stands the number of the run in its nest.
  void asOneNumber(Vector &iterations, bool ofProducer) const {
    if (nests) {
      const RunNumbers &numbers = ofProducer ? nests->producer : nests->consumer;
      uint64_t number = 0;
      for (size_t level = 0; level < numbers.loops().size(); ++level) {
        uint64_t iteration = iterations[numCommon + level];
        number = sumOf(number, timesOf(iteration, numbers.runsPerIteration(level)));
      }
      iterations.resize(numCommon);
      iterations.push_back(number);
    }
  }

  bool isOwed(const Vector &first, const Vector &consumer) const {
    bool isSame = std::equal(first.begin(), first.begin() + static_cast<ptrdiff_t>(numCommon),
                             consumer.begin());
    if (excludes && isSame) {
      return false;
    }
    bool isBefore = false; ///< the first run of the producer is, whatever follows
    for (size_t j = 0; j < distance.size(); ++j) {
      constexpr uint64_t far = uint64_t(1) << 40;
      auto number = static_cast<int64_t>(std::min(consumer[j], far));
      bool isNumber = nests && j == numCommon;
      int64_t target = isNumber ? kernel.runNeeded(dep, number) : number - distance[j];
      if (target < 0 || (!isBefore && target < static_cast<int64_t>(first[j]))) {
        return false;
      }
      isBefore |= target > static_cast<int64_t>(first[j]);
    }
    return true;
  }

  bool mayByBounds() const {
    const std::vector<LoopId> &loops = consumers.loops();
    for (size_t j = 0; j < distance.size() && dep.form != DistanceForm::Flat; ++j) {
      bool isNumber = nests && j == numCommon;
      std::optional<uint64_t> most =
          isNumber ? nests->consumer.most(kernel) : kernel.loops[loops[j]].trip.most();
      auto first = isNumber && dep.table.valid() ? kernel.tables[dep.table].firstNeeding()
                                                 : std::optional(distance[j]);
      if (!first || (most && *first >= static_cast<int64_t>(*most))) {
        return false;
      }
    }
    return true;
  }

  const Kernel &kernel;
  const Dep &dep;
  const Nest producers, consumers;
  std::vector<int64_t> distance; ///< by common loop, then of the inner one
  size_t numCommon = 0;
  std::optional<SideBySide> nests; ///< of an element form
  bool excludes = false;
  Fuel fuel{mostSteps};
};

} // namespace

bool mayAsk(const Kernel &kernel, DepId dep) {
  return Asking(kernel, kernel.deps[dep]).may();
}

} // namespace tally
