//===- OptionsTest.cpp - Options of commands as data ----------------------===//

#include "Options.h"
#include "Session.h"

#include <gtest/gtest.h>

using namespace tally::tool;

namespace {

/// A command with one option of each kind.
struct Sample {
  std::string input;
  bool quick = false;
  bool deep = true;
  uint32_t rows = 12;
  uint64_t seed = 0;
  bool seedGiven = false;
  std::vector<std::string> trips, names;
  std::string format = "text";
  CLI::App app;

  Sample() {
    declare(app, {{"kernel", input, "what", required},
                  {"--quick", quick, "a flag"},
                  {"--deep,!--no-deep", deep, "a flag that is set"},
                  {"--rows", rows, "a number", integerIn(1, 20)},
                  {"--seed", seed, "told if it is not 0", notedIn(seedGiven)},
                  {"--trips", trips, "one by one"},
                  {"--names", names, "one by one, or with commas", withCommas},
                  formatOption(format)});
  }

  void parse(std::vector<std::string> arguments) {
    std::ranges::reverse(arguments);
    app.parse(arguments);
  }
};

} // namespace

TEST(OptionsTest, eachKindIsStoredWhereItIsDeclared) {
  Sample sample;
  sample.parse({"k.mlir", "--quick", "--no-deep", "--rows=3", "--seed=0", "--format=json"});
  EXPECT_EQ(sample.input, "k.mlir");
  EXPECT_TRUE(sample.quick);
  EXPECT_FALSE(sample.deep);
  EXPECT_EQ(sample.rows, 3u);
  EXPECT_EQ(sample.format, "json");
}

/// `--trips A=3 k.mlir` gives one value, and the kernel.
TEST(OptionsTest, aListTakesOneValueAtATime) {
  Sample sample;
  sample.parse({"--trips", "A=3", "k.mlir", "--trips", "B=4,5", "--names", "a,b"});
  EXPECT_EQ(sample.trips, (std::vector<std::string>{"A=3", "B=4,5"}));
  EXPECT_EQ(sample.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sample.input, "k.mlir");
}

TEST(OptionsTest, whatIsGivenIsNotedThoughItIsTheDefault) {
  Sample without, with;
  without.parse({"k"});
  with.parse({"k", "--seed=0"});
  EXPECT_FALSE(without.seedGiven);
  EXPECT_TRUE(with.seedGiven);
}

TEST(OptionsTest, helpTellsDefaultsThatSaySomething) {
  Sample sample;
  EXPECT_EQ(sample.app.get_option("--rows")->get_default_str(), "12");
  EXPECT_EQ(sample.app.get_option("--seed")->get_default_str(), "");
  EXPECT_EQ(sample.app.get_option("--quick")->get_default_str(), "");
}

TEST(OptionsTest, whatIsNotAllowedIsAnError) {
  EXPECT_THROW(Sample().parse({}), CLI::RequiredError);
  EXPECT_THROW(Sample().parse({"k", "--rows=21"}), CLI::ValidationError);
  EXPECT_THROW(Sample().parse({"k", "--format=xml"}), CLI::ValidationError);
}

TEST(OptionsTest, aTitleIsThatOfAllThatAreDeclaredWithIt) {
  CLI::App app;
  bool one = false, two = false;
  declare(app, {{"--one", one, ""}, {"--two", two, ""}}, "Title");
  EXPECT_EQ(app.get_option("--one")->get_group(), "Title");
  EXPECT_EQ(app.get_option("--two")->get_group(), "Title");
}

TEST(OptionsTest, namesAreKnownIfAllAre) {
  EXPECT_TRUE(areKnown({"a", "b"}, {"b", "a"}, "name", "names"));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(areKnown({"c", "a", "d"}, {"a"}, "name", "names"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: unknown name 'c'; the names are 'a'\n"
                                                    "error: unknown name 'd'; the names are 'a'\n");
}

TEST(ResultTest, textAndJsonHaveTheSameParts) {
  Result result("tally-sample", 3, "parts");
  result.part();
  result.add("one\n", {{"name", "one"}});
  result.part();
  result.add("two\n", {{"name", "two"}});
  EXPECT_EQ(result.text, "one\n\ntwo\n");
  EXPECT_EQ(result.document.dump(),
            R"({"schema":"tally-sample","version":3,"parts":[{"name":"one"},{"name":"two"}]})");
}

TEST(EndTest, whatIsNotThereEndsTheCommand) {
  EXPECT_EQ(orEnd(std::optional(3)), 3);
  try {
    orEnd(std::optional<int>());
    FAIL() << "it went on";
  } catch (const Ended &ended) {
    EXPECT_EQ(ended.status, Exit::Undecided);
  }
}
