//===- Advise.cpp - What would make a kernel faster -----------------------===//

#include "tally/Advise/Advise.h"

#include "tally/Check/Race.h"
#include "tally/Code/ControlCost.h"
#include "tally/Compile/Prepare.h"

#include <algorithm>
#include <array>

namespace tally {
namespace {

/// All runs together simulate at most so many operations of sequencers. To plan an instruction
/// counts as some of them.
constexpr uint64_t usualWork = 20'000'000;
constexpr uint64_t workOfPlanning = 400;

/// Where less than this part of the time is saved, nothing is said: one in two hundred.
constexpr Tick leastGain = 200;
constexpr size_t mostSteps = 4;
constexpr size_t mostParts = 12;

/// Of each step, so many changes are tried in full.
constexpr uint64_t mostInFull = 6;

/// Operations of sequencers, and what they cost.
struct Operations {
  std::string_view what;
  std::array<Tick Timing::*, 2> prices;
};

constexpr std::array operationsOfSequencers{
    Operations{"register operations", {&Timing::alu, &Timing::alu}},
    Operations{"starts and ends of loops", {&Timing::loopBegin, &Timing::loopEnd}},
    Operations{"branches", {&Timing::branch, &Timing::branch}},
    Operations{"waits, once they hold", {&Timing::wait, &Timing::carried}},
    Operations{"signals", {&Timing::signal, &Timing::signal}},
    Operations{"resets and drains", {&Timing::reset, &Timing::drain}},
    Operations{"handing over instructions", {&Timing::dispatch, &Timing::dispatch}}};

bool helps(Tick before, Tick after) {
  return after + before / leastGain < before;
}

/// A kernel with dependences, its code, and a run of it.
struct Made {
  Kernel kernel;
  Compiled compiled;
  InstrCosts costs;
  SimResult run;
};

class Adviser {
public:
  Adviser(const Kernel &kernel, const Machine &machine, const AdviseOptions &options)
      : kernel(kernel), machine(machine), options(options), left(usualWork * options.effort) {}

  std::optional<Advice> advise(Diagnostics &diagnostics) {
    std::vector<std::string> missing;
    timing = Timing::of(machine, missing);
    for (const std::string &problem : missing) {
      diagnostics.error(kernel.where, problem);
    }
    if (!timing) {
      return std::nullopt;
    }
    std::optional<Made> made = make(kernel, options.request.codeGrowth, diagnostics);
    if (!made) {
      return std::nullopt;
    }
    if (isSet(options.stop)) {
      diagnostics.error(kernel.where, "interrupted before anything was known");
      return std::nullopt;
    }
    if (made->run.outcome != SimResult::Outcome::Finished) {
      diagnostics.error(kernel.where, made->run.outcome == SimResult::Outcome::Deadlock
                                          ? "a run is stuck; 'tally sim' says why"
                                          : "a run is too long to be simulated so often; give "
                                            "fewer trips, or a larger --effort or "
                                            "--max-operations");
      return std::nullopt;
    }
    advice.total = made->run.total;
    advice.floor =
        floorOf(made->kernel, made->costs, options.bindings(made->kernel), {left, options.stop});
    findParts(*made);
    std::ranges::stable_sort(advice.parts, {}, &Part::total);
    climb(*made);
    advice.isStopped = isSet(options.stop);
    return std::move(advice);
  }

private:
  void tell(const std::string &doing) const {
    if (options.progress) {
      options.progress(doing);
    }
  }

  bool mayGoOn() const { return left > 0 && !isSet(options.stop); }

  void charge(uint64_t work) { left -= std::min(left, work); }

  /// Nothing if there is no such code.
  std::optional<Made> make(const Kernel &asked, double growth, Diagnostics &diagnostics,
                           bool improves = true) {
    Request request = options.request;
    request.codeGrowth = growth;
    request.improve = improves;
    std::optional<InstrCosts> costs = instructionCosts(asked, *timing, diagnostics);
    Kernel withDeps = findAsked(asked, request, machine, extractor, diagnostics);
    std::optional<Compiled> compiled =
        diagnostics.hasErrors() ? std::nullopt : compile(withDeps, request, machine, diagnostics);
    if (!costs || !compiled) {
      return std::nullopt;
    }
    charge(workOfPlanning * asked.instrs.size());
    SimResult run = runOf(withDeps, compiled->code, *costs);
    return Made{std::move(withDeps), std::move(*compiled), std::move(*costs), std::move(run)};
  }

  SimResult runOf(const Kernel &any, const Code &code, const InstrCosts &costs) {
    return runOf(any, code, costs, *timing);
  }

  SimResult runOf(const Kernel &any, const Code &code, const InstrCosts &costs,
                  const Timing &prices) {
    SimOptions sim = options.run;
    sim.maxOperations = std::min(sim.maxOperations, left);
    sim.stop = options.stop;
    sim.freeSync = code.strategy == Strategy::Ideal;
    SimResult run = simulate(any, code, machine, prices, costs, options.bindings(any), sim);
    charge(run.operations);
    return run;
  }

  //===--- What binds -----------------------------------------------------===//

  void findParts(const Made &made) {
    tell("looking at what binds the run");
    InstrCosts free = made.costs;
    auto put = [&](Part part, const SimResult &run) {
      part.total = run.total;
      if (run.outcome == SimResult::Outcome::Finished && helps(made.run.total, part.total)) {
        advice.parts.push_back(part);
      }
    };
    const uint64_t keptForChanges = left / 2;
    auto mayTry = [&] { return left > keptForChanges && mayGoOn(); };
    auto makeFree = [&](InstrId id) {
      free[id].startup = free[id].interval = free[id].duration = 0;
    };
    for (InstrId id : longest(made)) {
      if (!mayTry()) {
        return;
      }
      makeFree(id);
      put({.kind = Part::Kind::Instr, .instr = id}, runOf(made.kernel, made.compiled.code, free));
      free[id] = made.costs[id];
    }
    for (DepId id : waitedFor(made)) {
      if (!mayTry()) {
        return;
      }
      const Dep &dep = made.kernel.deps[id];
      if (std::optional<SimResult> run = runWithout(made, id)) {
        put({.kind = Part::Kind::Dep, .instr = dep.producer, .consumer = dep.consumer}, *run);
      }
    }
    for (const auto &[queue, instrs] : queuesOfSeveral(made.kernel)) {
      if (!mayTry()) {
        return;
      }
      std::ranges::for_each(instrs, makeFree);
      put({.kind = Part::Kind::Queue, .queue = queue},
          runOf(made.kernel, made.compiled.code, free));
      free = made.costs;
    }
    for (const Operations &operations : operationsOfSequencers) {
      if (!mayTry()) {
        return;
      }
      Timing cheaper = *timing;
      for (Tick Timing::*price : operations.prices) {
        cheaper.*price = 0;
      }
      put({.kind = Part::Kind::Operations, .what = operations.what},
          runOf(made.kernel, made.compiled.code, made.costs, cheaper));
    }
    for (InstrCost &cost : free) {
      cost.interval = cost.isTransfer ? 0 : cost.interval;
    }
    put({.kind = Part::Kind::Bandwidth}, runOf(made.kernel, made.compiled.code, free));
    if (std::optional<SimResult> run = runIdeal(made)) {
      put({.kind = Part::Kind::Control}, *run);
    }
  }

  /// Of each queue with several instructions, these; of a single one it is told by itself.
  static std::vector<std::pair<QueueId, std::vector<InstrId>>>
  queuesOfSeveral(const Kernel &kernel) {
    IdVector<QueueId, std::vector<InstrId>> instrs(kernel.queues.size());
    for (InstrId id : kernel.instrs.ids()) {
      instrs[kernel.instrs[id].queue].push_back(id);
    }
    std::vector<std::pair<QueueId, std::vector<InstrId>>> several;
    for (QueueId id : kernel.queues.ids()) {
      if (instrs[id].size() > 1 && several.size() < mostParts) {
        several.emplace_back(id, std::move(instrs[id]));
      }
    }
    return several;
  }

  /// Instructions by how long they take in all runs.
  std::vector<InstrId> longest(const Made &made) const {
    const IdVector<LoopId, double> entries = expectedEntries(made.kernel);
    auto time = [&](InstrId id) {
      const InstrCost &cost = made.costs[id];
      return -static_cast<double>(cost.startup + std::max(cost.interval, cost.duration)) *
             entries[made.kernel.instrs[id].home];
    };
    std::vector<InstrId> ids;
    for (InstrId id : made.kernel.instrs.ids()) {
      ids.push_back(id);
    }
    std::ranges::stable_sort(ids, {}, time);
    ids.resize(std::min(ids.size(), mostParts));
    return ids;
  }

  /// Dependences behind the longest waits.
  static std::vector<DepId> waitedFor(const Made &made) {
    const Code &code = made.compiled.code;
    std::vector<std::pair<Tick, DepId>> stalls;
    for (EngineId engine : made.kernel.engines.ids()) {
      const std::vector<Op> &ops = code.engines[engine].ops;
      for (uint32_t i = 0; i < ops.size(); ++i) {
        Tick stalled = made.run.engines[engine].ops[i].waiting;
        for (uint32_t r = 0; r < (stalled != 0 ? ops[i].numReasons : 0); ++r) {
          stalls.emplace_back(stalled, code.reasons[ops[i].firstReason + r]);
        }
      }
    }
    std::ranges::stable_sort(stalls, std::greater<>(), &std::pair<Tick, DepId>::first);
    std::vector<DepId> deps;
    for (const auto &[stalled, dep] : stalls) {
      if (deps.size() < mostParts && std::ranges::count(deps, dep) == 0) {
        deps.push_back(dep);
      }
    }
    return deps;
  }

  std::optional<SimResult> runWithout(const Made &made, DepId dropped) {
    Kernel less = made.kernel;
    less.deps.raw().erase(less.deps.raw().begin() + dropped.value);
    return runOfCode(less, options.request, made.costs);
  }

  std::optional<SimResult> runIdeal(const Made &made) {
    Request request = options.request;
    request.strategy = Strategy::Ideal;
    return runOfCode(made.kernel, request, made.costs);
  }

  std::optional<SimResult> runOfCode(const Kernel &any, const Request &request,
                                     const InstrCosts &costs) {
    Diagnostics ignored;
    charge(workOfPlanning * any.instrs.size());
    std::optional<Compiled> compiled = compile(any, request, machine, ignored);
    return compiled ? std::optional(runOf(any, compiled->code, costs)) : std::nullopt;
  }

  //===--- What helps -----------------------------------------------------===//

  /// Keeps the best change as long as one helps.
  void climb(const Made &asItIs) {
    Kernel current = kernel;
    double growth = options.request.codeGrowth;
    Tick total = asItIs.run.total;
    while (advice.steps.size() < mostSteps && mayGoOn()) {
      std::vector<Tried> better = allBetter(current, growth, total);
      if (advice.steps.empty()) {
        advice.single = better;
      }
      if (better.empty()) {
        break;
      }
      const Tried &best = better.front();
      total = best.total;
      growth = best.change.kind == Change::Kind::Grow ? best.change.growth : growth;
      if (best.change.kind != Change::Kind::Grow) {
        current = *withChange(current, best.change, machine);
      }
      advice.steps.push_back(best);
    }
    advice.changed = std::move(current);
    advice.growth = growth;
  }

  /// The best first. All are looked at with code that is made quickly; the most promising are then
  /// tried with the code that is asked for.
  std::vector<Tried> allBetter(const Kernel &current, double growth, Tick total) {
    std::vector<Tried> better;
    const std::vector<Change> promising = promisingOf(current, growth);
    for (size_t i = 0; i < promising.size(); ++i) {
      if (!mayGoOn() || i == mostInFull * options.effort) {
        advice.numLeft += promising.size() - i;
        break;
      }
      if (std::optional<Tried> tried = attempt(current, growth, promising[i], total)) {
        better.push_back(std::move(*tried));
      }
    }
    std::ranges::stable_sort(better, {}, &Tried::total);
    return better;
  }

  /// What may help; what promises most first.
  std::vector<Change> promisingOf(const Kernel &current, double growth) {
    Diagnostics ignored;
    const InstrCosts costs = *instructionCosts(current, *timing, ignored);
    const Tick before = quickTime(current).value_or(0);
    std::vector<std::pair<Tick, Change>> ranked;
    const uint64_t keptForFull = left / 2;
    for (const Change &change : changesOf(current, machine, costs, growth)) {
      if (left <= keptForFull || !mayGoOn()) {
        ++advice.numLeft;
        continue;
      }
      tell("trying: " + describe(current, change));
      ++advice.numTried;
      if (change.kind == Change::Kind::Grow) {
        ranked.emplace_back(0, change); // code that is made quickly does not grow
        continue;
      }
      std::optional<Kernel> changed = withChange(current, change, machine);
      std::optional<Tick> time = changed ? quickTime(*changed) : std::nullopt;
      if (time && *time < before) {
        ranked.emplace_back(*time, change);
      }
    }
    std::ranges::stable_sort(ranked, {}, &std::pair<Tick, Change>::first);
    std::vector<Change> promising;
    for (auto &[time, change] : ranked) {
      promising.push_back(std::move(change));
    }
    return promising;
  }

  std::optional<Tick> quickTime(const Kernel &any) {
    Diagnostics ignored;
    std::optional<Made> made = make(any, 1, ignored, /*improves=*/false);
    bool isWhole = made && made->run.outcome == SimResult::Outcome::Finished;
    return isWhole ? std::optional(made->run.total) : std::nullopt;
  }

  /// None if it does not help.
  std::optional<Tried> attempt(const Kernel &current, double growth, const Change &change,
                               Tick total) {
    tell("trying with all that the strategy does: " + describe(current, change));
    const bool grows = change.kind == Change::Kind::Grow;
    std::optional<Kernel> changed =
        grows ? std::optional(current) : withChange(current, change, machine);
    Diagnostics ignored;
    std::optional<Made> made =
        changed ? make(*changed, grows ? change.growth : growth, ignored) : std::nullopt;
    if (!made || made->run.outcome != SimResult::Outcome::Finished ||
        !helps(total, made->run.total)) {
      return std::nullopt;
    }
    Verdict race = raceOf(*made);
    if (race == Verdict::No) {
      return std::nullopt;
    }
    return Tried{change,
                 describe(current, change),
                 placeOf(current, change),
                 bytesOf(current, change),
                 made->run.total,
                 race};
  }

  Verdict raceOf(const Made &made) {
    RaceOptions race;
    race.schedules = 1;
    race.maxOperations = left;
    race.isBrief = true;
    race.stop = options.stop;
    RaceResult result =
        checkRaces(made.kernel, made.compiled.code, machine, options.bindings(made.kernel), race);
    charge(result.steps);
    return result.verdict;
  }

  const Kernel &kernel;
  const Machine &machine;
  const AdviseOptions &options;
  std::optional<Timing> timing;
  Extractor extractor;
  uint64_t left; ///< work that may still be done
  Advice advice;
};

} // namespace

std::optional<Advice> advise(const Kernel &kernel, const Machine &machine,
                             const AdviseOptions &options, Diagnostics &diagnostics) {
  return Adviser(kernel, machine, options).advise(diagnostics);
}

} // namespace tally
