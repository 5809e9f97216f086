//===- RandomAheadTest.cpp - Pipelines with a prologue, against all conflicts ===//
//
// First slots of rings are filled before a loop whose body goes on some iterations ahead. So what
// comes before the loop conflicts with a later iteration than the first, by whichever of the loops
// that moves; the iterations before it need nothing.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "HoldToConflicts.h"
#include "Random.h"

#include "tally/Deps/Implied.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace tally;
using namespace tally::oracle;

namespace {

using fuzz::Random;

class PipelineKernel {
public:
  PipelineKernel(uint64_t seed, bool isConstant) : random(seed), b("k"), isConstant(isConstant) {
    for (size_t r = 0, count = 1 + random.below(2); r < count; ++r) {
      slots.push_back(2 + random.below(2));
      const uint64_t shape[] = {slots.back()};
      b.buffer(fmt::format("R{}", r), shape);
    }
    for (uint64_t e = 0, count = 2 + random.below(2); e < count; ++e) {
      queues.push_back(b.queueOf(b.engine(fmt::format("e{}", e))));
    }
  }

  Kernel make() {
    bool isRepeated = random.below(3) == 0;
    if (isRepeated) {
      loop("S");
    }
    prologue();
    loop("A");
    body({"A"});
    if (random.below(2) == 0) {
      loop("B");
      body({"A", "B", "total(B)"});
      b.endLoop();
    }
    b.endLoop();
    if (isRepeated) {
      b.endLoop();
    }
    return b.finish();
  }

private:
  void loop(const std::string &name) {
    b.beginLoop(name, isConstant || random.below(2) == 0
                          ? KernelBuilder::constant(1 + random.below(4))
                          : b.value("n." + name, random.below(2)));
  }

  void prologue() {
    for (uint64_t i = 0, count = 1 + random.below(3); i < count; ++i) {
      auto r = static_cast<uint32_t>(random.below(slots.size()));
      instr(random.below(4) != 0 ? AccessKind::Write : AccessKind::Read, r,
            fmt::format("{}", random.below(slots[r])));
    }
  }

  void body(const std::vector<std::string> &indices) {
    for (uint64_t i = 0, count = 1 + random.below(4); i < count; ++i) {
      auto r = static_cast<uint32_t>(random.below(slots.size()));
      const std::string &index = indices[random.below(indices.size())];
      instr(random.below(2) == 0 ? AccessKind::Write : AccessKind::Read, r,
            fmt::format("({} + {}) mod {}", index, random.below(3), slots[r]));
    }
  }

  void instr(AccessKind kind, uint32_t ring, const std::string &slot) {
    b.instr(fmt::format("i{}", numInstrs++), queues[random.below(queues.size())]);
    b.access(kind, BufferId(ring), fmt::format("R{}[{}]", ring, slot));
  }

  Random random;
  KernelBuilder b;
  bool isConstant;             ///< all trips are
  std::vector<uint64_t> slots; ///< of each ring
  std::vector<QueueId> queues;
  uint32_t numInstrs = 0;
};

constexpr uint64_t numParts = 4;

class RandomAheadTest : public testing::TestWithParam<uint64_t> {};

/// TALLY_AHEAD_KERNELS=100000 makes a long run of it; TALLY_AHEAD_SEED=81 looks at one kernel.
TEST_P(RandomAheadTest, areSoundAndExact) {
  Extractor extractor;
  Held held;
  size_t numLater = 0, numDropped = 0;
  auto [first, last] = test::seeds("AHEAD", 400, 20'000);
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    Kernel kernel = PipelineKernel(seed, false).make();
    ExtractOptions options{seed % 2 == 0};
    std::string failure = holdToConflicts(kernel, seed, options, extractor, held);
    EXPECT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
    Extraction found = extractor.extract(kernel, options);
    markImplied(kernel, found);
    for (const DerivedDep &derived : found.deps) {
      numLater += derived.from.isLater();
      numDropped += derived.from.isLater() && derived.isImplied();
    }
  }
  fmt::print("{} dependences, {} of them from a later iteration on, {} of these dropped\n",
             held.deps, numLater, numDropped);
  EXPECT_GT(numLater, 20u);
  EXPECT_GT(numDropped, 0u);
}

/// With constant trips no wait is too long, and none follows from the others.
TEST_P(RandomAheadTest, areMinimalWithConstantTrips) {
  Extractor extractor;
  size_t numLater = 0, numKeptLater = 0, numRunByRun = 0;
  auto [first, last] = test::seeds("AHEAD", 400, 20'000);
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    Kernel kernel = PipelineKernel(seed, true).make();
    const bool queueOverlap = seed % 2 == 0;
    Extraction found = extractor.extract(kernel, {queueOverlap});
    for (const DerivedDep &derived : found.deps) {
      numLater += derived.from.isLater();
    }
    markImplied(kernel, found);
    for (const DerivedDep &derived : found.deps) {
      EXPECT_TRUE(derived.isImplied() || derived.excess == Excess::None) << "seed " << seed;
      numKeptLater += !derived.isImplied() && derived.dep.form == DistanceForm::Element &&
                      !derived.dep.table.valid() && derived.dep.step > 0;
      numRunByRun +=
          derived.isImplied() && found.steps[derived.firstStep].kind == DerivationStep::Kind::Runs;
    }
    auto trips = [&](LoopId loop, uint64_t) { return kernel.loops[loop].trip.constant; };
    std::vector<Enumeration> runs;
    runs.emplace_back(kernel, trips);
    EXPECT_EQ(idleDep(withDeps(kernel, found), runs, queueOverlap), "") << "seed " << seed;
  }
  EXPECT_GT(numLater, 20u);
  EXPECT_GT(numKeptLater, 0u);
  EXPECT_GT(numRunByRun, 20u);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomAheadTest, testing::Range<uint64_t>(0, numParts));

} // namespace
