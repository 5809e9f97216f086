//===- RegisterForms.h - What a register's value depends on ---------------===//
//
// Code counts in registers. A sum of counters, each with a factor, goes on in one way however far
// they get. Where values are compared or capped, code *bends*: from some number on it goes on in
// another way. What bends by one sum of counters does so at a place that a run can pass (Turns.h).
// What bends by several at once may do so in one run of many, and is *open*: no run that was tried
// tells of the others.
//
//   4 * t + b                the sum 4t + b
//   "t" gt 2, times "t" - 2  bends by t
//   "a" gt 4, times "b" gt 5 open
//
// A counter is a register that an iteration leaves to the next one: with a number added, as a copy
// of another one, or, as in 1 - "phase", by its own value alone. What is doubled, or is a sum of
// earlier sums, is open, too, and so is a comparison of what may pass the largest number of the
// machine: it begins again at 0, each time elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_REGISTERFORMS_H
#define TALLY_LIB_CHECK_REGISTERFORMS_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tally::check {

/// Factors by source: a register that is handed on, or a choice between branches.
using CounterSum = std::map<uint32_t, int64_t>;

struct RegisterForm {
  std::optional<uint64_t> constant; ///< in all runs; then there is nothing else
  CounterSum sum;
  std::set<CounterSum> bends; ///< each without a common factor
  bool isScaled = false;      ///< it was multiplied, or is a sum of what is not a number
  bool isOpen = false;

  bool isNumber() const { return sum.empty() && bends.empty() && !isOpen; }

  bool operator==(const RegisterForm &) const = default;
};

/// Which sides of a comparison only longer runs may show: counters begin on the other one.
struct Sides {
  bool less = false; ///< or equal
  bool more = false;

  bool any() const { return less || more; }
};

class RegisterForms {
public:
  /// `mayWrap`: by register, whether a sum or product in it may be beyond the machine's numbers.
  RegisterForms(const EngineProgram &program, const Machine &machine,
                const std::vector<bool> &mayWrap);

  /// Of the operands of a comparison, or the condition of a `when`; none if they are always as far
  /// apart.
  Sides sidesAt(uint32_t op) const { return sides[op]; }

  /// The operations that wait for an open value, or depend on one.
  const std::vector<uint32_t> &openUses() const { return open; }

private:
  class Walk;

  std::vector<Sides> sides; ///< by operation
  std::vector<uint32_t> open;
};

} // namespace tally::check

#endif // TALLY_LIB_CHECK_REGISTERFORMS_H
