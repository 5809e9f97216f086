//===- Regret.h - What it costs where assumptions do not hold -------------===//
//
// Strategy::Auto compares runs at the trips that it assumes where the kernel leaves them open, and
// at the prices of the machine, of which some are not published. At others its code is right and
// keeps within the same limits, but other code may be faster. The regret says by how much.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_REGRET_H
#define TALLY_COMPILE_REGRET_H

#include "tally/Compile/Compile.h"

#include <functional>

namespace tally {

/// Another case, and how long a run takes then.
struct Regret {
  std::vector<std::string> where; ///< `tiles=1` for all trips that are open, or one price
  std::optional<Tick> time;       ///< of the code; none: the run is too long to be simulated
  std::optional<Tick> best;       ///< of code that is chosen for this case

  /// By which part the code takes longer; none if that is not known.
  std::optional<double> part() const;
};

/// For once, twice and 16 times around all loops that the kernel leaves open, and as often as
/// their bounds allow if all have some; each within its bounds. Nothing if none is open, or where
/// the machine has no times.
std::vector<Regret> regretsOverTrips(const Kernel &kernel, const Request &request,
                                     const Machine &machine, const Code &code);

/// For each price of the machine that has a range, at either end of it. `progress` is told before
/// each.
std::vector<Regret> regretsOverPrices(const Kernel &kernel, const Request &request,
                                      const Machine &machine, const Code &code,
                                      const std::function<void(const std::string &)> &progress);

} // namespace tally

#endif // TALLY_COMPILE_REGRET_H
