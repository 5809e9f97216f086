//===- Lockstep.cpp - Both systems, step by step --------------------------===//
//
// A step of the code is answered like this:
//
//   control      nothing
//   issue        entries and exits up to the next instruction, then its issue
//   commit       the same
//   deliver      a retirement, if the last ring delivered
//   retire       the same
//
// The answer is always possible except for an issue, which is where mismatches are looked for,
// before it happens. So memory, positions and what is in flight agree in every state that is
// reached; apply() asserts it.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Explore.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

Lockstep::Lockstep(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Bindings &bindings, const ExploreOptions &options)
    : kernel(kernel),
      datapath(options.reduction == Reduction::None
                   ? std::make_unique<Datapath>(kernel, bindings,
                                                Fuel(options.maxOperations, options.stop))
                   : nullptr),
      spec(kernel, bindings,
           {options.inFlight,
            machine.queueOverlap,
            {options.maxOperations, options.stop},
            datapath.get(),
            options.reading}),
      impl(kernel, code, machine, bindings,
           {options.inFlight, {options.maxOperations, options.stop}, datapath.get()}) {
  for (EngineId e : kernel.engines.ids()) {
    if (options.resets) {
      resetting.push(insideBarriers(code.engines[e].ops));
    }
  }
}

bool Lockstep::isAtReset(EngineId engine, uint32_t point) const {
  const std::vector<ImplPoint> &points = impl.trajectory(engine);
  return resetting.size() != 0 && point < points.size() && resetting[engine][points[point].op];
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Lockstep::apply(LockstepState &state, const Step &step) const {
  uint32_t retired = step.queue.valid() ? state.impl.queues[step.queue].retired : 0;
  impl.apply(state.impl, step);
  switch (step.kind) {
  case StepKind::Control:
    return;
  case StepKind::Issue:
    while (spec.head(state.spec, step.engine) &&
           spec.head(state.spec, step.engine)->kind != SpecPoint::Kind::Issue) {
      spec.follow(state.spec, Step::control(step.engine));
    }
    break;
  case StepKind::Deliver:
    if (state.impl.queues[step.queue].retired != retired) {
      spec.follow(state.spec, Step::retire(step.engine, step.queue));
    }
    assert(state.spec.queues[step.queue] == state.impl.queues[step.queue]);
    return;
  default:
    break;
  }
  spec.follow(state.spec, step);
  assert(state.spec.queues[step.queue] == state.impl.queues[step.queue] &&
         state.spec.memory == state.impl.memory && "both did the same");
}

//===----------------------------------------------------------------------===//
// Mismatches
//===----------------------------------------------------------------------===//

/// Lets an engine execute what it can of its own, up to its next instruction; whether it could
/// issue that.
bool Lockstep::getsToIssue(ImplState &state, EngineId engine, std::vector<Step> *way) const {
  while (impl.head(state, engine)) {
    Step step = impl.stepOf(state, engine);
    if (!impl.isEnabled(state, step)) {
      return false;
    }
    if (way) {
      way->push_back(step);
    }
    if (step.kind == StepKind::Issue) {
      return true;
    }
    impl.apply(state, step);
  }
  return false;
}

std::vector<Step> Lockstep::wayToIssue(const LockstepState &state, EngineId engine) const {
  std::vector<Step> way;
  ImplState copy = state.impl;
  if (!getsToIssue(copy, engine, &way)) {
    way.clear();
  }
  return way;
}

/// The n-th instruction of an engine, n counted by its queues.
const Instance *Lockstep::nextOfSpec(const LockstepState &state, EngineId engine) const {
  uint32_t issued = 0;
  for (QueueId q : kernel.engines[engine].queues) {
    issued += state.spec.queues[q].issued;
  }
  const std::vector<Instance> &issues = spec.issuesOf(engine);
  return issued < issues.size() ? &issues[issued] : nullptr;
}

bool Lockstep::specMayIssue(const LockstepState &state, EngineId engine) const {
  const Instance *next = nextOfSpec(state, engine);
  return next && spec.ready(*next, state.spec.retirements) &&
         state.spec.queues[kernel.instrs[next->instr].queue].inFlight() < impl.optionsOf().inFlight;
}

/// What an engine that cannot issue is waiting for.
void Lockstep::blame(const ImplState &state, EngineId engine, Mismatch &mismatch) const {
  Blocked blocked = impl.whyBlocked(state, engine);
  if (blocked.kind == Blocked::Kind::Wait) {
    mismatch.semaphore = blocked.semaphore;
    mismatch.value = blocked.value;
    mismatch.threshold = blocked.threshold;
  }
}

static Instance instanceAt(const ImplSystem &impl, const ImplState &state, EngineId engine) {
  return {impl.head(state, engine)->instr(), impl.trajectory(engine)[state.at[engine]].run};
}

bool Lockstep::isOutOfOrder(const LockstepState &state, EngineId engine) const {
  const Op *op = impl.head(state.impl, engine);
  if (!op || op->kind != OpKind::Issue) {
    return false;
  }
  const Instance *next = nextOfSpec(state, engine);
  return !next || *next != instanceAt(impl, state.impl, engine);
}

std::optional<Mismatch> Lockstep::mismatchOf(const LockstepState &state, EngineId engine) const {
  const Instance *next = nextOfSpec(state, engine);
  ImplState copy = state.impl;
  bool codeCan = getsToIssue(copy, engine, nullptr);
  Mismatch mismatch;
  mismatch.engine = engine;
  mismatch.instance = next ? *next : Instance();
  if (codeCan) {
    Instance issued = instanceAt(impl, copy, engine);
    if (!next || *next != issued) {
      mismatch.kind = MismatchKind::Order;
      mismatch.issued = issued;
      return mismatch;
    }
    mismatch.kind = MismatchKind::Early;
    bool ready = spec.ready(*next, state.spec.retirements, &mismatch.dep);
    return ready ? std::nullopt : std::optional(mismatch);
  }
  if (!specMayIssue(state, engine)) {
    return {};
  }
  mismatch.kind = MismatchKind::Late;
  mismatch.atReset = isAtReset(engine, copy.at[engine]);
  blame(copy, engine, mismatch);
  return mismatch;
}

bool Lockstep::hasIssuedAll(const LockstepState &state) const {
  for (EngineId e : kernel.engines.ids()) {
    if (nextOfSpec(state, e)) {
      return false;
    }
  }
  return true;
}

bool Lockstep::specIsStuck(const LockstepState &state) const {
  for (EngineId e : kernel.engines.ids()) {
    if (specMayIssue(state, e)) {
      return false;
    }
  }
  auto isEmpty = [](const QueueState &q) { return q.inFlight() == 0; };
  return !hasIssuedAll(state) && std::ranges::all_of(state.spec.queues, isEmpty);
}

/// The code can do nothing, but some engine of the kernel could issue; or nothing is left to be
/// issued, and yet an engine does not get to its end.
std::optional<Mismatch> Lockstep::deadlockOf(const LockstepState &state) const {
  std::vector<Step> steps;
  impl.enabled(state.impl, steps);
  if (!steps.empty()) {
    return {};
  }
  bool done = hasIssuedAll(state);
  for (EngineId e : kernel.engines.ids()) {
    if (specMayIssue(state, e) || (done && impl.head(state.impl, e))) {
      Mismatch mismatch;
      mismatch.kind = MismatchKind::Deadlock;
      mismatch.engine = e;
      mismatch.instance = done ? Instance() : *nextOfSpec(state, e);
      blame(state.impl, e, mismatch);
      return mismatch;
    }
  }
  return {};
}

std::vector<Mismatch> Lockstep::mismatches(const LockstepState &state) const {
  std::vector<Mismatch> all;
  for (EngineId e : kernel.engines.ids()) {
    if (std::optional<Mismatch> mismatch = mismatchOf(state, e)) {
      all.push_back(*mismatch);
    }
  }
  if (std::optional<Mismatch> deadlock = deadlockOf(state)) {
    all.push_back(*deadlock);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string_view toString(MismatchKind kind) {
  static constexpr std::string_view names[] = {"early", "late", "order", "deadlock"};
  return names[static_cast<size_t>(kind)];
}

static std::string waitText(const ImplSystem &impl, const Mismatch &mismatch) {
  if (!mismatch.semaphore.valid()) {
    return {};
  }
  return fmt::format(": the code waits for '{}' >= {}, which is {}",
                     impl.programOf().semaphores[mismatch.semaphore].name, mismatch.threshold,
                     mismatch.value);
}

std::string describe(const SpecSystem &spec, const ImplSystem &impl, const Mismatch &mismatch) {
  const Kernel &kernel = spec.kernelOf();
  switch (mismatch.kind) {
  case MismatchKind::Early: {
    uint32_t need = spec.need(mismatch.dep, mismatch.instance.run);
    InstrId producer = kernel.deps[mismatch.dep].producer;
    return fmt::format(
        "{} may be issued before {}", spec.describe(mismatch.instance),
        producer == mismatch.instance.instr
            ? fmt::format("{} of it {} retired", counted(need, "earlier run"),
                          need == 1 ? "has" : "have")
            : fmt::format("'{}' has retired {}", kernel.nameOf(producer), counted(need, "time")));
  }
  case MismatchKind::Late:
    return fmt::format("{} is held back although all its dependences are satisfied{}",
                       spec.describe(mismatch.instance), waitText(impl, mismatch));
  case MismatchKind::Order:
    return fmt::format("engine '{}' issues run {} of '{}', but next in the kernel is {}",
                       kernel.nameOf(mismatch.engine), mismatch.issued.run,
                       kernel.nameOf(mismatch.issued.instr),
                       mismatch.instance.instr.valid() ? spec.describe(mismatch.instance)
                                                       : std::string("nothing"));
  case MismatchKind::Deadlock:
    return (mismatch.instance.instr.valid()
                ? fmt::format("deadlock, although {} could be issued",
                              spec.describe(mismatch.instance))
                : fmt::format("deadlock: everything has run, but engine '{}' never reaches its end",
                              kernel.nameOf(mismatch.engine))) +
           waitText(impl, mismatch);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

ReplayResult replay(const Lockstep &lockstep, std::span<const Step> schedule) {
  ReplayResult result;
  result.last = lockstep.initial();
  auto note = [&] {
    for (const Mismatch &mismatch : lockstep.mismatches(result.last)) {
      if (std::ranges::count(result.mismatches, mismatch) == 0) {
        result.mismatches.push_back(mismatch);
      }
    }
  };
  note();
  for (const Step &step : schedule) {
    bool outOfOrder =
        step.kind == StepKind::Issue && lockstep.isOutOfOrder(result.last, step.engine);
    if (outOfOrder || !lockstep.implOf().isEnabled(result.last.impl, step)) {
      return result;
    }
    lockstep.apply(result.last, step);
    ++result.performed;
    note();
  }
  result.finished = lockstep.implOf().finished(result.last.impl);
  return result;
}

} // namespace tally
