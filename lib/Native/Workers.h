//===- Workers.h - Threads that can be watched ----------------------------===//
//
// A worker is a thread that runs made code: an engine, or what a further queue does.
//
// When it has waited for a while, it says for what, and the watchdog looks whether that can still
// come. If all workers wait, and nothing of this holds, none of them can ever go on, as only
// workers raise counters. So a slow worker is not taken for a stuck one, however slow it is.
//
// A worker that has to end throws, through made code, to where it began.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_NATIVE_WORKERS_H
#define TALLY_LIB_NATIVE_WORKERS_H

#include "../Exec/Counters.h"

#include "tally/Code/Code.h"
#include "tally/Model/Bindings.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tally::native {

using exec::runtime::Counter;
using exec::runtime::Patience;
using Clock = std::chrono::steady_clock;

/// What workers share in one run.
struct Shared {
  std::vector<Counter> &counters;
  const uint32_t firstCount; ///< of all of them
  const Bindings &bindings;
  std::atomic<uint8_t> &stopped; ///< not 0: all are to end
  const bool records;            ///< whether workers keep what they did
  std::atomic<bool> mayBegin{false};
  std::mutex reasonLock;
  std::string reason = {}; ///< why the run failed, if it did: the first one

  Shared(std::vector<Counter> &counters, uint32_t firstCount, const Bindings &bindings,
         std::atomic<uint8_t> &stopped, bool records)
      : counters(counters), firstCount(firstCount), bindings(bindings), stopped(stopped),
        records(records) {}
};

/// What a worker waits for.
enum class Blocker : uint8_t { Counter, Room, Work, Drain };

/// What a worker did, and when, if that is kept.
class Recorder {
public:
  /// An operation that a queue is to execute, and when it was put there.
  struct Handed {
    uint32_t op = 0;
    Clock::time_point at = {};
  };

  struct Moment {
    uint32_t op;
    std::optional<Blocker> blocker; ///< none: it executed the operation
    Clock::time_point handed, from, to;
  };

  void at(uint32_t operation) { now = {operation, {}}; }

  void hand(Handed &entry) const { entry = {now.op, Clock::now()}; }

  void take(const Handed &entry) { now = entry; }

  void begin() { began = Clock::now(); }

  void end() {
    bool isHanded = now.at != Clock::time_point();
    moments.push_back({now.op, {}, isHanded ? now.at : began, began, Clock::now()});
  }

  void endWait(Blocker blocker) {
    if (blocker != Blocker::Work) {
      moments.push_back({now.op, blocker, began, began, Clock::now()});
    }
  }

  std::vector<Moment> moments;

private:
  Handed now;
  Clock::time_point began;
};

/// A run of an instruction, for the thread of a queue.
struct TaskEntry {
  uint32_t task = 0;
  std::vector<int64_t> counts = {};
  Recorder::Handed recorded = {};
};

/// Ends a worker.
struct Ended {};

class Worker {
public:
  /// `engine`: whose code it is, or whose queue.
  Worker(Shared &shared, std::string name, EngineId engine, void (*code)())
      : name(std::move(name)), engine(engine), shared(shared), code(code) {}

  /// All of its code, on the thread that calls this.
  void work();

  Clock::time_point end() const { return ended; }

  //===--- For made code --------------------------------------------------===//

  void waitFor(SemaId semaphore, uint32_t threshold, uint32_t mask, uint32_t flip, uint32_t first);

  int64_t trips(LoopId loop, uint64_t entry) const {
    return static_cast<int64_t>(shared.bindings.trips(engine, loop, entry));
  }

  /// Keeps the reason, and stops all.
  void fail(std::string reason);

  [[noreturn]] void leave();

  bool isStopped() const { return shared.stopped.load(std::memory_order_relaxed) != 0; }

  template <typename Condition> void publish(const Condition &holds) {
    std::lock_guard guard(lock);
    awaited = &holds;
    test = [](const void *condition) { return (*static_cast<const Condition *>(condition))(); };
  }

  void unpublish() {
    std::lock_guard guard(lock);
    test = nullptr;
  }

  //===--- For the watchdog -----------------------------------------------===//

  /// Held while the watchdog looks, so that no worker goes on meanwhile.
  std::mutex &mutex() { return lock; }

  /// Under its lock: whether it has ended.
  bool hasEnded() const { return isDone; }

  /// Under its lock: whether it waits for something that does not hold.
  bool isBlocked() const { return test != nullptr && !test(awaited); }

  /// Under its lock, of one that is blocked.
  SemaId semaphore() const { return blockedOn == Blocker::Counter ? awaitedSemaphore : SemaId(); }

  uint32_t threshold() const { return awaitedThreshold; }

  const std::string name;
  const EngineId engine;
  Blocker blockedOn = Blocker::Counter;
  TaskEntry outgoing; ///< kept here, so that its memory serves again
  Recorder recorder;

  bool records() const { return shared.records; }

private:
  Shared &shared;
  void (*code)();
  SemaId awaitedSemaphore;
  uint32_t awaitedThreshold = 0;
  Clock::time_point ended;
  std::mutex lock;
  const void *awaited = nullptr;
  bool (*test)(const void *) = nullptr;
  bool isDone = false;
};

/// The one that runs on this thread.
extern thread_local Worker *current;

/// As Patience; and a worker that waits long can be watched, and ends when all are to end.
struct Watched {
  template <typename Condition> static void until(const Condition &holds) {
    Patience patience;
    Worker &worker = *current;
    int waits = 0;
    for (; !holds(); ++waits) {
      if (waits == 0 && worker.records()) {
        worker.recorder.begin();
      }
      if (worker.isStopped()) {
        worker.leave();
      }
      if (waits == beforePublishing) {
        worker.publish(holds);
      }
      patience.wait();
    }
    if (waits > beforePublishing) {
      worker.unpublish();
    }
    if (waits != 0 && worker.records()) {
      worker.recorder.endWait(worker.blockedOn);
    }
  }

  static constexpr int beforePublishing = 300;
};

using TaskQueue = exec::runtime::Queue<TaskEntry, Watched>;

} // namespace tally::native

#endif // TALLY_LIB_NATIVE_WORKERS_H
