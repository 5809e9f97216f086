//===- MeetingCode.cpp - Where engines meet in code that counts -----------===//

#include "MeetingCode.h"

namespace tally::lowering {
namespace {

/// What meets at each reset point, found in one pass over instructions, dependences and groups.
class Meetings {
public:
  Meetings(const Kernel &kernel, const SyncPlan &plan)
      : kernel(kernel), plan(plan), members(plan.decisions.resets.size(), 0),
        runs(plan.decisions.resets.size()) {
    if (members.empty()) {
      return;
    }
    for (InstrId instr : kernel.instrs.ids()) {
      join(plan.groupOf[instr], kernel.engineOf(instr));
    }
    // Also those who are never made to wait while counters fit: it is the reset that orders them.
    for (DepId dep : kernel.deps.ids()) {
      join(plan.waits[dep].group, kernel.engineOf(kernel.deps[dep].consumer));
    }
    for (GroupId group : plan.groups.ids()) {
      forEachPoint(group, [&](size_t point) { addTo(runs[point], group.value); });
    }
  }

  EngineSet membersAt(size_t point) const {
    EngineSet set;
    for (EngineId engine : kernel.engines.ids()) {
      if (members[point] >> engine.value & 1) {
        set.push_back(engine);
      }
    }
    return set;
  }

  const std::vector<SemaRun> &semaphoresAt(size_t point) const { return runs[point]; }

private:
  /// The points that reset a group: around its body, or all.
  template <typename Fn> void forEachPoint(GroupId group, Fn fn) const {
    LoopId body = plan.groups[group].body;
    for (size_t i = 0; !body.valid() && i < members.size(); ++i) {
      fn(i);
    }
    for (LoopId l = body; l.valid(); l = kernel.loops[l].parent) {
      if (const ResetPoint *point = plan.resetAt(l)) {
        fn(static_cast<size_t>(point - plan.decisions.resets.data()));
      }
    }
  }

  void join(GroupId group, EngineId engine) {
    if (group.valid()) {
      forEachPoint(group, [&](size_t point) { members[point] |= uint64_t(1) << engine.value; });
    }
  }

  static void addTo(std::vector<SemaRun> &runs, uint32_t semaphore) {
    if (!runs.empty() && runs.back().first + runs.back().count == semaphore) {
      ++runs.back().count;
    } else {
      runs.push_back({semaphore, 1});
    }
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  std::vector<uint64_t> members; ///< by point: engines, one bit each
  std::vector<std::vector<SemaRun>> runs;
};

} // namespace

MeetingCode::MeetingCode(const Kernel &kernel, const SyncPlan &plan, Code &code)
    : program(kernel, code) {
  if (!countsAtRunTime(plan.decisions.strategy)) {
    return;
  }
  Meetings meetings(kernel, plan);
  for (size_t i = 0; i < plan.decisions.resets.size(); ++i) {
    const ResetPoint &point = plan.decisions.resets[i];
    EngineSet members = meetings.membersAt(i);
    if (!members.empty()) {
      BarrierSite site = program.add(members, meetings.semaphoresAt(i), /*shakesTwice=*/true);
      resets.emplace(point.loop, ResetSite{point, std::move(site)});
    }
  }
  for (LoopId loop : plan.barriers.ids()) {
    const std::vector<EngineId> &members = plan.barriers[loop].back;
    if (!members.empty()) { // nothing is reset there, so shaking hands once will do
      backEdges.emplace(loop, program.add(members, {}, /*shakesTwice=*/false));
    }
  }
}

const ResetSite *MeetingCode::resetIn(LoopId loop, EngineId engine) const {
  auto site = resets.find(loop);
  bool isThere = site != resets.end() && program.isMember(site->second.barrier, engine);
  return isThere ? &site->second : nullptr;
}

const BarrierSite *MeetingCode::backEdgeOf(LoopId loop, EngineId engine) const {
  auto site = backEdges.find(loop);
  return site != backEdges.end() && program.isMember(site->second, engine) ? &site->second
                                                                           : nullptr;
}

} // namespace tally::lowering
