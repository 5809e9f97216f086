//===- Value.cpp - Tiles of numbers, and what functions make of them ------===//
//
// Every operation is an f32 operation, rounded to nearest; nothing is fused. Sums have one order:
//
//   sum      16 partial sums, of the elements i, i + 16, ...; then these from first to last
//   matmul   over k from 0, product by product
//
//===----------------------------------------------------------------------===//

#include "Value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tally {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Shapes are aligned at their first axes: a column of [P] goes with all of [P, F].
static uint64_t extentOf(const Shape &shape, size_t axis) {
  return axis < shape.size() ? shape[axis] : 1;
}

static bool broadcast(std::span<const Shape> operands, Shape &result, std::string &problem) {
  result.clear();
  for (const Shape &shape : operands) {
    result.resize(std::max(result.size(), shape.size()), 1);
  }
  for (size_t axis = 0; axis < result.size(); ++axis) {
    for (const Shape &shape : operands) {
      uint64_t extent = extentOf(shape, axis);
      if (extent != 1 && result[axis] != 1 && extent != result[axis]) {
        problem = fmt::format("{} and {} do not go together; along each axis they must be equal, "
                              "or one of them 1",
                              shapeText(operands[0]), shapeText(operands[1]));
        return false;
      }
      result[axis] = std::max(result[axis], extent);
    }
  }
  constexpr uint64_t most = uint64_t(1) << 32; // so that no product of extents wraps
  uint64_t count = 1;
  for (uint64_t extent : result) {
    if (__builtin_mul_overflow(count, std::max<uint64_t>(extent, 1), &count) || count > most) {
      problem = fmt::format("{} has more than {} elements, the most of one value; compute it in "
                            "parts",
                            shapeText(result), most);
      return false;
    }
  }
  return true;
}

bool shapeOf(ComputeOp op, std::span<const Shape> operands, Shape &result, std::string &problem) {
  const Shape &first = operands[0];
  switch (op) {
  case ComputeOp::RowSum:
  case ComputeOp::RowMax:
  case ComputeOp::RowMin:
    if (first.empty()) {
      problem =
          fmt::format("'{}' needs a last axis, but its operand is a single element", toString(op));
      return false;
    }
    result.assign(first.begin(), first.end() - 1);
    return true;
  case ComputeOp::Transpose:
    if (first.size() < 2) {
      problem = fmt::format("'transpose' needs two axes, but its operand is {}", shapeText(first));
      return false;
    }
    result = first;
    std::swap(result[result.size() - 1], result[result.size() - 2]);
    return true;
  case ComputeOp::Matmul:
    if (first.size() != 2 || operands[1].size() != 2 || first[0] != operands[1][0]) {
      problem = fmt::format("'matmul' takes [K, M] and [K, N], but its operands are {} and {}",
                            shapeText(first), shapeText(operands[1]));
      return false;
    }
    result = {first[1], operands[1][1]};
    return true;
  default:
    return broadcast(operands, result, problem);
  }
}

bool fitsTile(const Shape &value, const Shape &tile) {
  if (numElements(value) == numElements(tile)) {
    return true;
  }
  bool fits = value.size() <= tile.size();
  for (size_t axis = 0; axis < tile.size(); ++axis) {
    fits &= extentOf(value, axis) == 1 || extentOf(value, axis) == tile[axis];
  }
  return fits;
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

namespace {

/// Walks the rows of a result: where each row of the operands starts, and whether it goes on (1) or
/// stays at one element (0).
template <size_t N> class Rows {
public:
  Rows(const Shape &result, std::array<const Shape *, N> operands) : result(result) {
    size_t rank = result.size();
    for (size_t n = 0; n < N; ++n) {
      strides[n].assign(rank, 0);
      size_t stride = 1;
      for (size_t axis = rank; axis-- > 0;) {
        uint64_t extent = extentOf(*operands[n], axis);
        strides[n][axis] = extent == 1 ? 0 : stride;
        stride *= extent;
      }
      inner[n] = rank == 0 ? 0 : strides[n][rank - 1];
    }
  }

  /// visit(first element of the row, first of each operand)
  template <typename Visit> void each(Visit visit) const {
    size_t rank = result.size();
    size_t length = rank == 0 ? 1 : result[rank - 1];
    size_t count = numElements(result) / std::max<size_t>(length, 1);
    std::vector<size_t> at(rank, 0);
    std::array<size_t, N> starts{};
    for (size_t row = 0; row < count; ++row) {
      visit(row * length, length, starts);
      for (size_t axis = rank; axis-- > 1;) {
        size_t outer = axis - 1;
        ++at[outer];
        for (size_t n = 0; n < N; ++n) {
          starts[n] += strides[n][outer];
        }
        if (at[outer] < result[outer]) {
          break;
        }
        for (size_t n = 0; n < N; ++n) {
          starts[n] -= at[outer] * strides[n][outer];
        }
        at[outer] = 0;
      }
    }
  }

  std::array<size_t, N> inner{}; ///< 0 or 1

private:
  const Shape &result;
  std::array<std::vector<size_t>, N> strides;
};

/// out[i] = fn(a[i], b[i]) over broadcast operands; loops without strides are vectorised.
template <typename T, typename Fn>
void zip(const Rows<2> &rows, const T *a, const T *b, T *out, Fn fn) {
  rows.each([&](size_t to, size_t length, const std::array<size_t, 2> &from) {
    const T *x = a + from[0];
    const T *y = b + from[1];
    T *z = out + to;
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
}

const std::vector<uint8_t> &poisonOf(const Value &value, std::vector<uint8_t> &none) {
  if (value.poison.empty()) {
    none.assign(value.data.size(), 0);
    return none;
  }
  return value.poison;
}

template <typename Fn> void binary(const Value &a, const Value &b, Value &result, Fn fn) {
  Rows<2> rows(result.shape, {&a.shape, &b.shape});
  zip(rows, a.data.data(), b.data.data(), result.data.data(), fn);
  if (!a.poison.empty() || !b.poison.empty()) {
    std::vector<uint8_t> noneOfA, noneOfB;
    result.poison.resize(result.data.size());
    zip(rows, poisonOf(a, noneOfA).data(), poisonOf(b, noneOfB).data(), result.poison.data(),
        [](uint8_t x, uint8_t y) { return static_cast<uint8_t>(x | y); });
  }
}

template <typename Fn> void unary(const Value &a, Value &result, Fn fn) {
  for (size_t i = 0; i < a.data.size(); ++i) {
    result.data[i] = fn(a.data[i]);
  }
  result.poison = a.poison;
}

/// What is not chosen does not matter.
void select(const Value &c, const Value &a, const Value &b, Value &result) {
  Rows<3> rows(result.shape, {&c.shape, &a.shape, &b.shape});
  bool anyPoison = !c.poison.empty() || !a.poison.empty() || !b.poison.empty();
  result.poison.assign(anyPoison ? result.data.size() : 0, 0);
  auto isPoison = [](const Value &value, size_t i) {
    return !value.poison.empty() && value.poison[i] != 0;
  };
  rows.each([&](size_t to, size_t length, const std::array<size_t, 3> &from) {
    for (size_t i = 0; i < length; ++i) {
      size_t condition = from[0] + i * rows.inner[0];
      bool takesFirst = c.data[condition] != 0;
      const Value &chosen = takesFirst ? a : b;
      size_t source = takesFirst ? from[1] + i * rows.inner[1] : from[2] + i * rows.inner[2];
      result.data[to + i] = chosen.data[source];
      if (anyPoison) {
        result.poison[to + i] = isPoison(c, condition) || isPoison(chosen, source);
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Over the last axis
//===----------------------------------------------------------------------===//

float sumOf(const float *row, size_t length) {
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
  float sum = 0;
  for (float part : partial) {
    sum += part;
  }
  return sum;
}

template <typename Fn> void reduceRows(const Value &a, Value &result, Fn fn) {
  size_t length = a.shape.back();
  if (!a.poison.empty()) {
    result.poison.assign(result.data.size(), 0);
  }
  for (size_t row = 0; row < result.data.size(); ++row) {
    result.data[row] = fn(a.data.data() + row * length, length);
    if (!a.poison.empty()) {
      auto begin = a.poison.begin() + static_cast<ptrdiff_t>(row * length);
      result.poison[row] = std::find(begin, begin + static_cast<ptrdiff_t>(length), 1) !=
                           begin + static_cast<ptrdiff_t>(length);
    }
  }
}

float maxOf(float a, float b) {
  return a < b ? b : a;
}

float minOf(float a, float b) {
  return b < a ? b : a;
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

void transpose(const Value &a, Value &result) {
  size_t columns = a.shape.back();
  size_t rows = a.shape[a.shape.size() - 2];
  transposeOne(a.data, rows, columns, result.data);
  transposeOne(a.poison, rows, columns, result.poison);
}

/// Four rows of the result at a time, so that each number of b is read once for four products; the
/// rows stay in the first cache while k goes on.
void matmul(const Value &a, const Value &b, Value &result) {
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

void matmulPoison(const Value &a, const Value &b, Value &result) {
  if (a.poison.empty() && b.poison.empty()) {
    return;
  }
  std::vector<uint8_t> ofA = poisonColumns(a);
  std::vector<uint8_t> ofB = poisonColumns(b);
  result.poison.resize(result.data.size());
  for (size_t i = 0; i < result.poison.size(); ++i) {
    result.poison[i] = ofA[i / ofB.size()] | ofB[i % ofB.size()];
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static void evaluateUnary(ComputeOp op, const Value &a, Value &result) {
  switch (op) {
  case ComputeOp::Negate:
    return unary(a, result, [](float x) { return -x; });
  case ComputeOp::Exp:
    return unary(a, result, [](float x) { return std::exp(x); });
  case ComputeOp::Square:
    return unary(a, result, [](float x) { return x * x; });
  case ComputeOp::Sqrt:
    return unary(a, result, [](float x) { return std::sqrt(x); });
  case ComputeOp::Rsqrt:
    return unary(a, result, [](float x) { return 1 / std::sqrt(x); });
  case ComputeOp::Silu:
    return unary(a, result, [](float x) { return x / (1 + std::exp(-x)); });
  case ComputeOp::Abs:
    return unary(a, result, [](float x) { return std::fabs(x); });
  case ComputeOp::Reciprocal:
    return unary(a, result, [](float x) { return 1 / x; });
  case ComputeOp::RowSum:
    return reduceRows(a, result, sumOf);
  case ComputeOp::RowMax:
    return reduceRows(a, result, [](const float *row, size_t length) {
      return *std::max_element(row, row + length);
    });
  case ComputeOp::RowMin:
    return reduceRows(a, result, [](const float *row, size_t length) {
      return *std::min_element(row, row + length);
    });
  default:
    return transpose(a, result);
  }
}

static void evaluateBinary(ComputeOp op, const Value &a, const Value &b, Value &result) {
  switch (op) {
  case ComputeOp::Add:
    return binary(a, b, result, [](float x, float y) { return x + y; });
  case ComputeOp::Sub:
    return binary(a, b, result, [](float x, float y) { return x - y; });
  case ComputeOp::Mul:
    return binary(a, b, result, [](float x, float y) { return x * y; });
  case ComputeOp::Div:
    return binary(a, b, result, [](float x, float y) { return x / y; });
  case ComputeOp::Max:
    return binary(a, b, result, maxOf);
  case ComputeOp::Min:
    return binary(a, b, result, minOf);
  case ComputeOp::Less:
    return binary(a, b, result, [](float x, float y) { return x < y ? 1.0F : 0.0F; });
  case ComputeOp::LessEqual:
    return binary(a, b, result, [](float x, float y) { return x <= y ? 1.0F : 0.0F; });
  case ComputeOp::Equal:
    return binary(a, b, result, [](float x, float y) { return x == y ? 1.0F : 0.0F; });
  default:
    matmul(a, b, result);
    return matmulPoison(a, b, result);
  }
}

void evaluate(ComputeOp op, std::span<const Value *const> operands, Value &result) {
  std::vector<Shape> shapes;
  for (const Value *operand : operands) {
    shapes.push_back(operand->shape);
  }
  Shape shape;
  std::string problem;
  [[maybe_unused]] bool fits = shapeOf(op, shapes, shape, problem);
  assert(fits && "shapes have been checked");
  result.reset(shape);
  if (operands.size() == 1) {
    return evaluateUnary(op, *operands[0], result);
  }
  if (operands.size() == 2) {
    return evaluateBinary(op, *operands[0], *operands[1], result);
  }
  select(*operands[0], *operands[1], *operands[2], result);
}

void spread(const Value &value, const Shape &shape, Value &result) {
  result.reset(shape);
  Rows<1> rows(result.shape, {&value.shape});
  bool hasPoison = !value.poison.empty();
  result.poison.resize(hasPoison ? result.data.size() : 0);
  rows.each([&](size_t to, size_t length, const std::array<size_t, 1> &from) {
    for (size_t i = 0; i < length; ++i) {
      result.data[to + i] = value.data[from[0] + i * rows.inner[0]];
      if (hasPoison) {
        result.poison[to + i] = value.poison[from[0] + i * rows.inner[0]];
      }
    }
  });
}

} // namespace tally
