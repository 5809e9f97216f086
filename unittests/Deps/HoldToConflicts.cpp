//===- HoldToConflicts.cpp - Extraction against all conflicts -------------===//

#include "HoldToConflicts.h"

#include "RandomAccesses.h"

#include "tally/Deps/Implied.h"
#include "tally/Model/Check.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tally::oracle {
namespace {

using Ends = std::pair<InstrId, InstrId>;

/// Values that some kernels name in sums and remainders. Where they give no trips, the search knows
/// nothing of them, and has to be right for any; the others meet everything.
constexpr std::array<const char *, 2> openValues = {"t", "s"};

/// All checks of one run of one kernel; the first failure is returned.
class RunCheck {
public:
  RunCheck(const Kernel &derived, const Extraction &extraction, const Enumeration &runs,
           bool queueOverlap)
      : kernel(derived), extraction(extraction), runs(runs), queueOverlap(queueOverlap) {
    for (size_t i = 0; i < extraction.deps.size(); ++i) {
      const Dep &dep = extraction.deps[i].dep;
      depsOf[{dep.producer, dep.consumer}].push_back(i);
    }
  }

  std::string run() {
    findNeeds();
    checkSound();
    checkPairs();
    checkWitnesses();
    return failure;
  }

  /// Only the first of them.
  std::string runSound() {
    findNeeds();
    checkSound();
    return failure;
  }

  size_t numConflicts = 0;
  size_t numWitnessed = 0;

private:
  void fail(std::string text) { failure = failure.empty() ? std::move(text) : failure; }

  std::string text(const Run &run) const {
    return fmt::format("{}#{}", kernel.nameOf(run.instr), run.number);
  }

  bool isOrdered(const Run &a, const Run &b) const {
    return !queueOverlap && kernel.instrs[a.instr].queue == kernel.instrs[b.instr].queue;
  }

  /// For each run and producer the last earlier run that conflicts.
  void findNeeds() {
    needs.assign(runs.runs().size(), std::vector<uint32_t>(kernel.instrs.size(), 0));
    for (size_t c = 0; c < runs.runs().size(); ++c) {
      const Run &consumer = runs.runs()[c];
      for (size_t p = 0; p < c; ++p) {
        const Run &producer = runs.runs()[p];
        if (!isOrdered(producer, consumer) && runs.conflict(producer, consumer)) {
          uint32_t &need = needs[c][producer.instr.value];
          need = std::max(need, producer.number);
          ++numConflicts;
        }
      }
    }
  }

  void checkSound() {
    std::vector<std::vector<uint32_t>> over = surelyOver(kernel, runs, queueOverlap);
    for (size_t c = 0; c < over.size(); ++c) {
      for (InstrId p : kernel.instrs.ids()) {
        uint32_t need = needs[c][p.value];
        if (need != 0) {
          const Run &producer = runs.runs()[runs.runsOf(p)[need - 1]];
          if (over[c][kernel.instrs[p].queue.value] < producer.place) {
            fail(fmt::format("{} does not wait for {}", text(runs.runs()[c]), text(producer)));
          }
        }
      }
    }
  }

  uint32_t waitedFor(size_t dep, const Run &consumer) const {
    return runs.waitedFor(extraction.deps[dep].dep, kernel, consumer);
  }

  void checkPairs() {
    for (InstrId p : kernel.instrs.ids()) {
      for (InstrId c : kernel.instrs.ids()) {
        checkPair(p, c);
      }
    }
  }

  /// Whether the later run waits for the earlier one, by one of the dependences found.
  bool waits(const Run &earlier, const Run &later) const {
    auto found = depsOf.find({earlier.instr, later.instr});
    return found != depsOf.end() && std::ranges::any_of(found->second, [&](size_t d) {
             return waitedFor(d, later) >= earlier.number;
           });
  }

  /// Whether a run between the two comes after the first, and the second after it: what is written
  /// over on the way is left out.
  bool isPassedOn(const Run &producer, const Run &consumer) const {
    auto isAfter = [&](const Run &earlier, const Run &later) {
      return runs.conflict(earlier, later) || waits(earlier, later) ||
             kernel.instrs[earlier.instr].queue == kernel.instrs[later.instr].queue;
    };
    return std::any_of(&producer + 1, &consumer, [&](const Run &between) {
      return isAfter(producer, between) && isAfter(between, consumer);
    });
  }

  void checkPair(InstrId p, InstrId c) {
    auto found = depsOf.find({p, c});
    const std::vector<size_t> none;
    const std::vector<size_t> &deps = found == depsOf.end() ? none : found->second;
    bool exact = std::all_of(deps.begin(), deps.end(),
                             [&](size_t d) { return extraction.deps[d].excess == Excess::None; });
    bool judged = exact && runs.neverSkippedUnforeseen(p) && runs.neverSkippedUnforeseen(c);
    uint32_t needed = 0; // by this consumer or an earlier one
    for (uint32_t index : runs.runsOf(c)) {
      uint32_t waited = 0;
      for (size_t d : deps) {
        waited = std::max(waited, waitedFor(d, runs.runs()[index]));
      }
      uint32_t need = needs[index][p.value];
      needed = std::max(needed, need);
      if (waited < need && !isPassedOn(runs.runs()[runs.runsOf(p)[need - 1]], runs.runs()[index])) {
        fail(fmt::format("{} needs {}#{} and waits for #{}", text(runs.runs()[index]),
                         kernel.nameOf(p), need, waited));
      }
      if (judged && waited > needed) {
        fail(fmt::format("{} waits for {}#{} and needs #{} at most, but it is called exact",
                         text(runs.runs()[index]), kernel.nameOf(p), waited, needed));
      }
    }
  }

  void checkWitnesses() {
    for (const DerivedDep &derived : extraction.deps) {
      numWitnessed += isWitnessed(derived);
    }
  }

  bool isWitnessed(const DerivedDep &derived) {
    if (derived.excess == Excess::Undecided) {
      return false;
    }
    auto at = extraction.iterations.begin() + derived.firstIteration;
    std::vector<int64_t> producer(at, at + derived.numProducerIterations);
    at += derived.numProducerIterations;
    std::vector<int64_t> consumer(at, at + derived.numConsumerIterations);
    const Run *p = find(derived, derived.dep.producer, producer);
    const Run *c = find(derived, derived.dep.consumer, consumer);
    if (!p || !c) {
      return false;
    }
    if (!isAtDistance(derived.dep, *p, *c)) {
      fail(fmt::format("{} and {} are not at the distance that they are to show", text(*p),
                       text(*c)));
    }
    // Iterations alone do not say what a total is, and other runs have other trips.
    bool isKnown =
        derived.dep.form == DistanceForm::Flat || (!countsMore(p->instr) && !countsMore(c->instr));
    isKnown &= !mayBeAnywhere(derived) && !namesValue(p->instr) && !namesValue(c->instr);
    isKnown &= !countsOverLoop(derived); // with other trips, the run of this number is another one
    if (isKnown && !runs.conflict(*p, *c)) {
      fail(fmt::format("{} and {} are said to conflict", text(*p), text(*c)));
    }
    return isKnown;
  }

  /// So that no larger distance would do. (Where all iterations of a loop are waited for, there is
  /// none.)
  bool isAtDistance(const Dep &dep, const Run &p, const Run &c) const {
    if (dep.form == DistanceForm::Flat) {
      return int64_t(c.number) - int64_t(p.number) == dep.step;
    }
    std::vector<int64_t> distances = distancesOf(kernel, dep);
    for (size_t i = 0; i < distances.size(); ++i) {
      if (isWhole(distances[i], kernel.instrs[dep.producer].home, i)) {
        return true;
      }
      if (c.vector[i] - p.vector[i] != distances[i]) {
        return false;
      }
    }
    int64_t consumer = runs.numberSince(c, distances.size());
    int64_t producer = runs.numberSince(p, distances.size());
    // Of several accesses together, the one that is shown may be needed later.
    bool isOneRun = kernel.instrs[dep.producer].home == kernel.sharedBody(dep);
    return dep.form != DistanceForm::Element ||
           (dep.table.valid() ? kernel.runNeeded(dep, consumer) >= producer
            : isOneRun        ? consumer - producer >= dep.step
                              : consumer - producer == dep.step);
  }

  /// Whether a distance on the i-th of the loops around a body goes beyond all its iterations.
  bool isWhole(int64_t distance, LoopId home, size_t i) const {
    std::vector<LoopId> loops;
    for (LoopId l = home; l.valid(); l = kernel.loops[l].parent) {
      if (kernel.loops[l].kind == LoopKind::Loop) {
        loops.insert(loops.begin(), l);
      }
    }
    const Trip &trip = kernel.loops[loops[i]].trip;
    uint64_t most = trip.kind == Trip::Kind::Constant ? trip.constant : trip.max.value_or(maxCount);
    return distance < 0 && distance <= 1 - static_cast<int64_t>(most);
  }

  /// Whether nobody knows where the two would meet.
  bool mayBeAnywhere(const DerivedDep &derived) const {
    return derived.excess == Excess::Anywhere ||
           (derived.excess == Excess::Symbol && kernel.accesses[derived.producerAccess].buffer !=
                                                    kernel.accesses[derived.consumerAccess].buffer);
  }

  bool countsOverLoop(const DerivedDep &derived) const {
    RunTableId table = derived.dep.table.valid() ? derived.dep.table : derived.table;
    return table.valid() && extraction.tables[table].over.valid();
  }

  bool countsMore(InstrId instr) const {
    for (AccessId a : kernel.instrs[instr].accesses) {
      std::string_view text = kernel.text(kernel.accesses[a].text);
      if (text.find("total(") != std::string_view::npos ||
          text.find("trips(") != std::string_view::npos) {
        return true;
      }
    }
    return false;
  }

  bool namesValue(InstrId instr) const {
    for (AccessId access : kernel.instrs[instr].accesses) {
      if (namesValue((*kernel.tiles)[access])) {
        return true;
      }
    }
    return false;
  }

  static bool namesValue(const BodyTile &tile) {
    return std::ranges::any_of(tile.access.exprs, [&](const TileExpr &node) {
      return node.kind == TileExpr::Kind::Symbol &&
             (!tile.isOpen(node) ||
              std::ranges::count(openValues, tile.access.names[node.name]) != 0);
    });
  }

  const Run *find(const DerivedDep &derived, InstrId instr,
                  const std::vector<int64_t> &where) const {
    for (uint32_t index : runs.runsOf(instr)) {
      const Run &run = runs.runs()[index];
      bool flat = where.size() == 1 && run.vector.size() != 1;
      flat |= derived.dep.form == DistanceForm::Flat;
      if (flat ? int64_t(run.number) - 1 == where[0] : run.vector == where) {
        return &run;
      }
    }
    return nullptr;
  }

  const Kernel &kernel;
  const Extraction &extraction;
  const Enumeration &runs;
  bool queueOverlap;
  std::map<Ends, std::vector<size_t>> depsOf;
  std::vector<std::vector<uint32_t>> needs;
  std::string failure;
};

/// Whether no run needs the dependence so early.
bool isBeforeNeed(const Kernel &kernel, const DerivedDep &derived, const Run &consumer) {
  LoopId common = kernel.commonLoop(kernel.instrs[derived.dep.producer].home,
                                    kernel.instrs[derived.dep.consumer].home);
  size_t loop = kernel.realLoops(common).size() + derived.from.loop;
  return derived.from.isLater() && consumer.vector[loop] < derived.from.iteration;
}

/// The first run of a consumer that starts, waiting for what is kept alone, before what a removed
/// dependence would have waited for is over.
std::string unimplied(const Kernel &kept, const Extraction &extraction, const Enumeration &runs,
                      bool queueOverlap) {
  std::vector<std::vector<uint32_t>> over = surelyOver(kept, runs, queueOverlap);
  for (const DerivedDep &derived : extraction.deps) {
    for (uint32_t index : runs.runsOf(derived.dep.consumer)) {
      uint32_t count = runs.waitedFor(derived.dep, kept, runs.runs()[index]);
      if (count == 0 || isBeforeNeed(kept, derived, runs.runs()[index])) {
        continue;
      }
      const Run &producer = runs.runs()[runs.runsOf(derived.dep.producer)[count - 1]];
      if (over[index][kept.instrs[producer.instr].queue.value] < producer.place) {
        return fmt::format("{} -> {} (run {}) is said to be implied",
                           kept.nameOf(derived.dep.producer), kept.nameOf(derived.dep.consumer),
                           runs.runs()[index].number);
      }
    }
  }
  return {};
}

/// Shortest and longest trips of the runs of each kernel.
constexpr std::pair<uint64_t, uint64_t> tripRanges[] = {{0, 2}, {1, 1}, {1, 4}, {2, 5}, {4, 7}};

} // namespace

std::string idleDep(const Kernel &kernel, const std::vector<Enumeration> &runs, bool queueOverlap) {
  for (DepId idle : kernel.deps.ids()) {
    Kernel others = kernel;
    others.deps = {};
    for (DepId d : kernel.deps.ids()) {
      if (d != idle) {
        others.deps.push(kernel.deps[d]);
      }
    }
    Extraction alone;
    alone.deps.emplace_back().dep = kernel.deps[idle];
    auto waits = [&](const Enumeration &run) {
      const std::vector<uint32_t> &consumers = run.runsOf(kernel.deps[idle].consumer);
      return std::any_of(consumers.begin(), consumers.end(), [&](uint32_t c) {
        return run.waitedFor(kernel.deps[idle], kernel, run.runs()[c]) != 0;
      });
    };
    auto isNeededIn = [&](const Enumeration &run) {
      return !unimplied(others, alone, run, queueOverlap).empty();
    };
    if (std::any_of(runs.begin(), runs.end(), waits) &&
        std::none_of(runs.begin(), runs.end(), isNeededIn)) {
      return describe(kernel, idle);
    }
  }
  return {};
}

std::string missingWait(const Kernel &kernel, const Enumeration &runs, bool queueOverlap) {
  return RunCheck(kernel, {}, runs, queueOverlap).runSound();
}

std::string holdToConflicts(const Kernel &kernel, uint64_t seed, const ExtractOptions &options,
                            Extractor &extractor, Held &held) {
  Extraction extraction = extractor.extract(kernel, options);
  Kernel derived = withDeps(kernel, extraction);
  Diagnostics diagnostics;
  check(derived, diagnostics);
  if (diagnostics.hasErrors()) {
    return render(diagnostics, {}) + writeKernelJson(derived);
  }
  held.deps += extraction.deps.size();
  for (const DerivedDep &dep : extraction.deps) {
    held.excess += dep.excess != Excess::None;
  }
  markImplied(kernel, extraction);
  Kernel fewer = withDeps(kernel, extraction);
  held.kept += fewer.deps.size();
  for (auto [shortest, longest] : tripRanges) {
    TripsOf trips = randomTrips(kernel, seed + shortest, shortest, longest);
    std::map<std::string, int64_t> values =
        randomValues(kernel, seed + shortest, shortest, longest);
    for (const char *name : openValues) {
      values.try_emplace(name, static_cast<int64_t>((seed + shortest) % 7));
    }
    Enumeration runs(kernel, trips, values);
    RunCheck check(derived, extraction, runs, options.queueOverlap);
    std::string failure = check.run();
    if (failure.empty()) {
      failure = unimplied(fewer, extraction, runs, options.queueOverlap);
    }
    if (failure.empty()) { // whatever the extraction says of itself
      failure = missingWait(fewer, runs, options.queueOverlap);
    }
    if (!failure.empty()) {
      return fmt::format("{}; trips {} to {}\n{}", failure, shortest, longest,
                         writeKernelJson(derived));
    }
    held.conflicts += check.numConflicts;
    held.witnessed += check.numWitnessed;
  }
  return {};
}

} // namespace tally::oracle
