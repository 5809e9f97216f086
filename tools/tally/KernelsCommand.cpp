//===- KernelsCommand.cpp - tally kernels ---------------------------------===//
//
// The kernels that come with tally, as text like any user's: list them, write one down.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Session.h"
#include "SimData.h"
#include "Tables.h"

#include "tally/Kernels/Catalogue.h"
#include "tally/Kernels/Manual.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace tally::tool {
namespace {

struct EmitCommand {
  std::string name;
  std::string size = "small";
  std::string output = "-";
  bool manual = false;
  std::string inputs; ///< folder
  uint64_t seed = 1;

  int run() const {
    const CatalogueEntry *entry = findKernel(name);
    if (!entry) {
      std::vector<std::string_view> names;
      for (const CatalogueEntry &known : catalogue()) {
        names.push_back(known.name);
      }
      complain(unknownName("kernel", "kernels", name, names));
      return Exit::Undecided;
    }
    WrittenKernel written = entry->write(size == "paper" ? KernelSize::Paper : KernelSize::Small);
    std::string head = fmt::format("// {}: {}\n", name, entry->summary);
    if (!written.trips.empty()) {
      head += fmt::format("// run-time values of one run: --trips={}\n",
                          fmt::join(written.trips, " --trips="));
    }
    Session session;
    if (!inputs.empty() && !writeInputs(written)) {
      return Exit::Undecided;
    }
    std::vector<LoadedKernel> kernels;
    std::optional<Code> code;
    if (manual) {
      code = manualCode(written.kernel);
    }
    kernels.push_back({std::move(written.kernel), std::move(code), false, {}});
    return writeOutput(output, head + session.moduleText(kernels)) ? Exit::Yes : Exit::Undecided;
  }

  bool writeInputs(const WrittenKernel &written) const {
    Diagnostics diagnostics;
    Memory memory = initialMemory(written.kernel, written.contents, seed, diagnostics);
    return writeBuffers(written.kernel, memory, inputs);
  }
};

} // namespace

Table catalogueTable() {
  Table table({{"name", "", -18, ""}, {"summary", ""}, {"trips", ""}});
  for (const CatalogueEntry &entry : catalogue()) {
    Json trips{{"small", entry.write(KernelSize::Small).trips},
               {"paper", entry.write(KernelSize::Paper).trips}};
    table.add({entry.name, entry.summary, Cell(std::nullopt, std::move(trips))});
  }
  return table;
}

void addKernels(CLI::App &app, int &status) {
  CLI::App *kernels = app.add_subcommand("kernels", "The kernels that come with tally");
  kernels->require_subcommand(1);
  CLI::App *list = kernels->add_subcommand("list", "Their names, and what they do");
  auto format = std::make_shared<std::string>("text");
  list->add_option("--format", *format, "text or json")
      ->check(formatIn({"text", "json"}))
      ->capture_default_str();
  list->callback([format, &status] {
    Table table = catalogueTable();
    Json document{{"schema", "tally-kernels"}, {"version", 1}, {"kernels", table.json()}};
    bool isWritten = writeOutput("-", *format == "json" ? dump(document) + "\n" : table.text());
    status = isWritten ? Exit::Yes : Exit::Undecided;
  });
  auto command = std::make_shared<EmitCommand>();
  CLI::App *emit = kernels->add_subcommand("emit", "One of them, as text");
  emit->add_option("name", command->name, "which one")->required();
  emit->add_option("--size", command->size, "paper: as published; small: for a look and for tests")
      ->check(oneOf("size", "sizes", {"paper", "small"}))
      ->capture_default_str();
  emit->add_option("-o,--output", command->output, "where it goes; - is stdout")
      ->capture_default_str();
  emit->add_flag("--manual", command->manual, "with code as an expert would place it");
  emit->add_option("--inputs", command->inputs,
                   "write what its buffers hold at first to this folder, as NAME.npy");
  emit->add_option("--data-seed", command->seed, "of random numbers")
      ->check(integerIn(0))
      ->capture_default_str();
  goesWith(*emit, {"--data-seed"}, "--inputs");
  emit->callback([command, &status] { status = command->run(); });
  kernels->footer(R"(Examples:
  tally kernels list                                      what there is
  tally kernels emit matmul --size=paper -o matmul.mlir   a kernel to compile, check or simulate
  tally kernels emit adamw --manual | tally check - --race
                                                          code written by hand beside its kernel
  tally kernels emit adamw --inputs=in | tally sim - --inputs=in --outputs=out
                                                          its numbers, for NumPy)");
}

} // namespace tally::tool
