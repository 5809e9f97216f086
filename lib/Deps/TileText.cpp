//===- TileText.cpp - The expressions of a tile, as isl reads them ----------===//

#include "TileText.h"

#include <fmt/format.h>

#include <charconv>

namespace tally {

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
    assert(names.symbol && "only tiles without run-time values are written here");
    return names.symbol(access.names[node.name]);
  default:
    return operation(node, expr(node.a), node.b.valid() ? expr(node.b) : "");
  }
}

/// Far from any overflow of what is computed with it.
static bool isSmall(int64_t constant) {
  return -Bounds::endless < constant && constant < Bounds::endless;
}

TileText::Sum TileText::sum(TileExprId id) const {
  using Kind = TileExpr::Kind;
  const TileExpr &node = access.exprs[id];
  if (node.kind == Kind::Constant && isSmall(node.value)) {
    return {"", node.value};
  }
  for (auto [rest, added] : {std::pair(node.a, node.b), std::pair(node.b, node.a)}) {
    bool isSum = node.kind == Kind::Add || (node.kind == Kind::Sub && rest == node.a);
    if (isSum && access.exprs[added].kind == Kind::Constant && isSmall(access.exprs[added].value)) {
      Sum both = sum(rest);
      both.constant +=
          node.kind == Kind::Add ? access.exprs[added].value : -access.exprs[added].value;
      return isSmall(both.constant) ? both : Sum{expr(id), 0};
    }
  }
  return {expr(id), 0};
}

std::string TileText::Sum::with(int64_t other) const {
  return text.empty() ? fmt::format("{}", other)
         : other == 0 ? text
                      : fmt::format("({} + {})", text, other);
}

std::string TileText::size(const TileDim &dim) const {
  if (!dim.size.valid()) {
    return "1";
  }
  return names.symbol || !hasSymbol(access, dim.size) ? expr(dim.size) : "";
}

std::string TileText::guard(const TileGuard &guard) const {
  bool isEqual = guard.relation == TileGuard::Relation::Equal;
  return fmt::format("({} {} {})", expr(guard.left), isEqual ? "=" : toString(guard.relation),
                     expr(guard.right));
}

} // namespace tally
