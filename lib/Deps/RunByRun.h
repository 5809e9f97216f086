//===- RunByRun.h - What follows, where all runs can be gone through --------===//
//
// Chains (ChainSearch.h) show that a dependence follows for one reason in all runs. It may also
// follow for one reason in some runs and for another one in the rest:
//
//   first row of the inner loop     what the engine had waited for in the row before
//   all other rows                  what it waits for in the same row
//
// Where all trips are constant, and few, every run is gone through in the order of the program.
// It knows of each queue how many runs have retired by then: what its engine knew before, what it
// waits for, and what those runs knew when they started.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_RUNBYRUN_H
#define TALLY_LIB_DEPS_RUNBYRUN_H

#include "tally/Deps/Extract.h"
#include "tally/Run/Owed.h"

namespace tally::deps {

class RunByRun {
public:
  /// Of all dependences, as they stand; those that are asked about, as they are needed. None if
  /// trips are not constant, or there are too many runs. The extraction must outlive it.
  static std::optional<RunByRun> of(const Kernel &kernel, const Extraction &extraction,
                                    const std::vector<bool> &isAsked);

  /// Which of those that are asked about (by index) follow from those that are used.
  std::vector<bool> follow(const std::vector<bool> &isAsked, const std::vector<bool> &isUsed);

  /// How many more dependences may be asked about, one by one.
  size_t numQuestions() const;

  /// How often the consumer runs.
  uint32_t numRuns(const Dep &dep) const { return owed.numRuns(dep.consumer); }

private:
  struct Run {
    InstrId instr;
    uint32_t number = 0; ///< of this instruction
    uint32_t place = 0;  ///< in its queue
  };

  explicit RunByRun(std::unique_ptr<const Kernel> kernel);

  bool findRuns();
  const uint32_t *waitedFor(DepId dep, uint32_t run) const;

  /// How many runs of each queue have retired when a run starts.
  std::span<uint32_t> known(uint32_t run) {
    return std::span(knowledge).subspan(run * numQueues, numQueues);
  }

  std::unique_ptr<const Kernel> kernel; ///< with all dependences
  Owed owed;
  size_t numQueues;
  std::vector<Run> runs; ///< in the order of the program
  IdVector<InstrId, std::vector<uint32_t>> runsOf;
  std::vector<uint32_t> knowledge;
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_RUNBYRUN_H
