//===- Owed.h - What each run of a consumer is owed -----------------------===//
//
// The definition of a dependence, counted out for one run of a kernel. H, the history of an engine,
// has every entry of every body that it has made, with its iteration vector: the iterations of the
// real loops around and including it, the root left out. With v the vector of a consumer's run,
//
//   t            v minus the distance, over the common loops; for an element form, then the
//                iterations of the producer's inner loops in its run there of the number of the
//                consumer's, minus the step
//   owed         nothing, if some t_j <= 0; or as many runs of the producer as H has entries of
//                its body whose first components are <= t, in lexicographic order
//   flat f       as many as H has entries of the common body, less f
//
// No wait formula, counter or class of dependences is used. An engine enters bodies in
// lexicographic order of their vectors, so the entries that count are the first ones, and bisection
// finds how many.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_RUN_OWED_H
#define TALLY_RUN_OWED_H

#include "tally/Model/Bindings.h"
#include "tally/Model/RunNumbers.h"
#include "tally/Support/Stop.h"

#include <span>
#include <unordered_map>

namespace tally {

/// What one engine's history says of its consumers.
class History {
public:
  History(const Kernel &kernel, EngineId engine);

  /// An entry of a body.
  void enter(LoopId body, std::span<const uint32_t> iterations);

  /// What a consumer of this engine is owed that runs now, in these iterations.
  uint32_t owed(DepId dep, std::span<const uint32_t> iterations) const;

private:
  struct Body {
    bool isWatched = false; ///< it holds a producer
    uint32_t rank = 0;      ///< length of its vectors
    uint32_t entries = 0;
    std::vector<uint32_t> vectors; ///< of all entries, one after the other
  };

  bool addRunOf(DepId dep, std::span<const uint32_t> iterations,
                std::vector<int64_t> &target) const;
  uint32_t upTo(const Body &body, std::span<const int64_t> target) const;

  const Kernel &kernel;
  IdVector<LoopId, Body> bodies;
  IdVector<DepId, std::vector<int64_t>> distances; ///< by common real loop
  std::unordered_map<uint32_t, SideBySide> nests;  ///< of element forms
};

/// All runs of all instructions: in which iterations they are, and what they are owed.
class Owed {
public:
  /// No runs yet. Those of `never` are not owed; empty: none.
  explicit Owed(const Kernel &kernel, const IdVector<DepId, bool> &never = {});

  /// Goes through the kernel on each engine; stops after that many entries and runs, then
  /// complete() says no.
  Owed(const Kernel &kernel, const Bindings &bindings, Fuel fuel);

  bool complete() const { return isComplete; }

  /// The dependences of a consumer.
  const std::vector<DepId> &depsOf(InstrId consumer) const { return byConsumer[consumer]; }

  /// How many runs of the producer must have retired before run `run`, from 0, of the consumer. 0
  /// for runs that the kernel does not have.
  uint32_t of(DepId dep, uint32_t run) const { return run < runs[dep].size() ? runs[dep][run] : 0; }

  uint32_t numRuns(InstrId instr) const { return vectors[instr].numRuns; }

  /// The iteration vector of a run: the real loops around it, outermost first.
  std::span<const uint32_t> iterationsOf(Instance instance) const {
    const Vectors &of = vectors[instance.instr];
    assert(instance.run < of.numRuns && "the kernel has that run");
    return std::span(of.all).subspan(size_t(of.rank) * instance.run, of.rank);
  }

  /// How much longer than others it takes to add a run: the numbers that are compared, or some of
  /// them.
  uint64_t effort(InstrId instr, size_t numIterations) const {
    return byConsumer[instr].size() * numIterations / 16;
  }

  /// The next run of an instruction, of its engine's history. Which one it is.
  Instance addRun(InstrId instr, const History &history, const std::vector<uint32_t> &iterations);

private:
  struct Vectors {
    uint32_t numRuns = 0;
    uint32_t rank = 0;         ///< length of one
    std::vector<uint32_t> all; ///< one after the other
  };

  bool isComplete = true;
  IdVector<InstrId, std::vector<DepId>> byConsumer;
  IdVector<DepId, std::vector<uint32_t>> runs;
  IdVector<InstrId, Vectors> vectors;
};

} // namespace tally

#endif // TALLY_RUN_OWED_H
