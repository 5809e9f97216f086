//===- DepsBench.cpp - How long it takes to find dependences ---------------===//
//
// bench-deps [--format=text|json] [--shape=loop|straight]... [--instructions=N]... [--loops=N]
//
//   loop      so many instructions in 64 loops, in nests of four; each writes a ring of its own and
//             reads those of the three before it, which other engines write
//   straight  so many instructions after one another; each reads two of 1,024 tiles and writes a
//   third
//
// Each row is measured in a process of its own, so that its peak memory is its own, the kernel
// included. Timed: extraction, with and without the removal of what is implied; text shows both.
//===----------------------------------------------------------------------===//

#include "Apart.h"

#include "tally/Deps/Extract.h"
#include "tally/Deps/Implied.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace tally;

namespace {

struct Measurement {
  double findSeconds = 0; ///< without the removal
  double seconds = 0;     ///< in all
  uint64_t found = 0;
  uint64_t kept = 0;
  uint64_t peakBytes = 0;
};

constexpr uint32_t numEngines = 5;

std::vector<QueueId> addEngines(KernelBuilder &b) {
  std::vector<QueueId> queues;
  queues.reserve(numEngines);
  for (uint32_t i = 0; i < numEngines; ++i) {
    queues.push_back(b.queueOf(b.engine(fmt::format("e{}", i))));
  }
  return queues;
}

/// Four loops in one another, `count` instructions in the bodies of all together.
void addNest(KernelBuilder &b, const std::vector<QueueId> &queues, size_t first, size_t count) {
  constexpr uint64_t shape[] = {4, 128};
  std::vector<std::string> tiles;
  std::vector<BufferId> buffers;
  size_t number = first;
  for (size_t level = 0; level < 4; ++level) {
    std::string loop = fmt::format("L{}_{}", first, level);
    b.beginLoop(loop, b.value(loop + "n", 0, 4096));
    size_t inBody = count / 4 + (level < count % 4 ? 1 : 0);
    for (size_t i = 0; i < inBody; ++i, ++number) {
      std::string name = fmt::format("X{}", number);
      buffers.push_back(b.buffer(name, shape));
      tiles.push_back(fmt::format("{}[{} mod {}, 0:128]", name, loop, 2 + number % 3));
      b.instr(fmt::format("i{}", number), queues[number % numEngines]);
      b.access(AccessKind::Write, buffers.back(), tiles.back());
      for (size_t back = 1; back <= 3; ++back) {
        size_t at = tiles.size() - 1 - std::min(back, i); // of the same body
        b.access(AccessKind::Read, buffers[at], tiles[at]);
      }
    }
  }
  for (size_t level = 0; level < 4; ++level) {
    b.endLoop();
  }
}

Kernel loopShape(size_t numInstrs, size_t numLoops) {
  KernelBuilder b("loop");
  std::vector<QueueId> queues = addEngines(b);
  size_t numNests = std::max<size_t>(numLoops / 4, 1);
  for (size_t nest = 0; nest < numNests; ++nest) {
    size_t first = numInstrs * nest / numNests;
    addNest(b, queues, first, numInstrs * (nest + 1) / numNests - first);
  }
  return b.finish();
}

Kernel straightShape(size_t numInstrs) {
  constexpr uint64_t numTiles = 1024;
  constexpr uint64_t shape[] = {numTiles, 128};
  KernelBuilder b("straight");
  std::vector<QueueId> queues = addEngines(b);
  BufferId buffer = b.buffer("X", shape);
  b.reserve(numInstrs, 0);
  uint64_t state = 1;
  auto tile = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return fmt::format("X[{}, 0:128]", (state >> 33) % numTiles);
  };
  for (size_t i = 0; i < numInstrs; ++i) {
    b.instr(fmt::format("i{}", i), queues[i % numEngines]);
    b.access(AccessKind::Read, buffer, tile());
    b.access(AccessKind::Read, buffer, tile());
    b.access(AccessKind::Write, buffer, tile());
  }
  return b.finish();
}

Measurement measureHere(const std::string &shape, size_t numInstrs, size_t numLoops) {
  Kernel kernel = shape == "loop" ? loopShape(numInstrs, numLoops) : straightShape(numInstrs);
  Measurement result;
  Extractor extractor;
  auto start = std::chrono::steady_clock::now();
  Extraction extraction = extractor.extract(kernel);
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

struct Arguments {
  std::string format = "text";
  std::vector<std::string> shapes;
  std::vector<size_t> sizes;
  size_t numLoops = 64;
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
    } else if (text.starts_with("--loops=")) {
      arguments.numLoops = std::strtoull(argv[i] + 8, nullptr, 10);
    } else {
      arguments.good = false;
    }
  }
  for (const std::string &shape : arguments.shapes) {
    arguments.good &= shape == "loop" || shape == "straight";
  }
  arguments.good &= arguments.format == "text" || arguments.format == "json";
  if (arguments.shapes.empty()) {
    arguments.shapes = {"loop", "straight"};
  }
  return arguments;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments = parse(argc, argv);
  if (!arguments.good) {
    std::cerr << "usage: bench-deps [--format=text|json] [--shape=loop|straight]... "
                 "[--instructions=N]... [--loops=N]\n";
    return 2;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  bool text = arguments.format == "text";
  if (text) {
    fmt::print("{:<9} {:>12} {:>9} {:>9} {:>10} {:>10} {:>9}\n", "shape", "instructions", "find s",
               "seconds", "found", "kept", "peak MB");
  }
  for (const std::string &shape : arguments.shapes) {
    std::vector<size_t> sizes = arguments.sizes;
    if (sizes.empty()) {
      sizes = shape == "loop" ? std::vector<size_t>{1'000, 10'000, 100'000}
                              : std::vector<size_t>{10'000, 100'000, 1'000'000};
    }
    for (size_t size : sizes) {
      Measurement m =
          bench::measureApart([&] { return measureHere(shape, size, arguments.numLoops); });
      if (m.found == 0) {
        std::cerr << "error: the measuring process failed\n";
        return 1;
      }
      rows.push_back({{"shape", shape},
                      {"instructions", size},
                      {"seconds", m.seconds},
                      {"peak_bytes", m.peakBytes}});
      if (text) {
        fmt::print("{:<9} {:>12} {:>9.3f} {:>9.3f} {:>10} {:>10} {:>9.1f}\n", shape, size,
                   m.findSeconds, m.seconds, m.found, m.kept, double(m.peakBytes) / 1e6);
        std::cout.flush();
      }
    }
  }
  if (!text) {
    std::cout << rows.dump(2) << "\n";
  }
  return 0;
}
