//===- FormatTest.cpp - Numbers, against their definition -----------------===//
//
// The definition: a number is s * 1.f * 2^(e - bias), or s * 0.f * 2^(1 - bias); rounding takes the
// nearest of them all, and of two the one with the even fraction; where there is none so large, a
// further one would follow, which stands for infinity. It is looked up among all numbers, in double
// precision, in which sums and halves of these numbers are exact.
//
//===----------------------------------------------------------------------===//

#include "tally/Data/Format.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

using namespace tally;

namespace {

struct Layout {
  Format format;
  int exponentBits, fractionBits;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }

  uint32_t infinity() const { return ((1U << exponentBits) - 1) << fractionBits; }

  uint32_t signBit() const { return 1U << (exponentBits + fractionBits); }

  /// Of bits without a sign; infinity as the number that would follow the largest.
  double number(uint32_t bits) const {
    int exponent = static_cast<int>(bits >> fractionBits);
    double fraction = double(bits & ((1U << fractionBits) - 1)) / double(1U << fractionBits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias())
                         : std::ldexp(1 + fraction, exponent - bias());
  }

  /// The bits nearest to a number that is not negative.
  uint32_t nearest(double x) const {
    uint32_t low = 0, high = infinity();
    if (x >= number(high)) {
      return high;
    }
    while (high - low > 1) {
      uint32_t middle = (low + high) / 2;
      (number(middle) <= x ? low : high) = middle;
    }
    double below = x - number(low), above = number(high) - x;
    return below < above || (below == above && low % 2 == 0) ? low : high;
  }
};

constexpr std::array layouts{Layout{Format::BF16, 8, 7}, Layout{Format::FP8, 4, 3}};

} // namespace

TEST(FormatTest, everyNumberIsWhatItsBitsSay) {
  for (const Layout &layout : layouts) {
    for (uint32_t bits = 0; bits < 2 * layout.signBit(); ++bits) {
      uint32_t size = bits & (layout.signBit() - 1);
      float value = decode(layout.format, bits);
      EXPECT_EQ(std::signbit(value) || std::isnan(value),
                (bits & layout.signBit()) != 0 || size > layout.infinity());
      if (size < layout.infinity()) {
        EXPECT_EQ(std::fabs(value), layout.number(size)) << bits;
      } else {
        EXPECT_EQ(std::isinf(value), size == layout.infinity());
      }
      // And back; a NaN need only stay one.
      if (size <= layout.infinity()) {
        EXPECT_EQ(encode(layout.format, value), bits);
      } else {
        EXPECT_TRUE(std::isnan(decode(layout.format, encode(layout.format, value))));
      }
    }
  }
  EXPECT_EQ(decode(Format::FP8, 0x77), 240.0F);
}

/// All f32 next to a number, and next to the middle of two: there rounding changes.
TEST(FormatTest, roundingTakesTheNearest) {
  for (const Layout &layout : layouts) {
    for (uint32_t bits = 0; bits < layout.infinity(); ++bits) {
      double middle = (layout.number(bits) + layout.number(bits + 1)) / 2;
      for (double place : {layout.number(bits), middle}) {
        float at = static_cast<float>(place);
        for (float x : {std::nextafterf(at, 0), at, std::nextafterf(at, INFINITY)}) {
          if (std::isinf(x)) {
            continue;
          }
          uint32_t expected = layout.nearest(x);
          EXPECT_EQ(encode(layout.format, x), expected) << x;
          EXPECT_EQ(encode(layout.format, -x), expected | layout.signBit()) << -x;
        }
      }
    }
  }
}

/// What is too large is infinite, from the middle of the largest number and the next on.
TEST(FormatTest, tooLargeIsInfinite) {
  EXPECT_EQ(encode(Format::FP8, 247.99F), 0x77U);
  EXPECT_EQ(encode(Format::FP8, 248.0F), 0x78U);
  EXPECT_EQ(encode(Format::FP8, -1e30F), 0xf8U);
  EXPECT_EQ(encode(Format::FP8, INFINITY), 0x78U);
  EXPECT_EQ(encode(Format::BF16, std::numeric_limits<float>::max()), 0x7f80U);
}

TEST(FormatTest, wholeNumbersStayWithinRange) {
  EXPECT_EQ(encode(Format::I32, 2.5F), 2U);
  EXPECT_EQ(encode(Format::I32, -3.5F), static_cast<uint32_t>(-4));
  EXPECT_EQ(encode(Format::I32, 3e9F), 0x7fffffffU);
  EXPECT_EQ(encode(Format::I32, -3e9F), 0x80000000U);
  EXPECT_EQ(encode(Format::I32, NAN), 0U);
  EXPECT_EQ(decode(Format::I32, static_cast<uint32_t>(-7)), -7.0F);
}

TEST(FormatTest, formatsHaveNames) {
  for (Format format : {Format::F32, Format::BF16, Format::FP8, Format::I32}) {
    EXPECT_EQ(formatNamed(toString(format)), format);
  }
  EXPECT_EQ(formatNamed("f16"), std::nullopt);
}
