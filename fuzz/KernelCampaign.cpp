//===- KernelCampaign.cpp - Random kernels through everything -------------===//

#include "KernelCampaign.h"

#include "Order.h"
#include "PlanComparison.h"
#include "Shrink.h"

#include "tally/Check/Explore.h"
#include "tally/Check/Race.h"
#include "tally/Code/Choose.h"
#include "tally/Model/Regions.h"
#include "tally/Sync/Divergence.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <span>

namespace tally::fuzz {

namespace {

/// Choices of trips for each kernel.
constexpr uint64_t numChoices = 3;

/// Issues of all engines together up to which the explorer is asked, and how far it may go.
constexpr size_t smallRun = 16;
constexpr uint64_t maxStates = 20'000;

bool allUniform(const Kernel &kernel) {
  return std::all_of(kernel.loops.begin(), kernel.loops.end(),
                     [](const Loop &loop) { return loop.uniform; });
}

bool allConstant(const Kernel &kernel) {
  return std::all_of(kernel.loops.begin(), kernel.loops.end(), [](const Loop &loop) {
    return !loop.isBranch() && loop.trip.kind == Trip::Kind::Constant;
  });
}

/// Whether a dependence is for as many runs as its own engine counts, whatever the producer's does.
bool anyCountedApart(const Kernel &kernel) {
  const Divergence divergence(kernel);
  bool any = false;
  for (DepId dep : kernel.deps.ids()) {
    any |= divergence.apartOn(dep).valid();
  }
  return any;
}

/// What a strategy is not made for; anything else it must do.
bool mayRefuse(const Kernel &kernel, Strategy strategy) {
  switch (strategy) {
  case Strategy::Unrolled:
    return !allConstant(kernel);
  case Strategy::PerEngine:
  case Strategy::Barrier:
    return !allUniform(kernel);
  case Strategy::PerInstruction:
  case Strategy::PerLoop:
  case Strategy::Auto: // a region may count whole queues, or have barriers; a wait may be inexact
    return (!allUniform(kernel) && hasRegions(kernel)) || anyCountedApart(kernel);
  default:
    return false;
  }
}

/// One kernel with trips bound, and what is asked for.
struct Run {
  Choices choices;
  Bindings bindings;
  std::vector<oracle::Definition> definitions;
  Order asked;
  size_t numIssues = 0;
};

/// One kernel under one strategy.
struct Compiled {
  Strategy strategy;
  SyncPlan plan;
  Program program;
  bool exact = true;
};

class Examiner {
public:
  Examiner(const Kernel &kernel, uint64_t seed, const Settings &settings, const Sabotage &sabotage,
           KernelCounts &counts)
      : kernel(kernel), seed(seed), settings(settings), machine(settings.machine()),
        sabotage(sabotage), counts(counts) {}

  std::optional<Failure> examine() {
    ++counts.kernels;
    bindRuns();
    for (const std::string &name : strategyNames()) {
      Strategy strategy = *strategyFrom(name);
      if (strategy != Strategy::Manual && !failure) {
        examineStrategy(strategy);
      }
    }
    if (!failure) {
      compareStrategies();
    }
    return failure;
  }

private:
  void bindRuns() {
    for (uint64_t i = 0; i < numChoices; ++i) {
      Choices choices = randomChoices(kernel, seed * numChoices + i);
      Bindings bindings = choices.bind(kernel);
      std::vector<oracle::Definition> definitions = oracle::defineAll(kernel, bindings);
      if (oracle::anyCutOff(definitions)) {
        continue;
      }
      Order asked = orderOfDefinition(kernel, definitions);
      size_t numIssues = 0;
      for (const std::vector<InstrId> &issues : asked.issues) {
        numIssues += issues.size();
      }
      runs.push_back({std::move(choices), std::move(bindings), {}, std::move(asked), numIssues});
      runs.back().definitions = oracle::defineAll(kernel, runs.back().bindings);
    }
  }

  void fail(Strategy strategy, const std::string &what, const Run *run = nullptr) {
    if (!failure) {
      failure = Failure{strategy, what, run ? run->choices.text(kernel) : ""};
    }
  }

  void examineStrategy(Strategy strategy) {
    Compiled compiled{strategy, SyncPlan(), Program(), true};
    if (!compile(compiled)) {
      return;
    }
    ++counts.programs;
    for (const Run &run : runs) {
      examineRun(compiled, run);
    }
    programs.push_back(std::move(compiled));
  }

  /// False if the strategy refuses, or fails.
  bool compile(Compiled &compiled) {
    CompileOptions options;
    options.plan.strategy = compiled.strategy;
    options.plan.fold = settings.fold;
    options.lower.licm = settings.licm;
    options.lower.cse = settings.cse;
    Diagnostics diagnostics;
    options = choose(kernel, options, machine, diagnostics);
    compiled.plan = makePlan(kernel, options.plan, diagnostics);
    if (diagnostics.hasErrors() && mayRefuse(kernel, compiled.strategy)) {
      ++counts.refused;
      return false;
    }
    verifyIfSound("plan: ", compiled.strategy, diagnostics,
                  [&](Diagnostics &faults) { verifyPlan(kernel, compiled.plan, faults); });
    if (failure) {
      return false;
    }
    compiled.program = lower(kernel, compiled.plan, machine, options.lower, diagnostics);
    bool complete = compiled.strategy != Strategy::Unrolled; // a loop of no trips leaves nothing
    verifyIfSound("code: ", compiled.strategy, diagnostics, [&](Diagnostics &faults) {
      verifyProgram(kernel, compiled.program, faults, complete);
    });
    if (sabotage) {
      sabotage(compiled.program);
    }
    for (const Wait &wait : compiled.plan.waits) {
      compiled.exact &= wait.exact;
    }
    compiled.exact &= compiled.strategy != Strategy::Barrier;
    return !failure;
  }

  /// Fails with the first error so far, or that `verify` adds.
  template <typename Verify>
  void verifyIfSound(std::string_view stage, Strategy strategy, Diagnostics &diagnostics,
                     Verify verify) {
    if (!diagnostics.hasErrors()) {
      verify(diagnostics);
    }
    for (const Diagnostic &diagnostic : diagnostics.all()) {
      if (diagnostic.severity == Severity::Error) {
        fail(strategy, std::string(stage) + diagnostic.message);
      }
    }
  }

  void examineRun(const Compiled &compiled, const Run &run) {
    ++counts.runs;
    if (compiled.strategy != Strategy::Barrier && compiled.strategy != Strategy::Unrolled) {
      if (auto mismatch =
              oracle::comparePlan(kernel, compiled.plan, run.bindings, run.definitions)) {
        return fail(compiled.strategy, "thresholds: " + *mismatch, &run);
      }
    }
    if (run.numIssues <= smallRun) {
      checkAllInterleavings(compiled, run);
    }
    if (run.asked.state != Order::State::Complete) {
      return; // engines that disagree about trips may wait for what never comes
    }
    checkOrder(compiled, run);
    // All runs whose order is open, and some of the others: the race check finds its order itself.
    checkSchedules(compiled, run);
  }

  void checkOrder(const Compiled &compiled, const Run &run) {
    Order order = orderOf(kernel, compiled.program, machine, run.bindings);
    if (order.state == Order::State::Unknown) {
      ++counts.open;
      return;
    }
    Agreement agreement = compare(run.asked, order);
    if (agreement == Agreement::Wrong || (agreement == Agreement::Safe && compiled.exact)) {
      fail(compiled.strategy, "order: " + difference(kernel, run.asked, order), &run);
    }
    ++(agreement == Agreement::Exact ? counts.exact : counts.safe);
  }

  void checkAllInterleavings(const Compiled &compiled, const Run &run) {
    ExploreOptions options;
    options.maxStates = maxStates;
    options.mayOverwait = overwaitAllowed(kernel, compiled.plan);
    ExploreResult result = explore(kernel, compiled.program, machine, run.bindings, options);
    ++(result.verdict == Verdict::Undecided ? counts.undecided : counts.explored);
    if (result.verdict == Verdict::No) {
      fail(compiled.strategy, "explorer: " + result.text, &run);
    }
  }

  void checkSchedules(const Compiled &compiled, const Run &run) {
    RaceOptions options;
    options.schedules = 3;
    options.seconds = 1e9; // the number of schedules decides, not the clock
    options.seed = seed;
    RaceResult result = checkRaces(kernel, compiled.program, machine, run.bindings, options);
    ++counts.raced;
    if (result.verdict == Verdict::No) {
      std::string first = result.reports.empty() ? "" : result.reports[0].text.message;
      fail(compiled.strategy, "race check: " + first, &run);
    }
  }

  /// One semaphore for a loop says the same as one for each producer: also where both say too much.
  void compareStrategies() {
    const Program *perLoop = programOf(Strategy::PerLoop);
    const Program *perInstruction = programOf(Strategy::PerInstruction);
    if (!perLoop || !perInstruction) {
      return; // refused
    }
    for (const Run &run : allUniform(kernel) ? std::span(runs) : std::span<Run>()) {
      Order a = orderOf(kernel, *perLoop, machine, run.bindings);
      Order b = orderOf(kernel, *perInstruction, machine, run.bindings);
      if (!(a == b)) {
        fail(Strategy::PerLoop, "against per-instruction: " + difference(kernel, b, a), &run);
      }
    }
  }

  const Program *programOf(Strategy strategy) const {
    auto found = std::find_if(programs.begin(), programs.end(),
                              [strategy](const Compiled &c) { return c.strategy == strategy; });
    return found == programs.end() ? nullptr : &found->program;
  }

  const Kernel &kernel;
  uint64_t seed;
  const Settings &settings;
  Machine machine;
  const Sabotage &sabotage;
  KernelCounts &counts;
  std::vector<Run> runs;
  std::vector<Compiled> programs;
  std::optional<Failure> failure;
};

/// What a failure says without names and numbers.
std::string kindOf(const Failure &failure) {
  std::string kind;
  bool quoted = false;
  for (char c : failure.what.substr(0, failure.what.find('\n'))) {
    quoted ^= c == '\'';
    if (!quoted && !std::isdigit(static_cast<unsigned char>(c))) {
      kind += c;
    }
  }
  return kind;
}

} // namespace

/// In turn: small ones for the explorer, large ones, divergent ones, and loops of constant trips;
/// one in five has regions.
Kernel kernelOfSeed(uint64_t seed) {
  RandomKernelOptions options;
  options.sharedPercent = 30;
  options.regionPercent = seed % 5 == 0 ? 40 : 0;
  options.unrollPercent = options.regionPercent;
  switch (seed % 4) {
  case 0:
    options.engines = {1, 3};
    options.maxDepth = 2;
    options.instructions = {2, 6};
    options.trips = {0, 3};
    options.offset = {1, 2};
    break;
  case 2:
    options.divergentPercent = 30;
    break;
  case 3:
    options.constantPercent = 100;
    options.ifPercent = 0;
    break;
  default:
    break;
  }
  return randomKernel(seed, options);
}

Machine Settings::machine() const {
  Machine machine = genericMachine();
  machine.subtraction = wraps ? Subtraction::Wraps : Subtraction::Saturates;
  machine.waitCompare = signedWaits ? WaitCompare::Signed : WaitCompare::Unsigned;
  machine.counterBits = shortCounters ? 16 : 32;
  return machine;
}

Settings settingsOfSeed(uint64_t seed) {
  return {.fold = seed % 3 != 0,
          .licm = seed % 5 != 0,
          .cse = seed % 7 != 0,
          .wraps = seed % 2 != 0,
          .signedWaits = seed / 2 % 2 != 0,
          .shortCounters = seed / 4 % 4 == 0};
}

void loseCounts(Program &program) {
  for (EngineCode &code : program.engines) {
    for (Op &op : code.ops) {
      if (op.kind == OpKind::Alu && op.alu == AluOp::Add && op.a == Operand::reg(op.dst)) {
        op.b = Operand::number(0);
      }
    }
  }
}

std::optional<Failure> examine(const Kernel &kernel, uint64_t seed, const Settings &settings,
                               const Sabotage &sabotage, KernelCounts *counts) {
  KernelCounts ignored;
  return Examiner(kernel, seed, settings, sabotage, counts ? *counts : ignored).examine();
}

static Finding shrinkFailure(const Kernel &kernel, uint64_t seed, const Failure &failure,
                             const Sabotage &sabotage) {
  std::string kind = kindOf(failure);
  Settings settings = settingsOfSeed(seed);
  auto failsAlike = [&](const Kernel &smaller) {
    std::optional<Failure> other = examine(smaller, seed, settings, sabotage);
    return other && other->strategy == failure.strategy && kindOf(*other) == kind;
  };
  for (bool Settings::*setting :
       {&Settings::fold, &Settings::licm, &Settings::cse, &Settings::wraps, &Settings::signedWaits,
        &Settings::shortCounters}) {
    bool before = settings.*setting;
    settings.*setting = Settings().*setting;
    if (settings.*setting != before && !failsAlike(kernel)) {
      settings.*setting = before;
    }
  }
  Kernel shrunk = shrink(kernel, failsAlike, /*maxQuestions=*/2000);
  std::optional<Failure> last = examine(shrunk, seed, settings, sabotage);
  return {seed, *last, std::move(shrunk), settings};
}

static void add(KernelCounts &sum, const KernelCounts &part) {
  sum.kernels += part.kernels;
  sum.programs += part.programs;
  sum.refused += part.refused;
  sum.runs += part.runs;
  sum.exact += part.exact;
  sum.safe += part.safe;
  sum.open += part.open;
  sum.raced += part.raced;
  sum.explored += part.explored;
  sum.undecided += part.undecided;
}

KernelReport fuzzKernels(const Extent &extent, size_t maxFindings, const Sabotage &sabotage) {
  struct Looked {
    KernelCounts counts;
    std::optional<Failure> failure;
  };

  KernelReport report;
  report.firstSeed = extent.seed;
  uint64_t seed = extent.seed;
  if (extent.count == 0) {
    return report;
  }
  forSeeds(
      extent,
      [&](uint64_t s) {
        Looked looked;
        looked.failure = examine(kernelOfSeed(s), s, settingsOfSeed(s), sabotage, &looked.counts);
        return looked;
      },
      [&](const Looked &looked) {
        add(report.counts, looked.counts);
        if (looked.failure) {
          report.findings.push_back(
              shrinkFailure(kernelOfSeed(seed), seed, *looked.failure, sabotage));
        }
        ++seed;
        return report.counts.kernels < extent.count && report.findings.size() < maxFindings;
      });
  return report;
}

std::string toText(const KernelReport &report) {
  const KernelCounts &counts = report.counts;
  return fmt::format("seeds from {}: {} kernels, {} programs, {} refused\n"
                     "runs {}: exact {}, safe {}, order open {}; race check {}, explorer {} "
                     "(and {} reached its limit)\n"
                     "findings: {}\n",
                     report.firstSeed, counts.kernels, counts.programs, counts.refused, counts.runs,
                     counts.exact, counts.safe, counts.open, counts.raced, counts.explored,
                     counts.undecided, report.findings.size());
}

std::string replayCommand(uint64_t seed) {
  return fmt::format("tally fuzz --seed={} --count=1", seed);
}

} // namespace tally::fuzz
