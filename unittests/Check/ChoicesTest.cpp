//===- ChoicesTest.cpp - Which runs of a kernel are tried -----------------===//
//
// Two accesses meet in few runs: of each random kernel one such run is drawn first, and then tiles
// and guards that meet there. In all of them some run that is chosen brings the two together, by
// enumeration (Meetings.h); those that are always chosen alone have few of them. That two never
// meet is held to the enumeration of many runs.
//
//===----------------------------------------------------------------------===//

#include "tally/Check/Choices.h"
#include "tally/Check/Datapath.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

#include "Counts.h"
#include "Meetings.h"

using namespace tally;
using namespace tally::check;

namespace {

/// for A { for B { P writes; C reads } }, in branches if there are any.
Kernel nest(const std::string &written, const std::string &read, uint32_t numBranches = 0,
            uint64_t mostOfA = 1000, uint64_t mostOfB = 1000) {
  KernelBuilder b("k");
  EngineId e0 = b.engine("e0"), e1 = b.engine("e1");
  BufferId x = b.buffer("X", {std::vector<uint64_t>{100'000}});
  b.beginLoop("A", b.value("n", 0, mostOfA));
  b.beginLoop("B", b.value("m", 0, mostOfB));
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
  return chooseRuns(kernel, kernel, genericMachine(), nothingGiven(kernel)).runs;
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
  explicit Planted(uint64_t seed, int64_t most = 60) : random(seed) {
    trips = {draw(most) + 1, draw(std::min<int64_t>(most, 20)) + 1};
    for (auto &at : places) {
      at = {draw(trips[0]), draw(trips[1])};
    }
  }

  /// In loops that run at most so often.
  Kernel kernel(uint64_t most = 1000) {
    auto [written, read] = std::pair(index(places[0]), index(places[1]));
    int64_t far = std::max(written.second, read.second);
    auto tile = [&](const std::pair<std::string, int64_t> &index, const Place &at) {
      return fmt::format("X[{} + {}]{}", index.first, far - index.second, guards(at));
    };
    return nest(tile(written, places[0]), tile(read, places[1]), 0, most, most);
  }

private:
  using Place = std::array<int64_t, 2>;

  int64_t draw(int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  }

  /// An index that most runs give other values, and its value at this place.
  std::pair<std::string, int64_t> index(const Place &at) {
    constexpr std::array<int64_t, 6> factors = {1, 1, 2, 3, 16, 33};
    int64_t a = factors[static_cast<size_t>(draw(6))], b = factors[static_cast<size_t>(draw(6))];
    int64_t modulus = draw(60) + 2;
    switch (draw(4)) {
    case 0:
      return {"0", 0};
    case 1:
      return {fmt::format("{}*A", a), a * at[0]};
    case 2:
      return {fmt::format("({}*A + {}*B) mod {}", a, b, modulus),
              (a * at[0] + b * at[1]) % modulus};
    default:
      return {fmt::format("{}*A + {}*B", a, b), a * at[0] + b * at[1]};
    }
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
  EXPECT_EQ(rareOf(nest("X[0]", "X[0]", 12)), "usual") << "all branches are taken in some run";
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

/// Equations between loops: in few iterations of long loops, each with another number of trips.
TEST(ChoicesTest, meetsWhereEquationsHold) {
  auto [runs, apart, leavesOut] = [](const Kernel &kernel) {
    return chooseRuns(kernel, kernel, genericMachine(), nothingGiven(kernel));
  }(nest("X[16*A + 66] if (16*B + 2*A) mod 31 == 12", "X[33*B + A + 2] if A == 11"));
  EXPECT_TRUE(apart.empty());
  EXPECT_FALSE(leavesOut);
  EXPECT_TRUE(runs.back().isRare);
  EXPECT_EQ(rareOf(nest("X[0] if trips(B) == 2", "X[0] if trips(B) == 5 and A == 9")),
            "A=10 B=0,0,0,0,0,0,0,0,2,5");
  EXPECT_EQ(rareOf(nest("X[16*B + 13] if trips(A) == 39", "X[A + 33*B] if trips(B) == 7")),
            "A=39 B=7");
}

TEST(ChoicesTest, saysWhatNeverHappens) {
  auto areApart = [](const Kernel &kernel) {
    return !chooseRuns(kernel, kernel, genericMachine(), nothingGiven(kernel)).apart.empty();
  };
  EXPECT_FALSE(areApart(nest("X[2*A]", "X[2*B + 1]"))) << "never";
  EXPECT_FALSE(areApart(nest("X[0] if A == 2000", "X[0]"))) << "beyond the bound of A";
  EXPECT_TRUE(areApart(nest("X[0] if A == 20000", "X[0]", 0, 30'000))) << "beyond what is tried";
  EXPECT_TRUE(areApart(nest("X[A]", "X[A + 20000]", 0, 30'000)));

  Kernel bounded = nest("X[0] if A == 7 and A > 2", "X[0] if A < trips(A) - 3", 0, 5);
  EXPECT_FALSE(mayMeetAny(bounded, genericMachine(), {InstrId(0), AccessId(0)}));
  Kernel kernel = nest("X[0] if A == 2000", "X[0] if A + B == 1990", 0, 4000);
  EXPECT_TRUE(mayMeetAny(kernel, genericMachine(), {InstrId(1), AccessId(1)}));
  TouchText text = touchText(kernel, AccessId(1));
  EXPECT_EQ(text.tile + " | " + text.needs, "X[0] | A + B == 1990");
  EXPECT_EQ(touchText(nest("X[A]", "X[B]"), AccessId(1)).needs, "");
  EXPECT_EQ(whenRuns(nest("X", "X", 1), InstrId(0)),
            "loop 'A' entered, loop 'B' entered, branch 'c0' taken");
}

TEST(ChoicesTest, findsRunsThatWereDrawn) {
  const uint64_t numKernels = test::numKernels(70, 400);
  const Party p{InstrId(0), AccessId(0)}, c{InstrId(1), AccessId(1)};
  uint64_t numUsual = 0;
  for (uint64_t seed = 0; seed < numKernels; ++seed) {
    Kernel kernel = Planted(seed).kernel();
    auto [runs, apart, leavesOut] =
        chooseRuns(kernel, kernel, genericMachine(), nothingGiven(kernel));
    auto isIn = [&](const RunChoice &choice) {
      Meetings meetings(kernel, choice.bindings);
      return meetings.meet(p, c) || meetings.meet(c, p);
    };
    auto with = std::ranges::find_if(runs, isIn);
    EXPECT_TRUE(with != runs.end()) << "seed " << seed;
    auto textOf = [&](Party party) {
      TouchText text = touchText(kernel, party.access);
      return fmt::format("{} if {}", text.tile, text.needs);
    };
    for (const Apart &pair : apart) {
      ADD_FAILURE() << "seed " << seed << ": " << textOf(pair.first) << ", then "
                    << textOf(pair.second);
    }
    numUsual += with != runs.end() && !with->isRare;
  }
  fmt::print("{} kernels, {} of them by usual runs\n", numKernels, numUsual);
  EXPECT_LE(numUsual * 100, numKernels * 40);
}

/// All runs have what is given, and say so; the others are chosen as before, rare ones too.
TEST(ChoicesTest, holdWhatIsGiven) {
  const Kernel kernel = nest("X[0] if B == 8", "X[0] if B == 8", 2);
  RunChoice given{Bindings(kernel), {"A=5", "c0=1,0"}, 0, false, {}};
  LoopId a(1), first(3), second(5);
  ASSERT_EQ(kernel.nameOf(first), "c0");
  ASSERT_EQ(kernel.nameOf(second), "c1");
  given.bindings.set(a, {5});
  given.bindings.set(first, {1, 0});
  Kernel bounded = kernel;
  given.bindings.narrow(bounded);
  ChosenRuns chosen = chooseRuns(bounded, bounded, genericMachine(), given);
  EXPECT_TRUE(chosen.apart.empty());
  std::set<uint64_t> longest, decisions;
  bool haveMet = false;
  for (const RunChoice &run : chosen.runs) {
    Diagnostics diagnostics;
    Bindings said = Bindings::parse(kernel, run.options, run.guards, diagnostics);
    EXPECT_FALSE(diagnostics.hasErrors()) << fmt::format("{}", fmt::join(run.options, " "));
    for (const Bindings &each : {run.bindings, said}) {
      EXPECT_EQ(each.tripRange(a), std::pair(uint64_t(5), uint64_t(5)));
      EXPECT_EQ(each.trips(EngineId(0), first, 1), 1u);
      EXPECT_EQ(each.trips(EngineId(0), first, 2), 0u);
    }
    longest.insert(run.bindings.tripRange(LoopId(2)).second);
    decisions.insert(run.bindings.trips(EngineId(0), second, 1));
    haveMet |= isTouchedByBoth(kernel, run);
  }
  EXPECT_GE(longest.size(), 5u);
  EXPECT_EQ(decisions.size(), 2u);
  EXPECT_TRUE(haveMet);
}

/// What is given lets two never meet, which is no open question.
TEST(ChoicesTest, whatIsGivenKeepsApart) {
  const Kernel kernel = nest("X[0] if A == 9", "X[0] if A == 9", 1);
  auto apartWith = [&](LoopId loop, uint64_t trips) {
    RunChoice given = nothingGiven(kernel);
    given.bindings.set(loop, {trips});
    Kernel bounded = kernel;
    given.bindings.narrow(bounded);
    ChosenRuns chosen = chooseRuns(bounded, bounded, genericMachine(), given);
    bool isRare =
        std::ranges::any_of(chosen.runs, [](const RunChoice &run) { return !run.meeting.empty(); });
    return std::pair(chosen.apart.size(), isRare);
  };
  EXPECT_EQ(apartWith(LoopId(1), 9), std::pair(size_t(0), false)) << "A never gets to 9";
  EXPECT_EQ(apartWith(LoopId(3), 0), std::pair(size_t(0), false)) << "the branch is never taken";
  EXPECT_EQ(apartWith(LoopId(3), 1), std::pair(size_t(0), true));
}

/// Of small kernels, against what many runs do.
TEST(ChoicesTest, neverIsNever) {
  std::array<uint64_t, 2> numPairs = {};
  uint64_t numUnseen = 0;
  const uint64_t numKernels = test::numKernels(60, 300);
  for (uint64_t seed = 0; seed < numKernels; ++seed) {
    Kernel kernel = Planted(seed, 4).kernel(5);
    EncounterFinder finder(kernel, 1 << 14);
    std::vector<std::unique_ptr<Meetings>> runs;
    std::mt19937_64 random(seed);
    for (uint64_t i = 0; i < 60; ++i) {
      Bindings run(kernel);
      run.set(LoopId(1), {i % 6});
      std::vector<uint64_t> ofB(i < 36 ? 1 : 6, i / 6);
      std::ranges::generate(ofB, [&] { return i < 36 ? i / 6 : random() % 6; });
      run.set(LoopId(2), ofB);
      runs.push_back(std::make_unique<Meetings>(kernel, run));
    }
    for (Party first : {Party{InstrId(0), AccessId(0)}, {InstrId(1), AccessId(1)}}) {
      for (Party second : {Party{InstrId(0), AccessId(0)}, {InstrId(1), AccessId(1)}}) {
        Encounter ignored;
        bool isNever = finder.find(first, second, ignored) == EncounterFinder::Answer::Never;
        bool isSeen =
            std::ranges::any_of(runs, [&](const auto &run) { return run->meet(first, second); });
        EXPECT_FALSE(isNever && isSeen) << "seed " << seed;
        ++numPairs[isNever];
        numUnseen += !isNever && !isSeen;
      }
    }
  }
  fmt::print("{} pairs meet, {} never, {} more in no run that was looked at\n", numPairs[0],
             numPairs[1], numUnseen);
  EXPECT_GE(numPairs[1] * 3, numKernels);
  EXPECT_LE(numUnseen * 15, numKernels);
}
