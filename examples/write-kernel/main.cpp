// Writes y := a*x + y for a long vector, tile by tile, and prints it as JSON, which every command
// of tally reads. docs/guide/Kernels.md goes through it step by step.

#include <tally/Kernels/Author.h>
#include <tally/Written/KernelJson.h>

#include <cstdio>

using namespace tally;

int main() {
  KernelAuthor k("axpy");

  // What works: one engine that starts transfers, with a queue for loads and one for stores, and
  // one that computes.
  k.engine("sync");
  QueueId loads = k.transfers("load");
  QueueId stores = k.transfers("store");
  EngineId vector = k.engine("vector");

  // What they work on: the vectors in memory, and two tiles of each on the chip.
  k.buffer("X", {64, 128, 512}, "hbm", "bf16");
  k.buffer("Y", {64, 128, 512}, "hbm", "bf16");
  k.buffer("x", {2, 128, 512}, "sbuf", "bf16");
  k.buffer("y", {2, 128, 512}, "sbuf", "bf16");

  // The loop. Tiles say what is touched; operations, what they cost (machines/trn2.json);
  // `computes`, what is made of the tiles that are read.
  InstrId loadX, loadY, axpy, store;
  LoopId i = k.loop("i", k.value("tiles", 1, 64), [&] {
    loadX = k.op(loads, "load_x", "dma_copy(bytes=131072)",
                 {.reads = {"X[i, 0:128, 0:512]"},
                  .writes = {"x[i mod 2, 0:128, 0:512]"},
                  .computes = "r0"});
    loadY = k.op(loads, "load_y", "dma_copy(bytes=131072)",
                 {.reads = {"Y[i, 0:128, 0:512]"},
                  .writes = {"y[i mod 2, 0:128, 0:512]"},
                  .computes = "r0"});
    axpy = k.op(vector, "axpy", "scalar_tensor_tensor.1x(n=512)",
                {.reads = {"x[i mod 2, 0:128, 0:512]"},
                 .accumulates = {"y[i mod 2, 0:128, 0:512]"},
                 .computes = "2.5 * r0"});
    store = k.op(stores, "store", "dma_copy(bytes=131072)",
                 {.reads = {"y[i mod 2, 0:128, 0:512]"},
                  .writes = {"Y[i, 0:128, 0:512]"},
                  .computes = "r0"});
  });

  // What needs what: tiles arrive before they are used ...
  k.raw(loadX, axpy);
  k.raw(loadY, axpy);
  k.raw(axpy, store);
  // ... and are free again two iterations later.
  k.war(axpy, loadX, {{i, 2}});
  k.war(store, loadY, {{i, 2}});

  Diagnostics diagnostics;
  std::optional<Kernel> kernel = k.finish(diagnostics);
  if (!kernel) {
    std::fputs(render(diagnostics, {}).c_str(), stderr);
    return 1;
  }
  std::fputs(writeKernelJson(*kernel).c_str(), stdout);
}
