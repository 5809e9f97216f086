//===- ScheduleTest.cpp - Schedules as files ------------------------------===//

#include "tally/Check/Schedule.h"

#include "tally/Model/KernelBuilder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tally;
using testing::HasSubstr;

namespace {

ScheduleFile sample() {
  ScheduleFile file;
  file.kernel = {{"a \"b\".mlir"}, {"k"}};
  file.code = PlacedText{"code.mlir"};
  file.strategy = PlacedText{"per-loop"};
  file.options = {{"--no-fold"}};
  file.machine = PlacedText{"generic"};
  file.trips = {{"A=3"}, {"B=1,0"}};
  file.guards = 7;
  file.inFlight = 2;
  file.shows = "race: 'x'";
  for (StepKind kind : {StepKind::Control, StepKind::Issue, StepKind::Commit, StepKind::Deliver,
                        StepKind::Retire, StepKind::Commit, StepKind::Control}) {
    bool indexed = kind == StepKind::Commit || kind == StepKind::Deliver;
    file.steps.push_back({kind, kind == StepKind::Control ? "act" : "q", indexed ? 3u : 0u});
  }
  return file;
}

std::string errorsOf(const std::string &text) {
  Diagnostics diagnostics;
  EXPECT_FALSE(readScheduleFile(text, diagnostics));
  return render(diagnostics, {"w.json"});
}

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

} // namespace

TEST(ScheduleTest, whatIsWrittenIsReadBack) {
  std::string text = writeScheduleFile(sample());
  Diagnostics diagnostics;
  std::optional<ScheduleFile> read = readScheduleFile(text, diagnostics);
  ASSERT_TRUE(read) << render(diagnostics, {});
  EXPECT_EQ(read->steps, sample().steps);
  EXPECT_EQ(writeScheduleFile(*read), text);
  ScheduleFile plain = sample();
  for (std::optional<PlacedText> *each : {&plain.code, &plain.strategy, &plain.machine}) {
    each->reset();
  }
  plain.options = plain.trips = {};
  plain.steps = {};
  std::optional<ScheduleFile> empty = readScheduleFile(writeScheduleFile(plain), diagnostics);
  ASSERT_TRUE(empty);
  EXPECT_FALSE(empty->strategy || empty->code || empty->machine);
}

TEST(ScheduleTest, mistakesAreReported) {
  std::string text = writeScheduleFile(sample());
  EXPECT_THAT(errorsOf(replaced(text, "tally-schedule", "tally-code")), HasSubstr("schema"));
  EXPECT_THAT(errorsOf(replaced(text, "[\"issue\",\"q\"]", "[\"isue\",\"q\"]")),
              HasSubstr("steps[1][0]"));
  EXPECT_THAT(errorsOf(replaced(text, "[\"commit\",\"q\",3]", "[\"commit\",\"q\"]")),
              HasSubstr("expected 3 parts"));
  EXPECT_THAT(errorsOf(replaced(text, "[\"issue\",\"q\"]", "[\"issue\"]")),
              HasSubstr("expected a step"));
  EXPECT_THAT(errorsOf(replaced(text, "\"in_flight\": 2", "\"in_flight\": 0")),
              HasSubstr("in_flight"));
  EXPECT_THAT(errorsOf(replaced(text, "\"strategy\": \"per-loop\"", "\"strategy\": \"x\"")),
              HasSubstr("at 'strategy': unknown strategy 'x'"));
  EXPECT_THAT(errorsOf("{"), HasSubstr("w.json:1"));
}

/// The key that files of earlier versions have.
TEST(ScheduleTest, onlyFilesWithoutRulesAreRead) {
  std::string text = writeScheduleFile(sample());
  Diagnostics diagnostics;
  EXPECT_TRUE(readScheduleFile(replaced(text, "\"in_flight\"", "\"rules\": [], \"in_flight\""),
                               diagnostics));
  EXPECT_THAT(errorsOf(replaced(text, "\"in_flight\"", "\"rules\": [\"r\"], \"in_flight\"")),
              HasSubstr("schedules under the rule 'r' cannot be repeated"));
}

TEST(ScheduleTest, namesBecomeIds) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  EngineId dma = b.engine("dma");
  QueueId q = b.queue("q", 2, Completion::Split);
  Kernel kernel = b.finish();
  std::vector<Step> steps{Step::control(act), Step::issue(dma, q), Step::commit(dma, q, 1),
                          Step::deliver(dma, q, 1),
                          Step::retire(act, kernel.engines[act].queues[0])};
  Diagnostics diagnostics;
  EXPECT_EQ(resolveSteps(kernel, nameSteps(kernel, steps), diagnostics), steps);
  EXPECT_TRUE(resolveSteps(kernel, {{StepKind::Issue, "none", 0}}, diagnostics).empty());
  EXPECT_THAT(render(diagnostics, {}), HasSubstr("step 1 of the schedule: the kernel has no queue "
                                                 "'none'"));
}
