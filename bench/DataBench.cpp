//===- DataBench.cpp - The numbers of every kernel, at paper size ---------===//
//
// bench-data [--size=small|paper] [KERNEL]...
//
// Each kernel gets random inputs and runs on trn2, counted per loop, in simulated time. All of its
// arithmetic is done in the order of that run. All of memory is compared with the sequential run,
// bit by bit, and the results with NumPy, which computes them from their definition
// (utils/numpy-reference.py). Files go to $TMPDIR (or /tmp), at most one gigabyte at a time.
//===----------------------------------------------------------------------===//

#include "Apart.h"

#include "tally/Compile/Compile.h"
#include "tally/Data/Effects.h"
#include "tally/Data/Inputs.h"
#include "tally/Data/Npy.h"
#include "tally/Kernels/Catalogue.h"
#include "tally/Sim/Commits.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace tally;
namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

bool fail(const std::string &message) {
  std::cerr << "error: " << message << '\n';
  return false;
}

/// A folder that is gone when this is.
class Folder {
public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "tally-data-XXXXXX").string();
    if (mkdtemp(name.data())) {
      path = name;
    }
  }

  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

  /// All that is not only poison, as NAME.npy in a folder of this one.
  bool write(const Kernel &kernel, const Memory &memory, const char *within) const {
    fs::create_directories(path / within);
    for (BufferId id : kernel.buffers.ids()) {
      if (memory[id].numPoison() < memory[id].size()) {
        std::string name = fmt::format("{}.npy", kernel.text(kernel.buffers[id].name));
        std::ofstream file(path / within / name, std::ios::binary);
        if (!writeNpy(file, memory[id])) {
          return fail(fmt::format("cannot write to '{}'", path.string()));
        }
      }
    }
    return true;
  }

  fs::path path;
};

std::optional<std::vector<Instance>> simulatedOrder(const Kernel &kernel, const Bindings &bindings,
                                                    Diagnostics &diagnostics) {
  MachineResult trn2 = loadMachine("trn2");
  std::vector<std::string> errors;
  std::optional<Timing> timing = trn2.machine ? Timing::of(*trn2.machine, errors) : std::nullopt;
  if (!timing) {
    return std::nullopt;
  }
  std::optional<Compiled> program = compile(kernel, {}, *trn2.machine, diagnostics);
  std::optional<InstrCosts> costs = instructionCosts(kernel, *timing, diagnostics);
  if (!program || !costs) {
    return std::nullopt;
  }
  CommitRecorder recorder(kernel, *timing);
  SimOptions options;
  options.observer = &recorder;
  simulate(kernel, program->code, *trn2.machine, *timing, *costs, bindings, options);
  return recorder.inOrder();
}

bool follow(const CatalogueEntry &entry, KernelSize size) {
  WrittenKernel written = entry.write(size);
  const Kernel &kernel = written.kernel;
  Diagnostics diagnostics;
  Bindings bindings = Bindings::parse(kernel, written.trips, 0, diagnostics);
  Runs runs(kernel, bindings, diagnostics);
  std::optional<Effects> effects = Effects::of(kernel, runs, diagnostics);
  std::optional<std::vector<Instance>> order = simulatedOrder(kernel, bindings, diagnostics);
  Memory memory = initialMemory(kernel, written.contents, 1, diagnostics);
  if (diagnostics.hasErrors() || !order) {
    return fail(render(diagnostics, {}));
  }
  Folder folder;
  if (!folder.write(kernel, memory, "in")) {
    return false;
  }
  Clock::time_point start = Clock::now();
  DataRun run(*effects, memory);
  for (Instance instance : *order) {
    run.commit(instance);
  }
  double seconds = bench::secondsSince(start);
  DataRun sequential(*effects, std::move(memory));
  for (Instance instance : runs.order()) {
    sequential.commit(instance);
  }
  size_t numDifferent = 0;
  for (BufferId id : kernel.buffers.ids()) {
    numDifferent += firstDifference(run.memory()[id], sequential.memory()[id]).has_value();
  }
  fmt::print("{}: {} instructions computed in {:.1f} s, {} faults, {} buffers differ from the "
             "sequential run\n",
             entry.name, order->size(), seconds, run.faults().size(), numDifferent);
  std::fflush(stdout);
  if (!folder.write(kernel, run.memory(), "out")) {
    return false;
  }
  std::string command = fmt::format("{} {} '{}' '{}'", NUMPY_REFERENCE, entry.name,
                                    (folder.path / "in").string(), (folder.path / "out").string());
  bool agrees = std::system(command.c_str()) == 0;
  return agrees && run.faults().empty() && numDifferent == 0;
}

} // namespace

int main(int argc, char **argv) {
  KernelSize size = KernelSize::Paper;
  std::vector<const CatalogueEntry *> entries;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    const CatalogueEntry *entry = findKernel(argument);
    if (argument == "--size=small" || argument == "--size=paper") {
      size = argument == "--size=small" ? KernelSize::Small : KernelSize::Paper;
    } else if (entry) {
      entries.push_back(entry);
    } else {
      std::cerr << "usage: bench-data [--size=small|paper] [KERNEL]...\n";
      return 2;
    }
  }
  if (entries.empty()) {
    for (const CatalogueEntry &entry : catalogue()) {
      entries.push_back(&entry);
    }
  }
  bool isRight = true;
  for (const CatalogueEntry *entry : entries) {
    isRight &= follow(*entry, size);
  }
  return isRight ? 0 : 1;
}
