//===- tally-fuzz.cpp - tally itself, put to the test ---------------------===//
//
// Random kernels through every strategy and every check, with
// --pairs on random machines with random options, too; or, with --mutants, random mistakes in
// correct code, which the checks have to notice; or, with --threads, code on threads of this
// process.
//
// For a finding it prints the seed, the command that repeats it, and the smallest kernel that
// shows it, as a file for the tests.
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"
#include "Options.h"
#include "Output.h"
#include "Session.h"

#include "KernelCampaign.h"
#include "MutantCampaign.h"
#include "ThreadCampaign.h"

#include "tally/Written/KernelJson.h"

#include <fmt/format.h>

#include <thread>

using namespace tally;
using namespace tally::tool;

namespace {

struct FuzzCommand {
  bool mutants = false;
  bool threads = false;
  bool sabotage = false;
  bool pairs = false;    ///< mixed cases, and which features met in them
  bool allPairs = false; ///< ... all of them that can
  bool print = false;    ///< only the kernel of the seed
  uint64_t seed = 1;
  std::optional<uint64_t> count;
  double minutes = 0;
  uint32_t jobs = 0;
  std::string format = "text";

  void declareOn(CLI::App &app);
  int run() const;

private:
  fuzz::Extent extent() const;
  int runKernels() const;
  int runMutants() const;
  int runThreads() const;
  int printKernel() const;
};

/// Time, number, or both; if neither is given, a number that takes some seconds.
fuzz::Extent FuzzCommand::extent() const {
  fuzz::Extent extent;
  extent.seed = seed;
  extent.minutes = minutes;
  extent.count = count.value_or(minutes > 0 ? UINT64_MAX : mutants ? 10000 : threads ? 2000 : 1000);
  extent.stop = stopOnSignals();
  extent.workers = jobs != 0 ? jobs : std::max(1u, std::thread::hardware_concurrency());
  return extent;
}

/// The case as a test: both checks must say yes to its code. Code that was written by hand stands
/// for the code it was made of.
std::string testFile(const fuzz::Finding &finding) {
  std::vector<LoadedKernel> kernels;
  kernels.push_back({finding.drawn.kernel, std::nullopt, false, {}});
  const fuzz::Failure &failure = finding.failure;
  std::string machine = fuzz::machineCommand(finding.drawn.machine);
  std::string options =
      fmt::format("--sync={}{}", toString(failure.origin), fuzz::optionsText(finding.drawn));
  options += machine.empty() ? "" : " --machine=%t.machine.json";
  options += (failure.choices.empty() ? "" : " ") + failure.choices;
  return fmt::format("{}// RUN: tally check %s {}\n// {}: {}\n// Found by {}\n\n{}",
                     machine.empty() ? "" : "// RUN: " + machine + "\n", options,
                     toString(failure.strategy), failure.what.substr(0, failure.what.find('\n')),
                     fuzz::replayCommand(finding), moduleText(kernels));
}

std::string textOf(const fuzz::KernelReport &report, bool withPairs) {
  std::string text = fuzz::toText(report);
  text += withPairs ? "\n" + fuzz::toText(report.pairs) : "";
  for (const fuzz::Finding &finding : report.findings) {
    text += fmt::format("\nseed {}, {}: {}\nrepeat: {}\n\n{}", finding.seed,
                        toString(finding.failure.strategy), finding.failure.what,
                        fuzz::replayCommand(finding), testFile(finding));
  }
  return text;
}

Json jsonOf(const fuzz::Finding &finding) {
  return {{"seed", finding.seed},
          {"strategy", toString(finding.failure.strategy)},
          {"what", finding.failure.what},
          {"options", finding.failure.choices},
          {"repeat", fuzz::replayCommand(finding)},
          {"kernel", Json::parse(writeKernelJson(finding.drawn.kernel))},
          {"test", testFile(finding)}};
}

std::string jsonOf(const fuzz::KernelReport &report, bool withPairs) {
  const fuzz::KernelCounts &counts = report.counts;
  Json document{{"schema", "tally-fuzz"},       {"version", 1},
                {"seed", report.firstSeed},     {"kernels", counts.kernels},
                {"programs", counts.programs},  {"refused", counts.refused},
                {"runs", counts.runs},          {"exact", counts.exact},
                {"safe", counts.safe},          {"order_open", counts.open},
                {"raced", counts.raced},        {"explored", counts.explored},
                {"undecided", counts.undecided}};
  if (withPairs) {
    document["by_hand"] = counts.written;
    document["beyond"] = counts.beyond;
    document["pairs"] = Json::parse(fuzz::toJson(report.pairs));
  }
  document["findings"] = Json::array();
  for (const fuzz::Finding &finding : report.findings) {
    document["findings"].push_back(jsonOf(finding));
  }
  return dump(document) + "\n";
}

/// A campaign that was ended early, or in which nothing was compared, has not said yes.
Exit verdict(bool isClean, uint64_t numCompared) {
  tellInterrupt();
  if (isClean && numCompared == 0) {
    complain("nothing was compared; let it look at more kernels");
    return Exit::Undecided;
  }
  return !isClean ? Exit::No : wasInterrupted() ? Exit::Undecided : Exit::Yes;
}

int FuzzCommand::runKernels() const {
  fuzz::KernelReport report =
      allPairs
          ? fuzz::fuzzUntilAllMet(extent())
          : fuzz::fuzzKernels(extent(), pairs ? fuzz::mixedCase : fuzz::plainCase,
                              /*maxFindings=*/5, sabotage ? fuzz::loseCounts : fuzz::Sabotage());
  std::string text = format == "json" ? jsonOf(report, pairs) : textOf(report, pairs);
  if (!writeOutput("-", text)) {
    return Exit::Undecided;
  }
  bool haveMet = !allPairs || fuzz::missingPairs(report.pairs).empty();
  bool isClean = report.findings.empty() && fuzz::contradictions(report.pairs).empty();
  return verdict(isClean && haveMet, report.counts.runs);
}

int FuzzCommand::runMutants() const {
  fuzz::MutantReport report = fuzz::fuzzMutants(extent());
  if (!writeOutput("-", format == "json" ? fuzz::toJson(report) : fuzz::toText(report))) {
    return Exit::Undecided;
  }
  return verdict(report.clean(), report.total().total());
}

std::string textOf(const fuzz::ThreadFinding &finding) {
  std::vector<LoadedKernel> kernels;
  kernels.push_back({finding.kernel, std::nullopt, false, {}});
  return fmt::format("\nseed {}, {}: {}\nrepeat: tally-fuzz --threads --seed={} --count=1\n"
                     "options: --sync={}{} {}\n\n{}",
                     finding.seed, toString(finding.failure.strategy), finding.failure.what,
                     finding.seed, toString(finding.failure.origin),
                     fuzz::optionsText(fuzz::threadCase(finding.seed)), finding.failure.choices,
                     moduleText(kernels));
}

int FuzzCommand::runThreads() const {
  fuzz::ThreadReport report = fuzz::fuzzThreads(extent(), /*maxFindings=*/5,
                                                sabotage ? fuzz::loseCounts : fuzz::Sabotage());
  std::string text = fuzz::toText(report);
  for (const fuzz::ThreadFinding &finding : report.findings) {
    text += textOf(finding);
  }
  if (!writeOutput("-", text)) {
    return Exit::Undecided;
  }
  return verdict(report.findings.empty(), report.counts.runs);
}

int FuzzCommand::printKernel() const {
  fuzz::Case drawn = threads ? fuzz::threadCase(seed)
                     : pairs ? fuzz::mixedCase(seed)
                             : fuzz::plainCase(seed);
  std::vector<LoadedKernel> kernels;
  kernels.push_back({drawn.kernel, std::nullopt, false, {}});
  return writeOutput("-", moduleText(kernels)) ? Exit::Yes : Exit::Undecided;
}

int FuzzCommand::run() const {
  if (print) {
    return printKernel();
  }
  return mutants ? runMutants() : threads ? runThreads() : runKernels();
}

void FuzzCommand::declareOn(CLI::App &app) {
  declare(
      app,
      {{"--mutants", mutants, "make mistakes in correct code, and count those that checks find"},
       {"--threads", threads,
        "run kernels that compute whole numbers on threads, and compare with the sequential run"},
       {"--sabotage", sabotage,
        "break the code first: lose all counts, to see what findings look like"},
       {"--pairs", pairs,
        "mix all features of kernels, machines and options, and print which pairs of them met "
        "(with --format=json all of them)"},
       {"--all-pairs", allPairs,
        "go on until all possible pairs have met, at most twenty times as long as --minutes; if "
        "one "
        "has not, the answer is no"},
       {"--print", print, "only print the kernel of the seed, as it is drawn"},
       {"--seed", seed, "seed of the first kernel", integerIn(0)},
       {"--count", count,
        "how many kernels (1000, with --threads 2000), or with --mutants how many mutants (10000), "
        "up to the end of a kernel",
        integerIn(1)},
       {"--minutes", minutes, "stop after this time instead", positiveNumber()},
       {"--jobs", jobs, "how many kernels at the same time (one for each core)",
        integerIn(1, 1024)},
       formatOption(format)});
  goesNotWith(app, {"--sabotage", "--pairs", "--threads"}, "--mutants");
  goesNotWith(app, {"--pairs", "--format"}, "--threads");
  goesNotWith(app, {"--sabotage"}, "--all-pairs");
  goesWith(app, {"--all-pairs"}, "--pairs");
  goesNotWith(
      app, {"--mutants", "--sabotage", "--all-pairs", "--count", "--minutes", "--jobs", "--format"},
      "--print");
}

} // namespace

static constexpr const char *notes = R"(Examples:
  tally-fuzz --minutes=1            random kernels, for a minute
  tally-fuzz --pairs --all-pairs    until every feature has met every other one
  tally-fuzz --mutants              would the checks notice a mistake?
  tally-fuzz --threads              do real threads compute what the sequential run does?

Ctrl-C ends it with what is known so far. Exit status: 0 nothing was found, 1 something was, 2 it
was ended early or not possible.)";

int main(int argc, char **argv) {
  FuzzCommand command;
  return runProgram(
      {"tally-fuzz",
       "Random kernels through every strategy and check, or mistakes that checks must find", notes},
      argc, argv, [&](CLI::App &app) { command.declareOn(app); }, [&] { return command.run(); });
}
