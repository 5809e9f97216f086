//===- ComputeText.h - What an instruction computes, as text --------------===//
//
// An instruction may say what it writes, as expressions over what it reads:
//
//   r0 + r1                          the sum of its first two tiles
//   r0 * 0.125; max(r0 * 0.125)      two results: scaled scores, and the largest of each row
//   keep(r0)                         its engine keeps the tile: the weights of later products
//   start(k, matmul(kept, r0))       a product; in the first iteration of `k` a sum begins
//   gather(r0, r1)                   rows of r0, by the indices r1
//   scatter(r0, r1)                  writes the rows r0 where the indices r1 say
//
// Grammar:
//   text   := result { ';' result }
//   result := 'keep' '(' expr ')'                    no tile: the engine's kept tile
//           | 'start' '(' [ loop ',' ] expr ')'      of an accumulation: does not add, but sets
//           | 'scatter' '(' expr ',' expr ')'        rows, and where each of them goes
//           | expr
//   expr   := sum [ ( '<' | '<=' | '>' | '>=' | '==' | '!=' ) sum ]      1 or 0
//   sum    := term { ( '+' | '-' ) term }
//   term   := factor { ( '*' | '/' ) factor }
//   factor := number | 'inf' | 'r' digits | 'kept' | loop | '-' factor | '(' expr ')'
//           | function '(' argument { ',' argument } ')'
//   argument := expr | integer | '[' integer { ',' integer } ']' | operator
//   loop   := word | '"' name '"'                    its iteration, as a number
//
// docs/guide/data/Expressions.md lists the functions, and ComputeText.cpp has them as a table.
//
// The tiles that the instruction reads are r0, r1, and so on, in the order of the text. There is
// one result for each tile that it writes, in order, and then for each that it accumulates; `keep`
// stands next to them. docs/guide/data/Expressions.md says which shapes fit, and
// docs/guide/data/Numbers.md how numbers are rounded.
//
// Like tiles, the text is carried through unread by everything in Sync and Code.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_COMPUTETEXT_H
#define TALLY_MODEL_COMPUTETEXT_H

#include "tally/Model/Kernel.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tally {

using ComputeId = Id<struct ComputeTag>;

enum class ComputeOp : uint8_t {
  Number,
  Iteration, ///< of the loop `word`
  Read,
  Kept,
  // Element by element, one operand.
  Negate,
  Abs,
  Sign,
  Floor,
  Ceil,
  Trunc,
  Round,
  Reciprocal,
  Square,
  Sqrt,
  Rsqrt,
  Exp,
  Log,
  Sin,
  Cos,
  Arctan,
  Tanh,
  Erf,
  Sigmoid,
  Silu,
  Gelu,
  Softplus,
  // Element by element, two operands or three.
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Pow,
  Mod,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Select,
  // On whole numbers of 32 bits.
  BitAnd,
  BitOr,
  BitXor,
  BitNot,
  ShiftLeft,
  ShiftRight,
  ShiftRightSigned,
  WholeAdd,
  WholeSub,
  WholeMul,
  Bits,
  FromBits,
  Convert, ///< to the format `word`
  // Over the last axis, or those in `list`.
  RowSum,
  RowProduct,
  RowMax,
  RowMin,
  Scan, ///< with the two operators in `list`
  Top,  ///< the list[0] largest
  Find,
  Replace,
  // Of whole tiles.
  Transpose,
  Permute, ///< to the axes in `list`
  Reshape, ///< to the shape `list`
  Index,   ///< of the shape in `list`, along the axis that is its last number
  Matmul,
  Gather,
};

/// The name of a function, or the sign of an operator.
std::string_view toString(ComputeOp op);

/// One node of an expression.
struct ComputeNode {
  ComputeOp op = ComputeOp::Number;
  float number = 0;
  uint32_t read = 0; ///< which of the tiles that are read
  std::array<ComputeId, 3> operands{};
  std::vector<uint64_t> list = {};
  std::string word = {};

  bool operator==(const ComputeNode &) const = default;
};

struct ComputeResult {
  enum class Kind : uint8_t {
    Value,   ///< goes to the tile; added, if the tile is accumulated
    Start,   ///< sets an accumulated tile, in the first iteration of `loop` if there is one
    Scatter, ///< the rows of the value go where `index` says
    Keep,    ///< has no tile
  };
  Kind kind = Kind::Value;
  ComputeId value;
  ComputeId index;
  std::string loop;
};

struct ParsedCompute {
  IdVector<ComputeId, ComputeNode> nodes; ///< each once; operands before their users
  std::vector<ComputeResult> results;
};

/// Reads the text; none and a reason that names the column (from 1) if it is wrong.
std::optional<ParsedCompute> parseCompute(std::string_view text, std::string &error);

/// What instructions of a kernel compute, each text read once when the kernel is finished. What is
/// wrong stays in the table, marked: check() reports it, and no other code sees such a kernel.
class ComputeTable {
public:
  struct Entry {
    ParsedCompute compute;
    std::string problem; ///< why the text cannot be read; empty if it can
  };

  explicit ComputeTable(const Kernel &kernel);

  /// Of a text that an instruction computes.
  const Entry &operator[](NameId text) const { return entries.at(text); }

private:
  std::unordered_map<NameId, Entry> entries;
};

/// Why this instruction cannot compute that: results and tiles differ in number, an operand does
/// not exist, a loop is not around it. Empty if it can.
std::string computeProblem(const Kernel &kernel, InstrId id, const ParsedCompute &compute);

} // namespace tally

#endif // TALLY_MODEL_COMPUTETEXT_H
