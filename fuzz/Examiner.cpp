//===- Examiner.cpp - One case through everything -------------------------===//

#include "Examiner.h"

#include "HandWritten.h"
#include "Promises.h"
#include "oracle/Order.h"
#include "oracle/PlanComparison.h"

#include "tally/Check/Race.h"
#include "tally/Model/Regions.h"
#include "tally/Sync/Divergence.h"
#include "tally/Sync/Split.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <span>

namespace tally::fuzz {

using namespace oracle;

namespace {

/// Choices of trips for each kernel.
constexpr uint64_t numChoices = 3;

/// Issues of all engines together up to which the explorer is asked, and how far it may go.
constexpr size_t smallRun = 16;
constexpr uint64_t maxStates = 20'000;

/// Schedules of one run; more where parts of completions come in any order.
constexpr uint32_t fewSchedules = 3;
constexpr uint32_t moreSchedules = 8;

bool allUniform(const Kernel &kernel) {
  return std::ranges::all_of(kernel.loops, &Loop::uniform);
}

bool allConstant(const Kernel &kernel) {
  return std::ranges::all_of(kernel.loops, [](const Loop &loop) {
    return !loop.isBranch() && loop.trip.kind == Trip::Kind::Constant;
  });
}

/// What a strategy is not made for; anything else it must do on a machine without limits.
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
  IssueOrder asked;
  size_t numIssues = 0;
};

/// One kernel under one strategy.
struct Subject {
  Strategy strategy; ///< that was asked for; Manual: written by hand
  SyncPlan plan;     ///< of the code, or of that which it was made of
  Code code;
  bool exact = true; ///< promised for all waits
  bool edited = false;
  std::vector<Promise> promises = {}; ///< how far it is right
  uint32_t numJudged = 0;             ///< runs
};

class Examiner {
public:
  Examiner(const Case &drawn, uint64_t seed, const Sabotage &sabotage)
      : drawn(drawn), seed(seed), machine(drawn.machine), sabotage(sabotage) {}

  Examined run() {
    ++counts().kernels;
    std::string reason;
    std::optional<Kernel> finished = finishedKernel(drawn, reason);
    if (!finished) {
      refuseCase(reason);
      return std::move(result);
    }
    kernel = std::move(*finished);
    isApart = anyCountedApart(kernel);
    examineAll();
    return std::move(result);
  }

private:
  KernelCounts &counts() { return result.counts; }

  /// What is found may ask for counts of loops on which engines disagree; instructions that share a
  /// pin may be on a queue that completes in parts on this machine.
  void refuseCase(const std::string &reason) {
    bool parts = machine.completion == Completion::Split && drawn.kernel.pins.size() > 1;
    if (allUniform(drawn.kernel) && !parts) {
      result.failure = Failure{{}, {}, "found dependences: " + reason, ""};
    }
    ++counts().refused;
  }

  void examineAll() {
    bindRuns();
    for (Strategy strategy : usableStrategies) {
      if (strategy != Strategy::Manual && !result.failure) {
        examineStrategy(strategy);
      }
    }
    for (void (Examiner::*next)() :
         {&Examiner::compareRefusals, &Examiner::compareStrategies, &Examiner::examineWritten}) {
      if (!result.failure) {
        (this->*next)();
      }
    }
    noteFeatures();
  }

  void bindRuns() {
    for (uint64_t i = 0; i < numChoices; ++i) {
      Choices choices = choicesOf(drawn, kernel, seed * numChoices + i, i);
      Bindings bindings = choices.bind(kernel);
      std::vector<oracle::Definition> definitions = oracle::defineAll(kernel, bindings);
      if (oracle::anyCutOff(definitions)) {
        continue;
      }
      IssueOrder asked = orderOfDefinition(kernel, definitions);
      size_t numIssues = 0;
      for (const std::vector<InstrId> &issues : asked.issues) {
        numIssues += issues.size();
      }
      runs.push_back({std::move(choices), std::move(bindings), std::move(definitions),
                      std::move(asked), numIssues});
    }
  }

  void fail(const Subject &subject, const std::string &what, const Run *run = nullptr) {
    fail(subject.strategy, subject.plan.decisions.strategy, what, run);
  }

  void fail(Strategy strategy, Strategy origin, const std::string &what, const Run *run = nullptr) {
    if (!result.failure) {
      result.failure = Failure{strategy, origin, what, run ? run->choices.text(kernel) : ""};
    }
  }

  //===--- Compiling ------------------------------------------------------===//

  void examineStrategy(Strategy strategy) {
    Request options = drawn.how;
    options.strategy = strategy;
    Diagnostics diagnostics;
    std::optional<Compiled> compiled = compile(kernel, options, machine, diagnostics);
    if (!compiled) {
      return noteRefusal(strategy, diagnostics);
    }
    bool complete = compiled->plan.decisions.strategy !=
                    Strategy::Unrolled; // a loop of no trips leaves nothing
    Diagnostics faults;
    verifyCode(kernel, compiled->code, faults, complete);
    if (faults.hasErrors()) {
      return fail(strategy, strategy, "code: " + faults.all().front().message);
    }
    if (sabotage) {
      sabotage(compiled->code);
    }
    Subject subject{strategy, std::move(compiled->plan), std::move(compiled->code)};
    subject.exact = promisesExact(subject.plan);
    subject.promises = promisesOf(kernel, diagnostics);
    examineCode(std::move(subject));
  }

  static bool promisesExact(const SyncPlan &plan) {
    return plan.decisions.strategy != Strategy::Barrier && plan.barriers.empty() &&
           plan.decisions.resets.empty() && std::ranges::all_of(plan.waits, &Wait::exact);
  }

  void noteRefusal(Strategy strategy, const Diagnostics &diagnostics) {
    if (!diagnostics.hasErrors()) {
      return fail(strategy, strategy, "refused: without an error");
    }
    if (!drawn.isMixed && !mayRefuse(kernel, strategy)) {
      return fail(strategy, strategy, "refused: " + diagnostics.reason());
    }
    ++counts().refused;
    refusedBy.push_back(strategy);
  }

  const Subject *subjectOf(Strategy strategy) const {
    auto found = std::ranges::find(subjects, strategy, &Subject::strategy);
    return found == subjects.end() ? nullptr : &*found;
  }

  /// Auto does what others do, at least in their way.
  void compareRefusals() {
    if (std::ranges::find(refusedBy, Strategy::Auto) == refusedBy.end()) {
      return;
    }
    for (Strategy other :
         {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine, Strategy::Barrier}) {
      if (subjectOf(other)) {
        fail(Strategy::Auto, Strategy::Auto,
             fmt::format("refused: what '{}' does", toString(other)));
      }
    }
  }

  //===--- Code written by hand -------------------------------------------===//

  /// That of one strategy; the others are left for other seeds.
  void examineWritten() {
    if (!drawn.isMixed || subjects.empty()) {
      return;
    }
    const Subject &origin = subjects[seed / 2 % subjects.size()];
    if (origin.plan.decisions.strategy == Strategy::Unrolled) {
      return; // code by hand keeps the loops
    }
    std::string reason;
    std::optional<Code> code = writtenAndRead(kernel, origin.code, reason);
    if (!code) {
      return fail(Strategy::Manual, origin.strategy, "by hand: " + reason);
    }
    Subject subject{Strategy::Manual, origin.plan, std::move(*code)};
    subject.edited = seed % 3 != 0 && rearrange(subject.code, seed);
    subject.exact = origin.exact && !subject.edited;
    subject.promises = origin.promises;
    if (accepts(subject)) {
      ++counts().written;
      examineCode(std::move(subject));
    }
  }

  /// What was added may be too much for the machine.
  bool accepts(const Subject &subject) {
    Request options = drawn.how;
    options.strategy = Strategy::Manual;
    Diagnostics diagnostics;
    if (compile(kernel, options, machine, diagnostics, &subject.code)) {
      return true;
    }
    if (!subject.edited) {
      fail(subject, "by hand: " + diagnostics.all().front().message);
    }
    ++counts().refused;
    return false;
  }

  //===--- Running --------------------------------------------------------===//

  void examineCode(Subject subject) {
    ++counts().programs;
    for (size_t i = 0; i < runs.size() && !result.failure; ++i) {
      examineRun(subject, runs[i]);
    }
    subjects.push_back(std::move(subject));
  }

  void examineRun(Subject &subject, const Run &run) {
    ++counts().runs;
    if (!isPromised(kernel, subject.promises, run.bindings)) {
      ++counts().beyond;
      return;
    }
    ++subject.numJudged;
    compareThresholds(subject, run);
    if (run.numIssues <= smallRun) {
      checkAllInterleavings(subject, run);
    }
    if (run.asked.state != IssueOrder::State::Complete) {
      return; // engines that disagree about trips may wait for what never comes
    }
    checkOrder(subject, run);
    if (kernel.accesses.empty() || !isApart) { // else what is asked for need not order memory
      checkSchedules(subject, run);
    }
  }

  /// Of plans that count, and never start again from zero.
  void compareThresholds(const Subject &subject, const Run &run) {
    if (!countsAtRunTime(subject.plan.decisions.strategy) ||
        !subject.plan.decisions.resets.empty()) {
      return;
    }
    if (auto mismatch = oracle::comparePlan(kernel, subject.plan, run.bindings, run.definitions)) {
      fail(subject, "thresholds: " + *mismatch, &run);
    }
  }

  void checkOrder(const Subject &subject, const Run &run) {
    IssueOrder order = orderOf(kernel, subject.code, machine, run.bindings);
    if (order.state == IssueOrder::State::Unknown) {
      ++counts().open;
      return;
    }
    Agreement agreement = compare(run.asked, order);
    if (agreement == Agreement::Wrong || (agreement == Agreement::Safe && subject.exact)) {
      fail(subject, "order: " + difference(kernel, run.asked, order), &run);
    }
    ++(agreement == Agreement::Exact ? counts().exact : counts().safe);
  }

  void checkAllInterleavings(const Subject &subject, const Run &run) {
    ExploreOptions options = exploreOptionsFor(kernel, subject.plan, maxStates);
    if (subject.edited) {
      options.mayOverwait.assign(kernel.instrs.size(), true);
    }
    ExploreResult explored = explore(kernel, subject.code, machine, run.bindings, options);
    ++(explored.verdict == Verdict::Undecided ? counts().undecided : counts().explored);
    if (explored.verdict == Verdict::No) {
      fail(subject, "explorer: " + explored.text, &run);
    }
  }

  void checkSchedules(const Subject &subject, const Run &run) {
    RaceOptions options;
    options.schedules = std::ranges::any_of(kernel.queues, mayMix) ? moreSchedules : fewSchedules;
    options.seconds = 1e9; // the number of schedules decides, not the clock
    options.seed = seed;
    RaceResult raced = checkRaces(kernel, subject.code, machine, run.bindings, options);
    ++counts().raced;
    if (raced.verdict == Verdict::No) {
      std::string first = raced.reports.empty() ? "" : raced.reports[0].text.message;
      fail(subject, "race check: " + first, &run);
    }
  }

  /// One semaphore for a loop says the same as one for each producer: also where both say too much.
  void compareStrategies() {
    const Subject *perLoop = subjectOf(Strategy::PerLoop);
    const Subject *perInstruction = subjectOf(Strategy::PerInstruction);
    if (!perLoop || !perInstruction || !isPlain(*perLoop) || !isPlain(*perInstruction)) {
      return;
    }
    for (const Run &run : allUniform(kernel) ? std::span(runs) : std::span<Run>()) {
      IssueOrder a = orderOf(kernel, perLoop->code, machine, run.bindings);
      IssueOrder b = orderOf(kernel, perInstruction->code, machine, run.bindings);
      if (!(a == b)) {
        fail(*perLoop, "against per-instruction: " + difference(kernel, b, a), &run);
      }
    }
  }

  /// Whether nothing was given up for a limit, and numbers fit without more ado.
  bool isPlain(const Subject &subject) const {
    return subject.plan.decisions.resets.empty() && subject.plan.decisions.remembered.empty() &&
           subject.promises.empty();
  }

  /// What met in each program that was judged.
  void noteFeatures() {
    if (result.failure || !drawn.isMixed) {
      return;
    }
    for (const Subject &subject : subjects) {
      if (subject.numJudged > 0) {
        result.met.push_back(featuresOf(
            {drawn, kernel, subject.strategy, subject.plan, subject.code, subject.edited}));
      }
    }
  }

  const Case &drawn;
  uint64_t seed;
  const Machine &machine;
  const Sabotage &sabotage;
  Kernel kernel; ///< with its dependences, as on the machine
  bool isApart = false;
  std::vector<Run> runs;
  std::vector<Subject> subjects;
  std::vector<Strategy> refusedBy;
  Examined result;
};

} // namespace

void KernelCounts::add(const KernelCounts &other) {
  for (uint64_t KernelCounts::*count :
       {&KernelCounts::kernels, &KernelCounts::programs, &KernelCounts::written,
        &KernelCounts::refused, &KernelCounts::runs, &KernelCounts::exact, &KernelCounts::safe,
        &KernelCounts::open, &KernelCounts::beyond, &KernelCounts::raced, &KernelCounts::explored,
        &KernelCounts::undecided}) {
    this->*count += other.*count;
  }
}

void loseCounts(Code &code) {
  for (EngineProgram &program : code.engines) {
    for (Op &op : program.ops) {
      if (op.kind == OpKind::Alu && op.alu == AluOp::Add && op.a == Operand::reg(op.dst)) {
        op.b = Operand::number(0);
      }
    }
  }
}

bool anyCountedApart(const Kernel &kernel) {
  const Divergence divergence(kernel);
  bool any = false;
  for (DepId dep : kernel.deps.ids()) {
    any |= divergence.apartOn(dep).valid();
  }
  return any;
}

ExploreOptions exploreOptionsFor(const Kernel &kernel, const SyncPlan &plan, uint64_t maxStates) {
  ExploreOptions options;
  options.maxStates = maxStates;
  options.mayOverwait = overwaitAllowed(kernel, plan);
  options.resets = !plan.decisions.resets.empty();
  return options;
}

Examined examine(const Case &drawn, uint64_t seed, const Sabotage &sabotage) {
  return Examiner(drawn, seed, sabotage).run();
}

} // namespace tally::fuzz
