//===- CompareCommand.cpp - tally compare ---------------------------------===//
//
// One kernel under every strategy: what the code needs, and why a strategy is not possible.
//
//===----------------------------------------------------------------------===//

#include "Progress.h"
#include "Result.h"
#include "Tables.h"

#include <fmt/format.h>

namespace tally::tool {
namespace {

struct CompareCommand {
  CommonOptions common;
  std::string format = "text";

  void declareOn(CLI::App &command) {
    common.addInput(command);
    common.addMachine(command);
    common.strategyGiven = true; // all of them
    declare(command, {formatOption(format)});
  }

  int run() const;
};

/// One strategy: its size, or the first reason why not.
void addRow(Table &table, const LoadedKernel &loaded, Request options, Strategy strategy,
            const Machine &machine) {
  options.strategy = strategy;
  nowDoing(fmt::format("comparing strategies: {}", toString(strategy)));
  Diagnostics diagnostics;
  const Code *written = loaded.code ? &*loaded.code : nullptr;
  std::optional<Compiled> compiled = compile(loaded.kernel, options, machine, diagnostics, written);
  const Cell kernel = Cell::hidden(loaded.kernel.text(loaded.kernel.name));
  std::string name(toString(strategy));
  if (!compiled) {
    const Diagnostic &reason = *diagnostics.firstError();
    Cell refused(fmt::format("not possible: {}", reason.message), reason.message);
    table.add(
        {kernel, name, {}, {}, {}, {}, {}, {}, refused, sourceCell(loaded.kernel, reason.where)});
    return;
  }
  CodeSize size = measure(loaded.kernel, compiled->code, machine.instructionBytes);
  auto overWaiting = numInexact(compiled->plan);
  table.add({kernel,
             strategyLabel(name, compiled->code),
             size.operations,
             size.bytes,
             size.maxRegisters,
             size.semaphores,
             size.waits,
             overWaiting,
             {},
             {}});
}

int CompareCommand::run() const {
  Session session(common);
  Result result(format, "tally-compare", 1, "rows");
  for (const LoadedKernel &loaded : session.loadWithDeps()) {
    Table table = compareTable(loaded, common.request(), session.machine());
    result.text += fmt::format("kernel '{}', {}\n{}", loaded.kernel.text(loaded.kernel.name),
                               machineText(session), table.text());
    result.text +=
        loaded.kernel.deps.empty() ? "nothing has to wait: the kernel has no dependence\n" : "";
    for (Json &row : table.json()) {
      result.add("", std::move(row));
    }
  }
  Json machine = {{"machine", session.machine().name}};
  if (!session.machineReason().empty()) {
    machine["machine_not_given"] = session.machineReason();
  }
  result.set(machine);
  result.repeatWith(session);
  return result.print();
}

} // namespace

Table compareTable(const LoadedKernel &loaded, const Request &options, const Machine &machine) {
  Table table({{"kernel", ""},
               {"strategy", "strategy", -16, ""},
               {"instructions", "instructions", 12},
               {"code_bytes", "code bytes", 11},
               {"registers_per_engine", "registers/e", 12},
               {"semaphores", "semas", 9},
               {"waits", "waits", 9},
               {"over_waiting_dependences", "over-waiting", 12},
               {"refused", ""},
               {"loc", "", 0, "  "}});
  for (Strategy strategy : usableStrategies) {
    if (strategy != Strategy::Manual || loaded.code) {
      addRow(table, loaded, options, strategy, machine);
    }
  }
  return table;
}

constexpr const char *examples = R"(Examples:
  tally compare k.mlir                          one line for each strategy, or why it is not possible
  tally compare k.mlir --machine=trn2           within the limits of a machine
  tally compare k.mlir --format=json            for scripts

Exit status: 0 done, 2 wrong input or use.)";

void addCompare(CLI::App &app) {
  addCommand<CompareCommand>(
      app,
      {"compare", "Size, registers and semaphores of the kernel under every strategy", examples});
}

} // namespace tally::tool
