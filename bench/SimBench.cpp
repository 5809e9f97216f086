//===- SimBench.cpp - How fast a run is simulated -------------------------===//
//
// bench-sim [--format=text|json] [--iterations=N]...
//
// Two kernels with one loop: `add`, two engines and two instructions, where the sequencers are the
// bottleneck, and `pipeline`, five engines with double buffers, transfers and seven instructions.
// Each row is measured in a process of its own, so that its peak memory is its own, on one core. An
// event is an operation that a sequencer executes.
//===----------------------------------------------------------------------===//

#include "Apart.h"

#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Sim/Simulate.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>

using namespace tally;

namespace {

Kernel addKernel(uint64_t iterations) {
  KernelBuilder b("add");
  EngineId vector = b.engine("vector"), scalar = b.engine("scalar");
  b.beginLoop("A", KernelBuilder::constant(iterations));
  InstrId add = b.instr("add", b.queueOf(vector), "tensor_tensor(n=4)");
  InstrId copy = b.instr("copy", b.queueOf(scalar), "tensor_copy(n=4)");
  b.endLoop();
  b.dep(add, copy);
  return b.finish();
}

Kernel pipelineKernel(uint64_t iterations) {
  KernelBuilder b("pipeline");
  EngineId tensor = b.engine("tensor"), vector = b.engine("vector"), scalar = b.engine("scalar"),
           gpsimd = b.engine("gpsimd"), sync = b.engine("sync");
  for (EngineId engine : {gpsimd, sync}) {
    b.setQueue(b.queueOf(engine), 16, Completion::Whole);
  }
  LoopId a = b.beginLoop("A", KernelBuilder::constant(iterations));
  InstrId load = b.instr("load", b.queueOf(sync), "dma_copy(bytes=524288)");
  InstrId weights = b.instr("weights", b.queueOf(tensor), "load_weights(n=128)");
  InstrId product = b.instr("product", b.queueOf(tensor), "nc_matmul(nstat=128, nmov=512)");
  InstrId evict = b.instr("evict", b.queueOf(vector), "tensor_copy(n=512)");
  InstrId act = b.instr("act", b.queueOf(scalar), "activation(n=512)");
  InstrId scale = b.instr("scale", b.queueOf(vector), "tensor_scalar(n=512)");
  InstrId store = b.instr("store", b.queueOf(gpsimd), "dma_copy(bytes=131072)");
  b.endLoop();
  b.dep(load, weights);
  b.dep(product, evict);
  b.dep(evict, act);
  b.dep(act, scale);
  b.dep(scale, store);
  b.dep(product, load, {{a, 2}});
  b.dep(evict, product, {{a, 2}});
  b.dep(scale, act, {{a, 2}});
  b.dep(store, scale, {{a, 2}});
  return b.finish();
}

struct Row {
  const char *kernel;
  Strategy strategy;
  bool criticalPath;
};

constexpr Row rows[] = {{"add", Strategy::PerLoop, false},
                        {"add", Strategy::Barrier, false},
                        {"pipeline", Strategy::PerLoop, false},
                        {"pipeline", Strategy::PerLoop, true},
                        {"pipeline", Strategy::Barrier, false}};

/// What one process measures and sends to its parent.
struct Measurement {
  double seconds = 0; ///< of processor time; the median of three runs
  uint64_t operations = 0;
  uint64_t instructions = 0;
  uint64_t picoseconds = 0; ///< simulated
  uint64_t peakBytes = 0;
  bool good = false;
};

Measurement measureHere(const Row &row, uint64_t iterations) {
  Measurement m;
  Kernel kernel =
      row.kernel == std::string_view("add") ? addKernel(iterations) : pipelineKernel(iterations);
  MachineResult machine = loadMachine("trn2");
  Request request;
  request.strategy = row.strategy;
  Diagnostics diagnostics;
  std::vector<std::string> errors;
  if (!machine.machine) {
    return m;
  }
  auto compiled = compile(kernel, request, *machine.machine, diagnostics);
  auto timing = Timing::of(*machine.machine, errors);
  auto costs = timing ? instructionCosts(kernel, *timing, diagnostics) : std::nullopt;
  if (!compiled || !costs) {
    return m;
  }
  Bindings bindings(kernel);
  SimOptions options;
  options.criticalPath = row.criticalPath;
  std::vector<double> times;
  for (int run = 0; run < 3; ++run) {
    std::clock_t start = std::clock();
    SimResult result =
        simulate(kernel, compiled->code, *machine.machine, *timing, *costs, bindings, options);
    times.push_back(double(std::clock() - start) / CLOCKS_PER_SEC);
    m.operations = result.operations;
    m.instructions = result.instructions;
    m.picoseconds = result.total;
    m.good = result.outcome == SimResult::Outcome::Finished;
  }
  std::sort(times.begin(), times.end());
  m.seconds = times[1];
  m.peakBytes = bench::peakBytes();
  return m;
}

struct Arguments {
  std::string format = "text";
  std::vector<uint64_t> iterations;
  bool good = true;
};

Arguments parse(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string_view text = argv[i];
    if (text.starts_with("--format=")) {
      arguments.format = text.substr(9);
    } else if (text.starts_with("--iterations=")) {
      arguments.iterations.push_back(std::strtoull(argv[i] + 13, nullptr, 10));
      arguments.good &= arguments.iterations.back() > 0;
    } else {
      arguments.good = false;
    }
  }
  arguments.good &= arguments.format == "text" || arguments.format == "json";
  if (arguments.iterations.empty()) {
    arguments.iterations = {10'000, 100'000, 1'000'000};
  }
  return arguments;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments = parse(argc, argv);
  if (!arguments.good) {
    std::cerr << "usage: bench-sim [--format=text|json] [--iterations=N]...\n";
    return 2;
  }
  bool text = arguments.format == "text";
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  if (text) {
    fmt::print("{:<10} {:<9} {:<5} {:>11} {:>11} {:>11} {:>11} {:>9} {:>13} {:>8}\n", "kernel",
               "sync", "path", "iterations", "simulated", "operations", "instrs", "seconds",
               "operations/s", "peak MB");
  }
  for (const Row &row : rows) {
    for (uint64_t iterations : arguments.iterations) {
      Measurement m = bench::measureApart([&] { return measureHere(row, iterations); });
      if (!m.good) {
        std::cerr << "error: the measured run did not end or the process failed\n";
        return 1;
      }
      double perSecond = double(m.operations) / m.seconds;
      list.push_back({{"kernel", row.kernel},
                      {"sync", toString(row.strategy)},
                      {"critical_path", row.criticalPath},
                      {"iterations", iterations},
                      {"simulated_ps", m.picoseconds},
                      {"operations", m.operations},
                      {"instructions", m.instructions},
                      {"seconds", m.seconds},
                      {"operations_per_second", perSecond},
                      {"peak_bytes", m.peakBytes}});
      if (text) {
        fmt::print("{:<10} {:<9} {:<5} {:>11} {:>8.3f} ms {:>11} {:>11} {:>9.3f} {:>13.3g} "
                   "{:>8.1f}\n",
                   row.kernel, toString(row.strategy), row.criticalPath ? "yes" : "no", iterations,
                   double(m.picoseconds) / 1e9, m.operations, m.instructions, m.seconds, perSecond,
                   double(m.peakBytes) / 1e6);
        std::cout.flush();
      }
    }
  }
  if (!text) {
    std::cout << list.dump(2) << "\n";
  }
  return 0;
}
