//===- Reasons.cpp - Why dependences wait longer, and what helps ----------===//

#include "tally/Deps/Render.h"
#include "tally/Model/Tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tally {
namespace {

std::set<int64_t> ringLengths(const ParsedAccess &access) {
  std::set<int64_t> lengths;
  for (const TileExpr &node : access.exprs) {
    if (node.kind == TileExpr::Kind::Mod) {
      lengths.insert(node.value);
    }
  }
  return lengths;
}

/// The loop inside another one, of trips that may differ, whose iteration is the position in a
/// ring; none if there is none.
LoopId ringThatStartsAnew(const Kernel &kernel, const BodyTile &tile) {
  if (ringLengths(tile.access).empty()) {
    return {};
  }
  for (const TileExpr &node : tile.access.exprs) {
    if (node.kind == TileExpr::Kind::Loop) {
      LoopId loop = tile.loopOf(node);
      bool isInner = kernel.realLoop(kernel.loops[loop].parent) != rootLoop;
      if (isInner && !kernel.loops[loop].knownTrips()) {
        return loop;
      }
    }
  }
  return {};
}

/// Whether all loops around an instruction have constant trips.
bool runsConstantly(const Kernel &kernel, InstrId instr) {
  return std::ranges::all_of(kernel.realLoops(kernel.instrs[instr].home), [&](LoopId loop) {
    return kernel.loops[loop].knownTrips().has_value();
  });
}

std::string whatMakesItConstant(const Kernel &kernel, const DerivedDep &derived) {
  const BodyTile &consumer = (*kernel.tiles)[derived.consumerAccess];
  std::set<int64_t> p = ringLengths((*kernel.tiles)[derived.producerAccess].access);
  std::set<int64_t> c = ringLengths(consumer.access);
  if (p.size() == 1 && c.size() == 1 && p != c) {
    return fmt::format("rings of {} and of {} slots never keep step; give both one length",
                       *p.begin(), *c.begin());
  }
  LoopId loop = ringThatStartsAnew(kernel, consumer);
  if (loop.valid() && consumer.home == kernel.instrs[derived.dep.producer].home) {
    return fmt::format("'{0}' starts again in each run of its loop; a constant trip count makes it "
                       "constant, and 'total({0})' instead of '{0}', if the ring may go on",
                       kernel.nameOf(loop));
  }
  bool areConstant =
      runsConstantly(kernel, derived.dep.producer) && runsConstantly(kernel, derived.dep.consumer);
  return areConstant ? "indices that advance equally make it constant"
                     : "constant trip counts, and indices that advance equally, make it constant";
}

/// The count in a tile on which engines may disagree; none if there is none.
LoopId countedApart(const Kernel &kernel, const BodyTile &tile) {
  for (const TileExpr &node : tile.access.exprs) {
    if (node.kind == TileExpr::Kind::Total || node.kind == TileExpr::Kind::Trips) {
      for (LoopId l = tile.loopOf(node); l.valid(); l = kernel.loops[l].parent) {
        if (!kernel.loops[l].uniform) {
          return tile.loopOf(node);
        }
      }
    }
  }
  return {};
}

/// Which of the two tiles it is that nobody knows the place of, and why.
std::string whatIsNotKnown(const Kernel &kernel, const DerivedDep &derived) {
  std::vector<std::string_view> atValues;
  for (AccessId access : {derived.producerAccess, derived.consumerAccess}) {
    std::string_view text = kernel.text(kernel.accesses[access].text);
    if (text.find('$') != std::string_view::npos) {
      atValues.push_back(text);
    }
  }
  if (atValues.size() == 2) {
    return fmt::format("'{}' and '{}' lie at run-time values, which are not compared with each "
                       "other; give one of them constants, or each a buffer of its own",
                       atValues[0], atValues[1]);
  }
  for (AccessId access : {derived.producerAccess, derived.consumerAccess}) {
    LoopId loop = countedApart(kernel, (*kernel.tiles)[access]);
    if (atValues.empty() && loop.valid()) {
      return fmt::format("engines may disagree how often '{}' has run, and '{}' may meet any other "
                         "tile; give it an index that all of them agree on",
                         kernel.nameOf(loop), kernel.text(kernel.accesses[access].text));
    }
  }
  return fmt::format("'{}' lies at a run-time value and may meet any other tile; give it "
                     "constants, or a buffer of its own",
                     atValues.empty() ? "" : atValues[0]);
}

} // namespace

std::string reasonOf(const Kernel &kernel, const DerivedDep &derived) {
  auto text = [&](AccessId access) { return kernel.text(kernel.accesses[access].text); };
  auto has = [&](AccessId access, std::string_view what) {
    return text(access).find(what) != std::string_view::npos;
  };
  auto hasGuards = [&](AccessId access) { return !(*kernel.tiles)[access].ownGuards().empty(); };
  std::string both =
      fmt::format("'{}' and '{}'", text(derived.producerAccess), text(derived.consumerAccess));
  switch (derived.excess) {
  case Excess::None:
    return {};
  case Excess::Anywhere:
    return fmt::format(
        "'{}' may be anywhere in its buffer; state the tile to wait for less",
        text(has(derived.producerAccess, "[@]") ? derived.producerAccess : derived.consumerAccess));
  case Excess::Symbol:
    return whatIsNotKnown(kernel, derived) + ", to wait for less";
  case Excess::Alias:
    return fmt::format("{} may lie in the same memory, at unknown places; give both buffers an "
                       "address and a type, or say 'noalias', to wait for less",
                       both);
  case Excess::Guarded:
    if (!hasGuards(derived.producerAccess) && !hasGuards(derived.consumerAccess)) {
      return fmt::format("'{}' is in a branch that is not taken in all iterations; in the others, "
                         "its last run before is waited for",
                         kernel.nameOf(derived.dep.producer));
    }
    return fmt::format("{} meet in some iterations only, and it is waited for in all; put one of "
                       "the two under a 'tally.if' to wait for less",
                       both);
  case Excess::Varies:
    return fmt::format("how far apart {} meet changes from iteration to iteration, and the "
                       "smallest distance is taken; {}",
                       both, whatMakesItConstant(kernel, derived));
  case Excess::Undecided:
    return fmt::format(
        "where {} meet was too hard to decide, or too many other pairs of tiles were "
        "looked at before, and all earlier runs are waited for; simpler indices are "
        "decided, and pairs that are alike are looked at once",
        both);
  }
  return {};
}

} // namespace tally
