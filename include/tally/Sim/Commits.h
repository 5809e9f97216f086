//===- Commits.h - In which order a simulated run commits -----------------===//
//
// An instruction commits when it retires; one of split completion, with its last part. What it does
// to memory then (Data/Effects.h) follows from the order of commits alone.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SIM_COMMITS_H
#define TALLY_SIM_COMMITS_H

#include "tally/Sim/Simulate.h"

#include <algorithm>

namespace tally {

class CommitRecorder : public SimObserver {
public:
  CommitRecorder(const Kernel &kernel, const Timing &timing) : kernel(kernel), timing(timing) {}

  void onExecution(const Execution &execution) override {
    const Queue &queue = kernel.queues[execution.queue];
    Tick rest = queue.completion == Completion::Split ? (queue.weight - 1) * timing.spacing : 0;
    commits.push_back(
        {execution.retire + rest, {execution.instr, static_cast<uint32_t>(execution.run)}});
  }

  /// All commits of the run. Of those at one time, causes come before their effects: that is the
  /// order in which they were told.
  std::vector<Instance> inOrder() const {
    std::vector<Commit> sorted = commits;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Commit &a, const Commit &b) { return a.at < b.at; });
    std::vector<Instance> order;
    order.reserve(sorted.size());
    for (const Commit &commit : sorted) {
      order.push_back(commit.instance);
    }
    return order;
  }

private:
  struct Commit {
    Tick at;
    Instance instance;
  };

  const Kernel &kernel;
  const Timing &timing;
  std::vector<Commit> commits;
};

} // namespace tally

#endif // TALLY_SIM_COMMITS_H
