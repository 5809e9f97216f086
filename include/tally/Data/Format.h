//===- Format.h - The numbers that memory holds ---------------------------===//
//
//   f32    IEEE 754 binary32
//   bf16   its upper 16 bits: 8 of exponent, 7 of fraction
//   fp8    e4m3: 4 bits of exponent (bias 7), 3 of fraction; largest finite number 240
//   i32    whole numbers in two's complement, for indices
//
// Arithmetic is done in f32. What is stored is rounded once, to the nearest number of the format,
// of two the one with the even fraction; what is too large becomes infinite, as IEEE 754 has it.
// Subnormal numbers are kept. A whole number becomes the nearest f32 when it is read (exact up to
// 2^24); stored, the nearest whole number within range, NaN as 0.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DATA_FORMAT_H
#define TALLY_DATA_FORMAT_H

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tally {

enum class Format : uint8_t { F32, BF16, FP8, I32 };

/// The format that a buffer's element type names; none if there is none of this name.
std::optional<Format> formatNamed(std::string_view elementType);

std::string_view toString(Format format);

/// Bytes of one element.
constexpr uint32_t sizeOf(Format format) {
  return format == Format::FP8 ? 1 : format == Format::BF16 ? 2 : 4;
}

/// The number that these low bits stand for.
float decode(Format format, uint32_t bits);

/// The bits of the number of this format that is nearest.
uint32_t encode(Format format, float value);

/// The upper half, rounded; a NaN stays one.
inline uint16_t encodeBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  }
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float decodeBF16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

} // namespace tally

#endif // TALLY_DATA_FORMAT_H
