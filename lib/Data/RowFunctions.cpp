//===- RowFunctions.cpp - What is made of whole rows ----------------------===//
//
// Finds the rows, and joins their poison; Arithmetic.h has what is made of one row.
//
//===----------------------------------------------------------------------===//

#include "RowFunctions.h"

#include "Arithmetic.h"

#include <algorithm>

namespace tally::data::rows {
namespace {

using Row = std::span<const float>;

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
    result.data[row] = fn(value.data.data() + row * length, length);
  }
  for (size_t i = 0; i < value.poison.size(); ++i) {
    if (value.isPoison(i)) {
      result.makePoison(i / length);
    }
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

} // namespace

char signOf(uint64_t op) {
  switch (static_cast<ComputeOp>(op)) {
  case ComputeOp::Max:
    return 'M';
  case ComputeOp::Min:
    return 'm';
  default:
    return toString(static_cast<ComputeOp>(op))[0];
  }
}

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
  reduceRows<arithmetic::rowSum>(node, in, result);
}

void product(const ComputeNode &node, Operands in, Value &result) {
  reduceRows<arithmetic::rowProduct>(node, in, result);
}

void largest(const ComputeNode &node, Operands in, Value &result) {
  reduceRows<arithmetic::rowMax>(node, in, result);
}

void smallest(const ComputeNode &node, Operands in, Value &result) {
  reduceRows<arithmetic::rowMin>(node, in, result);
}

/// Poison from where it enters on.
void scan(const ComputeNode &node, Operands in, Value &result) {
  Value a, b, first;
  Shape firsts = result.shape;
  firsts.back() = 1;
  spread(*in[0], result.shape, a);
  spread(*in[1], result.shape, b);
  spread(*in[2], firsts, first);
  size_t length = result.shape.back();
  for (size_t row = 0; row < first.data.size(); ++row) {
    size_t from = row * length;
    arithmetic::rowScan(signOf(node.list[0]), signOf(node.list[1]), a.data.data() + from,
                        b.data.data() + from, first.data[row], length, result.data.data() + from);
    bool isPoison = first.isPoison(row);
    for (size_t i = from; i < from + length; ++i) {
      isPoison = isPoison || a.isPoison(i) || b.isPoison(i);
      if (isPoison) {
        result.makePoison(i);
      }
    }
  }
}

void top(const ComputeNode &, Operands in, Value &result) {
  eachRow(*in[0], *in[0], result, [&](Row row, Row, std::span<float> largest) {
    arithmetic::rowTop(row.data(), row.size(), largest.size(), largest.data());
  });
}

void find(const ComputeNode &, Operands in, Value &result) {
  eachRow(*in[0], *in[1], result, [&](Row row, Row values, std::span<float> places) {
    arithmetic::rowFind(row.data(), row.size(), values.data(), values.size(), places.data());
  });
}

void replace(const ComputeNode &, Operands in, Value &result) {
  float with = in[2]->data[0];
  eachRow(*in[0], *in[1], result, [&](Row row, Row values, std::span<float> replaced) {
    arithmetic::rowReplace(row.data(), row.size(), values.data(), values.size(), with,
                           replaced.data());
  });
  if (in[2]->isPoison(0)) {
    result.poison.assign(result.data.size(), 1);
  }
}

} // namespace tally::data::rows
