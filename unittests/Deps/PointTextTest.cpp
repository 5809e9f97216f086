//===- PointTextTest.cpp - Conditions looked at here and by isl -----------===//

#include "PointText.h"

#include "Isl.h"
#include "Random.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::deps;

namespace {

constexpr size_t numLevels = 2;

/// Whether a condition holds of two runs, given by their iterations.
bool holds(PointText &text, const std::vector<int64_t> &producer,
           const std::vector<int64_t> &consumer) {
  return text.holds(text.ofRun(true, producer), text.ofRun(false, consumer));
}

class RandomCondition {
public:
  explicit RandomCondition(uint64_t seed) : random(seed) {}

  std::string condition(uint64_t depth) {
    if (random.percent(15)) {
      return fmt::format(
          "(exists k1, l1 : 0 <= k1 < {} and 0 <= l1 and l1 < {} + {} and {} + {} * k1 = {} + l1)",
          number(1), 1 + random.below(3), number(0), number(1), 1 + random.below(3), number(1));
    }
    if (depth == 0 || random.percent(40)) {
      const char *relations[] = {"=", "!=", "<", "<=", ">", ">="};
      return fmt::format("({} {} {})", number(2), relations[random.below(6)], number(1));
    }
    return fmt::format("({} {} {})", condition(depth - 1), random.percent(50) ? "and" : "or",
                       condition(depth - 1));
  }

  std::vector<int64_t> iterations() {
    return {static_cast<int64_t>(random.below(9)), static_cast<int64_t>(random.below(9))};
  }

private:
  std::string number(uint64_t depth) {
    if (depth == 0) {
      const char *leaves[] = {"c0", "c1", "(c0 - d0)", "(c1 - d1)", "d0", "d1"};
      return random.percent(20) ? std::to_string(random.below(7)) : leaves[random.below(6)];
    }
    const std::string inner = number(depth - 1);
    switch (random.below(5)) {
    case 0:
      return fmt::format("({} + {})", inner, number(depth - 1));
    case 1:
      return fmt::format("({} - {})", inner, number(depth - 1));
    case 2:
      return fmt::format("({} * {})", 1 + random.below(3), inner);
    case 3:
      return fmt::format("(({}) mod {})", inner, 1 + random.below(4));
    default:
      return fmt::format("floor(({})/{})", inner, 1 + random.below(4));
    }
  }

  fuzz::Random random;
};

} // namespace

TEST(PointTextTest, saysWhatIslSays) {
  IslContext context;
  size_t numHolding = 0, numNot = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    RandomCondition drawn(seed);
    const std::string condition = drawn.condition(2);
    std::optional<PointText> text = PointText::of(condition, numLevels);
    context.startQuestion(10'000'000);
    const IslSet points = context.parse(fmt::format("{{ [d0, d1, c0, c1] : {} }}", condition));
    ASSERT_TRUE(text && !points.isBad()) << condition;
    for (int i = 0; i < 50; ++i) {
      const std::vector<int64_t> p = drawn.iterations(), c = drawn.iterations();
      const bool isHeld = holds(*text, p, c);
      const IslSet point = context.parse(
          fmt::format("{{ [{}, {}, {}, {}] }}", c[0] - p[0], c[1] - p[1], c[0], c[1]));
      EXPECT_EQ(isHeld, !(points & point).isEmpty()) << "seed " << seed << ": " << condition;
      ++(isHeld ? numHolding : numNot);
    }
    EXPECT_FALSE(text->areTooLarge());
  }
  EXPECT_GT(numHolding, 2000u);
  EXPECT_GT(numNot, 2000u);
}

TEST(PointTextTest, whatIsNotReadIsRefused) {
  for (const char *text :
       {"u0 = 1", "c2 = 0", "d2 = 0", "t0 = s0", "c0 =", "(c0 = 1", "c0 = 1)", "exists k0 : k0 < 2",
        "(exists k0 : k0 = c0)", "(exists k0, l0 : k0 < l0 and l0 < k0)", "(exists k0 : l0 < 2)",
        "(exists k0 : k0 < 2) and k0 = 1", "(exists c0 : c0 < 2)", "c0 mod 0 = 1", "c0 mod c1 = 1",
        "floor(c0/0) = 1", "c0 = 99999999999999999999", "c = 1", "c0 = 1 c1"}) {
    EXPECT_FALSE(PointText::of(text, numLevels)) << text;
  }
}

TEST(PointTextTest, emptyAlwaysHolds) {
  PointText text = *PointText::of("", numLevels);
  EXPECT_TRUE(holds(text, {0, 0}, {0, 0}));
}

TEST(PointTextTest, tooLargeIsNoAnswer) {
  PointText text = *PointText::of("c0 * 4611686018427387904 * 4 = 0", numLevels);
  holds(text, {0, 0}, {1, 0});
  EXPECT_TRUE(text.areTooLarge());
}
