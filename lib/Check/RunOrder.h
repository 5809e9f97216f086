//===- RunOrder.h - Runs of instructions in the order of the text ---------===//
//
// Which of two runs comes first if the kernel is executed one instruction after the other? Engines
// that disagree about trips each have their own iterations; those of the loops around both
// instructions are compared.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_RUNORDER_H
#define TALLY_LIB_CHECK_RUNORDER_H

#include "tally/Check/Datapath.h"
#include "tally/Model/Bindings.h"

namespace tally {

class RunOrder {
public:
  /// For a kernel whose engines together have at most `maxSteps` entries of bodies and runs.
  RunOrder(const Kernel &kernel, const Bindings &bindings, uint64_t maxSteps);

  /// Whether `a` comes before `b`. Runs that the kernel does not have come first.
  bool isBefore(Instance a, Instance b) const;

private:
  const Kernel &kernel;
  IdVector<InstrId, std::vector<uint32_t>> vectors; ///< of all runs, one after the other
  IdVector<InstrId, uint32_t> rank;                 ///< length of one vector
  IdVector<InstrId, uint32_t> numRuns;
};

} // namespace tally

#endif // TALLY_LIB_CHECK_RUNORDER_H
