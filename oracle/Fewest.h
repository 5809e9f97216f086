//===- Fewest.h - The dependences that nothing else stands for ------------===//
//
// Walks one run of a kernel in the order of its program. Each run of an instruction has to wait for
// the last one of each queue that it conflicts with, except those that are over anyway:
//
//   the engine has waited for them before
//   another one that it waits for had waited for them
//   on a machine whose queues keep their order, the run before it in its queue had
//
// Code that waits for no more than conflicts ask has to wait for what is left. So the dependences
// that are left in some run are a lower bound; a sound set of as many is the smallest.
//
// Two are the same if they have the same ends, the same outermost loop that lies between the two
// runs, and are as far apart on it. In one body, they are also the same if as many runs lie
// between: what makes fewer counts. Where loops or branches skip one of the two, a dependence waits
// for the last run before, and so stands for others: such runs say nothing.
//
// Independent of  Deps: neither its distances nor its removal of what is implied
// Shared          the enumeration of conflicts
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_FEWEST_H
#define TALLY_ORACLE_FEWEST_H

#include "oracle/Enumerate.h"

#include <map>
#include <set>
#include <utility>

namespace tally::oracle {

class Fewest {
public:
  Fewest(const Kernel &kernel, bool queueOverlap) : kernel(kernel), queueOverlap(queueOverlap) {}

  void add(const Enumeration &runs);

  /// How many dependences there have to be.
  size_t count() const;

private:
  struct Between {
    /// How far apart on each loop; after the loops around both: in the same iteration of all.
    std::map<size_t, std::set<int64_t>> onLoop;
    std::set<int64_t> runs; ///< in one body

    size_t count() const;
  };

  void need(const Enumeration &runs, const Run &producer, const Run &consumer);

  const Kernel &kernel;
  const bool queueOverlap;
  std::map<std::pair<InstrId, InstrId>, Between> needed; ///< by producer and consumer
};

} // namespace tally::oracle

#endif // TALLY_ORACLE_FEWEST_H
