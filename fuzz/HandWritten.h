//===- HandWritten.h - Code as a person might have written it -------------===//
//
// Compiled code is written down, read again as code without a strategy, and rearranged in ways
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

#include "tally/Code/Code.h"

#include <optional>
#include <string>

namespace tally::fuzz {

/// The program after it was written as JSON and read again; none, with the reason, if it is not
/// what was written.
std::optional<Code> writtenAndRead(const Kernel &kernel, const Code &code, std::string &reason);

/// A few changes, which the seed picks; true if there were any.
bool rearrange(Code &code, uint64_t seed);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_HANDWRITTEN_H
