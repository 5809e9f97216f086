//===- BenchCommand.cpp - tally bench -------------------------------------===//
//
// The table: every kernel that comes with tally, every strategy, on one machine.
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"
#include "Progress.h"
#include "Result.h"
#include "Session.h"
#include "Tables.h"

#include "tally/Bench/Table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally::tool {
namespace {

struct BenchCommand {
  BenchOptions options;
  std::vector<std::string> strategies;
  std::string machine = "trn2";
  std::vector<std::string> settings;
  std::string size = "small";
  std::string format = "text";
  bool sensitivity = false;

  void declareOn(CLI::App &command);
  int run();
};

std::vector<std::string> kernelNames() {
  std::vector<std::string> names;
  for (const CatalogueEntry &entry : catalogue()) {
    names.emplace_back(entry.name);
  }
  return names;
}

std::vector<std::string> strategyNames() {
  std::vector<std::string> names;
  for (const Measured &measured : allMeasured) {
    names.emplace_back(measured.name());
  }
  return names;
}

int BenchCommand::run() {
  bool kernelsKnown = areKnown(options.kernels, kernelNames(), "kernel", "kernels");
  if (!areKnown(strategies, strategyNames(), "strategy", "strategies") || !kernelsKnown) {
    end();
  }
  std::ranges::copy_if(
      allMeasured, std::back_inserter(options.strategies),
      [this](const Measured &each) { return std::ranges::count(strategies, each.name()) > 0; });
  Machine target = findMachine(machine, settings);
  options.size = size == "paper" ? KernelSize::Paper : KernelSize::Small;
  options.progress = [](std::string_view kernel, std::string_view strategy) {
    nowDoing(fmt::format("measuring {}, {}", kernel, strategy));
  };
  options.stop = stopOnSignals();
  Diagnostics diagnostics;
  BenchFacts facts{{"machine", target.name}, {"size", size}};
  if (!settings.empty()) {
    facts.emplace_back("set", fmt::format("{}", fmt::join(settings, " ")));
  }
  const std::string command = commandLineWith({});
  if (format == "json") {
    facts.emplace_back("command", command);
  }
  std::string text =
      sensitivity ? renderSensitivity(benchSensitivity(options, target, diagnostics), format, facts)
                  : renderBench(benchTable(options, target, diagnostics), format, facts);
  text += format == "text"       ? againText(command)
          : format == "markdown" ? fmt::format("\nOn machine `{}`, size `{}`; again: `{}`\n",
                                               target.name, size, command)
                                 : "";
  tell(diagnostics, {});
  if (diagnostics.hasErrors()) {
    end();
  }
  tellInterrupt();
  return writeOutput("-", text) && !wasInterrupted() ? Exit::Yes : Exit::Undecided;
}

void BenchCommand::declareOn(CLI::App &command) {
  declare(
      command,
      {{"--kernels", options.kernels, "only these kernels: matmul,adamw (tally kernels list)",
        withCommas, withSpaces, writtenAs("NAMES"), suggesting(catalogueNames())},
       {"--strategies", strategies,
        fmt::format("only these strategies, from {}", fmt::join(strategyNames(), ", ")), withCommas,
        withSpaces, writtenAs("NAMES"), suggesting(strategyNames())},
       {"--machine", machine, "a name or a .json file", writtenAs("MACHINE"),
        suggestedBy("machine list")},
       {"--set", settings, "change a number of the machine: dma.bandwidth=300", withSpaces,
        writtenAs("PRICE=VALUE")},
       {"--size", size, "paper: as published; small: for a quick look",
        oneOf("size", "sizes", {"paper", "small"})},
       {"--max-code-growth", options.codeGrowth,
        "auto: unroll loops; the code may get at most this many times as large", numberIn(1, 1000)},
       formatOption(format, "text, json (docs/guide/json/Outputs.md) or markdown",
                    {"text", "json", "markdown"}),
       {"--sensitivity", sensitivity,
        "how far each number of the machine, moved alone to either end of its range, changes "
        "the latency"}});
  refuseIf(command, {"--max-code-growth"}, "without the strategy 'auto'", [this] {
    return !strategies.empty() && std::ranges::count(strategies, toString(Strategy::Auto)) == 0;
  });
  refuseIf(command, {"--sensitivity"}, "without a strategy to compare with 'barrier'", [this] {
    return !strategies.empty() && std::ranges::all_of(strategies, [](std::string_view name) {
      return name == toString(Strategy::Barrier);
    });
  });
}

} // namespace

void addBench(CLI::App &app) {
  addCommand<BenchCommand>(
      app, {"bench", "What each strategy costs on the kernels that come with tally",
            R"(Latency is relative to the barrier code of the same kernel: less is better.

Examples:
  tally bench --size=paper                             the whole table
  tally bench --kernels=matmul --strategies=barrier,per-loop,ideal
  tally bench --size=paper --set ctl.alu=15ns          what if register operations were faster?)"});
}

} // namespace tally::tool
