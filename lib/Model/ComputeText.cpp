//===- ComputeText.cpp - Reads what an instruction computes ---------------===//
//
// Recursive descent over the characters; the grammar is in the header. Nesting and the number of
// nodes are bounded, so that no text can exhaust the stack here or in whoever evaluates it.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/ComputeText.h"

#include "../Support/Scanner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tally {

static constexpr size_t maxNodes = 1000;
static constexpr unsigned maxNesting = 100;

std::string_view toString(ComputeOp op) {
  constexpr std::string_view names[] = {
      "number", "tile",       "kept",   "-",   "exp", "square", "sqrt",      "rsqrt",  "silu",
      "abs",    "reciprocal", "+",      "-",   "*",   "/",      "max",       "min",    "<",
      "<=",     "==",         "select", "sum", "max", "min",    "transpose", "matmul", "gather"};
  return names[static_cast<size_t>(op)];
}

namespace {

struct Function {
  ComputeOp op;
  uint32_t numOperands;

  std::string_view name() const { return toString(op); }
};

constexpr Function functions[] = {
    {ComputeOp::Exp, 1},        {ComputeOp::Square, 1},    {ComputeOp::Sqrt, 1},
    {ComputeOp::Rsqrt, 1},      {ComputeOp::Silu, 1},      {ComputeOp::Abs, 1},
    {ComputeOp::Max, 2},        {ComputeOp::Min, 2},       {ComputeOp::Select, 3},
    {ComputeOp::Reciprocal, 1}, {ComputeOp::RowSum, 1},    {ComputeOp::RowMax, 1},
    {ComputeOp::RowMin, 1},     {ComputeOp::Transpose, 1}, {ComputeOp::Matmul, 2},
    {ComputeOp::Gather, 2},     {ComputeOp::Gather, 3},
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Each function reads one rule at the cursor.
class ComputeParser : Scanner {
public:
  using Scanner::Scanner;

  std::optional<ParsedCompute> run() {
    do {
      result();
    } while (accept(";"));
    expectEnd("expected an operator, ';' or the end");
    return failed() ? std::nullopt : std::optional(std::move(parsed));
  }

private:
  /// A word that is no expression, with a comma behind it: the loop of `start`.
  std::string acceptLoop() {
    size_t begin = (peek(), at);
    std::string name;
    if (accept("\"")) {
      size_t end = std::min(text.find('"', at), text.size());
      name = text.substr(at, end - at);
      at = std::min(end + 1, text.size());
    } else {
      name = word();
      at += name.size();
    }
    if (name.empty() || !accept(",")) {
      at = begin;
      return {};
    }
    return name;
  }

  //===--- Results --------------------------------------------------------===//

  void result() {
    using Kind = ComputeResult::Kind;
    ComputeResult next;
    next.kind = acceptWord("keep")      ? Kind::Keep
                : acceptWord("start")   ? Kind::Start
                : acceptWord("scatter") ? Kind::Scatter
                                        : Kind::Value;
    if (next.kind == Kind::Value) {
      next.value = comparison();
    } else {
      expect("(");
      if (next.kind == Kind::Start) {
        next.loop = acceptLoop();
      }
      next.value = comparison();
      if (next.kind == Kind::Scatter) {
        expect(",");
        next.index = comparison();
      }
      expect(")");
    }
    parsed.results.push_back(std::move(next));
  }

  //===--- Expressions ----------------------------------------------------===//

  /// What stands in the text twice is computed once.
  ComputeId add(ComputeNode node) {
    auto known = std::find(parsed.nodes.begin(), parsed.nodes.end(), node);
    if (known != parsed.nodes.end()) {
      return ComputeId(static_cast<uint32_t>(known - parsed.nodes.begin()));
    }
    if (parsed.nodes.size() >= maxNodes) {
      return fail(fmt::format("more than {} operations", maxNodes));
    }
    return failed() ? ComputeId() : parsed.nodes.push(node);
  }

  /// One of these signs, if it is next.
  std::optional<ComputeOp> acceptSign(std::initializer_list<ComputeOp> ops) {
    for (ComputeOp op : ops) {
      if (accept(toString(op))) {
        return op;
      }
    }
    return std::nullopt;
  }

  /// Something that may hold itself.
  template <typename Read> ComputeId nested(Read read) {
    if (++nesting > maxNesting) {
      return fail(fmt::format("more than {} expressions inside one another", maxNesting));
    }
    ComputeId inside = read();
    --nesting;
    return inside;
  }

  ComputeId comparison() {
    return nested([&] {
      ComputeId left = sum();
      if (auto op = acceptSign({ComputeOp::LessEqual, ComputeOp::Less, ComputeOp::Equal})) {
        left = add({*op, 0, 0, {left, sum()}});
      }
      return left;
    });
  }

  ComputeId sum() {
    ComputeId left = term();
    while (auto op = acceptSign({ComputeOp::Add, ComputeOp::Sub})) {
      left = add({*op, 0, 0, {left, term()}});
    }
    return left;
  }

  ComputeId term() {
    ComputeId left = factor();
    while (auto op = acceptSign({ComputeOp::Mul, ComputeOp::Div})) {
      left = add({*op, 0, 0, {left, factor()}});
    }
    return left;
  }

  ComputeId factor() {
    if (accept("(")) {
      ComputeId inner = comparison();
      expect(")");
      return inner;
    }
    if (accept("-")) {
      return add({ComputeOp::Negate, 0, 0, {nested([&] { return factor(); })}});
    }
    if (isDigit(peek()) || peek() == '.') {
      return number();
    }
    if (acceptWord("kept")) {
      return add({ComputeOp::Kept, 0, 0, {}});
    }
    std::string_view name = word();
    bool isRead =
        name.size() > 1 && name[0] == 'r' && std::all_of(name.begin() + 1, name.end(), isDigit);
    return isRead ? read(name) : function(name);
  }

  /// Rounded once, from decimal to fp32.
  ComputeId number() {
    float value = 0;
    auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (problem != std::errc() || !std::isfinite(value)) {
      return fail("expected a number that fits in fp32");
    }
    at = static_cast<size_t>(end - text.data());
    return add({ComputeOp::Number, value, 0, {}});
  }

  ComputeId read(std::string_view name) {
    uint32_t index = 0;
    auto [end, problem] = std::from_chars(name.data() + 1, name.data() + name.size(), index);
    if (problem != std::errc()) {
      return fail(fmt::format("there is no tile '{}'", name));
    }
    at += name.size();
    return add({ComputeOp::Read, 0, index, {}});
  }

  ComputeId function(std::string_view name) {
    if (std::ranges::find(functions, name, &Function::name) == std::end(functions)) {
      return fail(unknown(name));
    }
    size_t begin = at;
    at += name.size();
    expect("(");
    ComputeNode node;
    uint32_t count = 0;
    do {
      ComputeId operand = comparison();
      if (count < node.operands.size()) {
        node.operands[count] = operand;
      }
      ++count;
    } while (accept(","));
    expect(")");
    const Function *found = std::ranges::find_if(
        functions, [&](const Function &f) { return f.name() == name && f.numOperands == count; });
    if (failed() || found == std::end(functions)) {
      return failAt(begin, fmt::format("'{}' does not take {} operands", name, count));
    }
    node.op = found->op;
    return add(node);
  }

  static std::string unknown(std::string_view name) {
    if (name == "keep" || name == "start" || name == "scatter") {
      return fmt::format("'{}' stands only around a whole result", name);
    }
    if (name.empty()) {
      return "expected a number, r0, r1, ..., 'kept', a function or '('";
    }
    std::vector<std::string_view> known;
    for (const Function &f : functions) {
      if (std::ranges::find(known, f.name()) == known.end()) {
        known.push_back(f.name());
      }
    }
    return fmt::format("there is no function '{}'; there are {}", name, fmt::join(known, ", "));
  }

  unsigned nesting = 0;
  ParsedCompute parsed;
};

} // namespace

std::optional<ParsedCompute> parseCompute(std::string_view text, std::string &error) {
  return ComputeParser(text, error).run();
}

//===----------------------------------------------------------------------===//
// Whether it fits
//===----------------------------------------------------------------------===//

namespace {

/// By kind of access.
std::array<uint32_t, 3> countTiles(const Kernel &kernel, const Instr &instr) {
  std::array<uint32_t, 3> counts{};
  for (AccessId id : instr.accesses) {
    ++counts[static_cast<size_t>(kernel.accesses[id].kind)];
  }
  return counts;
}

/// A real loop around the instruction.
bool isAround(const Kernel &kernel, LoopId home, std::string_view loop) {
  for (LoopId l = home; l != rootLoop; l = kernel.loops[l].parent) {
    if (kernel.nameOf(l) == loop && !kernel.loops[l].isBranch()) {
      return true;
    }
  }
  return false;
}

std::string plural(uint32_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string resultProblem(const Kernel &kernel, const Instr &instr, const ComputeResult &result,
                          bool isAccumulated) {
  using Kind = ComputeResult::Kind;
  if (result.kind == Kind::Start && !isAccumulated) {
    return "'start' begins a sum, but its tile is written; write the expression alone";
  }
  if (result.kind == Kind::Scatter && isAccumulated) {
    return "'scatter' writes, but its tile is accumulated; gather the rows, add, and scatter them";
  }
  if (!result.loop.empty() && !isAround(kernel, instr.home, result.loop)) {
    return fmt::format("'start' names '{}', which is not a loop around this instruction",
                       result.loop);
  }
  return {};
}

} // namespace

std::string computeProblem(const Kernel &kernel, InstrId id, const ParsedCompute &compute) {
  const Instr &instr = kernel.instrs[id];
  auto [reads, writes, accumulates] = countTiles(kernel, instr);
  for (const ComputeNode &node : compute.nodes) {
    if (node.op == ComputeOp::Read && node.read >= reads) {
      return fmt::format("it names r{}, but the instruction reads {}", node.read,
                         plural(reads, "tile"));
    }
  }
  uint32_t numResults = 0;
  for (const ComputeResult &result : compute.results) {
    if (result.kind != ComputeResult::Kind::Keep) {
      std::string problem = resultProblem(kernel, instr, result, numResults >= writes);
      if (!problem.empty()) {
        return problem;
      }
      ++numResults;
    }
  }
  uint32_t numTiles = writes + accumulates;
  if (numResults != numTiles) {
    return fmt::format("it has {}, but the instruction writes or accumulates {}",
                       plural(numResults, "result"), plural(numTiles, "tile"));
  }
  return {};
}

} // namespace tally
