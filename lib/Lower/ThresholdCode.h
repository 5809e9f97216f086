//===- ThresholdCode.h - Where the value of an expression is computed -----===//
//
// The inputs of an expression, seen from a consumer, change at the entry of some loops around the
// consumer, and in statements next to it. The innermost body in which any of them changes is the
// *anchor*; within it, the last statement before the consumer that changes one opens an *epoch*.
// Expression, anchor and epoch identify a value: computed once, in the anchor's body before the
// statement that holds the first consumer, it serves every consumer of that epoch, in nested loops
// too. A consumer in a branch may need the same expression with an anchor of its own, which takes
// the first value's place: what is then computed farther in serves only what is in that body. That
// is loop-invariant code motion and common subexpressions in one rule, with no analysis of the
// emitted code.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_THRESHOLDCODE_H
#define TALLY_LIB_LOWER_THRESHOLDCODE_H

#include "CounterCode.h"

#include <map>

namespace tally::lowering {

class ThresholdCode {
public:
  /// For the consumers of one engine, in order. Finds what is wanted before a statement for one of
  /// them inside it.
  ThresholdCode(const EmitContext &context, const std::vector<InstrId> &consumers,
                const CounterCode &counters, KnownExprs &known, ValueWriter &writer);

  /// Computes what is wanted before a statement.
  void before(StmtId stmt);

  /// The operand that holds `expr` for a consumer, computed here if no earlier one will do. Uses
  /// are numbered in the order of consumers and their waits.
  Operand valueOf(ExprId expr, InstrId consumer, uint32_t use);

private:
  /// A wait of a consumer, and the body in which code for it is being written.
  struct Use {
    InstrId consumer;
    uint32_t number;
    LoopId here;
  };

  /// A value wanted before a statement for a consumer inside it.
  struct Hoist {
    StmtId before;
    ExprId expr;
    InstrId consumer;
    uint32_t use; ///< which wait, where values are not shared
  };

  void findHoists(const std::vector<InstrId> &consumers);
  void hoist(ExprId expr, InstrId consumer, uint32_t depth, uint32_t use);
  bool isStepped(ExprId expr, InstrId consumer);
  Anchor anchorOf(ExprId expr, InstrId consumer);
  Anchor computedAt(ExprId expr, InstrId consumer);
  Operand valueFor(ExprId expr, const Use &use);
  Operand unsharedValue(ExprId expr, const Use &use, uint32_t depth);
  RegId compute(const Expr &node, const Use &use, uint32_t depth);

  const EmitContext &context;
  const Kernel &kernel;
  const ExprPool &exprs;
  const CounterCode &counters;
  KnownExprs &known;
  ValueWriter &writer;
  std::vector<Hoist> hoists;                             ///< sorted by statement
  std::map<std::pair<ExprId, uint32_t>, RegId> unshared; ///< by expression and use, without CSE
};

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_THRESHOLDCODE_H
