//===- Format.cpp - The numbers that memory holds -------------------------===//

#include "tally/Data/Format.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tally {

std::optional<Format> formatNamed(std::string_view elementType) {
  constexpr std::pair<std::string_view, Format> names[] = {
      {"f32", Format::F32},   {"fp32", Format::F32},     {"bf16", Format::BF16},
      {"fp8", Format::FP8},   {"fp8_e4m3", Format::FP8}, {"i32", Format::I32},
      {"int32", Format::I32},
  };
  for (auto [name, format] : names) {
    if (name == elementType) {
      return format;
    }
  }
  return std::nullopt;
}

std::string_view toString(Format format) {
  constexpr std::array<std::string_view, 4> names{"f32", "bf16", "fp8", "i32"};
  return names[static_cast<size_t>(format)];
}

//===----------------------------------------------------------------------===//
// fp8: sign, 4 bits of exponent, 3 of fraction
//===----------------------------------------------------------------------===//

static constexpr int fractionBits = 3;
static constexpr int bias = 7;
static constexpr uint32_t infinity8 = 0x78;

static float decodeFP8(uint32_t bits) {
  float sign = (bits & 0x80) != 0 ? -1.0F : 1.0F;
  int exponent = static_cast<int>(bits >> fractionBits & 0xf);
  int fraction = static_cast<int>(bits & 7);
  if (exponent == 15) {
    return fraction == 0 ? sign * INFINITY : NAN;
  }
  // Subnormal numbers have the exponent of the smallest normal ones, without the leading 1.
  int whole = exponent == 0 ? fraction : fraction + 8;
  return sign * std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - bias - fractionBits);
}

/// Counted in units of the last place, numbers of one sign follow one another like their bits, from
/// subnormal to infinite: rounding the count rounds the number.
static uint32_t encodeFP8(float value) {
  uint32_t sign = std::signbit(value) ? 0x80 : 0;
  float size = std::fabs(value);
  if (std::isnan(size)) {
    return sign | 0x7c;
  }
  if (size >= 256) {
    return sign | infinity8;
  }
  int exponent = size == 0 ? 1 - bias : std::max(std::ilogb(size), 1 - bias);
  float places = std::ldexp(size, fractionBits - exponent); // exact: a power of two
  uint32_t count = static_cast<uint32_t>(std::nearbyint(places));
  return sign | (static_cast<uint32_t>(exponent + bias - 1) * 8 + count);
}

//===----------------------------------------------------------------------===//
// i32
//===----------------------------------------------------------------------===//

static uint32_t encodeI32(float value) {
  if (std::isnan(value)) {
    return 0;
  }
  float whole = std::nearbyint(value);
  if (whole >= 2147483648.0F) {
    return INT32_MAX;
  }
  return static_cast<uint32_t>(whole < -2147483648.0F ? INT32_MIN : static_cast<int32_t>(whole));
}

float decode(Format format, uint32_t bits) {
  switch (format) {
  case Format::F32:
    return std::bit_cast<float>(bits);
  case Format::BF16:
    return decodeBF16(static_cast<uint16_t>(bits));
  case Format::FP8:
    return decodeFP8(bits & 0xff);
  case Format::I32:
    return static_cast<float>(static_cast<int32_t>(bits));
  }
  return 0;
}

uint32_t encode(Format format, float value) {
  switch (format) {
  case Format::F32:
    return std::bit_cast<uint32_t>(value);
  case Format::BF16:
    return encodeBF16(value);
  case Format::FP8:
    return encodeFP8(value);
  case Format::I32:
    return encodeI32(value);
  }
  return 0;
}

} // namespace tally
