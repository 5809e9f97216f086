//===- BenchCommand.cpp - tally bench -------------------------------------===//
//
// The table: every kernel that comes with tally, every strategy, on one machine.
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"
#include "Options.h"
#include "Session.h"
#include "Tables.h"

#include "tally/Bench/Table.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>

namespace tally::tool {
namespace {

struct BenchCommand {
  BenchOptions options;
  std::string machine = "trn2";
  std::vector<std::string> settings;
  std::string size = "small";
  std::string format = "text";
  bool sensitivity = false;

  int run();
};

/// Says what is being measured, if that takes a while.
std::function<void(std::string_view, std::string_view)> teller() {
  auto last =
      std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
  return [last](std::string_view kernel, std::string_view strategy) {
    auto now = std::chrono::steady_clock::now();
    if (now - *last >= std::chrono::seconds(3)) {
      *last = now;
      tellProgress(fmt::format("{}, {}", kernel, strategy));
    }
  };
}

/// Whether each name is one of these; says which are not.
bool areKnown(const std::vector<std::string> &names, const std::vector<std::string> &known,
              std::string_view what, std::string_view plural) {
  bool all = true;
  for (const std::string &name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      all = false;
      complain(unknownName(what, plural, name, {known.begin(), known.end()}));
    }
  }
  return all;
}

std::vector<std::string> kernelNames() {
  std::vector<std::string> names;
  for (const CatalogueEntry &entry : catalogue()) {
    names.emplace_back(entry.name);
  }
  return names;
}

int BenchCommand::run() {
  bool kernelsKnown = areKnown(options.kernels, kernelNames(), "kernel", "kernels");
  if (!areKnown(options.strategies, benchStrategies(), "strategy", "strategies") || !kernelsKnown) {
    return Exit::Undecided;
  }
  Session session;
  std::optional<Machine> target = session.machine(machine, settings);
  if (!target) {
    return Exit::Undecided;
  }
  options.size = size == "paper" ? KernelSize::Paper : KernelSize::Small;
  options.progress = teller();
  options.stop = stopOnSignals();
  Diagnostics diagnostics;
  std::string text =
      sensitivity ? renderSensitivity(benchSensitivity(options, *target, diagnostics), format)
                  : renderBench(benchTable(options, *target, diagnostics), format);
  tell(diagnostics, {});
  if (diagnostics.hasErrors()) {
    return Exit::Undecided;
  }
  tellInterrupt();
  return writeOutput("-", text) && !wasInterrupted() ? Exit::Yes : Exit::Undecided;
}

} // namespace

void addBench(CLI::App &app, int &status) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App *sub =
      app.add_subcommand("bench", "What each strategy costs on the kernels that come with tally");
  sub->add_option("--kernels", command->options.kernels,
                  "these only: matmul,adamw (tally kernels "
                  "list)")
      ->delimiter(',');
  sub->add_option("--strategies", command->options.strategies,
                  fmt::format("these only, of {}", fmt::join(benchStrategies(), ", ")))
      ->delimiter(',');
  sub->add_option("--machine", command->machine, "a name or a .json file")->capture_default_str();
  sub->add_option("--set", command->settings, "change a number of the machine: dma.bandwidth=300");
  sub->add_option("--size", command->size, "paper: as published; small: at once")
      ->check(oneOf("size", "sizes", {"paper", "small"}))
      ->capture_default_str();
  sub->add_option("--max-code-growth", command->options.codeGrowth,
                  "auto: unroll loops as long as the code gets at most so many times as large")
      ->check(numberIn(1, 1000))
      ->capture_default_str();
  sub->add_option("--format", command->format, "text, json (docs/guide/Json.md) or markdown")
      ->check(formatIn({"text", "json", "markdown"}))
      ->capture_default_str();
  sub->add_flag("--sensitivity", command->sensitivity,
                "how far each number of the machine, alone at either end of its range, moves the "
                "latency");
  sub->footer(R"(Latency is against the barrier code of the same kernel: less is better.

Examples:
  tally bench --size=paper                             the whole table
  tally bench --kernels=matmul --strategies=barrier,per-loop,ideal
  tally bench --size=paper --set ctl.alu=15ns          what if register operations were faster?)");
  sub->callback([command, &status] { status = command->run(); });
}

} // namespace tally::tool
