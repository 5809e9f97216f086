//===- Recording.h - A run that was measured, told as a simulated one -----===//
//
// What threads did and when. A recording is told to the observers of the simulator, so that traces
// and timelines of both are the same; and read back from a trace.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SIM_RECORDING_H
#define TALLY_SIM_RECORDING_H

#include "tally/Sim/Simulate.h"

#include <string>

namespace tally {

struct Recording {
  /// Of a sequencer: a signal of its own, or why it stood still.
  struct Spell {
    EngineId engine;
    uint32_t op = 0;
    std::optional<Stall> stall; ///< none: it executed the operation
    Tick from = 0;
    Tick to = 0;
  };

  std::vector<Spell> spells;
  std::vector<Execution> executions; ///< of each queue in order
  Tick total = 0;
};

/// Tells the observer, in the order of time. A wait was ended by what last raised its semaphore
/// before it went on.
SimResult replay(const Kernel &kernel, const Code &code, const Recording &recording,
                 SimObserver &observer);

/// Of what a trace is.
struct TraceFacts {
  std::string kernel, strategy, machine;
  std::string measuredOn; ///< "threads"; empty: it was simulated
};

/// None if the text is not a trace of tally.
std::optional<TraceFacts> readTraceFacts(std::string_view text);

/// What TraceWriter has written. None, and why, if it is not a whole trace of this code.
std::optional<Recording> readTrace(std::string_view text, const Kernel &kernel, const Code &code,
                                   std::string &problem);

} // namespace tally

#endif // TALLY_SIM_RECORDING_H
