//===- HandWritten.h - Code as a person might have written it -------------===//
//
// Compiled code is written down, read again as code of nobody's strategy, and rearranged in ways
// that keep it right:
//
//   wait alone       the wait of an instruction stands before it
//   wait again       the same wait twice
//   drain            before an instruction
//   threshold        a constant comes by way of a register
//   rendezvous       two engines meet at the start, on a semaphore of their own
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_HANDWRITTEN_H
#define TALLY_FUZZ_HANDWRITTEN_H

#include "tally/Code/Program.h"

#include <optional>
#include <string>

namespace tally::fuzz {

/// The program after it was written as JSON and read again; none, with the reason, if it is not
/// what was written.
std::optional<Program> writtenAndRead(const Kernel &kernel, const Program &program,
                                      std::string &reason);

/// A few changes, which the seed picks; true if there were any.
bool rearrange(Program &program, uint64_t seed);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_HANDWRITTEN_H
