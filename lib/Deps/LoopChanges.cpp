//===- LoopChanges.cpp - What may leave a loop, and where it may be split -===//

#include "tally/Deps/LoopChanges.h"

#include "tally/Deps/Extract.h"
#include "tally/Model/ComputeText.h"
#include "tally/Model/Draft.h"
#include "tally/Model/Open.h"
#include "tally/Model/Overlap.h"
#include "tally/Model/Place.h"
#include "tally/Model/Rings.h"
#include "tally/Model/Tiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {
namespace {

/// So many are told, and so many accesses and pairs looked at; who comes later stays.
constexpr size_t mostAlone = 32;
constexpr size_t mostLooks = 1 << 16;
constexpr size_t mostQuestions = 4096; // about tiles

/// The instructions inside a body, which follow one another: from `first` to before `end`.
struct Span {
  uint32_t first = UINT32_MAX;
  uint32_t end = 0;

  bool has(InstrId id) const { return first <= id.value && id.value < end; }
};

IdVector<LoopId, Span> spansOf(const Kernel &kernel) {
  IdVector<LoopId, Span> spans(kernel.loops.size());
  for (InstrId id : kernel.instrs.ids()) {
    for (LoopId loop = kernel.instrs[id].home; loop.valid(); loop = kernel.loops[loop].parent) {
      spans[loop].first = std::min(spans[loop].first, id.value);
      spans[loop].end = id.value + 1;
    }
  }
  return spans;
}

IdVector<AccessId, InstrId> instrsOfAccesses(const Kernel &kernel) {
  IdVector<AccessId, InstrId> result(kernel.accesses.size());
  for (InstrId id : kernel.instrs.ids()) {
    for (AccessId access : kernel.instrs[id].accesses) {
      result[access] = id;
    }
  }
  return result;
}

bool countsLoop(const TileExpr &node) {
  return node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Total ||
         node.kind == TileExpr::Kind::Trips;
}

/// What it computes, or none if it does not say or cannot be read.
const ParsedCompute *computeOf(const Kernel &kernel, InstrId id) {
  const NameId text = kernel.instrs[id].computes;
  return text.valid() ? &(*kernel.computes)[text].compute : nullptr;
}

/// Whether what an instruction computes depends on the iteration of the loop.
bool computesFrom(const Kernel &kernel, InstrId id, LoopId loop) {
  const ParsedCompute *compute = computeOf(kernel, id);
  const std::string_view name = kernel.nameOf(loop);
  return compute != nullptr &&
         (std::ranges::any_of(compute->nodes,
                              [&](const ComputeNode &node) {
                                return node.op == ComputeOp::Iteration && node.word == name;
                              }) ||
          std::ranges::count(compute->results, name, &ComputeResult::loop) != 0);
}

bool hasAccess(const Kernel &kernel, InstrId id, bool isRead) {
  for (AccessId access : kernel.instrs[id].accesses) {
    if ((kernel.accesses[access].kind == AccessKind::Read) == isRead) {
      return true;
    }
  }
  return false;
}

/// Whether it may change what no tile says: what its queue keeps, or something nobody has named.
bool hasHiddenEffect(const Kernel &kernel, InstrId id) {
  return usesKept(kernel, id) || !hasAccess(kernel, id, /*isRead=*/false);
}

//===----------------------------------------------------------------------===//
// Once
//===----------------------------------------------------------------------===//

class OnceFinder {
public:
  explicit OnceFinder(const Kernel &kernel)
      : kernel(kernel), memory(kernel), tied(tiedInstrs(kernel)), spans(spansOf(kernel)),
        instrOf(instrsOfAccesses(kernel)), accesses(accessesOf(kernel)) {}

  bool mayRunOnce(InstrId id) {
    const LoopId loop = kernel.instrs[id].home;
    if (kernel.loops[loop].kind != LoopKind::Loop || tied[id] || hasHiddenEffect(kernel, id) ||
        mayDrawAnew(id) || computesFrom(kernel, id, loop)) {
      return false;
    }
    for (AccessId access : kernel.instrs[id].accesses) {
      if (!isSame(access, loop) || !staysIn(loop, access)) {
        return false;
      }
    }
    return true;
  }

private:
  /// Numbers from nowhere may be others each time.
  bool mayDrawAnew(InstrId id) const {
    return !kernel.instrs[id].computes.valid() && !hasAccess(kernel, id, /*isRead=*/true);
  }

  /// Whether it is one tile in all iterations. Of a `$n` of which nothing is known, that is not.
  /// Of a loop that may not run, it must be a tile even so, which is not known if it depends on
  /// what only a run knows.
  bool isSame(AccessId access, LoopId loop) const {
    const BodyTile &tile = (*kernel.tiles)[access];
    return !tile.access.anywhere &&
           std::ranges::all_of(tile.access.exprs, [&](const TileExpr &node) {
             if (countsLoop(node)) {
               return tile.loopOf(node).valid() && !kernel.encloses(loop, tile.loopOf(node));
             }
             return node.kind != TileExpr::Kind::Symbol || (!tile.isOpen(node) && alwaysRuns(loop));
           });
  }

  bool alwaysRuns(LoopId loop) const { return kernel.loops[loop].trip.least() > 0; }

  /// Whether nothing in the loop but this access changes what it touches, and nothing there sees
  /// what was there before.
  bool staysIn(LoopId loop, AccessId access) {
    const Access &own = kernel.accesses[access];
    if (own.kind == AccessKind::Accumulate || !memory.isAlone(own.buffer)) {
      return false;
    }
    const bool writes = own.kind == AccessKind::Write;
    for (AccessId other : accesses[own.buffer]) {
      if (other == access) {
        continue;
      }
      if (++numLooks > mostLooks) {
        return false;
      }
      const bool isInside = spans[loop].has(instrOf[other]);
      const bool reads = kernel.accesses[other].kind == AccessKind::Read;
      if (isInside && (!reads || (writes && instrOf[other] <= instrOf[access]))) {
        return false;
      }
      if (!isInside && writes && !alwaysRuns(loop)) {
        return false; // it would be there even if the loop did not run
      }
    }
    return !writes || alwaysRuns(loop) || isOnChip(kernel, own.buffer);
  }

  const Kernel &kernel;
  SharedMemory memory;
  IdVector<InstrId, bool> tied;
  IdVector<LoopId, Span> spans;
  IdVector<AccessId, InstrId> instrOf;
  IdVector<BufferId, std::vector<AccessId>> accesses;
  size_t numLooks = 0;
};

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

/// Between which statements and instructions of one body it may be split. Whatever must stay in
/// one loop forbids all places in between.
class SplitFinder {
public:
  explicit SplitFinder(const Kernel &kernel)
      : kernel(kernel), memory(kernel), spans(spansOf(kernel)) {}

  std::vector<SplitPoint> find(LoopId body) {
    const Span span = spans[body];
    if (span.end == 0) {
      return {};
    }
    loop = body;
    first = span.first;
    forbidden.assign(span.end - span.first + 1, 0);
    for (uint32_t id = span.first; id < span.end; ++id) {
      forbidNested(InstrId(id));
      forbidNamed(InstrId(id));
    }
    forbidHidden(span);
    forbidConflicts(span);
    std::vector<SplitPoint> points;
    int64_t numAround = 0;
    for (uint32_t id = span.first; id < span.end; ++id) {
      numAround += forbidden[id - first];
      if (id != span.first && numAround == 0) {
        points.push_back({loop, InstrId(id)});
      }
    }
    return points;
  }

private:
  /// The two stay in one part; the cut before `later` and all up to `earlier` are forbidden.
  void keepTogether(InstrId earlier, InstrId later) {
    if (earlier < later) {
      ++forbidden[earlier.value + 1 - first];
      --forbidden[later.value + 1 - first];
    }
  }

  /// What is nested stays whole.
  void forbidNested(InstrId id) {
    if (id.value == first) {
      return;
    }
    const InstrId before(id.value - 1);
    const LoopId nested = nestedAround(id);
    if (nested.valid() && nested == nestedAround(before)) {
      keepTogether(before, id);
    }
  }

  /// The statement's body directly in the loop; both branches of an `if` are one.
  LoopId nestedAround(InstrId id) const {
    const LoopId home = kernel.instrs[id].home;
    if (home == loop) {
      return {};
    }
    const LoopId nested = kernel.childTowards(loop, home);
    return kernel.loops[nested].kind == LoopKind::Else ? kernel.loops[nested].otherBranch : nested;
  }

  /// Tiles, trips and conditions are told the name of the second loop, but not what is computed.
  void forbidNamed(InstrId id) {
    if (computesFrom(kernel, id, loop)) {
      keepTogether(InstrId(first), id);
    }
  }

  void forbidHidden(const Span &span) {
    InstrId firstHidden, lastHidden;
    for (uint32_t id = span.first; id < span.end; ++id) {
      if (hasHiddenEffect(kernel, InstrId(id))) {
        firstHidden = firstHidden.valid() ? firstHidden : InstrId(id);
        lastHidden = InstrId(id);
      }
    }
    if (firstHidden.valid()) {
      keepTogether(firstHidden, lastHidden);
    }
  }

  void forbidConflicts(const Span &span) {
    for (uint32_t a = span.first; a < span.end; ++a) {
      for (uint32_t b = a + 1; b < span.end; ++b) {
        if (++numLooks > mostLooks || numAsked > mostQuestions) {
          return keepTogether(InstrId(span.first), InstrId(span.end - 1));
        }
        if (conflict(InstrId(a), InstrId(b))) {
          keepTogether(InstrId(a), InstrId(b));
        }
      }
    }
  }

  /// Whether a run of `later` may have to come before one of `earlier` in a later iteration.
  bool conflict(InstrId earlier, InstrId later) {
    bool mayMeet = false;
    for (AccessId a : kernel.instrs[earlier].accesses) {
      for (AccessId b : kernel.instrs[later].accesses) {
        const AccessKind one = kernel.accesses[a].kind, other = kernel.accesses[b].kind;
        const BufferId from = kernel.accesses[a].buffer, to = kernel.accesses[b].buffer;
        if ((one == AccessKind::Read && other == AccessKind::Read) ||
            (from != to && memory.between(from, to) == InCommon::Nothing)) {
          continue;
        }
        if (one == AccessKind::Accumulate && other == AccessKind::Accumulate) {
          return true; // a sum depends on its order
        }
        mayMeet = true;
      }
    }
    if (!mayMeet) {
      return false;
    }
    ++numAsked;
    return isCarried(extractor.extractBetween(kernel, {.queueOverlap = true}, later, earlier));
  }

  /// Whether anything is found but what loops around carry.
  bool isCarried(const Extraction &found) const {
    return std::ranges::any_of(found.deps, [&](const DerivedDep &derived) {
      const std::span<const DistanceComponent> components = found.componentsOf(derived.dep);
      return derived.dep.form != DistanceForm::Vector || components.empty() ||
             components[0].distance <= 0 || !kernel.encloses(components[0].loop, loop) ||
             components[0].loop == loop;
    });
  }

  const Kernel &kernel;
  SharedMemory memory;
  IdVector<LoopId, Span> spans;
  Extractor extractor;
  size_t numLooks = 0;
  size_t numAsked = 0;
  LoopId loop;
  uint32_t first = 0; ///< instruction of the body
  std::vector<int64_t>
      forbidden; ///< by instruction, from `first`: how many begin less those that end
};

/// The list of nodes in which the loop stands, and where.
std::pair<std::vector<DraftNode> *, size_t> placeOf(std::vector<DraftNode> &nodes, LoopId loop) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].loop == loop) {
      return {&nodes, i};
    }
    for (std::vector<DraftNode> *inner : {&nodes[i].body, &nodes[i].elseBody}) {
      if (auto found = placeOf(*inner, loop); found.first != nullptr) {
        return found;
      }
    }
  }
  return {nullptr, 0};
}

bool holds(const DraftNode &node, InstrId id) {
  auto inside = [&](const DraftNode &child) { return holds(child, id); };
  return node.instr == id || std::ranges::any_of(node.body, inside) ||
         std::ranges::any_of(node.elseBody, inside);
}

std::string freshLoopName(const Kernel &kernel, LoopId loop) {
  auto isTaken = [&](const std::string &name) {
    auto isNamed = [&](NameId id) { return id.valid() && kernel.text(id) == name; };
    return std::ranges::any_of(kernel.loops,
                               [&](const Loop &each) {
                                 return isNamed(each.name) ||
                                        isNamed(each.trip.symbol); // or it would mean that value
                               }) ||
           std::ranges::any_of(kernel.values,
                               [&](const RunValue &each) { return isNamed(each.name); });
  };
  std::string name;
  for (int number = 2; name.empty() || isTaken(name); ++number) {
    name = fmt::format("{}.{}", kernel.nameOf(loop), number);
  }
  return name;
}

/// Whether two loops with its trips run equally often, whenever they are reached.
bool hasSureTrips(const Kernel &kernel, LoopId loop) {
  const Trip &trip = kernel.loops[loop].trip;
  return trip.kind == Trip::Kind::Constant || trip.kind == Trip::Kind::Formula;
}

} // namespace

std::vector<Unchanging> mayRunOnce(const Kernel &kernel) {
  OnceFinder finder(kernel);
  std::vector<Unchanging> together, alone;
  std::vector<std::vector<InstrId>> ofLoop(kernel.loops.size());
  for (InstrId id : kernel.instrs.ids()) {
    if (finder.mayRunOnce(id)) {
      ofLoop[kernel.instrs[id].home.value].push_back(id);
    }
  }
  for (LoopId loop : kernel.loops.ids()) {
    const std::vector<InstrId> &instrs = ofLoop[loop.value];
    if (instrs.size() > 1) {
      together.push_back({loop, instrs});
    }
    for (InstrId id : instrs) {
      if (alone.size() < mostAlone) {
        alone.push_back({loop, {id}});
      }
    }
  }
  together.insert(together.end(), alone.begin(), alone.end());
  return together;
}

Kernel runningOnce(const Kernel &kernel, const Unchanging &what) {
  Draft draft = draftOf(kernel);
  const auto [nodes, place] = placeOf(draft.body, what.loop);
  std::vector<DraftNode> &body = (*nodes)[place].body;
  auto leaves = [&](const DraftNode &node) {
    return node.instr.valid() && std::ranges::count(what.instrs, node.instr) != 0;
  };
  std::vector<DraftNode> before;
  std::ranges::copy_if(body, std::back_inserter(before), leaves);
  std::erase_if(body, leaves);
  nodes->insert(nodes->begin() + static_cast<ptrdiff_t>(place), before.begin(), before.end());
  return built(kernel, draft);
}

std::vector<SplitPoint> maySplit(const Kernel &kernel) {
  const IdVector<LoopId, LoopId> divergent = divergentLoops(kernel);
  SplitFinder finder(kernel);
  std::vector<SplitPoint> points;
  for (LoopId loop : kernel.loops.ids()) {
    if (kernel.loops[loop].kind != LoopKind::Loop || divergent[loop].valid() ||
        !hasSureTrips(kernel, loop)) {
      continue;
    }
    for (const SplitPoint &point : finder.find(loop)) {
      if (points.size() < mostAlone) {
        points.push_back(point);
      }
    }
  }
  return points;
}

Kernel splitAt(const Kernel &kernel, const SplitPoint &point) {
  Draft draft = draftOf(kernel);
  const auto [nodes, place] = placeOf(draft.body, point.loop);
  DraftNode second = (*nodes)[place];
  std::vector<DraftNode> &body = (*nodes)[place].body;
  const auto from =
      std::ranges::find_if(body, [&](const DraftNode &node) { return holds(node, point.second); });
  second.body.assign(from, body.end());
  second.name = freshLoopName(kernel, point.loop);
  body.erase(from, body.end());
  nodes->insert(nodes->begin() + static_cast<ptrdiff_t>(place) + 1, std::move(second));
  return built(kernel, draft);
}

} // namespace tally
