//===- ExtractTest.cpp - The dependences of small kernels -----------------===//

#include "tally/Deps/Extract.h"
#include "tally/Kernels/Author.h"
#include "tally/Machine/Machine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

using namespace tally;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// `load -> use raw at A=2`, and `?` behind what waits longer than it may have to.
std::vector<std::string> depsOf(const Kernel &kernel, bool queueOverlap) {
  Extractor extractor;
  Extraction found = extractor.extract(kernel, {queueOverlap});
  std::vector<std::string> texts;
  for (const DerivedDep &derived : found.deps) {
    const Dep &dep = derived.dep;
    std::string text = fmt::format("{} -> {} {}", kernel.nameOf(dep.producer),
                                   kernel.nameOf(dep.consumer), toString(dep.kind));
    if (dep.table.valid()) {
      const RunTable &table = found.tables[dep.table];
      text += fmt::format(" element {} over {}", toString(table), kernel.nameOf(table.over));
    } else if (dep.form != DistanceForm::Vector) {
      text += fmt::format(" {} {}", dep.form == DistanceForm::Flat ? "flat" : "element", dep.step);
    }
    for (uint32_t i = 0; i < dep.numComponents; ++i) {
      const DistanceComponent &c = found.components[dep.firstComponent + i];
      text += fmt::format(" {}={}", kernel.nameOf(c.loop), c.distance);
    }
    texts.push_back(text + (derived.excess == Excess::None ? "" : "?"));
  }
  return texts;
}

std::vector<std::string> depsOf(KernelAuthor &author, bool queueOverlap = false) {
  Diagnostics diagnostics;
  std::optional<Kernel> kernel = author.finish(diagnostics);
  return kernel ? depsOf(*kernel, queueOverlap) : std::vector<std::string>{render(diagnostics, {})};
}

/// Two engines and a buffer of 8.
struct ExtractTest : testing::Test {
  KernelAuthor k{"k"};
  EngineId dma = k.engine("dma");
  EngineId act = k.engine("act");

  ExtractTest() {
    k.buffer("X", {8});
    k.buffer("Y", {8});
  }

  void load(const std::string &tile) { k.op(dma, "load", "", {.writes = {tile}}); }

  void use(const std::string &tile) { k.op(act, "use", "", {.reads = {tile}}); }
};

/// The slot's reader of two iterations before: the ring has two slots.
TEST_F(ExtractTest, ring) {
  k.loop("A", k.value("n"), [&] {
    load("X[A mod 2]");
    use("X[A mod 2]");
  });
  EXPECT_THAT(depsOf(k), ElementsAre("use -> load war A=2", "load -> use raw"));
}

/// Nests side by side: the runs of each are numbered, however it is cut into loops.
TEST_F(ExtractTest, nests) {
  auto nest = [&](const std::string &name, uint64_t outer, uint64_t inner, EngineId engine,
                  const Tiles &tiles) {
    k.loop(name, KernelBuilder::constant(outer), [&] {
      k.loop(name + name, KernelBuilder::constant(inner), [&] { k.op(engine, name, "", tiles); });
    });
  };
  k.loop("A", k.value("n"), [&] {
    nest("w", 4, 2, dma, {.writes = {"X[2*w + ww]"}});
    nest("r", 2, 4, act, {.reads = {"X[4*r + rr]"}});
  });
  EXPECT_THAT(depsOf(k), ElementsAre("r -> w war element 0 A=1", "w -> r raw element 0"));
}

/// By columns: run 3 of the consumer needs run 12, and no other run needs one that is farther on.
TEST_F(ExtractTest, nestOfAnotherOrder) {
  k.buffer("Z", {4, 4});
  auto nest = [&](const std::string &name, EngineId engine, const Tiles &tiles) {
    k.loop(name, KernelBuilder::constant(4), [&] {
      k.loop(name + name, KernelBuilder::constant(4), [&] { k.op(engine, name, "", tiles); });
    });
  };
  nest("w", dma, {.writes = {"Z[w, ww]"}});
  nest("r", act, {.reads = {"Z[rr, r]"}});
  EXPECT_THAT(depsOf(k), ElementsAre("w -> r raw element -9?"));
}

/// One ahead: slots of the same iteration differ.
TEST_F(ExtractTest, producerOneSlotAhead) {
  k.loop("A", k.value("n"), [&] {
    load("X[(A + 1) mod 2]");
    use("X[A mod 2]");
  });
  EXPECT_THAT(depsOf(k), ElementsAre("use -> load war A=1", "load -> use raw A=1"));
}

/// The buffer is free when its last reader is done, wherever that was: inner loops run differently
/// often.
TEST_F(ExtractTest, oneBufferInANest) {
  k.loop("A", k.value("n"), [&] {
    k.loop("B", k.value("m"), [&] {
      load("X");
      use("X");
    });
  });
  EXPECT_THAT(depsOf(k), ElementsAre("use -> load war flat 1", "load -> use raw"));
}

/// A position that counts over the whole run.
TEST_F(ExtractTest, ringThatSurvivesTheOuterLoop) {
  k.loop("A", k.value("n"), [&] {
    k.loop("B", k.value("m"), [&] {
      load("X[total(B) mod 3]");
      use("X[total(B) mod 3]");
    });
  });
  EXPECT_THAT(depsOf(k), ElementsAre("use -> load war flat 3", "load -> use raw"));
}

/// A ring that starts anew: how far back slot 0 was used last depends on the trips of B. Within a
/// run of B it is known.
TEST_F(ExtractTest, ringThatStartsAnew) {
  k.loop("A", k.value("n"), [&] {
    k.loop("B", k.value("m"), [&] {
      load("X[B mod 2]");
      use("X[B mod 2]");
    });
  });
  EXPECT_THAT(depsOf(k), ElementsAre("use -> load war B=2", "use -> load war A=1 B=-2147483646?",
                                     "load -> use raw"));
}

/// With five trips it is known: all of them, before the first.
TEST_F(ExtractTest, ringThatStartsAnewAfterFiveTrips) {
  k.loop("A", k.value("n"), [&] {
    k.loop("B", 5, [&] {
      load("X[B mod 2]");
      use("X[B mod 2]");
    });
  });
  EXPECT_THAT(depsOf(k),
              ElementsAre("use -> load war B=2", "use -> load war A=1 B=-4", "load -> use raw"));
}

/// A producer in an inner loop is waited for as a whole, also when it did not run.
TEST_F(ExtractTest, readersInAnInnerLoop) {
  k.loop("A", k.value("n"), [&] {
    load("X");
    k.loop("B", k.value("m"), [&] { use("X"); });
  });
  EXPECT_THAT(depsOf(k), ElementsAre("use -> load war A=1", "load -> use raw"));
}

/// Two loops side by side, element by element.
TEST_F(ExtractTest, siblingLoops) {
  k.loop("A", k.value("n"), [&] {
    k.loop("B", 3, [&] { load("X[B]"); });
    k.loop("C", 3, [&] { use("X[C]"); });
  });
  EXPECT_THAT(depsOf(k), ElementsAre("use -> load war element 0 A=1", "load -> use raw element 0"));
}

/// A halo: element i needs i + 1, too.
TEST_F(ExtractTest, halo) {
  k.loop("B", k.value("n"), [&] { load("X[B]"); });
  k.loop("C", k.value("n"), [&] { use("X[C:2]"); });
  EXPECT_THAT(depsOf(k), ElementsAre("load -> use raw element -1"));
}

/// Two elements of the producer for each of the consumer: no distance is constant.
TEST_F(ExtractTest, rateRatio) {
  k.loop("B", k.value("n"), [&] { load("X[B]"); });
  k.loop("C", k.value("n"), [&] { use("X[2*C:2]"); });
  EXPECT_THAT(depsOf(k), ElementsAre("load -> use raw?"));
}

/// Counters that grow at different rates.
TEST_F(ExtractTest, countersOfDifferentRates) {
  k.loop("A", 3, [&] {
    k.loop("B", 3, [&] {
      k.loop("C", 2, [&] { use("X[total(C):1]"); });
      k.loop("D", 4, [&] { load("X[total(D) + 3]"); });
    });
  });
  EXPECT_THAT(depsOf(k), ElementsAre("load -> use raw element [-3] each 1 over A"));
}

/// Rings of different length: the shortest distance that occurs, and it is said that others do.
TEST_F(ExtractTest, ringsOfDifferentLength) {
  k.loop("A", k.value("n"), [&] {
    load("X[A mod 2]");
    use("X[A mod 3]");
  });
  EXPECT_THAT(depsOf(k), ElementsAre("use -> load war A=1?", "load -> use raw?"));
}

TEST_F(ExtractTest, disjointTiles) {
  k.loop("A", k.value("n"), [&] {
    load("X[0:4]");
    use("X[4:4]");
  });
  EXPECT_THAT(depsOf(k), IsEmpty());
}

/// Every second element from 0, and from 1.
TEST_F(ExtractTest, disjointStrides) {
  k.loop("A", k.value("n"), [&] {
    load("X[0:4:2]");
    use("X[1:4:2]");
  });
  EXPECT_THAT(depsOf(k), IsEmpty());
}

/// What nobody knows is taken for a conflict.
TEST_F(ExtractTest, unknownPlaces) {
  k.op(dma, "gather", "", {.writes = {"X[@]"}});
  use("X[$n]");
  EXPECT_THAT(depsOf(k), ElementsAre("gather -> use raw?"));
}

/// The same run-time value is the same place.
TEST_F(ExtractTest, equalPlaces) {
  load("X[$n:2]");
  use("X[$n:2]");
  EXPECT_THAT(depsOf(k), ElementsAre("load -> use raw"));
}

/// Also where they are farther out than any buffer reaches.
TEST_F(ExtractTest, endlessTiles) {
  k.op(dma, "far", "", {.writes = {"X[4611686018427387904]"}});
  k.op(act, "all", "", {.writes = {"X[0:9223372036854775807]"}});
  use("X[4611686018427387904]");
  EXPECT_THAT(depsOf(k), ElementsAre("far -> all waw", "far -> use raw"));
}

/// What was written over matters no more; the last write speaks for it.
TEST_F(ExtractTest, straightLineDropsDeadRanges) {
  k.op(dma, "first", "", {.writes = {"X[2:2]"}});
  k.op(act, "second", "", {.writes = {"X[0:4]"}});
  k.op(dma, "third", "", {.reads = {"X[2:2]"}});
  EXPECT_THAT(depsOf(k), ElementsAre("first -> second waw", "second -> third raw"));
}

/// Queues add up in order by themselves, so the last sum speaks for both; two queues do not.
TEST_F(ExtractTest, accumulation) {
  k.op(dma, "a", "", {.accumulates = {"X"}});
  k.op(dma, "b", "", {.accumulates = {"X"}});
  k.op(act, "c", "", {.accumulates = {"X"}});
  EXPECT_THAT(depsOf(k, true), ElementsAre("b -> c raw"));
}

/// Of a queue that does not, each sum waits for the one before it, in the next iteration, too.
TEST_F(ExtractTest, accumulationOutOfOrder) {
  k.loop("A", 5, [&] {
    k.op(dma, "a", "", {.accumulates = {"X"}});
    k.op(dma, "b", "", {.accumulates = {"X"}});
  });
  Diagnostics diagnostics;
  std::optional<Kernel> kernel = k.finish(diagnostics);
  ASSERT_TRUE(kernel);
  Machine machine = genericMachine();
  machine.sumsInOrder = {"act"};
  Kernel there = onMachine(*kernel, machine);
  EXPECT_THAT(depsOf(there, true), ElementsAre("b -> a raw A=1", "a -> b raw"));
  EXPECT_THAT(depsOf(there, false), IsEmpty());
  machine.sumsInOrder = {"dma"};
  EXPECT_THAT(depsOf(onMachine(*kernel, machine), true), IsEmpty());
}

/// `use` needs `load` in its second iteration for one of its tiles; the other one, at a place that
/// nobody knows, may need it in the first.
TEST(UnknownPlaceTest, isNeededFromTheStart) {
  KernelBuilder b("k");
  QueueId dma = b.queueOf(b.engine("dma"));
  QueueId act = b.queueOf(b.engine("act"));
  BufferId x = b.buffer("X", std::array<uint64_t, 1>{8}, {}, "i8", 2);
  BufferId e = b.buffer("E", std::array<uint64_t, 1>{8}, {}, "i16", 2);
  b.instr("load", dma);
  b.access(AccessKind::Read, x, "X[2]");
  b.beginLoop("A", b.value("n"));
  b.instr("use", act);
  b.access(AccessKind::Write, e, "E[1:2] if A > 0");
  b.access(AccessKind::Write, e, "E[$v:2]");
  b.endLoop();
  EXPECT_THAT(depsOf(b.finish(), false), ElementsAre("load -> use war?"));
}

/// What is never taken needs nothing, and what is taken at times is known by its numbers.
TEST(ConditionTest, whatIsNeverTaken) {
  auto found = [](std::string_view condition) {
    KernelBuilder b("k");
    QueueId dma = b.queueOf(b.engine("dma"));
    QueueId act = b.queueOf(b.engine("act"));
    BufferId x = b.buffer("X", std::array<uint64_t, 1>{8});
    b.beginLoop("A", b.value("n"));
    b.setCondition(b.beginIf("c"), condition);
    b.instr("load", dma);
    b.access(AccessKind::Write, x, "X");
    b.instr("use", act);
    b.access(AccessKind::Read, x, "X");
    b.endIf();
    b.endLoop();
    return depsOf(b.finish(), false);
  };
  EXPECT_THAT(found("A < 0"), IsEmpty());
  EXPECT_THAT(found("A == 3 or A == 5"), testing::Contains("load -> use raw"));
}

/// Tiles that are not known by their places write over those with the same text. Whether a branch
/// is taken depends on A; where the tile lies does not.
TEST(ConditionTest, whatIsWrittenOverByItsText) {
  constexpr uint32_t count = 60;
  auto numFound = [&](bool isDecided) {
    KernelBuilder b("k");
    const QueueId queues[] = {b.queueOf(b.engine("dma")), b.queueOf(b.engine("act"))};
    std::vector<BufferId> strips; // each next to a whole one that it shares some bytes with
    for (uint32_t i = 0; i < 4; ++i) {
      const uint64_t shape[] = {i % 2 == 0 ? 128u : 64u, 4};
      strips.push_back(b.buffer(fmt::format("S{}", i), shape, "sbuf", "f32", 8 * i));
      b.partitions(strips.back(), {0, 0});
    }
    auto touch = [&](uint32_t number, AccessKind kind) {
      b.instr(fmt::format("{}{}", kind == AccessKind::Read ? "read" : "write", number),
              queues[number % 2]);
      b.access(kind, strips[number % 4], fmt::format("S{}", number % 4));
    };
    b.beginLoop("A", b.value("n"));
    for (uint32_t i = 0; i < count; ++i) {
      touch(i, AccessKind::Write);
      LoopId branch = b.beginIf(fmt::format("c{}", i));
      if (isDecided) {
        b.setCondition(branch, "A > 2");
      }
      touch(i + 1, AccessKind::Read);
      b.endIf();
    }
    b.endLoop();
    return depsOf(b.finish(), false).size();
  };
  EXPECT_LE(numFound(true), numFound(false));
}

/// Which iterations of B need `load` depends on A, so no table of iterations of B is exact.
TEST_F(ExtractTest, whatTurnsWithALoopAround) {
  k.loop("A", k.value("n"), [&] {
    k.loop("B", k.value("m", 1), [&] {
      k.loop("C", 2, [&] { load("X[A mod 2]"); });
      use("X[B mod 2]");
    });
  });
  EXPECT_THAT(depsOf(k), testing::Contains("load -> use raw?"));
}

/// What an instruction adds up does not hide what else it writes, in tiles of whatever kind.
TEST_F(ExtractTest, accumulationBesideAWrite) {
  k.op(dma, "a", "", {.writes = {"X[0:2:4]"}, .accumulates = {"X"}});
  k.op(dma, "b", "", {.accumulates = {"X[0]"}});
  k.op(act, "c", "", {.writes = {"Y[0:2:4]"}, .accumulates = {"Y"}});
  k.op(act, "d", "", {.accumulates = {"Y[1]"}});
  EXPECT_THAT(depsOf(k, true), ElementsAre("a -> b raw"));
}

/// Two engines that touch one buffer under control on which they may disagree.
struct Divergent {
  KernelBuilder b{"k"};
  QueueId dma = b.queueOf(b.engine("dma"));
  QueueId act = b.queueOf(b.engine("act"));
  BufferId x = b.buffer("X", std::array<uint64_t, 1>{8});

  void op(const char *name, QueueId queue, AccessKind kind, const char *tile) {
    b.instr(name, queue);
    b.access(kind, x, tile);
  }
};

/// One engine takes one of two branches; two engines that do not agree may take both.
TEST(DivergentTest, branches) {
  auto found = [](bool isUniform) {
    Divergent k;
    k.b.beginIf("c", isUniform);
    k.op("load", k.dma, AccessKind::Write, "X[0]");
    k.b.beginElse();
    k.op("use", k.act, AccessKind::Read, "X[0]");
    k.op("other", k.dma, AccessKind::Read, "X[0]");
    k.b.endIf();
    return depsOf(k.b.finish(), true);
  };
  EXPECT_THAT(found(true), IsEmpty());
  EXPECT_THAT(found(false), ElementsAre("load -> use raw"));
}

/// The last iteration of one engine may be any of another's; each knows its own.
TEST(DivergentTest, counts) {
  auto found = [](bool isUniform) {
    Divergent k;
    k.b.beginLoop("A", k.b.value("n"), isUniform);
    k.op("load", k.dma, AccessKind::Write, "X[A] if A == trips(A) - 1");
    k.op("use", k.act, AccessKind::Read, "X[A] if A < trips(A) - 1");
    k.op("other", k.dma, AccessKind::Read, "X[A] if A < trips(A) - 1");
    k.b.endLoop();
    return depsOf(k.b.finish(), true);
  };
  EXPECT_THAT(found(true), IsEmpty());
  EXPECT_THAT(found(false), ElementsAre("use -> load war A=1?", "load -> use raw?"));
}

/// Only where a queue overlaps its instructions do they need waits among themselves.
TEST_F(ExtractTest, oneQueue) {
  auto write = [](KernelAuthor &author) {
    EngineId pe = author.engine("pe");
    author.buffer("X", {8});
    author.loop("A", author.value("n"), [&] {
      author.op(pe, "a", "", {.writes = {"X"}});
      author.op(pe, "b", "", {.reads = {"X"}});
    });
  };
  KernelAuthor inOrder("k");
  write(inOrder);
  EXPECT_THAT(depsOf(inOrder, false), IsEmpty());
  KernelAuthor overlapping("k");
  write(overlapping);
  EXPECT_THAT(depsOf(overlapping, true),
              ElementsAre("a -> a waw A=1", "b -> a war A=1", "a -> b raw"));
}

} // namespace

/// Tensors that an allocator has put side by side, over what died before: what is written over by
/// another buffer makes no dependence, so that there are few for each instruction.
TEST(ArenaTest, namedBuffers) {
  constexpr uint32_t count = 300;
  KernelBuilder b("k");
  QueueId queues[] = {b.queueOf(b.engine("e0")), b.queueOf(b.engine("e1"))};
  const uint64_t shape[] = {96};
  std::vector<BufferId> tensors;
  for (uint32_t i = 0; i < count; ++i) {
    tensors.push_back(b.buffer(fmt::format("t{}", i), shape, "sb", "i8", i % 20 * 64));
  }
  b.beginLoop("A", b.value("n"));
  for (uint32_t i = 0; i < count; ++i) {
    b.instr(fmt::format("i{}", i), queues[i % 2]);
    uint32_t read = i == 0 ? count - 1 : i - 1;
    b.access(AccessKind::Read, tensors[read], fmt::format("t{}", read));
    b.access(AccessKind::Write, tensors[i], fmt::format("t{}", i));
  }
  b.endLoop();
  Kernel kernel = b.finish();
  Extractor extractor;
  EXPECT_LT(extractor.extract(kernel, {true}).deps.size(), 12 * count);
}

/// Two loops around what two engines do.
struct TwoLoops {
  KernelBuilder b{"k"};
  const QueueId queues[2] = {b.queueOf(b.engine("e0")), b.queueOf(b.engine("e1"))};

  TwoLoops() {
    b.beginLoop("A", b.value("n"));
    b.beginLoop("B", b.value("m"));
  }

  void add(const std::string &name, uint32_t queue, AccessKind kind, BufferId buffer,
           const std::string &tile) {
    b.instr(name, queues[queue]);
    b.access(kind, buffer, tile);
  }

  Kernel finish() {
    b.endLoop();
    b.endLoop();
    return b.finish();
  }
};

/// Tiles of which nothing is known but that they are equal within an iteration.
TEST(EqualTextTest, bodiesHaveFewDependences) {
  constexpr uint32_t count = 300;
  for (const char *tile : {"X[A, B]", "X[15 - A, 0]", "X[A floordiv 2, 0]", "X[(A + B) mod 4, 0]",
                           "X[total(B) mod 3, 0]", "X[$t:4, 0]", "X if A > 0", "X[@]"}) {
    TwoLoops loops;
    const uint64_t shape[] = {64, 64};
    BufferId buffer = loops.b.buffer("X", shape);
    for (uint32_t i = 0; i < count; ++i) {
      AccessKind kind = i % 3 == 0 ? AccessKind::Write : AccessKind::Read;
      loops.add(fmt::format("i{}", i), i % 2, kind, buffer, tile);
    }
    Kernel kernel = loops.finish();
    Extractor extractor;
    EXPECT_LT(extractor.extract(kernel, {true}).deps.size(), 3 * count) << tile;
  }
}

/// However a tile writes an offset that its ring goes around: equal places are one question.
TEST(EqualTextTest, offsetsAreReduced) {
  TwoLoops loops;
  const uint64_t shape[] = {64};
  for (uint32_t i = 0; i < 100; ++i) {
    BufferId buffer = loops.b.buffer(fmt::format("X{}", i), shape);
    const char *forms[] = {"X{}[(A + B + {}) mod 2]", "X{}[(A + B + {}) floordiv 2]"};
    std::string tile = fmt::format(fmt::runtime(forms[i % 2]), i, i);
    loops.add(fmt::format("w{}", i), 0, AccessKind::Write, buffer, tile);
    loops.add(fmt::format("r{}", i), 1, AccessKind::Read, buffer, tile);
  }
  Kernel kernel = loops.finish();
  Extractor extractor;
  Extraction found = extractor.extract(kernel, {.queueOverlap = true, .mostQuestions = 12});
  EXPECT_EQ(extractor.numUndecided(), 0u);
}

/// Buffers that lie over one another in part: pairs that lie alike are one question, wherever.
TEST(EqualTextTest, sharedMemoryIsReduced) {
  constexpr uint32_t count = 32;
  TwoLoops loops;
  const uint64_t shape[] = {2, 64};
  for (uint32_t i = 0; i < count; ++i) {
    BufferId buffer = loops.b.buffer(fmt::format("X{}", i), shape, "sbuf", "f32", 384 * i);
    std::string tile = fmt::format("X{}[{} mod 2, 0:{}]", i, i % 2 ? "A" : "B", i % 2 ? 64 : 32);
    loops.add(fmt::format("w{}", i), i % 2, AccessKind::Write, buffer, tile);
  }
  Kernel kernel = loops.finish();
  Extractor extractor;
  Extraction found = extractor.extract(kernel, {.queueOverlap = true, .mostQuestions = 8});
  EXPECT_EQ(extractor.numUndecided(), 0u);
  EXPECT_GT(found.deps.size(), count);
}

/// Boxes that overlap in part, each of some hundred cells: what was written over makes no
/// dependence, and not all pairs remain.
TEST(EqualTextTest, wideBoxesAreWrittenOver) {
  constexpr uint32_t count = 600;
  TwoLoops loops;
  const uint64_t shape[] = {1024};
  BufferId buffer = loops.b.buffer("X", shape);
  uint32_t draw = 1;
  for (uint32_t i = 0; i < count; ++i) {
    draw = draw * 1664525 + 1013904223;
    const uint32_t first = draw >> 23, size = 1 + (draw >> 8 & 511); // up to 512 each
    loops.add(fmt::format("i{}", i), draw & 1, draw >> 3 & 1 ? AccessKind::Write : AccessKind::Read,
              buffer, fmt::format("X[{}:{}]", first, size));
  }
  Kernel kernel = loops.finish();
  Extractor extractor;
  EXPECT_LT(extractor.extract(kernel, {true}).deps.size(), 12 * count);
}
