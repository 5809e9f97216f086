//===- JsonDocTest.cpp - The examples of docs/guide/json ------------------===//

#include "tally/Lower/Lower.h"
#include "tally/Model/Check.h"
#include "tally/Written/CodeJson.h"
#include "tally/Written/KernelJson.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace tally;

/// The example of a page.
static std::string example(const std::string &page) {
  std::ifstream file(DOCS_DIRECTORY "/json/" + page);
  std::ostringstream text;
  text << file.rdbuf();
  std::string contents = text.str();
  static const std::string fence = "```json\n";
  size_t start = contents.find(fence);
  EXPECT_NE(start, std::string::npos) << page;
  if (start == std::string::npos) {
    return "";
  }
  start += fence.size();
  EXPECT_EQ(contents.find(fence, start), std::string::npos) << page << " has one example";
  return contents.substr(start, contents.find("```", start) - start);
}

TEST(JsonDocTest, kernelIsLegal) {
  Diagnostics diagnostics;
  std::optional<Kernel> kernel = readKernelJson(example("Kernel.md"), "Kernel.md", diagnostics);
  ASSERT_TRUE(kernel) << render(diagnostics, {});
  check(*kernel, diagnostics);
  EXPECT_EQ(render(diagnostics, {}), "");
  EXPECT_EQ(writeKernelJson(*kernel), example("Kernel.md"));
}

/// The code of its page is what that kernel compiles to.
TEST(JsonDocTest, codeIsThatOfTheKernel) {
  Diagnostics diagnostics;
  std::optional<LoadedKernel> read = readCodeJson(example("Code.md"), "Code.md", diagnostics);
  ASSERT_TRUE(read) << render(diagnostics, {});
  verifyCode(read->kernel, *read->code, diagnostics, true);
  EXPECT_EQ(render(diagnostics, {}), "");
  EXPECT_EQ(writeKernelJson(read->kernel), example("Kernel.md"));
  SyncPlan plan = makePlan(read->kernel, {}, diagnostics);
  Code code = lower(read->kernel, plan, genericMachine(), {}, diagnostics);
  EXPECT_EQ(writeCodeJson(read->kernel, code), example("Code.md"));
}

TEST(JsonDocTest, compactIsTheKernel) {
  Diagnostics diagnostics;
  std::optional<Kernel> kernel = readKernelJson(example("Compact.md"), "Compact.md", diagnostics);
  ASSERT_TRUE(kernel) << render(diagnostics, {});
  EXPECT_EQ(writeKernelJson(*kernel), example("Kernel.md"));
  EXPECT_EQ(writeKernelJson(*kernel, {.compact = true}), example("Compact.md"));
}
