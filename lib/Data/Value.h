//===- Value.h - Tiles of numbers, and what functions make of them --------===//
//
// A value is an array of f32 in row-major order, and for each element whether it is poison. Every
// function here is a function of values alone: the same operands give the same bits.
//
// Functions on whole numbers make whole values: their elements hold 32 bits instead. An
// operation that takes the other kind converts them: to numbers with a sign, or to the nearest
// ones.
//
// Poison: an element of a result is poison if any element that it was made of is.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DATA_VALUE_H
#define TALLY_LIB_DATA_VALUE_H

#include "Tiles.h"

#include "tally/Model/ComputeText.h"

#include <variant>

namespace tally::data {

struct Value {
  Shape shape;
  std::vector<float> data;
  std::vector<uint8_t> poison; ///< 1: poison; empty: none is
  bool isWhole = false;        ///< `data` holds whole numbers, as bits

  int32_t whole(size_t element) const { return std::bit_cast<int32_t>(data[element]); }

  void setWhole(size_t element, int64_t bits) {
    data[element] = std::bit_cast<float>(static_cast<int32_t>(bits));
  }

  /// What arithmetic takes the element for.
  float number(size_t element) const {
    return isWhole ? static_cast<float>(whole(element)) : data[element];
  }

  /// Zeros, or whatever was there; no poison.
  void reset(const Shape &newShape) {
    isWhole = false;
    shape = newShape;
    data.resize(numElements(shape));
    poison.clear();
  }

  bool isPoison(size_t element) const { return !poison.empty() && poison[element] != 0; }

  void makePoison(size_t element) {
    poison.resize(data.size(), 0);
    poison[element] = 1;
  }
};

using Operands = std::span<const Value *const>;

/// Shapes are aligned at their first axes: a column of [P] goes with all of [P, F].
inline uint64_t extentOf(const Shape &shape, size_t axis) {
  return axis < shape.size() ? shape[axis] : 1;
}

/// The axes over which a node goes: the last one, or those that it lists, ascending.
std::vector<uint64_t> axesOf(const ComputeNode &node, const Shape &shape);

/// The shape of what a node makes of operands of these shapes, or why it cannot be.
/// Not for Number, Iteration, Read, Kept and Gather.
bool shapeOf(const ComputeNode &node, std::span<const Shape> operands, Shape &result,
             std::string &problem);

/// Whether the operands of this operation are whole numbers.
bool takesWholes(const ComputeNode &node);

/// An operation as a function of one element of each operand.
using Scalar = std::variant<std::monostate, float (*)(float), float (*)(float, float),
                            int32_t (*)(int32_t, int32_t)>;

/// None: it is no such function.
Scalar scalarOf(ComputeOp op);

/// Whether a value can be written to a tile: as many elements, or repeated along axes of one.
bool fitsTile(const Shape &value, const Shape &tile);

/// result := node(operands), of the shape that shapeOf() has found.
void evaluate(const ComputeNode &node, Operands operands, const Shape &shape, Value &result);

/// The value repeated to fill this shape, which it fits.
void spread(const Value &value, const Shape &shape, Value &result);

} // namespace tally::data

#endif // TALLY_LIB_DATA_VALUE_H
