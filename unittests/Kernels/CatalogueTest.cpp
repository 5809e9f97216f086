//===- CatalogueTest.cpp - Every kernel that comes with tally -------------===//

#include "tally/Kernels/Catalogue.h"
#include "tally/Check/Explore.h"
#include "tally/Check/Race.h"
#include "tally/Compile/Compile.h"
#include "tally/Kernels/Manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

using namespace tally;

namespace {

constexpr std::array strategies{Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                                Strategy::Barrier, Strategy::Unrolled};

std::optional<Compiled> compiled(const Kernel &kernel, Strategy strategy,
                                 Diagnostics &diagnostics) {
  Request options;
  options.strategy = strategy;
  MachineResult trn2 = loadMachine("trn2");
  EXPECT_TRUE(trn2.machine);
  return compile(kernel, options, *trn2.machine, diagnostics);
}

Bindings boundTo(const WrittenKernel &written) {
  Diagnostics diagnostics;
  Bindings bindings = Bindings::parse(written.kernel, written.trips, 0, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  return bindings;
}

} // namespace

TEST(CatalogueTest, kernelsAreFoundByName) {
  EXPECT_EQ(catalogue().size(), 9u);
  for (const CatalogueEntry &entry : catalogue()) {
    EXPECT_EQ(findKernel(entry.name), &entry);
    EXPECT_EQ(entry.write(KernelSize::Small).kernel.instrs.size() > 1, true) << entry.name;
  }
  EXPECT_EQ(findKernel("matmu"), nullptr);
}

/// Every size, every strategy, within the limits of the machine they are written for. What has a
/// run-time trip cannot be unrolled.
TEST(CatalogueTest, everyStrategyCompiles) {
  for (const CatalogueEntry &entry : catalogue()) {
    for (KernelSize size : {KernelSize::Small, KernelSize::Paper}) {
      WrittenKernel written = entry.write(size);
      for (Strategy strategy : strategies) {
        Diagnostics diagnostics;
        bool unrolls = strategy != Strategy::Unrolled || written.trips.empty();
        // One register for each producer that an engine waits for, and 75 of them: too many.
        bool fits = strategy != Strategy::PerEngine || entry.name != "flash_attention" ||
                    size == KernelSize::Small;
        EXPECT_EQ(compiled(written.kernel, strategy, diagnostics).has_value(), unrolls && fits)
            << entry.name << " " << toString(strategy) << "\n"
            << render(diagnostics, {});
      }
    }
  }
}

namespace {

/// The same kernel, one dependence less.
Kernel without(const Kernel &kernel, DepId left) {
  Kernel fewer = kernel;
  fewer.deps = {};
  for (DepId dep : kernel.deps.ids()) {
    if (dep != left) {
      fewer.deps.push(kernel.deps[dep]);
    }
  }
  return fewer;
}

bool isRaceFree(const WrittenKernel &written) {
  Diagnostics diagnostics;
  std::optional<Compiled> program = compiled(written.kernel, Strategy::PerLoop, diagnostics);
  return checkRaces(written.kernel, program->code, *loadMachine("trn2").machine, boundTo(written))
             .verdict == Verdict::Yes;
}

} // namespace

/// What an expert would write is right, too: no race and no deadlock in any order.
TEST(CatalogueTest, manualCodeIsRight) {
  Machine trn2 = *loadMachine("trn2").machine;
  for (const CatalogueEntry &entry : catalogue()) {
    for (KernelSize size : {KernelSize::Small, KernelSize::Paper}) {
      WrittenKernel written = entry.write(size);
      Code program = manualCode(written.kernel);
      Request options;
      options.strategy = Strategy::Manual;
      Diagnostics diagnostics;
      EXPECT_TRUE(compile(written.kernel, options, trn2, diagnostics, &program))
          << entry.name << render(diagnostics, {});
      if (size == KernelSize::Small) {
        RaceResult result = checkRaces(written.kernel, program, trn2, boundTo(written));
        EXPECT_EQ(result.verdict, Verdict::Yes) << entry.name << "\n" << render(result, {});
      }
    }
  }
}

/// Without one of the dependences there is a race, but for those that others imply: a buffer that
/// is freed long before its turn comes, because what comes between waits as well. They are written
/// as a person would write them.
TEST(CatalogueTest, mostDependencesAreNeeded) {
  const std::map<std::string, size_t> numImplied{
      {"add_many_loop", 0}, {"adamw", 14}, {"rmsnorm", 2}, {"matmul", 4}, {"moe-384-4", 13}};
  for (const auto &[name, expected] : numImplied) {
    WrittenKernel written = findKernel(name)->write(KernelSize::Small);
    std::vector<std::string> implied;
    for (DepId dep : written.kernel.deps.ids()) {
      if (isRaceFree({without(written.kernel, dep), written.trips})) {
        implied.push_back(describe(written.kernel, dep));
      }
    }
    EXPECT_EQ(implied.size(), expected)
        << name << ":\n  " << fmt::format("{}", fmt::join(implied, "\n  "));
  }
}

/// The written dependences suffice: what they order is race-free, in compiled code of each
/// strategy.
TEST(CatalogueTest, smallKernelsHaveNoRaces) {
  for (const CatalogueEntry &entry : catalogue()) {
    WrittenKernel written = entry.write(KernelSize::Small);
    for (Strategy strategy : strategies) {
      Diagnostics diagnostics;
      std::optional<Compiled> program = compiled(written.kernel, strategy, diagnostics);
      if (!program) {
        continue;
      }
      RaceOptions options;
      options.schedules = 5;
      RaceResult result = checkRaces(written.kernel, program->code, *loadMachine("trn2").machine,
                                     boundTo(written), options);
      EXPECT_NE(result.verdict, Verdict::No) << entry.name << " " << toString(strategy) << "\n"
                                             << render(result, {});
      EXPECT_TRUE(strategy == Strategy::Barrier || result.verdict == Verdict::Yes)
          << entry.name << " " << toString(strategy);
    }
  }
}
