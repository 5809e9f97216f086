//===- Expr.h - Wait expressions, hash-consed -----------------------------===//
//
// The value a consumer waits for, as a function of what its engine has counted.
// Values are natural numbers; a subtraction below zero gives zero. Equal
// expressions have equal ids, so that comparing and sharing them is free.
//
//   isGT(trip(A), 2) * (2*total(A) - 5)
//
// `Sub` and `Monus` have the same value. `Sub` adds a promise: wherever the
// result matters (its mask is 1), nothing is cut off at zero, so that any
// machine's subtraction will do. `Monus` promises nothing, and a machine that wraps
// needs a guard.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_SYNC_EXPR_H
#define TALLY_SYNC_EXPR_H

#include "tally/Model/Kernel.h"

#include <array>
#include <functional>
#include <string>

namespace tally {

using ExprId = Id<struct ExprTag>;
using RingId = Id<struct RingTag>;
using RoundsId = Id<struct RoundsTag>;

enum class ExprOp : uint8_t {
  Const,    ///< the number a
  Total,    ///< entries of loop a so far
  Trip,     ///< entries of loop a in its current trip: the iteration number, from 1
  Snapshot, ///< slot b (from 1) of ring a
  Rounds,   ///< rounds a that have begun
  Ordinal,  ///< what the semaphore of its queue reads when the latest run of instruction a retires
  Add,
  Sub,   ///< a - b, never below zero where it matters
  Monus, ///< a - b, or 0 if b > a
  Mul,
  Min,
  IsGT, ///< 1 if a > b, otherwise 0
};

inline bool isLeaf(ExprOp op) {
  return op <= ExprOp::Ordinal;
}

struct Expr {
  ExprOp op = ExprOp::Const;
  uint32_t a = 0; ///< operand expression; Const: the number; other leaves: an id
  uint32_t b = 0; ///< second operand expression; Snapshot: the slot

  bool operator==(const Expr &) const = default;
};

/// Copies of a counter, shifted by one slot at each entry of `loop`, before anything in its
/// body runs. Slot m (from 1) is what the counter was when the entry m-1 entries ago began:
/// all of the counted that happened up to m iterations before the current one.
///
/// A *late* ring is shifted in the body instead, just before the statement in which the counter
/// moves. Seen from before that statement, slot m is what slot m+1 would be: one copy fewer.
struct Ring {
  LoopId loop;
  LoopId total;    ///< the counter is total(this) ...
  InstrId ordinal; ///< ... or place(this); the other is none
  StmtId before;   ///< of a late ring: the statement; otherwise none
  uint32_t depth = 0;

  /// How many iterations ago a slot was the counter, seen from where it is read.
  uint32_t iterationsBack(uint32_t slot) const { return before.valid() ? slot + 1 : slot; }
};

/// Of the runs of a body in one iteration of `around`, some begin a round: numbers `first`,
/// `first + every`, and so on, from 0. None before `first`. The body is that of a loop or of a
/// nest, whose runs are numbered (RunNumbers.h).
struct Rounds {
  LoopId loop;
  LoopId around;
  uint32_t every = 0;
  uint32_t first = 0;

  auto operator<=>(const Rounds &) const = default;
};

class ExprPool {
public:
  /// With `fold`, constants are evaluated and neutral operations dropped.
  explicit ExprPool(bool fold = true);

  ExprId constant(uint32_t value);

  ExprId total(LoopId loop) { return add({ExprOp::Total, loop.value, 0}); }

  ExprId trip(LoopId loop) { return add({ExprOp::Trip, loop.value, 0}); }

  ExprId snapshot(RingId ring, uint32_t slot) { return add({ExprOp::Snapshot, ring.value, slot}); }

  ExprId rounds(RoundsId id) { return add({ExprOp::Rounds, id.value, 0}); }

  ExprId ordinal(InstrId instr) { return add({ExprOp::Ordinal, instr.value, 0}); }

  /// Any constant or counter, as it stands in another pool.
  ExprId leaf(const Expr &node) {
    assert(isLeaf(node.op) && "no operands");
    return add(node);
  }

  /// Any operation on two expressions, folded if the pool folds.
  ExprId make(ExprOp op, ExprId a, ExprId b);

  const Expr &operator[](ExprId id) const { return nodes[id.value]; }

  size_t size() const { return nodes.size(); }

  bool isConstant(ExprId id) const { return nodes[id.value].op == ExprOp::Const; }

  bool isConstant(ExprId id, uint32_t value) const {
    return isConstant(id) && nodes[id.value].a == value;
  }

  void reserve(size_t size);

private:
  ExprId add(Expr node);
  void grow();
  size_t slotOf(const Expr &node) const;

  std::vector<Expr> nodes;
  std::vector<uint32_t> slots;            ///< open addressing; holds node ids
  std::array<ExprId, 256> smallConstants; ///< most constants, without a search
  bool fold;
};

/// The value of an expression over natural numbers, `leaf` giving that of each leaf.
uint64_t evaluate(const ExprPool &pool, ExprId expr,
                  const std::function<uint64_t(const Expr &)> &leaf);

/// A slot of a ring over A of total(B): `snapshot(A, 1, total(B))`; of a late one,
/// `late(A, 1, total(B))`.
std::string slotText(const Kernel &kernel, const Ring &ring, uint32_t slot);

/// Rounds of four runs of A, the first of which begins with run 2: `rounds(A, 4 from 2)`.
std::string roundsText(const Kernel &kernel, const Rounds &rounds);

/// As a formula: `isGT(trip(A), 2)*(2*total(A) - 5)`.
std::string toString(const ExprPool &pool, ExprId expr, const IdVector<RingId, Ring> &rings,
                     const IdVector<RoundsId, Rounds> &rounds, const Kernel &kernel);

} // namespace tally

#endif // TALLY_SYNC_EXPR_H
