//===- Reduced.cpp - All answers from a few of the states -----------------===//
//
// Walks the same pairs of states as WalkAll.cpp, but where some step may as well come first, no
// other order is looked at. The state keeps what such steps leave open: how far each engine is
// (among the operations that touch the outside), how much each queue has retired, and the
// semaphores that are ever reset. All else follows from these.
//
// Terms
//   steady   a semaphore that is never reset and never wraps: it only rises, and what it holds
//            follows from retirements and from how far the engines are
//   count    of a queue: how many of its instructions have retired. As a queue's order is fixed,
//            "P has retired n times" is "the count of P's queue is c" for one c; so is "s >= v"
//            for a steady s that one queue alone raises
//   marked   a count at which some readiness (of the specification), some wait, or some drain (of
//            the code) may change, anywhere in the run
//
// These steps come first, alone, when they can happen ("eager"):
//   E1  operations on registers, loops and branches; a drain
//   E2  a commit, right after its issue
//   E3  a wait on a steady semaphore
//   E4  an issue without wait, or with one on a steady semaphore
//   E5  a retirement to a count that is not marked, on a queue of whole completion. What it raises
//       is steady, or nothing waits for it: otherwise the count is marked
//
// Claim: every mismatch and every deadlock that the whole state space has, the reduced one has.
//
//   (a) Once an eager step can happen, no other step prevents it (E3, E4: the semaphore only rises;
//       only the engine itself fills its queue or moves on; only queue q retires from q), and it
//       commutes with each other step s: both orders are possible where one is, and end in the
//       same state. (E2 commutes with commits that touch the same memory in all but memory.
//       Memory decides nothing here: control and waits never read it, and both systems commit the
//       same things in the same order. So states that differ in memory alone have the same future.)
//   (b) Let a run r from state x end in a mismatch about the next instruction X of engine e, and
//       t be eager in x. If t is in r, move it to the front, by (a): same end. If not, do t
//       first, then r, by (a) possible, and look at its end:
//         E1-E3 of e    "e gets to issue X by its own operations" was defined so as to include t
//         E4 of e       t issues X, in x already. An early mismatch at the end of r means that X
//                       is not ready there, so it was not ready in x, where less has retired: found
//                       in x, as every issue is checked when it happens. A late mismatch is
//                       impossible: the wait passes in x and goes on passing. The same holds for an
//                       order mismatch.
//         of others     changes neither semaphores nor retirements nor e
//         E5            changes no readiness and lets no wait or drain pass, as the count is not
//                       marked; it may make room in a queue, which takes nothing away
//       Either way the mismatch is there after t. Steps left to do shrink, so this ends.
//   (c) A late mismatch is found where nothing is eager: by (b), doing what is eager keeps it.
//   (d) In a deadlock nothing is enabled; so a run to it contains all eager steps, which (b) moves
//       to the front one by one.
//
// Runs are finite and states do not repeat along a run (each step is progress of something), so no
// step is put off forever. All other steps (retirements to marked counts, rings, signals, resets,
// what waits on unsteady semaphores) are tried in every order.
//
// Symmetry: the rings of a split queue are interchangeable where each delivers the same, so their
// deliveries are kept sorted.
//
// Parts: Tables (what follows once and for all), ReducedSystem (what can happen in a position),
// Keys (how states are told apart), and the walk.
//
// Cost: a state is a few words, a choice some dozen operations. The states are the reachable
// combinations of marked counts.
//
//===----------------------------------------------------------------------===//

#include "ReducedSystem.h"
#include "StateTable.h"

#include <algorithm>
#include <bit>

namespace tally {

using namespace check;

namespace reduced {
namespace {

/// The steps of the code that events from the start stand for: operations on registers and the like
/// as soon as possible, a commit right after its issue.
std::vector<Step> stepsOf(const ReducedSystem &system, const std::vector<Event> &events) {
  std::vector<Step> way;
  IdVector<EngineId, uint32_t> point(system.kernel.engines.size(), 0);
  Position now = system.initial(); // as far as acts and what is in flight go
  auto controlUpTo = [&](EngineId e, size_t end) {
    way.insert(way.end(), end - point[e], Step::control(e));
    point[e] = static_cast<uint32_t>(end);
  };
  for (const Event &event : events) {
    if (event.kind == Event::Kind::Retire) {
      way.push_back(system.impl.completionOf(event.queue(), 0));
      system.retire(now, event.queue());
    } else if (event.kind == Event::Kind::Deliver) {
      way.push_back(system.impl.completionOf(event.queue(), event.ring));
      system.deliver(now, event.queue(), event.ring);
    } else {
      const Act &act = *system.headOf(now, event.engine());
      controlUpTo(event.engine(), act.point + (act.kind != OpKind::Issue));
      if (act.kind == OpKind::Issue) {
        uint32_t place = now.issued[act.queue] - now.retired[act.queue];
        way.push_back(Step::issue(event.engine(), act.queue));
        way.push_back(Step::commit(event.engine(), act.queue, place));
        ++point[event.engine()];
      }
      system.execute(now, event.engine(), act);
    }
  }
  for (EngineId e : system.kernel.engines.ids()) {
    const Act *next = system.headOf(now, e);
    controlUpTo(e, next ? next->point : system.impl.trajectory(e).size());
  }
  return way;
}

/// The records by which states are told apart: what does not follow from the rest, packed into
/// words.
class Keys {
public:
  Keys(const ReducedSystem &system, bool isCompact) : system(system), isCompact(isCompact) {
    pack(system.initial());
  }

  size_t numWords() const { return isCompact ? 1 : record.size(); }

  /// Good until the next one is asked for.
  const uint64_t *of(const Position &position) {
    pack(position);
    if (isCompact) {
      record[0] = StateTable::hashOf(record.data(), record.size()) | 1; // 0 is no record
    }
    return record.data();
  }

private:
  void pack(const Position &position) {
    const Tables &tables = system.tables;
    record = {1}; // no record is 0
    used = 1;
    for (EngineId e : position.at.ids()) {
      add(position.at[e], tables.acts[e].size());
    }
    for (QueueId q : position.retired.ids()) {
      add(position.retired[q], tables.taken[q].size());
    }
    for (SemaId s : tables.reset.ids()) {
      if (tables.reset[s]) {
        add(position.semaphores[s], (uint64_t(1) << tables.machine.counterBits) - 1);
      }
    }
    for (QueueId q : position.retired.ids()) {
      if (system.impl.isSplit(q)) {
        auto first = position.rings.begin() + system.impl.firstRing(q);
        rings.assign(first, first + system.impl.ringsOf(q));
        if (sharesAreEqual(q)) {
          std::ranges::sort(rings);
        }
        for (uint32_t delivered : rings) {
          add(delivered, tables.taken[q].size());
        }
      }
    }
  }

  /// A number that is never above `bound`.
  void add(uint64_t number, uint64_t bound) {
    auto bits = static_cast<uint32_t>(std::bit_width(bound));
    if (used + bits > 64) {
      record.push_back(0);
      used = 0;
    }
    record.back() |= bits > 0 ? number << used : 0;
    used += bits;
  }

  bool sharesAreEqual(QueueId q) const {
    return std::ranges::all_of(system.tables.taken[q], [&](const Taken &instr) {
      return instr.amount % system.impl.ringsOf(q) == 0;
    });
  }

  const ReducedSystem &system;
  const bool isCompact;
  std::vector<uint64_t> record;
  uint32_t used = 0; ///< bits of its last word
  std::vector<uint32_t> rings;
};

class ReducedWalk {
public:
  ReducedWalk(const Lockstep &lockstep, const ExploreOptions &options)
      : options(options), system(lockstep, options), keys(system, options.compact),
        table(keys.numWords()) {}

  WalkResult run() {
    Position start = system.initial();
    settle(start);
    arrive(std::move(start));
    while (!stack.empty() && !isOver()) {
      Frame &top = stack.back();
      if (top.next == top.choices.size()) {
        stackBytes -= top.bytes();
        stack.pop_back();
        continue;
      }
      course.resize(top.numEvents);
      Position position = top.position;
      perform(position, top.choices[top.next++]);
      ++result.transitions;
      settle(position);
      arrive(std::move(position));
    }
    result.complete = result.reason.empty() && stack.empty();
    result.full = system.fullQueues();
    result.states = table.size();
    return result;
  }

private:
  /// A state that still has choices to try.
  struct Frame {
    Position position;
    size_t numEvents; ///< that lead to it
    std::vector<Event> choices;
    size_t next = 0;

    uint64_t bytes() const {
      return sizeof(Frame) + choices.capacity() * sizeof(Event) +
             sizeof(uint32_t) * (2 * position.at.size() + 2 * position.issued.size() +
                                 position.semaphores.size() + position.rings.size());
    }
  };

  void perform(Position &position, const Event &event) {
    switch (event.kind) {
    case Event::Kind::Act: {
      const Act &act = *system.headOf(position, event.engine());
      if (act.kind == OpKind::Issue) {
        checkIssue(position, event.engine());
      }
      system.execute(position, event.engine(), act);
      break;
    }
    case Event::Kind::Retire:
      system.retire(position, event.queue());
      break;
    case Event::Kind::Deliver:
      system.deliver(position, event.queue(), event.ring);
      break;
    }
    course.push_back(event);
  }

  //===--- What is wrong --------------------------------------------------===//

  /// Nothing more is asked, since something has been found or the walk has been given up.
  bool isOver() const { return !result.reason.empty() || (result.first && !options.findAll); }

  void found(const Mismatch &mismatch) {
    if (isOver()) {
      return;
    }
    result.mismatches.insert(mismatch);
    if (!result.first && !isAllowed(options, mismatch)) {
      result.first = mismatch;
      result.wayToFirst = stepsOf(system, course);
    }
  }

  /// Before an issue that the code allows.
  void checkIssue(const Position &position, EngineId e) {
    const Act &act = *system.headOf(position, e);
    Mismatch mismatch = system.mismatchOf(position, e, MismatchKind::Order);
    if (act.outOfOrder) {
      mismatch.issued = {system.impl.headAt(e, act.point)->instr(),
                         system.impl.trajectory(e)[act.point].run};
      found(mismatch);
    } else if (const Ask *ask = system.unmet(position, *system.nextOfSpec(position, e))) {
      mismatch.kind = MismatchKind::Early;
      mismatch.dep = ask->dep;
      found(mismatch);
    }
  }

  /// Where nothing is eager: who could go on in the kernel, but not in the code?
  void checkLate(const Position &position) {
    for (EngineId e : system.kernel.engines.ids()) {
      if (system.specMayIssue(position, e)) {
        if (std::optional<Mismatch> late = system.lateness(position, e)) {
          found(*late);
        }
      }
    }
  }

  /// Where nothing can happen: could anything in the kernel? And is all code at its end?
  void checkDeadlock(const Position &position) {
    bool done = true;
    for (EngineId e : system.kernel.engines.ids()) {
      done &= system.nextOfSpec(position, e) == nullptr;
      if (system.specMayIssue(position, e)) {
        return foundDeadlock(position, e);
      }
    }
    for (EngineId e : system.kernel.engines.ids()) {
      if (done && system.headOf(position, e)) {
        return foundDeadlock(position, e);
      }
    }
    result.stuckTogether |= !done;
  }

  void foundDeadlock(const Position &position, EngineId e) {
    Mismatch mismatch = *system.lateness(position, e);
    mismatch.kind = MismatchKind::Deadlock;
    found(mismatch);
  }

  //===--- Eager steps ----------------------------------------------------===//

  /// Does all that is eager; what happens in which order makes no difference.
  void settle(Position &position) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (EngineId e : system.kernel.engines.ids()) {
        changed |= advance(position, e);
      }
      for (QueueId q : system.kernel.queues.ids()) {
        changed |= retireUnmarked(position, q);
      }
    }
  }

  bool advance(Position &position, EngineId e) {
    bool moved = false;
    while (const Act *act = system.headOf(position, e)) {
      if (!act->eager || !system.canAct(position, e, *act)) {
        break;
      }
      if (act->outOfOrder) {
        checkIssue(position, e);
        break;
      }
      perform(position, {Event::Kind::Act, e.value, 0});
      moved = true;
    }
    return moved;
  }

  bool isEagerRetirement(const Position &position, QueueId q) const {
    if (system.impl.isSplit(q) || position.retired[q] == position.issued[q]) {
      return false;
    }
    return !system.tables.taken[q][position.retired[q]].marked;
  }

  bool retireUnmarked(Position &position, QueueId q) {
    bool moved = false;
    while (isEagerRetirement(position, q)) {
      perform(position, {Event::Kind::Retire, q.value, 0});
      moved = true;
    }
    return moved;
  }

  //===--- The walk -------------------------------------------------------===//

  /// Looks at a settled state; if it is new, its choices are to be tried.
  void arrive(Position position) {
    if (isOver() || !table.insert(keys.of(position))) {
      return;
    }
    checkLate(position);
    Frame frame{std::move(position), course.size(), {}, 0};
    bool wrongIssue = findChoices(frame);
    if (!frame.choices.empty()) {
      stackBytes += frame.bytes();
      stack.push_back(std::move(frame));
    } else if (!wrongIssue) {
      checkDeadlock(frame.position);
    }
    checkLimits();
  }

  void checkLimits() {
    result.bytes = std::max(result.bytes, table.bytes() + stackBytes);
    result.reason = limitReached(options, table.size(), table.bytesForNext() + stackBytes);
  }

  /// What may happen next; returns whether an issue that is out of order could, too.
  bool findChoices(Frame &frame) {
    bool wrongIssue = false;
    for (EngineId e : system.kernel.engines.ids()) {
      const Act *act = system.headOf(frame.position, e);
      if (!act || !system.canAct(frame.position, e, *act)) {
        continue;
      }
      if (act->outOfOrder) {
        wrongIssue = true;
        checkIssue(frame.position, e);
      } else {
        frame.choices.push_back({Event::Kind::Act, e.value, 0});
      }
    }
    for (QueueId q : system.kernel.queues.ids()) {
      findChoicesOf(q, frame);
    }
    return wrongIssue;
  }

  void findChoicesOf(QueueId q, Frame &frame) const {
    const Position &position = frame.position;
    if (!system.impl.isSplit(q)) {
      if (position.retired[q] < position.issued[q]) {
        frame.choices.push_back({Event::Kind::Retire, q.value, 0});
      }
      return;
    }
    for (uint32_t r = 0; r < system.impl.ringsOf(q); ++r) {
      if (position.rings[system.impl.firstRing(q) + r] < position.issued[q]) {
        frame.choices.push_back({Event::Kind::Deliver, q.value, r});
      }
    }
  }

  const ExploreOptions &options;
  const ReducedSystem system;
  std::vector<Event> course; ///< from the start to here
  WalkResult result;
  Keys keys;
  StateTable table;
  std::vector<Frame> stack;
  uint64_t stackBytes = 0;
};

} // namespace
} // namespace reduced

WalkResult check::walkReduced(const Lockstep &lockstep, const ExploreOptions &options) {
  return reduced::ReducedWalk(lockstep, options).run();
}

} // namespace tally
