//===- Touches.h - Whether a run does anything that is compared -----------===//
#ifndef TALLY_CHECK_TOUCHES_H
#define TALLY_CHECK_TOUCHES_H

#include "tally/Model/Bindings.h"
#include "tally/Model/Kernel.h"

namespace tally {

enum class RunDoes : uint8_t {
  Nothing, ///< no instruction runs
  Issue,   ///< some do, but no guard of their tiles holds
  Touch,   ///< some touch a tile
};

/// What the run of a kernel that check() accepts does with these trips. Beyond its first million
/// entries of bodies and runs of instructions on each engine nothing is looked for.
RunDoes doesRun(const Kernel &kernel, const Bindings &bindings);

} // namespace tally

#endif // TALLY_CHECK_TOUCHES_H
