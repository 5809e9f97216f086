//===- Open.h - What a kernel leaves open ---------------------------------===//
//
// A kernel may leave choices to the compiler:
//
//   tally.instr "load" on "sp" or ["act"]                    which queue it is issued to
//   tally.buffer "X" shape [2, 128] ring min 1 max 4         how many slots are used in turn
//
// As it stands, it is a kernel like any other: issued to the queue named first, with as many slots
// as the shape says. Each choice makes another one, which leaves the same open.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_OPEN_H
#define TALLY_MODEL_OPEN_H

#include "tally/Model/Kernel.h"

namespace tally {

/// By instruction, whether it is tied to its queue or engine: it uses what the queue keeps, or runs
/// as often as its engine says.
IdVector<InstrId, bool> tiedInstrs(const Kernel &kernel);

/// Whether it keeps something for later instructions of its queue, or computes with what is kept.
bool usesKept(const Kernel &kernel, InstrId id);

/// Errors for what cannot be left open: tied instructions, and buffers that are not rings.
void checkOpen(const Kernel &kernel, Diagnostics &diagnostics);

bool leavesOpen(const Kernel &kernel);

/// Of choices, for messages: `'a', 'b', 'c', 'd' and 3 more`.
std::string namesOf(const Kernel &kernel, const std::vector<InstrId> &instrs);

/// How it stands: `'load' on 'sp' (or 'act')`, `'X' has 2 slots (1 to 4)`.
std::vector<std::string> openTexts(const Kernel &kernel);

/// The same kernel, but that an instruction is issued to one of its other queues.
Kernel onQueue(Kernel kernel, InstrId id, QueueId queue);

/// The same kernel with the choices of another one that was made of it, as far as they are open.
Kernel chosenAs(Kernel kernel, const Kernel &made);

} // namespace tally

#endif // TALLY_MODEL_OPEN_H
