//===- CampaignTest.cpp - A few seconds of `tally-fuzz` -------------------===//
//
// $TALLY_FUZZ_COUNT kernels, and as many mutants, instead of the usual number.
//
//===----------------------------------------------------------------------===//

#include "KernelCampaign.h"
#include "MutantCampaign.h"

#include "tally/Written/KernelJson.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

namespace {

Extent extentOf(uint64_t count, uint32_t workers = 1) {
  const char *text = std::getenv("TALLY_FUZZ_COUNT");
  Extent extent;
  extent.count = text ? std::strtoull(text, nullptr, 10) : count;
  extent.workers = workers;
  return extent;
}

std::string textOf(const Finding &finding) {
  return std::string(toString(finding.failure.strategy)) + ": " + finding.failure.what + "\n" +
         replayCommand(finding) + "\n" + finding.failure.choices + "\n" +
         writeKernelJson(finding.drawn.kernel);
}

} // namespace

TEST(KernelCampaignTest, nothingIsFound) {
  KernelReport report = fuzzKernels(extentOf(1500));
  for (const Finding &finding : report.findings) {
    ADD_FAILURE() << textOf(finding);
  }
  const KernelCounts &counts = report.counts;
  EXPECT_GT(counts.exact, counts.runs / 2);
  EXPECT_GT(counts.safe, counts.runs / 20);
  EXPECT_GT(counts.explored, counts.runs / 4);
  EXPECT_LT(counts.open * 20, counts.runs);
  EXPECT_LT(counts.undecided * 10, counts.explored);
}

TEST(KernelCampaignTest, theReportDoesNotDependOnWorkers) {
  EXPECT_EQ(fuzzKernels(extentOf(100, 1)).counts, fuzzKernels(extentOf(100, 3)).counts);
}

/// Counters that never count are found, and shown on a kernel of one dependence.
TEST(KernelCampaignTest, sabotageIsFoundAndShrunk) {
  KernelReport report = fuzzKernels(extentOf(100), plainCase, /*maxFindings=*/3, loseCounts);
  ASSERT_EQ(report.findings.size(), 3u);
  for (const Finding &finding : report.findings) {
    const Case &drawn = finding.drawn;
    EXPECT_LE(drawn.kernel.instrs.size(), 2u) << textOf(finding);
    EXPECT_EQ(drawn.kernel.deps.size(), 1u) << textOf(finding);
    // The seed alone repeats it, on the whole kernel and on the shrunk one.
    EXPECT_TRUE(examine(plainCase(finding.seed), finding.seed, loseCounts).failure);
    EXPECT_TRUE(examine(drawn, finding.seed, loseCounts).failure);
    EXPECT_FALSE(examine(drawn, finding.seed).failure);
    // Nothing about it has to do with the machine or with how code is made.
    EXPECT_TRUE(drawn.machine == genericMachine());
    EXPECT_EQ(optionsText(drawn), "");
  }
}

TEST(MutantCampaignTest, noMutantSurvives) {
  MutantReport report = fuzzMutants(extentOf(2000));
  EXPECT_TRUE(report.clean()) << toText(report);
  for (size_t k = 0; k < numMutantKinds; ++k) {
    EXPECT_GT(report.kinds[k].killed, 10u) << toText(report);
  }
  EXPECT_GT(report.compared, 20u);
  EXPECT_GE(report.total().total(), 2000u);
  // Each was rejected by something that users can run, and each that was let pass has a proof.
  EXPECT_EQ(report.killedBy[static_cast<size_t>(Killer::OrderAlone)], 0u) << toText(report);
  EXPECT_EQ(report.equivalentBy[0] + report.equivalentBy[1], report.total().equivalent);
  EXPECT_LT(report.total().equivalent, report.total().killed) << toText(report);
}

TEST(MutantCampaignTest, theReportDoesNotDependOnWorkers) {
  EXPECT_EQ(fuzzMutants(extentOf(100, 1)), fuzzMutants(extentOf(100, 3)));
}

TEST(MutantCampaignTest, jsonHasTheTotals) {
  MutantReport report;
  report.kinds[0] = {5, 1, 2};
  report.kinds[3] = {7, 0, 0};
  std::string json = toJson(report);
  EXPECT_NE(json.find("\"killed\": 12"), std::string::npos) << json;
  EXPECT_NE(json.find("\"survived\": 1"), std::string::npos);
  EXPECT_NE(json.find("\"equivalent\": 2"), std::string::npos);
}
