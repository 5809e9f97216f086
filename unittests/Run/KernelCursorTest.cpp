//===- KernelCursorTest.cpp - One engine's way through a kernel -----------===//

#include "tally/Run/KernelCursor.h"

#include "oracle/Campaign.h"
#include "oracle/KernelWalk.h"

#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>

using namespace tally;
using Stop = KernelCursor::Stop;

namespace {

/// A { x  if c { y } else { z } }  with x and z on one engine, y on another.
struct Example {
  KernelBuilder b{"k"};
  EngineId act = b.engine("act");
  EngineId dma = b.engine("dma");
  LoopId a, c;
  Kernel kernel;

  Example() {
    a = b.beginLoop("A", b.value("n"));
    b.instr("x", b.queueOf(act));
    c = b.beginIf("c");
    b.instr("y", b.queueOf(dma));
    b.beginElse();
    b.instr("z", b.queueOf(act));
    b.endIf();
    b.endLoop();
    kernel = b.finish();
  }

  /// Instructions with their iterations; `(` and `)` for bodies.
  std::string way(EngineId engine, Fuel fuel = 1000) const {
    Bindings bindings(kernel);
    bindings.set(a, {3});
    bindings.set(c, {1, 0});
    std::string text;
    KernelCursor cursor(kernel, bindings, engine, fuel);
    for (Stop at = cursor.next(); at != Stop::End; at = cursor.next()) {
      text += at == Stop::Enter   ? "("
              : at == Stop::Leave ? ")"
                                  : fmt::format("{}{}", kernel.nameOf(cursor.instr()),
                                                fmt::join(cursor.iterations(), "."));
    }
    return text + (cursor.isCutOff() ? "!" : "");
  }
};

TEST(KernelCursorTest, followsOneEngineOrAll) {
  Example k;
  EXPECT_EQ(k.way(k.act), "((x1())(x2(z2))(x3()))");
  EXPECT_EQ(k.way(k.dma), "(((y1))(())((y3)))");
  EXPECT_EQ(k.way(EngineId()), "((x1(y1))(x2(z2))(x3(y3)))");
}

/// Without fuel all that is open is left, and nothing else happens.
TEST(KernelCursorTest, stopsWithoutFuel) {
  Example k;
  EXPECT_EQ(k.way(k.act, 4), "((x1())())!");
  EXPECT_EQ(k.way(k.act, 0), "()!");
  StopFlag stop = false;
  EXPECT_EQ(k.way(k.act, {1000, &stop}), k.way(k.act));
  stop = true;
  EXPECT_EQ(k.way(k.act, {1000, &stop}), "(())!");
}

TEST(KernelCursorTest, countsEntriesOfBodies) {
  Example k;
  Bindings bindings(k.kernel);
  bindings.set(k.a, {3});
  bindings.set(k.c, {1, 0});
  Fuel fuel = 1000;
  KernelCursor cursor(k.kernel, bindings, k.dma, fuel);
  std::vector<int64_t> totals;
  for (Stop at = cursor.next(); at != Stop::End; at = cursor.next()) {
    if (at == Stop::Instr) {
      EXPECT_EQ(cursor.index(k.a).trips, 3);
      totals.push_back(cursor.index(k.c).total);
      totals.push_back(cursor.index(k.a).total);
    }
  }
  EXPECT_EQ(totals, (std::vector<int64_t>{0, 0, 1, 2}));
}

/// Stops in order, with what they are about.
using Way = std::vector<std::array<uint64_t, 3>>;

constexpr uint64_t isEnter = 1, isLeave = 2, isInstr = 3;

/// Told by the walk that tests judge by.
struct Told {
  const Kernel &kernel;
  EngineId engine;
  Way way;

  void reach(const Stmt &) {}

  void enter(LoopId loop, uint64_t iteration) { way.push_back({isEnter, loop.value, iteration}); }

  void leave(LoopId loop) { way.push_back({isLeave, loop.value, 0}); }

  void block(const Stmt &stmt) {
    for (InstrId id : stmt.instrs) {
      if (kernel.engineOf(id) == engine) {
        way.push_back({isInstr, id.value, 0});
      }
    }
  }
};

Way wayOf(const Kernel &kernel, const Bindings &bindings, EngineId engine) {
  Way way;
  Fuel fuel = UINT64_MAX;
  KernelCursor cursor(kernel, bindings, engine, fuel);
  for (Stop at = cursor.next(); at != Stop::End; at = cursor.next()) {
    if (at == Stop::Instr) {
      way.push_back({isInstr, cursor.instr().value, 0});
      continue;
    }
    LoopId body = cursor.body();
    bool isEntry = at == Stop::Enter;
    uint64_t iteration = static_cast<uint64_t>(cursor.index(body).iteration) + 1;
    way.push_back({isEntry ? isEnter : isLeave, body.value, isEntry ? iteration : 0});
  }
  return way;
}

TEST(KernelCursorTest, goesAsTheWalkOfTheOracleDoes) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    oracle::RandomCodeCase code(seed, oracle::optionsForSeed(seed));
    for (EngineId engine : code.kernel.engines.ids()) {
      Told told{code.kernel, engine, {}};
      ASSERT_TRUE(oracle::KernelWalk(code.kernel, code.bindings, engine, told).run(10'000'000));
      ASSERT_EQ(wayOf(code.kernel, code.bindings, engine), told.way) << seed;
    }
  }
}

} // namespace
