//===- ChoicesTest.cpp - Which runs of a kernel are tried -----------------===//
//
// Two accesses meet in few runs: of each random kernel one such run is drawn first, and then guards
// that hold there. In nearly all of them some run that is chosen has both, by the walk of
// Datapath.h; those that are always chosen alone have few of them.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Choices.h"
#include "tally/Check/Datapath.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>

using namespace tally;

namespace {

/// for A { for B { P writes; C reads } }, in branches if there are any.
Kernel nest(const std::string &written, const std::string &read, uint32_t numBranches = 0,
            uint64_t mostOfA = 1000) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
  BufferId x = b.buffer("X", {std::vector<uint64_t>{100'000}});
  b.beginLoop("A", b.value("n", 0, mostOfA));
  b.beginLoop("B", b.value("m", 0, 1000));
  for (uint32_t i = 0; i < numBranches; ++i) {
    b.beginIf(fmt::format("c{}", i));
  }
  b.instr("P", b.queueOf(e0));
  b.access(AccessKind::Write, x, written);
  b.instr("C", b.queueOf(e1));
  b.access(AccessKind::Read, x, read);
  for (uint32_t i = 0; i < numBranches; ++i) {
    b.endIf();
  }
  b.endLoop();
  b.endLoop();
  return b.finish();
}

std::vector<RunChoice> runsOf(const Kernel &kernel) {
  return chooseRuns(kernel, kernel, genericMachine());
}

bool isTouchedByBoth(const Kernel &kernel, const RunChoice &choice) {
  Datapath datapath(kernel, choice.bindings);
  return datapath.isTouched(AccessId(0)) && datapath.isTouched(AccessId(1));
}

/// Options of the first rare run that has both.
std::string rareOf(const Kernel &kernel) {
  for (const RunChoice &choice : runsOf(kernel)) {
    if (isTouchedByBoth(kernel, choice)) {
      return choice.isRare ? fmt::format("{}", fmt::join(choice.options, " ")) : "usual";
    }
  }
  return "none";
}

/// A place of two runs in two loops, and guards that hold there.
class Planted {
public:
  explicit Planted(uint64_t seed) : random(seed) {
    trips = {draw(60) + 1, draw(20) + 1};
    for (auto &at : places) {
      at = {draw(trips[0]), draw(trips[1])};
    }
  }

  Kernel kernel() { return nest("X[0]" + guards(places[0]), "X[0]" + guards(places[1])); }

private:
  using Place = std::array<int64_t, 2>;

  int64_t draw(int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  }

  std::string guards(const Place &at) {
    std::string first = guard(at);
    return draw(2) == 0 ? " if " + first : fmt::format(" if {} and {}", first, guard(at));
  }

  std::string guard(const Place &at) {
    auto l = static_cast<size_t>(draw(2));
    const char *name = l == 0 ? "A" : "B";
    int64_t factor = draw(4) + 1, modulus = draw(20) + 2;
    switch (draw(8)) {
    case 0:
      return fmt::format("{} == {}", name, at[l]);
    case 1:
      return fmt::format("{} mod {} == {}", name, modulus, at[l] % modulus);
    case 2:
      return fmt::format("trips({}) == {}", name, trips[l]);
    case 3:
      return fmt::format("trips({}) mod {} == {}", name, modulus, trips[l] % modulus);
    case 4:
      return fmt::format("A + {} == {}*B + {}", factor * at[1], factor, at[0]);
    case 5:
      return fmt::format("{} == trips({}) - {}", name, name, trips[l] - at[l]);
    case 6:
      return fmt::format("{} floordiv {} >= {}", name, modulus, at[l] / modulus);
    default:
      return fmt::format("total(B) == {}", at[0] * trips[1] + at[1]);
    }
  }

  std::mt19937_64 random;
  std::array<int64_t, 2> trips;
  std::array<Place, 2> places;
};

} // namespace

TEST(ChoicesTest, meetsWhereNumbersSay) {
  EXPECT_EQ(rareOf(nest("X[A]", "X[A]")), "usual");
  EXPECT_EQ(rareOf(nest("X[0] if A == 37", "X[0]")), "A=38 B=2");
  EXPECT_EQ(rareOf(nest("X[0] if trips(B) == 50", "X[0] if trips(B) > 47")), "A=1 B=50");
  EXPECT_EQ(rareOf(nest("X[0] if A == 3*B and B == 12", "X[0] if A == 36 and B == 13")),
            "A=37 B=14");
  EXPECT_EQ(rareOf(nest("X[0] if trips(A) mod 7 == 6", "X[0] if trips(A) mod 5 == 4")), "A=34 B=1");
  EXPECT_EQ(rareOf(nest("X[0] if A == 2000", "X[0]")), "none") << "beyond the bound of A";
  EXPECT_EQ(rareOf(nest("X[0]", "X[0]", 12)),
            "A=1 B=2 c0=1 c1=1 c2=1 c3=1 c4=1 c5=1 c6=1 c7=1 c8=1 c9=1 c10=1 c11=1");
}

/// Where tiles lie counts, too: no run of the usual ones comes so far.
TEST(ChoicesTest, meetsWhereTilesAre) {
  Kernel kernel = nest("X[A]", "X[900:10] if B == 6");
  bool isFound = false;
  for (const RunChoice &choice : runsOf(kernel)) {
    isFound |= choice.options == std::vector<std::string>{"A=901", "B=7"};
  }
  EXPECT_TRUE(isFound);
}

TEST(ChoicesTest, saysWhatNeverHappens) {
  Kernel kernel = nest("X[0] if A == 2000", "X[0] if A + B == 1990");
  EXPECT_TRUE(mayTouch(kernel, AccessId(1)));
  EXPECT_TRUE(mayTouch(kernel, AccessId(0))) << "beyond what is tried";
  Kernel bounded = nest("X[0] if A == 7 and A > 2", "X[0] if A < trips(A) - 3", 0, 5);
  EXPECT_FALSE(mayTouch(bounded, AccessId(0)));
  EXPECT_TRUE(mayTouch(bounded, AccessId(1)));
  TouchText text = touchText(kernel, AccessId(1));
  EXPECT_EQ(text.tile + " | " + text.needs, "X[0] | A + B == 1990");
  EXPECT_EQ(touchText(nest("X[A]", "X[B]"), AccessId(1)).needs, "");
  EXPECT_EQ(whenRuns(nest("X", "X", 1), InstrId(0)),
            "loop 'A' entered, loop 'B' entered, branch 'c0' taken");
}

TEST(ChoicesTest, findsRunsThatWereDrawn) {
  constexpr uint64_t numKernels = 400;
  uint64_t numFound = 0, numUsual = 0;
  for (uint64_t seed = 0; seed < numKernels; ++seed) {
    Kernel kernel = Planted(seed).kernel();
    std::string found = rareOf(kernel);
    numFound += found != "none";
    numUsual += found == "usual";
  }
  fmt::print("{} of {} kernels, {} of them by usual runs\n", numFound, numKernels, numUsual);
  EXPECT_GE(numFound * 100, numKernels * 90);
  EXPECT_LE(numUsual * 100, numKernels * 40);
}
