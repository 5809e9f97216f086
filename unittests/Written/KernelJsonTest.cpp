//===- KernelJsonTest.cpp - Kernels as JSON -------------------------------===//

#include "tally/Written/KernelJson.h"

#include "tally/Model/KernelBuilder.h"
#include "tally/Written/Text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;

namespace {

std::optional<Kernel> read(std::string_view text, std::string *errors = nullptr) {
  Diagnostics diagnostics;
  std::optional<Kernel> kernel = readKernelJson(text, "k.json", diagnostics);
  std::string rendered = render(diagnostics, {"k.json"});
  if (errors) {
    *errors = rendered;
  } else {
    EXPECT_EQ(rendered, "");
  }
  EXPECT_EQ(kernel.has_value(), rendered.empty());
  return kernel;
}

std::string errorsOf(std::string_view text) {
  std::string errors;
  read(text, &errors);
  return errors;
}

/// A document with this body and these dependences on engines act and dma.
std::string document(std::string_view body, std::string_view dependences = "") {
  return R"({"schema": "tally-kernel", "version": 1, "name": "k",
             "engines": [{"name": "act"}, {"name": "dma"}],
             "buffers": [{"name": "X", "shape": [2]}], "body": [)" +
         std::string(body) + R"(], "dependences": [)" + std::string(dependences) + "]}";
}

/// Everything the language has, once.
Kernel everything() {
  KernelBuilder b("all \"of\" it");
  EngineId act = b.engine("act");
  EngineId sp = b.engine("sp");
  b.setQueue(b.queueOf(sp), 2, Completion::Split);
  QueueId load = b.queue("qload", 16, Completion::Split);
  b.queue("qstore");
  std::vector<uint64_t> shape = {2, 128};
  b.declareValue("k", 1, 7);
  BufferId x = b.buffer("X", shape, "sbuf", "bf16", 4096);
  b.partitions(x, {32, 1});
  BufferId y = b.buffer("Y");
  b.alias(y, x);
  BufferId z = b.buffer("Z");
  b.noalias(z, y);
  b.ring(z, {2, 5});
  LoopId a = b.beginLoop("A", KernelBuilder::constant(64));
  InstrId first = b.instr("first", load, "dma_copy");
  b.orOn(b.queueOf(act));
  b.orOn(b.queueOf(sp));
  b.computes("r0; start(A, r0)");
  b.access(AccessKind::Write, x, "X[A mod 2, 0:128]");
  b.access(AccessKind::Read, x, "X[@]");
  b.access(AccessKind::Accumulate, x, "X if A == trips(A) - 1");
  InstrId scale = b.instr("scale", b.queueOf(act));
  b.beginIf("c", false);
  InstrId p = b.instr("p", b.queueOf(act));
  b.beginElse();
  b.beginLoop("W", b.guard("more"));
  b.endLoop();
  b.endIf();
  b.beginIf("d");
  b.endIf();
  b.instr("tail", b.queueOf(act));
  b.loads("n");
  b.loads("m");
  LoopId inner = b.beginLoop("B", b.value("n", 1, 4096), false);
  InstrId q = b.instr("q", b.queueOf(sp));
  b.endLoop();
  b.beginLoop("C", b.value("m"));
  InstrId r = b.instr("r", b.queueOf(sp));
  b.endLoop();
  b.endLoop();
  b.dep(first, scale, {}, DepKind::RAW);
  b.dep(scale, first, {{a, 2}}, DepKind::WAR);
  b.dep(q, q, {{a, 1}, {inner, -1}}, DepKind::WAW);
  b.depFlat(p, p, 3);
  std::vector<DistanceComponent> onA = {{a, 1}};
  b.allowDivergent(b.depElement(q, r, -1, onA));
  return b.finish();
}

} // namespace

TEST(KernelJsonTest, golden) {
  KernelBuilder b("double_buffer");
  EngineId act = b.engine("act"), dma = b.engine("dma");
  b.setQueue(b.queueOf(dma), 16, Completion::Whole);
  LoopId a = b.beginLoop("A", KernelBuilder::constant(64));
  InstrId load = b.instr("load", b.queueOf(dma), "dma_copy");
  InstrId scale = b.instr("scale", b.queueOf(act));
  b.endLoop();
  b.dep(load, scale, {}, DepKind::RAW);
  b.dep(scale, load, {{a, 2}}, DepKind::WAR);
  EXPECT_EQ(writeKernelJson(b.finish()),
            R"({
  "schema": "tally-kernel",
  "version": 2,
  "name": "double_buffer",
  "engines": [
    {"name": "act"},
    {"name": "dma", "weight": 16}
  ],
  "body": [
    {"loop": "A", "trips": 64, "body": [
      {"instr": "load", "queue": "dma", "op": "dma_copy"},
      {"instr": "scale", "queue": "act"}
    ]}
  ],
  "dependences": [
    {"producer": "load", "consumer": "scale", "kind": "raw"},
    {"producer": "scale", "consumer": "load", "kind": "war", "distance": {"A": 2}}
  ]
}
)");
}

/// The dump shows names, tree, queues and distances; the text shows the rest.
TEST(KernelJsonTest, roundTrip) {
  Kernel kernel = everything();
  std::string text = writeKernelJson(kernel);
  std::optional<Kernel> again = read(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(dump(*again), dump(kernel));
  EXPECT_EQ(writeKernelJson(*again), text);
  ASSERT_EQ(again->accesses.size(), 3u);
  ASSERT_EQ(again->declaredValues.size(), 1u);
  EXPECT_EQ(again->text(again->declaredValues[0].name), "k");
  EXPECT_EQ(again->declaredValues[0].min, 1u);
  EXPECT_EQ(again->declaredValues[0].max, 7u);
  EXPECT_EQ(again->buffers[BufferId(0)].address, 4096u);
  EXPECT_EQ(again->buffers[BufferId(0)].partitions, (Partitions{32, 1}));
  EXPECT_FALSE(again->buffers[BufferId(1)].partitions);
  EXPECT_EQ(again->buffers[BufferId(1)].alias, std::vector<BufferId>{BufferId(0)});
  EXPECT_EQ(again->buffers[BufferId(2)].noalias, std::vector<BufferId>{BufferId(1)});
  EXPECT_EQ(again->buffers[BufferId(2)].ring, (SlotBounds{2, 5}));
  EXPECT_FALSE(again->buffers[BufferId(1)].ring);
  EXPECT_TRUE(
      std::ranges::equal(again->otherQueues(InstrId(0)), std::vector{QueueId(0), QueueId(1)}));
  EXPECT_TRUE(again->otherQueues(InstrId(1)).empty());
  EXPECT_EQ(again->queues[QueueId(2)].completion, Completion::Split);
  EXPECT_EQ(again->deps[DepId(0)].kind, DepKind::RAW);
  EXPECT_EQ(again->deps[DepId(2)].kind, DepKind::WAW);
  EXPECT_TRUE(again->deps[DepId(4)].allowDivergent);
  EXPECT_EQ(again->files, std::vector<std::string>{"k.json"});
}

TEST(KernelJsonTest, tilesBecomeCanonical) {
  std::optional<Kernel> kernel = read(document(R"({"loop": "A", "trips": 1, "body": [
                     {"instr": "i", "queue": "act", "reads": ["X[2*A:1]"]}]})"));
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->text(kernel->accesses[AccessId(0)].text), "X[A * 2:1]");
}

TEST(KernelJsonTest, syntaxErrorsHavePlaces) {
  EXPECT_EQ(errorsOf("{\n  \"schema\": }"),
            "k.json:2:13: error: syntax error while parsing value - unexpected '}'; expected '[', "
            "'{', or a literal\n");
  EXPECT_EQ(errorsOf("").substr(0, 18), "k.json:1:1: error:");
  EXPECT_EQ(errorsOf("[]"), "k.json:1:1: error: expected an object, found an array\n");
}

TEST(KernelJsonTest, depthIsBounded) {
  EXPECT_EQ(errorsOf(std::string(1000000, '[')),
            "k.json:1:1101: error: more than 1100 objects and arrays inside one another\n");
}

/// However many digits it has, the error has one line.
TEST(KernelJsonTest, numbersAreBounded) {
  EXPECT_EQ(errorsOf(R"({"version": 1)" + std::string(1000, '0') + "}"),
            "k.json:1:1013: error: the number is too large\n");
}

TEST(KernelJsonTest, keysGivenTwice) {
  EXPECT_NE(errorsOf(R"({"name": "a", "name": "b"})").find("the key 'name' is given twice"),
            std::string::npos);
}

TEST(KernelJsonTest, allErrorsAtOnce) {
  EXPECT_EQ(
      errorsOf(R"({"schema": "tally-code", "version": 3, "nam": 1, "engines": [3, {"name": "act",
                   "weight": -1, "queues": [{"name": "q", "completion": "half"}]}],
                   "body": [{"instr": "i", "queue": "z"}, {"loop": "A", "trips": "n"}, {}]})"),
      "k.json:1:1: error: the key 'name' is missing\n"
      "k.json:1:12: error: at 'schema': expected \"tally-kernel\", found \"tally-code\"\n"
      "k.json:1:37: error: at 'version': expected an integer from 1 to 2, found 3\n"
      "k.json:1:40: error: unknown key 'nam'; allowed keys: 'schema', 'version', 'name', 'loc', "
      "'reserves', "
      "'engines', 'values', 'buffers', 'body', 'dependences'\n"
      "k.json:1:62: error: at 'engines[0]': expected an object, found 3\n"
      "k.json:2:30: error: at 'engines[1].weight': expected an integer from 1 to 2147483647, found "
      "-1\n"
      "k.json:2:73: error: at 'engines[1].queues[0].completion': expected \"whole\" or \"split\", "
      "found \"half\"\n"
      "k.json:3:53: error: at 'body[0].queue': unknown queue 'z'; the queues of this kernel are "
      "'act', 'q'\n"
      "k.json:3:59: error: at 'body[1]': the key 'body' is missing\n"
      "k.json:3:82: error: at 'body[1].trips': expected an integer from 0 to 2147483647, "
      "found \"n\"\n"
      "k.json:3:88: error: at 'body[2]': a statement needs one of the keys 'instr', 'loop' and "
      "'if'\n");
}

TEST(KernelJsonTest, tripsAndTiles) {
  EXPECT_EQ(errorsOf(document(R"({"loop": "A", "trips": {"while": "c", "min": 1}, "body": []})")),
            "k.json:3:103: error: at 'body[0].trips': unknown key 'min'; allowed keys: 'while'\n");
  EXPECT_EQ(errorsOf(document(R"({"loop": "A", "trips": 1.5, "body": []})")),
            "k.json:3:88: error: at 'body[0].trips': expected an integer from 0 to "
            "2147483647, found 1.5\n");
  EXPECT_EQ(errorsOf(document(R"({"loop": "A", "trips": 2147483648, "body": []})")),
            "k.json:3:88: error: at 'body[0].trips': expected an integer from 0 to 2147483647, "
            "found 2147483648\n");
  EXPECT_EQ(
      errorsOf(
          document(R"({"loop": "A", "trips": {"value": "n", "max": 2147483648}, "body": []})")),
      "k.json:3:110: error: at 'body[0].trips.max': expected an integer from 0 to 2147483647, "
      "found 2147483648\n");
  EXPECT_EQ(errorsOf(document(R"({"instr": "i", "queue": "act", "reads": ["Y", "X[", 1]})")),
            "k.json:3:106: error: at 'body[0].reads[0]': unknown buffer 'Y'; the buffers of this "
            "kernel are 'X'\n"
            "k.json:3:111: error: at 'body[0].reads[1]': 'X[' is not a tile: column 3: expected an "
            "integer, a loop, '$', 'total', 'trips' or '('\n"
            "k.json:3:117: error: at 'body[0].reads[2]': expected a string, found 1\n");
}

TEST(KernelJsonTest, dependences) {
  std::string body = R"({"instr": "p", "queue": "act"})";
  EXPECT_EQ(
      errorsOf(document(body, R"({"producer": "p", "consumer": "q"},
                                       {"producer": "p", "consumer": "p", "kind": "rar"},
                                       {"producer": "p", "consumer": "p", "distance": {"A": 1}},
                                       {"producer": "p", "consumer": "p", "flat": 1, "element": 2},
                                       {"producer": "p", "flat": 0.5})")),
      "k.json:3:144: error: at 'dependences[0].consumer': unknown instruction 'q'; the "
      "instructions of this kernel are 'p'\n"
      "k.json:4:83: error: at 'dependences[1].kind': expected \"raw\" or \"war\" or \"waw\", found "
      "\"rar\"\n"
      "k.json:5:93: error: at 'dependences[2].distance.A': unknown loop 'A'; this kernel has no "
      "loops\n"
      "k.json:6:40: error: at 'dependences[3]': 'flat' stands alone; drop it, or drop 'distance' "
      "and 'element'\n"
      "k.json:7:40: error: at 'dependences[4]': the key 'consumer' is missing\n"
      "k.json:7:66: error: at 'dependences[4].flat': expected an integer of 64 bits, found 0.5\n");
}

/// Bytes that are no UTF-8 come back as U+FFFD instead of throwing.
TEST(KernelJsonTest, anyNameIsWritten) {
  KernelBuilder b("k");
  b.engine("\xff\n\"");
  EXPECT_NE(writeKernelJson(b.finish()).find("\xEF\xBF\xBD\\n\\\""), std::string::npos);
}

/// So do the kernel, its engines and their further queues; a queue that does not is where its
/// engine is.
TEST(KernelJsonTest, kernelsAndQueuesNameTheirPlaces) {
  auto textWith = [](const std::string &line) {
    return R"({"schema": "tally-kernel", "version": 2, "name": "k",
      "loc": {"file": "k.py", "line": 1, "column": 0}, "body": [], "engines": [
      {"name": "sp", "loc": {"file": "q.py", "line": 2, "column": 3}, "queues": [{"name": "in"},
       {"name": "out", "loc": {"file": "q.py", "line": )" +
           line + R"(, "column": 5}}]}]})";
  };
  std::optional<Kernel> kernel = read(textWith("4"));
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->files, (std::vector<std::string>{"k.json", "k.py", "q.py"}));
  EXPECT_EQ(kernel->where, (Location{1, 1, 0}));
  EXPECT_EQ(kernel->loops[rootLoop].where, kernel->where);
  for (QueueId same : {QueueId(0), QueueId(1)}) {
    EXPECT_EQ(kernel->queues[same].where, (Location{2, 2, 3}));
  }
  EXPECT_EQ(kernel->engines[EngineId(0)].where, (Location{2, 2, 3}));
  EXPECT_EQ(kernel->queues[QueueId(2)].where, (Location{2, 4, 5}));
  std::string written = writeKernelJson(*kernel, {.locations = true});
  std::optional<Kernel> again = read(written);
  ASSERT_TRUE(again);
  EXPECT_EQ(writeKernelJson(*again, {.locations = true}), written);
  EXPECT_EQ(again->queues[QueueId(2)].where, (Location{2, 4, 5}));
  EXPECT_EQ(writeKernelJson(*kernel).find("loc"), std::string::npos);
  EXPECT_NE(errorsOf(textWith("0"))
                .find("at 'engines[0].queues[1].loc.line': expected an integer "
                      "from 1 to 4294967295"),
            std::string::npos);
}

/// A statement stands where its `loc` says, in a file of its own; others stand in the document.
TEST(KernelJsonTest, statementsNameTheirPlaces) {
  std::string text = document(R"({"instr": "i", "queue": "act",
      "loc": {"file": "k.py", "line": 7, "column": 5}}, {"instr": "j", "queue": "act"})",
                              R"({"producer": "i", "consumer": "j",
      "loc": {"file": "k.py", "line": 9, "column": 1}})");
  std::optional<Kernel> kernel = read(text);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->files, (std::vector<std::string>{"k.json", "k.py"}));
  EXPECT_EQ(kernel->instrs[InstrId(0)].where, (Location{1, 7, 5}));
  EXPECT_EQ(kernel->instrs[InstrId(1)].where.file, 0u);
  EXPECT_EQ(kernel->deps[DepId(0)].where, (Location{1, 9, 1}));
  std::string written = writeKernelJson(*kernel, {.locations = true});
  std::optional<Kernel> again = read(written);
  ASSERT_TRUE(again);
  EXPECT_EQ(writeKernelJson(*again, {.locations = true}), written);
  EXPECT_EQ(writeKernelJson(*kernel).find("loc"), std::string::npos);
}

TEST(KernelJsonTest, kernelsHaveNames) {
  std::string text = document(R"({"instr": "i", "queue": "act"})");
  size_t at = text.find("\"name\": \"") + 9;
  text.erase(at, text.find('"', at) - at);
  EXPECT_NE(errorsOf(text).find("error: at 'name': expected a string that is not empty"),
            std::string::npos);
}

/// The library would take it for the end, and what comes after it would go unseen.
TEST(KernelJsonTest, nothingHidesBehindANul) {
  std::string text = document(R"({"instr": "i", "queue": "act"})");
  ASSERT_TRUE(read(text));
  EXPECT_EQ(errorsOf(text + '\0' + "more"),
            fmt::format("k.json:{}:{}: error: a character of code 0 is not JSON\n",
                        std::count(text.begin(), text.end(), '\n') + 1,
                        text.size() - text.rfind('\n')));
}

TEST(KernelJsonTest, columnsMayBeUnknown) {
  EXPECT_TRUE(read(document(
      R"({"instr": "i", "queue": "act", "loc": {"file": "k.py", "line": 3, "column": 0}})")));
}

TEST(KernelJsonTest, placesAreWhole) {
  EXPECT_EQ(
      errorsOf(document(R"({"instr": "i", "queue": "act", "loc": {"file": "k.py", "line": 0}})")),
      "k.json:3:103: error: at 'body[0].loc': the key 'column' is missing\n"
      "k.json:3:128: error: at 'body[0].loc.line': expected an integer from 1 to 4294967295, "
      "found 0\n");
  EXPECT_EQ(errorsOf(document(
                R"({"instr": "i", "queue": "act", "loc": {"file": "", "line": 1, "column": 1}})")),
            "k.json:3:112: error: at 'body[0].loc.file': expected a string that is not empty\n");
}
