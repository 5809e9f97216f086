//===- SimData.cpp - The numbers of a simulated run -----------------------===//

#include "SimData.h"

#include "Options.h"
#include "tally/Data/Effects.h"
#include "tally/Data/Inputs.h"
#include "tally/Data/Npy.h"
#include "tally/Deps/Unstated.h"
#include "tally/Support/Names.h"
#include "tally/Support/WholeFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tally::tool {

void DataOptions::add(CLI::App &command) {
  command.add_flag("--data", follow, "compute what instructions say they compute");
  command.add_flag("--check-data", check, "and compare all of memory with the sequential run");
  command.add_option("--inputs", inputs,
                     "what buffers hold at first: NAME.npy in this folder; others: by chance if "
                     "nobody writes them, else nothing");
  command.add_option("--outputs", outputs, "write what they hold at last to this folder");
  command
      .add_option("--random", random,
                  "a buffer that holds numbers by chance at first, although it is written")
      ->allow_extra_args(false);
  command.add_option("--data-seed", seed, "of random numbers")
      ->check(integerIn(0))
      ->capture_default_str();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// For returning that something went wrong.
static bool failed(const std::string &message) {
  complain(message);
  return false;
}

static std::string pathOf(const std::string &folder, std::string_view buffer) {
  return (std::filesystem::path(folder) / fmt::format("{}.npy", buffer)).string();
}

/// A name that would lead out of the folder is none of a file.
static bool namesFiles(const Kernel &kernel) {
  for (const Buffer &buffer : kernel.buffers) {
    if (kernel.text(buffer.name).find('/') != std::string_view::npos) {
      return failed(fmt::format("buffer '{}' cannot be a file of that name; rename it",
                                kernel.text(buffer.name)));
    }
  }
  return true;
}

/// What the named buffers hold; false, with the reasons reported, if one is not there.
static bool randomContents(const Kernel &kernel, const std::vector<std::string> &names,
                           std::vector<Contents> &contents) {
  bool isRight = true;
  for (const std::string &name : names) {
    bool isThere = std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                               [&](const Buffer &b) { return kernel.text(b.name) == name; });
    if (!isThere) {
      std::vector<std::string_view> known;
      for (const Buffer &buffer : kernel.buffers) {
        known.push_back(kernel.text(buffer.name));
      }
      isRight = failed(unknownName("buffer", "buffers of this kernel", name, known));
    }
    contents.push_back({name, -1, 1});
  }
  return isRight;
}

/// Reads what there is; every wrong file is told.
static bool readBuffers(const Kernel &kernel, Memory &memory, const std::string &folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return failed(fmt::format("'{}' is no folder", folder));
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

bool writeBuffers(const Kernel &kernel, const Memory &memory, const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!namesFiles(kernel)) {
    return false;
  }
  for (BufferId id : kernel.buffers.ids()) {
    const BufferData &data = memory[id];
    if (data.numPoison() == data.size()) {
      continue;
    }
    std::string path = pathOf(folder, kernel.text(kernel.buffers[id].name));
    WholeFile file(path);
    writeNpy(file.stream(), data);
    std::string problem = file.commit();
    if (!problem.empty()) {
      return failed(fmt::format("cannot write '{}': {}", path, problem));
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// What comes of a run
//===----------------------------------------------------------------------===//

namespace {

class DataFollower {
public:
  DataFollower(const Kernel &kernel, const Runs &runs, const Effects &effects, Memory memory)
      : kernel(kernel), runs(runs), effects(effects), memory(std::move(memory)) {}

  DataReport follow(const std::vector<Instance> &commits, bool check) {
    DataReport report;
    DataRun run(effects, memory);
    for (Instance instance : commits) {
      run.commit(instance);
    }
    report.json = {{"commits", commits.size()}, {"faults", Json::array()}};
    report.text = fmt::format("\ndata of {} commits: ", commits.size());
    report.text += run.faults().empty() ? "nothing is read that was not written" : "faults";
    for (const DataFault &fault : run.faults()) {
      report.text += "\n  " + describe(kernel, runs, fault);
      report.json["faults"].push_back({{"instruction", kernel.nameOf(fault.instance.instr)},
                                       {"iteration", iterationText(kernel, runs, fault.instance)},
                                       {"runs", fault.count},
                                       {"text", describe(kernel, runs, fault)}});
    }
    report.isRight = run.faults().empty();
    last = run.memory();
    if (check) {
      compare(commits, report);
    }
    report.text += '\n';
    return report;
  }

  const Memory &result() const { return last; }

private:
  void compare(const std::vector<Instance> &commits, DataReport &report) const {
    std::vector<DataDifference> differences = compareWithSequential(effects, runs, memory, commits);
    report.json["differences"] = Json::array();
    for (const DataDifference &difference : differences) {
      std::string element = elementText(kernel, difference.buffer, difference.element);
      report.text += fmt::format("\n  {} is {}, {}; the sequential run leaves {}, {}", element,
                                 difference.value, by(difference.writer),
                                 difference.sequentialValue, by(difference.sequentialWriter));
      report.json["differences"].push_back(
          {{"buffer", kernel.text(kernel.buffers[difference.buffer].name)},
           {"element", element},
           {"value", difference.value},
           {"writer", by(difference.writer)},
           {"sequential_value", difference.sequentialValue},
           {"sequential_writer", by(difference.sequentialWriter)}});
    }
    bool hasWritten = std::any_of(commits.begin(), commits.end(), [&](Instance instance) {
      return writes(kernel.instrs[instance.instr]);
    });
    report.text +=
        differences.empty() && hasWritten ? "\n  all of memory is as after the sequential run" : "";
    std::vector<InstrId> unstated = unstatedAccesses(kernel);
    if (differences.empty() && hasWritten && !unstated.empty()) {
      report.text += fmt::format("\n  {}", unstatedText(kernel, unstated));
    }
    report.isRight &= differences.empty();
    report.isCompared = hasWritten;
    report.json["compared"] = report.isCompared;
    if (differences.empty() && !report.isCompared) {
      std::string_view reason = "nothing is compared, as nothing is written in this run";
      report.text += fmt::format("\n  could not decide: {}", reason);
      report.json["reason"] = reason;
    }
  }

  bool writes(const Instr &instr) const {
    for (AccessId access : instr.accesses) {
      if (kernel.accesses[access].kind != AccessKind::Read) {
        return true;
      }
    }
    return false;
  }

  std::string by(const std::optional<Instance> &writer) const {
    if (!writer) {
      return "written by nobody";
    }
    std::string when = iterationText(kernel, runs, *writer);
    return fmt::format("written by '{}'{}{}", kernel.nameOf(writer->instr),
                       when.empty() ? "" : " at ", when);
  }

  const Kernel &kernel;
  const Runs &runs;
  const Effects &effects;
  Memory memory;
  Memory last;
};

} // namespace

std::optional<DataReport> followData(Session &session, const Kernel &kernel,
                                     const Bindings &bindings, const std::vector<Instance> &commits,
                                     const DataOptions &options) {
  Diagnostics diagnostics;
  std::vector<Contents> contents;
  if (!randomContents(kernel, options.random, contents)) {
    return std::nullopt;
  }
  Runs runs(kernel, bindings, diagnostics);
  Memory memory = initialMemory(kernel, contents, options.seed, diagnostics);
  std::optional<Effects> effects;
  if (!diagnostics.hasErrors()) {
    effects = Effects::of(kernel, runs, diagnostics);
  }
  session.report(kernel, diagnostics);
  if (!effects || (!options.inputs.empty() && !readBuffers(kernel, memory, options.inputs))) {
    return std::nullopt;
  }
  DataFollower follower(kernel, runs, *effects, std::move(memory));
  DataReport report = follower.follow(commits, options.check);
  if (!options.outputs.empty() && !writeBuffers(kernel, follower.result(), options.outputs)) {
    return std::nullopt;
  }
  return report;
}

} // namespace tally::tool
