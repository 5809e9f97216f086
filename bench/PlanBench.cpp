//===- PlanBench.cpp - How long planning and lowering take ----------------===//
//
// bench-plan [--format=text|json] [--shape=SHAPE]... [--sync=S]... [--instructions=N]...
//
// The kernel is that of LargeKernel.h, or, with --shape, one of bench-deps with the dependences
// that are found; then the time of finding is told as well.
//
// Each row is measured in a process of its own, so that its peak memory is its own: the kernel
// itself, its plan and its code together. Timed: choose(), makePlan() and lower(), on a machine
// without limits, after check(), which is reported next to it in text.
//===----------------------------------------------------------------------===//

#include "Apart.h"
#include "LargeKernel.h"
#include "Shapes.h"

#include "tally/Compile/Choose.h"
#include "tally/Deps/Implied.h"
#include "tally/Model/Check.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

using namespace tally;

namespace {

/// What one process measures and sends to its parent.
struct Measurement {
  double findSeconds = 0;
  double checkSeconds = 0;
  double seconds = 0; ///< planning and lowering; the median of three, of large kernels of one
  uint64_t operations = 0;
  uint64_t peakBytes = 0;
  bool legal = false;
};

constexpr std::string_view usual = "large";

/// The kernel with its dependences.
Kernel kernelOf(const std::string &shape, size_t numInstrs, double &findSeconds) {
  if (shape == usual) {
    return bench::largeKernel(numInstrs, 1);
  }
  Kernel kernel = bench::shapeNamed(shape, numInstrs);
  auto start = std::chrono::steady_clock::now();
  Extraction extraction = Extractor().extract(kernel);
  markImplied(kernel, extraction);
  findSeconds = bench::secondsSince(start);
  return withDeps(kernel, extraction);
}

Measurement measureHere(const std::string &shape, size_t numInstrs, Strategy strategy) {
  const int runs = numInstrs < 10'000'000 ? 3 : 1; // long runs vary less
  Measurement result;
  Kernel kernel = kernelOf(shape, numInstrs, result.findSeconds);
  Diagnostics diagnostics;
  auto start = std::chrono::steady_clock::now();
  check(kernel, diagnostics);
  result.checkSeconds = bench::secondsSince(start);
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    start = std::chrono::steady_clock::now();
    const Request request{.strategy = strategy, .threads = std::thread::hardware_concurrency()};
    Search search;
    Decisions decisions = choose(kernel, request, {}, genericMachine(), diagnostics, search);
    SyncPlan plan = makePlan(kernel, decisions.plan, diagnostics);
    Code code = lower(kernel, plan, genericMachine(), decisions.lower, diagnostics);
    times.push_back(bench::secondsSince(start));
    result.operations = measure(kernel, code, 1).operations;
  }
  std::sort(times.begin(), times.end());
  result.seconds = times[times.size() / 2];
  result.peakBytes = bench::peakBytes();
  result.legal = !diagnostics.hasErrors();
  return result;
}

struct Arguments {
  std::string format = "text";
  std::vector<std::string> shapes;
  std::vector<std::string> strategies;
  std::vector<size_t> sizes;
  bool good = true;
};

Arguments parse(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string_view text = argv[i];
    if (text.starts_with("--format=")) {
      arguments.format = text.substr(9);
    } else if (text.starts_with("--shape=")) {
      arguments.shapes.emplace_back(text.substr(8));
    } else if (text.starts_with("--sync=")) {
      arguments.strategies.emplace_back(text.substr(7));
    } else if (text.starts_with("--instructions=")) {
      arguments.sizes.push_back(std::strtoull(argv[i] + 15, nullptr, 10));
    } else {
      arguments.good = false;
    }
  }
  for (const std::string &name : arguments.strategies) {
    arguments.good &= fromWord<Strategy>(name).has_value();
  }
  std::vector<std::string> known = bench::shapeNames();
  for (const std::string &shape : arguments.shapes) {
    arguments.good &= std::find(known.begin(), known.end(), shape) != known.end();
  }
  arguments.good &= arguments.format == "text" || arguments.format == "json";
  if (arguments.shapes.empty()) {
    arguments.shapes.emplace_back(usual);
  }
  if (arguments.strategies.empty()) {
    arguments.strategies = {"per-instruction", "per-loop", "per-engine", "auto", "barrier"};
  }
  if (arguments.sizes.empty()) {
    arguments.sizes = {10'000, 100'000, 1'000'000, 10'000'000};
  }
  return arguments;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments = parse(argc, argv);
  if (!arguments.good) {
    std::cerr << "usage: bench-plan [--format=text|json] [--shape=SHAPE]... [--sync=STRATEGY]... "
                 "[--instructions=N]...\n";
    return 2;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool text = arguments.format == "text";
  if (text) {
    fmt::print("{:<15} {:>12}  {:<16} {:>9} {:>9} {:>9} {:>12} {:>10} {:>8}\n", "shape",
               "instructions", "sync", "find s", "check s", "seconds", "operations", "peak MB",
               "ns each");
  }
  for (const std::string &shape : arguments.shapes) {
    for (size_t size : arguments.sizes) {
      for (const std::string &strategy : arguments.strategies) {
        Measurement m = bench::measureApart(
            [&] { return measureHere(shape, size, *fromWord<Strategy>(strategy)); });
        if (!m.legal) {
          std::cerr << "error: the measured kernel was refused or the process failed\n";
          return 1;
        }
        rows.push_back({{"shape", shape},
                        {"instructions", size},
                        {"sync", strategy},
                        {"find_seconds", m.findSeconds},
                        {"seconds", m.seconds},
                        {"peak_bytes", m.peakBytes}});
        if (text) {
          fmt::print("{:<15} {:>12}  {:<16} {:>9.3f} {:>9.3f} {:>9.3f} {:>12} {:>10.1f} {:>8.0f}\n",
                     shape, size, strategy, m.findSeconds, m.checkSeconds, m.seconds, m.operations,
                     double(m.peakBytes) / 1e6, m.seconds * 1e9 / double(size));
          std::cout.flush();
        }
      }
    }
  }
  if (!text) {
    std::cout << rows.dump(2) << "\n";
  }
  return 0;
}
