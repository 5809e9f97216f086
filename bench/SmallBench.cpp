//===- SmallBench.cpp - How long a small kernel takes ---------------------===//
//
// Fuzzing and checking compile small kernels by the million: the fixed cost counts there.
//===----------------------------------------------------------------------===//

#include "LargeKernel.h"

#include "tally/Compile/Compile.h"

#include <benchmark/benchmark.h>

using namespace tally;

static void compileKernel(benchmark::State &state) {
  Kernel kernel = bench::largeKernel(static_cast<size_t>(state.range(0)), 1);
  Machine machine = genericMachine();
  for ([[maybe_unused]] auto _ : state) {
    Diagnostics diagnostics;
    benchmark::DoNotOptimize(compile(kernel, {}, machine, diagnostics));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(compileKernel)->Arg(5)->Arg(50)->Arg(500)->Arg(5000)->Unit(benchmark::kMicrosecond);
