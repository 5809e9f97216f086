//===- ImplTest.cpp - What the engines may do next, as compiled -----------===//
//
// The trajectories are compared with EngineRun, which executes the same code another way; the
// steps with runs written down by hand.
//
//===----------------------------------------------------------------------===//

#include "oracle/Campaign.h"

#include "tally/Check/Impl.h"
#include "tally/Compile/Compile.h"
#include "tally/Run/Interpret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace tally;
using namespace tally::oracle;

namespace {

/// One engine with one queue, and a program that a test writes.
struct OneEngine {
  explicit OneEngine(uint32_t numInstrs = 2, uint32_t weight = 1,
                     Completion completion = Completion::Whole) {
    KernelBuilder builder("k");
    EngineId e = builder.engine("e");
    builder.setQueue(builder.queueOf(e), weight, completion);
    for (uint32_t i = 0; i < numInstrs; ++i) {
      builder.instr(fmt::format("i{}", i), builder.queueOf(e));
    }
    kernel = builder.finish();
    code.engines.push({EngineId(0), {}, {}});
    code.semaphores.push({"s"});
    code.semaphores.push({"t"});
  }

  std::vector<Op> &ops() { return code.engines[EngineId(0)].ops; }

  void issue(uint32_t instr, uint32_t amount = 0) {
    Op op = Op::issue(InstrId(instr));
    if (amount > 0) {
      op.signal = SemaId(0);
      op.amount = amount;
    }
    ops().push_back(op);
  }

  ImplSystem system(uint32_t inFlight = 4) const {
    ImplOptions options;
    options.inFlight = inFlight;
    return ImplSystem(kernel, code, machine, bindings, options);
  }

  Kernel kernel;
  Code code;
  Machine machine = genericMachine();
  Bindings bindings{kernel};
};

std::vector<std::string> enabled(const ImplSystem &system, const ImplState &state) {
  std::vector<Step> steps;
  system.enabled(state, steps);
  std::vector<std::string> texts;
  for (const Step &step : steps) {
    EXPECT_TRUE(system.isEnabled(state, step));
    texts.push_back(describe(system.kernelOf(), step));
  }
  return texts;
}

using Texts = std::vector<std::string>;

const EngineId engine(0);
const QueueId queue(0);

/// What is executed, with thresholds, by EngineRun: only what touches the outside.
Texts byInterpreter(const RandomCodeCase &code, const Code &program, const Machine &machine,
                    EngineId e) {
  Texts lines;
  EngineRun run(code.kernel, program, machine, code.bindings, e);
  while (const Op *op = run.next()) {
    lines.push_back(fmt::format("{} {} {}", op - program.engines[e].ops.data(), op->target,
                                op->wait.valid() ? run.value(op->a) : 0));
  }
  return lines;
}

Texts byTrajectory(const ImplSystem &system, const Code &program, EngineId e) {
  Texts lines;
  for (const ImplPoint &point : system.trajectory(e)) {
    const Op &op = program.engines[e].ops[point.op];
    bool outside = op.kind == OpKind::Issue || op.kind == OpKind::Wait ||
                   op.kind == OpKind::Signal || op.kind == OpKind::Reset ||
                   op.kind == OpKind::Drain;
    if (outside) {
      lines.push_back(fmt::format("{} {} {}", point.op, op.target, point.threshold));
    }
  }
  return lines;
}

} // namespace

/// Every strategy, with counters so narrow that they wrap.
TEST(ImplTest, trajectoriesAreThoseOfTheInterpreter) {
  Machine machine = genericMachine();
  machine.counterBits = 8;
  machine.subtraction = Subtraction::Wraps;
  uint32_t compared = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomCodeCase code(seed, optionsForSeed(seed));
    for (Strategy strategy : {Strategy::PerLoop, Strategy::PerEngine, Strategy::Barrier}) {
      Request options;
      options.strategy = strategy;
      Diagnostics diagnostics;
      std::optional<Compiled> compiled = compile(code.kernel, options, machine, diagnostics);
      if (!compiled || code.cutOff()) {
        continue;
      }
      ImplSystem system(code.kernel, compiled->code, machine, code.bindings);
      ASSERT_TRUE(system.complete());
      for (EngineId e : code.kernel.engines.ids()) {
        ++compared;
        ASSERT_EQ(byTrajectory(system, compiled->code, e),
                  byInterpreter(code, compiled->code, machine, e))
            << "seed " << seed;
      }
    }
  }
  EXPECT_GT(compared, 1000u);
}

TEST(ImplTest, operationsBeyondTheLimit) {
  OneEngine k;
  k.issue(0);
  k.issue(1);
  ImplOptions options;
  options.maxOperations = 2;
  EXPECT_TRUE(ImplSystem(k.kernel, k.code, k.machine, k.bindings, options).complete());
  options.maxOperations = 1;
  EXPECT_FALSE(ImplSystem(k.kernel, k.code, k.machine, k.bindings, options).complete());
}

/// Commits come in any order, retirements in the order of issue, and only then is the semaphore
/// raised.
TEST(ImplTest, commitsInAnyOrderRetirementsInOne) {
  OneEngine k;
  k.issue(0, 1);
  k.issue(1, 1);
  ImplSystem system = k.system();
  ImplState state = system.initial();
  EXPECT_EQ(enabled(system, state), Texts{"issue 'e'"});
  system.apply(state, Step::issue(engine, queue));
  system.apply(state, Step::issue(engine, queue));
  EXPECT_EQ(enabled(system, state), (Texts{"commit 'e' 0", "commit 'e' 1"}));
  system.apply(state, Step::commit(engine, queue, 1));
  EXPECT_EQ(enabled(system, state), Texts{"commit 'e' 0"});
  system.apply(state, Step::commit(engine, queue, 0));
  EXPECT_EQ(enabled(system, state), Texts{"retire 'e'"});
  EXPECT_EQ(state.semaphores[SemaId(0)], 0u);
  system.apply(state, Step::retire(engine, queue));
  EXPECT_EQ(state.semaphores[SemaId(0)], 1u);
  EXPECT_EQ(enabled(system, state), Texts{"retire 'e'"});
  EXPECT_FALSE(system.finished(state));
  system.apply(state, Step::retire(engine, queue));
  EXPECT_TRUE(system.finished(state));
  EXPECT_EQ(system.whyBlocked(state, engine).kind, Blocked::Kind::Finished);
}

/// On a machine whose instructions of one queue do not overlap, the second has its effect after the
/// first.
TEST(ImplTest, withoutOverlapCommitsAreInOrder) {
  OneEngine k;
  k.machine.queueOverlap = false;
  k.issue(0);
  k.issue(1);
  ImplSystem system = k.system();
  ImplState state = system.initial();
  system.apply(state, Step::issue(engine, queue));
  system.apply(state, Step::issue(engine, queue));
  EXPECT_EQ(enabled(system, state), Texts{"commit 'e' 0"});
  system.apply(state, Step::commit(engine, queue, 0));
  EXPECT_EQ(enabled(system, state), (Texts{"commit 'e' 1", "retire 'e'"}));
}

TEST(ImplTest, fullQueueBlocks) {
  OneEngine k;
  k.issue(0);
  k.issue(1);
  ImplSystem system = k.system(1);
  ImplState state = system.initial();
  system.apply(state, Step::issue(engine, queue));
  EXPECT_EQ(system.whyBlocked(state, engine).kind, Blocked::Kind::QueueFull);
  EXPECT_EQ(system.whyBlocked(state, engine).queue, queue);
  EXPECT_EQ(enabled(system, state), Texts{"commit 'e' 0"});
  system.apply(state, Step::commit(engine, queue, 0));
  system.apply(state, Step::retire(engine, queue));
  EXPECT_EQ(enabled(system, state), Texts{"issue 'e'"});
}

TEST(ImplTest, drainWaitsForRetirement) {
  OneEngine k;
  k.issue(0);
  k.ops().push_back(Op::drain());
  ImplSystem system = k.system();
  ImplState state = system.initial();
  EXPECT_EQ(system.whyBlocked(state, engine).kind, Blocked::Kind::No);
  system.apply(state, Step::issue(engine, queue));
  EXPECT_EQ(system.whyBlocked(state, engine).kind, Blocked::Kind::Drain);
  system.apply(state, Step::commit(engine, queue, 0));
  EXPECT_EQ(enabled(system, state), Texts{"retire 'e'"});
  system.apply(state, Step::retire(engine, queue));
  EXPECT_EQ(enabled(system, state), Texts{"control 'e'"});
}

/// A wait says what it lacks; signals and resets happen at once; counters wrap at their width.
TEST(ImplTest, semaphores) {
  OneEngine k;
  k.machine.counterBits = 8;
  k.ops() = {Op::makeSignal(SemaId(0), 200), Op::makeSignal(SemaId(0), 100),
             Op::makeSignal(SemaId(1), 7), Op::makeWait(SemaId(0), Operand::number(45))};
  ImplSystem system = k.system();
  ImplState state = system.initial();
  system.apply(state, Step::control(engine));
  system.apply(state, Step::control(engine));
  system.apply(state, Step::control(engine));
  EXPECT_EQ(state.semaphores[SemaId(0)], 44u);
  Blocked blocked = system.whyBlocked(state, engine);
  EXPECT_EQ(blocked.kind, Blocked::Kind::Wait);
  EXPECT_EQ(blocked.semaphore, SemaId(0));
  EXPECT_EQ(blocked.value, 44u);
  EXPECT_EQ(blocked.threshold, 45u);
  EXPECT_TRUE(enabled(system, state).empty());
  k.ops()[3] = Op::reset(SemaId(0), 2);
  ImplSystem resetting = k.system();
  resetting.apply(state, Step::control(engine));
  EXPECT_EQ(state.semaphores.raw(), (std::vector<uint32_t>{0, 0}));
}

/// 8 bits: 200 is -56 where waits compare signed.
TEST(ImplTest, signedComparison) {
  OneEngine k;
  k.machine.counterBits = 8;
  EXPECT_TRUE(k.system().passes(200, 100));
  EXPECT_FALSE(k.system().passes(100, 200));
  EXPECT_TRUE(k.system().passes(5, 5));
  k.machine.waitCompare = WaitCompare::Signed;
  EXPECT_FALSE(k.system().passes(200, 100));
  EXPECT_TRUE(k.system().passes(100, 200));
  EXPECT_TRUE(k.system().passes(0, 200));
  EXPECT_FALSE(k.system().passes(255, 0));
}

/// Weight 3 by three rings: each delivers for the first instruction before the second; the first
/// retires with its last share, while the second has some of its own already.
TEST(ImplTest, ringsOfASplitQueue) {
  OneEngine k(2, 3, Completion::Split);
  k.issue(0, 3);
  k.issue(1, 3);
  ImplSystem system = k.system();
  ASSERT_TRUE(system.isSplit(queue));
  ImplState state = system.initial();
  for (const Step &step :
       {Step::issue(engine, queue), Step::issue(engine, queue), Step::commit(engine, queue, 0)}) {
    system.apply(state, step);
  }
  EXPECT_EQ(enabled(system, state),
            (Texts{"commit 'e' 1", "deliver 'e' 0", "deliver 'e' 1", "deliver 'e' 2"}));
  system.apply(state, Step::deliver(engine, queue, 0));
  EXPECT_EQ(enabled(system, state), (Texts{"commit 'e' 1", "deliver 'e' 1", "deliver 'e' 2"}));
  system.apply(state, Step::commit(engine, queue, 1));
  system.apply(state, Step::deliver(engine, queue, 0));
  system.apply(state, Step::deliver(engine, queue, 2));
  EXPECT_EQ(state.semaphores[SemaId(0)], 3u) << "as much as one instruction, but none is complete";
  EXPECT_EQ(state.queues[queue].retired, 0u);
  system.apply(state, Step::deliver(engine, queue, 1));
  EXPECT_EQ(state.queues[queue].retired, 1u);
  EXPECT_EQ(enabled(system, state), (Texts{"deliver 'e' 1", "deliver 'e' 2"}));
  system.apply(state, Step::deliver(engine, queue, 2));
  system.apply(state, Step::deliver(engine, queue, 1));
  EXPECT_EQ(state.semaphores[SemaId(0)], 6u);
  EXPECT_TRUE(system.finished(state));
}

/// Observers hear of everything, in order.
TEST(ImplTest, observer) {
  struct Log : ImplObserver {
    Texts lines;

    void onIssue(EngineId, QueueId, Instance i) override {
      lines.push_back(fmt::format("issue {}.{}", i.instr.value, i.run));
    }

    void onCommit(QueueId, Instance i) override {
      lines.push_back(fmt::format("commit {}.{}", i.instr.value, i.run));
    }

    void onRetire(QueueId, Instance i, SemaId s, uint32_t amount) override {
      lines.push_back(fmt::format("retire {}.{} {} += {}", i.instr.value, i.run, s.value, amount));
    }

    void onWait(EngineId, SemaId s, uint32_t threshold) override {
      lines.push_back(fmt::format("wait {} >= {}", s.value, threshold));
    }

    void onDrain(EngineId) override { lines.push_back("drain"); }
  };

  OneEngine k;
  k.issue(1, 2);
  k.ops().push_back(Op::makeWait(SemaId(0), Operand::number(2)));
  k.ops().push_back(Op::drain());
  ImplSystem system = k.system();
  ImplState state = system.initial();
  Log log;
  for (const Step &step :
       {Step::issue(engine, queue), Step::commit(engine, queue, 0), Step::retire(engine, queue),
        Step::control(engine), Step::control(engine)}) {
    system.apply(state, step, &log);
  }
  EXPECT_EQ(log.lines,
            (Texts{"issue 1.0", "commit 1.0", "retire 1.0 0 += 2", "wait 0 >= 2", "drain"}));
}
