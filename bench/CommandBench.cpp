//===- CommandBench.cpp - How long `tally compile` takes ------------------===//
//
// bench-command [--format=text|json] [--instructions=N]...
//
// Runs the program as a user does, from a file of text to code as text and as JSON, and reports the
// median of three runs of each with the peak memory of the process. Small rows say what starting
// costs: the help, and a kernel of ten lines.
//
//===----------------------------------------------------------------------===//

#include "Apart.h"
#include "LargeKernel.h"

#include "tally/Written/Text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace tally;

namespace {

struct Measurement {
  double seconds = 0;
  uint64_t peakBytes = 0;
  bool good = false;
};

/// One run of tally; what it prints and remarks is dropped.
Measurement runOnce(const std::vector<std::string> &arguments) {
  Measurement result;
  auto start = std::chrono::steady_clock::now();
  pid_t child = fork();
  if (child == 0) {
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    std::vector<char *> argv{const_cast<char *>(TALLY_PROGRAM)};
    for (const std::string &each : arguments) {
      argv.push_back(const_cast<char *>(each.c_str()));
    }
    argv.push_back(nullptr);
    execv(TALLY_PROGRAM, argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage;
  result.good = child > 0 && wait4(child, &status, 0, &usage) == child && status == 0;
  result.seconds = bench::secondsSince(start);
  result.peakBytes = result.good ? uint64_t(usage.ru_maxrss) * 1024 : 0;
  return result;
}

/// The median of three; not good if one was not.
Measurement runThrice(const std::vector<std::string> &arguments) {
  std::vector<Measurement> runs;
  for (int run = 0; run < 3; ++run) {
    runs.push_back(runOnce(arguments));
  }
  std::ranges::sort(runs, {}, &Measurement::seconds);
  bool good = std::ranges::all_of(runs, &Measurement::good);
  return {runs[1].seconds, runs[1].peakBytes, good};
}

/// Writes a kernel as text, in a process of its own: a child begins with the memory of its parent.
bool writeText(const std::filesystem::path &path, size_t numInstrs) {
  return bench::measureApart([&] {
    std::string text = "module {\n";
    written::appendKernelText(text, bench::largeKernel(numInstrs, 1), 2);
    std::ofstream(path) << text << "}\n";
    return true;
  });
}

struct Row {
  std::string what;
  std::vector<std::string> arguments;
};

std::vector<Row> rowsOf(const std::filesystem::path &folder, const std::vector<size_t> &sizes) {
  std::vector<Row> rows{{"--help", {"--help"}}};
  for (size_t size : sizes) {
    std::string path = folder / fmt::format("k{}.mlir", size);
    if (!writeText(path, size)) {
      return {};
    }
    for (std::string format : {"text", "json"}) {
      rows.push_back({fmt::format("{} instructions to {}", size, format),
                      {"compile", "--sync=per-loop", "--format=" + format, path}});
    }
  }
  return rows;
}

int usage() {
  std::cerr << "usage: bench-command [--format=text|json] [--instructions=N]...\n";
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  bool json = false;
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    std::string_view text = argv[i];
    if (text.starts_with("--instructions=")) {
      sizes.push_back(std::strtoull(argv[i] + 15, nullptr, 10));
    } else if (text == "--format=json" || text == "--format=text") {
      json = text == "--format=json";
    } else {
      return usage();
    }
  }
  if (sizes.empty()) {
    sizes = {10, 100'000, 1'000'000};
  }
  std::string folder = std::filesystem::temp_directory_path() / "tally-bench-XXXXXX";
  if (!mkdtemp(folder.data())) {
    std::cerr << "error: cannot make a folder for the kernels\n";
    return 1;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::vector<Row> wanted = rowsOf(folder, sizes);
  bool good = !wanted.empty();
  for (const Row &row : wanted) {
    Measurement m = runThrice(row.arguments);
    good &= m.good;
    rows.push_back({{"command", row.what}, {"seconds", m.seconds}, {"peak_bytes", m.peakBytes}});
    if (!json) {
      fmt::print("{:<32} {:>8.3f} s {:>10.1f} MB\n", row.what, m.seconds,
                 double(m.peakBytes) / 1e6);
      std::cout.flush();
    }
  }
  std::filesystem::remove_all(folder);
  if (json) {
    std::cout << rows.dump(2) << "\n";
  }
  if (!good) {
    std::cerr << "error: the measured kernel was refused or the program failed\n";
  }
  return good ? 0 : 1;
}
