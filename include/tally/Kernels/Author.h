//===- Author.h - Writing kernels in C++ ----------------------------------===//
//
// KernelBuilder takes a kernel piece by piece and in canonical form; an author writes
// one the way it is read: loops as blocks, tiles as text, dependences by kind.
//
//   KernelAuthor k("double_buffer");
//   EngineId act = k.engine("act");
//   EngineId dma = k.engine("dma");
//   k.buffer("X", {2, 128}, "sbuf", "bf16");
//   InstrId load, scale;
//   LoopId a = k.loop("A", k.value("n"), [&] {
//     load = k.op(dma, "load", "dma_copy(bytes=256)", {.writes = {"X[A mod 2, 0:128]"}});
//     scale = k.op(act, "scale", "activation(n=128)", {.reads = {"X[A mod 2, 0:128]"}});
//   });
//   k.raw(load, scale);
//   k.war(scale, load, {{a, 2}});
//   std::optional<Kernel> kernel = k.finish(diagnostics);
//
// docs/guide/Kernels.md takes this kernel from here to a timeline.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_KERNELS_AUTHOR_H
#define TALLY_KERNELS_AUTHOR_H

#include "tally/Model/KernelBuilder.h"
#include "tally/Support/Diagnostics.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tally {

/// What an instruction touches, as tiles (AccessText.h), and what it makes of them.
struct Tiles {
  std::vector<std::string> reads = {};
  std::vector<std::string> writes = {};
  std::vector<std::string> accumulates = {}; ///< read, added to, and written
  std::string computes = {};                 ///< ComputeText.h; empty: not said
};

class KernelAuthor {
public:
  using Distances = std::initializer_list<DistanceComponent>;
  using Pairs = std::initializer_list<std::pair<InstrId, InstrId>>; ///< producer and consumer

  explicit KernelAuthor(std::string_view name) : builder(name) {}

  EngineId engine(std::string_view name) { return builder.engine(name); }

  /// A queue of its own for transfers that the engine declared last starts. Each of the 16 parts of
  /// a transfer raises a semaphore by one.
  QueueId transfers(std::string_view name) { return builder.queue(name, 16); }

  void buffer(std::string_view name, std::initializer_list<uint64_t> shape,
              std::string_view space = {}, std::string_view elementType = {});

  Trip value(std::string_view symbol, uint64_t min = 0, std::optional<uint64_t> max = {}) {
    return builder.value(symbol, min, max);
  }

  /// A loop with everything that `body` writes.
  template <typename Body> LoopId loop(std::string_view name, Trip trip, Body body) {
    LoopId id = builder.beginLoop(name, trip);
    body();
    builder.endLoop();
    return id;
  }

  template <typename Body> LoopId loop(std::string_view name, uint64_t trips, Body body) {
    return loop(name, KernelBuilder::constant(trips), body);
  }

  /// An instruction; `operation` is what a machine knows the cost of (Timing.h).
  InstrId op(QueueId queue, std::string_view name, std::string_view operation,
             const Tiles &tiles = {});

  InstrId op(EngineId engine, std::string_view name, std::string_view operation,
             const Tiles &tiles = {}) {
    return op(builder.queueOf(engine), name, operation, tiles);
  }

  /// A transfer of this many bytes, which moves a tile as it is. `operation` says what makes its
  /// descriptors (Timing.h): hardware, unless something else is named.
  InstrId copy(QueueId queue, std::string_view name, uint64_t bytes, const std::string &from,
               const std::string &to, std::string_view operation = "dma_copy");

  /// `consumer` reads what `producer` wrote.
  void raw(InstrId producer, InstrId consumer, Distances distances = {}) {
    builder.dep(producer, consumer, distances, DepKind::RAW);
  }

  void raw(Pairs pairs) {
    for (auto [producer, consumer] : pairs) {
      raw(producer, consumer);
    }
  }

  /// The same for two instructions of one body, over all its runs: a buffer whose turns go on from
  /// one iteration of the loop to the next.
  void rawFlat(InstrId producer, InstrId consumer, int64_t runs) {
    builder.depFlat(producer, consumer, runs, DepKind::RAW);
  }

  /// `consumer` overwrites what `producer` read.
  void war(InstrId producer, InstrId consumer, Distances distances = {}) {
    builder.dep(producer, consumer, distances, DepKind::WAR);
  }

  void war(Pairs pairs, Distances distances) {
    for (auto [producer, consumer] : pairs) {
      war(producer, consumer, distances);
    }
  }

  /// As rawFlat().
  void warFlat(InstrId producer, InstrId consumer, int64_t runs) {
    builder.depFlat(producer, consumer, runs, DepKind::WAR);
  }

  /// The kernel, if everything in it is legal; otherwise errors say what is not.
  std::optional<Kernel> finish(Diagnostics &diagnostics);

private:
  void touch(AccessKind kind, const std::vector<std::string> &tiles, std::string_view instr);

  KernelBuilder builder;
  std::vector<std::string> errors;
};

} // namespace tally

#endif // TALLY_KERNELS_AUTHOR_H
