//===- Value.cpp - Tiles of numbers, and what functions make of them ------===//
//
// Every operation is an f32 operation, rounded to nearest; nothing is fused. `matmul` goes over k
// from 0, product by product.
//
//===----------------------------------------------------------------------===//

#include "Value.h"

#include "Broadcast.h"
#include "RowFunctions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tally::data {

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

namespace {

/// result[i] := fn(a[i], b[i]) over broadcast operands; loops without strides are vectorised.
template <auto fn> void binary(const ComputeNode &, Operands in, Value &result) {
  Rows<2> rows(result.shape, {&in[0]->shape, &in[1]->shape});
  rows.each([&](size_t to, size_t length, const std::array<size_t, 2> &from) {
    const float *x = in[0]->data.data() + from[0];
    const float *y = in[1]->data.data() + from[1];
    float *z = result.data.data() + to;
    if (rows.inner[0] != 0 && rows.inner[1] != 0) {
      for (size_t i = 0; i < length; ++i) {
        z[i] = fn(x[i], y[i]);
      }
    } else if (rows.inner[0] != 0) {
      for (size_t i = 0; i < length; ++i) {
        z[i] = fn(x[i], y[0]);
      }
    } else {
      for (size_t i = 0; i < length; ++i) {
        z[i] = fn(x[0], y[i * rows.inner[1]]);
      }
    }
  });
  joinPoison<2>(rows, {in[0], in[1]}, result);
}

template <auto fn> void unary(const ComputeNode &, Operands in, Value &result) {
  std::ranges::transform(in[0]->data, result.data.begin(), fn);
  result.poison = in[0]->poison;
}

/// What is not chosen does not matter.
void select(Operands in, Value &result) {
  Rows<3> rows(result.shape, {&in[0]->shape, &in[1]->shape, &in[2]->shape});
  result.isWhole = in[1]->isWhole;
  rows.each([&](size_t to, size_t length, const std::array<size_t, 3> &from) {
    for (size_t i = 0; i < length; ++i) {
      size_t condition = from[0] + i * rows.inner[0];
      size_t choice = in[0]->number(condition) != 0 ? 1 : 2;
      size_t source = from[choice] + i * rows.inner[choice];
      result.data[to + i] = in[choice]->data[source];
      if (in[0]->isPoison(condition) || in[choice]->isPoison(source)) {
        result.makePoison(to + i);
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Whole numbers
//===----------------------------------------------------------------------===//

/// result[i] := fn(a[i], b[i]), of which the low 32 bits stay.
template <auto fn> void wholes(const ComputeNode &, Operands in, Value &result) {
  Rows<2> rows(result.shape, {&in[0]->shape, &in[1]->shape});
  result.isWhole = true;
  rows.each([&](size_t to, size_t length, const std::array<size_t, 2> &from) {
    for (size_t i = 0; i < length; ++i) {
      int64_t x = in[0]->whole(from[0] + i * rows.inner[0]);
      int64_t y = in[1]->whole(from[1] + i * rows.inner[1]);
      result.setWhole(to + i, static_cast<int64_t>(fn(x, y)));
    }
  });
  joinPoison<2>(rows, {in[0], in[1]}, result);
}

/// By 32 and more, nothing is left; by less than 0, too.
int64_t shiftLeft(int64_t x, int64_t by) {
  return by >= 0 && by < 32 ? static_cast<int64_t>(static_cast<uint64_t>(x) << by) : 0;
}

int64_t shiftRight(int64_t x, int64_t by) {
  return by >= 0 && by < 32 ? int64_t(static_cast<uint32_t>(x) >> by) : 0;
}

/// What is left is the sign.
int64_t shiftRightSigned(int64_t x, int64_t by) {
  return x >> (by >= 0 && by < 32 ? by : 31);
}

void bitNot(Operands in, Value &result) {
  result.isWhole = true;
  result.poison = in[0]->poison;
  for (size_t i = 0; i < result.data.size(); ++i) {
    result.setWhole(i, ~int64_t(in[0]->whole(i)));
  }
}

/// Machines make NaN in several ways; here it has one pattern.
void bits(Operands in, Value &result) {
  result.isWhole = true;
  result.poison = in[0]->poison;
  for (size_t i = 0; i < result.data.size(); ++i) {
    float x = in[0]->data[i];
    result.setWhole(i, std::isnan(x) ? 0x7fc00000 : std::bit_cast<int32_t>(x));
  }
}

void fromBits(Operands in, Value &result) {
  result.data = in[0]->data;
  result.poison = in[0]->poison;
}

/// Rounds each number as if it were stored; whole numbers stay exact.
void convert(const ComputeNode &node, Operands in, Value &result) {
  Format format = *formatNamed(node.word);
  result.poison = in[0]->poison;
  result.isWhole = isWhole(format);
  for (size_t i = 0; i < result.data.size(); ++i) {
    if (!result.isWhole) {
      result.data[i] = decode(format, encode(format, in[0]->number(i)));
    } else {
      uint32_t bits =
          in[0]->isWhole ? encodeWhole(format, in[0]->whole(i)) : encode(format, in[0]->data[i]);
      result.setWhole(i, decodeWhole(format, bits));
    }
  }
}

/// The nearest whole number, of which the low 32 bits stay; NaN as 0.
void makeWhole(const Value &value, Value &result) {
  result.reset(value.shape);
  result.poison = value.poison;
  result.isWhole = true;
  constexpr float least = -0x1p31F, tooLarge = 0x1p32F;
  for (size_t i = 0; i < value.data.size(); ++i) {
    float x = std::isnan(value.data[i]) ? 0 : std::nearbyint(value.data[i]);
    result.setWhole(i, x >= tooLarge ? UINT32_MAX : static_cast<int64_t>(std::max(x, least)));
  }
}

void makeNumber(const Value &value, Value &result) {
  result.reset(value.shape);
  result.poison = value.poison;
  for (size_t i = 0; i < value.data.size(); ++i) {
    result.data[i] = value.number(i);
  }
}

//===----------------------------------------------------------------------===//
// Whole tiles
//===----------------------------------------------------------------------===//

template <typename T>
void transposeOne(const std::vector<T> &from, size_t rows, size_t columns, std::vector<T> &to) {
  size_t size = rows * columns;
  to.resize(from.size());
  for (size_t base = 0; base < from.size(); base += size) {
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        to[base + c * rows + r] = from[base + r * columns + c];
      }
    }
  }
}

void transpose(Operands in, Value &result) {
  size_t columns = in[0]->shape.back();
  size_t rows = in[0]->shape[in[0]->shape.size() - 2];
  transposeOne(in[0]->data, rows, columns, result.data);
  transposeOne(in[0]->poison, rows, columns, result.poison);
  result.isWhole = in[0]->isWhole;
}

void permute(const ComputeNode &node, Operands in, Value &result) {
  rows::permuteAxes(*in[0], node.list, result);
}

void reshape(Operands in, Value &result) {
  result.data = in[0]->data;
  result.poison = in[0]->poison;
  result.isWhole = in[0]->isWhole;
}

void index(const ComputeNode &node, Operands, Value &result) {
  size_t axis = node.list.back();
  size_t inner = 1;
  for (size_t d = axis + 1; d < result.shape.size(); ++d) {
    inner *= result.shape[d];
  }
  for (size_t i = 0; i < result.data.size(); ++i) {
    result.data[i] = static_cast<float>(i / inner % result.shape[axis]);
  }
}

/// Four rows of the result at a time, so that each number of b is read once for four products; the
/// rows stay in the first cache while k goes on.
// Not inlined: the inner loop is a fifth slower inside its callers.
[[gnu::noinline]] void multiply(const Value &a, const Value &b, Value &result) {
  size_t numK = a.shape[0], numM = a.shape[1], numN = b.shape[1];
  std::fill(result.data.begin(), result.data.end(), 0.0F);
  size_t m = 0;
  for (; m + 4 <= numM; m += 4) {
    float *__restrict r0 = &result.data[m * numN];
    float *__restrict r1 = r0 + numN;
    float *__restrict r2 = r1 + numN;
    float *__restrict r3 = r2 + numN;
    for (size_t k = 0; k < numK; ++k) {
      const float *__restrict row = &b.data[k * numN];
      const float *x = &a.data[k * numM + m];
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
        result.data[m * numN + n] += a.data[k * numM + m] * b.data[k * numN + n];
      }
    }
  }
}

/// Which columns of [K, N] hold poison.
std::vector<uint8_t> poisonColumns(const Value &value) {
  size_t width = value.shape[1];
  std::vector<uint8_t> columns(width, 0);
  for (size_t i = 0; i < value.poison.size(); ++i) {
    columns[i % width] |= value.poison[i];
  }
  return columns;
}

void matmul(Operands in, Value &result) {
  multiply(*in[0], *in[1], result);
  if (in[0]->poison.empty() && in[1]->poison.empty()) {
    return;
  }
  std::vector<uint8_t> ofA = poisonColumns(*in[0]);
  std::vector<uint8_t> ofB = poisonColumns(*in[1]);
  for (size_t i = 0; i < result.data.size(); ++i) {
    if (ofA[i / ofB.size()] != 0 || ofB[i % ofB.size()] != 0) {
      result.makePoison(i);
    }
  }
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// What an operation takes its operands for.
enum class Takes : uint8_t { Numbers, Wholes, Either };

struct Function {
  ComputeOp op;
  void (*evaluate)(const ComputeNode &node, Operands in, Value &result);
  Takes takes = Takes::Numbers;
};

/// An operation that needs its operands alone.
template <void (*fn)(Operands, Value &)>
void plain(const ComputeNode &, Operands in, Value &result) {
  fn(in, result);
}

float modulo(float x, float y) {
  float rest = std::fmod(x, y);
  return rest == 0 ? std::copysign(0.0F, y) : (rest < 0) != (y < 0) ? rest + y : rest;
}

float sign(float x) {
  return x > 0 ? 1.0F : x < 0 ? -1.0F : x == 0 ? 0.0F : x;
}

/// Of the two forms, the one that does not overflow.
float sigmoid(float x) {
  float e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/// By what is missing at 1, as 1 + erf(x) would cancel; in f64, as far out a rounded x changes all.
float gelu(float x) {
  return static_cast<float>(double(x) * 0.5 * std::erfc(double(x) * -0.70710678118654752));
}

constexpr Function functions[] = {
    {ComputeOp::Negate, unary<[](float x) { return -x; }>},
    {ComputeOp::Abs, unary<[](float x) { return std::fabs(x); }>},
    {ComputeOp::Sign, unary<sign>},
    {ComputeOp::Floor, unary<[](float x) { return std::floor(x); }>},
    {ComputeOp::Ceil, unary<[](float x) { return std::ceil(x); }>},
    {ComputeOp::Trunc, unary<[](float x) { return std::trunc(x); }>},
    {ComputeOp::Round, unary<[](float x) { return std::nearbyint(x); }>},
    {ComputeOp::Reciprocal, unary<[](float x) { return 1 / x; }>},
    {ComputeOp::Square, unary<[](float x) { return x * x; }>},
    {ComputeOp::Sqrt, unary<[](float x) { return std::sqrt(x); }>},
    {ComputeOp::Rsqrt, unary<[](float x) { return 1 / std::sqrt(x); }>},
    {ComputeOp::Exp, unary<[](float x) { return std::exp(x); }>},
    {ComputeOp::Log, unary<[](float x) { return std::log(x); }>},
    {ComputeOp::Sin, unary<[](float x) { return std::sin(x); }>},
    {ComputeOp::Cos, unary<[](float x) { return std::cos(x); }>},
    {ComputeOp::Arctan, unary<[](float x) { return std::atan(x); }>},
    {ComputeOp::Tanh, unary<[](float x) { return std::tanh(x); }>},
    {ComputeOp::Erf, unary<[](float x) { return std::erf(x); }>},
    {ComputeOp::Sigmoid, unary<sigmoid>},
    {ComputeOp::Silu, unary<[](float x) { return x / (1 + std::exp(-x)); }>},
    {ComputeOp::Gelu, unary<gelu>},
    {ComputeOp::Softplus,
     unary<[](float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::fabs(x))); }>},
    {ComputeOp::Add, binary<[](float x, float y) { return x + y; }>},
    {ComputeOp::Sub, binary<[](float x, float y) { return x - y; }>},
    {ComputeOp::Mul, binary<[](float x, float y) { return x * y; }>},
    {ComputeOp::Div, binary<[](float x, float y) { return x / y; }>},
    {ComputeOp::Max, binary<[](float x, float y) { return x < y ? y : x; }>},
    {ComputeOp::Min, binary<[](float x, float y) { return y < x ? y : x; }>},
    {ComputeOp::Pow, binary<[](float x, float y) { return std::pow(x, y); }>},
    {ComputeOp::Mod, binary<modulo>},
    {ComputeOp::Less, binary<[](float x, float y) { return x < y ? 1.0F : 0.0F; }>},
    {ComputeOp::LessEqual, binary<[](float x, float y) { return x <= y ? 1.0F : 0.0F; }>},
    {ComputeOp::Greater, binary<[](float x, float y) { return y < x ? 1.0F : 0.0F; }>},
    {ComputeOp::GreaterEqual, binary<[](float x, float y) { return y <= x ? 1.0F : 0.0F; }>},
    {ComputeOp::Equal, binary<[](float x, float y) { return x == y ? 1.0F : 0.0F; }>},
    {ComputeOp::NotEqual, binary<[](float x, float y) { return x != y ? 1.0F : 0.0F; }>},
    {ComputeOp::Select, plain<select>, Takes::Either},
    {ComputeOp::BitAnd, wholes<[](int64_t x, int64_t y) { return x & y; }>, Takes::Wholes},
    {ComputeOp::BitOr, wholes<[](int64_t x, int64_t y) { return x | y; }>, Takes::Wholes},
    {ComputeOp::BitXor, wholes<[](int64_t x, int64_t y) { return x ^ y; }>, Takes::Wholes},
    {ComputeOp::BitNot, plain<bitNot>, Takes::Wholes},
    {ComputeOp::ShiftLeft, wholes<shiftLeft>, Takes::Wholes},
    {ComputeOp::ShiftRight, wholes<shiftRight>, Takes::Wholes},
    {ComputeOp::ShiftRightSigned, wholes<shiftRightSigned>, Takes::Wholes},
    {ComputeOp::WholeAdd, wholes<[](int64_t x, int64_t y) { return x + y; }>, Takes::Wholes},
    {ComputeOp::WholeSub, wholes<[](int64_t x, int64_t y) { return x - y; }>, Takes::Wholes},
    {ComputeOp::WholeMul, wholes<[](int64_t x, int64_t y) { return x * y; }>, Takes::Wholes},
    {ComputeOp::Bits, plain<bits>},
    {ComputeOp::FromBits, plain<fromBits>, Takes::Wholes},
    {ComputeOp::Convert, convert, Takes::Either},
    {ComputeOp::RowSum, rows::sum},
    {ComputeOp::RowProduct, rows::product},
    {ComputeOp::RowMax, rows::largest},
    {ComputeOp::RowMin, rows::smallest},
    {ComputeOp::Scan, rows::scan},
    {ComputeOp::Top, rows::top},
    {ComputeOp::Find, rows::find},
    {ComputeOp::Replace, rows::replace},
    {ComputeOp::Transpose, plain<transpose>, Takes::Either},
    {ComputeOp::Permute, permute, Takes::Either},
    {ComputeOp::Reshape, plain<reshape>, Takes::Either},
    {ComputeOp::Index, index},
    {ComputeOp::Matmul, plain<matmul>},
};

const Function &functionOf(ComputeOp op) {
  return *std::ranges::find(functions, op, &Function::op);
}

/// Whether an operand is of the kind that is taken; a choice takes two of one kind.
bool isTaken(const ComputeNode &node, Operands in, size_t operand) {
  switch (functionOf(node.op).takes) {
  case Takes::Numbers:
    return !in[operand]->isWhole;
  case Takes::Wholes:
    return in[operand]->isWhole;
  default:
    return node.op != ComputeOp::Select || in[1]->isWhole == in[2]->isWhole ||
           !in[operand]->isWhole;
  }
}

} // namespace

bool takesWholes(const ComputeNode &node) {
  return functionOf(node.op).takes == Takes::Wholes ||
         (node.op == ComputeOp::Convert && isWhole(*formatNamed(node.word)));
}

void evaluate(const ComputeNode &node, std::span<const Value *const> operands, const Shape &shape,
              Value &result) {
  const Function &function = functionOf(node.op);
  std::array<Value, 3> converted;
  std::array<const Value *, 3> taken{};
  for (size_t i = 0; i < operands.size(); ++i) {
    taken[i] = operands[i];
    if (!isTaken(node, operands, i)) {
      (function.takes == Takes::Wholes ? makeWhole : makeNumber)(*operands[i], converted[i]);
      taken[i] = &converted[i];
    }
  }
  result.reset(shape);
  function.evaluate(node, std::span(taken).first(operands.size()), result);
}

void spread(const Value &value, const Shape &shape, Value &result) {
  result.reset(shape);
  result.isWhole = value.isWhole;
  Rows<1> rows(result.shape, {&value.shape});
  rows.each([&](size_t to, size_t length, const std::array<size_t, 1> &from) {
    for (size_t i = 0; i < length; ++i) {
      result.data[to + i] = value.data[from[0] + i * rows.inner[0]];
    }
  });
  joinPoison<1>(rows, {&value}, result);
}

} // namespace tally::data
