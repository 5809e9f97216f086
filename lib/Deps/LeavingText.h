//===- LeavingText.h - The runs that leave a buffer, as isl reads them -----===//
//
// One dimension of one tile, or none of them, as sets of integer points, one for each run that
// touches the tile:
//
//   i0, ..  iterations of the loops on which it depends, outermost first
//   n0, ..  how often such a loop runs this time, where the tile asks for it
//   t0, ..  totals for which there is not a formula
//   s0, ..  run-time values of which nothing is known
//   v0, ..  values that are the same throughout the run
//
// Those that loops without `max`, or run-time values, leave open come last.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_LEAVINGTEXT_H
#define TALLY_LIB_DEPS_LEAVINGTEXT_H

#include "TileText.h"
#include "tally/Model/Iterations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace tally::deps {

/// The variables of the sets, in the order in which texts ask for them.
class LeavingVariables {
public:
  enum class What : uint8_t { Iteration, Length, Total, Symbol, Value };

  struct Variable {
    What what;
    LoopId loop;
    std::string symbol;
    std::string name;
    bool isOpen = false;
  };

  explicit LeavingVariables(const Kernel &kernel) : kernel(kernel) {}

  const std::vector<Variable> &all() const { return variables; }

  SideNames sideNames() {
    return {[this](LoopId loop) { return iteration(loop); },
            [this](LoopId loop) { return total(loop); },
            [this](LoopId loop) { return trips(loop); },
            [this](RunValueId id) { return value(id); },
            [this](const std::string &symbol) { return variable(What::Symbol, {}, symbol, true); }};
  }

  /// What the formula of a loop names is part of the question, too.
  std::string iteration(LoopId loop) {
    std::string name = variable(What::Iteration, loop, "", false);
    if (isFormula(loop) && !formulas.contains(loop)) {
      formulas[loop] = ""; // its own iteration is not in it
      const BodyTile &formula = kernel.tiles->formulaOf(loop);
      const SideNames names = sideNames();
      formulas[loop] = TileText(formula, names).expr(formula.access.dims[0].first);
    }
    return name;
  }

  bool isFormula(LoopId loop) const { return kernel.loops[loop].trip.kind == Trip::Kind::Formula; }

  /// The first value without `max`.
  const Variable *openValue() const {
    auto found = std::ranges::find_if(
        variables, [](const Variable &v) { return v.what == What::Value && v.isOpen; });
    return found == variables.end() ? nullptr : &*found;
  }

  bool isUnbounded(LoopId loop) const { return !kernel.loops[loop].trip.most(); }

  bool isOutermost(LoopId loop) const {
    return kernel.realLoop(kernel.loops[loop].parent) == rootLoop;
  }

  uint64_t most(LoopId loop) const { return kernel.loops[loop].trip.most().value_or(maxCount); }

  uint64_t least(LoopId loop) const { return kernel.loops[loop].trip.least(); }

  const Variable *find(What what, LoopId loop) const {
    auto found = std::find_if(variables.begin(), variables.end(),
                              [&](const Variable &v) { return v.what == what && v.loop == loop; });
    return found == variables.end() ? nullptr : &*found;
  }

  /// Of the loop, if the variables depend on its formula.
  const std::string *formulaOf(LoopId loop) const {
    auto found = formulas.find(loop);
    return found == formulas.end() ? nullptr : &found->second;
  }

  bool hasFormula() const { return !formulas.empty(); }

  /// What is known of totals; each condition begins with " and ".
  const std::string &conditions() const { return totals; }

private:
  std::string variable(What what, LoopId loop, const std::string &symbol, bool isOpen) {
    size_t number = 0;
    for (const Variable &known : variables) {
      if (known.what == what && known.loop == loop && known.symbol == symbol) {
        return known.name;
      }
      number += known.what == what;
    }
    std::string name = fmt::format("{}{}", "intsv"[static_cast<size_t>(what)], number);
    variables.push_back({what, loop, symbol, name, isOpen});
    return name;
  }

  std::string value(RunValueId id) {
    return variable(What::Value, {}, std::string(kernel.nameOf(id)), !kernel.values[id].max);
  }

  std::string trips(LoopId loop) {
    iteration(loop); // there is one
    if (isFormula(loop)) {
      return formulas[loop];
    }
    return least(loop) == most(loop) ? fmt::format("{}", most(loop))
                                     : variable(What::Length, loop, "", isUnbounded(loop));
  }

  /// Earlier entries of a body. All entries of the body around it count, each of which came to this
  /// body once: to a branch, which was taken or not; to a loop, which ran within its bounds.
  std::string total(LoopId body) {
    if (body == rootLoop) {
      return "0";
    }
    const Loop &loop = kernel.loops[body];
    std::string around = total(loop.parent);
    if (around == "0") {
      return loop.isBranch() ? "0" : iteration(body);
    }
    if (!loop.isBranch() && least(body) == most(body)) {
      return fmt::format("({} * {} + {})", most(body), around, iteration(body));
    }
    bool isNew = !find(What::Total, body);
    std::string name = variable(What::Total, body, "", isTotalOpen(body));
    if (isNew) {
      std::string own = loop.isBranch() ? "" : " + " + iteration(body);
      uint64_t fewest = loop.isBranch() ? 0 : least(body);
      uint64_t mostOften = loop.isBranch() ? 1 : most(body);
      totals += fmt::format(" and {0} * {2}{3} <= {4} and {4} <= {1} * {2}{3}", fewest, mostOften,
                            around, own, name);
    }
    return name;
  }

  /// Whether a loop without `max` has run before, as often as it may be; or a formula or condition
  /// says more of all entries together than of each.
  bool isTotalOpen(LoopId body) const {
    for (LoopId l = body; l != rootLoop; l = kernel.loops[l].parent) {
      bool isVague = isUnbounded(l) || isFormula(l);
      bool isDecided = kernel.loops[l].trip.condition.valid();
      if (isDecided || (!kernel.loops[l].isBranch() && !isOutermost(l) && isVague)) {
        return true;
      }
    }
    return false;
  }

  const Kernel &kernel;
  std::vector<Variable> variables;
  std::map<LoopId, std::string> formulas; ///< of the loops among the variables
  std::string totals;
};

class LeavingText {
public:
  LeavingText(const Kernel &kernel, const TileBox &tile, const BodyTile &read,
              std::optional<uint32_t> dim)
      : kernel(kernel), tile(tile), read(read), access(read.access), dim(dim), variables(kernel) {
    const SideNames names = variables.sideNames();
    TileText text(read, names);
    for (const TileGuard &guard : access.guards) {
      touching += " and " + text.guard(guard);
    }
    if (std::string taken = otherwiseText(kernel, tile.home, names); !taken.empty()) {
      touching += " and " + taken;
    }
    for (const TileDim &each : access.dims) {
      if (!access.isConstant(each.size)) {
        (isOpen(read, each.size) ? assumed : touching) +=
            fmt::format(" and {} >= 1", text.size(each));
      }
    }
    for (LoopId loop : kernel.realLoops(tile.home)) {
      if (variables.isFormula(loop)) {
        variables.iteration(loop); // there is one
      }
    }
    if (dim) {
      leavingIt = leavingText(text);
    }
    order.resize(variables.all().size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      auto rank = [&](const Variable &v) {
        return std::tuple(v.isOpen, v.what,
                          v.what == What::Iteration ? kernel.loops[v.loop].depth : 0);
      };
      return rank(variables.all()[a]) < rank(variables.all()[b]);
    });
    known = static_cast<size_t>(std::count_if(variables.all().begin(), variables.all().end(),
                                              [](const Variable &v) { return !v.isOpen; }));
  }

  /// Runs that touch the tile, wherever it lies.
  std::string touchingAtAll() const { return set(domain(false) + touching); }

  /// Runs that touch the tile and leave the buffer.
  std::string leaving() const { return set(domain(false) + touching + leavingIt); }

  /// The same, where loops without `max` run as rarely as they may; but not never.
  std::string leavingAnyway() const { return set(domain(true) + touching + leavingIt); }

  /// All such points, also of runs that stay inside or do not touch the tile.
  std::string anyway() const { return set(domain(true)); }

  size_t numVariables() const { return order.size(); }

  /// Each guard `!=` splits the sets in two, which isl does not count as work.
  uint32_t numSplits() const {
    return static_cast<uint32_t>(
        std::count_if(access.guards.begin(), access.guards.end(), [](const TileGuard &guard) {
          return guard.relation == TileGuard::Relation::NotEqual;
        }));
  }

  /// Those that are not left open come first.
  size_t numKnown() const { return known; }

  /// Whether a variable, by its place in the sets, is a run-time value.
  bool isSymbol(size_t at) const { return variables.all()[order[at]].what == What::Symbol; }

  /// The loops without `max` on which the tile depends, outermost first. For those with formulas
  /// stand the loops that say between which bounds their values are.
  std::vector<LoopId> unbounded() const {
    std::vector<LoopId> loops;
    for (const Variable &v : variables.all()) {
      if (v.what == What::Iteration && variables.isUnbounded(v.loop) &&
          !variables.isFormula(v.loop)) {
        loops.push_back(v.loop);
      } else if (v.what == What::Value && v.isOpen) {
        loops.push_back(kernel.values[kernel.valueNamed(v.symbol)].loop);
      }
    }
    std::sort(loops.begin(), loops.end()); // ids follow the text
    loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
    return loops;
  }

  std::vector<std::string> symbols() const {
    std::vector<std::string> all;
    for (const Variable &v : variables.all()) {
      if (v.what == What::Symbol) {
        all.push_back(v.symbol);
      }
    }
    return all;
  }

  /// Whether a formula says how often one of the loops runs.
  bool hasFormula() const { return variables.hasFormula(); }

  /// Whether the tile counts entries that a formula says more of all together than of each.
  bool hasTiedTotal() const {
    return std::ranges::any_of(variables.all(), [&](const Variable &v) {
      bool isTied = false;
      for (LoopId l = v.what == What::Total ? v.loop : rootLoop; l != rootLoop;
           l = kernel.loops[l].parent) {
        isTied |= (variables.isFormula(l) && !variables.isOutermost(l)) ||
                  kernel.loops[l].trip.condition.valid();
      }
      return isTied;
    });
  }

  /// Whether a variable says how often the loop runs.
  bool canCount(LoopId loop) const { return !isByValue(loop) || variables.openValue(); }

  /// Fewer than that it never is.
  int64_t leastCount(LoopId loop) const {
    const Variable *value = isByValue(loop) ? variables.openValue() : nullptr;
    return value ? static_cast<int64_t>(kernel.values[kernel.valueNamed(value->symbol)].min) : 0;
  }

  /// Where to find by how often the loop runs: its trips this time, or else its iteration.
  size_t countOf(LoopId loop, bool &isTrips) const {
    What counts = isByValue(loop)                      ? What::Value
                  : variables.find(What::Length, loop) ? What::Length
                                                       : What::Iteration;
    isTrips = counts != What::Iteration;
    const Variable *wanted =
        counts == What::Value ? variables.openValue() : variables.find(counts, loop);
    auto at = std::find_if(order.begin(), order.end(),
                           [&](size_t i) { return &variables.all()[i] == wanted; });
    return static_cast<size_t>(at - order.begin());
  }

  /// One point, in words and numbers of the kernel: the index at it that is not in the buffer, and
  /// what, apart from iterations, says where the tile lies.
  int64_t indexAt(const std::vector<int64_t> &point) const {
    const TileDim &own = access.dims[*dim];
    int64_t first = valueOf(point, own.first);
    int64_t size = own.size.valid() ? valueOf(point, own.size) : 1;
    auto steps = static_cast<uint64_t>(own.stride) * (static_cast<uint64_t>(size) - 1);
    return first < 0 ? first : static_cast<int64_t>(static_cast<uint64_t>(first) + steps);
  }

  std::string alsoAt(const std::vector<int64_t> &point) const {
    std::string text;
    for (size_t i = 0; i < order.size(); ++i) {
      const Variable &v = variables.all()[order[i]];
      if (v.what != What::Iteration) {
        text += text.empty() ? "" : ", ";
        text += v.what == What::Symbol || v.what == What::Value
                    ? fmt::format("${} = {}", v.symbol, point[i])
                    : fmt::format("{}({}) = {}", v.what == What::Length ? "trips" : "total",
                                  kernel.nameOf(v.loop), point[i]);
      }
    }
    return text;
  }

  std::vector<LoopIteration> iterationAt(const std::vector<int64_t> &point) const {
    std::vector<LoopIteration> all;
    for (LoopId loop : kernel.realLoops(tile.home)) {
      all.push_back({loop, static_cast<uint64_t>(valueAt(point, What::Iteration, loop, ""))});
    }
    return all;
  }

private:
  using What = LeavingVariables::What;
  using Variable = LeavingVariables::Variable;

  /// Whether it stands for a value that it names: by its formula, or by its condition.
  bool isByValue(LoopId loop) const {
    return variables.isFormula(loop) || kernel.loops[loop].kind != LoopKind::Loop;
  }

  std::string leavingText(const TileText &text) const {
    const TileDim &own = access.dims[*dim];
    std::string first = text.expr(own.first);
    std::string last = own.size.valid()
                           ? fmt::format("{} + {} * ({} - 1)", first, own.stride, text.size(own))
                           : first;
    return fmt::format(" and ({} < 0 or {} >= {})", first, last,
                       kernel.buffers[tile.buffer].shape[*dim]);
  }

  std::string set(const std::string &conditions) const {
    std::vector<std::string_view> names;
    for (size_t i : order) {
      names.push_back(variables.all()[i].name);
    }
    return fmt::format("{{ [{}] : 1 = 1{} }}", fmt::join(names, ", "), conditions);
  }

  /// The runs that there are.
  std::string domain(bool rarely) const {
    std::string all;
    for (const Variable &v : variables.all()) {
      all += limits(v, rarely);
    }
    return all + variables.conditions() + assumed;
  }

  std::string limits(const Variable &v, bool rarely) const {
    if (v.what == What::Length) {
      return fmt::format(" and {} <= {} <= {}", std::max<uint64_t>(variables.least(v.loop), 1),
                         v.name, variables.most(v.loop));
    }
    if (v.what == What::Value) {
      const RunValue &value = kernel.values[kernel.valueNamed(v.symbol)];
      return fmt::format(" and {} <= {} <= {}", value.min, v.name, value.max.value_or(maxCount));
    }
    if (v.what != What::Iteration) {
      return {};
    }
    uint64_t end = rarely && variables.isUnbounded(v.loop)
                       ? std::max<uint64_t>(variables.least(v.loop), 1)
                       : variables.most(v.loop);
    std::string text = fmt::format(" and 0 <= {} < {}", v.name, end);
    if (const std::string *formula = variables.formulaOf(v.loop)) {
      text += fmt::format(" and {} < {}", v.name, *formula);
    }
    const Variable *length = variables.find(What::Length, v.loop);
    return length ? text + fmt::format(" and {} < {}", v.name, length->name) : text;
  }

  int64_t valueAt(const std::vector<int64_t> &point, What what, LoopId loop,
                  const std::string &symbol) const {
    for (size_t i = 0; i < order.size(); ++i) {
      const Variable &v = variables.all()[order[i]];
      if (v.what == what && v.loop == loop && v.symbol == symbol) {
        return point[i];
      }
    }
    return 0; // nothing depends on it
  }

  int64_t totalAt(const std::vector<int64_t> &point, LoopId body) const {
    if (variables.find(What::Total, body)) {
      return valueAt(point, What::Total, body, "");
    }
    if (body == rootLoop || kernel.loops[body].isBranch()) {
      return 0;
    }
    int64_t around = totalAt(point, kernel.loops[body].parent);
    int64_t own = valueAt(point, What::Iteration, body, "");
    return around == 0 ? own : static_cast<int64_t>(variables.most(body)) * around + own;
  }

  int64_t leafAt(const std::vector<int64_t> &point, const BodyTile &tile,
                 const TileExpr &leaf) const {
    using Kind = TileExpr::Kind;
    if (leaf.kind == Kind::Symbol) {
      return valueAt(point, tile.isOpen(leaf) ? What::Symbol : What::Value, {},
                     tile.access.names[leaf.name]);
    }
    LoopId loop = tile.loopOf(leaf);
    switch (leaf.kind) {
    case Kind::Loop:
      return valueAt(point, What::Iteration, loop, "");
    case Kind::Total:
      return totalAt(point, loop);
    default:
      if (variables.isFormula(loop)) {
        const BodyTile &formula = kernel.tiles->formulaOf(loop);
        return valueOf(point, formula, formula.access.dims[0].first);
      }
      return variables.find(What::Length, loop) ? valueAt(point, What::Length, loop, "")
                                                : static_cast<int64_t>(variables.most(loop));
    }
  }

  int64_t valueOf(const std::vector<int64_t> &point, const BodyTile &tile, TileExprId id) const {
    return *tally::valueOf(tile.access, id, [&](const TileExpr &leaf) -> std::optional<int64_t> {
      return leafAt(point, tile, leaf);
    });
  }

  int64_t valueOf(const std::vector<int64_t> &point, TileExprId id) const {
    return valueOf(point, read, id);
  }

  const Kernel &kernel;
  const TileBox &tile;
  const BodyTile &read;
  const ParsedAccess &access;
  const std::optional<uint32_t> dim;
  LeavingVariables variables;
  std::vector<size_t> order; ///< in the sets
  size_t known = 0;
  std::string assumed;   ///< sizes by run-time values are at least 1; each begins with " and "
  std::string touching;  ///< likewise
  std::string leavingIt; ///< likewise
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_LEAVINGTEXT_H
