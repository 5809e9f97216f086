//===- Definition.h - When is a dependence satisfied? By enumeration ------===//
//
// The oracle of the project. It knows no wait formula, no counter, no class of
// dependences: it lists what an engine does, one run of one instruction after
// the other, and counts in the list.
//
// A run of an instruction is an entry of its home. It has an iteration vector: the
// iteration numbers of the real loops around it, outermost first (branches are
// transparent, the root is left out because it is always 1). With v the vector of a
// consumer's run and delta the distance, t = v - delta over the common loops, and
//
//   some t_j <= 0   nothing is owed
//   otherwise       every run of the producer whose common vector is <= t,
//                   in lexicographic order, must have retired
//
// which is Equation 1 of the paper. The other two forms differ in what is compared:
//
//   flat f          run number q (from 1) needs all producer runs up to number q - f
//   element d       the number of the consumer's run in this iteration of all loops around both,
//                   minus d, is compared with that of the producer's, as one more component
//
// Everything is counted on the consumer's engine and "so far": a run counts from the moment when
// this engine enters the producer's home.
//
// Independent of  everything that plans, compiles and checks; the specification of Check counts in
//                 another way (Spec.h)
// Shared          the kernel and its bindings (Model)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_DEFINITION_H
#define TALLY_ORACLE_DEFINITION_H

#include "tally/Model/Bindings.h"

#include <span>

namespace tally::oracle {

/// What one run of a consumer is owed, in runs of the producer.
struct Need {
  uint64_t runs = 0;    ///< the definition
  uint64_t ceiling = 0; ///< with all components inside the carrying loop left open: what a wait may
                        ///< ask for that knows only the carrying loop (SEMANTICS: CONS)
  uint64_t before = 0;  ///< runs that come before the consumer in sequence; a wait for more hangs
};

/// The most that a wait may ask for.
enum class Allowance : uint8_t {
  Exact,    ///< what is owed
  Carrier,  ///< what can be told by the carrying loop alone
  Sequence, ///< all that comes before
  None,     ///< nothing: other waits are enough
};

inline uint64_t mostRuns(const Need &need, Allowance allowance) {
  return allowance == Allowance::Exact      ? need.runs
         : allowance == Allowance::Carrier  ? need.ceiling
         : allowance == Allowance::Sequence ? need.before
                                            : 0;
}

/// What one run of an instruction adds to which counter when it retires.
struct Signal {
  static constexpr uint32_t none = UINT32_MAX;
  uint32_t counter = none;
  uint64_t amount = 0;
};

using Signals = IdVector<InstrId, Signal>;

/// One engine's run of a kernel, with all that its consumers are owed.
class Definition {
public:
  Definition(const Kernel &kernel, const Bindings &bindings, EngineId engine,
             uint64_t maxSteps = 20000);

  /// Whether the run was cut off; the rest is then not to be used.
  bool cutOff() const { return !complete; }

  /// For each run of the consumer, in order; empty if the consumer is on another engine.
  const std::vector<Need> &needs(DepId dep) const { return needsOf[dep]; }

  /// Every instruction of every engine, as this engine's control flow orders them.
  const std::vector<InstrId> &sequence() const { return order; }

  /// How often the home of `instr` was entered.
  uint64_t runsOf(InstrId instr) const { return countOf[kernel.instrs[instr].home]; }

  /// The iteration vector of run number `run` (from 0) of `instr`.
  std::span<const uint32_t> vectorOf(InstrId instr, uint64_t run) const;

  /// The smallest values of the producer's counter that show its runs: element R is what the
  /// counter reads when everything up to and including run R of `producer` has retired, in the
  /// order of the queue, and nothing later. Element 0 is 0.
  std::vector<uint64_t> valuesAfterRuns(InstrId producer, const Signals &signals) const;

private:
  friend class DefinitionVisitor;

  const Kernel &kernel;
  bool complete = true;
  IdVector<LoopId, uint32_t> rankOf;                 ///< length of the iteration vector
  IdVector<LoopId, std::vector<uint32_t>> vectorsOf; ///< of all entries, one after the other
  IdVector<LoopId, uint64_t> countOf;                ///< entries
  IdVector<DepId, std::vector<Need>> needsOf;
  std::vector<InstrId> order;
};

} // namespace tally::oracle

#endif // TALLY_ORACLE_DEFINITION_H
