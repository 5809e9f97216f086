//===- SimCommand.cpp - tally sim -----------------------------------------===//
//
// How long does this code take on this machine, and where does the time go?
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"
#include "Options.h"
#include "SimData.h"
#include "Tables.h"
#include "TimedSubject.h"

#include "tally/Sim/Commits.h"
#include "tally/Sim/Trace.h"
#include "tally/Support/WholeFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace tally::tool {
namespace {

struct SimCommand {
  CheckOptions subject; ///< kernel, code, strategy, machine
  RunOptions values;
  std::vector<std::string> settings;
  std::string sweep;
  uint64_t seed = 0;
  uint32_t jitter = 25;
  uint64_t maxOperations = 10'000'000'000;
  std::string trace;
  std::string traceLimit = "256MB";
  size_t top = 8;
  std::string format = "text";
  DataOptions data;
  const StopFlag *stop = nullptr;

  int run() const;
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
std::optional<Sweep> parseSweep(const Machine &machine, const std::string &text) {
  Sweep sweep;
  if (text.empty()) {
    return sweep;
  }
  sweep.name = text.substr(0, text.find('='));
  sweep.assignments.clear();
  const Parameter *parameter = machine.parameter(sweep.name);
  if (!parameter) {
    complain(unknownParameter(machine, sweep.name));
    return std::nullopt;
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
    complain(fmt::format("machine '{}' gives no range for '{}'; write --sweep={}=1,2,3",
                         machine.name, text, text));
    return std::nullopt;
  }
  for (double value : {parameter->range->first, parameter->number, parameter->range->second}) {
    sweep.assignments.push_back(fmt::format("{}={}", text, value));
  }
  return sweep;
}

/// `12.345 us`
std::string spanText(Tick span) {
  return fmt::format("{}.{:03} us", span / 1'000'000, span % 1'000'000 / 1000);
}

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

struct Run {
  std::string setting; ///< of the sweep
  SimResult result;
  std::vector<Instance> commits; ///< in order; only to follow data
};

/// All waits of one operation, or of one kind of the critical path.
struct Share {
  EngineId engine;
  uint32_t op = 0;
  Tick span = 0;
  uint64_t runs = 0;
  PathKind kind = PathKind::Control;
};

class OneSim {
public:
  OneSim(const SimCommand &command, const Subject &subject, const Bindings &bindings,
         std::string tracePath)
      : command(command), subject(subject), kernel(subject.kernel), bindings(bindings),
        tracePath(std::move(tracePath)) {}

  /// None, with the reasons reported, if the machine does not say what things cost.
  std::optional<Run> run(Session &session, Machine machine, const std::string &setting,
                         bool isFirst) const {
    if (!setting.empty()) {
      std::string error = setParameter(machine, setting);
      if (!error.empty()) {
        complain(error);
        return std::nullopt;
      }
    }
    std::vector<std::string> errors;
    std::optional<Timing> timing = Timing::of(machine, errors);
    for (const std::string &error : errors) {
      complain(error);
    }
    Diagnostics diagnostics;
    std::optional<InstrCosts> costs =
        timing ? instructionCosts(kernel, *timing, diagnostics) : std::nullopt;
    if (isFirst || diagnostics.hasErrors()) {
      session.report(kernel, diagnostics);
    }
    return costs ? simulateIt(machine, *timing, *costs, setting) : std::nullopt;
  }

  std::string text(const SimResult &result) const;
  Json json(const Run &run) const;

private:
  std::optional<Run> simulateIt(const Machine &machine, const Timing &timing,
                                const InstrCosts &costs, const std::string &setting) const {
    SimOptions options;
    options.seed = command.seed;
    options.jitterPercent = command.jitter;
    options.freeSync = subject.code.strategy == Strategy::Ideal;
    options.maxOperations = command.maxOperations;
    options.criticalPath = true;
    options.stop = command.stop;
    std::optional<WholeFile> file;
    std::optional<TraceWriter> writer;
    if (!command.trace.empty()) {
      file.emplace(tracePath);
      writer.emplace(file->stream(), kernel, subject.code, *sizeFrom(command.traceLimit));
      options.observer = &*writer;
      if (writer->leastBytes() > *sizeFrom(command.traceLimit)) {
        complain(fmt::format("--trace-limit: a trace of this kernel has at least {} bytes, but its "
                             "limit is {}",
                             writer->leastBytes(), command.traceLimit));
        return std::nullopt;
      }
    }
    Run run{setting, simulate(kernel, subject.code, machine, timing, costs, bindings, options), {}};
    if (command.data.wanted() && run.result.outcome != SimResult::Outcome::CutOff) {
      CommitRecorder recorder(
          kernel, timing); // the same run once more, so that there may be a trace of it, too
      SimOptions again = options;
      again.observer = &recorder;
      again.criticalPath = false;
      simulate(kernel, subject.code, machine, timing, costs, bindings, again);
      run.commits = recorder.inOrder();
    }
    if (writer && !finishTrace(*file, *writer, run.result)) {
      return std::nullopt;
    }
    return run;
  }

  /// False, with the reason reported, if it cannot be written.
  bool finishTrace(WholeFile &file, TraceWriter &writer, const SimResult &result) const {
    if (!writer.finish(result)) {
      tellNote(fmt::format("the trace ends at {} of {}, where its limit of {} is met; "
                           "--trace-limit sets another",
                           spanText(writer.lastTick()), spanText(result.total),
                           command.traceLimit));
    }
    std::string problem = file.commit();
    if (!problem.empty()) {
      complain(fmt::format("cannot write '{}': {}", tracePath, problem), tracePath);
    }
    return problem.empty();
  }

  std::vector<Share> waits(const SimResult &result) const;
  std::vector<Share> path(const SimResult &result) const;
  std::string operationName(EngineId engine, uint32_t index) const;
  std::vector<std::string> reasonsOf(const Op &op) const;

  const Op &opAt(const Share &share) const {
    return subject.code.engines[share.engine].ops[share.op];
  }

  const SimCommand &command;
  const Subject &subject;
  const Kernel &kernel;
  const Bindings &bindings;
  const std::string tracePath;
};

void sortBySpan(std::vector<Share> &shares) {
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share &a, const Share &b) { return a.span > b.span; });
}

std::vector<Share> OneSim::waits(const SimResult &result) const {
  std::vector<Share> shares;
  for (EngineId engine : kernel.engines.ids()) {
    const std::vector<OpStats> &ops = result.engines[engine].ops;
    for (uint32_t op = 0; op < ops.size(); ++op) {
      if (ops[op].waiting > 0) {
        shares.push_back({engine, op, ops[op].waiting, ops[op].runs, {}});
      }
    }
  }
  sortBySpan(shares);
  return shares;
}

std::vector<Share> OneSim::path(const SimResult &result) const {
  std::vector<Share> shares;
  for (const PathShare &share : result.path) {
    for (size_t kind = 0; kind < numPathKinds; ++kind) {
      if (share.spans[kind] > 0) {
        shares.push_back({share.engine, share.op, share.spans[kind], 0, PathKind(kind)});
      }
    }
  }
  sortBySpan(shares);
  return shares;
}

std::vector<std::string> OneSim::reasonsOf(const Op &op) const {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < op.numReasons; ++i) {
    const Dep &dep = kernel.deps[subject.code.reasons[op.firstReason + i]];
    names.push_back(
        fmt::format("{} -> {}", kernel.nameOf(dep.producer), kernel.nameOf(dep.consumer)));
  }
  return names;
}

/// An operation by what it is there for: the instruction that it issues or precedes.
std::string OneSim::operationName(EngineId engine, uint32_t index) const {
  const std::vector<Op> &ops = subject.code.engines[engine].ops;
  const Op &op = ops[index];
  switch (op.kind) {
  case OpKind::Issue:
    return fmt::format("'{}'", kernel.nameOf(op.instr()));
  case OpKind::Wait:
    return fmt::format("wait for '{}'", subject.code.semaphores[op.wait].name);
  case OpKind::Signal:
    return fmt::format("signal '{}'", subject.code.semaphores[op.signal].name);
  case OpKind::Drain:
    return "drain";
  default:
    return index + 1 == ops.size() ? "the end" : fmt::format("operation {}", index);
  }
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

int percent(Tick part, Tick whole) {
  return whole == 0 ? 0 : static_cast<int>((part * 100 + whole / 2) / whole);
}

std::string_view outcomeName(SimResult::Outcome outcome) {
  return outcome == SimResult::Outcome::Finished   ? "finished"
         : outcome == SimResult::Outcome::Deadlock ? "deadlock"
                                                   : "cut off";
}

/// A part of the time of a run.
Cell shareOf(Tick part, const SimResult &result) {
  return {fmt::format("{}%", percent(part, result.total)), part};
}

std::string OneSim::text(const SimResult &result) const {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "total {}, {} operations, {} instructions\n\n", spanText(result.total),
                 result.operations, result.instructions);
  text += sequencerTable(kernel, result).text() + "\n" + queueTable(kernel, result).text();
  std::vector<Share> longest = waits(result);
  text += longest.empty() ? "" : "\nwaiting, longest first\n";
  for (size_t i = 0; i < std::min(longest.size(), command.top); ++i) {
    const Op &op = opAt(longest[i]);
    fmt::format_to(out, "{:>4}%  {} at {} for '{}'{}{}\n", percent(longest[i].span, result.total),
                   kernel.nameOf(longest[i].engine),
                   operationName(longest[i].engine, longest[i].op),
                   subject.code.semaphores[op.wait].name, op.numReasons > 0 ? ": " : "",
                   fmt::join(reasonsOf(op), ", "));
  }
  std::vector<Share> steps = path(result);
  text += steps.empty() ? "" : "\ncritical path, largest parts first\n";
  for (size_t i = 0; i < std::min(steps.size(), command.top); ++i) {
    fmt::format_to(out, "{:>4}%  {} on {}: {}\n", percent(steps[i].span, result.total),
                   toString(steps[i].kind), kernel.nameOf(steps[i].engine),
                   operationName(steps[i].engine, steps[i].op));
  }
  if (result.outcome == SimResult::Outcome::Deadlock) {
    text += "\ndeadlock; " + describeDeadlock(kernel, subject.code, result);
  }
  return text + (result.outcome == SimResult::Outcome::CutOff
                     ? "\ncut off; times are those so far\n"
                     : "");
}

Json OneSim::json(const Run &run) const {
  const SimResult &result = run.result;
  Json row{{"kernel", kernel.text(kernel.name)},        {"strategy", toString(subject.code.strategy)},
           {"machine", command.subject.common.machine}, {"setting", run.setting},
           {"outcome", outcomeName(result.outcome)},    {"total_ps", result.total},
           {"operations", result.operations},           {"instructions", result.instructions}};
  row["engines"] = sequencerTable(kernel, result).json();
  row["queues"] = queueTable(kernel, result).json();
  row["waits"] = Json::array();
  for (const Share &share : waits(result)) {
    row["waits"].push_back({{"engine", kernel.nameOf(share.engine)},
                            {"operation", share.op},
                            {"before", operationName(share.engine, share.op)},
                            {"semaphore", subject.code.semaphores[opAt(share).wait].name},
                            {"dependences", reasonsOf(opAt(share))},
                            {"runs", share.runs},
                            {"waiting_ps", share.span}});
  }
  row["critical_path"] = Json::array();
  for (const Share &share : path(result)) {
    row["critical_path"].push_back({{"engine", kernel.nameOf(share.engine)},
                                    {"operation", share.op},
                                    {"what", operationName(share.engine, share.op)},
                                    {"kind", toString(share.kind)},
                                    {"span_ps", share.span}});
  }
  if (result.outcome == SimResult::Outcome::Deadlock) {
    row["deadlock"] = describeDeadlock(kernel, subject.code, result);
  }
  return row;
}

/// One line for each value; the first is what the others are compared with.
std::string sweepText(const Sweep &sweep, const std::vector<Run> &runs) {
  std::string text = fmt::format("{:<28} {:>14} {:>8}\n", sweep.name, "total", "ratio");
  for (const Run &run : runs) {
    fmt::format_to(
        std::back_inserter(text), "{:<28} {:>14} {:>8.3f}{}\n",
        run.setting.substr(sweep.name.size() + 1), spanText(run.result.total),
        runs[0].result.total == 0 ? 0 : double(run.result.total) / double(runs[0].result.total),
        run.result.outcome == SimResult::Outcome::Finished
            ? ""
            : fmt::format(" {}", outcomeName(run.result.outcome)));
  }
  return text;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

int SimCommand::run() const {
  Session session;
  std::optional<Machine> machine = session.machine(subject.common, settings);
  std::optional<Sweep> values = machine ? parseSweep(*machine, sweep) : std::nullopt;
  if (!values) {
    return Exit::Undecided;
  }
  std::optional<std::vector<Subject>> subjects = timedSubjects(subject, session, *machine);
  if (!subjects) {
    return Exit::Undecided;
  }
  std::string text;
  Json document = {{"schema", "tally-sim"}, {"version", 2}, {"runs", Json::array()}};
  Exit status = Exit::Yes;
  uint32_t numKernels = 0;
  for (const Subject &one : *subjects) {
    std::optional<Bindings> bindings = session.bindings(one.kernel, this->values);
    if (!bindings) {
      return Exit::Undecided;
    }
    if (!session.tilesStay(one.kernel, *bindings)) {
      return Exit::No;
    }
    OneSim sim(*this, one, *bindings, numberedPath(trace, ++numKernels));
    std::vector<Run> runs;
    std::string dataText;
    for (const std::string &assignment : values->assignments) {
      std::optional<Run> run = sim.run(session, *machine, assignment, runs.empty());
      if (!run) {
        return Exit::Undecided;
      }
      document["runs"].push_back(sim.json(*run));
      std::optional<DataReport> data;
      bool isCutOff = run->result.outcome == SimResult::Outcome::CutOff;
      if (this->data.wanted() && isCutOff) {
        tellNote("the run was cut off, so nothing is said about its data");
      } else if (this->data.wanted()) {
        data = followData(session, one.kernel, *bindings, run->commits, this->data);
        if (!data) {
          return Exit::Undecided;
        }
        document["runs"].back()["data"] = data->json;
        status = both(status, !data->isRight      ? Exit::No
                              : !data->isCompared ? Exit::Undecided
                                                  : Exit::Yes);
        dataText = data->text;
      }
      bool isStuck = run->result.outcome == SimResult::Outcome::Deadlock;
      status = both(status, isCutOff ? Exit::Undecided : isStuck ? Exit::No : Exit::Yes);
      runs.push_back(std::move(*run));
    }
    text +=
        fmt::format("{}kernel '{}', strategy '{}', machine '{}'\n", text.empty() ? "" : "\n",
                    one.kernel.text(one.kernel.name), toString(one.code.strategy), machine->name);
    text += sweep.empty() ? sim.text(runs[0].result) + dataText : sweepText(*values, runs);
  }
  tellInterrupt();
  bool written = writeOutput("-", format == "json" ? dump(document) + "\n" : text);
  return written ? status : Exit::Undecided;
}

constexpr const char *examples = R"(Examples:
  tally sim k.mlir --trips=A=64                  how long, and where the time goes
  tally sim k.mlir --sync=barrier --trace=b.json the baseline, for ui.perfetto.dev
  tally sim k.mlir --sync=ideal                  the bound: synchronisation is free
  tally sim k.mlir code.mlir --machine=trn2      code written by hand
  tally sim k.mlir --set=sem.wake=50ns           another price
  tally sim k.mlir --sweep=ctl.alu=0,20,40,80    the total for each of these
  tally sim k.mlir --check-data --seed=7         the numbers, as in the sequential run?
  tally sim k.mlir --inputs=in --outputs=out     arrays of NumPy in, arrays out

Ctrl-C cuts the run off; the trace is then closed where it ends.

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

void addSim(CLI::App &app, int &status) {
  auto command = std::make_shared<SimCommand>();
  command->subject.common.machine = "teaching";
  CLI::App *sub = app.add_subcommand("sim", "How long code takes on a machine, and why");
  sub->add_option("kernel", command->subject.common.input,
                  "kernel, perhaps with its code: MLIR text or bytecode, or .json; - is stdin")
      ->required();
  sub->add_option("code", command->subject.code,
                  "its code, beside the same kernel; none: what stands beside the kernel, or else "
                  "compile it");
  command->subject.common.addStrategy(*sub, allStrategyNames());
  command->subject.common.addMachine(*sub);
  command->values.add(*sub);
  sub->add_option("--set", command->settings, "change a price of the machine: ctl.alu=20ns")
      ->allow_extra_args(false);
  sub->add_option("--sweep", command->sweep,
                  "one run for each value: ctl.alu=0,20,40; without values, over its range");
  sub->add_option("--seed", command->seed, "not 0: random delays, from this seed")
      ->check(integerIn(0));
  sub->add_option("--jitter", command->jitter, "by up to so many percent")
      ->check(integerIn(0, 1000))
      ->capture_default_str();
  sub->add_option("--trace", command->trace,
                  "write a trace for ui.perfetto.dev to this file; those of further kernels get "
                  "-2, -3, ...");
  sub->add_option("--trace-limit", command->traceLimit, "its size, at most: 10MB, 2GB")
      ->check(sizeOption())
      ->capture_default_str();
  sub->add_option("--max-operations", command->maxOperations, "cut the run off after so many")
      ->check(integerIn(1))
      ->capture_default_str();
  sub->add_option("--top", command->top, "lines for waits and the critical path")
      ->check(integerIn(0))
      ->capture_default_str();
  sub->add_option("--format", command->format, "text or json")
      ->check(formatIn({"text", "json"}))
      ->capture_default_str();
  command->data.add(*sub);
  goesNotWith(*sub, {"--trace", "--data", "--check-data", "--inputs", "--outputs", "--random"},
              "--sweep");
  goesWith(*sub, {"--trace-limit"}, "--trace");
  goesWith(*sub, {"--jitter"}, "--seed");
  refuseIf(*sub, {"--top"}, "with '--format=json', which lists all, or beside '--sweep'",
           [command] { return command->format == "json" || !command->sweep.empty(); });
  refuseIf(*sub, {"--data-seed"}, "unless data are followed, as by '--check-data'",
           [command] { return !command->data.wanted(); });
  refuseIf(*sub, {"--sync"}, "where code is given in a file, unless it is 'manual'", [command] {
    return !command->subject.code.empty() &&
           command->subject.common.strategy != toString(Strategy::Manual);
  });
  sub->footer(examples);
  sub->callback([command, sub, &status] {
    command->subject.strategyGiven = sub->count("--sync") != 0;
    command->stop = stopOnSignals();
    status = command->run();
  });
}

} // namespace tally::tool
