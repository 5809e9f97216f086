//===- RacePairs.h - All that one instruction asks of another -------------===//
//
// A race names two runs. What is behind it is a pair of instructions, of which the one has to wait
// for the other: before each run of the consumer, how many instructions of the producer's queue
// have to be over? By what both touch, in the order of the text, and by the dependences between
// them; whatever the code does.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_CHECK_RACEPAIRS_H
#define TALLY_LIB_CHECK_RACEPAIRS_H

#include "RaceRun.h"

namespace tally::check {

/// What one run of a consumer has to wait for.
struct PairWait {
  AssumedWait wait;
  QueueId later;        ///< the consumer's queue
  uint32_t laterNumber; ///< the run's number there, from 1
};

/// In the order of the consumer's engine. Runs that have to wait for nothing are left out.
std::vector<PairWait> waitsOf(const RaceSubject &subject, InstrId producer, InstrId consumer);

/// Whether all are kept in every schedule.
bool areKept(const MustOrder &order, std::span<const PairWait> waits);

std::vector<AssumedWait> assume(std::span<const PairWait> waits);

} // namespace tally::check

#endif // TALLY_LIB_CHECK_RACEPAIRS_H
