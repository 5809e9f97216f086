// Embedding: builds a double-buffered kernel, plans it without barriers, and prints the code of
// its engines.
#include "tally/Code/Listing.h"
#include "tally/Compile/Compile.h"
#include "tally/Model/KernelBuilder.h"

#include <iostream>

int main() {
  tally::KernelBuilder builder("double_buffer");
  tally::EngineId act = builder.engine("act"), dma = builder.engine("dma");
  tally::LoopId loop = builder.beginLoop("A", builder.value("n", 1, 4096));
  tally::InstrId load = builder.instr("load", builder.queueOf(dma));
  tally::InstrId scale = builder.instr("scale", builder.queueOf(act));
  builder.endLoop();
  builder.dep(load, scale);              // what was loaded in this iteration
  builder.dep(scale, load, {{loop, 2}}); // two buffers: free again two iterations later
  tally::Kernel kernel = builder.finish();

  tally::Diagnostics problems;
  auto compiled = tally::compile(kernel, {}, tally::genericMachine(), problems);
  std::cerr << tally::render(problems, kernel.files);
  if (!compiled) {
    return 1;
  }
  std::cout << tally::listing(kernel, compiled->code);
}
