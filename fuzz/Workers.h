//===- Workers.h - Seeds in parallel, results in order --------------------===//
//
// A campaign looks at one seed after the other until it has seen enough. Here several are
// looked at at once, and their results come back in the order of the seeds, so that a report does
// not depend on the number of workers.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_WORKERS_H
#define TALLY_FUZZ_WORKERS_H

#include "tally/Support/Stop.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace tally::fuzz {

/// When a campaign stops; whatever comes first.
struct Extent {
  uint64_t seed = 1;  ///< the first one
  uint64_t count = 0; ///< how much is to be seen; what is counted depends on the campaign
  double minutes = 0; ///< time; 0: no limit
  uint32_t workers = 1;
  const StopFlag *stop = nullptr; ///< ends with the seeds that were looked at
};

/// Calls look(seed) on `workers` threads for seeds from the first on, and take(result) in the
/// order of seeds, until take says false or time is up. Results after that are dropped.
template <typename Look, typename Take> void forSeeds(const Extent &extent, Look look, Take take) {
  using Result = decltype(look(uint64_t()));
  auto start = std::chrono::steady_clock::now();
  uint32_t workers = std::max(1u, extent.workers);
  constexpr uint32_t perWorker = 4; // a batch waits for its slowest seed
  for (uint64_t first = extent.seed;; first += workers * perWorker) {
    std::vector<std::optional<Result>> results(size_t(workers) * perWorker);
    std::atomic<size_t> next = 0;
    auto work = [&] {
      for (size_t i = next++; i < results.size() && !isSet(extent.stop); i = next++) {
        results[i] = look(first + i);
      }
    };
    std::vector<std::thread> threads;
    for (uint32_t w = 1; w < workers; ++w) {
      threads.emplace_back(work);
    }
    work();
    for (std::thread &thread : threads) {
      thread.join();
    }
    for (std::optional<Result> &result : results) {
      if (!result || !take(std::move(*result))) {
        return;
      }
    }
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (extent.minutes > 0 && passed.count() > extent.minutes * 60) {
      return;
    }
  }
}

} // namespace tally::fuzz

#endif // TALLY_FUZZ_WORKERS_H
