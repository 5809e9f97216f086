//===- ReplayTest.cpp - Two models of the machine, one run ----------------===//
//
// The systems that the theorems speak about are extracted from the proof, and those that the checks
// of lib/Check explore are written by hand. Here both perform the same runs of the same
// code, and must say the same of every state. This is which instruction comes next on each engine,
// how many retirements each of its dependences asks for, whether it is ready in the kernel and in
// the code, and what semaphores hold.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"
#include "Compiled.h"
#include "Counts.h"
#include "Recorded.h"

#include "KernelCampaign.h"
#include "Mutate.h"
#include "Paper/LiteralRules.h"

#include "tally/Certify/Certificate.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sstream>

namespace tally {

using namespace fuzz;

namespace {

/// All whose code the proof's systems can perform. Not barriers, which drain and signal; not
/// unrolled code, which issues an instruction in several places.
constexpr Strategy performed[] = {Strategy::PerInstruction, Strategy::PerLoop, Strategy::PerEngine,
                                  Strategy::Auto};
constexpr uint32_t maxSteps = 3'000;

/// The theorem is not about a semaphore for several bodies, and the checker says so for strategies
/// that make them; of code by hand it asks only what the systems have to know.
Code asIfByHand(Code code) {
  code.strategy = Strategy::Manual;
  return code;
}

/// A run on the one side, and what was said of it on the other.
struct Replayed {
  std::string name;
  RecordedRun run;
  std::vector<std::string> said;
};

/// Runs that are performed together, by one process.
class Batch {
public:
  /// `shown`: the code that the proof's systems perform.
  void add(const std::string &name, const Kernel &kernel, const Code &shown, const Machine &machine,
           RecordedRun run) {
    certificates += withMember(writeCertificate(kernel, shown, machine), run.member);
    runs.push_back({name, std::move(run), {}});
  }

  std::vector<Replayed> perform() {
    std::istringstream output(runChecker(certificates, "--replay").output);
    size_t next = 0;
    for (std::string line; std::getline(output, line);) {
      if (line.starts_with("replay: ")) {
        ++next;
      } else if (next > 0 && next <= runs.size()) {
        runs[next - 1].said.push_back(line);
      } else {
        ADD_FAILURE() << line;
      }
    }
    EXPECT_EQ(next, runs.size());
    return std::move(runs);
  }

private:
  std::string certificates;
  std::vector<Replayed> runs;
};

/// A product of two words may have more bits than the extracted code computes with; it says so, and
/// nothing more.
bool isStopped(const Replayed &replayed) {
  return !replayed.said.empty() && replayed.said.back().starts_with("stopped: ");
}

/// The first state of which they do not say the same; empty if there is none.
std::string difference(const Replayed &replayed) {
  const RecordedRun &run = replayed.run;
  std::vector<std::string> expected = run.states;
  if (run.isStuck) {
    expected.push_back("stuck: the kernel does not allow it");
  }
  size_t numStates = isStopped(replayed) ? replayed.said.size() - 1
                                         : std::max(expected.size(), replayed.said.size());
  for (size_t i = 0; i < numStates; ++i) {
    std::string want = i < expected.size() ? expected[i] : "nothing";
    std::string got = i < replayed.said.size() ? replayed.said[i] : "nothing";
    if (!saysTheSame(want, got)) {
      return fmt::format("{}, state {}:\n  here      {}\n  the proof {}", replayed.name, i, want,
                         got);
    }
  }
  return "";
}

/// Runs of all strategies, each to its end or for `maxSteps`.
Batch runsOf(uint64_t numKernels, Range trips) {
  Batch batch;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = coveredKernel(seed);
    Bindings bindings = fuzz::randomBindings(kernel, seed, trips);
    for (Strategy strategy : performed) {
      std::optional<CompiledKernel> compiled = compileForSeed(kernel, strategy, seed);
      if (!compiled) { // engines that disagree cannot count together
        EXPECT_EQ(strategy, Strategy::PerEngine) << seed;
        continue;
      }
      const auto &[plan, machine, code] = *compiled;
      std::string name = fmt::format("seed {}, {}", seed, toString(strategy));
      batch.add(name, kernel, asIfByHand(code), machine,
                record(kernel, code, machine, bindings, seed, maxSteps));
    }
  }
  return batch;
}

/// How many of them took all of `maxSteps`; all go on without a difference.
uint64_t expectNoDifference(Batch batch) {
  uint64_t numLong = 0;
  for (const Replayed &replayed : batch.perform()) {
    numLong += replayed.run.states.size() > maxSteps;
    EXPECT_FALSE(replayed.run.isStuck || isStopped(replayed)) << replayed.name;
    EXPECT_EQ(difference(replayed), "");
  }
  return numLong;
}

TEST(ReplayTest, theProofsSystemsDoTheSame) {
  expectNoDifference(runsOf(test::numKernels(300, 1'000), {0, 4}));
}

/// The same with more iterations than any threshold or distance is long.
TEST(ReplayTest, longRunsDoTheSame) {
  EXPECT_GE(expectNoDifference(runsOf(30, {10, 40})), 8u);
}

/// Another run of each program is one of its mistakes: there, code and kernel may part.
/// Code with a mistake may do what the kernel does not allow; both sides say so at the same
/// step. And where only one side has the mistake, that is noticed.
TEST(ReplayTest, mistakesAreSeenAlike) {
  const uint64_t numKernels = test::numKernels(10, 50);
  Batch both, one;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = coveredKernel(seed);
    Bindings bindings = fuzz::randomBindings(kernel, seed);
    std::optional<CompiledKernel> compiled = compileForSeed(kernel, Strategy::PerLoop, seed);
    ASSERT_TRUE(compiled) << seed;
    const auto &[plan, machine, code] = *compiled;
    for (const Mutation &mutation : findMutations(code)) {
      // A wrong amount is not a run of the proof's systems: there, queues have a weight.
      if (mutation.kind == MutantKind::DoubledUpdate) {
        continue;
      }
      Code wrong = mutate(code, mutation);
      RecordedRun run = record(kernel, wrong, machine, bindings, seed, maxSteps);
      std::string name = fmt::format("seed {}, {}", seed, describe(kernel, code, mutation));
      one.add(name, kernel, code, machine, run);
      both.add(name, kernel, wrong, machine, std::move(run));
    }
  }
  uint64_t stuck = 0, stopped = 0, noticed = 0, runs = 0;
  for (const Replayed &replayed : both.perform()) {
    stuck += replayed.run.isStuck;
    stopped += isStopped(replayed);
    EXPECT_EQ(difference(replayed), "");
  }
  for (const Replayed &replayed : one.perform()) {
    noticed += difference(replayed) != "";
    ++runs;
  }
  EXPECT_GT(stuck * 4, numKernels);
  EXPECT_LT(stopped, runs / 50) << "of " << runs;
  EXPECT_GT(noticed, runs / 2) << "of " << runs;
}

/// A kernel whose dependences mean something else on one side: with the root never entered, nothing
/// is owed at the top level; with one id for both branches, entries of either count.
TEST(ReplayTest, aMistakeOfTheSpecificationIsSeen) {
  for (const paper::LiteralRules &rules : {paper::LiteralRules{.rootCountersAtZero = true},
                                           paper::LiteralRules{.oneIdPerConditional = true}}) {
    Batch batch;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      Kernel kernel = coveredKernel(seed);
      Bindings bindings = fuzz::randomBindings(kernel, seed);
      std::optional<CompiledKernel> compiled = compileForSeed(kernel, Strategy::PerLoop, seed);
      ASSERT_TRUE(compiled) << seed;
      const auto &[plan, machine, code] = *compiled;
      batch.add(
          fmt::format("seed {}", seed), kernel, code, machine,
          record(kernel, code, machine, bindings, seed, maxSteps, paper::readingOf(kernel, rules)));
    }
    uint64_t noticed = 0;
    for (const Replayed &replayed : batch.perform()) {
      noticed += difference(replayed) != "";
    }
    EXPECT_GT(noticed, 5u) << (rules.rootCountersAtZero ? "the root" : "conditionals");
  }
}

} // namespace
} // namespace tally
