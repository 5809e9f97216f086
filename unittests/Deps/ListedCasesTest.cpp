//===- ListedCasesTest.cpp - Patterns of real kernels, enumerated ---------===//
//
// One kernel for each pattern that extraction has to get right, held to all conflicts of many runs,
// and how many of its dependences are not exact: no distance expresses those.
//
//===----------------------------------------------------------------------===//

#include "HoldToConflicts.h"

#include "tally/Model/AccessText.h"
#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

using namespace tally;
using namespace tally::oracle;

namespace {

/// Engines `load`, `mul` and `store`, each with a queue.
class Writer {
public:
  Writer() {
    for (const char *name : {"load", "mul", "store"}) {
      queues.push_back(b.queueOf(b.engine(name)));
    }
  }

  BufferId buffer(const std::string &name, std::vector<uint64_t> shape, std::string_view type = {},
                  std::optional<uint64_t> address = {}) {
    buffers.emplace_back(name, b.buffer(name, shape, {}, type, address));
    return buffers.back().second;
  }

  void loop(const std::string &name, Trip trip, const std::function<void()> &body) {
    b.beginLoop(name, trip);
    body();
    b.endLoop();
  }

  /// Any number of trips.
  void loop(const std::string &name, const std::function<void()> &body) {
    loop(name, b.value(name + "n"), body);
  }

  void branches(const std::string &name, const std::function<void()> &then,
                const std::function<void()> &otherwise) {
    b.beginIf(name);
    then();
    b.beginElse();
    otherwise();
    b.endIf();
  }

  void op(size_t engine, const std::string &name, const std::vector<std::string> &reads,
          const std::vector<std::string> &writes, const std::vector<std::string> &sums = {}) {
    b.instr(name, queues[engine]);
    touch(AccessKind::Read, reads);
    touch(AccessKind::Write, writes);
    touch(AccessKind::Accumulate, sums);
  }

  KernelBuilder b{"k"};

private:
  void touch(AccessKind kind, const std::vector<std::string> &tiles) {
    for (const std::string &text : tiles) {
      std::string problem;
      std::optional<ParsedAccess> tile = parseAccess(text, problem);
      ASSERT_TRUE(tile) << text << ": " << problem;
      for (const auto &[name, id] : buffers) {
        if (name == tile->buffer) {
          b.access(kind, id, toString(*tile));
        }
      }
    }
  }

  std::vector<QueueId> queues;
  std::vector<std::pair<std::string, BufferId>> buffers;
};

struct ListedCase {
  const char *name;
  size_t numInexact; ///< of those that are found where queues do not overlap
  std::function<void(Writer &)> write;
};

std::ostream &operator<<(std::ostream &out, const ListedCase &listed) {
  return out << listed.name;
}

const ListedCase listedCases[] = {
    {"zeroTripLoops", 0,
     [](Writer &w) {
       w.buffer("X", {8});
       w.op(0, "first", {}, {"X"});
       w.loop("A", [&] {
         w.loop("B", [&] { w.op(1, "use", {"X"}, {}); });
         w.op(0, "load", {}, {"X"});
       });
       w.op(2, "store", {"X"}, {});
     }},
    {"skippedBranches", 0,
     [](Writer &w) {
       w.buffer("X", {2});
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[A mod 2]"});
         w.branches(
             "c", [&] { w.op(1, "use", {"X[A mod 2]"}, {}); },
             [&] { w.op(2, "other", {"X[(A + 1) mod 2]"}, {}); });
       });
     }},
    // The second loop reads from behind: its first run needs the last of the first loop.
    {"readFromBehind", 0,
     [](Writer &w) {
       w.buffer("X", {8});
       w.loop("A", w.b.formula("$n", 0, 8), [&] { w.op(0, "load", {}, {"X[A]"}); });
       w.loop("B", w.b.formula("$n"), [&] { w.op(1, "use", {"X[$n - 1 - B]"}, {}); });
     }},
    {"elementsOfTiedLoops", 0,
     [](Writer &w) {
       w.buffer("X", {16});
       w.loop("A", w.b.formula("$n", 0, 8), [&] { w.op(0, "load", {}, {"X[A + $n]"}); });
       w.loop("B", w.b.formula("$n"), [&] { w.op(1, "use", {"X[$n + B]"}, {}); });
     }},
    {"lastIterationOnly", 0,
     [](Writer &w) {
       w.buffer("X", {1});
       w.loop("A", w.b.formula("$n", 1, 8), [&] { w.op(0, "load", {}, {"X if A == $n - 1"}); });
       w.op(1, "use", {"X"}, {});
     }},
    // Causal attention: the block on the diagonal is the last of its row.
    {"triangle", 1,
     [](Writer &w) {
       w.buffer("K", {8});
       w.buffer("S", {1});
       w.loop("A", w.b.formula("$n", 0, 8), [&] {
         w.op(0, "load", {}, {"K[A]"});
         w.loop("B", w.b.formula("A + 1"), [&] { w.op(1, "dot", {"K[B]"}, {}, {"S"}); });
         w.op(2, "store", {"S"}, {});
       });
     }},
    // Solving a triangular system: each row needs all that were solved before.
    {"triangularSolve", 1,
     [](Writer &w) {
       w.buffer("X", {8});
       w.buffer("S", {1});
       w.loop("A", w.b.formula("$n", 0, 8), [&] {
         w.op(0, "clear", {}, {"S"});
         w.loop("B", w.b.formula("A"), [&] { w.op(1, "sum", {"X[B]"}, {}, {"S"}); });
         w.op(2, "solve", {"S"}, {"X[A]"});
       });
     }},
    // What is left of the row.
    {"shrinking", 2,
     [](Writer &w) {
       w.buffer("X", {8});
       w.loop("A", w.b.formula("$n", 0, 8), [&] { w.op(0, "load", {}, {"X[A]"}); });
       w.loop("I", w.b.formula("$n"), [&] {
         w.loop("J", w.b.formula("$n - I"), [&] { w.op(1, "use", {"X[I + J]"}, {}); });
       });
       w.loop("B", w.b.formula("$n"), [&] { w.op(2, "store", {}, {"X[B]"}); });
     }},
    // The loop that the first slot is loaded for may run no time.
    {"firstAndLastRingPositions", 0,
     [](Writer &w) {
       w.buffer("X", {3});
       w.op(0, "first", {}, {"X[0]"});
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[(A + 1) mod 3]"});
         w.op(1, "use", {"X[A mod 3]"}, {});
       });
     }},
    // Two rings of one instruction, out of step: each by itself is exact.
    {"ringLengthsAndPhasesInOneInstruction", 0,
     [](Writer &w) {
       w.buffer("X", {2});
       w.buffer("Y", {3});
       w.buffer("Z", {4});
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[A mod 2]", "Y[(A + 1) mod 3]"});
         w.op(1, "mul", {"X[A mod 2]", "Y[A mod 3]"}, {"Z[(A + 2) mod 4]"});
         w.op(2, "store", {"Z[A mod 4]"}, {});
       });
     }},
    // A window of three slots that slides over a ring of four.
    {"ringPhasesInOneBuffer", 0,
     [](Writer &w) {
       w.buffer("X", {4});
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[(A + 2) mod 4]"});
         w.op(1, "mul", {"X[A mod 4]", "X[(A + 1) mod 4]", "X[(A + 2) mod 4]"}, {});
       });
     }},
    // Half of the slots are never loaded, and are waited for nevertheless.
    {"ringOfTwoInARingOfFour", 2,
     [](Writer &w) {
       w.buffer("X", {4});
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[A mod 2]"});
         w.op(1, "mul", {"X[A mod 4]"}, {});
       });
     }},
    // The last rounds of the first loop are for the first ones of the second. Back again, slot 2 is
    // waited for, which nobody loads.
    {"ringsOfTwoLoops", 1,
     [](Writer &w) {
       w.buffer("X", {3});
       w.loop("A", [&] {
         w.loop("B", KernelBuilder::constant(6), [&] { w.op(0, "load", {}, {"X[B mod 2]"}); });
         w.loop("C", KernelBuilder::constant(6), [&] { w.op(1, "mul", {"X[C mod 3]"}, {}); });
       });
     }},
    // Nobody knows which slot is loaded last.
    {"ringsOfTwoLoopsOfAnyLength", 1,
     [](Writer &w) {
       w.buffer("X", {2});
       w.loop("B", [&] { w.op(0, "load", {}, {"X[B mod 2]"}); });
       w.loop("C", [&] { w.op(1, "mul", {"X[C mod 2]"}, {}); });
     }},
    // One buffer as a ring of two and of three: how far back the slot was used has a period of six.
    {"ringLengthsInOneBuffer", 2,
     [](Writer &w) {
       w.buffer("X", {3});
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[A mod 2]"});
         w.op(1, "mul", {"X[A mod 3]"}, {});
       });
     }},
    // The same, written out for one period: each pair has a distance.
    {"ringLengthsInOneBufferWrittenOut", 0,
     [](Writer &w) {
       w.buffer("X", {3});
       w.loop("A", [&] {
         for (int i = 0; i < 6; ++i) {
           w.op(0, fmt::format("load{}", i), {}, {fmt::format("X[{}]", i % 2)});
           w.op(1, fmt::format("mul{}", i), {fmt::format("X[{}]", i % 3)}, {});
         }
       });
     }},
    // Three stages, one iteration apart, that idle while the pipeline fills. In the second
    // iteration "load" waits for a "mul" that did nothing, and so on.
    {"skewedPipeline", 3,
     [](Writer &w) {
       w.buffer("X", {8});
       w.buffer("Y", {8});
       w.loop("A", [&] {
         w.op(2, "store", {"Y[A mod 2] if A >= 2"}, {});
         w.op(1, "mul", {"X[(A + 1) mod 2] if A >= 1"}, {"Y[(A + 1) mod 2] if A >= 1"});
         w.op(0, "load", {}, {"X[A mod 2]"});
       });
     }},
    // Its last stages run on when the first have ended, so "mul" waits for loads that load nothing.
    {"skewedPipelineThatDrains", 4,
     [](Writer &w) {
       w.buffer("X", {2});
       w.buffer("Y", {2});
       w.loop("A", w.b.value("n", 3), [&] {
         w.op(0, "load", {}, {"X[A mod 2] if A < trips(A) - 2"});
         w.op(1, "mul", {"X[(A + 1) mod 2] if A >= 1 and A < trips(A) - 1"},
              {"Y[(A + 1) mod 2] if A >= 1 and A < trips(A) - 1"});
         w.op(2, "store", {"Y[A mod 2] if A >= 2"}, {});
       });
     }},
    // The stages are under branches instead.
    {"skewedPipelineOfBranches", 0,
     [](Writer &w) {
       w.buffer("X", {2});
       w.loop("A", [&] {
         w.branches("fills", [&] { w.op(0, "load", {}, {"X[A mod 2]"}); }, [] {});
         w.branches("drains", [&] { w.op(1, "mul", {"X[(A + 1) mod 2]"}, {}); }, [] {});
       });
     }},
    // A sum starts in the first iteration and is stored in the last, where alone the store needs
    // it.
    {"sumThatStartsAndEnds", 1,
     [](Writer &w) {
       w.buffer("S", {1});
       w.loop("A", [&] {
         w.loop("K", [&] {
           w.op(1, "mul", {}, {"S if K == 0"}, {"S if K != 0"});
           w.op(2, "store", {"S if K == trips(K) - 1"}, {});
         });
       });
     }},
    // A triangle: row A has A elements, the first of them none, and then nothing is read.
    {"tilesThatGrowFromNothing", 1,
     [](Writer &w) {
       w.buffer("X", {8});
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[0:A]"});
         w.op(1, "mul", {"X"}, {});
       });
     }},
    // The last tile is shorter, by a run-time value; it begins behind the others.
    {"tileOfUnknownSize", 0,
     [](Writer &w) {
       w.buffer("X", {32});
       w.loop("A", [&] { w.op(0, "load", {}, {"X[0:16]"}); });
       w.op(1, "mul", {"X[16:$rest]"}, {});
       w.op(2, "store", {"X[0:4]"}, {});
     }},
    // The first product starts the sum and others add to it: together, each is needed.
    {"sumOfTwoAccesses", 0,
     [](Writer &w) {
       w.buffer("S", {2});
       w.loop("A", [&] {
         w.loop("K", w.b.value("Kn", 1),
                [&] { w.op(1, "mul", {}, {"S[A mod 2] if K == 0"}, {"S[A mod 2] if K != 0"}); });
         w.op(2, "store", {"S[A mod 2]"}, {});
       });
     }},
    // What the first access needs now and then, the second needs always.
    {"ringsOfOneInstruction", 1,
     [](Writer &w) {
       w.buffer("X", {3});
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[A mod 2]"});
         w.op(1, "mul", {"X[A mod 3]", "X[A mod 2]"}, {});
       });
     }},
    {"halos", 0,
     [](Writer &w) {
       w.buffer("X", {32});
       w.loop("B", [&] { w.op(0, "load", {}, {"X[B]"}); });
       w.loop("C", [&] { w.op(1, "mul", {"X[C:3]"}, {}); });
     }},
    // Two elements of the producer for each of the consumer: all of its loop is waited for.
    {"rateRatios", 1,
     [](Writer &w) {
       w.buffer("X", {32});
       w.loop("B", [&] { w.op(0, "load", {}, {"X[B]"}); });
       w.loop("C", [&] { w.op(1, "mul", {"X[2*C:2]"}, {}); });
     }},
    // In one loop the ratio is no matter.
    {"rateRatiosInANest", 0,
     [](Writer &w) {
       w.buffer("X", {4});
       w.loop("A", [&] {
         w.loop("B", KernelBuilder::constant(2), [&] { w.op(0, "load", {}, {"X[B]"}); });
         w.op(1, "mul", {"X[0:2]"}, {});
       });
     }},
    // Two views of the same bytes: rows of 16-bit numbers, and 32-bit numbers.
    {"viewsOfOneMemory", 0,
     [](Writer &w) {
       w.buffer("X", {2, 8}, "i16", 64);
       w.buffer("Y", {8}, "i32", 64);
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[A mod 2, 0:8]"});
         w.op(1, "mul", {"Y[4 * (A mod 2):4]"}, {});
       });
     }},
    // A buffer that begins in the middle of another, and strides over it.
    {"stridesOverAnother", 0,
     [](Writer &w) {
       w.buffer("X", {6, 4}, "i8", 0);
       w.buffer("Y", {8}, "i16", 10);
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[0:6, 2]"});
         w.op(1, "mul", {"Y[0:4:2]"}, {});
         w.op(2, "store", {}, {"Y[1:3:2]"});
       });
     }},
    // An alias takes nothing from what is known of the two others: Y and Z have no byte in common.
    {"aliasOfOneOfThree", 1,
     [](Writer &w) {
       BufferId x = w.buffer("X", {4}, "i8", 100);
       BufferId y = w.buffer("Y", {6}, "i8", 0);
       w.buffer("Z", {6}, "i8", 3);
       w.b.alias(y, x);
       w.op(0, "load", {}, {"Y[0:3]"});
       w.op(1, "mul", {"Z[0:3]"}, {});
       w.op(2, "store", {"X"}, {});
     }},
    {"aliasNobodyKnows", 2,
     [](Writer &w) {
       BufferId x = w.buffer("X", {2});
       BufferId y = w.buffer("Y", {2});
       w.b.alias(y, x);
       w.loop("A", [&] {
         w.op(0, "load", {}, {"X[A mod 2]"});
         w.op(1, "mul", {"Y[A mod 2]"}, {});
       });
     }},
};

class ListedCasesTest : public testing::TestWithParam<ListedCase> {};

TEST_P(ListedCasesTest, holdsToAllConflicts) {
  Writer writer;
  GetParam().write(writer);
  Kernel kernel = writer.b.finish();
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {});
  Extractor extractor;
  for (bool queueOverlap : {false, true}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      Held held;
      std::string failure = holdToConflicts(kernel, seed, {queueOverlap}, extractor, held);
      ASSERT_TRUE(failure.empty()) << "seed " << seed << ": " << failure;
      EXPECT_GT(held.deps, 0U);
      if (!queueOverlap) {
        EXPECT_EQ(held.excess, GetParam().numInexact);
      }
    }
  }
  EXPECT_EQ(extractor.numUndecided(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Patterns, ListedCasesTest, testing::ValuesIn(listedCases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
