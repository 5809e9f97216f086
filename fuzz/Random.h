//===- Random.h - Draws that depend on a seed alone -----------------------===//
#ifndef TALLY_FUZZ_RANDOM_H
#define TALLY_FUZZ_RANDOM_H

#include <cstdint>
#include <random>

namespace tally::fuzz {

struct Range {
  uint32_t min = 0;
  uint32_t max = 0; ///< inclusive
};

/// The distributions of <random> may differ between standard libraries; a remainder does not, and
/// its bias is of no account for ranges this small.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// A number below `bound`, which is not 0.
  uint64_t below(uint64_t bound) { return engine() % bound; }

  uint32_t in(Range range) {
    return range.min + static_cast<uint32_t>(below(uint64_t(range.max) - range.min + 1));
  }

  int64_t in(int64_t min, int64_t max) {
    return min + static_cast<int64_t>(below(static_cast<uint64_t>(max - min) + 1));
  }

  bool percent(uint32_t chance) { return below(100) < chance; }

private:
  std::mt19937_64 engine;
};

} // namespace tally::fuzz

#endif // TALLY_FUZZ_RANDOM_H
