//===- TileText.cpp - The expressions of a tile, as isl reads them ----------===//

#include "TileText.h"

#include <fmt/format.h>

#include <charconv>
#include <numeric>

namespace tally::deps {

bool hasLeaf(const ParsedAccess &access, TileExprId id,
             const std::function<bool(const TileExpr &)> &asked) {
  if (!id.valid()) {
    return false;
  }
  const TileExpr &node = access.exprs[id];
  return asked(node) || hasLeaf(access, node.a, asked) || hasLeaf(access, node.b, asked);
}

/// The value of a text that is a number.
static std::optional<int64_t> asNumber(const std::string &text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool isNumber = error == std::errc() && end == text.data() + text.size();
  return isNumber ? std::optional(number) : std::nullopt;
}

/// isl reads divisions of variables only, so numbers are calculated here.
static std::string operation(const TileExpr &node, const std::string &a, const std::string &b) {
  using Kind = TileExpr::Kind;
  std::optional<int64_t> x = asNumber(a);
  std::optional<int64_t> y = node.b.valid() ? asNumber(b) : node.value;
  if (x && y) {
    return std::to_string(combined(node.kind, *x, *y));
  }
  switch (node.kind) {
  case Kind::Add:
    return fmt::format("({} + {})", a, b);
  case Kind::Sub:
    return fmt::format("({} - {})", a, b);
  case Kind::Scale:
    return fmt::format("({} * {})", node.value, a);
  case Kind::Mod:
    return fmt::format("({} mod {})", a, node.value);
  default:
    return fmt::format("floor({}/{})", a, node.value);
  }
}

std::string TileText::expr(TileExprId id) const {
  using Kind = TileExpr::Kind;
  const TileExpr &node = access.exprs[id];
  switch (node.kind) {
  case Kind::Constant:
    return fmt::format("{}", node.value);
  case Kind::Loop:
    return names.iteration(tile.loopOf(node));
  case Kind::Total:
    return names.total(tile.loopOf(node));
  case Kind::Trips:
    return names.trips(tile.loopOf(node));
  case Kind::Symbol:
    if (!tile.isOpen(node)) {
      return names.value(tile.valueOf(node));
    }
    assert(names.symbol && "only tiles without run-time values are written here");
    return names.symbol(access.names[node.name]);
  case Kind::Mod:
    return divided(node, whole(sum(node.a), node.value));
  case Kind::FloorDiv:
    return textOf(sum(id));
  default:
    return operation(node, expr(node.a), node.b.valid() ? expr(node.b) : "");
  }
}

/// What remains of the constant after division by `modulus` stays in the sum: (A + 9) mod 4 is
/// written as (A + 1) mod 4, so that it is the same question.
TileText::Sum TileText::whole(Sum sum, int64_t modulus) {
  sum.constant -= floorDiv(sum.constant, modulus) * modulus;
  return sum;
}

std::string TileText::divided(const TileExpr &node, const Sum &sum) {
  return operation(node, textOf(sum), "");
}

std::string TileText::textOf(const Sum &sum) {
  std::string text = sum.factor == 1 ? sum.text : fmt::format("({} * {})", sum.factor, sum.text);
  if (sum.text.empty()) {
    return std::to_string(sum.constant);
  }
  return sum.constant == 0 ? text : fmt::format("({} + {})", text, sum.constant);
}

/// Far from any overflow of what is computed with it.
static bool isSmall(int64_t number) {
  return -Bounds::endless < number && number < Bounds::endless;
}

TileText::Sum TileText::sum(TileExprId id) const {
  using Kind = TileExpr::Kind;
  const TileExpr &node = access.exprs[id];
  auto isConstant = [&](TileExprId side) {
    return side.valid() && access.exprs[side].kind == Kind::Constant &&
           isSmall(access.exprs[side].value);
  };
  Sum result;
  if (isConstant(id)) {
    return {"", 1, node.value};
  }
  if (node.kind == Kind::Add && (isConstant(node.a) || isConstant(node.b))) {
    bool isFirst = isConstant(node.a);
    result = sum(isFirst ? node.b : node.a);
    result.constant += access.exprs[isFirst ? node.a : node.b].value;
  } else if (node.kind == Kind::Sub && isConstant(node.b)) {
    result = sum(node.a);
    result.constant -= access.exprs[node.b].value;
  } else if (node.kind == Kind::Scale && node.value > 0) {
    return times(static_cast<uint64_t>(node.value), sum(node.a));
  } else if (node.kind == Kind::FloorDiv) {
    Sum inner = sum(node.a);
    result = {divided(node, whole(inner, node.value)), 1, floorDiv(inner.constant, node.value)};
  } else {
    return {expr(id), 1, 0};
  }
  return isSmall(result.constant) ? result : Sum{textOf(result), 1, 0};
}

TileText::Sum TileText::number(uint64_t number) {
  return number < Bounds::endless ? Sum{"", 1, static_cast<int64_t>(number)}
                                  : Sum{std::to_string(number), 1, 0};
}

TileText::Sum TileText::times(uint64_t factor, const Sum &sum) {
  Sum result = sum;
  bool isGood = !__builtin_mul_overflow(sum.factor, factor, &result.factor) &&
                !__builtin_mul_overflow(sum.constant, factor, &result.constant) &&
                isSmall(result.factor) && isSmall(result.constant);
  return isGood ? result : Sum{fmt::format("({} * {})", factor, textOf(sum)), 1, 0};
}

TileText::Sum TileText::plus(const Sum &a, const Sum &b) {
  Sum result = {"", 1, a.constant + b.constant};
  if (a.text.empty() || b.text.empty()) {
    const Sum &only = a.text.empty() ? b : a;
    result.text = only.text;
    result.factor = only.factor;
  } else {
    result.factor = std::gcd(a.factor, b.factor);
    result.text = fmt::format("({} + {})", withFactor(a, result.factor).text,
                              withFactor(b, result.factor).text);
  }
  return isSmall(result.constant) ? result : Sum{textOf(result), 1, 0};
}

TileText::Sum TileText::withFactor(const Sum &sum, int64_t factor) {
  if (sum.text.empty() || sum.factor == factor) {
    return {sum.text.empty() ? "0" : sum.text, factor, sum.constant};
  }
  return {fmt::format("{} * {}", sum.factor / factor, sum.text), factor, sum.constant};
}

std::string TileText::size(const TileDim &dim) const {
  if (!dim.size.valid()) {
    return "1";
  }
  return names.symbol || !isOpen(tile, dim.size) ? expr(dim.size) : "";
}

std::optional<int64_t> TileText::constantSize(const TileDim &dim) const {
  if (!dim.size.valid()) {
    return 1;
  }
  const TileExpr &size = access.exprs[dim.size];
  bool isKnown = size.kind == TileExpr::Kind::Constant && isSmall(size.value);
  return isKnown ? std::optional(size.value) : std::nullopt;
}

std::string TileText::guard(const TileGuard &guard) const {
  bool isEqual = guard.relation == TileGuard::Relation::Equal;
  return fmt::format("({} {} {})", expr(guard.left), isEqual ? "=" : toString(guard.relation),
                     expr(guard.right));
}

/// What the branch around a body says that has the condition; or the part of that which is not
/// among the guards of the tiles there.
static std::string saidBy(const BodyTile &condition, bool isElse, bool isAllWanted,
                          const SideNames &names) {
  const ParsedAccess &access = condition.access;
  const bool areAllDecided = condition.decidesAllGroups(!isElse);
  std::string all;
  for (size_t at = 0; at < access.numGroups(); ++at) {
    if (!isAllWanted && areAllDecided && access.group(at).size() == 1) {
      continue;
    }
    std::string one;
    for (const TileGuard &guard : access.group(at)) {
      one += one.empty() ? "" : areAllDecided ? " or " : " and ";
      one += TileText(condition, names).guard(isElse ? guard.opposite() : guard);
    }
    all += fmt::format("{}({})", all.empty() ? "" : areAllDecided ? " and " : " or ", one);
  }
  return all;
}

/// Of all branches around a body that have a condition.
static std::string saidAround(const Kernel &kernel, LoopId home, bool isAllWanted,
                              const SideNames &names) {
  std::string all;
  for (LoopId l = home; l != rootLoop; l = kernel.loops[l].parent) {
    if (kernel.loops[l].trip.condition.valid()) {
      const std::string one = saidBy(kernel.tiles->conditionOf(l),
                                     kernel.loops[l].kind == LoopKind::Else, isAllWanted, names);
      all += one.empty() ? "" : fmt::format("{}({})", all.empty() ? "" : " and ", one);
    }
  }
  return all;
}

std::string takenText(const Kernel &kernel, LoopId home, const SideNames &names) {
  return saidAround(kernel, home, /*isAllWanted=*/true, names);
}

std::string otherwiseText(const Kernel &kernel, LoopId home, const SideNames &names) {
  return saidAround(kernel, home, /*isAllWanted=*/false, names);
}

} // namespace tally::deps
