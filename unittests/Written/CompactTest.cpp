//===- CompactTest.cpp - JSON without repeated names ----------------------===//

#include "../../lib/Written/Compact.h"

#include "tally/Compile/Compile.h"
#include "tally/Compile/Prepare.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Written/CodeJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;

namespace {

std::string compactOf(std::string_view text) {
  written::CompactJson json;
  json.add(text);
  return json.finish();
}

/// A kernel with one statement of each kind.
const char *const kernel =
    R"({"schema":"tally-kernel","version":2,"name":"k","engines":[{"name":"e"}],"body":[)"
    R"({"instr":"a","queue":"e"},{"instr":"b","queue":"e"}]})";

const char *const compactKernel = R"({"schema":"tally-compact","version":1,
"names":["tally-kernel","k","e","a","b"],
"shapes":[
[{"name":""},[2]],
[{"instr":"","queue":""},[3,1],[2]],
[{"schema":"","version":0,"name":"","engines":[],"body":[]},[],[2],[1]]],
"document":[[0],[1,1],2]}
)";

/// What is said of the compact kernel with a part replaced.
std::string errorsOf(const std::string &what, const std::string &by) {
  std::string text = compactKernel;
  size_t start = text.find(what);
  EXPECT_NE(start, std::string::npos) << what;
  text.replace(start, what.size(), by);
  Diagnostics diagnostics;
  bool isRead = readKernelJson(text, "k.json", diagnostics).has_value();
  std::string errors = render(diagnostics, {"k.json"});
  EXPECT_EQ(isRead, errors.empty());
  return errors;
}

/// Load, compute and store in turn, on four slots between each two, in a loop or without one.
Kernel stages(uint32_t size, bool isLoop) {
  KernelBuilder b("stages");
  std::vector<QueueId> queues;
  for (const char *engine : {"ld", "pe", "st"}) {
    queues.push_back(b.queueOf(b.engine(engine)));
  }
  const uint64_t slots = 4;
  std::vector<BufferId> buffers{b.buffer("SRC"), b.buffer("IN", {&slots, 1}),
                                b.buffer("OUT", {&slots, 1}), b.buffer("DST")};
  if (isLoop) {
    b.beginLoop("A", b.value("n"));
  }
  for (uint32_t i = 0; i < size; ++i) {
    uint32_t stage = i % 3;
    std::string slot = fmt::format("[{}]", i / 3 % slots);
    const char *names[] = {"SRC", "IN", "OUT", "DST"};
    auto tile = [&](uint32_t buffer) {
      return names[buffer] + (buffer % 3 == 0 ? std::string() : slot);
    };
    b.instr(fmt::format("i{}", i), queues[stage]);
    b.access(AccessKind::Read, buffers[stage], tile(stage));
    b.access(AccessKind::Write, buffers[stage + 1], tile(stage + 1));
  }
  if (isLoop) {
    b.endLoop();
  }
  return b.finish();
}

} // namespace

TEST(CompactTest, writes) {
  EXPECT_EQ(compactOf(kernel), compactKernel);
}

/// A piece may end behind any token.
TEST(CompactTest, takesPieces) {
  std::string_view text = kernel;
  for (size_t end = 1; end < text.size(); ++end) {
    if (std::string_view("{}[],").find(text[end - 1]) != std::string_view::npos) {
      written::CompactJson json;
      json.add(text.substr(0, end));
      json.add(text.substr(end));
      EXPECT_EQ(json.finish(), compactKernel) << end;
    }
  }
}

/// Numbers whose differences may not fit, fractions and words stand in the shape. Arrays of numbers
/// do as well, and those of arrays.
TEST(CompactTest, whatStandsForItself) {
  EXPECT_EQ(compactOf(R"({"a": [1, -2], "b": [[], [{"c": "\"\\"}]], "d": 1234567890123456789,
                        "e": 12345678901234567, "f": -0.5, "g": null, "h": true})"),
            R"x({"schema":"tally-compact","version":1,
"names":["\"\\"],
"shapes":[
[{"c":""},[]],
[{"a":[0,0],"b":[[],[]],"d":1234567890123456789,"e":0,"f":-0.5,"g":null,"h":true},[1],[-2],[12345678901234567]]],
"document":[[],[0],1]}
)x");
}

TEST(CompactTest, reads) {
  EXPECT_EQ(errorsOf("[2]", "[2]"), "");
  EXPECT_EQ(errorsOf("[3,1],[2]", "[3,1],[2,0]"), "");
}

TEST(CompactTest, refusesWhatIsNoSuchDocument) {
  EXPECT_EQ(errorsOf("\"version\":1", "\"version\":2"),
            "k.json:1:37: error: at 'version': expected 1, found 2\n");
  EXPECT_EQ(errorsOf("\"names\"", "\"name\""),
            "k.json:2:1: error: unknown key 'name'; allowed keys: 'schema', 'version', 'names', "
            "'shapes', 'document'\n");
  EXPECT_EQ(errorsOf("\"document\"", "\"names\"").substr(0, 62),
            "k.json:7:1: error: the key 'names' is given twice in one objec");
  EXPECT_EQ(errorsOf("\"k\"", "7"),
            "k.json:2:25: error: at 'names[1]': expected a string, found 7\n");
  EXPECT_EQ(errorsOf("[{\"name\":\"\"},[2]]", "[]"),
            "k.json:4:1: error: at 'shapes[0]': expected an object and its columns\n");
  EXPECT_EQ(errorsOf("{\"name\":\"\"}", "3"),
            "k.json:4:2: error: at 'shapes[0][0]': expected an object, found 3\n");
  EXPECT_EQ(errorsOf(",[2]],", "],"),
            "k.json:4:1: error: at 'shapes[0]': expected as many columns as holes for names and "
            "numbers, which is 1; found 0\n");
  EXPECT_EQ(errorsOf("[3,1],[2]", "[3,1],[2,0,0]"),
            "k.json:5:32: error: at 'shapes[1][2]': expected at most one entry for each object of "
            "this shape, which is 2; found 3\n");
  EXPECT_EQ(errorsOf("[3,1]", "[3,2]"), "k.json:5:29: error: at 'shapes[1][1][1]': unknown name "
                                        "5; there are 5, numbered from 0\n");
  EXPECT_EQ(errorsOf("[3,1]", "[3,-4]"), "k.json:5:29: error: at 'shapes[1][1][1]': unknown name "
                                         "-1; there are 5, numbered from 0\n");
  EXPECT_EQ(errorsOf("[3,1]", "[3,\"b\"]"), "k.json:5:29: error: at 'shapes[1][1][1]': expected "
                                            "an integer of 64 bits, found \"b\"\n");
  EXPECT_EQ(errorsOf("[],[2],[1]]]", "[],[9223372036854775807,1],[1]]]"),
            "k.json:6:85: error: at 'shapes[2][2][1]': with this difference the number no longer "
            "fits in 64 bits\n");
  EXPECT_EQ(errorsOf("[1,1]", "[1,3]"),
            "k.json:7:20: error: at 'document[1][1]': expected an integer from 0 to 2, found 3\n");
  EXPECT_EQ(errorsOf("[0],", ""),
            "k.json:7:19: error: at 'document[1]': expected as many arrays before this number as "
            "its shape has holes for them, which is 2; found 1\n");
  EXPECT_EQ(errorsOf("2]}", "2,[0]]}"), "k.json:7:12: error: at 'document': the last array stands "
                                        "before no number of a shape\n");
  EXPECT_EQ(errorsOf("2]}", "2,0]}"),
            "k.json:7:12: error: at 'document': expected one object, found 2\n");
}

TEST(CompactTest, nothingThere) {
  auto errors = [](const std::string &names, const std::string &shapes) {
    Diagnostics diagnostics;
    readKernelJson("{\"schema\":\"tally-compact\",\"version\":1,\"names\":" + names +
                       ",\"shapes\":" + shapes + ",\"document\":[0]}",
                   "k.json", diagnostics);
    return render(diagnostics, {"k.json"});
  };
  EXPECT_EQ(errors("[]", "[]"), "k.json:1:74: error: at 'document[0]': there are no shapes\n");
  EXPECT_EQ(errors("[]", R"([[{"schema":""},[]]])"),
            "k.json:1:75: error: at 'shapes[0][1]': there are no names\n");
}

/// Errors in what a document stands for name its path, and the place of the entry or of the number
/// of the shape. What is found is what stands there, not the difference.
TEST(CompactTest, errorsOfWhatItStandsFor) {
  EXPECT_EQ(errorsOf("[3,1],[2]", "[3,1],[2,2]"),
            "k.json:5:35: error: at 'body[1].queue': unknown queue 'b'; the queues of this kernel "
            "are 'e'\n");
  EXPECT_EQ(errorsOf("[],[2],[1]]]", "[],[3],[1]]]"),
            "k.json:6:65: error: at 'version': expected an integer from 1 to 2, found 3\n");
  EXPECT_EQ(errorsOf("{\"name\":\"\"},[2]", "{\"name\":0},[7]").substr(0, 69),
            "k.json:4:14: error: at 'engines[0].name': expected a string, found 7\n");
  EXPECT_EQ(errorsOf("\"version\":0", "\"version\":\"\""),
            "k.json:6:66: error: at 'version': expected an integer from 1 to 2, found \"e\"\n");
  std::string unknown =
      "unknown key 'kew'; allowed keys: 'instr', 'queue', 'or', 'op', 'computes', "
      "'reads', 'writes', 'accumulates', 'loads', 'semaphore', 'loc'\n";
  EXPECT_EQ(errorsOf("\"queue\"", "\"kew\""),
            "k.json:5:14: error: at 'body[0]': " + unknown +
                "k.json:5:14: error: at 'body[1]': " + unknown +
                "k.json:7:18: error: at 'body[0]': the key 'queue' is missing\n"
                "k.json:7:20: error: at 'body[1]': the key 'queue' is missing\n");
}

/// A small file does not stand for a large one.
TEST(CompactTest, isBounded) {
  std::string text = R"({"schema":"tally-compact","version":1,"names":[],"shapes":[[{"long":")" +
                     std::string(1 << 20, 'x') + R"("}],[{"list":[]}]],"document":[[0)";
  auto errors = [&](size_t count) {
    std::string objects;
    for (size_t i = 1; i < count; ++i) {
      objects += ",0";
    }
    Diagnostics diagnostics;
    readKernelJson(text + objects + "],1]}", "k.json", diagnostics);
    return render(diagnostics, {"k.json"});
  };
  std::string tooLarge = "at 'document[0][1023]': up to here the document stands for more than";
  EXPECT_EQ(errors(1023).find(tooLarge), std::string::npos);
  EXPECT_NE(errors(1024).find(tooLarge), std::string::npos);
}

/// Nor does it stand for objects that are deeper than a file may be.
TEST(CompactTest, isNotDeep) {
  std::string text =
      R"({"schema":"tally-compact","version":1,"names":[],"shapes":[[{"body":[]}]],)";
  auto errors = [&](size_t depth) {
    std::string open(depth, '[');
    std::string document = open + "]";
    for (size_t i = 1; i < depth; ++i) {
      document += ",0]";
    }
    Diagnostics diagnostics;
    readKernelJson(text + "\"document\":" + document + "}", "k.json", diagnostics);
    return render(diagnostics, {"k.json"});
  };
  std::string tooDeep = "more than 1100 objects and arrays inside one another";
  EXPECT_EQ(errors(550).find(tooDeep), std::string::npos);
  EXPECT_NE(errors(551).find(tooDeep), std::string::npos);
}

/// At 10^5 instructions it is 81 in the loop and 65 without; the usual form takes eight times that.
TEST(CompactTest, bytesPerInstruction) {
  constexpr uint32_t size = 3000;
  for (bool isLoop : {false, true}) {
    Diagnostics diagnostics;
    Extractor extractor;
    Kernel kernel = findAsked(stages(size, isLoop), {}, genericMachine(), extractor, diagnostics);
    std::optional<Compiled> compiled = compile(kernel, {}, genericMachine(), diagnostics);
    ASSERT_TRUE(compiled) << render(diagnostics, {});
    ASSERT_GT(kernel.deps.size(), size);
    std::string compact = writeCodeJson(kernel, compiled->code, {.compact = true});
    size_t bytes = compact.size();
    EXPECT_LT(bytes, size * 82);
    std::optional<LoadedKernel> read = readCodeJson(compact, "k.json", diagnostics);
    ASSERT_TRUE(read) << render(diagnostics, {});
    EXPECT_TRUE(writeCodeJson(read->kernel, *read->code) == writeCodeJson(kernel, compiled->code));
    EXPECT_LT(bytes * 7, writeCodeJson(kernel, compiled->code).size());
  }
}
