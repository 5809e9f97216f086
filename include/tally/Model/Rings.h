//===- Rings.h - Buffers whose slots are taken in turn --------------------===//
//
// A ring is a buffer of which each access takes one slot, the next one in each iteration of one
// loop:
//
//   load writes X[A mod 2, 0:128]      scale reads X[A mod 2, 0:128]
//
// Instructions mean the same with more slots: a later iteration only has to wait for less. A kernel
// may leave open how many there are (Buffer::ring).
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_RINGS_H
#define TALLY_MODEL_RINGS_H

#include "tally/Model/Kernel.h"

namespace tally {

struct SlotRing {
  size_t dim = 0;     ///< the dimension of the slots
  uint64_t least = 1; ///< slots with which it still means the same
};

/// A ring, and how many slots it is to have.
struct SlotsOf {
  BufferId buffer;
  uint64_t slots = 0;
};

IdVector<BufferId, std::vector<AccessId>> accessesOf(const Kernel &kernel);

/// None if what these are all accesses of is not seen to be a ring.
std::optional<SlotRing> ringOf(const Kernel &kernel, const std::vector<AccessId> &accesses);

/// Whether nothing outside of the kernel can see it: its space is stated, and is not called like
/// memory outside (`hbm`, `dram`, `ddr`, as a part of a name or in capitals, too).
bool isOnChip(const Kernel &kernel, BufferId buffer);

/// Whether nothing says where the buffer lies, so that it may be larger.
bool hasOpenPlace(const Kernel &kernel, BufferId buffer);

/// The same kernel with other numbers of slots; none if these are no such rings, or need more.
std::optional<Kernel> withSlots(const Kernel &kernel, std::span<const SlotsOf> rings);

} // namespace tally

#endif // TALLY_MODEL_RINGS_H
