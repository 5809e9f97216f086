//===- ScfOutput.h - Code as scf, arith and a few operations of ours ------===//
#ifndef TALLY_TRANSFORMS_SCFOUTPUT_H
#define TALLY_TRANSFORMS_SCFOUTPUT_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

#include "mlir/IR/BuiltinOps.h"

namespace tally {

/// Appends one function per engine, `@<kernel>_<engine>`, that does what the code of that
/// engine does on this machine. Registers are SSA values: upstream passes may compute
/// them elsewhere, once, or not at all, but what the engine does to the
/// outside stays as it is and in order. The machine's counters have at most 32 bits.
void storeScf(const Kernel &kernel, const Code &code, const Machine &machine,
              mlir::ModuleOp module);

} // namespace tally

#endif // TALLY_TRANSFORMS_SCFOUTPUT_H
