//===- Outside.cpp - A run that touches a tile beyond its buffer ----------===//

#include "tally/Model/Outside.h"
#include "tally/Support/Counted.h"

#include "tally/Model/Tiles.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

using Kind = TileExpr::Kind;

static const Buffer &bufferOf(const Kernel &kernel, const OutsideRun &run) {
  return kernel.buffers[kernel.accesses[run.access].buffer];
}

std::string reachText(const Kernel &kernel, const OutsideRun &run) {
  const std::vector<uint64_t> &shape = bufferOf(kernel, run).shape;
  uint64_t extent = shape[run.dim];
  std::string when = iterationText(kernel, run.iteration);
  when += when.empty() || run.also.empty() ? "" : ", ";
  when += run.also;
  return fmt::format("dimension {} of {} has {}, and index {} is reached{}{}", run.dim + 1,
                     shape.size(), counted(extent, "element"), run.index,
                     when.empty() ? "" : " at ", when);
}

//===----------------------------------------------------------------------===//
// The way out
//===----------------------------------------------------------------------===//

namespace {

/// Tiles that stay inside, by what was probably meant.
class WayOut {
public:
  WayOut(const Kernel &kernel, const OutsideRun &run)
      : run(run), extent(static_cast<int64_t>(
                      std::min<uint64_t>(bufferOf(kernel, run).shape[run.dim], INT64_MAX))),
        access((*kernel.tiles)[run.access].access) {
    access.guards.resize((*kernel.tiles)[run.access].ownGuards().size());
  }

  std::string text() {
    TileDim &dim = access.dims[run.dim];
    if (isEndForSize(dim)) {
      return endForSize(dim);
    }
    if (access.isConstant(dim.first)) {
      return {};
    }
    std::string guarded = withGuard(dim);
    std::string ring = isSlot(dim) && extent > 1 ? asRing(dim) : "";
    return ring.empty() && guarded.empty() ? ""
           : ring.empty()                  ? fmt::format("; '{}' leaves such runs out", guarded)
                                           : fmt::format("; did you mean the ring '{}'?", ring);
  }

private:
  int64_t value(TileExprId id) const { return access.exprs[id].value; }

  /// `64:128` of 128 elements: the size was taken for the end.
  bool isEndForSize(const TileDim &dim) const {
    return access.isConstant(dim) && dim.size.valid() && dim.stride == 1 && value(dim.first) > 0 &&
           value(dim.first) < value(dim.size) && value(dim.size) <= extent;
  }

  std::string endForSize(const TileDim &dim) const {
    int64_t first = value(dim.first);
    int64_t size = value(dim.size);
    return fmt::format("; '{0}:{1}' is {1} elements from {0} on: those before {1} are '{0}:{2}'",
                       first, size, size - first);
  }

  /// One element, by a count that goes on.
  bool isSlot(const TileDim &dim) const {
    const TileExpr *node = &access.exprs[dim.first];
    bool isSum = node->kind == Kind::Add && access.isConstant(node->b);
    node = isSum ? &access.exprs[node->a] : node;
    return run.index > 0 && !dim.size.valid() &&
           (node->kind == Kind::Loop || node->kind == Kind::Total);
  }

  std::string asRing(TileDim dim) {
    ParsedAccess ring = access;
    ring.dims[run.dim].first = ring.exprs.push({Kind::Mod, extent, dim.first, {}, 0});
    return toString(ring);
  }

  /// Empty if the size is no number.
  std::string withGuard(const TileDim &dim) {
    int64_t size = !dim.size.valid() ? 1 : access.isConstant(dim.size) ? value(dim.size) : 0;
    int64_t beyond = 0;
    if (size == 0 || __builtin_mul_overflow(size - 1, dim.stride, &beyond)) {
      return {};
    }
    ParsedAccess guarded = access;
    auto constant = [&](int64_t number) {
      return guarded.exprs.push({Kind::Constant, number, {}, {}, 0});
    };
    using Relation = TileGuard::Relation;
    guarded.guards.push_back(run.index < 0
                                 ? TileGuard{Relation::GreaterEqual, dim.first, constant(0)}
                                 : TileGuard{Relation::Less, dim.first,
                                             constant(std::max<int64_t>(extent - beyond, 0))});
    return toString(guarded);
  }

  const OutsideRun &run;
  const int64_t extent;
  ParsedAccess access;
};

} // namespace

Diagnostic outsideError(const Kernel &kernel, const OutsideRun &run) {
  const Access &access = kernel.accesses[run.access];
  const Buffer &buffer = bufferOf(kernel, run);
  std::string_view verb = access.kind == AccessKind::Read    ? "reads"
                          : access.kind == AccessKind::Write ? "writes"
                                                             : "accumulates";
  Diagnostic error;
  error.where = kernel.instrs[run.instr].where;
  error.message =
      fmt::format("'{}' {} '{}' beyond the {} of buffer '{}': {}{}", kernel.nameOf(run.instr), verb,
                  kernel.text(access.text), run.index < 0 ? "start" : "end",
                  kernel.text(buffer.name), reachText(kernel, run), WayOut(kernel, run).text());
  if (buffer.where.known()) {
    error.note(buffer.where, fmt::format("'{}' is here", kernel.text(buffer.name)));
  }
  return error;
}

} // namespace tally
