//===- CausesTest.cpp - What was waited for -------------------------------===//

#include "ReportCase.h"

using namespace tally;

/// `e1` waits once for `a` and `b` of `e0`, which retire in turn; then for a signal of `e0`; then
/// at a barrier.
struct Waits : SimCase {
  Waits() : SimCase(kernelOf()) {
    SemaId s = semaphore("s"), go = semaphore("go"), meet = semaphore("meet");
    code.reasons = {DepId(0), DepId(1)};
    code.barriers.push({EngineId(0), EngineId(1)});
    ops(0) = {issue(0, s),
              issue(1, s),
              Op::drain(),
              Op::makeSignal(go),
              Op::mark(OpKind::BarrierBegin, 0),
              Op::drain(),
              Op::drain(),
              Op::makeSignal(meet),
              Op::mark(OpKind::BarrierEnd)};
    Op use = issueAfter(2, s, 2);
    use.numReasons = 2;
    ops(1) = {use, Op::makeWait(go, Operand::number(1)), Op::mark(OpKind::BarrierBegin, 0),
              Op::makeWait(meet, Operand::number(1)), Op::mark(OpKind::BarrierEnd)};
    code.strategy = Strategy::Manual;
  }

  static Kernel kernelOf() {
    KernelBuilder b("waits");
    EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
    InstrId first = b.instr("a", b.queueOf(e0), "f(interval=400ns, duration=500ns)");
    InstrId second = b.instr("b", b.queueOf(e0), "f(interval=400ns, duration=500ns)");
    InstrId use = b.instr("c", b.queueOf(e1), "f(interval=40ns, duration=100ns)");
    b.dep(first, use);
    b.dep(second, use);
    return b.finish();
  }
};

static Tick spanOf(const std::vector<Cause> &causes, Cause::Kind kind, std::string_view text,
                   size_t timeline = 0) {
  for (const Cause &cause : causes) {
    if (cause.kind == kind && cause.text == text) {
      return cause.span[timeline];
    }
  }
  return 0;
}

/// Of two dependences behind a wait, the one is to blame whose producer ended it.
TEST(CausesTest, whoEndedIt) {
  Waits c;
  Report report{"m", {record(c)}};
  std::vector<Cause> causes = causesOf(report);
  const EngineStats &stats = report.timelines[0].result.engines[EngineId(1)];
  EXPECT_EQ(spanOf(causes, Cause::Kind::Dependence, "'b' -> 'c'"), stats.ops[0].waiting);
  EXPECT_EQ(spanOf(causes, Cause::Kind::Dependence, "'a' -> 'c'"), 0u);
  EXPECT_EQ(spanOf(causes, Cause::Kind::Semaphore, "semaphore 'go'"), stats.ops[1].waiting);
  EXPECT_EQ(spanOf(causes, Cause::Kind::Barrier, "a barrier"), stats.ops[3].waiting);
  EXPECT_EQ(spanOf(causes, Cause::Kind::Drain, "its own instructions to retire"),
            report.timelines[0].result.engines[EngineId(0)].draining);
  EXPECT_GT(stats.ops[0].waiting, 0u);
  EXPECT_GT(stats.ops[1].waiting, 0u);
  EXPECT_GT(stats.ops[3].waiting, 0u);
}

/// Over all causes, all time that sequencers stood still; the longest first, waits before the rest.
TEST(CausesTest, nothingIsLost) {
  Waits c, jittered;
  SimOptions options;
  options.seed = 7;
  Report report{"m", {record(c), record(jittered, {}, options)}};
  std::vector<Cause> causes = causesOf(report);
  for (size_t t = 0; t < 2; ++t) {
    Tick stood = 0, listed = 0;
    for (const EngineStats &stats : report.timelines[t].result.engines) {
      stood += stats.waiting + stats.queueFull + stats.draining;
    }
    for (const Cause &cause : causes) {
      listed += cause.span[t];
    }
    EXPECT_EQ(listed, stood);
  }
  EXPECT_EQ(causes.back().kind, Cause::Kind::Drain);
  EXPECT_EQ(causes.front().text, "'b' -> 'c'");
}

/// Names are text wherever they stand.
TEST(CausesTest, namesAreNoMarkup) {
  KernelBuilder b("<script>alert(\"1\")</script>");
  EngineId e0 = b.engine("e&0");
  b.instr("x<y a\"b", b.queueOf(e0), "f(interval=400ns, duration=500ns)");
  SimCase c(b.finish());
  c.ops(0) = {SimCase::issue(0)};
  Report report{"m>", {record(c)}};
  for (const std::string &text : {reportHtml(report), reportSvg(report)}) {
    EXPECT_EQ(text.find("<script>alert"), std::string::npos);
    EXPECT_EQ(text.find("x<y"), std::string::npos);
    EXPECT_EQ(text.find("e&0"), std::string::npos);
    EXPECT_EQ(text.find("a\"b"), std::string::npos);
    EXPECT_NE(text.find("a&quot;b"), std::string::npos);
    EXPECT_NE(text.find("e&amp;0"), std::string::npos);
  }
}
