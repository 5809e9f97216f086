//===- ReportCommand.cpp - tally report -----------------------------------===//
//
// One page for one kernel: its timelines under several strategies, on one time axis.
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"
#include "Options.h"
#include "TimedSubject.h"

#include "tally/Report/Report.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally::tool {
namespace {

struct ReportCommand {
  CheckOptions subject; ///< kernel, code, machine; the strategy of the run at hand
  RunOptions values;
  std::string kernel;
  std::vector<std::string> strategies;
  std::vector<std::string> settings;
  uint64_t seed = 0;
  uint32_t jitter = 25;
  uint64_t maxOperations = 10'000'000'000;
  std::string from, until;
  size_t maxPieces = 4000;
  std::string format = "html";
  std::string output = "-";
  const StopFlag *stop = nullptr;

  int run();

private:
  bool readWindow();
  bool strategiesAreKnown() const;
  std::optional<LoadedKernel> choose(std::vector<LoadedKernel> kernels) const;
  std::vector<std::string> strategiesFor(const LoadedKernel &loaded) const;
  std::optional<std::vector<Subject>> subjectsOf(const LoadedKernel &loaded, Session &session,
                                                 const Machine &machine) const;
  void addTimeline(const Subject &one, const Timing &timing, const InstrCosts &costs,
                   const Machine &machine, const Bindings &bindings, Report &report) const;
  int outcomeOf(const Report &report) const;
  int finish(const Report &report) const;

  TimelineRecorder::Window window;
};

/// Moments; empty ones stay as they are.
bool ReportCommand::readWindow() {
  auto read = [](const std::string &text, const char *option, Tick &tick) {
    std::optional<Tick> time = text.empty() ? tick : parseTime(text);
    if (!time) {
      complain(fmt::format("{}={} is no time; write it as {}=12.5us", option, text, option));
    }
    tick = time.value_or(tick);
    return time.has_value();
  };
  bool good = read(from, "--from", window.from);
  good &= read(until, "--until", window.until);
  if (good && window.from >= window.until) {
    complain(fmt::format("--from={} is not before --until={}", from, until));
    return false;
  }
  window.maxPieces = maxPieces;
  return good;
}

bool ReportCommand::strategiesAreKnown() const {
  bool all = true;
  std::vector<std::string> known = allStrategyNames();
  for (const std::string &name : strategies) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      complain(unknownName("strategy", "strategies", name, {known.begin(), known.end()}));
      all = false;
    }
  }
  bool namesManual = std::find(strategies.begin(), strategies.end(), toString(Strategy::Manual)) !=
                     strategies.end();
  if (!subject.code.empty() && !strategies.empty() && !namesManual) {
    complain(
        fmt::format("the code in '{}' is shown as strategy 'manual', which --sync does not name",
                    subject.code));
    all = false;
  }
  return all;
}

/// The kernel that --kernel names, or the only one.
std::optional<LoadedKernel> ReportCommand::choose(std::vector<LoadedKernel> kernels) const {
  std::vector<std::string_view> names;
  for (LoadedKernel &loaded : kernels) {
    names.push_back(loaded.kernel.text(loaded.kernel.name));
    if (names.back() == kernel || (kernel.empty() && kernels.size() == 1)) {
      return std::move(loaded);
    }
  }
  if (kernel.empty()) {
    complain(fmt::format("the input holds {} kernels; choose one with --kernel: {}", names.size(),
                         fmt::join(names, ", ")));
  } else {
    complain(unknownName("kernel", "kernels of the input", kernel, names));
  }
  return std::nullopt;
}

/// What was asked for; else the baseline, what tally makes, and what is written in the input.
std::vector<std::string> ReportCommand::strategiesFor(const LoadedKernel &loaded) const {
  if (!strategies.empty()) {
    return strategies;
  }
  std::vector<std::string> chosen{"barrier", "per-loop", "auto"};
  if (loaded.code || !subject.code.empty()) {
    chosen.emplace_back("manual");
  }
  return chosen;
}

/// The code of each strategy. All that is not possible is reported.
std::optional<std::vector<Subject>> ReportCommand::subjectsOf(const LoadedKernel &loaded,
                                                              Session &session,
                                                              const Machine &machine) const {
  std::vector<Subject> subjects;
  bool all = true;
  for (const std::string &strategy : strategiesFor(loaded)) {
    CheckOptions options = subject;
    options.common.strategy = strategy;
    options.strategyGiven = true;
    if (strategy != toString(Strategy::Manual)) {
      options.code.clear();
    }
    std::optional<std::vector<Subject>> one = timedSubjects({loaded}, options, session, machine);
    all &= one.has_value();
    if (one) {
      subjects.push_back(std::move(one->front()));
    }
  }
  return all ? std::optional(std::move(subjects)) : std::nullopt;
}

void ReportCommand::addTimeline(const Subject &one, const Timing &timing, const InstrCosts &costs,
                                const Machine &machine, const Bindings &bindings,
                                Report &report) const {
  TimelineRecorder recorder(one.kernel, one.code, window);
  SimOptions options;
  options.seed = seed;
  options.jitterPercent = jitter;
  options.freeSync = one.code.strategy == Strategy::Ideal;
  options.maxOperations = maxOperations;
  options.observer = &recorder;
  options.stop = stop;
  report.timelines.push_back(
      recorder.finish(simulate(one.kernel, one.code, machine, timing, costs, bindings, options)));
}

/// Whether all runs came to their ends.
int ReportCommand::outcomeOf(const Report &report) const {
  Exit status = Exit::Yes;
  for (const Timeline &timeline : report.timelines) {
    bool isCutOff = timeline.result.outcome == SimResult::Outcome::CutOff;
    bool isStuck = timeline.result.outcome == SimResult::Outcome::Deadlock;
    status = both(status, isCutOff ? Exit::Undecided : isStuck ? Exit::No : Exit::Yes);
  }
  if (status != Exit::Yes) {
    complain("not every run came to its end; the page says which");
  }
  return status;
}

int ReportCommand::finish(const Report &report) const {
  Tick longest = 0;
  for (const Timeline &timeline : report.timelines) {
    longest = std::max(longest, timeline.result.total);
  }
  if (window.from > 0 && window.from >= longest) {
    complain(fmt::format("--from={} is not before the end of the longest run, {} ns", from,
                         longest / 1000));
    return Exit::Undecided;
  }
  Span span = shownSpan(report);
  if (span.until < std::min(longest, window.until)) {
    tellNote(fmt::format("the picture ends at {} ns of {} ns, after {} pieces of a timeline; "
                         "--max-pieces, --from and --until choose another part",
                         span.until / 1000, longest / 1000, maxPieces));
  }
  std::string text = format == "svg" ? reportSvg(report) : reportHtml(report);
  return writeOutput(output, text) ? Exit::Yes : Exit::Undecided;
}

int ReportCommand::run() {
  if (!readWindow() || !strategiesAreKnown()) {
    return Exit::Undecided;
  }
  Session session;
  std::optional<Machine> machine = session.machine(subject.common, settings);
  if (!machine) {
    return Exit::Undecided;
  }
  std::vector<LoadedKernel> kernels = session.load(subject.common.input, *machine);
  std::optional<LoadedKernel> loaded = kernels.empty() ? std::nullopt : choose(std::move(kernels));
  if (!loaded || !session.findDeps(*loaded, subject.common, *machine)) {
    return Exit::Undecided;
  }
  std::vector<std::string> errors;
  std::optional<Timing> timing = Timing::of(*machine, errors);
  for (const std::string &error : errors) {
    complain(error);
  }
  std::optional<Bindings> bindings = session.bindings(loaded->kernel, values);
  if (!timing || !bindings) {
    return Exit::Undecided;
  }
  if (!session.tilesStay(loaded->kernel, *bindings)) {
    return Exit::No;
  }
  Diagnostics diagnostics;
  std::optional<InstrCosts> costs = instructionCosts(loaded->kernel, *timing, diagnostics);
  session.report(loaded->kernel, diagnostics);
  std::optional<std::vector<Subject>> subjects = subjectsOf(*loaded, session, *machine);
  if (!costs || !subjects) {
    return Exit::Undecided;
  }
  Report report{machine->name, {}, window.from, window.until};
  for (const Subject &one : *subjects) {
    addTimeline(one, *timing, *costs, *machine, *bindings, report);
  }
  tellInterrupt();
  return std::max(finish(report), outcomeOf(report));
}

constexpr const char *examples = R"(Examples:
  tally report k.mlir --trips=A=64 -o k.html           barriers, tally's code, and what is written
  tally report k.mlir --sync=barrier,per-engine,ideal -o k.html
  tally kernels emit adamw --manual | tally report - --machine=trn2 -o adamw.html
  tally report k.mlir --from=40us --until=60us -o k.html   a part of the runs, in detail
  tally report k.mlir --format=svg -o k.svg            the picture alone

The page needs nothing but a browser: no network, no other file. Long runs are shown in part, and
the page says so; its numbers are always those of whole runs.

Exit status: 0 the page is written, 1 and a run is stuck, 2 cut off, wrong input or not possible.)";

} // namespace

void addReport(CLI::App &app, int &status) {
  auto command = std::make_shared<ReportCommand>();
  command->subject.common.machine = "teaching";
  CLI::App *sub = app.add_subcommand("report", "Timelines of several strategies, on one page");
  sub->add_option("kernel", command->subject.common.input,
                  "kernel, perhaps with its code: MLIR text or bytecode, or .json; - is stdin")
      ->required();
  sub->add_option("code", command->subject.code,
                  "code for 'manual', beside the same kernel; none: what stands beside the kernel");
  sub->add_option("--kernel", command->kernel, "which one, where the input holds several");
  sub->add_option(
         "--sync", command->strategies,
         fmt::format("strategies, in their order, of {}; default: barrier, per-loop, auto, "
                     "and manual where there is code",
                     fmt::join(allStrategyNames(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false);
  command->subject.common.addMachine(*sub);
  command->values.add(*sub);
  sub->add_option("--set", command->settings, "change a price of the machine: ctl.alu=20ns")
      ->allow_extra_args(false);
  sub->add_option("--seed", command->seed, "not 0: random delays, from this seed")
      ->check(integerIn(0));
  sub->add_option("--jitter", command->jitter, "by up to so many percent")
      ->check(integerIn(0, 1000))
      ->capture_default_str();
  sub->add_option("--from", command->from, "where the picture begins: 12.5us");
  sub->add_option("--until", command->until, "where it ends, at the latest");
  sub->add_option("--max-pieces", command->maxPieces, "of one timeline; beyond, the picture ends")
      ->check(integerIn(100, 10'000'000))
      ->capture_default_str();
  sub->add_option("--max-operations", command->maxOperations, "cut a run off after so many")
      ->check(integerIn(1))
      ->capture_default_str();
  sub->add_option("--format", command->format, "html, or svg: the picture alone")
      ->check(formatIn({"html", "svg"}))
      ->capture_default_str();
  sub->add_option("-o,--output", command->output, "where it goes; - is stdout")
      ->capture_default_str();
  goesWith(*sub, {"--jitter"}, "--seed");
  sub->footer(examples);
  sub->callback([command, &status] {
    command->stop = stopOnSignals();
    status = command->run();
  });
}

} // namespace tally::tool
