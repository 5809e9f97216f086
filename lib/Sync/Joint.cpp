//===- Joint.cpp - Distances that are one over the whole run --------------===//
//
// Around the shared body S = l1 stand the loops l2, l3, ..., the last of them in the kernel itself;
// all but the last have constant trips T1, T2, ... A distance of d < T1 entries of S is, where it
// crosses the end of the first j - 1 of them and no more,
//
//   j = 1   l1: d
//   j = 2   l2: 1, l1: d - T1
//   j = 3   l3: 1, l2: 1 - T2, l1: d - T1        and so on
//
// For each consumer's run, one of these points at the run d entries before, if there is one. The
// others owe nothing, or the end of an iteration that lies before that run. So, where all of them
// are dependences, they need total(S) - d runs together. Cost: linear in dependences, times depth.
//===----------------------------------------------------------------------===//

#include "Joint.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace tally::sync {
namespace {

/// What one dependence says, if it may be part of a joint distance.
struct Part {
  InstrId producer;
  InstrId consumer;
  uint32_t distance = 0; ///< d
  uint32_t level = 0;    ///< j
  uint32_t numLevels = 0;
  DepId dep;

  auto ends() const { return std::tuple(producer.value, consumer.value, distance); }
};

/// From the shared body outwards; empty unless all are loops, and the trips of all but the last are
/// known.
std::vector<LoopId> loopsAround(const Kernel &kernel, LoopId shared) {
  std::vector<LoopId> loops;
  for (LoopId l = shared; l != rootLoop; l = kernel.loops[l].parent) {
    bool isLast = kernel.loops[l].parent == rootLoop;
    if (kernel.loops[l].kind != LoopKind::Loop || (!isLast && !kernel.loops[l].knownTrips())) {
      return {};
    }
    loops.push_back(l);
  }
  return loops;
}

int64_t distanceOn(std::span<const DistanceComponent> components, LoopId loop) {
  auto found = std::ranges::find(components, loop, &DistanceComponent::loop);
  return found != components.end() ? found->distance : 0;
}

std::optional<Part> partOf(const Kernel &kernel, DepId id) {
  const Dep &dep = kernel.deps[id];
  std::span<const DistanceComponent> components = kernel.componentsOf(dep);
  LoopId shared = kernel.instrs[dep.producer].home;
  if (dep.form != DistanceForm::Vector || components.empty() ||
      !kernel.encloses(shared, kernel.instrs[dep.consumer].home)) {
    return std::nullopt;
  }
  std::vector<LoopId> loops = loopsAround(kernel, shared);
  auto carrier = std::ranges::find(loops, components.front().loop);
  if (loops.size() < 2 || carrier == loops.end() || !kernel.loops[shared].knownTrips()) {
    return std::nullopt;
  }
  const auto level = static_cast<size_t>(carrier - loops.begin());
  const auto tripsOf = [&](size_t i) {
    return static_cast<int64_t>(*kernel.loops[loops[i]].knownTrips());
  };
  for (size_t i = 1; i <= level; ++i) {
    if (distanceOn(components, loops[i]) != (i == level ? 1 : 1 - tripsOf(i))) {
      return std::nullopt;
    }
  }
  int64_t distance = distanceOn(components, shared) + (level == 0 ? 0 : tripsOf(0));
  if (distance <= 0 || distance >= tripsOf(0)) {
    return std::nullopt;
  }
  return Part{dep.producer,
              dep.consumer,
              static_cast<uint32_t>(distance),
              static_cast<uint32_t>(level),
              static_cast<uint32_t>(loops.size()),
              id};
}

/// Of parts of the same ends and distance, by level: whether there is one of each.
bool isWhole(std::span<const Part> parts) {
  uint32_t next = 0;
  for (const Part &part : parts) {
    next += part.level == next ? 1 : 0;
  }
  return next == parts.front().numLevels;
}

} // namespace

IdVector<DepId, uint32_t> jointDistances(const Kernel &kernel) {
  std::vector<Part> parts;
  for (DepId id : kernel.deps.ids()) {
    if (std::optional<Part> part = partOf(kernel, id)) {
      parts.push_back(*part);
    }
  }
  std::ranges::stable_sort(parts, {}, [](const Part &part) {
    return std::tuple_cat(part.ends(), std::tuple(part.level));
  });
  IdVector<DepId, uint32_t> joint;
  for (auto first = parts.begin(); first != parts.end();) {
    auto last = std::find_if(first, parts.end(),
                             [&](const Part &part) { return part.ends() != first->ends(); });
    if (isWhole({first, last})) {
      joint.resize(kernel.deps.size());
      std::for_each(first, last, [&](const Part &part) { joint[part.dep] = part.distance; });
    }
    first = last;
  }
  return joint;
}

} // namespace tally::sync
