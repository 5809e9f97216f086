//===- FurnishedKernel.cpp - Random kernels with buffers, tiles, operations ===//
#include "FurnishedKernel.h"

#include "RandomKernel.h"
#include "oracle/Campaign.h"

#include "tally/Model/Open.h"
#include "tally/Model/Rings.h"
#include "tally/Model/Tiles.h"

#include <fmt/format.h>

namespace tally::oracle {

/// What may be left open.
static void leaveOpen(Kernel &kernel, fuzz::Random &random) {
  const IdVector<InstrId, bool> tied = tiedInstrs(kernel);
  for (InstrId id : kernel.instrs.ids()) {
    const QueueId other(static_cast<uint32_t>(random.below(kernel.queues.size())));
    if (!tied[id] && other != kernel.instrs[id].queue && random.percent(20)) {
      kernel.openQueues.push_back({id, {other}});
    }
  }
  const IdVector<BufferId, std::vector<AccessId>> accesses = accessesOf(kernel);
  for (BufferId id : kernel.buffers.ids()) {
    std::optional<SlotRing> ring = ringOf(kernel, accesses[id]);
    if (ring && hasOpenPlace(kernel, id)) {
      kernel.buffers[id].ring = SlotBounds{ring->least, 4 + random.below(4)};
    }
  }
}

Kernel furnishedKernel(uint64_t seed) {
  Kernel kernel = fuzz::randomKernel(seed, optionsForSeed(seed));
  fuzz::Random random(seed);
  for (uint32_t i = 0; i < 3; ++i) {
    Buffer buffer;
    buffer.name = kernel.strings.intern(fmt::format("X{}", i));
    buffer.space = random.percent(50) ? kernel.strings.intern("sbuf") : NameId();
    buffer.elementType = random.percent(50) ? kernel.strings.intern("bf16") : NameId();
    buffer.shape = {4, 128};
    buffer.address = random.percent(50) ? std::optional<uint64_t>(4096 * i) : std::nullopt;
    if (random.percent(30)) {
      buffer.partitions = Partitions{32 * random.below(4), static_cast<uint32_t>(random.below(2))};
    }
    for (uint32_t other = 0; other < i; ++other) {
      if (random.percent(40)) {
        (random.percent(50) ? buffer.alias : buffer.noalias).emplace_back(other);
      }
    }
    kernel.buffers.push(std::move(buffer));
  }
  for (InstrId id : kernel.instrs.ids()) {
    Instr &instr = kernel.instrs[id];
    instr.operation = random.percent(50) ? kernel.strings.intern("copy") : NameId();
    LoopId loop = kernel.realLoop(instr.home);
    std::string index =
        loop == rootLoop ? "1" : fmt::format("{} mod 4", std::string(kernel.nameOf(loop)));
    instr.accesses.first = static_cast<uint32_t>(kernel.accesses.size());
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write, AccessKind::Accumulate}) {
      if (random.percent(40)) {
        BufferId buffer(random.in(fuzz::Range{0, 2}));
        std::string tile = fmt::format("X{}[{}, 0:128]", buffer.value, index);
        if (loop != rootLoop && random.percent(30)) {
          tile += fmt::format(" if {0} != trips({0}) - 1", std::string(kernel.nameOf(loop)));
        }
        kernel.accesses.push({kind, buffer, kernel.strings.intern(tile)});
      }
    }
    instr.accesses.count = static_cast<uint32_t>(kernel.accesses.size()) - instr.accesses.first;
  }
  kernel.files = {"k", "k.py"};
  uint32_t line = 0;
  auto place = [&](auto &one) { one.where = {1, ++line, 1}; };
  place(kernel);
  std::ranges::for_each(kernel.engines, place);
  for (Queue &queue : kernel.queues) {
    const Engine &engine = kernel.engines[queue.engine];
    bool hasOwn = engine.name != queue.name && random.percent(50);
    hasOwn ? place(queue) : void(queue.where = engine.where);
  }
  std::ranges::for_each(kernel.loops, place);
  kernel.loops[rootLoop].where = kernel.where;
  std::ranges::for_each(kernel.instrs, place);
  std::ranges::for_each(kernel.buffers, place);
  std::ranges::for_each(kernel.deps, place);
  kernel.tiles = std::make_shared<const TileTable>(kernel);
  leaveOpen(kernel, random);
  return kernel;
}

} // namespace tally::oracle
