//===- CompileTarget.cpp - Any text through the whole compiler ------------===//
//
// Kernels that are legal are compiled under every strategy for two machines, listed and written as
// JSON. Either there is code that verifyCode() accepts, or an error says why not.
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "tally/Code/Listing.h"
#include "tally/Compile/Compile.h"
#include "tally/Written/CodeJson.h"

#include <cstdlib>
#include <fmt/format.h>

using namespace tally;
using namespace tally::fuzz;

static void compileFor(const LoadedKernel &loaded, Strategy strategy, const Machine &machine) {
  Request options;
  options.strategy = strategy;
  Diagnostics diagnostics;
  const Code *written = loaded.code ? &*loaded.code : nullptr;
  std::optional<Compiled> compiled = compile(loaded.kernel, options, machine, diagnostics, written);
  if (compiled.has_value() == diagnostics.hasErrors()) {
    fmt::print(stderr, "{}: neither code nor a reason\n", toString(strategy));
    std::abort();
  }
  if (!compiled) {
    return;
  }
  listing(loaded.kernel, compiled->code);
  writeCodeJson(loaded.kernel, compiled->code);
  measure(loaded.kernel, compiled->code, machine.instructionBytes);
}

static Machine narrowMachine() {
  Machine machine = genericMachine();
  machine.subtraction = Subtraction::Wraps;
  machine.registersPerEngine = 8;
  machine.counterBits = 16;
  return machine;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (isBytecode(data, size)) {
    return -1;
  }
  for (const LoadedKernel &loaded : kernelsIn(data, size)) {
    for (Strategy strategy : usableStrategies) {
      compileFor(loaded, strategy, genericMachine());
      compileFor(loaded, strategy, narrowMachine());
    }
  }
  return 0;
}
