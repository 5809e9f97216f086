//===- CodeJsonTest.cpp - Code as JSON ------------------------------------===//

#include "tally/Written/CodeJson.h"

#include "tally/Model/KernelBuilder.h"
#include "tally/Written/Text.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// A kernel with a loop and a branch, and code with every operation.
LoadedKernel everything() {
  KernelBuilder b("k");
  EngineId act = b.engine("act"), dma = b.engine("dma");
  LoopId a = b.beginLoop("A", KernelBuilder::constant(4));
  InstrId load = b.instr("load", b.queueOf(dma));
  InstrId scale = b.instr("scale", b.queueOf(act));
  LoopId c = b.beginIf("c");
  b.endIf();
  b.endLoop();
  b.dep(load, scale);
  b.dep(scale, load, {{a, 2}});
  LoadedKernel k{b.finish()};
  Code &p = k.code.emplace();
  p.strategy = Strategy::Manual;
  p.machine = "generic";
  p.semaphores.push({"A.dma"});
  p.semaphores.push({"odd \"name\""});
  p.barriers.push({act, dma});
  p.reasons = {DepId(0), DepId(0), DepId(1)};
  p.engines.push({act, {}, {}});
  p.engines.push({dma, {}, {}});
  RegId r0 = p.engines[act].registers.push({"r0", "total(A)"});
  p.engines[act].registers.push({"r1", ""});
  std::vector<Op> &ops = p.engines[act].ops;
  for (AluOp alu : {AluOp::Add, AluOp::Sub, AluOp::Mul, AluOp::Min, AluOp::IsGT}) {
    ops.push_back(Op::alu2(alu, RegId(1), Operand::reg(r0), Operand::number(7)));
  }
  ops.push_back(Op::move(r0, Operand::number(0)));
  ops.push_back(Op::loopBegin(a, r0));
  Op issue = Op::issue(scale);
  issue.wait = SemaId(0);
  issue.a = Operand::reg(r0);
  issue.numReasons = 1;
  issue.signal = SemaId(1);
  issue.amount = 16;
  ops.push_back(issue);
  Op wait = Op::makeWait(SemaId(0), Operand::number(3));
  wait.firstReason = 1;
  wait.numReasons = 2;
  ops.push_back(wait);
  ops.push_back(Op::ifBegin(c));
  ops.push_back(Op::makeSignal(SemaId(0), 2));
  ops.push_back(Op::mark(OpKind::Else));
  ops.push_back(Op::reset(SemaId(0), 2));
  ops.push_back(Op::mark(OpKind::IfEnd));
  ops.push_back(Op::mark(OpKind::LoopEnd));
  ops.push_back(Op::mark(OpKind::BarrierBegin, 0));
  ops.push_back(Op::drain());
  ops.push_back(Op::mark(OpKind::BarrierEnd, 0));
  p.engines[dma].ops = {Op::loopBegin(a), Op::issue(load), Op::mark(OpKind::LoopEnd)};
  return k;
}

std::optional<LoadedKernel> read(std::string_view text, std::string *errors) {
  Diagnostics diagnostics;
  std::optional<LoadedKernel> result = readCodeJson(text, "k.json", diagnostics);
  *errors = render(diagnostics, {"k.json"});
  EXPECT_EQ(result.has_value(), errors->empty());
  return result;
}

/// What is said of the text of everything() with a part replaced. Each error has a place, which the
/// tests of kernels and machines look at.
std::string errorsOf(const std::string &what, const std::string &by) {
  LoadedKernel k = everything();
  std::string text = writeCodeJson(k.kernel, *k.code);
  size_t start = text.find(what);
  EXPECT_NE(start, std::string::npos) << what;
  text.replace(start, what.size(), by);
  Diagnostics diagnostics;
  EXPECT_FALSE(readCodeJson(text, "k.json", diagnostics));
  std::string errors;
  for (const Diagnostic &error : diagnostics.all()) {
    EXPECT_TRUE(error.where.known()) << error.message;
    errors += "k.json: error: " + error.message + "\n";
  }
  return errors;
}

} // namespace

TEST(CodeJsonTest, golden) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  LoopId a = b.beginLoop("A", KernelBuilder::constant(4));
  InstrId x = b.instr("x", b.queueOf(act));
  b.endLoop();
  b.dep(x, x, {{a, 1}});
  Kernel kernel = b.finish();
  Code p;
  p.strategy = Strategy::PerLoop;
  p.machine = "generic";
  p.semaphores.push({"A.act"});
  p.engines.push({act, {}, {}});
  p.engines[act].registers.push({"r0", "trip(A)"});
  p.reasons = {DepId(0)};
  Op issue = Op::issue(x);
  issue.wait = issue.signal = SemaId(0);
  issue.a = Operand::reg(RegId(0));
  issue.numReasons = 1;
  p.engines[act].ops = {Op::move(RegId(0), Operand::number(0)), Op::loopBegin(a), issue,
                        Op::mark(OpKind::LoopEnd)};
  EXPECT_EQ(writeCodeJson(kernel, p), R"json({
  "schema": "tally-code",
  "version": 2,
  "kernel": {
    "schema": "tally-kernel",
    "version": 2,
    "name": "k",
    "engines": [
      {"name": "act"}
    ],
    "body": [
      {"loop": "A", "trips": 4, "body": [
        {"instr": "x", "queue": "act"}
      ]}
    ],
    "dependences": [
      {"producer": "x", "consumer": "x", "distance": {"A": 1}}
    ]
  },
  "strategy": "per-loop",
  "machine": {"name": "generic"},
  "semaphores": [
    {"id": 0, "name": "A.act"}
  ],
  "barriers": [],
  "engines": [
    {"engine": "act",
     "registers": [
       {"id": 0, "name": "r0", "role": "trip(A)"}
     ],
     "code": [
       {"op": "alu", "operation": "move", "dst": 0, "a": {"value": 0}},
       {"op": "loop", "loop": "A", "counter": null, "body": [
         {"op": "issue", "instr": "x", "wait": {"semaphore": 0, "threshold": {"register": 0}, "dependences": [0]}, "signal": {"semaphore": 0, "amount": 1}}
       ]}
     ]}
  ],
  "dependences": [
    {"id": 0, "producer": "x", "consumer": "x"}
  ]
}
)json");
}

TEST(CodeJsonTest, roundTrip) {
  LoadedKernel k = everything();
  Diagnostics diagnostics;
  verifyCode(k.kernel, *k.code, diagnostics);
  EXPECT_EQ(render(diagnostics, {}), "");
  std::string errors;
  std::string text = writeCodeJson(k.kernel, *k.code);
  std::optional<LoadedKernel> again = read(text, &errors);
  ASSERT_TRUE(again) << errors;
  EXPECT_EQ(dump(again->kernel), dump(k.kernel));
  const Code &p = *again->code;
  EXPECT_EQ(p.strategy, Strategy::Manual);
  EXPECT_EQ(p.machine, "generic");
  EXPECT_EQ(p.reasons, k.code->reasons);
  EXPECT_EQ(p.barriers.raw(), k.code->barriers.raw());
  for (EngineId e : p.engines.ids()) {
    EXPECT_EQ(p.engines[e].engine, e);
    EXPECT_TRUE(p.engines[e].ops == k.code->engines[e].ops);
  }
  EXPECT_EQ(p.engines[EngineId(0)].registers[RegId(0)].role.text, "total(A)");
  EXPECT_EQ(p.semaphores[SemaId(1)].name, "odd \"name\"");
  EXPECT_EQ(writeCodeJson(again->kernel, p), text);
}

/// In both forms, byte by byte.
TEST(CodeJsonTest, compactRoundTrip) {
  LoadedKernel k = everything();
  for (bool locations : {false, true}) {
    std::string text = writeCodeJson(k.kernel, *k.code, {.locations = locations});
    std::string compact =
        writeCodeJson(k.kernel, *k.code, {.locations = locations, .compact = true});
    EXPECT_LT(compact.size(), text.size());
    std::string errors;
    std::optional<LoadedKernel> again = read(compact, &errors);
    ASSERT_TRUE(again) << errors;
    EXPECT_EQ(writeCodeJson(again->kernel, *again->code), writeCodeJson(k.kernel, *k.code));
  }
}

/// What code counts on comes back; without it, or in version 1, there is a name alone.
TEST(CodeJsonTest, machineComesBack) {
  LoadedKernel k = everything();
  k.code->rules =
      MachineRules{9, Subtraction::Saturates, WaitCompare::Signed, false, Completion::Split};
  std::string errors;
  std::string text = writeCodeJson(k.kernel, *k.code);
  std::optional<LoadedKernel> again = read(text, &errors);
  ASSERT_TRUE(again) << errors;
  EXPECT_EQ(again->code->rules, k.code->rules);
  EXPECT_EQ(writeCodeJson(again->kernel, *again->code), text);
  k.code->rules.reset();
  text = writeCodeJson(k.kernel, *k.code);
  ASSERT_TRUE(again = read(text, &errors)) << errors;
  EXPECT_FALSE(again->code->rules);
  EXPECT_EQ(again->code->machine, "generic");
}

/// An amount beside a name is no part of the name.
TEST(CodeJsonTest, amountBesideAName) {
  EXPECT_EQ((written::SignalData{std::string("s"), 3}).amount, 3u);
  EXPECT_EQ((written::ResetData{std::string("s"), 2}).count, 2u);
  EXPECT_FALSE((written::SignalData{std::string("s"), 3}).semaphore.number);
}

TEST(CodeJsonTest, versionOneIsRead) {
  LoadedKernel k = everything();
  std::string text = writeCodeJson(k.kernel, *k.code);
  auto replace = [&](const std::string &what, const std::string &by) {
    size_t start = text.find(what);
    ASSERT_NE(start, std::string::npos) << what;
    text.replace(start, what.size(), by);
  };
  replace("\"version\": 2", "\"version\": 1");
  replace(R"({"name": "generic"})", R"("generic")");
  std::string errors;
  std::optional<LoadedKernel> again = read(text, &errors);
  ASSERT_TRUE(again) << errors;
  EXPECT_EQ(again->code->machine, "generic");
}

TEST(CodeJsonTest, rulesAreCompleteAndInRange) {
  std::string rules = R"({"name": "m", "counter_bits": 33, "subtraction": "halts", "compare": 1})";
  std::string errors = errorsOf(R"({"name": "generic"})", rules);
  EXPECT_NE(errors.find("at 'machine.counter_bits': expected an integer from 8 to 32, found 33"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("at 'machine.subtraction': expected \"wraps\" or \"saturates\""),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("at 'machine': the key 'overlap' is missing"), std::string::npos) << errors;
}

TEST(CodeJsonTest, refuses) {
  EXPECT_EQ(errorsOf(R"("schema": "tally-code")", R"("schema": "x")"),
            "k.json: error: at 'schema': expected \"tally-code\", found \"x\"\n");
  EXPECT_EQ(errorsOf(R"("id": 1, "name": "odd)", R"("id": 2, "name": "odd)"),
            "k.json: error: at 'semaphores[1].id': expected 1, found 2\n");
  EXPECT_EQ(errorsOf(R"("participants": ["act")", R"("participants": ["pe")"),
            "k.json: error: at 'barriers[0].participants[0]': unknown engine 'pe'; the engines of "
            "the kernel are 'act', 'dma'\n");
  EXPECT_EQ(
      errorsOf(R"("engine": "dma")", R"("engine": "act")"),
      "k.json: error: at 'engines[1].engine': engine 'act' has two programs; one is allowed\n");
  EXPECT_EQ(errorsOf(R"("operation": "sub")", R"("operation": "div")"),
            "k.json: error: at 'engines[0].code[1].operation': expected \"move\" or \"add\" or "
            "\"sub\" or \"mul\" or \"min\" or \"gt\", found \"div\"\n");
  EXPECT_EQ(errorsOf(R"({"register": 0})", R"({"register": 0, "value": 1})"),
            "k.json: error: at 'engines[0].code[0].a': expected either 'register' or 'value'\n");
  EXPECT_EQ(
      errorsOf(R"("op": "drain")", R"("op": "dry")"),
      "k.json: error: at 'engines[0].code[7].body[0].op': expected \"issue\" or \"wait\" or "
      "\"signal\" or \"reset\" or \"drain\" or \"alu\" or \"loop\" or \"if\" or \"barrier\" or "
      "\"when\", found \"dry\"\n");
  EXPECT_EQ(errorsOf(R"("op": "issue", "instr": "scale")", R"("op": "issue", "instr": "s")"),
            "k.json: error: at 'engines[0].code[6].body[0].instr': unknown instruction 's'; the "
            "instructions of the kernel are 'load', 'scale'\n");
  EXPECT_EQ(errorsOf(R"("id": 0, "producer": "load")", R"("id": 0, "producer": "scale")"),
            "k.json: error: at 'dependences[0]': the kernel's dependence 0 is 'load' -> 'scale'\n");
  EXPECT_EQ(
      errorsOf(R"("op": "wait", "wait": {)", R"("op": "wait", "waits": {)"),
      "k.json: error: at 'engines[0].code[6].body[1]': the key 'wait' is missing\n"
      "k.json: error: at 'engines[0].code[6].body[1]': unknown key 'waits'; allowed keys: 'op', "
      "'wait'\n");
}

/// Errors of the kernel come alone: without its names the code cannot be read.
TEST(CodeJsonTest, kernelFirst) {
  EXPECT_EQ(errorsOf(R"("trips": 4)", R"("trips": [])"),
            "k.json: error: at 'kernel.body[0].trips': expected an integer from 0 to "
            "2147483647, found an array\n");
}

/// Names, kinds and ranges are judged as those of text are, each at its value.
TEST(CodeJsonTest, resolves) {
  EXPECT_EQ(errorsOf(R"("op": "if", "if": "c")", R"("op": "if", "if": "A")").substr(0, 113),
            "k.json: error: at 'engines[0].code[6].body[2].if': 'A' is not a condition of an if; "
            "'tally.branch' runs an if, 't");
  EXPECT_EQ(errorsOf(R"("amount": 16)", R"("amount": 0)"),
            "k.json: error: at 'engines[0].code[6].body[0].signal.amount': an amount is 0; it lies "
            "between 1 and 2147483647\n");
  EXPECT_EQ(
      errorsOf(R"("dependences": [0, 1])", R"("dependences": [0, 2])"),
      "k.json: error: at 'engines[0].code[6].body[1].wait.dependences[1]': unknown dependence "
      "2; the kernel has 2, numbered from 0\n");
  EXPECT_EQ(errorsOf(R"("dst": 0, "a": {"value": 0}})",
                     R"("dst": 0, "a": {"value": 0}, "b": {"value": 0}})"),
            "k.json: error: at 'engines[0].code[5]': 'move' has no operand 'b'\n");
  EXPECT_EQ(errorsOf(R"(, "b": {"value": 7}})", "}"),
            "k.json: error: at 'engines[0].code[0]': the operand 'b' is missing\n");
  EXPECT_EQ(
      errorsOf(R"({"op": "drain"})", R"({"op": "drain", "body": []})"),
      "k.json: error: at 'engines[0].code[7].body[0]': unknown key 'body'; allowed keys: 'op'\n");
}
