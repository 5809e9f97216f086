//===- ExploreTest.cpp - All interleavings, specification against code ----===//
//
// The explorer is tested in three ways. It is compared with itself without reduction, on small
// random kernels whose code is right or has one mistake. It looks at what all strategies make of
// larger random kernels, and at code written here, where it is known what is wrong and how little
// it takes to show it.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "Mutate.h"
#include "oracle/Campaign.h"

#include "tally/Check/Explore.h"
#include "tally/Compile/Compile.h"
#include "tally/Written/Text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace tally;
using namespace tally::oracle;
using tally::fuzz::findMutations;
using tally::fuzz::mutate;
using tally::fuzz::Mutation;

namespace {

const uint32_t numReduced = test::numKernels(100, 400);
const uint32_t numScrambled = test::numKernels(400, 1'500);
const uint32_t numExplored = test::numKernels(1'500, 4'000);
constexpr std::array strategies{Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                                Strategy::Barrier, Strategy::Unrolled};

std::optional<Compiled> compiled(const Kernel &kernel, Strategy strategy,
                                 const Machine &machine = genericMachine()) {
  Request options;
  options.strategy = strategy;
  options.overflow = Overflow::Assume;
  Diagnostics diagnostics;
  return compile(kernel, options, machine, diagnostics);
}

/// Kernels small enough to look at every state; every third of constant trips, so that they can be
/// unrolled.
fuzz::RandomKernelOptions smallKernels(uint64_t seed) {
  fuzz::RandomKernelOptions options = optionsForSeed(seed);
  options.engines = {1, 3};
  options.maxDepth = 2;
  options.statements = {1, 2};
  options.blockSize = {1, 2};
  options.instructions = {2, 4};
  options.dependences = {1, 3};
  options.trips = {0, 2};
  options.offset = {1, 2};
  if (seed % 3 == 1) {
    options.constantPercent = 100;
    options.ifPercent = 0;
  }
  return options;
}

/// Everything that two walks must agree on.
std::string answer(const ExploreResult &result) {
  std::string text =
      fmt::format("{}; stuck together: {};", toString(result.verdict), result.stuckTogether);
  for (const Mismatch &m : result.mismatches) {
    text += fmt::format(" {} {} {}.{};", toString(m.kind), m.engine.value, m.instance.instr.value,
                        m.instance.run);
  }
  for (const Instance &instance : result.overwaits) {
    text += fmt::format(" over {}.{};", instance.instr.value, instance.run);
  }
  return text;
}

std::string text(const Kernel &kernel, const std::vector<Step> &schedule) {
  std::string all;
  for (const Step &step : schedule) {
    all += describe(kernel, step) + "\n";
  }
  return all;
}

/// Whether the schedule can be performed and shows the mismatch at its end: of an early
/// instruction, its last step issues it.
bool isWitness(const Lockstep &lockstep, const Mismatch &mismatch, std::vector<Step> schedule) {
  if (mismatch.kind == MismatchKind::Early) {
    if (schedule.empty() || schedule.back().kind != StepKind::Issue ||
        schedule.back().engine != mismatch.engine) {
      return false;
    }
    Step issue = schedule.back();
    schedule.pop_back();
    LockstepState before = replay(lockstep, schedule).last;
    if (!lockstep.implOf().isEnabled(before.impl, issue)) {
      return false;
    }
  }
  ReplayResult result = replay(lockstep, schedule);
  std::vector<Mismatch> atEnd = lockstep.mismatches(result.last);
  return result.performed == schedule.size() &&
         std::find(atEnd.begin(), atEnd.end(), mismatch) != atEnd.end();
}

/// The witness shows what it says; without any one of its steps it does not.
void expectShortest(const Kernel &kernel, const Code &program, const Machine &machine,
                    const Bindings &bindings, const ExploreOptions &options,
                    const ExploreResult &result) {
  ASSERT_TRUE(result.witness);
  Lockstep lockstep(kernel, program, machine, bindings, options);
  EXPECT_TRUE(isWitness(lockstep, *result.witness, result.schedule))
      << result.text << "\n"
      << text(kernel, result.schedule);
  for (size_t left = 0; left < result.schedule.size(); ++left) {
    std::vector<Step> shorter = result.schedule;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(left));
    EXPECT_FALSE(isWitness(lockstep, *result.witness, shorter))
        << result.text << "\nwithout step " << left << "\n"
        << text(kernel, result.schedule);
  }
}

struct Tally {
  uint64_t compared = 0, yes = 0, no = 0, states = 0, statesOfAll = 0, localStates = 0;
  std::set<MismatchKind> kinds;
};

/// One program by all three walks.
void compareWalks(const RandomCodeCase &code, const Code &program, const Machine &machine,
                  ExploreOptions options, const std::string &what, Tally &tally) {
  options.findAll = true;
  options.reduction = Reduction::None;
  options.maxStates = 4000;
  ExploreResult all = explore(code.kernel, program, machine, code.bindings, options);
  if (!all.complete) {
    return;
  }
  options.reduction = Reduction::Local;
  ExploreResult local = explore(code.kernel, program, machine, code.bindings, options);
  options.reduction = Reduction::Full;
  ExploreResult few = explore(code.kernel, program, machine, code.bindings, options);
  EXPECT_EQ(answer(few), answer(all)) << what << dump(code.kernel);
  EXPECT_EQ(answer(local), answer(all)) << what << dump(code.kernel);
  ++tally.compared;
  ++(few.verdict == Verdict::Yes ? tally.yes : tally.no);
  tally.states += few.states;
  tally.localStates += local.states;
  tally.statesOfAll += all.states;
  for (const Mismatch &mismatch : few.mismatches) {
    tally.kinds.insert(mismatch.kind);
  }
  if (few.verdict == Verdict::No) {
    expectShortest(code.kernel, program, machine, code.bindings, options, few);
  }
}

const Kernel &loadStore() {
  static const Kernel kernel = [] {
    KernelBuilder b("k");
    EngineId e0 = b.engine("e0");
    EngineId e1 = b.engine("e1");
    LoopId a = b.beginLoop("A", b.value("n", 0, 1000));
    InstrId p = b.instr("P", b.queueOf(e0));
    InstrId c = b.instr("C", b.queueOf(e1));
    b.endLoop();
    b.dep(p, c);
    b.dep(c, p, {{a, 2}});
    return b.finish();
  }();
  return kernel;
}

} // namespace

//===----------------------------------------------------------------------===//
// Against itself without reduction
//===----------------------------------------------------------------------===//

TEST(ExploreTest, reductionsAgree) {
  Tally tally;
  fuzz::Range seeds = seedsOf(numReduced);
  for (uint64_t seed = seeds.min; seed <= seeds.max; ++seed) {
    RandomCodeCase code(seed, smallKernels(seed), {0, 2});
    Machine machine = genericMachine();
    machine.queueOverlap = seed % 2 == 0;
    Strategy strategy = strategies[seed / 3 % strategies.size()];
    std::optional<Compiled> right = compiled(code.kernel, strategy, machine);
    if (!right) {
      continue;
    }
    ExploreOptions options;
    options.inFlight = 1 + seed % 3;
    options.mayOverwait = overwaitAllowed(code.kernel, right->plan);
    std::string what = fmt::format("seed {} {}\n", seed, toString(strategy));
    compareWalks(code, right->code, machine, options, what, tally);
    std::vector<Mutation> mutations = findMutations(right->code);
    fuzz::Random random(seed);
    for (int i = 0; i < 6 && !mutations.empty(); ++i) {
      const Mutation &mutation = mutations[random.below(mutations.size())];
      Code wrong = mutate(right->code, mutation);
      compareWalks(code, wrong, machine, options,
                   what + describe(code.kernel, right->code, mutation) + "\n", tally);
    }
  }
  if (seedsAreChosen()) {
    return;
  }
  EXPECT_GT(tally.yes * 2, numReduced);
  EXPECT_GT(tally.no * 4, numReduced);
  EXPECT_EQ(tally.kinds.size(), 3u) << "early, late, deadlock";
  EXPECT_GT(tally.localStates, 3 * tally.states);
  EXPECT_GT(tally.statesOfAll, 30 * tally.states);
}

namespace {

/// Some operation on semaphores that no compiler would put there.
Op strayOperation(fuzz::Random &random, uint32_t numSemaphores) {
  SemaId semaphore(random.below(numSemaphores));
  switch (random.below(8)) {
  case 0:
  case 1:
    return Op::reset(semaphore, 1);
  case 2:
    return Op::drain();
  case 3:
  case 4:
    return Op::makeWait(semaphore, Operand::number(random.below(3)));
  default:
    return Op::makeSignal(semaphore, 1 + random.below(2));
  }
}

/// The same loops and instructions, but semaphores raised and awaited at random.
Code scrambled(Code program, fuzz::Random &random, bool resets) {
  uint32_t numSemaphores = 1 + random.below(3);
  program.reasons.clear();
  program.semaphores = {};
  for (uint32_t i = 0; i < numSemaphores; ++i) {
    program.semaphores.push({fmt::format("s{}", i)});
  }
  for (EngineProgram &engine : program.engines) {
    std::vector<Op> ops;
    for (Op op : engine.ops) {
      if (op.kind == OpKind::Wait) {
        continue;
      }
      if (random.percent(12)) {
        Op stray = strayOperation(random, numSemaphores);
        if (stray.kind != OpKind::Reset || resets) {
          ops.push_back(stray);
        }
      }
      if (op.kind == OpKind::Issue) {
        op = Op::issue(op.instr());
        if (random.percent(80)) {
          op.signal = SemaId(random.below(numSemaphores));
          op.amount = 1 + random.below(3);
        }
        if (random.percent(50)) {
          op.wait = SemaId(random.below(numSemaphores));
          op.a = Operand::number(random.below(4));
        }
      }
      ops.push_back(op);
    }
    engine.ops = std::move(ops);
  }
  return program;
}

} // namespace

/// Code that nobody would write: semaphores raised by several engines and queues, by rings with
/// unequal shares, reset, wrapping at 4. What the argument for the reduction leans on is all
/// missing somewhere.
TEST(ExploreTest, reductionsAgreeOnAnyCode) {
  Tally tally;
  fuzz::Range seeds = seedsOf(numScrambled);
  for (uint64_t seed = seeds.min; seed <= seeds.max; ++seed) {
    RandomCodeCase code(seed, smallKernels(seed), {0, 2});
    Machine machine = genericMachine();
    std::optional<Compiled> right = compiled(code.kernel, Strategy::PerInstruction, machine);
    if (!right) {
      continue;
    }
    if (seed % 4 == 0) {
      for (Queue &queue : code.kernel.queues) {
        queue.weight = 2;
        queue.completion = Completion::Split;
      }
    }
    machine.counterBits = seed % 3 == 0 ? 2 : 8;
    ExploreOptions options;
    options.inFlight = 1 + seed % 2;
    fuzz::Random random(seed);
    Code program = scrambled(right->code, random, seed % 2 == 0);
    compareWalks(code, program, machine, options, fmt::format("seed {}\n", seed), tally);
  }
  EXPECT_TRUE(seedsAreChosen() || tally.compared * 3 > numScrambled);
}

namespace {

/// P, P2 on e0, C on e1 waiting for a number, all on one semaphore; P -> C.
struct OneSemaphore {
  OneSemaphore(uint32_t weight, uint32_t amount, uint32_t threshold) {
    KernelBuilder b("k");
    EngineId e0 = b.engine("e0");
    EngineId e1 = b.engine("e1");
    b.setQueue(b.queueOf(e0), weight, weight > 1 ? Completion::Split : Completion::Whole);
    InstrId p = b.instr("P", b.queueOf(e0));
    InstrId p2 = b.instr("P2", b.queueOf(e0));
    InstrId c = b.instr("C", b.queueOf(e1));
    b.dep(p, c);
    kernel = b.finish();
    program.semaphores.push({"s"});
    for (EngineId e : {e0, e1}) {
      program.engines.push({e, {}, {}});
    }
    for (InstrId i : {p, p2}) {
      Op op = Op::issue(i);
      op.signal = SemaId(0);
      op.amount = amount;
      program.engines[e0].ops.push_back(op);
    }
    Op op = Op::issue(c);
    op.wait = SemaId(0);
    op.a = Operand::number(threshold);
    program.engines[e1].ops.push_back(op);
  }

  /// All walks agree; what they say.
  std::string answers(const Machine &machine = genericMachine()) const {
    ExploreOptions options;
    options.findAll = true;
    std::vector<std::string> all;
    for (Reduction reduction : {Reduction::None, Reduction::Local, Reduction::Full}) {
      options.reduction = reduction;
      all.push_back(answer(explore(kernel, program, machine, Bindings(kernel), options)));
    }
    EXPECT_EQ(all[0], all[1]);
    EXPECT_EQ(all[0], all[2]);
    return all[2];
  }

  Kernel kernel;
  Code program;
};

} // namespace

/// A queue that delivers by rings: three shares may come from two runs, so a wait for one whole run
/// passes early. All walks see it, and the rings being interchangeable hides nothing.
TEST(ExploreTest, splitCompletionIsSeenThrough) {
  OneSemaphore test(3, 3, 3);
  EXPECT_EQ(test.answers(), "no; stuck together: false; early 1 2.0;");
  Bindings bindings(test.kernel);
  ExploreOptions options;
  for (Reduction reduction : {Reduction::None, Reduction::Local, Reduction::Full}) {
    options.reduction = reduction;
    ExploreResult result = explore(test.kernel, test.program, genericMachine(), bindings, options);
    expectShortest(test.kernel, test.program, genericMachine(), bindings, options, result);
  }
  // With P's own semaphore, its three shares say that it is complete.
  test.program.engines[EngineId(0)].ops[1].signal = SemaId();
  EXPECT_EQ(explore(test.kernel, test.program, genericMachine(), bindings).verdict, Verdict::Yes);
}

/// The engine of C raises the semaphore as well, so P2's retirement lets C pass, and after P's
/// alone C is late.
TEST(ExploreTest, engineRaisesTheSameSemaphore) {
  OneSemaphore test(1, 1, 3);
  std::vector<Op> &ops = test.program.engines[EngineId(1)].ops;
  ops.insert(ops.begin(), Op::makeSignal(SemaId(0)));
  EXPECT_EQ(test.answers(), "no; stuck together: false; late 1 2.0;");
}

/// Two rings deliver 2 and 1 to a counter of one bit: only the second one's share alone lets C
/// pass, so the two may not stand for each other.
TEST(ExploreTest, ringsWithUnequalShares) {
  Machine machine = genericMachine();
  machine.counterBits = 1;
  OneSemaphore test(2, 3, 1);
  test.program.engines[EngineId(0)].ops.pop_back(); // P2 is forgotten
  EXPECT_EQ(test.answers(machine).substr(0, 45), "no; stuck together: false; early 1 2.0; late ");
}

//===----------------------------------------------------------------------===//
// All strategies
//===----------------------------------------------------------------------===//

TEST(ExploreTest, everyStrategyIsRight) {
  std::map<Strategy, uint32_t> explored;
  fuzz::Range seeds = seedsOf(numExplored);
  for (uint64_t seed = seeds.min; seed <= seeds.max; ++seed) {
    fuzz::RandomKernelOptions kernelOptions = optionsForSeed(seed);
    kernelOptions.trips = {0, 3};
    if (seed % 3 == 1) {
      kernelOptions.constantPercent = 100;
      kernelOptions.ifPercent = 0;
    }
    RandomCodeCase code(seed, kernelOptions, {0, 3});
    for (Strategy strategy : strategies) {
      std::optional<Compiled> program = compiled(code.kernel, strategy);
      if (!program || code.cutOff()) {
        continue;
      }
      ExploreOptions options;
      options.inFlight = 2;
      options.maxStates = 2000;
      options.mayOverwait = overwaitAllowed(code.kernel, program->plan);
      // Where engines disagree, more than is asked may never come; a barrier waits for the runs
      // that there are, not for those that the consumer counts.
      const std::vector<bool> &inexact = options.mayOverwait.raw();
      if (!code.agreeing() && std::find(inexact.begin(), inexact.end(), true) != inexact.end()) {
        continue;
      }
      ExploreResult result =
          explore(code.kernel, program->code, genericMachine(), code.bindings, options);
      EXPECT_NE(result.verdict, Verdict::No)
          << "seed " << seed << " " << toString(strategy) << ": " << result.text << "\n"
          << dump(code.kernel) << text(code.kernel, result.schedule);
      explored[strategy] += result.verdict == Verdict::Yes;
    }
  }
  for (Strategy strategy : strategies) {
    EXPECT_GT(explored[strategy] + seedsAreChosen() * 1000,
              strategy == Strategy::Unrolled ? 20u : 100u)
        << toString(strategy);
  }
}

/// Two nested loops of 0 to 3 trips, the inner ones anew for each outer iteration: 85 instances; 3,
/// 3 and 2 instructions on three engines, 4 in flight, 5 dependences. The reduced walk needs a few
/// thousand states; the one with local reduction a few hundred thousand.
TEST(ExploreTest, nestedLoopsOnThreeEngines) {
  KernelBuilder b("k");
  std::vector<EngineId> engines{b.engine("e0"), b.engine("e1"), b.engine("e2")};
  LoopId outer = b.beginLoop("A", b.value("n", 0, 3));
  LoopId inner = b.beginLoop("B", b.value("m", 0, 3));
  std::vector<InstrId> i;
  for (uint32_t engine : {0, 0, 0, 1, 1, 1, 2, 2}) {
    i.push_back(b.instr(fmt::format("i{}", i.size()), b.queueOf(engines[engine])));
  }
  b.endLoop();
  b.endLoop();
  b.dep(i[0], i[3]);
  b.dep(i[4], i[6]);
  b.dep(i[3], i[0], {{inner, 2}});
  b.dep(i[2], i[7]);
  b.depFlat(i[7], i[1], 3);
  (void)outer;
  Kernel kernel = b.finish();
  for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine}) {
    std::optional<Compiled> program = compiled(kernel, strategy);
    ASSERT_TRUE(program);
    ExploreAllResult result = exploreAll(kernel, program->code, genericMachine(), {});
    EXPECT_EQ(result.total.verdict, Verdict::Yes) << result.total.text;
    EXPECT_TRUE(result.total.complete);
    EXPECT_EQ(result.instances, 85u);
    EXPECT_EQ(result.numOverwaits, 0u) << "all exact";
    EXPECT_GT(result.total.states, 1000u);
    EXPECT_LT(result.total.states, 100000u);
  }
  ExploreOptions options;
  options.reduction = Reduction::Local;
  std::optional<Compiled> program = compiled(kernel, Strategy::PerLoop);
  ExploreAllResult local = exploreAll(kernel, program->code, genericMachine(), {}, options);
  EXPECT_EQ(local.total.verdict, Verdict::Yes);
  EXPECT_GT(local.total.states, 100000u);
  EXPECT_LT(local.total.bytes, uint64_t(64) << 20);
}

//===----------------------------------------------------------------------===//
// What is found, and how it is shown
//===----------------------------------------------------------------------===//

/// The wait of C is one too low: C goes although P has not retired. All that it takes are C's own
/// operations.
TEST(ExploreTest, earlyIsShownByTheIssue) {
  std::optional<Compiled> program = compiled(loadStore(), Strategy::PerInstruction);
  for (Op &op : program->code.engines[EngineId(1)].ops) {
    op.wait = SemaId();
  }
  Bindings bindings(loadStore());
  bindings.set(LoopId(1), {2});
  ExploreResult result = explore(loadStore(), program->code, genericMachine(), bindings);
  ASSERT_EQ(result.verdict, Verdict::No);
  EXPECT_EQ(result.text, "'C' at A = 0 may be issued before 'P' has retired 1 time");
  EXPECT_EQ(result.schedule.back(), Step::issue(EngineId(1), QueueId(1)));
  EXPECT_EQ(result.schedule.size(),
            1 + static_cast<size_t>(std::count(result.schedule.begin(), result.schedule.end(),
                                               Step::control(EngineId(1)))));
  EXPECT_EQ(result.mismatches.size(), 1u);
  ExploreOptions options;
  options.findAll = true;
  EXPECT_EQ(
      explore(loadStore(), program->code, genericMachine(), bindings, options).mismatches.size(),
      2u)
      << "C in each iteration";
}

/// P raises nothing: C waits for ever, and then so does P. Late first, and a deadlock that only the
/// code has.
TEST(ExploreTest, lateAndDeadlock) {
  std::optional<Compiled> program = compiled(loadStore(), Strategy::PerInstruction);
  for (Op &op : program->code.engines[EngineId(0)].ops) {
    op.signal = SemaId();
  }
  Bindings bindings(loadStore());
  bindings.set(LoopId(1), {1});
  ExploreOptions options;
  options.findAll = true;
  ExploreResult result = explore(loadStore(), program->code, genericMachine(), bindings, options);
  ASSERT_EQ(result.mismatches.size(), 2u);
  EXPECT_EQ(result.mismatches[0].kind, MismatchKind::Late);
  EXPECT_EQ(result.mismatches[1].kind, MismatchKind::Deadlock);
  EXPECT_EQ(result.text,
            "'C' at A = 0 is held back although all its dependences are satisfied: the "
            "code waits for 'P' >= 1, which is 0");
  // Waiting too long is forgiven where exactness is not promised; never getting on is not.
  options.mayOverwait.assign(loadStore().instrs.size(), true);
  ExploreResult lenient = explore(loadStore(), program->code, genericMachine(), bindings, options);
  ASSERT_EQ(lenient.verdict, Verdict::No);
  EXPECT_EQ(lenient.witness->kind, MismatchKind::Deadlock);
  EXPECT_EQ(lenient.overwaits, (std::vector<Instance>{{InstrId(1), 0}}));
}

/// Everything runs as the kernel says, and then an engine waits for what never comes: no kernel
/// after this one ever begins.
TEST(ExploreTest, neverAtTheEnd) {
  std::optional<Compiled> program = compiled(loadStore(), Strategy::PerInstruction);
  std::vector<Op> &ops = program->code.engines[EngineId(1)].ops;
  ops.push_back(Op::makeWait(SemaId(0), Operand::number(7)));
  Bindings bindings(loadStore());
  for (uint64_t trips : {0, 1, 2}) {
    bindings.set(LoopId(1), {trips});
    for (Reduction reduction : {Reduction::None, Reduction::Local, Reduction::Full}) {
      ExploreOptions options;
      options.reduction = reduction;
      options.mayOverwait.assign(loadStore().instrs.size(), true);
      ExploreResult result =
          explore(loadStore(), program->code, genericMachine(), bindings, options);
      ASSERT_EQ(result.verdict, Verdict::No) << trips;
      EXPECT_EQ(result.witness->kind, MismatchKind::Deadlock);
      EXPECT_EQ(result.text, fmt::format("deadlock: everything has run, but engine 'e1' never "
                                         "reaches its end: the code waits for 'P' >= 7, which is "
                                         "{}",
                                         trips));
    }
  }
  ops.back().a = Operand::number(2);
  EXPECT_EQ(explore(loadStore(), program->code, genericMachine(), bindings).verdict, Verdict::Yes);
}

/// Two instructions of one engine in the wrong order.
TEST(ExploreTest, otherOrder) {
  KernelBuilder b("k");
  EngineId e = b.engine("e");
  b.instr("P", b.queueOf(e));
  b.instr("Q", b.queueOf(e));
  Kernel kernel = b.finish();
  Code program;
  program.engines.push({e, {Op::issue(InstrId(1)), Op::issue(InstrId(0))}, {}});
  for (Reduction reduction : {Reduction::None, Reduction::Full}) {
    ExploreOptions options;
    options.reduction = reduction;
    ExploreResult result = explore(kernel, program, genericMachine(), Bindings(kernel), options);
    ASSERT_EQ(result.verdict, Verdict::No);
    EXPECT_EQ(result.text, "engine 'e' issues run 0 of 'Q', but next in the kernel is 'P'");
    EXPECT_TRUE(result.schedule.empty());
  }
  // An instruction that the code forgot is held back for ever.
  program.engines[e].ops = {Op::issue(InstrId(0))};
  ExploreResult result = explore(kernel, program, genericMachine(), Bindings(kernel));
  ASSERT_EQ(result.verdict, Verdict::No);
  EXPECT_EQ(result.text, "'Q' is held back although all its dependences are satisfied");
}

/// 8-bit counters reach 256 and are 0 again, so C at A=256 does not wait.
TEST(ExploreTest, countersThatWrap) {
  Machine machine = genericMachine();
  machine.counterBits = 8;
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0");
  EngineId e1 = b.engine("e1");
  b.beginLoop("A", b.value("n", 0, 1000));
  InstrId p = b.instr("P", b.queueOf(e0));
  InstrId c = b.instr("C", b.queueOf(e1));
  b.endLoop();
  b.dep(p, c);
  Kernel kernel = b.finish();
  std::optional<Compiled> program = compiled(kernel, Strategy::PerInstruction, machine);
  ASSERT_TRUE(program);
  ExploreOptions options;
  Bindings bindings(kernel);
  bindings.set(LoopId(1), {255});
  EXPECT_EQ(explore(kernel, program->code, machine, bindings, options).verdict, Verdict::Yes);
  bindings.set(LoopId(1), {256});
  ExploreResult result = explore(kernel, program->code, machine, bindings, options);
  ASSERT_EQ(result.verdict, Verdict::No);
  EXPECT_EQ(result.witness->instance, (Instance{InstrId(1), 255})) << result.text;
}

/// A { B { P@e0 }; C@e1 }, B divergent: where e1 counts more runs of P than e0 makes, the
/// dependences themselves hang; the code is no worse.
TEST(ExploreTest, stuckTogether) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0");
  EngineId e1 = b.engine("e1");
  b.beginLoop("A", b.value("n"));
  LoopId inner = b.beginLoop("B", b.value("m"), false);
  InstrId p = b.instr("P", b.queueOf(e0));
  b.endLoop();
  InstrId c = b.instr("C", b.queueOf(e1));
  b.endLoop();
  b.allowDivergent(b.dep(p, c));
  Kernel kernel = b.finish();
  std::optional<Compiled> program = compiled(kernel, Strategy::PerLoop);
  ASSERT_TRUE(program);
  for (Reduction reduction : {Reduction::None, Reduction::Full}) {
    ExploreOptions options;
    options.reduction = reduction;
    Bindings bindings(kernel);
    bindings.set(LoopId(1), {1});
    bindings.set(inner, {1}, e0);
    bindings.set(inner, {2}, e1);
    ExploreResult more = explore(kernel, program->code, genericMachine(), bindings, options);
    EXPECT_EQ(more.verdict, Verdict::Yes) << more.text;
    EXPECT_TRUE(more.stuckTogether);
    bindings.set(inner, {2}, e0);
    EXPECT_FALSE(explore(kernel, program->code, genericMachine(), bindings, options).stuckTogether);
  }
}

TEST(ExploreTest, limitsDecideNothing) {
  std::optional<Compiled> program = compiled(loadStore(), Strategy::PerLoop);
  Bindings bindings(loadStore());
  bindings.set(LoopId(1), {4});
  for (Reduction reduction : {Reduction::None, Reduction::Local, Reduction::Full}) {
    ExploreOptions options;
    options.reduction = reduction;
    ExploreResult whole = explore(loadStore(), program->code, genericMachine(), bindings, options);
    EXPECT_EQ(whole.verdict, Verdict::Yes);
    EXPECT_TRUE(whole.complete);
    options.maxStates = whole.states - 1;
    ExploreResult few = explore(loadStore(), program->code, genericMachine(), bindings, options);
    EXPECT_EQ(few.verdict, Verdict::Undecided);
    EXPECT_FALSE(few.complete);
    EXPECT_FALSE(few.reason.empty());
    options.maxStates = whole.states;
    EXPECT_EQ(explore(loadStore(), program->code, genericMachine(), bindings, options).verdict,
              Verdict::Yes);
    options.maxBytes = 100;
    EXPECT_EQ(explore(loadStore(), program->code, genericMachine(), bindings, options).verdict,
              Verdict::Undecided);
    options.maxBytes = uint64_t(1) << 30;
    options.maxOperations = 10;
    EXPECT_EQ(explore(loadStore(), program->code, genericMachine(), bindings, options).verdict,
              Verdict::Undecided);
  }
}

/// Hashes alone find what is wrong, but never say yes.
TEST(ExploreTest, hashesNeverSayYes) {
  std::optional<Compiled> program = compiled(loadStore(), Strategy::PerLoop);
  Bindings bindings(loadStore());
  bindings.set(LoopId(1), {40});
  ExploreOptions options;
  ExploreResult whole = explore(loadStore(), program->code, genericMachine(), bindings, options);
  options.compact = true;
  ExploreResult hashed = explore(loadStore(), program->code, genericMachine(), bindings, options);
  EXPECT_EQ(whole.verdict, Verdict::Yes);
  EXPECT_EQ(hashed.verdict, Verdict::Undecided);
  EXPECT_FALSE(hashed.complete);
  EXPECT_EQ(hashed.states, whole.states) << "no two hashes are the same here";
  EXPECT_LE(hashed.bytes, whole.bytes);
  for (Op &op : program->code.engines[EngineId(1)].ops) {
    op.wait = SemaId();
  }
  hashed = explore(loadStore(), program->code, genericMachine(), bindings, options);
  EXPECT_EQ(hashed.verdict, Verdict::No);
}

/// A schedule that cannot be performed is performed as far as it goes.
TEST(ExploreTest, replayStopsWhereItMust) {
  std::optional<Compiled> program = compiled(loadStore(), Strategy::PerInstruction);
  Bindings bindings(loadStore());
  bindings.set(LoopId(1), {1});
  Machine machine = genericMachine();
  Lockstep lockstep(loadStore(), program->code, machine, bindings, {});
  std::vector<Step> schedule = lockstep.wayToIssue(lockstep.initial(), EngineId(0));
  ASSERT_FALSE(schedule.empty());
  EXPECT_TRUE(lockstep.wayToIssue(lockstep.initial(), EngineId(1)).empty()) << "C waits";
  size_t possible = schedule.size();
  schedule.push_back(Step::retire(EngineId(0), QueueId(0)));
  ReplayResult result = replay(lockstep, schedule);
  EXPECT_EQ(result.performed, possible);
  EXPECT_FALSE(result.finished);
  EXPECT_TRUE(result.mismatches.empty());
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

namespace {

std::vector<std::string> choices(const Kernel &kernel, const InstanceOptions &options) {
  std::vector<std::string> all;
  Instances instances(kernel, options, Bindings(kernel));
  while (std::optional<TripChoice> choice = instances.next()) {
    all.push_back(fmt::format("{}", fmt::join(tripsText(kernel, *choice), " ")));
    Diagnostics diagnostics;
    Bindings::parse(kernel, tripsText(kernel, *choice), 0, diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  }
  return all;
}

} // namespace

/// Inner trips are chosen anew for each outer iteration: 1 + 2 + 4 choices up to 2 trips of A and 1
/// of B.
TEST(InstancesTest, tripsAreChosenAtEachEntry) {
  KernelBuilder b("k");
  b.engine("e");
  b.beginLoop("A", b.value("n", 0, 2));
  b.beginLoop("B", b.value("m", 0, 1));
  b.endLoop();
  b.endLoop();
  Kernel kernel = b.finish();
  EXPECT_EQ(choices(kernel, {.maxTrips = 2}),
            (std::vector<std::string>{"A=0", "A=1 B=0", "A=1 B=1", "A=2 B=0,0", "A=2 B=0,1",
                                      "A=2 B=1,0", "A=2 B=1,1"}));
  EXPECT_EQ(choices(kernel, {.maxTrips = 1}).size(), 3u);
  Instances few(kernel, {.maxTrips = 2, .maxInstances = 3}, Bindings(kernel));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(few.next());
  }
  EXPECT_FALSE(few.next());
  EXPECT_TRUE(few.cutOff());
}

/// What is given is as it is, entry after entry, and no decision; the others are those that there
/// are with these loops.
TEST(InstancesTest, holdWhatIsGiven) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0");
  EngineId e1 = b.engine("e1");
  LoopId outer = b.beginLoop("A", b.value("n", 0, 9));
  LoopId inner = b.beginLoop("B", b.value("m", 0, 1));
  b.endLoop();
  b.endLoop();
  LoopId own = b.beginLoop("D", b.value("d", 0, 1), false);
  b.endLoop();
  Kernel kernel = b.finish();
  auto allWith = [&](const Bindings &given) {
    std::vector<std::string> all;
    Instances instances(kernel, {.maxTrips = 1}, given);
    while (std::optional<TripChoice> choice = instances.next()) {
      Bindings run = bindTrips(given, *choice);
      EXPECT_TRUE(run.isSet(outer));
      EXPECT_EQ(run.trips(e0, outer, 1), 2u);
      all.push_back(fmt::format("{}", fmt::join(tripsText(kernel, *choice), " ")));
    }
    return all;
  };
  Bindings given(kernel);
  given.set(outer, {2});
  given.set(own, {1}, e0);
  EXPECT_EQ(allWith(given), (std::vector<std::string>{
                                "B=0,0 D@e1=0", "B=0,0 D@e1=1", "B=0,1 D@e1=0", "B=0,1 D@e1=1",
                                "B=1,0 D@e1=0", "B=1,0 D@e1=1", "B=1,1 D@e1=0", "B=1,1 D@e1=1"}));
  given.set(inner, {0, 1});
  EXPECT_EQ(allWith(given), (std::vector<std::string>{"D@e1=0", "D@e1=1"}));
  given.set(own, {0}, e1);
  EXPECT_EQ(allWith(given), (std::vector<std::string>{""}));
}

/// Bounds hold, constants are constant, the else-branch runs when the then-branch does not, engines
/// choose for themselves where they may disagree.
TEST(InstancesTest, boundsBranchesAndDivergence) {
  KernelBuilder b("k");
  b.engine("e0");
  b.engine("e1");
  b.beginLoop("A", b.value("n", 2, 2));
  b.beginLoop("C", KernelBuilder::constant(5));
  b.endLoop();
  b.endLoop();
  b.beginIf("c");
  b.beginElse();
  b.endIf();
  b.beginLoop("D", b.guard("more"), false);
  b.endLoop();
  Kernel kernel = b.finish();
  std::vector<std::string> all = choices(kernel, {.maxTrips = 1});
  EXPECT_EQ(all.size(), 2u * 2 * 2);
  EXPECT_EQ(all[0], "A=2 c=0 D@e0=0 D@e1=0");
  EXPECT_EQ(all.back(), "A=2 c=1 D@e0=1 D@e1=1");
}

/// A distance of 7 brings 6, 7 and 8 trips into play.
TEST(InstancesTest, distances) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0");
  EngineId e1 = b.engine("e1");
  LoopId a = b.beginLoop("A", b.value("n"));
  InstrId p = b.instr("P", b.queueOf(e0));
  InstrId c = b.instr("C", b.queueOf(e1));
  b.endLoop();
  b.dep(p, c, {{a, 7}});
  Kernel kernel = b.finish();
  EXPECT_EQ(choices(kernel, {.maxTrips = 1, .distances = true}),
            (std::vector<std::string>{"A=0", "A=1", "A=6", "A=7", "A=8"}));
}

/// What a loop with a formula does is offered to the values in it, and to the loops around.
TEST(InstancesTest, distancesOfTiedLoops) {
  auto choicesOf = [](auto around, const std::string &formula, int64_t distance, bool isFlat) {
    KernelBuilder b("k");
    EngineId e0 = b.engine("e0");
    EngineId e1 = b.engine("e1");
    around(b);
    LoopId l = b.beginLoop("l", b.formula(formula));
    InstrId p = b.instr("P", b.queueOf(e0));
    InstrId c = b.instr("C", b.queueOf(e1));
    b.endLoop();
    while (b.depth() > 0) {
      b.endLoop();
    }
    if (isFlat) {
      b.depFlat(p, c, distance);
    } else {
      b.dep(p, c, {{l, distance}});
    }
    return choices(b.finish(), {.maxTrips = 1, .distances = true});
  };
  auto value = [](KernelBuilder &b) {
    b.beginLoop("i", b.formula("$n", 0, 40));
    b.endLoop();
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(choicesOf(value, "$n floordiv 2", 3, false),
            (Texts{"n=0", "n=1", "n=2", "n=4", "n=6", "n=8"}));
  EXPECT_EQ(choicesOf(value, "$n - 9", 2, false), (Texts{"n=0", "n=1", "n=10", "n=11", "n=12"}));
  EXPECT_EQ(choicesOf(value, "9 - $n", 2, false),
            (Texts{"n=0", "n=1", "n=6", "n=7", "n=8", "n=9"}));
  auto loop = [](KernelBuilder &b) { b.beginLoop("i", b.value("m", 0, 9)); };
  EXPECT_EQ(choicesOf(loop, "i * 2", 4, false), (Texts{"i=0", "i=1", "i=2", "i=3", "i=4"}));
  EXPECT_EQ(choicesOf(loop, "i + 1", 9, true), (Texts{"i=0", "i=1", "i=4"}))
      << "4 iterations have 10 entries";
}

/// Nobody waits for a loop of a billion trips to be walked.
TEST(InstancesTest, farTooManyIterations) {
  KernelBuilder b("k");
  b.engine("e");
  b.beginLoop("A", KernelBuilder::constant(1'000'000'000));
  b.endLoop();
  Kernel kernel = b.finish();
  Instances instances(kernel, {}, Bindings(kernel));
  EXPECT_FALSE(instances.next());
  EXPECT_TRUE(instances.cutOff());
}
