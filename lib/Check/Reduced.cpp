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
//       is steady, or nobody waits for it: otherwise the count is marked
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
// Runs are finite and states do not repeat along a run (each step is progress of somebody), so no
// step is put off for ever. All other steps (retirements to marked counts, rings, signals, resets,
// what waits on unsteady semaphores) are tried in every order.
//
// Symmetry: the rings of a split queue are interchangeable where each delivers the same, so their
// deliveries are kept sorted.
//
// Parts: Tables (what follows once and for all), ReducedSystem (what can happen in a position),
// Course (what has happened on the way), Judge (what is wrong), Keys (how states are told apart),
// and the walk over them.
//
// Cost: a state is a few words, a choice some dozen operations. The states are the reachable
// combinations of marked counts.
//
//===----------------------------------------------------------------------===//

#include "ReducedSystem.h"
#include "StateTable.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tally {
namespace reduced {
namespace {

/// What has happened since the start.
class Course {
public:
  explicit Course(const ReducedSystem &system) : system(system) {}

  size_t size() const { return events.size(); }

  void add(const Event &event) { events.push_back(event); }

  /// Goes back to where there were so many.
  void cut(size_t size) { events.resize(size); }

  /// The steps of the code that they stand for: operations on registers and the like
  /// as soon as possible, a commit right after its issue.
  std::vector<Step> steps() const {
    std::vector<Step> way;
    std::vector<uint32_t> point(system.kernel.engines.size(), 0);
    std::vector<uint32_t> numActs(system.kernel.engines.size(), 0);
    Position queues = system.initial(); // for what is in flight when something is issued
    for (const Event &event : events) {
      if (event.kind == Event::Kind::Act) {
        EngineId e(event.who);
        const Act &act = system.tables.acts[e][numActs[e.value]++];
        for (; point[e.value] < act.point; ++point[e.value]) {
          way.push_back(Step::control(e));
        }
        ++point[e.value];
        if (act.kind != OpKind::Issue) {
          way.push_back(Step::control(e));
          continue;
        }
        way.push_back(Step::issue(e, act.queue));
        uint32_t q = act.queue.value;
        way.push_back(Step::commit(e, act.queue, queues.issued[q]++ - queues.retired[q]));
        continue;
      }
      QueueId q(event.who);
      EngineId e = system.kernel.queues[q].engine;
      if (event.kind == Event::Kind::Retire) {
        way.push_back(Step::retire(e, q));
        system.retire(queues, event.who);
      } else {
        way.push_back(Step::deliver(e, q, event.ring));
        system.deliver(queues, event.who, event.ring);
      }
    }
    for (EngineId e : system.kernel.engines.ids()) {
      const Act *next = numActs[e.value] < system.tables.acts[e].size()
                            ? &system.tables.acts[e][numActs[e.value]]
                            : nullptr;
      size_t end = next ? next->point : system.impl.trajectory(e).size();
      way.insert(way.end(), end - point[e.value], Step::control(e));
    }
    return way;
  }

private:
  const ReducedSystem &system;
  std::vector<Event> events;
};

/// Packs numbers below given bounds into words.
class Packer {
public:
  void addField(uint64_t bound) {
    uint32_t bits = static_cast<uint32_t>(std::bit_width(bound));
    if (used + bits > 64) {
      ++word;
      used = 0;
    }
    fields.push_back({word, used});
    used += bits;
  }

  size_t numWords() const { return word + 1; }

  /// The first bit is always set, so that no record is 0.
  void pack(const std::vector<uint32_t> &numbers, std::vector<uint64_t> &record) const {
    std::fill(record.begin(), record.end(), 0);
    record[0] = 1;
    for (size_t i = 0; i < numbers.size(); ++i) {
      record[fields[i].word] |= uint64_t(numbers[i]) << fields[i].shift;
    }
  }

private:
  struct Field {
    uint32_t word;
    uint32_t shift;
  };

  std::vector<Field> fields;
  uint32_t word = 0;
  uint32_t used = 1;
};

/// The records by which states are told apart: what does not follow from the rest.
class Keys {
public:
  Keys(const ReducedSystem &system, bool isCompact)
      : system(system), isCompact(isCompact), packer(packerFor(system.tables)),
        record(packer.numWords()) {}

  size_t numWords() const { return isCompact ? 1 : packer.numWords(); }

  /// Good until the next one is asked for.
  const uint64_t *of(const Position &position) {
    numbers.clear();
    numbers.insert(numbers.end(), position.at.begin(), position.at.end());
    numbers.insert(numbers.end(), position.retired.begin(), position.retired.end());
    for (SemaId s : system.tables.reset.ids()) {
      if (system.tables.reset[s]) {
        numbers.push_back(position.semaphores[s.value]);
      }
    }
    for (QueueId q : system.kernel.queues.ids()) {
      if (system.impl.isSplit(q)) {
        auto first = position.rings.begin() + system.impl.firstRing(q);
        size_t begin = numbers.size();
        numbers.insert(numbers.end(), first, first + system.kernel.queues[q].weight);
        if (sharesAreEqual(q)) {
          std::sort(numbers.begin() + static_cast<ptrdiff_t>(begin), numbers.end());
        }
      }
    }
    packer.pack(numbers, record);
    if (isCompact) {
      record[0] = StateTable::hashOf(record.data(), record.size()) | 1; // 0 is no record
    }
    return record.data();
  }

private:
  static Packer packerFor(const Tables &tables) {
    Packer packer;
    for (const std::vector<Act> &acts : tables.acts) {
      packer.addField(acts.size());
    }
    for (const std::vector<Taken> &taken : tables.taken) {
      packer.addField(taken.size());
    }
    for (SemaId s : tables.reset.ids()) {
      if (tables.reset[s]) {
        packer.addField((uint64_t(1) << tables.machine.counterBits) - 1);
      }
    }
    for (QueueId q : tables.kernel.queues.ids()) {
      if (tables.lockstep.implOf().isSplit(q)) {
        for (uint32_t r = 0; r < tables.kernel.queues[q].weight; ++r) {
          packer.addField(tables.taken[q].size());
        }
      }
    }
    return packer;
  }

  bool sharesAreEqual(QueueId q) const {
    return std::all_of(
        system.tables.taken[q].begin(), system.tables.taken[q].end(),
        [&](const Taken &instr) { return instr.amount % system.kernel.queues[q].weight == 0; });
  }

  const ReducedSystem &system;
  const bool isCompact;
  Packer packer;
  std::vector<uint64_t> record;
  std::vector<uint32_t> numbers;
};

/// What is wrong in the positions that the walk comes to.
class Judge {
public:
  Judge(const ReducedSystem &system, const ExploreOptions &options, const Course &course,
        WalkResult &result)
      : system(system), options(options), course(course), result(result) {}

  /// Nothing more is asked, since something has been found or the walk has been given up.
  bool isOver() const { return !result.reason.empty() || (result.first && !options.findAll); }

  /// Before an issue that the code allows.
  void checkIssue(const Position &position, EngineId e) {
    const Act &act = *system.headOf(position, e);
    const SpecIssue *next = system.nextOfSpec(position, e);
    Mismatch mismatch;
    mismatch.engine = e;
    mismatch.instance = next ? next->instance : Instance();
    if (act.outOfOrder) {
      mismatch.kind = MismatchKind::Order;
      mismatch.issued = {system.impl.headAt(e, act.point)->instr(),
                         system.impl.trajectory(e)[act.point].run};
      return found(mismatch);
    }
    if (const Ask *ask = system.unmet(position, *next)) {
      mismatch.kind = MismatchKind::Early;
      mismatch.dep = ask->dep;
      found(mismatch);
    }
  }

  /// Where nothing is eager: who could go on in the kernel, but not in the code?
  void checkLate(const Position &position) {
    for (EngineId e : system.kernel.engines.ids()) {
      if (system.specMayIssue(position, e)) {
        std::optional<Mismatch> late = system.lateness(position, e);
        if (late) {
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

private:
  void found(const Mismatch &mismatch) {
    if (isOver()) {
      return;
    }
    result.mismatches.insert(mismatch);
    if (!result.first && !isAllowed(options, mismatch)) {
      result.first = mismatch;
      result.wayToFirst = course.steps();
    }
  }

  void foundDeadlock(const Position &position, EngineId e) {
    Mismatch mismatch = *system.lateness(position, e);
    mismatch.kind = MismatchKind::Deadlock;
    found(mismatch);
  }

  const ReducedSystem &system;
  const ExploreOptions &options;
  const Course &course;
  WalkResult &result;
};

class ReducedWalk {
public:
  ReducedWalk(const Lockstep &lockstep, const ExploreOptions &options)
      : options(options), system(lockstep, options), course(system),
        judge(system, options, course, result), keys(system, options.compact),
        table(keys.numWords()) {}

  WalkResult run() {
    Position start = system.initial();
    settle(start);
    arrive(std::move(start));
    while (!stack.empty() && !judge.isOver()) {
      Frame &top = stack.back();
      if (top.next == top.choices.size()) {
        stackBytes -= top.bytes();
        stack.pop_back();
        continue;
      }
      course.cut(top.numEvents);
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
      EngineId e(event.who);
      const Act &act = *system.headOf(position, e);
      if (act.kind == OpKind::Issue) {
        judge.checkIssue(position, e);
      }
      system.execute(position, e, act);
      break;
    }
    case Event::Kind::Retire:
      system.retire(position, event.who);
      break;
    case Event::Kind::Deliver:
      system.deliver(position, event.who, event.ring);
      break;
    }
    course.add(event);
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
        judge.checkIssue(position, e);
        break;
      }
      perform(position, {Event::Kind::Act, e.value, 0});
      moved = true;
    }
    return moved;
  }

  bool isEagerRetirement(const Position &position, QueueId q) const {
    if (system.impl.isSplit(q) || position.retired[q.value] == position.issued[q.value]) {
      return false;
    }
    return !system.tables.taken[q][position.retired[q.value]].marked;
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
    if (judge.isOver() || !table.insert(keys.of(position))) {
      return;
    }
    judge.checkLate(position);
    Frame frame{std::move(position), course.size(), {}, 0};
    bool wrongIssue = findChoices(frame);
    if (!frame.choices.empty()) {
      stackBytes += frame.bytes();
      stack.push_back(std::move(frame));
    } else if (!wrongIssue) {
      judge.checkDeadlock(frame.position);
    }
    checkLimits();
  }

  void checkLimits() {
    result.bytes = std::max(result.bytes, table.bytes() + stackBytes);
    if (table.size() > options.maxStates) {
      result.reason = fmt::format("more than {} states", options.maxStates);
    } else if (table.bytesForNext() + stackBytes > options.maxBytes) {
      result.reason = fmt::format("the states need more than {} bytes", options.maxBytes);
    } else if (isSet(options.stop)) {
      result.reason = stopReason;
    }
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
        judge.checkIssue(frame.position, e);
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
      if (position.retired[q.value] < position.issued[q.value]) {
        frame.choices.push_back({Event::Kind::Retire, q.value, 0});
      }
      return;
    }
    for (uint32_t r = 0; r < system.kernel.queues[q].weight; ++r) {
      if (position.rings[system.impl.firstRing(q) + r] < position.issued[q.value]) {
        frame.choices.push_back({Event::Kind::Deliver, q.value, r});
      }
    }
  }

  const ExploreOptions &options;
  const ReducedSystem system;
  Course course; ///< from the start to here
  WalkResult result;
  Judge judge;
  Keys keys;
  StateTable table;
  std::vector<Frame> stack;
  uint64_t stackBytes = 0;
};

} // namespace
} // namespace reduced

WalkResult walkReduced(const Lockstep &lockstep, const ExploreOptions &options) {
  return reduced::ReducedWalk(lockstep, options).run();
}

} // namespace tally
