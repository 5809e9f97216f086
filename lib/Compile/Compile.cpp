//===- Compile.cpp - The whole way from kernel to code --------------------===//

#include "tally/Compile/Compile.h"

#include "FitRegisters.h"
#include "Unroll.h"
#include "tally/Code/ControlCost.h"
#include "tally/Code/Limits.h"
#include "tally/Compile/Choose.h"
#include "tally/Model/Check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally {

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
  compiled.code.strategy = toString(Strategy::Manual);
  compiled.code.machine = machine.name;
  compiled.code.rules = rulesOf(machine);
  verifyCode(kernel, compiled.code, diagnostics);
  if (!diagnostics.hasErrors()) {
    checkLimits(kernel, compiled.code, machine, diagnostics);
  }
  return compiled;
}

namespace {

/// One strategy for one kernel. What a plan turns out to need is given to the next: loops between
/// whose iterations counters are reset, and semaphores by which engines meet. Both only grow, so
/// the loop ends.
class Attempt {
public:
  Attempt(const Kernel &kernel, const CompileOptions &given, const Machine &machine)
      : kernel(kernel), machine(machine), asked(given) {}

  /// Nothing, if there were errors.
  std::optional<Compiled> run(Diagnostics &diagnostics) {
    do {
      found = {};
      again = false;
      write();
    } while (again);
    if (!found.hasErrors()) {
      finish();
    }
    bool failed = found.hasErrors();
    diagnostics.append(std::move(found));
    return failed ? std::nullopt : std::optional(std::move(compiled));
  }

private:
  /// Plan and code; engines with too many registers give way until they have few enough.
  void write() {
    RegisterFitter fitter(kernel, machine, choose(kernel, asked, machine, found, spare));
    Diagnostics planned;
    do {
      planned = {};
      compiled.plan = makePlan(kernel, fitter.options().plan, planned);
      if (planned.hasErrors() || addResets(planned)) {
        break;
      }
      setResetPeriods(kernel, compiled.plan, machine, planned);
      compiled.code = lower(kernel, compiled.plan, machine, fitter.options().lower, planned);
    } while (fitter.giveWay(compiled.plan, compiled.code));
    fitter.explain(found);
    found.append(std::move(planned));
    again = again || (!found.hasErrors() && spareMore());
  }

  /// Whether the plan counts what has to be reset and is not yet: that depends on who shares, and
  /// on what is reset already.
  bool addResets(Diagnostics &planned) {
    if (asked.overflow != Overflow::Reset || !countsAtRunTime(asked.plan.strategy)) {
      return false;
    }
    std::vector<ResetPoint> &known = asked.plan.resets;
    std::vector<ResetPoint> all;
    std::ranges::set_union(known, findResets(kernel, compiled.plan, machine, planned),
                           std::back_inserter(all), {}, &ResetPoint::loop, &ResetPoint::loop);
    again = !planned.hasErrors() && all.size() > known.size();
    known = std::move(all);
    return again || planned.hasErrors();
  }

  /// Whether 'auto' should share more, so that semaphores are left by which engines meet: as many
  /// as are too many, or twice as many as last time, if that has not helped.
  bool spareMore() {
    uint32_t used = static_cast<uint32_t>(compiled.code.semaphores.size());
    uint32_t most = machine.semaphores.value_or(used);
    if (used <= most || spare >= most || asked.plan.strategy != Strategy::Auto) {
      return false;
    }
    spare += used < leastUsed ? used - most : spare;
    leastUsed = std::min(leastUsed, used);
    return true;
  }

  void finish() {
    if (countsAtRunTime(asked.plan.strategy) && asked.overflow != Overflow::Reset) {
      checkOverflow(kernel, compiled.plan, machine, asked.overflow == Overflow::Refuse, found);
    }
    if (asked.plan.strategy == Strategy::Auto) {
      unrollWithin(kernel, asked.lower.codeGrowth, machine, compiled.code);
    }
    verifyPlan(kernel, compiled.plan, found);
    checkLimits(kernel, compiled.code, machine, found);
    verifyCode(kernel, compiled.code, found);
  }

  const Kernel &kernel;
  const Machine &machine;
  CompileOptions asked;            ///< as given, with the resets that are known to be needed
  uint32_t spare = 0;              ///< semaphores that sharing has to leave
  uint32_t leastUsed = UINT32_MAX; ///< semaphores, of all that were too many
  Compiled compiled;
  Diagnostics found;
  bool again = false; ///< the plan asked for more
};

/// Strategy 'auto' where its own choice fails: of the fixed strategies that do this kernel on this
/// machine, the cheapest. Barriers come last: what they cost is not in the price of the code.
class Fallback {
public:
  Fallback(const Kernel &kernel, const CompileOptions &given, const Machine &machine)
      : kernel(kernel), given(given), machine(machine) {}

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
    CompileOptions options = given;
    options.plan.strategy = strategy;
    Diagnostics found;
    std::optional<Compiled> compiled = Attempt(kernel, options, machine).run(found);
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
    double issues = 0;
    IdVector<LoopId, double> entries = expectedEntries(kernel);
    for (const Instr &instr : kernel.instrs) {
      issues += entries[instr.home];
    }
    Machine unlimited = machine;
    unlimited.semaphores = std::nullopt;
    unlimited.registersPerEngine = std::nullopt;
    CompileOptions options = given;
    options.overflow = Overflow::Assume;
    options.lower.codeGrowth = 1;
    Diagnostics ignored;
    std::optional<Compiled> wished = Attempt(kernel, options, unlimited).run(ignored);
    mostWritten = wished ? given.lower.codeGrowth * sizeOf(*wished) : 0;
    return issues <= mostWritten;
  }

  double sizeOf(const Compiled &compiled) const {
    return static_cast<double>(measure(kernel, compiled.code, 1).operations);
  }

  /// Nobody should measure barriers and believe to measure something else.
  void report(const std::string &reason, Diagnostics &diagnostics) const {
    bool meets = best->plan.options.strategy == Strategy::Barrier;
    Diagnostic &remark = diagnostics.remark(
        kernel.where, fmt::format("strategy 'auto' falls back to '{}'{}: {}",
                                  toString(best->plan.options.strategy),
                                  meets ? ", for no strategy without barriers fits" : "", reason));
    remark.severity = meets ? Severity::Warning : Severity::Remark;
  }

  const Kernel &kernel;
  const CompileOptions &given;
  const Machine &machine;
  double mostWritten = 0; ///< operations
  std::optional<Compiled> best;
  double leastCost = 0;
  Diagnostics remarks; ///< on the best
};

std::string firstError(const Diagnostics &diagnostics) {
  auto error = std::ranges::find(diagnostics.all(), Severity::Error, &Diagnostic::severity);
  return error == diagnostics.all().end() ? "" : error->message;
}

/// As asked for; 'auto' may fall back.
std::optional<Compiled> attempt(const Kernel &kernel, const CompileOptions &given,
                                const Machine &machine, Diagnostics &diagnostics) {
  Diagnostics found;
  std::optional<Compiled> compiled = Attempt(kernel, given, machine).run(found);
  if (!compiled && given.plan.strategy == Strategy::Auto) {
    Diagnostics others;
    compiled = Fallback(kernel, given, machine).run(firstError(found), others);
    if (compiled) {
      found = std::move(others);
    }
  }
  diagnostics.append(std::move(found));
  return compiled;
}

/// The strategies that do what this one could not, in quotes; each has been tried. 'unrolled' is
/// not among them: what it writes may be of any length.
std::vector<std::string> othersThatFit(const Kernel &kernel, CompileOptions options,
                                       const Machine &machine) {
  Strategy failed = options.plan.strategy;
  std::vector<std::string> fitting;
  for (Strategy strategy : {Strategy::Auto, Strategy::PerInstruction, Strategy::PerLoop,
                            Strategy::PerEngine, Strategy::Barrier}) {
    options.plan.strategy = strategy;
    Diagnostics ignored;
    if (strategy != failed && attempt(kernel, options, machine, ignored)) {
      fitting.push_back(fmt::format("'{}'", toString(strategy)));
    }
  }
  return fitting;
}

std::string wayOut(const std::vector<std::string> &fitting, const Machine &machine) {
  if (fitting.empty()) {
    return fmt::format("no other strategy that keeps loops does this kernel on machine '{}'; more "
                       "semaphores or registers may help, or a smaller 'max' on a loop, so that "
                       "counters need fewer resets",
                       machine.name);
  }
  return fitting.size() == 1
             ? fmt::format("strategy {} does this kernel on machine '{}'", fitting[0], machine.name)
             : fmt::format("strategies {} and {} do this kernel on machine '{}'",
                           fmt::join(fitting.begin(), fitting.end() - 1, ", "), fitting.back(),
                           machine.name);
}

/// A note on the first error, if the machine has what any strategy needs.
Diagnostics withWayOut(Diagnostics found, const Kernel &kernel, const CompileOptions &options,
                       const Machine &machine) {
  if (!std::ranges::all_of(kernel.engines, [&](const Engine &engine) {
        return machine.hasEngine(kernel.text(engine.name));
      })) {
    return found;
  }
  Diagnostics noted;
  for (const Diagnostic &each : found.all()) {
    bool isError = each.severity == Severity::Error;
    bool isFirst = isError && !noted.hasErrors();
    Diagnostic &copy = isError ? noted.error({}, {}) : noted.remark({}, {});
    copy = each;
    if (isFirst) {
      copy.note(kernel.where, wayOut(othersThatFit(kernel, options, machine), machine));
    }
  }
  return noted;
}

std::optional<Compiled> plan(const Kernel &kernel, const CompileOptions &given,
                             const Machine &machine, Diagnostics &diagnostics) {
  Diagnostics found;
  std::optional<Compiled> compiled = attempt(kernel, given, machine, found);
  diagnostics.append(compiled || given.plan.strategy == Strategy::Auto
                         ? std::move(found)
                         : withWayOut(std::move(found), kernel, given, machine));
  return compiled;
}

} // namespace

std::optional<Compiled> compile(const Kernel &kernel, const CompileOptions &options,
                                const Machine &machine, Diagnostics &diagnostics,
                                const Code *written) {
  if (changesCompletion(kernel, machine)) {
    Kernel asOnMachine = kernel;
    setCompletion(asOnMachine, machine);
    return compile(asOnMachine, options, machine, diagnostics, written);
  }
  check(kernel, diagnostics);
  checkPinsOn(kernel, machine, diagnostics);
  if (diagnostics.hasErrors()) {
    return std::nullopt;
  }
  bool manual = options.plan.strategy == Strategy::Manual;
  std::optional<Compiled> compiled = manual ? keepWritten(kernel, written, machine, diagnostics)
                                            : plan(kernel, options, machine, diagnostics);
  return diagnostics.hasErrors() ? std::nullopt : std::move(compiled);
}

std::string strategyLabel(std::string_view asked, const Code &code) {
  bool fellBack = asked == toString(Strategy::Auto) && code.strategy != asked;
  return fellBack ? fmt::format("{}: {}", asked, code.strategy) : std::string(asked);
}

} // namespace tally
