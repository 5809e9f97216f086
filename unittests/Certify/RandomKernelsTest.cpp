//===- RandomKernelsTest.cpp - What is compiled is certified --------------===//
//
// Random kernels, compiled with one semaphore for each instruction and for each loop, in all the
// variants of Compiled.h: all of their code is accepted. And of code with one mistake, only what
// makes no difference.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"
#include "Compiled.h"

#include "KernelCampaign.h"

#include "tally/Certify/Certificate.h"
#include "tally/Check/Explore.h"
#include "tally/Check/Mutate.h"
#include "tally/Code/Compile.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sstream>

namespace tally {
namespace {

constexpr Strategy covered[] = {Strategy::PerInstruction, Strategy::PerLoop};

/// The last line of a batch.
struct Counts {
  uint64_t certified = 0, rejected = 0, notCovered = 0;
};

Counts countsOf(const std::string &output) {
  size_t start = output.size() < 2 ? std::string::npos : output.rfind('\n', output.size() - 2);
  Counts counts;
  std::istringstream line(output.substr(start == std::string::npos ? 0 : start + 1));
  std::string word;
  line >> counts.certified >> word >> counts.rejected >> word >> counts.notCovered;
  return counts;
}

/// What is said of the code of many kernels under one strategy.
Counts judge(Strategy strategy, uint64_t numKernels) {
  std::string certificates;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = coveredKernel(seed);
    std::optional<CompiledKernel> compiled = compileForSeed(kernel, strategy, seed);
    EXPECT_TRUE(compiled) << seed;
    certificates += writeCertificate(kernel, compiled->program, compiled->machine);
  }
  return countsOf(runChecker(certificates, "--batch").output);
}

TEST(RandomKernelsTest, allAreCertified) {
  constexpr uint64_t numKernels = 10'000;
  for (Strategy strategy : covered) {
    Counts counts = judge(strategy, numKernels);
    EXPECT_EQ(counts.certified, numKernels) << toString(strategy);
    EXPECT_EQ(counts.rejected, 0u) << toString(strategy);
    EXPECT_EQ(counts.notCovered, 0u) << toString(strategy);
  }
}

/// Mixed groups, loop counters and stepped thresholds.
TEST(RandomKernelsTest, automaticCodeIsCertifiedToo) {
  constexpr uint64_t numKernels = 2'000;
  Counts counts = judge(Strategy::Auto, numKernels);
  EXPECT_EQ(counts.notCovered, 0u);
  EXPECT_EQ(counts.certified + counts.rejected, numKernels);
  EXPECT_EQ(counts.rejected, 0u);
}

/// What strategy auto settles on by itself, as under `tally compile --certify`.
TEST(RandomKernelsTest, whatAutoChoosesIsCertified) {
  constexpr uint64_t numKernels = 2'000;
  std::string certificates;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = coveredKernel(seed);
    Machine machine = machineOfSeed(seed);
    CompileOptions options;
    options.plan.strategy = Strategy::Auto;
    options.plan.constantTrips = false;
    options.overflow = Overflow::Assume;
    Diagnostics diagnostics;
    std::optional<Compiled> code = compile(kernel, options, machine, diagnostics);
    ASSERT_TRUE(code) << seed;
    certificates += writeCertificate(kernel, code->program, machine);
  }
  EXPECT_EQ(runChecker(certificates, "--batch").output,
            "2000 certified, 0 rejected, 0 not covered\n");
}

/// Code with one mistake, and what it was made from.
struct Mutant {
  uint64_t seed;
  Strategy strategy;
  Mutation mutation;
};

/// Whether the explorer finds a difference to the kernel for one of a few choices of trips.
bool isWrong(const Mutant &mutant) {
  Kernel kernel = coveredKernel(mutant.seed);
  std::optional<CompiledKernel> compiled = compileForSeed(kernel, mutant.strategy, mutant.seed);
  Program program = mutate(compiled->program, mutant.mutation);
  ExploreOptions options;
  options.maxStates = 20'000;
  options.mayOverwait = overwaitAllowed(kernel, compiled->plan);
  for (uint64_t choice = 0; choice < 4; ++choice) {
    Bindings bindings = fuzz::randomBindings(kernel, mutant.seed * 4 + choice);
    if (explore(kernel, program, compiled->machine, bindings, options).verdict == Verdict::No) {
      return true;
    }
  }
  return false;
}

std::string describe(const Mutant &mutant) {
  Kernel kernel = coveredKernel(mutant.seed);
  std::optional<CompiledKernel> compiled = compileForSeed(kernel, mutant.strategy, mutant.seed);
  return fmt::format("seed {}, {}: {}", mutant.seed, toString(mutant.strategy),
                     describe(kernel, compiled->program, mutant.mutation));
}

TEST(RandomKernelsTest, mutantsAreRejected) {
  constexpr uint64_t numKernels = 120;
  std::string certificates;
  std::vector<Mutant> mutants;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = coveredKernel(seed);
    for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::Auto}) {
      std::optional<CompiledKernel> compiled = compileForSeed(kernel, strategy, seed);
      for (const Mutation &mutation : findMutations(compiled->program)) {
        certificates +=
            writeCertificate(kernel, mutate(compiled->program, mutation), compiled->machine);
        mutants.push_back({seed, strategy, mutation});
      }
    }
  }
  std::istringstream answers(runChecker(certificates).output);
  uint64_t accepted = 0;
  std::string line;
  for (const Mutant &mutant : mutants) {
    ASSERT_TRUE(std::getline(answers, line));
    if (line.starts_with("certified")) {
      ++accepted;
      EXPECT_FALSE(isWrong(mutant)) << describe(mutant);
    }
  }
  EXPECT_FALSE(std::getline(answers, line)) << line;
  EXPECT_GT(mutants.size(), 5000u);
  EXPECT_LT(accepted, mutants.size() / 10) << "of " << mutants.size();
  RecordProperty("mutants", static_cast<int>(mutants.size()));
  RecordProperty("accepted", static_cast<int>(accepted));
}

} // namespace
} // namespace tally
