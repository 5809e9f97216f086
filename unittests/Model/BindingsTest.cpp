//===- BindingsTest.cpp - Run-time values of a kernel ---------------------===//

#include "tally/Model/Bindings.h"

#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// fixed: 3 times; A and B: value n in 1..4; D: divergent value d; w: while; c: branch.
struct Loops {
  KernelBuilder b{"k"};
  EngineId act = b.engine("act");
  EngineId dma = b.engine("dma");
  LoopId fixed, a, bb, d, w, c, cElse, dc;
  Kernel kernel;

  Loops() {
    auto loop = [&](std::string_view name, Trip trip, bool uniform = true) {
      LoopId id = b.beginLoop(name, trip, uniform);
      b.endLoop();
      return id;
    };
    fixed = loop("fixed", KernelBuilder::constant(3));
    a = loop("A", b.value("n", 1, 4));
    bb = loop("B", b.value("n", 1, 4));
    d = loop("D", b.value("d"), false);
    w = loop("w", b.guard("more"));
    c = b.beginIf("c");
    cElse = b.beginElse();
    b.endIf();
    dc = b.beginIf("dc", false);
    b.endIf();
    kernel = b.finish();
  }

  Bindings bind(std::vector<std::string> trips, std::string *errors = nullptr,
                uint64_t seed = 0) const {
    Diagnostics diagnostics;
    Bindings result = Bindings::parse(kernel, trips, seed, diagnostics);
    std::string text = render(diagnostics, {});
    if (errors) {
      *errors = text;
    } else {
      EXPECT_EQ(text, "");
    }
    return result;
  }

  std::string refused(std::string option) const {
    std::string errors;
    bind({std::move(option)}, &errors);
    return errors;
  }
};

} // namespace

TEST(BindingsTest, withoutAny) {
  Loops l;
  Bindings bindings(l.kernel);
  EXPECT_EQ(bindings.trips(l.act, rootLoop, 1), 1u);
  EXPECT_EQ(bindings.trips(l.act, l.fixed, 7), 3u);
  EXPECT_EQ(bindings.trips(l.act, l.a, 1), 2u);
  EXPECT_EQ(bindings.trips(l.act, l.d, 1), 2u);
}

TEST(BindingsTest, knowsWhatIsLeftOpen) {
  Loops l;
  Bindings none(l.kernel), some = none;
  EXPECT_FALSE(none.isComplete());
  some.set(l.a, {3, 4});
  some.set(l.d, {1}, l.dma);
  EXPECT_TRUE(some.isSet(l.a));
  EXPECT_FALSE(some.leavesOpen(l.a));
  EXPECT_TRUE(some.leavesOpen(l.bb));
  EXPECT_FALSE(some.leavesOpen(l.fixed));
  EXPECT_TRUE(some.leavesOpen(l.d)) << "on one engine";
  EXPECT_TRUE(some.isSet(l.d, l.dma));
  EXPECT_FALSE(some.isSet(l.d, l.act));
  some.set(l.d, {2}, l.act);
  some.set(l.bb, {1});
  EXPECT_FALSE(some.leavesOpen(l.d));
  EXPECT_TRUE(some.leavesOpen(l.w));
  EXPECT_TRUE(some.leavesOpen(l.c));
  EXPECT_FALSE(some.isComplete());
  some.setGuardSeed(0);
  EXPECT_FALSE(some.leavesOpen(l.w));
  EXPECT_TRUE(some.isComplete());
}

/// A seed keeps nobody out; a branch that is always taken keeps all out of the other one.
TEST(BindingsTest, keepsOut) {
  Loops l;
  Bindings bindings(l.kernel);
  bindings.setGuardSeed(1);
  for (LoopId id : {l.w, l.c, l.cElse, l.dc}) {
    EXPECT_FALSE(bindings.keepsOut(id));
  }
  bindings.set(l.c, {1});
  bindings.set(l.w, {0});
  EXPECT_FALSE(bindings.keepsOut(l.c));
  EXPECT_TRUE(bindings.keepsOut(l.cElse));
  EXPECT_TRUE(bindings.keepsOut(l.w));
  bindings.set(l.c, {0, 1});
  EXPECT_FALSE(bindings.keepsOut(l.cElse));
}

TEST(BindingsTest, narrowsAKernel) {
  Loops l;
  Bindings bindings(l.kernel);
  bindings.set(l.a, {3, 2});
  bindings.set(l.d, {7}, l.dma);
  Kernel bounded = l.kernel;
  bindings.narrow(bounded);
  EXPECT_EQ(bounded.loops[l.a].trip.min, 2u);
  EXPECT_EQ(bounded.loops[l.a].trip.max, 3u);
  EXPECT_EQ(bounded.loops[l.bb].trip, l.kernel.loops[l.bb].trip);
  EXPECT_EQ(bounded.loops[l.d].trip, l.kernel.loops[l.d].trip) << "act is free";
}

/// What is said has to be taken again: 'n' would give A a second time.
TEST(BindingsTest, whatIsChosenStandsBesideWhatIsGiven) {
  Loops l;
  Bindings bindings = l.bind({"A=3", "D@dma=1"});
  std::vector<std::string> all = bindings.bindOpen(16);
  EXPECT_EQ(all, (std::vector<std::string>{"B=4", "D=16"}));
  all.insert(all.end(), {"A=3", "D@dma=1"});
  EXPECT_EQ(l.bind(all).trips(l.dma, l.d, 1), 1u);
}

/// max(min, min(2, max)).
TEST(BindingsTest, unboundValuesRespectTheirBounds) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  LoopId few = b.beginLoop("few", b.value("n", 0, 1));
  b.endLoop();
  LoopId many = b.beginLoop("many", b.value("n", 5));
  b.endLoop();
  Kernel kernel = b.finish();
  Bindings bindings(kernel);
  EXPECT_EQ(bindings.trips(act, few, 1), 1u);
  EXPECT_EQ(bindings.trips(act, many, 1), 5u);
}

TEST(BindingsTest, entriesRepeat) {
  Loops l;
  Bindings bindings = l.bind({"A=3,1,4"});
  std::vector<uint64_t> seen;
  for (uint64_t entry = 1; entry <= 5; ++entry) {
    seen.push_back(bindings.trips(l.dma, l.a, entry));
  }
  EXPECT_EQ(seen, (std::vector<uint64_t>{3, 1, 4, 3, 1}));
  EXPECT_EQ(bindings.trips(l.dma, l.bb, 1), 2u);
}

TEST(BindingsTest, byValue) {
  Loops l;
  Bindings bindings = l.bind({"n=4", "more=9"});
  EXPECT_EQ(bindings.trips(l.act, l.a, 1), 4u);
  EXPECT_EQ(bindings.trips(l.act, l.bb, 1), 4u);
  EXPECT_EQ(bindings.trips(l.act, l.w, 1), 9u);
}

TEST(BindingsTest, perEngine) {
  Loops l;
  Bindings bindings = l.bind({"D=7", "D@dma=1,2"});
  EXPECT_EQ(bindings.trips(l.act, l.d, 2), 7u);
  EXPECT_EQ(bindings.trips(l.dma, l.d, 2), 2u);
}

/// Names may hold the characters that separate the parts.
TEST(BindingsTest, oddNames) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  LoopId odd = b.beginLoop("A@act=1", b.value("n"));
  b.endLoop();
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  std::vector<std::string> options = {"A@act=1=7"};
  Bindings bindings = Bindings::parse(kernel, options, 0, diagnostics);
  EXPECT_EQ(render(diagnostics, {}), "");
  EXPECT_EQ(bindings.trips(act, odd, 1), 7u);
}

TEST(BindingsTest, elseRunsWhenThenDoesNot) {
  Loops l;
  Bindings bindings = l.bind({"c=1,0"});
  EXPECT_EQ(bindings.trips(l.act, l.c, 1), 1u);
  EXPECT_EQ(bindings.trips(l.act, l.cElse, 1), 0u);
  EXPECT_EQ(bindings.trips(l.act, l.c, 2), 0u);
  EXPECT_EQ(bindings.trips(l.act, l.cElse, 2), 1u);
}

/// Uniform guards agree on all engines, divergent ones do not always; the seed changes both.
TEST(BindingsTest, guards) {
  Loops l;
  Bindings one = l.bind({}, nullptr, 1), two = l.bind({}, nullptr, 2);
  bool engineMatters = false, seedMatters = false, taken = false, whileVaries = false;
  for (uint64_t entry = 1; entry <= 64; ++entry) {
    EXPECT_EQ(one.trips(l.act, l.c, entry), one.trips(l.dma, l.c, entry));
    EXPECT_EQ(one.trips(l.act, l.w, entry), one.trips(l.dma, l.w, entry));
    EXPECT_LE(one.trips(l.act, l.c, entry), 1u);
    EXPECT_EQ(one.trips(l.act, l.c, entry) + one.trips(l.act, l.cElse, entry), 1u);
    engineMatters |= one.trips(l.act, l.dc, entry) != one.trips(l.dma, l.dc, entry);
    seedMatters |= one.trips(l.act, l.c, entry) != two.trips(l.act, l.c, entry);
    taken |= one.trips(l.act, l.c, entry) == 1;
    whileVaries |= one.trips(l.act, l.w, entry) != one.trips(l.act, l.w, 1);
  }
  EXPECT_TRUE(engineMatters);
  EXPECT_TRUE(seedMatters);
  EXPECT_TRUE(taken);
  EXPECT_TRUE(whileVaries);
}

TEST(BindingsTest, refuses) {
  Loops l;
  EXPECT_EQ(l.refused("A"), "error: in '--trips=A': expected LOOP=COUNT[,COUNT...] or "
                            "LOOP@ENGINE=COUNT[,COUNT...]\n");
  EXPECT_EQ(
      l.refused("Z=1"),
      "error: in '--trips=Z=1': unknown loop, branch or run-time value 'Z'; the loops, branches "
      "and "
      "run-time values of this kernel are 'fixed', 'A', 'n', 'B', 'D', 'd', 'w', 'more', 'c', "
      "'dc'\n");
  EXPECT_EQ(l.refused("D@pe=1"),
            "error: in '--trips=D@pe=1': unknown engine 'pe'; the engines of this "
            "kernel are 'act', 'dma'\n");
  EXPECT_EQ(l.refused("A=x"),
            "error: in '--trips=A=x': 'x' is not a trip count; expected an integer "
            "from 0 to 2147483647\n");
  EXPECT_EQ(l.refused("A=1,"),
            "error: in '--trips=A=1,': '' is not a trip count; expected an integer "
            "from 0 to 2147483647\n");
  EXPECT_EQ(l.refused("D=2147483648"),
            "error: in '--trips=D=2147483648': '2147483648' is not a trip "
            "count; expected an integer from 0 to 2147483647\n");
  EXPECT_EQ(l.refused("fixed=4"),
            "error: in '--trips=fixed=4': loop 'fixed' always runs 3 times, not 4 times\n");
  EXPECT_EQ(l.refused("fixed=3"), "");
  EXPECT_EQ(l.refused("A=0,5"),
            "error: in '--trips=A=0,5': loop 'A' runs at least once, not 0 times\n"
            "error: in '--trips=A=0,5': loop 'A' runs at most 4 times, not 5 times\n");
  EXPECT_EQ(l.refused("c=2"),
            "error: in '--trips=c=2': branch 'c' runs once or not at all, not 2 times; "
            "'c=1,0' takes it at every second entry\n");
  EXPECT_EQ(l.refused("c.else=1"), "error: in '--trips=c.else=1': an else-branch runs when its "
                                   "condition does not hold; give 'c' 0 or 1 instead\n");
  EXPECT_EQ(l.refused("A@act=2"),
            "error: in '--trips=A@act=2': 'A' is uniform, so it runs equally often on all engines; "
            "drop '@act', or make it divergent in the kernel\n");
}

namespace {

/// A: $n times, 1 to 8; B in A: A + 1 times; C in A: $n - A times; D: $n times.
struct Tied {
  KernelBuilder b{"k"};
  EngineId act = b.engine("act");
  LoopId a, bb, c, d;
  Kernel kernel;

  Tied() {
    a = b.beginLoop("A", b.formula("$n", 1));
    bb = b.beginLoop("B", b.formula("A + 1"));
    b.endLoop();
    c = b.beginLoop("C", b.formula("$n - A * 2"));
    b.endLoop();
    b.endLoop();
    d = b.beginLoop("D", b.formula("$n", 0, 8));
    b.endLoop();
    kernel = b.finish();
  }

  uint64_t trips(const Bindings &bindings, LoopId loop, int64_t iterationOfA) const {
    return bindings.trips(act, loop, 1, [&](LoopId) { return iterationOfA; });
  }

  std::string refused(std::vector<std::string> trips) const {
    Diagnostics diagnostics;
    Bindings::parse(kernel, trips, 0, diagnostics);
    return render(diagnostics, {});
  }
};

} // namespace

TEST(BindingsTest, formulasFollowFromOneValue) {
  Tied t;
  ASSERT_EQ(t.kernel.values.size(), 1u);
  Bindings bindings(t.kernel);
  EXPECT_EQ(t.trips(bindings, t.a, 0), 2u); // not bound
  bindings.setValue(RunValueId(0), 5);
  EXPECT_EQ(t.trips(bindings, t.a, 0), 5u);
  EXPECT_EQ(t.trips(bindings, t.d, 0), 5u);
  EXPECT_EQ(t.trips(bindings, t.bb, 3), 4u);
  EXPECT_EQ(t.trips(bindings, t.c, 2), 1u);
  EXPECT_EQ(t.trips(bindings, t.c, 4), 0u); // not -3
}

TEST(BindingsTest, boundsOfFormulasFollow) {
  Tied t;
  auto boundsOf = [&](LoopId loop) {
    const Trip &trip = t.kernel.loops[loop].trip;
    return std::pair(trip.least(), trip.most());
  };
  using Bounds = std::pair<uint64_t, std::optional<uint64_t>>;
  EXPECT_EQ(boundsOf(t.a), Bounds(1, 8));
  EXPECT_EQ(boundsOf(t.d), Bounds(1, 8));
  EXPECT_EQ(boundsOf(t.bb), Bounds(1, 8));
  EXPECT_EQ(boundsOf(t.c), Bounds(0, 8));
}

TEST(BindingsTest, aValueIsOneNumber) {
  Tied t;
  EXPECT_EQ(t.refused({"n=4"}), "");
  EXPECT_NE(t.refused({"n=4,5"}).find("'$n' is one number for the whole run"), std::string::npos);
  EXPECT_NE(t.refused({"n@act=4"}).find("'$n' is one number for the whole run"), std::string::npos);
  EXPECT_NE(t.refused({"n=4", "n=5"}).find("'$n' is given twice"), std::string::npos);
  EXPECT_NE(t.refused({"n=9"}).find("'$n' is at most 8, not 9"), std::string::npos);
  EXPECT_NE(t.refused({"n=0"}).find("'$n' is at least 1, not 0"), std::string::npos);
  EXPECT_NE(t.refused({"B=2"}).find("follows from 'trips = \"A + 1\"'; it needs no number"),
            std::string::npos);
  EXPECT_NE(t.refused({"C=2"}).find("'trips = \"$n - A * 2\"'; bind 'n'"), std::string::npos);
}
