//===- RandomTablesTest.cpp - Distances in a rhythm, against all conflicts --===//
//
// Two or three instructions in one loop, or each in a loop of its own, that go through one memory
// at different paces: in rings of several lengths, several places at a time, backwards, or only at
// first.
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

class PacesKernel {
public:
  explicit PacesKernel(uint64_t seed) : random(seed), b("k") {
    const uint64_t shape[] = {64};
    b.buffer("X", shape);
    for (std::string_view name : {"dma", "act"}) {
      engines.push_back(b.engine(std::string(name)));
    }
    bool isRepeated = random.percent(40);
    bool isOneLoop = random.percent(60);
    if (isRepeated) {
      b.beginLoop("A", random.percent(50) ? b.value("n") : KernelBuilder::constant(2));
    }
    if (isOneLoop) {
      beginLoop("B");
    }
    for (uint64_t i = 0, count = 2 + random.below(2); i < count; ++i) {
      std::string loop = isOneLoop ? "B" : fmt::format("B{}", i);
      if (!isOneLoop) {
        beginLoop(loop);
      }
      add(fmt::format("i{}", i), loop);
      if (!isOneLoop) {
        b.endLoop();
      }
    }
    for (int open = isRepeated + isOneLoop; open > 0; --open) {
      b.endLoop();
    }
  }

  Kernel finish() { return b.finish(); }

private:
  void beginLoop(const std::string &name) {
    uint64_t trips = 1 + random.below(12);
    b.beginLoop(name, random.percent(40) ? b.value("m" + name, 0, trips)
                                         : KernelBuilder::constant(trips));
  }

  void add(const std::string &name, const std::string &loop) {
    b.instr(name, b.queueOf(engines[random.below(2)]));
    AccessKind kind = random.percent(60) ? AccessKind::Write : AccessKind::Read;
    std::string error, text = fmt::format("X[{}]", paced(loop));
    b.access(kind, BufferId(0), toString(*parseAccess(text, error)));
  }

  std::string paced(const std::string &loop) {
    switch (random.below(8)) {
    case 0:
      return fmt::format("{} floordiv {}", loop, 2 + random.below(3));
    case 1:
      return fmt::format("({} + {}) floordiv 2", loop, 1 + random.below(3));
    case 2:
    case 3:
      return fmt::format("{} mod {}", loop, 2 + random.below(3));
    case 4:
      return fmt::format("{0} * {1}:{1}", loop, 2 + random.below(2));
    case 5:
      return fmt::format("{} * 2 + {}", loop, random.below(2));
    case 6:
      return fmt::format("31 - {}", loop);
    default:
      return fmt::format("{} + {}", loop, random.below(6));
    }
  }

  fuzz::Random random;
  KernelBuilder b;
  std::vector<EngineId> engines;
};

constexpr uint64_t numParts = 4;

class RandomTablesTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomTablesTest, isSoundCompleteAndExact) {
  Extractor extractor;
  Held held;
  size_t numTables = 0;
  auto [first, last] = test::seeds("TABLES", 400, 20'000);
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    Kernel kernel = PacesKernel(seed).finish();
    Extraction extraction = extractor.extract(kernel);
    markImplied(kernel, extraction);
    for (const DerivedDep &derived : extraction.deps) {
      numTables += derived.dep.table.valid();
    }
    std::string failure = holdToConflicts(kernel, seed, {seed % 2 == 0}, extractor, held);
    EXPECT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
  }
  EXPECT_GT(numTables * 5, (last - first) / numParts);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomTablesTest, testing::Range<uint64_t>(0, numParts));

} // namespace
