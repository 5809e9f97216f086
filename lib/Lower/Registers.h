//===- Registers.h - Values to registers, by live range -------------------===//
//
// Code is first written over *values*, as many as wanted: counters, which are
// changed in place, and temporaries, each computed by one operation. Here they get registers.
//
// Every temporary can be computed again wherever it is used: its inputs are counters that have
// not changed since (that is how its place was chosen). So nothing is ever stored and reloaded;
// when registers run out, the temporary whose next use is farthest is forgotten, and computed again
// at that use. Only counters must fit.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_LOWER_REGISTERS_H
#define TALLY_LIB_LOWER_REGISTERS_H

#include "tally/Code/Code.h"
#include <optional>

namespace tally::lowering {

/// What a counter counts.
struct CounterRole {
  RegisterRole::Kind kind = RegisterRole::Kind::Temporary;
  uint32_t id = 0; ///< of what it is about: loop, ring, rounds, instruction, queue, or expression
  uint32_t slot = 0;
};

struct RegisterValue {
  CounterRole role;
  uint32_t depth = 0;      ///< of the body that computes it
  uint32_t definition = 0; ///< index of its one operation, for a temporary
  uint32_t lastUse = 0;    ///< index of the operation after which it is not needed ...
  uint32_t lastRegion = Id<void>::noneValue; ///< ... unless this region, which ends later, uses it

  bool isCounter() const { return role.kind != RegisterRole::Kind::Temporary; }
};

/// A loop or an `if` in the operations, by index of its first and last one.
struct Region {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// Operations over values: RegIds are indices into `values`.
struct ValueCode {
  std::vector<Op> ops;
  std::vector<RegisterValue> values;
  std::vector<Region> regions;
};

struct AllocatedCode {
  std::vector<Op> ops;
  uint32_t numRegisters = 0;
  std::vector<std::vector<uint32_t>> countersOf; ///< by register: counters it ever holds
};

/// Gives every value a register. Uses more than `limit` only if the counters alone need more.
AllocatedCode allocateRegisters(const ValueCode &program, std::optional<uint32_t> limit);

} // namespace tally::lowering

#endif // TALLY_LIB_LOWER_REGISTERS_H
