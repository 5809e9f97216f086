//===- Prepare.h - From a kernel that was read to one to be compiled ------===//
//
// What every program does between reading a kernel and compile(), with the same remarks and errors:
//
//   read ─ onMachine() ─ remarkKernel() ─ settle() ─ findAsked() or remarkUncovered() ─ compile()
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_PREPARE_H
#define TALLY_COMPILE_PREPARE_H

#include "tally/Compile/Request.h"
#include "tally/Deps/Extract.h"

namespace tally {

/// What a legal kernel leaves open: tiles that may leave their buffers, buffers that deny what
/// their addresses say or do not fit into the machine's memories. And instructions that state no
/// accesses while others do, engines without instructions, and names that look like expressions.
void remarkKernel(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics);

/// A kernel that asks for its dependences (asksForDeps), with those that follow from its accesses;
/// or, with a warning, without any where the request is for those that are written. Errors if what
/// is found is not legal in this kernel.
Kernel findAsked(const Kernel &kernel, const Request &request, const Machine &machine,
                 Extractor &extractor, Diagnostics &diagnostics);

/// A warning about a kernel that says nothing of which dependences could be found: engines that do
/// not wait for one another are seldom what is meant.
void warnOfNoDeps(const Kernel &kernel, Diagnostics &diagnostics);

/// A remark on a kernel whose dependences are written, if these are not seen to imply all that its
/// accesses ask for; none where the request is for what is written.
void remarkUncovered(const Kernel &kernel, const Request &request, const Machine &machine,
                     Extractor &extractor, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_COMPILE_PREPARE_H
