//===- Changes.cpp - What could be changed about a kernel -----------------===//

#include "tally/Advise/Changes.h"

#include "Order.h"

#include "tally/Data/Format.h"
#include "tally/Model/Check.h"
#include "tally/Model/ComputeText.h"
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

/// Which instructions are tied to their queue or engine: they use what the queue keeps, or run as
/// often as their engine says.
IdVector<InstrId, bool> tiedInstrs(const Kernel &kernel) {
  const IdVector<LoopId, LoopId> divergent = divergentLoops(kernel);
  IdVector<InstrId, bool> result(kernel.instrs.size(), false);
  for (InstrId id : kernel.instrs.ids()) {
    result[id] = divergent[kernel.instrs[id].home].valid() || advising::usesKept(kernel, id);
  }
  return result;
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
    kernel.instrs[id].queue = to;
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// A buffer whose slots are taken in turn: each access is to `(counter + offset) mod slots`.
///
/// Think of a buffer without end instead, of which an access takes cell `counter + offset`. The
/// ring and all larger ones hold the same as that one if
///
///   - all offsets lie within less than a turn, so that cells that are in use at one time have
///   slots
///     of their own, and
///   - each read is of a cell that was surely written before it: by a write with the same offset
///     before it in the text, or by one with a larger offset in an earlier iteration. Otherwise it
///     would see what the slot has held for a whole turn.
class RingFinder {
public:
  RingFinder(const Kernel &kernel, const std::vector<AccessId> &accesses)
      : kernel(kernel), accesses(accesses), instrOf(kernel.accesses.size()) {
    for (InstrId id : kernel.instrs.ids()) {
      for (AccessId access : kernel.instrs[id].accesses) {
        instrOf[access] = id;
      }
    }
  }

  /// The dimension of the slots; none if it is not such a ring.
  std::optional<size_t> find() {
    const std::vector<uint64_t> &shape = kernel.buffers[kernel.accesses[accesses[0]].buffer].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] > 1 && isRing(d, shape)) {
        return d;
      }
    }
    return std::nullopt;
  }

private:
  struct Use {
    AccessId access;
    InstrId instr;
    int64_t offset = 0;
    bool reads = false;
    bool surelyWrites = false; ///< in each iteration of the counter
  };

  bool isRing(size_t d, const std::vector<uint64_t> &shape) {
    counter = LoopId();
    std::vector<Use> uses;
    for (AccessId access : accesses) {
      std::optional<Use> use = useOf(access, d, shape);
      if (!use) {
        return false;
      }
      uses.push_back(*use);
    }
    auto [least, most] = std::ranges::minmax(uses, {}, &Use::offset);
    return std::ranges::count(uses, true, &Use::reads) > 0 && // otherwise others read it
           most.offset - least.offset < static_cast<int64_t>(shape[d]) &&
           std::ranges::all_of(
               uses,
               [&](const Use &read) {
                 return !read.reads || std::ranges::any_of(uses, [&](const Use &write) {
                   return write.surelyWrites && covers(write, read, d, shape) &&
                          isBefore(write, read);
                 });
               });
  }

  /// None if it is not to one slot.
  std::optional<Use> useOf(AccessId access, size_t d, const std::vector<uint64_t> &shape) {
    const BodyTile &tile = (*kernel.tiles)[access];
    const IdVector<TileExprId, TileExpr> &exprs = tile.access.exprs;
    if (tile.access.dims.size() != shape.size() || tile.access.dims[d].size.valid()) {
      return std::nullopt;
    }
    const TileExpr &index = exprs[tile.access.dims[d].first];
    if (index.kind != TileExpr::Kind::Mod || index.value != static_cast<int64_t>(shape[d])) {
      return std::nullopt;
    }
    Use use{.access = access, .instr = instrOf[access]};
    const TileExpr *leaf = &exprs[index.a];
    if (leaf->kind == TileExpr::Kind::Add || leaf->kind == TileExpr::Kind::Sub) {
      if (!tile.access.isConstant(leaf->b)) {
        return std::nullopt;
      }
      use.offset = (leaf->kind == TileExpr::Kind::Sub ? -1 : 1) * exprs[leaf->b].value;
      leaf = &exprs[leaf->a];
    }
    return isCounter(*leaf, tile) && findEffect(use) ? std::optional(use) : std::nullopt;
  }

  /// The same for all accesses, around all of them, and the same on all engines.
  bool isCounter(const TileExpr &leaf, const BodyTile &tile) {
    if (leaf.kind != TileExpr::Kind::Loop && leaf.kind != TileExpr::Kind::Total) {
      return false;
    }
    bool isFirst = !counter.valid();
    bool isTotal = leaf.kind == TileExpr::Kind::Total;
    if (isFirst) {
      counter = tile.loopOf(leaf);
      countsOn = isTotal || kernel.loops[counter].parent == rootLoop;
      countsTotal = isTotal;
      for (LoopId loop = counter; loop != rootLoop; loop = kernel.loops[loop].parent) {
        if (!kernel.loops[loop].uniform) {
          return false;
        }
      }
    }
    return counter == tile.loopOf(leaf) && countsTotal == isTotal;
  }

  /// False if it is not known.
  bool findEffect(Use &use) const {
    const AccessKind kind = kernel.accesses[use.access].kind;
    use.reads = kind == AccessKind::Read;
    bool isSure = (*kernel.tiles)[use.access].access.guards.empty();
    for (LoopId loop = kernel.instrs[use.instr].home; loop != counter;
         loop = kernel.loops[loop].parent) {
      isSure = isSure && !kernel.loops[loop].isBranch() && kernel.loops[loop].trip.least() > 0;
    }
    use.surelyWrites = isSure && kind != AccessKind::Read;
    return kind != AccessKind::Accumulate || beginsInCounter(use.instr);
  }

  /// Whether a sum starts anew in each iteration of the counter.
  bool beginsInCounter(InstrId id) const {
    const NameId text = kernel.instrs[id].computes;
    if (!text.valid() || !(*kernel.computes)[text].problem.empty()) {
      return false;
    }
    const std::vector<ComputeResult> &results = (*kernel.computes)[text].compute.results;
    return std::ranges::all_of(results, [&](const ComputeResult &result) {
      return result.kind == ComputeResult::Kind::Start && startsInside(id, result.loop);
    });
  }

  /// Whether a loop of this name lies between the counter and the instruction.
  bool startsInside(InstrId id, std::string_view name) const {
    for (LoopId loop = kernel.instrs[id].home; loop != counter; loop = kernel.loops[loop].parent) {
      if (kernel.nameOf(loop) == name && !kernel.loops[loop].isBranch()) {
        return true;
      }
    }
    return name.empty(); // in each run
  }

  /// Whether the write leaves nothing of what the read takes from its slot.
  bool covers(const Use &write, const Use &read, size_t d,
              const std::vector<uint64_t> &shape) const {
    const ParsedAccess &a = (*kernel.tiles)[write.access].access;
    const ParsedAccess &b = (*kernel.tiles)[read.access].access;
    auto numberOf = [](const ParsedAccess &tile, TileExprId id) -> std::optional<int64_t> {
      return !id.valid()           ? std::optional<int64_t>(1)
             : tile.isConstant(id) ? std::optional(tile.exprs[id].value)
                                   : std::nullopt;
    };
    for (size_t i = 0; i < shape.size(); ++i) {
      std::optional<int64_t> first = numberOf(a, a.dims[i].first),
                             size = numberOf(a, a.dims[i].size);
      bool isWhole = a.dims[i].isRange() && first == 0 &&
                     size == std::optional(static_cast<int64_t>(shape[i]));
      bool isSame = first && size && a.dims[i].stride == b.dims[i].stride &&
                    first == numberOf(b, b.dims[i].first) && size == numberOf(b, b.dims[i].size);
      if (i != d && !isWhole && !isSame) {
        return false;
      }
    }
    return true;
  }

  /// Whether the cell that is read has been written by then, but for the first iterations, whose
  /// cells nothing has written at all.
  bool isBefore(const Use &write, const Use &read) const {
    return write.offset == read.offset ? write.instr < read.instr
                                       : countsOn && write.offset > read.offset;
  }

  const Kernel &kernel;
  const std::vector<AccessId> &accesses;
  IdVector<AccessId, InstrId> instrOf;
  LoopId counter;
  bool countsTotal = false;
  bool countsOn = false; ///< it never begins again
};

std::optional<size_t> ringDimension(const Kernel &kernel, const std::vector<AccessId> &accesses) {
  return accesses.empty() ? std::nullopt : RingFinder(kernel, accesses).find();
}

IdVector<BufferId, std::vector<AccessId>> accessesOf(const Kernel &kernel) {
  IdVector<BufferId, std::vector<AccessId>> result(kernel.buffers.size());
  for (AccessId id : kernel.accesses.ids()) {
    result[kernel.accesses[id].buffer].push_back(id);
  }
  return result;
}

/// Whether nothing outside of the kernel sees it, and its place is open.
bool isOwn(const Kernel &kernel, BufferId buffer) {
  const Buffer &what = kernel.buffers[buffer];
  auto names = [&](const Buffer &other) { return std::ranges::count(other.alias, buffer) > 0; };
  std::string_view space = kernel.text(what.space);
  bool isOnChip = !space.empty() && space.find("hbm") == std::string_view::npos &&
                  space.find("dram") == std::string_view::npos;
  return isOnChip && !what.address && what.alias.empty() &&
         std::ranges::none_of(kernel.buffers, names);
}

/// Each ring with a slot more, and with twice as many; all of them at once first.
std::vector<Change> ringsOf(const Kernel &kernel) {
  std::vector<Change> alone;
  Change oneMore{.kind = Change::Kind::Ring}, twice = oneMore;
  const IdVector<BufferId, std::vector<AccessId>> accesses = accessesOf(kernel);
  for (BufferId id : kernel.buffers.ids()) {
    std::optional<size_t> d =
        isOwn(kernel, id) ? ringDimension(kernel, accesses[id]) : std::nullopt;
    if (!d) {
      continue;
    }
    const uint64_t slots = kernel.buffers[id].shape[*d];
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

/// The same kernel, but that slots are more; none if these are no rings.
std::optional<Kernel> deepened(const Kernel &kernel, const std::vector<Change::Deeper> &rings) {
  Kernel result = kernel;
  const IdVector<BufferId, std::vector<AccessId>> accesses = accessesOf(kernel);
  for (const Change::Deeper &ring : rings) {
    std::optional<size_t> d = ringDimension(kernel, accesses[ring.buffer]);
    if (!d || !isOwn(kernel, ring.buffer)) {
      return std::nullopt;
    }
    result.buffers[ring.buffer].shape[*d] = ring.slots;
    for (AccessId access : accesses[ring.buffer]) {
      ParsedAccess tile = (*kernel.tiles)[access].access;
      // A node of its own, as others may have the same operand.
      TileExpr index = tile.exprs[tile.dims[*d].first];
      index.value = static_cast<int64_t>(ring.slots);
      tile.dims[*d].first = tile.exprs.push(index);
      result.accesses[access].text = result.strings.intern(toString(tile));
    }
  }
  result.tiles = std::make_shared<TileTable>(result);
  return result;
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
    for (const std::vector<Change> &more :
         {ringsOf(kernel), movesOf(kernel, machine, costs), advising::ordersOf(kernel)}) {
      changes.insert(changes.end(), more.begin(), more.end());
    }
  }
  std::ranges::stable_partition(changes, isOfMany);
  return changes;
}

std::optional<Kernel> withChange(const Kernel &kernel, const Change &change,
                                 const Machine &machine) {
  std::optional<Kernel> changed;
  if (change.kind == Change::Kind::Ring) {
    changed = deepened(kernel, change.rings);
  } else if (change.kind == Change::Kind::Order) {
    changed = advising::reordered(kernel, change.instrs);
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
  return problems.hasErrors() ? std::nullopt : std::optional(std::move(result));
}

static std::string namesOf(const Kernel &kernel, const std::vector<InstrId> &instrs) {
  constexpr size_t mostNamed = 4;
  std::string text;
  for (size_t i = 0; i < std::min(mostNamed, instrs.size()); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", kernel.nameOf(instrs[i]));
  }
  return instrs.size() <= mostNamed
             ? text
             : fmt::format("{} and {} more", text, instrs.size() - mostNamed);
}

static std::string describeOrder(const Kernel &kernel, const std::vector<InstrId> &instrs) {
  const InstrId place = instrs.size() == 1 ? advising::placeBefore(kernel, instrs[0]) : InstrId();
  return place.valid()
             ? fmt::format("issue {} before '{}'", namesOf(kernel, instrs), kernel.nameOf(place))
             : fmt::format("issue {} as early as possible", namesOf(kernel, instrs));
}

std::string describe(const Kernel &kernel, const Change &change) {
  std::string text;
  switch (change.kind) {
  case Change::Kind::Move:
    return fmt::format("issue {} from '{}' instead of '{}'", namesOf(kernel, change.instrs),
                       change.engine, kernel.nameOf(kernel.engineOf(change.instrs[0])));
  case Change::Kind::Ring:
    for (const Change::Deeper &ring : change.rings) {
      text += fmt::format("{}'{}' {}", text.empty() ? "give " : ", ",
                          kernel.text(kernel.buffers[ring.buffer].name), ring.slots);
    }
    return text + " slots";
  case Change::Kind::Order:
    return describeOrder(kernel, change.instrs);
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
  for (const Change::Deeper &ring : change.rings) {
    const Buffer &buffer = kernel.buffers[ring.buffer];
    std::optional<Format> format = formatNamed(kernel.text(buffer.elementType));
    std::optional<size_t> d = ringDimension(kernel, accesses[ring.buffer]);
    if (!format || !d) {
      return std::nullopt;
    }
    uint64_t slot = sizeOf(*format);
    for (size_t i = 0; i < buffer.shape.size(); ++i) {
      slot *= i == *d ? 1 : buffer.shape[i];
    }
    bytes += slot * (ring.slots - buffer.shape[*d]);
  }
  return bytes;
}

} // namespace tally
