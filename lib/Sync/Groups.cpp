//===- Groups.cpp - Which instructions raise which semaphore --------------===//

#include "Planners.h"

namespace tally {
namespace {

class Grouper {
public:
  Grouper(const Kernel &kernel, SyncPlan &plan, Sharing sharing)
      : kernel(kernel), plan(plan), sharing(sharing) {}

  void run(const std::function<bool(DepId)> &waits) {
    std::vector<bool> waitedFor(numKeys(), false);
    for (DepId dep : kernel.deps.ids()) {
      if (waits(dep)) {
        waitedFor[keyOf(kernel.deps[dep].producer)] = true;
      }
    }
    std::vector<GroupId> groupAt(numKeys());
    for (InstrId instr : kernel.instrs.ids()) {
      GroupId &group = groupAt[keyOf(instr)];
      if (!waitedFor[keyOf(instr)]) {
        continue;
      }
      if (!group.valid()) {
        group = plan.groups.push(emptyGroup(instr));
      }
      plan.groupOf[instr] = group;
      plan.placeOf[instr] = ++plan.groups[group].numSignals;
    }
    if (sharing == Sharing::Queue) {
      placeWithinBlocks();
    }
  }

private:
  size_t numKeys() const {
    switch (sharing) {
    case Sharing::Nobody:
      return kernel.instrs.size();
    case Sharing::Body:
      return kernel.queues.size() * kernel.loops.size();
    case Sharing::Queue:
      return kernel.queues.size();
    }
    return 0;
  }

  size_t keyOf(InstrId id) const {
    const Instr &instr = kernel.instrs[id];
    switch (sharing) {
    case Sharing::Nobody:
      return id.value;
    case Sharing::Body:
      return instr.home.value * kernel.queues.size() + instr.queue.value;
    case Sharing::Queue:
      return instr.queue.value;
    }
    return 0;
  }

  Group emptyGroup(InstrId id) const {
    Group group;
    group.queue = kernel.instrs[id].queue;
    group.body = sharing == Sharing::Queue ? LoopId() : kernel.instrs[id].home;
    group.sole = sharing == Sharing::Nobody ? id : InstrId();
    return group;
  }

  /// Each block counts its queue's instructions from 1.
  void placeWithinBlocks() {
    std::vector<uint32_t> count(kernel.queues.size());
    for (const Stmt &stmt : kernel.stmts) {
      for (InstrId instr : stmt.instrs) {
        uint32_t place = ++count[kernel.instrs[instr].queue.value];
        plan.placeOf[instr] = plan.groupOf[instr].valid() ? place : 0;
      }
      for (InstrId instr : stmt.instrs) {
        count[kernel.instrs[instr].queue.value] = 0;
      }
    }
  }

  const Kernel &kernel;
  SyncPlan &plan;
  const Sharing sharing;
};

} // namespace

void makeGroups(const Kernel &kernel, SyncPlan &plan, Sharing sharing,
                const std::function<bool(DepId)> &waits) {
  Grouper(kernel, plan, sharing).run(waits);
}

} // namespace tally
