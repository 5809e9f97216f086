//===- DivergenceTest.cpp - Waiting where engines disagree on trips -------===//
//
// Random kernels in which engines take different ways, under every strategy, with few registers and
// narrow counters: whatever is accepted, the explorer does not say no to it. So no wait that is
// longer than it has to, no barrier and no reset gets stuck where the dependences let an engine go
// on, and none lets it go where they do not.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "Examiner.h"
#include "RandomKernel.h"

#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

namespace {

Kernel divergentKernel(uint64_t seed) {
  RandomKernelOptions options;
  options.engines = {2, 4};
  options.extraQueues = {0, 1};
  options.maxDepth = 3;
  options.instructions = {3, 7};
  options.dependences = {2, 6};
  options.trips = {0, 3};
  options.offset = {1, 2};
  options.constantPercent = 10;
  options.divergentPercent = 30;
  options.sharedPercent = 30;
  options.regionPercent = seed % 2 == 0 ? 70 : 0;
  return randomKernel(seed, options);
}

Machine machineOf(uint64_t seed) {
  Random random(seed);
  Machine machine = genericMachine();
  machine.name = "small";
  machine.counterBits = random.percent(50) ? 32 : random.in({4, 6});
  machine.subtraction = random.percent(50) ? Subtraction::Wraps : Subtraction::Saturates;
  if (random.percent(50)) {
    machine.registersPerEngine = random.in({2, 8});
  }
  return machine;
}

/// What happens to be in a program that is accepted.
struct Seen {
  uint32_t programs = 0;
  uint32_t apart = 0;    ///< some dependence is counted apart
  uint32_t inexact = 0;  ///< and another wait is longer than it has to be
  uint32_t meetings = 0; ///< or engines meet
  uint32_t stuck = 0;    ///< runs in which the dependences themselves let no engine go on
};

/// Whether several engines meet somewhere.
bool anyMeeting(const Code &code) {
  return std::ranges::any_of(code.barriers, [](const auto &members) { return members.size() > 1; });
}

void note(const Kernel &kernel, const Compiled &compiled, Seen &seen) {
  ++seen.programs;
  if (!anyCountedApart(kernel)) {
    return;
  }
  ++seen.apart;
  seen.inexact +=
      std::ranges::any_of(compiled.plan.waits, [](const Wait &wait) { return !wait.exact; });
  seen.meetings += anyMeeting(compiled.code);
}

/// What the explorer says to a few runs; empty if it does not say no.
std::string faultsOf(const Kernel &kernel, const Compiled &compiled, const Machine &machine,
                     uint64_t seed, Seen &seen) {
  ExploreOptions options = exploreOptionsFor(kernel, compiled.plan, 20'000);
  for (uint64_t run = 0; run < 3; ++run) {
    Choices choices = randomChoices(kernel, 3 * seed + run, {0, 3});
    ExploreResult result = explore(kernel, compiled.code, machine, choices.bind(kernel), options);
    seen.stuck += result.stuckTogether;
    if (result.verdict == Verdict::No) {
      return fmt::format("{}: {}", choices.text(kernel), result.text);
    }
  }
  return "";
}

} // namespace

TEST(DivergenceTest, whatIsAcceptedIsNeverStuckOnItsOwn) {
  Seen seen;
  const uint64_t numKernels = test::numKernels(2'000, 4'000);
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = divergentKernel(seed);
    Machine machine = machineOf(seed);
    for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                              Strategy::Barrier, Strategy::Auto}) {
      Request options;
      options.strategy = strategy;
      Diagnostics diagnostics;
      std::optional<Compiled> compiled = compile(kernel, options, machine, diagnostics);
      if (!compiled) {
        continue;
      }
      note(kernel, *compiled, seen);
      std::string faults = faultsOf(kernel, *compiled, machine, seed, seen);
      ASSERT_EQ(faults, "") << "seed " << seed << ", " << toString(strategy) << ", "
                            << machine.counterBits << " bits\n"
                            << render(diagnostics, {}) << writeKernelJson(kernel);
    }
  }
  EXPECT_GT(seen.programs * 2, numKernels * 5);
  EXPECT_GT(seen.apart * 8, numKernels);
  EXPECT_GT(seen.inexact * 140, numKernels);
  EXPECT_GT(seen.meetings, 0u);
  EXPECT_GT(seen.stuck * 20, numKernels);
}
