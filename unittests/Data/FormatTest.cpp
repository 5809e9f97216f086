//===- FormatTest.cpp - Numbers, against their definition -----------------===//
//
// The definition: a number is s * 1.f * 2^(e - bias), or s * 0.f * 2^(1 - bias). Rounding takes the
// nearest of them all, and of two the one with the even fraction. Where there is none so large, a
// further number would follow, which stands for infinity, or for NaN. The test looks among all
// numbers, in double precision, in which sums and halves of these numbers are exact.
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
  bool isFinite = false; ///< the last pattern is the only one that is no number

  int bias() const { return (1 << (exponentBits - 1)) - 1; }

  /// What follows the largest number.
  uint32_t infinity() const {
    return isFinite ? signBit() - 1 : ((1U << exponentBits) - 1) << fractionBits;
  }

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

constexpr std::array layouts{Layout{Format::F16, 5, 10},    Layout{Format::BF16, 8, 7},
                             Layout{Format::FP8, 4, 3},     Layout{Format::FP8E5M2, 5, 2},
                             Layout{Format::FP8E3M4, 3, 4}, Layout{Format::FP8E4M3FN, 4, 3, true}};

} // namespace

TEST(FormatTest, everyNumberIsWhatItsBitsSay) {
  for (const Layout &layout : layouts) {
    for (uint32_t bits = 0; bits < 2 * layout.signBit(); ++bits) {
      uint32_t size = bits & (layout.signBit() - 1);
      float value = decode(layout.format, bits);
      EXPECT_EQ(std::signbit(value) || std::isnan(value),
                (bits & layout.signBit()) != 0 || size + layout.isFinite > layout.infinity());
      if (size < layout.infinity()) {
        EXPECT_EQ(std::fabs(value), layout.number(size)) << bits;
      } else {
        EXPECT_EQ(std::isinf(value), size == layout.infinity() && !layout.isFinite);
      }
      // And back; a NaN need only stay one.
      if (!std::isnan(value)) {
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

/// Where there is no infinity, NaN is what follows the largest number.
TEST(FormatTest, tooLargeIsNaNWithoutInfinity) {
  EXPECT_EQ(decode(Format::FP8E4M3FN, 0x7e), 448.0F);
  EXPECT_EQ(encode(Format::FP8E4M3FN, 464.0F), 0x7eU);
  EXPECT_EQ(encode(Format::FP8E4M3FN, 464.1F), 0x7fU);
  EXPECT_EQ(encode(Format::FP8E4M3FN, -INFINITY), 0xffU);
}

TEST(FormatTest, wholeNumbersStayWithinRange) {
  EXPECT_EQ(encode(Format::I32, 2.5F), 2U);
  EXPECT_EQ(encode(Format::I32, -3.5F), static_cast<uint32_t>(-4));
  EXPECT_EQ(encode(Format::I32, 3e9F), 0x7fffffffU);
  EXPECT_EQ(encode(Format::I32, -3e9F), 0x80000000U);
  EXPECT_EQ(encode(Format::I32, NAN), 0U);
  EXPECT_EQ(decode(Format::I32, static_cast<uint32_t>(-7)), -7.0F);
  EXPECT_EQ(encode(Format::U32, 4294967296.0F), 0xffffffffU);
  EXPECT_EQ(encode(Format::U32, INFINITY), 0xffffffffU);
  EXPECT_EQ(encode(Format::U8, -1), 0U);
  EXPECT_EQ(encode(Format::U8, 255.5F), 255U);
  EXPECT_EQ(encode(Format::I8, -200), 0x80U);
  EXPECT_EQ(decode(Format::I16, 0x8000), -32768.0F);
  EXPECT_EQ(decode(Format::U16, 0x8000), 32768.0F);
}

/// Each whole number of at most two bytes, and back; beyond, the nearest.
TEST(FormatTest, wholeNumbersAreExact) {
  for (Format format : {Format::I8, Format::U8, Format::I16, Format::U16}) {
    uint32_t count = 1U << 8 * sizeOf(format);
    bool hasSign = format == Format::I8 || format == Format::I16;
    int64_t least = hasSign ? -int64_t(count / 2) : 0;
    for (int64_t number = least; number < least + count; ++number) {
      uint32_t bits = static_cast<uint32_t>(number) & (count - 1);
      EXPECT_EQ(encodeWhole(format, number), bits);
      EXPECT_EQ(decodeWhole(format, bits), number);
      EXPECT_EQ(decode(format, encode(format, static_cast<float>(number))), number);
    }
    EXPECT_EQ(decodeWhole(format, encodeWhole(format, least - 1)), least);
    EXPECT_EQ(decodeWhole(format, encodeWhole(format, INT64_MAX)), least + count - 1);
  }
}

TEST(FormatTest, formatsHaveNames) {
  for (uint8_t i = 0; i < numFormats; ++i) {
    EXPECT_EQ(formatNamed(toString(Format(i))), Format(i));
  }
  EXPECT_EQ(formatNamed("fp8_e4m3"), Format::FP8);
  EXPECT_EQ(formatNamed("int8"), Format::I8);
  EXPECT_EQ(formatNamed("f64"), std::nullopt);
}
