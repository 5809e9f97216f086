//===- Needs.h - What each run of a consumer is owed ----------------------===//
//
// The definition of a dependence, counted out for one run of the kernel: with v the iteration
// vector of a consumer's run and t = v - distance over the common loops, every earlier run of the
// producer whose common vector is at most t must have retired; if a component of t is not
// positive, none. No wait formula, counter or class of dependences is used.
//
// An engine enters bodies in lexicographic order of their common iterations, so the runs that are
// owed are the first ones, and a binary search counts them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_NEEDS_H
#define TALLY_LIB_CHECK_NEEDS_H

#include "tally/Model/Bindings.h"

namespace tally {

class Needs {
public:
  /// Walks the kernel on each engine; stops after `maxSteps` entries and runs, then complete()
  /// says no.
  Needs(const Kernel &kernel, const Bindings &bindings, uint64_t maxSteps);

  bool complete() const { return isComplete; }

  /// The dependences of a consumer.
  const std::vector<DepId> &depsOf(InstrId consumer) const { return byConsumer[consumer]; }

  /// How many runs of the producer must have retired before run `run`, from 0, of the consumer. 0
  /// for runs that the kernel does not have.
  uint32_t of(DepId dep, uint32_t run) const { return run < runs[dep].size() ? runs[dep][run] : 0; }

private:
  friend class NeedsVisitor;

  bool isComplete = true;
  IdVector<InstrId, std::vector<DepId>> byConsumer;
  IdVector<DepId, std::vector<uint32_t>> runs;
};

} // namespace tally

#endif // TALLY_LIB_CHECK_NEEDS_H
