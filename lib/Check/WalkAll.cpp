//===- WalkAll.cpp - Every state of both systems --------------------------===//
//
// Breadth first over pairs of states, every step of either side by itself: each operation of the
// code, each entry and exit of the specification, each commit. What the reduced walk leaves out
// is measured against this one, on small instances.
//
// An issue of the specification has no successor of its own: if the code answers it, the pair
// is reached by the code's steps; if not, it is a mismatch.
//
//===----------------------------------------------------------------------===//

#include "Walks.h"

#include <string>
#include <unordered_set>

namespace tally {

using namespace check;

namespace {

using Words = std::u32string;

class AllStates {
public:
  AllStates(const Lockstep &lockstep, const ExploreOptions &options)
      : lockstep(lockstep), options(options) {}

  WalkResult run() {
    add(lockstep.initial(), UINT32_MAX, {});
    for (size_t at = 0; at < nodes.size(); ++at) {
      result.complete = visit(at) && withinLimits();
      if (!result.complete) {
        break;
      }
    }
    result.states = nodes.size();
    result.bytes = bytes;
    return std::move(result);
  }

private:
  struct Node {
    LockstepState state;
    uint32_t parent;
    Step step;
    bool ofSpec; ///< a step of the specification alone
  };

  /// Everything that makes a pair, as numbers.
  static Words encode(const LockstepState &state) {
    Words words(state.spec.at.begin(), state.spec.at.end());
    words.append(state.impl.at.begin(), state.impl.at.end());
    for (const QueueState &q : state.impl.queues) {
      words += {q.issued, q.retired, static_cast<uint32_t>(q.committed),
                static_cast<uint32_t>(q.committed >> 32)};
    }
    words.append(state.impl.semaphores.begin(), state.impl.semaphores.end());
    words.append(state.impl.rings.begin(), state.impl.rings.end());
    for (ValueId value : state.impl.memory) {
      words.push_back(value.value);
    }
    return words;
  }

  void add(LockstepState state, uint32_t parent, const Step &step, bool ofSpec = false) {
    result.transitions += parent != UINT32_MAX;
    Words words = encode(state);
    bytes += words.size() * 12 + sizeof(Node) + 96;
    if (seen.insert(std::move(words)).second) {
      nodes.push_back({std::move(state), parent, step, ofSpec});
    }
  }

  /// Whether both sides agree on what is in flight, what has retired, and memory.
  static bool areRelated(const LockstepState &state) {
    return state.spec.queues.raw() == state.impl.queues.raw() &&
           state.spec.memory == state.impl.memory;
  }

  /// False to stop here.
  bool visit(size_t at) {
    if (!areRelated(nodes[at].state)) {
      result.reason = "the two systems lost each other";
      return false;
    }
    for (const Mismatch &mismatch : lockstep.mismatches(nodes[at].state)) {
      result.mismatches.insert(mismatch);
      if (!result.first && !isAllowed(options, mismatch)) {
        result.first = mismatch;
        result.wayToFirst = wayTo(at);
        if (!options.findAll) {
          return false;
        }
      }
    }
    noteFull(nodes[at].state);
    lockstep.implOf().enabled(nodes[at].state.impl, steps);
    if (steps.empty()) {
      result.stuckTogether |= lockstep.specIsStuck(nodes[at].state);
    }
    for (const Step &step : std::vector<Step>(steps)) {
      LockstepState next = nodes[at].state;
      if (step.kind == StepKind::Issue && lockstep.isOutOfOrder(next, step.engine)) {
        continue;
      }
      lockstep.apply(next, step);
      add(std::move(next), static_cast<uint32_t>(at), step);
    }
    controlOfSpec(at);
    return true;
  }

  void noteFull(const LockstepState &state) {
    const Kernel &kernel = lockstep.specOf().kernelOf();
    for (EngineId e : kernel.engines.ids()) {
      const Instance *next = lockstep.nextOfSpec(state, e);
      QueueId queue = next ? kernel.instrs[next->instr].queue : QueueId();
      if (next && state.spec.queues[queue].inFlight() >= options.inFlight) {
        result.full.insert(queue);
      }
    }
  }

  void controlOfSpec(size_t at) {
    for (EngineId e : lockstep.specOf().kernelOf().engines.ids()) {
      Step step = Step::control(e);
      if (lockstep.specOf().isEnabled(nodes[at].state.spec, step)) {
        LockstepState next = nodes[at].state;
        lockstep.specOf().apply(next.spec, step);
        add(std::move(next), static_cast<uint32_t>(at), step, true);
      }
    }
  }

  std::vector<Step> wayTo(size_t at) const {
    std::vector<Step> way;
    for (; nodes[at].parent != UINT32_MAX; at = nodes[at].parent) {
      if (!nodes[at].ofSpec) {
        way.insert(way.begin(), nodes[at].step);
      }
    }
    return way;
  }

  bool withinLimits() {
    result.reason = limitReached(options, nodes.size(), bytes);
    return result.reason.empty();
  }

  const Lockstep &lockstep;
  const ExploreOptions &options;
  std::unordered_set<Words> seen; ///< whole states; the hash decides nothing
  std::vector<Node> nodes;
  std::vector<Step> steps;
  uint64_t bytes = 0;
  WalkResult result;
};

} // namespace

WalkResult check::walkAll(const Lockstep &lockstep, const ExploreOptions &options) {
  return AllStates(lockstep, options).run();
}

} // namespace tally
