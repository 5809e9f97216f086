//===- Shapes.cpp - Which shapes go together, and what comes of them ------===//

#include "Value.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tally {

using namespace data;

/// Each looks at its whole row.
static constexpr uint64_t mostSought = 1024;

/// Of one operation: it takes seconds, and nothing interrupts it.
static constexpr uint64_t mostProducts = uint64_t(1) << 35;

std::vector<uint64_t> data::axesOf(const ComputeNode &node, const Shape &shape) {
  std::vector<uint64_t> axes = node.list;
  if (axes.empty() && !shape.empty()) {
    axes.push_back(shape.size() - 1);
  }
  std::ranges::sort(axes);
  return axes;
}

static bool isSmallEnough(const Shape &shape, std::string &problem) {
  constexpr uint64_t most = uint64_t(1) << 28; // 1 GiB, and no product of extents wraps
  uint64_t count = 1;
  for (uint64_t extent : shape) {
    if (__builtin_mul_overflow(count, std::max<uint64_t>(extent, 1), &count) || count > most) {
      problem = fmt::format("{} has more than {} elements, the most of one value; compute it in "
                            "parts",
                            shapeText(shape), most);
      return false;
    }
  }
  return true;
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
  return isSmallEnough(result, problem);
}

static Shape without(const Shape &shape, const std::vector<uint64_t> &axes) {
  Shape result;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!std::ranges::binary_search(axes, axis)) {
      result.push_back(shape[axis]);
    }
  }
  return result;
}

namespace {

/// Each function has the rule of one operation.
class ShapeRules {
public:
  ShapeRules(const ComputeNode &node, std::span<const Shape> operands, Shape &result,
             std::string &problem)
      : node(node), operands(operands), result(result), problem(problem) {}

  bool find() {
    switch (node.op) {
    case ComputeOp::RowSum:
    case ComputeOp::RowProduct:
    case ComputeOp::RowMax:
    case ComputeOp::RowMin:
      return reduce();
    case ComputeOp::Scan:
      return scan();
    case ComputeOp::Top:
      return top();
    case ComputeOp::Find:
    case ComputeOp::Replace:
      return search();
    case ComputeOp::Transpose:
      return transpose();
    case ComputeOp::Permute:
      return permute();
    case ComputeOp::Reshape:
      return reshape();
    case ComputeOp::Index:
      return index();
    case ComputeOp::Matmul:
      return matmul();
    default:
      return broadcast(operands, result, problem);
    }
  }

private:
  bool refuse(std::string why) {
    problem = std::move(why);
    return false;
  }

  bool hasLastAxis(const Shape &shape) {
    return !shape.empty() ||
           refuse(fmt::format("'{}' needs a last axis, but its operand is a single element",
                              toString(node.op)));
  }

  bool reduce() {
    const Shape &shape = operands[0];
    if (!hasLastAxis(shape)) {
      return false;
    }
    std::vector<uint64_t> axes = axesOf(node, shape);
    if (axes.back() >= shape.size() || std::ranges::adjacent_find(axes) != axes.end()) {
      return refuse(fmt::format("'{}' goes over axes from 0 to {}, each once; [{}] are not",
                                toString(node.op), shape.size() - 1, joined(node.list)));
    }
    result = without(shape, axes);
    return true;
  }

  /// The first value of each row may be one for all.
  bool scan() {
    if (!broadcast(operands.first(2), result, problem) || !hasLastAxis(result)) {
      return false;
    }
    Shape firsts = result;
    firsts.back() = 1;
    return fitsTile(operands[2], firsts) ||
           refuse(
               fmt::format("'scan' begins with {} for rows of {}; give one number for each row, or "
                           "one for all",
                           shapeText(operands[2]), shapeText(result)));
  }

  bool top() {
    const Shape &shape = operands[0];
    if (!hasLastAxis(shape)) {
      return false;
    }
    if (node.list[0] == 0 || node.list[0] > shape.back()) {
      return refuse(fmt::format("'top' takes 1 to {} of rows of {}, not {}", shape.back(),
                                shapeText(shape), node.list[0]));
    }
    result = shape;
    result.back() = node.list[0];
    return true;
  }

  /// Rows of what is searched, and as many rows of what is searched for.
  bool search() {
    const Shape &rows = operands[0];
    const Shape &values = operands[1];
    if (!hasLastAxis(rows) || !hasLastAxis(values)) {
      return false;
    }
    if (!std::equal(rows.begin(), rows.end() - 1, values.begin(), values.end() - 1)) {
      return refuse(
          fmt::format("'{}' looks in each row of {} for a row of its own, but there are {}",
                      toString(node.op), shapeText(rows), shapeText(values)));
    }
    if (values.back() > mostSought) {
      return refuse(fmt::format("'{}' looks for at most {} numbers in a row, not {}",
                                toString(node.op), mostSought, values.back()));
    }
    if (numElements(rows) > mostProducts / std::max<uint64_t>(values.back(), 1)) {
      return refuse(
          fmt::format("'{}' of {} and {} takes more than {} comparisons; compute it in parts",
                      toString(node.op), shapeText(rows), shapeText(values), mostProducts));
    }
    if (node.op == ComputeOp::Replace && numElements(operands[2]) != 1) {
      return refuse(
          fmt::format("'replace' puts one number there, but it is {}", shapeText(operands[2])));
    }
    result = node.op == ComputeOp::Find ? values : rows;
    return true;
  }

  bool transpose() {
    result = operands[0];
    if (result.size() < 2) {
      return refuse(
          fmt::format("'transpose' needs two axes, but its operand is {}", shapeText(result)));
    }
    std::swap(result[result.size() - 1], result[result.size() - 2]);
    return true;
  }

  bool permute() {
    const Shape &shape = operands[0];
    std::vector<uint64_t> axes = node.list;
    std::ranges::sort(axes);
    std::vector<uint64_t> all(shape.size());
    std::iota(all.begin(), all.end(), 0);
    if (axes != all) {
      return refuse(fmt::format("'permute' takes each axis of {} once, but it names [{}]",
                                shapeText(shape), joined(node.list)));
    }
    result.clear();
    for (uint64_t axis : node.list) {
      result.push_back(shape[axis]);
    }
    return true;
  }

  bool reshape() {
    result = node.list;
    return (isSmallEnough(result, problem) && numElements(result) == numElements(operands[0])) ||
           !problem.empty() ||
           refuse(fmt::format("'reshape' keeps all elements, but {} and {} have not equally many",
                              shapeText(operands[0]), shapeText(result)));
  }

  bool index() {
    result.assign(node.list.begin(), node.list.end() - 1);
    if (!isSmallEnough(result, problem)) {
      return false;
    }
    return (node.list.back() < result.size() && numElements(result) != 0) ||
           refuse(fmt::format("'index' needs an axis of {}, from 0, but it names {}",
                              shapeText(result), node.list.back()));
  }

  bool matmul() {
    const Shape &first = operands[0];
    const Shape &second = operands[1];
    if (first.size() != 2 || second.size() != 2 || first[0] != second[0]) {
      return refuse(fmt::format("'matmul' takes [K, M] and [K, N], but its operands are {} and {}",
                                shapeText(first), shapeText(second)));
    }
    result = {first[1], second[1]};
    if (!isSmallEnough(result, problem)) {
      return false;
    }
    return numElements(result) <= mostProducts / std::max<uint64_t>(first[0], 1) ||
           refuse(
               fmt::format("'matmul' of {} and {} takes more than {} products; compute it in parts",
                           shapeText(first), shapeText(second), mostProducts));
  }

  const ComputeNode &node;
  std::span<const Shape> operands;
  Shape &result;
  std::string &problem;
};

} // namespace

bool data::shapeOf(const ComputeNode &node, std::span<const Shape> operands, Shape &result,
                   std::string &problem) {
  return ShapeRules(node, operands, result, problem).find();
}

bool data::fitsTile(const Shape &value, const Shape &tile) {
  if (numElements(value) == numElements(tile)) {
    return true;
  }
  bool fits = value.size() <= tile.size();
  for (size_t axis = 0; axis < tile.size(); ++axis) {
    fits &= extentOf(value, axis) == 1 || extentOf(value, axis) == tile[axis];
  }
  return fits;
}

} // namespace tally
