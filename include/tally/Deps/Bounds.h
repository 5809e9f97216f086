//===- Bounds.h - Whether tiles stay within their buffers -----------------===//
//
// A tile that leaves its buffer touches memory that it is not compared with, so that dependences
// are missing (Outside.h). Whether it does is decided for all runs of a kernel at once:
//
//   X[A]          shape [64], trips 64          stays
//   X[A + 1]      shape [64], trips 64          leaves: index 64 at A = 63
//   X[A + 1] if A < trips(A) - 1                stays
//   X[A]          shape [64], trips "n"         open: stays if 'n' has max 64
//   X[$n:4]       shape [64]                    open: nothing binds '$n'
//   X[$n:100]     shape [64]                    leaves, whatever '$n' is
//
// Steps:  1. intervals  of an index, from those of the loops; most tiles stay by these
//         2. leaving    or the set of all runs that touch the tile and leave the buffer (isl);
//                       if it is empty, the tile stays
//         3. certain    where trips have no `max`, or there are run-time values: runs that leave it
//                       whatever these are; loops without `max` then run but `min` times, or once.
//                       If there are none, it is open
//
// Entries of loops whose trips are tied are counted by walking these, for all values. Where these
// runs have no bound, or are too many, a run that leaves is one that was walked; if none was seen,
// it was too hard.
//
// Loops run within their bounds, differently at each entry; branches are taken or not. So a tile
// leaves its buffer if there are trips and decisions, allowed by the kernel, with which it does:
// both directions are exact, except for questions that are too hard, which are open. `X[@]` says
// that it is in X, and a size that is not known is at least 1.
//
// Cost: linear in accesses; one question to isl for each form of a tile that intervals cannot show.
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_BOUNDS_H
#define TALLY_DEPS_BOUNDS_H

#include "tally/Model/Bindings.h"
#include "tally/Model/Outside.h"

namespace tally {

/// One dimension of a tile that is not shown to stay within its buffer.
struct TileBound {
  enum class Kind : uint8_t {
    Leaves,  ///< `first` is a run that leaves it
    Open,    ///< the same, if trips without `max` or run-time values allow it
    TooHard, ///< it was not found out; only the place in `first` means something
  };
  Kind kind = Kind::Leaves;
  OutsideRun first;
  std::vector<LoopId> unbounded;     ///< Open: loops that have no `max`, on which it depends
  std::vector<std::string> values;   ///< Open: run-time values on which it depends, without `$`
  std::optional<uint64_t> enoughMax; ///< Open: a `max` of the one loop that keeps it inside
  bool isCounted = false; ///< it counts entries of loops whose trips are tied, and not all runs of
                          ///< these were walked
};

/// All such dimensions of a kernel that check() accepts, in the order of the text.
std::vector<TileBound> findTileBounds(const Kernel &kernel);

/// The same for runs with these trips, which are then known; `while` and branches as they may go.
std::vector<TileBound> findTileBounds(const Kernel &kernel, const Bindings &bindings);

/// Whether some run of a kernel that check() accepts touches anything: guards may hold in none,
/// and formulas let loops run in none. If that is too hard to decide, none is seen to.
bool isSeenToTouch(const Kernel &kernel);

/// An error for each tile that leaves its buffer. For those that are open one remark for each
/// reason, which says what to state.
void reportTileBounds(const Kernel &kernel, const std::vector<TileBound> &bounds,
                      Diagnostics &diagnostics);

/// What is asked of every kernel that is read: that it is legal (Check.h), and, if there is no
/// error so far, that no tile leaves its buffer whatever is not known.
void checkAsRead(const Kernel &kernel, Diagnostics &diagnostics);

/// Finds and reports.
void checkTiles(const Kernel &kernel, Diagnostics &diagnostics);

/// What is taken for granted where tiles are open or anywhere, in words that go on after "that":
/// `'in[i]' of 'load' stays within its buffer, however often 'i' runs`.
std::vector<std::string> takenForGranted(const Kernel &kernel,
                                         const std::vector<TileBound> &bounds);

/// The first few of these; one line for each.
std::string grantedText(const std::vector<std::string> &granted);

} // namespace tally

#endif // TALLY_DEPS_BOUNDS_H
