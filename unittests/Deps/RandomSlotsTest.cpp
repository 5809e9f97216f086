//===- RandomSlotsTest.cpp - Large bodies on few slots, against all conflicts ===//
//
// Fused and unrolled code: many instructions in a body, on constant slots, boxes that lie partly
// over one another, rings and tiles that move along; among them tiles that are none of these, also
// of the same instruction. In some kernels most tiles are of a few texts that say no more than that
// they are equal. Most of what conflicts is written over in between, on all paths or on
// some.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "HoldToConflicts.h"
#include "Random.h"
#include "RandomAccesses.h"

#include "tally/Deps/Render.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

using fuzz::Random;

class SlotsKernel {
public:
  explicit SlotsKernel(uint64_t seed) : random(seed), b("k") {
    const uint64_t line[] = {8};
    const uint64_t plane[] = {3, 4};
    const uint64_t tiles[] = {24};
    const uint64_t path[] = {64};
    bool sharesMemory = random.below(3) == 0;
    bool hasPartitions = random.below(2) == 0;
    auto add = [&](std::string_view name, std::span<const uint64_t> shape) {
      if (sharesMemory) { // all within a few elements of one another
        const char *types[] = {"i8", "i8", "i16"};
        BufferId id = b.buffer(name, shape, {}, types[random.below(3)], 2 * random.below(8));
        if (hasPartitions && random.below(2) == 0) {
          b.partitions(id, {random.below(4), static_cast<uint32_t>(random.below(shape.size()))});
        }
      } else {
        b.buffer(name, shape);
      }
    };
    add("X", line);
    add("P", plane);
    add("T", tiles);
    add("V", path);
    add("R", line);
    add("E", line);
    if (random.below(3) == 0) {
      for (uint64_t n = 0, count = 1 + random.below(3); n < count; ++n) {
        equals.push_back(random.below(1000));
      }
    }
    if (random.below(4) == 0) {
      step = 2 + random.below(6);
      length = 4 + random.below(5);
    }
    if (sharesMemory && random.below(3) == 0) {
      uint64_t later = 1 + random.below(4);
      b.noalias(BufferId(static_cast<uint32_t>(later)),
                BufferId(static_cast<uint32_t>(random.below(later))));
    }
    for (uint64_t e = 0, count = 1 + random.below(3); e < count; ++e) {
      queues.push_back(b.queueOf(b.engine(fmt::format("e{}", e))));
    }
    if (random.below(4) == 0) {
      queues.push_back(b.queue("extra"));
    }
    numBuffers = 1 + random.below(5); // often all in one
  }

  Kernel make() {
    body(0);
    instr();
    return b.finish();
  }

private:
  void body(uint32_t depth) {
    for (uint64_t i = 0, count = 1 + random.below(4); i < count && left > 0; ++i) {
      uint64_t kind = random.below(10);
      if (kind < 3 && depth < 3) {
        loop(depth);
      } else if (kind == 3 && depth < 3) {
        branches(depth);
      } else {
        for (uint64_t n = 0, some = 1 + random.below(4); n < some; ++n) {
          instr();
        }
      }
    }
    instr();
  }

  void loop(uint32_t depth) {
    std::string name = fmt::format("L{}", numBodies++);
    Trip trip = random.below(4) == 0 ? KernelBuilder::constant(random.below(4))
                                     : b.value(fmt::format("n.{}", name), random.below(3));
    b.beginLoop(name, trip);
    loops.push_back(name);
    body(depth + 1);
    loops.pop_back();
    b.endLoop();
  }

  void branches(uint32_t depth) {
    b.beginIf(fmt::format("c{}", numBodies++));
    body(depth + 1);
    if (random.below(2) == 0) {
      b.beginElse();
      body(depth + 1);
    }
    b.endIf();
  }

  void instr() {
    if (left == 0) {
      return;
    }
    --left;
    b.instr(fmt::format("i{}", left), queues[random.below(queues.size())]);
    for (uint64_t n = 0, count = 1 + random.below(2); n < count; ++n) {
      AccessKind kinds[] = {AccessKind::Read, AccessKind::Write, AccessKind::Accumulate};
      AccessKind kind = kinds[std::min<uint64_t>(random.below(7) / 3, 2)];
      auto [buffer, text] = tile();
      b.access(kind, buffer, text);
    }
  }

  std::string range(int64_t size) {
    int64_t first = static_cast<int64_t>(random.below(static_cast<uint64_t>(size)));
    int64_t count = 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(size - first)));
    return count == 1 ? fmt::format("{}", first) : fmt::format("{}:{}", first, count);
  }

  std::string moved(uint64_t most) {
    const std::string &loop = loops[random.below(loops.size())];
    uint64_t by = random.below(most);
    return by == 0 ? loop : fmt::format("{} + {}", loop, by);
  }

  /// Of a few kinds, by two loops around, of which one may be named: equal texts come often.
  std::string equal(uint64_t which) {
    const std::string &in = loops.back();
    const std::string &out = loops.front();
    switch (which % 12) {
    case 10:
      return fmt::format("E[$v{} + {}]", random.below(3), which % 2);
    case 11:
      return fmt::format("E[$v{}:2]", random.below(2));
    case 0:
      return fmt::format("E[{} + 2 * {}]", in, out);
    case 1:
      return fmt::format("E[7 - {}]", which % 3 == 0 ? in : out);
    case 2:
      return fmt::format("E[{} floordiv 2]", which % 3 == 0 ? in : out);
    case 3:
      return fmt::format("E[({} + {}) mod 4]", in, out);
    case 4:
      return fmt::format("E[total({}) mod 3]", which % 3 == 0 ? out : in);
    case 5:
      return fmt::format("E[{}:2] if {} > 0", which % 4, which % 3 == 0 ? out : in);
    case 6:
      return fmt::format("E[2 * {} mod 3]", in);
    case 7:
      return fmt::format("E[trips({}) mod 4 + {}]", which % 3 == 0 ? out : in, which % 3);
    case 8:
      return fmt::format("E[{} + {}:{}]", out, which % 3, 1 + which % 2);
    default:
      return fmt::format("E[3 * {} - {} + 2]", out, in);
    }
  }

  std::pair<BufferId, std::string> tile() {
    if (!equals.empty() && !loops.empty() && random.below(4) != 0) {
      return {BufferId(5), equal(equals[random.below(equals.size())])};
    }
    if (step != 0 && !loops.empty() && random.below(8) != 0) {
      return {BufferId(4), fmt::format("R[({} * {} + {}) mod {}]", step,
                                       random.below(4) == 0 ? loops.front() : loops.back(),
                                       random.below(2 * length), length)};
    }
    uint32_t which = static_cast<uint32_t>(random.below(numBuffers));
    bool moves = !loops.empty() && random.below(3) != 0;
    switch (which) {
    case 0:
      return {BufferId(0), line()};
    case 1:
      return {BufferId(1), moves ? fmt::format("P[({}) mod 3, {}]", moved(3), range(4))
                                 : fmt::format("P[{}, {}]", range(3), range(4))};
    case 2:
      return {BufferId(2), moves ? fmt::format("T[8 * (({}) mod 3) + {}]", moved(3), range(8))
                                 : fmt::format("T[{}]", range(24))};
    case 3:
      return {BufferId(3), moves ? fmt::format("V[2 * ({}){}]", moved(4), across()) : "V[0:4]"};
    default:
      return {BufferId(4), moves ? ringTile() : fmt::format("R[{}]", range(3))};
    }
  }

  /// Slot by slot, or parts of several.
  std::string across() {
    return random.below(2) == 0 ? ":2"
                                : fmt::format(" + {}:{}:{}", random.below(3), 1 + random.below(4),
                                              1 + random.below(3));
  }

  /// A range, all of it, or every other element.
  std::string line() {
    switch (random.below(8)) {
    case 0:
      return "X";
    case 1:
      return fmt::format("X[{}:{}:2]", random.below(3), 1 + random.below(3));
    default:
      return fmt::format("X[{}]", range(random.below(3) == 0 ? 8 : 3));
    }
  }

  /// Mostly by one loop, whose next slot may be some further on.
  std::string ringTile() {
    if (random.below(3) == 0) {
      return fmt::format("R[({} * {} + {}) mod {}]", 2 + random.below(6),
                         loops[random.below(loops.size())], random.below(8), 2 + random.below(3));
    }
    std::string index = moved(4);
    if (random.below(6) == 0) {
      index += " + " + moved(2);
    }
    return fmt::format("R[({}) mod {}]", index, 2 + random.below(2) * 2);
  }

  Random random;
  KernelBuilder b;
  std::vector<QueueId> queues;
  std::vector<std::string> loops; ///< around
  std::vector<uint64_t> equals;   ///< kinds of tiles of equal text
  uint64_t step = 0;              ///< of one ring, which most accesses touch; 0: there is none
  uint64_t length = 0;
  uint64_t numBuffers = 1;
  uint32_t numBodies = 0;
  uint32_t left = 16;
};

constexpr uint64_t numParts = 4;

class RandomSlotsTest : public testing::TestWithParam<uint64_t> {};

/// TALLY_SLOTS_KERNELS=100000 makes a long run of it; TALLY_SLOTS_SEED=8160 looks at one kernel.
TEST_P(RandomSlotsTest, areSoundAndExact) {
  Extractor extractor;
  Held held;
  auto [first, last] = test::seeds("SLOTS", 200, 10'000);
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    ExtractOptions options{seed % 2 == 0};
    std::string failure = holdToConflicts(SlotsKernel(seed).make(), seed, options, extractor, held);
    EXPECT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
  }
  fmt::print("{} dependences ({} not exact, {} kept), {} conflicts, {} witnesses seen\n", held.deps,
             held.excess, held.kept, held.conflicts, held.witnessed);
}

/// What is dropped follows from what is kept, and a chain is found that says so; but for the rare
/// one where each branch of an `if` has a chain of its own.
TEST_P(RandomSlotsTest, whatIsDroppedFollows) {
  Extractor extractor;
  auto [first, last] = test::seeds("SLOTS", 100, 5'000);
  size_t numDropped = 0;
  size_t numWithout = 0;
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    Kernel kernel = SlotsKernel(seed).make();
    Random random(seed);
    for (int i = 0; i < 8; ++i) {
      InstrId producer(static_cast<uint32_t>(random.below(kernel.instrs.size())));
      InstrId consumer(static_cast<uint32_t>(random.below(kernel.instrs.size())));
      std::string why = whyText(kernel, {seed % 2 == 0}, extractor, producer, consumer);
      for (std::string_view how : {"written over in between", "which may touch the same"}) {
        numDropped += why.find(how) != std::string::npos;
        numWithout += why.find(std::string(how) + "\n") != std::string::npos;
      }
    }
  }
  fmt::print("{} dropped, {} without a chain\n", numDropped, numWithout);
  EXPECT_GT(numDropped, 0u);
  EXPECT_LE(100 * numWithout, numDropped);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomSlotsTest, testing::Range<uint64_t>(0, numParts));

} // namespace
