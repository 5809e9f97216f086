//===- Shrink.cpp - The smallest kernel that still shows it ---------------===//
//
// The edits of a draft are numbered by walking it, so that "try number n" needs no list.
//
//===----------------------------------------------------------------------===//

#include "Shrink.h"

#include "tally/Model/Check.h"
#include "tally/Model/Draft.h"
#include "tally/Model/KernelBuilder.h"

#include <algorithm>

namespace tally::fuzz {

namespace {

//===----------------------------------------------------------------------===//
// Edits
//===----------------------------------------------------------------------===//

/// Makes edit number `number` of a draft. Large ones come first, and outer before inner.
class Editor {
public:
  Editor(const Kernel &kernel, Draft &draft, size_t number)
      : kernel(kernel), draft(draft), left(number) {}

  /// False if there are not so many edits.
  bool edit() {
    removeNodes(draft.body);
    openNodes(draft.body);
    removeFrom(draft.deps);
    removeFrom(draft.pins);
    removeFrom(draft.reserved);
    for (std::vector<uint32_t> &registers : draft.registers) {
      removeFrom(registers);
    }
    for (AccessId id : draft.touches.ids()) {
      if (draft.touches[id] && take()) {
        draft.touches[id] = false;
      }
    }
    simplifyNodes(draft.body);
    for (DraftDep &dep : draft.deps) {
      simplifyDep(dep);
    }
    for (uint32_t &weight : draft.weights) {
      set(weight, weight > 1, 1u);
      set(weight, weight > 3, weight / 2);
      set(weight, weight > 2, weight - 1);
    }
    for (Completion &completion : draft.completions) {
      set(completion, completion != Completion::Whole, Completion::Whole);
    }
    return done;
  }

private:
  /// Whether the edit that could be made here is the one to make.
  bool take() {
    if (done || left-- != 0) {
      return false;
    }
    done = true;
    return true;
  }

  template <typename T> void set(T &place, bool applies, T value) {
    if (applies && take()) {
      place = value;
    }
  }

  void removeNodes(std::vector<DraftNode> &nodes) {
    for (size_t i = 0; i < nodes.size() && !done; ++i) {
      if (take()) {
        nodes.erase(nodes.begin() + static_cast<ptrdiff_t>(i));
        return;
      }
      removeNodes(nodes[i].body);
      removeNodes(nodes[i].elseBody);
    }
  }

  void openNodes(std::vector<DraftNode> &nodes) {
    for (size_t i = 0; i < nodes.size() && !done; ++i) {
      if (!nodes[i].loop.valid()) {
        continue;
      }
      for (std::vector<DraftNode> DraftNode::*body : {&DraftNode::body, &DraftNode::elseBody}) {
        if (!(nodes[i].*body).empty() && take()) {
          replace(nodes, i, std::move(nodes[i].*body));
          return;
        }
      }
      openNodes(nodes[i].body);
      openNodes(nodes[i].elseBody);
    }
  }

  static void replace(std::vector<DraftNode> &nodes, size_t at, std::vector<DraftNode> by) {
    nodes.erase(nodes.begin() + static_cast<ptrdiff_t>(at));
    nodes.insert(nodes.begin() + static_cast<ptrdiff_t>(at), std::make_move_iterator(by.begin()),
                 std::make_move_iterator(by.end()));
  }

  template <typename T> void removeFrom(std::vector<T> &list) {
    for (size_t i = 0; i < list.size() && !done; ++i) {
      if (take()) {
        list.erase(list.begin() + static_cast<ptrdiff_t>(i));
        return;
      }
    }
  }

  void simplifyNodes(std::vector<DraftNode> &nodes) {
    for (DraftNode &node : nodes) {
      if (node.loop.valid()) {
        set(node.uniform, !node.uniform, true);
        set(node.sync, node.sync != RegionSync::AsAround, RegionSync::AsAround);
        set(node.unroll, node.unroll != 1, 1u);
        simplifyTrip(node);
        simplifyNodes(node.body);
        simplifyNodes(node.elseBody);
      } else {
        QueueId own = kernel.engines[kernel.queues[node.queue].engine].queues[0];
        set(node.queue, node.queue != own, own);
        QueueId first(0);
        set(node.queue, node.queue != first, first);
      }
    }
  }

  void simplifyTrip(DraftNode &node) {
    Trip &trip = node.trip;
    if (kernel.loops[node.loop].kind != LoopKind::Loop) {
      return set(trip.condition, trip.condition.valid(), NameId());
    }
    if (trip.kind == Trip::Kind::Constant) {
      for (uint64_t smaller : {uint64_t(1), trip.constant / 2, trip.constant - 1}) {
        set(trip.constant, smaller < trip.constant && smaller > 0, smaller);
      }
      return;
    }
    for (uint64_t constant : {1, 2, 3, 4}) {
      set(trip, true, KernelBuilder::constant(constant));
    }
    if (trip.kind == Trip::Kind::Formula) {
      return; // its bounds follow
    }
    set(trip.min, trip.min > 0, uint64_t(0));
    set(trip.max, trip.max.has_value(), std::optional<uint64_t>());
  }

  void simplifyDep(DraftDep &dep) {
    for (size_t c = 0; c < dep.components.size() && !done; ++c) {
      if (take()) {
        dep.components.erase(dep.components.begin() + static_cast<ptrdiff_t>(c));
        return;
      }
      int64_t &distance = dep.components[c].distance;
      set(distance, distance > 3, distance / 2);
      set(distance, distance > 1, distance - 1);
      set(distance, distance < 0, distance + 1);
    }
    set(dep.dep.step, dep.dep.step > 3, dep.dep.step / 2);
    set(dep.dep.step, dep.dep.step > 0, dep.dep.step - 1);
    set(dep.dep.step, dep.dep.step < 0, dep.dep.step + 1);
    bool plain = dep.dep.form == DistanceForm::Vector;
    if (!plain && take()) {
      dep.dep.form = DistanceForm::Vector;
      dep.dep.step = 0;
    }
    set(dep.dep.allowDivergent, dep.dep.allowDivergent, false);
    set(dep.dep.kind, dep.dep.kind != DepKind::Unspecified, DepKind::Unspecified);
  }

  const Kernel &kernel;
  Draft &draft;
  size_t left;
  bool done = false;
};

} // namespace

/// Marks the queues of its instructions.
static void markQueues(const std::vector<DraftNode> &nodes, IdVector<QueueId, bool> &used) {
  for (const DraftNode &node : nodes) {
    if (node.queue.valid()) {
      used[node.queue] = true;
    }
    markQueues(node.body, used);
    markQueues(node.elseBody, used);
  }
}

/// Only with queues that still have instructions, and buffers that are still touched.
static Kernel usedOf(const Kernel &kernel, Draft draft) {
  draft.queues.assign(kernel.queues.size(), false);
  markQueues(draft.body, draft.queues);
  draft.buffers.assign(kernel.buffers.size(), false);
  for (AccessId id : kernel.accesses.ids()) {
    const BufferId buffer = kernel.accesses[id].buffer;
    draft.buffers[buffer] = draft.buffers[buffer] || draft.touches[id];
  }
  return built(kernel, draft);
}

static bool isLegal(const Kernel &kernel) {
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  return !diagnostics.hasErrors();
}

Kernel shrink(const Kernel &kernel, const Fails &fails, uint32_t maxQuestions) {
  Draft best = draftOf(kernel);
  bool shrunk = false;
  for (bool again = true; again && maxQuestions > 0;) {
    again = false;
    for (size_t number = 0; maxQuestions > 0;) {
      Draft smaller = best;
      if (!Editor(kernel, smaller, number).edit()) {
        break;
      }
      Kernel candidate = usedOf(kernel, smaller);
      if (!candidate.instrs.empty() && isLegal(candidate) && (--maxQuestions, fails(candidate))) {
        best = std::move(smaller);
        again = shrunk = true; // what was behind this edit now has its number
      } else {
        ++number;
      }
    }
  }
  return shrunk ? usedOf(kernel, best) : kernel;
}

} // namespace tally::fuzz
