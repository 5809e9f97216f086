//===- RaceTest.cpp - Vector clocks against all interleavings -------------===//
//
// Where one schedule decides, its answer must be that of every schedule: for random kernels,
// correct and with a mistake, all interleavings are walked and each issue is judged by what has
// retired at that moment, with the enumerating definition. The vector clocks saw one schedule only.
//
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"
#include "oracle/PlanComparison.h"

#include "tally/Check/Explore.h"
#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Written/Text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

using namespace tally;
using namespace tally::oracle;

namespace {

using Pairs = std::set<std::pair<std::string, std::string>>;

/// All states that can be reached, and what goes wrong in them.
class AllInterleavings {
public:
  AllInterleavings(const ImplSystem &system, const std::vector<Definition> *definitions,
                   const Datapath *datapath, size_t maxStates)
      : system(system), kernel(system.kernelOf()), definitions(definitions), datapath(datapath) {
    std::vector<ImplState> todo{system.initial()};
    visited.insert(keyOf(todo[0]));
    std::vector<Step> steps;
    while (!todo.empty()) {
      ImplState state = std::move(todo.back());
      todo.pop_back();
      judgeFlight(state);
      system.enabled(state, steps);
      deadlock |= steps.empty() && !system.finished(state);
      for (const Step &step : steps) {
        // When it takes effect makes no difference to what has retired.
        if (step.kind == StepKind::Commit && step.index > 0 && !system.isSplit(step.queue)) {
          continue;
        }
        if (step.kind == StepKind::Issue) {
          judgeIssue(state, step.queue);
        }
        ImplState next = state;
        system.apply(next, step);
        if (visited.insert(keyOf(next)).second) {
          todo.push_back(std::move(next));
        }
      }
      if (visited.size() > maxStates) {
        complete = false;
        return;
      }
    }
  }

  bool complete = true;
  bool deadlock = false;
  Pairs unordered; ///< producer, consumer: issued while a run that it needs had not retired
  Pairs racing;    ///< in flight at the same time, touching the same cell

private:
  using Key = std::vector<uint32_t>;

  static Key keyOf(const ImplState &state) {
    Key key(state.at.raw());
    for (const QueueState &q : state.queues) {
      key.insert(key.end(), {q.issued, q.retired, uint32_t(q.committed)});
    }
    key.insert(key.end(), state.semaphores.begin(), state.semaphores.end());
    key.insert(key.end(), state.rings.begin(), state.rings.end());
    return key;
  }

  void judgeIssue(const ImplState &state, QueueId queue) {
    if (!definitions) {
      return;
    }
    Instance consumer = system.instanceAt(queue, state.queues[queue].issued);
    for (DepId dep : kernel.deps.ids()) {
      if (kernel.deps[dep].consumer != consumer.instr) {
        continue;
      }
      InstrId producer = kernel.deps[dep].producer;
      EngineId engine = kernel.engineOf(consumer.instr);
      uint64_t owed = (*definitions)[engine.value].needs(dep)[consumer.run].runs;
      if (retiredRuns(state, producer) < owed) {
        unordered.emplace(kernel.nameOf(producer), kernel.nameOf(consumer.instr));
      }
    }
  }

  uint64_t retiredRuns(const ImplState &state, InstrId instr) const {
    QueueId queue = kernel.instrs[instr].queue;
    uint64_t runs = 0;
    for (uint32_t n = 0; n < state.queues[queue].retired; ++n) {
      runs += system.instanceAt(queue, n).instr == instr;
    }
    return runs;
  }

  void judgeFlight(const ImplState &state) {
    if (!datapath) {
      return;
    }
    std::vector<Instance> flight;
    for (QueueId queue : kernel.queues.ids()) {
      const QueueState &q = state.queues[queue];
      // Without overlap only the oldest has started.
      uint32_t last =
          system.machineOf().queueOverlap ? q.issued : std::min(q.issued, q.retired + 1);
      for (uint32_t n = q.retired; n < last; ++n) {
        flight.push_back(system.instanceAt(queue, n));
      }
    }
    for (size_t i = 0; i < flight.size(); ++i) {
      for (size_t j = i + 1; j < flight.size(); ++j) {
        if (conflict(flight[i], flight[j]) || conflict(flight[j], flight[i])) {
          racing.emplace(kernel.nameOf(flight[i].instr), kernel.nameOf(flight[j].instr));
          racing.emplace(kernel.nameOf(flight[j].instr), kernel.nameOf(flight[i].instr));
        }
      }
    }
  }

  /// Whether `a` changes what `b` touches. Sums of a queue that adds in order follow one another.
  bool conflict(Instance a, Instance b) const {
    const Footprint &fa = datapath->footprint(a), &fb = datapath->footprint(b);
    const QueueId queue = kernel.instrs[a.instr].queue;
    bool addUp = queue == kernel.instrs[b.instr].queue && kernel.queues[queue].addsInOrder;
    std::set<CellId> other(fb.reads.begin(), fb.reads.end());
    other.insert(fb.writes.begin(), fb.writes.end());
    std::set<CellId> sums(fb.accumulates.begin(), fb.accumulates.end());
    return std::ranges::any_of(
               fa.writes,
               [&](CellId cell) { return other.contains(cell) || sums.contains(cell); }) ||
           std::ranges::any_of(fa.accumulates, [&](CellId cell) {
             return other.contains(cell) || (!addUp && sums.contains(cell));
           });
  }

  const ImplSystem &system;
  const Kernel &kernel;
  const std::vector<Definition> *definitions;
  const Datapath *datapath;
  std::set<Key> visited;
};

std::string factOf(const RaceReport &report, std::string_view key) {
  for (const auto &[name, value] : report.facts) {
    if (name == key) {
      return value;
    }
  }
  return {};
}

Pairs pairsOf(const RaceResult &result, ReportKind kind) {
  Pairs pairs;
  for (const RaceReport &report : result.reports) {
    if (report.kind == kind) {
      pairs.emplace(factOf(report, "first"), factOf(report, "second"));
    }
  }
  return pairs;
}

bool has(const RaceResult &result, ReportKind kind) {
  return std::any_of(result.reports.begin(), result.reports.end(),
                     [&](const RaceReport &report) { return report.kind == kind; });
}

std::string text(const Pairs &pairs) {
  std::string all;
  for (const auto &[first, second] : pairs) {
    all += first + "->" + second + " ";
  }
  return all;
}

RaceOptions manySchedules() {
  RaceOptions options;
  options.schedules = 40;
  options.maxReports = 1000;
  options.seconds = 60;
  return options;
}

fuzz::RandomKernelOptions smallKernels(uint64_t seed) {
  fuzz::RandomKernelOptions options;
  options.engines = {2, 3};
  options.extraQueues = {0, 1};
  options.maxDepth = 2;
  options.statements = {1, 2};
  options.blockSize = {1, 2};
  options.instructions = {2, 4};
  options.dependences = {1, 3};
  options.divergentPercent = seed % 4 == 0 ? 30 : 0;
  return options;
}

/// Makes one mistake, or none for one seed in four: a threshold, a semaphore, a wait, a reset.
void damage(Code &program, fuzz::Random &random) {
  std::vector<Op *> places;
  for (EngineProgram &engine : program.engines) {
    for (Op &op : engine.ops) {
      if (op.wait.valid() || op.kind == OpKind::Reset || op.kind == OpKind::Drain) {
        places.push_back(&op);
      }
    }
  }
  if (places.empty() || program.semaphores.empty() || random.below(4) == 0) {
    return;
  }
  Op &op = *places[random.below(places.size())];
  SemaId other(uint32_t(random.below(program.semaphores.size())));
  if (op.kind == OpKind::Reset || op.kind == OpKind::Drain) {
    op = Op::makeWait(other, Operand::number(0));
    return;
  }
  switch (random.below(3)) {
  case 0:
    op.wait = other;
    return;
  default:
    op.a = Operand::number(uint32_t(random.below(3)));
    return;
  }
}

/// Whether both are of one kind and, if about two instructions, about the same.
bool areAlike(const RaceReport &a, const RaceReport &b) {
  std::set<std::string> ofA{factOf(a, "first"), factOf(a, "second")};
  std::set<std::string> ofB{factOf(b, "first"), factOf(b, "second")};
  return a.kind == b.kind && ofA == ofB;
}

/// Each schedule of a report can be performed by itself and shows the same again. It may also show
/// the same two instructions in other iterations, and then reports these.
void expectReplays(const Kernel &kernel, const Code &program, const Machine &machine,
                   const Bindings &bindings, const RaceResult &result, const std::string &context) {
  for (const RaceReport &report : result.reports) {
    size_t performed = 0;
    RaceResult again =
        checkSchedule(kernel, program, machine, bindings, report.steps, manySchedules(), performed);
    EXPECT_EQ(performed, report.steps.size()) << report.text.message << context;
    bool isAgain = std::any_of(again.reports.begin(), again.reports.end(),
                               [&](const RaceReport &other) { return areAlike(other, report); });
    EXPECT_TRUE(isAgain) << report.text.message << context;
  }
}

/// Whether the schedule of a race ends with both instructions in flight.
bool endsInFlight(const ImplSystem &system, const RaceReport &report) {
  ImplState state = system.initial();
  for (const Step &step : report.steps) {
    if (!system.isEnabled(state, step)) {
      return false;
    }
    system.apply(state, step);
  }
  std::multiset<std::string> flight;
  for (QueueId queue : system.kernelOf().queues.ids()) {
    for (uint32_t n = state.queues[queue].retired; n < state.queues[queue].issued; ++n) {
      flight.emplace(system.kernelOf().nameOf(system.instanceAt(queue, n).instr));
    }
  }
  std::string first = factOf(report, "first"), second = factOf(report, "second");
  return flight.count(first) >= (first == second ? 2 : 1) && flight.count(second) >= 1;
}

struct Tally {
  int compared = 0, faulty = 0, deadlocked = 0, open = 0, stuck = 0;
};

void compareOne(uint64_t seed, Strategy strategy, bool overlap, Tally &tally) {
  RandomCodeCase code(seed, smallKernels(seed), {0, 2});
  Machine machine = genericMachine();
  machine.queueOverlap = overlap;
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(
      code.kernel, {.strategy = strategy, .overflow = Overflow::Assume}, machine, diagnostics);
  if (!compiled || code.cutOff()) {
    return;
  }
  Code program = compiled->code;
  fuzz::Random random(seed);
  damage(program, random);
  ImplSystem system(code.kernel, program, machine, code.bindings, {maxInFlight, 10000, nullptr});
  AllInterleavings all(system, &code.definitions, nullptr, 20000);
  if (!all.complete) {
    return;
  }
  RaceResult result = checkRaces(code.kernel, program, machine, code.bindings, manySchedules());
  Pairs found = pairsOf(result, ReportKind::Unordered);
  std::string context = fmt::format("seed {} {}\n{}", seed, toString(strategy), dump(code.kernel));
  expectReplays(code.kernel, program, machine, code.bindings, result, context);
  if (result.oneDecides) {
    ++tally.compared;
    EXPECT_EQ(text(found), text(all.unordered)) << context;
    EXPECT_EQ(has(result, ReportKind::Deadlock) || result.stuckTogether, all.deadlock) << context;
  } else {
    ++tally.open;
    for (const auto &pair : found) {
      EXPECT_TRUE(all.unordered.contains(pair)) << pair.first << " " << pair.second << context;
    }
    EXPECT_TRUE(all.deadlock || !has(result, ReportKind::Deadlock)) << context;
  }
  // The explorer knows by itself when the dependences are stuck.
  ExploreOptions safe;
  safe.mayOverwait.assign(code.kernel.instrs.size(), true);
  ExploreResult explored = explore(code.kernel, program, machine, code.bindings, safe);
  if (explored.verdict == Verdict::Yes && result.oneDecides) {
    EXPECT_EQ(result.stuckTogether, explored.stuckTogether) << context;
    EXPECT_FALSE(has(result, ReportKind::Deadlock)) << context;
    tally.stuck += result.stuckTogether;
  }
  tally.faulty += !all.unordered.empty();
  tally.deadlocked += all.deadlock;
}

Tally compareAll(Strategy strategy, uint32_t count, bool overlap = true) {
  Tally tally;
  for (uint64_t seed = 0; seed < count; ++seed) {
    compareOne(seed, strategy, overlap, tally);
    if (testing::Test::HasFailure()) {
      break;
    }
  }
  fmt::print("{} compared, {} open, {} faulty, {} deadlocked, {} stuck\n", tally.compared,
             tally.open, tally.faulty, tally.deadlocked, tally.stuck);
  return tally;
}

} // namespace

/// A few instructions around one ring of two slots, and some of the dependences that this needs.
/// Each has one or two accesses, so that some change a slot in place.
Kernel randomAccesses(fuzz::Random &random) {
  KernelBuilder b("accesses");
  std::vector<QueueId> queues;
  for (uint32_t e = 0; e < 2 + random.below(2); ++e) {
    EngineId engine = b.engine(fmt::format("e{}", e));
    queues.push_back(b.queueOf(engine));
    if (random.below(4) == 0) {
      queues.push_back(b.queue(fmt::format("q{}", e), 2));
    }
  }
  uint64_t shape[] = {2};
  BufferId x = b.buffer("X", shape);
  LoopId a = b.beginLoop("A", b.value("n"));
  static constexpr const char *tiles[] = {"X", "X[0]", "X[A mod 2]", "X[(A + 1) mod 2]"};
  std::vector<InstrId> instrs;
  for (uint32_t i = 0; i < 2 + random.below(2); ++i) {
    instrs.push_back(b.instr(fmt::format("i{}", i), queues[random.below(queues.size())]));
    static constexpr AccessKind kinds[] = {AccessKind::Read, AccessKind::Write,
                                           AccessKind::Accumulate};
    for (uint64_t accesses = 1 + random.below(2); accesses > 0; --accesses) {
      b.access(kinds[random.below(std::size(kinds))], x, tiles[random.below(std::size(tiles))]);
    }
  }
  b.endLoop();
  for (uint32_t i = 0; i < 2 + random.below(5); ++i) {
    size_t producer = random.below(instrs.size()), consumer = random.below(instrs.size());
    int64_t least = producer < consumer ? 0 : 1;
    b.dep(instrs[producer], instrs[consumer], {{a, least + int64_t(random.below(2))}});
  }
  return b.finish();
}

struct AccessTally {
  int compared = 0, racing = 0, clean = 0, open = 0;
};

AccessTally compareAccesses(uint32_t count, bool overlap, bool split) {
  AccessTally tally;
  for (uint64_t seed = 0; seed < count && !testing::Test::HasFailure(); ++seed) {
    fuzz::Random random(seed);
    Kernel kernel = randomAccesses(random);
    Machine machine = genericMachine();
    machine.queueOverlap = overlap;
    Bindings bindings(kernel);
    bindings.set(LoopId(1), {1 + random.below(3)});
    Diagnostics diagnostics;
    std::optional<Compiled> compiled =
        compile(kernel, {.strategy = Strategy::PerInstruction, .overflow = Overflow::Assume},
                machine, diagnostics);
    if (!compiled) {
      continue; // a cycle of distance 0
    }
    for (Queue &queue : kernel.queues) {
      queue.completion = split ? Completion::Split : Completion::Whole;
    }
    Datapath datapath(kernel, bindings);
    ImplSystem system(kernel, compiled->code, machine, bindings, {maxInFlight, 10000, nullptr});
    AllInterleavings all(system, nullptr, &datapath, 20000);
    RaceResult result = checkRaces(kernel, compiled->code, machine, bindings, manySchedules());
    if (!all.complete) {
      continue;
    }
    std::string context = fmt::format("seed {}\n{}{}", seed, dump(kernel), render(result, {}));
    Pairs found = pairsOf(result, ReportKind::Race);
    expectReplays(kernel, compiled->code, machine, bindings, result, context);
    for (const auto &[first, second] : found) {
      EXPECT_TRUE(all.racing.contains({first, second})) << first << " " << second << context;
    }
    if (result.oneDecides) {
      EXPECT_EQ(found.empty(), all.racing.empty()) << context;
      for (const RaceReport &report : result.reports) {
        EXPECT_TRUE(report.kind != ReportKind::Race || endsInFlight(system, report)) << context;
      }
    }
    ++tally.compared;
    tally.open += !result.oneDecides;
    ++(all.racing.empty() ? tally.clean : tally.racing);
  }
  fmt::print("{} compared, {} racing, {} clean, {} open\n", tally.compared, tally.racing,
             tally.clean, tally.open);
  return tally;
}

TEST(RaceOracleTest, perLoop) {
  Tally tally = compareAll(Strategy::PerLoop, 600);
  EXPECT_GT(tally.compared, 400);
  EXPECT_GT(tally.faulty, 20);
  EXPECT_GT(tally.deadlocked, 20);
  EXPECT_GT(tally.stuck, 0);
}

TEST(RaceOracleTest, perInstruction) {
  EXPECT_GT(compareAll(Strategy::PerInstruction, 300).compared, 200);
}

TEST(RaceOracleTest, perEngine) {
  EXPECT_GT(compareAll(Strategy::PerEngine, 300).compared, 200);
}

/// A dependence is about the issue, also within a queue whose instructions start one by one.
TEST(RaceOracleTest, withoutOverlap) {
  Tally tally = compareAll(Strategy::PerInstruction, 600, /*overlap=*/false);
  EXPECT_GT(tally.compared, 400);
  EXPECT_GT(tally.faulty, 20);
}

/// Barriers reset: here the settled case is the one with resets and several raisers.
TEST(RaceOracleTest, barrier) {
  Tally tally = compareAll(Strategy::Barrier, 800);
  EXPECT_GT(tally.compared, 200);
  EXPECT_GT(tally.open, 20);
  EXPECT_GT(tally.faulty, 10);
  EXPECT_GT(tally.deadlocked, 20);
}

TEST(RaceOracleTest, accesses) {
  AccessTally tally = compareAccesses(300, true, false);
  EXPECT_GT(tally.racing, 60);
  EXPECT_GT(tally.clean, 40);
}

TEST(RaceOracleTest, accessesWithoutOverlap) {
  AccessTally tally = compareAccesses(300, false, false);
  EXPECT_GT(tally.racing, 60);
  EXPECT_GT(tally.clean, 40);
}

TEST(RaceOracleTest, accessesOfSplitQueues) {
  AccessTally tally = compareAccesses(300, true, true);
  EXPECT_GT(tally.racing, 60);
  EXPECT_EQ(tally.open, 0) << "rings that are held back tell what each part needs";
}
