//===- Numbers.h - Random numbers, the same everywhere ---------------------===//
#ifndef TALLY_BENCH_NUMBERS_H
#define TALLY_BENCH_NUMBERS_H

#include <cstdint>

namespace tally::bench {

class Numbers {
public:
  explicit Numbers(uint64_t seed = 1) : state(seed) {}

  uint64_t below(uint64_t bound) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % bound;
  }

private:
  uint64_t state;
};

} // namespace tally::bench

#endif // TALLY_BENCH_NUMBERS_H
