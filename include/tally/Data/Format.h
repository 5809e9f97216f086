//===- Format.h - The numbers that memory holds ---------------------------===//
//
//   f32         IEEE 754 binary32
//   f16         IEEE 754 binary16: 5 bits of exponent, 10 of fraction
//   bf16        the upper 16 bits of an f32: 8 of exponent, 7 of fraction
//   fp8_e4m3    (fp8) 4 bits of exponent, 3 of fraction; largest finite number 240
//   fp8_e5m2    5 of exponent, 2 of fraction; largest finite number 57344
//   fp8_e3m4    3 of exponent, 4 of fraction; largest finite number 15.5
//   fp8_e4m3fn  as fp8_e4m3, but without infinities: largest number 448
//   i8 u8 i16 u16 i32 u32    whole numbers in two's complement, and without a sign
//
// Arithmetic is done in f32. What is stored is rounded once, to the nearest number of the format,
// of two the one with the even fraction; what is too large becomes infinite, as IEEE 754 has it,
// or NaN where there is no infinity. Subnormal numbers are kept. A whole number becomes the nearest
// f32 when arithmetic reads it (exact up to 2^24); stored, the nearest whole number within range,
// NaN as 0.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DATA_FORMAT_H
#define TALLY_DATA_FORMAT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally {

enum class Format : uint8_t {
  F32,
  F16,
  BF16,
  FP8,
  FP8E5M2,
  FP8E3M4,
  FP8E4M3FN,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32
};

inline constexpr uint8_t numFormats = 13;

/// The format that a buffer's element type names; none if there is none of this name.
std::optional<Format> formatNamed(std::string_view elementType);

std::string_view toString(Format format);

/// `f32, f16, ... and u32`
std::string allFormats();

/// As files of NumPy name it (Npy.h): `<f4`.
std::string_view npyType(Format format);

/// Bytes of one element.
uint32_t sizeOf(Format format);

/// Whether it holds whole numbers only.
constexpr bool isWhole(Format format) {
  return format >= Format::I8;
}

/// The number that these low bits stand for.
float decode(Format format, uint32_t bits);

/// The bits of the number of this format that is nearest.
uint32_t encode(Format format, float value);

/// The same for whole numbers: exactly the bits of one that is within range, otherwise of the
/// nearest that is.
int64_t decodeWhole(Format format, uint32_t bits);
uint32_t encodeWhole(Format format, int64_t value);

} // namespace tally

#endif // TALLY_DATA_FORMAT_H
