//===- ControlCost.h - What synchronising costs, without running it -------===//
//
// The static cost by which strategy 'auto' chooses: what all sequencers together spend on waits,
// registers and loops, at expected trip counts. It knows nothing of what engines wait for each
// other; the simulator does.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CODE_CONTROLCOST_H
#define TALLY_CODE_CONTROLCOST_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

namespace tally {

/// What one control operation costs: picoseconds if the machine says so, otherwise one.
struct ControlPrices {
  explicit ControlPrices(const Machine &machine);

  double alu = 1, wait = 1, carried = 0, signal = 1, reset = 1, drain = 1;
  double loopBegin = 1, loopEnd = 1, branch = 1;
};

/// How often a loop or branch is expected to run each time it is reached.
double expectedTrips(const Loop &loop);

/// What a loop costs that runs so often, without its body.
double loopCost(const ControlPrices &prices, const WrittenLoop &written, double trips);

/// How often each body is expected to be entered; `openTrips`: where the kernel leaves it open, a
/// loop runs so often, or as near to that as its bounds allow.
IdVector<LoopId, double> expectedEntries(const Kernel &kernel,
                                         std::optional<uint64_t> openTrips = {});

/// About how many instructions a run issues; likewise.
double expectedIssues(const Kernel &kernel, std::optional<uint64_t> openTrips = {});

double controlCost(const Kernel &kernel, const Code &code, const Machine &machine);

} // namespace tally

#endif // TALLY_CODE_CONTROLCOST_H
