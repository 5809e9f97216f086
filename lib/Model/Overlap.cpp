//===- Overlap.cpp - Buffers that share memory ----------------------------===//

#include "tally/Model/Overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
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

std::optional<uint64_t> elementBytes(const Kernel &kernel, BufferId buffer) {
  NameId type = kernel.buffers[buffer].elementType;
  std::string_view name = type.valid() ? kernel.text(type) : std::string_view();
  size_t letters = 0;
  while (letters < name.size() && std::isalpha(static_cast<unsigned char>(name[letters])) != 0) {
    ++letters;
  }
  uint64_t bits = 0;
  const char *end = name.data() + name.size();
  auto [last, error] = std::from_chars(name.data() + letters, end, bits);
  bool isNumber = letters > 0 && error == std::errc() && (last == end || *last == '_');
  return isNumber && bits > 0 && bits % 8 == 0 ? std::optional(bits / 8) : std::nullopt;
}

/// From the innermost dimension on: up to the first one that is too much, any size is below 2^124.
std::string sizeProblem(const Kernel &kernel, BufferId id) {
  __extension__ using Wide = unsigned __int128;
  const Buffer &buffer = kernel.buffers[id];
  std::optional<uint64_t> known = elementBytes(kernel, id);
  size_t numDims = buffer.shape.size();
  size_t d = numDims;
  Wide bytes = known.value_or(largestElement);
  while (bytes <= maxMemory && d > 0) {
    bytes *= buffer.shape[--d];
  }
  std::string unit =
      known ? "" : fmt::format(", {} for an element of unknown size", largestElement);
  if (bytes > maxMemory) {
    std::string which =
        d == 0 ? "it takes" : fmt::format("dimensions {} to {} of it take", d + 1, numDims);
    return fmt::format("{} {} bytes{}, and at most {} are supported; declare only what the kernel "
                       "touches",
                       which, bytes, unit, maxMemory);
  }
  Wide end = bytes + buffer.address.value_or(0);
  return end <= maxMemory
             ? ""
             : fmt::format("it takes {} bytes{}, which end at {}, and memory ends at {}; choose a "
                           "smaller address",
                           bytes, unit, end, maxMemory);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

SharedMemory::SharedMemory(const Kernel &kernel)
    : kernel(kernel), members(kernel.buffers.size()), known(kernel.buffers.size(), true) {
  for (BufferId id : kernel.buffers.ids()) {
    uint64_t size = elementBytes(kernel, id).value_or(largestElement);
    for (uint64_t extent : kernel.buffers[id].shape) {
      size *= extent; // check() has seen to it that it fits
    }
    bytes.push(size);
    groups.push(id);
  }
  for (Overlap overlap : findOverlaps(kernel, bytes)) {
    join(overlap.low, overlap.high);
  }
  for (BufferId id : kernel.buffers.ids()) {
    for (BufferId earlier : kernel.buffers[id].alias) {
      join(id, earlier);
    }
  }
  for (BufferId id : kernel.buffers.ids()) {
    BufferId group = find(id);
    groups[id] = group;
    if (group != id) {
      if (members[group].empty()) {
        members[group].push_back(group); // it comes first
      }
      members[group].push_back(id);
    }
    known[group] = known[group] && kernel.buffers[id].address && elementBytes(kernel, id) &&
                   kernel.buffers[id].alias.empty();
  }
}

/// The first of a group leads it. Ways there are cut short.
BufferId SharedMemory::find(BufferId buffer) {
  while (groups[buffer] != buffer) {
    groups[buffer] = groups[groups[buffer]];
    buffer = groups[buffer];
  }
  return buffer;
}

void SharedMemory::join(BufferId a, BufferId b) {
  auto [first, second] = std::minmax({find(a), find(b)});
  groups[second] = first;
}

bool SharedMemory::states(BufferId a, BufferId b, std::vector<BufferId> Buffer::*list) const {
  auto [first, second] = std::minmax({a, b});
  const std::vector<BufferId> &earlier = kernel.buffers[second].*list;
  return std::find(earlier.begin(), earlier.end(), first) != earlier.end();
}

InCommon SharedMemory::between(BufferId a, BufferId b) const {
  assert(a != b && "a buffer shares all with itself");
  if (groups[a] != groups[b] || states(a, b, &Buffer::noalias)) {
    return InCommon::Nothing;
  }
  return states(a, b, &Buffer::alias) ? InCommon::Unknown : byAddress(a, b);
}

InCommon SharedMemory::byAddress(BufferId a, BufferId b) const {
  const Buffer &x = kernel.buffers[a];
  const Buffer &y = kernel.buffers[b];
  bool meet = x.address && y.address && x.space == y.space &&
              (*x.address <= *y.address ? *y.address - *x.address < bytes[a]
                                        : *x.address - *y.address < bytes[b]);
  if (!meet) {
    return InCommon::Nothing;
  }
  return elementBytes(kernel, a) && elementBytes(kernel, b) ? InCommon::Known : InCommon::Unknown;
}

} // namespace tally
