//===- Unroll.h - How loops are written for the sequencer -----------------===//
#ifndef TALLY_LIB_COMPILE_UNROLL_H
#define TALLY_LIB_COMPILE_UNROLL_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

namespace tally::compiling {

/// The code with innermost loops unrolled, those first that save most for what they add, so that it
/// is at most `growth` times as large. Loops about which the kernel says something stay as they
/// are.
Code unrolled(const Kernel &kernel, double growth, const Machine &machine, Code code);

} // namespace tally::compiling

#endif // TALLY_LIB_COMPILE_UNROLL_H
