//===- Groups.cpp - Which instructions raise which semaphore --------------===//
//
// Each way of sharing has its own keys: the instruction (of two that are joined, the first), its
// body and queue, its queue, or the semaphore to which the kernel pins it. Instructions of one key
// are one group.
//===----------------------------------------------------------------------===//

#include "Planners.h"
#include "tally/Model/Pins.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

using namespace sync;

namespace {

class Grouper {
public:
  Grouper(const Kernel &kernel, SyncPlan &plan, const std::function<Sharing(InstrId)> &sharing)
      : kernel(kernel), plan(plan), sharing(sharing), pins(pinnedSemaphores(kernel)),
        firstBody(kernel.instrs.size()),
        firstQueue(firstBody + kernel.queues.size() * kernel.loops.size()),
        firstPin(firstQueue + kernel.queues.size()),
        numKeys(firstPin + (pins.empty() ? 0 : maxReserved + 1)) {}

  void run(const std::function<bool(DepId)> &waits) {
    std::vector<bool> waitedFor(numKeys, false);
    for (DepId dep : kernel.deps.ids()) {
      if (waits(dep)) {
        waitedFor[keyOf(kernel.deps[dep].producer)] = true;
      }
    }
    std::vector<GroupId> groupAt(numKeys);
    for (InstrId instr : kernel.instrs.ids()) {
      size_t key = keyOf(instr);
      if (!waitedFor[key]) {
        continue;
      }
      if (!groupAt[key].valid()) {
        groupAt[key] = plan.groups.push(emptyGroup(instr));
      }
      plan.groupOf[instr] = groupAt[key];
      Group &group = plan.groups[groupAt[key]];
      plan.placeOf[instr] = group.isJoin() ? 1 : ++group.numSignals;
    }
    placeWithinBlocks();
  }

private:
  std::optional<uint32_t> pinOf(InstrId id) const {
    auto pin = pins.find(id);
    return pin == pins.end() ? std::nullopt : std::optional(pin->second);
  }

  size_t keyOf(InstrId id) const {
    if (std::optional<uint32_t> pin = pinOf(id)) {
      return firstPin + *pin;
    }
    const Instr &instr = kernel.instrs[id];
    switch (sharing(id)) {
    case Sharing::None:
      return id.value;
    case Sharing::Body:
      return firstBody + instr.home.value * kernel.queues.size() + instr.queue.value;
    case Sharing::Queue:
      return firstQueue + instr.queue.value;
    case Sharing::Join:
      return std::min(id, plan.decisions.twins[id]).value;
    }
    return 0;
  }

  bool isPinnedAlone(uint32_t semaphore) const {
    return std::ranges::count_if(pins, [&](auto pin) { return pin.second == semaphore; }) == 1;
  }

  Group emptyGroup(InstrId id) const {
    Group group;
    group.queue = kernel.instrs[id].queue;
    group.pinned = pinOf(id);
    if (group.pinned) {
      group.body = kernel.instrs[id].home;
      group.sole = isPinnedAlone(*group.pinned) ? id : InstrId();
      return group;
    }
    if (sharing(id) == Sharing::Join) {
      group.body = kernel.loops[kernel.instrs[id].home].parent;
      group.numSignals = 1;
      group.inThen = std::min(id, plan.decisions.twins[id]); // its branch comes first in the text
      group.inElse = std::max(id, plan.decisions.twins[id]);
      return group;
    }
    group.body = sharing(id) == Sharing::Queue ? LoopId() : kernel.instrs[id].home;
    group.sole = sharing(id) == Sharing::None ? id : InstrId();
    return group;
  }

  /// Where a queue shares in all bodies, each block counts its members from 1.
  void placeWithinBlocks() {
    std::vector<uint32_t> count(kernel.queues.size());
    for (const Stmt &stmt : kernel.stmts) {
      for (InstrId instr : stmt.instrs) {
        if (plan.sharesQueue(instr)) {
          plan.placeOf[instr] = ++count[kernel.instrs[instr].queue.value];
        }
      }
      for (InstrId instr : stmt.instrs) {
        count[kernel.instrs[instr].queue.value] = 0;
      }
    }
  }

  const Kernel &kernel;
  SyncPlan &plan;
  const std::function<Sharing(InstrId)> &sharing;
  const std::map<InstrId, uint32_t> pins;
  IdVector<InstrId, InstrId> joins;                      ///< empty if none are asked for
  const size_t firstBody, firstQueue, firstPin, numKeys; ///< keys: instructions, bodies, ...
};

} // namespace

void sync::makeGroups(const Kernel &kernel, SyncPlan &plan,
                      const std::function<Sharing(InstrId)> &sharing,
                      const std::function<bool(DepId)> &waits) {
  Grouper(kernel, plan, sharing).run(waits);
}

/// How much the members of a group that is too small raise it, and what would not.
static std::string tooMuch(const Kernel &kernel, const SyncPlan &plan, InstrId last) {
  uint64_t most = plan.decisions.counterLimit - 1;
  uint64_t weight = kernel.queues[kernel.instrs[last].queue].weight;
  uint32_t members = plan.placeOf[last];
  std::string text =
      fmt::format("queue '{}' raises one semaphore by {} before it can be reset, but "
                  "the largest number that counters of this machine tell is {}",
                  kernel.nameOf(kernel.instrs[last].queue), weight * members, most);
  return text + (weight > most ? "; use a smaller weight"
                               : fmt::format("; strategy 'per-instruction' gives each of the {} "
                                             "instructions a semaphore of its own",
                                             members));
}

bool sync::groupsFit(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics) {
  IdVector<GroupId, InstrId> last(plan.groups.size());
  for (InstrId instr : kernel.instrs.ids()) {
    GroupId group = plan.groupOf[instr];
    if (group.valid() &&
        (!last[group].valid() || plan.placeOf[last[group]] < plan.placeOf[instr])) {
      last[group] = instr;
    }
  }
  bool fits = true;
  for (InstrId instr : last) {
    const Queue &queue = kernel.queues[kernel.instrs[instr].queue];
    if (uint64_t(queue.weight) * plan.placeOf[instr] >= plan.decisions.counterLimit) {
      fits = false;
      diagnostics.error(kernel.instrs[instr].where, tooMuch(kernel, plan, instr))
          .note(queue.where, "the queue is declared here");
    }
  }
  return fits;
}

} // namespace tally
