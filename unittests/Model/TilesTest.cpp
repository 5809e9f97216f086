//===- TilesTest.cpp - The tiles of a kernel, read once -------------------===//

#include "tally/Model/Tiles.h"

#include "tally/Model/KernelBuilder.h"
#include "tally/Support/FloorDiv.h"

#include <gtest/gtest.h>

#include <array>

using namespace tally;

namespace {

/// A { x  B { y  z } }; y and z touch the same tile, x one of the same text.
struct Example {
  KernelBuilder b{"k"};
  EngineId act = b.engine("act");
  LoopId a, inner;
  AccessId ofX, ofY, ofZ;
  Kernel kernel;

  explicit Example(std::string_view text) {
    const std::array<uint64_t, 1> shape{64};
    BufferId buffer = b.buffer("X", shape);
    QueueId q = b.queueOf(act);
    a = b.beginLoop("A", b.value("n"));
    b.instr("x", q);
    ofX = b.access(AccessKind::Read, buffer, text);
    inner = b.beginLoop("B", b.value("m"));
    b.instr("y", q);
    ofY = b.access(AccessKind::Read, buffer, text);
    b.instr("z", q);
    ofZ = b.access(AccessKind::Write, buffer, text);
    b.endLoop();
    b.endLoop();
    kernel = b.finish();
  }

  const TileTable &tiles() const { return *kernel.tiles; }

  /// The first index of the tile of y.
  std::optional<int64_t> first(LoopIndex ofA, LoopIndex ofB) const {
    const BodyTile &tile = tiles()[ofY];
    return tile.valueAt(tile.access.dims[0].first,
                        [&](LoopId loop) { return loop == a ? ofA : ofB; }, {});
  }
};

TEST(TilesTest, equalTextsOfOneBodyAreOne) {
  Example k("X[A]");
  EXPECT_EQ(k.tiles().size(), 2u);
  EXPECT_EQ(k.tiles().of(k.ofX), TileId(0));
  EXPECT_EQ(k.tiles().of(k.ofY), TileId(1));
  EXPECT_EQ(k.tiles().of(k.ofZ), TileId(1));
  EXPECT_EQ(k.tiles()[k.ofX].home, k.a);
  EXPECT_EQ(k.tiles()[k.ofZ].home, k.inner);
}

/// B is around y, and not around x.
TEST(TilesTest, namesAreLoopsAround) {
  Example k("X[A + B]");
  EXPECT_EQ(k.tiles()[k.ofY].loops, (std::vector<LoopId>{k.a, k.inner}));
  EXPECT_EQ(k.tiles()[k.ofX].loops, (std::vector<LoopId>{k.a, LoopId()}));
}

TEST(TilesTest, whatIsNoTileSaysWhy) {
  Example k("X[");
  EXPECT_NE(k.tiles()[k.ofX].problem, "");
  EXPECT_EQ(Example("X").tiles()[AccessId(0)].problem, "");
}

TEST(TilesTest, valuesAreThoseOfTheIteration) {
  EXPECT_EQ(Example("X[2 * A + B - 1]").first({3, 0, 0}, {5, 0, 0}), 10);
  EXPECT_EQ(Example("X[total(B) + trips(A)]").first({0, 0, 7}, {0, 20, 0}), 27);
  EXPECT_EQ(Example("X[(A - 5) mod 4]").first({2, 0, 0}, {}), 1);
  EXPECT_EQ(Example("X[(A - 5) floordiv 4]").first({2, 0, 0}, {}), -1);
  EXPECT_EQ(Example("X[A + $n]").first({2, 0, 0}, {}), std::nullopt);
}

/// A guard with a run-time value may hold, whatever the others say.
TEST(TilesTest, guardsMayHold) {
  Example k("X[A] if A < 2 and B < $n");
  auto mayHold = [&](int64_t iteration) {
    return k.tiles()[k.ofY].mayHold([&](LoopId) { return LoopIndex{iteration, 0, 0}; }, {});
  };
  EXPECT_TRUE(mayHold(1));
  EXPECT_FALSE(mayHold(2));
}

TEST(TilesTest, divisionRoundsDown) {
  EXPECT_EQ(floorDiv(7, 2), 3);
  EXPECT_EQ(floorDiv(-7, 2), -4);
  EXPECT_EQ(floorDiv(7, -2), -4);
  EXPECT_EQ(floorDiv(-8, 2), -4);
}

} // namespace
