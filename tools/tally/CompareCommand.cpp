//===- CompareCommand.cpp - tally compare ---------------------------------===//
//
// One kernel under every strategy: what the code needs, and why a strategy is not possible.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Session.h"
#include "Tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace tally::tool {
namespace {

struct CompareCommand {
  CommonOptions common;
  std::string format = "text";

  int run() const;
};

/// One strategy: its size, or the first reason why not.
void addRow(Table &table, const LoadedKernel &loaded, Request options, Strategy strategy,
            const Machine &machine) {
  options.strategy = strategy;
  Diagnostics diagnostics;
  const Code *written = loaded.code ? &*loaded.code : nullptr;
  std::optional<Compiled> compiled = compile(loaded.kernel, options, machine, diagnostics, written);
  const Cell kernel(std::nullopt, loaded.kernel.text(loaded.kernel.name));
  std::string name(toString(strategy));
  if (!compiled) {
    std::string reason = diagnostics.reason();
    Cell refused(fmt::format("not possible: {}", reason), reason);
    table.add({kernel, name, {}, {}, {}, {}, {}, {}, refused});
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
             {}});
}

int CompareCommand::run() const {
  Session session;
  std::optional<Machine> target = session.machine(common);
  if (!target) {
    return Exit::Undecided;
  }
  std::vector<LoadedKernel> kernels = session.loadWithDeps(common, *target);
  if (kernels.empty()) {
    return Exit::Undecided;
  }
  std::string text;
  Json document = {{"schema", "tally-compare"}, {"version", 1}};
  document["rows"] = Json::array();
  for (const LoadedKernel &loaded : kernels) {
    Table table = compareTable(loaded, common.request(), *target);
    text += fmt::format("{}\n{}", loaded.kernel.text(loaded.kernel.name), table.text());
    text += loaded.kernel.deps.empty() ? "nothing has to wait: the kernel has no dependence\n" : "";
    for (Json &row : table.json()) {
      document["rows"].push_back(std::move(row));
    }
  }
  bool written = writeOutput("-", format == "json" ? dump(document) + "\n" : text);
  return written ? Exit::Yes : Exit::Undecided;
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
               {"refused", ""}});
  for (const std::string &name : strategyNames()) {
    Strategy strategy = *strategyFrom(name);
    if (strategy != Strategy::Manual || loaded.code) {
      addRow(table, loaded, options, strategy, machine);
    }
  }
  return table;
}

void addCompare(CLI::App &app, int &status) {
  auto command = std::make_shared<CompareCommand>();
  CLI::App *sub = app.add_subcommand(
      "compare", "Size, registers and semaphores of the kernel under every strategy");
  command->common.addInput(*sub);
  command->common.addMachine(*sub);
  sub->add_option("--format", command->format, "text or json")
      ->check(formatIn({"text", "json"}))
      ->capture_default_str();
  sub->callback([command, &status] { status = command->run(); });
}

} // namespace tally::tool
