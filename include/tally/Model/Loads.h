//===- Loads.h - Run-time values that the kernel loads from memory --------===//
//
// An instruction may load run-time values: how often loops run, what decides about branches, `$n`
// in tiles. A sequencer has registers of its own, so each engine that needs a value loads it, by an
// instruction that comes before all that needs it. The engine goes on as soon as that has retired,
// so what follows has the value; that the memory which it reads is written before is a dependence
// like any other. A value that no instruction loads is known before the kernel starts, and so is
// one that is loaded only in a loop which it gives, until then.
//
//   instr "count" on "act" reads ["counts[0]"] loads ["n"]      then   loop "i" trips "n"
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_LOADS_H
#define TALLY_MODEL_LOADS_H

#include "tally/Model/Kernel.h"

namespace tally {

/// Whether a value of this name says how often a loop runs, or decides about a branch.
bool isGivenBy(const Kernel &kernel, LoopId loop, std::string_view value);

/// Whether a loop's value is known where it is reached first, and the engine loads it for what
/// comes after that: all loads of the value are in the loop.
bool isLoadedOnlyInside(const Kernel &kernel, EngineId engine, LoopId loop, NameId value);

/// Errors for loads of what nothing needs, of values that are one number throughout a run more
/// than once, and for engines that need a value before they have loaded it.
void checkLoads(const Kernel &kernel, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_MODEL_LOADS_H
