//===- Format.cpp - The numbers that memory holds -------------------------===//

#include "tally/Data/Format.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tally {

namespace {

/// A row of the table in the header. Whole numbers have no exponent.
struct Layout {
  std::string_view name;
  std::string_view npy;
  int exponentBits = 0;
  int fractionBits = 0; ///< of whole numbers: all but the sign
  bool hasSign = true;
  bool hasInfinity = true; ///< else the largest pattern alone is NaN, and all others are numbers

  int bits() const { return exponentBits + fractionBits + (hasSign ? 1 : 0); }

  int bias() const { return (1 << (exponentBits - 1)) - 1; }

  /// Without a sign: one more than the largest number.
  uint32_t tooLarge() const {
    uint32_t all = (1U << (exponentBits + fractionBits)) - 1;
    return hasInfinity ? all >> fractionBits << fractionBits : all;
  }

  uint32_t nan() const { return tooLarge() | (hasInfinity ? 1U << (fractionBits - 1) : 0); }

  uint32_t signBit() const { return 1U << (exponentBits + fractionBits); }
};

constexpr std::array<Layout, numFormats> layouts{{
    {"f32", "<f4", 8, 23},
    {"f16", "<f2", 5, 10},
    {"bf16", "<u2", 8, 7},
    {"fp8", "|u1", 4, 3},
    {"fp8_e5m2", "|u1", 5, 2},
    {"fp8_e3m4", "|u1", 3, 4},
    {"fp8_e4m3fn", "|u1", 4, 3, true, false},
    {"i8", "|i1", 0, 7},
    {"u8", "|u1", 0, 8, false},
    {"i16", "<i2", 0, 15},
    {"u16", "<u2", 0, 16, false},
    {"i32", "<i4", 0, 31},
    {"u32", "<u4", 0, 32, false},
}};

const Layout &layoutOf(Format format) {
  return layouts[static_cast<size_t>(format)];
}

} // namespace

std::optional<Format> formatNamed(std::string_view elementType) {
  constexpr std::pair<std::string_view, std::string_view> otherNames[] = {
      {"fp32", "f32"},  {"fp16", "f16"},   {"fp8_e4m3", "fp8"}, {"int8", "i8"},   {"uint8", "u8"},
      {"int16", "i16"}, {"uint16", "u16"}, {"int32", "i32"},    {"uint32", "u32"}};
  for (auto [other, name] : otherNames) {
    elementType = other == elementType ? name : elementType;
  }
  auto found = std::ranges::find(layouts, elementType, &Layout::name);
  return found != layouts.end() ? std::optional(static_cast<Format>(found - layouts.begin()))
                                : std::nullopt;
}

std::string_view toString(Format format) {
  return layoutOf(format).name;
}

std::string allFormats() {
  std::string names;
  for (const Layout &layout : layouts) {
    names += &layout == &layouts.front() ? "" : &layout == &layouts.back() ? " and " : ", ";
    names += layout.name;
  }
  return names;
}

std::string_view npyType(Format format) {
  return layoutOf(format).npy;
}

uint32_t sizeOf(Format format) {
  return static_cast<uint32_t>(layoutOf(format).bits()) / 8;
}

//===----------------------------------------------------------------------===//
// Small floating-point numbers
//===----------------------------------------------------------------------===//

static float decodeSmall(const Layout &layout, uint32_t bits) {
  float sign = (bits & layout.signBit()) != 0 ? -1.0F : 1.0F;
  uint32_t size = bits & (layout.signBit() - 1);
  if (size >= layout.tooLarge()) {
    return layout.hasInfinity && size == layout.tooLarge() ? sign * INFINITY : NAN;
  }
  int exponent = static_cast<int>(size >> layout.fractionBits);
  int fraction = static_cast<int>(size & ((1U << layout.fractionBits) - 1));
  // Subnormal numbers have the exponent of the smallest normal ones, without the leading 1.
  int whole = exponent == 0 ? fraction : fraction + (1 << layout.fractionBits);
  return sign * std::ldexp(static_cast<float>(whole),
                           std::max(exponent, 1) - layout.bias() - layout.fractionBits);
}

/// Of one sign, numbers follow one another like their bits, from subnormal to too large. So a
/// normal number is rounded as the bits of the f32 are, with another bias and a shorter fraction; a
/// subnormal one is a count of the smallest.
static uint32_t encodeSmall(const Layout &layout, float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 31) << (layout.exponentBits + layout.fractionBits);
  uint32_t size = bits & 0x7fffffff;
  if (size > 0x7f800000) {
    return sign | layout.nan();
  }
  int dropped = 23 - layout.fractionBits;
  uint32_t otherBias = static_cast<uint32_t>(127 - layout.bias()) << 23;
  if (size < otherBias + (1U << 23)) {
    float count =
        std::bit_cast<float>(size) * std::ldexp(1.0F, layout.bias() - 1 + layout.fractionBits);
    return sign | static_cast<uint32_t>(std::nearbyint(count));
  }
  uint32_t half = (1U << (dropped - 1)) - 1 + (size >> dropped & 1);
  return sign | std::min((size - otherBias + half) >> dropped, layout.tooLarge());
}

//===----------------------------------------------------------------------===//
// Whole numbers
//===----------------------------------------------------------------------===//

int64_t decodeWhole(Format format, uint32_t bits) {
  const Layout &layout = layoutOf(format);
  uint64_t size = bits & ((uint64_t(1) << layout.bits()) - 1);
  bool isNegative = layout.hasSign && (size & layout.signBit()) != 0;
  return static_cast<int64_t>(size) - (isNegative ? int64_t(1) << layout.bits() : 0);
}

uint32_t encodeWhole(Format format, int64_t value) {
  const Layout &layout = layoutOf(format);
  int64_t most = (int64_t(1) << layout.fractionBits) - 1;
  int64_t least = layout.hasSign ? -most - 1 : 0;
  uint64_t all = (uint64_t(1) << layout.bits()) - 1;
  return static_cast<uint32_t>(static_cast<uint64_t>(std::clamp(value, least, most)) & all);
}

/// Beyond 2^40 all are out of every format's range.
static int64_t nearestWhole(float value) {
  constexpr float far = 0x1p40F;
  return std::isnan(value) ? 0 : static_cast<int64_t>(std::nearbyint(std::clamp(value, -far, far)));
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

float decode(Format format, uint32_t bits) {
  switch (format) {
  case Format::F32:
    return std::bit_cast<float>(bits);
  case Format::BF16:
    return decodeBF16(static_cast<uint16_t>(bits));
  default:
    return isWhole(format) ? static_cast<float>(decodeWhole(format, bits))
                           : decodeSmall(layoutOf(format), bits);
  }
}

uint32_t encode(Format format, float value) {
  switch (format) {
  case Format::F32:
    return std::bit_cast<uint32_t>(value);
  case Format::BF16:
    return encodeBF16(value);
  default:
    return isWhole(format) ? encodeWhole(format, nearestWhole(value))
                           : encodeSmall(layoutOf(format), value);
  }
}

} // namespace tally
