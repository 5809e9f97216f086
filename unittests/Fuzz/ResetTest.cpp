//===- ResetTest.cpp - Counters of a few bits, reset on the way -----------===//
//
// Random kernels on machines whose counters are so narrow that trip bounds hardly ever show that
// they suffice. What compile() makes of them is run: nothing may overtake what it depends on, no
// engine may get stuck, and no counter may pass its limit.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "RandomKernel.h"

#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"
#include "tally/Run/Interpret.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

namespace {

Machine narrowMachine(uint64_t seed) {
  Machine machine = genericMachine();
  machine.name = "narrow";
  machine.counterBits = 4 + static_cast<uint32_t>(seed % 5);
  machine.subtraction = seed % 2 == 0 ? Subtraction::Wraps : Subtraction::Saturates;
  machine.waitCompare = seed % 3 == 0 ? WaitCompare::Signed : WaitCompare::Unsigned;
  return machine;
}

/// How often the code of any engine sets semaphores back.
uint64_t countResets(const Kernel &kernel, const Code &code, const Machine &machine,
                     const Bindings &bindings) {
  uint64_t count = 0;
  for (EngineId engine : kernel.engines.ids()) {
    EngineRun run(kernel, code, machine, bindings, engine);
    while (const Op *op = run.next()) {
      count += op->kind == OpKind::Reset;
    }
  }
  return count;
}

/// What went wrong in a few schedules; empty if nothing did.
std::string faultsOf(const Kernel &kernel, const Code &code, const Machine &machine,
                     const Bindings &bindings) {
  RaceOptions options;
  options.schedules = 8;
  RaceResult result = checkRaces(kernel, code, machine, bindings, options);
  std::string text;
  for (const RaceReport &report : result.reports) {
    if (report.kind != ReportKind::OverWait && report.kind != ReportKind::Stale) {
      text += fmt::format("{}: {}\n", toString(report.kind), report.text.message);
    }
  }
  return text;
}

} // namespace

TEST(ResetTest, nothingIsOvertakenOnNarrowCounters) {
  RandomKernelOptions options;
  options.trips = {0, 9};
  options.maxDepth = 3;
  options.instructions = {2, 8};
  uint32_t numReset = 0; // programs that reset something while they ran
  const uint64_t numKernels = test::numKernels(1'000, 3'000);
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = randomKernel(seed, options);
    Machine machine = narrowMachine(seed);
    Bindings bindings = randomBindings(kernel, seed, options.trips);
    for (Strategy strategy :
         {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine, Strategy::Auto}) {
      Request how;
      how.strategy = strategy;
      Diagnostics diagnostics;
      std::optional<Compiled> compiled = compile(kernel, how, machine, diagnostics);
      if (!compiled) {
        continue;
      }
      numReset += countResets(kernel, compiled->code, machine, bindings) > 0;
      std::string faults = faultsOf(kernel, compiled->code, machine, bindings);
      ASSERT_EQ(faults, "") << "seed " << seed << ", " << toString(strategy) << ", "
                            << machine.counterBits << " bits\n"
                            << render(diagnostics, {}) << writeKernelJson(kernel);
    }
  }
  EXPECT_GT(numReset * 6, numKernels * 5);
}
