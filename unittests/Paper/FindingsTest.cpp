//===- FindingsTest.cpp - Where the published rules need care -------------===//
//
// The paper's formulas are right, but read without care they deadlock, wait too long, or wait for
// nothing. Each such place has a small kernel here that tells the readings apart: the value
// that this compiler waits for is compared with one derived by hand, and next to it stands,
// computed, the value of the tempting reading. In derivations r_L is the number of entries of L so
// far, a an iteration of A.
//
// Not here: that control never reads what instructions write. The form of kernels does not let it
// be said, so there is nothing to compile.
//
//===----------------------------------------------------------------------===//

#include "PaperCase.h"

#include "tally/Run/Interpret.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::paper;

namespace {

/// The number of the first line that holds `part`; if there is none, that of the end.
size_t lineOf(const Lines &lines, std::string_view part) {
  auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string &line) {
    return line.find(part) != std::string::npos;
  });
  return static_cast<size_t>(found - lines.begin());
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Refused, with exactly one error that says this.
void expectRefused(const Case &refused, std::string_view part) {
  EXPECT_FALSE(refused.accepted());
  EXPECT_EQ(refused.reports().numErrors(), 1u) << refused.messages();
  EXPECT_TRUE(contains(refused.messages(), part)) << refused.messages();
}

//===----------------------------------------------------------------------===//
// Divergent trips: the consumer counts on its own engine
//===----------------------------------------------------------------------===//

/// A { B { P@e0 }; C@e1 }, engines may disagree on B; C depends on P.
Kernel divergentProducer(bool allow) {
  Writer k;
  k.loop("A");
  k.divergentLoop("B");
  InstrId p = k.on(0, "P");
  k.endLoop();
  InstrId c = k.on(1, "C");
  k.endLoop();
  DepId dep = k.dep(p, c);
  if (allow) {
    k.allowDivergent(dep);
  }
  return k.finish();
}

} // namespace

/// C's engine cannot know how often e0 runs B. Refused, with a note at the loop.
TEST(DivergenceTest, divergentProducerPathIsRefused) {
  Case refused(divergentProducer(false));
  expectRefused(refused, "'B' around 'P' is divergent");
  ASSERT_EQ(refused.reports().all().size(), 1u);
  const std::vector<DiagnosticNote> &notes = refused.reports().all()[0].notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const DiagnosticNote &note) {
    return contains(note.message, "divergent 'B' is here");
  }));
}

/// Why: e0 runs B 3 times, e1 once. C passes after one retirement, all three are needed. The other
/// way round it waits for 3, of which there is only one: for ever.
TEST(DivergenceTest, allowedDivergenceCountsOnTheConsumersEngine) {
  Case allowed(divergentProducer(true));
  ASSERT_TRUE(allowed.accepted()) << allowed.messages();
  allowed.trips("A", {1});
  allowed.trips("B", {3}, "e0");
  allowed.trips("B", {1}, "e1");
  EXPECT_EQ(allowed.thresholds("C"), Values{1});
  EXPECT_EQ(allowed.raisedInTheEnd("P"), 3u);
  allowed.trips("B", {1}, "e0");
  allowed.trips("B", {3}, "e1");
  EXPECT_EQ(allowed.thresholds("C"), Values{3});
  EXPECT_EQ(allowed.raisedInTheEnd("P"), 1u);
}

/// Loops that are not around the producer may diverge: A { P@e0; B { C@e1 } }, each engine with a
/// B of its own length.
TEST(DivergenceTest, divergenceBesideTheProducerIsAccepted) {
  Writer k;
  k.loop("A");
  InstrId p = k.on(0, "P");
  k.divergentLoop("B");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.endLoop();
  k.dep(p, c);
  Case accepted(k.finish());
  EXPECT_EQ(accepted.messages(), "");
  accepted.trips("A", {2});
  accepted.trips("B", {5}, "e0");
  accepted.trips("B", {1, 2}, "e1");
  EXPECT_EQ(accepted.thresholds("C"), (Values{1, 2, 2}));
}

/// On one engine there is nobody to disagree with.
TEST(DivergenceTest, oneEngineAgreesWithItself) {
  Writer k;
  k.loop("A");
  k.divergentLoop("B");
  InstrId p = k.on(0, "P");
  k.endLoop();
  InstrId c = k.on(0, "C");
  k.endLoop();
  k.dep(p, c);
  Case accepted(k.finish());
  EXPECT_EQ(accepted.messages(), "");
  accepted.trips("A", {2});
  accepted.trips("B", {2, 1}, "e0");
  EXPECT_EQ(accepted.thresholds("C"), (Values{2, 3}));
}

//===----------------------------------------------------------------------===//
// The consumer below the shared loop
//===----------------------------------------------------------------------===//

/// A { P, X @e0; B { C@e1 } } at A = 1: S is A, so k is compared with the trip of A, and every
/// iteration of B waits for the same value, 2*(r_A - 1) - 1: none at a = 1, then 1, then 3. It is
/// computed once for each run of B.
TEST(NestedConsumerTest, thresholdStandsStillInTheInnerLoop) {
  Writer k;
  LoopId a = k.loop("A");
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  k.loop("B");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.endLoop();
  k.dep(p, c, {{a, 1}});
  Case nested(k.finish());
  nested.trips("A", {3});
  nested.trips("B", {2});
  EXPECT_EQ(nested.thresholds("C"), (Values{0, 0, 1, 1, 3, 3}));
  Lines program = nested.program("e1");
  size_t inner = lineOf(program, "loop B:");
  EXPECT_LT(lineOf(program, "isGT"), inner);
  EXPECT_EQ(Lines(program.begin() + static_cast<ptrdiff_t>(inner), program.end()).size(), 2u)
      << "loop B: and C";
}

//===----------------------------------------------------------------------===//
// Conditionals
//===----------------------------------------------------------------------===//

namespace {

constexpr uint64_t taken = 1, notTaken = 0;

/// A { if c { P; C } } with a distance on A, the producer on e0 and the consumer on e1.
Kernel sameBranch(int64_t distance) {
  Writer k;
  LoopId a = k.loop("A");
  k.beginIf("c");
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  k.endIf();
  k.endLoop();
  k.dep(p, c, {{a, distance}});
  return k.finish();
}

/// A { if c { P@e0 } else { C@e1 } } with a distance on A.
Kernel oppositeBranches(int64_t distance) {
  Writer k;
  LoopId a = k.loop("A");
  k.beginIf("c");
  InstrId p = k.on(0, "P");
  k.beginElse();
  InstrId c = k.on(1, "C");
  k.endIf();
  k.endLoop();
  k.dep(p, c, {{a, distance}});
  return k.finish();
}

} // namespace

/// A { if c { P } else { Q } ; C }, C depends on both, decisions T, F, T. One count for both
/// branches would have r = 3 entries, N = 2 and K = 1: a wait for 2*3 - 1 = 5 on a semaphore that
/// three instructions raise. With a count for each branch, C waits for 1, 1, 2 of P
/// and 0, 1, 1 of Q.
TEST(ConditionalTest, oneCountForEachBranch) {
  Writer k;
  k.loop("A");
  k.beginIf("c");
  InstrId p = k.on(0, "P");
  k.beginElse();
  InstrId q = k.on(0, "Q");
  k.endIf();
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c);
  k.dep(q, c);
  Case branches(k.finish());
  branches.trips("A", {3});
  branches.trips("c", {taken, notTaken, taken});
  EXPECT_EQ(branches.waits("C"), (Lines{"c.e0 >= 1, c.else.e0 >= 0", "c.e0 >= 1, c.else.e0 >= 1",
                                        "c.e0 >= 2, c.else.e0 >= 1"}));
  EXPECT_EQ(branches.raisedInTheEnd("P"), 2u);
  EXPECT_EQ(branches.raisedInTheEnd("Q"), 1u);
  constexpr uint64_t entries = 3, both = 2, place = 1;
  EXPECT_GT(both * entries - (both - place),
            branches.raisedInTheEnd("P") + branches.raisedInTheEnd("Q"));
}

/// Both ends in one branch, distance 1 on A, decisions T, F, T. C runs at a = 1 and a = 3; the
/// latter is owed what P did up to a = 2: one run. Compared with the trip of the branch (always 1)
/// the mask would never be 1; r_A - 1 would ask for 2.
TEST(ConditionalTest, sameBranchAtDistanceOne) {
  Case branch(sameBranch(1));
  branch.trips("A", {3});
  branch.trips("c", {taken, notTaken, taken});
  EXPECT_EQ(branch.thresholds("C"), (Values{0, 1}));
  EXPECT_EQ(branch.wait(0).waitClass, WaitClass::SameBranch);
  EXPECT_TRUE(branch.wait(0).exact);
}

/// Decisions T, T, F, T, T. At a = 4 the target is a = 2: two runs of P; at a = 5 it is a = 3,
/// where P did not run: still two. At a = 2 nothing is owed yet.
TEST(ConditionalTest, sameBranchAtDistanceTwo) {
  Case branch(sameBranch(2));
  branch.trips("A", {5});
  branch.trips("c", {taken, taken, notTaken, taken, taken});
  EXPECT_EQ(branch.thresholds("C"), (Values{0, 0, 2, 2}));
  EXPECT_EQ(branch.wait(0).waitClass, WaitClass::Ring);
  EXPECT_TRUE(branch.wait(0).exact);
}

/// Ends in opposite branches: where C runs, P did not, so the count is the same for distance 0 and
/// 1. Decisions T, F, T, F, F: C runs at a = 2, 4, 5, after 1, 2, 2 runs of P.
TEST(ConditionalTest, oppositeBranches) {
  for (int64_t distance : {0, 1}) {
    Case branches(oppositeBranches(distance));
    ASSERT_TRUE(branches.accepted()) << branches.messages();
    branches.trips("A", {5});
    branches.trips("c", {taken, notTaken, taken, notTaken, notTaken});
    EXPECT_EQ(branches.thresholds("C"), (Values{1, 2, 2})) << distance;
  }
}

/// At distance 2 with the same decisions: the targets are a = 0, 2, 3, with -, 1 and 2 runs of P.
TEST(ConditionalTest, oppositeBranchesAtDistanceTwo) {
  Case branches(oppositeBranches(2));
  branches.trips("A", {5});
  branches.trips("c", {taken, notTaken, taken, notTaken, notTaken});
  EXPECT_EQ(branches.thresholds("C"), (Values{0, 1, 2}));
}

/// A branch never runs a second time, so a distance on it would never wait: a mistake of the input.
TEST(ConditionalTest, distanceOnABranchIsRefused) {
  Writer k;
  k.loop("A");
  LoopId branch = k.beginIf("c");
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  k.endIf();
  k.endLoop();
  k.dep(p, c, {{branch, 1}});
  expectRefused(Case(k.finish()), "branches have no iterations");
}

/// The trip of a branch is the constant 1: no register holds it, even where nothing is folded.
TEST(ConditionalTest, branchesHaveNoTripRegister) {
  Writer k;
  k.loop("A");
  k.beginIf("c");
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  k.endIf();
  k.endLoop();
  k.dep(p, c);
  Case branch(k.finish(), literal(Strategy::PerLoop));
  ASSERT_TRUE(branch.accepted()) << branch.messages();
  for (const Register &reg : branch.code().engines[EngineId(1)].registers) {
    EXPECT_FALSE(contains(reg.role.text, "trip(c)")) << reg.role.text;
  }
  branch.trips("A", {3});
  branch.trips("c", {taken, notTaken, taken});
  EXPECT_EQ(branch.thresholds("C"), (Values{1, 2}));
}

/// A loop in a branch: its trip register is set to 0 right before the loop, not where A begins, so
/// each run of B masks its first iteration. A { if c { B { P; C } } } at B = 1, decisions T, F, T,
/// B runs twice: (1,1) none, (1,2) run 1, (3,1) none, (3,2) run 3.
TEST(ConditionalTest, tripIsResetBeforeTheLoop) {
  Writer k;
  k.loop("A");
  k.beginIf("c");
  LoopId b = k.loop("B");
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.endIf();
  k.endLoop();
  k.dep(p, c, {{b, 1}});
  Case test(k.finish());
  test.trips("A", {3});
  test.trips("c", {taken, notTaken, taken});
  test.trips("B", {2});
  EXPECT_EQ(test.thresholds("C"), (Values{0, 1, 0, 3}));
}

//===----------------------------------------------------------------------===//
// Zero trips, and what wraps around
//===----------------------------------------------------------------------===//

namespace {

/// A { B { P, X @e0 }; C@e1 } (N = 2, K = 1), or the consumer first with distance 1 on A.
Kernel nestedPair(bool forward) {
  Writer k;
  LoopId a = k.loop("A");
  InstrId c;
  if (!forward) {
    c = k.on(1, "C");
  }
  k.loop("B");
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  k.endLoop();
  if (forward) {
    c = k.on(1, "C");
  }
  k.endLoop();
  if (forward) {
    k.dep(p, c);
  } else {
    k.dep(p, c, {{a, 1}});
  }
  return k.finish();
}

} // namespace

/// B runs 2, 0, 3 times. After each, 2, 2, 5 runs of P are owed: where B does not run, r_B
/// does not move, and the older runs are waited for again. That is what the definition says.
TEST(ZeroTripsTest, olderRunsAreStillWaitedFor) {
  Case test(nestedPair(true));
  test.trips("A", {3});
  test.trips("B", {2, 0, 3});
  Values raised = test.raised("P");
  EXPECT_EQ(test.thresholds("C"), (Values{raised[1], raised[1], raised[4]}));
  EXPECT_EQ(raised, (Values{1, 3, 5, 7, 9}));
}

/// The same one iteration later: at a = 3 the target a = 2 had no run of P, the older two are owed.
TEST(ZeroTripsTest, backward) {
  Case test(nestedPair(false));
  test.trips("A", {4});
  test.trips("B", {2, 0, 3});
  EXPECT_EQ(test.thresholds("C"), (Values{0, 3, 3, 9}));
}

/// Nothing at all: neither engine enters A.
TEST(ZeroTripsTest, outermostLoopDoesNotRun) {
  Case test(nestedPair(true));
  test.trips("A", {0});
  EXPECT_EQ(test.thresholds("C"), Values{});
  EXPECT_EQ(test.raisedInTheEnd("P"), 0u);
}

/// B runs 0, 2, 1 times: at a = 1 the count is 2*0 - 1. On natural numbers that is 0, no wait, and
/// so it must be on every machine; the bare formula on words that wrap is 2^32 - 1: for ever.
TEST(WrappingTest, noThresholdWraps) {
  for (const Machine &machine : {saturatingMachine(), wrappingMachine(), signedMachine()}) {
    for (const Request &options : {with(Strategy::PerLoop), literal(Strategy::PerLoop)}) {
      Case test(nestedPair(true), options, machine);
      test.trips("A", {3});
      test.trips("B", {0, 2, 1});
      EXPECT_EQ(test.thresholds("C"), (Values{0, 3, 5}));
    }
  }
  uint64_t twice = aluValue(AluOp::Mul, 2, 0, wrappingMachine());
  EXPECT_EQ(aluValue(AluOp::Sub, twice, 1, wrappingMachine()), UINT32_MAX);
}

/// The mask of a backward dependence is 1 at a = 2 although B has not run: the guard is needed
/// beside the mask.
TEST(WrappingTest, noThresholdWrapsUnderAMaskOfOne) {
  for (const Request &options : {with(Strategy::PerLoop), literal(Strategy::PerLoop)}) {
    Case test(nestedPair(false), options, wrappingMachine());
    test.trips("A", {3});
    test.trips("B", {0, 2, 1});
    EXPECT_EQ(test.thresholds("C"), (Values{0, 0, 3}));
  }
}

/// Masked consumers multiply by the mask last. A { P, X @e0; C@e1 } at A = 1: 0*(2*(1-1) - 1) is 0
/// on any machine; masking the count first, 2*(0*(1-1)) - 1, wraps.
TEST(WrappingTest, maskIsTheLastFactor) {
  Writer k;
  LoopId a = k.loop("A");
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c, {{a, 1}});
  Kernel kernel = k.finish();
  for (const Request &options : {with(Strategy::PerLoop), literal(Strategy::PerLoop)}) {
    Case test(kernel, options, wrappingMachine());
    test.trips("A", {3});
    EXPECT_EQ(test.thresholds("C"), (Values{0, 1, 3}));
  }
  EXPECT_EQ(aluValue(AluOp::Sub, 0, 1, wrappingMachine()), UINT32_MAX);
}

/// For the last instruction of the body K = N: nothing is subtracted, and nothing is guarded.
TEST(WrappingTest, lastPlaceNeedsNoGuard) {
  auto kernel = [] {
    Writer k;
    k.loop("A");
    k.loop("B");
    k.on(0, "X");
    InstrId p = k.on(0, "P");
    k.endLoop();
    k.dep(p, k.on(1, "C"));
    k.endLoop();
    return k.finish();
  };
  Case test(kernel(), {.strategy = Strategy::PerLoop}, wrappingMachine());
  EXPECT_EQ(test.computations("e1"), 1u) << "2 * r_B";
  test.trips("A", {3});
  test.trips("B", {0, 2, 1});
  EXPECT_EQ(test.thresholds("C"), (Values{0, 4, 6}));
}

//===----------------------------------------------------------------------===//
// Counters that overflow
//===----------------------------------------------------------------------===//

namespace {

/// A { P, X @e0; C@e1 } with A so often: its semaphore grows by 2 at each entry.
Kernel counting(std::optional<uint64_t> max) {
  Writer k;
  k.beginLoop("A", k.value("n", 0, max));
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  k.dep(p, k.on(1, "C"));
  k.endLoop();
  return k.finish();
}

std::string remarksFor(std::optional<uint64_t> max, const Machine &machine) {
  Case test(counting(max), with(Strategy::PerLoop), machine);
  EXPECT_TRUE(test.accepted());
  return test.messages();
}

} // namespace

/// 2*(entries + 1) < 2^32 holds up to 2147483646 entries. Without a bound a remark says so, and
/// where the bound belongs.
TEST(OverflowTest, unboundedLoopIsRemarked) {
  std::string text = remarksFor({}, saturatingMachine());
  EXPECT_TRUE(contains(text, "remark: counters of 'A' have room for 2147483646 entries")) << text;
  EXPECT_TRUE(contains(text, "a bound 'max' on the trips of 'A' would settle it")) << text;
}

/// The very number that the remark names settles it; one more does not.
TEST(OverflowTest, boundIsTight) {
  EXPECT_EQ(remarksFor(2147483646, saturatingMachine()), "");
  EXPECT_TRUE(contains(remarksFor(2147483647, saturatingMachine()), "allow 2147483647"));
}

/// Where waits compare signed, 2^31 is the limit: 2*(1073741822 + 1) < 2^31.
TEST(OverflowTest, signedComparisonHalvesTheLimit) {
  EXPECT_EQ(remarksFor(1073741822, signedMachine()), "");
  std::string text = remarksFor(1073741823, signedMachine());
  EXPECT_TRUE(contains(text, "have room for 1073741822 entries")) << text;
}

/// By default counters are reset where the bound is missed by one, and only there; and `refuse`
/// makes an error of it.
TEST(OverflowTest, resetsBeginBehindTheBound) {
  Machine machine = saturatingMachine();
  machine.counterBits = 8; // 2*(126 + 1) < 2^8
  auto messages = [&](uint64_t max, Overflow overflow) {
    Request options = with(Strategy::PerLoop);
    options.overflow = overflow;
    return Case(counting(max), options, machine).messages();
  };
  for (Overflow overflow : {Overflow::Reset, Overflow::Refuse, Overflow::Assume}) {
    EXPECT_EQ(messages(126, overflow), "");
  }
  EXPECT_TRUE(contains(messages(127, Overflow::Reset),
                       "remark: engines drain and reset the counters in 'A' after every 126 "
                       "iterations of it"));
  EXPECT_TRUE(
      contains(messages(127, Overflow::Refuse), "error: counters of 'A' have room for 126"));
  EXPECT_TRUE(contains(messages(127, Overflow::Assume), "remark: counters of 'A' have room for"));
}

/// Trips multiply over the loops around: 65536 iterations of 65536 each are 2^32 entries of B. It
/// is the inner loop whose counter overflows, though each bound by itself is small.
TEST(OverflowTest, entriesOfNestedLoopsMultiply) {
  Writer k;
  k.beginLoop("A", KernelBuilder::constant(65536));
  k.beginLoop("B", KernelBuilder::constant(65536));
  k.dep(k.on(0, "P"), k.on(1, "C"));
  k.endLoop();
  k.endLoop();
  std::string text = Case(k.finish(), with(Strategy::PerLoop)).messages();
  EXPECT_TRUE(contains(text, "counters of 'B' have room for 4294967294 entries")) << text;
  EXPECT_TRUE(contains(text, "allow 4294967296")) << text;
  EXPECT_FALSE(contains(text, "counters of 'A'")) << text;
}

//===----------------------------------------------------------------------===//
// Orders that can never be met
//===----------------------------------------------------------------------===//

namespace {

/// A { C; P } on one engine, C depends on P, at a distance on A.
Kernel sameEngine(int64_t distance) {
  Writer k;
  LoopId a = k.loop("A");
  InstrId c = k.on(0, "C");
  InstrId p = k.on(0, "P");
  k.endLoop();
  k.dep(p, c, {{a, distance}});
  return k.finish();
}

/// One block; e0 runs C2, P1 and e1 runs C1, P2. C1 depends on P1; `both`: and C2 on P2.
Kernel crossed(bool both) {
  Writer k;
  k.loop("A");
  InstrId c2 = k.on(0, "C2");
  InstrId p1 = k.on(0, "P1");
  InstrId c1 = k.on(1, "C1");
  InstrId p2 = k.on(1, "P2");
  k.endLoop();
  k.dep(p1, c1);
  if (both) {
    k.dep(p2, c2);
  }
  return k.finish();
}

} // namespace

/// On one engine the producer must come first at distance 0.
TEST(OrderTest, sameEngineBackwardIsRefused) {
  expectRefused(Case(sameEngine(0)), "at distance 0, but 'P' comes after 'C' on engine 'e0'");
}

/// At distance 1 the same pair is legal, and waits as any other: instructions in flight commit in
/// any order. N = 2, P is the second: 2*(r_A - 1), which is P's run a-1.
TEST(OrderTest, sameEngineAtDistanceOne) {
  Case test(sameEngine(1));
  test.trips("A", {4});
  Values raised = test.raised("P");
  EXPECT_EQ(test.thresholds("C"), (Values{0, raised[0], raised[1], raised[2]}));
  EXPECT_EQ(raised, (Values{2, 4, 6, 8}));
}

TEST(OrderTest, waitingForItselfIsRefused) {
  Writer k;
  LoopId a = k.loop("A");
  InstrId p = k.on(0, "P");
  k.endLoop();
  k.dep(p, p);
  expectRefused(Case(k.finish()), "'P' waits for itself at distance 0");

  Writer later;
  a = later.loop("A");
  p = later.on(0, "P");
  later.endLoop();
  later.dep(p, p, {{a, 1}});
  Case accepted(later.finish());
  accepted.trips("A", {3});
  EXPECT_EQ(accepted.thresholds("P"), (Values{0, 1, 2}));
}

/// Between engines one block has no order: C1 written after P1 or before it is the same
/// forward dependence. Two of them crossed cannot be started, and the error shows
/// the whole cycle: C1 after P1 after C2 after P2 after C1.
TEST(OrderTest, crossedDependencesAreRefusedWithTheirCycle) {
  Case alone(crossed(false));
  EXPECT_EQ(alone.messages(), "");
  alone.trips("A", {2});
  EXPECT_EQ(alone.thresholds("C1"), alone.raised("P1"));

  Case refused(crossed(true));
  expectRefused(refused, "form a cycle");
  EXPECT_TRUE(contains(refused.messages(), "'P1' comes after 'C2' on engine 'e0'"));
  EXPECT_TRUE(contains(refused.messages(), "'C2' waits for 'P2'"));
  EXPECT_TRUE(contains(refused.messages(), "'P2' comes after 'C1' on engine 'e1'"));
}

/// Across statements distance 0 must go forward, between engines too: C; B {}; P.
TEST(OrderTest, backwardAcrossStatementsIsRefused) {
  Writer k;
  k.loop("A");
  InstrId c = k.on(1, "C");
  k.loop("B");
  k.endLoop();
  InstrId p = k.on(0, "P");
  k.endLoop();
  k.dep(p, c);
  expectRefused(Case(k.finish()), "'P' comes after 'C' in the body of 'A'");
}

/// A nested producer after its consumer, at distance 0: counted so far, r_B would ask for nothing
/// that is still to come, so the wait would pass although the dependence can never be met.
TEST(OrderTest, nestedBackwardAtDistanceZeroIsRefused) {
  Writer k;
  k.loop("A");
  InstrId c = k.on(1, "C");
  k.loop("B");
  InstrId p = k.on(0, "P");
  k.endLoop();
  k.endLoop();
  k.dep(p, c);
  expectRefused(Case(k.finish()), "needs a distance of at least 1 on 'A'");
}

//===----------------------------------------------------------------------===//
// Several dependences of one consumer
//===----------------------------------------------------------------------===//

/// C depends on e0 and on e2: one wait stands alone before C, the other goes with it. D depends on
/// nothing and waits for nothing: no threshold is left over from C.
TEST(SeveralWaitsTest, furtherWaitsStandAlone) {
  Writer k(3);
  k.loop("A");
  InstrId p = k.on(0, "P");
  InstrId q = k.on(2, "Q");
  InstrId c = k.on(1, "C");
  k.on(1, "D");
  k.endLoop();
  k.dep(p, c);
  k.dep(q, c);
  Case test(k.finish());
  test.trips("A", {2});
  EXPECT_EQ(test.waits("C"), (Lines{"A.e0 >= 1, A.e2 >= 1", "A.e0 >= 2, A.e2 >= 2"}));
  EXPECT_EQ(test.waits("D"), (Lines{"", ""}));
  EXPECT_EQ(test.executed("e1", OpKind::Wait), 2u);
  for (const EngineProgram &program : test.code().engines) {
    for (const Op &op : program.ops) {
      EXPECT_EQ(op.wait.valid(), op.numReasons > 0) << "each wait has its dependence";
    }
  }
}

/// Two producers behind one semaphore: the later one's wait implies the other's. It stands for
/// both.
TEST(SeveralWaitsTest, largerThresholdStandsForBoth) {
  Writer k;
  k.loop("A");
  InstrId p = k.on(0, "P");
  InstrId q = k.on(0, "Q");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c);
  k.dep(q, c);
  Case test(k.finish());
  test.trips("A", {2});
  EXPECT_EQ(test.waits("C"), (Lines{"A.e0 >= 2", "A.e0 >= 4"}));
  EXPECT_EQ(test.code().reasons.size(), 2u);
}

/// The younger of two runs stands for both: Q of one iteration ago is later than P of two ago.
TEST(SeveralWaitsTest, youngerRunStandsForBoth) {
  Writer k;
  LoopId a = k.loop("A");
  InstrId p = k.on(0, "P");
  InstrId q = k.on(0, "Q");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c, {{a, 2}});
  k.dep(q, c, {{a, 1}});
  Case test(k.finish());
  test.trips("A", {3});
  EXPECT_EQ(test.waits("C"), (Lines{"A.e0 >= 0", "A.e0 >= 2", "A.e0 >= 4"}));
}

/// An iteration ago is not always earlier: A { B { P, Q }; C }, C depends on P of this iteration (K
/// = 1) and on Q of the last one (K = 2), B runs 2, 0, 1 times. Where B did not run, both mean run
/// 2, and Q's wait is the larger: 4 against 3. At a = 3 it is 4 against 5. Both must stay.
TEST(SeveralWaitsTest, equalRunsCompareByPlace) {
  Writer k;
  LoopId a = k.loop("A");
  k.loop("B");
  InstrId p = k.on(0, "P");
  InstrId q = k.on(0, "Q");
  k.endLoop();
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c);
  k.dep(q, c, {{a, 1}});
  Case test(k.finish());
  test.trips("A", {3});
  test.trips("B", {2, 0, 1});
  EXPECT_EQ(test.waits("C"),
            (Lines{"B.e0 >= 0, B.e0 >= 3", "B.e0 >= 4, B.e0 >= 3", "B.e0 >= 4, B.e0 >= 5"}));
}

/// A wait that is masked where the other one is not stands for nothing: A { B { P, Q; C } }, Q at
/// B = 1 and P one run ago over the whole run. B runs twice each time. At (2,1) no Q is
/// owed, but run 2 of P is: 2*2 - 1 = 3.
TEST(SeveralWaitsTest, maskedThresholdDoesNotStandForBoth) {
  Writer k;
  k.loop("A");
  LoopId b = k.loop("B");
  InstrId p = k.on(0, "P");
  InstrId q = k.on(0, "Q");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.endLoop();
  k.depFlat(p, c, 1);
  k.dep(q, c, {{b, 1}});
  Case test(k.finish());
  test.trips("A", {2});
  test.trips("B", {2});
  EXPECT_EQ(test.waits("C"), (Lines{"B.e0 >= 0, B.e0 >= 0", "B.e0 >= 1, B.e0 >= 2",
                                    "B.e0 >= 3, B.e0 >= 0", "B.e0 >= 5, B.e0 >= 6"}));
}

//===----------------------------------------------------------------------===//
// When a value is computed
//===----------------------------------------------------------------------===//

namespace {

/// A { C0; B { P, X }; C1; D { C2 }; C3 } with P, X on e0 and all consumers on e1: C0 depends
/// on the P of one iteration of A ago, the others on that of this iteration. All read r_B, and C1
/// to C3 one value of it, but C0 reads it before B runs.
Kernel readersAround() {
  Writer k;
  LoopId a = k.loop("A");
  InstrId c0 = k.on(1, "C0");
  k.loop("B");
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  k.endLoop();
  InstrId c1 = k.on(1, "C1");
  k.loop("D");
  InstrId c2 = k.on(1, "C2");
  k.endLoop();
  InstrId c3 = k.on(1, "C3");
  k.endLoop();
  k.dep(p, c0, {{a, 1}});
  k.dep(p, c1);
  k.dep(p, c2);
  k.dep(p, c3);
  return k.finish();
}

} // namespace

/// B runs 2, 1, 3 times: 2, 3, 6 runs of P so far, seen as 2*2-1 = 3, 5 and 11. C0 is one iteration
/// behind. A value carried over B, or computed before r_B moves, would be off by a step. So
/// it must be with and without hoisting and sharing, folded or not.
TEST(EvaluationTimeTest, hoistedAndSharedValuesReadTheCountersInTime) {
  for (uint32_t choice = 0; choice < 16; ++choice) {
    Request options;
    options.strategy = Strategy::PerLoop;
    options.licm = choice & 1;
    options.cse = choice & 2;
    options.fold = choice & 4;
    Case test(readersAround(), options, choice & 8 ? wrappingMachine() : saturatingMachine());
    test.trips("A", {3});
    test.trips("B", {2, 1, 3});
    test.trips("D", {2});
    EXPECT_EQ(test.thresholds("C0"), (Values{0, 3, 5})) << choice;
    EXPECT_EQ(test.thresholds("C1"), (Values{3, 5, 11})) << choice;
    EXPECT_EQ(test.thresholds("C2"), (Values{3, 3, 5, 5, 11, 11})) << choice;
    EXPECT_EQ(test.thresholds("C3"), (Values{3, 5, 11})) << choice;
  }
}

/// Shared and hoisted, 2*r_B - 1 is computed twice: before B for C0 (2 operations, 2 for its mask)
/// and after B once for the other three.
TEST(EvaluationTimeTest, oneValueForAllReadersAfterTheChange) {
  EXPECT_EQ(Case(readersAround()).computations("e1"), 6u);
}

/// The counter is stepped at the very start of the body: a value of r_A computed before would lag
/// by one. A { C@e1; P@e0 } in one block: C at a waits for run a.
TEST(EvaluationTimeTest, countersStepBeforeAnythingReadsThem) {
  Writer k;
  k.loop("A");
  InstrId c = k.on(1, "C");
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  k.endLoop();
  k.dep(p, c);
  Case test(k.finish());
  test.trips("A", {3});
  EXPECT_EQ(test.thresholds("C"), test.raised("P"));
  Lines program = test.program("e1");
  ASSERT_GT(program.size(), lineOf(program, "loop A:") + 1);
  EXPECT_EQ(program[lineOf(program, "loop A:") + 1], "[r0++]");
}

//===----------------------------------------------------------------------===//
// Nested producers at larger distances
//===----------------------------------------------------------------------===//

namespace {

/// A { B { P@e0 }; C@e1 } at a distance on A.
Kernel nestedForwardAt(int64_t distance) {
  Writer k;
  LoopId a = k.loop("A");
  k.loop("B");
  InstrId p = k.on(0, "P");
  k.endLoop();
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c, {{a, distance}});
  return k.finish();
}

} // namespace

/// B runs 2, 1, 2, 1 times. C at a = 2 is owed the 2 runs of a = 1; r_B is 3 already. Then 3,
/// then 5.
TEST(NestedDistanceTest, forwardAtDistanceOne) {
  Case test(nestedForwardAt(1));
  test.trips("A", {4});
  test.trips("B", {2, 1, 2, 1});
  EXPECT_EQ(test.thresholds("C"), (Values{0, 2, 3, 5}));
  EXPECT_TRUE(test.wait(0).exact);
  EXPECT_EQ(test.messages(), "");
}

/// And two or three iterations back: the copies of r_B move up one slot at each entry of A.
TEST(NestedDistanceTest, forwardAtLargerDistances) {
  for (uint64_t distance : {2u, 3u}) {
    Case test(nestedForwardAt(static_cast<int64_t>(distance)));
    test.trips("A", {distance + 4});
    test.trips("B", {2, 1, 2, 1});
    Values expected(distance, 0);
    expected.insert(expected.end(), {2, 3, 5, 6});
    EXPECT_EQ(test.thresholds("C"), expected) << distance;
  }
}

/// Backward at distance 2, A { C; B { P } }: at a = 3 the runs of a = 1, at a = 4 those up to a
/// = 2.
TEST(NestedDistanceTest, backwardAtDistanceTwo) {
  Writer k;
  LoopId a = k.loop("A");
  InstrId c = k.on(1, "C");
  k.loop("B");
  InstrId p = k.on(0, "P");
  k.endLoop();
  k.endLoop();
  k.dep(p, c, {{a, 2}});
  Case test(k.finish());
  test.trips("A", {4});
  test.trips("B", {2, 1, 2, 1});
  EXPECT_EQ(test.thresholds("C"), (Values{0, 0, 2, 3}));
}

//===----------------------------------------------------------------------===//
// One semaphore for each engine
//===----------------------------------------------------------------------===//

namespace {

/// A { P@e0; B { Q@e0 }; C@e1 }, C depends on P at a distance on A.
Kernel placesOnOneQueue(int64_t distance) {
  Writer k;
  LoopId a = k.loop("A");
  InstrId p = k.on(0, "P");
  k.loop("B");
  k.on(0, "Q");
  k.endLoop();
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c, {{a, distance}});
  return k.finish();
}

/// B { Q@e0 }; P@e0; C@e1, engines may disagree on B; C depends on P.
Kernel divergentBesideProducer() {
  Writer k;
  k.divergentLoop("B");
  k.on(0, "Q");
  k.endLoop();
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  k.dep(p, c);
  return k.finish();
}

} // namespace

/// B runs 2, 1, 3 times, so e0 retires P Q Q P Q P Q Q Q: P has the places 1, 4, 6. Summed up at C
/// as the paper says, r_A + (r_B - 1), the waits would be 2, 4, 8; with full counts, r_A +
/// r_B, they would be 3, 5, 9. Both count this iteration's B, which comes after P.
TEST(PerEngineTest, placesAreThoseAtTheProducer) {
  Case test(placesOnOneQueue(0), with(Strategy::PerEngine));
  test.trips("A", {3});
  test.trips("B", {2, 1, 3});
  EXPECT_EQ(test.thresholds("C"), (Values{1, 4, 6}));
  EXPECT_EQ(test.raised("P"), (Values{1, 4, 6}));
  Values sum, full;
  uint64_t entriesOfB = 0;
  for (uint64_t a = 1; uint64_t tripsOfB : {2, 1, 3}) {
    entriesOfB += tripsOfB;
    sum.push_back(a + (entriesOfB - 1));
    full.push_back(a + entriesOfB);
    ++a;
  }
  EXPECT_EQ(sum, (Values{2, 4, 8}));
  EXPECT_EQ(full, (Values{3, 5, 9}));
}

/// At distance 1 the place is that of an iteration ago, which no live counter has any more.
TEST(PerEngineTest, earlierPlacesAreRemembered) {
  Case test(placesOnOneQueue(1), with(Strategy::PerEngine));
  test.trips("A", {4});
  test.trips("B", {2, 1, 3});
  EXPECT_EQ(test.thresholds("C"), (Values{0, 1, 4, 6}));
}

/// Where the target did not run, the place of the latest run stays: as with a count of runs.
TEST(PerEngineTest, zeroTripsKeepTheLatestPlace) {
  Case test(nestedPair(true), with(Strategy::PerEngine));
  test.trips("A", {3});
  test.trips("B", {2, 0, 3});
  EXPECT_EQ(test.thresholds("C"), (Values{3, 3, 9}));
}

/// A divergent loop with other instructions of the queue is enough to lose count: e0 runs B twice,
/// e1 not at all, and s >= 1 is true after the first Q. Refused, with a note at the loop. Counting
/// per loop is not touched: P is in a body of its own.
TEST(PerEngineTest, refusedUnderDivergence) {
  Case refused(divergentBesideProducer(), with(Strategy::PerEngine));
  expectRefused(refused, "one semaphore cannot count queue 'e0' for 'C'");
  ASSERT_FALSE(refused.accepted());
  ASSERT_EQ(refused.reports().all()[0].notes.size(), 2u); // the second is the way out
  EXPECT_EQ(refused.reports().all()[0].notes[0].message, "divergent loop 'B' is here");

  Case perLoop(divergentBesideProducer());
  EXPECT_EQ(perLoop.messages(), "");
  perLoop.trips("B", {2}, "e0");
  perLoop.trips("B", {0}, "e1");
  EXPECT_EQ(perLoop.thresholds("C"), Values{1});
  EXPECT_EQ(perLoop.raised("P"), Values{1});
}

//===----------------------------------------------------------------------===//
// Control does not read what the kernel writes
//===----------------------------------------------------------------------===//

namespace {

/// P@e0 writes "n"; A, run as often as a value `trips` says, { Q@e0; C@e1 }; C depends on Q.
Kernel tripsBesideWrittenBuffer(std::string_view trips, bool diverges) {
  Writer k;
  BufferId n = k.buffer("n");
  k.on(0, "P");
  k.access(AccessKind::Write, n, "n");
  k.beginLoop("A", k.value(trips, 0, 1000), !diverges);
  InstrId q = k.on(0, "Q");
  DepId dep = k.dep(q, k.on(1, "C"));
  k.endLoop();
  if (diverges) {
    k.allowDivergent(dep);
  }
  return k.finish();
}

} // namespace

/// Nothing would make e1 wait for P before it enters A: P and the loop have no place in common at
/// which a dependence could stand.
TEST(ControlTest, tripsThatTheKernelWritesAreRefused) {
  expectRefused(Case(tripsBesideWrittenBuffer("n", false)), "control cannot read what the kernel");
  EXPECT_EQ(Case(tripsBesideWrittenBuffer("m", false)).messages(), "");
}

/// What would happen: e0 enters A after P has written 1, e1 before, when n was still 3. The third
/// run of C waits for a third run of Q, which never comes. The other way round, all of C have run
/// when two runs of Q are still to come.
TEST(ControlTest, enginesThatReadDifferentTripsGoApart) {
  Case stale(tripsBesideWrittenBuffer("m", true));
  stale.trips("A", {1}, "e0");
  stale.trips("A", {3}, "e1");
  EXPECT_EQ(stale.thresholds("C"), (Values{1, 2, 3}));
  EXPECT_EQ(stale.raisedInTheEnd("Q"), 1u);

  Case early(tripsBesideWrittenBuffer("m", true));
  early.trips("A", {3}, "e0");
  early.trips("A", {1}, "e1");
  EXPECT_EQ(early.thresholds("C"), Values{1});
  EXPECT_EQ(early.raisedInTheEnd("Q"), 3u);
}

//===----------------------------------------------------------------------===//
// The root, distances across loops, what is counted
//===----------------------------------------------------------------------===//

/// The engines start inside the root: its counters are 1. Taken as 0, "no iteration is owed" would
/// hold for ever and no straight-line dependence would wait. The k-th producer is waited for by k.
TEST(RootTest, straightLineWaitsForItsPlace) {
  Writer k;
  std::vector<InstrId> producers;
  for (uint32_t i = 1; i <= 4; ++i) {
    producers.push_back(k.on(0, fmt::format("P{}", i)));
  }
  for (uint32_t i = 1; i <= 4; ++i) {
    k.dep(producers[i - 1], k.on(1, fmt::format("C{}", i)));
  }
  Kernel kernel = k.finish();
  for (const Request &options :
       {with(Strategy::PerLoop), literal(Strategy::PerLoop), with(Strategy::PerEngine)}) {
    Case test(kernel, options);
    for (uint64_t i = 1; i <= 4; ++i) {
      EXPECT_EQ(test.thresholds(fmt::format("C{}", i)), Values{i});
    }
  }
  EXPECT_EQ(Case(kernel).registers("e1"), 0u);
}

/// From within a loop, too: the root is entered once, and the threshold is a constant.
TEST(RootTest, consumerInALoop) {
  Writer k;
  k.on(0, "X");
  InstrId p = k.on(0, "P");
  k.loop("A");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c);
  Case test(k.finish());
  test.trips("A", {3});
  EXPECT_EQ(test.thresholds("C"), (Values{2, 2, 2}));
  EXPECT_EQ(test.registers("e1"), 0u);
}

namespace {

/// A { B { P@e0; C@e1 } } at a distance on A and another on B.
Kernel acrossLoops(int64_t onA, int64_t onB) {
  Writer k;
  LoopId a = k.loop("A");
  LoopId b = k.loop("B");
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.endLoop();
  k.dep(p, c, {{a, onA}, {b, onB}});
  return k.finish();
}

} // namespace

/// A distance on A between instructions of B, with one on B: run b - d of the last iteration of A,
/// or its last run. B runs 3, 2, 1 times.
TEST(ConservativeTest, oneLoopBelowTheCarrierIsCounted) {
  const std::vector<std::pair<int64_t, Values>> expected{
      {-1, {0, 0, 0, 2, 3, 5}}, {0, {0, 0, 0, 1, 2, 4}}, {1, {0, 0, 0, 0, 1, 0}}};
  for (const auto &[onB, values] : expected) {
    Case test(acrossLoops(1, onB));
    ASSERT_TRUE(test.accepted()) << test.messages();
    test.trips("A", {3});
    test.trips("B", {3, 2, 1});
    EXPECT_EQ(test.thresholds("C"), values) << onB;
    EXPECT_TRUE(test.wait(0).exact);
    EXPECT_EQ(test.messages(), "");
  }
}

/// With the distance on B alone, the innermost loop around both, the wait is exact and nothing is
/// reported.
TEST(ConservativeTest, exactWaitsAreNotReported) {
  Case test(acrossLoops(0, 1));
  EXPECT_EQ(test.messages(), "");
  EXPECT_TRUE(test.wait(0).exact);
  test.trips("A", {2});
  test.trips("B", {3, 2});
  EXPECT_EQ(test.thresholds("C"), (Values{0, 1, 2, 0, 4}));
}

/// Why no fixed number of registers is enough for the exact value: A { B { D { P; C } } } at A = 1.
/// All of the last iteration of A is waited for, which is sound, longer than it has to be, and
/// reported.
/// D runs 3, 1, 2 times in a = 1, or 1, 3, 2 times. At (2,2,1) all counters are equal, but up to
/// (1,2,1) P ran 4 times or 2. The end of a = 1 is run 6 in both.
TEST(ConservativeTest, countersCannotTellTheseRunsApart) {
  Writer k;
  LoopId a = k.loop("A");
  k.loop("B");
  k.loop("D");
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.endLoop();
  k.endLoop();
  k.dep(p, c, {{a, 1}});
  Case test(k.finish());
  test.trips("A", {2});
  test.trips("B", {3, 2});
  for (const Values &ofD : {Values{3, 1, 2, 1, 1}, Values{1, 3, 2, 1, 1}}) {
    test.trips("D", ofD);
    EXPECT_EQ(test.thresholds("C"), (Values{0, 0, 0, 0, 0, 0, 6, 6}));
  }
  EXPECT_FALSE(test.wait(0).exact);
  EXPECT_TRUE(contains(test.messages(), "remark: 'P' -> 'C' at 'A' = 1")) << test.messages();
  EXPECT_TRUE(contains(test.messages(), "waits longer than it has to")) << test.messages();
}

/// N and K count what raises the semaphore, and nothing else: not instructions of another queue,
/// of a nested loop, or of a body that nobody waits for. A { P1@q0, P2@q1, B { X@q0 }, P3@q0; C }:
/// on q0 in A there are P1 and P3, so P3 has N = K = 2.
TEST(SignalsTest, onlySignalsOfTheBodyAndQueueCount) {
  KernelBuilder k("k");
  EngineId dma = k.engine("dma");
  QueueId q0 = k.queueOf(dma);
  QueueId q1 = k.queue("q1");
  EngineId act = k.engine("act");
  k.beginLoop("A", k.value("A", 0, 1000));
  k.instr("P1", q0);
  k.instr("P2", q1);
  k.beginLoop("B", k.value("B", 0, 1000));
  k.instr("X", q0);
  k.endLoop();
  InstrId p3 = k.instr("P3", q0);
  InstrId c = k.instr("C", k.queueOf(act));
  k.endLoop();
  k.dep(p3, c);
  Case test(k.finish());
  test.trips("A", {3});
  test.trips("B", {5, 0, 7});
  EXPECT_EQ(test.thresholds("C"), (Values{2, 4, 6}));
  EXPECT_EQ(test.raised("P1"), (Values{1, 3, 5}));
  EXPECT_EQ(test.raised("P3"), (Values{2, 4, 6}));
  Lines program = test.program("dma");
  EXPECT_LT(lineOf(program, "P1 {A.dma++}"), program.size());
  EXPECT_EQ(std::count(program.begin(), program.end(), "P2"), 1);
  EXPECT_EQ(std::count(program.begin(), program.end(), "X"), 1);
}

/// A queue of weight 16 raises by 16 at each retirement: 16*(2*r_A - 1) for the first of two.
TEST(SignalsTest, weightsMultiplyTheThreshold) {
  KernelBuilder k("k");
  EngineId dma = k.engine("dma");
  k.setQueue(k.queueOf(dma), 16, Completion::Whole);
  EngineId act = k.engine("act");
  k.beginLoop("A", k.value("A", 0, 1000));
  InstrId p = k.instr("P", k.queueOf(dma));
  k.instr("X", k.queueOf(dma));
  InstrId c = k.instr("C", k.queueOf(act));
  k.endLoop();
  k.dep(p, c);
  Case test(k.finish());
  test.trips("A", {3});
  EXPECT_EQ(test.thresholds("C"), (Values{16, 48, 80}));
  EXPECT_EQ(test.thresholds("C"), test.raised("P"));
}

/// A producer with a semaphore of its own has N = K = 1: nothing to decode.
TEST(SignalsTest, ownSemaphoreNeedsNoDecoding) {
  Case test(nestedPair(true), with(Strategy::PerInstruction), wrappingMachine());
  EXPECT_EQ(test.computations("e1"), 0u);
  test.trips("A", {3});
  test.trips("B", {0, 2, 1});
  EXPECT_EQ(test.thresholds("C"), (Values{0, 2, 3}));
}

//===----------------------------------------------------------------------===//
// Two further forms of distance
//===----------------------------------------------------------------------===//

/// One X for all of `for i { for j { load X; use X } }`: load overwrites what the use before it
/// read, wherever that was. Counted over the whole run, use number q-1 for load number q; a trip
/// mask would forget it at each first j.
TEST(FurtherFormsTest, flatDistanceCrossesOuterIterations) {
  Writer k;
  k.loop("i");
  k.loop("j");
  InstrId load = k.on(0, "load");
  InstrId use = k.on(1, "use");
  k.endLoop();
  k.endLoop();
  k.dep(load, use);
  k.depFlat(use, load, 1);
  for (const Kernel kernel = k.finish();
       Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine}) {
    Case test(kernel, with(strategy), wrappingMachine());
    test.trips("i", {3});
    test.trips("j", {2, 0, 3});
    EXPECT_EQ(test.thresholds("load"), (Values{0, 1, 2, 3, 4})) << toString(strategy);
    EXPECT_EQ(test.thresholds("use"), (Values{1, 2, 3, 4, 5})) << toString(strategy);
  }
}

/// Element by element from one loop to the next, S { B { P }; D { C } }: index d of D needs d of B,
/// and the last one where B has fewer. One semaphore for a whole queue cannot say that: there all
/// of B is waited for, and reported.
TEST(FurtherFormsTest, elementByElement) {
  Writer k;
  k.loop("S");
  k.loop("B");
  InstrId p = k.on(0, "P");
  k.endLoop();
  k.loop("D");
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.endLoop();
  k.depElement(p, c, 0, {});
  Case test(k.finish());
  test.trips("S", {2});
  test.trips("B", {3, 2});
  test.trips("D", {2});
  EXPECT_EQ(test.thresholds("C"), (Values{1, 2, 4, 5}));
  EXPECT_EQ(test.messages(), "");
  test.trips("B", {1, 3});
  test.trips("D", {3});
  EXPECT_EQ(test.thresholds("C"), (Values{1, 1, 1, 2, 3, 4}));
}
