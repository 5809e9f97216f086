//===- Outside.h - What an engine does to the outside, in order -----------===//
//
// Two ways to run one engine's code that share only the Bindings: the core's EngineRun
// over the flat operations, and an interpreter of functions in scf and arith. Both give the
// sequence of waits, instructions, signals, resets and drains, each with the values it
// had. Equal sequences mean that the two forms are the same code.
//
// Independent of  the output to scf (Transforms): nothing here reads it
// Shared          for the flat operations, the interpreter of code (Run)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_OUTSIDE_H
#define TALLY_ORACLE_OUTSIDE_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"
#include "tally/Model/Bindings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <vector>

namespace tally::oracle {

/// One thing that an engine does. Parts that an operation has not are empty.
struct Effect {
  OpKind kind = OpKind::Drain; ///< Issue, Wait, Signal, Reset or Drain
  std::string instr;
  std::string wait; ///< semaphore
  uint64_t threshold = 0;
  std::vector<uint64_t> reasons;
  std::string signal; ///< semaphore; the first one, for a Reset
  uint64_t amount = 0;

  bool operator==(const Effect &) const = default;
};

std::string toString(const Effect &effect);

struct Trace {
  std::vector<Effect> effects;
  std::string problem; ///< why the run stopped before its end; empty if it did not
};

/// Runs the code of one engine as the core understands it.
Trace runCode(const Kernel &kernel, const Code &code, const Machine &machine,
              const Bindings &bindings, EngineId engine);

/// Runs a function that stands for one engine. Knows integer arith, scf, and the operations of
/// the dialect that stand in scf form; anything else is a problem.
Trace runScf(const Kernel &kernel, const Bindings &bindings, EngineId engine,
             mlir::func::FuncOp function);

/// Where the two part, with what each does there.
std::optional<std::string> differenceOf(const Trace &program, const Trace &scf);

} // namespace tally::oracle

#endif // TALLY_ORACLE_OUTSIDE_H
