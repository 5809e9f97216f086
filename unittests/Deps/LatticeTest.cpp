//===- LatticeTest.cpp - The residues of tiles, against all their places --===//

#include "TileBoxes.h"

#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

using namespace tally;
using namespace tally::deps;

namespace {

constexpr int64_t trips = 40; ///< of the loop `i`: more than the period of any index below

int64_t floorMod(int64_t a, int64_t b) {
  return a - floorDiv(a, b) * b;
}

/// An index as text, and as the numbers that it gives.
struct Index {
  std::string text;
  std::set<int64_t> places;
};

/// Values for each iteration.
struct Expr {
  std::string text;
  std::vector<int64_t> values;
};

class Draw {
public:
  explicit Draw(uint32_t seed) : random(seed) {}

  int64_t number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }

  Expr expr(int depth) {
    Expr a;
    if (depth == 0 || number(0, 4) == 0) {
      bool isLoop = number(0, 2) > 0;
      int64_t constant = number(0, 9);
      a.text = isLoop ? "i" : std::to_string(constant);
      for (int64_t i = 0; i < trips; ++i) {
        a.values.push_back(isLoop ? i : constant);
      }
      return a;
    }
    a = expr(depth - 1);
    if (int64_t kind = number(0, 4); kind < 2) {
      Expr b = expr(depth - 1);
      a.text = fmt::format("({} {} {})", a.text, kind == 0 ? '+' : '-', b.text);
      for (size_t i = 0; i < a.values.size(); ++i) {
        a.values[i] += kind == 0 ? b.values[i] : -b.values[i];
      }
    } else {
      int64_t by = number(kind == 2 ? -3 : 1, 6);
      const char *sign = kind == 2 ? "*" : kind == 3 ? "mod" : "floordiv";
      a.text = kind == 2 ? fmt::format("({}*{})", by, a.text)
                         : fmt::format("({} {} {})", a.text, sign, by);
      for (int64_t &value : a.values) {
        value = kind == 2 ? by * value : kind == 3 ? floorMod(value, by) : floorDiv(value, by);
      }
    }
    return a;
  }

  Index index() {
    Expr first = expr(3);
    int64_t size = number(1, 4), stride = number(1, 3);
    Index index{size == 1 ? first.text : fmt::format("{}:{}:{}", first.text, size, stride), {}};
    for (int64_t value : first.values) {
      for (int64_t k = 0; k < size; ++k) {
        index.places.insert(value + k * stride);
      }
    }
    return index;
  }

private:
  std::mt19937 random;
};

} // namespace

/// Tiles whose residues say that they never meet have no element in common.
TEST(LatticeTest, apartMeansApart) {
  size_t apart = 0, said = 0;
  for (uint32_t seed = 0; seed < 20'000; ++seed) {
    Draw draw(seed);
    Index x = draw.index(), y = draw.index();
    KernelBuilder b("k");
    EngineId e = b.engine("e");
    BufferId buffer = b.buffer("X", std::array<uint64_t, 1>{1'000'000});
    b.beginLoop("i", KernelBuilder::constant(trips));
    b.instr("a", b.queueOf(e));
    AccessId read = b.access(AccessKind::Read, buffer, "X[" + x.text + "]");
    AccessId write = b.access(AccessKind::Write, buffer, "X[" + y.text + "]");
    b.endLoop();
    Kernel kernel = b.finish();
    TileBoxes tiles(kernel);
    const TileBox &p = tiles[tiles.of(read)], &c = tiles[tiles.of(write)];
    bool meets = tiles.lattices(p)[0].meets(tiles.lattices(c)[0]);
    ASSERT_EQ(meets, tiles.lattices(c)[0].meets(tiles.lattices(p)[0])) << x.text << ", " << y.text;
    bool isApart =
        std::ranges::none_of(x.places, [&](int64_t place) { return y.places.contains(place); });
    ASSERT_TRUE(meets || isApart) << "seed " << seed << ": " << x.text << " and " << y.text;
    apart += isApart;
    said += !meets;
  }
  EXPECT_GT(said, 50u) << "of " << apart;
}
