//===- Recorded.cpp - One run, for the systems of the proof to repeat -----===//
//
// The systems of lib/Check have a step for each bracket of the code and for each entry of a body;
// those of the proof have other ones. Neither waits for anything, so both sides make these as soon
// as they can, and what is written down is what is left: operations, waits, instructions.
//
// The proof's systems have no loops that count for themselves. Such a loop is written out for them
// (proof/extraction/counters.ml), with operations that only they make: one before the loop, two at
// the start of each iteration.
//
//===----------------------------------------------------------------------===//

#include "Recorded.h"

#include "RandomKernel.h"

#include "tally/Check/Impl.h"
#include "tally/Check/Spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

namespace tally {
namespace {

/// How often each loop runs each time that an engine reaches its statement.
class TripsOfEngine {
public:
  TripsOfEngine(const Kernel &kernel, const Bindings &bindings, EngineId engine)
      : kernel(kernel), bindings(bindings), engine(engine), byLoop(kernel.loops.size()) {
    walk(rootLoop);
  }

  std::string text() const {
    std::string result;
    for (LoopId l : kernel.loops.ids()) {
      if (!byLoop[l].empty()) {
        result += fmt::format(" ({} {} {})", engine.value, l.value, fmt::join(byLoop[l], " "));
      }
    }
    return result;
  }

private:
  void walk(LoopId body) {
    for (StmtId s : kernel.loops[body].body) {
      const Stmt &stmt = kernel.stmts[s];
      if (stmt.kind == Stmt::Kind::Block) {
        continue;
      }
      uint64_t trips = bindings.trips(engine, stmt.loop, byLoop[stmt.loop].size() + 1);
      byLoop[stmt.loop].push_back(trips);
      if (stmt.kind == Stmt::Kind::If) {
        walk(trips ? stmt.loop : kernel.loops[stmt.loop].otherBranch);
        continue;
      }
      for (uint64_t i = 0; i < trips; ++i) {
        walk(stmt.loop);
      }
    }
  }

  const Kernel &kernel;
  const Bindings &bindings;
  EngineId engine;
  IdVector<LoopId, std::vector<uint64_t>> byLoop;
};

bool isItem(const Op &op) {
  return op.kind == OpKind::Issue || op.kind == OpKind::Wait || op.kind == OpKind::Alu;
}

/// Whether it begins a loop with a counter of its own.
bool counts(const Op &op) {
  return op.kind == OpKind::LoopBegin && op.dst.valid();
}

class Recorder {
public:
  Recorder(const Kernel &kernel, const Code &code, const Machine &machine, const Bindings &bindings,
           uint64_t seed, const SpecReading &reading)
      : kernel(kernel), random(seed), impl(kernel, code, machine, bindings),
        spec(kernel, bindings, {.reading = reading}), program(impl.initial()),
        ideal(spec.initial()), writtenOut(kernel.engines.size(), 0),
        isBefore(kernel.engines.size(), true) {
    std::string trips;
    for (EngineId e : kernel.engines.ids()) {
      trips += TripsOfEngine(kernel, bindings, e).text();
    }
    result.member = "(run (trips" + trips + ") (steps";
  }

  RecordedRun run(uint32_t maxSteps) {
    for (EngineId e : kernel.engines.ids()) {
      walk(e);
    }
    result.states.push_back(stateText());
    std::vector<Step> steps;
    for (uint32_t i = 0; i < maxSteps && !result.isStuck; ++i) {
      enabled(steps);
      if (steps.empty()) {
        break;
      }
      perform(steps[random.below(steps.size())]);
    }
    result.member += "))";
    return std::move(result);
  }

private:
  /// Who still has operations of a written-out loop to make has those first.
  void enabled(std::vector<Step> &steps) const {
    impl.enabled(program, steps);
    std::erase_if(steps, [&](const Step &step) {
      bool isEngines = step.kind == StepKind::Control || step.kind == StepKind::Issue;
      return isEngines && writtenOut[step.engine] > 0;
    });
    for (EngineId e : kernel.engines.ids()) {
      if (writtenOut[e] > 0) {
        steps.push_back(Step::control(e));
      }
    }
  }

  /// Makes all control steps that come next.
  void walk(EngineId e) {
    while (writtenOut[e] == 0 && impl.head(program, e) && !isItem(*impl.head(program, e))) {
      const Op *op = impl.head(program, e);
      if (counts(*op) && isBefore[e]) {
        writtenOut[e] = 1;
        isBefore[e] = false;
        break;
      }
      isBefore[e] = true;
      impl.apply(program, Step::control(e));
      const Op *next = impl.head(program, e);
      bool mayStart = op->kind == OpKind::LoopBegin ? next == op + 1
                                                    : op->kind == OpKind::LoopEnd && next <= op;
      if (next && mayStart && counts(*(next - 1))) {
        writtenOut[e] = 2;
      }
    }
    while (spec.head(ideal, e) && spec.head(ideal, e)->kind != SpecPoint::Kind::Issue) {
      spec.apply(ideal, Step::control(e));
    }
  }

  void perform(const Step &step) {
    result.member += stepText(step);
    if (step.kind == StepKind::Control && writtenOut[step.engine] > 0) {
      --writtenOut[step.engine];
      walk(step.engine);
      result.states.push_back(stateText());
      return;
    }
    if (step.kind != StepKind::Control) {
      if (!spec.isEnabled(ideal, step)) {
        result.isStuck = true;
        return;
      }
      spec.apply(ideal, step);
    }
    impl.apply(program, step);
    walk(step.engine);
    result.states.push_back(stateText());
  }

  static std::string stepText(const Step &step) {
    switch (step.kind) {
    case StepKind::Commit:
      return fmt::format(" (commit {} {})", step.queue.value, step.index);
    case StepKind::Retire:
      return fmt::format(" (retire {})", step.queue.value);
    default:
      return fmt::format(" (operate {})", step.engine.value);
    }
  }

  std::string engineText(EngineId e) const {
    const Op *op = impl.head(program, e);
    if (!op && writtenOut[e] == 0) {
      return "end";
    }
    std::string text = writtenOut[e] > 0 || op->kind == OpKind::Alu
                           ? "operation"
                           : fmt::format("{} {:d}", op->kind == OpKind::Wait ? "wait" : "issue",
                                         !op->wait.valid() || impl.waitPasses(program, e));
    const SpecPoint *point = spec.head(ideal, e);
    if (!point) {
      return text;
    }
    text += fmt::format(" of {} needs", point->id);
    for (DepId d : spec.depsOf(point->instr())) {
      text += fmt::format(" {}", spec.need(d, point->run));
    }
    bool ready = spec.ready({point->instr(), point->run}, ideal.retirements);
    return text + fmt::format(" ready {:d}", ready);
  }

  std::string stateText() const {
    std::vector<std::string> engines;
    for (EngineId e : kernel.engines.ids()) {
      engines.push_back(engineText(e));
    }
    return fmt::format("{} | {}", fmt::join(engines, "; "),
                       fmt::join(program.semaphores.raw(), " "));
  }

  const Kernel &kernel;
  fuzz::Random random;
  ImplSystem impl;
  SpecSystem spec;
  ImplState program;
  SpecState ideal;
  IdVector<EngineId, uint32_t> writtenOut; ///< operations to be made, of loops that are written out
  IdVector<EngineId, bool> isBefore;       ///< a loop at the head has not had its first one
  RecordedRun result;
};

} // namespace

RecordedRun record(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Bindings &bindings, uint64_t seed, uint32_t maxSteps,
                   const SpecReading &reading) {
  return Recorder(kernel, code, machine, bindings, seed, reading).run(maxSteps);
}

std::string withMember(std::string certificate, const std::string &member) {
  return certificate.insert(certificate.rfind(')'), "\n  " + member);
}

bool saysTheSame(const std::string &expected, const std::string &said) {
  std::istringstream expectedWords(expected), saidWords(said);
  bool asksForMore = false, afterReady = false; // of this engine
  for (std::string want, got; expectedWords >> want;) {
    if (!(saidWords >> got)) {
      return false;
    }
    bool isMore = got.back() == '+';
    bool isHeld = afterReady && asksForMore && want[0] == '1' && got[0] == '0';
    bool isNumber = want[0] >= '0' && want[0] <= '9';
    bool isEnough = isMore && isNumber && std::stoul(got) >= std::stoul(want);
    if (isMore ? !isEnough : got != want && !isHeld) {
      return false;
    }
    asksForMore = isMore || (asksForMore && got != "|" && got.back() != ';');
    afterReady = got == "ready";
  }
  return (saidWords >> std::ws).eof();
}

} // namespace tally
