//===- BoundsTest.cpp - Which tiles leave their buffers -------------------===//

#include "tally/Deps/Bounds.h"
#include "tally/Model/AccessText.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

using namespace tally;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using B = KernelBuilder;

/// One instruction "use" that reads tiles, inside loops; outermost first.
Kernel kernelOf(
    std::vector<uint64_t> shape, std::vector<std::string> tiles,
    const std::function<void(B &)> &around = [](B &) {}) {
  B b("k");
  QueueId queue = b.queueOf(b.engine("e"));
  BufferId buffer = b.buffer("X", shape);
  around(b);
  b.instr("use", queue);
  for (const std::string &text : tiles) {
    std::string problem;
    std::optional<ParsedAccess> tile = parseAccess(text, problem);
    EXPECT_TRUE(tile) << text << ": " << problem;
    b.access(AccessKind::Read, buffer, toString(*tile));
  }
  while (b.depth() > 0) {
    b.endLoop();
  }
  return b.finish();
}

std::function<void(B &)> loops(std::vector<std::pair<std::string, Trip>> list) {
  return [list](B &b) {
    for (const auto &[name, trip] : list) {
      b.beginLoop(name, trip);
    }
  };
}

/// `1: 5 at A = 3` of a tile that leaves its buffer, by dimension from 1; `?` before it if that is
/// open; `? too hard`.
std::vector<std::string> boundsOf(const Kernel &kernel) {
  std::vector<std::string> texts;
  for (const TileBound &bound : findTileBounds(kernel)) {
    std::string when = iterationText(kernel, bound.first.iteration);
    when += bound.first.also.empty() ? "" : (when.empty() ? "" : ", ") + bound.first.also;
    std::string what = fmt::format("{}: {}{}{}", bound.first.dim + 1, bound.first.index,
                                   when.empty() ? "" : " at ", when);
    texts.push_back(bound.kind == TileBound::Kind::Leaves ? what
                    : bound.kind == TileBound::Kind::Open ? "? " + what
                                                          : "? too hard");
  }
  return texts;
}

std::vector<std::string> constantLoop(const std::string &tile, uint64_t trips, uint64_t extent) {
  return boundsOf(kernelOf({extent}, {tile}, loops({{"A", B::constant(trips)}})));
}

//===----------------------------------------------------------------------===//
// All is known
//===----------------------------------------------------------------------===//

TEST(BoundsTest, constantsStayOrLeave) {
  EXPECT_THAT(boundsOf(kernelOf({4}, {"X[3]", "X[0:4]", "X[1:2:2]", "X[2:2]", "X"})), IsEmpty());
  EXPECT_THAT(boundsOf(kernelOf({4}, {"X[4]", "X[2:4]", "X[0:3:2]", "X[1 - 2]"})),
              ElementsAre("1: 4", "1: 5", "1: 4", "1: -1"));
}

/// The next row is the buffer's own, and yet not of this tile.
TEST(BoundsTest, eachDimensionByItself) {
  EXPECT_THAT(boundsOf(kernelOf({2, 128}, {"X[0, 64:128]", "X[2, 127:2]", "X[1, 0:128]"})),
              ElementsAre("2: 191", "1: 2", "2: 128"));
}

TEST(BoundsTest, theFirstIterationThatLeavesIsTold) {
  EXPECT_THAT(constantLoop("X[A]", 4, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[A]", 6, 4), ElementsAre("1: 4 at A = 4"));
  EXPECT_THAT(constantLoop("X[A - 1]", 4, 4), ElementsAre("1: -1 at A = 0"));
  EXPECT_THAT(constantLoop("X[2*A:2]", 4, 7), ElementsAre("1: 7 at A = 3"));
  EXPECT_THAT(constantLoop("X[3 - A]", 5, 4), ElementsAre("1: -1 at A = 4"));
}

TEST(BoundsTest, modAndFloordivAreUnderstood) {
  EXPECT_THAT(constantLoop("X[A mod 4]", 100, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[A mod 5]", 100, 4), ElementsAre("1: 4 at A = 4"));
  EXPECT_THAT(constantLoop("X[A mod 5]", 4, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[A floordiv 25]", 100, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[A floordiv 24]", 100, 4), ElementsAre("1: 4 at A = 96"));
  EXPECT_THAT(constantLoop("X[(0 - A) mod 4]", 100, 4), IsEmpty());
}

/// Intervals would say no to each of these.
TEST(BoundsTest, termsThatHangTogetherAreSeenTogether) {
  EXPECT_THAT(constantLoop("X[A - A]", 100, 1), IsEmpty());
  EXPECT_THAT(constantLoop("X[A - 4*(A floordiv 4)]", 100, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[A:100 - A]", 100, 100), IsEmpty());
  EXPECT_THAT(constantLoop("X[A:101 - A]", 100, 100), ElementsAre("1: 100 at A = 0"));
}

TEST(BoundsTest, guardsCount) {
  EXPECT_THAT(constantLoop("X[A + 1] if A < trips(A) - 1", 4, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[A + 1] if A <= trips(A) - 1", 4, 4), ElementsAre("1: 4 at A = 3"));
  EXPECT_THAT(constantLoop("X[A - 1] if A != 0", 4, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[A] if A >= 4 and A < 4", 9, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[A] if A mod 2 == 0 and A < 6", 9, 4), ElementsAre("1: 4 at A = 4"));
}

/// A size of 0, or less, touches nothing.
TEST(BoundsTest, emptyTilesAreNowhere) {
  EXPECT_THAT(constantLoop("X[3 + A:1 - A]", 9, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[9:0 - A]", 9, 4), IsEmpty());
  EXPECT_THAT(constantLoop("X[9:A - 7]", 9, 4), ElementsAre("1: 9 at A = 8"));
}

TEST(BoundsTest, whatNeverRunsLeavesNothing) {
  EXPECT_THAT(constantLoop("X[9]", 0, 4), IsEmpty());
  EXPECT_THAT(boundsOf(kernelOf({4}, {"X[9]"}, [](B &b) { b.beginLoop("A", b.value("n", 0, 0)); })),
              IsEmpty());
}

TEST(BoundsTest, tripsWithinTheirBounds) {
  auto bounded = [](std::string tile) {
    return boundsOf(kernelOf({4}, {tile}, [](B &b) { b.beginLoop("A", b.value("n", 2, 4)); }));
  };
  EXPECT_THAT(bounded("X[A]"), IsEmpty());
  EXPECT_THAT(bounded("X[trips(A)]"), ElementsAre("1: 4 at A = 0, trips(A) = 4"));
  EXPECT_THAT(bounded("X[trips(A) - 1 - A]"), IsEmpty());
  EXPECT_THAT(bounded("X[trips(A) - 3]"), ElementsAre("1: -1 at A = 0, trips(A) = 2"));
}

TEST(BoundsTest, totalsGrowOverTheWholeRun) {
  auto nest = [](std::string tile, uint64_t extent) {
    return boundsOf(kernelOf({extent}, {tile}, [](B &b) {
      b.beginLoop("A", B::constant(3));
      b.beginLoop("B", b.value("n", 1, 4));
    }));
  };
  EXPECT_THAT(nest("X[total(B)]", 12), IsEmpty());
  EXPECT_THAT(nest("X[total(B)]", 11), ElementsAre("1: 11 at A = 2, B = 3, total(B) = 11"));
  EXPECT_THAT(nest("X[total(B) - A]", 12), IsEmpty()); // at least one entry each time
  EXPECT_THAT(nest("X[total(B) - 2*A]", 12), ElementsAre("1: -1 at A = 1, B = 0, total(B) = 1"));
  EXPECT_THAT(nest("X[total(A)]", 3), IsEmpty());
}

TEST(BoundsTest, branchesAreTakenOrNot) {
  auto under = [](std::string tile, uint64_t extent) {
    B b("k");
    QueueId queue = b.queueOf(b.engine("e"));
    BufferId buffer = b.buffer("X", std::vector<uint64_t>{extent});
    b.beginLoop("A", B::constant(4));
    b.beginIf("c");
    b.instr("use", queue);
    b.access(AccessKind::Read, buffer, tile);
    b.endIf();
    b.endLoop();
    return boundsOf(b.finish());
  };
  EXPECT_THAT(under("X[total(c)]", 4), IsEmpty());
  EXPECT_THAT(under("X[total(c)]", 3), ElementsAre("1: 3 at A = 3, total(c) = 3"));
  EXPECT_THAT(under("X[A - total(c)]", 4), IsEmpty());
}

/// Nothing here grows with the numbers.
TEST(BoundsTest, hugeNumbersCostNothing) {
  constexpr uint64_t huge = uint64_t(1) << 62;
  EXPECT_THAT(boundsOf(kernelOf({huge}, {fmt::format("X[0:{}]", huge), fmt::format("X[{}]", huge),
                                         fmt::format("X[{}:2]", huge - 1)})),
              ElementsAre(fmt::format("1: {}", huge), fmt::format("1: {}", huge)));
  EXPECT_THAT(constantLoop("X[1000000*A:1000000]", 2000000000, 2000000000000000), IsEmpty());
  EXPECT_THAT(constantLoop(fmt::format("X[A - {}]", huge), 9, 4),
              ElementsAre(fmt::format("1: -{} at A = 0", huge)));
}

//===----------------------------------------------------------------------===//
// Trips without max, and run-time values
//===----------------------------------------------------------------------===//

std::vector<std::string> anyTrips(const std::string &tile, uint64_t extent, uint64_t min = 0) {
  return boundsOf(kernelOf({extent}, {tile}, [&](B &b) { b.beginLoop("A", b.value("n", min)); }));
}

TEST(BoundsTest, tripsWithoutMaxLeaveItOpen) {
  EXPECT_THAT(anyTrips("X[A]", 4), ElementsAre("? 1: 4 at A = 4"));
  EXPECT_THAT(anyTrips("X[A mod 4]", 4), IsEmpty());
  EXPECT_THAT(anyTrips("X[A] if A < 4", 4), IsEmpty());
  EXPECT_THAT(anyTrips("X[3 - A] if A < 4", 4), IsEmpty());
  EXPECT_THAT(anyTrips("X[A + 1] if A < trips(A) - 1", 4),
              ElementsAre("? 1: 4 at A = 3, trips(A) = 5"));
}

/// However often the loop runs, if it does.
TEST(BoundsTest, whatLeavesAnywayIsNotOpen) {
  EXPECT_THAT(anyTrips("X[A + 4]", 4), ElementsAre("1: 4 at A = 0"));
  EXPECT_THAT(anyTrips("X[A - 1]", 4), ElementsAre("1: -1 at A = 0"));
  EXPECT_THAT(anyTrips("X[A]", 4, 5), ElementsAre("1: 4 at A = 4"));
  EXPECT_THAT(anyTrips("X[A]", 4, 4), ElementsAre("? 1: 4 at A = 4"));
  EXPECT_THAT(anyTrips("X[0 - trips(A)]", 4), ElementsAre("1: -1 at A = 0, trips(A) = 1"));
  EXPECT_THAT(anyTrips("X[trips(A)]", 4, 4), ElementsAre("1: 4 at A = 0, trips(A) = 4"));
  EXPECT_THAT(anyTrips("X[trips(A)]", 4, 3), ElementsAre("? 1: 4 at A = 0, trips(A) = 4"));
}

/// The trips of all earlier entries are open; those of the loop around are not.
TEST(BoundsTest, totalsOverTripsWithoutMax) {
  auto nest = [](std::string tile) {
    return boundsOf(kernelOf({4}, {tile}, [](B &b) {
      b.beginLoop("A", B::constant(3));
      b.beginLoop("B", b.value("n"));
    }));
  };
  EXPECT_THAT(nest("X[total(B) mod 4]"), IsEmpty());
  EXPECT_THAT(nest("X[total(B)]"), ElementsAre("? 1: 4 at A = 0, B = 4, total(B) = 4"));
  EXPECT_THAT(nest("X[total(B) + 4]"), ElementsAre("1: 4 at A = 0, B = 0, total(B) = 0"));
  EXPECT_THAT(nest("X[total(B) - A]"), ElementsAre("? 1: 4 at A = 0, B = 4, total(B) = 4"));
}

TEST(BoundsTest, whileLoopsRunAsOftenAsTheyLike) {
  auto around = [](B &b) { b.beginLoop("A", b.guard("more")); };
  EXPECT_THAT(boundsOf(kernelOf({4}, {"X[A]"}, around)), ElementsAre("? 1: 4 at A = 4"));
  EXPECT_THAT(boundsOf(kernelOf({4}, {"X[A mod 4]", "X[0]"}, around)), IsEmpty());
}

TEST(BoundsTest, runTimeValues) {
  auto of = [](std::string tile) { return boundsOf(kernelOf({8}, {tile})); };
  EXPECT_THAT(of("X[$n]"), ElementsAre("? 1: 8 at $n = 8"));
  EXPECT_THAT(of("X[$n mod 8]"), IsEmpty());
  EXPECT_THAT(of("X[$n mod 5:4]"), IsEmpty());
  EXPECT_THAT(of("X[$n mod 6:4]"), ElementsAre("? 1: 8 at $n = 5"));
  EXPECT_THAT(of("X[$n:9]"), ElementsAre("1: 8 at $n = 0"));
  EXPECT_THAT(of("X[0:$n]"), ElementsAre("? 1: 8 at $n = 9"));
  EXPECT_THAT(of("X[8:$n]"), ElementsAre("1: 8 at $n = 1")); // a size is at least 1
  EXPECT_THAT(of("X[$n] if $n >= 0 and $n < 8"), IsEmpty());
  EXPECT_THAT(of("X[9] if $n == 3"), ElementsAre("? 1: 9 at $n = 3"));
  EXPECT_THAT(of("X[@]"), IsEmpty());
}

/// One iteration or the other leaves, whatever the value.
TEST(BoundsTest, runTimeValuesOverManyIterations) {
  auto of = [](std::string tile, Trip trips) {
    return boundsOf(kernelOf({4}, {tile}, [&](B &b) { b.beginLoop("A", trips); }));
  };
  EXPECT_THAT(of("X[$n + A]", B::constant(4)), ElementsAre("? 1: 4 at A = 0, $n = 4"));
  EXPECT_THAT(of("X[$n + A]", B::constant(5)), ElementsAre("1: 4 at A = 4, $n = 0"));
  EXPECT_THAT(of("X[A - $n]", B::constant(5)), ElementsAre("1: 4 at A = 4, $n = 0"));
  EXPECT_THAT(of("X[2 * $n - A]", B::constant(5)), ElementsAre("1: -1 at A = 1, $n = 0"));
  EXPECT_THAT(of("X[$n + A] if $n == 3", B::constant(5)), ElementsAre("? 1: 4 at A = 1, $n = 3"));
}

TEST(BoundsTest, boundTripsAreKnown) {
  Kernel kernel = kernelOf({4}, {"X[A]", "X[$n]"}, [](B &b) { b.beginLoop("A", b.value("n")); });
  Bindings bindings(kernel);
  EXPECT_EQ(findTileBounds(kernel, bindings).size(), 1u); // A runs twice
  bindings.set(LoopId(1), {4, 0, 5});
  std::vector<TileBound> bounds = findTileBounds(kernel, bindings);
  ASSERT_EQ(bounds.size(), 2u);
  EXPECT_EQ(bounds[0].kind, TileBound::Kind::Leaves);
  EXPECT_EQ(bounds[1].kind, TileBound::Kind::Open);
}

/// What is not found out is no yes. Each `!=` doubles the work.
TEST(BoundsTest, tooHardIsNotInside) {
  std::string guards = "A != 100";
  EXPECT_THAT(constantLoop("X[A] if " + guards, 9, 4), ElementsAre("1: 4 at A = 4"));
  for (int prime : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71}) {
    guards += fmt::format(" and A mod {} != 0", prime);
  }
  EXPECT_THAT(constantLoop("X[A] if " + guards, 9, 4), ElementsAre("? too hard"));
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string messagesOf(const Kernel &kernel) {
  Diagnostics diagnostics;
  checkTiles(kernel, diagnostics);
  return render(diagnostics, {});
}

TEST(BoundsTest, errorsSayTheWayOut) {
  EXPECT_EQ(
      messagesOf(kernelOf({2, 8}, {"X[A, 0:8]"}, loops({{"A", B::constant(4)}}))),
      "error: 'use' reads 'X[A, 0:8]' beyond the end of buffer 'X': dimension 1 of 2 has 2 "
      "elements, and index 2 is reached at A = 2; did you mean the ring 'X[A mod 2, 0:8]'?\n");
  EXPECT_EQ(messagesOf(kernelOf({2, 128}, {"X[0, 64:128]"})),
            "error: 'use' reads 'X[0, 64:128]' beyond the end of buffer 'X': dimension 2 of 2 has "
            "128 elements, and index 191 is reached; '64:128' is 128 elements from 64 on: those "
            "before 128 are '64:64'\n");
  EXPECT_EQ(
      messagesOf(kernelOf({4}, {"X[A - 1:2]"}, loops({{"A", B::constant(4)}}))),
      "error: 'use' reads 'X[A - 1:2]' beyond the start of buffer 'X': dimension 1 of 1 has 4 "
      "elements, and index -1 is reached at A = 0; 'X[A - 1:2] if A - 1 >= 0' leaves such "
      "runs out\n");
}

TEST(BoundsTest, oneRemarkForAllThatIsOpenForOneReason) {
  Kernel kernel = kernelOf({9}, {"X[A]", "X[A + 1]", "X[A + 2]", "X[$n]"},
                           [](B &b) { b.beginLoop("A", b.value("n")); });
  std::string text = messagesOf(kernel);
  EXPECT_THAT(text, HasSubstr("remark: whether 'X[A]' of 'use' stays within buffer 'X' depends on "
                              "how often 'A' runs: dimension 1 of 1 has 9 elements, and index 9 is "
                              "reached at A = 9, as for 2 more accesses; state 'max 7' for the "
                              "trips of 'A'; until then each run is checked\n"));
  EXPECT_THAT(text,
              HasSubstr("remark: whether 'X[$n]' of 'use' stays within buffer 'X' depends on "
                        "'$n': dimension 1 of 1 has 9 elements, and index 9 is reached at "
                        "A = 0, $n = 9; nothing binds '$n', so it is taken for granted; a 'mod', a "
                        "guard or a constant shows it, or a declaration with 'max'\n"));
}

} // namespace
