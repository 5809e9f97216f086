//===- FitRegisters.h - What gives way where registers run out ------------===//
//
// Code keeps in registers what it counts, copies of that, and thresholds that it steps. Where this
// is more than an engine has, other decisions ask for less; plan and code are made again by them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_COMPILE_FITREGISTERS_H
#define TALLY_LIB_COMPILE_FITREGISTERS_H

#include "tally/Compile/Decisions.h"

namespace tally::compiling {

/// How many registers an engine lacks, and what it did without for that.
struct Shortage {
  uint32_t limit = 0;     ///< registers that are not reserved
  uint32_t needed = 0;    ///< registers at first; 0: there were enough
  uint32_t excess = 0;    ///< beyond the limit now
  uint32_t forgotten = 0; ///< copies
};

struct Fit {
  Decisions decisions;
  IdVector<EngineId, Shortage> shortages = {}; ///< empty: no code has been seen yet
  bool hasChanged = true;                      ///< plan and code are to be made by the decisions
};

/// By what decisions engines with too many registers in `code` need fewer; unchanged if all fit, or
/// if nothing is left that could give way.
Fit giveWay(const Kernel &kernel, const Machine &machine, const SyncPlan &plan, const Code &code,
            Fit fit);

/// A remark for each engine on which something gave way.
void remarkShortages(const Kernel &kernel, const Machine &machine, const Fit &fit,
                     Diagnostics &diagnostics);

} // namespace tally::compiling

#endif // TALLY_LIB_COMPILE_FITREGISTERS_H
