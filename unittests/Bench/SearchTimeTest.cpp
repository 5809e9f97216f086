//===- SearchTimeTest.cpp - What 'auto' says of times, and of other trips -===//

#include "tally/Compile/Regret.h"
#include "tally/Compile/Stopwatch.h"
#include "tally/Kernels/Catalogue.h"
#include "tally/Machine/Machine.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tally;

namespace {

Compiled compiled(const Kernel &kernel, const Request &request, const Machine &machine) {
  Diagnostics diagnostics;
  std::optional<Compiled> result = compile(kernel, request, machine, diagnostics);
  EXPECT_TRUE(result);
  return result ? *result : Compiled();
}

/// The time of the last step is that of the code, and each step that is taken for its time is
/// shorter.
TEST(SearchTimeTest, endsWithTheCode) {
  const Machine machine = *loadMachine("trn2").machine;
  for (const CatalogueEntry &entry : catalogue()) {
    Kernel kernel = onMachine(entry.write(KernelSize::Small).kernel, machine);
    for (double growth : {1.0, 4.0}) {
      Compiled result = compiled(kernel, {.codeGrowth = growth}, machine);
      CodeCost last;
      for (const Attempt &attempt : result.search.attempts) {
        bool isUnrolled = attempt.step == Attempt::Step::Unroll;
        EXPECT_TRUE(!isUnrolled || attempt.after.time <= attempt.before->time) << entry.name;
        last = attempt.taken ? attempt.after : last;
      }
      EXPECT_EQ(last.time, Stopwatch(kernel, machine).timeOf(result.code)) << entry.name;
      EXPECT_EQ(last.operations, measure(kernel, result.code, 1).operations) << entry.name;
    }
  }
}

/// As the search goes on, up to the number that it gives in the end.
TEST(SearchTimeTest, tellsHowManyWereTried) {
  const Machine machine = *loadMachine("trn2").machine;
  Kernel kernel = onMachine(findKernel("matmul")->write(KernelSize::Small).kernel, machine);
  Request request{.codeGrowth = 4};
  std::vector<uint64_t> told;
  request.progress = [&](uint64_t tried) { told.push_back(tried); };
  Compiled result = compiled(kernel, request, machine);
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_EQ(told.back(), result.search.numTried);
}

/// Once, twice, and as often as the bound allows; where the trips are those that were assumed, the
/// code is the best.
TEST(SearchTimeTest, regretsOtherTrips) {
  const Machine machine = *loadMachine("trn2").machine;
  Kernel kernel = onMachine(findKernel("moe-384-4")->write(KernelSize::Paper).kernel, machine);
  const Request request{.codeGrowth = 4};
  Compiled result = compiled(kernel, request, machine);
  EXPECT_EQ(result.search.assumed, std::vector<std::string>{"blocks=9"});
  std::vector<Regret> all = regretsOverTrips(kernel, request, machine, result.code);
  ASSERT_EQ(all.size(), 3u);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string trips[] = {"blocks=1", "blocks=2", "blocks=9"};
    EXPECT_EQ(all[i].where, std::vector<std::string>{trips[i]});
    Diagnostics diagnostics;
    Stopwatch stopwatch(kernel, machine, i == 0 ? 1 : i == 1 ? 2 : 16);
    EXPECT_EQ(all[i].time, stopwatch.timeOf(result.code));
    ASSERT_TRUE(all[i].best);
  }
  EXPECT_EQ(all[2].time, all[2].best);
}

/// Each price at both ends of its range; the code is as it was, and so are its times.
TEST(SearchTimeTest, regretsPrices) {
  const Machine machine = *loadMachine("trn2").machine;
  Kernel kernel = onMachine(findKernel("rmsnorm")->write(KernelSize::Small).kernel, machine);
  Compiled result = compiled(kernel, {}, machine);
  std::vector<std::string> told;
  std::vector<Regret> all = regretsOverPrices(
      kernel, {}, machine, result.code, [&](const std::string &what) { told.push_back(what); });
  EXPECT_EQ(told, endsOfRanges(machine));
  ASSERT_EQ(all.size(), told.size());
  bool differ = false;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].where, std::vector<std::string>{told[i]});
    Machine changed = machine;
    ASSERT_EQ(setParameter(changed, told[i]), "");
    EXPECT_EQ(all[i].time, Stopwatch(kernel, changed).timeOf(result.code));
    std::optional<Tick> chosen =
        Stopwatch(kernel, changed).timeOf(compiled(kernel, {}, changed).code);
    ASSERT_TRUE(chosen);
    EXPECT_EQ(all[i].best, std::min(*all[i].time, *chosen)) << told[i];
    differ |= all[i].time != all[0].time;
    ASSERT_TRUE(all[i].part());
    EXPECT_LT(*all[i].part(), 0.1) << told[i];
  }
  EXPECT_TRUE(differ);
}

/// Nothing is open, or there are no times.
TEST(SearchTimeTest, regretsNothing) {
  const Machine trn2 = *loadMachine("trn2").machine;
  Kernel constant = onMachine(findKernel("adamw")->write(KernelSize::Small).kernel, trn2);
  EXPECT_TRUE(regretsOverTrips(constant, {}, trn2, compiled(constant, {}, trn2).code).empty());
  const Machine generic = genericMachine();
  Kernel open = findKernel("moe-384-4")->write(KernelSize::Small).kernel;
  EXPECT_TRUE(regretsOverTrips(open, {}, generic, compiled(open, {}, generic).code).empty());
}

} // namespace
