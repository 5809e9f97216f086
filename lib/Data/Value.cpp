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
#include <numeric>

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

/// Poison where an operand is.
template <size_t N>
void joinPoison(const Rows<N> &rows, const std::array<const Value *, N> &operands, Value &result) {
  for (size_t n = 0; n < N; ++n) {
    if (operands[n]->poison.empty()) {
      continue;
    }
    rows.each([&](size_t to, size_t length, const std::array<size_t, N> &from) {
      for (size_t i = 0; i < length; ++i) {
        if (operands[n]->isPoison(from[n] + i * rows.inner[n])) {
          result.makePoison(to + i);
        }
      }
    });
  }
}

using Operands = std::span<const Value *const>;

/// result[i] := fn(a[i], b[i]) over broadcast operands; loops without strides are vectorised.
template <auto fn> void binary(Operands in, Value &result) {
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

template <auto fn> void unary(Operands in, Value &result) {
  std::ranges::transform(in[0]->data, result.data.begin(), fn);
  result.poison = in[0]->poison;
}

/// What is not chosen does not matter.
void select(Operands in, Value &result) {
  Rows<3> rows(result.shape, {&in[0]->shape, &in[1]->shape, &in[2]->shape});
  rows.each([&](size_t to, size_t length, const std::array<size_t, 3> &from) {
    for (size_t i = 0; i < length; ++i) {
      size_t condition = from[0] + i * rows.inner[0];
      size_t choice = in[0]->data[condition] != 0 ? 1 : 2;
      size_t source = from[choice] + i * rows.inner[choice];
      result.data[to + i] = in[choice]->data[source];
      if (in[0]->isPoison(condition) || in[choice]->isPoison(source)) {
        result.makePoison(to + i);
      }
    }
  });
}

//===----------------------------------------------------------------------===//
// Over the last axis
//===----------------------------------------------------------------------===//

using Row = std::span<const float>;

float sumOf(Row row) {
  std::array<float, 16> partial{};
  size_t i = 0;
  for (; i + partial.size() <= row.size(); i += partial.size()) {
    for (size_t lane = 0; lane < partial.size(); ++lane) {
      partial[lane] += row[i + lane];
    }
  }
  for (size_t lane = 0; i + lane < row.size(); ++lane) {
    partial[lane] += row[i + lane];
  }
  return std::accumulate(partial.begin(), partial.end(), 0.0F);
}

template <auto fn> void reduceRows(Operands in, Value &result) {
  size_t length = in[0]->shape.back();
  for (size_t row = 0; row < result.data.size(); ++row) {
    result.data[row] = fn(Row(in[0]->data.data() + row * length, length));
  }
  for (size_t i = 0; i < in[0]->poison.size(); ++i) {
    if (in[0]->isPoison(i)) {
      result.makePoison(i / length);
    }
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
}

/// Four rows of the result at a time, so that each number of b is read once for four products; the
/// rows stay in the first cache while k goes on.
void multiply(const Value &a, const Value &b, Value &result) {
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

struct Function {
  ComputeOp op;
  void (*evaluate)(Operands in, Value &result);
};

constexpr Function functions[] = {
    {ComputeOp::Negate, unary<[](float x) { return -x; }>},
    {ComputeOp::Exp, unary<[](float x) { return std::exp(x); }>},
    {ComputeOp::Square, unary<[](float x) { return x * x; }>},
    {ComputeOp::Sqrt, unary<[](float x) { return std::sqrt(x); }>},
    {ComputeOp::Rsqrt, unary<[](float x) { return 1 / std::sqrt(x); }>},
    {ComputeOp::Silu, unary<[](float x) { return x / (1 + std::exp(-x)); }>},
    {ComputeOp::Abs, unary<[](float x) { return std::fabs(x); }>},
    {ComputeOp::Reciprocal, unary<[](float x) { return 1 / x; }>},
    {ComputeOp::Add, binary<[](float x, float y) { return x + y; }>},
    {ComputeOp::Sub, binary<[](float x, float y) { return x - y; }>},
    {ComputeOp::Mul, binary<[](float x, float y) { return x * y; }>},
    {ComputeOp::Div, binary<[](float x, float y) { return x / y; }>},
    {ComputeOp::Max, binary<[](float x, float y) { return x < y ? y : x; }>},
    {ComputeOp::Min, binary<[](float x, float y) { return y < x ? y : x; }>},
    {ComputeOp::Less, binary<[](float x, float y) { return x < y ? 1.0F : 0.0F; }>},
    {ComputeOp::LessEqual, binary<[](float x, float y) { return x <= y ? 1.0F : 0.0F; }>},
    {ComputeOp::Equal, binary<[](float x, float y) { return x == y ? 1.0F : 0.0F; }>},
    {ComputeOp::Select, select},
    {ComputeOp::RowSum, reduceRows<sumOf>},
    {ComputeOp::RowMax, reduceRows<[](Row row) { return *std::ranges::max_element(row); }>},
    {ComputeOp::RowMin, reduceRows<[](Row row) { return *std::ranges::min_element(row); }>},
    {ComputeOp::Transpose, transpose},
    {ComputeOp::Matmul, matmul},
};

} // namespace

void evaluate(ComputeOp op, std::span<const Value *const> operands, const Shape &shape,
              Value &result) {
  result.reset(shape);
  std::ranges::find(functions, op, &Function::op)->evaluate(operands, result);
}

void spread(const Value &value, const Shape &shape, Value &result) {
  result.reset(shape);
  Rows<1> rows(result.shape, {&value.shape});
  rows.each([&](size_t to, size_t length, const std::array<size_t, 1> &from) {
    for (size_t i = 0; i < length; ++i) {
      result.data[to + i] = value.data[from[0] + i * rows.inner[0]];
    }
  });
  joinPoison<1>(rows, {&value}, result);
}

} // namespace tally
