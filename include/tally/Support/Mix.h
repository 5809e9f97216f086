//===- Mix.h - Random numbers, the same everywhere ------------------------===//
#ifndef TALLY_SUPPORT_MIX_H
#define TALLY_SUPPORT_MIX_H

#include <cstdint>

namespace tally {

/// The step of splitmix64: every bit of the result depends on every bit of `x`.
constexpr uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace tally

#endif // TALLY_SUPPORT_MIX_H
