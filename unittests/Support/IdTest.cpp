//===- IdTest.cpp - Typed ids and their tables ----------------------------===//

#include "tally/Support/Id.h"

#include <gtest/gtest.h>
#include <string>
#include <type_traits>
#include <unordered_set>

using namespace tally;

namespace {

using CatId = Id<struct CatTag>;
using DogId = Id<struct DogTag>;

// The point of typed ids: none of these compiles by accident.
static_assert(!std::is_convertible_v<CatId, DogId>);
static_assert(!std::is_convertible_v<uint32_t, CatId>);
static_assert(!std::is_constructible_v<CatId, DogId>);

} // namespace

TEST(IdTest, aDefaultIdIsNone) {
  EXPECT_FALSE(CatId().valid());
  EXPECT_EQ(CatId(), CatId::none());
  EXPECT_TRUE(CatId(0).valid());
  EXPECT_NE(CatId(0), CatId::none());
}

TEST(IdTest, idsAreOrderedByNumber) {
  EXPECT_LT(CatId(1), CatId(2));
  EXPECT_LT(CatId(2), CatId::none());
}

TEST(IdTest, idsHashByNumber) {
  std::unordered_set<CatId> set{CatId(1), CatId(2), CatId(1)};
  EXPECT_EQ(set.size(), 2u);
}

TEST(IdRangeTest, visitsConsecutiveIds) {
  IdRange<CatId> range{3, 2};
  std::vector<CatId> seen;
  for (CatId id : range) {
    seen.push_back(id);
  }
  EXPECT_EQ(seen, (std::vector<CatId>{CatId(3), CatId(4)}));
  EXPECT_EQ(range[1], CatId(4));
  EXPECT_EQ(range.size(), 2u);
}

TEST(IdRangeTest, anEmptyRangeVisitsNothing) {
  IdRange<CatId> range{7, 0};
  EXPECT_TRUE(range.empty());
  for (CatId id : range) {
    FAIL() << id.value;
  }
}

TEST(IdVectorTest, pushGivesTheIdOfTheItem) {
  IdVector<CatId, std::string> names;
  EXPECT_TRUE(names.empty());
  CatId tom = names.push("tom");
  CatId kit = names.push("kit");
  EXPECT_EQ(tom, CatId(0));
  EXPECT_EQ(names[kit], "kit");
  names[tom] += "my";
  EXPECT_EQ(names[tom], "tommy");
  EXPECT_EQ(names.size(), 2u);
}

TEST(IdVectorTest, idsCoverTheTable) {
  IdVector<CatId, int> table(3, 5);
  int sum = 0;
  for (CatId id : table.ids()) {
    sum += table[id];
  }
  EXPECT_EQ(sum, 15);
}

TEST(IdVectorTest, resizeKeepsAndAssignReplaces) {
  IdVector<CatId, int> table(1, 5);
  table.resize(2, 7);
  EXPECT_EQ(table.raw(), (std::vector<int>{5, 7}));
  table.assign(3, 1);
  EXPECT_EQ(table.raw(), (std::vector<int>{1, 1, 1}));
}
