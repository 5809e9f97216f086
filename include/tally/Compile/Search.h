//===- Search.h - What Strategy::Auto tried, and what it gained -----------===//
//
// A record of the search: each choice with what it was before and after. The code does not depend
// on it; it is for those who ask why the code is as it is.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_COMPILE_SEARCH_H
#define TALLY_COMPILE_SEARCH_H

#include "tally/Sim/Simulate.h"

#include <optional>
#include <string>
#include <vector>

namespace tally {

/// What code of the search comes to.
struct CodeCost {
  std::optional<Tick>
      time;             ///< of a simulated run; none: the machine has no times, or it is too long
  double control = 0;   ///< cost of its control operations, as controlCost()
  uint32_t inexact = 0; ///< waits that are longer than dependences ask
  uint64_t beyond = 0;  ///< by how much it exceeds the limits of the machine
  uint64_t operations = 0; ///< of the code
};

/// Times are not known better than this, since prices are not. Of two runs that take as long, the
/// one with clearly less control is better at most other prices.
inline constexpr double precision = 1.0025, clearlyLess = 0.95;

/// Something that was tried.
struct Attempt {
  enum class Step : uint8_t {
    Start,    ///< a way to make the code, as estimated
    Share,    ///< which instructions share a semaphore
    LeaveOut, ///< what other dependences imply is not waited for
    Hoist,    ///< waits stand before their loop
    Unroll,   ///< a loop is written out
    Compare,  ///< code that was finished, too, and began in another way
  };
  Step step = Step::Start;
  std::string what;
  bool taken = false;
  std::optional<CodeCost> before; ///< what it changes; none for Step::Start
  CodeCost after;
};

template <>
inline constexpr auto wordsOf<Attempt::Step> =
    words("start", "share", "leave-out", "hoist", "unroll", "compare");

struct Search {
  std::vector<std::string> assumed; ///< trips, where the kernel leaves them open: `tiles=16`
  std::vector<Attempt> attempts;    ///< all ways to start, then what was tried on the best of them
  /// Times are those until this number of instructions is issued; none: of whole runs.
  std::optional<uint64_t> numIssued = {};
  uint64_t numTried = 0;  ///< codes that were made and measured, also for the others
  std::string beginning;  ///< the way to start that was taken
  uint32_t numOthers = 0; ///< ways to start that are promising, too

  /// What the code comes to after all that was taken; none if nothing was measured.
  std::optional<CodeCost> found() const {
    std::optional<CodeCost> last;
    for (const Attempt &attempt : attempts) {
      last = attempt.taken ? std::optional(attempt.after) : last;
    }
    return last;
  }
};

} // namespace tally

#endif // TALLY_COMPILE_SEARCH_H
