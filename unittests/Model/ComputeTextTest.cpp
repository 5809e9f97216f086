//===- ComputeTextTest.cpp - What instructions compute, as text -----------===//

#include "tally/Model/ComputeText.h"

#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;

namespace {

/// An expression with all its parentheses; the grammar gives one for each text.
std::string text(const ParsedCompute &compute, ComputeId id) {
  const ComputeNode &node = compute.nodes[id];
  switch (node.op) {
  case ComputeOp::Number:
    return fmt::format("{}", node.number);
  case ComputeOp::Read:
    return fmt::format("r{}", node.read);
  case ComputeOp::Kept:
    return "kept";
  case ComputeOp::Iteration:
    return "@" + node.word;
  default:
    break;
  }
  std::string result = fmt::format("({}", node.word.empty() ? toString(node.op) : node.word);
  for (ComputeId operand : node.operands) {
    result += operand.valid() ? " " + text(compute, operand) : "";
  }
  for (uint64_t number : node.list) {
    result += fmt::format(" #{}", number);
  }
  return result + ")";
}

std::string parsed(std::string_view source) {
  std::string error;
  std::optional<ParsedCompute> compute = parseCompute(source, error);
  EXPECT_EQ(compute.has_value(), error.empty());
  if (!compute) {
    return error;
  }
  std::string result;
  for (const ComputeResult &one : compute->results) {
    constexpr std::array<std::string_view, 4> kinds{"", "start ", "scatter ", "keep "};
    result += result.empty() ? "" : "; ";
    result += kinds[static_cast<size_t>(one.kind)];
    result += one.loop.empty() ? "" : one.loop + " ";
    result += text(*compute, one.value);
    result += one.index.valid() ? " at " + text(*compute, one.index) : "";
  }
  return result;
}

} // namespace

TEST(ComputeTextTest, operatorsBindAsUsual) {
  EXPECT_EQ(parsed("r0 + r1 * 2"), "(+ r0 (* r1 2))");
  EXPECT_EQ(parsed("r0 - r1 - r2 / r3 / 4"), "(- (- r0 r1) (/ (/ r2 r3) 4))");
  EXPECT_EQ(parsed("(r0 - r1) * -r2"), "(* (- r0 r1) (- r2))");
  EXPECT_EQ(parsed("r0 + 1 <= r1 * 2"), "(<= (+ r0 1) (* r1 2))");
  EXPECT_EQ(parsed("select(r0 < 0, -1e-3, .5)"), "(select (< r0 0) (- 0.001) 0.5)");
  EXPECT_EQ(parsed("max(r0, r1) == max(r2)"), "(== (max r0 r1) (max r2))");
}

TEST(ComputeTextTest, functions) {
  EXPECT_EQ(parsed("r0 >= -inf"), "(>= r0 (- inf))");
  EXPECT_EQ(parsed("(r0 != 0) > (r1 < 2)"), "(> (!= r0 0) (< r1 2))");
  EXPECT_EQ(parsed("sum(r0) + sum(r0, [0, 2])"), "(+ (sum r0) (sum r0 #0 #2))");
  EXPECT_EQ(parsed("max(r0, 1) + max(r0, [1])"), "(+ (max r0 1) (max r0 #1))");
  EXPECT_EQ(parsed("permute(reshape(r0, [4, 2]), [1, 0])"), "(permute (reshape r0 #4 #2) #1 #0)");
  EXPECT_EQ(parsed("index([4, 2], 1) + 2 * A - \"B 1\""), "(- (+ (index #4 #2 #1) (* 2 @A)) @B 1)");
  EXPECT_EQ(parsed("top(r0, 8)"), "(top r0 #8)");
  EXPECT_EQ(parsed("fp8_e4m3fn(r0) + bitand(i32(r0), 7)"),
            "(+ (fp8_e4m3fn r0) (bitand (i32 r0) 7))");
  EXPECT_EQ(parsed("scan(max, -, r0, r1, 0)"),
            fmt::format("(scan r0 r1 0 #{} #{})", int(ComputeOp::Max), int(ComputeOp::Sub)));
}

TEST(ComputeTextTest, results) {
  EXPECT_EQ(parsed("r0 * 2; max(r0 * 2)"), "(* r0 2); (max (* r0 2))");
  EXPECT_EQ(parsed("keep(transpose(r0))"), "keep (transpose r0)");
  EXPECT_EQ(parsed("start(matmul(kept, r0))"), "start (matmul kept r0)");
  EXPECT_EQ(parsed("start(k, r0)"), "start k r0");
  EXPECT_EQ(parsed("start(\"k 1\", r0)"), "start k 1 r0");
  EXPECT_EQ(parsed("scatter(r0, r1)"), "scatter r0 at r1");
  EXPECT_EQ(parsed("gather(r0, r1, r2)"), "(gather r0 r1 r2)");
}

TEST(ComputeTextTest, equalPartsAreOne) {
  std::string error;
  EXPECT_EQ(parseCompute("exp(r0 - r1); sum(exp(r0 - r1))", error)->nodes.size(), 5U);
  EXPECT_EQ(parseCompute("r0 - r1; r1 - r0", error)->nodes.size(), 4U);
}

TEST(ComputeTextTest, errorsNameTheColumn) {
  EXPECT_EQ(parsed(""),
            "column 1: expected a number, r0, r1, ..., 'kept', a loop, a function or '('");
  EXPECT_EQ(parsed("r0 +"),
            "column 5: expected a number, r0, r1, ..., 'kept', a loop, a function or '('");
  EXPECT_EQ(parsed("r0 r1"), "column 4: expected an operator, ';' or the end");
  EXPECT_EQ(parsed("exp(r0, r1)"), "column 1: 'exp' takes (an expression)");
  EXPECT_EQ(parsed("exp(r0"), "column 7: expected ')'");
  EXPECT_EQ(parsed("1 + start(r0)"), "column 5: 'start' stands only around a whole result");
  EXPECT_EQ(parsed("1e99"), "column 1: expected a number that fits in fp32");
  EXPECT_EQ(parsed("softmax(r0)").substr(0, 69),
            "column 1: there is no function 'softmax'; there are abs, sign, floor,");
  EXPECT_EQ(parsed("sum(r0, r1)"),
            "column 1: 'sum' takes (an expression) or (an expression, numbers in brackets)");
  EXPECT_EQ(parsed("top(r0, x)"), "column 9: expected a whole number of at most 4294967296");
  EXPECT_EQ(parsed("reshape(r0, [4, 4294967297])"),
            "column 17: expected a whole number of at most 4294967296");
  EXPECT_EQ(parsed("scan(/, +, r0, r1, 0)"), "column 6: expected '+', '-', '*', 'max' or 'min'");
  EXPECT_EQ(parsed("\"k"), "column 2: expected '\"' at the end of a name");
  EXPECT_EQ(parsed(std::string(200, '(') + "r0"),
            "column 101: more than 100 expressions inside one another");
  EXPECT_EQ(parsed(std::string(200, '-') + "r0"),
            "column 101: more than 100 expressions inside one another");
  std::string longest = "r0";
  for (int i = 0; i < 1000; ++i) {
    longest += "+1";
  }
  EXPECT_NE(parsed(longest).find("more than 1000 operations"), std::string::npos);
}

namespace {

/// What check() says of an instruction in loop A that reads X twice, writes Y, adds to Z.
std::string problem(std::string_view computes) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  BufferId x = b.buffer("X"), y = b.buffer("Y"), z = b.buffer("Z");
  b.beginLoop("A", KernelBuilder::constant(2));
  b.instr("i", b.queueOf(act), {}, {0, 7, 3});
  b.computes(computes);
  b.access(AccessKind::Read, x, "X");
  b.access(AccessKind::Read, x, "X");
  b.access(AccessKind::Write, y, "Y");
  b.access(AccessKind::Accumulate, z, "Z");
  b.endLoop();
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  return render(diagnostics, {"k"});
}

std::string refused(std::string_view computes, std::string_view why) {
  return fmt::format("k:7:3: error: 'i' cannot compute '{}': {}\n", computes, why);
}

} // namespace

TEST(ComputeTextTest, mustFitItsInstruction) {
  for (std::string_view legal : {"r0; r1", "r0; start(r1)", "r0; start(A, r1)", "keep(r0); r0; r1",
                                 "scatter(r0, r1); r0", "r0 * A; r1"}) {
    EXPECT_EQ(problem(legal), "");
  }
  EXPECT_EQ(problem("r0"), refused("r0", "it has 1 result, but the instruction writes or "
                                         "accumulates 2 tiles"));
  EXPECT_EQ(problem("r0; r2"), refused("r0; r2", "it names r2, but the instruction reads 2 tiles"));
  EXPECT_EQ(problem("start(r0); r1"),
            refused("start(r0); r1", "'start' begins a sum, but its tile is written; write the "
                                     "expression alone"));
  EXPECT_EQ(problem("r0; scatter(r0, r1)"),
            refused("r0; scatter(r0, r1)", "'scatter' writes, but its tile is accumulated; gather "
                                           "the rows, add, and scatter them"));
  EXPECT_EQ(problem("r0; start(B, r1)"),
            refused("r0; start(B, r1)",
                    "'start' names 'B', which is not a loop around this instruction"));
  EXPECT_EQ(problem("r0 + B; r1"),
            refused("r0 + B; r1", "it names 'B', which is not a loop around this instruction"));
  EXPECT_EQ(problem("r0;; r1").substr(0, 47), "k:7:3: error: 'i' cannot compute 'r0;; r1': col");
}
