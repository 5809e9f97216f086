//===- ExplainCommand.cpp - tally explain ---------------------------------===//
//
// Every wait of one instruction: for which dependence, by which rule, and the values that it
// takes in a run with given trips.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Session.h"

#include "tally/Run/Interpret.h"
#include "tally/Support/Names.h"
#include "tally/Sync/Explain.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <memory>

namespace tally::tool {
namespace {

struct ExplainCommand {
  CommonOptions common;
  std::string instruction;
  RunOptions values;
  uint32_t rows = 12;
  std::string format = "text";

  int run() const;

private:
  bool explainIn(Session &session, const LoadedKernel &loaded, const Machine &machine,
                 std::string &text, Json &document) const;
};

/// The values of one wait, by run of the instruction.
struct WaitRow {
  std::string iteration;
  std::vector<uint64_t> thresholds; ///< by wait of the instruction, in order
};

/// The waits that stand before an instruction in the code, and their values.
struct CodeWaits {
  std::vector<const Op *> waits;
  std::vector<WaitRow> rows;
  bool more = false; ///< the instruction runs more often than there are rows
};

CodeWaits valuesOf(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Bindings &bindings, InstrId instr, uint32_t maxRows) {
  CodeWaits result;
  EngineRun run(kernel, code, machine, bindings, kernel.engineOf(instr));
  run.setFuel(10'000'000);
  std::vector<const Op *> waits;
  std::vector<uint64_t> values;
  while (const Op *op = run.next()) {
    if (op->wait.valid()) {
      waits.push_back(op);
      values.push_back(run.value(op->a));
    }
    if (op->kind == OpKind::Issue && op->instr() == instr) {
      if (result.rows.size() == maxRows) {
        result.more = true;
        return result;
      }
      result.waits = waits;
      std::string iteration = iterationText(kernel, run.active());
      result.rows.push_back({iteration.empty() ? "-" : iteration, values});
    }
    if (op->kind != OpKind::Wait) {
      waits.clear();
      values.clear();
    }
  }
  return result;
}

class ExplainReport {
public:
  ExplainReport(const Kernel &kernel, const Compiled &compiled, const Machine &machine,
                InstrId instr)
      : kernel(kernel), plan(compiled.plan), code(compiled.code), machine(machine), instr(instr) {}

  std::string text(const CodeWaits &values) const {
    std::string out =
        fmt::format("instruction '{}' on queue '{}': kernel '{}', strategy '{}', machine '{}'\n",
                    kernel.nameOf(instr), kernel.nameOf(kernel.instrs[instr].queue),
                    kernel.text(kernel.name), toString(code.strategy), machine.name);
    for (DepId dep : incoming()) {
      dependence(out, dep, values);
    }
    if (incoming().empty()) {
      out += "\nwaits for nothing\n";
    }
    if (!values.waits.empty()) {
      table(out, values);
    }
    if (values.rows.empty()) {
      out += "\ndoes not run with these trips\n";
    }
    waitedForBy(out);
    return out;
  }

  Json json(const CodeWaits &values) const {
    Json object;
    object["instruction"] = kernel.nameOf(instr);
    object["strategy"] = toString(code.strategy);
    object["waits"] = Json::array();
    for (DepId dep : incoming()) {
      Json parts = {{"dependence", describe(kernel, dep)}, {"id", dep.value}};
      for (const ExplainedPart &part : explainWait(kernel, plan, dep)) {
        parts[part.aspect] = part.text;
      }
      parts["operations"] = waitCost(plan, machine, dep);
      object["waits"].push_back(std::move(parts));
    }
    object["values"] = Json::array();
    for (const WaitRow &row : values.rows) {
      object["values"].push_back({{"iteration", row.iteration}, {"thresholds", row.thresholds}});
    }
    return object;
  }

private:
  std::vector<DepId> incoming() const {
    std::vector<DepId> deps;
    for (DepId dep : kernel.deps.ids()) {
      if (kernel.deps[dep].consumer == instr) {
        deps.push_back(dep);
      }
    }
    return deps;
  }

  void dependence(std::string &out, DepId dep, const CodeWaits &values) const {
    std::string_view kind = toString(kernel.deps[dep].kind);
    out +=
        fmt::format("\nwaits for {}{}{}\n", describe(kernel, dep), kind.empty() ? "" : " ", kind);
    for (const ExplainedPart &part : explainWait(kernel, plan, dep)) {
      out += fmt::format("  {:<10} {}\n", part.aspect, part.text);
    }
    out += fmt::format("  {:<10} {} operation(s), before sharing and hoisting\n", "cost",
                       waitCost(plan, machine, dep));
    out += standingWait(dep, values);
  }

  /// Which wait in the code does the work of this dependence.
  std::string standingWait(DepId dep, const CodeWaits &values) const {
    for (size_t w = 0; w < values.waits.size(); ++w) {
      std::vector<DepId> reasons = reasonsOf(*values.waits[w]);
      if (std::find(reasons.begin(), reasons.end(), dep) == reasons.end()) {
        continue;
      }
      std::string shared = reasons.size() > 1 ? ", which also serves other dependences" : "";
      return fmt::format("  {:<10} wait {} of the instruction, on '{}'{}\n", "in code", w + 1,
                         code.semaphores[values.waits[w]->wait].name, shared);
    }
    return "";
  }

  std::vector<DepId> reasonsOf(const Op &op) const {
    auto first = code.reasons.begin() + op.firstReason;
    return {first, first + op.numReasons};
  }

  void table(std::string &out, const CodeWaits &values) const {
    out += "\nvalues:\n";
    size_t width = std::string_view("iteration").size();
    for (const WaitRow &row : values.rows) {
      width = std::max(width, row.iteration.size());
    }
    out += fmt::format("  {:<{}}", "iteration", width);
    for (const Op *op : values.waits) {
      out += fmt::format("  {} >=", code.semaphores[op->wait].name);
    }
    out += '\n';
    for (const WaitRow &row : values.rows) {
      out += fmt::format("  {:<{}}", row.iteration, width);
      for (size_t w = 0; w < row.thresholds.size() && w < values.waits.size(); ++w) {
        size_t column = code.semaphores[values.waits[w]->wait].name.size() + 3;
        std::string value =
            row.thresholds[w] == 0 ? "no wait" : fmt::format("{}", row.thresholds[w]);
        out += fmt::format("  {:>{}}", value, column);
      }
      out += '\n';
    }
    out += values.more ? "  ...\n" : "";
  }

  void waitedForBy(std::string &out) const {
    std::string list;
    for (DepId dep : kernel.deps.ids()) {
      if (kernel.deps[dep].producer == instr) {
        list += fmt::format("  {}\n", describe(kernel, dep));
      }
    }
    out += list.empty() ? "" : "\nis waited for by\n" + list;
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  const Code &code;
  const Machine &machine;
  const InstrId instr;
};

InstrId findInstruction(const Kernel &kernel, const std::string &name) {
  NameId wanted = kernel.strings.find(name);
  for (InstrId instr : kernel.instrs.ids()) {
    if (wanted.valid() && kernel.instrs[instr].name == wanted) {
      return instr;
    }
  }
  return InstrId();
}

bool ExplainCommand::explainIn(Session &session, const LoadedKernel &loaded, const Machine &machine,
                               std::string &text, Json &document) const {
  std::optional<Bindings> bindings = session.bindings(loaded.kernel, values);
  if (!bindings || !session.tilesStay(loaded.kernel, *bindings)) {
    return false;
  }
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(loaded.kernel, common.request(), machine, diagnostics);
  session.report(loaded.kernel, diagnostics);
  if (!compiled) {
    return false;
  }
  InstrId instr = findInstruction(loaded.kernel, instruction);
  CodeWaits waits = valuesOf(loaded.kernel, compiled->code, machine, *bindings, instr, rows);
  ExplainReport report(loaded.kernel, *compiled, machine, instr);
  text += report.text(waits);
  document["instructions"].push_back(report.json(waits));
  return true;
}

int ExplainCommand::run() const {
  Session session;
  std::optional<Machine> machine = session.machine(common);
  if (!machine) {
    return Exit::Undecided;
  }
  std::vector<LoadedKernel> kernels = session.loadWithDeps(common, *machine);
  if (kernels.empty()) {
    return Exit::Undecided;
  }
  std::string text;
  Json document = {{"schema", "tally-explain"}, {"version", 2}, {"instructions", Json::array()}};
  bool found = false;
  for (const LoadedKernel &loaded : kernels) {
    if (!findInstruction(loaded.kernel, instruction).valid()) {
      continue;
    }
    found = true;
    if (!explainIn(session, loaded, *machine, text, document)) {
      return Exit::Undecided;
    }
  }
  if (!found) {
    std::vector<std::string_view> names;
    for (const LoadedKernel &loaded : kernels) {
      for (InstrId instr : loaded.kernel.instrs.ids()) {
        names.push_back(loaded.kernel.nameOf(instr));
      }
    }
    complain(unknownName("instruction", "instructions", instruction, names));
    return Exit::Undecided;
  }
  bool written = writeOutput("-", format == "json" ? dump(document) + "\n" : text);
  return written ? Exit::Yes : Exit::Undecided;
}

} // namespace

void addExplain(CLI::App &app, int &status) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App *sub = app.add_subcommand("explain", "Every wait of one instruction, and why its value");
  command->common.addInput(*sub);
  sub->add_option("--instr", command->instruction, "name of the instruction")->required();
  command->common.addStrategy(*sub, plannedStrategies());
  command->common.addMachine(*sub);
  command->values.add(*sub);
  sub->add_option("--rows", command->rows, "the most values to show")
      ->check(integerIn(1, 1'000'000))
      ->capture_default_str();
  sub->add_option("--format", command->format, "text or json")
      ->check(formatIn({"text", "json"}))
      ->capture_default_str();
  sub->callback([command, &status] { status = command->run(); });
}

} // namespace tally::tool
