//===- PointText.h - Conditions of a nest, looked at point by point ---------===//
//
// The texts that isl reads as sets (Distances.h) are also read here, to be looked at one pair of
// runs after the other: numbers, the distances d0, d1, .. and the consumer's iterations c0, c1, ..,
// sums, products, `mod` and `floor`, comparisons, `and`, `or`, and `exists` of variables in ranges
// from 0 on. So where few runs are all there is, they are not described, which nested quotients
// make hard for isl; and what it says is said twice.
//
// What depends on one of the two runs alone is worked out once for each run, not for each pair.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_POINTTEXT_H
#define TALLY_LIB_DEPS_POINTTEXT_H

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tally::deps {

class PointText {
public:
  /// None if something else is in it, such as another coordinate. Empty: it always holds.
  static std::optional<PointText> of(std::string_view text, size_t numLevels);

  /// What the iterations of one run tell.
  std::vector<int64_t> ofRun(bool isProducer, std::span<const int64_t> iterations);

  /// Of two runs.
  bool holds(std::span<const int64_t> ofProducer, std::span<const int64_t> ofConsumer);

  /// Whether some question led to numbers that are too large, or all of them together to too many
  /// values of variables: then no answer counts.
  bool areTooLarge() const { return isTooLarge; }

  /// How many values variables have taken.
  uint64_t numTried() const { return numValues; }

private:
  enum class Op : uint8_t {
    Number,    ///< value
    Iteration, ///< of one side, on level a
    Known,     ///< of one side: number a of what its run tells
    Variable,  ///< number a
    Exists,    ///< values of the variables from b on, `value` of them, for which a holds
    Add,
    Sub,
    Mul,
    Mod,
    FloorDiv,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    And,
    Or,
  };

  struct Node {
    Op op = Op::Number;
    bool isProducer = false;
    uint32_t a = 0;
    uint32_t b = 0;
    int64_t value = 0;
  };

  class Parser;

  /// Of the producer and the consumer.
  struct Sides {
    std::span<const int64_t> producer;
    std::span<const int64_t> consumer;
  };

  void knowSides();
  int64_t valueOf(std::span<const Node> from, uint32_t node, const Sides &sides);
  bool exists(std::span<const Node> from, const Node &node, uint32_t variable, const Sides &sides);
  int64_t combined(Op op, int64_t a, int64_t b);

  std::vector<Node> nodes;       ///< operands before their users
  std::vector<uint32_t> told[2]; ///< by the runs of the consumer, and of the producer
  std::vector<Node> whole;       ///< the nodes, where what runs tell is known
  std::vector<uint32_t> ends;    ///< of the variables: nodes
  std::vector<int64_t> variables;
  uint64_t numValues = 0;
  bool isTooLarge = false;
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_POINTTEXT_H
