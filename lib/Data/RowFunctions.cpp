//===- RowFunctions.cpp - What is made of whole rows ----------------------===//
//
// Every operation is an f32 operation, rounded to nearest; nothing is fused. Sums have one order:
// 16 partial sums, of the elements i, i + 16, ...; then these from first to last. All else goes
// from the first element to the last.
//
//===----------------------------------------------------------------------===//

#include "RowFunctions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace tally::data::rows {
namespace {

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

float productOf(Row row) {
  return std::accumulate(row.begin(), row.end(), 1.0F, std::multiplies<>());
}

/// The rows of which a node makes one number each; `room` is for those that are not in one piece.
const Value &rowsOf(const ComputeNode &node, const Value &value, Value &room, size_t &length) {
  std::vector<uint64_t> axes = axesOf(node, value.shape);
  std::vector<uint64_t> order;
  length = 1;
  for (uint64_t axis = 0; axis < value.shape.size(); ++axis) {
    bool isReduced = std::ranges::binary_search(axes, axis);
    length *= isReduced ? value.shape[axis] : 1;
    if (!isReduced) {
      order.push_back(axis);
    }
  }
  order.insert(order.end(), axes.begin(), axes.end());
  if (std::ranges::is_sorted(order)) {
    return value;
  }
  permuteAxes(value, order, room);
  return room;
}

template <auto fn> void reduceRows(const ComputeNode &node, Operands in, Value &result) {
  Value room;
  size_t length = 0;
  const Value &value = rowsOf(node, *in[0], room, length);
  for (size_t row = 0; row < result.data.size(); ++row) {
    result.data[row] = fn(Row(value.data.data() + row * length, length));
  }
  for (size_t i = 0; i < value.poison.size(); ++i) {
    if (value.isPoison(i)) {
      result.makePoison(i / length);
    }
  }
}

float combine(ComputeOp op, float x, float y) {
  switch (op) {
  case ComputeOp::Add:
    return x + y;
  case ComputeOp::Sub:
    return x - y;
  case ComputeOp::Mul:
    return x * y;
  case ComputeOp::Max:
    return x < y ? y : x;
  default:
    return y < x ? y : x;
  }
}

/// Calls visit(row of a, row of b, row of the result) for all of them, and makes the result poison
/// where one of the first two has any.
template <typename Visit> void eachRow(const Value &a, const Value &b, Value &result, Visit visit) {
  size_t lengthA = a.shape.back(), lengthB = b.shape.back(), length = result.shape.back();
  size_t count = length == 0 ? 0 : result.data.size() / length;
  auto holdsPoison = [](const Value &value, size_t from, size_t size) {
    return !value.poison.empty() && std::any_of(&value.poison[from], &value.poison[from] + size,
                                                [](uint8_t p) { return p; });
  };
  for (size_t row = 0; row < count; ++row) {
    visit(Row(a.data.data() + row * lengthA, lengthA), Row(b.data.data() + row * lengthB, lengthB),
          std::span<float>(result.data.data() + row * length, length));
    bool isPoison =
        holdsPoison(a, row * lengthA, lengthA) || holdsPoison(b, row * lengthB, lengthB);
    for (size_t i = 0; isPoison && i < length; ++i) {
      result.makePoison(row * length + i);
    }
  }
}

/// The first place in the row that holds the value and that no earlier value has; none: the end.
size_t placeOf(Row row, float value, std::vector<uint8_t> &isTaken) {
  size_t place = 0;
  while (place < row.size() && (row[place] != value || isTaken[place] != 0)) {
    ++place;
  }
  if (place < row.size()) {
    isTaken[place] = 1;
  }
  return place;
}

} // namespace

/// The axes to the places that `order` gives them, outermost first.
void permuteAxes(const Value &from, const std::vector<uint64_t> &order, Value &result) {
  std::vector<size_t> strides(order.size(), 1);
  for (size_t axis = order.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * from.shape[axis];
  }
  Shape shape;
  for (uint64_t axis : order) {
    shape.push_back(from.shape[axis]);
  }
  result.reset(shape);
  result.isWhole = from.isWhole;
  std::vector<uint64_t> at(order.size(), 0);
  size_t source = 0;
  for (size_t i = 0; i < result.data.size(); ++i) {
    result.data[i] = from.data[source];
    if (from.isPoison(source)) {
      result.makePoison(i);
    }
    for (size_t d = order.size(); d-- > 0;) {
      source += strides[order[d]];
      if (++at[d] < shape[d]) {
        break;
      }
      source -= shape[d] * strides[order[d]];
      at[d] = 0;
    }
  }
}

void sum(const ComputeNode &node, Operands in, Value &result) {
  reduceRows<sumOf>(node, in, result);
}

void product(const ComputeNode &node, Operands in, Value &result) {
  reduceRows<productOf>(node, in, result);
}

void largest(const ComputeNode &node, Operands in, Value &result) {
  reduceRows<[](Row row) { return *std::ranges::max_element(row); }>(node, in, result);
}

void smallest(const ComputeNode &node, Operands in, Value &result) {
  reduceRows<[](Row row) { return *std::ranges::min_element(row); }>(node, in, result);
}

/// y := (y op a[i]) op b[i], along each row; poison from where it enters on.
void scan(const ComputeNode &node, Operands in, Value &result) {
  Value a, b, first;
  Shape firsts = result.shape;
  firsts.back() = 1;
  spread(*in[0], result.shape, a);
  spread(*in[1], result.shape, b);
  spread(*in[2], firsts, first);
  size_t length = result.shape.back();
  for (size_t row = 0; row < first.data.size(); ++row) {
    float y = first.data[row];
    bool isPoison = first.isPoison(row);
    for (size_t i = row * length; i < (row + 1) * length; ++i) {
      y = combine(static_cast<ComputeOp>(node.list[0]), y, a.data[i]);
      y = combine(static_cast<ComputeOp>(node.list[1]), y, b.data[i]);
      isPoison = isPoison || a.isPoison(i) || b.isPoison(i);
      result.data[i] = y;
      if (isPoison) {
        result.makePoison(i);
      }
    }
  }
}

/// The largest first, equal ones in their order; NaN is less than any number.
void top(const ComputeNode &, Operands in, Value &result) {
  auto isLarger = [](float x, float y) { return x > y || (std::isnan(y) && !std::isnan(x)); };
  eachRow(*in[0], *in[0], result, [&](Row row, Row, std::span<float> largest) {
    std::vector<float> sorted(row.begin(), row.end());
    std::ranges::stable_sort(sorted, isLarger);
    std::copy_n(sorted.begin(), largest.size(), largest.begin());
  });
}

void find(const ComputeNode &, Operands in, Value &result) {
  eachRow(*in[0], *in[1], result, [&](Row row, Row values, std::span<float> places) {
    std::vector<uint8_t> isTaken(row.size(), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      size_t place = placeOf(row, values[i], isTaken);
      places[i] = place < row.size() ? static_cast<float>(place) : -1;
    }
  });
}

void replace(const ComputeNode &, Operands in, Value &result) {
  float with = in[2]->data[0];
  eachRow(*in[0], *in[1], result, [&](Row row, Row values, std::span<float> replaced) {
    std::vector<uint8_t> isTaken(row.size(), 0);
    for (float value : values) {
      placeOf(row, value, isTaken);
    }
    for (size_t i = 0; i < row.size(); ++i) {
      replaced[i] = isTaken[i] != 0 ? with : row[i];
    }
  });
  if (in[2]->isPoison(0)) {
    result.poison.assign(result.data.size(), 1);
  }
}

} // namespace tally::data::rows
