//===- ChainSearch.h - Why one dependence follows from others -------------===//
//
// What is known when a run of the consumer C starts is a set of statements
//
//   (X, l, j)   all runs of X in iterations up to c_l - j of the l-th loop around C (and in all
//               iterations of loops farther out) are issued, or even have retired
//
// where c is C's iteration vector, and l counts from 1; 0 is the kernel. A statement may *exist*: X
// ran in that very iteration, and the statement speaks of its last run there. What had to be before
// that run is then known as well. Without existence, only what every run of X had right before it
// in the same body is: runs of other instructions in the same iteration of that body.
//
// The goal for a dependence (P, C) carried by loop l at k is (P, l, k), retired; without a distance
// (P, e, 0) with e loops around both. It matters only where c_l > k; so do iterations c_l - j
// exist for j <= k, and for no other loop do we look back.
//
// For a flat distance the runs of the body that holds both are counted instead: one loop, l = 1. So
// they are, if that fails, for a distance on a loop of constant trips and the loop around it.
//
// A statement may also end at one run of a nest that stands next to the instruction that waited for
// it (an element form, RunNumbers.h). Only what that run had waited for follows from it.
//
// Steps of the search, from (C, all its loops, 0), issued and existing: queue(), waits(), engine().
// The last fans out widely, so the others are followed first. Statements about runs before those of
// P lead nowhere and are dropped, and so are those that another one already says.
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_CHAINSEARCH_H
#define TALLY_LIB_DEPS_CHAINSEARCH_H

#include "tally/Deps/Extract.h"

namespace tally::deps {

/// What does not change during the removal.
class Places {
public:
  explicit Places(const Kernel &kernel) : kernel(kernel), agreed(kernel.instrs.size(), true) {
    for (InstrId i : kernel.instrs.ids()) {
      for (LoopId l = kernel.instrs[i].home; l.valid(); l = kernel.loops[l].parent) {
        agreed[i.value] = agreed[i.value] && kernel.loops[l].uniform;
      }
    }
  }

  /// Whether all engines run it equally often.
  bool isAgreed(InstrId instr) const { return agreed[instr.value]; }

  LoopId home(InstrId instr) const { return kernel.instrs[instr].home; }

  LoopId commonBody(InstrId a, InstrId b) const { return kernel.commonLoop(home(a), home(b)); }

  /// Whether each iteration of `body`, which is around `instr`, runs it.
  bool isSure(InstrId instr, LoopId body) const { return isSureBody(home(instr), body); }

  bool isSureBody(LoopId inner, LoopId body) const {
    for (LoopId l = inner; l != body; l = kernel.loops[l].parent) {
      if (minTrips(l) < 1) {
        return false;
      }
    }
    return true;
  }

  /// How often a body runs at least each time it is reached.
  int64_t minTrips(LoopId body) const {
    const Loop &loop = kernel.loops[body];
    return loop.kind == LoopKind::Loop ? static_cast<int64_t>(loop.trip.least()) : 0;
  }

  uint32_t numCommonLoops(InstrId a, InstrId b) const {
    uint32_t count = 0;
    for (LoopId l = commonBody(a, b); l != rootLoop; l = kernel.loops[l].parent) {
      count += kernel.loops[l].kind == LoopKind::Loop;
    }
    return count;
  }

  const Kernel &kernel;

private:
  std::vector<bool> agreed;
};

/// Dependences by consumer, and which of them wait on each engine.
struct WaitIndex {
  WaitIndex(const Kernel &kernel, const Extraction &extraction)
      : depsOf(kernel.instrs.size()), waiters(kernel.engines.size()) {
    for (size_t d = 0; d < extraction.deps.size(); ++d) {
      depsOf[extraction.deps[d].dep.consumer].push_back(d);
    }
    for (InstrId i : kernel.instrs.ids()) {
      if (!depsOf[i].empty()) {
        waiters[kernel.engineOf(i)].push_back(i);
      }
    }
  }

  IdVector<InstrId, std::vector<size_t>> depsOf;
  IdVector<EngineId, std::vector<InstrId>> waiters;
};

/// For each instruction the last statement about it in the current search.
class Scratch {
public:
  static constexpr uint32_t none = UINT32_MAX;

  explicit Scratch(const Kernel &kernel) : entries(kernel.instrs.size()) {}

  void clear() { ++search; }

  uint32_t first(InstrId instr) const {
    return entries[instr].search == search ? entries[instr].statement : none;
  }

  /// The one that was first before.
  uint32_t push(InstrId instr, uint32_t statement) {
    uint32_t before = first(instr);
    entries[instr] = {search, statement};
    return before;
  }

private:
  struct Entry {
    uint32_t search = 0;
    uint32_t statement = none;
  };

  IdVector<InstrId, Entry> entries;
  uint32_t search = 0;
};

/// All that the searches for one kernel share.
struct ChainProblem {
  const Places &places;
  const WaitIndex &index;
  const Extraction &extraction;
  const std::vector<bool> &removed; ///< dependences that chains may not use
  Scratch &scratch;
};

struct Chain {
  std::vector<DerivationStep> steps; ///< from the consumer to the producer; none if none is found
  bool wasBounded = false;           ///< there may be one
};

/// The chain that implies dependence `goal`.
Chain findChain(const ChainProblem &problem, size_t goal);

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_CHAINSEARCH_H
