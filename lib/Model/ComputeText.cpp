//===- ComputeText.cpp - Reads what an instruction computes ---------------===//
//
// Recursive descent over the characters; the grammar is in the header. Nesting and the number of
// nodes are bounded, so that no text can exhaust the stack here or in code that evaluates it.
//
//===----------------------------------------------------------------------===//

#include "tally/Model/ComputeText.h"
#include "tally/Support/Counted.h"

#include "../Support/Scanner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

namespace tally {

static constexpr size_t maxNodes = 1000;
static constexpr unsigned maxNesting = 100;
static constexpr size_t maxListed = 16;
static constexpr uint64_t maxExtent = uint64_t(1) << 32;

namespace {

/// A name or sign and what it takes: an expression (e), a list of numbers in brackets (l), one
/// number (i) or the sign of an operator (s).
struct Function {
  ComputeOp op;
  std::string_view name;
  std::string_view takes;
};

constexpr Function functions[] = {
    {ComputeOp::Abs, "abs", "e"},
    {ComputeOp::Sign, "sign", "e"},
    {ComputeOp::Floor, "floor", "e"},
    {ComputeOp::Ceil, "ceil", "e"},
    {ComputeOp::Trunc, "trunc", "e"},
    {ComputeOp::Round, "round", "e"},
    {ComputeOp::Reciprocal, "reciprocal", "e"},
    {ComputeOp::Square, "square", "e"},
    {ComputeOp::Sqrt, "sqrt", "e"},
    {ComputeOp::Rsqrt, "rsqrt", "e"},
    {ComputeOp::Exp, "exp", "e"},
    {ComputeOp::Log, "log", "e"},
    {ComputeOp::Sin, "sin", "e"},
    {ComputeOp::Cos, "cos", "e"},
    {ComputeOp::Arctan, "arctan", "e"},
    {ComputeOp::Tanh, "tanh", "e"},
    {ComputeOp::Erf, "erf", "e"},
    {ComputeOp::Sigmoid, "sigmoid", "e"},
    {ComputeOp::Silu, "silu", "e"},
    {ComputeOp::Gelu, "gelu", "e"},
    {ComputeOp::Softplus, "softplus", "e"},
    {ComputeOp::Max, "max", "ee"},
    {ComputeOp::Min, "min", "ee"},
    {ComputeOp::Pow, "pow", "ee"},
    {ComputeOp::Mod, "mod", "ee"},
    {ComputeOp::Select, "select", "eee"},
    {ComputeOp::BitAnd, "bitand", "ee"},
    {ComputeOp::BitOr, "bitor", "ee"},
    {ComputeOp::BitXor, "bitxor", "ee"},
    {ComputeOp::BitNot, "bitnot", "e"},
    {ComputeOp::ShiftLeft, "shl", "ee"},
    {ComputeOp::ShiftRight, "shr", "ee"},
    {ComputeOp::ShiftRightSigned, "sar", "ee"},
    {ComputeOp::WholeAdd, "iadd", "ee"},
    {ComputeOp::WholeSub, "isub", "ee"},
    {ComputeOp::WholeMul, "imul", "ee"},
    {ComputeOp::Bits, "bits", "e"},
    {ComputeOp::FromBits, "frombits", "e"},
    {ComputeOp::Convert, "f32", "e"},
    {ComputeOp::Convert, "f16", "e"},
    {ComputeOp::Convert, "bf16", "e"},
    {ComputeOp::Convert, "fp8", "e"},
    {ComputeOp::Convert, "fp8_e5m2", "e"},
    {ComputeOp::Convert, "fp8_e3m4", "e"},
    {ComputeOp::Convert, "fp8_e4m3fn", "e"},
    {ComputeOp::Convert, "i8", "e"},
    {ComputeOp::Convert, "u8", "e"},
    {ComputeOp::Convert, "i16", "e"},
    {ComputeOp::Convert, "u16", "e"},
    {ComputeOp::Convert, "i32", "e"},
    {ComputeOp::Convert, "u32", "e"},
    {ComputeOp::RowSum, "sum", "e"},
    {ComputeOp::RowSum, "sum", "el"},
    {ComputeOp::RowProduct, "product", "e"},
    {ComputeOp::RowProduct, "product", "el"},
    {ComputeOp::RowMax, "max", "e"},
    {ComputeOp::RowMax, "max", "el"},
    {ComputeOp::RowMin, "min", "e"},
    {ComputeOp::RowMin, "min", "el"},
    {ComputeOp::Scan, "scan", "sseee"},
    {ComputeOp::Top, "top", "ei"},
    {ComputeOp::Find, "find", "ee"},
    {ComputeOp::Replace, "replace", "eee"},
    {ComputeOp::Transpose, "transpose", "e"},
    {ComputeOp::Permute, "permute", "el"},
    {ComputeOp::Reshape, "reshape", "el"},
    {ComputeOp::Index, "index", "li"},
    {ComputeOp::Matmul, "matmul", "ee"},
    {ComputeOp::Gather, "gather", "ee"},
    {ComputeOp::Gather, "gather", "eee"},
};

/// Where one begins like another, the longer one stands first.
constexpr Function signs[] = {
    {ComputeOp::LessEqual, "<=", "ee"},    {ComputeOp::Less, "<", "ee"},
    {ComputeOp::GreaterEqual, ">=", "ee"}, {ComputeOp::Greater, ">", "ee"},
    {ComputeOp::Equal, "==", "ee"},        {ComputeOp::NotEqual, "!=", "ee"},
    {ComputeOp::Add, "+", "ee"},           {ComputeOp::Sub, "-", "ee"},
    {ComputeOp::Mul, "*", "ee"},           {ComputeOp::Div, "/", "ee"},
};

/// The operators of a scan.
constexpr ComputeOp scanOps[] = {ComputeOp::Add, ComputeOp::Sub, ComputeOp::Mul, ComputeOp::Max,
                                 ComputeOp::Min};

} // namespace

std::string_view toString(ComputeOp op) {
  for (std::span<const Function> table : {std::span<const Function>(functions), {signs}}) {
    auto found = std::ranges::find(table, op, &Function::op);
    if (found != table.end()) {
      return found->name;
    }
  }
  return op == ComputeOp::Negate ? "-" : op == ComputeOp::Kept ? "kept" : "";
}

namespace {

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
    std::string name = peek() == '"' ? quoted() : bare();
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
    return failed() ? ComputeId() : parsed.nodes.push(std::move(node));
  }

  /// One of the signs from `first` to `last`, if it is next.
  std::optional<ComputeOp> acceptSign(ComputeOp first, ComputeOp last) {
    auto begin = std::ranges::find(signs, first, &Function::op);
    auto end = std::ranges::find(signs, last, &Function::op) + 1;
    auto found = std::find_if(begin, end, [&](const Function &sign) { return accept(sign.name); });
    return found == end ? std::nullopt : std::optional(found->op);
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
      if (auto op = acceptSign(ComputeOp::LessEqual, ComputeOp::NotEqual)) {
        left = add({*op, 0, 0, {left, sum()}});
      }
      return left;
    });
  }

  ComputeId sum() {
    ComputeId left = term();
    while (auto op = acceptSign(ComputeOp::Add, ComputeOp::Sub)) {
      left = add({*op, 0, 0, {left, term()}});
    }
    return left;
  }

  ComputeId term() {
    ComputeId left = factor();
    while (auto op = acceptSign(ComputeOp::Mul, ComputeOp::Div)) {
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
    if (acceptWord("inf")) {
      return add({ComputeOp::Number, INFINITY});
    }
    if (acceptWord("kept")) {
      return add({ComputeOp::Kept});
    }
    if (peek() == '"') {
      return iteration(quoted());
    }
    std::string_view name = word();
    bool isRead =
        name.size() > 1 && name[0] == 'r' && std::all_of(name.begin() + 1, name.end(), isDigit);
    return isRead ? read(name) : isCall(name) ? function(name) : iteration(bare());
  }

  /// What is no loop's name for sure is read as a function, which says what is allowed.
  bool isCall(std::string_view name) {
    size_t end = at + name.size();
    while (end < text.size() && text[end] == ' ') {
      ++end;
    }
    return name.empty() || (end < text.size() && text[end] == '(');
  }

  ComputeId iteration(std::string loop) {
    return add({ComputeOp::Iteration, 0, 0, {}, {}, std::move(loop)});
  }

  std::string bare() {
    std::string name(word());
    at += name.size();
    return name;
  }

  std::string quoted() {
    expect("\"");
    size_t end = text.find('"', at);
    if (end == std::string_view::npos) {
      return fail("expected '\"' at the end of a name");
    }
    std::string name(text.substr(at, end - at));
    at = end + 1;
    return name;
  }

  /// Rounded once, from decimal to fp32.
  ComputeId number() {
    float value = 0;
    auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (problem != std::errc() || !std::isfinite(value)) {
      return fail("expected a number that fits in fp32");
    }
    at = static_cast<size_t>(end - text.data());
    return add({ComputeOp::Number, value});
  }

  ComputeId read(std::string_view name) {
    uint32_t index = 0;
    auto [end, problem] = std::from_chars(name.data() + 1, name.data() + name.size(), index);
    if (problem != std::errc()) {
      return fail(fmt::format("there is no tile '{}'", name));
    }
    at += name.size();
    return add({ComputeOp::Read, 0, index});
  }

  /// What a call is made of, and of which kinds.
  struct Arguments {
    ComputeNode node;
    std::string kinds;
    uint32_t numOperands = 0;
  };

  ComputeId function(std::string_view name) {
    if (std::ranges::find(functions, name, &Function::name) == std::end(functions)) {
      return fail(unknown(name));
    }
    size_t begin = at;
    at += name.size();
    expect("(");
    Arguments arguments;
    do {
      argument(name, arguments);
    } while (accept(","));
    expect(")");
    const Function *found = std::ranges::find_if(
        functions, [&](const Function &f) { return f.name == name && f.takes == arguments.kinds; });
    if (failed() || found == std::end(functions)) {
      return failAt(begin, fmt::format("'{}' takes {}", name, whatIsTaken(name)));
    }
    arguments.node.op = found->op;
    arguments.node.word = found->op == ComputeOp::Convert ? name : std::string_view();
    return add(std::move(arguments.node));
  }

  /// Reads the next one as what some function of this name takes there.
  void argument(std::string_view name, Arguments &arguments) {
    size_t place = arguments.kinds.size();
    auto takes = [&](char kind) {
      return std::ranges::any_of(functions, [&](const Function &f) {
        return f.name == name && place < f.takes.size() && f.takes[place] == kind;
      });
    };
    char kind = peek() == '[' ? 'l' : takes('s') ? 's' : takes('i') ? 'i' : 'e';
    arguments.kinds += kind;
    if (kind == 'l') {
      list(arguments.node.list);
    } else if (kind == 's') {
      arguments.node.list.push_back(static_cast<uint64_t>(scanOperator()));
    } else if (kind == 'i') {
      arguments.node.list.push_back(whole());
    } else {
      ComputeId operand = comparison();
      if (arguments.numOperands < arguments.node.operands.size()) {
        arguments.node.operands[arguments.numOperands] = operand;
      }
      ++arguments.numOperands;
    }
  }

  void list(std::vector<uint64_t> &numbers) {
    expect("[");
    do {
      numbers.push_back(whole());
    } while (accept(",") && numbers.size() <= maxListed);
    expect("]");
  }

  uint64_t whole() {
    uint64_t value = 0;
    peek();
    auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (failed() || problem != std::errc() || value > maxExtent) {
      return fail(fmt::format("expected a whole number of at most {}", maxExtent));
    }
    at = static_cast<size_t>(end - text.data());
    return value;
  }

  ComputeOp scanOperator() {
    for (ComputeOp op : scanOps) {
      if (accept(toString(op))) {
        return op;
      }
    }
    return fail("expected '+', '-', '*', 'max' or 'min'");
  }

  /// `an expression, or an expression and numbers in brackets`
  static std::string whatIsTaken(std::string_view name) {
    std::vector<std::string> ways;
    for (const Function &f : functions) {
      if (f.name == name) {
        std::vector<std::string_view> parts;
        for (char kind : f.takes) {
          parts.push_back(kind == 'e'   ? "an expression"
                          : kind == 'l' ? "numbers in brackets"
                          : kind == 's' ? "an operator"
                                        : "a number");
        }
        ways.push_back(fmt::format("({})", fmt::join(parts, ", ")));
      }
    }
    return fmt::format("{}", fmt::join(ways, " or "));
  }

  static std::string unknown(std::string_view name) {
    if (name == "keep" || name == "start" || name == "scatter") {
      return fmt::format("'{}' stands only around a whole result", name);
    }
    if (name.empty()) {
      return "expected a number, r0, r1, ..., 'kept', a loop, a function or '('";
    }
    std::vector<std::string_view> known;
    for (const Function &f : functions) {
      if (std::ranges::find(known, f.name) == known.end()) {
        known.push_back(f.name);
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

ComputeTable::ComputeTable(const Kernel &kernel) {
  for (const Instr &instr : kernel.instrs) {
    if (!instr.computes.valid()) {
      continue;
    }
    auto [found, isNew] = entries.try_emplace(instr.computes);
    if (!isNew) {
      continue;
    }
    Entry &entry = found->second;
    if (std::optional<ParsedCompute> compute =
            parseCompute(kernel.text(instr.computes), entry.problem)) {
      entry.compute = std::move(*compute);
    }
  }
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
                         counted(reads, "tile"));
    }
    if (node.op == ComputeOp::Iteration && !isAround(kernel, instr.home, node.word)) {
      return fmt::format("it names '{}', which is not a loop around this instruction", node.word);
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
                       counted(numResults, "result"), counted(numTiles, "tile"));
  }
  return {};
}

} // namespace tally
