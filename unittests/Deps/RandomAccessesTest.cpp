//===- RandomAccessesTest.cpp - What random tiles promise -----------------===//

#include "RandomAccesses.h"
#include "oracle/Enumerate.h"

#include "tally/Model/Check.h"
#include "tally/Written/KernelJson.h"
#include "tally/Written/Text.h"

#include <gtest/gtest.h>

#include <map>

using namespace tally;
using namespace tally::oracle;

namespace {

std::string errorsOf(const Kernel &kernel) {
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  return render(diagnostics, {});
}

} // namespace

TEST(RandomAccessesTest, everyKernelIsLegal) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Kernel kernel = randomAccesses(seed);
    ASSERT_EQ(errorsOf(kernel), "") << "seed " << seed << "\n" << dump(kernel);
    ASSERT_FALSE(kernel.accesses.empty());
  }
}

TEST(RandomAccessesTest, noTileLeavesItsBuffer) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Kernel kernel = randomAccesses(seed);
    for (uint64_t longest : {3, 6}) {
      TripsOf trips = randomTrips(kernel, seed, 0, longest);
      Enumeration run(kernel, trips, randomValues(kernel, seed, 0, 5));
      EXPECT_TRUE(run.beyond().empty()) << "seed " << seed << "\n" << writeKernelJson(kernel);
    }
  }
}

/// Each word and sign of the grammar stands in many of them.
TEST(RandomAccessesTest, allFormsAppear) {
  std::map<std::string_view, uint32_t> found;
  for (std::string_view form : {"mod", "floordiv", "total(", "trips(", "$n", "$m", "[@]", ":",
                                " if ", " and ", "==", "!=", "<=", ">=", " - ", " + "}) {
    found[form] = 0;
  }
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Kernel kernel = randomAccesses(seed);
    for (const Access &access : kernel.accesses) {
      for (auto &[form, count] : found) {
        count += kernel.text(access.text).find(form) != std::string_view::npos;
      }
    }
  }
  for (auto [form, count] : found) {
    EXPECT_GT(count, 10u) << form;
  }
}
