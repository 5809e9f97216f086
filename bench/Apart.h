//===- Apart.h - Measuring in a separate process --------------------------===//
//
// The peak memory of a process never falls. So each row of a benchmark is measured in a child,
// which sends back what it found.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_BENCH_APART_H
#define TALLY_BENCH_APART_H

#include <chrono>
#include <cstdint>
#include <sys/resource.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace tally::bench {

inline double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The most memory that this process has had so far.
inline uint64_t peakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss) * 1024;
}

/// What `measure` returns, called in a child process; its default value if that fails.
template <typename Measure> auto measureApart(Measure measure) {
  using Measurement = decltype(measure());
  static_assert(std::is_trivially_copyable_v<Measurement>, "sent as bytes");
  Measurement result;
  int ends[2];
  if (pipe(ends) != 0) {
    return result;
  }
  pid_t child = fork();
  if (child == 0) {
    Measurement own = measure();
    bool sent = write(ends[1], &own, sizeof own) == sizeof own;
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  bool received = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return received ? result : Measurement();
}

} // namespace tally::bench

#endif // TALLY_BENCH_APART_H
