//===- Overlap.cpp - Buffers that share memory ----------------------------===//

#include "tally/Model/Overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <tuple>

namespace tally {

bool Region::meets(const Region &other) const {
  auto meet = [](uint64_t x, uint64_t sizeOfX, uint64_t y, uint64_t sizeOfY) {
    return x <= y ? y - x < sizeOfX : x - y < sizeOfY;
  };
  return meet(firstPartition, numPartitions, other.firstPartition, other.numPartitions) &&
         meet(firstByte, numBytes, other.firstByte, other.numBytes);
}

Region regionOf(const Buffer &buffer, uint64_t elementBytes) {
  Region region{0, 1, buffer.address.value_or(0), elementBytes};
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    if (goesOverPartitions(buffer, d)) {
      region.firstPartition = buffer.partitions->first;
      region.numPartitions = buffer.shape[d];
    } else {
      region.numBytes *= buffer.shape[d]; // check() has seen to it that it fits
    }
  }
  return region;
}

namespace {

/// Of the buffers of one space that begin at some byte or before it, for each partition the one
/// that ends last. What comes next, at this byte or later, meets one of those before in a partition
/// if and only if it meets this one there.
class Farthest {
public:
  Farthest() { from[0] = {}; }

  /// Calls `meets` for each buffer that this one lies over, as above, and then counts it, too.
  template <typename Visit> void add(BufferId id, const Region &region, Visit meets) {
    cutAt(region.firstPartition);
    cutAt(region.firstPartition + region.numPartitions);
    BufferId last;
    for (auto at = from.find(region.firstPartition);
         at->first < region.firstPartition + region.numPartitions; ++at) {
      End &end = at->second;
      if (end.byte > region.firstByte && end.buffer != last) {
        last = end.buffer;
        meets(end.buffer);
      }
      if (endOf(region) > end.byte) {
        end = {id, endOf(region)};
      }
    }
  }

private:
  struct End {
    BufferId buffer;
    uint64_t byte = 0;
  };

  static uint64_t endOf(const Region &region) {
    return std::min(region.numBytes, UINT64_MAX - region.firstByte) + region.firstByte;
  }

  void cutAt(uint64_t partition) {
    auto after = from.upper_bound(partition);
    from.emplace_hint(after, partition, std::prev(after)->second);
  }

  std::map<uint64_t, End> from; ///< by the first partition of those that have it
};

} // namespace

std::vector<Overlap> findOverlaps(const Kernel &kernel, const IdVector<BufferId, Region> &regions) {
  std::vector<BufferId> placed;
  for (BufferId id : kernel.buffers.ids()) {
    if (kernel.buffers[id].address) {
      placed.push_back(id);
    }
  }
  auto key = [&](BufferId id) {
    return std::tuple(kernel.buffers[id].space, regions[id].firstByte, id);
  };
  std::ranges::sort(placed, {}, key);

  std::vector<Overlap> overlaps;
  std::map<NameId, Farthest> spaces;
  for (BufferId id : placed) {
    spaces[kernel.buffers[id].space].add(id, regions[id],
                                         [&](BufferId low) { overlaps.push_back({low, id}); });
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
    : kernel(kernel), members(kernel.buffers.size()), known(kernel.buffers.size(), true),
      partitions(kernel.buffers.size(), 1) {
  for (BufferId id : kernel.buffers.ids()) {
    uint64_t size = elementBytes(kernel, id).value_or(largestElement);
    regions.push(tally::regionOf(kernel.buffers[id], size));
    groups.push(id);
  }
  for (Overlap overlap : findOverlaps(kernel, regions)) {
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
    const Region &region = regions[id];
    partitions[group] = std::max(partitions[group], region.firstPartition + region.numPartitions);
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
  bool meet = x.address && y.address && x.space == y.space && regions[a].meets(regions[b]);
  if (!meet) {
    return InCommon::Nothing;
  }
  return elementBytes(kernel, a) && elementBytes(kernel, b) ? InCommon::Known : InCommon::Unknown;
}

} // namespace tally
