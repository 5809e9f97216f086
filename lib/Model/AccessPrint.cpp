//===- AccessPrint.cpp - Prints tiles -------------------------------------===//

#include "AccessWords.h"
#include "tally/Model/AccessText.h"

#include <fmt/format.h>

#include <algorithm>

namespace tally {

using namespace model;

std::string_view toString(TileGuard::Relation relation) {
  return relationTexts[static_cast<size_t>(relation)];
}

static std::string nameText(std::string_view name) {
  if (!name.empty() && isNameStart(name[0]) && std::all_of(name.begin(), name.end(), isNameChar) &&
      !isReserved(name)) {
    return std::string(name);
  }
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + '"';
}

namespace {

class TilePrinter {
public:
  explicit TilePrinter(const ParsedAccess &access) : access(access) {}

  std::string run() {
    text = nameText(access.buffer);
    const char *separator = "[";
    for (const TileDim &dim : access.dims) {
      text += separator;
      dimension(dim);
      separator = ", ";
    }
    text += access.anywhere ? "[@]" : access.dims.empty() ? "" : "]";
    guards(access.guards, " if ", " and ");
    return text;
  }

  std::string runCondition() {
    for (size_t at = 0; at < access.numGroups(); ++at) {
      const bool isAlone = access.group(at).size() == 1;
      text += at == 0 ? "" : access.isEither ? " or " : " and ";
      text += isAlone ? "" : "(";
      guards(access.group(at), "", access.isEither ? " and " : " or ");
      text += isAlone ? "" : ")";
    }
    return text;
  }

  std::string runFormula() {
    expr(access.dims[0].first);
    return text;
  }

private:
  using Kind = TileExpr::Kind;

  void guards(std::span<const TileGuard> all, const char *first, const char *between) {
    for (const char *separator = first; const TileGuard &guard : all) {
      text += separator;
      expr(guard.left);
      text += fmt::format(" {} ", toString(guard.relation));
      expr(guard.right);
      separator = between;
    }
  }

  void dimension(const TileDim &dim) {
    expr(dim.first);
    if (!dim.size.valid()) {
      return;
    }
    text += ':';
    expr(dim.size);
    if (dim.stride != 1) {
      text += fmt::format(":{}", dim.stride);
    }
  }

  static bool isSum(const TileExpr &node) {
    return node.kind == Kind::Add || node.kind == Kind::Sub;
  }

  void inParentheses(TileExprId id, bool needed) {
    text += needed ? "(" : "";
    expr(id);
    text += needed ? ")" : "";
  }

  static bool isOperation(const TileExpr &node) { return node.a.valid(); }

  /// `(A mod 2) * 3`: nobody needs to know what binds closer.
  void infix(TileExprId left, std::string_view op, int64_t right) {
    inParentheses(left, isOperation(access.exprs[left]));
    text += fmt::format(" {} {}", op, right);
  }

  void expr(TileExprId id) {
    const TileExpr &node = access.exprs[id];
    switch (node.kind) {
    case Kind::Constant:
      text += fmt::format("{}", node.value);
      return;
    case Kind::Loop:
    case Kind::Total:
    case Kind::Trips:
    case Kind::Symbol: {
      constexpr std::string_view forms[] = {"{}", "total({})", "trips({})", "${}"};
      text += fmt::format(fmt::runtime(forms[size_t(node.kind) - size_t(Kind::Loop)]),
                          nameText(access.names[node.name]));
      return;
    }
    case Kind::Add:
    case Kind::Sub:
      expr(node.a);
      text += node.kind == Kind::Add ? " + " : " - ";
      inParentheses(node.b, isSum(access.exprs[node.b]));
      return;
    case Kind::Scale:
      return infix(node.a, "*", node.value);
    case Kind::Mod:
      return infix(node.a, "mod", node.value);
    case Kind::FloorDiv:
      return infix(node.a, "floordiv", node.value);
    }
  }

  const ParsedAccess &access;
  std::string text;
};

} // namespace

std::string toString(const ParsedAccess &access) {
  return TilePrinter(access).run();
}

std::string conditionText(const ParsedAccess &condition) {
  return TilePrinter(condition).runCondition();
}

std::string formulaText(const ParsedAccess &formula) {
  return TilePrinter(formula).runFormula();
}

} // namespace tally
