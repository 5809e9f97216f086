//===- Overlap.cpp - Buffers that share memory ----------------------------===//

#include "tally/Model/Overlap.h"

#include <algorithm>
#include <tuple>

namespace tally {

std::vector<Overlap> findOverlaps(const Kernel &kernel, const IdVector<BufferId, uint64_t> &bytes) {
  std::vector<BufferId> placed;
  for (BufferId id : kernel.buffers.ids()) {
    if (kernel.buffers[id].address) {
      placed.push_back(id);
    }
  }
  auto key = [&](BufferId id) {
    return std::tuple(kernel.buffers[id].space, *kernel.buffers[id].address, id);
  };
  std::sort(placed.begin(), placed.end(), [&](BufferId a, BufferId b) { return key(a) < key(b); });

  std::vector<Overlap> overlaps;
  BufferId farthest; // of those in this space so far, the one that ends last
  auto reaches = [&](BufferId id, uint64_t address) {
    return address - *kernel.buffers[id].address < bytes[id];
  };
  auto endOf = [&](BufferId id) {
    uint64_t address = *kernel.buffers[id].address;
    return bytes[id] > UINT64_MAX - address ? UINT64_MAX : address + bytes[id];
  };
  for (BufferId id : placed) {
    const Buffer &buffer = kernel.buffers[id];
    if (!farthest.valid() || kernel.buffers[farthest].space != buffer.space) {
      farthest = id;
      continue;
    }
    if (reaches(farthest, *buffer.address)) {
      overlaps.push_back({farthest, id});
    }
    farthest = endOf(id) > endOf(farthest) ? id : farthest;
  }
  return overlaps;
}

} // namespace tally
