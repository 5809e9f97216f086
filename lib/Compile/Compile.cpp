//===- Compile.cpp - The whole way from kernel to code --------------------===//
//
// A search for decisions by which kernel and machine fit each other. What they ask for is known
// only when plan and code are made, so these are made again until nothing new turns up:
//
//   compare     'auto' works: with other ways to begin, and 'per-loop'    (Comparison)
//   fall back   'auto' fails: the cheapest of the fixed strategies        (Fallback)
//    └ needs    resets, and semaphores to meet; given to the next round   (attempt)
//       └ fit   registers run out: thresholds and copies give way         (tryOnce)
//          └ choose, makePlan, lower
//
//===----------------------------------------------------------------------===//

#include "tally/Compile/Compile.h"

#include "FitRegisters.h"
#include "LeaveOut.h"
#include "Overflow.h"
#include "Unroll.h"
#include "tally/Code/ControlCost.h"
#include "tally/Code/Limits.h"
#include "tally/Compile/Choose.h"
#include "tally/Compile/Stopwatch.h"
#include "tally/Model/Check.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

using namespace compiling;

static std::optional<Compiled> keepWritten(const Kernel &kernel, const Code *written,
                                           const Machine &machine, Diagnostics &diagnostics) {
  if (!written) {
    diagnostics.error(kernel.where,
                      fmt::format("strategy 'manual' keeps the code in the input, but there is no "
                                  "'tally.code @{}'; write one, or let another strategy make it",
                                  kernel.text(kernel.name)));
    return std::nullopt;
  }
  Compiled compiled;
  compiled.code = *written;
  if (written->strategy != Strategy::Unrolled) { // only such code may repeat instructions
    compiled.code.strategy = Strategy::Manual;
  }
  compiled.code.machine = machine.name;
  compiled.code.rules = rulesOf(machine);
  verifyCode(kernel, compiled.code, diagnostics);
  if (!diagnostics.hasErrors()) {
    checkLimits(kernel, compiled.code, machine, diagnostics);
  }
  return compiled;
}

namespace {

/// One round of the search: plan and code by the best decisions that are known to be possible.
struct Round {
  Compiled compiled;
  PlanNeeds needs; ///< what the plan turned out to need in all
  Diagnostics found;
};

/// 'auto' should share more, so that semaphores are left by which engines meet: as many as are too
/// many, or twice as many as last time, if that has not helped.
PlanNeeds withMoreSpare(PlanNeeds needs, const Request &request, const Code &code,
                        const Machine &machine) {
  uint32_t used = static_cast<uint32_t>(code.semaphores.size());
  uint32_t most = machine.semaphores.value_or(used);
  if (used > most && needs.spare < most && request.strategy == Strategy::Auto) {
    needs.spare += used < needs.leastUsed ? used - most : needs.spare;
    needs.leastUsed = std::min(needs.leastUsed, used);
  }
  return needs;
}

/// Engines with too many registers give way until they have few enough.
Round tryOnce(const Kernel &kernel, const Request &request, const PlanNeeds &needs,
              const Machine &machine, uint32_t beginning) {
  Round round;
  round.needs = needs;
  auto &[plan, code, lowering, search] = round.compiled;
  Diagnostics planned;
  Fit fit{choose(kernel, request, needs, machine, round.found, search, beginning)};
  while (fit.hasChanged) {
    planned = {};
    verifyDecisions(kernel, fit.decisions, machine, planned);
    if (planned.hasErrors()) {
      break;
    }
    plan = makePlan(kernel, fit.decisions.plan, planned);
    if (planned.hasErrors()) {
      break;
    }
    if (request.overflow == Overflow::Reset && countsAtRunTime(request.strategy)) {
      round.needs.resets = allResets(kernel, plan, machine, planned);
    }
    if (planned.hasErrors() || round.needs != needs) {
      break;
    }
    plan.decisions.resets = withPeriods(kernel, plan, machine, planned);
    code = lower(kernel, plan, machine, fit.decisions.lower, planned);
    fit = giveWay(kernel, machine, plan, code, std::move(fit));
  }
  remarkShortages(kernel, machine, fit, round.found);
  round.found.append(std::move(planned));
  lowering = std::move(fit.decisions.lower);
  if (!round.found.hasErrors() && round.needs == needs) {
    round.needs = withMoreSpare(needs, request, code, machine);
  }
  return round;
}

/// Moves waits before loops, and unrolls those. Where waits that were moved leave less to gain by
/// unrolling, they stay in the loops.
void writeLoops(const Kernel &kernel, const Request &request, const Machine &machine,
                Compiled &compiled) {
  auto &[plan, code, lowering, search] = compiled;
  Search searched = search;
  Code asMade = code;
  bool haveMoved = request.hoists && hoistWaits(kernel, request, machine, code, search);
  code = unrolled(kernel, request, machine, std::move(code), search);
  if (!haveMoved || request.codeGrowth <= 1) {
    return;
  }
  searched.numTried = search.numTried;
  asMade = unrolled(kernel, request, machine, std::move(asMade), searched);
  search.numTried = searched.numTried;
  Stopwatch stopwatch(kernel, machine, request.assumedTrips, request.effort,
                      Stopwatch::Long::Beginnings);
  std::optional<Tick> moved = stopwatch.timeOf(code);
  std::optional<Tick> inLoops = moved ? stopwatch.timeOf(asMade) : std::nullopt;
  if (inLoops && *inLoops < *moved) {
    code = std::move(asMade);
    search = std::move(searched);
  }
}

void finish(const Kernel &kernel, const Request &request, const Machine &machine,
            Compiled &compiled, Diagnostics &found) {
  if (countsAtRunTime(request.strategy) && request.overflow != Overflow::Reset) {
    checkOverflow(kernel, compiled.plan, machine, request.overflow == Overflow::Refuse, found);
  }
  if (request.strategy == Strategy::Auto) {
    leaveOutWaits(kernel, request, machine, compiled);
    writeLoops(kernel, request, machine, compiled);
  }
  verifyPlan(kernel, compiled.plan, found);
  checkLimits(kernel, compiled.code, machine, found);
  verifyCode(kernel, compiled.code, found);
}

/// One strategy for one kernel, from one of the ways to begin; nothing if there were errors. What a
/// plan turns out to need is given to the next. Needs only grow, so the loop ends.
std::optional<Compiled> attempt(const Kernel &kernel, const Request &request,
                                const Machine &machine, Diagnostics &diagnostics,
                                uint32_t beginning = 0) {
  PlanNeeds needs;
  needs.leftOut = leftOutByControl(kernel, request, machine);
  Round round = tryOnce(kernel, request, needs, machine, beginning);
  while (!round.found.hasErrors() && round.needs != needs) {
    needs = round.needs;
    round = tryOnce(kernel, request, needs, machine, beginning);
  }
  if (!round.found.hasErrors()) {
    finish(kernel, request, machine, round.compiled, round.found);
  }
  bool failed = round.found.hasErrors();
  diagnostics.append(std::move(round.found));
  return failed ? std::nullopt : std::optional(std::move(round.compiled));
}

/// Strategy 'auto' where its own choice fails: of the fixed strategies that do this kernel on this
/// machine, the cheapest. Barriers come last: what they cost is not in the price of the code.
class Fallback {
public:
  Fallback(const Kernel &kernel, const Request &request, const Machine &machine)
      : kernel(kernel), request(request), machine(machine) {}

  /// Nothing, if none of them does it; `reason` is why the own choice fails.
  std::optional<Compiled> run(const std::string &reason, Diagnostics &diagnostics) {
    for (Strategy strategy :
         {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine, Strategy::Unrolled}) {
      consider(strategy);
    }
    if (!best) {
      consider(Strategy::Barrier);
    }
    if (best) {
      report(reason, diagnostics);
      diagnostics.append(std::move(remarks));
    }
    return std::move(best);
  }

private:
  void consider(Strategy strategy) {
    if (strategy == Strategy::Unrolled && !mayWriteOut()) {
      return;
    }
    Request asked = request;
    asked.strategy = strategy;
    Diagnostics found;
    std::optional<Compiled> compiled = attempt(kernel, asked, machine, found);
    bool isTooLong = strategy == Strategy::Unrolled && compiled && sizeOf(*compiled) > mostWritten;
    if (!compiled || isTooLong) {
      return;
    }
    double cost = controlCost(kernel, compiled->code, machine);
    if (!best || cost < leastCost) {
      best = std::move(compiled);
      leastCost = cost;
      remarks = std::move(found);
    }
  }

  /// Whether the code written out may be as small as growth allows; measured by the code that
  /// 'auto' would have on a machine without limits.
  bool mayWriteOut() {
    double issues = expectedIssues(kernel);
    Machine unlimited = machine;
    unlimited.semaphores = std::nullopt;
    unlimited.registersPerEngine = std::nullopt;
    Request asked = request;
    asked.overflow = Overflow::Assume;
    asked.codeGrowth = 1;
    Diagnostics ignored;
    std::optional<Compiled> wished = attempt(kernel, asked, unlimited, ignored);
    mostWritten = wished ? request.codeGrowth * sizeOf(*wished) : 0;
    return issues <= mostWritten;
  }

  double sizeOf(const Compiled &compiled) const {
    return static_cast<double>(measure(kernel, compiled.code, 1).operations);
  }

  /// Nobody should measure barriers and believe to measure something else.
  void report(const std::string &reason, Diagnostics &diagnostics) const {
    bool meets = best->plan.decisions.strategy == Strategy::Barrier;
    Diagnostic &remark = diagnostics.remark(
        kernel.where, fmt::format("strategy 'auto' falls back to '{}'{}: {}",
                                  toString(best->plan.decisions.strategy),
                                  meets ? ", for no strategy without barriers fits" : "", reason));
    remark.severity = meets ? Severity::Warning : Severity::Remark;
  }

  const Kernel &kernel;
  const Request &request;
  const Machine &machine;
  double mostWritten = 0; ///< operations
  std::optional<Compiled> best;
  double leastCost = 0;
  Diagnostics remarks; ///< on the best
};

/// What 'auto' made, next to other code that was finished: which is the shortest run is known only
/// then. Other code takes its place if a run is shorter by more than prices are known, or hardly
/// longer with clearly less control. Unless all runs are like the one that is timed, it has no more
/// waits that are longer than they have to be.
class Comparison {
public:
  Comparison(const Kernel &kernel, const Request &request, const Machine &machine,
             Compiled &compiled, Diagnostics &found)
      : kernel(kernel), request(request), machine(machine), compiled(compiled), found(found),
        stopwatch(kernel, machine, request.assumedTrips, request.effort,
                  compiled.search.numIssued ? Stopwatch::Long::Beginnings : Stopwatch::Long::None) {
  }

  void run() {
    time = stopwatch.timeOf(compiled.code);
    if (!time) {
      return;
    }
    for (uint32_t other = 1, last = compiled.search.numOthers; other <= last; ++other) {
      considerBeginning(other);
    }
    considerPerLoop();
  }

private:
  /// The ways to begin were compared before loops were unrolled.
  void considerBeginning(uint32_t number) {
    Request asked = request;
    const uint64_t numBefore = compiled.search.numTried;
    asked.progress = [&](uint64_t numTried) {
      if (request.progress) {
        request.progress(numBefore + numTried);
      }
    };
    Diagnostics remarks;
    std::optional<Compiled> other = attempt(kernel, asked, machine, remarks, number);
    std::optional<Tick> then = other ? stopwatch.timeOf(other->code) : std::nullopt;
    if (!then) {
      return;
    }
    const uint64_t numTried = numBefore + other->search.numTried;
    if (isBetter(*other, *then)) {
      std::swap(compiled, *other);
      std::swap(*time, *then);
      found = std::move(remarks);
      if (numInexact(compiled.plan) > numInexact(other->plan)) {
        found.remark(kernel.where, whyLonger(costOf(compiled, *time), costOf(*other, *then)));
      }
    }
    compiled.search.numTried = numTried;
    if (compiled.search.found() && other->search.found()) {
      compiled.search.attempts.push_back({Attempt::Step::Compare,
                                          fmt::format("finished from: {}", other->search.beginning),
                                          false, costOf(compiled, *time), costOf(*other, *then)});
    }
  }

  /// 'auto' saves what sequencers spend, and a transfer that starts earlier may share its bandwidth
  /// with one that everybody waits for.
  void considerPerLoop() {
    Request asked = request;
    asked.strategy = Strategy::PerLoop;
    Diagnostics ignored;
    std::optional<Compiled> other = attempt(kernel, asked, machine, ignored);
    std::optional<Tick> then = other ? stopwatch.timeOf(other->code) : std::nullopt;
    if (!then || *then >= *time || !isBetter(*other, *then)) {
      return;
    }
    const double saved = 1 - static_cast<double>(*then) / static_cast<double>(*time);
    found.remark(kernel.where, fmt::format("strategy 'auto' takes the code of 'per-loop', by which "
                                           "a run is {:.1f}% shorter",
                                           100 * saved));
    other->search = std::move(compiled.search);
    compiled = std::move(*other);
  }

  bool isBetter(const Compiled &other, Tick then) const {
    if (!stopwatch.timesEveryRun() && numInexact(other.plan) > numInexact(compiled.plan)) {
      return false;
    }
    const double own = static_cast<double>(*time), others = static_cast<double>(then);
    return own > precision * others ||
           (others <= precision * own && controlOf(other) < clearlyLess * controlOf(compiled));
  }

  CodeCost costOf(const Compiled &any, Tick itsTime) const {
    return {.time = itsTime,
            .control = controlOf(any),
            .inexact = numInexact(any.plan),
            .operations = measure(kernel, any.code, 1).operations};
  }

  double controlOf(const Compiled &any) const { return controlCost(kernel, any.code, machine); }

  const Kernel &kernel;
  const Request &request;
  const Machine &machine;
  Compiled &compiled;
  Diagnostics &found;
  Stopwatch stopwatch;
  std::optional<Tick> time; ///< of `compiled`
};

/// As asked for; 'auto' may fall back.
std::optional<Compiled> asAsked(const Kernel &kernel, const Request &request,
                                const Machine &machine, Diagnostics &diagnostics) {
  Diagnostics found;
  std::optional<Compiled> compiled = attempt(kernel, request, machine, found);
  if (!compiled && request.strategy == Strategy::Auto) {
    Diagnostics others;
    std::string reason = found.reason();
    if (found.numErrors() > 1) {
      reason += fmt::format("; and {} more like this, all of which strategy 'per-loop' names",
                            found.numErrors() - 1);
    }
    compiled = Fallback(kernel, request, machine).run(reason, others);
    if (compiled) {
      found = std::move(others);
    }
  }
  if (compiled && compiled->plan.decisions.strategy == Strategy::Auto && request.improve) {
    Comparison(kernel, request, machine, *compiled, found).run();
  }
  diagnostics.append(std::move(found));
  return compiled;
}

/// What does what the strategy that was asked for could not. Whatever a strategy that keeps loops
/// does, 'auto' does, if need be by falling back to it; 'unrolled' only as far as code may grow.
/// That is tried where it does not take long.
std::string wayOut(const Kernel &kernel, Request request, const Machine &machine) {
  constexpr double mostIssues = 100'000;
  const Strategy given = request.strategy;
  for (Strategy other : {Strategy::Auto, Strategy::Unrolled}) {
    if (other == given || (other == Strategy::Unrolled && expectedIssues(kernel) > mostIssues)) {
      continue;
    }
    request.strategy = other;
    Diagnostics ignored;
    if (std::optional<Compiled> compiled = asAsked(kernel, request, machine, ignored)) {
      return fmt::format("strategy '{}' does this kernel on machine '{}'{}",
                         toString(compiled->plan.decisions.strategy), machine.name,
                         given == Strategy::Auto
                             ? "; with a larger '--max-code-growth', 'auto' may fall back to it"
                             : "");
    }
  }
  bool isLimited = machine.semaphores || machine.registersPerEngine || machine.counterBits < 32;
  return fmt::format("no {}strategy that keeps loops does this kernel on machine '{}'{}",
                     given == Strategy::Auto ? "" : "other ", machine.name,
                     isLimited ? "; more semaphores or registers may help, or a smaller 'max' on a "
                                 "loop, so that counters need fewer resets"
                               : "");
}

/// Whether the machine has what any strategy needs.
bool hasEngines(const Kernel &kernel, const Machine &machine) {
  return std::ranges::all_of(kernel.engines, [&](const Engine &engine) {
    return machine.hasEngine(kernel.text(engine.name));
  });
}

std::optional<Compiled> plan(const Kernel &kernel, const Request &request, const Machine &machine,
                             Diagnostics &diagnostics) {
  Diagnostics found;
  std::optional<Compiled> compiled = asAsked(kernel, request, machine, found);
  if (!compiled && hasEngines(kernel, machine)) {
    found.firstError()->note(kernel.where, wayOut(kernel, request, machine));
  }
  diagnostics.append(std::move(found));
  return compiled;
}

} // namespace

/// The code of 'per-loop', whose waits pass exactly when dependences are satisfied, as if the
/// machine had as many semaphores and registers as one likes. A bound has no other options.
static std::optional<Compiled> compileIdeal(const Kernel &kernel, Machine machine,
                                            Diagnostics &diagnostics) {
  machine.semaphores = machine.registersPerEngine = std::nullopt;
  std::optional<Compiled> compiled =
      compile(kernel, {.strategy = Strategy::PerLoop}, machine, diagnostics);
  if (compiled) {
    compiled->code.strategy = Strategy::Ideal;
  }
  return compiled;
}

std::optional<Compiled> compile(const Kernel &kernel, const Request &request,
                                const Machine &machine, Diagnostics &diagnostics,
                                const Code *written) {
  if (request.strategy == Strategy::Ideal) {
    return compileIdeal(kernel, machine, diagnostics);
  }
  if (changesCompletion(kernel, machine)) {
    return compile(onMachine(kernel, machine), request, machine, diagnostics, written);
  }
  check(kernel, diagnostics);
  checkPinsOn(kernel, machine, diagnostics);
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  bool manual = request.strategy == Strategy::Manual;
  std::optional<Compiled> compiled = manual ? keepWritten(kernel, written, machine, diagnostics)
                                            : plan(kernel, request, machine, diagnostics);
  if (diagnostics.hasErrors() || !compiled) {
    return std::nullopt;
  }
  compiled->code.isCompiled = !manual;
  return compiled;
}

std::optional<Compiled> compileLike(const Kernel &kernel, const Request &request,
                                    const Machine &machine, const Code &written) {
  if (changesCompletion(kernel, machine)) {
    return compileLike(onMachine(kernel, machine), request, machine, written);
  }
  for (bool hoists : {true, false}) {
    Request asked = request;
    asked.hoists &= hoists;
    asked.codeGrowth = 1;
    for (uint32_t beginning = 0, last = 0; beginning <= last; ++beginning) {
      Diagnostics ignored;
      std::optional<Compiled> made = attempt(kernel, asked, machine, ignored, beginning);
      if (made && isSameButForBodies(made->code, written)) {
        return made;
      }
      last = made ? made->search.numOthers : 0;
    }
  }
  return std::nullopt;
}

std::string strategyLabel(std::string_view asked, const Code &code) {
  bool fellBack = asked == toString(Strategy::Auto) && code.strategy != Strategy::Auto;
  return fellBack ? fmt::format("{}: {}", asked, toString(code.strategy)) : std::string(asked);
}

} // namespace tally
