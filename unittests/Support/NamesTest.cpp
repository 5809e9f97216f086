//===- NamesTest.cpp - Names that there are not, and new ones -------------===//

#include "tally/Support/Names.h"

#include "tally/Support/Counted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

using namespace tally;

TEST(NamesTest, nearestHasTheFewestChanges) {
  EXPECT_EQ(nearestName("laod", {"store", "load", "lead"}), "load");
  EXPECT_EQ(nearestName("per-lop", {"per-loop", "per-engine"}), "per-loop");
  EXPECT_EQ(nearestName("load", {}), "");
  EXPECT_EQ(nearestName("wirtes", {"reads", "writes"}), "writes");
}

/// Of two that are as near the first; and nothing that has no character in common.
TEST(NamesTest, nearestIsNear) {
  EXPECT_EQ(nearestName("ab", {"ax", "ay"}), "ax");
  EXPECT_EQ(nearestName("Z", {"A", "B"}), "");
  EXPECT_EQ(nearestName("atc", {"act"}), "act"); // two characters change places
  EXPECT_EQ(nearestName("copy", {"topk"}), "");  // half of it is another
  EXPECT_EQ(nearestName("barrier", {"auto", "manual"}), "");
}

TEST(NamesTest, fewNamesAreListed) {
  EXPECT_EQ(unknownName("queue", "queues", "dam", {"act", "dma"}),
            "unknown queue 'dam'; the queues are 'act', 'dma'; did you mean 'dma'?");
  EXPECT_EQ(unknownName("queue", "queues", "q", {}), "unknown queue 'q'; there are no queues");
  std::vector<std::string_view> many(13, "name");
  EXPECT_EQ(unknownName("queue", "queues", "nam", many),
            "unknown queue 'nam'; did you mean 'name'?");
}

/// Where nothing is near, even many names are told, but not all of a flood.
TEST(NamesTest, farNamesAreListed) {
  std::vector<std::string> names;
  for (size_t i = 0; i < 1000; ++i) {
    names.push_back(fmt::format("name{}", i));
  }
  std::vector<std::string_view> some(names.begin(), names.begin() + 13);
  std::string list = fmt::format("unknown queue 'x'; the queues are '{}'", fmt::join(some, "', '"));
  EXPECT_EQ(unknownName("queue", "queues", "x", some), list);
  some.push_back("name5"); // by mistake
  EXPECT_EQ(unknownName("queue", "queues", "x", some), list);
  std::vector<std::string_view> all(names.begin(), names.end());
  EXPECT_TRUE(unknownName("queue", "queues", "x", all).ends_with("'name59' and 940 more"));
}

/// An input full of unknown names costs no more than reading it; long names cost nothing.
TEST(NamesTest, effortEnds) {
  uint32_t effort = 1;
  std::vector<std::string_view> many(13, "name");
  EXPECT_EQ(unknownName("queue", "queues", "nam", many, effort),
            "unknown queue 'nam'; did you mean 'name'?");
  EXPECT_EQ(unknownName("queue", "queues", "nam", many, effort), "unknown queue 'nam'");
  std::string longName(1'000'000, 'x');
  EXPECT_EQ(nearestName(longName, {longName}), "");
}

/// A number at the end tells equal names apart, and makes none that the input has.
TEST(NamesTest, freshNamesDiffer) {
  StringPool avoided;
  avoided.intern("a#3");
  avoided.intern("b");
  FreshNames names(avoided);
  std::vector<std::string> made;
  for (const char *name : {"a", "a", "a", "b", "a#2", "a"}) {
    made.push_back(names.add(name));
  }
  EXPECT_EQ(made, (std::vector<std::string>{"a", "a#2", "a#4", "b", "a#2#2", "a#5"}));
}

TEST(NamesTest, countsAreEnglish) {
  EXPECT_EQ(counted(0, "step"), "0 steps");
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(1, "entry"), "1 entry");
  EXPECT_EQ(counted(2, "entry"), "2 entries");
  EXPECT_EQ(counted(2, "access"), "2 accesses");
}
