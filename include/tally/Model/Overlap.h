//===- Overlap.h - Buffers that share memory ------------------------------===//
//
// Buffers have names of their own, but a fixed address may put one over another, and a kernel may
// say that it does not know (`alias`) or does know better (`noalias`). Code that takes different
// buffers for different memory has to look first.
//
//   X at 0, 64 bytes     Y at 32, 64 bytes     Z alias ["X"]
//
//   X, Y   Known: bytes 32 to 63 are common
//   X, Z   Unknown
//   Y, Z   Nothing
//
// Memory has partitions, and bytes in each. A buffer takes the same bytes of one or several of
// them; where nothing is said of partitions, all of it lies in the first.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_OVERLAP_H
#define TALLY_MODEL_OVERLAP_H

#include "tally/Model/Kernel.h"

namespace tally {

/// The bytes of memory that a buffer takes, in each of its partitions.
struct Region {
  uint64_t firstPartition = 0;
  uint64_t numPartitions = 1;
  uint64_t firstByte = 0;
  uint64_t numBytes = 0;

  bool meets(const Region &other) const;
};

/// Of a buffer whose elements take that many bytes; without an address, it begins at 0.
Region regionOf(const Buffer &buffer, uint64_t elementBytes);

/// Whether this dimension goes over partitions.
inline bool goesOverPartitions(const Buffer &buffer, size_t dim) {
  return buffer.partitions && buffer.partitions->dim == dim;
}

/// Two buffers of one memory space; `high` begins at the first byte of `low` or a later one.
struct Overlap {
  BufferId low;
  BufferId high;
};

/// For each buffer with an address that lies over one which begins before it, such a pair; and so
/// many that what overlaps by way of others does so by way of pairs. `regions` says where they are.
std::vector<Overlap> findOverlaps(const Kernel &kernel, const IdVector<BufferId, Region> &regions);

/// How many bytes one element takes, by the name of its type: letters, then bits, then nothing or
/// what begins with `_`: fp8_e4m3. None if the name is another, or the bits are not bytes.
std::optional<uint64_t> elementBytes(const Kernel &kernel, BufferId buffer);

/// Every buffer ends here at the latest, so that 64 bits with a sign hold its size, the place of
/// each element, and a sum of some of them.
inline constexpr uint64_t maxMemory = (uint64_t(1) << 60) - 1;

/// The most partitions that a memory has.
inline constexpr uint64_t maxPartitions = 4096;

/// What an element of unknown size is taken for: the largest there are.
inline constexpr uint64_t largestElement = 8;

/// Why a buffer does not fit below maxMemory; empty if it does. It has no extent of 0.
std::string sizeProblem(const Kernel &kernel, BufferId buffer);

/// How two buffers lie to one another.
enum class InCommon : uint8_t {
  Nothing, ///< nothing is common
  Known,   ///< addresses, shapes and types say what is common
  Unknown, ///< anything may be
};

/// Which buffers of a kernel share memory.
class SharedMemory {
public:
  explicit SharedMemory(const Kernel &kernel);

  /// Of two different buffers. An element of unknown size is taken for largestElement, to see
  /// whether two are apart.
  InCommon between(BufferId a, BufferId b) const;

  /// The same by addresses, shapes and types alone, whatever the two state of one another.
  InCommon byAddress(BufferId a, BufferId b) const;

  /// Buffers that share memory, directly or by way of others, have one group: its first buffer.
  BufferId groupOf(BufferId buffer) const { return groups[buffer]; }

  bool isAlone(BufferId buffer) const { return members[groups[buffer]].empty(); }

  /// The buffers of a group of several.
  const std::vector<BufferId> &membersOf(BufferId group) const { return members[group]; }

  /// Whether all that is common in a group is known.
  bool isKnown(BufferId group) const { return known[group]; }

  /// How many partitions there are, up to the last one that a buffer of the group takes.
  uint64_t numPartitions(BufferId group) const { return partitions[group]; }

  const Region &regionOf(BufferId buffer) const { return regions[buffer]; }

private:
  bool states(BufferId a, BufferId b, std::vector<BufferId> Buffer::*list) const;
  void join(BufferId a, BufferId b);
  BufferId find(BufferId buffer);

  const Kernel &kernel;
  IdVector<BufferId, Region> regions;
  IdVector<BufferId, BufferId> groups;
  IdVector<BufferId, std::vector<BufferId>> members; ///< by group
  IdVector<BufferId, bool> known;                    ///< by group
  IdVector<BufferId, uint64_t> partitions;           ///< by group
};

} // namespace tally

#endif // TALLY_MODEL_OVERLAP_H
