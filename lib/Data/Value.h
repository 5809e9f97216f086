//===- Value.h - Tiles of numbers, and what functions make of them --------===//
//
// A value is an array of f32 in row-major order, and for each element whether it is poison. Every
// function here is a function of values alone: the same operands give the same bits.
//
// Poison: an element of a result is poison if any element that it was made of is.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DATA_VALUE_H
#define TALLY_LIB_DATA_VALUE_H

#include "Tiles.h"

#include "tally/Model/ComputeText.h"

namespace tally {

struct Value {
  Shape shape;
  std::vector<float> data;
  std::vector<uint8_t> poison; ///< 1: poison; empty: none is

  /// Zeros, or whatever was there; no poison.
  void reset(const Shape &newShape) {
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

/// The shape of what a function makes of operands of these shapes; else why it cannot be.
/// Not for Number, Read, Kept and Gather.
bool shapeOf(ComputeOp op, std::span<const Shape> operands, Shape &result, std::string &problem);

/// Whether a value can be written to a tile: as many elements, or repeated along axes of one.
bool fitsTile(const Shape &value, const Shape &tile);

/// result := op(operands), of the shape that shapeOf() has found.
void evaluate(ComputeOp op, std::span<const Value *const> operands, const Shape &shape,
              Value &result);

/// The value repeated to fill this shape, which it fits.
void spread(const Value &value, const Shape &shape, Value &result);

} // namespace tally

#endif // TALLY_LIB_DATA_VALUE_H
