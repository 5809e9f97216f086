//===- DatapathTest.cpp - What instructions do to memory, opaquely --------===//

#include "tally/Check/Datapath.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tally;

namespace {

/// The names of cells, sorted.
std::vector<std::string> names(const Datapath &datapath, const std::vector<CellId> &cells) {
  std::vector<std::string> texts;
  for (CellId cell : cells) {
    texts.emplace_back(datapath.describe(cell));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

using Names = std::vector<std::string>;

/// A { P writes `written`; C reads `read` }, on two engines.
struct Pair {
  Pair(std::string_view written, std::string_view read, std::vector<uint64_t> shape = {2, 8}) {
    KernelBuilder b("k");
    EngineId e0 = b.engine("e0");
    EngineId e1 = b.engine("e1");
    BufferId x = b.buffer("X", shape);
    b.beginLoop("A", b.value("n"));
    b.instr("P", b.queueOf(e0));
    b.access(AccessKind::Write, x, written);
    b.instr("C", b.queueOf(e1));
    b.access(AccessKind::Read, x, read);
    b.endLoop();
    kernel = b.finish();
    bindings = Bindings(kernel);
    bindings.set(LoopId(1), {4});
  }

  Names written(const Datapath &d, uint32_t run) const {
    return names(d, d.footprint({InstrId(0), run}).writes);
  }

  Names read(const Datapath &d, uint32_t run) const {
    return names(d, d.footprint({InstrId(1), run}).reads);
  }

  Kernel kernel;
  Bindings bindings{kernel};
};

} // namespace

/// Rows alternate; half a row is read, so a row is two cells.
TEST(DatapathTest, cellsAreCutWhereTilesEnd) {
  Pair pair("X[A mod 2, 0:8]", "X[A mod 2, 0:4]");
  Datapath d(pair.kernel, pair.bindings);
  EXPECT_EQ(d.numCells(), 4u);
  EXPECT_EQ(pair.written(d, 0), (Names{"X[0, 0:4]", "X[0, 4:4]"}));
  EXPECT_EQ(pair.written(d, 3), (Names{"X[1, 0:4]", "X[1, 4:4]"}));
  EXPECT_EQ(pair.read(d, 2), Names{"X[0, 0:4]"});
  EXPECT_TRUE(d.footprint({InstrId(0), 4}).writes.empty()) << "A runs 4 times";
}

/// Even elements against the first half: 0, 2 are in both; 1, 3 only in the half.
TEST(DatapathTest, strides) {
  Pair pair("X[0, 0:4:2]", "X[0, 0:4]");
  Datapath d(pair.kernel, pair.bindings);
  EXPECT_EQ(d.numCells(), 3u) << "in both, even only, half only";
  std::vector<CellId> both;
  const std::vector<CellId> &w = d.footprint({InstrId(0), 0}).writes;
  const std::vector<CellId> &r = d.footprint({InstrId(1), 0}).reads;
  std::set_intersection(w.begin(), w.end(), r.begin(), r.end(), std::back_inserter(both));
  EXPECT_EQ(both.size(), 1u);
  EXPECT_EQ(w.size(), 2u);
  EXPECT_EQ(r.size(), 2u);
}

/// What is not known may be anywhere in its dimension.
TEST(DatapathTest, unknownPlaces) {
  Pair pair("X[$n, 0:2]", "X[1, 1]");
  Datapath d(pair.kernel, pair.bindings);
  Names written = pair.written(d, 0);
  EXPECT_TRUE(std::find(written.begin(), written.end(), "X[1, 1]") != written.end());
  Pair anywhere("X[@]", "X[1, 7]");
  Datapath whole(anywhere.kernel, anywhere.bindings);
  EXPECT_EQ(anywhere.read(whole, 0), Names{"X[1, 7]"});
  EXPECT_EQ(anywhere.written(whole, 0).size(), 4u) << "two classes of each dimension";
}

/// A tile of unknown size lies behind its first element.
TEST(DatapathTest, unknownSizes) {
  Pair before("X[0, 2:$n]", "X[0, 1]");
  Names written = before.written(Datapath(before.kernel, before.bindings), 0);
  EXPECT_TRUE(std::find(written.begin(), written.end(), "X[0, 1]") == written.end());
  Pair behind("X[0, 2:$n:3]", "X[0, 5]");
  written = behind.written(Datapath(behind.kernel, behind.bindings), 0);
  EXPECT_TRUE(std::find(written.begin(), written.end(), "X[0, 5]") != written.end());
}

/// A tile that shrinks to nothing touches nothing, wherever it would lie.
TEST(DatapathTest, emptyTiles) {
  Pair pair("X[$n, 0:2 - A]", "X");
  Datapath d(pair.kernel, pair.bindings);
  for (uint32_t run = 0; run < 4; ++run) {
    EXPECT_EQ(pair.written(d, run).empty(), run >= 2);
  }
}

/// Indices: floordiv, total, negative numbers.
TEST(DatapathTest, indices) {
  Pair pair("X[(A - 3) floordiv 2, total(A)]", "X[(A - 3) mod 2, 2*A + 1]");
  Datapath d(pair.kernel, pair.bindings);
  EXPECT_EQ(pair.written(d, 0), Names{"X[-2, 0]"});
  EXPECT_EQ(pair.written(d, 3), Names{"X[0, 3]"});
  EXPECT_EQ(pair.read(d, 0), Names{"X[1, 1]"});
  EXPECT_EQ(pair.read(d, 1), Names{"X[0, 3]"});
}

/// A runs 4 times: P writes in the first iteration, C reads in the last.
TEST(DatapathTest, guards) {
  Pair pair("X[0, 0] if A == 0", "X[0, 0] if A >= trips(A) - 1");
  Datapath d(pair.kernel, pair.bindings);
  for (uint32_t run = 0; run < 4; ++run) {
    EXPECT_EQ(pair.written(d, run).size(), run == 0 ? 1U : 0U);
    EXPECT_EQ(pair.read(d, run).size(), run == 3 ? 1U : 0U);
  }
}

/// Common cells of a run of "P", which writes to X [2, 8], and one of "C", which reads from Y [8].
static size_t numCommon(std::string_view written, std::string_view read, bool areKnown) {
  KernelBuilder b("k");
  EngineId e = b.engine("e");
  constexpr uint64_t xShape[] = {2, 8};
  constexpr uint64_t yShape[] = {8};
  auto address = [&](uint64_t at) { return areKnown ? std::optional(at) : std::nullopt; };
  BufferId x = b.buffer("X", xShape, {}, "i8", address(0));
  BufferId y = b.buffer("Y", yShape, {}, "i16", address(4));
  if (!areKnown) {
    b.alias(y, x);
  }
  b.instr("P", b.queueOf(e));
  b.access(AccessKind::Write, x, written);
  b.instr("C", b.queueOf(e));
  b.access(AccessKind::Read, y, read);
  Kernel kernel = b.finish();
  Datapath d(kernel, Bindings(kernel));
  const std::vector<CellId> &w = d.footprint({InstrId(0), 0}).writes;
  const std::vector<CellId> &r = d.footprint({InstrId(1), 0}).reads;
  std::vector<CellId> both;
  std::set_intersection(w.begin(), w.end(), r.begin(), r.end(), std::back_inserter(both));
  return both.size();
}

/// Y[k] is bytes 4 + 2k and 5 + 2k; X[0, k] is byte k, X[1, k] byte 8 + k.
TEST(DatapathTest, buffersOverOneAnother) {
  EXPECT_EQ(numCommon("X[0, 3]", "Y", true), 0U);
  EXPECT_EQ(numCommon("X[0, 4]", "Y[0]", true), 1U);
  EXPECT_EQ(numCommon("X[0, 5]", "Y[1]", true), 0U);
  EXPECT_EQ(numCommon("X[0:2, 0:4]", "Y[0:2]", true), 0U) << "bytes 0 to 3 and 8 to 11";
  EXPECT_EQ(numCommon("X[0:2, 0:4]", "Y[1:3]", true), 1U) << "bytes 8 to 11 as well";
  EXPECT_EQ(numCommon("X[0, 0:2:2]", "Y", true), 0U) << "bytes 0, 2";
  EXPECT_EQ(numCommon("X[0, 1:4:2]", "Y", true), 2U) << "bytes 1, 3, 5, 7";
}

/// Y lies over the other two, which are stated to share nothing though they lie over one another.
TEST(DatapathTest, buffersStatedToShareNothing) {
  KernelBuilder b("k");
  QueueId queue = b.queueOf(b.engine("e"));
  constexpr uint64_t shape[] = {8};
  BufferId x = b.buffer("X", shape, {}, "i8", 0);
  BufferId y = b.buffer("Y", shape, {}, "i8", 4);
  BufferId z = b.buffer("Z", shape, {}, "i8", 2);
  b.noalias(z, x);
  for (auto [name, buffer] : {std::pair("X", x), std::pair("Y", y), std::pair("Z", z)}) {
    b.instr(name, queue);
    b.access(AccessKind::Write, buffer, name);
  }
  Kernel kernel = b.finish();
  Datapath d(kernel, Bindings(kernel));
  auto meet = [&](uint32_t p, uint32_t c) {
    const std::vector<CellId> &w = d.footprint({InstrId(p), 0}).writes;
    const std::vector<CellId> &r = d.footprint({InstrId(c), 0}).writes;
    return std::find_first_of(w.begin(), w.end(), r.begin(), r.end()) != w.end();
  };
  EXPECT_TRUE(meet(0, 1));
  EXPECT_TRUE(meet(1, 2));
  EXPECT_FALSE(meet(0, 2));
}

TEST(DatapathTest, buffersThatMayShareMemory) {
  EXPECT_EQ(numCommon("X[0, 0]", "Y[7]", false), 1U);
}

/// Commits of runs that touch different cells commute; those that conflict do not.
TEST(DatapathTest, valuesTellOrdersApart) {
  Pair pair("X[A mod 2, 0:8]", "X[A mod 2, 0:4]");
  Datapath d(pair.kernel, pair.bindings);
  auto after = [&](std::initializer_list<Instance> instances) {
    std::vector<ValueId> memory = d.initial();
    for (const Instance &instance : instances) {
      d.commit(memory, instance);
    }
    return memory;
  };
  const Instance p0{InstrId(0), 0}, p1{InstrId(0), 1}, p2{InstrId(0), 2};
  EXPECT_EQ(after({p0, p1}), after({p1, p0}));
  EXPECT_NE(after({p0, p2}), after({p2, p0}));
  EXPECT_EQ(after({p0, p2}), after({p2}));
}

/// Without accesses: C writes nothing, but what Q makes of its reading of P's cell shows whether P
/// came first.
TEST(DatapathTest, oneCellForEachDependence) {
  KernelBuilder b("k");
  EngineId e = b.engine("e");
  InstrId p = b.instr("P", b.queueOf(e));
  InstrId c = b.instr("C", b.queueOf(e));
  InstrId q = b.instr("Q", b.queueOf(e));
  b.dep(p, c);
  b.dep(c, q);
  Kernel kernel = b.finish();
  Bindings bindings(kernel);
  Datapath d(kernel, bindings);
  ASSERT_EQ(d.numCells(), 2u);
  EXPECT_EQ(names(d, d.footprint({c, 0}).reads), Names{"'P' -> 'C'"});
  EXPECT_EQ(names(d, d.footprint({c, 0}).writes), Names{"'C' -> 'Q'"});
  auto after = [&](std::initializer_list<InstrId> instrs) {
    std::vector<ValueId> memory = d.initial();
    for (InstrId instr : instrs) {
      d.commit(memory, {instr, 0});
    }
    return memory;
  };
  EXPECT_NE(after({p, c})[1], after({c, p})[1]);
  EXPECT_EQ(after({p, c})[0], after({c, p})[0]);
}

/// A sum remembers what it was added to, in order.
TEST(DatapathTest, accumulation) {
  KernelBuilder b("k");
  EngineId e = b.engine("e");
  BufferId x = b.buffer("X");
  b.beginLoop("A", b.value("n"));
  InstrId i = b.instr("I", b.queueOf(e));
  b.access(AccessKind::Accumulate, x, "X");
  b.endLoop();
  Kernel kernel = b.finish();
  Bindings bindings(kernel);
  Datapath d(kernel, bindings);
  auto after = [&](std::initializer_list<uint32_t> runs) {
    std::vector<ValueId> memory = d.initial();
    for (uint32_t run : runs) {
      d.commit(memory, {i, run});
    }
    return memory;
  };
  EXPECT_NE(after({0, 1}), after({1, 0}));
  EXPECT_NE(after({0, 1}), after({1}));
}
