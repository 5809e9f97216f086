//===- WrittenCodeTest.cpp - The race check on code as people write it ----===//
//
// Random code whose semaphores are raised by engines and queues in every way (RandomCode.h) is run
// in all schedules. Where the race check decides, its answer must be what these show. It is a race
// if two instructions that touch the same memory are in flight at once, or one is issued before
// another that the kernel has first. It is a deadlock if nothing can go on; and if neither, the
// same memory at the end of all.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "MustOrder.h"
#include "RandomCode.h"
#include "oracle/AllSchedules.h"

#include "tally/Check/Race.h"
#include "tally/Code/Listing.h"
#include "tally/Written/KernelJson.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

using namespace tally;
using namespace tally::fuzz;
using namespace tally::oracle;

namespace {

struct Counts {
  int compared = 0, byClocks = 0, byHolding = 0, open = 0, tooLarge = 0;
  int openRight = 0;
  int right = 0, racing = 0, reversed = 0, deadlocked = 0, memories = 0;
};

std::string contextOf(uint64_t seed, const RandomCode &program, const RaceResult &result) {
  return fmt::format("seed {}, trips {}, guards {}, overlap {}\n{}\n{}\n{}", seed, program.trips,
                     program.guards, program.machine.queueOverlap, writeKernelJson(program.kernel),
                     listing(program.kernel, program.code), render(result, {}));
}

class WrittenCodeTest : public testing::Test {
protected:
  static constexpr uint32_t inFlight = 16;

  void compare(uint64_t seed, const RandomCode &program) {
    Bindings bindings = program.bindings();
    Datapath datapath(program.kernel, bindings);
    ImplSystem system(program.kernel, program.code, program.machine, bindings,
                      {inFlight, 10000, nullptr});
    AllSchedules all(system, bindings, datapath, 4000);
    if (!all.complete) {
      ++counts.tooLarge;
      return;
    }
    RaceOptions options;
    options.schedules = 20;
    options.inFlight = inFlight;
    options.maxReports = 1000;
    RaceResult result =
        checkRaces(program.kernel, program.code, program.machine, bindings, options);
    ++counts.compared;
    ++(result.heldBack ? counts.byHolding : result.oneDecides ? counts.byClocks : counts.open);
    bool isRacing = !all.racing.empty() || !all.reversed.empty();
    counts.racing += isRacing;
    counts.reversed += all.racing.empty() && isRacing;
    counts.deadlocked += all.deadlock;
    bool isRight = !isRacing && !all.deadlock;
    counts.right += isRight;
    counts.openRight += !result.oneDecides && isRight;
    if (result.oneDecides) {
      // What never comes, because all is stuck, is no race of what came.
      if (!all.deadlock || !all.racing.empty() || !isRacing) {
        ASSERT_EQ(has(result, ReportKind::Race), isRacing) << contextOf(seed, program, result);
      }
      ASSERT_EQ(has(result, ReportKind::Deadlock), all.deadlock)
          << contextOf(seed, program, result);
      ASSERT_EQ(result.verdict == Verdict::Yes, isRight) << contextOf(seed, program, result);
    } else {
      ASSERT_NE(result.verdict, Verdict::Yes) << contextOf(seed, program, result);
      ASSERT_TRUE(result.verdict == Verdict::Undecided || !isRight || hasWrap(result))
          << contextOf(seed, program, result);
    }
    if (result.verdict == Verdict::Yes && seed % 16 == 0) {
      compareMemory(seed, program, result, bindings);
    }
    expectShown(seed, program, result, system);
  }

  /// The schedule of a race ends with both instructions in flight, or with the second one alone;
  /// that of a deadlock stuck.
  void expectShown(uint64_t seed, const RandomCode &program, const RaceResult &result,
                   const ImplSystem &system) {
    for (const RaceReport &report : result.reports) {
      ImplState state = system.initial();
      for (const Step &step : report.steps) {
        ASSERT_TRUE(system.isEnabled(state, step)) << contextOf(seed, program, result);
        system.apply(state, step);
      }
      if (report.kind == ReportKind::Race && report.text.severity == Severity::Error) {
        ASSERT_TRUE(areInFlight(system, state, report)) << contextOf(seed, program, result);
      }
      if (report.kind == ReportKind::Deadlock) {
        std::vector<Step> steps;
        system.enabled(state, steps);
        ASSERT_TRUE(steps.empty() && !system.finished(state)) << contextOf(seed, program, result);
      }
    }
  }

  static std::string factOf(const RaceReport &report, std::string_view key) {
    for (const auto &[name, value] : report.facts) {
      if (name == key) {
        return value;
      }
    }
    return {};
  }

  static bool areInFlight(const ImplSystem &system, const ImplState &state,
                          const RaceReport &report) {
    std::multiset<std::string> flight;
    for (QueueId queue : system.kernelOf().queues.ids()) {
      for (uint32_t n = state.queues[queue].retired; n < state.queues[queue].issued; ++n) {
        flight.emplace(system.kernelOf().nameOf(system.instanceAt(queue, n).instr));
      }
    }
    std::string first = factOf(report, "first"), second = factOf(report, "second");
    if (!factOf(report, "reversed").empty()) {
      return flight.contains(second);
    }
    return flight.count(first) >= (first == second ? 2 : 1) && flight.contains(second);
  }

  void compareMemory(uint64_t seed, const RandomCode &program, const RaceResult &result,
                     const Bindings &bindings) {
    Datapath datapath(program.kernel, bindings);
    ImplSystem system(program.kernel, program.code, program.machine, bindings,
                      {inFlight, 10000, &datapath});
    AllSchedules all(system, bindings, datapath, 20000);
    if (all.complete) {
      ++counts.memories;
      ASSERT_EQ(all.memories.size(), 1u) << contextOf(seed, program, result);
    }
  }

  static bool has(const RaceResult &result, ReportKind kind) {
    return std::any_of(result.reports.begin(), result.reports.end(),
                       [&](const RaceReport &report) { return report.kind == kind; });
  }

  static bool hasWrap(const RaceResult &result) { return has(result, ReportKind::Wrap); }

  void run(uint64_t count, const RandomCodeOptions &options) {
    for (uint64_t seed = 0; seed < count && !HasFatalFailure(); ++seed) {
      RandomCode program = randomCode(seed, options);
      Diagnostics diagnostics;
      verifyCode(program.kernel, program.code, diagnostics, true);
      ASSERT_FALSE(diagnostics.hasErrors()) << "seed " << seed << render(diagnostics, {});
      compare(seed, program);
    }
    fmt::print("{} compared: {} right, {} racing ({} by order alone), {} stuck; decided by one "
               "schedule {}, by holding "
               "back {}, open {} (of them right: {}); {} with memory, {} too large\n",
               counts.compared, counts.right, counts.racing, counts.reversed, counts.deadlocked,
               counts.byClocks, counts.byHolding, counts.open, counts.openRight, counts.memories,
               counts.tooLarge);
  }

  Counts counts;
};

} // namespace

TEST_F(WrittenCodeTest, withoutResets) {
  RandomCodeOptions options;
  options.flagPercent = 0;
  run(test::numKernels(2'000, 12'000), options);
  EXPECT_EQ(counts.open, 0) << "without resets every schedule ends alike";
}

TEST_F(WrittenCodeTest, withResets) {
  RandomCodeOptions options;
  options.flagPercent = 40;
  options.sharePercent = 5;
  run(test::numKernels(1'200, 6'000), options);
}
