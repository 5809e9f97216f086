//===- RandomTurnsTest.cpp - Rhythms that go on, against all conflicts ------===//
//
// Two or three instructions in nests of loops with few constant trips, at any depth, that go
// through a ring: each iteration of an outer loop goes on where the last one has ended, begins
// again, or turns the ring. However often the outermost one runs, nothing is waited for too long.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "HoldToConflicts.h"

#include "Random.h"

#include "tally/Deps/Implied.h"
#include "tally/Model/AccessText.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

class TurnsKernel {
public:
  explicit TurnsKernel(uint64_t seed) : random(seed), b("k") {
    ring = 2 + random.below(4);
    const uint64_t shape[] = {ring};
    b.buffer("X", shape);
    for (std::string_view name : {"dma", "act"}) {
      engines.push_back(b.engine(std::string(name)));
    }
    beginLoop(outermostTrips());
    bool isDeep = random.percent(25);
    if (isDeep) {
      beginLoop(always(2));
    }
    const uint64_t count = 2 + random.below(2);
    const bool isOneLoop = random.percent(40);
    if (isOneLoop) {
      beginLoop(always(1 + random.below(4)));
    }
    for (uint64_t i = 0; i < count; ++i) {
      bool isOwn = !isOneLoop && random.percent(80);
      if (isOwn) {
        beginLoop(always(1 + random.below(4)));
      }
      add(fmt::format("i{}", i));
      if (isOwn) {
        endLoop();
      }
    }
    while (!loops.empty()) {
      endLoop();
    }
  }

  Kernel finish() { return b.finish(); }

private:
  Trip outermostTrips() {
    switch (random.below(5)) {
    case 0:
      return b.formula("$n");
    case 3:
      return b.value("n", random.below(2));
    case 1:
      return b.value("n", 0, 4);
    case 2:
      return b.value("n", 1, 1000);
    default:
      return KernelBuilder::constant(2 + random.below(3));
    }
  }

  /// The same, however it is said.
  Trip always(uint64_t trips) {
    switch (random.below(6)) {
    case 0:
      return b.value(fmt::format("v{}", numLoops), trips, trips);
    case 1:
      return b.formula(fmt::format("{}", trips));
    case 2:
      known.push_back(fmt::format("$k{}", numLoops));
      return b.formula(known.back(), trips, trips);
    default:
      return KernelBuilder::constant(trips);
    }
  }

  /// A guard that no run fails, or that comes again; or none.
  std::string guard() {
    switch (random.below(12)) {
    case 0:
      return fmt::format(" if {} >= 0", loops[random.below(loops.size())]);
    case 1:
      return fmt::format(" if {0} mod {1} + {0} < {0} + {1}", loops.front(), 2 + random.below(3));
    case 2:
      return fmt::format(" if {} < trips({})", loops.back(), loops.back());
    case 3: // not all, but the same ones again and again
      return loops.size() == 1 ? "" : fmt::format(" if {0} == trips({0}) - 1", loops.back());
    default:
      return "";
    }
  }

  void beginLoop(Trip trips) {
    loops.push_back(fmt::format("L{}", numLoops++));
    b.beginLoop(loops.back(), trips);
  }

  void endLoop() {
    b.endLoop();
    loops.pop_back();
  }

  void add(const std::string &name) {
    b.instr(name, b.queueOf(engines[random.below(2)]));
    for (uint64_t i = 0, count = random.percent(30) ? 2 : 1; i < count; ++i) {
      AccessKind kind = random.percent(60) ? AccessKind::Write : AccessKind::Read;
      std::string error, text = fmt::format("X[({}) mod {}]{}", place(), ring, guard());
      b.access(kind, BufferId(0), toString(*parseAccess(text, error)));
    }
  }

  std::string place() {
    std::string sum = random.percent(30) ? fmt::format("total({})", loops.back()) : "0";
    for (const std::string &loop : loops) {
      if (uint64_t times = random.below(3); times != 0) {
        sum += fmt::format(" + {} * {}", times, loop);
      }
    }
    if (!known.empty() && random.percent(50)) {
      sum += " + " + known[random.below(known.size())];
    }
    return fmt::format("{} + {}", sum, random.below(ring));
  }

  fuzz::Random random;
  KernelBuilder b;
  std::vector<EngineId> engines;
  std::vector<std::string> loops; ///< that are open
  std::vector<std::string> known; ///< values whose bounds agree
  uint64_t ring = 0;
  uint64_t numLoops = 0;
};

constexpr uint64_t numParts = 4;

class RandomTurnsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomTurnsTest, isSoundCompleteAndExact) {
  Extractor extractor;
  Held held;
  size_t numOver = 0, numAsked = 0;
  auto [first, last] = test::seeds("TURNS", 160, 20'000);
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    Kernel kernel = TurnsKernel(seed).finish();
    Extraction extraction = extractor.extract(kernel, {seed % 2 == 0});
    markImplied(kernel, extraction);
    for (const DerivedDep &derived : extraction.deps) {
      numOver += derived.isTableAlone;
      bool isLonger = !derived.isImplied() && derived.excess != Excess::None;
      EXPECT_FALSE(isLonger) << "seed " << seed;
    }
    ++numAsked;
    std::string failure = holdToConflicts(kernel, seed, {seed % 2 == 0}, extractor, held);
    EXPECT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
  }
  EXPECT_GT(numOver * 2, numAsked);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomTurnsTest, testing::Range<uint64_t>(0, numParts));

} // namespace
