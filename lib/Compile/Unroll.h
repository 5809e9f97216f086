//===- Unroll.h - How loops are written for the sequencer -----------------===//
#ifndef TALLY_LIB_COMPILE_UNROLL_H
#define TALLY_LIB_COMPILE_UNROLL_H

#include "tally/Code/ControlCost.h"
#include "tally/Compile/Request.h"
#include "tally/Compile/Search.h"
#include "tally/Compile/Stopwatch.h"

namespace tally::compiling {

/// The most bodies that are written for one branch.
inline constexpr uint32_t mostInPass = 64;

/// The size of one body of a loop.
struct BodySize {
  uint64_t always = 0;
  uint64_t once = 0; ///< in the first body of a pass only
};

/// Of the loop that begins there. All loops in it are written out.
BodySize bodySize(const Kernel &kernel, const EngineProgram &program, size_t begin);

/// What loops cost as they are written.
class LoopPrices {
public:
  LoopPrices(const Kernel &kernel, const Machine &machine)
      : kernel(kernel), entries(expectedEntries(kernel)), prices(machine) {}

  int64_t sizeOf(const Op &begin, const BodySize &body) const;

  /// Of all its runs, without what is in it.
  double costOf(const Op &begin) const;

private:
  const Kernel &kernel;
  const IdVector<LoopId, double> entries;
  const ControlPrices prices;
};

/// The code with loops unrolled, so that it is at most `codeGrowth` times as large. Loops about
/// which the kernel says something stay as they are. Where a run can be timed, those are unrolled
/// that make it shorter; otherwise those that save most control operations for what they add.
/// `search` gets what was done.
Code unrolled(const Kernel &kernel, const Request &request, const Machine &machine, Code code,
              Search &search);

/// Unrolls where that makes a run shorter, until code has `most` operations.
void unrollByTime(const Kernel &kernel, const Request &request, const Machine &machine,
                  Stopwatch &stopwatch, int64_t most, Code &code, Search &search);

/// Moves waits before loops where that delays nothing, if runs do not get longer, or by control
/// where they cannot be timed. Whether there were any; `search` gets what was tried.
bool hoistWaits(const Kernel &kernel, const Request &request, const Machine &machine, Code &code,
                Search &search);

/// Moves all of these waits, whatever runs take then. Whether there were any.
bool hoistAllWaits(const Kernel &kernel, Code &code);

/// Marks the waits of loops that only the first body of a pass has to test (Op::once), were the
/// loop unrolled; and takes the marks back where it is not.
void markOncePerPass(Code &code);
void dropIdleMarks(Code &code);

} // namespace tally::compiling

#endif // TALLY_LIB_COMPILE_UNROLL_H
