//===- RandomNestsTest.cpp - Nests side by side, against all conflicts ----===//
//
// Nests of one to three loops, one after the other, in a loop or not. Each goes through one memory
// by the numbers of its runs, as a whole or by parts, from another place on, or in another order.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "HoldToConflicts.h"

#include "Random.h"

#include "tally/Model/AccessText.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

class NestsKernel {
public:
  explicit NestsKernel(uint64_t seed) : random(seed), b("k") {
    const uint64_t shape[] = {64};
    b.buffer("X", shape);
    for (std::string_view name : {"dma", "act"}) {
      engines.push_back(b.engine(std::string(name)));
    }
    bool isRepeated = random.percent(60);
    if (isRepeated) {
      b.beginLoop("A", random.percent(50) ? b.value("n") : KernelBuilder::constant(2));
    }
    for (uint64_t nest = 0, count = 2 + random.below(2); nest < count; ++nest) {
      addNest(fmt::format("i{}", nest));
    }
    if (isRepeated) {
      b.endLoop();
    }
  }

  Kernel finish() { return b.finish(); }

private:
  void addNest(const std::string &name) {
    const uint64_t depth = 1 + random.below(3);
    std::string index; // the number of the run, or a part of it
    for (uint64_t level = 0; level < depth; ++level) {
      std::string loop = fmt::format("{}{}", name, char('a' + level));
      uint64_t trips = 1 + random.below(depth == 1 ? 8 : 3);
      bool isOpen = level == 0 ? random.percent(40) : random.percent(10);
      b.beginLoop(loop, isOpen ? b.value("m" + loop, 0, trips) : KernelBuilder::constant(trips));
      index = level == 0 ? loop : fmt::format("({} * {} + {})", index, trips, loop);
    }
    b.instr(name, b.queueOf(engines[random.below(2)]));
    AccessKind kind = random.percent(50) ? AccessKind::Write : AccessKind::Read;
    std::string error;
    b.access(kind, BufferId(0), toString(*parseAccess(fmt::format("X[{}]", moved(index)), error)));
    for (uint64_t level = 0; level < depth; ++level) {
      b.endLoop();
    }
  }

  std::string moved(const std::string &index) {
    switch (random.below(6)) {
    case 0:
      return fmt::format("({} + {})", index, 1 + random.below(4));
    case 1:
      return fmt::format("(({}) mod {})", index, 2 + random.below(5));
    case 2:
      return fmt::format("({} floordiv 2)", index);
    case 3:
      return fmt::format("(31 - {})", index);
    default:
      return index;
    }
  }

  fuzz::Random random;
  KernelBuilder b;
  std::vector<EngineId> engines;
};

bool isOfNests(const Kernel &kernel, const Dep &dep) {
  LoopId producer = kernel.instrs[dep.producer].home, consumer = kernel.instrs[dep.consumer].home;
  LoopId shared = kernel.commonLoop(producer, consumer);
  return dep.form == DistanceForm::Element &&
         (kernel.loops[producer].parent != shared || kernel.loops[consumer].parent != shared);
}

constexpr uint64_t numParts = 4;

class RandomNestsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomNestsTest, isSoundCompleteAndExact) {
  Extractor extractor;
  Held held;
  size_t numOfNests = 0;
  auto [first, last] = test::seeds("NESTS", 400, 20'000);
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    Kernel kernel = NestsKernel(seed).finish();
    const Extraction extraction = extractor.extract(kernel);
    for (const DerivedDep &derived : extraction.deps) {
      numOfNests += isOfNests(kernel, derived.dep);
    }
    std::string failure = holdToConflicts(kernel, seed, {seed % 2 == 0}, extractor, held);
    EXPECT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
  }
  EXPECT_GT(numOfNests * 10, (last - first) / numParts);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomNestsTest, testing::Range<uint64_t>(0, numParts));

} // namespace
