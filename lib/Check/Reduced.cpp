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
// Cost: a state is a few words, a choice some dozen operations. The states are the reachable
// combinations of marked counts.
//
//===----------------------------------------------------------------------===//

#include "StateTable.h"
#include "Walks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace tally {
namespace {

constexpr uint32_t never = UINT32_MAX;

/// An operation that touches the outside.
struct Act {
  OpKind kind;
  uint32_t point;     ///< in the engine's trajectory
  uint32_t threshold; ///< of its wait
  SemaId wait;
  SemaId signal;
  uint32_t amount;
  QueueId queue;           ///< Issue
  bool eager = true;       ///< E1, E3, E4, if it can be executed
  bool outOfOrder = false; ///< Issue: not what the kernel has next
};

/// What the specification asks of one run of an instruction: counts of queues.
struct Ask {
  QueueId queue;
  uint32_t count;
  DepId dep;
};

struct SpecIssue {
  Instance instance;
  QueueId queue;
  uint32_t firstAsk = 0;
  uint32_t numAsks = 0;
};

/// The instruction at one place of a queue's order.
struct Taken {
  SemaId signal;
  uint32_t amount = 0;
  bool marked = false; ///< the count that its retirement makes
};

/// What follows from the two systems once and for all.
class Tables {
public:
  Tables(const Lockstep &lockstep, Reduction reduction)
      : lockstep(lockstep), kernel(lockstep.implOf().kernelOf()),
        code(lockstep.implOf().programOf()), machine(lockstep.implOf().machineOf()),
        acts(kernel.engines.size()), issues(kernel.engines.size()), taken(kernel.queues.size()),
        steady(code.semaphores.size(), true), reset(code.semaphores.size(), false) {
    fillActs();
    fillTaken();
    fillAsks();
    findSteady();
    markEager();
    markWaits();
    markDrains();
    if (reduction == Reduction::Local) {
      nothingIsEager();
    }
  }

  const Lockstep &lockstep;
  const Kernel &kernel;
  const Code &code;
  const Machine &machine;
  IdVector<EngineId, std::vector<Act>> acts;
  IdVector<EngineId, std::vector<SpecIssue>> issues;
  std::vector<Ask> asks;
  IdVector<QueueId, std::vector<Taken>> taken;
  IdVector<SemaId, bool> steady;
  IdVector<SemaId, bool> reset; ///< by some operation

private:
  static bool isOutside(OpKind kind) {
    return kind == OpKind::Issue || kind == OpKind::Wait || kind == OpKind::Signal ||
           kind == OpKind::Reset || kind == OpKind::Drain;
  }

  void fillActs() {
    const ImplSystem &impl = lockstep.implOf();
    for (EngineId e : kernel.engines.ids()) {
      const std::vector<ImplPoint> &points = impl.trajectory(e);
      const std::vector<Instance> &expected = lockstep.specOf().issuesOf(e);
      size_t numIssues = 0;
      for (uint32_t p = 0; p < points.size(); ++p) {
        const Op &op = *impl.headAt(e, p);
        if (!isOutside(op.kind)) {
          continue;
        }
        Act act{op.kind, p, points[p].threshold, op.wait, op.signal, op.amount, {}};
        if (op.kind == OpKind::Issue) {
          act.queue = kernel.instrs[op.instr()].queue;
          act.outOfOrder = numIssues >= expected.size() ||
                           expected[numIssues] != Instance{op.instr(), points[p].run};
          ++numIssues;
        }
        acts[e].push_back(act);
      }
    }
  }

  void fillTaken() {
    for (QueueId q : kernel.queues.ids()) {
      const ImplSystem &impl = lockstep.implOf();
      for (uint32_t n = 0; n < impl.issuesOf(q).size(); ++n) {
        const Op &op = impl.issueAt(q, n);
        taken[q].push_back({op.signal, op.signal.valid() ? op.amount : 0, false});
      }
    }
  }

  /// The place of each run of each producer in its queue, from the specification's order: where the
  /// code's differs, nothing behind that is ever issued.
  void fillAsks() {
    const SpecSystem &spec = lockstep.specOf();
    std::vector<std::vector<uint32_t>> countOf(kernel.instrs.size());
    for (QueueId q : kernel.queues.ids()) {
      uint32_t count = 0;
      for (const Instance &instance : spec.issuesOf(q)) {
        countOf[instance.instr.value].push_back(++count);
      }
    }
    for (EngineId e : kernel.engines.ids()) {
      for (const Instance &instance : spec.issuesOf(e)) {
        addIssue(e, instance, countOf);
      }
    }
  }

  void addIssue(EngineId engine, const Instance &instance,
                const std::vector<std::vector<uint32_t>> &countOf) {
    SpecIssue issue{instance, kernel.instrs[instance.instr].queue,
                    static_cast<uint32_t>(asks.size()), 0};
    for (DepId dep : lockstep.specOf().depsOf(instance.instr)) {
      uint32_t need = lockstep.specOf().need(dep, instance.run);
      if (need == 0) {
        continue;
      }
      InstrId producer = kernel.deps[dep].producer;
      const std::vector<uint32_t> &counts = countOf[producer.value];
      QueueId queue = kernel.instrs[producer].queue;
      asks.push_back({queue, need <= counts.size() ? counts[need - 1] : never, dep});
      mark(queue, asks.back().count);
      ++issue.numAsks;
    }
    issues[engine].push_back(issue);
  }

  void mark(QueueId queue, uint32_t count) {
    if (count >= 1 && count <= taken[queue].size()) {
      taken[queue][count - 1].marked = true;
    }
  }

  void findSteady() {
    IdVector<SemaId, uint64_t> raised(code.semaphores.size(), 0);
    for (const std::vector<Taken> &queue : taken) {
      for (const Taken &instr : queue) {
        if (instr.signal.valid()) {
          raised[instr.signal] += instr.amount;
        }
      }
    }
    for (const std::vector<Act> &engine : acts) {
      for (const Act &act : engine) {
        if (act.kind == OpKind::Signal) {
          raised[act.signal] += act.amount;
        }
        for (uint32_t i = 0; act.kind == OpKind::Reset && i < act.amount; ++i) {
          reset[SemaId(act.signal.value + i)] = true;
        }
      }
    }
    for (SemaId s : steady.ids()) {
      steady[s] = !reset[s] && raised[s] < machine.counterLimit();
    }
  }

  void markEager() {
    for (std::vector<Act> &engine : acts) {
      for (Act &act : engine) {
        act.eager =
            act.kind == OpKind::Drain || ((act.kind == OpKind::Wait || act.kind == OpKind::Issue) &&
                                          (!act.wait.valid() || steady[act.wait]));
      }
    }
  }

  /// The counts at which waits may begin to pass. A semaphore raised by several, or split, or not
  /// steady: every one of them.
  void markWaits() {
    struct Raiser {
      QueueId queue;
      bool several = false;
      std::vector<uint64_t> values; ///< after each count
    };

    IdVector<SemaId, Raiser> raisers(code.semaphores.size());
    for (const std::vector<Act> &engine : acts) {
      for (const Act &act : engine) {
        if (act.kind == OpKind::Signal) {
          raisers[act.signal].several = true;
        }
      }
    }
    for (QueueId q : kernel.queues.ids()) {
      for (const Taken &instr : taken[q]) {
        if (instr.signal.valid()) {
          Raiser &raiser = raisers[instr.signal];
          raiser.several |= raiser.queue.valid() && raiser.queue != q;
          raiser.queue = q;
        }
      }
    }
    for (SemaId s : raisers.ids()) {
      fillValues(s, raisers[s].queue, raisers[s].values);
    }
    for (const std::vector<Act> &engine : acts) {
      for (const Act &act : engine) {
        if (!act.wait.valid()) {
          continue;
        }
        const Raiser &raiser = raisers[act.wait];
        bool simple = steady[act.wait] && !raiser.several;
        if (simple && raiser.queue.valid()) {
          auto reached =
              std::lower_bound(raiser.values.begin(), raiser.values.end(), uint64_t(act.threshold));
          mark(raiser.queue, static_cast<uint32_t>(reached - raiser.values.begin()));
        } else if (!simple) {
          markAllThatRaise(act.wait);
        }
      }
    }
  }

  void fillValues(SemaId semaphore, QueueId queue, std::vector<uint64_t> &values) {
    values = {0};
    if (!queue.valid()) {
      return;
    }
    for (const Taken &instr : taken[queue]) {
      values.push_back(values.back() + (instr.signal == semaphore ? instr.amount : 0));
    }
  }

  /// But what E1 and E2 say: those have no acts.
  void nothingIsEager() {
    for (std::vector<Act> &engine : acts) {
      for (Act &act : engine) {
        act.eager = false;
      }
    }
    for (std::vector<Taken> &queue : taken) {
      for (Taken &instr : queue) {
        instr.marked = true;
      }
    }
  }

  /// A drain passes when all that was issued before it has retired.
  void markDrains() {
    for (const std::vector<Act> &engine : acts) {
      std::map<QueueId, uint32_t> issued;
      for (const Act &act : engine) {
        if (act.kind == OpKind::Issue) {
          ++issued[act.queue];
        }
        for (auto [queue, count] : issued) {
          if (act.kind == OpKind::Drain) {
            mark(queue, count);
          }
        }
      }
    }
  }

  void markAllThatRaise(SemaId semaphore) {
    for (std::vector<Taken> &queue : taken) {
      for (Taken &instr : queue) {
        instr.marked |= instr.signal == semaphore;
      }
    }
  }
};

/// A state in full; small, copied often.
struct Position {
  std::vector<uint32_t> at;        ///< by engine: acts
  std::vector<uint32_t> numIssued; ///< by engine
  std::vector<uint32_t> issued;    ///< by queue
  std::vector<uint32_t> retired;   ///< by queue
  std::vector<uint32_t> semaphores;
  std::vector<uint32_t> rings;
};

/// One thing that happened: an act, a retirement, or a delivery.
struct Event {
  enum class Kind : uint8_t { Act, Retire, Deliver };
  Kind kind = Kind::Act;
  uint32_t who = 0;  ///< engine or queue
  uint32_t ring = 0; ///< Deliver

  bool operator==(const Event &) const = default;
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

class ReducedWalk {
public:
  ReducedWalk(const Lockstep &lockstep, const ExploreOptions &options)
      : tables(lockstep, options.reduction), impl(lockstep.implOf()), kernel(impl.kernelOf()),
        options(options), packer(packerFor(tables)), table(options.compact ? 1 : packer.numWords()),
        record(packer.numWords()) {}

  WalkResult run() {
    Position start = initial();
    settle(start);
    arrive(std::move(start));
    while (!stack.empty() && !stopped()) {
      Frame &top = stack.back();
      if (top.next == top.choices.size()) {
        stackBytes -= top.bytes();
        stack.pop_back();
        continue;
      }
      events.resize(top.numEvents);
      Position position = top.position;
      perform(position, top.choices[top.next++]);
      ++result.transitions;
      settle(position);
      arrive(std::move(position));
    }
    result.complete = result.reason.empty() && stack.empty();
    result.full = std::move(full);
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

  Position initial() const {
    Position position;
    position.at.assign(kernel.engines.size(), 0);
    position.numIssued.assign(kernel.engines.size(), 0);
    position.issued.assign(kernel.queues.size(), 0);
    position.retired.assign(kernel.queues.size(), 0);
    position.semaphores.assign(tables.code.semaphores.size(), 0);
    position.rings.assign(impl.initial().rings.size(), 0);
    return position;
  }

  bool stopped() const { return !result.reason.empty() || (result.first && !options.findAll); }

  //===--- One state ------------------------------------------------------===//

  const Act *headOf(const Position &position, EngineId e) const {
    uint32_t at = position.at[e.value];
    return at < tables.acts[e].size() ? &tables.acts[e][at] : nullptr;
  }

  bool waitPasses(const Position &position, const Act &act) const {
    return !act.wait.valid() || impl.passes(position.semaphores[act.wait.value], act.threshold);
  }

  /// Asked only where the engine has something for this queue.
  bool hasRoom(const Position &position, QueueId q) const {
    bool has = position.issued[q.value] - position.retired[q.value] < options.inFlight;
    if (!has) {
      full.insert(q);
    }
    return has;
  }

  bool isDrained(const Position &position, EngineId e) const {
    for (QueueId q : kernel.engines[e].queues) {
      if (position.issued[q.value] != position.retired[q.value]) {
        return false;
      }
    }
    return true;
  }

  /// Whether the engine can execute its next act, issues out of order included.
  bool canAct(const Position &position, EngineId e, const Act &act) const {
    return waitPasses(position, act) &&
           (act.kind != OpKind::Issue || hasRoom(position, act.queue)) &&
           (act.kind != OpKind::Drain || isDrained(position, e));
  }

  const SpecIssue *nextOfSpec(const Position &position, EngineId e) const {
    uint32_t n = position.numIssued[e.value];
    return n < tables.issues[e].size() ? &tables.issues[e][n] : nullptr;
  }

  /// The first thing asked that has not retired yet.
  const Ask *unmet(const Position &position, const SpecIssue &issue) const {
    for (uint32_t i = 0; i < issue.numAsks; ++i) {
      const Ask &ask = tables.asks[issue.firstAsk + i];
      if (position.retired[ask.queue.value] < ask.count) {
        return &ask;
      }
    }
    return nullptr;
  }

  bool specMayIssue(const Position &position, EngineId e) const {
    const SpecIssue *next = nextOfSpec(position, e);
    return next && hasRoom(position, next->queue) && !unmet(position, *next);
  }

  //===--- Events ---------------------------------------------------------===//

  void raise(Position &position, SemaId semaphore, uint32_t amount) const {
    uint64_t mask = (uint64_t(1) << tables.machine.counterBits) - 1;
    uint32_t &value = position.semaphores[semaphore.value];
    value = static_cast<uint32_t>((value + uint64_t(amount)) & mask);
  }

  /// What an engine does to others; it can be executed.
  void execute(Position &position, EngineId e, const Act &act) const {
    ++position.at[e.value];
    switch (act.kind) {
    case OpKind::Issue:
      ++position.issued[act.queue.value];
      ++position.numIssued[e.value];
      return;
    case OpKind::Signal:
      return raise(position, act.signal, act.amount);
    case OpKind::Reset:
      std::fill_n(position.semaphores.begin() + act.signal.value, act.amount, 0);
      return;
    default:
      return;
    }
  }

  void retire(Position &position, uint32_t queue) const {
    const Taken &instr = tables.taken[QueueId(queue)][position.retired[queue]++];
    if (instr.signal.valid()) {
      raise(position, instr.signal, instr.amount);
    }
  }

  void deliver(Position &position, uint32_t queue, uint32_t ring) const {
    uint32_t *rings = position.rings.data() + impl.firstRing(QueueId(queue));
    const Op &op = impl.issueAt(QueueId(queue), rings[ring]++);
    if (uint32_t share = impl.shareOf(QueueId(queue), op, ring)) {
      raise(position, op.signal, share);
    }
    position.retired[queue] =
        *std::min_element(rings, rings + kernel.queues[QueueId(queue)].weight);
  }

  void perform(Position &position, const Event &event) {
    switch (event.kind) {
    case Event::Kind::Act: {
      EngineId e(event.who);
      const Act &act = *headOf(position, e);
      if (act.kind == OpKind::Issue) {
        checkIssue(position, e);
      }
      execute(position, e, act);
      break;
    }
    case Event::Kind::Retire:
      retire(position, event.who);
      break;
    case Event::Kind::Deliver:
      deliver(position, event.who, event.ring);
      break;
    }
    events.push_back(event);
  }

  //===--- Eager steps ----------------------------------------------------===//

  /// Does all that is eager; what happens in which order makes no difference.
  void settle(Position &position) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (EngineId e : kernel.engines.ids()) {
        changed |= advance(position, e);
      }
      for (QueueId q : kernel.queues.ids()) {
        changed |= retireUnmarked(position, q);
      }
    }
  }

  bool advance(Position &position, EngineId e) {
    bool moved = false;
    while (const Act *act = headOf(position, e)) {
      if (!act->eager || !canAct(position, e, *act)) {
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
    if (impl.isSplit(q) || position.retired[q.value] == position.issued[q.value]) {
      return false;
    }
    return !tables.taken[q][position.retired[q.value]].marked;
  }

  bool retireUnmarked(Position &position, QueueId q) {
    bool moved = false;
    while (isEagerRetirement(position, q)) {
      perform(position, {Event::Kind::Retire, q.value, 0});
      moved = true;
    }
    return moved;
  }

  //===--- Mismatches -----------------------------------------------------===//

  void found(const Mismatch &mismatch) {
    if (stopped()) {
      return;
    }
    result.mismatches.insert(mismatch);
    if (!result.first && !isAllowed(options, mismatch)) {
      result.first = mismatch;
      result.wayToFirst = wayHere();
    }
  }

  /// Before an issue that the code allows.
  void checkIssue(const Position &position, EngineId e) {
    const Act &act = *headOf(position, e);
    const SpecIssue *next = nextOfSpec(position, e);
    Mismatch mismatch;
    mismatch.engine = e;
    mismatch.instance = next ? next->instance : Instance();
    if (act.outOfOrder) {
      mismatch.kind = MismatchKind::Order;
      mismatch.issued = {impl.headAt(e, act.point)->instr(), impl.trajectory(e)[act.point].run};
      return found(mismatch);
    }
    if (const Ask *ask = unmet(position, *next)) {
      mismatch.kind = MismatchKind::Early;
      mismatch.dep = ask->dep;
      found(mismatch);
    }
  }

  /// Where nothing is eager: who could go on in the kernel, but not in the code?
  void checkLate(const Position &position) {
    for (EngineId e : kernel.engines.ids()) {
      if (specMayIssue(position, e)) {
        std::optional<Mismatch> late = lateness(position, e);
        if (late) {
          found(*late);
        }
      }
    }
  }

  /// What holds an engine back from its next instruction, if its own operations cannot get it
  /// there.
  std::optional<Mismatch> lateness(const Position &position, EngineId e) {
    scratch = position;
    const Act *act = headOf(scratch, e);
    while (act && canAct(scratch, e, *act)) {
      if (act->kind == OpKind::Issue) {
        return {};
      }
      execute(scratch, e, *act);
      act = headOf(scratch, e);
    }
    Mismatch mismatch;
    mismatch.kind = MismatchKind::Late;
    mismatch.engine = e;
    const SpecIssue *next = nextOfSpec(position, e);
    mismatch.instance = next ? next->instance : Instance();
    mismatch.atReset = act && tables.lockstep.isAtReset(e, act->point);
    if (act && !waitPasses(scratch, *act)) {
      mismatch.semaphore = act->wait;
      mismatch.value = scratch.semaphores[act->wait.value];
      mismatch.threshold = act->threshold;
    }
    return mismatch;
  }

  /// Where nothing can happen: could anything in the kernel? And is all code at its end?
  void checkDeadlock(const Position &position) {
    bool done = true;
    for (EngineId e : kernel.engines.ids()) {
      done &= nextOfSpec(position, e) == nullptr;
      if (specMayIssue(position, e)) {
        return foundDeadlock(position, e);
      }
    }
    for (EngineId e : kernel.engines.ids()) {
      if (done && headOf(position, e)) {
        return foundDeadlock(position, e);
      }
    }
    result.stuckTogether |= !done;
  }

  void foundDeadlock(const Position &position, EngineId e) {
    Mismatch mismatch = *lateness(position, e);
    mismatch.kind = MismatchKind::Deadlock;
    found(mismatch);
  }

  /// The steps of the code that the events so far stand for: operations on registers and the like
  /// as soon as possible, a commit right after its issue.
  std::vector<Step> wayHere() const {
    std::vector<Step> way;
    std::vector<uint32_t> point(kernel.engines.size(), 0);
    std::vector<uint32_t> numActs(kernel.engines.size(), 0);
    Position queues = initial(); // for what is in flight when something is issued
    for (const Event &event : events) {
      if (event.kind == Event::Kind::Act) {
        EngineId e(event.who);
        const Act &act = tables.acts[e][numActs[e.value]++];
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
      EngineId e = kernel.queues[q].engine;
      if (event.kind == Event::Kind::Retire) {
        way.push_back(Step::retire(e, q));
        retire(queues, event.who);
      } else {
        way.push_back(Step::deliver(e, q, event.ring));
        deliver(queues, event.who, event.ring);
      }
    }
    for (EngineId e : kernel.engines.ids()) {
      const Act *next =
          numActs[e.value] < tables.acts[e].size() ? &tables.acts[e][numActs[e.value]] : nullptr;
      size_t end = next ? next->point : impl.trajectory(e).size();
      way.insert(way.end(), end - point[e.value], Step::control(e));
    }
    return way;
  }

  //===--- The walk -------------------------------------------------------===//

  void pack(const Position &position) {
    numbers.clear();
    numbers.insert(numbers.end(), position.at.begin(), position.at.end());
    numbers.insert(numbers.end(), position.retired.begin(), position.retired.end());
    for (SemaId s : tables.reset.ids()) {
      if (tables.reset[s]) {
        numbers.push_back(position.semaphores[s.value]);
      }
    }
    for (QueueId q : kernel.queues.ids()) {
      if (impl.isSplit(q)) {
        auto first = position.rings.begin() + impl.firstRing(q);
        size_t begin = numbers.size();
        numbers.insert(numbers.end(), first, first + kernel.queues[q].weight);
        if (sharesAreEqual(q)) {
          std::sort(numbers.begin() + static_cast<ptrdiff_t>(begin), numbers.end());
        }
      }
    }
    packer.pack(numbers, record);
    if (options.compact) {
      record[0] = StateTable::hashOf(record.data(), record.size()) | 1; // 0 is no record
    }
  }

  bool sharesAreEqual(QueueId q) const {
    return std::all_of(tables.taken[q].begin(), tables.taken[q].end(), [&](const Taken &instr) {
      return instr.amount % kernel.queues[q].weight == 0;
    });
  }

  /// Looks at a settled state; if it is new, its choices are to be tried.
  void arrive(Position position) {
    pack(position);
    if (stopped() || !table.insert(record.data())) {
      return;
    }
    checkLate(position);
    Frame frame{std::move(position), events.size(), {}, 0};
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
    for (EngineId e : kernel.engines.ids()) {
      const Act *act = headOf(frame.position, e);
      if (!act || !canAct(frame.position, e, *act)) {
        continue;
      }
      if (act->outOfOrder) {
        wrongIssue = true;
        checkIssue(frame.position, e);
      } else {
        frame.choices.push_back({Event::Kind::Act, e.value, 0});
      }
    }
    for (QueueId q : kernel.queues.ids()) {
      findChoicesOf(q, frame);
    }
    return wrongIssue;
  }

  void findChoicesOf(QueueId q, Frame &frame) const {
    const Position &position = frame.position;
    if (!impl.isSplit(q)) {
      if (position.retired[q.value] < position.issued[q.value]) {
        frame.choices.push_back({Event::Kind::Retire, q.value, 0});
      }
      return;
    }
    for (uint32_t r = 0; r < kernel.queues[q].weight; ++r) {
      if (position.rings[impl.firstRing(q) + r] < position.issued[q.value]) {
        frame.choices.push_back({Event::Kind::Deliver, q.value, r});
      }
    }
  }

  const Tables tables;
  const ImplSystem &impl;
  const Kernel &kernel;
  const ExploreOptions &options;
  Packer packer;
  StateTable table;
  std::vector<uint64_t> record;
  std::vector<uint32_t> numbers;
  Position scratch;
  std::vector<Frame> stack;
  uint64_t stackBytes = 0;
  std::vector<Event> events; ///< from the start to here
  WalkResult result;
  mutable std::set<QueueId> full; ///< seen on the way, for the result; decides nothing
};

} // namespace

WalkResult walkReduced(const Lockstep &lockstep, const ExploreOptions &options) {
  return ReducedWalk(lockstep, options).run();
}

} // namespace tally
