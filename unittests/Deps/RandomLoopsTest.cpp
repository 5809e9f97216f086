//===- RandomLoopsTest.cpp - Loops of constant distances, both ways -------===//
//
// Constant slots and rings, in nested and neighbouring loops that may run no times, in
// queues that share engines; in perfect nests, rows that the innermost loop goes through again each
// time. What is removed is implied, by brute force, and nothing that is kept is. With branches, the
// first alone.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "HoldToConflicts.h"

#include "Random.h"
#include "RandomAccesses.h"
#include "oracle/Fewest.h"

#include "tally/Deps/Implied.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>

using namespace tally;
using namespace tally::oracle;

namespace {

using fuzz::Random;

struct Shape {
  const char *name;
  uint64_t depth;         ///< of loops
  uint64_t size;          ///< instructions between two statements, at most
  uint64_t branches;      ///< of ten statements
  bool isPerfect = false; ///< each body but the innermost has one loop, and no more
  bool isAlike = false;   ///< several loops in sequence, most of which run equally often
};

constexpr Shape shapes[] = {{"one", 1, 8, 0},
                            {"two", 2, 3, 0},
                            {"three", 3, 2, 0},
                            {"branches", 2, 2, 4},
                            {"rows", 2, 8, 0, true},
                            {"planes", 3, 8, 0, true},
                            {"alike", 2, 2, 2, false, true}};

class LoopsKernel {
public:
  LoopsKernel(const Shape &shape, uint64_t seed) : shape(shape), random(seed), b("k") {
    const uint64_t slots[] = {2 + random.below(3)};
    numSlots = slots[0];
    b.buffer("X", slots);
    const uint64_t ring[] = {ringLength};
    b.buffer("R", ring);
    const uint64_t row[] = {rowLength};
    b.buffer("Y", row);
    for (uint64_t e = 0, count = 1 + random.below(4); e < count; ++e) {
      EngineId engine = b.engine(fmt::format("e{}", e));
      queues.push_back(b.queueOf(engine));
      if (random.below(4) == 0) {
        queues.push_back(b.queue(fmt::format("e{}.q", e)));
      }
    }
  }

  Kernel make() {
    some();
    if (shape.isAlike) {
      alike();
    } else {
      loop(1);
    }
    some();
    return b.finish();
  }

private:
  void some() {
    for (uint64_t i = 0, count = random.below(shape.size + 1); i < count; ++i) {
      if (random.below(10) < shape.branches) {
        branches();
      } else {
        instr();
      }
    }
  }

  void branches() {
    b.beginIf(fmt::format("c{}", numBodies++));
    instr();
    if (random.below(2) == 0) {
      b.beginElse();
      instr();
      instr();
    }
    b.endIf();
  }

  /// Several loops go through the same rows: in sequence, in branches, in each other; some of them
  /// in a loop.
  void alike() {
    usual = random.below(2) == 0 ? KernelBuilder::constant(1 + random.below(3))
                                 : b.formula("$m", random.below(2), mostInRow);
    bool hasAround = random.below(3) == 0;
    if (hasAround) {
      b.beginLoop("A", random.below(2) == 0 ? *usual : b.value("n.A"));
    }
    for (uint64_t i = 0, count = 2 + random.below(3); i < count; ++i) {
      bool isInBranch = random.below(6) == 0;
      if (isInBranch) {
        b.beginIf(fmt::format("c{}", numBodies++));
      }
      sibling(random.below(5) == 0);
      if (isInBranch && random.below(2) == 0) {
        b.beginElse();
        sibling(false);
      }
      if (isInBranch) {
        b.endIf();
      }
      some();
    }
    if (hasAround) {
      b.endLoop();
    }
  }

  void sibling(bool hasInner) {
    std::string name = fmt::format("L{}", numBodies++);
    b.beginLoop(name, random.below(5) != 0   ? *usual
                      : random.below(2) == 0 ? KernelBuilder::constant(1 + random.below(3))
                                             : b.value("n." + name, 0, mostInRow));
    around.push_back(name);
    outermost = name;
    instr();
    some();
    if (hasInner) {
      sibling(false);
      around.back() = outermost = name;
      some();
    }
    b.endLoop();
    around.pop_back();
    outermost = "";
  }

  void loop(uint64_t depth) {
    std::string name = fmt::format("L{}", numBodies++);
    // With two in each run of a loop, what is needed differs between its first and the others.
    uint64_t mostSure = shape.isPerfect ? 1 : 3;
    Trip trip =
        random.below(5) == 0
            ? KernelBuilder::constant(1 + random.below(shape.isPerfect ? 1 : 4))
            : b.value(fmt::format("n.{}", name), random.below(mostSure + 1) * random.below(2));
    b.beginLoop(name, trip);
    outermost = depth == 1 ? name : outermost;
    around.push_back(name);
    if (shape.isPerfect && depth < shape.depth) {
      loop(depth + 1);
    } else {
      instr();
      some();
      for (uint64_t inner = depth < shape.depth ? random.below(3) : 0; inner > 0; --inner) {
        loop(depth + 1);
        some();
      }
    }
    b.endLoop();
    around.pop_back();
    outermost = depth == 1 ? "" : outermost;
  }

  void instr() {
    b.instr(fmt::format("i{}", numInstrs++), queues[random.below(queues.size())]);
    for (uint64_t n = 0, count = 1 + random.below(2); n < count; ++n) {
      AccessKind kind = random.below(2) == 0 ? AccessKind::Read : AccessKind::Write;
      if (outermost.empty() || random.below(3) != 0) {
        b.access(kind, BufferId(0), fmt::format("X[{}]", random.below(numSlots)));
      } else if (shape.isAlike ? random.below(3) != 0
                               : shape.isPerfect && around.size() == shape.depth) {
        b.access(kind, BufferId(2), fmt::format("Y[{} + {}]", around.back(), random.below(2)));
      } else {
        b.access(kind, BufferId(1),
                 fmt::format("R[({} + {}) mod {}]", outermost, random.below(3), ringLength));
      }
    }
  }

  const Shape &shape;
  Random random;
  KernelBuilder b;
  std::vector<QueueId> queues;
  std::string outermost;           ///< the loop around; rings move with it
  std::vector<std::string> around; ///< all of them; the innermost goes through a row
  std::optional<Trip> usual;       ///< of loops that are alike
  uint64_t numSlots = 0;
  static constexpr uint64_t mostInRow = 8;
  static constexpr uint64_t rowLength = 16;
  uint64_t ringLength = 2 + random.below(3);
  uint32_t numBodies = 0;
  uint32_t numInstrs = 0;
};

bool isByFormula(const Loop &loop) {
  return loop.trip.kind == Trip::Kind::Formula;
}

int64_t usualTrips(const Kernel &kernel, uint64_t n) {
  uint64_t least = 0;
  for (const Loop &loop : kernel.loops) {
    least = std::max(least, isByFormula(loop) ? loop.trip.min : 0);
  }
  return static_cast<int64_t>(std::max(least, n % 7));
}

/// Trips 0, 1 and 2 of each loop, and more than the largest distance. In some runs each entry of a
/// loop has its own; in others a loop has a habit: it never runs, seldom, or always.
std::vector<Enumeration> runsOf(const Kernel &kernel, const Shape &shape, uint64_t seed,
                                uint64_t count) {
  std::vector<Enumeration> runs;
  for (uint64_t n = 0; n < count; ++n) {
    TripsOf trips = [&, n](LoopId id, uint64_t entry) -> uint64_t {
      const Loop &loop = kernel.loops[id];
      Random habits(seed * 1'000'003 + n * 997 + uint64_t{id.value} * 1009);
      Random random(seed * 1'000'003 + n * 997 + uint64_t{id.value} * 1009 + entry * 31);
      habits.below(2);
      random.below(2);
      uint64_t habit = n % 2 == 0 ? 3 : habits.below(4);
      uint64_t wanted = habit == 0   ? 0
                        : habit == 1 ? random.below(5) / 4
                        : habit == 2
                            ? 1 + random.below(2)
                            : std::array<uint64_t, 7>{0, 1, 2, 0, 1, 3, 5}[random.below(7)];
      if (loop.isBranch()) {
        return std::min<uint64_t>(wanted, 1);
      }
      if (loop.trip.kind == Trip::Kind::Constant) {
        return loop.trip.constant;
      }
      return std::max(loop.trip.min, loop.depth == 1 && !shape.isAlike ? n % 7 : wanted);
    };
    runs.emplace_back(kernel, trips, std::map<std::string, int64_t>{{"m", usualTrips(kernel, n)}});
  }
  return runs;
}

/// Whether nothing that is kept is implied. Left out are branches; and that a loop runs if another
/// one does, or runs three times, is not used for what is implied.
bool isRegular(const Kernel &kernel, const Shape &shape) {
  return std::ranges::none_of(kernel.loops, [&](const Loop &loop) {
    return loop.isBranch() || (isByFormula(loop) && loop.trip.min == 0) ||
           (shape.isAlike && loop.trip.kind == Trip::Kind::Constant && loop.trip.constant > 1);
  });
}

constexpr uint64_t numParts = 4;

class RandomLoopsTest : public testing::TestWithParam<uint64_t> {};

/// TALLY_LOOPS_KERNELS=100000 makes a long run of it; TALLY_LOOPS_SEED=81 looks at one kernel.
TEST_P(RandomLoopsTest, areReducedSoundlyAndCompletely) {
  Extractor extractor;
  Held held;
  auto [first, last] = test::seeds("LOOPS", 250, 10'000);
  size_t numIdle = 0, numKept = 0, numNeeded = 0;
  for (uint64_t seed = first + GetParam(); seed <= last; seed += numParts) {
    const Shape &shape = shapes[seed % std::size(shapes)];
    Kernel kernel = LoopsKernel(shape, seed).make();
    ExtractOptions options{seed % 8 < 4};
    std::string failure = holdToConflicts(kernel, seed, options, extractor, held);
    Extraction extraction = extractor.extract(kernel, options);
    markImplied(kernel, extraction);
    Kernel kept = withDeps(kernel, extraction);
    std::vector<Enumeration> runs = runsOf(kernel, shape, seed, 24);
    for (const Enumeration &run : runs) {
      failure += missingWait(kept, run, options.queueOverlap);
    }
    // One wait serves rows that end at different places.
    if (isRegular(kernel, shape) && !shape.isPerfect && !shape.isAlike) {
      Fewest fewest(kernel, options.queueOverlap);
      for (const Enumeration &run : runs) {
        fewest.add(run);
      }
      EXPECT_LE(fewest.count(), kept.deps.size()) << "seed " << seed;
      numKept += kept.deps.size();
      numNeeded += fewest.count();
    }
    std::string idle = idleDep(kept, runs, options.queueOverlap);
    if (!idle.empty() && isRegular(kernel, shape)) {
      // Perhaps the runs that need it were not among these.
      idle = idleDep(kept, runsOf(kernel, shape, seed + 1, 4000), options.queueOverlap);
    }
    numIdle += !idle.empty();
    if (isRegular(kernel, shape) && !idle.empty()) {
      failure += fmt::format("{} is not needed", idle);
    }
    EXPECT_TRUE(failure.empty()) << "seed " << seed << " (" << shape.name << "): " << failure
                                 << "\n"
                                 << writeKernelJson(kept);
  }
  fmt::print("{} dependences ({} kept), {} conflicts; {} kernels keep more than they need; without "
             "branches {} are kept, and {} are the fewest\n",
             held.deps, held.kept, held.conflicts, numIdle, numKept, numNeeded);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomLoopsTest, testing::Range<uint64_t>(0, numParts));

} // namespace
