//===- ThreadCampaignTest.cpp - Some random kernels on threads ------------===//
//
// A second of `tally-fuzz --threads`; $TALLY_THREAD_KERNELS=2000 makes more of it.
//
//===----------------------------------------------------------------------===//

#include "ThreadCampaign.h"

#include "Counts.h"

#include "tally/Written/KernelJson.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

TEST(ThreadCampaignTest, threadsComputeWhatTheSequentialRunDoes) {
  Extent extent;
  extent.count = test::numKernels("TALLY_THREAD_KERNELS", 15, 400);
  ThreadReport report = fuzzThreads(extent);
  for (const ThreadFinding &finding : report.findings) {
    ADD_FAILURE() << "seed " << finding.seed << ", " << toString(finding.failure.strategy) << ": "
                  << finding.failure.what << " " << finding.failure.choices << "\n"
                  << writeKernelJson(finding.kernel);
  }
  const ThreadCounts &counts = report.counts;
  EXPECT_GT(counts.runs, 2 * counts.kernels);
  EXPECT_GT(counts.passed, counts.runs / 4);
  EXPECT_GT(counts.written, 0u);
}

/// Counters that never count are found on threads, too.
TEST(ThreadCampaignTest, sabotageIsFound) {
  Extent extent;
  extent.count = 40;
  EXPECT_EQ(fuzzThreads(extent, /*maxFindings=*/1, loseCounts).findings.size(), 1u);
}
