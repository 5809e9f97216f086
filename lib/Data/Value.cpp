//===- Value.cpp - Tiles of numbers, and what functions make of them ------===//
//
// Walks elements, and joins their poison; Arithmetic.h has what is made of numbers.
//
//===----------------------------------------------------------------------===//

#include "Value.h"

#include "Arithmetic.h"
#include "Broadcast.h"
#include "RowFunctions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tally::data {

using namespace arithmetic;

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

namespace {

/// result[i] := fn(a[i], b[i]) over broadcast operands; loops without strides are vectorised.
template <auto fn> void ofTwo(const ComputeNode &, Operands in, Value &result) {
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

template <auto fn> void ofOne(const ComputeNode &, Operands in, Value &result) {
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

/// result[i] := fn(a[i], b[i])
template <auto fn> void ofTwoWholes(const ComputeNode &, Operands in, Value &result) {
  Rows<2> rows(result.shape, {&in[0]->shape, &in[1]->shape});
  result.isWhole = true;
  rows.each([&](size_t to, size_t length, const std::array<size_t, 2> &from) {
    for (size_t i = 0; i < length; ++i) {
      int32_t x = in[0]->whole(from[0] + i * rows.inner[0]);
      int32_t y = in[1]->whole(from[1] + i * rows.inner[1]);
      result.setWhole(to + i, fn(x, y));
    }
  });
  joinPoison<2>(rows, {in[0], in[1]}, result);
}

void bitNot(Operands in, Value &result) {
  result.isWhole = true;
  result.poison = in[0]->poison;
  for (size_t i = 0; i < result.data.size(); ++i) {
    result.setWhole(i, ~int64_t(in[0]->whole(i)));
  }
}

void bits(Operands in, Value &result) {
  result.isWhole = true;
  result.poison = in[0]->poison;
  for (size_t i = 0; i < result.data.size(); ++i) {
    result.setWhole(i, bitsOf(in[0]->data[i]));
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

void makeWhole(const Value &value, Value &result) {
  result.reset(value.shape);
  result.poison = value.poison;
  result.isWhole = true;
  for (size_t i = 0; i < value.data.size(); ++i) {
    result.setWhole(i, toWhole(value.data[i]));
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

/// Which columns of [K, N] hold poison.
std::vector<uint8_t> poisonColumns(const Value &value) {
  size_t width = value.shape[1];
  std::vector<uint8_t> columns(width, 0);
  for (size_t i = 0; i < value.poison.size(); ++i) {
    columns[i % width] |= value.poison[i];
  }
  return columns;
}

void multiply(Operands in, Value &result) {
  const Shape &a = in[0]->shape, &b = in[1]->shape;
  matmul(in[0]->data.data(), in[1]->data.data(), a[0], a[1], b[1], result.data.data());
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
  Scalar scalar = {};
};

// An operation that is one function of single elements.

template <auto fn> constexpr Function unary(ComputeOp op) {
  return {op, ofOne<fn>, Takes::Numbers, static_cast<float (*)(float)>(fn)};
}

template <auto fn> constexpr Function binary(ComputeOp op) {
  return {op, ofTwo<fn>, Takes::Numbers, static_cast<float (*)(float, float)>(fn)};
}

template <auto fn> constexpr Function wholes(ComputeOp op) {
  return {op, ofTwoWholes<fn>, Takes::Wholes, static_cast<int32_t (*)(int32_t, int32_t)>(fn)};
}

/// An operation that needs its operands alone.
template <void (*fn)(Operands, Value &)>
void plain(const ComputeNode &, Operands in, Value &result) {
  fn(in, result);
}

constexpr Function functions[] = {
    unary<[](float x) { return -x; }>(ComputeOp::Negate),
    unary<[](float x) { return std::fabs(x); }>(ComputeOp::Abs),
    unary<sign>(ComputeOp::Sign),
    unary<[](float x) { return std::floor(x); }>(ComputeOp::Floor),
    unary<[](float x) { return std::ceil(x); }>(ComputeOp::Ceil),
    unary<[](float x) { return std::trunc(x); }>(ComputeOp::Trunc),
    unary<[](float x) { return std::nearbyint(x); }>(ComputeOp::Round),
    unary<[](float x) { return 1 / x; }>(ComputeOp::Reciprocal),
    unary<square>(ComputeOp::Square),
    unary<[](float x) { return std::sqrt(x); }>(ComputeOp::Sqrt),
    unary<[](float x) { return 1 / std::sqrt(x); }>(ComputeOp::Rsqrt),
    unary<[](float x) { return std::exp(x); }>(ComputeOp::Exp),
    unary<[](float x) { return std::log(x); }>(ComputeOp::Log),
    unary<[](float x) { return std::sin(x); }>(ComputeOp::Sin),
    unary<[](float x) { return std::cos(x); }>(ComputeOp::Cos),
    unary<[](float x) { return std::atan(x); }>(ComputeOp::Arctan),
    unary<[](float x) { return std::tanh(x); }>(ComputeOp::Tanh),
    unary<[](float x) { return std::erf(x); }>(ComputeOp::Erf),
    unary<sigmoid>(ComputeOp::Sigmoid),
    unary<silu>(ComputeOp::Silu),
    unary<gelu>(ComputeOp::Gelu),
    unary<softplus>(ComputeOp::Softplus),
    binary<[](float x, float y) { return x + y; }>(ComputeOp::Add),
    binary<[](float x, float y) { return x - y; }>(ComputeOp::Sub),
    binary<[](float x, float y) { return x * y; }>(ComputeOp::Mul),
    binary<[](float x, float y) { return x / y; }>(ComputeOp::Div),
    binary<larger>(ComputeOp::Max),
    binary<smaller>(ComputeOp::Min),
    binary<[](float x, float y) { return std::pow(x, y); }>(ComputeOp::Pow),
    binary<modulo>(ComputeOp::Mod),
    binary<[](float x, float y) { return x < y ? 1.0F : 0.0F; }>(ComputeOp::Less),
    binary<[](float x, float y) { return x <= y ? 1.0F : 0.0F; }>(ComputeOp::LessEqual),
    binary<[](float x, float y) { return y < x ? 1.0F : 0.0F; }>(ComputeOp::Greater),
    binary<[](float x, float y) { return y <= x ? 1.0F : 0.0F; }>(ComputeOp::GreaterEqual),
    binary<[](float x, float y) { return x == y ? 1.0F : 0.0F; }>(ComputeOp::Equal),
    binary<[](float x, float y) { return x != y ? 1.0F : 0.0F; }>(ComputeOp::NotEqual),
    {ComputeOp::Select, plain<select>, Takes::Either},
    wholes<[](int32_t x, int32_t y) { return x & y; }>(ComputeOp::BitAnd),
    wholes<[](int32_t x, int32_t y) { return x | y; }>(ComputeOp::BitOr),
    wholes<[](int32_t x, int32_t y) { return x ^ y; }>(ComputeOp::BitXor),
    {ComputeOp::BitNot, plain<bitNot>, Takes::Wholes},
    wholes<shiftLeft>(ComputeOp::ShiftLeft),
    wholes<shiftRight>(ComputeOp::ShiftRight),
    wholes<shiftRightSigned>(ComputeOp::ShiftRightSigned),
    wholes<wholeAdd>(ComputeOp::WholeAdd),
    wholes<wholeSub>(ComputeOp::WholeSub),
    wholes<wholeMul>(ComputeOp::WholeMul),
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
    {ComputeOp::Matmul, plain<multiply>},
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

Scalar scalarOf(ComputeOp op) {
  const Function *function = std::ranges::find(functions, op, &Function::op);
  return function == std::end(functions) ? Scalar() : function->scalar;
}

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
