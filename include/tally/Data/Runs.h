//===- Runs.h - Every run of every instruction, one after the other -------===//
//
// The sequential run of a kernel: one walk through the tree, in the order of the text, all engines
// together. It is what every other order has to agree with; and it says in which iterations
// each run of an instruction happens, which other orders need to know, too.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DATA_RUNS_H
#define TALLY_DATA_RUNS_H

#include "tally/Model/Bindings.h"
#include "tally/Model/Iterations.h"
#include "tally/Model/Tiles.h"
#include "tally/Support/Stop.h"

#include <span>

namespace tally {

/// Errors: loops and dependences that leave open what the sequential run is.
void checkSequential(const Kernel &kernel, Diagnostics &diagnostics);

class Runs {
public:
  /// Walks a kernel that check() accepts. Errors, after which nothing may be asked: those of
  /// checkSequential(), and more than `maxRuns` runs.
  Runs(const Kernel &kernel, const Bindings &bindings, Diagnostics &diagnostics,
       uint64_t maxRuns = 50'000'000);

  /// In sequential order.
  const std::vector<Instance> &order() const { return inOrder; }

  uint32_t numRuns(InstrId instr) const { return counts[instr]; }

  /// The loops and branches around the instruction, outermost first, without the root.
  std::span<const LoopIndex> indices(Instance instance) const;

  /// The values of the kernel.
  std::span<const int64_t> values() const { return known; }

private:
  /// Whether the fuel sufficed.
  bool walk(const Bindings &bindings, Fuel fuel);

  const Kernel &kernel;
  std::vector<int64_t> known; ///< by value
  std::vector<Instance> inOrder;
  IdVector<InstrId, uint32_t> counts;
  IdVector<InstrId, std::vector<LoopIndex>> indicesOf;
};

/// `A = 2, B = 0`; empty outside loops.
std::string iterationText(const Kernel &kernel, const Runs &runs, Instance instance);

} // namespace tally

#endif // TALLY_DATA_RUNS_H
