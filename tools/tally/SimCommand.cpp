//===- SimCommand.cpp - tally sim -----------------------------------------===//
//
// How long does this code take on this machine, and where does the time go?
//
//===----------------------------------------------------------------------===//

#include "Advice.h"
#include "Interrupt.h"
#include "Progress.h"
#include "Result.h"
#include "SimData.h"
#include "Standing.h"
#include "Tables.h"
#include "TimedSubject.h"

#include "tally/Code/Origin.h"
#include "tally/Sim/Commits.h"
#include "tally/Sim/Trace.h"
#include "tally/Support/Counted.h"
#include "tally/Support/WholeFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>

namespace tally::tool {
namespace {

struct SimCommand {
  TimeOptions time;
  std::string sweep;
  std::string trace;
  std::string traceLimit = "256MB";
  bool bounds = false;
  bool advises = false;
  size_t top = 8;
  std::string format = "text";
  DataOptions data;

  void declareOn(CLI::App &command);
  int run();

private:
  void addAdvice(Result &output, const LoadedKernel &loaded, Session &session,
                 const BoundRun &bound) const;
};

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

/// The values that a parameter takes, as assignments; one empty one without a sweep.
struct Sweep {
  std::string name;
  std::vector<std::string> assignments{""};
};

/// `p` goes over the range that the machine gives, `p=1,2us,5` over these values.
Sweep parseSweep(const Machine &machine, const std::string &text) {
  Sweep sweep;
  if (text.empty()) {
    return sweep;
  }
  sweep.name = text.substr(0, text.find('='));
  sweep.assignments.clear();
  const Parameter *parameter = machine.parameter(sweep.name);
  if (!parameter) {
    fail(unknownParameter(machine, sweep.name));
  }
  if (sweep.name.size() < text.size()) {
    std::string values = text.substr(sweep.name.size() + 1);
    for (size_t start = 0; start <= values.size();) {
      size_t end = std::min(values.find(',', start), values.size());
      sweep.assignments.push_back(sweep.name + "=" + values.substr(start, end - start));
      start = end + 1;
    }
    return sweep;
  }
  if (!parameter->range) {
    fail(fmt::format("machine '{}' gives no range for '{}'; write --sweep={}=1,2,3", machine.name,
                     text, text));
  }
  for (double value : {parameter->range->first, parameter->number, parameter->range->second}) {
    sweep.assignments.push_back(fmt::format("{}={}", text, value));
  }
  return sweep;
}

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

struct Run {
  std::string setting; ///< of the sweep
  SimResult result;
  std::optional<TimeBounds> bounds;
  std::vector<Instance> commits; ///< in order; only to follow data
};

/// A kernel, and how it is run.
class OneSim {
public:
  OneSim(const SimCommand &command, Session &session, const Subject &subject, const BoundRun &bound,
         std::string tracePath)
      : command(command), session(session), subject(subject), kernel(subject.kernel), bound(bound),
        tracePath(std::move(tracePath)) {}

  Run run(Machine machine, const std::string &setting, bool isFirst) const {
    std::string error = setting.empty() ? "" : setParameter(machine, setting);
    if (!error.empty()) {
      fail(error);
    }
    Timing timing = orEnd(timingOf(machine));
    Diagnostics diagnostics;
    std::optional<InstrCosts> costs = instructionCosts(kernel, timing, diagnostics);
    if (isFirst || diagnostics.hasErrors()) {
      session.report(kernel, diagnostics);
    }
    return simulateIt(machine, timing, orEnd(std::move(costs)), setting);
  }

private:
  Run simulateIt(const Machine &machine, const Timing &timing, const InstrCosts &costs,
                 const std::string &setting) const {
    nowDoing(fmt::format("simulating{}{}", setting.empty() ? "" : " ", setting));
    SimOptions options = command.time.simOptions(subject.code);
    options.criticalPath = true;
    std::optional<WholeFile> file;
    std::optional<TraceWriter> writer;
    if (!command.trace.empty()) {
      file.emplace(tracePath);
      writer.emplace(file->stream(), kernel, subject.code, *sizeFrom(command.traceLimit),
                     runFacts());
      options.observer = &*writer;
      if (writer->leastBytes() > *sizeFrom(command.traceLimit)) {
        fail(fmt::format("--trace-limit: a trace of this kernel has at least {} bytes, but its "
                         "limit is {}",
                         writer->leastBytes(), command.traceLimit));
      }
    }
    Run run{setting,
            simulate(kernel, subject.code, machine, timing, costs, bound.bindings, options),
            {},
            {}};
    if (command.bounds) {
      run.bounds = boundsOf(kernel, machine, timing, costs, bound.bindings, command.time);
    }
    if (command.data.wanted() && run.result.outcome != SimResult::Outcome::CutOff) {
      // The same run once more, so that there may be a trace of it, too: half of it says nothing.
      EndsOnSignals untilRecorded;
      CommitRecorder recorder(kernel, timing);
      options.stop = nullptr;
      options.observer = &recorder;
      options.criticalPath = false;
      simulate(kernel, subject.code, machine, timing, costs, bound.bindings, options);
      run.commits = recorder.inOrder();
    }
    if (writer) {
      finishTrace(*file, *writer, run.result);
    }
    return run;
  }

  /// What else the trace says of its run.
  std::string runFacts() const {
    Json facts = reasonsJson(subject.code, session);
    facts.update(valuesJson(bound));
    facts["seed"] = command.time.seed;
    facts["command"] = commandOf(session, bound);
    return membersText(facts);
  }

  void finishTrace(WholeFile &file, TraceWriter &writer, const SimResult &result) const {
    if (!writer.finish(result)) {
      tellNote(fmt::format("the trace ends at {} of {}, where its limit of {} is met; "
                           "--trace-limit sets another",
                           timeText(writer.lastTick()), timeText(result.total),
                           command.traceLimit));
    }
    std::string problem = file.commit();
    if (!problem.empty()) {
      fail(fmt::format("cannot write '{}': {}", tracePath, problem), tracePath);
    }
  }

  const SimCommand &command;
  Session &session;
  const Subject &subject;
  const Kernel &kernel;
  const BoundRun &bound;
  const std::string tracePath;
};

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

std::vector<std::string> reasonsOf(const Kernel &kernel, const Code &code, const Op &op) {
  std::vector<std::string> names;
  for (DepId id : std::span(code.reasons).subspan(op.firstReason, op.numReasons)) {
    const Dep &dep = kernel.deps[id];
    names.push_back(
        fmt::format("{} -> {}", kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer)));
  }
  return names;
}

IdVector<EngineId, std::vector<Standing>> standingsOf(const Kernel &kernel, const Code &code) {
  IdVector<EngineId, std::vector<Standing>> standings;
  for (EngineId engine : kernel.engines.ids()) {
    standings.push(standingsOn(kernel, code.engines[engine].ops));
  }
  return standings;
}

/// An operation by what it is there for: the instruction that it issues or precedes.
std::string purposeOf(const Kernel &kernel, const Code &code, EngineId engine, uint32_t index,
                      Standing standing) {
  const std::vector<Op> &ops = code.engines[engine].ops;
  const Op &op = ops[index];
  switch (op.kind) {
  case OpKind::Issue:
    return fmt::format("'{}'", kernel.nameOf(op.instr()));
  case OpKind::Wait:
    return fmt::format("wait for '{}'", code.semaphores[op.wait].name);
  case OpKind::Signal:
    return fmt::format("signal '{}'", code.semaphores[op.signal].name);
  case OpKind::Drain:
    return "drain";
  default:
    return index + 1 == ops.size() ? "the end" : standingText(kernel, standing, "an operation");
  }
}

std::string percentOf(Tick part, Tick whole) {
  return fmt::format("{}%", whole == 0 ? 0 : (part * 100 + whole / 2) / whole);
}

/// A part of the time of a run.
Cell shareOf(Tick part, const SimResult &result) {
  return {percentOf(part, result.total), part};
}

std::string_view outcomeName(SimResult::Outcome outcome) {
  return outcome == SimResult::Outcome::Finished   ? "finished"
         : outcome == SimResult::Outcome::Deadlock ? "deadlock"
                                                   : "cut off";
}

/// A bound, how much of the time of a whole run it is, and what it keeps.
std::string boundLine(std::string_view name, Tick bound, const SimResult &result,
                      const std::string &keeps) {
  bool isWhole = result.outcome == SimResult::Outcome::Finished;
  return fmt::format("{:<6} {:>12} {:>6}  {}\n", name, timeText(bound),
                     isWhole ? percentOf(bound, result.total) : "-", keeps);
}

void addBounds(Result &output, const Kernel &kernel, const SimResult &result,
               const TimeBounds &bounds) {
  Json object = Json::object();
  output.text += "\nbounds, of this time\n";
  if (bounds.ideal) {
    object["ideal_ps"] = *bounds.ideal;
    output.text += boundLine("ideal", *bounds.ideal, result, describeIdeal(bounds));
  } else {
    output.text += "ideal: not known; '--sync=ideal' says why\n";
  }
  if (bounds.floor) {
    object["floor_ps"] = bounds.floor->total;
    object["floor_by"] = toString(bounds.floor->by);
    if (bounds.floor->queue.valid()) {
      object["floor_queue"] = kernel.nameOf(bounds.floor->queue);
    }
    output.text +=
        boundLine("floor", bounds.floor->total, result, describeFloor(kernel, *bounds.floor));
  } else {
    output.text += "floor: not known; the run is too long\n";
  }
  output.addMembers({{"bounds", object}});
}

/// A run, and where its time went.
void addRun(Result &output, const Session &session, const Kernel &kernel, const Code &code,
            const BoundRun &bound, const TimeOptions &time, const Run &run, size_t top) {
  const SimResult &result = run.result;
  output.part();
  Json object = subjectJson(kernel, code, session);
  object.update(valuesJson(bound));
  object.update({{"seed", time.seed},
                 {"setting", run.setting},
                 {"outcome", outcomeName(result.outcome)},
                 {"total_ps", result.total},
                 {"operations", result.operations},
                 {"instructions", result.instructions}});
  output.add(fmt::format("{}\n{}total {}, {}, {}\n", subjectText(kernel, code, session),
                         valuesText(bound) + time.changesText(), timeText(result.total),
                         counted(result.operations, "operation"),
                         counted(result.instructions, "instruction")),
             object);
  if (run.bounds) {
    addBounds(output, kernel, result, *run.bounds);
  }
  Table waits = waitTable(kernel, code, result);
  Table path = pathTable(kernel, code, result);
  output.addTable("engines", "\n", sequencerTable(kernel, result));
  output.addTable("queues", "\n", queueTable(kernel, result));
  output.addTable("waits", waits.size() == 0 ? "" : "\nwaiting, longest first\n", waits, top);
  output.addTable("critical_path", path.size() == 0 ? "" : "\ncritical path, largest parts first\n",
                  path, top);
  if (result.outcome == SimResult::Outcome::Deadlock) {
    std::string why = describeDeadlock(kernel, code, result);
    output.addMembers({{"deadlock", why}});
    output.text += "\ndeadlock; " + why;
  } else if (result.outcome == SimResult::Outcome::CutOff) {
    output.text += "\ncut off; times are those so far\n";
  }
}

/// One line for each value; the first is what the others are compared with.
std::string sweepText(const Sweep &sweep, const std::vector<Run> &runs) {
  Table table({{"", sweep.name, -28, ""}, {"", "total", 14}, {"", "ratio", 8}, {""}});
  const Tick first = runs[0].result.total;
  for (const Run &run : runs) {
    const SimResult &result = run.result;
    double ratio = first == 0 ? 0 : double(result.total) / double(first);
    bool isFinished = result.outcome == SimResult::Outcome::Finished;
    table.add({run.setting.substr(sweep.name.size() + 1), timeText(result.total),
               fmt::format("{:.3f}", ratio),
               isFinished ? Cell() : Cell(outcomeName(result.outcome))});
  }
  return table.text();
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

void SimCommand::addAdvice(Result &output, const LoadedKernel &loaded, Session &session,
                           const BoundRun &bound) const {
  std::optional<Advice> advice = adviceOn(loaded, session, bound, time, 1);
  if (!advice) {
    end();
  }
  ShownAdvice found = shown(loaded.kernel, *advice, top);
  output.addMembers({{"advice", std::move(found.members)}});
  output.text += found.text;
}

int SimCommand::run() {
  Session session(time.subject.common, time.settings);
  const Machine &machine = session.machine();
  Sweep values = parseSweep(machine, sweep);
  for (const std::string &setting : time.settings) {
    if (setting.substr(0, setting.find('=')) == values.name) {
      fail(fmt::format("'--set={}' has no effect together with '--sweep={}', which sets the same",
                       setting, sweep));
    }
  }
  std::vector<LoadedKernel> kernels = session.load();
  const std::vector<LoadedKernel> asLoaded = advises ? kernels : std::vector<LoadedKernel>();
  std::vector<Subject> subjects = orEnd(timedSubjects(std::move(kernels), time.subject, session));
  if (advises) {
    refuseAdvice(subjects);
  }
  time.subject.stop = stopOnSignals(); // up to here nothing is known
  Result output(format, "tally-sim", 2, "runs");
  Exit status = Exit::Yes;
  std::vector<RunOptions> given = session.divide(subjects, time.subject.values);
  uint32_t numKernels = 0;
  for (const Subject &one : subjects) {
    const BoundRun bound = session.bind(one.kernel, given[numKernels]);
    const Bindings &bindings = bound.bindings;
    output.repeatWith(session, &bound);
    if (!session.tilesStay(one.kernel, bindings)) {
      end(Exit::No);
    }
    OneSim sim(*this, session, one, bound, numberedPath(trace, ++numKernels));
    std::vector<Run> runs;
    for (const std::string &assignment : values.assignments) {
      Run run = sim.run(machine, assignment, runs.empty());
      Exit ending = exitOf(run.result);
      if (sweep.empty() || format == "json") {
        addRun(output, session, one.kernel, one.code, bound, time, run, top);
      }
      if (data.wanted() && ending == Exit::Undecided) {
        tellNote("the run was cut off, so nothing is said about its data");
      } else if (data.wanted()) {
        DataReport report = followData(session, one.kernel, bindings, run.commits, data);
        output.addMembers({{"data", report.json}});
        output.text += report.text;
        status = both(status, report.status);
      }
      status = both(status, ending);
      runs.push_back(std::move(run));
    }
    if (!sweep.empty()) {
      output.part();
      output.text += fmt::format("{}\n{}{}", subjectText(one.kernel, one.code, session),
                                 valuesText(bound) + time.changesText(), sweepText(values, runs));
    }
    if (advises && runs.front().result.outcome == SimResult::Outcome::Finished) {
      addAdvice(output, asLoaded[numKernels - 1], session, bound);
    }
  }
  tellInterrupt();
  return output.print(status);
}

void SimCommand::declareOn(CLI::App &command) {
  CheckOptions &subject = time.subject;
  subject.addInput(command, "a file with the same kernel and its code; without one, the code in "
                            "the kernel's file, or compiled code");
  subject.common.addStrategy(command, allWords<Strategy>());
  time.add(command);
  declare(
      command,
      {{"--sweep", sweep, "one run for each value: ctl.alu=0,20,40; without values, over its range",
        writtenAs("PRICE=VALUES")},
       {"--bounds", bounds,
        "also the two bounds: what the same order of instructions can reach, and what any can"},
       {"--advise", advises,
        "also what binds the run and what would help, as 'tally advise' finds it"},
       {"--trace", trace,
        "write a trace for ui.perfetto.dev to this file; those of further kernels get -2, -3, "
        "...",
        onlyFile()},
       {"--trace-limit", traceLimit, "the largest size of the trace: 10MB, 2GB", writtenAs("SIZE"),
        sizeOption()},
       {"--top", top, "how many lines to show for waits and for the critical path", integerIn(0)},
       formatOption(format)});
  data.add(command);
  goesNotWith(command,
              {"--bounds", "--advise", "--trace", "--data", "--check-data", "--inputs", "--outputs",
               "--random"},
              "--sweep");
  goesWith(command, {"--trace-limit"}, "--trace");
  refuseIf(command, {"--top"}, "with '--format=json', which lists all, or with '--sweep'",
           [this] { return format == "json" || !sweep.empty(); });
  refuseIf(command, {"--data-seed"}, "unless data are followed, as by '--check-data'",
           [this] { return !data.wanted(); });
  subject.refuseIdleStrategy(command);
}

constexpr const char *examples = R"(Examples:
  tally sim k.mlir --trips=A=64                  how long, and where the time goes
  tally sim k.mlir --sync=barrier --trace=b.json the baseline, for ui.perfetto.dev
  tally sim k.mlir --sync=ideal                  the bound: synchronisation is free
  tally sim k.mlir --bounds                      how far from the bounds is this?
  tally sim k.mlir --advise                      and what would make it faster?
  tally sim k.mlir code.mlir --machine=trn2      code written by hand
  tally sim k.mlir --set=sem.wake=50ns           another price
  tally sim k.mlir --sweep=ctl.alu=0,20,40,80    the total for each of these
  tally sim k.mlir --check-data --seed=7         are the numbers those of the sequential run?
  tally sim k.mlir --inputs=in --outputs=out     NumPy arrays in, NumPy arrays out

Ctrl-C cuts the run off; the trace then ends there.

Exit status: 0 the run ends, 1 deadlock or wrong data, 2 cut off, wrong input or not possible.)";

} // namespace

Table sequencerTable(const Kernel &kernel, const SimResult &result) {
  Table table({{"engine", "sequencer", -12, ""},
               {"control_ps", "control", 9},
               {"waiting_ps", "waiting", 9},
               {"queue_full_ps", "queue full", 11},
               {"draining_ps", "draining", 9},
               {"done_ps", "done", 9}});
  for (EngineId id : kernel.engines.ids()) {
    const EngineStats &e = result.engines[id];
    table.add({kernel.nameOf(id), shareOf(e.control, result), shareOf(e.waiting, result),
               shareOf(e.queueFull, result), shareOf(e.draining, result), shareOf(e.done, result)});
  }
  return table;
}

Table queueTable(const Kernel &kernel, const SimResult &result) {
  Table table({{"queue", "queue", -12, ""},
               {"instructions", "instructions", 12},
               {"busy_ps", "busy", 9},
               {"occupied_ps", "occupied", 11}});
  for (QueueId id : kernel.queues.ids()) {
    const QueueStats &q = result.queues[id];
    table.add(
        {kernel.nameOf(id), q.instructions, shareOf(q.busy, result), shareOf(q.occupied, result)});
    if (q.instructions == 0) {
      table.hideLast();
    }
  }
  return table;
}

namespace {

/// All waits of one operation, or what it has of one kind on the critical path.
struct Share {
  EngineId engine;
  uint32_t op = 0;
  Tick span = 0;
  uint64_t runs = 0;
  PathKind kind = PathKind::Control;
};

/// The longest first.
std::vector<Share> sorted(std::vector<Share> shares) {
  std::erase_if(shares, [](const Share &share) { return share.span == 0; });
  std::ranges::stable_sort(shares, std::greater(), &Share::span);
  return shares;
}

} // namespace

Table waitTable(const Kernel &kernel, const Code &code, const SimResult &result) {
  std::vector<Share> shares;
  for (EngineId engine : kernel.engines.ids()) {
    const std::vector<OpStats> &ops = result.engines[engine].ops;
    for (uint32_t op = 0; op < ops.size(); ++op) {
      shares.push_back({engine, op, ops[op].waiting, ops[op].runs, {}});
    }
  }
  Table table({{"", "", 5, ""},
               {"engine", "", 0, "  "},
               {"operation"},
               {"before", "", 0, " at "},
               {"semaphore", "", 0, " for '"},
               {"dependences", "", 0, "'"},
               {"runs"},
               {"waiting_ps"},
               {"loc", "", 0, "  "}});
  const auto places = placesOf(kernel, code);
  const auto standings = standingsOf(kernel, code);
  for (const Share &share : sorted(std::move(shares))) {
    const Op &op = code.engines[share.engine].ops[share.op];
    std::vector<std::string> reasons = reasonsOf(kernel, code, op);
    Standing standing = standings[share.engine][share.op];
    std::string purpose = purposeOf(kernel, code, share.engine, share.op, standing);
    bool isOwn = op.kind == OpKind::Wait; // the semaphore follows anyway
    table.add(
        {shareOf(share.span, result),
         kernel.nameOf(share.engine),
         Cell::hidden(share.op),
         {isOwn ? standingText(kernel, standing, "a wait") : purpose, purpose},
         code.semaphores[op.wait].name,
         {fmt::format("{}{}", reasons.empty() ? "" : ": ", fmt::join(reasons, ", ")), reasons},
         Cell::hidden(share.runs),
         Cell::hidden(share.span),
         sourceCell(kernel, places[share.engine][share.op])});
  }
  return table;
}

Table pathTable(const Kernel &kernel, const Code &code, const SimResult &result) {
  std::vector<Share> shares;
  for (const PathShare &share : result.path) {
    for (size_t kind = 0; kind < numPathKinds; ++kind) {
      shares.push_back({share.engine, share.op, share.spans[kind], 0, PathKind(kind)});
    }
  }
  Table table({{"", "", 5, ""},
               {"", "", 0, "  "},
               {"engine", "", 0, " on "},
               {"operation"},
               {"what", "", 0, ": "},
               {"kind"},
               {"span_ps"},
               {"loc", "", 0, "  "}});
  const auto places = placesOf(kernel, code);
  const auto standings = standingsOf(kernel, code);
  for (const Share &share : sorted(std::move(shares))) {
    table.add({shareOf(share.span, result), toString(share.kind), kernel.nameOf(share.engine),
               Cell::hidden(share.op),
               purposeOf(kernel, code, share.engine, share.op, standings[share.engine][share.op]),
               Cell::hidden(toString(share.kind)), Cell::hidden(share.span),
               sourceCell(kernel, places[share.engine][share.op])});
  }
  return table;
}

void addSim(CLI::App &app) {
  addCommand<SimCommand>(app, {"sim", "How long code takes on a machine, and why", examples});
}

} // namespace tally::tool
