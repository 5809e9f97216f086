//===- Expr.cpp - Hash-consing, folding and printing of expressions -------===//

#include "tally/Sync/Expr.h"

#include <fmt/format.h>

namespace tally {

static constexpr uint32_t emptySlot = UINT32_MAX;

/// All three words reach the low bits, which pick the slot.
static uint64_t hashOf(const Expr &node) {
  uint64_t hash = (uint64_t(node.a) << 32 | node.b) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 32) ^ uint64_t(node.op) << 20) * 0xbf58476d1ce4e5b9u;
  return hash ^ (hash >> 32);
}

ExprPool::ExprPool(bool fold) : slots(64, emptySlot), fold(fold) {}

void ExprPool::reserve(size_t size) {
  nodes.reserve(size);
  size_t wanted = 64;
  while (wanted < 4 * size) {
    wanted *= 2;
  }
  if (wanted > slots.size()) {
    slots.assign(wanted / 2, emptySlot);
    grow();
  }
}

/// Where to look first: at the sum of the operands. Nodes made at about the same time have operands
/// made at about the same time, so they are neighbours in the cache, and the many users of one node
/// differ in the other operand, so they are spread out. Where a neighbourhood is full after all,
/// nodes go where their hash says, and no search is long. So do counters at once: their numbers are
/// those of loops, and all would crowd where the first nodes are.
size_t ExprPool::slotOf(const Expr &node) const {
  const size_t window = isLeaf(node.op) && node.op != ExprOp::Const ? 0 : 16;
  size_t mask = slots.size() - 1;
  size_t slot = 2 * (size_t(node.a) + node.b) & mask;
  for (size_t i = 0; i < window; ++i, slot = (slot + 1) & mask) {
    if (slots[slot] == emptySlot || nodes[slots[slot]] == node) {
      return slot;
    }
  }
  slot = hashOf(node) & mask;
  while (slots[slot] != emptySlot && nodes[slots[slot]] != node) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void ExprPool::grow() {
  slots.assign(2 * slots.size(), emptySlot);
  for (uint32_t id = 0; id < nodes.size(); ++id) {
    slots[slotOf(nodes[id])] = id;
  }
}

ExprId ExprPool::constant(uint32_t value) {
  if (value >= smallConstants.size()) {
    return add({ExprOp::Const, value, 0});
  }
  ExprId &id = smallConstants[value];
  if (!id.valid()) {
    id = add({ExprOp::Const, value, 0});
  }
  return id;
}

ExprId ExprPool::add(Expr node) {
  size_t slot = slotOf(node);
  if (slots[slot] != emptySlot) {
    return ExprId(slots[slot]);
  }
  ExprId id(static_cast<uint32_t>(nodes.size()));
  nodes.push_back(node);
  slots[slot] = id.value;
  if (4 * nodes.size() > slots.size()) {
    grow();
  }
  return id;
}

static uint64_t apply(ExprOp op, uint64_t a, uint64_t b) {
  switch (op) {
  case ExprOp::Add:
    return a + b;
  case ExprOp::Sub:
  case ExprOp::Monus:
    return a > b ? a - b : 0;
  case ExprOp::Mul:
    return a * b;
  case ExprOp::Min:
    return a < b ? a : b;
  case ExprOp::IsGT:
    return a > b;
  default:
    assert(false && "an operation on two values");
    return 0;
  }
}

ExprId ExprPool::make(ExprOp op, ExprId a, ExprId b) {
  if (!fold) {
    return add({op, a.value, b.value});
  }
  if (isConstant(a) && isConstant(b)) {
    uint64_t value = apply(op, nodes[a.value].a, nodes[b.value].a);
    if (value <= UINT32_MAX) {
      return constant(static_cast<uint32_t>(value));
    }
  }
  if (op == ExprOp::Mul && (isConstant(a, 0) || isConstant(b, 1))) {
    return a;
  }
  if (op == ExprOp::Mul && (isConstant(b, 0) || isConstant(a, 1))) {
    return b;
  }
  if (op == ExprOp::Add && isConstant(a, 0)) {
    return b;
  }
  bool neutralZero = op == ExprOp::Add || op == ExprOp::Sub || op == ExprOp::Monus;
  return neutralZero && isConstant(b, 0) ? a : add({op, a.value, b.value});
}

uint64_t evaluate(const ExprPool &pool, ExprId expr,
                  const std::function<uint64_t(const Expr &)> &leaf) {
  const Expr &node = pool[expr];
  if (node.op == ExprOp::Const) {
    return node.a;
  }
  if (isLeaf(node.op)) {
    return leaf(node);
  }
  return apply(node.op, evaluate(pool, ExprId(node.a), leaf), evaluate(pool, ExprId(node.b), leaf));
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string loopName(const Kernel &kernel, uint32_t loop) {
  return LoopId(loop) == rootLoop ? "ROOT" : std::string(kernel.nameOf(LoopId(loop)));
}

std::string slotText(const Kernel &kernel, const Ring &ring, uint32_t slot) {
  std::string counter = ring.total.valid()
                            ? fmt::format("total({})", loopName(kernel, ring.total.value))
                            : fmt::format("place({})", kernel.nameOf(ring.ordinal));
  return fmt::format("{}({}, {}, {})", ring.before.valid() ? "late" : "snapshot",
                     loopName(kernel, ring.loop.value), slot, counter);
}

std::string roundsText(const Kernel &kernel, const Rounds &rounds) {
  LoopId over = kernel.childTowards(rounds.around, rounds.loop);
  std::string text = over == rounds.loop ? "" : " over " + loopName(kernel, over.value);
  return fmt::format("rounds({}{}, {} from {})", loopName(kernel, rounds.loop.value), text,
                     rounds.every, rounds.first);
}

/// `minimum` is the precedence below which the text needs parentheses.
static std::string print(const ExprPool &pool, ExprId expr, const IdVector<RingId, Ring> &rings,
                         const IdVector<RoundsId, Rounds> &rounds, const Kernel &kernel,
                         int minimum) {
  const Expr &node = pool[expr];
  auto operand = [&](uint32_t id, int min) {
    return print(pool, ExprId(id), rings, rounds, kernel, min);
  };
  auto infix = [&](std::string_view sign, int precedence) {
    std::string text =
        fmt::format("{}{}{}", operand(node.a, precedence), sign, operand(node.b, precedence + 1));
    return precedence < minimum ? "(" + text + ")" : text;
  };
  switch (node.op) {
  case ExprOp::Const:
    return fmt::format("{}", node.a);
  case ExprOp::Total:
    return fmt::format("total({})", loopName(kernel, node.a));
  case ExprOp::Trip:
    return fmt::format("trip({})", loopName(kernel, node.a));
  case ExprOp::Snapshot:
    return slotText(kernel, rings[RingId(node.a)], node.b);
  case ExprOp::Rounds:
    return roundsText(kernel, rounds[RoundsId(node.a)]);
  case ExprOp::Ordinal:
    return fmt::format("place({})", kernel.nameOf(InstrId(node.a)));
  case ExprOp::Min:
    return fmt::format("min({}, {})", operand(node.a, 0), operand(node.b, 0));
  case ExprOp::IsGT:
    return fmt::format("isGT({}, {})", operand(node.a, 0), operand(node.b, 0));
  case ExprOp::Mul:
    return infix("*", 2);
  case ExprOp::Add:
    return infix(" + ", 1);
  case ExprOp::Sub:
    return infix(" - ", 1);
  case ExprOp::Monus: // less, but never less than 0
    return fmt::format("max({} - {}, 0)", operand(node.a, 1), operand(node.b, 2));
  }
  return {};
}

std::string toString(const ExprPool &pool, ExprId expr, const IdVector<RingId, Ring> &rings,
                     const IdVector<RoundsId, Rounds> &rounds, const Kernel &kernel) {
  return print(pool, expr, rings, rounds, kernel, 0);
}

} // namespace tally
