//===- SplitTest.cpp - Waits on queues that complete in parts -------------===//
//
// Random kernels whose queues complete split: what is compiled runs without a fault on schedules
// that deliver parts in any order; and of what is refused, many a kernel does show one.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"

#include "tally/Check/Race.h"
#include "tally/Code/Compile.h"
#include "tally/Model/KernelJson.h"
#include "tally/Sync/Split.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

namespace {

std::string faultsOf(const Kernel &kernel, const Program &program, uint64_t seed) {
  RaceOptions options;
  options.schedules = 20;
  options.seed = seed;
  Machine machine = genericMachine();
  RaceResult result =
      checkRaces(kernel, program, machine, randomBindings(kernel, seed, {0, 4}), options);
  std::string text;
  for (const RaceReport &report : result.reports) {
    if (report.kind != ReportKind::OverWait && report.kind != ReportKind::Stale) {
      text += fmt::format("{}: {}\n", toString(report.kind), report.text.message);
    }
  }
  return text;
}

std::optional<Compiled> compileWith(const Kernel &kernel, Strategy strategy) {
  CompileOptions options;
  options.plan.strategy = strategy;
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

void setCompletion(Kernel &kernel, Completion completion) {
  for (QueueId queue : kernel.queues.ids()) {
    kernel.queues[queue].completion = completion;
  }
}

RandomKernelOptions manyParts() {
  RandomKernelOptions options;
  options.engines = {1, 3};
  options.weight = {2, 3};
  options.splitPercent = 100;
  options.maxDepth = 2;
  options.instructions = {2, 6};
  options.dependences = {1, 6};
  options.offset = {1, 2};
  return options;
}

} // namespace

TEST(SplitTest, whatIsCompiledNeedsNoWholeCompletion) {
  uint32_t programs = 0;
  for (uint64_t seed = 1; seed <= 6000; ++seed) {
    Kernel kernel = randomKernel(seed, manyParts());
    for (Strategy strategy : {Strategy::PerLoop, Strategy::Auto, Strategy::Barrier}) {
      std::optional<Compiled> compiled = compileWith(kernel, strategy);
      if (!compiled || waitsOnParts(kernel, compiled->plan) == 0) {
        continue;
      }
      ++programs;
      ASSERT_EQ(faultsOf(kernel, compiled->program, seed), "")
          << "seed " << seed << ", " << toString(strategy) << "\n"
          << writeKernelJson(kernel);
    }
  }
  EXPECT_GT(programs, 1000u);
}

/// Of the others a good part breaks in a few schedules of short runs, compiled as if their parts
/// stayed together.
TEST(SplitTest, whatIsRefusedWouldFail) {
  uint32_t refused = 0;
  uint32_t failed = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Kernel kernel = randomKernel(seed, manyParts());
    if (compileWith(kernel, Strategy::PerInstruction)) {
      continue;
    }
    setCompletion(kernel, Completion::Whole);
    std::optional<Compiled> compiled = compileWith(kernel, Strategy::PerInstruction);
    setCompletion(kernel, Completion::Split);
    if (compiled) {
      ++refused;
      failed += !faultsOf(kernel, compiled->program, seed).empty();
    }
  }
  RecordProperty("refused", static_cast<int>(refused));
  RecordProperty("failed", static_cast<int>(failed));
  EXPECT_GT(refused, 300u);
  EXPECT_GT(failed * 4, refused);
}
