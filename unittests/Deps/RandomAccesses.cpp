//===- RandomAccesses.cpp - Small kernels that touch memory, from a seed --===//

#include "RandomAccesses.h"

#include <algorithm>

namespace tally::oracle {

using fuzz::Random;

Kernel randomAccesses(uint64_t seed, fuzz::Tiles tiles) {
  fuzz::RandomKernelOptions options;
  options.tiles = tiles;
  options.engines = {1, 3};
  options.extraQueues = {0, 1};
  options.weight = {1, 1};
  options.maxDepth = 3;
  options.blockSize = {1, 1};
  options.instructions = {2, 6};
  options.dependences = {0, 0};
  options.trips = {0, 5};
  options.loopPercent = 45;
  options.ifPercent = 8;
  options.constantPercent = 50;
  options.guardPercent = 8;
  options.formulaPercent = seed % 3 == 0 ? 45 : 0;
  if (seed % 5 == 1) {
    options.ifPercent = 25;
    options.conditionPercent = 80;
  }
  Kernel kernel = fuzz::randomKernel(seed, options);
  for (Queue &queue : kernel.queues) {
    queue.addsInOrder = seed % 4 != 1 || queue.engine == EngineId(0);
  }
  return kernel;
}

std::function<uint64_t(LoopId, uint64_t)> randomTrips(const Kernel &kernel, uint64_t seed,
                                                      uint64_t shortest, uint64_t longest) {
  return [&kernel, seed, shortest, longest](LoopId id, uint64_t entry) -> uint64_t {
    const Loop &loop = kernel.loops[id];
    if (!loop.isBranch() && loop.trip.kind == Trip::Kind::Constant) {
      return loop.trip.constant;
    }
    Random random(seed * 1'000'003 + uint64_t{id.value} * 1009 + entry);
    random.below(2);
    if (loop.isBranch()) {
      return random.below(2);
    }
    uint64_t most = loop.trip.max.value_or(std::max(longest, loop.trip.min));
    uint64_t first = std::clamp(shortest, loop.trip.min, most);
    uint64_t last = std::clamp(longest, loop.trip.min, most);
    return first + random.below(last - first + 1);
  };
}

std::map<std::string, int64_t> randomValues(const Kernel &kernel, uint64_t seed, uint64_t shortest,
                                            uint64_t longest) {
  std::map<std::string, int64_t> values;
  for (const RunValue &value : kernel.values) {
    uint64_t most = value.max.value_or(std::max(longest, value.min));
    uint64_t first = std::clamp(shortest, value.min, most);
    uint64_t last = std::clamp(longest, value.min, most);
    Random random(seed * 1'000'003 + values.size());
    values[std::string(kernel.text(value.name))] =
        static_cast<int64_t>(first + random.below(last - first + 1));
  }
  return values;
}

} // namespace tally::oracle
