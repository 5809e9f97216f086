//===- WaitOrderTest.cpp - Where the waits of an instruction stand --------===//
//
// An instruction carries one wait, the others stand before it. What an engine does after it was
// woken delays the instruction, so:
//
//   order      the wait that is likely to be satisfied last is the one that is carried
//   before     all thresholds are computed before the first wait
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "oracle/Campaign.h"

#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

Compiled compiled(const Kernel &kernel, Strategy strategy = Strategy::PerInstruction) {
  Diagnostics diagnostics;
  Request request;
  request.strategy = strategy;
  request.overflow = Overflow::Assume;
  std::optional<Compiled> result = compile(kernel, request, genericMachine(), diagnostics);
  EXPECT_TRUE(result) << diagnostics.reason();
  return std::move(*result);
}

/// The producers that 'C' waits for, in the order of its waits; the last one is carried.
std::string producersWaitedFor(const Kernel &kernel) {
  Compiled result = compiled(kernel);
  std::string producers;
  for (const EngineProgram &program : result.code.engines) {
    for (const Op &op : program.ops) {
      bool isWait = op.kind == OpKind::Wait || (op.kind == OpKind::Issue && op.wait.valid());
      if (isWait && kernel.nameOf(program.engine) == "c") {
        DepId reason = result.code.reasons[op.firstReason];
        producers += kernel.nameOf(kernel.deps[reason].producer);
      }
    }
  }
  return producers;
}

/// P, Q and R on engines of their own, C on engine 'c'.
struct Case {
  KernelBuilder b{"case"};
  QueueId p = b.queueOf(b.engine("p"));
  QueueId q = b.queueOf(b.engine("q"));
  QueueId r = b.queueOf(b.engine("r"));
  QueueId c = b.queueOf(b.engine("c"));
};

/// A { P; Q; C }: the smaller distance comes later, and of equal ones the later in the text,
/// whichever is written first.
TEST(WaitOrderTest, smallerDistancesComeLater) {
  for (bool isSwapped : {false, true}) {
    Case k;
    LoopId a = k.b.beginLoop("A", k.b.value("n"));
    InstrId p = k.b.instr("P", k.p), q = k.b.instr("Q", k.q), c = k.b.instr("C", k.c);
    k.b.endLoop();
    auto far = [&] { k.b.dep(q, c, {{a, 2}}); };
    auto near = [&] { k.b.dep(p, c, {{a, 1}}); };
    isSwapped ? near() : far();
    isSwapped ? far() : near();
    EXPECT_EQ(producersWaitedFor(k.b.finish()), "QP");
  }
  Case k;
  k.b.beginLoop("A", k.b.value("n"));
  InstrId p = k.b.instr("P", k.p), q = k.b.instr("Q", k.q), c = k.b.instr("C", k.c);
  k.b.endLoop();
  k.b.dep(q, c, {});
  k.b.dep(p, c, {});
  EXPECT_EQ(producersWaitedFor(k.b.finish()), "PQ");
}

/// P; A { B { Q; C }; R }: R of the last iteration of A comes before Q of the last one of B.
TEST(WaitOrderTest, outerLoopsCountFirst) {
  Case k;
  InstrId p = k.b.instr("P", k.p);
  LoopId a = k.b.beginLoop("A", k.b.value("n"));
  LoopId b = k.b.beginLoop("B", k.b.value("m"));
  InstrId q = k.b.instr("Q", k.q), c = k.b.instr("C", k.c);
  k.b.endLoop();
  InstrId r = k.b.instr("R", k.r);
  k.b.endLoop();
  k.b.dep(q, c, {{b, 1}});
  k.b.dep(r, c, {{a, 1}});
  k.b.dep(p, c, {});
  EXPECT_EQ(producersWaitedFor(k.b.finish()), "PRQ");
}

/// A { P; Q; C }: three runs ago over the whole run is earlier than the last iteration.
TEST(WaitOrderTest, flatDistancesCountToo) {
  Case k;
  LoopId a = k.b.beginLoop("A", k.b.value("n"));
  InstrId p = k.b.instr("P", k.p), q = k.b.instr("Q", k.q), c = k.b.instr("C", k.c);
  k.b.endLoop();
  k.b.dep(p, c, {{a, 1}});
  k.b.depFlat(q, c, 3);
  EXPECT_EQ(producersWaitedFor(k.b.finish()), "QP");
}

/// Between the first wait of an instruction and the instruction there are only waits.
void expectNothingBetweenWaits(const Kernel &kernel, const Code &code) {
  for (const EngineProgram &program : code.engines) {
    for (size_t at = 0; at + 1 < program.ops.size(); ++at) {
      OpKind next = program.ops[at + 1].kind;
      EXPECT_TRUE(program.ops[at].kind != OpKind::Wait || next == OpKind::Wait ||
                  next == OpKind::Issue)
          << kernel.nameOf(program.engine) << ", operation " << at;
    }
  }
}

TEST(WaitOrderTest, thresholdsAreComputedBeforeTheFirstWait) {
  uint64_t several = 0;
  const uint64_t numPrograms = test::numKernels(1'000, 10'000);
  for (uint64_t seed = 1; seed <= numPrograms; ++seed) {
    RandomCodeCase random(seed, optionsForSeed(seed));
    for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop}) {
      Compiled result = compiled(random.kernel, strategy);
      expectNothingBetweenWaits(random.kernel, result.code);
      ASSERT_FALSE(HasFailure()) << "seed " << seed;
      for (const EngineProgram &program : result.code.engines) {
        several += std::ranges::count(program.ops, OpKind::Wait, &Op::kind);
      }
    }
  }
  EXPECT_GT(several * 2, numPrograms);
}

} // namespace
