//===- CodeComparison.h - Code against the definition ---------------------===//
//
// Runs the code of each engine, control only, and holds it against the definition
// (Definition.h). For every instruction issued:
//
//   - it is the one that the kernel's control flow has there, in the same iteration;
//   - on each semaphore, the largest threshold passed so far is at least what the dependences of
//     this one ask for: semaphores only grow, so nothing is missing
//   - the largest passed since the instruction before is not more than that: exactly where all
//     waits are exact, otherwise within their bounds. So nothing is waited for in vain
//
// A wait left out because another one implies it, or stands before a loop, does not matter.
//
// What a run of a producer adds to which semaphore is read off the code itself.
//
// Independent of  plans and lowering
// Shared          the interpreter of code (Run/Interpret.h)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_CODECOMPARISON_H
#define TALLY_ORACLE_CODECOMPARISON_H

#include "oracle/Definition.h"

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

namespace tally::oracle {

/// The first difference, as text; none if there is none. `allowances`
/// tells how far each wait may go. With `written` out loops, iterations are not compared: the
/// code has none.
std::optional<std::string> compareCode(const Kernel &kernel, const Code &code,
                                       const Machine &machine, const Bindings &bindings,
                                       const std::vector<Definition> &definitions,
                                       const IdVector<DepId, Allowance> &allowances, bool written);

} // namespace tally::oracle

#endif // TALLY_ORACLE_CODECOMPARISON_H
