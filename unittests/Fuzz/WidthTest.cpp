//===- WidthTest.cpp - No number is wider than the machine's counters -----===//
//
// Random kernels on machines of 8, 9, 16 and 32 bits, under every strategy and every way to deal
// with counters that might overflow. Three things must hold of code that is compiled without a
// remark on how far it is right. No number in it is too wide. No semaphore, and no threshold,
// passes the largest number that a wait can tell. And nothing is early or stuck in any interleaving
// of a small run, or on schedules of a longer one.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "Examiner.h"
#include "RandomKernel.h"

#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

using namespace tally;
using namespace tally::fuzz;

namespace {

Machine machineOfSeed(uint64_t seed) {
  constexpr std::array<uint32_t, 4> widths{8, 9, 16, 32};
  Machine machine = genericMachine();
  machine.counterBits = widths[seed % 4];
  machine.subtraction = seed / 4 % 2 == 0 ? Subtraction::Wraps : Subtraction::Saturates;
  machine.waitCompare = seed / 8 % 2 == 0 ? WaitCompare::Signed : WaitCompare::Unsigned;
  return machine;
}

/// Weights and distances around what the counters hold, and small ones.
RandomKernelOptions optionsOfSeed(uint64_t seed, const Machine &machine) {
  RandomKernelOptions options;
  options.engines = {1, 3};
  options.instructions = {2, 6};
  options.maxDepth = 2;
  options.trips = {0, 5};
  options.constantPercent = seed % 3 == 0 ? 100 : 40;
  options.ifPercent = seed % 3 == 0 ? 0 : 20;
  options.sharedPercent = 30;
  options.regionPercent = seed % 5 == 0 ? 40 : 0;
  uint32_t limit = static_cast<uint32_t>(std::min<uint64_t>(machine.counterLimit(), 1 << 16));
  if (seed / 16 % 2 == 0) {
    options.weight = {1, limit / (seed % 5 == 1 ? 1 : 6)};
  }
  if (seed / 32 % 2 == 0) {
    options.offset = {1, seed % 7 == 0 ? 2 * limit : 20};
  }
  return options;
}

/// Numbers in the code that no counter holds.
bool hasWideNumber(const Code &code, const Machine &machine) {
  uint64_t limit = uint64_t(1) << machine.counterBits;
  for (const EngineProgram &program : code.engines) {
    for (const Op &op : program.ops) {
      bool wideAmount = op.signal.valid() && op.kind != OpKind::Reset && op.amount >= limit;
      if (wideAmount || (!op.a.isRegister && op.a.value >= limit) ||
          (!op.b.isRegister && op.b.value >= limit)) {
        return true;
      }
    }
  }
  return false;
}

std::string faultsOf(const Kernel &kernel, const Compiled &compiled, const Machine &machine,
                     uint64_t seed) {
  if (hasWideNumber(compiled.code, machine)) {
    return "a number is too wide\n";
  }
  std::string text;
  Choices choices = randomChoices(kernel, seed, {0, 3});
  ExploreOptions small = exploreOptionsFor(kernel, compiled.plan, 3'000);
  ExploreResult explored = explore(kernel, compiled.code, machine, choices.bind(kernel), small);
  if (explored.verdict == Verdict::No) {
    text += fmt::format("{} with {}\n", explored.text, choices.text(kernel));
  }
  RaceOptions options;
  options.schedules = 3;
  RaceResult raced =
      checkRaces(kernel, compiled.code, machine, randomBindings(kernel, seed, {0, 40}), options);
  for (const RaceReport &report : raced.reports) {
    if (report.kind != ReportKind::OverWait && report.kind != ReportKind::Stale) {
      text += fmt::format("{}: {}\n", toString(report.kind), report.text.message);
    }
  }
  return text;
}

} // namespace

TEST(WidthTest, numbersFitAndWaitsAreRight) {
  uint32_t programs = 0;
  uint32_t resets = 0;
  std::array<uint32_t, 7> refused{};
  const uint64_t numKernels = test::numKernels(1'000, 4'000);
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Machine machine = machineOfSeed(seed);
    Kernel kernel = randomKernel(seed, optionsOfSeed(seed, machine));
    for (Strategy strategy : usableStrategies) {
      Request how;
      how.strategy = strategy;
      how.overflow = seed / 2 % 3 == 0 ? Overflow::Refuse : Overflow::Reset;
      if (how.strategy == Strategy::Manual) {
        continue;
      }
      Diagnostics diagnostics;
      std::optional<Compiled> compiled = compile(kernel, how, machine, diagnostics);
      if (!compiled) {
        ++refused[static_cast<size_t>(how.strategy)];
        continue;
      }
      ++programs;
      resets += !compiled->plan.decisions.resets.empty();
      ASSERT_EQ(faultsOf(kernel, *compiled, machine, seed), "")
          << "seed " << seed << ", " << toString(how.strategy) << ", " << machine.counterBits
          << " bits, overflow " << toString(how.overflow) << "\n"
          << writeKernelJson(kernel);
    }
  }
  RecordProperty("programs", static_cast<int>(programs));
  RecordProperty("resets", static_cast<int>(resets));
  EXPECT_GT(programs * 4, numKernels * 15);
  EXPECT_GT(resets * 8, numKernels * 3);
  EXPECT_GT(refused[static_cast<size_t>(Strategy::Barrier)] * 400, numKernels);
  EXPECT_GT(refused[static_cast<size_t>(Strategy::Unrolled)] * 400, numKernels);
}

/// With 'assume', too, no number is too wide: whatever the trips are, it is not what it says.
TEST(WidthTest, numbersFitWhateverIsAssumed) {
  uint32_t programs = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Machine machine = machineOfSeed(seed);
    Kernel kernel = randomKernel(seed, optionsOfSeed(seed, machine));
    for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                              Strategy::Auto, Strategy::Barrier, Strategy::Unrolled}) {
      Request how;
      how.strategy = strategy;
      how.overflow = Overflow::Assume;
      Diagnostics diagnostics;
      std::optional<Compiled> compiled = compile(kernel, how, machine, diagnostics);
      programs += compiled.has_value();
      EXPECT_FALSE(compiled && hasWideNumber(compiled->code, machine))
          << "seed " << seed << ", " << toString(strategy);
      for (const Diagnostic &diagnostic : diagnostics.all()) {
        EXPECT_EQ(diagnostic.message.find("in the code of engine"), std::string::npos)
            << "a plan should not come so far: seed " << seed << ", " << toString(strategy) << ": "
            << diagnostic.message;
      }
    }
  }
  EXPECT_GT(programs, 5000u);
}
