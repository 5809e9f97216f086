//===- Counters.h - How threads wait for each other -----------------------===//
//
// Counters and queues of all programs for threads: those in C++, into which this text is written,
// and those that run in the process of `tally run`. A waiter says how a thread waits until
// something holds. It needs only the standard library.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_EXEC_COUNTERS_H
#define TALLY_LIB_EXEC_COUNTERS_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace tally::exec::runtime {

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// Whether there are more threads than cores: then a thread that waits takes the time of those that
/// it waits for.
inline std::atomic<bool> isCrowded{false};

/// Says how many threads there will be.
inline void expectThreads(size_t number) {
  isCrowded.store(number > std::thread::hardware_concurrency(), std::memory_order_relaxed);
}

/// Finds out that no thread can go on. Threads that wait long say so, each in a cell of its own.
/// All cells are read twice, and no thread may have gone on in between. Everything here is relaxed:
/// it orders nothing, and hides nothing from ThreadSanitizer.
class Watch {
public:
  explicit Watch(size_t numThreads) : cells(numThreads) {}

  /// Of this thread, from now on.
  void begin(size_t thread) { current = {this, &cells[thread]}; }

  void end() {
    current.cell->seen.store(ended, std::memory_order_relaxed);
    current = Place();
  }

  /// To be asked now and then.
  bool areStuck() {
    uint64_t leftBefore = numLeft.load(std::memory_order_relaxed);
    bool doAllWait = true, haveAllEnded = true;
    for (const Cell &cell : cells) {
      uint64_t seen = cell.seen.load(std::memory_order_relaxed);
      haveAllEnded = haveAllEnded && seen == ended;
      doAllWait = doAllWait && (seen == ended || seen == look.load(std::memory_order_relaxed));
    }
    bool areStill = numLeft.load(std::memory_order_relaxed) == leftAtLast;
    bool areStuck = doAllWait && didAllWait && areStill && !haveAllEnded;
    leftAtLast = leftBefore;
    didAllWait = doAllWait;
    if (doAllWait) {
      look.fetch_add(1, std::memory_order_relaxed);
    }
    return areStuck;
  }

private:
  friend class Patience;

  static constexpr uint64_t goesOn = 0, ended = UINT64_MAX;

  struct alignas(64) Cell {
    std::atomic<uint64_t> seen{goesOn}; ///< the look in which what it waits for did not hold
  };

  /// What a thread belongs to; nothing, if its program does not watch it.
  struct Place {
    Watch *watch;
    Cell *cell;
  };

  static inline thread_local Place current{};

  std::vector<Cell> cells;
  std::atomic<uint64_t> look{1};
  std::atomic<uint64_t> numLeft{0}; ///< how often a thread that had waited long went on
  uint64_t leftAtLast = 0;
  bool didAllWait = false;
};

/// Spins for a while, as what is waited for is mostly near; then lets other threads run, and, where
/// cores are few, sleeps.
class Patience {
public:
  void wait() {
    if (spins < spinning) {
      ++spins;
    } else if (yields < yielding || !isCrowded.load(std::memory_order_relaxed)) {
      yields += yields < yielding;
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  template <typename Condition> static void until(const Condition &holds) {
    Patience patience;
    while (!holds()) {
      if (patience.isLong() && Watch::current.watch != nullptr) {
        return patience.watched(holds, Watch::current);
      }
      patience.wait();
    }
  }

private:
  bool isLong() const { return yields == yielding; }

  /// The look is read before the condition, so it did not hold in that look.
  template <typename Condition> void watched(const Condition &holds, const Watch::Place &place) {
    for (;;) {
      uint64_t look = place.watch->look.load(std::memory_order_acquire);
      if (holds()) {
        break;
      }
      place.cell->seen.store(look, std::memory_order_relaxed);
      wait();
    }
    place.cell->seen.store(Watch::goesOn, std::memory_order_relaxed);
    place.watch->numLeft.fetch_add(1, std::memory_order_relaxed);
  }

  static constexpr int spinning = 200;
  static constexpr int yielding = 20;
  int spins = 0;
  int yields = 0;
};

/// A semaphore, on a cache line of its own. Code that has seen a raise sees all that was done
/// before it: by acquire and release on this counter alone, without fences.
class alignas(64) Counter {
public:
  constexpr explicit Counter(uint32_t first = 0) : value(first) {}

  /// Blocks until the low `mask` bits of what was added to `first` are at least the threshold. With
  /// their highest bit in `flip`, both are compared with a sign.
  template <typename Waiter = Patience>
  void wait(uint32_t threshold, uint32_t mask = UINT32_MAX, uint32_t flip = 0,
            uint32_t first = 0) const {
    Waiter::until([&] { return (((now() - first) & mask) ^ flip) >= (threshold ^ flip); });
  }

  uint32_t now() const { return value.load(std::memory_order_acquire); }

  void raise(uint32_t amount) { value.fetch_add(amount, std::memory_order_release); }

  void reset(uint32_t first = 0) { value.store(first, std::memory_order_release); }

private:
  std::atomic<uint32_t> value;
};

//===----------------------------------------------------------------------===//
// Pauses
//===----------------------------------------------------------------------===//

/// Now and then lets other threads run, or waits until they have: another order of what threads do
/// in each run. It orders nothing.
inline void pause() {
  static std::atomic<uint64_t> number{0};
  thread_local uint64_t draws =
      number.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed) ^
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  draws = draws * 6364136223846793005 + 1442695040888963407;
  uint64_t draw = draws >> 60;
  if (draw == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(1));
  } else if (draw < 8) {
    std::this_thread::yield();
  }
}

/// Reads it, though nothing is done with it.
template <typename Element> void touch(const Element &element) {
  const volatile Element &place = element;
  [[maybe_unused]] const Element read = place;
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

/// A run of an instruction, with what it asks of the loops around it.
template <size_t numCounts> struct Run {
  int instr = 0;
  int64_t counts[numCounts] = {};
};

/// From one engine to the thread of one of its further queues, in order.
template <typename Entry, typename Waiter = Patience> class Queue {
public:
  /// Blocks while there is no room.
  void push(const Entry &entry) {
    uint64_t number = issued.load(std::memory_order_relaxed);
    Waiter::until([&] { return number - retired.load(std::memory_order_acquire) < room; });
    entries[number % room] = entry;
    issued.store(number + 1, std::memory_order_release);
  }

  /// The next one; null when there are no more.
  const Entry *next() {
    uint64_t number = retired.load(std::memory_order_relaxed);
    auto isThere = [&] { return issued.load(std::memory_order_acquire) != number; };
    Waiter::until([&] { return isThere() || isClosed.load(std::memory_order_acquire); });
    return isThere() ? &entries[number % room] : nullptr;
  }

  /// The one that next() gave has finished.
  void retire() {
    retired.store(retired.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Blocks until all have finished.
  void drain() const {
    Waiter::until([&] {
      return retired.load(std::memory_order_acquire) == issued.load(std::memory_order_relaxed);
    });
  }

  /// No more will come.
  void close() { isClosed.store(true, std::memory_order_release); }

private:
  static constexpr uint64_t room = 16;
  Entry entries[room];
  alignas(64) std::atomic<uint64_t> issued{0};
  alignas(64) std::atomic<uint64_t> retired{0};
  alignas(64) std::atomic<bool> isClosed{false};
};

} // namespace tally::exec::runtime

#endif // TALLY_LIB_EXEC_COUNTERS_H
