//===- CheckTest.cpp - Every reason to refuse a kernel --------------------===//
//
// One case for each rule, with its text and place, and next to it the nearest
// kernel that is legal.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/Check.h"

#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

using namespace tally;

namespace {

/// Line numbers as they come, so that places can be told apart.
Location at(uint32_t line) {
  return {0, line, 1};
}

std::string problems(const Kernel &kernel) {
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  return render(diagnostics, {"k"});
}

std::string problems(KernelBuilder &builder) {
  return problems(builder.finish());
}

/// Two engines and a loop tree to hang dependences on:
///   A { p1@act c1@dma  B { p2@act }  C { c2@dma }  if c { p3@act } else { c3@dma } }  last@dma
struct Tree {
  KernelBuilder b{"k", at(1)};
  EngineId act = b.engine("act", at(2));
  EngineId dma = b.engine("dma", at(3));
  LoopId a, inB, inC, thenC;
  InstrId p1, c1, p2, c2, p3, c3, last;

  Tree() {
    a = b.beginLoop("A", KernelBuilder::constant(4), true, at(10));
    p1 = b.instr("p1", b.queueOf(act), {}, at(11));
    c1 = b.instr("c1", b.queueOf(dma), {}, at(12));
    inB = b.beginLoop("B", KernelBuilder::constant(4), true, at(13));
    p2 = b.instr("p2", b.queueOf(act), {}, at(14));
    b.endLoop();
    inC = b.beginLoop("C", KernelBuilder::constant(4), true, at(15));
    c2 = b.instr("c2", b.queueOf(dma), {}, at(16));
    b.endLoop();
    thenC = b.beginIf("c", true, at(17));
    p3 = b.instr("p3", b.queueOf(act), {}, at(18));
    b.beginElse();
    c3 = b.instr("c3", b.queueOf(dma), {}, at(19));
    b.endIf();
    b.endLoop();
    last = b.instr("last", b.queueOf(dma), {}, at(20));
  }

  std::string withDep(InstrId p, InstrId c,
                      std::initializer_list<DistanceComponent> distance = {}) {
    b.dep(p, c, distance, DepKind::Unspecified, at(30));
    return problems(b);
  }

  std::string withFlat(InstrId p, InstrId c, int64_t runs) {
    b.depFlat(p, c, runs, DepKind::Unspecified, at(30));
    return problems(b);
  }

  std::string withElement(InstrId p, InstrId c, int64_t step,
                          std::vector<DistanceComponent> distance = {}) {
    b.depElement(p, c, step, distance, DepKind::Unspecified, at(30));
    return problems(b);
  }
};

constexpr const char *hereP1C1 = "k:11:1: note: producer is here\nk:12:1: note: consumer is here\n";

} // namespace

//===----------------------------------------------------------------------===//
// Names and numbers
//===----------------------------------------------------------------------===//

TEST(CheckTest, legalKernelIsSilent) {
  Tree t;
  EXPECT_EQ(t.withDep(t.p1, t.c1), "");
}

TEST(CheckTest, needsAnEngine) {
  KernelBuilder b("k", at(1));
  EXPECT_EQ(problems(b), "k:1:1: error: kernel 'k' has no engine; declare at least one\n");
}

/// A set of engines is one word.
TEST(CheckTest, sixtyFourEnginesAreTheMost) {
  for (uint32_t count : {maxEngines, maxEngines + 1}) {
    KernelBuilder b("k", at(1));
    for (uint32_t e = 0; e < count; ++e) {
      b.engine(std::to_string(e), at(e + 2));
    }
    EXPECT_EQ(problems(b), count == maxEngines
                               ? ""
                               : "k:66:1: error: kernel 'k' has 65 engines; at most 64 are "
                                 "supported\n");
  }
}

/// A queue that comes before the engine of its name.
TEST(CheckTest, anEngineIsNotNamedAsAQueue) {
  KernelBuilder b("k");
  b.engine("sync", at(1));
  b.queue("act", 1, Completion::Whole, at(2));
  b.engine("act", at(3));
  EXPECT_EQ(problems(b),
            "k:3:1: error: two queues are named 'act'; each queue needs a name of its own\n"
            "k:2:1: note: the first is here\n");
}

/// The queue of the second engine is its own and not reported again.
TEST(CheckTest, namesAreUniquePerKind) {
  KernelBuilder b("k");
  EngineId act = b.engine("act", at(1));
  b.engine("act", at(2));
  b.queue("q", 1, Completion::Whole, at(3));
  b.queue("q", 1, Completion::Whole, at(4));
  b.queue("act", 1, Completion::Whole, at(5));
  b.buffer("X", {}, {}, {}, {}, at(6));
  b.buffer("X", {}, {}, {}, {}, at(7));
  b.instr("X", b.queueOf(act), {}, at(8)); // another kind
  b.instr("X", b.queueOf(act), {}, at(9));
  b.instr("", b.queueOf(act), {}, at(10));
  EXPECT_EQ(
      problems(b),
      "k:2:1: error: two engines are named 'act'; each engine needs a name of its own\n"
      "k:1:1: note: the first is here\n"
      "k:4:1: error: two queues are named 'q'; each queue needs a name of its own\n"
      "k:3:1: note: the first is here\n"
      "k:5:1: error: two queues are named 'act'; each queue needs a name of its own\n"
      "k:1:1: note: the first is here\n"
      "k:7:1: error: two buffers are named 'X'; each buffer needs a name of its own\n"
      "k:6:1: note: the first is here\n"
      "k:9:1: error: two instructions are named 'X'; each instruction needs a name of its own\n"
      "k:8:1: note: the first is here\n"
      "k:10:1: error: this instruction has an empty name\n");
}

/// Names go into output as they are. The implied queue and else-branch are not reported again;
/// other scripts are fine.
TEST(CheckTest, namesHoldNoControlCharacters) {
  KernelBuilder b("k\n", at(1));
  EngineId act = b.engine("a\x1b", at(2));
  b.queue("q\x7f", 1, Completion::Whole, at(3));
  b.buffer("X\t", {}, "s\r", {}, {}, at(4));
  b.beginIf("c\x01", true, at(5));
  b.beginElse();
  b.endIf();
  b.instr("\xc3\xa4", b.queueOf(act), {}, at(6));
  std::string found = problems(b);
  for (const char *start :
       {"k:1:1: error: the kernel 'k\\0A' holds", "k:2:1: error: the engine 'a\\1B' holds",
        "k:3:1: error: the queue 'q\\7F' holds", "k:4:1: error: the buffer 'X\\09' holds",
        "k:5:1: error: the branch 'c\\01' holds"}) {
    EXPECT_NE(found.find(start), std::string::npos) << start << " in\n" << found;
  }
  EXPECT_EQ(found.find("k:6:"), std::string::npos) << found;
  EXPECT_EQ(found.find("'k\\0A' holds", found.find("'k\\0A' holds") + 1), std::string::npos);
}

/// A second `if c` is one mistake; a loop called like an else-branch is one, too.
TEST(CheckTest, branchesShareTheNamesOfLoops) {
  KernelBuilder b("k");
  b.engine("act");
  b.beginIf("c", true, at(1));
  b.endIf();
  b.beginIf("c", true, at(2));
  b.endIf();
  b.beginLoop("c.else", KernelBuilder::constant(1), true, at(3));
  b.endLoop();
  EXPECT_EQ(problems(b),
            "k:2:1: error: two loops are named 'c'; each loop needs a name of its own\n"
            "k:1:1: note: the first is here\n"
            "k:3:1: error: two loops are named 'c.else'; each loop needs a name of its "
            "own\n"
            "k:1:1: note: the first is here\n");
}

TEST(CheckTest, weightsAreCounts) {
  KernelBuilder b("k");
  b.setQueue(b.queueOf(b.engine("act", at(1))), 0, Completion::Whole);
  b.queue("q", 1u << 31, Completion::Whole, at(2));
  b.queue("r", (1u << 31) - 1, Completion::Whole, at(3));
  EXPECT_EQ(problems(b),
            "k:1:1: error: queue 'act' has weight 0; a weight lies between 1 and 2147483647\n"
            "k:2:1: error: queue 'q' has weight 2147483648; a weight lies between 1 and "
            "2147483647\n");
}

TEST(CheckTest, tripsAreCounts) {
  KernelBuilder b("k");
  b.engine("act");
  Trip trips[] = {KernelBuilder::constant(maxCount),
                  KernelBuilder::constant(maxCount + 1),
                  b.value("n", 3, 2),
                  b.value("n", 3, 3),
                  b.value("n", 0, maxCount + 1),
                  b.value("n", maxCount + 1)};
  uint32_t line = 1;
  for (const Trip &trip : trips) {
    b.beginLoop("L" + std::to_string(line), trip, true, at(line));
    b.endLoop();
    ++line;
  }
  EXPECT_EQ(problems(b),
            "k:2:1: error: loop 'L2' runs 2147483648 times; a trip count is at most 2147483647\n"
            "k:3:1: error: loop 'L3' has 'min 3' and 'max 2'; the minimum must not exceed "
            "the maximum\n"
            "k:5:1: error: loop 'L5' may run 2147483648 times; a trip count is at most 2147483647\n"
            "k:6:1: error: loop 'L6' may run 2147483648 times; a trip count is at most "
            "2147483647\n");
}

TEST(CheckTest, branchesHaveNoTripCount) {
  KernelBuilder b("k");
  b.engine("act");
  LoopId c = b.beginIf("c", true, at(1));
  b.endIf();
  Kernel kernel = b.finish();
  kernel.loops[c].trip = KernelBuilder::constant(2);
  EXPECT_EQ(problems(kernel), "k:1:1: error: branch 'c' has a trip count; a branch runs if its "
                              "condition holds, and never twice\n");
}

static std::string nested(uint32_t depth) {
  KernelBuilder b("k");
  b.engine("act");
  for (uint32_t i = 1; i <= depth; ++i) {
    b.beginLoop(std::to_string(i), KernelBuilder::constant(1), true, at(i));
  }
  for (uint32_t i = 1; i <= depth; ++i) {
    b.endLoop();
  }
  return problems(b);
}

/// Only the first loop that is too deep is reported, not all inside it.
TEST(CheckTest, depthIsBounded) {
  EXPECT_EQ(nested(maxDepth), "");
  EXPECT_EQ(nested(maxDepth + 3),
            "k:257:1: error: '257' lies inside 256 loops and branches; with itself at most 256 may "
            "enclose one another\n");
}

static std::string tile(std::string_view text) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  std::vector<uint64_t> shape = {2, 128};
  BufferId x = b.buffer("X", shape, {}, {}, {}, at(1));
  b.beginLoop("A", KernelBuilder::constant(4));
  b.beginIf("c");
  b.instr("load", b.queueOf(act), {}, at(2));
  b.access(AccessKind::Write, x, text);
  b.endIf();
  b.endLoop();
  b.beginLoop("B", KernelBuilder::constant(4));
  b.endLoop();
  return problems(b);
}

static std::string placed(std::vector<uint64_t> shape, std::string_view type, uint64_t address) {
  KernelBuilder b("k");
  b.engine("act");
  b.buffer("X", shape, {}, type, address, at(1));
  return problems(b);
}

/// The last byte that fits, and the first that does not; whatever 64 bits make of the product.
TEST(CheckTest, buffersEndBelowTwoToTheSixty) {
  constexpr uint64_t most = (uint64_t(1) << 60) - 1;
  EXPECT_EQ(placed({most}, "u8", 0), "");
  EXPECT_EQ(placed({16}, "u8", most - 16), "");
  EXPECT_EQ(placed({}, "f32", most - 4), "");
  EXPECT_EQ(placed({most / 8}, "", 7), "");
  std::string tooLarge = " bytes, and at most 1152921504606846975 are supported; declare only what "
                         "the kernel touches\n";
  std::string error = "k:1:1: error: buffer 'X' does not fit in memory: ";
  EXPECT_EQ(placed({most + 1}, "u8", 0), error + "it takes 1152921504606846976" + tooLarge);
  EXPECT_EQ(placed({65536, 65536, 65536, 65536}, "u8", 0),
            error + "it takes 18446744073709551616" + tooLarge);
  EXPECT_EQ(placed({3, 1, uint64_t(1) << 32, uint64_t(1) << 30}, "f32", 0),
            error + "dimensions 3 to 4 of it take 18446744073709551616" + tooLarge);
  EXPECT_EQ(placed({UINT64_MAX}, "f64", UINT64_MAX),
            error + "it takes 147573952589676412920" + tooLarge);
  EXPECT_EQ(placed({16}, "f64", UINT64_MAX - 15),
            error + "it takes 128 bytes, which end at 18446744073709551728, and memory ends at "
                    "1152921504606846975; choose a smaller address\n");
  EXPECT_EQ(placed({}, "", most - 7),
            error + "it takes 8 bytes, 8 for an element of unknown size, which end at "
                    "1152921504606846976, and memory ends at 1152921504606846975; choose a "
                    "smaller address\n");
}

TEST(CheckTest, noExtentIsZero) {
  EXPECT_EQ(placed({1, 1}, "f32", 0), "");
  EXPECT_EQ(
      placed({3, 0, 2}, "f32", 0),
      "k:1:1: error: buffer 'X' has an extent of 0, so no tile lies within it; extents are at "
      "least 1\n");
}

/// A is at most 4, and a run-time value is taken for one up to 2^31 - 1.
TEST(CheckTest, numbersOfTilesFitInSixtyFourBits) {
  EXPECT_EQ(tile("X[2305843009213693951*A mod 2, 0]"), "");
  EXPECT_EQ(tile("X[0, 0] if 4294967298*$n > 0"), "");
  EXPECT_EQ(tile("X[0, 0:2:4611686018427387903]"), "");
  for (std::string_view text :
       {"X[A * 2305843009213693952 mod 2, 0]", "X[0, 0] if $n * 4294967299 > 0",
        "X[0, 0:2:4611686018427387904]", "X[(A * 2305843009213693952) floordiv 9, 0]",
        "X[A * 2305843009213693951 - A * 2305843009213693951, 0]"}) {
    EXPECT_NE(tile(text).find("its numbers may not fit in 64 bits, with totals and run-time values "
                              "up to 2147483647; choose smaller factors, strides or trips\n"
                              "k:1:1: note: 'X' is here\n"),
              std::string::npos)
        << text << ": " << tile(text);
  }
}

TEST(CheckTest, tilesFitTheirPlace) {
  EXPECT_EQ(tile("X"), "");
  EXPECT_EQ(tile("X[@]"), "");
  EXPECT_EQ(tile("X[total(c) mod 2, $n:4]"), "");
  EXPECT_EQ(tile("X[A]"),
            "k:2:1: error: 'load' cannot touch 'X[A]': it has 1 dimension, but buffer "
            "'X' has 2; for all of the last one, add ', 0:128'\nk:1:1: note: 'X' is here\n");
  EXPECT_EQ(tile("X[B, 0]"),
            "k:2:1: error: 'load' cannot touch 'X[B, 0]': 'B' is not a loop around it; "
            "a run-time value is written '$B'\nk:1:1: note: 'X' is here\n");
  EXPECT_EQ(tile("X[c, 0]"),
            "k:2:1: error: 'load' cannot touch 'X[c, 0]': 'c' is a branch and has no iterations; "
            "'total(c)' counts how often it was taken\nk:1:1: note: 'X' is here\n");
  EXPECT_EQ(tile("X[0, A +]"),
            "k:2:1: error: 'load' cannot touch 'X[0, A +]': column 9: expected an "
            "integer, a loop, '$', 'total', 'trips' or '('\nk:1:1: note: 'X' is here\n");
  EXPECT_EQ(tile("Y"), "k:2:1: error: 'load' cannot touch 'Y': it is filed under buffer 'X'\n"
                       "k:1:1: note: 'X' is here\n");
}

//===----------------------------------------------------------------------===//
// Vector distances
//===----------------------------------------------------------------------===//

TEST(CheckTest, notOnItselfAtDistanceZero) {
  Tree t;
  EXPECT_EQ(t.withDep(t.p1, t.p1),
            "k:30:1: error: 'p1' waits for itself at distance 0; a backward dependence needs a "
            "distance of at least 1 on 'A'\nk:11:1: note: producer is here\n");
  Tree legal;
  EXPECT_EQ(legal.withDep(legal.p1, legal.p1, {{legal.a, 1}}), "");
}

TEST(CheckTest, distanceZeroGoesForward) {
  Tree t;
  EXPECT_EQ(
      t.withDep(t.p2, t.c1),
      "k:30:1: error: 'c1' waits for 'p2' at distance 0, but 'p2' comes after 'c1' in the body "
      "of 'A'; a backward dependence needs a distance of at least 1 on 'A'\n"
      "k:14:1: note: producer is here\nk:12:1: note: consumer is here\n");
  Tree atRoot;
  EXPECT_EQ(
      atRoot.withDep(atRoot.last, atRoot.c1),
      "k:30:1: error: 'c1' waits for 'last' at distance 0, but 'last' comes after 'c1' in the "
      "kernel; no loop is around both, so it could never be met\n"
      "k:20:1: note: producer is here\nk:12:1: note: consumer is here\n");
  Tree forward;
  EXPECT_EQ(forward.withDep(forward.c1, forward.p2), "");
  Tree back;
  EXPECT_EQ(back.withDep(back.p2, back.c1, {{back.a, 1}}), "");
}

/// Two blocks of one body, on two engines.
TEST(CheckTest, blocksOfOneBodyAreOrdered) {
  KernelBuilder b("k");
  EngineId act = b.engine("act"), dma = b.engine("dma");
  InstrId early = b.instr("early", b.queueOf(act), {}, at(1));
  b.beginLoop("A", KernelBuilder::constant(4));
  b.endLoop();
  InstrId late = b.instr("late", b.queueOf(dma), {}, at(2));
  b.dep(early, late);
  b.dep(late, early, {}, DepKind::Unspecified, at(3));
  EXPECT_EQ(problems(b),
            "k:3:1: error: 'early' waits for 'late' at distance 0, but 'late' comes after 'early' "
            "in the kernel; no loop is around both, so it could never be met\n"
            "k:2:1: note: producer is here\nk:1:1: note: consumer is here\n");
}

TEST(CheckTest, oppositeBranchesAreLegal) {
  Tree t;
  t.b.dep(t.p3, t.c3);
  EXPECT_EQ(t.withDep(t.c3, t.p3), "");
}

TEST(CheckTest, oneEngineRunsInOrder) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  QueueId other = b.queue("other");
  InstrId first = b.instr("first", b.queueOf(act), {}, at(1));
  InstrId second = b.instr("second", other, {}, at(2));
  b.dep(first, second);
  b.dep(second, first, {}, DepKind::Unspecified, at(3));
  EXPECT_EQ(problems(b),
            "k:3:1: error: 'first' waits for 'second' at distance 0, but 'second' comes after "
            "'first' on engine 'act'; no loop is around both, so it could never be met\n"
            "k:2:1: note: producer is here\nk:1:1: note: consumer is here\n");
}

TEST(CheckTest, textOrderOfTwoEnginesMeansNothing) {
  Tree t;
  EXPECT_EQ(t.withDep(t.c1, t.p1), "");
}

TEST(CheckTest, outermostDistanceIsPositive) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  LoopId a = b.beginLoop("A", KernelBuilder::constant(4));
  LoopId c = b.beginLoop("C", KernelBuilder::constant(4));
  InstrId p = b.instr("p", b.queueOf(act), {}, at(1));
  b.endLoop();
  b.endLoop();
  b.dep(p, p, {{a, 1}, {c, -3}});
  b.dep(p, p, {{c, 3}, {a, -1}}, DepKind::Unspecified, at(2));
  b.dep(p, p, {{c, -3}}, DepKind::Unspecified, at(3));
  EXPECT_EQ(
      problems(b),
      "k:2:1: error: 'p' waits for 'p' at distance -1 on 'A', a run that is still to come; the "
      "outermost distance that is not 0 must be positive\n"
      "k:1:1: note: producer is here\n"
      "k:3:1: error: 'p' waits for 'p' at distance -3 on 'C', a run that is still to come; the "
      "outermost distance that is not 0 must be positive\n"
      "k:1:1: note: producer is here\n");
}

TEST(CheckTest, componentsAreOnLoopsAroundBoth) {
  Tree t;
  EXPECT_EQ(t.withDep(t.p1, t.c1, {{t.inB, 1}}),
            std::string("k:30:1: error: 'c1' waits for 'p1' at a distance on 'B', but 'p1' is not "
                        "inside 'B'; a distance is on loops around both\n") +
                hereP1C1 + "k:13:1: note: loop 'B' is here\n");
  Tree root;
  EXPECT_EQ(
      root.withDep(root.p1, root.c1, {{rootLoop, 1}}),
      std::string("k:30:1: error: 'c1' waits for 'p1' at a distance on the whole kernel, which "
                  "runs once; name a loop around both\n") +
          hereP1C1);
  Tree branch;
  EXPECT_EQ(branch.withDep(branch.p3, branch.p3, {{branch.thenC, 1}}),
            "k:30:1: error: 'p3' waits for 'p3' at a distance on 'c', a branch; branches have no "
            "iterations and do not count in distances: name the loop around it, 'A'\n"
            "k:18:1: note: producer is here\nk:17:1: note: the branch is here\n");
}

/// The sign of a distance on a wrong loop is not reported as well.
TEST(CheckTest, wrongLoopIsOneMistake) {
  Tree t;
  EXPECT_EQ(t.withDep(t.p1, t.c1, {{t.inB, -1}}),
            std::string("k:30:1: error: 'c1' waits for 'p1' at a distance on 'B', but 'p1' is not "
                        "inside 'B'; a distance is on loops around both\n") +
                hereP1C1 + "k:13:1: note: loop 'B' is here\n");
}

TEST(CheckTest, oneComponentForEachLoop) {
  Tree t;
  EXPECT_EQ(t.withDep(t.p1, t.c1, {{t.a, 1}, {t.a, 2}}),
            std::string("k:30:1: error: 'c1' waits for 'p1' at two distances on 'A'; give one\n") +
                hereP1C1);
  Tree twice; // two dependences may name the same loop
  twice.b.dep(twice.p1, twice.c1, {{twice.a, 1}});
  EXPECT_EQ(twice.withDep(twice.p1, twice.c1, {{twice.a, 2}}), "");
}

TEST(CheckTest, distancesAreCounts) {
  int64_t most = static_cast<int64_t>(maxCount);
  Tree legal;
  EXPECT_EQ(legal.withDep(legal.p1, legal.c1, {{legal.a, most}}), "");
  Tree t;
  EXPECT_EQ(t.withDep(t.p1, t.c1, {{t.a, most + 1}}),
            std::string("k:30:1: error: 'c1' waits for 'p1' at distance 2147483648 on 'A'; a "
                        "distance is at most 2147483647\n") +
                hereP1C1);
}

//===----------------------------------------------------------------------===//
// Cycles
//===----------------------------------------------------------------------===//

/// act: c2, mid, p1; dma: c1, p2. p1 -> c1 and p2 -> c2 wait for each other.
TEST(CheckTest, cycleOfTwoEngines) {
  KernelBuilder b("k");
  EngineId act = b.engine("act"), dma = b.engine("dma");
  b.beginLoop("A", KernelBuilder::constant(4));
  InstrId c2 = b.instr("c2", b.queueOf(act), {}, at(1));
  b.instr("mid", b.queueOf(act), {}, at(2));
  InstrId p1 = b.instr("p1", b.queueOf(act), {}, at(3));
  InstrId c1 = b.instr("c1", b.queueOf(dma), {}, at(4));
  InstrId p2 = b.instr("p2", b.queueOf(dma), {}, at(5));
  b.endLoop();
  b.dep(p1, c1, {}, DepKind::Unspecified, at(10));
  b.dep(p2, c2, {}, DepKind::Unspecified, at(11));
  EXPECT_EQ(problems(b),
            "k:10:1: error: 'c1' waits for 'p1' at distance 0, but 'p1' cannot run before 'c1': "
            "dependences and the order of the engines form a cycle; give one dependence a "
            "distance of at least 1 on a loop around them, or reorder\n"
            "k:3:1: note: 'p1' comes after 'c2' on engine 'act'\n"
            "k:11:1: note: 'c2' waits for 'p2'\n"
            "k:5:1: note: 'p2' comes after 'c1' on engine 'dma'\n");
}

/// Two cycles in two blocks, and an instruction after each that is on none.
TEST(CheckTest, everyKnotIsReportedOnce) {
  KernelBuilder b("k");
  EngineId act = b.engine("act"), dma = b.engine("dma"), pe = b.engine("pe");
  for (uint32_t block : {0, 1}) {
    b.beginLoop("A" + std::to_string(block), KernelBuilder::constant(4));
    std::string n = std::to_string(block);
    InstrId x = b.instr("x" + n, b.queueOf(act));
    InstrId y = b.instr("y" + n, b.queueOf(dma));
    InstrId z = b.instr("z" + n, b.queueOf(pe));
    b.instr("after" + n, b.queueOf(act));
    b.endLoop();
    for (auto [from, to] : {std::pair(x, y), std::pair(y, z), std::pair(z, x), std::pair(y, x)}) {
      b.dep(from, to, {}, DepKind::Unspecified, at(block + 1));
    }
  }
  Diagnostics diagnostics;
  check(b.finish(), diagnostics);
  ASSERT_EQ(diagnostics.numErrors(), 2u);
  EXPECT_EQ(diagnostics.all()[0].notes.size(), 1u); // the shorter cycle, of two
  EXPECT_EQ(diagnostics.all()[1].where, at(2));
}

/// A distance of 1 cuts the cycle.
TEST(CheckTest, distanceBreaksACycle) {
  Tree t;
  t.b.dep(t.p1, t.c1);
  EXPECT_EQ(t.withDep(t.c1, t.p1, {{t.a, 1}}), "");
  Tree cyclic;
  cyclic.b.dep(cyclic.p1, cyclic.c1);
  EXPECT_NE(cyclic.withDep(cyclic.c1, cyclic.p1), "");
}

//===----------------------------------------------------------------------===//
// Flat and element-wise
//===----------------------------------------------------------------------===//

TEST(CheckTest, flatDistances) {
  EXPECT_EQ(Tree().withFlat(InstrId(0), InstrId(1), 0), "");
  EXPECT_EQ(Tree().withFlat(InstrId(1), InstrId(0), 3), "");
  Tree negative;
  EXPECT_EQ(negative.withFlat(negative.p1, negative.c1, -1),
            std::string("k:30:1: error: 'c1' waits for 'p1' at flat distance -1; a flat distance "
                        "lies between 0 and 2147483647\n") +
                hereP1C1);
  Tree self;
  EXPECT_EQ(self.withFlat(self.p1, self.p1, 0),
            "k:30:1: error: 'p1' waits for itself at distance 0; a backward dependence needs a "
            "distance of at least 1 on 'A'\nk:11:1: note: producer is here\n");
  Tree apart;
  EXPECT_EQ(
      apart.withFlat(apart.p1, apart.p2, 1),
      "k:30:1: error: 'p2' waits for 'p1' at a flat distance, which needs both directly in one "
      "body, as only then they run equally often; use a distance on the loops around both\n"
      "k:11:1: note: producer is here\nk:14:1: note: consumer is here\n");
}

TEST(CheckTest, flatZeroTakesPartInCycles) {
  Tree t;
  t.b.dep(t.p1, t.c1);
  EXPECT_NE(t.withFlat(t.c1, t.p1, 0), "");
}

TEST(CheckTest, elementDistances) {
  Tree t;
  EXPECT_EQ(t.withElement(t.p2, t.c2, -5), "");
  Tree backward;
  EXPECT_EQ(backward.withElement(backward.c2, backward.p2, 0),
            "k:30:1: error: 'p2' waits for 'c2' element by element at distance 0, but 'c2' comes "
            "after 'p2'; a backward dependence needs a distance of at least 1 on 'A'\nk:16:1: "
            "note: producer is here\nk:14:1: note: consumer is here\n");
  Tree carried;
  EXPECT_EQ(carried.withElement(carried.c2, carried.p2, 0, {{carried.a, 1}}), "");
  Tree future;
  EXPECT_EQ(future.withElement(future.p2, future.c2, 0, {{future.a, -1}}),
            "k:30:1: error: 'c2' waits for 'p2' element by element at distance -1 on 'A', an "
            "iteration that is still to come; the distance must not be negative\n"
            "k:14:1: note: producer is here\nk:16:1: note: consumer is here\n");
}

TEST(CheckTest, elementEnds) {
  Tree same;
  EXPECT_EQ(
      same.withElement(same.p1, same.c1, 1),
      std::string("k:30:1: error: 'c1' waits for 'p1' element by element, but both are in the "
                  "loop 'A'; write the distance as one on 'A'\n") +
          hereP1C1);
  Tree apart; // one of them runs once
  EXPECT_EQ(apart.withElement(apart.p1, apart.c2, 1), "");
  Tree backward;
  EXPECT_EQ(backward.withElement(backward.p2, backward.c1, 1),
            "k:30:1: error: 'c1' waits for 'p2' element by element at distance 0, but 'p2' comes "
            "after 'c1'; a backward dependence needs a distance of at least 1 on 'A'\n"
            "k:14:1: note: producer is here\nk:12:1: note: consumer is here\n");
  Tree carried;
  EXPECT_EQ(carried.withElement(carried.p2, carried.c1, -2, {{carried.a, 1}}), "");
  Tree inner;
  EXPECT_EQ(
      inner.withElement(inner.p2, inner.c2, 1, {{inner.inB, 1}}),
      "k:30:1: error: 'c2' waits for 'p2' at a distance on 'B', but 'c2' is not inside 'B'; a "
      "distance is on loops around both\n"
      "k:14:1: note: producer is here\nk:16:1: note: consumer is here\n"
      "k:13:1: note: loop 'B' is here\n");
}

TEST(CheckTest, elementOffsetIsOnTheInnermostSharedLoop) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  LoopId a = b.beginLoop("A", KernelBuilder::constant(4));
  LoopId s = b.beginLoop("S", KernelBuilder::constant(4));
  b.beginIf("c");
  b.beginLoop("P", KernelBuilder::constant(4));
  InstrId p = b.instr("p", b.queueOf(act), {}, at(1));
  b.endLoop();
  b.beginLoop("Q", KernelBuilder::constant(4));
  InstrId q = b.instr("q", b.queueOf(act), {}, at(2));
  b.endLoop();
  b.endIf();
  b.endLoop();
  b.endLoop();
  std::vector<DistanceComponent> onS = {{s, 1}}, onA = {{a, 1}};
  b.depElement(p, q, 0, onS);
  b.depElement(p, q, 0, onA, DepKind::Unspecified, at(3));
  EXPECT_EQ(
      problems(b),
      "k:3:1: error: 'q' waits for 'p' element by element at a distance on 'A'; in addition to the "
      "elements, only the innermost loop around both, 'S', may have a distance\n"
      "k:1:1: note: producer is here\nk:2:1: note: consumer is here\n");
}

//===----------------------------------------------------------------------===//
// Divergence
//===----------------------------------------------------------------------===//

static std::string divergent(bool sameEngine, bool allow, bool producerInside) {
  KernelBuilder b("k");
  EngineId act = b.engine("act"), dma = b.engine("dma");
  b.beginLoop("A", b.value("n"), false, at(1));
  b.beginIf("c");
  InstrId inside = b.instr("inside", b.queueOf(act), {}, at(2));
  b.endIf();
  b.endLoop();
  InstrId after = b.instr("after", b.queueOf(sameEngine ? act : dma), {}, at(3));
  b.beginLoop("B", b.value("n"), false);
  InstrId late = b.instr("late", b.queueOf(dma));
  b.endLoop();
  DepId dep = b.dep(producerInside ? inside : after, producerInside ? after : late, {},
                    DepKind::Unspecified, at(4));
  if (allow) {
    b.allowDivergent(dep);
  }
  return problems(b);
}

/// The branch in between is uniform; the loop around it is not.
TEST(CheckTest, divergentLoopAroundTheProducer) {
  EXPECT_EQ(divergent(false, false, true),
            "k:4:1: error: 'after' waits for 'inside', whose runs engine 'dma' cannot count: 'A' "
            "around 'inside' is divergent, so engines may disagree how often it runs; make it "
            "uniform or add allow_divergent\n"
            "k:2:1: note: producer is here\nk:3:1: note: consumer is here\n"
            "k:1:1: note: divergent 'A' is here\n");
  EXPECT_EQ(divergent(true, false, true), "");
  EXPECT_EQ(divergent(false, true, true), "");
  EXPECT_EQ(divergent(true, false, false), ""); // around the consumer only
}

//===----------------------------------------------------------------------===//
// All at once, and fast
//===----------------------------------------------------------------------===//

TEST(CheckTest, reportsAllInOneRun) {
  Tree t;
  t.b.dep(t.p1, t.c1, {{t.inB, 1}});
  t.b.dep(t.p2, t.c1);
  t.b.depFlat(t.p1, t.p2, 1);
  Kernel kernel = t.b.finish();
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  EXPECT_EQ(diagnostics.numErrors(), 3u);
}

/// Values and buffers have names of their own, but a value that the kernel itself would write is
/// a mistake: of loops, while-loops and branches alike. A loop may be called like a buffer, and a
/// buffer that is only read may be called like a value.
TEST(CheckTest, controlReadsNothingThatIsWritten) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  BufferId n = b.buffer("n"), more = b.buffer("more"), flag = b.buffer("flag");
  BufferId size = b.buffer("size"), a = b.buffer("A");
  b.instr("w", b.queueOf(act), {}, at(5));
  b.access(AccessKind::Write, n, "n");
  b.access(AccessKind::Accumulate, more, "more");
  b.access(AccessKind::Write, flag, "flag");
  b.access(AccessKind::Write, a, "A");
  b.access(AccessKind::Read, size, "size");
  b.beginLoop("A", b.value("n"), true, at(6));
  b.endLoop();
  b.beginLoop("B", b.guard("more"), true, at(7));
  b.endLoop();
  b.beginIf("flag", true, at(8));
  b.endIf();
  b.beginLoop("C", b.value("size"), true, at(9));
  b.endLoop();
  auto refused = [](uint32_t line, std::string_view loop, std::string_view value) {
    return fmt::format("k:{}:1: error: how often '{}' runs is given by '{}', and 'w' writes a "
                       "buffer of that name; control cannot read what the kernel writes: load "
                       "the value before, or by 'loads', or give one of the two another name\n"
                       "k:5:1: note: 'w' is here\n",
                       line, loop, value);
  };
  EXPECT_EQ(problems(b),
            refused(6, "A", "n") + refused(7, "B", "more") + refused(8, "flag", "flag"));
}

/// One huge block whose dependences all go against the text, and so through the search for cycles.
/// A quadratic step would take hours; the bound only has to tell the two apart.
TEST(CheckTest, millionInstructionsInOneBlock) {
  constexpr uint32_t n = 1000000;
  KernelBuilder b("k");
  EngineId act = b.engine("act"), dma = b.engine("dma");
  for (uint32_t i = 0; i < n / 2; ++i) {
    b.instr("c" + std::to_string(i), b.queueOf(act));
  }
  for (uint32_t i = 0; i < n / 2; ++i) {
    b.instr("p" + std::to_string(i), b.queueOf(dma));
  }
  for (uint32_t i = 0; i < n / 2; ++i) {
    b.dep(InstrId(n / 2 + i), InstrId(i));
    b.dep(InstrId(n / 2 + i), InstrId(i));
  }
  Kernel kernel = b.finish();
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(problems(kernel), "");
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 20.0);
  RecordProperty("milliseconds", static_cast<int>(seconds.count() * 1000));
}

/// The longest cycle there can be: the first instruction waits for the last.
TEST(CheckTest, longCycle) {
  constexpr uint32_t n = 200000;
  KernelBuilder b("k");
  EngineId act = b.engine("act"), dma = b.engine("dma");
  for (uint32_t i = 0; i < n; ++i) {
    b.instr("i" + std::to_string(i), b.queueOf(i % 2 == 0 ? act : dma));
  }
  for (uint32_t i = 0; i + 1 < n; ++i) {
    b.dep(InstrId(i), InstrId(i + 1));
  }
  b.dep(InstrId(n - 1), InstrId(0));
  Diagnostics diagnostics;
  check(b.finish(), diagnostics);
  EXPECT_EQ(diagnostics.numErrors(), 1u);
}
