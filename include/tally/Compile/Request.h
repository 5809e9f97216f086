//===- Request.h - What is asked of compilation ---------------------------===//
//
// What a user says, and compilation never changes. What it makes of it are Decisions.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_REQUEST_H
#define TALLY_COMPILE_REQUEST_H

#include "tally/Model/UsualTrips.h"
#include "tally/Sync/Plan.h"

#include <functional>

namespace tally {

/// What is to be done where trip bounds do not show that counters stay below the machine's limit.
enum class Overflow : uint8_t {
  Reset,  ///< drain and reset between iterations of a loop; refused where no loop will do
  Refuse, ///< an error
  Assume, ///< a remark
};
template <> inline constexpr auto wordsOf<Overflow> = words("reset", "refuse", "assume");

struct Request {
  bool findDeps = true;     ///< of a kernel that says what it touches, and no dependence
  bool keepImplied = false; ///< of what is found, keep what the rest implies, too
  Strategy strategy = Strategy::Auto;
  Participants participants = Participants::Work;
  bool fold = true;          ///< evaluate constants in wait expressions
  bool licm = true;          ///< compute each value at the outermost place possible
  bool cse = true;           ///< compute equal values once
  bool keepCounters = false; ///< also those that no wait reads, of loops that an engine runs
  bool constantTrips = true; ///< code may make use of constant trips
  bool wholeQueues = true;   ///< Auto: one semaphore may count all of a queue
  bool joins = true;         ///< Auto: producers in both branches of an `if` may share
  bool hoists = true;        ///< Auto: waits may stand before the loop of their instruction
  bool leavesOut = true;     ///< Auto: no wait for what other dependences imply
  bool improve = true;       ///< Auto: make code again and again, for the one that is fastest
  bool reorder = false;      ///< Auto: instructions of a body may change places (Settle.h)
  double codeGrowth = 1;     ///< Auto: loops may be unrolled until code is this many times as large
  double effort = 1;         ///< Auto: how much of the search is made, relative to the usual
  uint64_t assumedTrips = usualTrips; ///< Auto: of loops that the kernel leaves open, within bounds
  Overflow overflow = Overflow::Reset;
  uint32_t threads = 1;                        ///< that may work at once, the caller's own included
  std::function<void(uint64_t)> progress = {}; ///< Auto: told how many codes have been tried

  /// The same for code that certificates cover: the theorem holds for all trips and knows none, and
  /// no semaphore that counts a whole queue or both branches of an `if`. A certificate knows waits
  /// only at their instruction, and one for each dependence.
  Request certifiable() const {
    Request covered = *this;
    covered.constantTrips = covered.wholeQueues = covered.joins = false;
    covered.hoists = covered.leavesOut = false;
    return covered;
  }
};

} // namespace tally

#endif // TALLY_COMPILE_REQUEST_H
