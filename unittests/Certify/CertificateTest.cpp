//===- CertificateTest.cpp - Certificates and what becomes of them --------===//

#include "Checker.h"

#include "tally/Certify/Certificate.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sys/resource.h>

namespace tally {
namespace {

/// loop A { load, scale on "dma"; use on "act" }, with load used one iteration later.
Kernel smallKernel(Completion completion = Completion::Whole) {
  KernelBuilder b("small");
  EngineId dma = b.engine("dma");
  b.setQueue(b.queueOf(dma), 16, completion);
  EngineId act = b.engine("act");
  LoopId a = b.beginLoop("A", b.value("n"));
  InstrId load = b.instr("load", b.queueOf(dma));
  b.instr("scale", b.queueOf(dma));
  InstrId use = b.instr("a \"use\"", b.queueOf(act));
  b.endLoop();
  b.dep(load, use, {{a, 1}});
  return b.finish();
}

Code compiled(const Kernel &kernel, Strategy strategy, const Machine &machine = genericMachine()) {
  Diagnostics diagnostics;
  Request options;
  options.strategy = strategy;
  options.overflow = Overflow::Assume; // the theorem knows no resets
  auto result = compile(kernel, options, machine, diagnostics);
  EXPECT_TRUE(result.has_value()) << render(diagnostics, {});
  return result ? result->code : Code();
}

Answer judge(const Kernel &kernel, const Code &code, const Machine &machine = genericMachine()) {
  return runChecker(writeCertificate(kernel, code, machine));
}

/// The kernel from the kernel, the code from the code; names are quoted, ids are places.
TEST(CertificateTextTest, holdsKernelAndCode) {
  Kernel kernel = smallKernel();
  EXPECT_EQ(writeCertificate(kernel, compiled(kernel, Strategy::PerLoop), genericMachine()),
            R"((certificate 1
  (kernel "small")
  (strategy "per-loop")
  (machine "generic")
  (arithmetic 32 saturates unsigned)
  (engines "dma" "act")
  (queues ("dma" 0 16 whole) ("act" 1 1 whole))
  (loops
    ("A" loop))
  (instructions
    ("load" 0)
    ("scale" 0)
    ("a \"use\"" 1))
  (body
    (loop 1
      (block 0 1 2)))
  (dependences
    (0 2 (distance (1 1))))
  (semaphores "A.dma")
  (code
    (0
      (loop 1
        (issue 0 (signal 0 16))
        (issue 1 (signal 0 16))))
    (1
      (move r0 0)
      (loop 1
        (add r0 r0 1)
        (gt r1 r0 1)
        (mul r2 32 r0)
        (sub r2 r2 48)
        (mul r1 r1 r2)
        (issue 2 (wait 0 r1))))))
)");
}

TEST(CertificateTest, rightCodeIsCertified) {
  Kernel kernel = smallKernel();
  Answer answer = judge(kernel, compiled(kernel, Strategy::PerLoop));
  EXPECT_EQ(answer.output, "certified: 'small' (per-loop): 3 instructions, 1 dependence; while no "
                           "number reaches 2^32; if engines agree on trips and branches; for the "
                           "dependences listed\n");
  EXPECT_EQ(answer.status, 0);
}

/// The producer's threshold is 32*(r - 1) - 16 for the first of two instructions of weight 16.
TEST(CertificateTest, aWrongThresholdIsRejectedWithBothForms) {
  Kernel kernel = smallKernel();
  Code code = compiled(kernel, Strategy::PerLoop);
  for (Op &op : code.engines[EngineId(1)].ops) {
    if (op.kind == OpKind::Alu && op.alu == AluOp::Sub) {
      op.b.value = 47;
    }
  }
  Answer answer = judge(kernel, code);
  EXPECT_EQ(
      answer.output,
      "rejected: 'small' (per-loop): engine 'act', instruction 'a \"use\"': waits for 'A.dma' "
      ">= (32*total(A) - 47), but dependence 'load' -> 'a \"use\"' at 'A' = "
      "1 asks for isGT(trip(A), 1)*(32*total(A) - 48); with 2 iterations of 'A', engine 'act' "
      "waits for 'A.dma' >= 17, which is 16, though run 1 of 'a \"use\"' has all that it depends "
      "on\n");
  EXPECT_EQ(answer.status, 1);
}

TEST(CertificateTest, aMissingWaitIsRejected) {
  Kernel kernel = smallKernel();
  Code code = compiled(kernel, Strategy::PerLoop);
  for (Op &op : code.engines[EngineId(1)].ops) {
    op.wait = SemaId();
  }
  Answer answer = judge(kernel, code);
  EXPECT_NE(
      answer.output.find("no wait for dependence 'load' -> 'a \"use\"' at 'A' = 1, which asks "
                         "for 'A.dma' >= isGT(trip(A), 1)*(32*total(A) - 48)"),
      std::string::npos)
      << answer.output;
  EXPECT_EQ(answer.status, 1);
}

Machine wrappingMachine() {
  Machine machine = genericMachine();
  machine.subtraction = Subtraction::Wraps;
  return machine;
}

/// On a machine that wraps around, 32*r - 48 needs its mask, which it has; and numbers must fit.
TEST(CertificateTest, wrapAroundIsBounded) {
  Kernel kernel = smallKernel();
  Machine machine = wrappingMachine();
  Answer answer = judge(kernel, compiled(kernel, Strategy::PerLoop, machine), machine);
  EXPECT_TRUE(answer.output.starts_with(
      "certified: 'small' (per-loop): 3 instructions, 1 dependence; while no body is entered more "
      "than 2^24 times; "))
      << answer.output;
}

/// loop A { loop B { make }; use }: 2*total(B) - 1 is below zero while B has not run.
TEST(CertificateTest, aLostGuardIsNotCertified) {
  KernelBuilder b("nested");
  EngineId e = b.engine("e");
  EngineId f = b.engine("f");
  b.beginLoop("A", b.value("n"));
  b.beginLoop("B", b.value("m"));
  InstrId make = b.instr("make", b.queueOf(e));
  b.instr("other", b.queueOf(e));
  b.endLoop();
  InstrId use = b.instr("use", b.queueOf(f));
  b.endLoop();
  b.dep(make, use);
  Kernel kernel = b.finish();
  Machine machine = wrappingMachine();
  EXPECT_EQ(judge(kernel, compiled(kernel, Strategy::PerLoop, machine), machine).status, 0);
  Code unguarded = compiled(kernel, Strategy::PerLoop, genericMachine());
  EXPECT_EQ(judge(kernel, unguarded, genericMachine()).status, 0);
  Answer answer = judge(kernel, unguarded, machine);
  EXPECT_TRUE(
      answer.output.starts_with("rejected: 'nested' (per-loop): engine 'f': it is not shown "
                                "that no number goes below zero or reaches 2^32; with "))
      << answer.output;
  EXPECT_EQ(answer.status, 1);
}

/// loop A { make || use }: the loop's own counter is the threshold, at distance 0 and at no other.
TEST(CertificateTest, aLoopsOwnCounterIsAThreshold) {
  for (uint32_t distance : {0u, 1u}) {
    KernelBuilder b("native");
    EngineId e = b.engine("e");
    EngineId f = b.engine("f");
    LoopId a = b.beginLoop("A", b.value("n"));
    InstrId make = b.instr("make", b.queueOf(e));
    InstrId use = b.instr("use", b.queueOf(f));
    b.endLoop();
    b.dep(make, use, {{a, distance}});
    Kernel kernel = b.finish();
    Code code = compiled(kernel, Strategy::PerLoop);
    Op issue = Op::issue(use);
    issue.wait = SemaId(0);
    issue.a = Operand::reg(RegId(0));
    code.engines[EngineId(1)].ops = {Op::loopBegin(a, RegId(0)), issue, Op::mark(OpKind::LoopEnd)};
    EXPECT_EQ(judge(kernel, code).status, distance) << distance;
  }
}

TEST(CertificateTest, aMissingInstructionIsRejected) {
  Kernel kernel = smallKernel();
  Code code = compiled(kernel, Strategy::PerLoop);
  auto &ops = code.engines[EngineId(0)].ops;
  ops.erase(ops.begin() + 2);
  Answer answer = judge(kernel, code);
  EXPECT_EQ(answer.output, "rejected: 'small' (per-loop): instruction 'scale' is not issued\n");
}

/// A branch that runs as a loop is not the branch of the kernel.
TEST(CertificateTest, aBranchIsNoLoop) {
  KernelBuilder b("branch");
  EngineId e = b.engine("e");
  b.beginIf("c");
  InstrId x = b.instr("x", b.queueOf(e));
  b.endIf();
  b.dep(x, b.instr("y", b.queueOf(b.engine("f"))));
  Kernel kernel = b.finish();
  Code code = compiled(kernel, Strategy::PerLoop);
  EXPECT_EQ(judge(kernel, code).status, 0);
  for (Op &op : code.engines[EngineId(0)].ops) {
    op.kind = op.kind == OpKind::IfBegin ? OpKind::LoopBegin
              : op.kind == OpKind::IfEnd ? OpKind::LoopEnd
                                         : op.kind;
  }
  Answer answer = judge(kernel, code);
  EXPECT_EQ(answer.output, "rejected: 'branch' (per-loop): engine 'e' takes 'c' for a loop or a "
                           "conditional, which it is not\n");
}

/// What the kernel says of its loops, and what its writer says of its accesses.
TEST(CertificateTextTest, holdsTripsAndNotes) {
  KernelBuilder b("k");
  QueueId q = b.queueOf(b.engine("e\""));
  b.beginLoop("four", KernelBuilder::constant(4));
  b.beginLoop("some", b.value("n", 1, 9));
  b.beginLoop("least", b.value("m", 2));
  b.beginLoop("any", b.value("o"), /*uniform=*/false);
  b.instr("x", q);
  for (int level = 0; level < 4; ++level) {
    b.endLoop();
  }
  Kernel kernel = b.finish();
  std::string text = writeCertificate(kernel, compiled(kernel, Strategy::PerLoop), genericMachine(),
                                      {.accesses = AccessesNote::Held});
  for (const char *part :
       {"(\"four\" loop (trips 4 4))", "(\"some\" loop (trips 1 9))", "(\"least\" loop (trips 2))",
        "(\"any\" loop divergent)", "(engines \"e\\\"\")", "(accesses held)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(runChecker(text).status, 0);
}

/// Code that is right for the trips of its kernel alone is not called wrong.
TEST(CertificateTest, whatOnlyTripsMakeRightIsNotCovered) {
  for (bool constant : {true, false}) {
    KernelBuilder b("inner");
    QueueId e = b.queueOf(b.engine("e"));
    QueueId f = b.queueOf(b.engine("f"));
    b.beginLoop("A", b.value("n"));
    b.beginLoop("B", constant ? KernelBuilder::constant(4) : b.value("m"));
    InstrId make = b.instr("make", e);
    b.endLoop();
    InstrId use = b.instr("use", f);
    b.endLoop();
    b.dep(make, use);
    Kernel kernel = b.finish();
    Code code = compiled(kernel, Strategy::PerLoop);
    // Four more each time, instead of as many as there were.
    Op issue = Op::issue(use);
    issue.wait = SemaId(0);
    issue.a = Operand::reg(RegId(0));
    code.engines[EngineId(1)].ops = {
        Op::loopBegin(LoopId(1)),
        Op::alu2(AluOp::Add, RegId(0), Operand::reg(RegId(0)), Operand::number(4)), issue,
        Op::mark(OpKind::LoopEnd)};
    EXPECT_EQ(judge(kernel, code).status, constant ? 2 : 1);
  }
}

/// What the theorem does not speak about is neither accepted nor rejected.
TEST(CertificateTest, otherStrategiesAreNotCovered) {
  Kernel kernel = smallKernel();
  for (Strategy strategy : {Strategy::Barrier, Strategy::PerEngine}) {
    Answer answer = judge(kernel, compiled(kernel, strategy));
    EXPECT_EQ(answer.output,
              fmt::format("not covered: 'small' ({0}): strategy '{0}' is outside the theorem\n",
                          toString(strategy)));
    EXPECT_EQ(answer.status, 2);
  }
}

/// loop A { make }; loop B { again }; use: under strategy auto, one semaphore for both bodies.
TEST(CertificateTest, semaphoresOfSeveralBodiesAreNotCovered) {
  KernelBuilder b("shared");
  EngineId e = b.engine("e");
  EngineId f = b.engine("f");
  b.beginLoop("A", b.value("n"));
  InstrId make = b.instr("make", b.queueOf(e));
  b.endLoop();
  b.beginLoop("B", b.value("m"));
  InstrId again = b.instr("again", b.queueOf(e));
  b.endLoop();
  InstrId use = b.instr("use", b.queueOf(f));
  b.dep(make, use);
  b.dep(again, use);
  Kernel kernel = b.finish();
  PlanDecisions options;
  options.strategy = Strategy::Auto;
  for (size_t i = 0; i < kernel.instrs.size(); ++i) {
    options.sharing.push(Sharing::Queue);
  }
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, options, diagnostics);
  Code code = lower(kernel, plan, genericMachine(), {}, diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors());
  Answer answer = judge(kernel, code);
  EXPECT_TRUE(answer.output.starts_with("not covered: 'shared' (auto): a semaphore for several "
                                        "bodies, here '"))
      << answer.output;
}

/// loop A { if c { make } else { again }; use }
TEST(CertificateTest, semaphoresOfBothBranchesAreNotCovered) {
  KernelBuilder b("joined");
  EngineId e = b.engine("e");
  EngineId f = b.engine("f");
  b.beginLoop("A", b.value("n"));
  b.beginIf("c");
  InstrId make = b.instr("make", b.queueOf(e));
  b.beginElse();
  InstrId again = b.instr("again", b.queueOf(e));
  b.endIf();
  InstrId use = b.instr("use", b.queueOf(f));
  b.endLoop();
  b.dep(make, use);
  b.dep(again, use);
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  Request request{.strategy = Strategy::Auto, .overflow = Overflow::Assume};
  std::optional<Compiled> joined = compile(kernel, request, genericMachine(), diagnostics);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->code.semaphores.size(), 1u);
  Answer answer = judge(kernel, joined->code);
  EXPECT_TRUE(answer.output.starts_with("not covered: 'joined' (auto): a semaphore for several "
                                        "bodies, here '"))
      << answer.output;
  joined = compile(kernel, request.certifiable(), genericMachine(), diagnostics);
  ASSERT_TRUE(joined);
  EXPECT_TRUE(judge(kernel, joined->code).output.starts_with("certified"));
}

TEST(CertificateTest, splitCompletionIsNotCovered) {
  Code code = compiled(smallKernel(), Strategy::PerLoop);
  Answer answer = judge(smallKernel(Completion::Split), code);
  EXPECT_EQ(answer.output, "not covered: 'small' (per-loop): split completion, of queue 'dma', is "
                           "outside the theorem\n");
}

TEST(CertificateTest, resetsAreNotCovered) {
  Kernel kernel = smallKernel();
  Code code = compiled(kernel, Strategy::PerLoop);
  code.engines[EngineId(0)].ops.push_back(Op::reset(SemaId(0), 1));
  Answer answer = judge(kernel, code);
  EXPECT_EQ(answer.output, "not covered: 'small' (per-loop): 'reset' is outside the theorem\n");
}

TEST(CertificateTest, unreadableTextSaysWhere) {
  Answer answer = runChecker("(certificate 1\n  (kernel \"x\")");
  EXPECT_NE(answer.output.find(":1: the list has no end"), std::string::npos) << answer.output;
  EXPECT_EQ(answer.status, 2);
}

/// A legal kernel's order: backward at distance 0 asks for what is still to come.
TEST(CertificateTest, illegalKernelsAreRejected) {
  KernelBuilder b("backward");
  EngineId e = b.engine("e");
  EngineId f = b.engine("f");
  b.beginLoop("A", KernelBuilder::constant(4));
  InstrId use = b.instr("use", b.queueOf(f));
  b.beginLoop("B", KernelBuilder::constant(2));
  InstrId make = b.instr("make", b.queueOf(e));
  b.endLoop();
  b.endLoop();
  b.dep(make, use);
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  SyncPlan plan = makePlan(kernel, {}, diagnostics);
  Code code = lower(kernel, plan, genericMachine(), {}, diagnostics);
  Answer answer = judge(kernel, code);
  EXPECT_EQ(answer.output, "rejected: 'backward' (per-loop): the kernel is not legal: dependence "
                           "'make' -> 'use', a run that comes later or waits for this "
                           "one\n");
}

/// Ten thousand instructions on five queues, two thousand in each innermost body, eight loops
/// deep, with a dependence each on one somewhat earlier, or one iteration earlier.
Kernel largeKernel() {
  KernelBuilder b("large");
  std::vector<QueueId> queues;
  for (int q = 0; q < 5; ++q) {
    queues.push_back(b.queueOf(b.engine("e" + std::to_string(q))));
  }

  struct Planned {
    InstrId producer, consumer;
    LoopId loop;
  };

  std::vector<Planned> planned;
  for (int nest = 0; nest < 5; ++nest) {
    LoopId inner;
    for (int level = 0; level < 8; ++level) {
      std::string name = "L" + std::to_string(nest) + "." + std::to_string(level);
      inner = b.beginLoop(name, b.value(name));
    }
    std::vector<InstrId> here;
    for (int i = 0; i < 2000; ++i) {
      std::string name = "i" + std::to_string(nest) + "." + std::to_string(i);
      here.push_back(b.instr(name, queues[static_cast<size_t>(i) % 5]));
      size_t back = 1 + static_cast<size_t>(i) * 7919 % 400;
      bool isEarly = back >= here.size();
      InstrId producer = isEarly ? here.front() : here[here.size() - 1 - back];
      planned.push_back({producer, here.back(), isEarly || i % 2 ? inner : LoopId()});
    }
    for (int level = 0; level < 8; ++level) {
      b.endLoop();
    }
  }
  for (const Planned &p : planned) {
    if (p.loop.valid()) {
      b.dep(p.producer, p.consumer, {{p.loop, 1}});
    } else {
      b.dep(p.producer, p.consumer);
    }
  }
  return b.finish();
}

/// What the processes that have ended so far took of a processor; others may take of it, too.
double secondsOfChildren() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

void expectCertifiedInTime(const Kernel &kernel, Strategy strategy) {
  Machine machine = wrappingMachine();
  std::string text = writeCertificate(kernel, compiled(kernel, strategy, machine), machine);
  double before = secondsOfChildren();
  Answer answer = runChecker(text);
  EXPECT_TRUE(answer.output.starts_with("certified")) << answer.output.substr(0, 1000);
  EXPECT_LT(secondsOfChildren() - before, 20) << "five seconds on an idle machine";
}

TEST(CertificateTest, largeKernelsAreCertifiedInTime) {
  expectCertifiedInTime(largeKernel(), Strategy::PerLoop);
  expectCertifiedInTime(largeKernel(), Strategy::PerInstruction);
}

/// Loops one after the other, each with a counter of its own on both engines: looking at all facts
/// for each of them would take minutes.
TEST(CertificateTest, manyLoopsAreCertifiedInTime) {
  KernelBuilder b("siblings");
  QueueId e = b.queueOf(b.engine("e"));
  QueueId f = b.queueOf(b.engine("f"));
  for (int i = 0; i < 3000; ++i) {
    std::string name = std::to_string(i);
    LoopId loop = b.beginLoop("L" + name, b.value("n" + name));
    InstrId make = b.instr("make" + name, e);
    InstrId use = b.instr("use" + name, f);
    b.endLoop();
    b.dep(make, use, {{loop, 1}});
    b.dep(use, make, {{loop, 2}});
  }
  expectCertifiedInTime(b.finish(), Strategy::PerLoop);
}

} // namespace
} // namespace tally
