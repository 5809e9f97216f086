//===- ValueWriter.h - Operations over values, one after the other --------===//
//
// Appends operations to ValueCode, and notes where each of its values is last read: that depends
// on which loops and branches are open.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_VALUEWRITER_H
#define TALLY_LIB_LOWER_VALUEWRITER_H

#include "Registers.h"

namespace tally::lowering {

class ValueWriter {
public:
  /// Overwrites `code`.
  explicit ValueWriter(ValueCode &code);

  /// A counter that the code does not set by itself.
  RegId newCounter(CounterRole role);

  /// A counter that starts here.
  RegId startCounter(CounterRole role, uint32_t from = 0);

  /// The operation before is the last that reads or moves this counter.
  void endCounter(RegId counter);

  void bump(RegId counter, uint32_t by = 1);
  void move(RegId to, RegId from);

  /// counter := from + number
  void sum(RegId counter, RegId from, uint32_t number);

  /// counter := counter + a temporary
  void change(RegId counter, Operand by);

  /// A temporary, computed here in a body of this depth.
  RegId compute(AluOp alu, Operand a, Operand b, uint32_t depth);

  /// The next operation reads `operand`.
  void touch(Operand operand);

  void open(const Op &begin);
  void close(OpKind kind);

  /// What has been written; what else is to be written goes to its end.
  ValueCode &code() { return program; }

private:
  static constexpr uint32_t noRegion = Id<void>::noneValue;

  uint32_t position() const { return static_cast<uint32_t>(program.ops.size()); }

  RegId newValue(RegisterValue value);

  ValueCode &program;
  std::vector<uint32_t> regionAtDepth; ///< of each open body, outermost first
};

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_VALUEWRITER_H
