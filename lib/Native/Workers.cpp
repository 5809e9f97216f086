//===- Workers.cpp - Threads that can be watched --------------------------===//

#include "Workers.h"

namespace tally::native {

thread_local Worker *current = nullptr;

void Worker::work() {
  current = this;
  Patience patience;
  while (!shared.mayBegin.load(std::memory_order_acquire) && !isStopped()) {
    patience.wait();
  }
  try {
    if (!isStopped()) {
      code();
    }
  } catch (const Ended &) { // it says why elsewhere, or all are to end
  }
  ended = Clock::now();
  std::lock_guard guard(lock);
  isDone = true;
  test = nullptr;
}

void Worker::waitFor(SemaId semaphore, uint32_t threshold, uint32_t mask, uint32_t flip,
                     uint32_t first) {
  blockedOn = Blocker::Counter;
  awaitedSemaphore = semaphore;
  awaitedThreshold = threshold;
  shared.counters[semaphore.value].wait<Watched>(threshold, mask, flip, first);
}

void Worker::fail(std::string reason) {
  std::lock_guard guard(shared.reasonLock);
  if (shared.reason.empty()) {
    shared.reason = std::move(reason);
  }
  shared.stopped.store(1, std::memory_order_relaxed);
}

void Worker::leave() {
  unpublish();
  throw Ended();
}

} // namespace tally::native
