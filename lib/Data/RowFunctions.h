//===- RowFunctions.h - What is made of whole rows ------------------------===//
//
// A row is the last axis, or the axes that a node lists, joined.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DATA_ROWFUNCTIONS_H
#define TALLY_LIB_DATA_ROWFUNCTIONS_H

#include "Value.h"

namespace tally::data::rows {

// One number for each row.
void sum(const ComputeNode &node, Operands in, Value &result);
void product(const ComputeNode &node, Operands in, Value &result);
void largest(const ComputeNode &node, Operands in, Value &result);
void smallest(const ComputeNode &node, Operands in, Value &result);

// A row for each row.
void scan(const ComputeNode &node, Operands in, Value &result);
void top(const ComputeNode &node, Operands in, Value &result);
void find(const ComputeNode &node, Operands in, Value &result);
void replace(const ComputeNode &node, Operands in, Value &result);

/// The sign of an operation that `scan` goes on with, as in Arithmetic.h.
char signOf(uint64_t op);

/// The axes to the places that `order` gives them, outermost first.
void permuteAxes(const Value &from, const std::vector<uint64_t> &order, Value &result);

} // namespace tally::data::rows

#endif // TALLY_LIB_DATA_ROWFUNCTIONS_H
