//===- Regret.h - What assumed trips cost where other trips come ----------===//
//
// Strategy::Auto compares runs at the trips that it assumes where the kernel leaves them open. At
// others its code is right and keeps within the same limits, but other code may be faster. The
// regret says by how much.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_REGRET_H
#define TALLY_COMPILE_REGRET_H

#include "tally/Compile/Compile.h"

namespace tally {

/// Some trips, and how long a run takes then.
struct Regret {
  std::vector<std::string> trips; ///< `tiles=1`, for all that is open
  std::optional<Tick> time;       ///< of the code; none: the run is too long to be simulated
  std::optional<Tick> best;       ///< of code that is chosen for these trips
};

/// For once, twice and 16 times around all loops that the kernel leaves open, and as often as
/// their bounds allow if all have some; each within its bounds. Nothing if none is open, or where
/// the machine has no times.
std::vector<Regret> regrets(const Kernel &kernel, const Request &request, const Machine &machine,
                            const Code &code);

} // namespace tally

#endif // TALLY_COMPILE_REGRET_H
