//===- Memories.cpp - Whether buffers fit into a machine ------------------===//

#include "tally/Machine/Memories.h"

#include "tally/Model/Overlap.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <map>

namespace tally {
namespace {

/// Something that does not fit, as it is told.
struct Shortage {
  Location where;
  std::string text;
};

class Memories {
public:
  Memories(const Kernel &kernel, const Machine &machine) : kernel(kernel), machine(machine) {}

  std::vector<Shortage> shortages() {
    for (BufferId id : kernel.buffers.ids()) {
      const Buffer &buffer = kernel.buffers[id];
      const MemorySize *memory = machine.memory(kernel.text(buffer.space));
      if (buffer.space.valid() && memory != nullptr) {
        look(buffer, regionOf(buffer, elementBytes(kernel, id).value_or(1)), *memory);
      }
    }
    return std::move(found);
  }

private:
  /// Of all its partitions together.
  static uint64_t allBytes(const MemorySize &memory) {
    uint64_t bytes = 0;
    return __builtin_mul_overflow(memory.partitions, memory.bytes, &bytes) ? UINT64_MAX : bytes;
  }

  void look(const Buffer &buffer, const Region &region, const MemorySize &memory) {
    uint64_t lastPartition = region.firstPartition + region.numPartitions - 1;
    uint64_t end = region.firstByte + region.numBytes;
    if (buffer.partitions && lastPartition >= memory.partitions) {
      add(buffer, fmt::format("takes partitions up to {}", lastPartition), memory);
    } else if (buffer.partitions && end > memory.bytes) {
      add(buffer, fmt::format("takes bytes of each partition up to {}", end - 1), memory);
    } else if (!buffer.partitions && buffer.address && end > memory.bytes) {
      add(buffer, fmt::format("takes bytes of partition 0 up to {}", end - 1), memory);
    } else if (!buffer.address) {
      addUp(buffer, region.numPartitions * region.numBytes, memory);
    }
  }

  void add(const Buffer &buffer, const std::string &what, const MemorySize &memory) {
    found.push_back({buffer.where, fmt::format("buffer '{}' {}, and {}", kernel.text(buffer.name),
                                               what, sizeText(memory))});
  }

  std::string sizeText(const MemorySize &memory) const {
    return fmt::format("'{}' of machine '{}' has {} of {}", memory.space, machine.name,
                       counted(memory.partitions, "partition"), counted(memory.bytes, "byte"));
  }

  /// Once for each memory, at the first buffer that is too much.
  void addUp(const Buffer &buffer, uint64_t bytes, const MemorySize &memory) {
    uint64_t &used = usedOf[&memory];
    bool hadRoom = used <= allBytes(memory);
    used = bytes > UINT64_MAX - used ? UINT64_MAX : used + bytes;
    if (hadRoom && used > allBytes(memory)) {
      found.push_back(
          {buffer.where,
           fmt::format("with buffer '{}', those without addresses take {}, and {}",
                       kernel.text(buffer.name), counted(used, "byte"), sizeText(memory))});
    }
  }

  const Kernel &kernel;
  const Machine &machine;
  std::map<const MemorySize *, uint64_t> usedOf;
  std::vector<Shortage> found;
};

} // namespace

bool mayFit(const Kernel &kernel, const Machine &machine) {
  return Memories(kernel, machine).shortages().empty();
}

void warnOfMemories(const Kernel &kernel, const Machine &machine, Diagnostics &diagnostics) {
  for (Shortage &shortage : Memories(kernel, machine).shortages()) {
    diagnostics.remark(shortage.where, std::move(shortage.text)).severity = Severity::Warning;
  }
}

} // namespace tally
