//===- RandomCode.h - Kernels with code as people write it, from a seed ---===//
//
// Code that no planner would emit: credits raised before a loop, semaphores that several engines
// and queues raise, a drain and then a signal, signals in both branches, flags that the consumer
// resets. A good part of it is right, a good part has a mistake that is easily made.
//
// A kernel is one loop around links. A link is a buffer of one or two slots with a producer and a
// consumer, on two engines or on one; a consumer may go on as a producer, a producer may have two
// consumers. Each link has a token (the consumer waits for the producer) and a credit (the producer
// waits until the slot is free). What is drawn for each:
//
//   raised by      the instruction when it retires; the engine, after a drain, or without one
//   what           a semaphore of its own; that of another link
//   how many       the raises of this link; those of all that share the semaphore
//   credits        raised before the loop, by either side; or the threshold lies behind by as many
//   flags          the waiting side waits for one raise and sets the semaphore to 0
//   mistakes       none of it; a threshold or a credit off by one; no drain
//
// An instruction may stand in a branch; the other branch then raises what this one does, with or
// without a drain, or does not.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_RANDOMCODE_H
#define TALLY_FUZZ_RANDOMCODE_H

#include "RandomKernel.h"

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

namespace tally::fuzz {

struct RandomCodeOptions {
  Range engines = {2, 4};
  Range links = {1, 3};
  Range trips = {1, 3};
  uint32_t inOrderPercent = 40; ///< of machines whose queues do not overlap their instructions
  uint32_t splitPercent = 15;   ///< of queues that complete in parts
  uint32_t branchPercent = 12;  ///< of instructions in a branch
  uint32_t drainPercent = 25;   ///< of instructions whose engine raises what they would
  uint32_t sharePercent = 25;   ///< of tokens and credits on the semaphore of another
  uint32_t flagPercent = 10;    ///< of those that are waited for and reset
  uint32_t wrongPercent = 8;    ///< of choices that could go wrong, and do
};

struct RandomCode {
  Kernel kernel;
  Code code;
  Machine machine;
  uint64_t trips = 0;
  uint64_t guards = 0;

  /// Of this object, which must outlive them.
  Bindings bindings() const;
};

/// The same seed and options give the same code. verifyCode() accepts it.
RandomCode randomCode(uint64_t seed, const RandomCodeOptions &options = {});

} // namespace tally::fuzz

#endif // TALLY_FUZZ_RANDOMCODE_H
