//===- ResultTest.cpp - What a command has found --------------------------===//

#include "Result.h"

#include <gtest/gtest.h>

using namespace tally::tool;

namespace {

/// What is printed by a command that finds this.
template <typename Find>
std::string printed(std::string_view format, const std::string &list, Find find) {
  testing::internal::CaptureStdout();
  Result result(format, "tally-sample", 3, list);
  find(result);
  EXPECT_EQ(result.print(), Exit::Yes);
  return testing::internal::GetCapturedStdout();
}

Table sample(size_t numRows) {
  return Table({{"name", "name", -5, ""}, {"lines"}}, numRows, [](size_t row) {
    return std::vector<Cell>{std::to_string(row), Cell::hidden(Json{"a\n", row})};
  });
}

void findParts(Result &result) {
  result.part();
  result.add("one\n", {{"name", "one"}, {"inner", {{"deep", {1, 2}}}}});
  result.addTable("rows", "title\n", sample(2));
  result.addTable("none", "", sample(0));
  result.part();
  result.add("two\n", {{"name", "two"}});
  result.set({{"verdict", "yes"}, {"why", Json::array()}});
}

} // namespace

TEST(ResultTest, textIsWhatWasSaid) {
  EXPECT_EQ(printed("text", "parts", findParts), "one\ntitle\nname \n0    \n1    \nname \n\ntwo\n");
}

TEST(ResultTest, jsonIsOneDocumentAsTheLibraryWritesIt) {
  Json expected = {{"schema", "tally-sample"}, {"version", 3}};
  Json one = {{"name", "one"}, {"inner", {{"deep", {1, 2}}}}};
  one["rows"] = sample(2).json();
  one["none"] = Json::array();
  expected["parts"] = Json::array({one, {{"name", "two"}}});
  expected["verdict"] = "yes";
  expected["why"] = Json::array();
  EXPECT_EQ(printed("json", "parts", findParts), dump(expected) + "\n");
}

TEST(ResultTest, nothingFoundIsAnEmptyList) {
  auto findNothing = [](Result &) {};
  EXPECT_EQ(printed("json", "parts", findNothing),
            dump({{"schema", "tally-sample"}, {"version", 3}, {"parts", Json::array()}}) + "\n");
  EXPECT_EQ(printed("json", "", findNothing),
            dump({{"schema", "tally-sample"}, {"version", 3}}) + "\n");
}

TEST(ResultTest, withoutAListTablesAreMembersOfTheDocument) {
  auto find = [](Result &result) { result.addTable("rows", "", sample(2)); };
  Json expected = {{"schema", "tally-sample"}, {"version", 3}, {"rows", sample(2).json()}};
  EXPECT_EQ(printed("json", "", find), dump(expected) + "\n");
}

/// What is released is printed part by part, and is the same.
TEST(ResultTest, aLargeResultIsPrintedSoon) {
  for (std::string_view format : {"text", "json"}) {
    std::string rest;
    auto find = [&](bool isReleased) {
      return [isReleased, &rest](Result &result) {
        if (isReleased) {
          result.release();
        }
        result.add("head\n", {{"name", "one"}});
        result.addTable("rows", "", sample(300'000));
        rest = result.text;
      };
    };
    std::string whole = printed(format, "parts", find(false));
    std::string parts = printed(format, "parts", find(true));
    EXPECT_TRUE(parts == whole);
    EXPECT_LT(rest.size(), size_t(1) << 20);
  }
}

TEST(ResultTest, theStatusIsThatOfTheCommandIfItCanBeWritten) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(Result("text", "tally-sample", 3).print(Exit::No), Exit::No);
  testing::internal::GetCapturedStdout();
}
