//===- ReportCommand.cpp - tally report -----------------------------------===//
//
// One page for one kernel: its timelines under several strategies, on one time axis.
//
//===----------------------------------------------------------------------===//

#include "Advice.h"
#include "Interrupt.h"
#include "Progress.h"
#include "Result.h"
#include "TimedSubject.h"

#include "tally/Compile/Compile.h"
#include "tally/Report/Report.h"
#include "tally/Sim/Recording.h"
#include "tally/Support/ReadFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

namespace tally::tool {
namespace {

struct ReportCommand {
  TimeOptions time; ///< with the strategy of the run at hand
  std::vector<std::string> strategies;
  std::string from, until;
  std::vector<std::string> measured; ///< files with traces of runs on threads
  size_t maxPieces = 1'000'000;
  bool advises = false;
  std::string format = "html";
  std::string output = "-";

  void declareOn(CLI::App &command);
  int run();

private:
  void readWindow();
  void refuseStrategies() const;
  std::vector<std::string> strategiesFor(const LoadedKernel &loaded, Session &session,
                                         std::vector<std::string> &leftOut) const;
  std::optional<std::vector<Subject>>
  subjectOf(const LoadedKernel &loaded, const std::string &strategy, Session &session) const;
  Timeline measuredTimeline(const std::string &path, const LoadedKernel &loaded,
                            Session &session) const;
  std::optional<std::vector<Subject>> subjectsOf(const LoadedKernel &loaded, Session &session,
                                                 std::vector<std::string> &leftOut) const;
  std::string advisedStrategy(const std::vector<Subject> &subjects) const;
  ReportAdvice adviceFor(const LoadedKernel &loaded, const std::vector<Subject> &subjects,
                         Session &session, const BoundRun &bound) const;
  Exit finish(const Report &report) const;

  TimelineRecorder::Window window;
};

/// Moments; empty ones stay as they are.
void ReportCommand::readWindow() {
  bool good = true;
  for (auto [text, option, tick] :
       {std::tuple(&from, "--from", &window.from), std::tuple(&until, "--until", &window.until)}) {
    std::optional<Tick> time = text->empty() ? *tick : parseTime(*text);
    if (!time) {
      complain(fmt::format("{}={} is not a time; write it as {}=12.5us", option, *text, option));
    }
    *tick = time.value_or(*tick);
    good &= time.has_value();
  }
  if (good && window.from >= window.until) {
    complain(fmt::format("--from={} is not before --until={}", from.empty() ? "0us" : from, until));
    good = false;
  }
  if (!good) {
    end();
  }
}

void ReportCommand::refuseStrategies() const {
  bool good = areKnown(strategies, allWords<Strategy>(), "strategy", "strategies");
  for (size_t i = 0; i < strategies.size(); ++i) {
    if (std::find(strategies.begin(), strategies.begin() + static_cast<ptrdiff_t>(i),
                  strategies[i]) != strategies.begin() + static_cast<ptrdiff_t>(i)) {
      complain(fmt::format("--sync names '{}' twice", strategies[i]));
      good = false;
    }
  }
  bool namesManual = strategies.empty() ||
                     std::ranges::find(strategies, toString(Strategy::Manual)) != strategies.end();
  if (!time.subject.common.code.empty() && !namesManual) {
    complain(
        fmt::format("the code in '{}' is shown as strategy 'manual', which --sync does not name",
                    time.subject.common.code));
    good = false;
  }
  if (!good) {
    end();
  }
}

/// A page is of one kernel.
void refuseSeveral(const std::vector<LoadedKernel> &kernels) {
  if (kernels.size() > 1) {
    std::vector<std::string_view> names;
    for (const LoadedKernel &loaded : kernels) {
      names.push_back(loaded.kernel.text(loaded.kernel.name));
    }
    fail(fmt::format("the input holds {} kernels; choose one with --kernel: {}", names.size(),
                     fmt::join(names, ", ")));
  }
}

/// What was asked for; else the baseline and what tally makes, as far as these do the kernel, and
/// what is written in the input.
std::vector<std::string> ReportCommand::strategiesFor(const LoadedKernel &loaded, Session &session,
                                                      std::vector<std::string> &leftOut) const {
  if (!strategies.empty()) {
    return strategies;
  }
  const std::vector<std::string> usual{"barrier", "per-loop", "auto"};
  std::vector<std::string> chosen;
  for (const std::string &strategy : usual) {
    CommonOptions options = time.subject.common;
    options.strategy = strategy;
    Diagnostics found;
    if (compile(loaded.kernel, options.request(), session.machine(), found)) {
      chosen.push_back(strategy);
    } else {
      leftOut.push_back(fmt::format("'{}' is left out: {}", strategy, found.reason()));
    }
  }
  if (loaded.code || !time.subject.common.code.empty()) {
    chosen.emplace_back("manual");
  }
  if (chosen.empty()) {
    leftOut.clear();
    return usual; // each tells its own errors
  }
  return chosen;
}

/// The code of a strategy.
std::optional<std::vector<Subject>> ReportCommand::subjectOf(const LoadedKernel &loaded,
                                                             const std::string &strategy,
                                                             Session &session) const {
  CheckOptions options = time.subject;
  options.common.strategy = strategy;
  options.common.strategyGiven = true;
  if (strategy != toString(Strategy::Manual)) {
    options.common.code.clear();
  }
  return timedSubjects({loaded}, options, session);
}

/// A run on threads, of the code that is made here once more.
Timeline ReportCommand::measuredTimeline(const std::string &path, const LoadedKernel &loaded,
                                         Session &session) const {
  FileText text = readFile(path, traceInput);
  if (!text.problem.empty()) {
    fail(fmt::format("cannot read the trace '{}': {}", path, text.problem), path);
  }
  std::optional<TraceFacts> facts = readTraceFacts(text.text);
  if (!facts) {
    fail(fmt::format("'{}' is not a trace of tally", path), path);
  }
  const Kernel &kernel = loaded.kernel;
  std::string_view kernelName = kernel.text(kernel.name), machine = session.machine().name;
  if (facts->kernel != kernelName || facts->machine != machine) {
    fail(fmt::format("'{}' is of kernel '{}' and code for machine '{}', and this page of '{}' and "
                     "'{}'",
                     path, facts->kernel, facts->machine, kernelName, machine),
         path);
  }
  const std::vector<Subject> subjects = orEnd(subjectOf(loaded, facts->strategy, session));
  const Code &code = subjects.front().code;
  std::string problem;
  std::optional<Recording> recording = readTrace(text.text, kernel, code, problem);
  if (!recording) {
    fail(fmt::format("'{}' cannot be shown: {}", path, problem), path);
  }
  TimelineRecorder recorder(kernel, code, window);
  Timeline timeline = recorder.finish(replay(kernel, code, *recording, recorder));
  timeline.measuredOn = facts->measuredOn;
  return timeline;
}

/// The code of each strategy. All that is not possible is reported.
std::optional<std::vector<Subject>>
ReportCommand::subjectsOf(const LoadedKernel &loaded, Session &session,
                          std::vector<std::string> &leftOut) const {
  std::vector<Subject> subjects;
  bool all = true;
  for (const std::string &strategy : strategiesFor(loaded, session, leftOut)) {
    std::optional<std::vector<Subject>> one = subjectOf(loaded, strategy, session);
    all &= one.has_value();
    if (one) {
      subjects.push_back(std::move(one->front()));
    }
  }
  return all ? std::optional(std::move(subjects)) : std::nullopt;
}

/// The code that advice is about: what `auto` makes, or else the last that tally plans.
std::string ReportCommand::advisedStrategy(const std::vector<Subject> &subjects) const {
  const std::vector<std::string> planned = plannedStrategies();
  std::string strategy;
  for (const Subject &one : subjects) {
    std::string name(toString(one.code.strategy));
    const bool isPlanned = one.code.isCompiled && std::ranges::find(planned, name) != planned.end();
    if (isPlanned && strategy != toString(Strategy::Auto)) {
      strategy = std::move(name);
    }
  }
  return strategy;
}

ReportAdvice ReportCommand::adviceFor(const LoadedKernel &loaded,
                                      const std::vector<Subject> &subjects, Session &session,
                                      const BoundRun &bound) const {
  TimeOptions options = time;
  options.subject.common.strategy = advisedStrategy(subjects);
  if (options.subject.common.strategy.empty()) {
    fail(fmt::format("--advise is about code that is compiled, by {}; --sync names none of these",
                     fmt::join(plannedStrategies(), ", ")));
  }
  std::optional<Advice> advice = adviceOn(loaded, session, bound, options, 1);
  if (!advice) {
    end();
  }
  return forPage(loaded.kernel, *advice, options.subject.common.strategy);
}

/// Writes the page. Whether all runs came to their ends.
Exit ReportCommand::finish(const Report &report) const {
  Tick longest = 0;
  Exit status = Exit::Yes;
  for (const Timeline &timeline : report.timelines) {
    longest = std::max(longest, timeline.result.total);
    status = both(status, exitOf(timeline.result));
  }
  bool isWritten = false;
  if (window.from > 0 && window.from >= longest) {
    complain(fmt::format("--from={} is not before the end of the longest run, {}", from,
                         timeText(longest)));
  } else {
    for (const Timeline &timeline : report.timelines) {
      Tick wanted = std::min(timeline.result.total, window.until);
      if (timeline.shownUntil < wanted) {
        tellNote(fmt::format(
            "of '{}', each piece is shown up to {} of {}, and after that only "
            "sums for each thousandth of the run; --max-pieces, --from and --until choose "
            "another part",
            toString(timeline.code.strategy), timeText(timeline.shownUntil), timeText(wanted)));
      }
    }
    isWritten = writeOutput(output, format == "svg" ? reportSvg(report) : reportHtml(report));
  }
  if (status != Exit::Yes) {
    complain("not every run came to its end; the page says which");
  }
  return isWritten ? status : Exit::Undecided;
}

int ReportCommand::run() {
  readWindow();
  refuseStrategies();
  Session session(time.subject.common, time.settings);
  std::vector<LoadedKernel> kernels = session.load();
  refuseSeveral(kernels);
  LoadedKernel &loaded = kernels.front();
  const LoadedKernel asLoaded = loaded;
  if (!session.findDeps(loaded)) {
    end();
  }
  std::optional<Timing> timing = timingOf(session.machine());
  const BoundRun bound =
      session.bind(loaded.kernel, session.divide(kernels, time.subject.values).front());
  if (!timing) {
    end();
  }
  if (!session.tilesStay(loaded.kernel, bound.bindings)) {
    end(Exit::No);
  }
  Diagnostics diagnostics;
  std::optional<InstrCosts> costs = instructionCosts(loaded.kernel, *timing, diagnostics);
  session.report(loaded.kernel, diagnostics);
  std::vector<std::string> leftOut;
  std::vector<Subject> subjects = orEnd(subjectsOf(loaded, session, leftOut));
  for (const std::string &each : leftOut) {
    tellNote(each);
  }
  if (!costs) {
    end();
  }
  time.subject.stop = stopOnSignals(); // up to here nothing is known
  Report report{session.machine().name,
                {},
                window.from,
                window.until,
                std::move(leftOut),
                session.machineReason(),
                valuesText(bound) + time.changesText(),
                commandOf(session, bound),
                *costs,
                session.machine().parameters,
                {}};
  window.maxPieces = std::max<size_t>(maxPieces / subjects.size(), 1);
  for (const Subject &one : subjects) {
    nowDoing(fmt::format("simulating {}", toString(one.code.strategy)));
    TimelineRecorder recorder(one.kernel, one.code, window);
    SimOptions options = time.simOptions(one.code);
    options.observer = &recorder;
    options.criticalPath = true;
    report.timelines.push_back(recorder.finish(simulate(one.kernel, one.code, session.machine(),
                                                        *timing, *costs, bound.bindings, options)));
  }
  for (const std::string &path : measured) {
    report.timelines.push_back(measuredTimeline(path, loaded, session));
  }
  if (format != "svg") {
    report.bounds =
        boundsOf(report.kernel(), session.machine(), *timing, *costs, bound.bindings, time);
  }
  if (advises) {
    report.advice = adviceFor(asLoaded, subjects, session, bound);
  }
  tellInterrupt();
  return finish(report);
}

constexpr const char *examples = R"(Examples:
  tally report k.mlir --trips=A=64 -o k.html           barriers, tally's code, and hand-written code
  tally report k.mlir --sync=barrier,per-engine,ideal -o k.html
  tally kernels emit adamw --manual | tally report - --machine=trn2 -o adamw.html
  tally report k.mlir --advise -o k.html         and what would make it faster
  tally report k.mlir --from=40us --until=60us -o k.html   begin with a part of the runs
  tally run k.mlir --timeline=t.json && tally report k.mlir --timeline=t.json -o k.html
                                                       and, together with what is simulated, a run on threads
  tally report k.mlir --format=svg -o k.svg            the picture alone

The page only needs a browser: no network, no other file. It shows whole runs; what it holds only as
sums, it says. Its numbers are always those of whole runs.

Exit status: 0 the page is written, 1 the same, but a run is stuck, 2 cut off, wrong input or not
possible.)";

void ReportCommand::declareOn(CLI::App &command) {
  time.subject.addInput(command, "a file with the same kernel and code for 'manual'; without one, "
                                 "the code in the kernel's file");
  declare(command,
          {{"--sync", strategies,
            fmt::format("strategies, in the order to show, from {}; default: barrier, per-loop, "
                        "auto, and manual if there is code",
                        fmt::join(allWords<Strategy>(), ", ")),
            withCommas, writtenAs("STRATEGY"), suggesting(allWords<Strategy>())}});
  time.add(command);
  declare(
      command,
      {{"--from", from, "where the picture begins: 12.5us", writtenAs("TIME")},
       {"--until", until, "where it ends, at the latest", writtenAs("TIME")},
       {"--timeline", measured,
        "show runs on threads, too, as 'tally run --timeline' has written them", withCommas, file},
       {"--advise", advises, "also what would make it faster, as 'tally advise' finds it"},
       {"--max-pieces", maxPieces,
        "the most pieces of all timelines that the page holds one by one; of what comes "
        "after them, it holds sums",
        integerIn(100, 10'000'000)},
       formatOption(format, "html, or svg: the picture alone", {"html", "svg"}),
       {"-o,--output", output, "where it goes; - is stdout", file}});
  refuseIf(command, {"--advise"}, "with '--format=svg', the picture alone",
           [this] { return format == "svg"; });
}

} // namespace

void addReport(CLI::App &app) {
  addCommand<ReportCommand>(app,
                            {"report", "Timelines of several strategies, on one page", examples});
}

} // namespace tally::tool
