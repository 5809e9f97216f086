//===- AutoTest.cpp - 'auto' does whatever another strategy does ----------===//
//
// Random kernels on random small machines: few semaphores, few registers, narrow counters, each way
// of subtracting and comparing, each answer to overflow, more or less growth of code. If any fixed
// strategy compiles one, so must 'auto'; and what 'auto' makes of it is right in all interleavings
// of a small run, or in a few schedules of a longer one.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "Examiner.h"
#include "RandomKernel.h"

#include "tally/Check/Race.h"
#include "tally/Code/ControlCost.h"
#include "tally/Compile/Compile.h"
#include "tally/Compile/Stopwatch.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

namespace {

struct Setting {
  Machine machine = genericMachine();
  Request options;
};

constexpr double growths[] = {1, 1.5, 8};
constexpr uint32_t widths[] = {8, 9, 16, 32};

Setting settingOf(uint64_t seed) {
  Random random(seed);
  Setting setting;
  Machine &machine = setting.machine;
  machine.name = "small";
  machine.semaphores = random.in({1, 8});
  machine.registersPerEngine = random.in({2, 16});
  machine.counterBits = widths[random.below(std::size(widths))];
  machine.subtraction = random.percent(50) ? Subtraction::Wraps : Subtraction::Saturates;
  machine.waitCompare = random.percent(30) ? WaitCompare::Signed : WaitCompare::Unsigned;
  setting.options.overflow = static_cast<Overflow>(random.percent(60) ? 0 : random.below(3));
  setting.options.codeGrowth = growths[random.below(std::size(growths))];
  return setting;
}

/// One in three has constant trips, for 'unrolled'; one in three engines that disagree.
Kernel kernelOf(uint64_t seed) {
  RandomKernelOptions options;
  options.instructions = {2, 9};
  options.maxDepth = 3;
  options.weight = {1, 16};
  options.sharedPercent = 30;
  options.trips = {0, 6};
  options.constantPercent = seed % 3 == 0 ? 100 : 30;
  options.ifPercent = seed % 3 == 0 ? 0 : 20;
  options.divergentPercent = seed % 3 == 1 ? 30 : 0;
  options.regionPercent = seed % 5 == 0 ? 30 : 0;
  return randomKernel(seed, options);
}

std::optional<Compiled> compileWith(const Kernel &kernel, const Setting &setting, Strategy strategy,
                                    Diagnostics &diagnostics) {
  Request options = setting.options;
  options.strategy = strategy;
  return compile(kernel, options, setting.machine, diagnostics);
}

/// Operations of the code that 'auto' has where nothing is short.
double sizeWithoutLimits(const Kernel &kernel, Setting setting) {
  setting.machine.semaphores = std::nullopt;
  setting.machine.registersPerEngine = std::nullopt;
  setting.options.overflow = Overflow::Assume;
  setting.options.codeGrowth = 1;
  Diagnostics ignored;
  std::optional<Compiled> program = compileWith(kernel, setting, Strategy::Auto, ignored);
  return program ? static_cast<double>(measure(kernel, program->code, 1).operations) : 0;
}

/// Whether 'auto' must be able to do what a fixed strategy does.
bool doesIt(const Kernel &kernel, const Setting &setting, Strategy strategy) {
  Diagnostics ignored;
  std::optional<Compiled> program = compileWith(kernel, setting, strategy, ignored);
  if (!program || strategy != Strategy::Unrolled) {
    return program.has_value();
  }
  return static_cast<double>(measure(kernel, program->code, 1).operations) <=
         setting.options.codeGrowth * sizeWithoutLimits(kernel, setting);
}

/// The first fixed strategy that does the kernel; none if none does.
std::optional<Strategy> doneBy(const Kernel &kernel, const Setting &setting) {
  for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                            Strategy::Barrier, Strategy::Unrolled}) {
    if (doesIt(kernel, setting, strategy)) {
      return strategy;
    }
  }
  return std::nullopt;
}

bool allUniform(const Kernel &kernel) {
  return std::ranges::all_of(kernel.loops, [](const Loop &loop) { return loop.uniform; });
}

/// What the race check says; nothing of waits that are too long.
std::string racesIn(const Kernel &kernel, const Code &code, const Setting &setting,
                    const Bindings &bindings, uint64_t seed) {
  RaceOptions options;
  options.schedules = 4;
  options.seconds = 1e9;
  options.seed = seed;
  RaceResult result = checkRaces(kernel, code, setting.machine, bindings, options);
  std::string text;
  for (const RaceReport &report : result.reports) {
    if (report.kind != ReportKind::OverWait && report.kind != ReportKind::Stale) {
      text += fmt::format("{}: {}\n", toString(report.kind), report.text.message);
    }
  }
  return text;
}

/// What is wrong with code on a random run; empty if nothing is.
std::string faultsOf(const Kernel &kernel, const Compiled &compiled, const Setting &setting,
                     uint64_t seed) {
  Bindings bindings = randomBindings(kernel, seed, {0, 6});
  ExploreOptions options = exploreOptionsFor(kernel, compiled.plan, 20'000);
  ExploreResult result = explore(kernel, compiled.code, setting.machine, bindings, options);
  if (result.verdict == Verdict::No) {
    return "explorer: " + result.text;
  }
  // Engines that disagree may wait for what never comes, which the explorer knows.
  return allUniform(kernel) ? racesIn(kernel, compiled.code, setting, bindings, seed) : "";
}

} // namespace

TEST(AutoTest, neverRefusesWhatAnotherStrategyDoes) {
  uint32_t compiledAtAll = 0;
  std::map<Strategy, uint32_t> fellBackTo;
  const uint64_t numKernels = test::numKernels(1'500, 4'000);
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = kernelOf(seed);
    Setting setting = settingOf(seed);
    Diagnostics diagnostics;
    std::optional<Compiled> program = compileWith(kernel, setting, Strategy::Auto, diagnostics);
    if (!program) {
      std::optional<Strategy> other = doneBy(kernel, setting);
      ASSERT_FALSE(other) << "seed " << seed << ": " << toString(*other) << " does it, but\n"
                          << render(diagnostics, {}) << writeKernelJson(kernel);
      continue;
    }
    ++compiledAtAll;
    Strategy strategy = program->plan.decisions.strategy;
    fellBackTo[strategy] += strategy != Strategy::Auto;
    bool isBounded = setting.options.overflow != Overflow::Assume;
    std::string faults = isBounded ? faultsOf(kernel, *program, setting, seed) : "";
    ASSERT_EQ(faults, "") << "seed " << seed << ", " << toString(strategy) << "\n"
                          << render(diagnostics, {}) << writeKernelJson(kernel);
  }
  EXPECT_GT(compiledAtAll * 2, numKernels);
  EXPECT_GT(fellBackTo[Strategy::Unrolled] * 400, numKernels);
  EXPECT_GT(fellBackTo[Strategy::Barrier] * 40, numKernels);
}

/// What resets cost is part of what is compared. Exact waits come before short runs where trips are
/// assumed, but are worth 5 % of the shortest candidate at most. That may be a little longer than
/// the code of a fixed strategy, which need not be among them.
TEST(AutoTest, isNotBehindWhereCountersAreReset) {
  Machine machine = *loadMachine("teaching").machine;
  machine.counterBits = 8;
  RandomKernelOptions options;
  options.instructions = {3, 9};
  options.maxDepth = 3;
  options.weight = {1, 16};
  options.trips = {0, 40};
  options.ifPercent = 30;
  uint32_t compared = 0;
  double worst = 0;
  const uint64_t numKernels = test::numKernels(300, 3'000);
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    const Kernel kernel = onMachine(randomKernel(seed, options), machine);
    Diagnostics ignored;
    std::optional<Compiled> chosen = compile(kernel, {}, machine, ignored);
    if (!chosen || chosen->plan.decisions.resets.empty()) {
      continue;
    }
    std::optional<Tick> time = Stopwatch(kernel, machine).timeOf(chosen->code);
    for (Strategy strategy : {Strategy::PerLoop, Strategy::PerInstruction}) {
      std::optional<Compiled> fixed = compile(kernel, {.strategy = strategy}, machine, ignored);
      std::optional<Tick> other =
          fixed ? Stopwatch(kernel, machine).timeOf(fixed->code) : std::nullopt;
      if (time && other) {
        ++compared;
        double ratio = static_cast<double>(*time) / static_cast<double>(*other);
        worst = std::max(worst, ratio);
        EXPECT_LE(ratio, 1.06) << "seed " << seed << "\n" << writeKernelJson(kernel);
      }
    }
  }
  EXPECT_GE(compared * 5, numKernels) << worst;
}
