//===- Earlier.cpp - Instructions that may stand earlier ------------------===//

#include "tally/Deps/Earlier.h"

#include "tally/Deps/Extract.h"
#include "tally/Model/Open.h"
#include "tally/Model/Overlap.h"
#include "tally/Model/Tiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {
namespace {

/// One passes at most so many, and so many are tried alone.
constexpr size_t mostPassed = 64;
constexpr size_t mostAlone = 32;

/// So many questions are asked about tiles; who comes later stays.
constexpr size_t mostQuestions = 4096;

/// Which instructions touch the same in one iteration of all loops around them.
class Meetings {
public:
  explicit Meetings(const Kernel &kernel) : kernel(kernel), memory(kernel) {}

  bool meet(InstrId first, InstrId second) {
    if (!kernel.loadsOf(first).empty() || !kernel.loadsOf(second).empty()) {
      return true; // what comes after it may need its value
    }
    if (kernel.instrs[first].queue == kernel.instrs[second].queue && usesKept(kernel, first) &&
        usesKept(kernel, second)) {
      return true;
    }
    bool isPossible = false;
    for (AccessId a : kernel.instrs[first].accesses) {
      for (AccessId b : kernel.instrs[second].accesses) {
        if (!mayMeet(a, b)) {
          continue;
        }
        if (adds(a) && adds(b)) {
          return true; // a sum depends on its order
        }
        isPossible = true;
      }
    }
    return isPossible && meetInOneIteration(first, second);
  }

private:
  bool adds(AccessId id) const { return kernel.accesses[id].kind == AccessKind::Accumulate; }

  bool mayMeet(AccessId a, AccessId b) const {
    const BufferId one = kernel.accesses[a].buffer, other = kernel.accesses[b].buffer;
    const bool onlyRead =
        kernel.accesses[a].kind == AccessKind::Read && kernel.accesses[b].kind == AccessKind::Read;
    return !onlyRead && (one == other || memory.between(one, other) != InCommon::Nothing);
  }

  /// A distance that is no 0 in some loop is to a run in an earlier iteration, and the last one
  /// that conflicts.
  bool meetInOneIteration(InstrId first, InstrId second) {
    if (numAsked == mostQuestions) {
      return true;
    }
    ++numAsked;
    const Extraction found =
        extractor.extractBetween(kernel, {.queueOverlap = true}, first, second);
    return std::ranges::any_of(found.deps, [](const DerivedDep &derived) {
      const Dep &dep = derived.dep;
      return dep.form == DistanceForm::Vector ? dep.numComponents == 0
                                              : dep.form != DistanceForm::Flat || dep.step == 0;
    });
  }

  const Kernel &kernel;
  SharedMemory memory;
  Extractor extractor;
  size_t numAsked = 0;
};

/// Which instructions read only what the kernel does not write.
IdVector<InstrId, bool> fetching(const Kernel &kernel) {
  IdVector<BufferId, bool> isWritten(kernel.buffers.size(), false);
  for (const Access &access : kernel.accesses) {
    isWritten[access.buffer] = isWritten[access.buffer] || access.kind != AccessKind::Read;
  }
  IdVector<InstrId, bool> result(kernel.instrs.size(), false);
  for (InstrId id : kernel.instrs.ids()) {
    size_t numReads = 0, numOfInputs = 0;
    for (AccessId access : kernel.instrs[id].accesses) {
      const bool reads = kernel.accesses[access].kind != AccessKind::Write;
      numReads += reads;
      numOfInputs += reads && !isWritten[kernel.accesses[access].buffer];
    }
    result[id] = numReads != 0 && numReads == numOfInputs;
  }
  return result;
}

/// The order of one block, and how instructions move up in it.
class BlockOrder {
public:
  BlockOrder(const Kernel &kernel, Meetings &meetings, const IdVector<InstrId, bool> &fetches,
             IdRange<InstrId> block)
      : kernel(kernel), meetings(meetings), fetches(fetches), first(block.first) {
    for (InstrId id : block) {
      order.push_back(id);
    }
  }

  /// Before which instruction it would stand; none if it stays.
  InstrId placeOf(InstrId moved) const {
    const std::optional<size_t> place = indexFor(moved);
    return place ? order[*place] : InstrId();
  }

  /// Those that move do so in the order of the text.
  void moveUp(InstrId moved) {
    if (const std::optional<size_t> place = indexFor(moved)) {
      std::rotate(order.begin() + *place, order.begin() + indexOf(moved),
                  order.begin() + indexOf(moved) + 1);
    }
  }

  const std::vector<InstrId> &instrs() const { return order; }

private:
  /// One that did not move is where it was: others move only up, and before it.
  size_t indexOf(InstrId id) const { return id.value - first; }

  std::optional<size_t> indexFor(InstrId moved) const {
    std::optional<size_t> place;
    const size_t from = indexOf(moved);
    for (size_t i = from; i > 0 && from - i < mostPassed; --i) {
      const InstrId passed = order[i - 1];
      if ((fetches[passed] && fetches[moved]) || meetings.meet(passed, moved)) {
        break;
      }
      if (kernel.engineOf(passed) == kernel.engineOf(moved)) {
        place = i - 1;
      }
    }
    return place;
  }

  const Kernel &kernel;
  Meetings &meetings;
  const IdVector<InstrId, bool> &fetches;
  uint32_t first; ///< of the block
  std::vector<InstrId> order;
};

/// Instructions, with all that names them, in another order; the block stays where it is.
void put(Kernel &kernel, const std::vector<InstrId> &order, IdRange<InstrId> block) {
  const Kernel before = kernel;
  IdVector<InstrId, InstrId> nowAt(before.instrs.size());
  for (InstrId id : before.instrs.ids()) {
    nowAt[id] = id;
  }
  uint32_t access = before.instrs[block[0]].accesses.first;
  for (uint32_t i = 0; i < order.size(); ++i) {
    Instr instr = before.instrs[order[i]];
    const IdRange<AccessId> from = instr.accesses;
    instr.accesses.first = access;
    for (AccessId id : from) {
      kernel.accesses[AccessId(access++)] = before.accesses[id];
    }
    kernel.instrs[block[i]] = instr;
    nowAt[order[i]] = block[i];
  }
  for (Pin &pin : kernel.pins) {
    pin.instr = nowAt[pin.instr];
  }
  for (OpenQueues &open : kernel.openQueues) {
    open.instr = nowAt[open.instr];
  }
  std::ranges::sort(kernel.openQueues, {}, &OpenQueues::instr);
}

} // namespace

Kernel withEarlier(const Kernel &kernel, const std::vector<InstrId> &instrs) {
  Kernel result = kernel;
  Meetings meetings(kernel);
  const IdVector<InstrId, bool> fetches = fetching(kernel);
  for (size_t i = 0; i < instrs.size();) {
    const StmtId block = kernel.instrs[instrs[i]].block;
    BlockOrder order(kernel, meetings, fetches, kernel.stmts[block].instrs);
    for (; i < instrs.size() && kernel.instrs[instrs[i]].block == block; ++i) {
      order.moveUp(instrs[i]);
    }
    put(result, order.instrs(), kernel.stmts[block].instrs);
  }
  result.tiles = std::make_shared<TileTable>(result);
  return result;
}

/// Before which instruction one stands then; none if it stays.
static InstrId placeBefore(const Kernel &kernel, InstrId moved) {
  Meetings meetings(kernel);
  const IdVector<InstrId, bool> fetches = fetching(kernel);
  const StmtId block = kernel.instrs[moved].block;
  return BlockOrder(kernel, meetings, fetches, kernel.stmts[block].instrs).placeOf(moved);
}

std::vector<std::vector<InstrId>> mayStandEarlier(const Kernel &kernel) {
  Meetings meetings(kernel);
  const IdVector<InstrId, bool> fetches = fetching(kernel);
  std::vector<std::vector<InstrId>> together, alone;
  for (const Stmt &stmt : kernel.stmts) {
    const BlockOrder order(kernel, meetings, fetches, stmt.instrs);
    std::vector<InstrId> fetched;
    for (InstrId id : stmt.instrs) {
      if (!order.placeOf(id).valid()) {
        continue;
      }
      if (fetches[id]) {
        fetched.push_back(id);
      }
      if (alone.size() < mostAlone) {
        alone.push_back({id});
      }
    }
    if (fetched.size() > 1) {
      together.push_back(std::move(fetched));
    }
  }
  together.insert(together.end(), alone.begin(), alone.end());
  return together;
}

std::string earlierText(const Kernel &kernel, const std::vector<InstrId> &instrs) {
  const InstrId place = instrs.size() == 1 ? placeBefore(kernel, instrs[0]) : InstrId();
  const std::string names = namesOf(kernel, instrs);
  return place.valid() ? fmt::format("{} before '{}'", names, kernel.nameOf(place))
                       : fmt::format("{} as early as possible", names);
}

} // namespace tally
