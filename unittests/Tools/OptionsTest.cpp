//===- OptionsTest.cpp - Options of commands as data ----------------------===//

#include "Options.h"
#include "Session.h"

#include <gtest/gtest.h>

#include <sstream>

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
  std::vector<std::string> trips, names, more;
  std::string keep;
  bool titled = false;
  std::string format = "text";

  void declareOn(CLI::App &app) {
    declare(app, {{"kernel", input, "what", required},
                  {"--quick", quick, "a flag"},
                  {"--deep,!--no-deep", deep, "a flag that is set"},
                  {"--rows", rows, "a number", integerIn(1, 20)},
                  {"--seed", seed, "told if it is not 0", notedIn(seedGiven)},
                  {"--trips", trips, "one by one"},
                  {"--names", names, "one by one, or with commas", withCommas},
                  {"--more", more, "with commas, or as further arguments", withCommas, withSpaces},
                  {"--keep{-}", keep, "with a value or without"},
                  formatOption(format)});
    declare(app, {{"--titled", titled, ""}}, "Title");
  }

  /// What is printed for these arguments, errors or help; the program itself prints nothing.
  std::string parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sample");
    std::vector<char *> argv;
    for (std::string &argument : arguments) {
      argv.push_back(argument.data());
    }
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    runProgram(
        {"sample", "what it is"}, static_cast<int>(argv.size()), argv.data(),
        [this](CLI::App &app) { declareOn(app); }, [] { return Exit::Yes; });
    std::string help = testing::internal::GetCapturedStdout();
    return help + testing::internal::GetCapturedStderr();
  }
};

/// The lines of a text that hold another one.
std::string linesWith(const std::string &text, std::string_view part) {
  std::string found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    found += line.find(part) == std::string::npos ? "" : line + "\n";
  }
  return found;
}

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

TEST(OptionsTest, aListTakesFurtherArgumentsIfItSaysSo) {
  Sample sample;
  EXPECT_EQ(sample.parse({"k", "--more", "a,b", "c", "--names", "d"}), "");
  EXPECT_EQ(sample.more, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(sample.names, std::vector<std::string>{"d"});
}

TEST(OptionsTest, aFlagMayHaveAValue) {
  Sample without, with;
  EXPECT_EQ(without.parse({"--keep", "k"}), "");
  EXPECT_EQ(with.parse({"--keep=file", "k"}), "");
  EXPECT_EQ(without.keep, "-");
  EXPECT_EQ(with.keep, "file");
}

TEST(OptionsTest, helpTellsDefaultsThatSaySomething) {
  std::string help = Sample().parse({"--help"});
  EXPECT_NE(linesWith(help, "--rows").find("=12 "), std::string::npos) << help;
  EXPECT_EQ(linesWith(help, "--seed").find('='), std::string::npos) << help;
  EXPECT_EQ(linesWith(help, "--quick").find('='), std::string::npos) << help;
  EXPECT_NE(help.find("\nTitle:\n  --titled"), std::string::npos) << help;
}

TEST(OptionsTest, whatIsNotAllowedIsAnError) {
  EXPECT_EQ(linesWith(Sample().parse({}), "error"),
            "error: 'sample' needs the argument 'kernel': what\n");
  EXPECT_EQ(linesWith(Sample().parse({"k", "--rows=21"}), "error"),
            "error: --rows: expected an integer from 1 to 20, found '21'\n");
  EXPECT_EQ(linesWith(Sample().parse({"k", "--format=xml"}), "error"),
            "error: --format: unknown format 'xml'; the formats are 'text', 'json'\n");
}

TEST(OptionsTest, namesAreKnownIfAllAre) {
  EXPECT_TRUE(areKnown({"a", "b"}, {"b", "a"}, "name", "names"));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(areKnown({"c", "a", "d"}, {"a"}, "name", "names"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: unknown name 'c'; the names are 'a'\n"
                                                    "error: unknown name 'd'; the names are 'a'\n");
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
