//===- KernelsCommand.cpp - tally kernels ---------------------------------===//
//
// The kernels that come with tally, as text like any user's: list them, write one down.
//
//===----------------------------------------------------------------------===//

#include "Result.h"
#include "SimData.h"
#include "Tables.h"

#include "tally/Kernels/Catalogue.h"
#include "tally/Kernels/Manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tally::tool {
namespace {

struct ListCommand {
  std::string format = "text";

  void declareOn(CLI::App &command) { declare(command, {formatOption(format)}); }

  int run() const {
    Result result(format, "tally-kernels", 1);
    result.addTable("kernels", "", catalogueTable());
    return result.print();
  }
};

struct EmitCommand {
  std::string name;
  std::string size = "small";
  std::string output = "-";
  bool manual = false;
  std::string inputs; ///< folder
  uint64_t seed = 1;

  void declareOn(CLI::App &command) {
    declare(command,
            {{"name", name, "which one", required, suggesting(catalogueNames())},
             {"--size", size, "paper: as published; small: for a quick look and for tests",
              oneOf("size", "sizes", {"paper", "small"})},
             {"-o,--output", output, "where it goes; - is stdout", file},
             {"--manual", manual, "add the code that an expert would write"},
             {"--inputs", inputs,
              "write the first contents of its buffers to this folder, as NAME.npy", tool::folder},
             {"--data-seed", seed, "seed of random numbers in buffers", integerIn(0)}});
    goesWith(command, {"--data-seed"}, "--inputs");
  }

  int run() const {
    if (!areKnown({name}, catalogueNames(), "kernel", "kernels")) {
      end();
    }
    const CatalogueEntry &entry = *findKernel(name);
    WrittenKernel written = entry.write(size == "paper" ? KernelSize::Paper : KernelSize::Small);
    std::string head = fmt::format("// {}: {}\n", name, entry.summary);
    if (!written.trips.empty()) {
      head += fmt::format("// run-time values of one run: --trips={}\n",
                          fmt::join(written.trips, " --trips="));
    }
    if (!inputs.empty()) {
      Diagnostics diagnostics;
      Memory memory = initialMemory(written.kernel, written.contents, seed, diagnostics);
      writeBuffers(written.kernel, memory, inputs);
    }
    std::optional<Code> code = manual ? std::optional(manualCode(written.kernel)) : std::nullopt;
    std::vector<LoadedKernel> kernels{{std::move(written.kernel), std::move(code), false, {}}};
    return writeOutput(output, head + moduleText(kernels)) ? Exit::Yes : Exit::Undecided;
  }
};

constexpr const char *examples = R"(Examples:
  tally kernels list                                      what there is
  tally kernels emit matmul                               one of them, small)";

constexpr const char *listExamples = R"(Examples:
  tally kernels list                                      names, and what they do
  tally kernels list --format=json                        also the trips of one run

Exit status: 0 they are listed, 2 wrong use.)";

constexpr const char *emitExamples = R"(Examples:
  tally kernels emit matmul --size=paper -o matmul.mlir   a kernel to compile, check or simulate
  tally kernels emit adamw --manual | tally check - --race
                                                          hand-written code with its kernel
  tally kernels emit adamw --inputs=in | tally sim - --inputs=in --outputs=out
                                                          its data, as NumPy arrays

Exit status: 0 it is written, 2 wrong use, or it cannot be written.)";

} // namespace

std::vector<std::string> catalogueNames() {
  std::vector<std::string> names;
  for (const CatalogueEntry &entry : catalogue()) {
    names.emplace_back(entry.name);
  }
  return names;
}

Table catalogueTable() {
  Table table({{"name", "", -18, ""}, {"summary", ""}, {"trips", ""}});
  for (const CatalogueEntry &entry : catalogue()) {
    Json trips{{"small", entry.write(KernelSize::Small).trips},
               {"paper", entry.write(KernelSize::Paper).trips}};
    table.add({entry.name, entry.summary, Cell::hidden(std::move(trips))});
  }
  return table;
}

void addKernels(CLI::App &app) {
  addGroup(app, {"kernels", "The kernels that come with tally", examples}, [](CLI::App &kernels) {
    addCommand<ListCommand>(kernels, {"list", "Their names, and what they do", listExamples});
    addCommand<EmitCommand>(kernels, {"emit", "One of them, as text", emitExamples});
  });
}

} // namespace tally::tool
