//===- LiteralRulesTest.cpp - The published rules, taken at their word ----===//
//
// There is a kernel for each place where the paper's rules need a precise reading. Compiled the
// precise way, the explorer accepts its code for all small trips. With the literal rule, it rejects
// the code, with the trips and the instruction that the derivation names.
//
//===----------------------------------------------------------------------===//

#include "LiteralRules.h"
#include "PaperCase.h"

#include "tally/Check/Explore.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::paper;

namespace {

/// A kernel's code, explored for all trips up to a bound.
ExploreAllResult explored(const Kernel &kernel, Strategy strategy, const LiteralRules &inCode,
                          const LiteralRules &inSpec = {}, uint64_t maxTrips = 3) {
  Diagnostics diagnostics;
  Machine machine = saturatingMachine();
  std::optional<Compiled> compiled = compile(kernel, literal(strategy), machine, diagnostics);
  EXPECT_TRUE(compiled) << render(diagnostics, {});
  ExploreOptions options;
  options.reading = readingOf(kernel, inSpec);
  options.mayOverwait = overwaitAllowed(kernel, compiled->plan);
  makeLiteral(kernel, inCode, compiled->code, machine);
  Diagnostics malformed;
  verifyCode(kernel, compiled->code, malformed, true);
  EXPECT_FALSE(malformed.hasErrors()) << render(malformed, {});
  return exploreAll(kernel, compiled->code, machine, {.maxTrips = maxTrips}, options);
}

/// Accepted as it is, rejected with the rule: with this kind of mismatch, first at this
/// instruction.
void expectFound(const Kernel &kernel, Strategy strategy, const LiteralRules &rules,
                 MismatchKind kind, std::string_view instr) {
  ExploreAllResult precise = explored(kernel, strategy, {});
  EXPECT_EQ(precise.total.verdict, Verdict::Yes) << precise.total.text;
  ExploreAllResult found = explored(kernel, strategy, rules);
  ASSERT_EQ(found.total.verdict, Verdict::No);
  EXPECT_EQ(found.total.witness->kind, kind) << found.total.text;
  EXPECT_EQ(kernel.nameOf(found.total.witness->instance.instr), instr) << found.total.text;
}

/// A { if c { P@e0 } else { Q@e0 }; C@e1 }, C depends on both.
Kernel bothBranches() {
  Writer k;
  k.loop("A");
  k.beginIf("c");
  InstrId p = k.on(0, "P");
  InstrId second = k.on(0, "P2");
  k.beginElse();
  k.on(0, "Q");
  k.endIf();
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c);
  (void)second;
  return k.finish();
}

} // namespace

/// With one count for both branches, C waits for P although only Q ran: as soon as the branch is
/// not taken, it asks for a run that never comes.
TEST(LiteralRulesTest, oneIdPerConditional) {
  LiteralRules rules{.oneIdPerConditional = true};
  expectFound(bothBranches(), Strategy::PerLoop, rules, MismatchKind::Late, "C");
  // Where specification and code read it so, both hang alike.
  ExploreAllResult together = explored(bothBranches(), Strategy::PerLoop, rules, rules);
  EXPECT_EQ(together.total.verdict, Verdict::Yes) << together.total.text;
  EXPECT_TRUE(together.total.stuckTogether);
  EXPECT_FALSE(explored(bothBranches(), Strategy::PerLoop, {}).total.stuckTogether);
}

/// A { B { P, X @e0 }; C@e1 }: before the first run of B the wait is 2*0 - 1, which wraps to a
/// number that no semaphore reaches.
TEST(LiteralRulesTest, unguardedSubtraction) {
  Writer k;
  k.loop("A");
  k.loop("B");
  InstrId p = k.on(0, "P");
  k.on(0, "X");
  k.endLoop();
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c);
  expectFound(k.finish(), Strategy::PerLoop, {.unguardedSubtraction = true}, MismatchKind::Late,
              "C");
}

/// A { P@e0; B { Q@e0 }; C@e1 }: summed up at C, this iteration's B counts as if it came before P.
TEST(LiteralRulesTest, perEngineClosedForm) {
  Writer k;
  k.loop("A");
  InstrId p = k.on(0, "P");
  k.loop("B");
  k.on(0, "Q");
  k.endLoop();
  InstrId c = k.on(1, "C");
  k.endLoop();
  k.dep(p, c);
  expectFound(k.finish(), Strategy::PerEngine, {.perEngineClosedForm = true}, MismatchKind::Late,
              "C");
}

/// P@e0; C@e1 outside all loops: if the root was never entered, nothing is ever owed. Read so on
/// both sides, they agree, and both are wrong.
TEST(LiteralRulesTest, rootCountersAtZero) {
  Writer k;
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  k.dep(p, c);
  Kernel kernel = k.finish();
  LiteralRules rules{.rootCountersAtZero = true};
  expectFound(kernel, Strategy::PerLoop, rules, MismatchKind::Early, "C");
  EXPECT_EQ(explored(kernel, Strategy::PerLoop, rules, rules).total.verdict, Verdict::Yes);
}

/// A { P@e0; C@e1; D@e1 }: D has no dependence, but the register still holds what C waited for. D
/// waits for that on its own semaphore, which only D raises.
TEST(LiteralRulesTest, totalWaitOf) {
  Writer k(3);
  k.loop("A");
  InstrId p = k.on(0, "P");
  InstrId c = k.on(1, "C");
  InstrId d = k.on(1, "D");
  InstrId e = k.on(2, "E");
  k.endLoop();
  k.dep(p, c);
  k.dep(d, e);
  expectFound(k.finish(), Strategy::PerInstruction, {.totalWaitOf = true}, MismatchKind::Late, "D");
}
