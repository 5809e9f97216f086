//===- OverviewTest.cpp - Sums of runs of any length ----------------------===//

#include "tally/Report/Overview.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace tally;

static constexpr PieceClass control{PieceKind::Control, 0, 0};

TEST(OverviewTest, shortRunsHaveNarrowBuckets) {
  Overview overview;
  overview.add(control, 500, 2500);
  overview.finish(2600);
  ASSERT_EQ(overview.bucketWidth(), 1000u);
  ASSERT_EQ(overview.buckets().size(), 3u);
  EXPECT_EQ(overview.buckets()[0].front().span, 500u);
  EXPECT_EQ(overview.buckets()[1].front().span, 1000u);
  EXPECT_EQ(overview.buckets()[2].front().span, 500u);
}

/// Against a plain count of each picosecond's class, in runs that outgrow their buckets.
TEST(OverviewTest, nothingIsLostWhenBucketsGrow) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    Overview overview;
    std::vector<std::pair<PieceClass, std::pair<Tick, Tick>>> pieces;
    Tick now = 0;
    while (now < 3'000'000 * (seed + 1)) {
      Tick from = now + random() % 3000;
      now = from + random() % (seed % 2 == 0 ? 3000 : 300'000);
      PieceClass of{PieceKind::Wait, uint32_t(random() % 40), uint32_t(random() % 3)};
      pieces.push_back({of, {from, now}});
      overview.add(of, from, now);
    }
    overview.finish(now + random() % 5000);
    ASSERT_LE(overview.buckets().size(), Overview::numBuckets);
    Tick width = overview.bucketWidth();
    std::vector<std::map<PieceClass, Tick>> expected(overview.buckets().size());
    for (const auto &[of, span] : pieces) {
      for (Tick bucket = span.first / width; bucket * width < span.second; ++bucket) {
        Tick inside =
            std::min(span.second, (bucket + 1) * width) - std::max(span.first, bucket * width);
        if (inside > 0) {
          expected[bucket][of] += inside;
        }
      }
    }
    for (size_t bucket = 0; bucket < expected.size(); ++bucket) {
      std::map<PieceClass, Tick> found;
      for (const Overview::Share &share : overview.buckets()[bucket]) {
        EXPECT_TRUE(found.emplace(share.of, share.span).second) << "one share of each class";
      }
      EXPECT_EQ(found, expected[bucket]) << "seed " << seed << ", bucket " << bucket;
    }
  }
}
