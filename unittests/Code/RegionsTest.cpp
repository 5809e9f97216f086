//===- RegionsTest.cpp - Parts of a kernel synchronised in their own way --===//
//
// What plans and code look like. That the code is right is seen on random kernels with regions:
// `tally-fuzz` compares what they do with the definition.
//
//===----------------------------------------------------------------------===//

#include "tally/Code/ControlCost.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;

namespace {

/// A product of tiles in three loops: panels are loaded, multiplied, and the sum is stored.
struct Nest {
  KernelBuilder b{"nest"};
  QueueId load = b.queueOf(b.engine("load"));
  QueueId tensor = b.queueOf(b.engine("tensor"));
  QueueId vector = b.queueOf(b.engine("vector"));
  LoopId m, n, k;
  InstrId panel, product, sum;

  explicit Nest(Trip::Kind kind = Trip::Kind::Constant, uint64_t constant = 6) {
    Trip trips = kind == Trip::Kind::Constant ? KernelBuilder::constant(constant)
                 : kind == Trip::Kind::Value  ? b.value("K")
                                              : b.guard("more");
    m = b.beginLoop("m", b.value("M"));
    n = b.beginLoop("n", b.value("N"));
    k = b.beginLoop("k", trips);
    panel = b.instr("panel", load);
    product = b.instr("product", tensor);
    b.endLoop();
    sum = b.instr("sum", vector);
    b.endLoop();
    b.endLoop();
    b.dep(panel, product, {});
    b.dep(product, panel, {{k, 2}});
    b.dep(product, sum, {});
    b.dep(sum, product, {{n, 1}});
  }

  static constexpr DepId within{0}, carried{1}, leaving{2}, entering{3};
};

struct Outcome {
  std::optional<Compiled> compiled;
  std::string text; ///< of errors and remarks

  const Wait &wait(DepId dep) const { return compiled->plan.waits[dep]; }

  uint64_t size(const Kernel &kernel) const {
    return measure(kernel, compiled->code, 1).operations;
  }
};

Outcome compiled(const Kernel &kernel, Strategy strategy, double growth = 1) {
  Request options;
  options.strategy = strategy;
  options.codeGrowth = growth;
  options.overflow = Overflow::Assume;
  Diagnostics diagnostics;
  Outcome outcome;
  outcome.compiled = compile(kernel, options, genericMachine(), diagnostics);
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    outcome.text += diagnostic.message + "\n";
  }
  return outcome;
}

/// How an engine's code writes a loop; nothing if it does not run it.
std::optional<uint32_t> writtenBy(const Outcome &outcome, uint32_t engine, LoopId loop) {
  for (const Op &op : outcome.compiled->code.engines[EngineId(engine)].ops) {
    if (op.kind == OpKind::LoopBegin && op.loop() == loop) {
      return op.amount;
    }
  }
  return std::nullopt;
}

} // namespace

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// What iterations of k owe one another is covered; the rest is waited for, on semaphores that
/// nothing sets back.
TEST(RegionsTest, barriersHonourWhatCrossesTheEdge) {
  Nest nest;
  nest.b.setSync(nest.k, RegionSync::Barrier);
  Kernel kernel = nest.b.finish();
  Outcome outcome = compiled(kernel, Strategy::PerLoop);
  ASSERT_TRUE(outcome.compiled) << outcome.text;
  EXPECT_EQ(outcome.wait(Nest::carried).waitClass, WaitClass::CoveredByBarrier);
  for (DepId dep : {Nest::within, Nest::leaving, Nest::entering}) {
    EXPECT_TRUE(outcome.wait(dep).group.valid()) << describe(kernel, dep);
    EXPECT_TRUE(outcome.wait(dep).exact) << describe(kernel, dep);
  }
  std::vector<EngineId> members{EngineId(0), EngineId(1)};
  EXPECT_EQ(outcome.compiled->plan.barriers[nest.k].back, members);
  EXPECT_TRUE(outcome.compiled->plan.barriers[nest.n].back.empty());
  uint32_t numGroups = static_cast<uint32_t>(outcome.compiled->plan.groups.size());
  for (const EngineProgram &program : outcome.compiled->code.engines) {
    for (const Op &op : program.ops) {
      EXPECT_FALSE(op.kind == OpKind::Reset && op.signal.value < numGroups);
    }
  }
}

/// A barrier region around n covers also what n carries; the engines that meet are other ones.
TEST(RegionsTest, whoMeetsIsWhoMust) {
  Nest nest;
  nest.b.setSync(nest.n, RegionSync::Barrier);
  nest.b.setSync(nest.k, RegionSync::PerInstruction);
  Outcome outcome = compiled(nest.b.finish(), Strategy::PerLoop);
  ASSERT_TRUE(outcome.compiled) << outcome.text;
  EXPECT_EQ(outcome.wait(Nest::entering).waitClass, WaitClass::CoveredByBarrier);
  EXPECT_NE(outcome.wait(Nest::carried).waitClass, WaitClass::CoveredByBarrier);
  std::vector<EngineId> members{EngineId(1), EngineId(2)};
  EXPECT_EQ(outcome.compiled->plan.barriers[nest.n].back, members);
  EXPECT_TRUE(outcome.compiled->plan.barriers[nest.k].back.empty());
}

TEST(RegionsTest, nobodyMeetsWhereNothingIsCarried) {
  Nest nest;
  nest.b.setSync(nest.m, RegionSync::Barrier);
  nest.b.setSync(nest.n, RegionSync::PerLoop);
  Outcome outcome = compiled(nest.b.finish(), Strategy::PerLoop);
  ASSERT_TRUE(outcome.compiled) << outcome.text;
  EXPECT_TRUE(outcome.compiled->plan.barriers.empty());
}

/// The innermost region decides who shares, whatever the kernel is told to do.
TEST(RegionsTest, innermostRegionDecidesWhoShares) {
  KernelBuilder b("k");
  QueueId p = b.queueOf(b.engine("p")), c = b.queueOf(b.engine("c"));
  auto pair = [&](const char *name) {
    for (int i = 0; i < 2; ++i) {
      b.dep(b.instr(fmt::format("{}p{}", name, i), p), b.instr(fmt::format("{}c{}", name, i), c),
            {});
    }
  };
  LoopId outer = b.beginLoop("A", b.value("n"));
  pair("a");
  LoopId inner = b.beginLoop("B", b.value("n"));
  pair("b");
  b.endLoop();
  b.endLoop();
  const Kernel kernel = b.finish();
  auto groups = [&](Strategy strategy, RegionSync around, RegionSync inside) {
    Kernel told = kernel;
    told.loops[outer].sync = around;
    told.loops[inner].sync = inside;
    Outcome outcome = compiled(told, strategy);
    EXPECT_TRUE(outcome.compiled) << outcome.text;
    return outcome.compiled->plan.groups.size();
  };
  using enum RegionSync;
  EXPECT_EQ(groups(Strategy::PerLoop, AsAround, AsAround), 2u);
  EXPECT_EQ(groups(Strategy::PerLoop, AsAround, PerInstruction), 3u);
  EXPECT_EQ(groups(Strategy::PerInstruction, PerLoop, AsAround), 2u);
  EXPECT_EQ(groups(Strategy::PerInstruction, PerLoop, PerInstruction), 3u);
  EXPECT_EQ(groups(Strategy::PerInstruction, PerEngine, AsAround), 1u);
  EXPECT_EQ(groups(Strategy::Auto, PerInstruction, AsAround), 4u);
  EXPECT_EQ(groups(Strategy::Auto, PerEngine, PerLoop), 2u);
  EXPECT_EQ(groups(Strategy::Auto, PerEngine, AsAround), 1u);
}

TEST(RegionsTest, saysWhereItCannotBe) {
  KernelBuilder b("k");
  QueueId p = b.queueOf(b.engine("p")), c = b.queueOf(b.engine("c"));
  LoopId loop = b.beginLoop("A", b.value("n"), /*uniform=*/false);
  InstrId from = b.instr("from", p), to = b.instr("to", c);
  b.endLoop();
  b.allowDivergent(b.dep(from, to, {{loop, 1}}));
  b.setSync(loop, RegionSync::Barrier);
  Kernel kernel = b.finish();
  Outcome divergent = compiled(kernel, Strategy::PerLoop);
  EXPECT_FALSE(divergent.compiled);
  EXPECT_NE(divergent.text.find("a barrier at the back edge of 'A' cannot join 'p' and 'c'"),
            std::string::npos)
      << divergent.text;

  Nest nest;
  nest.b.setSync(nest.k, RegionSync::PerEngine);
  Outcome whole = compiled(nest.b.finish(), Strategy::Barrier);
  EXPECT_TRUE(whole.compiled);
  EXPECT_NE(whole.text.find("strategy 'barrier' is for whole kernels: 'k' is not synchronised "
                            "'per-engine'"),
            std::string::npos)
      << whole.text;
}

/// A plan that says that engines meet where they do not is seen through.
TEST(RegionsTest, verifierLooksForTheMeeting) {
  Nest nest;
  nest.b.setSync(nest.k, RegionSync::Barrier);
  Kernel kernel = nest.b.finish();
  SyncPlan plan = compiled(kernel, Strategy::PerLoop).compiled->plan;
  auto holds = [&] {
    Diagnostics diagnostics;
    verifyPlan(kernel, plan, diagnostics);
    return !diagnostics.hasErrors();
  };
  EXPECT_TRUE(holds());
  plan.barriers[nest.k].back.pop_back();
  EXPECT_FALSE(holds());
  plan.barriers = {};
  EXPECT_FALSE(holds());
}

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

/// Bodies and loops in the code: six iterations, or n, so many in a pass.
TEST(RegionsTest, loopsAreWrittenOut) {
  struct Case {
    bool constant;
    uint32_t unroll;
    uint64_t copies;
    uint32_t loops;
    double branches; ///< of 6 iterations
  };

  for (const Case &c :
       {Case{true, 1, 1, 1, 6}, Case{true, 2, 2, 1, 3}, Case{true, 3, 3, 1, 2},
        Case{true, 4, 5, 2, 3}, Case{true, 6, 6, 0, 0}, Case{true, 7, 6, 0, 0},
        Case{true, fullyUnrolled, 6, 0, 0}, Case{false, 1, 1, 1, 6}, Case{false, 2, 3, 2, 3},
        Case{false, 4, 5, 2, 3}, Case{false, 6, 7, 2, 1}, Case{false, 7, 8, 2, 6}}) {
    Nest nest(c.constant ? Trip::Kind::Constant : Trip::Kind::Value);
    nest.b.setUnroll(nest.k, c.unroll);
    Kernel kernel = nest.b.finish();
    Outcome outcome = compiled(kernel, Strategy::PerLoop);
    ASSERT_TRUE(outcome.compiled) << outcome.text;
    Op begin = Op::loopBegin(nest.k);
    begin.amount = *writtenBy(outcome, 0, nest.k);
    WrittenLoop written = writtenLoop(kernel, begin);
    EXPECT_EQ(written.copies(), c.copies) << c.unroll;
    EXPECT_EQ(written.loops(), c.loops) << c.unroll;
    EXPECT_EQ(written.branches(6), c.branches) << c.unroll;
    uint32_t counted = 0;
    for (uint64_t number = 1; number <= 6; ++number) {
      counted += written.branchesAfter(number, 6);
    }
    EXPECT_EQ(counted, c.branches) << c.unroll;
  }
}

TEST(RegionsTest, unrollingIsRefusedWhereTripsAreNotKnown) {
  auto complaint = [](Trip::Kind kind, uint32_t unroll) {
    Nest nest(kind);
    nest.b.setUnroll(nest.k, unroll);
    return compiled(nest.b.finish(), Strategy::PerLoop).text;
  };
  EXPECT_EQ(complaint(Trip::Kind::Constant, 0),
            "'k' is unrolled 0 times; a number from 1 to 2147483647, or 'full', is allowed\n");
  EXPECT_NE(complaint(Trip::Kind::Value, fullyUnrolled).find("cannot be unrolled fully"),
            std::string::npos);
  EXPECT_NE(complaint(Trip::Kind::Guard, 2).find("only known when it ends"), std::string::npos);
}

/// Nobody but who works in k runs it: 'auto' adds what the others would count.
TEST(RegionsTest, countsAreAddedAtOnce) {
  Nest nest(Trip::Kind::Value);
  Kernel kernel = nest.b.finish();
  Outcome automatic = compiled(kernel, Strategy::Auto);
  ASSERT_TRUE(automatic.compiled) << automatic.text;
  EXPECT_EQ(writtenBy(automatic, 1, nest.k), 1u);
  EXPECT_EQ(writtenBy(automatic, 2, nest.k), atOnce);
  Outcome plain = compiled(kernel, Strategy::PerLoop);
  EXPECT_EQ(writtenBy(plain, 2, nest.k), 1u);
  EXPECT_LT(controlCost(kernel, automatic.compiled->code, genericMachine()),
            controlCost(kernel, plain.compiled->code, genericMachine()));
}

/// A while-loop has to be run to be counted.
TEST(RegionsTest, whatIsNotAtHandIsCounted) {
  Nest nest(Trip::Kind::Guard);
  Outcome automatic = compiled(nest.b.finish(), Strategy::Auto);
  ASSERT_TRUE(automatic.compiled) << automatic.text;
  EXPECT_EQ(writtenBy(automatic, 2, nest.k), 1u);
}

/// More code is written only as far as it may grow, and always saves something.
TEST(RegionsTest, codeGrowsAsFarAsItMay) {
  for (Nest nest : {Nest(), Nest(Trip::Kind::Constant, 64), Nest(Trip::Kind::Value)}) {
    Kernel kernel = nest.b.finish();
    Outcome plain = compiled(kernel, Strategy::Auto);
    double cost = controlCost(kernel, plain.compiled->code, genericMachine());
    uint64_t size = plain.size(kernel), least = size;
    for (double growth : {1.0, 1.2, 1.5, 2.0, 3.0, 10.0}) {
      Outcome grown = compiled(kernel, Strategy::Auto, growth);
      EXPECT_LE(grown.size(kernel), growth * static_cast<double>(size));
      EXPECT_GE(grown.size(kernel), least);
      least = grown.size(kernel);
      double now = controlCost(kernel, grown.compiled->code, genericMachine());
      EXPECT_EQ(now<cost, least> size) << growth;
    }
    EXPECT_GT(least, size);
  }
}

/// What the kernel says about a loop stands.
TEST(RegionsTest, costLeavesAloneWhatTheKernelUnrolls) {
  Nest nest(Trip::Kind::Constant, 64);
  nest.b.setUnroll(nest.k, 4);
  Outcome outcome = compiled(nest.b.finish(), Strategy::Auto, 100);
  EXPECT_EQ(writtenBy(outcome, 0, nest.k), 4u);
  EXPECT_EQ(writtenBy(outcome, 1, nest.k), 4u);
}

//===----------------------------------------------------------------------===//
// As text
//===----------------------------------------------------------------------===//

TEST(RegionsTest, kernelsKeepThemInJson) {
  Nest nest;
  nest.b.setSync(nest.n, RegionSync::PerEngine);
  nest.b.setSync(nest.k, RegionSync::Barrier);
  nest.b.setUnroll(nest.m, 4);
  nest.b.setUnroll(nest.k, fullyUnrolled);
  std::string text = writeKernelJson(nest.b.finish());
  EXPECT_NE(text.find("\"unroll\": \"full\", \"sync\": \"barrier\""), std::string::npos) << text;
  Diagnostics diagnostics;
  std::optional<Kernel> again = readKernelJson(text, "k.json", diagnostics);
  ASSERT_TRUE(again);
  EXPECT_EQ(writeKernelJson(*again), text);
}

TEST(RegionsTest, jsonSaysWhatIsAllowed) {
  Nest nest;
  nest.b.setSync(nest.k, RegionSync::Barrier);
  nest.b.setUnroll(nest.k, 3);
  std::string text = writeKernelJson(nest.b.finish());
  text.replace(text.find("\"barrier\""), 9, "\"barriers\"");
  text.replace(text.find("\"unroll\": 3"), 11, "\"unroll\": \"all\"");
  Diagnostics diagnostics;
  EXPECT_FALSE(readKernelJson(text, "k.json", diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 2u);
  EXPECT_NE(diagnostics.all()[1].message.find("one of 'per-instruction', 'per-loop', 'per-engine', "
                                              "'barrier' is allowed"),
            std::string::npos);
  EXPECT_NE(diagnostics.all()[0].message.find("a number or 'full' is allowed"), std::string::npos);
}
