//===- RandomKernelsTest.cpp - What is compiled is certified --------------===//
//
// Random kernels, compiled with one semaphore for each instruction and for each loop, in all the
// variants of Compiled.h: all of their code is accepted. And of code with one mistake, only what
// makes no difference.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"
#include "Compiled.h"
#include "Counts.h"

#include "KernelCampaign.h"
#include "Mutate.h"

#include "tally/Certify/Certificate.h"
#include "tally/Check/Explore.h"
#include "tally/Check/Touches.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/Values.h"
#include "tally/Run/MayAsk.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace tally {

using namespace fuzz;

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
    certificates += writeCertificate(kernel, compiled->code, compiled->machine);
  }
  return countsOf(runChecker(certificates, "--batch").output);
}

/// Whether some run owes something to one of another instruction. Code of a kernel that asks for
/// nothing is not covered.
bool asksForSomething(const Kernel &kernel,
                      std::initializer_list<fuzz::Range> ranges = {{1, 3}, {0, 4}, {4, 9}}) {
  RunsDo runs(kernel);
  for (fuzz::Range trips : ranges) {
    for (uint64_t seed = 0; seed < 100 && runs.neverOwed().size() == kernel.deps.size(); ++seed) {
      runs.add(randomBindings(kernel, seed, trips), nullptr);
    }
  }
  return runs.neverOwed().size() < kernel.deps.size();
}

uint64_t thatAsk(uint64_t numKernels) {
  uint64_t count = 0;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    count += asksForSomething(coveredKernel(seed));
  }
  return count;
}

TEST(RandomKernelsTest, allAreCertified) {
  const uint64_t numKernels = test::numKernels(1'500, 10'000);
  const uint64_t asking = thatAsk(numKernels);
  EXPECT_GT(asking * 10, numKernels * 6);
  for (Strategy strategy : covered) {
    Counts counts = judge(strategy, numKernels);
    EXPECT_EQ(counts.certified, asking) << toString(strategy);
    EXPECT_EQ(counts.rejected, 0u) << toString(strategy);
    EXPECT_EQ(counts.notCovered, numKernels - asking) << toString(strategy);
  }
}

/// A kernel in which formulas tie trips, to values of at most 4.
Kernel tiedKernel(uint64_t seed) {
  RandomKernelOptions options;
  options.engines = {2, 3};
  options.instructions = {2, 4};
  options.dependences = {1, 2};
  options.maxDepth = 2;
  options.trips = {0, 3};
  options.formulaPercent = 80;
  options.conditionPercent = 50;
  options.ifPercent = 0;
  options.divergentPercent = 0;
  Kernel kernel = randomKernel(seed, options);
  for (RunValue &value : kernel.values) {
    value.max = std::max<uint64_t>(std::min<uint64_t>(value.max.value_or(4), 4), value.min);
  }
  boundFormulas(kernel);
  return kernel;
}

/// As `compile --certify` says it: nothing is certified of which no run asks for anything.
TEST(RandomKernelsTest, tiedTripsMayAskForNothing) {
  const uint64_t numKernels = test::numKernels(600, 2'000);
  std::string ask, never, neverByBounds;
  uint64_t asking = 0;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = tiedKernel(seed);
    std::optional<CompiledKernel> compiled = compileForSeed(kernel, Strategy::PerInstruction, seed);
    ASSERT_TRUE(compiled) << seed;
    CertificateNotes notes;
    for (DepId dep : kernel.deps.ids()) {
      if (!mayAsk(kernel, dep)) {
        notes.neverAsks.push_back(dep);
      }
    }
    bool asks = asksForSomething(kernel, {{1, 3}, {0, 4}}); // within all bounds
    asking += asks;
    (asks ? ask : never) += writeCertificate(kernel, compiled->code, compiled->machine, notes);
    neverByBounds += asks ? "" : writeCertificate(kernel, compiled->code, compiled->machine);
  }
  Counts counts = countsOf(runChecker(ask, "--batch").output);
  EXPECT_EQ(counts.certified, asking);
  EXPECT_EQ(counts.rejected, 0u);
  EXPECT_EQ(countsOf(runChecker(never, "--batch").output).notCovered, numKernels - asking);
  EXPECT_GT(countsOf(runChecker(neverByBounds, "--batch").output).certified, 0u)
      << "bounds of single loops show all";
}

/// Mixed groups, loop counters and stepped thresholds.
TEST(RandomKernelsTest, automaticCodeIsCertifiedToo) {
  const uint64_t numKernels = test::numKernels(600, 2'000);
  Counts counts = judge(Strategy::Auto, numKernels);
  EXPECT_EQ(counts.certified, thatAsk(numKernels));
  EXPECT_EQ(counts.notCovered, numKernels - counts.certified);
  EXPECT_EQ(counts.rejected, 0u);
}

/// What strategy auto settles on by itself, as under `tally compile --certify`.
TEST(RandomKernelsTest, whatAutoChoosesIsCertified) {
  const uint64_t numKernels = test::numKernels(600, 2'000);
  std::string certificates;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = coveredKernel(seed);
    Machine machine = machineOfSeed(seed);
    Request options = Request{.strategy = Strategy::Auto}.certifiable();
    options.overflow = Overflow::Assume;
    Diagnostics diagnostics;
    std::optional<Compiled> program = compile(kernel, options, machine, diagnostics);
    ASSERT_TRUE(program) << seed;
    certificates += writeCertificate(kernel, program->code, machine);
  }
  Counts counts = countsOf(runChecker(certificates, "--batch").output);
  EXPECT_EQ(counts.certified, thatAsk(numKernels));
  EXPECT_EQ(counts.notCovered, numKernels - counts.certified);
  EXPECT_EQ(counts.rejected, 0u);
}

/// Counters of few bits: whether the checker follows the code or not, a run that needs larger
/// numbers shows no fault.
TEST(RandomKernelsTest, fewBitsAreNoFault) {
  const uint64_t numKernels = test::numKernels(60, 300);
  std::string certificates;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = coveredKernel(seed);
    std::optional<CompiledKernel> compiled = compileForSeed(kernel, Strategy::Auto, seed);
    for (unsigned bits : {2, 4, 6, 8}) {
      compiled->machine.counterBits = bits;
      certificates += writeCertificate(kernel, compiled->code, compiled->machine);
    }
  }
  Counts counts = countsOf(runChecker(certificates, "--batch").output);
  EXPECT_EQ(counts.rejected, 0u);
  EXPECT_GT(counts.notCovered, numKernels);
  EXPECT_GT(counts.certified, numKernels);
}

/// Code with one mistake, and what it was made from.
struct Mutant {
  uint64_t seed;
  Strategy strategy;
  Mutation mutation;
};

/// Whether the explorer finds a difference to the kernel for one of some choices of trips.
bool isWrong(const Mutant &mutant, uint64_t numChoices = 4) {
  Kernel kernel = coveredKernel(mutant.seed);
  std::optional<CompiledKernel> compiled = compileForSeed(kernel, mutant.strategy, mutant.seed);
  Code code = mutate(compiled->code, mutant.mutation);
  ExploreOptions options = exploreOptionsFor(kernel, compiled->plan, 20'000);
  for (uint64_t choice = 0; choice < numChoices; ++choice) {
    Bindings bindings = fuzz::randomBindings(kernel, mutant.seed * numChoices + choice);
    if (explore(kernel, code, compiled->machine, bindings, options).verdict == Verdict::No) {
      return true;
    }
  }
  return false;
}

std::string describe(const Mutant &mutant) {
  Kernel kernel = coveredKernel(mutant.seed);
  std::optional<CompiledKernel> compiled = compileForSeed(kernel, mutant.strategy, mutant.seed);
  return fmt::format("seed {}, {}: {}", mutant.seed, toString(mutant.strategy),
                     describe(kernel, compiled->code, mutant.mutation));
}

/// One in `every` mutants of the first kernels, and their certificates.
std::string mutantsOf(uint64_t numKernels, uint64_t every, std::vector<Mutant> &mutants) {
  std::string certificates;
  uint64_t number = 0;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = coveredKernel(seed);
    for (Strategy strategy : {Strategy::PerInstruction, Strategy::PerLoop, Strategy::Auto}) {
      std::optional<CompiledKernel> compiled = compileForSeed(kernel, strategy, seed);
      for (const Mutation &mutation : findMutations(compiled->code)) {
        if (number++ % every != 0) {
          continue;
        }
        certificates +=
            writeCertificate(kernel, mutate(compiled->code, mutation), compiled->machine);
        mutants.push_back({seed, strategy, mutation});
      }
    }
  }
  return certificates;
}

/// Whatever the checker says without runs, with which it would say no of some more.
TEST(RandomKernelsTest, mutantsAreNotCertified) {
  const uint64_t numKernels = test::numKernels(40, 120);
  std::vector<Mutant> mutants;
  std::string certificates = mutantsOf(numKernels, 1, mutants);
  std::istringstream answers(runChecker(certificates, "--quick").output);
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
  EXPECT_GT(mutants.size(), 40 * numKernels);
  EXPECT_LT(accepted, mutants.size() / 10) << "of " << mutants.size();
  RecordProperty("mutants", static_cast<int>(mutants.size()));
  RecordProperty("accepted", static_cast<int>(accepted));
}

/// The checker's own runs show most of what the explorer finds.
TEST(RandomKernelsTest, mostWrongMutantsAreRejected) {
  const uint64_t every = test::numKernels(90, 30);
  std::vector<Mutant> mutants;
  std::istringstream answers(runChecker(mutantsOf(30, every, mutants)).output);
  uint64_t wrong = 0;
  uint64_t rejected = 0;
  std::string line;
  for (const Mutant &mutant : mutants) {
    ASSERT_TRUE(std::getline(answers, line));
    bool isSeen = isWrong(mutant, 8);
    wrong += isSeen;
    rejected += isSeen && line.starts_with("rejected");
  }
  EXPECT_GT(wrong * every, 1'200u);
  EXPECT_GT(rejected, wrong * 8 / 10) << "of " << wrong;
}

} // namespace
} // namespace tally
