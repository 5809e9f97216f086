//===- CausesTest.cpp - Reports that are folded, and changes that mend ----===//
//
// Random code with mistakes (RandomCode.h): each error has a cause, each cause one report that is
// not folded. What is folded is gone where the first report of its cause is mended, and nothing is
// wrong where all are: all schedules are walked to see that.
//
//===----------------------------------------------------------------------===//

#include "RandomCode.h"
#include "oracle/AllSchedules.h"

#include "tally/Check/Causes.h"
#include "tally/Code/Listing.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

using namespace tally;
using namespace tally::fuzz;
using namespace tally::oracle;

namespace {

constexpr uint32_t inFlight = 16;
constexpr size_t maxStates = 4000;

/// The reports of one cause.
struct Group {
  const RaceReport *first = nullptr;
  std::vector<const RaceReport *> folded;
};

class CausesTest : public testing::Test {
protected:
  struct Case {
    RandomCode program;
    std::vector<Bindings> choices;
    std::vector<RaceResult> results;
    CausesFound found;
    std::map<uint32_t, Group> groups;
  };

  static RaceOptions raceOptions() {
    RaceOptions options;
    options.schedules = 20;
    options.inFlight = inFlight;
    options.maxReports = 1000;
    return options;
  }

  /// One code, with several trips.
  static Case caseOf(uint64_t seed, const RandomCodeOptions &options, bool mends = true) {
    Case one{randomCode(seed, options), {}, {}, {}, {}};
    for (uint64_t trips : {one.program.trips, one.program.trips + 1}) {
      Bindings bindings = one.program.bindings();
      bindings.set(LoopId(1), {trips});
      one.choices.push_back(bindings);
      one.results.push_back(checkRaces(one.program.kernel, one.program.code, one.program.machine,
                                       one.choices.back(), raceOptions()));
    }
    CauseOptions causes;
    causes.race = raceOptions();
    causes.mends = mends;
    one.found = findCauses(one.program.kernel, one.program.code, one.program.machine, one.choices,
                           one.results, causes);
    return one;
  }

  static std::string contextOf(uint64_t seed, const Case &one) {
    return fmt::format("seed {}\n{}\n{}\nmended:\n{}\n{}{}", seed,
                       writeKernelJson(one.program.kernel),
                       listing(one.program.kernel, one.program.code),
                       listing(one.program.kernel, one.found.mended), render(one.results[0], {}),
                       render(one.results[1], {}));
  }

  static bool isError(const RaceReport &report) { return report.text.severity == Severity::Error; }

  static void expectGroups(uint64_t seed, Case &one) {
    for (const RaceResult &result : one.results) {
      for (const RaceReport &report : result.reports) {
        ASSERT_TRUE(!isError(report) || report.cause != 0) << contextOf(seed, one);
        ASSERT_FALSE(report.isFolded && report.mend) << contextOf(seed, one);
        if (report.cause != 0 && report.isFolded) {
          one.groups[report.cause].folded.push_back(&report);
        } else if (report.cause != 0) {
          ASSERT_EQ(one.groups[report.cause].first, nullptr) << contextOf(seed, one);
          one.groups[report.cause].first = &report;
        }
      }
    }
    ASSERT_EQ(one.groups.size(), one.found.numCauses) << contextOf(seed, one);
    for (const auto &[cause, group] : one.groups) {
      ASSERT_TRUE(group.first && isError(*group.first)) << contextOf(seed, one);
    }
  }

  /// With all mends the code is right; with some, what they were to mend is gone.
  void expectMended(uint64_t seed, const Case &one) {
    std::set<std::string> left;
    for (const Bindings &bindings : one.choices) {
      RaceResult result = checkRaces(one.program.kernel, one.found.mended, one.program.machine,
                                     bindings, raceOptions());
      ASSERT_TRUE(!one.found.allMended || result.verdict == Verdict::Yes)
          << contextOf(seed, one) << render(result, {});
      for (const RaceReport &report : result.reports) {
        left.insert(keyOf(report));
      }
      if (one.found.allMended) {
        expectRight(seed, one, bindings);
      }
    }
    for (const auto &[cause, group] : one.groups) {
      if (!group.first->mend) {
        ++kinds[fmt::format("{} without a mend", toString(group.first->kind))];
        continue;
      }
      ++counts.mends;
      expectNames(seed, one, group.first->mend->text);
      ++kinds[group.first->mend->kind];
      ASSERT_FALSE(left.contains(keyOf(*group.first))) << contextOf(seed, one);
      for (const RaceReport *folded : group.folded) {
        ASSERT_FALSE(left.contains(keyOf(*folded))) << contextOf(seed, one);
      }
    }
  }

  /// Names a reader finds in the code that was given, or is told about.
  void expectNames(uint64_t seed, const Case &one, const std::string &text) {
    const Kernel &kernel = one.program.kernel;
    std::set<std::string> known;
    for (const Semaphore &sema : one.program.code.semaphores) {
      known.insert(fmt::format("'{}'", sema.name));
    }
    for (const EngineProgram &engine : one.program.code.engines) {
      known.insert(fmt::format("'{}'", kernel.nameOf(engine.engine)));
      for (const Register &reg : engine.registers) {
        known.insert(fmt::format("\"{}\"", reg.name));
      }
    }
    for (InstrId instr : kernel.instrs.ids()) {
      known.insert(fmt::format("'{}'", kernel.nameOf(instr)));
    }
    for (LoopId loop : kernel.loops.ids()) {
      known.insert(fmt::format("'{}'", kernel.nameOf(loop)));
    }
    for (size_t at = 0; (at = text.find_first_of("'\"", at)) != std::string::npos;) {
      size_t end = text.find(text[at], at + 1) + 1;
      std::string name = text.substr(at, end - at);
      bool isTold = text.find("where " + name) != std::string::npos ||
                    text.find("new semaphore " + name) != std::string::npos;
      ASSERT_TRUE(known.contains(name) || isTold) << text << "\n" << contextOf(seed, one);
      counts.told += !known.contains(name);
      at = end;
    }
  }

  void expectRight(uint64_t seed, const Case &one, const Bindings &bindings) {
    Datapath datapath(one.program.kernel, bindings);
    ImplSystem system(one.program.kernel, one.found.mended, one.program.machine, bindings,
                      {inFlight, 10000, nullptr});
    AllSchedules all(system, bindings, datapath, maxStates);
    if (all.complete) {
      ++counts.walked;
      ASSERT_TRUE(all.racing.empty()) << contextOf(seed, one);
      ASSERT_FALSE(all.deadlock) << contextOf(seed, one);
    }
  }

  void run(uint64_t count, const RandomCodeOptions &options) {
    for (uint64_t seed = 0; seed < count && !HasFatalFailure(); ++seed) {
      Case one = caseOf(seed, options);
      if (one.found.numCauses == 0) {
        continue;
      }
      expectGroups(seed, one);
      if (!HasFatalFailure()) {
        expectMended(seed, one);
      }
      ++counts.codes;
      counts.causes += one.found.numCauses;
      counts.allMended += one.found.allMended;
      for (const auto &[cause, group] : one.groups) {
        counts.folded += group.folded.size();
      }
    }
    fmt::print("{} codes with mistakes: {} causes, {} mends, {} reports folded; {} mended wholly, "
               "{} runs of these walked\n",
               counts.codes, counts.causes, counts.mends, counts.folded, counts.allMended,
               counts.walked);
    for (const auto &[kind, number] : kinds) {
      fmt::print("  {} {}\n", number, kind);
    }
  }

  /// Without mends: lets the consumer of the first report be issued only when the producer has
  /// retired, and looks whether what is folded still races.
  void expectOrdered(uint64_t seed, const Case &one, const Group &group, const Bindings &bindings) {
    Datapath datapath(one.program.kernel, bindings);
    ImplSystem system(one.program.kernel, one.program.code, one.program.machine, bindings,
                      {inFlight, 10000, nullptr});
    Instance producer{group.first->producer, 0};
    AllSchedules all(system, bindings, datapath, maxStates,
                     [&](const ImplState &state, Instance issued) {
                       return issued.instr != group.first->consumer ||
                              hasRetired(system, datapath, state, producer.instr, issued);
                     });
    for (const RaceReport *folded : group.folded) {
      if (all.complete && folded->kind == ReportKind::Race) {
        ++counts.walked;
        ASSERT_FALSE(all.racingInText.contains({folded->producer.value, folded->consumer.value}))
            << contextOf(seed, one) << one.program.kernel.nameOf(folded->consumer);
      }
    }
  }

  /// All runs of a producer that come before a run of a consumer and conflict with it; all stand in
  /// one loop.
  static bool hasRetired(const ImplSystem &system, const Datapath &datapath, const ImplState &state,
                         InstrId producer, Instance consumer) {
    QueueId queue = system.kernelOf().instrs[producer].queue;
    for (uint32_t n = state.queues[queue].retired; n < system.issuesOf(queue).size(); ++n) {
      Instance run = system.instanceAt(queue, n);
      bool isBefore = run.run < consumer.run ||
                      (run.run == consumer.run && run.instr.value < consumer.instr.value);
      if (run.instr == producer && isBefore && conflict(datapath, run, consumer)) {
        return false;
      }
    }
    return true;
  }

  static bool conflict(const Datapath &datapath, Instance a, Instance b) {
    const Footprint &fa = datapath.footprint(a), &fb = datapath.footprint(b);
    auto writesTo = [](const Footprint &x, const Footprint &y) {
      return std::any_of(x.writes.begin(), x.writes.end(), [&](CellId cell) {
        return std::count(y.writes.begin(), y.writes.end(), cell) +
                   std::count(y.reads.begin(), y.reads.end(), cell) !=
               0;
      });
    };
    return writesTo(fa, fb) || writesTo(fb, fa);
  }

  struct Counts {
    size_t codes = 0, causes = 0, mends = 0, folded = 0, allMended = 0, walked = 0, told = 0;
  };

  Counts counts;
  std::map<std::string, int> kinds;
};

} // namespace

TEST_F(CausesTest, withoutResets) {
  RandomCodeOptions options;
  options.flagPercent = 0;
  run(600, options);
  EXPECT_GT(counts.allMended, counts.codes / 2);
  EXPECT_GT(counts.folded, counts.codes / 4);
  EXPECT_GT(counts.told, 30u);
}

TEST_F(CausesTest, withResets) {
  RandomCodeOptions options;
  options.flagPercent = 40;
  run(200, options);
}

TEST_F(CausesTest, foldedWithoutMend) {
  RandomCodeOptions options;
  options.flagPercent = 0;
  options.branchPercent = 0;
  options.links = {2, 4};
  options.wrongPercent = 12;
  for (uint64_t seed = 0; seed < 200 && !HasFatalFailure(); ++seed) {
    Case one = caseOf(seed, options, /*mends=*/false);
    expectGroups(seed, one);
    for (const auto &[cause, group] : one.groups) {
      for (const Bindings &bindings : one.choices) {
        if (!HasFatalFailure() && !group.folded.empty()) {
          expectOrdered(seed, one, group, bindings);
        }
      }
    }
  }
  fmt::print("{} folded reports walked\n", counts.walked);
  EXPECT_GT(counts.walked, 100u);
}
