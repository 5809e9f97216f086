//===- ReducedTables.h - What follows from both systems once and for all --===//
//
// For the reduced walk (Reduced.cpp, with its terms and its proof): the operations that touch the
// outside, what is asked of each issue as counts of queues, which semaphores are steady, which
// steps are eager, and which counts are marked.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_REDUCEDTABLES_H
#define TALLY_LIB_CHECK_REDUCEDTABLES_H

#include "Walks.h"

namespace tally::reduced {

inline constexpr uint32_t never = UINT32_MAX;

/// An operation that touches the outside.
struct Act {
  OpKind kind;
  uint32_t point;     ///< in the engine's trajectory
  uint32_t threshold; ///< of its wait
  SemaId wait;
  SemaId signal;
  uint32_t amount;
  QueueId queue;           ///< Issue
  bool eager = true;       ///< E1, E3, E4, if it can be executed
  bool outOfOrder = false; ///< Issue: not what the kernel has next
};

/// What the specification asks of one run of an instruction: counts of queues.
struct Ask {
  QueueId queue;
  uint32_t count;
  DepId dep;
};

struct SpecIssue {
  Instance instance;
  QueueId queue;
  std::vector<Ask> asks;
};

/// The instruction at one place of a queue's order.
struct Taken {
  SemaId signal;
  uint32_t amount = 0;
  bool marked = false; ///< the count that its retirement makes
};

/// What follows from the two systems once and for all.
class Tables {
public:
  Tables(const Lockstep &lockstep, Reduction reduction);

  const Lockstep &lockstep;
  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  IdVector<EngineId, std::vector<Act>> acts;
  IdVector<EngineId, std::vector<SpecIssue>> issues;
  IdVector<QueueId, std::vector<Taken>> taken;
  IdVector<SemaId, bool> steady;
  IdVector<SemaId, bool> reset; ///< by some operation

private:
  void fillActs();
  void fillTaken();
  void fillAsks();
  void mark(QueueId queue, uint32_t count);
  void findSteady();
  void markEager();
  void markWaits();
  void nothingIsEager();
  void markDrains();
};

} // namespace tally::reduced

#endif // TALLY_LIB_CHECK_REDUCEDTABLES_H
