//===- LeavingText.h - The runs that leave a buffer, as isl reads them -----===//
//
// One dimension of one tile as sets of integer points, one for each run that touches the tile:
//
//   i0, ..  iterations of the loops on which it depends, outermost first
//   n0, ..  how often such a loop runs this time, where the tile asks for it
//   t0, ..  totals for which there is no formula
//   s0, ..  run-time values
//
// Those that loops without `max`, or run-time values, leave open come last.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_LEAVINGTEXT_H
#define TALLY_LIB_DEPS_LEAVINGTEXT_H

#include "TileText.h"
#include "tally/Model/Iterations.h"

namespace tally {

class LeavingText {
public:
  LeavingText(const Kernel &kernel, const TileBox &tile, const BodyTile &read, uint32_t dim);

  /// Runs that touch the tile and leave the buffer.
  std::string leaving() const { return set(domain(false) + touching + leavingIt); }

  /// The same, where loops without `max` run as rarely as they may; but not never.
  std::string leavingAnyway() const { return set(domain(true) + touching + leavingIt); }

  /// All such points, also of runs that stay inside or do not touch the tile.
  std::string anyway() const { return set(domain(true)); }

  size_t numVariables() const { return order.size(); }

  /// Each guard `!=` splits the sets in two, which isl does not count as work.
  uint32_t numSplits() const;

  /// Those that are not left open come first.
  size_t numKnown() const { return known; }

  /// Whether a variable, by its place in the sets, is a run-time value.
  bool isSymbol(size_t at) const { return variables[order[at]].what == What::Symbol; }

  /// The loops without `max` on which the tile depends, outermost first.
  std::vector<LoopId> unbounded() const;

  std::vector<std::string> symbols() const;

  /// Where to find by how often the loop runs: its trips this time, or else its iteration.
  size_t countOf(LoopId loop, bool &isTrips) const;

  /// One point, in words and numbers of the kernel: the index at it that is not in the buffer, and
  /// what says where the tile lies besides iterations.
  int64_t indexAt(const std::vector<int64_t> &point) const;
  std::string alsoAt(const std::vector<int64_t> &point) const;
  std::vector<LoopIteration> iterationAt(const std::vector<int64_t> &point) const;

private:
  enum class What : uint8_t { Iteration, Length, Total, Symbol };

  struct Variable {
    What what;
    LoopId loop;
    std::string symbol;
    std::string name;
    bool isOpen = false;
  };

  bool hasSymbol(TileExprId id) const;
  std::string variable(What what, LoopId loop, const std::string &symbol, bool isOpen);
  std::string iteration(LoopId loop);
  std::string trips(LoopId loop);
  std::string total(LoopId body);
  bool isUnbounded(LoopId loop) const;
  bool isTotalOpen(LoopId body) const;
  uint64_t most(LoopId loop) const;
  uint64_t least(LoopId loop) const;
  std::string set(const std::string &conditions) const;
  std::string domain(bool rarely) const;
  const Variable *find(What what, LoopId loop) const;
  std::string limits(const Variable &variable, bool rarely) const;

  int64_t valueAt(const std::vector<int64_t> &point, What what, LoopId loop,
                  const std::string &symbol) const;
  int64_t totalAt(const std::vector<int64_t> &point, LoopId body) const;
  int64_t leafAt(const std::vector<int64_t> &point, const TileExpr &leaf) const;
  int64_t valueOf(const std::vector<int64_t> &point, TileExprId id) const;

  const Kernel &kernel;
  const TileBox &tile;
  const BodyTile &read;
  const ParsedAccess &access;
  const uint32_t dim;
  std::vector<Variable> variables;
  std::vector<size_t> order; ///< in the sets
  size_t known = 0;
  std::string totals;    ///< what is known of them; each condition begins with " and "
  std::string assumed;   ///< likewise: sizes by run-time values are at least 1
  std::string touching;  ///< likewise
  std::string leavingIt; ///< likewise
};

} // namespace tally

#endif // TALLY_LIB_DEPS_LEAVINGTEXT_H
