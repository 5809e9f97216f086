//===- ProgramOptions.h - How programs for threads are made ---------------===//
#ifndef TALLY_EXEC_PROGRAMOPTIONS_H
#define TALLY_EXEC_PROGRAMOPTIONS_H

#include <cstdint>

namespace tally {

struct ProgramOptions {
  /// What counters hold when a run begins, and after a reset. Waits are for what was added since,
  /// modulo 2^32, so that counters may be those of an earlier run, which stand anywhere.
  uint32_t firstCount = 0;
  /// Threads pause at random before they execute an instruction, which then reads all that it says
  /// it reads, even if nothing is computed of it: waits that are missing show soon.
  bool pauses = false;
  /// Each queue has a thread, so that an engine goes on while its first queue works, too.
  bool queueThreads = false;
  /// Threads keep what they did, and when; only where the program runs in this process.
  bool records = false;
  /// An instruction without `computes` is a call of a function that the user writes; the file is
  /// there to be included, and has run() instead of main(). In C++ only.
  bool calls = false;
};

} // namespace tally

#endif // TALLY_EXEC_PROGRAMOPTIONS_H
