//===- Check.cpp - Is this a legal kernel? --------------------------------===//
//
// One pass over each table, in the order of the header's list; dependences have a file of their own
// (CheckDeps.h). A table of names replaces every lookup, so that the whole is linear in the kernel
// (times the depth, where a loop must be found around an instruction).
//
//===----------------------------------------------------------------------===//

#include "tally/Model/Check.h"

#include "../Support/Report.h"

#include "CheckDeps.h"
#include "tally/Model/ComputeText.h"
#include "tally/Model/Loads.h"
#include "tally/Model/Open.h"
#include "tally/Model/Overlap.h"
#include "tally/Model/Pins.h"
#include "tally/Model/Ranges.h"
#include "tally/Model/Regions.h"
#include "tally/Model/Tiles.h"
#include "tally/Support/Counted.h"
#include "tally/Support/Printable.h"

#include <algorithm>

namespace tally {

using namespace model;

namespace {

/// As much of a text as a message can quote; whole characters of UTF-8.
std::string_view quotable(std::string_view text) {
  size_t end = std::min<size_t>(text.size(), 200);
  for (; end > 0 && end < text.size() && (text[end] & 0xC0) == 0x80; --end) {
  }
  return text.substr(0, end);
}

class Checker {
public:
  Checker(const Kernel &kernel, Diagnostics &diagnostics)
      : kernel(kernel), diagnostics(diagnostics) {}

  void run();

private:
  // Names
  void quotableTexts();
  void quotableText(NameId text, std::string_view kind, Location where);
  template <typename IdT, typename T>
  void quotableNames(const IdVector<IdT, T> &table, std::string_view kind);
  template <typename IdT, typename T>
  void uniqueNames(const IdVector<IdT, T> &table, std::string_view kind);

  template <typename IdT> bool nameIsImplied(IdT) const { return false; }

  /// Whether a complaint about something else says that the two have one name.
  template <typename IdT> bool isSaidOf(IdT later, IdT) const { return nameIsImplied(later); }

  bool isSaidOf(QueueId later, QueueId first) const {
    return nameIsImplied(later) && nameIsImplied(first); // of their engines
  }

  bool nameIsImplied(QueueId queue) const;
  bool nameIsImplied(LoopId loop) const;

  // Numbers
  void engines();
  void buffer(BufferId id);
  void partitions(const Buffer &buffer, std::string_view name);
  void loop(LoopId id);
  void trip(const Loop &loop);
  bool isBounded(const BodyTile &formula) const;
  void condition(const Loop &loop);
  void formula(const Loop &loop);
  void value(const RunValue &value);
  void accesses(InstrId id);
  void computes(InstrId id);
  void control();
  void givenBy(LoopId id, NameId value, const std::vector<InstrId> &writerOf);

  const Kernel &kernel;
  Diagnostics &diagnostics;
  std::vector<uint32_t> ownerOfName; ///< of the current kind, by NameId
};

void Checker::run() {
  quotableTexts();
  ownerOfName.resize(kernel.strings.size());
  uniqueNames(kernel.engines, "engine");
  uniqueNames(kernel.queues, "queue");
  uniqueNames(kernel.buffers, "buffer");
  uniqueNames(kernel.loops, "loop");
  uniqueNames(kernel.instrs, "instruction");
  engines();
  for (BufferId id : kernel.buffers.ids()) {
    buffer(id);
  }
  for (LoopId id : kernel.loops.ids()) {
    loop(id);
  }
  for (const RunValue &each : kernel.values) {
    value(each);
  }
  for (InstrId id : kernel.instrs.ids()) {
    accesses(id);
    computes(id);
  }
  control();
  checkPins(kernel, diagnostics);
  checkOpen(kernel, diagnostics);
  checkLoads(kernel, diagnostics);
  checkDeps(kernel, diagnostics);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void Checker::quotableText(NameId text, std::string_view kind, Location where) {
  if (!isQuotable(kernel.text(text))) {
    diagnostics.error(where, unquotableName(kind, kernel.text(text)));
  }
}

template <typename IdT, typename T>
void Checker::quotableNames(const IdVector<IdT, T> &table, std::string_view kind) {
  for (IdT id : table.ids()) {
    if (!nameIsImplied(id)) {
      quotableText(table[id].name, kind, table[id].where);
    }
  }
}

/// Every text of a kernel that a command may quote. The pool of all of them is looked at first: the
/// tables are gone through only to find the place.
void Checker::quotableTexts() {
  bool allQuotable = true;
  for (uint32_t id = 0; id < kernel.strings.size(); ++id) {
    allQuotable &= isQuotable(kernel.text(NameId(id)));
  }
  if (allQuotable) {
    return;
  }
  quotableText(kernel.name, "kernel", kernel.where);
  quotableNames(kernel.engines, "engine");
  quotableNames(kernel.queues, "queue");
  for (const Buffer &buffer : kernel.buffers) {
    quotableText(buffer.name, "buffer", buffer.where);
    quotableText(buffer.space, "memory space", buffer.where);
    quotableText(buffer.elementType, "element type", buffer.where);
  }
  for (const Loop &loop : kernel.loops) {
    if (loop.kind == LoopKind::Else) {
      continue; // it has the texts of its `if`
    }
    quotableText(loop.name, loop.isBranch() ? "branch" : "loop", loop.where);
    if (loop.trip.symbol != loop.name) {
      quotableText(loop.trip.symbol, "value", loop.where);
    }
  }
  for (const Instr &instr : kernel.instrs) {
    quotableText(instr.name, "instruction", instr.where);
    quotableText(instr.operation, "operation", instr.where);
    quotableText(instr.computes, "text", instr.where);
    for (AccessId access : instr.accesses) {
      quotableText(kernel.accesses[access].text, "tile", instr.where);
    }
  }
}

/// The first queue has its engine's name; a complaint about the engine says it all.
bool Checker::nameIsImplied(QueueId queue) const {
  return kernel.engines[kernel.queues[queue].engine].queues[0] == queue;
}

/// The root has no name, and an else-branch has the one of its `if`.
bool Checker::nameIsImplied(LoopId loop) const {
  if (loop == rootLoop) {
    return true;
  }
  const Loop &branch = kernel.loops[loop];
  if (branch.kind != LoopKind::Else) {
    return false;
  }
  uint32_t owner = ownerOfName[kernel.loops[branch.otherBranch].name.value];
  return owner != branch.otherBranch.value;
}

template <typename IdT, typename T>
void Checker::uniqueNames(const IdVector<IdT, T> &table, std::string_view kind) {
  ownerOfName.assign(ownerOfName.size(), IdT::noneValue);
  for (IdT id : table.ids()) {
    NameId name = table[id].name;
    uint32_t &owner = ownerOfName[name.value];
    if (kernel.text(name).empty()) {
      if (!nameIsImplied(id)) {
        report(diagnostics, table[id].where, "this {} has an empty name", kind);
      }
    } else if (owner == IdT::noneValue) {
      owner = id.value;
    } else if (!isSaidOf(id, IdT(owner))) {
      report(diagnostics, table[id].where,
             "two {0}s are named '{1}'; each {0} needs a name of its own", kind, kernel.text(name))
          .note(table[IdT(owner)].where, "the first is here");
    }
  }
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void Checker::engines() {
  if (kernel.engines.empty()) {
    report(diagnostics, kernel.where, "kernel '{}' has no engine; declare at least one",
           kernel.text(kernel.name));
  }
  if (kernel.engines.size() > maxEngines) {
    report(diagnostics, kernel.engines[EngineId(maxEngines)].where,
           "kernel '{}' has {} engines; at most {} are supported", kernel.text(kernel.name),
           kernel.engines.size(), maxEngines);
  }
  for (QueueId id : kernel.queues.ids()) {
    const Queue &queue = kernel.queues[id];
    if (queue.weight == 0 || queue.weight > maxCount) {
      report(diagnostics, queue.where, "queue '{}' has weight {}; a weight lies between 1 and {}",
             kernel.nameOf(id), queue.weight, maxCount);
    }
  }
}

void Checker::buffer(BufferId id) {
  const Buffer &buffer = kernel.buffers[id];
  std::string_view name = kernel.text(buffer.name);
  if (std::ranges::find(buffer.shape, uint64_t(0)) != buffer.shape.end()) {
    report(diagnostics, buffer.where,
           "buffer '{}' has an extent of 0, so no tile lies within it; extents are at least 1",
           name);
  }
  for (BufferId earlier : buffer.noalias) {
    if (std::ranges::find(buffer.alias, earlier) != buffer.alias.end()) {
      report(diagnostics, buffer.where,
             "buffer '{0}' names '{1}' under 'alias' and under 'noalias'; '{1}' either may share "
             "its memory or does not",
             name, kernel.text(kernel.buffers[earlier].name));
    }
  }
  partitions(buffer, name);
  std::string problem = sizeProblem(kernel, id);
  if (!problem.empty()) {
    report(diagnostics, buffer.where, "buffer '{}' does not fit in memory: {}", name, problem);
  }
}

void Checker::partitions(const Buffer &buffer, std::string_view name) {
  if (!buffer.partitions) {
    return;
  }
  auto [first, dim] = *buffer.partitions;
  if (dim >= buffer.shape.size()) {
    report(diagnostics, buffer.where,
           "dimension {} of buffer '{}' is said to go over partitions, and it has {}; dimensions "
           "count from 0",
           dim, name, counted(buffer.shape.size(), "dimension"));
  } else if (uint64_t extent = buffer.shape[dim];
             extent > maxPartitions || first > maxPartitions - extent) {
    report(diagnostics, buffer.where,
           "buffer '{}' takes {} partitions from partition {} on, and a memory has at most {}",
           name, extent, first, maxPartitions);
  }
}

void Checker::loop(LoopId id) {
  const Loop &loop = kernel.loops[id];
  if (loop.depth == maxDepth + 1) {
    report(diagnostics, loop.where,
           "'{}' lies inside {} loops and branches; with itself at most {} may enclose one another",
           kernel.text(loop.name), maxDepth, maxDepth);
  }
  if (id != rootLoop) {
    trip(loop);
    checkUnrolling(loop, kernel.text(loop.name), diagnostics);
  }
}

void Checker::trip(const Loop &loop) {
  std::string_view name = kernel.text(loop.name);
  const Trip &trip = loop.trip;
  if (loop.isBranch()) {
    if (trip.kind != Trip::Kind::Guard) {
      report(diagnostics, loop.where,
             "branch '{}' has a trip count; a branch runs if its condition holds, and never twice",
             name);
    } else if (trip.condition.valid() && loop.kind == LoopKind::Then) {
      condition(loop);
    }
    return;
  }
  if (trip.kind == Trip::Kind::Formula) {
    return formula(loop);
  }
  uint64_t largest = std::max(trip.least(), trip.most().value_or(0));
  if (largest > maxCount) {
    report(diagnostics, loop.where, "loop '{}' {} {} times; a trip count is at most {}", name,
           trip.kind == Trip::Kind::Constant ? "runs" : "may run", largest, maxCount);
  }
  if (trip.kind == Trip::Kind::Value && trip.max && *trip.max < trip.min) {
    report(diagnostics, loop.where,
           "loop '{}' has 'min {}' and 'max {}'; the minimum must not exceed the maximum", name,
           trip.min, *trip.max);
  }
}

/// Whether all that it names has bounds.
bool Checker::isBounded(const BodyTile &formula) const {
  return std::ranges::all_of(formula.access.exprs, [&](const TileExpr &node) {
    return node.kind == TileExpr::Kind::Loop
               ? kernel.loops[formula.loopOf(node)].trip.most().has_value()
           : node.kind == TileExpr::Kind::Symbol
               ? kernel.values[formula.valueOf(node)].max.has_value()
               : true;
  });
}

void Checker::condition(const Loop &loop) {
  const BodyTile &condition = kernel.tiles->conditionOf(kernel.stmts[loop.stmt].loop);
  if (std::string problem = controlProblem(kernel, condition); !problem.empty()) {
    report(diagnostics, loop.where, "'{}' cannot decide about '{}': {}",
           kernel.text(condition.text), kernel.text(loop.name), problem);
  }
  if (!loop.uniform) {
    report(diagnostics, loop.where,
           "branch '{}' is divergent, but '{}' is the same on all engines; drop 'divergent'",
           kernel.text(loop.name), kernel.text(condition.text));
  }
}

void Checker::formula(const Loop &loop) {
  const BodyTile &formula = kernel.tiles->formulaOf(kernel.stmts[loop.stmt].loop);
  if (std::string problem = controlProblem(kernel, formula); !problem.empty()) {
    report(diagnostics, loop.where, "'{}' cannot say how often loop '{}' runs: {}",
           kernel.text(formula.text), kernel.text(loop.name), problem);
  } else if (isBounded(formula) && boundsOf(kernel, formula, formula.access.dims[0].first).last >
                                       static_cast<int64_t>(maxCount)) {
    report(diagnostics, loop.where,
           "loop '{}' may run more than {} times, as often as '{}' says; that is the most; state a "
           "smaller 'max' for what it names",
           kernel.text(loop.name), maxCount, kernel.text(formula.text));
  }
  if (!loop.uniform) {
    report(diagnostics, loop.where,
           "loop '{}' is divergent, but '{}' is the same on all engines; drop 'divergent'",
           kernel.text(loop.name), kernel.text(formula.text));
  }
}

/// A value is one number. What may differ from entry to entry has another name, so that a name that
/// is given a number says which of the two is meant.
void Checker::value(const RunValue &value) {
  std::string_view name = kernel.text(value.name);
  const DeclaredValue *declared = kernel.declarationOf(value);
  Location where = declared ? declared->where : kernel.loops[value.loop].where;
  for (const DeclaredValue &other : kernel.declaredValues) {
    if (other.name == value.name && &other != declared) {
      report(diagnostics, other.where, "value '{}' is declared twice", name)
          .note(where, "the first one is here");
    }
  }
  uint64_t largest = std::max(value.min, value.max.value_or(0));
  if (largest > maxCount) {
    report(diagnostics, where, "'${}' may be {}; a run-time value is at most {}", name, largest,
           maxCount);
  }
  if (value.max && *value.max < value.min) {
    report(diagnostics, where,
           "'${}' is at least {} and at most {}; the minimum must not exceed the maximum", name,
           value.min, *value.max);
  }
  for (const Loop &loop : kernel.loops) {
    bool isOther = loop.trip.kind == Trip::Kind::Value || loop.trip.kind == Trip::Kind::Guard;
    if (loop.kind == LoopKind::Loop && isOther && loop.trip.symbol == value.name) {
      report(diagnostics, loop.where,
             "loop '{0}' runs '{1}' times, which may be another number each time it is reached, "
             "and '${1}' "
             "is one number for the whole run; write 'trips = \"${1}\"', or give one of the two "
             "another name",
             kernel.text(loop.name), name)
          .note(where, fmt::format("'${}' is here", name));
    }
  }
}

void Checker::accesses(InstrId id) {
  const Instr &instr = kernel.instrs[id];
  for (AccessId a : instr.accesses) {
    const Access &access = kernel.accesses[a];
    const Buffer &buffer = kernel.buffers[access.buffer];
    const BodyTile &tile = (*kernel.tiles)[a];
    std::string problem = tile.problem;
    if (problem.empty() && tile.access.buffer != kernel.text(buffer.name)) {
      problem = fmt::format("it is filed under buffer '{}'", kernel.text(buffer.name));
    } else if (problem.empty()) {
      problem = tileProblem(kernel, buffer, tile);
    }
    if (!problem.empty()) {
      Diagnostic &error = report(diagnostics, instr.where, "'{}' cannot touch '{}': {}",
                                 kernel.nameOf(id), kernel.text(access.text), problem);
      if (buffer.where.known()) {
        error.note(buffer.where, fmt::format("'{}' is here", kernel.text(buffer.name)));
      }
    }
  }
}

void Checker::computes(InstrId id) {
  const Instr &instr = kernel.instrs[id];
  if (!instr.computes.valid()) {
    return;
  }
  std::string_view text = kernel.text(instr.computes);
  const ComputeTable::Entry &entry = (*kernel.computes)[instr.computes];
  std::string problem =
      entry.problem.empty() ? computeProblem(kernel, id, entry.compute) : entry.problem;
  if (!problem.empty()) {
    report(diagnostics, instr.where, "'{}' cannot compute '{}{}': {}", kernel.nameOf(id),
           quotable(text), quotable(text).size() < text.size() ? "..." : "", problem);
  }
}

/// Trips and conditions are values that stand before the kernel starts, or that it loads. One with
/// the name of memory that the kernel writes, and that nothing loads, would be read too early, or
/// differently by each engine.
void Checker::control() {
  std::vector<InstrId> writerOf(kernel.strings.size()); // by the name of a buffer
  for (InstrId id : kernel.instrs.ids()) {
    for (AccessId a : kernel.instrs[id].accesses) {
      NameId buffer = kernel.buffers[kernel.accesses[a].buffer].name;
      if (kernel.accesses[a].kind != AccessKind::Read && !writerOf[buffer.value].valid()) {
        writerOf[buffer.value] = id;
      }
    }
  }
  for (LoopId id : kernel.loops.ids()) {
    const Loop &loop = kernel.loops[id];
    if (loop.trip.kind == Trip::Kind::Formula) {
      for (RunValueId value : kernel.tiles->formulaOf(id).values) {
        givenBy(id, value.valid() ? kernel.values[value].name : NameId(), writerOf);
      }
    } else if (loop.trip.condition.valid() && loop.kind == LoopKind::Then) {
      for (RunValueId value : kernel.tiles->conditionOf(id).values) {
        givenBy(id, value.valid() ? kernel.values[value].name : NameId(), writerOf);
      }
    } else if (loop.kind != LoopKind::Else) {
      givenBy(id, loop.isBranch() ? loop.name : loop.trip.symbol, writerOf);
    }
  }
}

void Checker::givenBy(LoopId id, NameId value, const std::vector<InstrId> &writerOf) {
  const bool isLoaded =
      std::ranges::find(kernel.loads, value, &LoadedValue::value) != kernel.loads.end();
  if (value.valid() && writerOf[value.value].valid() && !isLoaded) {
    InstrId writer = writerOf[value.value];
    report(diagnostics, kernel.loops[id].where,
           "how often '{}' runs is given by '{}', and '{}' writes a buffer of that name; control "
           "cannot read what the kernel writes: load the value before, or by 'loads', or give one "
           "of the two another name",
           kernel.nameOf(id), kernel.text(value), kernel.nameOf(writer))
        .note(kernel.instrs[writer].where, fmt::format("'{}' is here", kernel.nameOf(writer)));
  }
}

} // namespace

void check(const Kernel &kernel, Diagnostics &diagnostics) {
  Checker(kernel, diagnostics).run();
}

} // namespace tally
