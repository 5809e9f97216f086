//===- CriticalPathTest.cpp - What the table of the path keeps ------------===//

#include "../../lib/Sim/CriticalPath.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::sim;

namespace {

/// Two engines that run side by side and never wait for each other: their ways never come together.
struct SideBySide {
  CriticalPath path{64};
  PathNode first = pathStart;
  PathNode second = pathStart;
  size_t largest = 0;

  void run(uint32_t steps) {
    path.resize(3);
    for (uint32_t i = 0; i < steps; ++i) {
      first = path.add(first, PathKind::Control, i % 2, 10);
      second = path.add(second, PathKind::Control, 2, 15);
      if (path.isFull()) {
        path.collect({&first, &second});
      }
      largest = std::max(largest, path.size());
    }
  }
};

} // namespace

TEST(CriticalPathTest, waysSideBySideAreShort) {
  SideBySide engines;
  engines.run(100'000);
  EXPECT_LE(engines.largest, 64u);
  const auto &totals = engines.path.finish(engines.first);
  const auto control = static_cast<size_t>(PathKind::Control);
  EXPECT_EQ(totals[0][control], 500'000u);
  EXPECT_EQ(totals[1][control], 500'000u);
  EXPECT_EQ(totals[2][control], 0u);
}

/// Who is told each piece has to be told all of them, in order.
TEST(CriticalPathTest, piecesAreToldOneByOne) {
  SideBySide engines;
  std::vector<uint32_t> ops;
  engines.path.setTeller([&](uint32_t op, PathKind, Tick from, Tick to) {
    EXPECT_EQ(from, ops.size() * 10);
    EXPECT_EQ(to, from + 10);
    ops.push_back(op);
  });
  engines.run(1'000);
  engines.path.finish(engines.first);
  ASSERT_EQ(ops.size(), 1'000u);
  EXPECT_EQ(ops[0], 0u);
  EXPECT_EQ(ops[999], 1u);
}
