//===- LargeKernel.cpp - Kernels of any size, for timing ------------------===//

#include "LargeKernel.h"

#include "tally/Model/KernelBuilder.h"
#include "tally/Model/Place.h"

#include <fmt/format.h>

#include <random>

namespace tally::bench {
namespace {

constexpr uint32_t numEngines = 5;
constexpr uint32_t maxLoopDepth = 6;
constexpr uint32_t instrsPerLoop = 90;
constexpr uint32_t reach = 200; ///< how far apart the ends of a dependence may lie

class Maker {
public:
  Maker(size_t numInstrs, uint64_t seed) : numInstrs(numInstrs), random(seed), builder("large") {}

  Kernel run() {
    builder.reserve(numInstrs, numInstrs);
    for (uint32_t e = 0; e < numEngines; ++e) {
      queues.push_back(builder.queueOf(builder.engine(fmt::format("e{}", e))));
    }
    while (made < numInstrs) {
      step();
    }
    while (builder.depth() > 0) {
      builder.endLoop();
    }
    // The tree is complete: what lies where is known, and dependences can be legal.
    for (uint32_t i = 0; i < numInstrs; ++i) {
      addDependence(InstrId(i));
    }
    return builder.finish();
  }

private:
  uint64_t draw(uint64_t bound) { return random() % bound; }

  /// An instruction, and now and then a loop opened or closed before it.
  void step() {
    if (draw(instrsPerLoop) == 0 && builder.depth() < maxLoopDepth) {
      builder.beginLoop(fmt::format("L{}", numLoops++), builder.value("n"));
    } else if (draw(instrsPerLoop) == 0 && builder.depth() > 0) {
      builder.endLoop();
    }
    builder.instr(fmt::format("i{}", made++), queues[draw(numEngines)]);
  }

  /// One dependence with `consumer`, forward in the text at distance 0, or carried by a
  /// common loop.
  void addDependence(InstrId consumer) {
    const Kernel &kernel = builder.peek();
    uint64_t back = 1 + draw(reach);
    InstrId producer(static_cast<uint32_t>(consumer.value >= back ? consumer.value - back : 0));
    LoopId shared = kernel.commonLoop(kernel.instrs[producer].home, kernel.instrs[consumer].home);
    bool carried = shared != rootLoop && draw(3) != 0;
    if (!carried && producer != consumer) {
      builder.dep(producer, consumer);
    } else if (carried && draw(2) == 0) {
      builder.dep(producer, consumer, {{shared, int64_t(1 + draw(3))}});
    } else if (carried) {
      builder.dep(consumer, producer, {{shared, int64_t(1 + draw(2))}});
    }
  }

  const size_t numInstrs;
  std::mt19937_64 random;
  KernelBuilder builder;
  std::vector<QueueId> queues;
  size_t made = 0;
  uint32_t numLoops = 0;
};

} // namespace

Kernel largeKernel(size_t numInstrs, uint64_t seed) {
  return Maker(numInstrs, seed).run();
}

} // namespace tally::bench
