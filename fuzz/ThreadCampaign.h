//===- ThreadCampaign.h - Random kernels on real threads ------------------===//
//
// Kernels that compute whole numbers (RandomComputes.h) are compiled under one strategy each, by
// turns, and run on threads of this process. All of memory must be as after the sequential run,
// each time, bit by bit. Of every fifth kernel it is the code that a person might have written
// (HandWritten.h).
//
// Counters begin anywhere: in two thirds of the runs just below the end of 32 bits, or of the
// machine's counters. Threads pause at random, so that each run has another order.
//
// This library needs LLVM; the other campaigns do not.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_THREADCAMPAIGN_H
#define TALLY_FUZZ_THREADCAMPAIGN_H

#include "Examiner.h"
#include "Workers.h"

namespace tally::fuzz {

struct ThreadCounts {
  uint64_t kernels = 0;
  uint64_t refused = 0; ///< by the strategy whose turn it was
  uint64_t written = 0; ///< by hand
  uint64_t runs = 0;
  uint64_t passed = 0; ///< runs in which some counter passed the end of its bits
  uint64_t threads = 0;

  void add(const ThreadCounts &other);
};

struct ThreadFinding {
  uint64_t seed = 0;
  Failure failure;
  Kernel kernel; ///< shrunk, unless only some runs fail
};

struct ThreadReport {
  uint64_t firstSeed = 0;
  ThreadCounts counts;
  std::vector<ThreadFinding> findings;
};

/// `extent.count` kernels; stops after `maxFindings`.
ThreadReport fuzzThreads(const Extent &extent, size_t maxFindings = 5,
                         const Sabotage &sabotage = {});

std::string toText(const ThreadReport &report);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_THREADCAMPAIGN_H
