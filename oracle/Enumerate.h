//===- Enumerate.h - All conflicts of one run, one by one -----------------===//
//
// The oracle for extraction. Walks a kernel with given trips as one sequential program, writes down
// every element that every run of every instruction touches, and compares all pairs. Within
// one buffer it compares indices; in two buffers that overlap, bytes.
//
// Independent of  Deps, and of the other two evaluations of tiles (Check, Data)
// Shared          the parser of tiles (Model/AccessText.h)
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_ORACLE_ENUMERATE_H
#define TALLY_ORACLE_ENUMERATE_H

#include "tally/Model/AccessText.h"

#include <functional>
#include <map>
#include <set>

namespace tally::oracle {

/// One run of one instruction.
struct Run {
  InstrId instr;
  uint32_t number = 0;         ///< of this instruction, from 1
  uint32_t place = 0;          ///< in its queue, from 1
  std::vector<int64_t> vector; ///< iterations of the real loops around it, from 0
};

/// How often a loop without a formula runs the n-th time (from 0) it is reached; 1 or 0 for a
/// then-branch.
using TripsOf = std::function<uint64_t(LoopId loop, uint64_t entry)>;

/// A run that touches an element which its buffer does not have.
struct Beyond {
  AccessId access;
  uint32_t dim = 0;
  int64_t index = 0;           ///< negative; or the last one of the tile
  std::vector<int64_t> vector; ///< iterations of the real loops around, from 0

  auto operator<=>(const Beyond &) const = default;
};

class Enumeration {
public:
  /// `values` of `$`, with all those that formulas name; those that are not there are not known.
  Enumeration(const Kernel &kernel, const TripsOf &tripsOf,
              const std::map<std::string, int64_t> &values = {});

  /// One for each dimension of each tile of each run that leaves its buffer, as far as is known.
  const std::vector<Beyond> &beyond() const { return allBeyond; }

  const std::vector<Run> &runs() const { return all; }

  /// The runs of one instruction, as indices of runs().
  const std::vector<uint32_t> &runsOf(InstrId instr) const { return byInstr[instr.value]; }

  /// Whether two runs conflict: a common element, one of the two writes. Accumulations of one
  /// queue that adds in order do not.
  bool conflict(const Run &a, const Run &b) const;

  /// Whether every loop and branch around the instruction ran at least once each time it was
  /// reached.
  bool neverSkipped(InstrId instr) const { return !isIn(skipped, instr); }

  /// The same, except for branches that conditions of the kernel do not take.
  bool neverSkippedUnforeseen(InstrId instr) const { return !isIn(unforeseen, instr); }

  /// How many runs of the same instruction there were before, in the same iterations of the
  /// outermost loops around it.
  int64_t numberSince(const Run &run, size_t numLoops) const;

  /// How many runs of its producer one run of a consumer waits for, by the definition of distances.
  uint32_t waitedFor(const Dep &dep, const Kernel &owner, const Run &consumer) const;

private:
  /// A coordinate that may be any.
  static constexpr int64_t any = INT64_MAX;

  /// A size that is not known: past all that small kernels touch.
  static constexpr int64_t farAway = 64;

  using Element = std::vector<int64_t>;

  struct Touched {
    BufferId buffer;
    AccessKind kind;
    std::vector<Element> elements;
    bool isWhole = false; ///< meets all of its buffer, also what lies beyond its end
  };

  static bool meet(const Element &a, const Element &b);
  bool meet(const Touched &a, const Touched &b) const;
  bool shareBytes(const Touched &a, const Touched &b) const;
  int64_t bytesOfElement(BufferId id) const;
  bool isIn(const std::set<LoopId> &bodies, InstrId instr) const;
  bool lieOverOneAnother(BufferId a, BufferId b) const;
  int64_t firstByte(BufferId id, const Element &element) const;

  void walk(LoopId body);
  void repeat(LoopId loop);
  void record(InstrId instr);
  uint64_t byFormula(LoopId loop) const;
  bool byCondition(LoopId branch) const;
  LoopId loopOf(LoopId home, std::string_view name) const;
  /// None if it depends on a run-time value; a guard with one may hold.
  std::optional<int64_t> valueOf(InstrId instr, const ParsedAccess &tile, TileExprId id) const;
  std::optional<int64_t> valueIn(LoopId home, const ParsedAccess &tile, TileExprId id) const;
  bool holds(InstrId instr, const ParsedAccess &tile, const TileGuard &guard) const;
  std::vector<int64_t> coordinates(InstrId instr, const ParsedAccess &tile,
                                   const TileDim &dim) const;
  Touched touch(InstrId instr, AccessId access);
  void noteBeyond(InstrId instr, AccessId access, const ParsedAccess &tile);

  const Kernel &kernel;
  const TripsOf &tripsOf;
  const std::map<std::string, int64_t> values;
  std::vector<Beyond> allBeyond;
  std::vector<Run> all;
  std::vector<std::vector<uint32_t>> byInstr;
  std::vector<std::vector<Touched>> touched; ///< by run
  std::vector<int64_t> iteration;            ///< by loop
  std::vector<int64_t> entries;              ///< by loop
  std::vector<int64_t> tripsNow;             ///< by loop
  std::vector<uint64_t> reached;             ///< by loop
  std::vector<uint32_t> queueLength;         ///< by queue
  std::set<LoopId> skipped;    ///< loops and branches that an entry of the body around went past
  std::set<LoopId> unforeseen; ///< those, except for what conditions decide
};

/// A distance that is not flat, on each loop around both, outermost first.
std::vector<int64_t> distancesOf(const Kernel &kernel, const Dep &dep);

/// What is surely over when a run starts, if every run waits as its dependences say: for each queue
/// how many of its runs. (Engines issue in order, queues retire in order.)
std::vector<std::vector<uint32_t>> surelyOver(const Kernel &kernel, const Enumeration &runs,
                                              bool queueOverlap);

} // namespace tally::oracle

#endif // TALLY_ORACLE_ENUMERATE_H
