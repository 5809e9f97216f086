//===- SimData.cpp - The numbers of a simulated run -----------------------===//

#include "SimData.h"

#include "Interrupt.h"
#include "Table.h"

#include "tally/Data/Effects.h"
#include "tally/Data/Inputs.h"
#include "tally/Data/Npy.h"
#include "tally/Deps/Unstated.h"
#include "tally/Model/Source.h"
#include "tally/Support/Counted.h"
#include "tally/Support/WholeFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

namespace tally::tool {

void DataOptions::add(CLI::App &command) {
  declare(command,
          {{"--data", follow, "follow the data: compute what instructions say they compute"},
           {"--check-data", check,
            "follow the data, and compare all of memory with the sequential run"},
           {"--inputs", inputs,
            "first contents of buffers: NAME.npy in this folder; without a file, random if no "
            "instruction writes the buffer, otherwise nothing",
            folder},
           {"--outputs", outputs, "write the last contents of buffers to this folder", folder},
           {"--random", random,
            "a buffer that starts with random numbers, although instructions write it",
            writtenAs("BUFFER")},
           {"--data-seed", seed, "seed of random numbers in buffers", integerIn(0)}});
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// For returning that something went wrong.
static bool failed(const std::string &message) {
  complain(message);
  return false;
}

static std::vector<std::string> bufferNames(const Kernel &kernel) {
  std::vector<std::string> names;
  for (const Buffer &buffer : kernel.buffers) {
    names.emplace_back(kernel.text(buffer.name));
  }
  return names;
}

static std::string pathOf(const std::string &folder, std::string_view buffer) {
  return (std::filesystem::path(folder) / fmt::format("{}.npy", buffer)).string();
}

static bool namesFiles(const Kernel &kernel) {
  Diagnostics diagnostics;
  checkFileNames(kernel, diagnostics);
  tell(diagnostics, kernel.files);
  return !diagnostics.hasErrors();
}

bool readBuffers(const Kernel &kernel, Memory &memory, const std::string &folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return failed(fmt::format("'{}' is not a folder", folder));
  }
  bool isRight = namesFiles(kernel);
  for (BufferId id : kernel.buffers.ids()) {
    std::string path = pathOf(folder, kernel.text(kernel.buffers[id].name));
    std::ifstream file(path, std::ios::binary);
    if (file.is_open()) {
      std::string problem = readNpy(file, memory[id]);
      isRight &= problem.empty() || failed(fmt::format("'{}': {}", path, problem));
    }
  }
  return isRight;
}

void writeBuffers(const Kernel &kernel, const Memory &memory, const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!namesFiles(kernel)) {
    end();
  }
  auto check = [](const std::string &path, const std::string &problem) {
    if (!problem.empty()) {
      fail(fmt::format("cannot write '{}': {}", path, problem));
    }
  };
  std::vector<std::pair<std::string, std::unique_ptr<WholeFile>>> files;
  for (BufferId id : kernel.buffers.ids()) {
    const BufferData &data = memory[id];
    if (data.numPoison() == data.size()) {
      continue;
    }
    std::string path = pathOf(folder, kernel.text(kernel.buffers[id].name));
    auto file = std::make_unique<WholeFile>(path);
    writeNpy(file->stream(), data);
    check(path, file->finish());
    files.emplace_back(path, std::move(file));
  }
  for (const auto &[path, file] : files) { // all of them, or none
    check(path, file->commit());
  }
}

//===----------------------------------------------------------------------===//
// What comes of a run
//===----------------------------------------------------------------------===//

namespace {

Table faultTable(const Kernel &kernel, const Runs &runs, const std::vector<DataFault> &faults) {
  Table table({{"instruction"}, {"loc"}, {"iteration"}, {"runs"}, {"text", "", 0, "  "}});
  for (const DataFault &fault : faults) {
    Location where = kernel.instrs[fault.instance.instr].where;
    table.add({Cell::hidden(kernel.nameOf(fault.instance.instr)),
               {std::nullopt, sourceCell(kernel, where).value},
               Cell::hidden(iterationText(kernel, runs, fault.instance)),
               Cell::hidden(fault.count),
               describe(kernel, runs, fault)});
  }
  return table;
}

std::string writerText(const Kernel &kernel, const Runs &runs,
                       const std::optional<Instance> &writer) {
  if (!writer) {
    return "never written";
  }
  std::string when = iterationText(kernel, runs, *writer);
  return fmt::format("written by {}{}{}", nameWithSource(kernel, writer->instr),
                     when.empty() ? "" : " at ", when);
}

Table differenceTable(const Kernel &kernel, const Runs &runs,
                      const std::vector<DataDifference> &differences) {
  Table table({{"buffer"},
               {"element", "", 0, "  "},
               {"value", "", 0, " is "},
               {"writer", "", 0, ", "},
               {"sequential_value", "", 0, "; the sequential run leaves "},
               {"sequential_writer", "", 0, ", "}});
  for (const DataDifference &difference : differences) {
    table.add({Cell::hidden(kernel.text(kernel.buffers[difference.buffer].name)),
               elementText(kernel, difference.buffer, difference.element), difference.value,
               writerText(kernel, runs, difference.writer), difference.sequentialValue,
               writerText(kernel, runs, difference.sequentialWriter)});
  }
  return table;
}

/// With the sequential run.
void addDifferences(const Kernel &kernel, const Table &differences, bool hasWritten,
                    DataReport &report) {
  report.text += differences.text();
  report.json["differences"] = differences.json();
  report.json["compared"] = hasWritten;
  if (differences.size() != 0) {
    report.status = Exit::No;
  } else if (hasWritten) {
    std::vector<InstrId> unstated = unstatedAccesses(kernel);
    report.text += "  all of memory is as after the sequential run\n";
    report.text += unstated.empty() ? "" : fmt::format("  {}\n", unstatedText(kernel, unstated));
  } else {
    std::string_view reason = "nothing is compared, as nothing is written in this run";
    report.text += fmt::format("  could not decide: {}\n", reason);
    report.json["reason"] = reason;
    report.status = both(report.status, Exit::Undecided);
  }
}

} // namespace

DataReport followData(Session &session, const Kernel &kernel, const Bindings &bindings,
                      const std::vector<Instance> &commits, const DataOptions &options) {
  EndsOnSignals untilCompared;
  if (!areKnown(options.random, bufferNames(kernel), "buffer", "buffers of this kernel")) {
    end();
  }
  std::vector<Contents> contents;
  for (const std::string &name : options.random) {
    contents.push_back({name, -1, 1});
  }
  Diagnostics diagnostics;
  Runs runs(kernel, bindings, diagnostics);
  Memory memory = initialMemory(kernel, contents, options.seed, diagnostics);
  std::optional<Effects> effects;
  if (!diagnostics.hasErrors()) {
    effects = Effects::of(kernel, runs, diagnostics);
  }
  session.report(kernel, diagnostics);
  if (!effects || (!options.inputs.empty() && !readBuffers(kernel, memory, options.inputs))) {
    end();
  }
  DataRun run(*effects, memory);
  for (Instance instance : commits) {
    run.commit(instance);
  }
  Table faults = faultTable(kernel, runs, run.faults());
  DataReport report{
      fmt::format("\ndata of {}: {}\n{}", counted(commits.size(), "commit"),
                  run.faults().empty() ? "nothing is read that was not written" : "faults",
                  faults.text()),
      {{"commits", commits.size()}, {"faults", faults.json()}},
      run.faults().empty() ? Exit::Yes : Exit::No};
  if (options.check) {
    addDifferences(
        kernel,
        differenceTable(kernel, runs, compareWithSequential(*effects, runs, memory, commits)),
        run.hasWritten(), report);
  }
  if (!options.outputs.empty()) {
    writeBuffers(kernel, run.memory(), options.outputs);
  }
  return report;
}

} // namespace tally::tool
