//===- Arithmetic.h - What each operation makes of numbers ----------------===//
//
// The arithmetic of kernels, of plain numbers and rows. It needs only the standard library, as two
// read it: lib/Data computes with it, and `tally compile --emit=c++` writes its text into each
// file. So what a file computes has the bits that the simulator has.
//
// Every operation is an f32 operation, rounded to nearest; nothing is fused.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DATA_ARITHMETIC_H
#define TALLY_LIB_DATA_ARITHMETIC_H

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace tally::data::arithmetic {

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

/// How a format lays out its bits. Whole numbers have no exponent.
struct Layout {
  int exponentBits = 0;
  int fractionBits = 0; ///< of whole numbers: all but the sign
  bool hasSign = true;
  bool hasInfinity = true; ///< if not, the largest pattern alone is NaN

  constexpr bool isWhole() const { return exponentBits == 0; }

  constexpr int bits() const { return exponentBits + fractionBits + (hasSign ? 1 : 0); }

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }

  /// Without a sign: one more than the largest number.
  constexpr uint32_t tooLarge() const {
    uint32_t all = (1U << (exponentBits + fractionBits)) - 1;
    return hasInfinity ? all >> fractionBits << fractionBits : all;
  }

  constexpr uint32_t nan() const {
    return tooLarge() | (hasInfinity ? 1U << (fractionBits - 1) : 0);
  }

  constexpr uint32_t signBit() const { return 1U << (exponentBits + fractionBits); }
};

inline constexpr Layout f32{8, 23}, f16{5, 10}, bf16{8, 7};
inline constexpr Layout fp8{4, 3}, fp8_e5m2{5, 2}, fp8_e3m4{3, 4}, fp8_e4m3fn{4, 3, true, false};
inline constexpr Layout i8{0, 7}, i16{0, 15}, i32{0, 31};
inline constexpr Layout u8{0, 8, false}, u16{0, 16, false}, u32{0, 32, false};

inline float decodeBF16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

/// The upper half, rounded; a NaN stays one.
inline uint16_t encodeBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) {
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  }
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float decodeSmall(const Layout &layout, uint32_t bits) {
  float sign = (bits & layout.signBit()) != 0 ? -1.0F : 1.0F;
  uint32_t size = bits & (layout.signBit() - 1);
  if (size >= layout.tooLarge()) {
    return layout.hasInfinity && size == layout.tooLarge()
               ? sign * std::numeric_limits<float>::infinity()
               : std::numeric_limits<float>::quiet_NaN();
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
inline uint32_t encodeSmall(const Layout &layout, float value) {
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

inline int64_t decodeWhole(const Layout &layout, uint32_t bits) {
  uint64_t size = bits & ((uint64_t(1) << layout.bits()) - 1);
  bool isNegative = layout.hasSign && (size & layout.signBit()) != 0;
  return static_cast<int64_t>(size) - (isNegative ? int64_t(1) << layout.bits() : 0);
}

inline uint32_t encodeWhole(const Layout &layout, int64_t value) {
  int64_t most = (int64_t(1) << layout.fractionBits) - 1;
  int64_t least = layout.hasSign ? -most - 1 : 0;
  uint64_t all = (uint64_t(1) << layout.bits()) - 1;
  return static_cast<uint32_t>(static_cast<uint64_t>(std::clamp(value, least, most)) & all);
}

/// Beyond 2^40 all are out of every format's range.
inline int64_t nearestWhole(float value) {
  constexpr float far = 0x1p40F;
  return std::isnan(value) ? 0 : static_cast<int64_t>(std::nearbyint(std::clamp(value, -far, far)));
}

/// The number that these low bits stand for.
inline float decode(const Layout &layout, uint32_t bits) {
  if (layout.isWhole()) {
    return static_cast<float>(decodeWhole(layout, bits));
  }
  return layout.fractionBits == f32.fractionBits ? std::bit_cast<float>(bits)
         : layout.exponentBits == 8              ? decodeBF16(static_cast<uint16_t>(bits))
                                                 : decodeSmall(layout, bits);
}

/// The bits of the number of this format that is nearest.
inline uint32_t encode(const Layout &layout, float value) {
  if (layout.isWhole()) {
    return encodeWhole(layout, nearestWhole(value));
  }
  return layout.fractionBits == f32.fractionBits ? std::bit_cast<uint32_t>(value)
         : layout.exponentBits == 8              ? encodeBF16(value)
                                                 : encodeSmall(layout, value);
}

/// What an element of a format holds that is not written yet.
inline uint32_t unwritten(const Layout &layout) {
  return layout.isWhole() ? encodeWhole(layout, INT64_MIN)
                          : encode(layout, std::numeric_limits<float>::quiet_NaN());
}

/// Rounded as if it were stored.
inline float rounded(const Layout &layout, float value) {
  return decode(layout, encode(layout, value));
}

/// As a whole number of this format, of which the low 32 bits stay.
inline int32_t asWhole(const Layout &layout, float value) {
  return static_cast<int32_t>(decodeWhole(layout, encode(layout, value)));
}

inline int32_t asWhole(const Layout &layout, int32_t whole) {
  return static_cast<int32_t>(decodeWhole(layout, encodeWhole(layout, whole)));
}

/// The bits of the number that is nearest to what these bits are in another format.
inline int32_t nearest(const Layout &to, const Layout &from, int32_t whole) {
  return static_cast<int32_t>(encodeWhole(to, decodeWhole(from, static_cast<uint32_t>(whole))));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

inline float square(float x) {
  return x * x;
}

/// The rest of x / y, with the sign of y.
inline float modulo(float x, float y) {
  float rest = std::fmod(x, y);
  return rest == 0 ? std::copysign(0.0F, y) : (rest < 0) != (y < 0) ? rest + y : rest;
}

inline float sign(float x) {
  return x > 0 ? 1.0F : x < 0 ? -1.0F : x == 0 ? 0.0F : x;
}

/// Of the two forms, the one that does not overflow.
inline float sigmoid(float x) {
  float e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

inline float silu(float x) {
  return x / (1 + std::exp(-x));
}

/// By what is missing at 1, as 1 + erf(x) would cancel; in f64, as far out a rounded x changes all.
inline float gelu(float x) {
  return static_cast<float>(double(x) * 0.5 * std::erfc(double(x) * -0.70710678118654752));
}

inline float softplus(float x) {
  return std::max(x, 0.0F) + std::log1p(std::exp(-std::fabs(x)));
}

/// NaN if one of them is.
inline float larger(float x, float y) {
  return x < y || y != y ? y : x;
}

inline float smaller(float x, float y) {
  return y < x || y != y ? y : x;
}

//===----------------------------------------------------------------------===//
// Whole numbers, of 32 bits
//===----------------------------------------------------------------------===//

/// By 32 and more, nothing is left; by less than 0, too.
inline int32_t shiftLeft(int32_t x, int32_t by) {
  return by >= 0 && by < 32 ? static_cast<int32_t>(static_cast<uint32_t>(x) << by) : 0;
}

inline int32_t shiftRight(int32_t x, int32_t by) {
  return by >= 0 && by < 32 ? static_cast<int32_t>(static_cast<uint32_t>(x) >> by) : 0;
}

/// What is left is the sign.
inline int32_t shiftRightSigned(int32_t x, int32_t by) {
  return x >> (by >= 0 && by < 32 ? by : 31);
}

inline int32_t wholeAdd(int32_t x, int32_t y) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) + static_cast<uint32_t>(y));
}

inline int32_t wholeSub(int32_t x, int32_t y) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) - static_cast<uint32_t>(y));
}

inline int32_t wholeMul(int32_t x, int32_t y) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) * static_cast<uint32_t>(y));
}

/// Machines make NaN in several ways; here it has one pattern.
inline int32_t bitsOf(float x) {
  return std::isnan(x) ? 0x7fc00000 : std::bit_cast<int32_t>(x);
}

/// The nearest whole number, of which the low 32 bits stay; NaN as 0.
inline int32_t toWhole(float value) {
  constexpr float least = -0x1p31F, tooLarge = 0x1p32F;
  float x = std::isnan(value) ? 0 : std::nearbyint(value);
  int64_t whole = x >= tooLarge ? int64_t(UINT32_MAX) : static_cast<int64_t>(std::max(x, least));
  return static_cast<int32_t>(whole);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Sums have one order: 16 partial sums, of the elements i, i + 16, ...; then these from first to
/// last. All else goes from the first element to the last.
inline float rowSum(const float *row, size_t length) {
  std::array<float, 16> partial{};
  size_t i = 0;
  for (; i + partial.size() <= length; i += partial.size()) {
    for (size_t lane = 0; lane < partial.size(); ++lane) {
      partial[lane] += row[i + lane];
    }
  }
  for (size_t lane = 0; i + lane < length; ++lane) {
    partial[lane] += row[i + lane];
  }
  return std::accumulate(partial.begin(), partial.end(), 0.0F);
}

inline float rowProduct(const float *row, size_t length) {
  return std::accumulate(row, row + length, 1.0F, std::multiplies<>());
}

inline float rowMax(const float *row, size_t length) {
  return std::accumulate(row + 1, row + length, row[0], larger);
}

inline float rowMin(const float *row, size_t length) {
  return std::accumulate(row + 1, row + length, row[0], smaller);
}

/// x op y, by the sign of the operation; M and m are the larger and the smaller one.
inline float combine(char op, float x, float y) {
  switch (op) {
  case '+':
    return x + y;
  case '-':
    return x - y;
  case '*':
    return x * y;
  case 'M':
    return larger(x, y);
  default:
    return smaller(x, y);
  }
}

/// y := (y op1 a[i]) op2 b[i], along the row.
inline void rowScan(char op1, char op2, const float *a, const float *b, float y, size_t length,
                    float *result) {
  for (size_t i = 0; i < length; ++i) {
    y = combine(op1, y, a[i]);
    y = combine(op2, y, b[i]);
    result[i] = y;
  }
}

/// The largest first, equal ones in their order; NaN is less than any number.
inline void rowTop(const float *row, size_t length, size_t count, float *result) {
  std::vector<float> sorted(row, row + length);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](float x, float y) { return x > y || (std::isnan(y) && !std::isnan(x)); });
  std::copy_n(sorted.begin(), count, result);
}

/// The first place in the row that holds the value and that no earlier value has; none: the end.
inline size_t placeOf(const float *row, size_t length, float value, std::vector<uint8_t> &isTaken) {
  size_t place = 0;
  while (place < length && (row[place] != value || isTaken[place] != 0)) {
    ++place;
  }
  if (place < length) {
    isTaken[place] = 1;
  }
  return place;
}

inline void rowFind(const float *row, size_t length, const float *values, size_t count,
                    float *places) {
  std::vector<uint8_t> isTaken(length, 0);
  for (size_t i = 0; i < count; ++i) {
    size_t place = placeOf(row, length, values[i], isTaken);
    places[i] = place < length ? static_cast<float>(place) : -1;
  }
}

inline void rowReplace(const float *row, size_t length, const float *values, size_t count,
                       float with, float *result) {
  std::vector<uint8_t> isTaken(length, 0);
  for (size_t i = 0; i < count; ++i) {
    placeOf(row, length, values[i], isTaken);
  }
  for (size_t i = 0; i < length; ++i) {
    result[i] = isTaken[i] != 0 ? with : row[i];
  }
}

/// [K, M] and [K, N] to [M, N], over k from 0, product by product. Four rows of the result at a
/// time, so that each number of b is read once for four products; the rows stay in the first cache
/// while k goes on.
// Not inlined: the inner loop is a fifth slower inside its callers.
[[gnu::noinline]] inline void matmul(const float *a, const float *b, size_t numK, size_t numM,
                                     size_t numN, float *result) {
  std::fill_n(result, numM * numN, 0.0F);
  size_t m = 0;
  for (; m + 4 <= numM; m += 4) {
    float *__restrict r0 = result + m * numN;
    float *__restrict r1 = r0 + numN;
    float *__restrict r2 = r1 + numN;
    float *__restrict r3 = r2 + numN;
    for (size_t k = 0; k < numK; ++k) {
      const float *__restrict row = b + k * numN;
      const float *x = a + k * numM + m;
      float x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
      for (size_t n = 0; n < numN; ++n) {
        r0[n] += x0 * row[n];
        r1[n] += x1 * row[n];
        r2[n] += x2 * row[n];
        r3[n] += x3 * row[n];
      }
    }
  }
  for (; m < numM; ++m) {
    for (size_t k = 0; k < numK; ++k) {
      for (size_t n = 0; n < numN; ++n) {
        result[m * numN + n] += a[k * numM + m] * b[k * numN + n];
      }
    }
  }
}

} // namespace tally::data::arithmetic

#endif // TALLY_LIB_DATA_ARITHMETIC_H
