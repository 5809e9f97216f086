//===- RandomShapes.cpp - Random kernels of any size ----------------------===//

#include "RandomShapes.h"

#include "Numbers.h"

#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace tally::bench {
namespace {

constexpr std::array<std::string_view, 8> ways = {"slot",    "box",    "ring", "moving",
                                                  "strided", "corner", "all",  "halved"};

class RandomPattern {
public:
  RandomPattern(uint64_t seed, size_t numInstrs)
      : numbers(seed), numInstrs(numInstrs), b("random"), numEngines(1 + numbers.below(6)),
        queuesEach(1 + numbers.below(2)), numBuffers(1 + numbers.below(3) * numbers.below(12)),
        numPlaces(numbers.below(3) == 0 ? std::max<uint64_t>(numInstrs, 1)
                                        : uint64_t(4) << numbers.below(7)),
        depth(numbers.below(4)), perBranch(numbers.below(3) == 0 ? 1 + numbers.below(8) : 0),
        perLoop(numbers.below(3) == 0 ? 8 + numbers.below(100) : 0),
        readsOften(numbers.below(2) == 0) {
    for (uint64_t i = 0, count = 1 + numbers.below(3); i < count; ++i) {
      drawn.push_back(ways[numbers.below(ways.size())]);
    }
  }

  RandomShape make() {
    declare();
    body(depth, numInstrs);
    return {b.finish(), fmt::format("{} engines, {} queues each, {} buffers, {} places, depth {}, "
                                    "{}{}{}: {}",
                                    numEngines, queuesEach, numBuffers, numPlaces, depth,
                                    perBranch == 0 ? "no branches" : "branches of ",
                                    perBranch == 0 ? "" : std::to_string(perBranch),
                                    perLoop == 0 ? "" : fmt::format(", a loop every {}", perLoop),
                                    fmt::join(drawn, " "))};
  }

private:
  void declare() {
    for (uint64_t e = 0; e < numEngines; ++e) {
      EngineId engine = b.engine(fmt::format("e{}", e));
      queues.push_back(b.queueOf(engine));
      for (uint64_t q = 1; q < queuesEach; ++q) {
        queues.push_back(b.queue(fmt::format("e{}.q{}", e, q)));
      }
    }
    const uint64_t flat[] = {1u << 30};
    const uint64_t square[] = {128, 1u << 23};
    for (uint64_t i = 0; i < numBuffers; ++i) {
      lines.push_back(b.buffer(fmt::format("X{}", i), flat));
      squares.push_back(b.buffer(fmt::format("Y{}", i), square));
    }
  }

  /// As many instructions in it; a loop inside has a third of them.
  void body(uint64_t inside, size_t count) {
    size_t inner = inside == 0 ? 0 : count / 3;
    if (loops.size() < depth || depth == 0) {
      some((count - inner) / 2);
    }
    if (inside > 0) {
      begin();
      body(inside - 1, loops.size() == depth ? count - (count - inner) / 2 : inner);
      end();
    }
    some(count - inner - (count - inner) / 2);
  }

  void begin() {
    loops.push_back(fmt::format("L{}", numBodies++));
    b.beginLoop(loops.back(), b.value(fmt::format("n.{}", loops.back())));
  }

  void end() {
    b.endLoop();
    loops.pop_back();
  }

  /// Instructions, some of them in branches and short loops.
  void some(size_t count) {
    for (size_t i = 0; i < count;) {
      if (perLoop != 0 && i % perLoop == 0 && loops.size() < 4) {
        begin();
        i += several(count - i, perLoop / 2);
        end();
      } else if (perBranch != 0 && numbers.below(4) == 0) {
        b.beginIf(fmt::format("c{}", numBodies++));
        i += several(count - i, perBranch);
        if (numbers.below(2) == 0) {
          b.beginElse();
          i += several(count - std::min(i, count), perBranch);
        }
        b.endIf();
      } else {
        i += several(1, 1);
      }
    }
  }

  size_t several(size_t most, size_t wanted) {
    size_t count = std::min(most, wanted);
    for (size_t i = 0; i < count; ++i) {
      instr();
    }
    return std::max<size_t>(count, 1);
  }

  void instr() {
    b.instr(fmt::format("i{}", numSoFar++), queues[numbers.below(queues.size())]);
    for (uint64_t i = 0, count = 1 + numbers.below(2); i < count; ++i) {
      bool reads = numbers.below(readsOften ? 4 : 2) != 0;
      touch(reads ? AccessKind::Read : AccessKind::Write, drawn[numbers.below(drawn.size())]);
    }
  }

  void touch(AccessKind kind, std::string_view way) {
    uint64_t buffer = numbers.below(numBuffers);
    uint64_t place = numbers.below(numPlaces);
    uint64_t size = 1 + numbers.below(16);
    uint64_t length = 2 + numbers.below(4);
    if (way == "corner") {
      b.access(kind, squares[buffer],
               fmt::format("Y{}[{}:{}, {}:{}]", buffer, numbers.below(64), size, place,
                           1 + numbers.below(64)));
      return;
    }
    if (way == "all") {
      b.access(kind, lines[buffer], fmt::format("X{}", buffer));
      return;
    }
    std::string index = fmt::format("{}", place);
    bool canMove = !loops.empty();
    if (way == "box") {
      index = fmt::format("{}:{}", place * 4, size);
    } else if (way == "strided") {
      index = fmt::format("{}:{}:{}", place, size, length);
    } else if (way == "ring" && canMove) {
      index = fmt::format("8 * (({} + {}) mod {}) + {}:8", anyLoop(), 1 + numbers.below(3), length,
                          place * 8);
    } else if (way == "halved" && canMove) {
      index = fmt::format("{} floordiv 2 + {}:2", anyLoop(), place % 4);
    } else if (way == "moving" && canMove) {
      index = fmt::format("16 * {} + {}:{}", anyLoop(), place, size);
    }
    b.access(kind, lines[buffer], fmt::format("X{}[{}]", buffer, index));
  }

  /// Mostly the outermost.
  const std::string &anyLoop() {
    return numbers.below(4) == 0 ? loops[numbers.below(loops.size())] : loops.front();
  }

  Numbers numbers;
  size_t numInstrs;
  KernelBuilder b;
  uint64_t numEngines;
  uint64_t queuesEach;
  uint64_t numBuffers;
  uint64_t numPlaces;
  uint64_t depth;     ///< of loops
  uint64_t perBranch; ///< 0: no branches
  uint64_t perLoop;   ///< a short loop every so many instructions; 0: none
  bool readsOften;
  std::vector<std::string_view> drawn;
  std::vector<QueueId> queues;
  std::vector<BufferId> lines;
  std::vector<BufferId> squares;
  std::vector<std::string> loops; ///< around
  uint64_t numBodies = 0;
  uint64_t numSoFar = 0;
};

} // namespace

RandomShape randomShape(uint64_t seed, size_t numInstrs) {
  return RandomPattern(seed, numInstrs).make();
}

} // namespace tally::bench
