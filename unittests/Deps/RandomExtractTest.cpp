//===- RandomExtractTest.cpp - Extraction against all conflicts -----------===//
//
// For random kernels and several runs of each (no trips, one, few, many; branches by chance),
// every conflict is enumerated, and
//
//   sound      whatever conflicts with a run is over when it starts
//   complete   unless something is written over: what one access pair needs, its own dependence
//              waits for, without help from others
//   exact      a dependence that is called exact lets no run of the consumer wait for a run of the
//              producer that neither it nor an earlier one needs
//   witnessed  the example of each dependence is a conflict at its distance
//   implied    what a removed dependence waits for is over when the consumer starts, with those
//   that
//              are kept
//
//===----------------------------------------------------------------------===//

#include "Enumerate.h"
#include "RandomAccesses.h"

#include "tally/Deps/Extract.h"
#include "tally/Deps/Implied.h"
#include "tally/Model/Check.h"
#include "tally/Model/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

using namespace tally;
using namespace tally::test;

namespace {

/// TALLY_DEPS_KERNELS=100000 makes a long run of it.
uint64_t numKernels() {
  const char *wish = std::getenv("TALLY_DEPS_KERNELS");
  return wish ? std::strtoull(wish, nullptr, 10) : 10'000;
}

constexpr uint64_t numParts = 8;

using Ends = std::pair<InstrId, InstrId>;

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

  bool isReplaced(InstrId p) const {
    for (InstrId i : kernel.instrs.ids()) {
      if (i > p && kernel.instrs[i].home == rootLoop) {
        return true;
      }
    }
    return false;
  }

  void checkPair(InstrId p, InstrId c) {
    auto found = depsOf.find({p, c});
    const std::vector<size_t> none;
    const std::vector<size_t> &deps = found == depsOf.end() ? none : found->second;
    bool exact = std::all_of(deps.begin(), deps.end(),
                             [&](size_t d) { return extraction.deps[d].excess == Excess::None; });
    bool judged = exact && runs.neverSkipped(p) && runs.neverSkipped(c);
    uint32_t needed = 0; // by this consumer or an earlier one
    for (uint32_t index : runs.runsOf(c)) {
      uint32_t waited = 0;
      for (size_t d : deps) {
        waited = std::max(waited, waitedFor(d, runs.runs()[index]));
      }
      uint32_t need = needs[index][p.value];
      needed = std::max(needed, need);
      if (waited < need && !isReplaced(p)) {
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
    auto at = extraction.iterations.begin() + derived.firstIteration;
    std::vector<int64_t> producer(at, at + derived.numProducerIterations);
    at += derived.numProducerIterations;
    std::vector<int64_t> consumer(at, at + derived.numConsumerIterations);
    const Run *p = find(derived, derived.dep.producer, producer);
    const Run *c = find(derived, derived.dep.consumer, consumer);
    if (!p || !c) {
      return false;
    }
    // Iterations alone do not say what a total is.
    bool isKnown =
        derived.dep.form == DistanceForm::Flat || (!usesTotal(p->instr) && !usesTotal(c->instr));
    if (isKnown && !runs.conflict(*p, *c)) {
      fail(fmt::format("{} and {} are said to conflict", text(*p), text(*c)));
    }
    return isKnown;
  }

  bool usesTotal(InstrId instr) const {
    for (AccessId a : kernel.instrs[instr].accesses) {
      if (kernel.text(kernel.accesses[a].text).find("total") != std::string_view::npos) {
        return true;
      }
    }
    return false;
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

/// Shortest and longest trips of the runs of each kernel.
constexpr std::pair<uint64_t, uint64_t> tripRanges[] = {{0, 2}, {1, 1}, {1, 4}, {2, 5}, {4, 7}};

/// The first run of a consumer that starts, waiting for what is kept alone, before what a removed
/// dependence would have waited for is over.
std::string unimplied(const Kernel &kept, const Extraction &extraction, const Enumeration &runs,
                      bool queueOverlap) {
  std::vector<std::vector<uint32_t>> over = surelyOver(kept, runs, queueOverlap);
  for (const DerivedDep &derived : extraction.deps) {
    for (uint32_t index : runs.runsOf(derived.dep.consumer)) {
      uint32_t count = runs.waitedFor(derived.dep, kept, runs.runs()[index]);
      if (count == 0) {
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

/// One part of the kernels, so that the parts run side by side.
class RandomExtractTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomExtractTest, isSoundCompleteAndExact) {
  Extractor extractor;
  size_t conflicts = 0, witnessed = 0, deps = 0, excess = 0, kept = 0;
  for (uint64_t seed = 1 + GetParam(); seed <= numKernels(); seed += numParts) {
    Kernel kernel = randomAccesses(seed);
    ExtractOptions options{seed % 2 == 0};
    Extraction extraction = extractor.extract(kernel, options);
    Kernel derived = withDeps(kernel, extraction);
    Diagnostics diagnostics;
    check(derived, diagnostics);
    ASSERT_FALSE(diagnostics.hasErrors())
        << "seed " << seed << ": " << render(diagnostics, {}) << writeKernelJson(derived);
    deps += extraction.deps.size();
    for (const DerivedDep &dep : extraction.deps) {
      excess += dep.excess != Excess::None;
    }
    markImplied(kernel, extraction);
    Kernel fewer = withDeps(kernel, extraction);
    kept += fewer.deps.size();
    for (auto [shortest, longest] : tripRanges) {
      TripsOf trips = randomTrips(kernel, seed + shortest, shortest, longest);
      Enumeration runs(kernel, trips);
      RunCheck check(derived, extraction, runs, options.queueOverlap);
      std::string failure = check.run();
      ASSERT_EQ(failure, "") << "seed " << seed << ", trips " << shortest << ".." << longest << "\n"
                             << writeKernelJson(derived);
      conflicts += check.numConflicts;
      witnessed += check.numWitnessed;
      std::string lost = unimplied(fewer, extraction, runs, options.queueOverlap);
      ASSERT_EQ(lost, "") << "seed " << seed << ", trips " << shortest << ".." << longest << "\n"
                          << writeKernelJson(derived);
    }
  }
  fmt::print(
      "{} dependences ({} not exact, {} kept), {} conflicts, {} witnesses seen, {} undecided\n",
      deps, excess, kept, conflicts, witnessed, extractor.numUndecided());
  EXPECT_EQ(extractor.numUndecided(), 0);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomExtractTest, testing::Range<uint64_t>(0, numParts));

} // namespace
