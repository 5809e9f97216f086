//===- AccessCheck.cpp - Whether a tile can stand where it does -----------===//

#include "tally/Model/Tiles.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

/// Only asked to say what is wrong.
static bool isLoop(const Kernel &kernel, std::string_view name) {
  return std::ranges::any_of(kernel.loops,
                             [&](const Loop &loop) { return kernel.text(loop.name) == name; });
}

static std::string nameProblem(const Kernel &kernel, const BodyTile &tile, const TileExpr &node) {
  bool wantsLoop = node.kind == TileExpr::Kind::Loop || node.kind == TileExpr::Kind::Trips;
  if (!wantsLoop && node.kind != TileExpr::Kind::Total) {
    return {};
  }
  LoopId loop = tile.loopOf(node);
  std::string_view name = tile.access.names[node.name];
  if (!loop.valid() && !wantsLoop && isLoop(kernel, name)) {
    return fmt::format("'{0}' is not a loop or branch around it, and 'total({0})' is known inside "
                       "'{0}' only; put the instruction there, count a loop around it, or write a "
                       "run-time value '${0}'",
                       name);
  }
  if (!loop.valid()) {
    return fmt::format("'{}' is not a loop{} around it; a run-time value is written '${}'", name,
                       wantsLoop ? "" : " or branch", name);
  }
  if (wantsLoop && kernel.loops[loop].isBranch()) {
    return fmt::format("'{}' is a branch and has no iterations; 'total({})' counts how often it "
                       "was taken",
                       name, name);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Whether 64 bits hold its numbers
//===----------------------------------------------------------------------===//

namespace {

/// How far from zero a number may be; more than INT64_MAX is too far, and UINT64_MAX any of those.
using Magnitude = uint64_t;

Magnitude plus(Magnitude a, Magnitude b) {
  return a > INT64_MAX || b > INT64_MAX ? UINT64_MAX : a + b;
}

Magnitude times(Magnitude a, Magnitude b) {
  Magnitude result = 0;
  return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

Magnitude absolute(int64_t value) {
  return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

/// Of the trips of a loop. A total is taken for no more than one loop's, and so is a run-time
/// value.
Magnitude mostTrips(const Loop &loop) {
  return loop.trip.most().value_or(maxCount);
}

Magnitude magnitudeOf(const Kernel &kernel, const BodyTile &tile, const TileExpr &node,
                      const IdVector<TileExprId, Magnitude> &known) {
  switch (node.kind) {
  case TileExpr::Kind::Constant:
    return absolute(node.value);
  case TileExpr::Kind::Loop:
  case TileExpr::Kind::Trips:
    return mostTrips(kernel.loops[tile.loopOf(node)]);
  case TileExpr::Kind::Total:
  case TileExpr::Kind::Symbol:
    return maxCount;
  case TileExpr::Kind::Add:
  case TileExpr::Kind::Sub:
    return plus(known[node.a], known[node.b]);
  case TileExpr::Kind::Scale:
    return times(known[node.a], absolute(node.value));
  case TileExpr::Kind::Mod:
    return static_cast<uint64_t>(node.value);
  case TileExpr::Kind::FloorDiv:
    return known[node.a] / static_cast<uint64_t>(node.value) + 1;
  }
  return UINT64_MAX;
}

} // namespace

/// An operand comes before what it is an operand of.
static std::string magnitudeProblem(const Kernel &kernel, const BodyTile &tile) {
  IdVector<TileExprId, Magnitude> known;
  for (const TileExpr &node : tile.access.exprs) {
    known.push(magnitudeOf(kernel, tile, node, known));
  }
  auto isTooFar = [](Magnitude m) { return m > INT64_MAX; };
  bool fits = std::none_of(known.begin(), known.end(), isTooFar);
  for (const TileDim &dim : tile.access.dims) {
    Magnitude size = dim.size.valid() ? known[dim.size] : 1;
    fits &= !isTooFar(plus(known[dim.first], times(size, static_cast<uint64_t>(dim.stride))));
  }
  return fits
             ? ""
             : fmt::format("its numbers may not fit in 64 bits, with totals and run-time values up "
                           "to {}; choose smaller factors, strides or trips",
                           maxCount);
}

/// Only what the loop tree and the values say: how often something ran is known later.
std::string controlProblem(const Kernel &kernel, const BodyTile &decides) {
  if (!decides.problem.empty()) {
    return decides.problem;
  }
  for (const TileExpr &node : decides.access.exprs) {
    if (node.kind == TileExpr::Kind::Total || node.kind == TileExpr::Kind::Trips) {
      return fmt::format("it names '{}({})'; iterations of loops around it, run-time values and "
                         "numbers are allowed",
                         node.kind == TileExpr::Kind::Total ? "total" : "trips",
                         decides.access.names[node.name]);
    }
    std::string problem = nameProblem(kernel, decides, node);
    if (!problem.empty()) {
      return problem;
    }
  }
  return magnitudeProblem(kernel, decides);
}

/// What a tile that touches all of the last dimensions lacks; beyond a few, only that there are
/// more.
static std::string missingDimensions(const Buffer &buffer, size_t given) {
  constexpr size_t fewDimensions = 6;
  if (given > buffer.shape.size() || buffer.shape.size() > fewDimensions) {
    return "";
  }
  std::string rest;
  for (size_t d = given; d < buffer.shape.size(); ++d) {
    rest += fmt::format(", 0:{}", buffer.shape[d]);
  }
  return fmt::format("; for all of the last {}, add '{}'",
                     buffer.shape.size() - given == 1 ? "one" : "ones", rest);
}

std::string tileProblem(const Kernel &kernel, const Buffer &buffer, const BodyTile &tile) {
  const ParsedAccess &access = tile.access;
  if (!access.dims.empty() && access.dims.size() != buffer.shape.size()) {
    return fmt::format("it has {}, but buffer '{}' has {}{}",
                       counted(access.dims.size(), "dimension"), access.buffer, buffer.shape.size(),
                       missingDimensions(buffer, access.dims.size()));
  }
  for (const TileExpr &node : access.exprs) {
    std::string problem = nameProblem(kernel, tile, node);
    if (!problem.empty()) {
      return problem;
    }
  }
  return magnitudeProblem(kernel, tile);
}

} // namespace tally
