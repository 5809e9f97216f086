//===- SplitTest.cpp - Waits on queues that complete in parts -------------===//
//
// Random kernels whose queues complete split: what is compiled is explored with rings that deliver
// in any order, and runs without a fault on schedules of longer runs; and of what is refused, many
// a kernel does show one.
//
// The kernels mix what the argument in Split.cpp distinguishes: nested loops, branches, several
// queues on an engine, regions, divergent loops, queues that complete whole among the others.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "RandomKernel.h"

#include "tally/Check/Explore.h"
#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"
#include "tally/Sync/Split.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace tally;
using namespace tally::fuzz;

namespace {

std::string racesOf(const Kernel &kernel, const Code &code, uint64_t seed, uint32_t schedules) {
  RaceOptions options;
  options.schedules = schedules;
  options.seed = seed;
  Machine machine = genericMachine();
  RaceResult result =
      checkRaces(kernel, code, machine, randomBindings(kernel, seed, {0, 4}), options);
  std::string text;
  for (const RaceReport &report : result.reports) {
    if (report.kind != ReportKind::OverWait && report.kind != ReportKind::Stale) {
      text += fmt::format("{}: {}\n", toString(report.kind), report.text.message);
    }
  }
  return text;
}

bool allUniform(const Kernel &kernel) {
  return std::ranges::all_of(kernel.loops, [](const Loop &loop) { return loop.uniform; });
}

/// What the explorer says against a program on one small run, lateness apart; empty if nothing, or
/// if it cannot tell.
std::string mismatchOf(const Kernel &kernel, const Code &code, uint64_t seed) {
  ExploreOptions options;
  options.inFlight = 8;
  options.maxStates = 20'000;
  options.mayOverwait.assign(kernel.instrs.size(), true);
  Machine machine = genericMachine();
  Choices choices = randomChoices(kernel, seed, {0, 3});
  ExploreResult result = explore(kernel, code, machine, choices.bind(kernel), options);
  bool fails = result.verdict == Verdict::No;
  return fails ? fmt::format("{} with {}", result.text, choices.text(kernel)) : "";
}

std::optional<Compiled> compileWith(const Kernel &kernel, Strategy strategy) {
  Request options;
  options.strategy = strategy;
  Diagnostics diagnostics;
  return compile(kernel, options, genericMachine(), diagnostics);
}

/// Waits on queues that mix, inside loops.
uint32_t waitsOnParts(const Kernel &kernel, const SyncPlan &plan) {
  uint32_t count = 0;
  for (DepId dep : kernel.deps.ids()) {
    const Instr &producer = kernel.instrs[kernel.deps[dep].producer];
    count += plan.waits[dep].group.valid() && mayMix(kernel.queues[producer.queue]) &&
             kernel.realLoop(producer.home) != rootLoop;
  }
  return count;
}

/// Whether there is one of them where another loop repeats the innermost one around both ends.
bool waitsInNest(const Kernel &kernel, const SyncPlan &plan) {
  bool found = false;
  for (DepId id : kernel.deps.ids()) {
    const Instr &producer = kernel.instrs[kernel.deps[id].producer];
    LoopId consumerHome = kernel.instrs[kernel.deps[id].consumer].home;
    LoopId shared = kernel.realLoop(kernel.commonLoop(producer.home, consumerHome));
    found |= plan.waits[id].group.valid() && mayMix(kernel.queues[producer.queue]) &&
             shared != rootLoop && kernel.realLoop(kernel.loops[shared].parent) != rootLoop;
  }
  return found;
}

/// The kernel, no queue of which completes in parts.
Kernel whole(Kernel kernel) {
  for (QueueId queue : kernel.queues.ids()) {
    kernel.queues[queue].completion = Completion::Whole;
  }
  return kernel;
}

/// In turn: one loop, nests, branches, several queues, all of it and more.
RandomKernelOptions manyParts(uint64_t seed) {
  RandomKernelOptions options;
  options.engines = {1, 3};
  options.extraQueues = {0, seed % 5 >= 3 ? 2u : 0u};
  options.weight = {2, 3};
  options.splitPercent = seed % 3 == 0 ? 60 : 100;
  options.maxDepth = seed % 5 == 0 ? 1 : 3;
  options.loopPercent = seed % 5 == 0 ? 60 : 50;
  options.ifPercent = seed % 5 >= 2 ? 25 : 0;
  options.statements = {1, 2};
  options.instructions = {2, 6};
  options.dependences = {2, 9};
  options.trips = {0, 3};
  options.offset = {1, seed % 2 == 0 ? 1u : 2u};
  options.sharedPercent = 20;
  options.shapes = {5, 6, 1, 1, 2, 4, 5, 1, 1, 1};
  options.regionPercent = seed % 7 == 0 ? 50 : 0;
  options.divergentPercent = seed % 11 == 0 ? 30 : 0;
  return options;
}

} // namespace

TEST(SplitTest, whatIsCompiledNeedsNoWholeCompletion) {
  uint32_t programs = 0;
  uint32_t nested = 0;
  const uint64_t numKernels = test::numKernels(1'000, 6'000);
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = randomKernel(seed, manyParts(seed));
    for (Strategy strategy :
         {Strategy::PerLoop, Strategy::PerEngine, Strategy::Auto, Strategy::Barrier}) {
      std::optional<Compiled> compiled = compileWith(kernel, strategy);
      if (!compiled || waitsOnParts(kernel, compiled->plan) == 0) {
        continue;
      }
      ++programs;
      nested += waitsInNest(kernel, compiled->plan);
      std::string fault = mismatchOf(kernel, compiled->code, seed);
      if (allUniform(kernel)) {
        fault += racesOf(kernel, compiled->code, seed, 4);
      } else if (!mismatchOf(whole(kernel), compiled->code, seed).empty()) {
        continue; // engines that disagree do without parts, too
      }
      ASSERT_EQ(fault, "") << "seed " << seed << ", " << toString(strategy) << "\n"
                           << writeKernelJson(kernel);
    }
  }
  RecordProperty("programs", static_cast<int>(programs));
  RecordProperty("nested", static_cast<int>(nested));
  EXPECT_GT(programs * 3, numKernels);
  EXPECT_GT(nested * 12, numKernels);
}

/// Of the others most break in short runs, compiled as if their parts stayed together.
TEST(SplitTest, whatIsRefusedWouldFail) {
  uint32_t refused = 0;
  uint32_t failed = 0;
  const uint64_t numKernels = test::numKernels(300, 1'500);
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    RandomKernelOptions options = manyParts(seed);
    options.trips.min = 2;  // runs in which something follows
    options.tables = false; // refused whatever they say
    Kernel kernel = randomKernel(seed, options);
    if (!allUniform(kernel) || compileWith(kernel, Strategy::PerInstruction)) {
      continue;
    }
    std::optional<Compiled> compiled = compileWith(whole(kernel), Strategy::PerInstruction);
    if (!compiled) {
      continue;
    }
    ++refused;
    bool fails = false;
    for (uint64_t run = 0; run < 16 && !fails; ++run) {
      uint64_t choice = seed * 4 + run;
      fails = !mismatchOf(kernel, compiled->code, choice).empty() ||
              !racesOf(kernel, compiled->code, choice, 10).empty();
    }
    failed += fails;
  }
  RecordProperty("refused", static_cast<int>(refused));
  RecordProperty("failed", static_cast<int>(failed));
  EXPECT_GT(refused * 5, numKernels);
  EXPECT_GT(failed * 10, refused * 7);
}
