//===- Split.cpp - Waiting for queues that complete in parts --------------===//
//
// A queue of weight w that completes `split` raises its semaphore w times by 1, each time from
// another ring; rings are in order only by themselves. So a value of w*T may be made of parts of
// later instructions, unless none has been issued: a wait for T runs of an instruction is right if
// run T + 1 cannot be issued before the wait has passed. Then w*T is all that there can be. That is
// why each instruction of such a queue has a semaphore of its own (Groups.cpp).
//
// Run T + 1 comes after the consumer C if from C a path leads to the producer P that adds up to no
// more iterations of the loop L around both than lie between the target and the next run of P:
//
//   C issued, then a later instruction of its engine          0, or 1 past the end of L's body
//   X issued, then who depends on it at distance m on L       m
//
// Instructions in between stand directly in L's body, so that they run in every iteration. Between
// a target k iterations ago and the next run lie 1 - k iterations.
//
// Cost: for each wait on such a queue, the instructions and dependences of one body.
//===----------------------------------------------------------------------===//

#include "tally/Sync/Split.h"

#include "tally/Model/Place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

namespace tally {
namespace {

class SplitChecker {
public:
  SplitChecker(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics)
      : kernel(kernel), plan(plan), diagnostics(diagnostics), depsFrom(kernel.instrs.size()) {
    for (DepId dep : kernel.deps.ids()) {
      depsFrom[kernel.deps[dep].producer].push_back(dep);
    }
  }

  void run() {
    for (DepId dep : kernel.deps.ids()) {
      const Queue &queue = kernel.queues[kernel.instrs[kernel.deps[dep].producer].queue];
      if (plan.waits[dep].group.valid() && mayMix(queue) && !isAllThereIs(dep)) {
        refuse(dep, queue);
      }
    }
  }

private:
  /// Whether nothing beyond what a dependence waits for can have been issued.
  bool isAllThereIs(DepId id) {
    const Dep &dep = kernel.deps[id];
    LoopId home = kernel.instrs[dep.producer].home;
    LoopId repeated = kernel.realLoop(home);
    if (!plan.groups[plan.waits[id].group].sole.valid()) {
      return false;
    }
    if (repeated == rootLoop) {
      return true; // it runs once
    }
    if (plan.options.strategy == Strategy::Barrier) {
      const std::vector<EngineId> &meet = plan.barriers[repeated].back;
      return std::find(meet.begin(), meet.end(), kernel.engineOf(dep.producer)) != meet.end();
    }
    if (!countsAtRunTime(plan.options.strategy)) {
      return false;
    }
    std::optional<uint32_t> back = iterationsBack(id);
    LoopId around = kernel.realLoop(placeOf(kernel, dep).shared);
    if (around == rootLoop) {
      return back == 0; // all its runs are over
    }
    return back && *back <= 1 && reaches(dep.consumer, dep.producer, around, 1 - *back);
  }

  /// How many iterations ago the target lies, if the wait is for every run up to the end of it.
  std::optional<uint32_t> iterationsBack(DepId id) const {
    const Wait &wait = plan.waits[id];
    switch (wait.waitClass) {
    case WaitClass::InShared:
    case WaitClass::SameBranch:
    case WaitClass::Flat:
      return wait.minus;
    case WaitClass::Nested:
      return static_cast<uint32_t>(placeOf(kernel, kernel.deps[id]).offset);
    default:
      return std::nullopt;
    }
  }

  /// Whether the next run of `to`, `most` iterations of `around` later or more, comes after `from`.
  bool reaches(InstrId from, InstrId to, LoopId around, uint32_t most) {
    struct Reached {
      InstrId instr;
      uint32_t distance;
    };

    target = to;
    loop = around;
    std::deque<Reached> todo{{from, 0}};
    seen.resize(kernel.instrs.size());
    ++search;
    auto visit = [&](InstrId instr, int64_t distance) {
      if (distance > most || seen[instr][static_cast<size_t>(distance)] == search) {
        return;
      }
      seen[instr][static_cast<size_t>(distance)] = search;
      todo.push_back({instr, static_cast<uint32_t>(distance)});
    };
    while (!todo.empty()) {
      Reached here = todo.front();
      todo.pop_front();
      if (here.instr == to && (here.instr != from || here.distance > 0)) {
        return true;
      }
      if (here.instr != from && kernel.instrs[here.instr].home != around) {
        continue; // it may not run
      }
      followEngine(here.instr, here.distance, visit);
      followDeps(here.instr, here.distance, visit);
    }
    return false;
  }

  /// Whether an instruction runs in every iteration of the loop, or is what is looked for.
  bool counts(InstrId instr) const {
    return kernel.instrs[instr].home == loop ||
           (instr == target && kernel.encloses(loop, kernel.instrs[instr].home));
  }

  template <typename Visit>
  void followEngine(InstrId from, uint32_t distance, const Visit &visit) const {
    for (StmtId stmt : kernel.loops[loop].body) {
      for (InstrId instr : kernel.stmts[stmt].instrs) {
        if (kernel.engineOf(instr) == kernel.engineOf(from)) {
          visit(instr, distance + (comesAfter(instr, from) ? 0 : 1));
        }
      }
    }
    if (kernel.engineOf(target) == kernel.engineOf(from)) {
      visit(target, distance + (comesAfter(target, from) ? 0 : 1));
    }
  }

  /// Whether `b` comes after all runs of `a` in one iteration of the loop, both of one engine.
  bool comesAfter(InstrId b, InstrId a) const {
    uint32_t first = kernel.stmts[kernel.stmtTowards(loop, a)].position;
    uint32_t second = kernel.stmts[kernel.stmtTowards(loop, b)].position;
    bool sameBody = kernel.instrs[a].home == kernel.instrs[b].home;
    return first != second ? first < second : sameBody && a < b;
  }

  template <typename Visit>
  void followDeps(InstrId from, uint32_t distance, const Visit &visit) const {
    for (DepId id : depsFrom[from]) {
      const Dep &dep = kernel.deps[id];
      if (!counts(dep.consumer) || dep.form != DistanceForm::Vector) {
        continue;
      }
      DepPlace place = placeOf(kernel, dep);
      bool onLoop = kernel.realLoop(place.shared) == loop &&
                    (!place.carrier.valid() || place.carrier == loop);
      if (onLoop) {
        visit(dep.consumer, distance + place.offset);
      }
    }
  }

  void refuse(DepId id, const Queue &queue) {
    const Dep &dep = kernel.deps[id];
    std::string producer(kernel.nameOf(dep.producer));
    diagnostics
        .error(dep.where,
               fmt::format(
                   "{} cannot be waited for: queue '{}' completes in {} parts that may mix "
                   "with those of the next '{}', which may be issued before '{}' has "
                   "waited; let it depend on '{}' so that it is not, write the "
                   "iterations that are under way at a time as instructions of their own, "
                   "or say 'whole', at the queue and of the machine, if its parts stay together",
                   describe(kernel, id), kernel.nameOf(kernel.instrs[dep.producer].queue),
                   queue.weight, producer, kernel.nameOf(dep.consumer),
                   kernel.nameOf(dep.consumer)))
        .note(queue.where, "the queue is declared here");
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  Diagnostics &diagnostics;
  IdVector<InstrId, std::vector<DepId>> depsFrom;
  // Of one search:
  InstrId target;
  LoopId loop;
  IdVector<InstrId, std::array<uint32_t, 2>> seen; ///< in which search, at which distance
  uint32_t search = 0;
};

} // namespace

void checkSplitWaits(const Kernel &kernel, const SyncPlan &plan, Diagnostics &diagnostics) {
  if (std::ranges::any_of(kernel.queues, mayMix)) {
    SplitChecker(kernel, plan, diagnostics).run();
  }
}

} // namespace tally
