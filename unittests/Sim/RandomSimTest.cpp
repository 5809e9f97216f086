//===- RandomSimTest.cpp - Runs of random programs, in two ways -----------===//
//
//   legal     the steps of a run, in its order of time, are a run of the transition system
//   times     equal to those of MaxPlus.h, which knows no events
//   ideal     equal to those that follow from the dependences, without any code
//   floor     no run of any strategy is below it
//
//===----------------------------------------------------------------------===//

#include "SimCase.h"
#include "oracle/Campaign.h"
#include "oracle/MaxPlus.h"

#include "tally/Check/Impl.h"
#include "tally/Compile/Compile.h"
#include "tally/Sim/Bounds.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

using namespace tally;
using namespace tally::oracle;

namespace {

/// Costs of all magnitudes, also none at all, by a hash of the seed.
InstrCosts randomCosts(const Kernel &kernel, uint64_t seed,
                       const std::function<bool(QueueId)> &mayTransfer) {
  fuzz::Random random(seed);
  InstrCosts costs;
  for (InstrId id : kernel.instrs.ids()) {
    InstrCost cost;
    auto span = [&] { return random.percent(20) ? 0 : random.below(300) * ns + random.below(3); };
    cost.dispatch = random.percent(50) ? 10 * ns : 0;
    cost.issue = random.percent(20) ? span() : 0;
    cost.startup = random.percent(20) ? span() : 0;
    cost.interval = span();
    cost.duration = span();
    cost.isTransfer = mayTransfer(kernel.instrs[id].queue) && random.percent(40);
    costs.push(cost);
  }
  return costs;
}

/// Some machines are fast at control, some slow, and on some it is free.
Machine randomMachine(uint64_t seed) {
  Machine machine = testMachine();
  if (seed % 4 == 0) {
    for (Parameter &parameter : machine.parameters) {
      if (parameter.name.starts_with("ctl.") || parameter.name.starts_with("sem.")) {
        parameter.number = 0;
      }
    }
  }
  EXPECT_EQ(setParameter(machine, fmt::format("queue.depth={}", 1 + seed % 5)), "");
  EXPECT_EQ(setParameter(machine, fmt::format("dma.depth={}", 1 + seed % 3)), "");
  if (seed % 3 == 1) {
    EXPECT_EQ(setParameter(machine, "ctl.carried=37ns"), "");
  }
  machine.queueOverlap = seed % 7 != 0;
  return machine;
}

/// Writes down the steps of a run.
class StepRecorder : public SimObserver {
public:
  StepRecorder(const Kernel &kernel, const Code &code, Tick spacing)
      : kernel(kernel), code(code), spacing(spacing) {}

  void onOperation(EngineId engine, uint32_t op, Tick from, Tick) override {
    const Op &executed = code.engines[engine].ops[op];
    add(from, executed.kind == OpKind::Issue
                  ? Step::issue(engine, kernel.instrs[executed.instr()].queue)
                  : Step::control(engine));
  }

  void onExecution(const Execution &e) override {
    EngineId engine = kernel.queues[e.queue].engine;
    add(e.finish, {StepKind::Commit, engine, e.queue, static_cast<uint32_t>(e.run)}, e.instr);
    const Queue &queue = kernel.queues[e.queue];
    if (queue.completion == Completion::Split && queue.weight > 1) {
      for (uint32_t ring = 0; ring < queue.weight; ++ring) {
        add(e.retire + ring * spacing, Step::deliver(engine, e.queue, ring));
      }
    } else {
      add(e.retire, Step::retire(engine, e.queue));
    }
  }

  struct Timed {
    Tick at;
    Step step;
    InstrId instr; ///< Commit: of its run number `step.index`
  };

  /// In the order of time; of one time, in that of causes.
  std::vector<Timed> inOrder() {
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Timed &a, const Timed &b) { return a.at < b.at; });
    return steps;
  }

private:
  void add(Tick at, Step step, InstrId instr = {}) { steps.push_back({at, step, instr}); }

  const Kernel &kernel;
  const Code &code;
  Tick spacing;
  std::vector<Timed> steps;
};

/// Performs the steps; an empty text if each could happen and nothing is left to do.
std::string replay(const ImplSystem &system, const std::vector<StepRecorder::Timed> &steps) {
  ImplState state = system.initial();
  for (size_t i = 0; i < steps.size(); ++i) {
    Step step = steps[i].step;
    if (step.kind == StepKind::Commit) {
      // The place in flight of that run.
      const QueueState &queue = state.queues[step.queue];
      for (uint32_t n = queue.retired; n < queue.issued; ++n) {
        if (system.instanceAt(step.queue, n) == Instance{steps[i].instr, steps[i].step.index}) {
          step.index = n - queue.retired;
        }
      }
    }
    if (!system.isEnabled(state, step)) {
      return fmt::format("step {} of {}, {} at {} ps, cannot happen", i, steps.size(),
                         describe(system.kernelOf(), step), steps[i].at);
    }
    system.apply(state, step);
  }
  std::vector<Step> left;
  system.enabled(state, left);
  return system.finished(state) ? "" : left.empty() ? "stuck" : "steps are left";
}

struct Compiling {
  std::optional<Compiled> compiled;

  Compiling(const Kernel &kernel, Strategy strategy, const Machine &machine, double growth = 1) {
    Request options;
    options.strategy = strategy;
    options.codeGrowth = growth;
    options.overflow = Overflow::Assume; // divergent loops would be refused
    Diagnostics diagnostics;
    compiled = compile(kernel, options, machine, diagnostics);
  }
};

constexpr std::array strategies{Strategy::PerInstruction, Strategy::PerLoop,  Strategy::PerEngine,
                                Strategy::Barrier,        Strategy::Unrolled, Strategy::Auto};

/// Some loops are unrolled.
fuzz::RandomKernelOptions unrolling(uint64_t seed) {
  fuzz::RandomKernelOptions options = optionsForSeed(seed);
  options.unrollPercent = seed % 2 == 0 ? 0 : 50;
  return options;
}

/// How much `auto` may write out.
double growthOf(uint64_t seed) {
  return seed % 3 == 0 ? 1 : seed % 3 == 1 ? 1.5 : 4;
}

/// Waits that the simulator leaves out in the later iterations of a pass. A run that would have
/// been held up there is not legal: the system that it is held to has them in all.
uint64_t countOnce(const Code &code) {
  uint64_t count = 0;
  for (const EngineProgram &program : code.engines) {
    count += static_cast<uint64_t>(std::ranges::count(program.ops, true, &Op::once));
  }
  return count;
}

Timing timingOf(const Machine &machine) {
  std::vector<std::string> errors;
  std::optional<Timing> timing = Timing::of(machine, errors);
  EXPECT_TRUE(timing);
  return *timing;
}

std::string pathText(const SimResult &result) {
  std::string text;
  for (const PathShare &share : result.path) {
    text += fmt::format("{} {}: {}\n", share.engine.value, share.op, fmt::join(share.spans, " "));
  }
  return text;
}

void expectSums(const SimResult &result, uint64_t seed) {
  for (const EngineStats &stats : result.engines) {
    EXPECT_EQ(stats.control + stats.waiting + stats.queueFull + stats.draining + stats.done,
              result.total)
        << "seed " << seed;
  }
  Tick path = 0;
  for (const PathShare &share : result.path) {
    path += share.sum();
  }
  EXPECT_EQ(path, result.total) << "seed " << seed;
}

} // namespace

/// Pieces of the critical path as they are told.
struct PathListener : SimObserver {
  std::vector<PathPiece> pieces;

  void onPath(const PathPiece &piece) override { pieces.push_back(piece); }

  /// They follow one another from the beginning to the end, and add up to the path's shares.
  void expect(const SimResult &result, uint64_t seed) const {
    std::map<std::pair<EngineId, uint32_t>, std::array<Tick, numPathKinds>> sums;
    Tick now = 0;
    for (const PathPiece &piece : pieces) {
      ASSERT_EQ(piece.from, now) << "seed " << seed;
      ASSERT_GT(piece.to, piece.from) << "seed " << seed;
      sums[{piece.engine, piece.op}][static_cast<size_t>(piece.kind)] += piece.to - piece.from;
      now = piece.to;
    }
    EXPECT_EQ(now, result.total) << "seed " << seed;
    ASSERT_EQ(sums.size(), result.path.size()) << "seed " << seed;
    for (const PathShare &share : result.path) {
      EXPECT_EQ((sums[{share.engine, share.op}]), share.spans) << "seed " << seed;
    }
  }
};

TEST(RandomSimTest, runsAreLegal) {
  uint64_t compared = 0, steps = 0, stuck = 0, numOnce = 0;
  fuzz::Range seeds = seedsOf(400);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !HasFailure(); ++seed) {
    RandomCodeCase random(seed, unrolling(seed));
    Machine machine = randomMachine(seed);
    machine.counterBits = seed % 5 == 0 ? 8 : 32; // so narrow that some wrap around, and hang
    machine.waitCompare = seed % 10 == 0 ? WaitCompare::Signed : WaitCompare::Unsigned;
    Timing timing = timingOf(machine);
    InstrCosts costs = randomCosts(random.kernel, seed, [&](QueueId) { return seed % 3 != 0; });
    for (Strategy strategy : strategies) {
      Compiling program(random.kernel, strategy, machine, growthOf(seed));
      if (!program.compiled || random.cutOff()) {
        continue;
      }
      const Code &code = program.compiled->code;
      numOnce += countOnce(code);
      StepRecorder recorder(random.kernel, code, timing.spacing);
      SimOptions options;
      options.observer = &recorder;
      options.criticalPath = true;
      options.seed = seed % 2;
      SimResult result =
          simulate(random.kernel, code, machine, timing, costs, random.bindings, options);
      ImplOptions implOptions;
      implOptions.inFlight = maxInFlight;
      ImplSystem system(random.kernel, code, machine, random.bindings, implOptions);
      // Programs with divergent loops may hang; then both do.
      std::string verdict = replay(system, recorder.inOrder());
      if (result.outcome == SimResult::Outcome::Deadlock) {
        EXPECT_EQ(verdict, "stuck") << "seed " << seed;
        ++stuck;
        continue;
      }
      ASSERT_EQ(verdict, "") << "seed " << seed << " " << toString(strategy);
      expectSums(result, seed);
      // A table that is cleared up all the time gives the same path.
      options.pathNodes = 8;
      PathListener listener;
      options.observer = &listener;
      SimResult again =
          simulate(random.kernel, code, machine, timing, costs, random.bindings, options);
      ASSERT_EQ(pathText(again), pathText(result)) << "seed " << seed;
      listener.expect(result, seed);
      // So does one that takes sums, as there is no listener.
      options.observer = nullptr;
      SimResult sums =
          simulate(random.kernel, code, machine, timing, costs, random.bindings, options);
      ASSERT_EQ(pathText(sums), pathText(result)) << "seed " << seed;
      ++compared;
      steps += recorder.inOrder().size();
    }
  }
  if (!seedsAreChosen()) {
    EXPECT_GT(compared, 1000u);
    EXPECT_GT(steps, 50'000u);
    EXPECT_GT(stuck, 10u);
    EXPECT_GT(numOnce, 30u);
  }
}

TEST(RandomSimTest, timesWithoutEvents) {
  uint64_t compared = 0, numOnce = 0;
  fuzz::Range seeds = seedsOf(400);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !HasFailure(); ++seed) {
    RandomCodeCase random(seed, unrolling(seed));
    Machine machine = randomMachine(seed);
    Timing timing = timingOf(machine);
    // Transfers of several queues would share the bandwidth.
    QueueId transfers(static_cast<uint32_t>(seed % random.kernel.queues.size()));
    InstrCosts costs =
        randomCosts(random.kernel, seed, [&](QueueId queue) { return queue == transfers; });
    bool hasTransfers = std::any_of(costs.begin(), costs.end(),
                                    [](const InstrCost &cost) { return cost.isTransfer; });
    for (Strategy strategy :
         {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine, Strategy::Auto}) {
      Compiling program(random.kernel, strategy, machine, growthOf(seed));
      if (!program.compiled || random.cutOff()) {
        continue;
      }
      const Code &code = program.compiled->code;
      numOnce += countOnce(code);
      Recorder recorder;
      SimOptions options;
      options.observer = &recorder;
      SimResult result =
          simulate(random.kernel, code, machine, timing, costs, random.bindings, options);
      MaxPlus reference(random.kernel, code, machine, timing, costs, random.bindings,
                        hasTransfers ? transfers : QueueId());
      bool finishes = reference.run();
      ASSERT_EQ(finishes, result.outcome == SimResult::Outcome::Finished) << "seed " << seed;
      ASSERT_EQ(reference.total, result.total) << "seed " << seed;
      for (InstrId id : random.kernel.instrs.ids()) {
        std::vector<Tick> starts;
        for (const Execution &execution : recorder.executions[id]) {
          starts.push_back(execution.start);
        }
        ASSERT_EQ(starts, reference.startsOf(id)) << "seed " << seed;
      }
      ++compared;
    }
  }
  if (!seedsAreChosen()) {
    EXPECT_GT(compared, 500u);
    EXPECT_GT(numOnce, 30u);
  }
}

/// The ideal run, against the dependences themselves: each consumer starts when as many runs of
/// each producer have retired as the definition asks for. Loops are free here, as the definition
/// knows none.
TEST(RandomSimTest, idealIsWhatDependencesAsk) {
  uint64_t compared = 0;
  fuzz::Range seeds = seedsOf(400);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !HasFailure(); ++seed) {
    RandomCodeCase random(seed, optionsForSeed(seed));
    Machine machine = randomMachine(seed);
    for (std::string_view loops : {"ctl.loop_begin=0", "ctl.loop_end=0", "ctl.branch=0"}) {
      ASSERT_EQ(setParameter(machine, loops), "");
    }
    Timing timing = timingOf(machine);
    InstrCosts costs = randomCosts(random.kernel, seed, [](QueueId) { return false; });
    Diagnostics diagnostics;
    std::optional<Compiled> ideal =
        compile(random.kernel, {.strategy = Strategy::Ideal}, machine, diagnostics);
    if (!ideal || numInexact(ideal->plan) > 0 || random.cutOff()) {
      continue;
    }
    Recorder recorder;
    SimOptions options;
    options.observer = &recorder;
    options.freeSync = true;
    SimResult result =
        simulate(random.kernel, ideal->code, machine, timing, costs, random.bindings, options);
    SpecMaxPlus reference(random.kernel, machine, timing, costs, random.bindings);
    ASSERT_EQ(reference.run(), result.outcome == SimResult::Outcome::Finished) << "seed " << seed;
    for (InstrId id : random.kernel.instrs.ids()) {
      std::vector<Tick> starts;
      for (const Execution &execution : recorder.executions[id]) {
        starts.push_back(execution.start);
      }
      ASSERT_EQ(starts, reference.startsOf(id)) << "seed " << seed;
    }
    ++compared;
  }
  if (!seedsAreChosen()) {
    EXPECT_GT(compared, 150u);
  }
}

TEST(RandomSimTest, noRunIsBelowTheFloor) {
  uint64_t compared = 0, reached = 0;
  fuzz::Range seeds = seedsOf(400);
  for (uint64_t seed = seeds.min; seed <= seeds.max && !HasFailure(); ++seed) {
    RandomCodeCase random(seed, unrolling(seed));
    Machine machine = randomMachine(seed);
    Timing timing = timingOf(machine);
    InstrCosts costs = randomCosts(random.kernel, seed, [&](QueueId) { return seed % 3 != 0; });
    for (Dep &dep : random.kernel.deps) {
      dep.kind = DepKind::RAW; // so that all count
    }
    std::optional<Floor> floor = floorOf(random.kernel, costs, random.bindings, {1'000'000});
    if (!floor || random.cutOff()) {
      continue;
    }
    for (Strategy strategy : {Strategy::Ideal, Strategy::PerLoop, Strategy::Unrolled}) {
      Compiling program(random.kernel, strategy, machine);
      if (!program.compiled) {
        continue;
      }
      SimOptions options;
      options.freeSync = strategy == Strategy::Ideal;
      SimResult result = simulate(random.kernel, program.compiled->code, machine, timing, costs,
                                  random.bindings, options);
      if (result.outcome == SimResult::Outcome::Finished) {
        ASSERT_GE(result.total, floor->total) << "seed " << seed << " " << toString(strategy) << " "
                                              << describe(random.kernel, *floor);
        ++compared;
        reached += result.total < floor->total + floor->total / 50;
      }
    }
  }
  if (!seedsAreChosen()) {
    EXPECT_GT(compared, 500u);
    EXPECT_GT(reached, 50u);
  }
}
