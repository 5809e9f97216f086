//===- Rings.h - Random kernels with rings, for tests of advice -----------===//
//
// Loads, steps and stores on three engines, in one loop or two, with rings of two to four slots.
// What is read was mostly written in this iteration or the one before, but it may also be what the
// slot has held for a whole turn: then more slots would change what is read. Some instructions run
// in every other iteration only. `w` is one tile, as of weights, and `t` has a row for each
// iteration, so that what is between two instructions of a loop may wait in it.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_UNITTESTS_ADVISE_RINGS_H
#define TALLY_UNITTESTS_ADVISE_RINGS_H

#include "Random.h"

#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>

namespace tally {

class RingDrawer {
public:
  explicit RingDrawer(uint64_t seed) : random(seed) {}

  Kernel draw() {
    EngineId engines[] = {b.engine("sync"), b.engine("vector"), b.engine("scalar")};
    in = b.buffer("in", std::vector<uint64_t>{6, 2}, "hbm", "f32");
    out = b.buffer("out", std::vector<uint64_t>{8, 2}, "hbm", "f32");
    for (uint32_t i = 0; i < random.in({1, 3}); ++i) {
      depths.push_back(random.in({2, 4}));
      rings.push_back(
          b.buffer(fmt::format("ring{}", i), std::vector<uint64_t>{depths[i], 2}, "sbuf", "f32"));
    }
    w = b.buffer("w", std::vector<uint64_t>{2}, "sbuf", "f32");
    t = b.buffer("t", std::vector<uint64_t>{9, 2}, "sbuf", "f32");
    hasTiles = random.percent(40);
    if (hasTiles && random.percent(60)) {
      b.instr("w0", b.queueOf(engines[0]), "dma_copy(bytes=16)");
      b.computes("r0");
      b.access(AccessKind::Read, in, "in[5, 0:2]");
      b.access(AccessKind::Write, w, "w[0:2]");
    }
    const bool keeps = random.percent(30); // engines do, from the start
    for (uint32_t i = 0; i < (keeps ? 3 : 0); ++i) {
      b.instr(fmt::format("k{}", i), b.queueOf(engines[i]), "dma_copy(bytes=16)");
      b.computes("keep(r0)");
      b.access(AccessKind::Read, in, fmt::format("in[{}, 0:2]", i));
    }
    b.beginLoop("A", KernelBuilder::constant(random.in({1, 7})));
    const bool isNest = random.percent(40);
    if (isNest) {
      b.beginLoop("B", KernelBuilder::constant(random.in({1, 3})));
    }
    counter = isNest && random.percent(70) ? random.percent(50) ? "total(B)" : "B" : "A";
    const uint32_t numInstrs = random.in({2, 6});
    const bool decides = random.percent(30);
    for (uint32_t i = 0; i < numInstrs; ++i) {
      const bool isDecided = decides && random.percent(40);
      if (isDecided) {
        b.setCondition(b.beginIf(fmt::format("c{}", i)), "A mod 2 == 0");
      }
      addInstr(i, engines[random.below(3)], keeps, isNest);
      if (isDecided) {
        b.endIf();
      }
    }
    if (isNest) {
      b.endLoop();
    }
    b.endLoop();
    return b.finish();
  }

private:
  void addInstr(uint32_t i, EngineId engine, bool keeps, bool isNest) {
    b.instr(fmt::format("i{}", i), b.queueOf(engine),
            random.percent(50) ? "dma_copy(bytes=4096)" : "tensor_copy(n=64)");
    const bool loads = i == 0 || random.percent(25);
    const bool readsTile = hasTiles && random.percent(30);
    std::string value = loads                    ? "r0"
                        : hasTiles && i % 2 == 0 ? "mod(5 * r0 + 1, 251)"
                                                 : "mod(3 * r0 + A, 251)";
    if (keeps && random.percent(50)) {
      value = random.percent(50) ? "keep(r0); " + value : "mod(" + value + " + kept, 251)";
    }
    b.computes(value);
    if (loads) {
      b.access(AccessKind::Read, in,
               hasTiles && random.percent(40) ? "in[3, 0:2]" : "in[A mod 6, 0:2]");
    } else {
      readsTile ? tile(AccessKind::Read, i) : read();
    }
    if (hasTiles && random.percent(30)) {
      tile(AccessKind::Write, i);
      return;
    }
    if (isNest && random.percent(15)) { // a sum over B, if the ring is not taken by its runs
      b.computes("start(B, mod(r0, 251))");
      b.access(AccessKind::Accumulate, rings[0], fmt::format("ring0[A mod {}, 0:2]", depths[0]));
      return;
    }
    random.percent(75) ? write() : b.access(AccessKind::Write, out, "out[A mod 8, 0:2]");
  }

  AccessId tile(AccessKind kind, uint32_t i) {
    if (random.percent(35)) {
      return b.access(kind, w, random.percent(90) ? "w[0:2]" : "w[0:2] if A > 0");
    }
    return b.access(kind, t, random.percent(80) || i == 0 ? "t[A, 0:2]" : "t[A + 1, 0:2]");
  }

  std::string slot(size_t ring, uint32_t ahead) {
    std::string index = ahead == 0 ? counter : fmt::format("({} + {})", counter, ahead);
    return fmt::format("ring{}[{} mod {}, 0:2]", ring, index, depths[ring]);
  }

  /// `(A + R - d) mod R` is what was written d iterations ago, of R slots. It is written so that
  /// it means something else with more slots; `(A - d) mod R` does not.
  AccessId read() {
    size_t ring = random.below(rings.size());
    uint32_t back = random.percent(60) ? 0 : random.in({1, 2});
    if (random.percent(20)) {
      return b.access(AccessKind::Read, rings[ring],
                      slot(ring, depths[ring] - std::min(back, depths[ring])));
    }
    std::string index = back == 0 ? counter : fmt::format("({} - {})", counter, back);
    return b.access(AccessKind::Read, rings[ring],
                    fmt::format("ring{}[{} mod {}, 0:2]{}", ring, index, depths[ring],
                                guard(back, depths[ring])));
  }

  /// From some iteration on; or up to one, so that old slots are seen later.
  std::string guard(uint32_t back, uint32_t depth) {
    switch (random.below(6)) {
    case 0:
      return fmt::format(" if {} >= {}", counter, back);
    case 1:
      return fmt::format(" if {} >= {}", counter, depth);
    case 2:
      return fmt::format(" if A >= {}", random.in({1, 2}));
    default:
      return "";
    }
  }

  AccessId write() {
    size_t ring = random.below(rings.size());
    std::string limit = random.percent(20) ? fmt::format(" if A < {}", random.in({1, 4})) : "";
    return b.access(AccessKind::Write, rings[ring], slot(ring, random.percent(80) ? 0 : 1) + limit);
  }

  fuzz::Random random;
  KernelBuilder b{"rings"};
  BufferId in, out, w, t;
  bool hasTiles = false; ///< `w` and `t` are used
  std::vector<BufferId> rings;
  std::vector<uint32_t> depths;
  std::string counter;
};

} // namespace tally

#endif // TALLY_UNITTESTS_ADVISE_RINGS_H
