//===- DepsBench.cpp - How long it takes to find dependences --------------===//
//
// bench-deps [--format=text|json] [--shape=PATTERN/NEST]... [--instructions=N]... [--in-order]
// bench-deps --worst[=COUNT] [--instructions=N] [--in-order]
//
// The shapes are those of Shapes.h. Each row is measured in a process of its own, so that its peak
// memory is its own, the kernel included. Timed: extraction, with and without the removal of what
// is implied. --in-order: on a machine whose queues do not overlap their instructions.
//
// Small shapes also show how many dependences there have to be at least, by brute force.
//
// --worst looks at this many random shapes (RandomShapes.h), and prints the ten that take most time
// per instruction; --shape=random/SEED looks at one of them.
//===----------------------------------------------------------------------===//

#include "Apart.h"
#include "Numbers.h"
#include "RandomShapes.h"
#include "Shapes.h"

#include "oracle/Fewest.h"

#include "tally/Deps/Extract.h"
#include "tally/Deps/Implied.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <span>

using namespace tally;

namespace {

struct Measurement {
  double findSeconds = 0; ///< without the removal
  double seconds = 0;     ///< in all
  uint64_t found = 0;
  uint64_t kept = 0;
  uint64_t peakBytes = 0;
};

Measurement measureHere(const Kernel &kernel, bool inOrder) {
  Measurement result;
  Extractor extractor;
  auto start = std::chrono::steady_clock::now();
  Extraction extraction = extractor.extract(kernel, {!inOrder});
  result.findSeconds = bench::secondsSince(start);
  markImplied(kernel, extraction);
  result.seconds = bench::secondsSince(start);
  result.found = extraction.deps.size();
  for (const DerivedDep &derived : extraction.deps) {
    result.kept += !derived.isImplied();
  }
  result.peakBytes = bench::peakBytes();
  return result;
}

constexpr size_t mostForFewest = 300;

/// By runs of no, few and many trips, with branches taken or not.
size_t fewestOf(const Kernel &kernel, bool inOrder) {
  constexpr std::array<uint64_t, 4> counts = {0, 1, 2, 7}; // 7 goes around all rings
  constexpr uint64_t numRuns = 40;
  oracle::Fewest fewest(kernel, !inOrder);
  for (uint64_t seed = 1; seed <= numRuns; ++seed) {
    bench::Numbers numbers(seed);
    std::vector<uint64_t> habits;
    for (size_t i = 0; i < kernel.loops.size(); ++i) {
      habits.push_back(numbers.below(6));
    }
    // A habit is one of the counts at each entry, or any of them.
    oracle::TripsOf trips = [&](LoopId id, uint64_t) -> uint64_t {
      if (kernel.loops[id].trip.kind == Trip::Kind::Constant) {
        return kernel.loops[id].trip.constant;
      }
      uint64_t habit = habits[id.value];
      uint64_t count = counts[habit < counts.size() ? habit : numbers.below(counts.size())];
      return kernel.loops[id].isBranch() ? numbers.below(counts[3]) < count : count;
    };
    fewest.add(oracle::Enumeration(kernel, trips));
  }
  return fewest.count();
}

constexpr std::string_view randomPrefix = "random/";

/// `PATTERN/NEST`, or `random/SEED`.
Kernel kernelOf(const std::string &shape, size_t numInstrs) {
  return shape.starts_with(randomPrefix)
             ? bench::randomShape(std::strtoull(shape.c_str() + randomPrefix.size(), nullptr, 10),
                                  numInstrs)
                   .kernel
             : bench::shapeNamed(shape, numInstrs);
}

struct Arguments {
  std::string format = "text";
  std::vector<std::string> shapes;
  std::vector<size_t> sizes;
  bool inOrder = false;
  uint64_t numRandom = 0; ///< of these the worst are wanted
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
    } else if (text.starts_with("--instructions=")) {
      arguments.sizes.push_back(std::strtoull(argv[i] + 15, nullptr, 10));
    } else if (text == "--worst") {
      arguments.numRandom = 200;
    } else if (text.starts_with("--worst=")) {
      arguments.numRandom = std::strtoull(argv[i] + 8, nullptr, 10);
    } else if (text == "--in-order") {
      arguments.inOrder = true;
    } else {
      arguments.good = false;
    }
  }
  std::vector<std::string> names = bench::shapeNames();
  for (const std::string &shape : arguments.shapes) {
    arguments.good &= shape.starts_with(randomPrefix) ||
                      std::find(names.begin(), names.end(), shape) != names.end();
  }
  arguments.good &= arguments.format == "text" || arguments.format == "json";
  if (arguments.shapes.empty()) {
    arguments.shapes = names;
  }
  return arguments;
}

//===--- The worst of many ------------------------------------------------===//

struct Worst {
  uint64_t seed = 0;
  double microseconds = 0; ///< per instruction
  Measurement measured;
};

/// Longer than any should take; the child that measures is ended then.
constexpr unsigned mostSeconds = 20;

Worst measureRandom(uint64_t seed, size_t numInstrs, bool inOrder) {
  Measurement measured = bench::measureApart([&] {
    alarm(mostSeconds);
    return measureHere(kernelOf(fmt::format("{}{}", randomPrefix, seed), numInstrs), inOrder);
  });
  bool hasEnded = measured.peakBytes != 0;
  double seconds = hasEnded ? measured.seconds : mostSeconds;
  return {seed, seconds * 1e6 / double(numInstrs), measured};
}

void printWorst(const Arguments &arguments) {
  constexpr size_t most = 10;
  const size_t numInstrs = arguments.sizes.empty() ? 10'000 : arguments.sizes.front();
  std::vector<Worst> all;
  for (uint64_t seed = 1; seed <= arguments.numRandom; ++seed) {
    all.push_back(measureRandom(seed, numInstrs, arguments.inOrder));
    fmt::print(stderr, "seed {}: {:.2f} us each\n", seed, all.back().microseconds);
  }
  std::ranges::sort(all, std::ranges::greater(), &Worst::microseconds);
  fmt::print("{} random shapes of {} instructions; those that take longest\n{:>9} {:>10} {:>10}  "
             "{:<5} shape\n",
             all.size(), numInstrs, "us each", "found", "kept", "seed");
  for (const Worst &worst : std::span(all).first(std::min(most, all.size()))) {
    fmt::print("{:>9.2f} {:>10} {:>10}  {:<5} {}\n", worst.microseconds, worst.measured.found,
               worst.measured.kept, worst.seed, bench::randomShape(worst.seed, numInstrs).what);
  }
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments = parse(argc, argv);
  if (!arguments.good) {
    fmt::print(stderr,
               "usage: bench-deps [--format=text|json] [--shape=SHAPE]... [--instructions=N]... "
               "[--in-order]\n       bench-deps --worst[=COUNT] [--instructions=N] [--in-order]\n"
               "shapes: {}\n",
               fmt::join(bench::shapeNames(), " "));
    return 2;
  }
  if (arguments.numRandom != 0) {
    printWorst(arguments);
    return 0;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool text = arguments.format == "text";
  if (text) {
    fmt::print("{:<15} {:>12} {:>9} {:>9} {:>10} {:>10} {:>8} {:>7} {:>9}\n", "shape",
               "instructions", "find s", "seconds", "found", "kept", "fewest", "kept/n", "peak MB");
  }
  for (const std::string &shape : arguments.shapes) {
    std::vector<size_t> sizes = arguments.sizes;
    if (sizes.empty()) {
      sizes = {mostForFewest, 1'000, 10'000, 100'000, 1'000'000};
    }
    for (size_t size : sizes) {
      Measurement m = bench::measureApart(
          [&] { return measureHere(kernelOf(shape, size), arguments.inOrder); });
      if (m.found == 0) {
        std::cerr << "error: the measuring process failed\n";
        return 1;
      }
      std::optional<size_t> fewest;
      if (size <= mostForFewest) {
        fewest = fewestOf(kernelOf(shape, size), arguments.inOrder);
      }
      rows.push_back({{"shape", shape},
                      {"instructions", size},
                      {"find_seconds", m.findSeconds},
                      {"seconds", m.seconds},
                      {"found", m.found},
                      {"kept", m.kept},
                      {"fewest", fewest ? nlohmann::ordered_json(*fewest) : nullptr},
                      {"peak_bytes", m.peakBytes}});
      if (text) {
        fmt::print("{:<15} {:>12} {:>9.3f} {:>9.3f} {:>10} {:>10} {:>8} {:>7.3f} {:>9.1f}\n", shape,
                   size, m.findSeconds, m.seconds, m.found, m.kept,
                   fewest ? fmt::format("{}", *fewest) : "-", double(m.kept) / double(size),
                   double(m.peakBytes) / 1e6);
        std::cout.flush();
      }
    }
  }
  if (!text) {
    std::cout << rows.dump(2) << "\n";
  }
  return 0;
}
