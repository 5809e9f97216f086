//===- RunNumbers.h - The runs of a nest, numbered --------------------------===//
//
// Where each body of a nest is a loop directly in the one before, and all loops but the outermost
// have constant trips, the runs of the innermost body have numbers that its iterations tell:
//
//   A { B trips "n" { C trips 3 { load } } }     run 3*B + C of this iteration of A
//
// So two nests side by side are compared run by run, as two single loops are, however each of them
// is cut into loops. Without loops, there is one run, number 0:
//
//   A { B { load writes X[B] }  add reads X[1] }      run 0 of add needs run 1 of load
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_RUNNUMBERS_H
#define TALLY_MODEL_RUNNUMBERS_H

#include "tally/Model/Kernel.h"

namespace tally {

class RunNumbers {
public:
  /// Of the body `home`, in each entry of `outer`, which is that body or around it. None if the
  /// loops in between do not tell them, or if an iteration of the outermost has more than
  /// `maxCount` runs.
  static std::optional<RunNumbers> below(const Kernel &kernel, LoopId outer, LoopId home);

  /// Outermost first.
  std::span<const LoopId> loops() const { return path; }

  /// No loop lies in between: it runs once.
  bool isSingle() const { return path.empty(); }

  /// In each iteration of one of the loops.
  uint64_t runsPerIteration(size_t level) const { return weights[level]; }

  /// Both from 0.
  template <typename Iteration> int64_t numberOf(std::span<const Iteration> iterations) const {
    int64_t number = 0;
    for (size_t level = 0; level < path.size(); ++level) {
      number += static_cast<int64_t>(iterations[level]) * static_cast<int64_t>(weights[level]);
    }
    return number;
  }

  /// What is subtracted from the iterations times the runs in each, if all are counted from 1: the
  /// number, from 1, is the sum less this.
  int64_t ahead() const;

  /// In each iteration of `loop`, which is one of them.
  uint64_t runsPerIterationOf(LoopId loop) const;

  /// Of the loop at `level`, in the run of this number, which is not negative.
  int64_t iterationOf(int64_t number, size_t level) const;

  /// The fewest runs in an entry of `outer`.
  uint64_t least(const Kernel &kernel) const;

  /// The most runs that there can be; none if that is not known, or more than `maxCount`.
  std::optional<uint64_t> most(const Kernel &kernel) const;

private:
  std::vector<LoopId> path;
  std::vector<uint64_t> weights;
};

/// Two nests in one body, or a nest and what is directly there: what an element-wise distance leads
/// from and to.
struct SideBySide {
  RunNumbers producer;
  RunNumbers consumer;
};

/// In an iteration of `shared`, which is around both. None if one of the bodies does not end a nest
/// whose runs are numbered, or both have but one run.
std::optional<SideBySide> sideBySide(const Kernel &kernel, LoopId shared, LoopId producerHome,
                                     LoopId consumerHome);

/// The same for the ends of an element form.
std::optional<SideBySide> sideBySide(const Kernel &kernel, const Dep &dep);

/// By a table over a loop, or for two in one loop, how many iterations of the innermost loop around
/// both, `shared`, the run that is needed lies back at least: RunTable::iterationsBack().
int64_t iterationsBack(const Kernel &kernel, const Dep &dep, LoopId shared);

} // namespace tally

#endif // TALLY_MODEL_RUNNUMBERS_H
