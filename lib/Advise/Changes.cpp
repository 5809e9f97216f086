//===- Changes.cpp - What could be changed about a kernel -----------------===//

#include "tally/Advise/Changes.h"

#include "tally/Data/Format.h"
#include "tally/Deps/Earlier.h"
#include "tally/Deps/LoopChanges.h"
#include "tally/Machine/Memories.h"
#include "tally/Model/Check.h"
#include "tally/Model/ComputeText.h"
#include "tally/Model/Open.h"
#include "tally/Model/Place.h"
#include "tally/Model/Tiles.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally {
namespace {

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// Whether nothing but transfers is issued to a queue: no engine has to compute them.
IdVector<QueueId, bool> transferQueues(const Kernel &kernel, const InstrCosts &costs) {
  IdVector<QueueId, bool> result(kernel.queues.size(), true);
  for (InstrId id : kernel.instrs.ids()) {
    result[kernel.instrs[id].queue] = result[kernel.instrs[id].queue] && costs[id].isTransfer;
  }
  return result;
}

/// That may issue transfers; those with the fewest instructions first.
std::vector<std::string> enginesFor(const Kernel &kernel, const Machine &machine) {
  std::vector<std::string> names = machine.issuesTransfers.value_or(machine.engines);
  if (names.empty()) {
    for (EngineId id : kernel.engines.ids()) {
      names.emplace_back(kernel.nameOf(id));
    }
  }
  std::map<std::string_view, size_t> numInstrs;
  for (InstrId id : kernel.instrs.ids()) {
    ++numInstrs[kernel.nameOf(kernel.engineOf(id))];
  }
  std::ranges::stable_sort(names, {}, [&](const std::string &name) { return numInstrs[name]; });
  return names;
}

/// All transfers of a queue, and each alone, to each other engine.
std::vector<Change> movesOf(const Kernel &kernel, const Machine &machine, const InstrCosts &costs) {
  IdVector<QueueId, std::vector<InstrId>> transfers(kernel.queues.size());
  const IdVector<InstrId, bool> tied = tiedInstrs(kernel);
  for (InstrId id : kernel.instrs.ids()) {
    if (costs[id].isTransfer && !tied[id]) {
      transfers[kernel.instrs[id].queue].push_back(id);
    }
  }
  std::vector<Change> together, alone;
  for (QueueId queue : kernel.queues.ids()) {
    for (const std::string &engine : enginesFor(kernel, machine)) {
      if (transfers[queue].empty() || engine == kernel.nameOf(kernel.queues[queue].engine)) {
        continue;
      }
      Change change{.kind = Change::Kind::Move, .instrs = transfers[queue], .engine = engine};
      together.push_back(change);
      for (InstrId id : transfers[queue]) {
        change.instrs = {id};
        if (transfers[queue].size() > 1) {
          alone.push_back(change);
        }
      }
    }
  }
  together.insert(together.end(), alone.begin(), alone.end());
  return together;
}

NameId freshName(Kernel &kernel, const std::string &wanted) {
  auto isTaken = [&](const std::string &name) {
    auto has = [&](const auto &all) {
      return std::ranges::any_of(all,
                                 [&](const auto &each) { return kernel.text(each.name) == name; });
    };
    return has(kernel.engines) || has(kernel.queues);
  };
  std::string name = wanted;
  for (int number = 2; isTaken(name); ++number) {
    name = fmt::format("{}_{}", wanted, number);
  }
  return kernel.strings.intern(name);
}

/// One that is new gets a queue like `model`; none if a queue has its name.
EngineId engineNamed(Kernel &kernel, const std::string &name, QueueId model) {
  for (EngineId id : kernel.engines.ids()) {
    if (kernel.nameOf(id) == name) {
      return id;
    }
  }
  auto hasName = [&](const Queue &queue) { return kernel.text(queue.name) == name; };
  if (kernel.engines.size() == maxEngines || std::ranges::any_of(kernel.queues, hasName)) {
    return {};
  }
  auto first = static_cast<uint32_t>(kernel.queues.size());
  Queue queue = kernel.queues[model];
  queue.name = kernel.strings.intern(name);
  queue.engine = kernel.engines.push({.name = queue.name, .queues = {first, 1}, .where = {}});
  queue.where = {};
  kernel.queues.push(queue);
  return queue.engine;
}

/// A queue more, like `model`; queues of one engine follow one another, so those after it move on.
QueueId addQueue(Kernel &kernel, EngineId engine, QueueId model) {
  Queue queue = kernel.queues[model];
  queue.engine = engine;
  queue.where = {};
  queue.name = freshName(kernel, fmt::format("{}_transfers", kernel.nameOf(engine)));
  IdRange<QueueId> &queues = kernel.engines[engine].queues;
  const uint32_t place = queues.first + queues.count;
  ++queues.count;
  kernel.queues.raw().insert(kernel.queues.raw().begin() + place, queue);
  for (EngineId id : kernel.engines.ids()) {
    if (id != engine && kernel.engines[id].queues.first >= place) {
      ++kernel.engines[id].queues.first;
    }
  }
  for (Instr &instr : kernel.instrs) {
    instr.queue.value += instr.queue.value >= place;
  }
  for (OpenQueues &open : kernel.openQueues) {
    for (QueueId &other : open.others) {
      other.value += other.value >= place;
    }
  }
  return QueueId(place);
}

/// To a queue of the engine that is like theirs and has only transfers; otherwise to a new one.
std::optional<Kernel> moved(Kernel kernel, const Change &change,
                            const IdVector<QueueId, bool> &hasOnlyTransfers) {
  const QueueId from = kernel.instrs[change.instrs[0]].queue;
  const EngineId engine = engineNamed(kernel, change.engine, from);
  if (!engine.valid()) {
    return std::nullopt;
  }
  QueueId to;
  for (QueueId queue : kernel.engines[engine].queues) {
    bool isNew = queue.value >= hasOnlyTransfers.size();
    bool isLike = kernel.queues[queue].weight == kernel.queues[from].weight &&
                  kernel.queues[queue].completion == kernel.queues[from].completion;
    to = !to.valid() && isLike && (isNew || hasOnlyTransfers[queue]) ? queue : to;
  }
  if (!to.valid()) {
    to = addQueue(kernel, engine, from);
  }
  for (InstrId id : change.instrs) {
    kernel = onQueue(std::move(kernel), id, to);
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Whether nothing outside of the kernel sees it, and its place is open.
bool isOwn(const Kernel &kernel, BufferId buffer) {
  return isOnChip(kernel, buffer) && hasOpenPlace(kernel, buffer);
}

/// Each ring with a slot more, and with twice as many; all of them at once first.
std::vector<Change> ringsOf(const Kernel &kernel) {
  std::vector<Change> alone;
  Change oneMore{.kind = Change::Kind::Ring}, twice = oneMore;
  const IdVector<BufferId, std::vector<AccessId>> accesses = accessesOf(kernel);
  for (BufferId id : kernel.buffers.ids()) {
    std::optional<SlotRing> ring = isOwn(kernel, id) ? ringOf(kernel, accesses[id]) : std::nullopt;
    if (!ring || kernel.buffers[id].shape[ring->dim] == 1) {
      continue;
    }
    const uint64_t slots = kernel.buffers[id].shape[ring->dim];
    oneMore.rings.push_back({id, slots + 1});
    twice.rings.push_back({id, 2 * slots});
    for (uint64_t number : {slots + 1, 2 * slots}) {
      alone.push_back({.kind = Change::Kind::Ring, .rings = {{id, number}}});
    }
  }
  std::vector<Change> changes;
  if (oneMore.rings.size() > 1) {
    changes = {oneMore, twice};
  }
  changes.insert(changes.end(), alone.begin(), alone.end());
  return changes;
}

} // namespace

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

/// Code that grows does so everywhere.
static bool isOfMany(const Change &change) {
  return change.kind == Change::Kind::Grow || change.instrs.size() + change.rings.size() > 1;
}

std::vector<Change> changesOf(const Kernel &kernel, const Machine &machine, const InstrCosts &costs,
                              double growth) {
  std::vector<Change> changes;
  for (double each : {2.0, 4.0}) {
    if (each > growth) {
      changes.push_back({.kind = Change::Kind::Grow, .growth = each});
    }
  }
  if (asksForDeps(kernel)) {
    for (const std::vector<Change> &more : {ringsOf(kernel), movesOf(kernel, machine, costs)}) {
      changes.insert(changes.end(), more.begin(), more.end());
    }
    for (Unchanging &each : mayRunOnce(kernel)) {
      changes.push_back(
          {.kind = Change::Kind::Once, .instrs = std::move(each.instrs), .loop = each.loop});
    }
    for (const SplitPoint &point : maySplit(kernel)) {
      changes.push_back(
          {.kind = Change::Kind::Split, .instrs = {point.second}, .loop = point.loop});
    }
    for (std::vector<InstrId> &instrs : mayStandEarlier(kernel)) {
      changes.push_back({.kind = Change::Kind::Order, .instrs = std::move(instrs)});
    }
  }
  std::ranges::stable_partition(changes, isOfMany);
  return changes;
}

std::optional<Kernel> withChange(const Kernel &kernel, const Change &change,
                                 const Machine &machine) {
  std::optional<Kernel> changed;
  if (change.kind == Change::Kind::Ring) {
    changed = withSlots(kernel, change.rings);
  } else if (change.kind == Change::Kind::Order) {
    changed = withEarlier(kernel, change.instrs);
  } else if (change.kind == Change::Kind::Once) {
    changed = runningOnce(kernel, {change.loop, change.instrs});
  } else if (change.kind == Change::Kind::Split) {
    changed = splitAt(kernel, {change.loop, change.instrs[0]});
  } else {
    Diagnostics ignored;
    std::vector<std::string> missing;
    std::optional<Timing> timing = Timing::of(machine, missing);
    std::optional<InstrCosts> costs =
        timing ? instructionCosts(kernel, *timing, ignored) : std::nullopt;
    changed = costs ? moved(kernel, change, transferQueues(kernel, *costs)) : std::nullopt;
  }
  if (!changed) {
    return std::nullopt;
  }
  Kernel result = onMachine(std::move(*changed), machine);
  Diagnostics problems;
  check(result, problems);
  bool hasRoom = change.rings.empty() || mayFit(result, machine);
  return problems.hasErrors() || !hasRoom ? std::nullopt : std::optional(std::move(result));
}

std::string describe(const Kernel &kernel, const Change &change) {
  std::string text;
  switch (change.kind) {
  case Change::Kind::Move:
    return fmt::format("issue {} from '{}' instead of '{}'", namesOf(kernel, change.instrs),
                       change.engine, kernel.nameOf(kernel.engineOf(change.instrs[0])));
  case Change::Kind::Ring:
    for (const SlotsOf &ring : change.rings) {
      text += fmt::format("{}'{}' {}", text.empty() ? "give " : ", ",
                          kernel.text(kernel.buffers[ring.buffer].name), ring.slots);
    }
    return text + " slots";
  case Change::Kind::Order:
    return "issue " + earlierText(kernel, change.instrs);
  case Change::Kind::Once:
    return fmt::format("issue {} once, before loop '{}'", namesOf(kernel, change.instrs),
                       kernel.nameOf(change.loop));
  case Change::Kind::Split:
    return fmt::format("split loop '{}' before '{}'", kernel.nameOf(change.loop),
                       kernel.nameOf(change.instrs[0]));
  case Change::Kind::Grow:
    break;
  }
  return fmt::format("--max-code-growth={}", change.growth);
}

Location placeOf(const Kernel &kernel, const Change &change) {
  return !change.instrs.empty()  ? kernel.instrs[change.instrs[0]].where
         : !change.rings.empty() ? kernel.buffers[change.rings[0].buffer].where
                                 : Location();
}

std::optional<uint64_t> bytesOf(const Kernel &kernel, const Change &change) {
  uint64_t bytes = 0;
  const IdVector<BufferId, std::vector<AccessId>> accesses = accessesOf(kernel);
  for (const SlotsOf &ring : change.rings) {
    const Buffer &buffer = kernel.buffers[ring.buffer];
    std::optional<Format> format = formatNamed(kernel.text(buffer.elementType));
    std::optional<SlotRing> known = ringOf(kernel, accesses[ring.buffer]);
    if (!format || !known) {
      return std::nullopt;
    }
    uint64_t slot = sizeOf(*format);
    for (size_t i = 0; i < buffer.shape.size(); ++i) {
      slot *= i == known->dim ? 1 : buffer.shape[i];
    }
    bytes += slot * (ring.slots - buffer.shape[known->dim]);
  }
  return bytes;
}

} // namespace tally
