//===- ThreadCampaign.cpp - Random kernels on real threads ----------------===//

#include "ThreadCampaign.h"

#include "HandWritten.h"
#include "Random.h"
#include "Shrink.h"

#include "tally/Data/Effects.h"
#include "tally/Native/ThreadProgram.h"

#include <fmt/format.h>

namespace tally::fuzz {

namespace {

/// Of each kernel.
constexpr uint32_t numRuns = 3;

/// How often a smaller kernel is run before it is said to be right.
constexpr uint32_t numRunsToShrink = 30;

constexpr uint64_t threadStream = 0xa0761d6478bd642f;

/// What came of one kernel.
struct ThreadResult {
  std::optional<Failure> failure;
  ThreadCounts counts;
};

class ThreadExaminer {
public:
  ThreadExaminer(const Case &drawn, uint64_t seed, uint32_t runs, const Sabotage &sabotage)
      : drawn(drawn), seed(seed), runs(runs), sabotage(sabotage), random(seed ^ threadStream) {}

  ThreadResult run() {
    ++result.counts.kernels;
    std::string reason;
    std::optional<Kernel> finished = finishedKernel(drawn, reason);
    if (!finished) {
      fail("found dependences: " + reason);
      return std::move(result);
    }
    kernel = std::move(*finished);
    std::optional<Code> code = codeOf();
    if (code) {
      examine(*code);
    }
    return std::move(result);
  }

private:
  void fail(const std::string &what, const Choices *choices = nullptr) {
    if (!result.failure) {
      result.failure = Failure{strategy, origin, what, choices ? choices->text(kernel) : ""};
    }
  }

  /// By the strategy whose turn it is; none if it refuses the kernel.
  std::optional<Code> codeOf() {
    strategy = origin = usableStrategies[seed % usableStrategies.size()];
    bool isByHand = strategy == Strategy::Manual;
    if (isByHand) {
      origin = usableStrategies[2 + seed / 7 % 4]; // one that counts
    }
    Request how = drawn.how;
    how.strategy = origin;
    Diagnostics diagnostics;
    std::optional<Compiled> compiled = compile(kernel, how, drawn.machine, diagnostics);
    if (!compiled) {
      ++result.counts.refused;
      return std::nullopt;
    }
    return isByHand ? byHand(compiled->code) : std::optional(std::move(compiled->code));
  }

  std::optional<Code> byHand(const Code &compiled) {
    std::string reason;
    std::optional<Code> code = writtenAndRead(kernel, compiled, reason);
    if (!code) {
      fail("by hand: " + reason);
      return std::nullopt;
    }
    rearrange(*code, seed);
    ++result.counts.written;
    return code;
  }

  void examine(Code &code) {
    if (sabotage) {
      sabotage(code);
    }
    ProgramOptions options{firstCount(), true};
    Diagnostics diagnostics;
    std::unique_ptr<ThreadProgram> program =
        ThreadProgram::of(kernel, code, drawn.machine, diagnostics, options);
    if (!program) {
      return fail("there is no program: " + diagnostics.reason());
    }
    result.counts.threads += program->numThreads();
    Memory start = wholeNumbers();
    for (uint32_t i = 0; i < runs && !result.failure; ++i) {
      if (i % numRuns == 0) {
        choices = randomChoices(kernel, seed + i, {seed % 4 == 0 ? 0U : 1U, 4});
      }
      runOnce(*program, code, options, start);
    }
  }

  /// In turn 0, just below the end of 32 bits, and just below the end of the machine's counters.
  uint32_t firstCount() {
    uint32_t below = random.in({1, 6});
    uint64_t end = seed / 7 % 3 == 1 ? uint64_t(1) << 32 : uint64_t(1) << drawn.machine.counterBits;
    return seed / 7 % 3 == 0 ? 0 : static_cast<uint32_t>(end - below);
  }

  Memory wholeNumbers() {
    Diagnostics diagnostics;
    Memory memory = emptyMemory(kernel, diagnostics);
    for (BufferData &data : memory) {
      for (size_t i = 0; i < data.size(); ++i) {
        data.set(i, static_cast<float>(random.below(100)));
      }
    }
    return memory;
  }

  std::optional<Memory> sequential(const Bindings &bindings, const Memory &start) {
    Diagnostics diagnostics;
    Runs all(kernel, bindings, diagnostics);
    std::optional<Effects> effects;
    if (!diagnostics.hasErrors()) {
      effects = Effects::of(kernel, all, diagnostics);
    }
    if (!effects) {
      fail("the sequential run: " + diagnostics.reason());
      return std::nullopt;
    }
    DataRun data(*effects, start);
    for (Instance instance : all.order()) {
      data.commit(instance);
    }
    if (!data.faults().empty()) {
      fail("the sequential run: " + describe(kernel, all, data.faults().front()));
      return std::nullopt;
    }
    return data.memory();
  }

  void runOnce(ThreadProgram &program, const Code &code, const ProgramOptions &options,
               const Memory &start) {
    Bindings bindings = choices.bind(kernel);
    std::optional<Memory> expected = sequential(bindings, start);
    if (!expected) {
      return;
    }
    program.setMemory(start);
    ThreadRun run = program.run(bindings);
    ++result.counts.runs;
    countPassed(run, options.firstCount);
    if (run.outcome == ThreadRun::Outcome::Stuck) {
      return fail("threads are stuck: " + describeStuck(code, run), &choices);
    }
    if (run.outcome != ThreadRun::Outcome::Finished) {
      return fail("threads: " + run.reason, &choices);
    }
    for (BufferId id : kernel.buffers.ids()) {
      if (std::optional<size_t> element = program.firstDifference(id, (*expected)[id])) {
        fail(fmt::format("threads: {} is not as after the sequential run",
                         elementText(kernel, id, *element)),
             &choices);
      }
    }
  }

  void countPassed(const ThreadRun &run, uint32_t first) {
    uint64_t end = uint64_t(1) << drawn.machine.counterBits;
    bool hasPassed = false;
    for (uint32_t count : run.counts) {
      hasPassed |= first % end + count >= end;
    }
    result.counts.passed += hasPassed;
  }

  const Case &drawn;
  uint64_t seed;
  uint32_t runs;
  const Sabotage &sabotage;
  Random random;
  Kernel kernel; ///< with its dependences
  Strategy strategy = Strategy::Manual, origin = Strategy::Manual;
  Choices choices;
  ThreadResult result;
};

ThreadFinding findingOf(uint64_t seed, const Failure &failure, const Sabotage &sabotage) {
  Case drawn = threadCase(seed);
  auto fails = [&](const Kernel &smaller) {
    Case candidate = drawn;
    candidate.kernel = smaller;
    return ThreadExaminer(candidate, seed, numRunsToShrink, sabotage).run().failure.has_value();
  };
  return {seed, failure, shrink(drawn.kernel, fails, /*maxQuestions=*/200)};
}

} // namespace

void ThreadCounts::add(const ThreadCounts &other) {
  for (uint64_t ThreadCounts::*count :
       {&ThreadCounts::kernels, &ThreadCounts::refused, &ThreadCounts::written, &ThreadCounts::runs,
        &ThreadCounts::passed, &ThreadCounts::threads}) {
    this->*count += other.*count;
  }
}

ThreadReport fuzzThreads(const Extent &extent, size_t maxFindings, const Sabotage &sabotage) {
  ThreadReport report;
  report.firstSeed = extent.seed;
  uint64_t seed = extent.seed;
  if (extent.count == 0) {
    return report;
  }
  forSeeds(
      extent, [&](uint64_t s) { return ThreadExaminer(threadCase(s), s, numRuns, sabotage).run(); },
      [&](const ThreadResult &result) {
        report.counts.add(result.counts);
        if (result.failure) {
          report.findings.push_back(findingOf(seed, *result.failure, sabotage));
        }
        ++seed;
        return report.counts.kernels < extent.count && report.findings.size() < maxFindings;
      });
  return report;
}

std::string toText(const ThreadReport &report) {
  const ThreadCounts &counts = report.counts;
  return fmt::format("seeds from {}: {} kernels, {} refused, {} by hand, {} threads\n"
                     "runs {}: in {} some counter passed the end of its bits\n"
                     "findings: {}\n",
                     report.firstSeed, counts.kernels, counts.refused, counts.written,
                     counts.threads, counts.runs, counts.passed, report.findings.size());
}

} // namespace tally::fuzz
