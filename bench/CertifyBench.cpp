//===- CertifyBench.cpp - How long the checker takes for one certificate --===//
//
// bench-certify [--format=text|json]
//
// Nests of loops, with 500 instructions and as many dependences in each innermost body, on five
// queues; and loops side by side, each with a counter of its own on both engines. Code has
// one semaphore per loop and queue, or one per instruction, for a machine whose subtraction stops
// at zero, and for one that wraps around. Each row is a process of its own, which runs
// tally-certify: time is its time on a processor, memory is its peak.
//===----------------------------------------------------------------------===//

#include "Apart.h"

#include "tally/Certify/Certificate.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace tally;

namespace {

/// Either nests of `depth` loops, or, with depth 0, loops side by side.
struct Shape {
  size_t size = 0; ///< instructions, or loops
  uint32_t depth = 0;
};

constexpr Shape shapes[] = {{1'000, 2},   {1'000, 4},  {1'000, 8},   {10'000, 2},
                            {10'000, 4},  {10'000, 8}, {100'000, 2}, {100'000, 4},
                            {100'000, 8}, {100, 0},    {1'000, 0},   {10'000, 0}};

/// Each instruction depends on one somewhat earlier in its body, or on the first one, an iteration
/// earlier.
Kernel nests(Shape shape) {
  constexpr size_t perNest = 500;
  KernelBuilder b("nests");
  std::vector<QueueId> queues;
  for (int q = 0; q < 5; ++q) {
    queues.push_back(b.queueOf(b.engine(fmt::format("e{}", q))));
  }
  for (size_t nest = 0; nest * perNest < shape.size; ++nest) {
    LoopId inner;
    for (uint32_t level = 0; level < shape.depth; ++level) {
      std::string name = fmt::format("L{}.{}", nest, level);
      inner = b.beginLoop(name, b.value(name));
    }
    std::vector<InstrId> here;
    for (size_t i = 0; i < perNest; ++i) {
      here.push_back(b.instr(fmt::format("i{}.{}", nest, i), queues[i % 5]));
    }
    for (uint32_t level = 0; level < shape.depth; ++level) {
      b.endLoop();
    }
    for (size_t i = 0; i < perNest; ++i) {
      size_t back = 1 + i * 7919 % 200;
      if (back > i || i % 2) {
        b.dep(here[i < back ? 0 : i - back], here[i], {{inner, 1}});
      } else {
        b.dep(here[i - back], here[i]);
      }
    }
  }
  return b.finish();
}

Kernel siblings(Shape shape) {
  KernelBuilder b("siblings");
  QueueId e = b.queueOf(b.engine("e"));
  QueueId f = b.queueOf(b.engine("f"));
  for (size_t i = 0; i < shape.size; ++i) {
    LoopId loop = b.beginLoop(fmt::format("L{}", i), b.value(fmt::format("n{}", i)));
    InstrId make = b.instr(fmt::format("make{}", i), e);
    InstrId use = b.instr(fmt::format("use{}", i), f);
    b.endLoop();
    b.dep(make, use, {{loop, 1}});
    b.dep(use, make, {{loop, 2}});
  }
  return b.finish();
}

/// What one process measures and sends to its parent.
struct Measurement {
  double seconds = 0;
  uint64_t peakBytes = 0;
  bool certified = false;
};

/// The text of the certificate, written to a file; empty if the kernel was refused.
bool writeTo(const std::filesystem::path &path, Shape shape, Strategy strategy, bool wraps) {
  Machine machine = genericMachine();
  machine.subtraction = wraps ? Subtraction::Wraps : Subtraction::Saturates;
  Kernel kernel = shape.depth == 0 ? siblings(shape) : nests(shape);
  Request options;
  options.strategy = strategy;
  options.overflow = Overflow::Assume; // the theorem knows no resets
  Diagnostics diagnostics;
  auto result = compile(kernel, options, machine, diagnostics);
  if (!result) {
    return false;
  }
  std::ofstream(path) << writeCertificate(kernel, result->code, machine);
  return true;
}

Measurement measureHere(Shape shape, Strategy strategy, bool wraps) {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("bench-certify-{}", getpid());
  Measurement result;
  if (writeTo(path, shape, strategy, wraps)) {
    std::string command = fmt::format("{} --batch '{}' > /dev/null", TALLY_CERTIFY, path.string());
    result.certified = std::system(command.c_str()) == 0;
    rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    result.seconds = double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) / 1e6;
    result.peakBytes = uint64_t(usage.ru_maxrss) * 1024;
  }
  std::filesystem::remove(path);
  return result;
}

std::string nameOf(Shape shape) {
  return shape.depth == 0 ? fmt::format("{} loops side by side", shape.size)
                          : fmt::format("{} instructions, depth {}", shape.size, shape.depth);
}

} // namespace

int main(int argc, char **argv) {
  std::string_view format = argc < 2 ? "--format=text" : argv[1];
  if (argc > 2 || (format != "--format=text" && format != "--format=json")) {
    std::cerr << "usage: bench-certify [--format=text|json]\n";
    return 2;
  }
  bool text = format == "--format=text";
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  if (text) {
    fmt::print("{:<32} {:<16} {:<10} {:>9} {:>9}\n", "kernel", "sync", "numbers", "seconds",
               "peak MB");
  }
  for (Shape shape : shapes) {
    for (Strategy strategy : {Strategy::PerLoop, Strategy::PerInstruction}) {
      for (bool wraps : {false, true}) {
        Measurement m = bench::measureApart([&] { return measureHere(shape, strategy, wraps); });
        if (!m.certified) {
          std::cerr << "error: '" << nameOf(shape) << "' is not certified\n";
          return 1;
        }
        std::string_view numbers = wraps ? "wrap" : "saturate";
        rows.push_back({{"kernel", nameOf(shape)},
                        {"sync", toString(strategy)},
                        {"numbers", numbers},
                        {"seconds", m.seconds},
                        {"peak_bytes", m.peakBytes}});
        if (text) {
          fmt::print("{:<32} {:<16} {:<10} {:>9.2f} {:>9.1f}\n", nameOf(shape), toString(strategy),
                     numbers, m.seconds, double(m.peakBytes) / 1e6);
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
