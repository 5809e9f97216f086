//===- CompareCommand.cpp - tally compare ---------------------------------===//
//
// One kernel under every strategy: what the code needs, and why a strategy is not possible.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Session.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>
#include <memory>

namespace tally::tool {
namespace {

struct CompareCommand {
  CommonOptions common;
  std::string format = "text";

  int run() const;
};

/// One strategy: its size, or the first reason why not.
struct Row {
  std::string strategy;
  std::optional<CodeSize> size;
  uint32_t overWaiting = 0; ///< dependences that wait longer than they ask for
  std::string refusal;
};

Row compileOne(const LoadedKernel &loaded, Request options, Strategy strategy,
               const Machine &machine) {
  options.strategy = strategy;
  Diagnostics diagnostics;
  const Code *written = loaded.code ? &*loaded.code : nullptr;
  std::optional<Compiled> compiled = compile(loaded.kernel, options, machine, diagnostics, written);
  Row row;
  row.strategy = toString(strategy);
  if (!compiled) {
    for (const Diagnostic &diagnostic : diagnostics.all()) {
      if (diagnostic.severity == Severity::Error && row.refusal.empty()) {
        row.refusal = diagnostic.message;
      }
    }
    return row;
  }
  row.strategy = strategyLabel(row.strategy, compiled->code);
  row.size = measure(loaded.kernel, compiled->code, machine.instructionBytes);
  for (const Wait &wait : compiled->plan.waits) {
    row.overWaiting += !wait.exact;
  }
  return row;
}

std::vector<Row> compareOne(const LoadedKernel &loaded, const Request &options,
                            const Machine &machine) {
  std::vector<Row> rows;
  for (const std::string &name : strategyNames()) {
    Strategy strategy = *strategyFrom(name);
    if (strategy != Strategy::Manual || loaded.code) {
      rows.push_back(compileOne(loaded, options, strategy, machine));
    }
  }
  return rows;
}

std::string table(std::string_view kernel, const std::vector<Row> &rows) {
  std::string text =
      fmt::format("{}\n{:<16} {:>12} {:>11} {:>12} {:>9} {:>9} {:>12}\n", kernel, "strategy",
                  "instructions", "code bytes", "registers/e", "semas", "waits", "over-waiting");
  for (const Row &row : rows) {
    if (!row.size) {
      text += fmt::format("{:<16} not possible: {}\n", row.strategy, row.refusal);
      continue;
    }
    fmt::format_to(std::back_inserter(text), "{:<16} {:>12} {:>11} {:>12} {:>9} {:>9} {:>12}\n",
                   row.strategy, row.size->operations, row.size->bytes, row.size->maxRegisters,
                   row.size->semaphores, row.size->waits, row.overWaiting);
  }
  return text;
}

nlohmann::ordered_json json(std::string_view kernel, const Row &row) {
  nlohmann::ordered_json object;
  object["kernel"] = kernel;
  object["strategy"] = row.strategy;
  if (!row.size) {
    object["refused"] = row.refusal;
    return object;
  }
  object["instructions"] = row.size->operations;
  object["code_bytes"] = row.size->bytes;
  object["registers_per_engine"] = row.size->maxRegisters;
  object["semaphores"] = row.size->semaphores;
  object["waits"] = row.size->waits;
  object["over_waiting_dependences"] = row.overWaiting;
  return object;
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
  nlohmann::ordered_json document = {{"schema", "tally-compare"}, {"version", 1}};
  document["rows"] = nlohmann::ordered_json::array();
  for (const LoadedKernel &loaded : kernels) {
    std::string_view name = loaded.kernel.text(loaded.kernel.name);
    std::vector<Row> rows = compareOne(loaded, common.request(), *target);
    text += table(name, rows);
    text += loaded.kernel.deps.empty() ? "nothing has to wait: the kernel has no dependence\n" : "";
    for (const Row &row : rows) {
      document["rows"].push_back(json(name, row));
    }
  }
  bool written = writeOutput("-", format == "json" ? dump(document) + "\n" : text);
  return written ? Exit::Yes : Exit::Undecided;
}

} // namespace

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
