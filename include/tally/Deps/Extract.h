//===- Extract.h - Dependences from accesses ------------------------------===//
//
// Finds which instructions must wait for which, from what they touch. For each ordered pair of
// conflicting accesses (same elements, at least one writes), this is the last run of the producer
// that conflicts with a run of the consumer and comes before it in the sequential program. That
// holds for all trip counts and all outcomes of conditions.
//
//   for A { load writes X[A mod 2];  scale reads X[A mod 2] }
//
//   load -> scale  raw                 the same iteration
//   scale -> load  war at A = 2        the slot's last reader
//
// A dependence says: the producer's runs up to there have retired. So it is *exact* for a pair
// of accesses if each run of the consumer needs the run that it waits for last, or an earlier run
// of the consumer did. A run of the producer that did not happen (a branch not taken, a loop of no
// trips) is passed over. Where no distance is exact, the shortest that ever occurs is taken:
// sound, never too early, and reported with the reason.
//
// What is not known is taken for a conflict: tiles `X[@]`, indices with a run-time value `$n`,
// buffers that may share memory.
//
// No dependence is derived where the order holds anyway: two accumulations on one queue, and, on a
// machine whose queues do not overlap their instructions, two instructions of one queue. What was
// written over in between, in every run, is left out (Families.h, Reaching.h): a wait for the
// later write waits for all before it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_EXTRACT_H
#define TALLY_DEPS_EXTRACT_H

#include "tally/Model/Kernel.h"

#include <algorithm>
#include <memory>

namespace tally {

struct ExtractOptions {
  /// As in Machine: instructions of one queue run at the same time, so they need waits, too.
  bool queueOverlap = true;
  /// How many different pairs of tiles are looked at; all others wait for all earlier runs. Without
  /// a value: as many as fits the size of the kernel.
  std::optional<size_t> mostQuestions = {};
};

/// Why a dependence waits for more than the two accesses ask for.
enum class Excess : uint8_t {
  None,      ///< it does not: it is exact
  Anywhere,  ///< a tile `X[@]`
  Symbol,    ///< an index, size or guard with a run-time value
  Alias,     ///< two buffers that may share memory, at unknown places
  Guarded,   ///< a guard keeps the two apart in some iterations, and all wait
  Varies,    ///< the last conflicting run is not at the same distance in all iterations
  Undecided, ///< the question was too large to be decided, or came after too many others
};
template <>
inline constexpr auto wordsOf<Excess> = words("exact", "anywhere", "run-time value", "alias",
                                              "guarded", "distance varies", "undecided");

/// One link of the chain by which a dependence is implied (Implied.h).
struct DerivationStep {
  enum class Kind : uint8_t {
    Wait,     ///< `later` waited for `earlier`, as dependence `dep` says
    Engine,   ///< the engine issued `earlier` before `later`
    Branches, ///< `later` waited as dependence `dep` says, or in the other branch `earlier` did
    Queue,    ///< `earlier` entered the queue before `later`, and so retired before it
    Runs,     ///< all runs of `later`, as many as `dep` says, were gone through
  };
  Kind kind = Kind::Wait;
  uint32_t dep = 0; ///< into Extraction::deps
  InstrId later;
  InstrId earlier; ///< none where runs were gone through
};

/// No run of the consumer needs a dependence before this iteration of one of the loops around it
/// and not around the producer. Or, if that loop surely comes to it: before it does so for the
/// first time.
struct NeededFrom {
  uint32_t loop = 0; ///< 0 is the outermost of them
  uint32_t iteration = 0;

  bool isLater() const { return iteration != 0; } ///< than the first run

  /// What needs either of them.
  NeededFrom with(NeededFrom other) const {
    return loop == other.loop ? NeededFrom{loop, std::min(iteration, other.iteration)}
                              : NeededFrom();
  }
};

/// One dependence, and the pair of accesses behind it.
struct DerivedDep {
  Dep dep; ///< its components are in Extraction::components
  AccessId producerAccess;
  AccessId consumerAccess;
  /// Two runs that conflict at this distance: into Extraction::iterations; the iterations of the
  /// loops around the producer, outermost first, then those around the consumer. For a flat
  /// distance, the numbers of two runs. None and none where the question was not decided.
  uint32_t firstIteration = 0;
  uint16_t numProducerIterations = 0;
  uint16_t numConsumerIterations = 0;
  /// Why the others imply it, into Extraction::steps; none if it is kept.
  uint32_t firstStep = 0;
  uint32_t numSteps = 0;
  Excess excess = Excess::None;
  NeededFrom from; ///< of waits that are too long
  /// Where the producer runs once, next to the consumer's nest: the run there from which on it is
  /// needed, no later and no earlier. 0 if that is not so.
  uint32_t fromRun = 0;
  /// Into Extraction::tables: where distances have a period, which runs are needed, no later and no
  /// earlier; or none.
  RunTableId table;
  bool isTableAlone = false; ///< it is one of two in one loop, or over a loop

  bool isImplied() const { return numSteps != 0; }

  /// Whether a shorter wait is enough than `dep` says.
  bool waitsTooLong() const { return fromRun != 0 || table.valid(); }

  /// The same, but with `fromRun` or `table`. A table of two in one loop, or over a loop, stands
  /// for the distance on it.
  Dep asNeeded() const {
    if (!waitsTooLong()) {
      return dep;
    }
    Dep later = dep;
    later.table = table;
    later.numComponents = isTableAlone ? 0 : dep.numComponents;
    later.form = DistanceForm::Element;
    later.step = table.valid() ? 0 : fromRun;
    return later;
  }

  /// Makes it so, if it waits too long.
  void shorten() {
    if (waitsTooLong()) {
      dep = asNeeded();
      excess = Excess::None;
      from = NeededFrom();
    }
  }
};

struct Extraction {
  std::vector<DerivedDep> deps; ///< by consumer, then producer
  std::vector<DistanceComponent> components;
  IdVector<RunTableId, RunTable> tables;
  std::vector<int64_t> iterations; ///< from 0
  std::vector<DerivationStep> steps;
  /// For how many of those that are kept a search for a chain ended at its bound (Implied.h).
  size_t numUnsearched = 0;

  std::span<const DistanceComponent> componentsOf(const Dep &dep) const {
    return {components.data() + dep.firstComponent, dep.numComponents};
  }
};

/// Finds dependences; keeps what it learnt about one kernel for the next.
class Extractor {
public:
  Extractor();
  ~Extractor();
  Extractor(const Extractor &) = delete;
  Extractor &operator=(const Extractor &) = delete;

  /// The dependences of a kernel that check() accepts, whatever it has written itself.
  Extraction extract(const Kernel &kernel, const ExtractOptions &options = {});

  /// All that two instructions by themselves conflict in, as if nothing wrote over it in between;
  /// each pair of accesses by itself.
  Extraction extractBetween(const Kernel &kernel, const ExtractOptions &options, InstrId producer,
                            InstrId consumer);

  /// How many questions took too much work so far; their dependences wait for all earlier runs.
  size_t numUndecided() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// The same kernel with these dependences, except for those that are implied, instead of its own.
Kernel withDeps(const Kernel &kernel, const Extraction &extraction);

/// Whether a kernel leaves its dependences to be found: it says what instructions touch, and no
/// dependence.
bool asksForDeps(const Kernel &kernel);

/// One remark for each dependence that waits for more than is known to be needed: the accesses, the
/// reason, and what to state to sharpen it.
void remarkExcess(const Kernel &kernel, const Extraction &extraction, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_DEPS_EXTRACT_H
