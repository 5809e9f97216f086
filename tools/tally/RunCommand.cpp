//===- RunCommand.cpp - tally run -----------------------------------------===//
//
// Is what real threads compute right, and how long do they take?
//
// Steps:  1. expect   the sequential run of the same inputs
//         2. run      the code, and the same kernel with barriers, by turns; every run is compared
//         3. tell     times; the buffers are written last
//
//===----------------------------------------------------------------------===//

#include "CheckCommand.h"
#include "Interrupt.h"
#include "ProgramOptions.h"
#include "Progress.h"
#include "Result.h"
#include "SimData.h"
#include "Table.h"

#include "tally/Check/Race.h"
#include "tally/Data/Effects.h"
#include "tally/Data/Npy.h"
#include "tally/Native/ThreadProgram.h"
#include "tally/Sim/Trace.h"
#include "tally/Support/Counted.h"
#include "tally/Support/WholeFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sched.h>
#include <system_error>

namespace tally::tool {
namespace {

struct RunCommand {
  CheckOptions subject;
  std::string target = "threads";
  std::string inputs, outputs; ///< folders; empty: none
  uint64_t repeat = 5;
  bool oversubscribe = false;
  ProgramOptions program;
  std::string timeline; ///< a file; empty: none
  std::string format = "text";

  void declareOn(CLI::App &command);
  int run();
};

/// That this process may use.
size_t numCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? static_cast<size_t>(CPU_COUNT(&cores))
                                                         : std::thread::hardware_concurrency();
}

//===----------------------------------------------------------------------===//
// 1. Expect
//===----------------------------------------------------------------------===//

/// What is read must be written, or be in a file; one that could not be read is reported already.
bool hasAllInputs(const Kernel &kernel, const Memory &memory, const std::string &inputs) {
  bool hasAll = true;
  for (BufferId id : kernel.buffers.ids()) {
    bool isRead = false, isWritten = false;
    for (const Access &access : kernel.accesses) {
      if (access.buffer == id) {
        (access.kind == AccessKind::Read ? isRead : isWritten) = true;
      }
    }
    std::string_view name = kernel.text(kernel.buffers[id].name);
    std::error_code ignored;
    bool isThere = !inputs.empty() &&
                   std::filesystem::exists(
                       std::filesystem::path(inputs) / fmt::format("{}.npy", name), ignored);
    if (isRead && !isWritten && !isThere && memory[id].numPoison() != 0) {
      complain(fmt::format("buffer '{0}' is read, and nothing writes it; give it as {0}.npy in the "
                           "folder of --inputs",
                           name));
      hasAll = false;
    }
  }
  return hasAll;
}

Memory memoryFor(Session &session, const Kernel &kernel, const std::string &inputs) {
  Diagnostics diagnostics;
  Memory memory = emptyMemory(kernel, diagnostics);
  session.report(kernel, diagnostics);
  if (diagnostics.hasErrors()) {
    end();
  }
  std::error_code ignored;
  bool isRead = inputs.empty() || readBuffers(kernel, memory, inputs);
  bool mayRead = inputs.empty() || std::filesystem::is_directory(inputs, ignored);
  if (!mayRead || !hasAllInputs(kernel, memory, inputs) || !isRead) {
    end();
  }
  return memory;
}

/// All of memory after the sequential run, and whether it has written any of it.
struct Expected {
  Memory memory;
  bool isWritten = false;
};

Expected sequentialRun(Session &session, const Kernel &kernel, const Bindings &bindings,
                       const Memory &memory) {
  nowDoing("running it sequentially");
  Diagnostics diagnostics;
  Runs runs(kernel, bindings, diagnostics);
  std::optional<Effects> effects;
  if (!diagnostics.hasErrors()) {
    effects = Effects::of(kernel, runs, diagnostics);
  }
  session.report(kernel, diagnostics);
  if (!effects) {
    end();
  }
  DataRun run(*effects, memory);
  for (Instance instance : runs.order()) {
    run.commit(instance);
  }
  for (const DataFault &fault : run.faults()) {
    complain(fmt::format("in the sequential run, {}", describe(kernel, runs, fault)));
  }
  if (!run.faults().empty()) {
    end();
  }
  return {run.memory(), run.hasWritten()};
}

//===----------------------------------------------------------------------===//
// 2. Run
//===----------------------------------------------------------------------===//

/// A program, and how long its runs took.
struct Contender {
  std::string name;
  const Kernel &kernel;
  const Code &code;
  std::unique_ptr<ThreadProgram> program;
  std::vector<uint64_t> times = {}; ///< in nanoseconds
  Recording shortest = {};          ///< of the shortest run, if runs are recorded

  uint64_t median() const {
    std::vector<uint64_t> sorted = times;
    std::ranges::sort(sorted);
    size_t middle = sorted.size() / 2;
    return sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
};

std::unique_ptr<ThreadProgram> programOf(Session &session, const Kernel &kernel, const Code &code,
                                         const ProgramOptions &options) {
  Diagnostics diagnostics;
  std::unique_ptr<ThreadProgram> program =
      ThreadProgram::of(kernel, code, session.machine(), diagnostics, options);
  session.report(kernel, diagnostics);
  if (!program) {
    end();
  }
  return program;
}

class Contest {
public:
  Contest(Session &session, const RunCommand &command, const Subject &subject,
          const BoundRun &bound)
      : session(session), command(command), kernel(subject.kernel), code(subject.code),
        bound(bound), start(memoryFor(session, kernel, command.inputs)),
        expected(sequentialRun(session, kernel, bound.bindings, start)) {
    nowDoing("compiling it");
    contenders.push_back({std::string(toString(code.strategy)), kernel, code,
                          programOf(session, kernel, code, command.program)});
    addBarriers(subject);
    checkThreads();
  }

  /// By turns, so that what disturbs this computer disturbs both alike.
  Exit run(Result &output) {
    const StopFlag *stop = stopOnSignals();
    Exit status = Exit::Yes;
    for (uint64_t i = 0; i < command.repeat && status == Exit::Yes; ++i) {
      for (Contender &contender : contenders) {
        status = both(status, runOnce(contender, stop, output));
      }
    }
    if (wasInterrupted()) {
      fail("interrupted; nothing was written");
    }
    return status;
  }

  /// Whether equal memory says anything.
  bool hasCompared() const { return expected.isWritten; }

  /// As the code has left it; what it has not written is still poison.
  Memory result() const {
    Memory memory = expected.memory;
    contenders[0].program->readInto(memory);
    return memory;
  }

  /// For a trace viewer and `tally report`: of the code, its least disturbed run.
  void writeTimeline(const std::string &path) const {
    WholeFile file(path);
    Json facts = valuesJson(bound);
    facts["measured_on"] = command.target;
    facts["command"] = commandOf(session, bound);
    TraceWriter writer(file.stream(), kernel, code, UINT64_MAX, membersText(facts));
    writer.finish(replay(kernel, code, contenders[0].shortest, writer));
    std::string problem = file.commit();
    if (!problem.empty()) {
      fail(fmt::format("cannot write '{}': {}", path, problem), path);
    }
  }

  std::string threadsText() const {
    return fmt::format("{} on {}, {} of each\n",
                       counted(contenders[0].program->numThreads(), "thread"),
                       counted(numCores(), "core"), counted(command.repeat, "run"));
  }

  Table times() const {
    Table table({{"strategy", "strategy", -16, ""},
                 {"median_ns", "median", 12},
                 {"least_ns", "least", 12},
                 {"most_ns", "most", 12},
                 {"ratio", "ratio", 8}});
    for (const Contender &contender : contenders) {
      auto [least, most] = std::ranges::minmax(contender.times);
      auto cell = [](uint64_t time) {
        return Cell(fmt::format("{:.3f} ms", double(time) / 1e6), time);
      };
      double ratio =
          double(contender.median()) / double(std::max<uint64_t>(contenders[0].median(), 1));
      table.add({contender.name, cell(contender.median()), cell(least), cell(most),
                 Cell(fmt::format("{:.2f}", ratio), ratio)});
    }
    return table;
  }

  Json facts() const {
    return {{"threads", contenders[0].program->numThreads()},
            {"cores", numCores()},
            {"runs", command.repeat}};
  }

private:
  /// The baseline, where the kernel can have it.
  void addBarriers(const Subject &subject) {
    if (code.strategy == Strategy::Barrier) {
      return;
    }
    baseline.kernel = subject.kernel;
    Request request = command.subject.common.request();
    request.strategy = Strategy::Barrier;
    Diagnostics ignored;
    bool hasDeps = !baseline.kernel.deps.empty() || session.findDeps(baseline, /*mayChoose=*/false);
    std::optional<Compiled> compiled =
        hasDeps ? compile(baseline.kernel, request, session.machine(), ignored) : std::nullopt;
    if (!compiled) {
      tellNote("there is no code with barriers to compare with: " + ignored.reason());
      return;
    }
    baseline.code = std::move(compiled->code);
    contenders.push_back({"barrier", baseline.kernel, *baseline.code,
                          programOf(session, baseline.kernel, *baseline.code, command.program)});
  }

  void checkThreads() const {
    size_t threads = contenders[0].program->numThreads();
    if (threads > numCores() && !command.oversubscribe) {
      fail(fmt::format("the code is for {}, and there {} {}; '--oversubscribe' runs it all the "
                       "same, but then times mean little",
                       counted(threads, "thread"), numCores() == 1 ? "is" : "are",
                       counted(numCores(), "core")));
    }
  }

  Exit runOnce(Contender &contender, const StopFlag *stop, Result &output) {
    nowDoing(fmt::format("running it, {}", contender.name));
    contender.program->setMemory(start);
    ThreadRun run;
    try {
      run = contender.program->run(bound.bindings, stop);
    } catch (const std::system_error &error) {
      fail(fmt::format("cannot start {}: {}", counted(contender.program->numThreads(), "thread"),
                       error.what()));
    }
    switch (run.outcome) {
    case ThreadRun::Outcome::Stopped:
      return Exit::Undecided;
    case ThreadRun::Outcome::Failed:
      fail(run.reason);
    case ThreadRun::Outcome::Stuck:
      tellStuck(contender, run, output);
      return Exit::No;
    case ThreadRun::Outcome::Finished:
      break;
    }
    auto time = static_cast<uint64_t>(run.time.count());
    if (contender.times.empty() || time < std::ranges::min(contender.times)) {
      contender.shortest = std::move(run.recording);
    }
    contender.times.push_back(time);
    return compare(contender, output);
  }

  /// What the threads wait for; and, as `tally check --race` says it, why that never comes.
  void tellStuck(const Contender &contender, const ThreadRun &run, Result &output) {
    std::string waits = describeStuck(contender.code, run);
    output.text += fmt::format("deadlock (strategy '{}')\n{}", contender.name, waits);
    Json why = Json::array();
    RaceOptions once;
    once.schedules = 1;
    RaceResult races =
        checkRaces(contender.kernel, contender.code, session.machine(), bound.bindings, once);
    Diagnostics diagnostics;
    for (const RaceReport &report : races.reports) {
      if (report.kind == ReportKind::Deadlock) {
        diagnostics.error(report.text.where, report.text.message) = report.text;
        why.push_back(report.text.message);
      }
    }
    session.report(contender.kernel, diagnostics);
    output.addMembers(
        {{"deadlock", {{"strategy", contender.name}, {"waits", waits}, {"why", why}}}});
  }

  Exit compare(const Contender &contender, Result &output) {
    Json differences = Json::array();
    for (BufferId id : kernel.buffers.ids()) {
      std::optional<size_t> element = contender.program->firstDifference(id, expected.memory[id]);
      if (!element) {
        continue;
      }
      std::string where = elementText(kernel, id, *element);
      output.text += fmt::format("{} is not as after the sequential run (strategy '{}')\n", where,
                                 contender.name);
      differences.push_back({{"strategy", contender.name}, {"element", where}});
    }
    if (!differences.empty()) {
      output.addMembers({{"differences", differences}});
    }
    return differences.empty() ? Exit::Yes : Exit::No;
  }

  Session &session;
  const RunCommand &command;
  const Kernel &kernel;
  const Code &code;
  const BoundRun &bound;
  const Memory start;
  const Expected expected;
  LoadedKernel baseline;
  std::vector<Contender> contenders;
};

//===----------------------------------------------------------------------===//
// 3. Tell
//===----------------------------------------------------------------------===//

int RunCommand::run() {
  program.records = !timeline.empty();
  if (std::string problem = timeline.empty() ? "" : WholeFile::whyNot(timeline); !problem.empty()) {
    fail(fmt::format("cannot write '{}': {}", timeline, problem), timeline);
  }
  Session session(subject.common);
  std::vector<Subject> subjects = orEnd(makeSubjects(session.load(), subject, session));
  if (subjects.size() != 1) {
    fail(fmt::format("one kernel is run, but there are {}; name one with '--kernel'",
                     subjects.size()));
  }
  const Subject &one = subjects[0];
  const BoundRun bound = session.bind(one.kernel, subject.values);
  if (!session.tilesStay(one.kernel, bound.bindings)) {
    end();
  }
  Result output(format, "tally-run", 1);
  output.repeatWith(session, &bound);
  try {
    Contest contest(session, *this, one, bound);
    Json facts = subjectJson(one.kernel, one.code, session);
    facts.update(valuesJson(bound));
    facts.update(contest.facts());
    output.text += fmt::format("{}\n{}{}", subjectText(one.kernel, one.code, session),
                               valuesText(bound), contest.threadsText());
    output.addMembers(facts);
    Exit status = contest.run(output);
    if (status == Exit::Yes) { // no run differs
      output.addTable("times", "\n", contest.times());
      if (contest.hasCompared()) {
        output.text += "  all of memory is as after the sequential run\n";
      } else {
        std::string_view reason = "nothing is compared, as nothing is written in this run";
        output.text += fmt::format("  could not decide: {}\n", reason);
        output.addMembers({{"reason", reason}});
        status = Exit::Undecided;
      }
      if (!timeline.empty()) {
        contest.writeTimeline(timeline);
      }
      if (!outputs.empty()) {
        writeBuffers(one.kernel, contest.result(), outputs);
      }
    }
    output.addMembers({{"same", status == Exit::Yes}});
    return output.print(status);
  } catch (const std::bad_alloc &) {
    fail("out of memory: the buffers, and what they are compared with, do not fit");
  }
}

void RunCommand::declareOn(CLI::App &command) {
  subject.addInput(command, "a file with the same kernel and its code; without one, the code in "
                            "the kernel's file, or compiled code");
  std::vector<std::string> strategies = plannedStrategies();
  strategies.emplace_back(toString(Strategy::Manual));
  subject.common.addStrategy(command, strategies);
  subject.common.addMachine(command);
  subject.values.add(command);
  declare(command,
          {{"--target", target, "what runs it: threads of this computer",
            oneOf("target", "targets", {"threads"})},
           {"--inputs", inputs,
            "first contents of buffers: NAME.npy in this folder, for each buffer that nothing "
            "writes",
            folder},
           {"--outputs", outputs, "write the last contents of buffers to this folder", folder},
           {"--repeat", repeat, "how often it is run, and how often with barriers",
            integerIn(1, 1'000'000)},
           {"--oversubscribe", oversubscribe,
            "run more threads than there are cores; times then mean little"},
           {"--timeline", timeline,
            "write what threads did in the shortest run, and when: for ui.perfetto.dev, and for "
            "'tally report --timeline'",
            onlyFile()},
           formatOption(format)});
  declareProgramOptions(command, program);
  subject.refuseIdleStrategy(command);
}

constexpr const char *examples = R"(Examples:
  tally run k.mlir --inputs=in --outputs=out     NumPy arrays in, NumPy arrays out
  tally run k.mlir --trips=A=64 --repeat=100     how long it takes, beside barriers
  tally run k.mlir --timeline=t.json             what each thread did, and when
  tally run k.mlir --machine=trn2                with the waits that code for trn2 has
  tally run k.mlir code.mlir --oversubscribe     code written by hand, on fewer cores than threads

Ctrl-C ends all threads; nothing is written then.

Exit status: 0 every run computes what the sequential run computes, 1 wrong data or deadlock,
2 interrupted, nothing was written that could be compared, wrong input or not possible.)";

} // namespace

void addRun(CLI::App &app) {
  addCommand<RunCommand>(app, {"run", "Run it on threads, and compare with barriers", examples});
}

} // namespace tally::tool
