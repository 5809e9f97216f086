//===- EmitCpp.h - Code as a program in C++ -------------------------------===//
//
// One file that needs only the standard library of C++20: a thread for each engine, and one for
// each further queue; counters for semaphores; a function for each instruction. Its main() reads
// buffers from files of NumPy, runs, and writes them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_EXEC_EMITCPP_H
#define TALLY_EXEC_EMITCPP_H

#include "tally/Code/Code.h"
#include "tally/Exec/ProgramOptions.h"

namespace tally {

/// For code that verifyCode() accepts. None, with all reasons reported, if something that the
/// kernel does has no code. `machine`: whose rules hold where the code does not bring its own.
std::optional<std::string> emitCpp(const Kernel &kernel, const Code &code, const Machine &machine,
                                   Diagnostics &diagnostics, const ProgramOptions &options = {});

} // namespace tally

#endif // TALLY_EXEC_EMITCPP_H
