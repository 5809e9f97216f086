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
//===----------------------------------------------------------------------===//

#ifndef TALLY_MODEL_OVERLAP_H
#define TALLY_MODEL_OVERLAP_H

#include "tally/Model/Kernel.h"

namespace tally {

/// Two buffers of one memory space; `high` begins before `low` ends.
struct Overlap {
  BufferId low;
  BufferId high;
};

/// For each buffer with an address that lies over one which begins before it, such a pair. `bytes`
/// is how large each buffer is.
std::vector<Overlap> findOverlaps(const Kernel &kernel, const IdVector<BufferId, uint64_t> &bytes);

/// How many bytes one element takes, by the name of its type: letters, then bits, then nothing or
/// what begins with `_`: fp8_e4m3. None if the name is another, or the bits are not bytes.
std::optional<uint64_t> elementBytes(const Kernel &kernel, BufferId buffer);

/// Every buffer ends here at the latest, so that 64 bits with a sign hold its size, the place of
/// each element, and a sum of some of them.
inline constexpr uint64_t maxMemory = (uint64_t(1) << 60) - 1;

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

private:
  bool states(BufferId a, BufferId b, std::vector<BufferId> Buffer::*list) const;
  void join(BufferId a, BufferId b);
  BufferId find(BufferId buffer);

  const Kernel &kernel;
  IdVector<BufferId, uint64_t> bytes;
  IdVector<BufferId, BufferId> groups;
  IdVector<BufferId, std::vector<BufferId>> members; ///< by group
  IdVector<BufferId, bool> known;                    ///< by group
};

} // namespace tally

#endif // TALLY_MODEL_OVERLAP_H
