//===- Enumerate.cpp - All conflicts of one run, one by one ---------------===//

#include "oracle/Enumerate.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tally::oracle {

Enumeration::Enumeration(const Kernel &kernel, const TripsOf &tripsOf,
                         const std::map<std::string, int64_t> &values)
    : kernel(kernel), tripsOf(tripsOf), values(values), byInstr(kernel.instrs.size()),
      iteration(kernel.loops.size(), 0), entries(kernel.loops.size(), 0),
      tripsNow(kernel.loops.size(), 0), reached(kernel.loops.size(), 0),
      queueLength(kernel.queues.size(), 0) {
  walk(rootLoop);
}

void Enumeration::walk(LoopId body) {
  ++entries[body.value];
  for (StmtId s : kernel.loops[body].body) {
    const Stmt &stmt = kernel.stmts[s];
    if (stmt.kind == Stmt::Kind::Block) {
      for (InstrId i : stmt.instrs) {
        record(i);
      }
    } else if (stmt.kind == Stmt::Kind::Loop) {
      repeat(stmt.loop);
    } else {
      bool then = kernel.loops[stmt.loop].trip.condition.valid()
                      ? byCondition(stmt.loop)
                      : tripsOf(stmt.loop, reached[stmt.loop.value]++) != 0;
      LoopId other = kernel.loops[stmt.loop].otherBranch;
      skipped.insert(then ? other : stmt.loop);
      if (!kernel.loops[stmt.loop].trip.condition.valid()) {
        unforeseen.insert(then ? other : stmt.loop);
      }
      walk(then ? stmt.loop : other);
    }
  }
}

void Enumeration::repeat(LoopId loop) {
  uint64_t trips = kernel.loops[loop].trip.kind == Trip::Kind::Formula
                       ? byFormula(loop)
                       : tripsOf(loop, reached[loop.value]++);
  if (trips == 0) {
    skipped.insert(loop);
    unforeseen.insert(loop);
  }
  tripsNow[loop.value] = static_cast<int64_t>(trips);
  for (uint64_t i = 0; i < trips; ++i) {
    iteration[loop.value] = static_cast<int64_t>(i);
    walk(loop);
  }
}

uint64_t Enumeration::byFormula(LoopId loop) const {
  std::string error;
  ParsedAccess formula = *parseFormula(kernel.text(kernel.loops[loop].trip.symbol), error);
  int64_t count = *valueIn(kernel.loops[loop].parent, formula, formula.dims[0].first);
  return static_cast<uint64_t>(std::max<int64_t>(count, 0));
}

bool Enumeration::byCondition(LoopId branch) const {
  const LoopId around = kernel.loops[branch].parent;
  std::string error;
  ParsedAccess condition = *parseCondition(kernel.text(kernel.loops[branch].trip.condition), error);
  for (size_t at = 0; at < condition.numGroups(); ++at) {
    const std::span<const TileGuard> group = condition.group(at);
    const auto numMet = std::ranges::count_if(group, [&](const TileGuard &guard) {
      return guard.holds(*valueIn(around, condition, guard.left),
                         *valueIn(around, condition, guard.right));
    });
    const bool isMet = condition.isEither ? size_t(numMet) == group.size() : numMet > 0;
    if (isMet == condition.isEither) {
      return isMet;
    }
  }
  return !condition.isEither;
}

void Enumeration::record(InstrId instr) {
  Run run;
  run.instr = instr;
  run.number = static_cast<uint32_t>(byInstr[instr.value].size()) + 1;
  run.place = ++queueLength[kernel.instrs[instr].queue.value];
  for (LoopId l = kernel.instrs[instr].home; l.valid(); l = kernel.loops[l].parent) {
    if (kernel.loops[l].kind == LoopKind::Loop) {
      run.vector.insert(run.vector.begin(), iteration[l.value]);
    }
  }
  byInstr[instr.value].push_back(static_cast<uint32_t>(all.size()));
  all.push_back(run);
  touched.emplace_back();
  for (AccessId a : kernel.instrs[instr].accesses) {
    touched.back().push_back(touch(instr, a));
  }
}

LoopId Enumeration::loopOf(LoopId loop, std::string_view name) const {
  while (kernel.nameOf(loop) != name) {
    loop = kernel.loops[loop].parent;
  }
  return loop;
}

std::optional<int64_t> Enumeration::valueOf(InstrId instr, const ParsedAccess &tile,
                                            TileExprId id) const {
  return valueIn(kernel.instrs[instr].home, tile, id);
}

std::optional<int64_t> Enumeration::valueIn(LoopId home, const ParsedAccess &tile,
                                            TileExprId id) const {
  using Kind = TileExpr::Kind;
  const TileExpr &node = tile.exprs[id];
  auto loop = [&] { return loopOf(home, tile.names[node.name]).value; };
  switch (node.kind) {
  case Kind::Constant:
    return node.value;
  case Kind::Loop:
    return iteration[loop()];
  case Kind::Total:
    return entries[loop()] - 1;
  case Kind::Trips:
    return tripsNow[loop()];
  case Kind::Symbol: {
    auto found = values.find(tile.names[node.name]);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  default:
    break;
  }
  std::optional<int64_t> a = valueIn(home, tile, node.a);
  std::optional<int64_t> b = node.b.valid() ? valueIn(home, tile, node.b) : node.value;
  if (!a || !b) {
    return std::nullopt;
  }
  int64_t rest = node.kind == Kind::Mod || node.kind == Kind::FloorDiv ? ((*a % *b) + *b) % *b : 0;
  return node.kind == Kind::Add     ? *a + *b
         : node.kind == Kind::Sub   ? *a - *b
         : node.kind == Kind::Scale ? *a * *b
         : node.kind == Kind::Mod   ? rest
                                    : (*a - rest) / *b;
}

bool Enumeration::holds(InstrId instr, const ParsedAccess &tile, const TileGuard &guard) const {
  std::optional<int64_t> left = valueOf(instr, tile, guard.left);
  std::optional<int64_t> right = valueOf(instr, tile, guard.right);
  return !left || !right || guard.holds(*left, *right);
}

std::vector<int64_t> Enumeration::coordinates(InstrId instr, const ParsedAccess &tile,
                                              const TileDim &dim) const {
  std::optional<int64_t> first = valueOf(instr, tile, dim.first);
  std::optional<int64_t> known = dim.size.valid() ? valueOf(instr, tile, dim.size) : 1;
  int64_t size = known.value_or(farAway);
  std::vector<int64_t> all;
  for (int64_t i = 0; i < (first ? size : std::min<int64_t>(size, 1)); ++i) {
    all.push_back(first ? *first + i * dim.stride : any);
  }
  return all;
}

/// The guards hold.
void Enumeration::noteBeyond(InstrId instr, AccessId access, const ParsedAccess &tile) {
  const std::vector<uint64_t> &shape = kernel.buffers[kernel.accesses[access].buffer].shape;
  std::vector<Beyond> found;
  for (uint32_t d = 0; d < tile.dims.size(); ++d) {
    const TileDim &dim = tile.dims[d];
    std::optional<int64_t> first = valueOf(instr, tile, dim.first);
    int64_t size = dim.size.valid() ? valueOf(instr, tile, dim.size).value_or(1) : 1;
    if (size < 1) {
      return; // it touches nothing
    }
    int64_t last = first.value_or(0) + (size - 1) * dim.stride;
    if (first && (*first < 0 || last >= static_cast<int64_t>(shape[d]))) {
      found.push_back({access, d, *first < 0 ? *first : last, all.back().vector});
    }
  }
  allBeyond.insert(allBeyond.end(), found.begin(), found.end());
}

Enumeration::Touched Enumeration::touch(InstrId instr, AccessId access) {
  Touched result{kernel.accesses[access].buffer, kernel.accesses[access].kind, {}, false};
  std::string error;
  ParsedAccess tile = *parseAccess(kernel.text(kernel.accesses[access].text), error);
  for (const TileGuard &guard : tile.guards) {
    if (!holds(instr, tile, guard)) {
      return result;
    }
  }
  noteBeyond(instr, access, tile);
  const std::vector<uint64_t> &shape = kernel.buffers[result.buffer].shape;
  result.isWhole = tile.dims.empty();
  result.elements = {{}};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t> all(shape[d]);
    std::iota(all.begin(), all.end(), 0);
    std::vector<Element> longer;
    for (const Element &element : result.elements) {
      for (int64_t coordinate : result.isWhole ? all : coordinates(instr, tile, tile.dims[d])) {
        longer.push_back(element);
        longer.back().push_back(coordinate);
      }
    }
    result.elements = std::move(longer);
  }
  return result;
}

bool Enumeration::meet(const Element &a, const Element &b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d] != any && b[d] != any && a[d] != b[d]) {
      return false;
    }
  }
  return true;
}

/// As a number that no other byte of memory has, and to which that of the next byte of a partition
/// is next.
int64_t Enumeration::firstByte(BufferId id, const Element &element) const {
  const Buffer &buffer = kernel.buffers[id];
  int64_t number = 0;
  int64_t partition = 0;
  for (size_t d = 0; d < element.size(); ++d) {
    if (buffer.partitions && buffer.partitions->dim == d) {
      partition = static_cast<int64_t>(buffer.partitions->first) + element[d];
    } else {
      number = number * static_cast<int64_t>(buffer.shape[d]) + element[d];
    }
  }
  constexpr int64_t pitch = int64_t(1) << 40;
  return partition * pitch + static_cast<int64_t>(*buffer.address) + number * bytesOfElement(id);
}

/// Types are a letter and bits.
int64_t Enumeration::bytesOfElement(BufferId id) const {
  return std::stoll(std::string(kernel.text(kernel.buffers[id].elementType).substr(1))) / 8;
}

/// Whether addresses put some element of the one over some of the other: the first partition and
/// byte, and those behind the last, of both.
bool Enumeration::lieOverOneAnother(BufferId a, BufferId b) const {
  auto cornersOf = [&](BufferId id) {
    const Buffer &buffer = kernel.buffers[id];
    uint64_t partition = 0, partitions = 1, bytes = static_cast<uint64_t>(bytesOfElement(id));
    for (size_t d = 0; d < buffer.shape.size(); ++d) {
      bool isPartition = buffer.partitions && buffer.partitions->dim == d;
      (isPartition ? partitions : bytes) *= buffer.shape[d];
      partition += isPartition ? buffer.partitions->first : 0;
    }
    return std::array{partition, *buffer.address, partition + partitions, *buffer.address + bytes};
  };
  auto x = cornersOf(a), y = cornersOf(b);
  return x[0] < y[2] && y[0] < x[2] && x[1] < y[3] && y[1] < x[3];
}

bool Enumeration::shareBytes(const Touched &a, const Touched &b) const {
  std::set<int64_t> bytes;
  for (const Element &element : a.elements) {
    for (int64_t i = 0; i < bytesOfElement(a.buffer); ++i) {
      bytes.insert(firstByte(a.buffer, element) + i);
    }
  }
  return std::any_of(b.elements.begin(), b.elements.end(), [&](const Element &element) {
    int64_t first = firstByte(b.buffer, element);
    auto found = bytes.lower_bound(first);
    return found != bytes.end() && *found < first + bytesOfElement(b.buffer);
  });
}

bool Enumeration::meet(const Touched &a, const Touched &b) const {
  if (a.elements.empty() || b.elements.empty()) {
    return false;
  }
  if (a.buffer == b.buffer) {
    return a.isWhole || b.isWhole ||
           std::any_of(a.elements.begin(), a.elements.end(), [&](const Element &p) {
             return std::any_of(b.elements.begin(), b.elements.end(),
                                [&](const Element &q) { return meet(p, q); });
           });
  }
  auto [first, second] = std::minmax({a.buffer, b.buffer});
  const Buffer &later = kernel.buffers[second];
  auto names = [first = first](const std::vector<BufferId> &list) {
    return std::find(list.begin(), list.end(), first) != list.end();
  };
  if (names(later.noalias) || names(later.alias)) {
    return !names(later.noalias);
  }
  if (!later.address || !kernel.buffers[first].address || !lieOverOneAnother(first, second)) {
    return false;
  }
  auto isAny = [](const Touched &touched) {
    return std::any_of(touched.elements.begin(), touched.elements.end(), [](const Element &e) {
      return std::find(e.begin(), e.end(), any) != e.end();
    });
  };
  return isAny(a) || isAny(b) || shareBytes(a, b);
}

bool Enumeration::conflict(const Run &a, const Run &b) const {
  const std::vector<Touched> &x = touched[static_cast<size_t>(&a - all.data())];
  const std::vector<Touched> &y = touched[static_cast<size_t>(&b - all.data())];
  QueueId queue = kernel.instrs[a.instr].queue;
  bool addUp = queue == kernel.instrs[b.instr].queue && kernel.queues[queue].addsInOrder;
  for (const Touched &s : x) {
    for (const Touched &t : y) {
      bool bothRead = s.kind == AccessKind::Read && t.kind == AccessKind::Read;
      bool bothAdd = s.kind == AccessKind::Accumulate && t.kind == AccessKind::Accumulate;
      if (!bothRead && !(bothAdd && addUp) && meet(s, t)) {
        return true;
      }
    }
  }
  return false;
}

bool Enumeration::isIn(const std::set<LoopId> &bodies, InstrId instr) const {
  for (LoopId l = kernel.instrs[instr].home; l.valid(); l = kernel.loops[l].parent) {
    if (bodies.contains(l)) {
      return true;
    }
  }
  return false;
}

std::vector<int64_t> distancesOf(const Kernel &kernel, const Dep &dep) {
  std::vector<int64_t> distance;
  for (LoopId l = kernel.sharedBody(dep); l.valid(); l = kernel.loops[l].parent) {
    if (kernel.loops[l].kind == LoopKind::Loop) {
      distance.insert(distance.begin(), kernel.distanceOn(dep, l));
    }
  }
  return distance;
}

int64_t Enumeration::numberSince(const Run &run, size_t numLoops) const {
  int64_t before = 0;
  for (uint32_t index : runsOf(run.instr)) {
    const Run &other = all[index];
    before += other.number < run.number &&
              std::equal(run.vector.begin(), run.vector.begin() + static_cast<ptrdiff_t>(numLoops),
                         other.vector.begin());
  }
  return before;
}

uint32_t Enumeration::waitedFor(const Dep &dep, const Kernel &owner, const Run &consumer) const {
  const std::vector<uint32_t> &producers = runsOf(dep.producer);
  if (dep.form == DistanceForm::Flat) {
    int64_t target = int64_t(consumer.number) - dep.step;
    return static_cast<uint32_t>(
        std::clamp<int64_t>(target, 0, static_cast<int64_t>(producers.size())));
  }
  std::vector<int64_t> distance = distancesOf(owner, dep);
  const size_t numCommon = distance.size();
  std::vector<int64_t> target;
  for (size_t i = 0; i < distance.size(); ++i) {
    target.push_back(consumer.vector[i] - distance[i]);
    if (target.back() < 0) {
      return 0;
    }
  }
  bool isElement = dep.form == DistanceForm::Element;
  if (isElement) {
    target.push_back(owner.runNeeded(dep, numberSince(consumer, numCommon)));
    if (target.back() < 0) {
      return 0;
    }
  }
  uint32_t count = 0;
  for (uint32_t index : producers) {
    const std::vector<int64_t> &vector = all[index].vector;
    std::vector<int64_t> common(vector.begin(), vector.begin() + static_cast<ptrdiff_t>(numCommon));
    if (isElement) {
      common.push_back(numberSince(all[index], numCommon));
    }
    count += common <= target;
  }
  return count;
}

std::vector<std::vector<uint32_t>> surelyOver(const Kernel &kernel, const Enumeration &runs,
                                              bool queueOverlap) {
  size_t numQueues = kernel.queues.size();
  std::vector<uint32_t> nothing(numQueues, 0);
  std::vector<std::vector<uint32_t>> issued(kernel.engines.size(), nothing); // by engine
  std::vector<std::vector<uint32_t>> started;                                // by run
  auto join = [](std::vector<uint32_t> &into, const std::vector<uint32_t> &from) {
    for (size_t i = 0; i < into.size(); ++i) {
      into[i] = std::max(into[i], from[i]);
    }
  };
  std::vector<std::vector<DepId>> depsOf(kernel.instrs.size());
  for (DepId d : kernel.deps.ids()) {
    depsOf[kernel.deps[d].consumer.value].push_back(d);
  }
  std::vector<std::vector<uint32_t>> inQueue(numQueues); // runs by place
  for (const Run &run : runs.runs()) {
    QueueId queue = kernel.instrs[run.instr].queue;
    std::vector<uint32_t> &engine = issued[kernel.queues[queue].engine.value];
    auto retired = [&](std::vector<uint32_t> &known, QueueId of, uint32_t place) {
      join(known, started[inQueue[of.value][place - 1]]);
      known[of.value] = std::max(known[of.value], place);
    };
    for (DepId d : depsOf[run.instr.value]) {
      const Dep &dep = kernel.deps[d];
      uint32_t count = runs.waitedFor(dep, kernel, run);
      if (count != 0) {
        const Run &producer = runs.runs()[runs.runsOf(dep.producer)[count - 1]];
        retired(engine, kernel.instrs[dep.producer].queue, producer.place);
      }
    }
    std::vector<uint32_t> start = engine;
    if (!queueOverlap && run.place > 1) {
      retired(start, queue, run.place - 1);
    }
    inQueue[queue.value].push_back(static_cast<uint32_t>(started.size()));
    started.push_back(start);
  }
  return started;
}

} // namespace tally::oracle
