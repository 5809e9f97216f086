//===- Settle.h - Chooses what a kernel leaves open -----------------------===//
//
// Which queue an instruction is issued to, and how many slots a ring has, decides which dependences
// there are. So these choices (Open.h) come before they are looked for:
//
//   read ─ onMachine() ─ remarkKernel() ─ settle() ─ findAsked() ─ compile()
//
// So does the order of instructions, which may change where the request says so (Earlier.h).
// Choices are made by simulated time, one after the other, each the one that shortens a run most.
// The kernel that comes back is like one in which they had been written.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_SETTLE_H
#define TALLY_COMPILE_SETTLE_H

#include "tally/Compile/Request.h"
#include "tally/Deps/Extract.h"
#include "tally/Sim/Simulate.h"

namespace tally {

/// Something that was chosen, and what a run takes before and after it.
struct Choice {
  std::string what = {}; ///< `'load' on 'act'`, `4 slots for 'X'`, `'load' before 'store'`
  bool isOrder = false;
  Tick before = 0;
  Tick after = 0;
};

struct Settled {
  Kernel kernel;
  std::vector<Choice> choices; ///< in the order in which they were made
};

/// For Strategy::Auto on a machine with times, a kernel with the choices that are best; for all
/// others, and if its dependences are written, the kernel as it is. A remark says what it has of
/// all that is left open, and why.
Settled settle(const Kernel &kernel, const Request &request, const Machine &machine,
               Extractor &extractor, Diagnostics &diagnostics);

/// Says how a kernel stands that leaves something open: `how` ends "of what it leaves open, ".
void remarkOpen(const Kernel &kernel, std::string_view how, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_COMPILE_SETTLE_H
