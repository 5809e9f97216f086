//===- SortByNumberTest.cpp - Sorting by a small number -------------------===//

#include "tally/Support/SortByNumber.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

using namespace tally;

namespace {

using Item = std::pair<uint32_t, uint32_t>;

void sort(std::vector<Item> &items, size_t numNumbers) {
  sortByNumber(
      items, numNumbers, [](const Item &item) { return item.first; },
      [](const Item &a, const Item &b) { return a.second < b.second; });
}

TEST(SortByNumber, isSorting) {
  std::mt19937 random(1);
  for (uint32_t numNumbers : {1u, 2u, 7u, 300u}) {
    for (size_t numItems : {0u, 1u, 2u, 50u, 1000u}) {
      std::vector<Item> items(numItems);
      for (Item &item : items) {
        item = {random() % numNumbers, random() % 20};
      }
      std::vector<Item> expected = items;
      std::sort(expected.begin(), expected.end());
      sort(items, numNumbers);
      EXPECT_EQ(items, expected) << numNumbers << " " << numItems;
      sort(items, numNumbers); // what is in order stays
      EXPECT_EQ(items, expected);
    }
  }
}

TEST(SortByNumber, numbersThatNothingHas) {
  std::vector<Item> items = {{9, 1}, {9, 0}, {0, 3}};
  sort(items, 1000);
  EXPECT_EQ(items, (std::vector<Item>{{0, 3}, {9, 0}, {9, 1}}));
}

} // namespace
