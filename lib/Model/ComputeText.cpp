//===- ComputeText.cpp - Reads what an instruction computes ---------------===//
//
// Recursive descent over the characters; the grammar is in the header. Nesting and the number of
// nodes are bounded, so that no text can exhaust the stack here or in whoever evaluates it.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/ComputeText.h"

#include "Words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tally {

static constexpr size_t maxNodes = 1000;
static constexpr unsigned maxNesting = 100;

namespace {

/// A function by its name and the number of its operands.
struct Function {
  std::string_view name;
  uint32_t numOperands;
  ComputeOp op;
};

constexpr Function functions[] = {
    {"exp", 1, ComputeOp::Exp},       {"square", 1, ComputeOp::Square},
    {"sqrt", 1, ComputeOp::Sqrt},     {"rsqrt", 1, ComputeOp::Rsqrt},
    {"silu", 1, ComputeOp::Silu},     {"abs", 1, ComputeOp::Abs},
    {"max", 2, ComputeOp::Max},       {"min", 2, ComputeOp::Min},
    {"select", 3, ComputeOp::Select}, {"reciprocal", 1, ComputeOp::Reciprocal},
    {"sum", 1, ComputeOp::RowSum},    {"max", 1, ComputeOp::RowMax},
    {"min", 1, ComputeOp::RowMin},    {"transpose", 1, ComputeOp::Transpose},
    {"matmul", 2, ComputeOp::Matmul}, {"gather", 2, ComputeOp::Gather},
    {"gather", 3, ComputeOp::Gather},
};

bool isFunction(std::string_view name) {
  return std::any_of(std::begin(functions), std::end(functions),
                     [&](const Function &f) { return f.name == name; });
}

} // namespace

std::string_view toString(ComputeOp op) {
  switch (op) {
  case ComputeOp::Number:
    return "number";
  case ComputeOp::Read:
    return "tile";
  case ComputeOp::Kept:
    return "kept";
  case ComputeOp::Negate:
  case ComputeOp::Sub:
    return "-";
  case ComputeOp::Add:
    return "+";
  case ComputeOp::Mul:
    return "*";
  case ComputeOp::Div:
    return "/";
  case ComputeOp::Less:
    return "<";
  case ComputeOp::LessEqual:
    return "<=";
  case ComputeOp::Equal:
    return "==";
  default:
    return std::find_if(std::begin(functions), std::end(functions),
                        [&](const Function &f) { return f.op == op; })
        ->name;
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Each function reads one rule at the cursor. After the first error all of them do nothing, so
/// the callers need no checks of their own.
class ComputeParser {
public:
  ComputeParser(std::string_view text, std::string &error) : text(text), error(error) {
    error.clear();
  }

  std::optional<ParsedCompute> run() {
    do {
      result();
    } while (accept(";"));
    if (!atEnd()) {
      fail("expected an operator, ';' or the end");
    }
    if (failed()) {
      return std::nullopt;
    }
    return std::move(parsed);
  }

private:
  bool failed() const { return !error.empty(); }

  ComputeId fail(std::string_view what) {
    if (!failed()) {
      error = fmt::format("column {}: {}", at + 1, what);
    }
    return {};
  }

  void skipBlanks() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) {
      ++at;
    }
  }

  bool atEnd() {
    skipBlanks();
    return at == text.size();
  }

  bool accept(std::string_view sign) {
    skipBlanks();
    if (failed() || text.substr(at, sign.size()) != sign) {
      return false;
    }
    at += sign.size();
    return true;
  }

  void expect(std::string_view sign) {
    if (!accept(sign)) {
      fail(fmt::format("expected '{}'", sign));
    }
  }

  /// The word at the cursor, which stays; empty if there is none.
  std::string_view word() {
    skipBlanks();
    size_t end = at;
    while (end < text.size() && (end == at ? isWordStart(text[end]) : isWordChar(text[end]))) {
      ++end;
    }
    return failed() ? std::string_view() : text.substr(at, end - at);
  }

  bool acceptWord(std::string_view expected) {
    if (word() != expected) {
      return false;
    }
    at += expected.size();
    return true;
  }

  /// A word that is no expression, with a comma behind it: the loop of `start`.
  std::string acceptLoop() {
    size_t begin = (skipBlanks(), at);
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

  ComputeId add(ComputeOp op, ComputeId a, ComputeId b = {}, ComputeId c = {}) {
    return add({op, 0, 0, {a, b, c}});
  }

  ComputeId comparison() {
    if (++nesting > maxNesting) {
      return fail(fmt::format("more than {} expressions inside one another", maxNesting));
    }
    ComputeId left = sum();
    if (accept("<=")) {
      left = add(ComputeOp::LessEqual, left, sum());
    } else if (accept("<")) {
      left = add(ComputeOp::Less, left, sum());
    } else if (accept("==")) {
      left = add(ComputeOp::Equal, left, sum());
    }
    --nesting;
    return left;
  }

  ComputeId sum() {
    ComputeId left = term();
    while (!failed()) {
      if (accept("+")) {
        left = add(ComputeOp::Add, left, term());
      } else if (accept("-")) {
        left = add(ComputeOp::Sub, left, term());
      } else {
        break;
      }
    }
    return left;
  }

  ComputeId term() {
    ComputeId left = factor();
    while (!failed()) {
      if (accept("*")) {
        left = add(ComputeOp::Mul, left, factor());
      } else if (accept("/")) {
        left = add(ComputeOp::Div, left, factor());
      } else {
        break;
      }
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
      return negative();
    }
    skipBlanks();
    if (at < text.size() && (isDigit(text[at]) || text[at] == '.')) {
      return number();
    }
    std::string_view name = word();
    if (name == "kept") {
      at += name.size();
      return add({ComputeOp::Kept, 0, 0, {}});
    }
    if (name.size() > 1 && name[0] == 'r' && std::all_of(name.begin() + 1, name.end(), isDigit)) {
      return read(name);
    }
    return function(name);
  }

  ComputeId negative() {
    if (++nesting > maxNesting) {
      return fail(fmt::format("more than {} expressions inside one another", maxNesting));
    }
    ComputeId operand = factor();
    --nesting;
    return add(ComputeOp::Negate, operand);
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
    if (!isFunction(name)) {
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
    const Function *found =
        std::find_if(std::begin(functions), std::end(functions),
                     [&](const Function &f) { return f.name == name && f.numOperands == count; });
    if (!failed() && found == std::end(functions)) {
      at = begin;
      return fail(fmt::format("'{}' does not take {} operands", name, count));
    }
    node.op = failed() ? ComputeOp::Number : found->op;
    return add(node);
  }

  static std::string unknown(std::string_view name) {
    if (name == "keep" || name == "start" || name == "scatter") {
      return fmt::format("'{}' stands only around a whole result", name);
    }
    std::vector<std::string_view> known;
    for (const Function &f : functions) {
      if (known.empty() || std::find(known.begin(), known.end(), f.name) == known.end()) {
        known.push_back(f.name);
      }
    }
    return name.empty() ? std::string("expected a number, r0, r1, ..., 'kept', a function or '('")
                        : fmt::format("there is no function '{}'; there are {}", name,
                                      fmt::join(known, ", "));
  }

  std::string_view text;
  std::string &error;
  size_t at = 0;
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

struct TileCounts {
  uint32_t reads = 0, writes = 0, accumulates = 0;
};

TileCounts countTiles(const Kernel &kernel, const Instr &instr) {
  TileCounts counts;
  for (AccessId id : instr.accesses) {
    AccessKind kind = kernel.accesses[id].kind;
    ++(kind == AccessKind::Read    ? counts.reads
       : kind == AccessKind::Write ? counts.writes
                                   : counts.accumulates);
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
  TileCounts counts = countTiles(kernel, instr);
  for (const ComputeNode &node : compute.nodes) {
    if (node.op == ComputeOp::Read && node.read >= counts.reads) {
      return fmt::format("it names r{}, but the instruction reads {}", node.read,
                         plural(counts.reads, "tile"));
    }
  }
  uint32_t numResults = 0;
  for (const ComputeResult &result : compute.results) {
    if (result.kind != ComputeResult::Kind::Keep) {
      std::string problem = resultProblem(kernel, instr, result, numResults >= counts.writes);
      if (!problem.empty()) {
        return problem;
      }
      ++numResults;
    }
  }
  uint32_t numTiles = counts.writes + counts.accumulates;
  if (numResults != numTiles) {
    return fmt::format("it has {}, but the instruction writes or accumulates {}",
                       plural(numResults, "result"), plural(numTiles, "tile"));
  }
  return {};
}

} // namespace tally
