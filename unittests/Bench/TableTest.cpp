//===- TableTest.cpp - What each strategy costs on each kernel ------------===//

#include "tally/Bench/Table.h"

#include <gtest/gtest.h>

#include <map>

using namespace tally;

namespace {

const std::vector<BenchRow> &smallTable() {
  static const std::vector<BenchRow> rows = [] {
    Diagnostics diagnostics;
    std::vector<BenchRow> table = benchTable({}, *loadMachine("trn2").machine, diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
    return table;
  }();
  return rows;
}

} // namespace

/// Nothing is faster than the bounds, and they are in order.
TEST(TableTest, boundsAreBounds) {
  std::map<std::string, std::map<std::string, Tick>> latency;
  for (const BenchRow &row : smallTable()) {
    if (row.problem.empty()) {
      EXPECT_GT(row.latency, 0u) << row.kernel << " " << row.strategy;
      latency[row.kernel][row.strategy] = row.latency;
    }
  }
  EXPECT_EQ(latency.size(), 9u);
  for (const auto &[kernel, by] : latency) {
    EXPECT_LE(by.at("floor"), by.at("ideal")) << kernel;
    for (const char *strategy :
         {"barrier", "per-instruction", "per-loop", "per-engine", "manual"}) {
      EXPECT_LE(by.at("ideal"), by.at(strategy)) << kernel << " " << strategy;
    }
    EXPECT_LT(by.at("per-loop"), by.at("barrier")) << kernel;
    EXPECT_LE(by.at("barrier"), by.at("barrier-all")) << kernel;
  }
}

/// `published` is `per-loop` with more operations. It may end a little sooner all the same, where
/// transfers of several engines share the bandwidth in another order.
TEST(TableTest, publishedCodeTakesMoreControl) {
  std::map<std::string, std::map<std::string, BenchRow>> rows;
  for (const BenchRow &row : smallTable()) {
    rows[row.kernel][row.strategy] = row;
  }
  for (const auto &[kernel, by] : rows) {
    const BenchRow &ours = by.at("per-loop"), &published = by.at("published");
    EXPECT_LT(ours.control, published.control) << kernel;
    EXPECT_LE(static_cast<double>(ours.latency), 1.01 * static_cast<double>(published.latency))
        << kernel;
  }
}

/// The published table has 4 registers for each engine of this kernel: two counters, a mask, and
/// what it masks.
TEST(TableTest, publishedCodeKeepsAllCounters) {
  for (const BenchRow &row : smallTable()) {
    if (row.kernel == "add_many_loop" && row.strategy == "published") {
      EXPECT_EQ(row.maxRegisters(), 4u);
      return;
    }
  }
  FAIL() << "no such row";
}

/// What cannot be is named with its reason: a loop whose trips only the run knows.
TEST(TableTest, runTimeTripsAreNotUnrolled) {
  size_t numProblems = 0;
  for (const BenchRow &row : smallTable()) {
    bool dynamic = row.kernel.substr(0, 3) == "moe" && row.strategy == "unrolled";
    EXPECT_EQ(!row.problem.empty(), dynamic) << row.kernel << " " << row.strategy << row.problem;
    numProblems += !row.problem.empty();
  }
  EXPECT_EQ(numProblems, 3u);
}

/// The normal value lies within the range, and the ends name a parameter that the machine has.
TEST(TableTest, sensitivity) {
  BenchOptions options;
  options.kernels = {"adamw", "matmul"};
  options.strategies = {{Strategy::PerLoop}};
  Machine machine = *loadMachine("trn2").machine;
  Diagnostics diagnostics;
  std::vector<Sensitivity> rows = benchSensitivity(options, machine, diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  ASSERT_EQ(rows.size(), 2u);
  for (const Sensitivity &row : rows) {
    EXPECT_LT(row.least, row.normal);
    EXPECT_LT(row.normal, row.most);
    std::string name = row.mostAt.substr(0, row.mostAt.find('='));
    EXPECT_TRUE(machine.parameter(name)) << row.mostAt;
    ASSERT_EQ(setParameter(machine, row.mostAt), "");
    options.kernels = {row.kernel};
    options.strategies = {{Strategy::Barrier}, {Strategy::PerLoop}};
    EXPECT_EQ(benchTable(options, machine, diagnostics)[1].normalized, row.most);
    machine = *loadMachine("trn2").machine;
  }
}

/// A chosen part is that part of the whole, and without barriers there is nothing to compare with.
TEST(TableTest, choice) {
  BenchOptions options;
  options.kernels = {"matmul"};
  options.strategies = {{Strategy::PerLoop}};
  Diagnostics diagnostics;
  std::vector<BenchRow> rows = benchTable(options, *loadMachine("trn2").machine, diagnostics);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].normalized, 0);
  EXPECT_EQ(rows[0].loops, 3u);
  for (const BenchRow &row : smallTable()) {
    if (row.kernel == "matmul" && row.strategy == "per-loop") {
      EXPECT_EQ(row.latency, rows[0].latency);
    }
  }
}
