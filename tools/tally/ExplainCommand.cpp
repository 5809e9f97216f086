//===- ExplainCommand.cpp - tally explain ---------------------------------===//
//
// Every wait of one instruction: for which dependence, by which rule, and the values that it
// takes in a run with given trips; and what it need not wait for.
//
//===----------------------------------------------------------------------===//

#include "ExplainOrder.h"
#include "Result.h"
#include "TimedSubject.h"

#include "tally/Deps/Implied.h"
#include "tally/Deps/NoWait.h"
#include "tally/Deps/Render.h"
#include "tally/Model/Source.h"
#include "tally/Run/Interpret.h"
#include "tally/Run/KernelCursor.h"
#include "tally/Support/Counted.h"
#include "tally/Support/Names.h"
#include "tally/Sync/Explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tally::tool {
namespace {

struct ExplainCommand {
  CommonOptions common;
  std::string instruction;
  RunOptions values;
  uint32_t rows = 12;
  std::string format = "text";

  void declareOn(CLI::App &command) {
    common.addInput(command);
    declare(command,
            {{"--instr", instruction, "name of the instruction", required, writtenAs("NAME")}});
    common.addStrategy(command, plannedStrategies());
    common.addMachine(command);
    values.add(command);
    declare(command, {{"--rows", rows, "how many values to show at most", integerIn(1, 1'000'000)},
                      formatOption(format)});
  }

  int run() const;

private:
  void explainIn(Session &session, const LoadedKernel &loaded, InstrId instr,
                 const RunOptions &given, Result &result) const;
};

/// The values of one run of the instruction.
struct WaitRow {
  std::string iteration;
  std::vector<uint64_t> thresholds; ///< by column; 0: no wait
};

/// The waits that stand before an instruction in the code, and their values.
struct CodeWaits {
  std::vector<const Op *> waits; ///< one for each column: the first with its semaphore
  std::vector<WaitRow> rows;
  bool more = false; ///< the instruction runs more often than there are rows

  /// Of the n-th wait on a semaphore in one run. Written-out code has operations of its own for
  /// each run, and not the same ones.
  size_t columnOf(const Op &wait, size_t n) {
    for (size_t column = 0; column < waits.size(); ++column) {
      if (waits[column]->wait == wait.wait && n-- == 0) {
        return column;
      }
    }
    waits.push_back(&wait);
    return waits.size() - 1;
  }

  void add(std::string iteration, const std::vector<std::pair<const Op *, uint64_t>> &values) {
    WaitRow row{std::move(iteration), {}};
    for (size_t i = 0; i < values.size(); ++i) {
      size_t before = std::count_if(
          values.begin(), values.begin() + static_cast<ptrdiff_t>(i),
          [&](const auto &value) { return value.first->wait == values[i].first->wait; });
      size_t column = columnOf(*values[i].first, before);
      row.thresholds.resize(std::max(row.thresholds.size(), column + 1));
      row.thresholds[column] = values[i].second;
    }
    rows.push_back(std::move(row));
  }
};

/// Of the next run of the instruction in the kernel: written-out code has no loops to tell it by.
std::string iterationOf(const Kernel &kernel, KernelCursor &sequence, InstrId instr) {
  while (sequence.nextRun() && sequence.instr() != instr) {
  }
  std::vector<LoopIteration> around;
  for (LoopId loop : kernel.realLoops(kernel.instrs[instr].home)) {
    around.push_back({loop, static_cast<uint64_t>(sequence.index(loop).iteration)});
  }
  return around.empty() ? "-" : iterationText(kernel, around);
}

CodeWaits valuesOf(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Bindings &bindings, InstrId instr, uint32_t maxRows) {
  CodeWaits result;
  EngineRun run(kernel, code, machine, bindings, kernel.engineOf(instr));
  run.setFuel(10'000'000);
  Fuel fuel(10'000'000);
  KernelCursor sequence(kernel, bindings, kernel.engineOf(instr), fuel);
  std::vector<std::pair<const Op *, uint64_t>> values;
  while (const Op *op = run.next()) {
    if (op->wait.valid()) {
      values.emplace_back(op, run.value(op->a));
    }
    if (op->kind == OpKind::Issue && op->instr() == instr) {
      if (result.rows.size() == maxRows) {
        result.more = true;
        break;
      }
      result.add(iterationOf(kernel, sequence, instr), values);
    }
    if (op->kind != OpKind::Wait) {
      values.clear();
    }
  }
  for (WaitRow &row : result.rows) {
    row.thresholds.resize(result.waits.size());
  }
  return result;
}

/// A run in time; or none, and why.
std::optional<SimResult> timedRun(const Kernel &kernel, const Code &code, const Machine &machine,
                                  const Bindings &bindings, std::string &why) {
  std::vector<std::string> untimed;
  Diagnostics unsaid;
  std::optional<Timing> timing = Timing::of(machine, untimed);
  std::optional<InstrCosts> costs =
      timing ? instructionCosts(kernel, *timing, unsaid) : std::nullopt;
  if (!costs) {
    why = "there is no run in time ('tally sim' says why)";
    return std::nullopt;
  }
  SimOptions options;
  options.maxOperations = 10'000'000;
  SimResult result = simulate(kernel, code, machine, *timing, *costs, bindings, options);
  if (result.outcome == SimResult::Outcome::Finished) {
    return result;
  }
  why =
      result.outcome == SimResult::Outcome::CutOff
          ? fmt::format("the run was cut off after {} operations; '--trips' chooses a shorter one",
                        options.maxOperations)
          : "the run is stuck ('tally check' says where)";
  return std::nullopt;
}

/// What there is about one instruction beyond its own waits.
struct Surroundings {
  std::vector<NoWait> noWaits; ///< if the dependences are found
  Extraction written;          ///< if they are written: which of them follow from the others
  IdVector<EngineId, std::vector<EngineWait>> engineWaits; ///< none without a run in time
  Tick total = 0;                                          ///< of that run
  std::string untimed;                                     ///< why there is none

  bool isTimed() const { return !engineWaits.empty(); }

  /// How long the run stood still where an instruction waited.
  Tick spanAt(const Kernel &kernel, InstrId instr) const {
    for (const EngineWait &wait : engineWaits[kernel.engineOf(instr)]) {
      if (wait.before == instr) {
        return wait.span;
      }
    }
    return 0;
  }
};

Surroundings aroundOf(const LoadedKernel &loaded, const Machine &machine, const Code &code,
                      const Bindings &bindings, InstrId instr) {
  const Kernel &kernel = loaded.kernel;
  Surroundings around;
  if (loaded.depsFound) {
    Extractor extractor;
    Extraction found = extractor.extract(kernel, {.queueOverlap = machine.queueOverlap});
    markImplied(kernel, found);
    around.noWaits = NoWaits(kernel, found, machine.queueOverlap, extractor).of(instr);
  } else {
    around.written = writtenDeps(kernel);
  }
  if (std::optional<SimResult> timed = timedRun(kernel, code, machine, bindings, around.untimed)) {
    for (EngineId engine : kernel.engines.ids()) {
      around.engineWaits.push(engineWaits(kernel, code, *timed, engine));
    }
    around.total = timed->total;
  }
  return around;
}

class ExplainReport {
public:
  ExplainReport(const Session &session, const Kernel &kernel, const Compiled &compiled,
                const BoundRun &run, InstrId instr, const CodeWaits &values,
                const Surroundings &around)
      : session(session), kernel(kernel), plan(compiled.plan), code(compiled.code), instr(instr),
        run(run), values(values), around(around) {}

  void addTo(Result &result) const {
    Table thresholds = thresholdTable();
    Json waits = Json::array();
    result.text +=
        fmt::format("instruction {} on queue '{}': {}\n", nameWithSource(kernel, instr),
                    kernel.nameOf(kernel.instrs[instr].queue), subjectText(kernel, code, session));
    result.text += valuesText(run);
    for (DepId dep : kernel.deps.ids()) {
      if (kernel.deps[dep].consumer == instr) {
        addDependence(dep, result.text, waits);
      }
    }
    result.text += waits.empty() ? "\nwaits for nothing\n" : "";
    if (!values.waits.empty()) {
      result.text += "\nvalues:\n" + thresholds.text() + (values.more ? "  ...\n" : "");
    }
    result.text += values.rows.empty() ? "\ndoes not run with these trips\n" : "";
    Json noWaits = addNoWaits(result.text);
    Json engineWaits = addEngineWaits(result.text);
    Json object = {{"instruction", kernel.nameOf(instr)}};
    addSource(object, kernel, kernel.instrs[instr].where);
    object.update(subjectJson(kernel, code, session));
    object.update(valuesJson(run));
    object.update({{"waits", std::move(waits)},
                   {"values", thresholds.json()},
                   {"needs_no_wait", std::move(noWaits)},
                   {"engine_waits", std::move(engineWaits)}});
    result.add(waitedForBy(), std::move(object));
  }

private:
  void addDependence(DepId dep, std::string &text, Json &waits) const {
    std::string_view kind = toString(kernel.deps[dep].kind);
    Table parts({{"", "", -10, "  "}, {""}});
    Json object = {{"dependence", describe(kernel, dep)}, {"id", dep.value}};
    addSource(object, kernel, kernel.deps[dep].where);
    for (const ExplainedPart &part : explainWait(kernel, plan, dep)) {
      parts.add({part.aspect, part.text});
      object[part.aspect] = part.text;
    }
    const bool isLeftOut = plan.waits[dep].waitClass == WaitClass::Implied;
    object["operations"] = waitCost(plan, session.machine(), dep);
    if (!isLeftOut) {
      parts.add(
          {"cost", fmt::format("{}, before sharing and hoisting",
                               counted(waitCost(plan, session.machine(), dep), "operation"))});
    }
    std::string standing = standingWait(dep);
    if (!standing.empty()) {
      parts.add({"in code", standing});
    }
    if (std::string because = impliedBy(dep); !because.empty()) {
      parts.add(
          {"implied", "by " + because +
                          (isLeftOut ? "" : ": the code is right without this dependence, too")});
      object["implied_by"] = because;
    }
    text += fmt::format("\n{} {}{}{}{}\n{}", isLeftOut ? "needs no wait for" : "waits for",
                        describe(kernel, dep), kind.empty() ? "" : " ", kind, source(dep),
                        parts.text());
    waits.push_back(std::move(object));
  }

  std::string source(DepId dep) const { return sourceText(kernel, kernel.deps[dep].where, "  "); }

  /// How the other dependences of a kernel imply one that it has written.
  std::string impliedBy(DepId dep) const {
    const Extraction &written = around.written;
    return written.deps.empty() || !written.deps[dep.value].isImplied()
               ? ""
               : derivationText(kernel, written, written.deps[dep.value]);
  }

  /// Which wait in the code does the work of this dependence.
  std::string standingWait(DepId dep) const {
    uint32_t number = 0; // of those at the instruction
    for (const Op *wait : values.waits) {
      const Op &op = *wait;
      const LoopId before = loopAfter(op);
      number += before.valid() ? 0 : 1;
      std::span reasons = std::span(code.reasons).subspan(op.firstReason, op.numReasons);
      if (std::ranges::find(reasons, dep) != reasons.end()) {
        std::string place = before.valid()
                                ? fmt::format("a wait before '{}', for all of its iterations",
                                              kernel.nameOf(before))
                                : fmt::format("wait {} of the instruction", number);
        return fmt::format("{}, on '{}'{}", place, code.semaphores[op.wait].name,
                           reasons.size() > 1 ? ", which also serves other dependences" : "");
      }
    }
    return "";
  }

  /// The outermost loop of the instruction that begins after one of its waits; none if the wait is
  /// in its body, or the code has no loops.
  LoopId loopAfter(const Op &wait) const {
    if (code.strategy == Strategy::Unrolled) {
      return {};
    }
    LoopId body = rootLoop; // that the wait stands in
    for (const Op &op : code.engines[kernel.engineOf(instr)].ops) {
      if (&op == &wait) {
        break;
      }
      if (op.kind == OpKind::LoopBegin || op.kind == OpKind::IfBegin) {
        body = op.loop();
      } else if (op.kind == OpKind::Else) {
        body = kernel.loops[body].otherBranch;
      } else if (op.kind == OpKind::LoopEnd || op.kind == OpKind::IfEnd) {
        body = kernel.loops[body].parent;
      }
    }
    LoopId below = kernel.instrs[instr].home;
    while (below != body && below != rootLoop && kernel.loops[below].parent != body) {
      below = kernel.loops[below].parent;
    }
    return below == body ? LoopId() : below;
  }

  /// A column for each wait; in JSON they are a list.
  Table thresholdTable() const {
    std::vector<Column> columns{{"iteration", "iteration", -9, "  "}};
    for (const WaitRow &row : values.rows) {
      columns[0].width = std::min(columns[0].width, -static_cast<int>(row.iteration.size()));
    }
    for (const Op *op : values.waits) {
      std::string head = fmt::format("{} >=", code.semaphores[op->wait].name);
      columns.push_back({"", head, static_cast<int>(head.size()), "  "});
    }
    columns.push_back({"thresholds"});
    Table table(std::move(columns));
    for (const WaitRow &row : values.rows) {
      std::vector<Cell> cells{row.iteration};
      for (size_t w = 0; w < values.waits.size(); ++w) {
        cells.push_back(row.thresholds[w] == 0 ? Cell("no wait") : Cell(row.thresholds[w]));
      }
      cells.push_back(Cell::hidden(row.thresholds));
      table.add(std::move(cells));
    }
    return table;
  }

  Json addNoWaits(std::string &text) const {
    Json list = Json::array();
    text += around.noWaits.empty() ? "" : "\nneeds no wait for\n";
    for (const NoWait &noWait : around.noWaits) {
      Json object = {{"dependence", noWait.dependence}, {"because", noWait.because}};
      text += fmt::format("  {}\n      {}\n", noWait.dependence, noWait.because);
      if (around.isTimed() && !noWait.behind.empty()) {
        addHeldBack(noWait.behind, text, object);
      }
      list.push_back(std::move(object));
    }
    return list;
  }

  /// How long the instructions that stand in front wait in this run.
  void addHeldBack(const std::vector<InstrId> &behind, std::string &text, Json &object) const {
    object["held_back"] = Json::array();
    std::vector<std::string> spans;
    for (InstrId instr : behind) {
      Tick span = around.spanAt(kernel, instr);
      std::string_view engine = kernel.nameOf(kernel.engineOf(instr));
      spans.push_back(
          fmt::format("'{}' waits {} at '{}'", engine, timeText(span), kernel.nameOf(instr)));
      object["held_back"].push_back(
          {{"engine", engine}, {"instruction", kernel.nameOf(instr)}, {"wait_ps", span}});
    }
    text += fmt::format("      in this run {}\n", fmt::join(spans, ", "));
  }

  Json addEngineWaits(std::string &text) const {
    Json list = Json::array();
    std::string_view engine = kernel.nameOf(kernel.engineOf(instr));
    if (!around.isTimed()) {
      text += fmt::format("\nengine '{}' issues in order; where it waits is not known: {}\n",
                          engine, around.untimed);
      return list;
    }
    const std::vector<EngineWait> &waits = around.engineWaits[kernel.engineOf(instr)];
    text += fmt::format("\nengine '{}' issues in order; in this run it waits{}\n", engine,
                        waits.empty() ? " for nothing" : " at");
    for (const EngineWait &wait : waits) {
      text += fmt::format("  {}{}: {}, {:.0f}% of the run\n", placeText(kernel, wait),
                          wait.before == instr ? ", this instruction" : "", timeText(wait.span),
                          100 * double(wait.span) / double(around.total));
      list.push_back(
          {{"instruction", wait.before.valid() ? Json(kernel.nameOf(wait.before)) : Json()},
           {"place", placeText(kernel, wait)},
           {"wait_ps", wait.span}});
    }
    return list;
  }

  std::string waitedForBy() const {
    std::string list;
    for (DepId dep : kernel.deps.ids()) {
      if (kernel.deps[dep].producer == instr) {
        list += fmt::format("  {}{}\n", describe(kernel, dep), source(dep));
      }
    }
    return list.empty() ? "" : "\nis waited for by\n" + list;
  }

  const Session &session;
  const Kernel &kernel;
  const SyncPlan &plan;
  const Code &code;
  const InstrId instr;
  const BoundRun &run;
  const CodeWaits &values;
  const Surroundings &around;
};

void ExplainCommand::explainIn(Session &session, const LoadedKernel &loaded, InstrId instr,
                               const RunOptions &given, Result &result) const {
  BoundRun bound = session.bind(loaded.kernel, given);
  if (!session.tilesStay(loaded.kernel, bound.bindings)) {
    end();
  }
  Compiled compiled = orEnd(session.compile(loaded.kernel, common.request()));
  CodeWaits waits =
      valuesOf(loaded.kernel, compiled.code, session.machine(), bound.bindings, instr, rows);
  Surroundings around = aroundOf(loaded, session.machine(), compiled.code, bound.bindings, instr);
  ExplainReport(session, loaded.kernel, compiled, bound, instr, waits, around).addTo(result);
  result.repeatWith(session, &bound);
}

int ExplainCommand::run() const {
  Session session(common);
  Result result(format, "tally-explain", 2, "instructions");
  std::vector<LoadedKernel> kernels = session.loadWithDeps();
  std::vector<RunOptions> given = session.divide(kernels, values);
  std::vector<std::string_view> names;
  for (size_t number = 0; number < kernels.size(); ++number) {
    const LoadedKernel &loaded = kernels[number];
    for (InstrId instr : loaded.kernel.instrs.ids()) {
      names.push_back(loaded.kernel.nameOf(instr));
      if (names.back() == instruction) {
        explainIn(session, loaded, instr, given[number], result);
      }
    }
  }
  if (result.text.empty()) {
    fail(unknownName("instruction", "instructions", instruction, names));
  }
  return result.print();
}

constexpr const char *examples = R"(Examples:
  tally explain k.mlir --instr=load             what it waits for, why, and in which iterations
  tally explain k.mlir --instr=load --trips=A=5 its values when loop A runs five times
  tally explain k.mlir --instr=load --sync=per-loop --machine=trn2
                                                the same for another strategy and machine

Exit status: 0 done, 2 wrong input or use, or no code is possible.)";

} // namespace

void addExplain(CLI::App &app) {
  addCommand<ExplainCommand>(
      app, {"explain", "Every wait of one instruction, and why its value", examples});
}

} // namespace tally::tool
