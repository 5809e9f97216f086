//===- Inputs.h - What memory holds before a kernel starts ----------------===//
//
// Random numbers, the same everywhere and in any order. Element i of a buffer is made of
//
//   h = mix(mix(seed + hash(name)) + i)     64 bits
//   u = (h >> 40) * 2^-24                   of [0, 1), a whole multiple of 2^-24
//   x = low + u * (high - low)              in f32, then rounded to the buffer's format
//
// mix is the step of splitmix64 (add 0x9E3779B97F4A7C15, then two rounds of shift, xor and
// multiply), hash is 64-bit FNV-1a over the bytes of the buffer's name.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DATA_INPUTS_H
#define TALLY_DATA_INPUTS_H

#include "tally/Data/Memory.h"

#include <span>
#include <string>

namespace tally {

/// What one buffer holds at first.
struct Contents {
  std::string buffer;
  float low = 0;                     ///< random numbers, from `low` up to, but without, `high`;
  float high = 0;                    ///< all `low`, if that is not a range
  std::vector<int32_t> numbers = {}; ///< these, in order, instead
};

/// Writes all elements.
void fill(BufferData &data, const Contents &contents, uint64_t seed);

/// Memory as `contents` says. A buffer that is not named there holds numbers from -1 to 1 (0, if it
/// holds whole numbers) if no instruction writes it; otherwise it is uninitialised. Errors as those
/// of emptyMemory().
Memory initialMemory(const Kernel &kernel, std::span<const Contents> contents, uint64_t seed,
                     Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_DATA_INPUTS_H
