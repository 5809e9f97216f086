//===- SimulateTest.cpp - Runs in time, against closed forms --------------===//
//
// Prices are those of testMachine(): dispatch 7, wait 19, signal 23, ..., all different, in ns.
//
//===----------------------------------------------------------------------===//

#include "SimCase.h"

#include "tally/Compile/Compile.h"

using namespace tally;

namespace {

/// `engines` engines with one instruction each, named after them: 40 ns apart, 100 ns long.
Kernel oneEach(uint32_t engines, std::string_view operation = "f(interval=40ns, duration=100ns)") {
  KernelBuilder b("k");
  std::vector<EngineId> ids;
  for (uint32_t e = 0; e < engines; ++e) {
    ids.push_back(b.engine(fmt::format("e{}", e)));
  }
  for (uint32_t e = 0; e < engines; ++e) {
    b.instr(fmt::format("i{}", e), b.queueOf(ids[e]), operation);
  }
  return b.finish();
}

/// One engine, one loop of `trips` iterations around one instruction.
Kernel oneLoop(uint64_t trips, std::string_view operation) {
  KernelBuilder b("k");
  EngineId e = b.engine("e0");
  b.beginLoop("A", KernelBuilder::constant(trips));
  b.instr("i0", b.queueOf(e), operation);
  b.endLoop();
  return b.finish();
}

void writeLoop(SimCase &c) {
  c.ops(0) = {Op::loopBegin(LoopId(1)), SimCase::issue(0), Op::mark(OpKind::LoopEnd)};
}

} // namespace

/// It starts at once; what ends last is its retirement.
TEST(SimulateTest, oneInstruction) {
  SimCase c(oneEach(1));
  c.ops(0) = {SimCase::issue(0)};
  SimResult result = c.run();
  EXPECT_EQ(result.outcome, SimResult::Outcome::Finished);
  const Execution &i = c.seen.executions[InstrId(0)][0];
  EXPECT_EQ(i.start, 0u);
  EXPECT_EQ(i.occupied, 40 * ns);
  EXPECT_EQ(i.finish, 100 * ns);
  EXPECT_EQ(i.retire, 102 * ns);
  EXPECT_EQ(result.total, 102 * ns);
  EXPECT_EQ(result.engines[EngineId(0)].control, 7 * ns);
  EXPECT_EQ(result.queues[QueueId(0)].busy, 100 * ns);
}

/// The slower of sequencer and datapath sets the pace:
///   total = max(begin + (n-1)*(dispatch + loop end), begin + (n-1)*interval) + duration + visible
/// or the end of the sequencer, if that is later.
TEST(SimulateTest, loopAtThePaceOfTheSlower) {
  for (Tick interval : {1u, 19u, 20u, 21u, 40u, 300u}) {
    for (uint64_t trips : {1u, 2u, 5u, 50u}) {
      SimCase c(oneLoop(trips, fmt::format("f(interval={}ns, duration=100ns)", interval)));
      writeLoop(c);
      SimResult result = c.run();
      Tick pace = std::max<Tick>(20, interval);
      Tick datapath = 11 + (trips - 1) * pace + 100 + 2;
      // At most four instructions wait to start, so the sequencer is held back by the datapath.
      Tick lastIssue = 11 + (trips - 1) * 20;
      if (trips > 4) {
        lastIssue = std::max(lastIssue, 11 + (trips - 1 - 4) * pace);
      }
      EXPECT_EQ(result.total, std::max(datapath, lastIssue + 20) * ns) << interval << " " << trips;
      EXPECT_EQ(c.seen.executions[InstrId(0)].back().start, (11 + (trips - 1) * pace) * ns);
      const QueueStats &queue = result.queues[QueueId(0)];
      EXPECT_EQ(queue.busy, ((trips - 1) * std::min<Tick>(pace, 100) + 100) * ns);
      EXPECT_EQ(queue.occupied, trips * interval * ns);
      EXPECT_EQ(c.seen.operations[std::pair(EngineId(0), 1u)].back().first, lastIssue * ns)
          << interval << " " << trips;
    }
  }
}

/// Without overlap the next one starts when the one before has finished.
TEST(SimulateTest, withoutOverlap) {
  SimCase c(oneLoop(5, "f(interval=40ns, duration=100ns)"));
  c.machine.queueOverlap = false;
  writeLoop(c);
  SimResult result = c.run();
  EXPECT_EQ(result.total, (11 + 4 * 100 + 100 + 2) * ns);
  EXPECT_EQ(result.queues[QueueId(0)].busy, 500 * ns);
}

/// Retirement is in order: a short instruction behind a long one waits for it.
TEST(SimulateTest, retiresInOrder) {
  KernelBuilder b("k");
  EngineId e = b.engine("e0");
  b.instr("long", b.queueOf(e), "f(interval=10ns, duration=100ns)");
  b.instr("short", b.queueOf(e), "f(interval=10ns, duration=20ns)");
  SimCase c(b.finish());
  c.ops(0) = {SimCase::issue(0), SimCase::issue(1)};
  EXPECT_EQ(c.run().total, 102 * ns);
  EXPECT_EQ(c.seen.executions[InstrId(1)][0].finish, 30 * ns);
  EXPECT_EQ(c.seen.executions[InstrId(1)][0].retire, 102 * ns);
}

/// The consumer is blocked until the producer's retirement (102) and its wake-up (5), not longer.
TEST(SimulateTest, waitIsTight) {
  SimCase c(oneEach(2));
  SemaId s = c.semaphore("s");
  c.ops(0) = {SimCase::issue(0, s)};
  c.ops(1) = {SimCase::issueAfter(1, s, 1)};
  SimResult result = c.run();
  EXPECT_EQ(c.seen.executions[InstrId(1)][0].start, 107 * ns);
  EXPECT_EQ(result.total, (107 + 100 + 2) * ns);
  EXPECT_EQ(result.engines[EngineId(1)].waiting, 107 * ns);
  ASSERT_EQ(c.seen.releases.size(), 1u);
  EXPECT_EQ(c.seen.releases[0].raisedAt, 102 * ns);
  EXPECT_EQ(c.seen.releases[0].byQueue, QueueId(0));
}

/// What carries a wait is issued later by the price of that, whether it was blocked or not.
TEST(SimulateTest, carriedWaitsHaveAPrice) {
  SimCase c(oneEach(2), testMachine({"ctl.carried=37ns"}));
  SemaId s = c.semaphore("s");
  c.ops(0) = {SimCase::issue(0, s)};
  c.ops(1) = {SimCase::issueAfter(1, s, 1)};
  SimResult result = c.run();
  EXPECT_EQ(c.seen.executions[InstrId(0)][0].start, 0u);
  EXPECT_EQ(c.seen.executions[InstrId(1)][0].start, (107 + 37) * ns);
  EXPECT_EQ(result.engines[EngineId(1)].waiting, 107 * ns);
  EXPECT_EQ(result.engines[EngineId(1)].control, (37 + 7) * ns);
}

/// A test at the very moment of the raise, or later, costs no wake-up; one picosecond earlier does.
TEST(SimulateTest, wakeUpOnlyIfBlocked) {
  for (int late : {-1, 0, 1}) {
    SimCase c(oneEach(2), testMachine({"ctl.reset=0.001ns"}));
    SemaId s = c.semaphore("s"), unused = c.semaphore("unused");
    c.ops(0) = {SimCase::issue(0, s)};
    // The wait is tested after 33 * 3 ns and 3000 ps: when the semaphore is raised, but for `late`.
    c.code.engines[EngineId(1)].registers.push({"r0", ""});
    for (int i = 0; i < 33; ++i) {
      c.ops(1).push_back(Op::move(RegId(0), Operand::number(1)));
    }
    for (int i = 0; i < 3000 + late; ++i) {
      c.ops(1).push_back(Op::reset(unused, 1));
    }
    c.ops(1).push_back(SimCase::issueAfter(1, s, 1));
    c.run();
    Tick tested = 102 * ns + static_cast<Tick>(std::max(late, 0));
    EXPECT_EQ(c.seen.executions[InstrId(1)][0].start, late < 0 ? 107 * ns : tested) << late;
  }
}

/// A signal that takes no time, by an engine that comes later in the order: no wake-up either.
TEST(SimulateTest, raisedAtTheMomentOfTheTest) {
  SimCase c(oneEach(2), testMachine({"ctl.signal=0", "sem.visible=0"}));
  SemaId s = c.semaphore("s");
  c.ops(0) = {SimCase::issueAfter(0, s, 1)};
  c.ops(1) = {Op::makeSignal(s)};
  c.run();
  EXPECT_EQ(c.seen.executions[InstrId(0)][0].start, 0u);
}

/// A signal of a sequencer: its price, until it is visible, and the wake-up.
TEST(SimulateTest, signalBySequencer) {
  SimCase c(oneEach(2));
  SemaId s = c.semaphore("s");
  c.ops(0) = {Op::makeSignal(s, 3), SimCase::issue(0)};
  c.ops(1) = {Op::makeWait(s, Operand::number(3)), SimCase::issue(1)};
  c.run();
  EXPECT_EQ(c.seen.executions[InstrId(0)][0].start, 23 * ns);
  EXPECT_EQ(c.seen.executions[InstrId(1)][0].start, (23 + 2 + 5 + 19) * ns);
}

/// 200 and 100 make 44 in eight bits.
TEST(SimulateTest, semaphoresWrapAround) {
  SimCase c(oneEach(2));
  c.machine.counterBits = 8;
  SemaId s = c.semaphore("s");
  c.ops(0) = {Op::makeSignal(s, 200), Op::makeSignal(s, 100)};
  c.ops(1) = {Op::makeWait(s, Operand::number(201))};
  SimResult result = c.run();
  ASSERT_EQ(result.stuck.size(), 1u);
  EXPECT_EQ(result.stuck[0].value, 44u);
}

/// A drain ends with the last retirement; then it takes its price.
TEST(SimulateTest, drain) {
  SimCase c(oneEach(1));
  c.ops(0) = {SimCase::issue(0), Op::drain()};
  SimResult result = c.run();
  EXPECT_EQ(result.total, (102 + 31) * ns);
  EXPECT_EQ(result.engines[EngineId(0)].draining, (102 - 7) * ns);
}

/// Four instructions may wait to start; the sixth is issued when the second starts.
TEST(SimulateTest, queueDepth) {
  for (uint32_t depth : {1u, 2u, 4u}) {
    KernelBuilder b("k");
    EngineId e = b.engine("e0");
    for (int i = 0; i < 8; ++i) {
      b.instr(fmt::format("i{}", i), b.queueOf(e), "f(interval=1000ns, duration=1000ns)");
    }
    SimCase c(b.finish(), testMachine({fmt::format("queue.depth={}", depth)}));
    for (uint32_t i = 0; i < 8; ++i) {
      c.ops(0).push_back(SimCase::issue(i));
    }
    c.run();
    for (uint32_t i = 0; i < 8; ++i) {
      Tick free = i < depth ? 0 : (i - depth) * 1000 * ns;
      Tick issued = c.seen.operations[std::pair(EngineId(0), i)][0].first;
      Tick before = i == 0 ? 0 : c.seen.operations[std::pair(EngineId(0), i - 1)][0].second;
      EXPECT_EQ(issued, std::max(free, before)) << depth << " " << i;
    }
  }
}

//===----------------------------------------------------------------------===//
// Transfers: issue 50, startup 500, 100 B/ns, tail 200, visible 2
//===----------------------------------------------------------------------===//

/// From its issue to its retirement, on a path that is otherwise empty.
TEST(SimulateTest, oneTransfer) {
  SimCase c(oneEach(1, "copy(bytes=10000)"));
  c.ops(0) = {SimCase::issue(0)};
  EXPECT_EQ(c.run().total, (50 + 500 + 100 + 200 + 2) * ns);
}

/// n queues that start together end together, n times as late.
TEST(SimulateTest, transfersShareBandwidth) {
  for (uint32_t n = 1; n <= 17; ++n) {
    SimCase c(oneEach(n, "copy(bytes=10000)"));
    for (uint32_t i = 0; i < n; ++i) {
      c.ops(i) = {SimCase::issue(i)};
    }
    c.run();
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(c.seen.executions[InstrId(i)][0].occupied, (550 + n * 100) * ns);
    }
  }
}

/// 100 ns of work from 550 on, 40 ns of work from 573 on (after a signal of 23 ns): they share
/// until the second is done, at 573 + 2*40 = 653; by then the first has done 23 + 40, and ends 37
/// later.
TEST(SimulateTest, transfersShareFromThenOn) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
  b.instr("i0", b.queueOf(e0), "copy(bytes=10000)");
  b.instr("i1", b.queueOf(e1), "copy(bytes=4000)");
  SimCase c(b.finish());
  SemaId s = c.semaphore("s");
  c.ops(0) = {SimCase::issue(0)};
  c.ops(1) = {Op::makeSignal(s), SimCase::issue(1)};
  c.run();
  EXPECT_EQ(c.seen.executions[InstrId(1)][0].start, 573 * ns);
  EXPECT_EQ(c.seen.executions[InstrId(1)][0].occupied, 653 * ns);
  EXPECT_EQ(c.seen.executions[InstrId(0)][0].occupied, 690 * ns);
}

/// One queue: bytes one transfer after the other, startups and tails side by side.
TEST(SimulateTest, transfersOfOneQueue) {
  SimCase c(oneLoop(10, "copy(bytes=30000)"));
  writeLoop(c);
  SimResult result = c.run();
  EXPECT_EQ(result.total, (11 + 50 + 500 + 10 * 300 + 200 + 2) * ns);
  // The sixth finds four waiting and one under way until the second starts.
  EXPECT_EQ(c.seen.operations[std::pair(EngineId(0), 1u)][5].first, (11 + 50 + 500 + 300) * ns);
}

/// A drain waits for transfers, and for the last share of a split completion.
TEST(SimulateTest, drainOfTransfers) {
  KernelBuilder b("k");
  EngineId e = b.engine("e0");
  b.setQueue(b.queueOf(e), 16, Completion::Split);
  b.instr("i0", b.queueOf(e), "copy(bytes=10000)");
  SimCase c(b.finish());
  SemaId s = c.semaphore("s");
  c.ops(0) = {SimCase::issue(0, s, 16), Op::drain()};
  EXPECT_EQ(c.run().total, (852 + 15 * 10 + 31) * ns);
}

/// Shares of 16 and 16, 10 ns apart, from 852 on and from 882 on: 852, 862, 872, 882, 882, 892,
/// 892, ... The sixth to arrive is the second of the later transfer, or the fifth of the other:
/// 892.
TEST(SimulateTest, sharesMix) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
  b.setQueue(b.queueOf(e0), 16, Completion::Split);
  b.instr("i0", b.queueOf(e0), "copy(bytes=10000)");
  b.instr("i1", b.queueOf(e0), "copy(bytes=3000)");
  b.instr("i2", b.queueOf(e1), "f(interval=1ns, duration=1ns)");
  SimCase c(b.finish());
  SemaId s = c.semaphore("s");
  c.ops(0) = {SimCase::issue(0, s, 16), SimCase::issue(1, s, 16)};
  c.ops(1) = {SimCase::issueAfter(2, s, 6)};
  c.run();
  EXPECT_EQ(c.seen.executions[InstrId(1)][0].retire, 882 * ns);
  EXPECT_EQ(c.seen.executions[InstrId(2)][0].start, (892 + 5) * ns);
}

//===----------------------------------------------------------------------===//
// Whole programs
//===----------------------------------------------------------------------===//

/// A barrier of two after each iteration, by its parts. Engine 1 signals that it has arrived,
/// engine 0 waits for that, resets, and releases it.
///
///   drained   102 after the issue of each; price 31
///   arrive    engine 1: signal 23, visible 2; engine 0 woken 5, wait 19, reset 29, signal 23
///   release   visible 2; engine 1 woken 5, wait 19, reset 29
TEST(SimulateTest, barrier) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
  b.beginLoop("A", KernelBuilder::constant(3));
  InstrId i0 = b.instr("i0", b.queueOf(e0), "f(interval=40ns, duration=100ns)");
  InstrId i1 = b.instr("i1", b.queueOf(e1), "f(interval=40ns, duration=100ns)");
  b.endLoop();
  b.dep(i0, i1, {{LoopId(1), 1}});
  Kernel kernel = b.finish();
  Request options;
  options.strategy = Strategy::Barrier;
  Diagnostics diagnostics;
  Machine machine = testMachine();
  std::optional<Compiled> compiled = compile(kernel, options, machine, diagnostics);
  ASSERT_TRUE(compiled);
  SimCase c(std::move(kernel), machine);
  c.code = compiled->code;
  c.run();
  Tick handshake0 = 23 + 2 + 5 + 19 + 29 + 23;    // from both drained until engine 0 has released
  Tick handshake1 = handshake0 + 2 + 5 + 19 + 29; // ... and until engine 1 goes on
  const auto &runs0 = c.seen.executions[InstrId(0)];
  const auto &runs1 = c.seen.executions[InstrId(1)];
  ASSERT_EQ(runs1.size(), 3u);
  EXPECT_EQ(runs0[0].start, 11 * ns);
  EXPECT_EQ(runs1[0].start, 11 * ns);
  // Nothing waits within an iteration, so no semaphore is reset and one handshake is enough.
  Tick drained = 11 + 102 + 31;
  EXPECT_EQ(runs0[1].start, (drained + handshake0 + 13) * ns);
  EXPECT_EQ(runs1[1].start, (drained + handshake1 + 13) * ns);
  // Engine 1 goes on later, so it is the last to be drained.
  EXPECT_EQ(runs1[2].start - runs1[1].start, (102 + 31 + handshake1 + 13) * ns);
}

/// Two engines that wait for each other, and a third that waits for them.
TEST(SimulateTest, deadlock) {
  SimCase c(oneEach(3));
  SemaId s = c.semaphore("s"), t = c.semaphore("t");
  c.ops(0) = {SimCase::issueAfter(0, t, 1, s)};
  c.ops(1) = {SimCase::issueAfter(1, s, 1, t)};
  c.ops(2) = {SimCase::issueAfter(2, s, 7)};
  SimResult result = c.run();
  ASSERT_EQ(result.outcome, SimResult::Outcome::Deadlock);
  EXPECT_EQ(result.cycle, (std::vector{EngineId(0), EngineId(1)}));
  EXPECT_EQ(describeDeadlock(c.kernel, c.code, result),
            "the cycle of waits:\n"
            "  'e0' waits to issue 'i0' for 't' >= 1, which holds 0; 'e1' would raise it\n"
            "  'e1' waits to issue 'i1' for 's' >= 1, which holds 0; 'e0' would raise it\n"
            "also stuck:\n"
            "  'e2' waits to issue 'i2' for 's' >= 7, which holds 0; 'e0' would raise it\n");
}

/// Who waits for what it would raise itself, too, is shown waiting for another.
TEST(SimulateTest, deadlockNamesAnother) {
  SimCase c(oneEach(2));
  SemaId s = c.semaphore("s"), t = c.semaphore("t");
  c.ops(0) = {SimCase::issueAfter(0, t, 1, s), Op::makeSignal(t)};
  c.ops(1) = {SimCase::issueAfter(1, s, 1, t)};
  EXPECT_EQ(c.run().cycle, (std::vector{EngineId(0), EngineId(1)}));
}

/// Where synchronisation is free, so are brackets without an instruction: the first `if` costs its
/// branch and the jump at the end of its body, the second one and the empty loop nothing.
TEST(SimulateTest, emptyBracketsAreFree) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
  for (EngineId e : {e0, e1}) {
    b.beginIf(fmt::format("c{}", e.value));
    b.instr(fmt::format("i{}", e.value), b.queueOf(e), "f(interval=1ns, duration=1ns)");
    b.beginElse();
    b.endIf();
  }
  LoopId loop = b.beginLoop("A", KernelBuilder::constant(3));
  b.endLoop();
  SimCase c(b.finish());
  LoopId first = c.kernel.instrs[InstrId(0)].home, second = c.kernel.instrs[InstrId(1)].home;
  c.ops(0) = {Op::ifBegin(first),      SimCase::issue(0),   Op::mark(OpKind::Else),
              Op::mark(OpKind::IfEnd), Op::ifBegin(second), Op::mark(OpKind::Else),
              Op::mark(OpKind::IfEnd), Op::loopBegin(loop), Op::mark(OpKind::LoopEnd)};
  c.bindings.set(first, {1});
  c.bindings.set(second, {1});
  SimOptions options;
  options.freeSync = true;
  EXPECT_EQ(c.run(options).engines[EngineId(0)].control, (17 + 7 + 17) * ns);
  EXPECT_EQ(c.run().engines[EngineId(0)].control, (17 + 7 + 17 + 17 + 17 + 11 + 3 * 13) * ns);
}

/// Nobody is left who could raise it.
TEST(SimulateTest, deadlockWithoutACycle) {
  SimCase c(oneEach(2));
  SemaId s = c.semaphore("s");
  c.ops(0) = {SimCase::issue(0, s)};
  c.ops(1) = {SimCase::issueAfter(1, s, 2)};
  SimResult result = c.run();
  ASSERT_EQ(result.outcome, SimResult::Outcome::Deadlock);
  EXPECT_EQ(describeDeadlock(c.kernel, c.code, result),
            "no cycle of waits:\n"
            "  'e1' waits to issue 'i1' for 's' >= 2, which holds 1; nothing will raise it any "
            "more\n");
}

TEST(SimulateTest, cutOff) {
  SimCase c(oneLoop(1'000'000, "f"));
  writeLoop(c);
  SimOptions options;
  options.maxOperations = 1000;
  SimResult result = c.run(options);
  EXPECT_EQ(result.outcome, SimResult::Outcome::CutOff);
  EXPECT_EQ(result.operations, 1000u);
}

/// Chance lengthens durations by at most the given part, the same way for the same seed.
TEST(SimulateTest, jitter) {
  SimOptions options;
  std::vector<Tick> totals;
  for (uint64_t seed : {1u, 1u, 2u, 3u}) {
    SimCase c(oneEach(1));
    c.ops(0) = {SimCase::issue(0)};
    options.seed = seed;
    totals.push_back(c.run(options).total);
    EXPECT_GE(totals.back(), 102 * ns);
    EXPECT_LE(totals.back(), 127 * ns);
  }
  EXPECT_EQ(totals[0], totals[1]);
  EXPECT_NE(totals[0], totals[2]);
  EXPECT_NE(totals[2], totals[3]);
}
