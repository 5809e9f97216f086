//===- JsonDocTest.cpp - The examples of docs/guide/Json.md ---------------===//

#include "tally/Lower/Lower.h"
#include "tally/Model/Check.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/KernelJson.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace tally;

/// The n-th example of the page.
static std::string example(unsigned n) {
  std::ifstream file(DOCS_DIRECTORY "/Json.md");
  std::ostringstream text;
  text << file.rdbuf();
  std::string page = text.str();
  static const std::string fence = "```json\n";
  size_t start = page.find(fence);
  for (; n > 0 && start != std::string::npos; --n) {
    start = page.find(fence, start + 1);
  }
  EXPECT_NE(start, std::string::npos);
  start += fence.size();
  return page.substr(start, page.find("```", start) - start);
}

TEST(JsonDocTest, kernelIsLegal) {
  Diagnostics diagnostics;
  std::optional<Kernel> kernel = readKernelJson(example(0), "Json.md", diagnostics);
  ASSERT_TRUE(kernel) << render(diagnostics, {});
  check(*kernel, diagnostics);
  EXPECT_EQ(render(diagnostics, {}), "");
  EXPECT_EQ(writeKernelJson(*kernel), example(0));
}

/// The code of the page is what that kernel compiles to.
TEST(JsonDocTest, codeIsThatOfTheKernel) {
  Diagnostics diagnostics;
  std::optional<LoadedKernel> read = readCodeJson(example(1), "Json.md", diagnostics);
  ASSERT_TRUE(read) << render(diagnostics, {});
  verifyCode(read->kernel, *read->code, diagnostics, true);
  EXPECT_EQ(render(diagnostics, {}), "");
  EXPECT_EQ(writeKernelJson(read->kernel), example(0));
  SyncPlan plan = makePlan(read->kernel, {}, diagnostics);
  Code code = lower(read->kernel, plan, genericMachine(), {}, diagnostics);
  EXPECT_EQ(writeCodeJson(read->kernel, code), example(1));
}

TEST(JsonDocTest, compactIsTheKernel) {
  Diagnostics diagnostics;
  std::optional<Kernel> kernel = readKernelJson(example(2), "Json.md", diagnostics);
  ASSERT_TRUE(kernel) << render(diagnostics, {});
  EXPECT_EQ(writeKernelJson(*kernel), example(0));
  EXPECT_EQ(writeKernelJson(*kernel, {.compact = true}), example(2));
}
