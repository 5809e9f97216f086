//===- RandomRaceTest.cpp - Code that waits for what was found alone ------===//
//
// Random kernels that touch memory are compiled with the dependences that are found and kept:
// nothing races in several runs of each. Then each of them is removed by hand, one at a time: the
// race check says no only where the enumeration of all conflicts finds two runs that nothing
// orders, and in nearly all runs where it does. (Code may wait for more than a dependence asks
// for.)
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "HoldToConflicts.h"
#include "RandomAccesses.h"

#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"
#include "tally/Deps/Extract.h"
#include "tally/Deps/Implied.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

/// TALLY_RACE_KERNELS=10000 makes a long run of it.
uint64_t numKernels() {
  return test::numKernels("TALLY_RACE_KERNELS", 200, 3'000);
}

constexpr uint64_t numParts = 8;

/// Several runs of one kernel.
std::vector<Bindings> runsOf(const Kernel &kernel, uint64_t seed) {
  constexpr std::pair<uint64_t, uint64_t> tripRanges[] = {{0, 2}, {1, 4}, {2, 3}, {3, 5}};
  std::vector<Bindings> runs;
  for (auto [shortest, longest] : tripRanges) {
    auto trips = randomTrips(kernel, seed + shortest, shortest, longest);
    Bindings &bindings = runs.emplace_back(kernel);
    bindings.setGuardSeed(seed + longest);
    for (LoopId loop : kernel.loops.ids()) {
      if (kernel.loops[loop].kind == LoopKind::Loop &&
          kernel.loops[loop].trip.kind == Trip::Kind::Value) {
        std::vector<uint64_t> byEntry;
        byEntry.reserve(5);
        for (uint64_t entry = 0; entry < 5; ++entry) {
          byEntry.push_back(trips(loop, entry));
        }
        bindings.set(loop, byEntry);
      }
    }
    std::map<std::string, int64_t> values = randomValues(kernel, seed, shortest, longest);
    for (RunValueId id : kernel.values.ids()) {
      bindings.setValue(id, static_cast<uint64_t>(values.at(std::string(kernel.nameOf(id)))));
    }
  }
  return runs;
}

/// The code for one kernel with its dependences.
class Trial {
public:
  explicit Trial(Kernel derived) : kernel(std::move(derived)), machine(genericMachine()) {
    Diagnostics diagnostics;
    compiled = compile(kernel, {}, machine, diagnostics);
    EXPECT_TRUE(compiled) << render(diagnostics, {});
  }

  Verdict race(const Bindings &bindings) const {
    return compiled ? checkRaces(kernel, compiled->code, machine, bindings).verdict
                    : Verdict::Undecided;
  }

  /// Whether two runs that conflict may overlap, by the definition of the dependences.
  bool lacksWait(const Bindings &bindings) const {
    TripsOf trips = [&](LoopId loop, uint64_t entry) {
      return bindings.trips(EngineId(0), loop, entry + 1);
    };
    std::map<std::string, int64_t> values;
    for (RunValueId id : kernel.values.ids()) {
      values[std::string(kernel.nameOf(id))] = bindings.values()[id.value];
    }
    return !missingWait(kernel, Enumeration(kernel, trips, values), machine.queueOverlap).empty();
  }

private:
  Kernel kernel;
  Machine machine;
  std::optional<Compiled> compiled;
};

class RandomRaceTest : public testing::TestWithParam<uint64_t> {
protected:
  /// All runs of the kernel without one dependence.
  void tryWithout(const Kernel &kernel, const std::vector<Bindings> &runs) {
    Trial program(kernel);
    for (const Bindings &bindings : runs) {
      bool lacks = program.lacksWait(bindings);
      Verdict verdict = program.race(bindings);
      EXPECT_TRUE(lacks || verdict == Verdict::Yes) << writeKernelJson(kernel);
      numLacking += lacks;
      numRaces += lacks && verdict == Verdict::No;
    }
  }

  size_t numLacking = 0;
  size_t numRaces = 0;
};

TEST_P(RandomRaceTest, racesWithoutWhatIsKept) {
  Extractor extractor;
  for (uint64_t seed = 1 + GetParam(); seed <= numKernels(); seed += numParts) {
    Kernel kernel = randomAccesses(seed);
    Extraction extraction = extractor.extract(kernel, {genericMachine().queueOverlap});
    markImplied(kernel, extraction);
    std::vector<Bindings> runs = runsOf(kernel, seed);
    Trial program(withDeps(kernel, extraction));
    for (const Bindings &bindings : runs) {
      EXPECT_EQ(program.race(bindings), Verdict::Yes)
          << "seed " << seed << ": " << writeKernelJson(withDeps(kernel, extraction));
    }
    for (DerivedDep &derived : extraction.deps) {
      if (!derived.isImplied()) {
        derived.numSteps = 1; // as if it were
        tryWithout(withDeps(kernel, extraction), runs);
        derived.numSteps = 0;
      }
    }
  }
  fmt::print("{} races in {} runs that lack a wait\n", numRaces, numLacking);
  EXPECT_GE(100 * numRaces, 90 * numLacking); // of one part; 98 of all
  EXPECT_GT(numLacking, 0U);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomRaceTest, testing::Range<uint64_t>(0, numParts));

} // namespace
