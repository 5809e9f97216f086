//===- ThreadProgramTest.cpp - Threads that end, and how ------------------===//
//
// What threads compute is compared in test/Native. Here is how runs end: by themselves, since no
// thread can go on, because of the data, and from outside.
//
//===----------------------------------------------------------------------===//

#include "tally/Native/ThreadProgram.h"

#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

#include <thread>

using namespace tally;

namespace {

/// `in -> x -> out` over a ring of two, on two engines.
struct Chain {
  Kernel kernel;
  Code code;
  BufferId in, out;

  explicit Chain(uint64_t trips = 6, std::string_view take = "gather(r0, r1)") {
    KernelBuilder b{"chain", {}};
    EngineId load = b.engine("load", {});
    EngineId work = b.engine("work", {});
    in = b.buffer("in", std::vector<uint64_t>{4}, "", "f32", {}, {});
    BufferId which = b.buffer("which", std::vector<uint64_t>{1}, "", "i32", {}, {});
    BufferId x = b.buffer("x", std::vector<uint64_t>{2}, "", "f32", {}, {});
    out = b.buffer("out", std::vector<uint64_t>{4}, "", "f32", {}, {});
    b.beginLoop("A", KernelBuilder::constant(trips), true, {});
    b.instr("fetch", b.queueOf(load), {}, {});
    b.computes(take);
    b.access(AccessKind::Read, in, "in[@]");
    b.access(AccessKind::Read, which, "which");
    b.access(AccessKind::Write, x, "x[A mod 2]");
    b.instr("scale", b.queueOf(work), {}, {});
    b.computes("2 * r0 + A");
    b.access(AccessKind::Read, x, "x[A mod 2]");
    b.access(AccessKind::Write, out, "out[A mod 4]");
    b.endLoop();
    b.dep(InstrId(0), InstrId(1), {});
    b.dep(InstrId(1), InstrId(0), {{LoopId(1), 2}});
    kernel = b.finish();
    Diagnostics diagnostics;
    std::optional<Compiled> compiled =
        compile(kernel, Request{.strategy = Strategy::PerLoop}, genericMachine(), diagnostics);
    EXPECT_TRUE(compiled) << diagnostics.reason();
    code = std::move(compiled->code);
  }

  /// Inputs 1, 2, 3, 4, of which one is taken.
  ThreadRun run(uint32_t row = 2, const StopFlag *stop = nullptr) {
    Diagnostics diagnostics;
    if (!program) {
      program = ThreadProgram::of(kernel, code, genericMachine(), diagnostics);
    }
    EXPECT_TRUE(program) << diagnostics.reason();
    memory = emptyMemory(kernel, diagnostics);
    for (size_t i = 0; i < 4; ++i) {
      memory[in].set(i, static_cast<float>(i + 1));
    }
    memory[BufferId(in.value + 1)].setBits(0, row);
    program->setMemory(memory);
    ThreadRun result = program->run(Bindings(kernel), stop);
    program->readInto(memory);
    return result;
  }

  std::unique_ptr<ThreadProgram> program;
  Memory memory;
};

} // namespace

/// The numbers of the last round of the ring, each time.
TEST(ThreadProgramTest, itRunsAgain) {
  Chain chain;
  for (int i = 0; i < 3; ++i) {
    ThreadRun run = chain.run();
    ASSERT_EQ(run.outcome, ThreadRun::Outcome::Finished);
    EXPECT_GT(run.time.count(), 0);
    for (size_t element = 0; element < 4; ++element) {
      float last = element < 2 ? static_cast<float>(element + 4) : static_cast<float>(element);
      EXPECT_EQ(chain.memory[chain.out].value(element), 2 * 3 + last);
    }
  }
  EXPECT_EQ(chain.program->numThreads(), 2u);
}

/// Without its signals, nobody gets past the first iteration, or the second one.
TEST(ThreadProgramTest, nobodyCanGoOn) {
  Chain chain;
  for (Op &op : chain.code.engines[EngineId(0)].ops) {
    op.signal = {};
  }
  ThreadRun run = chain.run();
  ASSERT_EQ(run.outcome, ThreadRun::Outcome::Stuck);
  ASSERT_EQ(run.stuck.size(), 2u);
  EXPECT_EQ(run.stuck[0].name, "load");
  EXPECT_EQ(run.stuck[1].name, "work");
  EXPECT_EQ(run.stuck[1].value, 0u);
  EXPECT_EQ(run.stuck[1].threshold, 1u);
  EXPECT_NE(describeStuck(chain.code, run).find("'work' waits until"), std::string::npos);
}

/// A ring of two is filled once, and never emptied. Counters begin anew, so that is so each time.
TEST(ThreadProgramTest, theRingStaysFull) {
  Chain chain;
  for (Op &op : chain.code.engines[EngineId(1)].ops) {
    op.signal = {};
  }
  for (int i = 0; i < 2; ++i) {
    ThreadRun run = chain.run();
    ASSERT_EQ(run.outcome, ThreadRun::Outcome::Stuck);
    ASSERT_EQ(run.stuck.size(), 2u);
    EXPECT_EQ(run.stuck[1].value, 2u);
    EXPECT_EQ(run.stuck[1].threshold, 3u);
  }
}

/// While one thread computes for long, the one that waits for it is not stuck, however long that
/// takes.
TEST(ThreadProgramTest, slowIsNotStuck) {
  Chain chain(4, "gather(r0, r1) + 0 * reshape(sum(index([2000, 2000], 0), [0, 1]), [1])");
  EXPECT_EQ(chain.run().outcome, ThreadRun::Outcome::Finished);
}

/// Which row is taken, only the data say.
TEST(ThreadProgramTest, aRowThatIsNotThereEndsAll) {
  Chain chain;
  ThreadRun run = chain.run(7);
  EXPECT_EQ(run.outcome, ThreadRun::Outcome::Failed);
  EXPECT_EQ(run.reason, "row 7 of 'in' is taken, which has rows 0 to 3");
  EXPECT_EQ(chain.run().outcome, ThreadRun::Outcome::Finished);
}

/// A run that would take for minutes, whether its threads wait or not.
TEST(ThreadProgramTest, aFlagEndsAll) {
  Chain chain(maxCount);
  StopFlag stop = false;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  EXPECT_EQ(chain.run(2, &stop).outcome, ThreadRun::Outcome::Stopped);
  later.join();
}
