// What utils/threads/second_opinion.py adds to a program: it runs again and again, with one function replaced, and compares.
//
//   ./PROGRAM CODE MUTANT RUNS EXPECTED [ARGUMENT]...
//
// MUTANT 0 is the right code. It exits with 65 if memory is not as in the files of the folder EXPECTED, with 67 if no thread
// can go on, and with what TSAN_OPTIONS say if ThreadSanitizer reports a race.
//
// Threads take turns: at each pause, and where one waits, it is drawn which one goes on. So each run has another order, the
// same in each process, and no time is spent on waiting. Turns are handed over by what ThreadSanitizer takes for no order at
// all: relaxed atomics, and calls of the system that it does not see. What it knows of the order, it knows from the counters.

#include <csignal>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace repeated {

constexpr int deadlock = 67;
constexpr int otherBytes = 65;
constexpr size_t mostThreads = 64;

/// A number that a thread can sleep on.
class alignas(64) Word {
public:
  void set(uint32_t to) {
    value.store(to, std::memory_order_relaxed);
    wake();
  }

  void sleepWhile(uint32_t what) {
    while (value.load(std::memory_order_relaxed) == what) {
      sleep(what);
    }
  }

  /// With order, for what stands between runs.
  void add() {
    value.fetch_add(1, std::memory_order_acq_rel);
    wake();
  }

  void sleepUntil(uint32_t what) {
    for (uint32_t now; (now = value.load(std::memory_order_acquire)) != what;) {
      sleep(now);
    }
  }

private:
  void wake() { syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0); }

  void sleep(uint32_t what) { syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, what, nullptr, nullptr, 0); }

  std::atomic<uint32_t> value{0};
};

/// Whose turn it is. Only the thread whose turn it is changes anything here, and none of it orders anything.
class Turns {
public:
  void begin(uint64_t run, size_t threads) {
    set(alive, threads == mostThreads ? ~uint64_t(0) : (uint64_t(1) << threads) - 1);
    set(idle, 0);
    set(draws, run * 0x9e3779b97f4a7c15 + 1);
    set(rarity, uint64_t(1) << draw(4)); // from turns at each pause to turns now and then
    set(isOrdered, draw(2));
    for (size_t i = 0; i < mostThreads; ++i) {
      set(ranks[i], draw(1 << 20));
    }
    give(pick(get(alive)));
  }

  void await(size_t thread) {
    words[thread].sleepWhile(0);
    words[thread].set(0);
    self = thread;
  }

  /// Perhaps another one goes on.
  void pause() {
    set(idle, 0);
    if (get(isOrdered) != 0 && draw(16) == 0) {
      set(ranks[self], draw(1 << 20) << 20); // from now on, one of the last
    }
    if (draw(get(rarity)) == 0) {
      handOver(pick(get(alive)));
    }
  }

  /// Another one goes on, as this one waits for something that does not hold. If none can, all wait forever: what a thread
  /// has done, it has done before it began to wait.
  void wait(bool isFirst) {
    set(idle, (isFirst ? 0 : get(idle)) | bit(self));
    uint64_t others = get(alive) & ~get(idle);
    if (others == 0) {
      std::printf("no thread can go on\n");
      std::fflush(stdout);
      _exit(deadlock);
    }
    handOver(pick(others));
  }

  void end() {
    set(idle, 0);
    set(alive, get(alive) & ~bit(self));
    if (get(alive) != 0) {
      give(pick(get(alive)));
    }
  }

private:
  using Number = std::atomic<uint64_t>;

  static uint64_t bit(size_t thread) { return uint64_t(1) << thread; }

  static uint64_t get(const Number &number) { return number.load(std::memory_order_relaxed); }

  static void set(Number &number, uint64_t to) { number.store(to, std::memory_order_relaxed); }

  uint64_t draw(uint64_t below) {
    set(draws, get(draws) * 6364136223846793005 + 1442695040888963407);
    return (get(draws) >> 33) % below;
  }

  /// At random; or, in half of the runs, the first in an order that was drawn: then one thread runs ahead as far as it can, while
  /// another one is late.
  size_t pick(uint64_t threads) {
    if (get(isOrdered) != 0) {
      size_t first = static_cast<size_t>(std::countr_zero(threads));
      for (size_t i = first; i < mostThreads; ++i) {
        if ((threads & bit(i)) != 0 && get(ranks[i]) < get(ranks[first])) {
          first = i;
        }
      }
      return first;
    }
    uint64_t left = draw(static_cast<uint64_t>(std::popcount(threads)));
    for (; left != 0; --left) {
      threads &= threads - 1;
    }
    return static_cast<size_t>(std::countr_zero(threads));
  }

  void give(size_t thread) { words[thread].set(1); }

  void handOver(size_t thread) {
    if (thread != self) {
      size_t own = self;
      give(thread);
      await(own);
    }
  }

  Number alive{0}, idle{0}, draws{0}, rarity{1}, isOrdered{0};
  Number ranks[mostThreads];
  Word words[mostThreads];
  static inline thread_local size_t self = 0;
};

inline Turns turns;

void pause() {
  turns.pause();
}

void wait(bool isFirst) {
  turns.wait(isFirst);
}

class Program : public tally::Program {
public:
  void replace(int mutant, size_t thread, void (*function)()) {
    replacements.push_back({mutant, thread, function});
  }

  int run(int argc, char **argv, uint64_t &seed) {
    if (argc < 4) {
      tally::fail("there are to be: CODE MUTANT RUNS EXPECTED [ARGUMENT]...");
    }
    int mutant = std::atoi(argv[1]);
    auto runs = static_cast<uint32_t>(std::atoi(argv[2]));
    repeat = 2; // so that inputs are kept
    prepare(argc - 3, argv + 3, seed);
    for (const Replacement &replacement : replacements) {
      if (replacement.mutant == mutant) {
        functions[replacement.thread] = replacement.function;
      }
    }
    std::vector<std::vector<char>> expected = read(argv[3]);
    for (size_t i = 0; i < functions.size(); ++i) {
      std::thread([this, i] { work(i); }).detach();
    }
    for (uint32_t number = 1; number <= runs; ++number) {
      std::printf("run %u\n", number);
      std::fflush(stdout);
      runOnce(number);
      for (size_t i = 0; i < files.size(); ++i) {
        if (!expected[i].empty() && std::memcmp(files[i].bytes, expected[i].data(), expected[i].size()) != 0) {
          std::printf("other bytes in %s\n", files[i].name);
          leave(otherBytes);
        }
      }
    }
    leave(0);
  }

private:
  struct Replacement {
    int mutant;
    size_t thread;
    void (*function)();
  };

  [[noreturn]] static void leave(int status) {
    std::fflush(stdout);
    _exit(status); // as threads are still there
  }

  void runOnce(uint32_t number) {
    restore();
    started.add();
    turns.begin(number, functions.size());
    ended.sleepUntil(number * static_cast<uint32_t>(functions.size()));
  }

  /// A thread, in all runs.
  void work(size_t thread) {
    for (uint32_t number = 1;; ++number) {
      started.sleepUntil(number);
      turns.await(thread);
      functions[thread]();
      turns.end();
      ended.add();
    }
  }

  /// Of each buffer that has a file.
  std::vector<std::vector<char>> read(const std::string &folder) {
    std::vector<std::vector<char>> all;
    for (tally::BufferFile file : files) {
      all.emplace_back(file.numBytes);
      file.bytes = all.back().data();
      if (!tally::readFile(folder, file)) {
        all.back().clear();
      }
    }
    return all;
  }

  std::vector<Replacement> replacements;
  Word started, ended;
};

} // namespace repeated
