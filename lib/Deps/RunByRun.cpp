//===- RunByRun.cpp - What follows, where all runs can be gone through ------===//

#include "RunByRun.h"

#include "tally/Run/KernelCursor.h"

#include <algorithm>

namespace tally::deps {

static constexpr uint64_t mostRuns = 1 << 16;
static constexpr uint64_t mostNumbers = 1 << 22; ///< what is known, and what is owed
static constexpr uint64_t mostWork = 200'000'000;

/// How often all instructions run, on each engine alike; none if trips are not constant, or that is
/// too often.
static std::optional<uint64_t> countRuns(const Kernel &kernel) {
  IdVector<LoopId, uint64_t> entries(kernel.loops.size(), 1);
  uint64_t numRuns = 0;
  for (LoopId id : kernel.loops.ids()) { // parents come first
    const Loop &loop = kernel.loops[id];
    if (id == rootLoop) {
      continue;
    }
    std::optional<uint64_t> trips = loop.knownTrips();
    if (!trips || *trips > mostRuns || !loop.uniform) {
      return std::nullopt;
    }
    entries[id] = entries[loop.parent] * *trips;
    numRuns += entries[id];
    if (numRuns > mostRuns) {
      return std::nullopt;
    }
  }
  for (const Instr &instr : kernel.instrs) {
    numRuns += entries[instr.home];
  }
  return numRuns <= mostRuns ? std::optional(numRuns) : std::nullopt;
}

std::optional<RunByRun> RunByRun::of(const Kernel &kernel, const Extraction &extraction,
                                     const std::vector<bool> &isAsked) {
  std::optional<uint64_t> count = countRuns(kernel);
  size_t width = kernel.queues.size() + extraction.deps.size();
  if (!count || *count * width > mostNumbers) {
    return std::nullopt;
  }
  auto whole = std::make_unique<Kernel>(kernel);
  whole->components = extraction.components;
  whole->tables = extraction.tables;
  whole->deps = {};
  for (size_t d = 0; d < extraction.deps.size(); ++d) {
    const DerivedDep &derived = extraction.deps[d];
    whole->deps.push(isAsked[d] ? derived.asNeeded() : derived.dep);
  }
  RunByRun all(std::move(whole));
  return all.findRuns() ? std::optional(std::move(all)) : std::nullopt;
}

RunByRun::RunByRun(std::unique_ptr<const Kernel> whole)
    : kernel(std::move(whole)), owed(*kernel, Bindings(*kernel), Fuel(UINT64_MAX)),
      numQueues(kernel->queues.size()), runsOf(kernel->instrs.size()) {}

/// False if one waits for what is still to come: then nothing can be said.
bool RunByRun::findRuns() {
  Bindings bindings(*kernel);
  std::vector<uint32_t> places(numQueues, 0);
  Fuel fuel(UINT64_MAX);
  KernelCursor cursor(*kernel, bindings, EngineId(), fuel);
  while (cursor.nextRun()) {
    InstrId instr = cursor.instr();
    auto number = static_cast<uint32_t>(runsOf[instr].size());
    runsOf[instr].push_back(static_cast<uint32_t>(runs.size()));
    runs.push_back({instr, number, places[kernel->instrs[instr].queue.value]++});
  }
  knowledge.resize(runs.size() * numQueues);
  for (uint32_t run = 0; run < runs.size(); ++run) {
    for (DepId dep : owed.depsOf(runs[run].instr)) {
      const uint32_t *producer = waitedFor(dep, run);
      if (producer && *producer >= run) {
        return false;
      }
    }
  }
  return true;
}

/// The last one; null if none.
const uint32_t *RunByRun::waitedFor(DepId dep, uint32_t run) const {
  uint32_t count = owed.of(dep, runs[run].number);
  return count == 0 ? nullptr : &runsOf[kernel->deps[dep].producer][count - 1];
}

std::vector<bool> RunByRun::follow(const std::vector<bool> &isAsked,
                                   const std::vector<bool> &isUsed) {
  std::vector<bool> isFollowing = isAsked;
  auto numLeft = std::ranges::count(isAsked, true);
  std::vector<uint32_t> before(kernel->engines.size() * numQueues, 0); // of each engine
  for (uint32_t run = 0; run < runs.size() && numLeft > 0; ++run) {
    const InstrId instr = runs[run].instr;
    std::span<uint32_t> ofEngine =
        std::span(before).subspan(kernel->engineOf(instr).value * numQueues, numQueues);
    std::span<uint32_t> own = known(run);
    std::ranges::copy(ofEngine, own.begin());
    auto retired = [&](uint32_t other) -> uint32_t & {
      return own[kernel->instrs[runs[other].instr].queue.value];
    };
    for (DepId dep : owed.depsOf(instr)) {
      const uint32_t *producer = isUsed[dep.value] ? waitedFor(dep, run) : nullptr;
      if (producer) {
        std::ranges::transform(own, known(*producer), own.begin(), std::ranges::max);
        retired(*producer) = std::max(retired(*producer), runs[*producer].place + 1);
      }
    }
    for (DepId dep : owed.depsOf(instr)) {
      const uint32_t *producer = isFollowing[dep.value] ? waitedFor(dep, run) : nullptr;
      if (producer && retired(*producer) <= runs[*producer].place) {
        isFollowing[dep.value] = false;
        --numLeft;
      }
    }
    std::ranges::copy(own, ofEngine.begin());
  }
  return isFollowing;
}

size_t RunByRun::numQuestions() const {
  return mostWork / std::max<size_t>(runs.size() * numQueues, 1);
}

} // namespace tally::deps
