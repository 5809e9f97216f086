//===- DivergenceTest.cpp - What may wait longer where engines disagree ---===//

#include "tally/Sync/Divergence.h"

#include "tally/Model/KernelBuilder.h"
#include "tally/Sync/Plan.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// loop A: loop B, divergent: loop C, divergent or not: P and Q on e0, X on e1; then Y on e2, Z on
/// e3. Dependences are the tests'.
struct Nest {
  KernelBuilder b{"nest"};
  QueueId q0, q1, q2, q3;
  LoopId a, outer, inner;
  InstrId p, x, y, z;

  explicit Nest(bool uniform) {
    q0 = b.queueOf(b.engine("e0"));
    q1 = b.queueOf(b.engine("e1"));
    q2 = b.queueOf(b.engine("e2"));
    q3 = b.queueOf(b.engine("e3"));
    a = b.beginLoop("A", b.value("n"));
    outer = b.beginLoop("B", b.value("m"), uniform);
    inner = b.beginLoop("C", b.value("k"), uniform);
    p = b.instr("P", q0);
    x = b.instr("X", q1);
    b.endLoop();
    b.endLoop();
    y = b.instr("Y", q2);
    z = b.instr("Z", q3);
    b.endLoop();
  }

  void apart(InstrId producer, InstrId consumer, uint32_t distance) {
    b.allowDivergent(b.dep(producer, consumer, {{a, distance}}));
  }
};

/// The first error of a plan; empty if there is none.
std::string refusal(const Kernel &kernel, const PlanDecisions &options = {}) {
  Diagnostics diagnostics;
  makePlan(kernel, options, diagnostics);
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::Error) {
      return diagnostic.message;
    }
  }
  return "";
}

} // namespace

/// X counts runs of P. So whoever depends on e1 is doubtful, too, and nobody else is.
TEST(DivergenceTest, doubtSpreadsToThoseWhoDepend) {
  Nest nest(/*uniform=*/false);
  nest.apart(nest.p, nest.x, 1);
  nest.apart(nest.x, nest.y, 1);
  Kernel kernel = nest.b.finish();
  Divergence divergence(kernel);
  EXPECT_EQ(divergence.apartOn(DepId(0)), nest.inner);
  EXPECT_FALSE(divergence.doubtOf(EngineId(0)).valid());
  EXPECT_EQ(divergence.doubtOf(EngineId(1)), DepId(0));
  EXPECT_TRUE(divergence.doubtOf(EngineId(2)).valid());
  EXPECT_FALSE(divergence.doubtOf(EngineId(3)).valid());
}

/// All of an iteration of A is waited for, of which e0 may run less than e1 has counted: for ever,
/// where the dependence would have been satisfied.
TEST(DivergenceTest, noLongerWaitForWhatIsCountedApart) {
  for (bool uniform : {true, false}) {
    Nest nest(uniform);
    nest.apart(nest.p, nest.x, 1);
    Kernel kernel = nest.b.finish();
    EXPECT_EQ(refusal(kernel),
              uniform
                  ? ""
                  : "'P' -> 'X' at 'A' = 1 would wait longer than it has to, and might wait "
                    "forever: the distance on loop 'A' crosses whole runs of the inner loop 'C', "
                    "so all of that iteration of 'A' is waited for; and engines may disagree "
                    "on how often 'C' runs, around 'P'; make 'C' uniform");
  }
}

/// Two engines meet to reset what Y and Z count. They may, unless one of them depends on a count of
/// its own.
TEST(DivergenceTest, noDoubtfulEngineMeetsOthersToReset) {
  for (bool doubtful : {false, true}) {
    Nest nest(/*uniform=*/false);
    nest.b.dep(nest.y, nest.z);
    if (doubtful) {
      nest.b.allowDivergent(nest.b.dep(nest.p, nest.y));
    }
    Kernel kernel = nest.b.finish();
    PlanDecisions options;
    options.resets = {{nest.a, 100}};
    std::string text = refusal(kernel, options);
    EXPECT_EQ(text.find("engines would meet between iterations of 'A' to reset counters, but") == 0,
              doubtful)
        << text;
    EXPECT_EQ(text.empty(), !doubtful) << text;
  }
}

/// The same at the back edge of a region with barriers.
TEST(DivergenceTest, noDoubtfulEngineMeetsOthersInARegion) {
  for (bool doubtful : {false, true}) {
    Nest nest(/*uniform=*/false);
    nest.b.setSync(nest.a, RegionSync::Barrier);
    nest.b.dep(nest.y, nest.z, {{nest.a, 1}});
    if (doubtful) {
      nest.b.allowDivergent(nest.b.dep(nest.p, nest.y));
    }
    Kernel kernel = nest.b.finish();
    std::string text = refusal(kernel);
    EXPECT_EQ(text.find("engines would meet at the back edge of 'A', but 'e2' might never get") ==
                  0,
              doubtful)
        << text;
    EXPECT_EQ(text.empty(), !doubtful) << text;
  }
}

/// A barrier orders what e0 has run, and not what e2 has counted.
TEST(DivergenceTest, noBarrierStandsForWhatIsCountedApart) {
  Nest nest(/*uniform=*/false);
  nest.b.allowDivergent(nest.b.dep(nest.p, nest.y));
  Kernel kernel = nest.b.finish();
  PlanDecisions options;
  options.strategy = Strategy::Barrier;
  EXPECT_EQ(refusal(kernel, options),
            "barriers cannot stand for 'P' -> 'Y', which waits for as many runs as its own engine "
            "counts: engines may disagree on how often 'C' runs, around 'P'; make 'C' uniform, or "
            "use a strategy without barriers");
  EXPECT_EQ(refusal(kernel), "");
}
