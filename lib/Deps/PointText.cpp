//===- PointText.cpp - Conditions of a nest, looked at point by point -----===//

#include "PointText.h"

#include "tally/Support/FloorDiv.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace tally::deps {

/// By precedence, lowest first. What is in parentheses is a condition or a number: which one, is
/// known when it has been read.
class PointText::Parser {
public:
  Parser(std::string_view text, size_t numLevels) : rest(text), numLevels(numLevels) {}

  std::optional<PointText> run() {
    any();
    skipSpace();
    if (!isGood || !rest.empty()) {
      return std::nullopt;
    }
    result.knowSides();
    return std::move(result);
  }

private:
  uint32_t any() {
    uint32_t left = all();
    while (take("or")) {
      left = add(Op::Or, left, all());
    }
    return left;
  }

  uint32_t all() {
    uint32_t left = comparison();
    while (take("and")) {
      left = add(Op::And, left, comparison());
    }
    return left;
  }

  uint32_t comparison() {
    uint32_t left = sum();
    std::optional<uint32_t> first = related(left);
    std::optional<uint32_t> second = first ? related(left) : std::nullopt;
    return !first ? left : !second ? *first : add(Op::And, *first, *second);
  }

  /// With what follows, which takes its place; none if nothing follows.
  std::optional<uint32_t> related(uint32_t &left) {
    struct Relation {
      std::string_view text;
      Op op;
      bool isTurned;
    };

    constexpr Relation relations[] = {{"!=", Op::NotEqual, false}, {"<=", Op::LessEqual, false},
                                      {">=", Op::LessEqual, true}, {"<", Op::Less, false},
                                      {">", Op::Less, true},       {"=", Op::Equal, false}};
    for (const Relation &relation : relations) {
      if (take(relation.text)) {
        const uint32_t before = std::exchange(left, sum());
        return relation.isTurned ? add(relation.op, left, before) : add(relation.op, before, left);
      }
    }
    return std::nullopt;
  }

  uint32_t sum() {
    uint32_t left = product();
    for (;;) {
      if (take("+")) {
        left = add(Op::Add, left, product());
      } else if (take("-")) {
        left = difference(left, product());
      } else {
        return left;
      }
    }
  }

  uint32_t product() {
    uint32_t left = factor();
    for (;;) {
      if (take("*")) {
        left = add(Op::Mul, left, factor());
      } else if (take("mod")) {
        left = add(Op::Mod, left, divisor());
      } else {
        return left;
      }
    }
  }

  uint32_t factor() {
    if (take("-")) {
      return add(Op::Sub, number(0), factor());
    }
    if (take("floor")) {
      expect("(");
      uint32_t left = sum();
      expect("/");
      left = add(Op::FloorDiv, left, divisor());
      expect(")");
      return left;
    }
    if (take("(")) {
      uint32_t inner = take("exists") ? exists() : any();
      expect(")");
      return inner;
    }
    if (take("c")) {
      return iteration(false, level());
    }
    if (take("d")) {
      const uint32_t at = level();
      const uint32_t consumer = iteration(false, at);
      return add(Op::Sub, consumer, iteration(true, at));
    }
    for (char letter : {'k', 'l'}) {
      if (take({&letter, 1})) {
        return variable({letter, digits()});
      }
    }
    return number(digits());
  }

  struct Name {
    char letter;
    int64_t number;

    bool operator==(const Name &) const = default;
  };

  /// Each of the variables has a range that ends before a number without variables.
  uint32_t exists() {
    const size_t outside = scope.size();
    do {
      const char letter = take("k") ? 'k' : 'l';
      isGood &= letter == 'k' || take("l");
      scope.push_back({letter, digits()});
    } while (take(","));
    const auto first = static_cast<uint32_t>(result.ends.size());
    const auto count = static_cast<uint32_t>(scope.size() - outside);
    result.ends.resize(first + count, none);
    result.variables.resize(first + count);
    slots.resize(scope.size());
    std::iota(slots.begin() + static_cast<ptrdiff_t>(outside), slots.end(), first);
    expect(":");
    const uint32_t body = all();
    endVariables(body, first);
    isGood &= std::ranges::count(result.ends, none) == 0;
    scope.resize(outside);
    slots.resize(outside);
    return push({Op::Exists, false, body, first, count});
  }

  /// Looks for `k < number` among conditions that all hold.
  void endVariables(uint32_t condition, uint32_t first) {
    const Node node = result.nodes[condition];
    if (node.op == Op::And) {
      endVariables(node.a, first);
      endVariables(node.b, first);
    } else if (node.op == Op::Less && result.nodes[node.a].op == Op::Variable &&
               result.nodes[node.a].a >= first && !usesVariables(node.b)) {
      result.ends[result.nodes[node.a].a] = node.b;
    }
  }

  bool usesVariables(uint32_t node) const {
    const Node &own = result.nodes[node];
    bool isLeaf = own.op == Op::Number || own.op == Op::Iteration || own.op == Op::Variable;
    return own.op == Op::Variable || (!isLeaf && (usesVariables(own.a) || usesVariables(own.b)));
  }

  uint32_t variable(const Name &name) {
    auto found = std::ranges::find(scope, name);
    isGood &= found != scope.end();
    return isGood ? push({Op::Variable, false, slots[static_cast<size_t>(found - scope.begin())]})
                  : number(0);
  }

  uint32_t level() {
    int64_t level = digits();
    isGood &= level >= 0 && static_cast<size_t>(level) < numLevels;
    return isGood ? static_cast<uint32_t>(level) : 0;
  }

  uint32_t iteration(bool isProducer, uint32_t level) {
    return push({Op::Iteration, isProducer, level, 0, 0});
  }

  /// c - d, which is the producer's iteration.
  uint32_t difference(uint32_t a, uint32_t b) {
    const Node &left = result.nodes[a], &right = result.nodes[b];
    bool isIteration = left.op == Op::Iteration && !left.isProducer && right.op == Op::Sub &&
                       result.nodes[right.a].op == Op::Iteration &&
                       result.nodes[right.b].op == Op::Iteration &&
                       !result.nodes[right.a].isProducer && result.nodes[right.b].isProducer &&
                       result.nodes[right.a].a == left.a && result.nodes[right.b].a == left.a;
    return isIteration ? iteration(true, left.a) : add(Op::Sub, a, b);
  }

  uint32_t divisor() {
    int64_t value = digits();
    isGood &= value > 0;
    return number(value);
  }

  int64_t digits() {
    skipSpace();
    int64_t value = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    isGood &= error == std::errc() && rest[0] != '-';
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    return value;
  }

  uint32_t number(int64_t value) { return push({Op::Number, false, 0, 0, value}); }

  uint32_t add(Op op, uint32_t a, uint32_t b) { return push({op, false, a, b, 0}); }

  uint32_t push(const Node &node) {
    result.nodes.push_back(node);
    return static_cast<uint32_t>(result.nodes.size() - 1);
  }

  void skipSpace() { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); }

  bool take(std::string_view word) {
    skipSpace();
    bool isNext = isGood && rest.starts_with(word);
    rest.remove_prefix(isNext ? word.size() : 0);
    return isNext;
  }

  void expect(std::string_view word) { isGood &= take(word); }

  std::string_view rest;
  size_t numLevels;
  bool isGood = true;          ///< once it is not, nothing is taken any more
  std::vector<Name> scope;     ///< variables
  std::vector<uint32_t> slots; ///< their numbers
  static constexpr uint32_t none = UINT32_MAX;
  PointText result;
};

std::optional<PointText> PointText::of(std::string_view text, size_t numLevels) {
  return Parser(text.empty() ? "1 = 1" : text, numLevels).run();
}

/// Finds the largest parts that one side alone tells.
void PointText::knowSides() {
  constexpr uint8_t consumers = 1, producers = 2, ofVariables = 4;
  std::vector<uint8_t> uses(nodes.size());
  whole = nodes;
  for (uint32_t n = 0; n < nodes.size(); ++n) {
    const Node &node = nodes[n];
    switch (node.op) {
    case Op::Number:
      break;
    case Op::Iteration:
      uses[n] = node.isProducer ? producers : consumers;
      break;
    case Op::Variable:
      uses[n] = ofVariables;
      break;
    case Op::Exists:
      uses[n] = ofVariables | uses[node.a];
      break;
    default:
      uses[n] = uses[node.a] | uses[node.b];
    }
  }
  auto know = [&](uint32_t n) {
    if (uses[n] == consumers || uses[n] == producers) {
      bool isProducer = uses[n] == producers;
      whole[n] = {Op::Known, isProducer, static_cast<uint32_t>(told[isProducer].size()), 0, 0};
      told[isProducer].push_back(n);
    }
  };
  std::vector<uint32_t> open = {static_cast<uint32_t>(nodes.size() - 1)};
  while (!open.empty()) {
    const uint32_t n = open.back();
    open.pop_back();
    know(n);
    const Op op = whole[n].op;
    if (op == Op::Exists) {
      open.push_back(nodes[n].a);
    } else if (op != Op::Known && op != Op::Number && op != Op::Variable) {
      open.insert(open.end(), {nodes[n].a, nodes[n].b});
    }
  }
}

std::vector<int64_t> PointText::ofRun(bool isProducer, std::span<const int64_t> iterations) {
  std::vector<int64_t> values;
  values.reserve(told[isProducer].size());
  for (uint32_t node : told[isProducer]) {
    values.push_back(valueOf(nodes, node, {iterations, iterations}));
  }
  return values;
}

bool PointText::holds(std::span<const int64_t> ofProducer, std::span<const int64_t> ofConsumer) {
  return valueOf(whole, static_cast<uint32_t>(whole.size() - 1), {ofProducer, ofConsumer}) != 0;
}

int64_t PointText::valueOf(std::span<const Node> from, uint32_t node, const Sides &sides) {
  const auto [op, isProducer, a, b, value] = from[node];
  switch (op) {
  case Op::Number:
    return value;
  case Op::Iteration:
  case Op::Known:
    return isProducer ? sides.producer[a] : sides.consumer[a];
  case Op::Variable:
    return variables[a];
  case Op::Exists:
    return exists(from, from[node], b, sides);
  case Op::And:
    return valueOf(from, a, sides) != 0 && valueOf(from, b, sides) != 0;
  case Op::Or:
    return valueOf(from, a, sides) != 0 || valueOf(from, b, sides) != 0;
  default:
    return combined(op, valueOf(from, a, sides), valueOf(from, b, sides));
  }
}

/// Tries the values of a variable and of those after it.
bool PointText::exists(std::span<const Node> from, const Node &node, uint32_t variable,
                       const Sides &sides) {
  constexpr uint64_t mostValues = uint64_t{1} << 22;
  if (variable == node.b + static_cast<uint32_t>(node.value)) {
    return valueOf(from, node.a, sides) != 0;
  }
  const int64_t end = valueOf(from, ends[variable], sides);
  for (int64_t value = 0; value < end && !isTooLarge; ++value) {
    variables[variable] = value;
    isTooLarge |= ++numValues > mostValues;
    if (exists(from, node, variable + 1, sides)) {
      return true;
    }
  }
  return false;
}

int64_t PointText::combined(Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
  case Op::Add:
    isTooLarge |= __builtin_add_overflow(a, b, &result);
    return result;
  case Op::Sub:
    isTooLarge |= __builtin_sub_overflow(a, b, &result);
    return result;
  case Op::Mul:
    isTooLarge |= __builtin_mul_overflow(a, b, &result);
    return result;
  case Op::Mod:
    return a % b < 0 ? a % b + b : a % b;
  case Op::FloorDiv:
    return floorDiv(a, b);
  case Op::Equal:
    return a == b;
  case Op::NotEqual:
    return a != b;
  case Op::Less:
    return a < b;
  case Op::LessEqual:
    return a <= b;
  default:
    return 0; // not of two numbers
  }
}

} // namespace tally::deps
