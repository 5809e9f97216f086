//===- TableTest.cpp - One table as text, Markdown and JSON ---------------===//

#include "Table.h"

#include <gtest/gtest.h>

using namespace tally::tool;

namespace {

/// A name, a number that text shows as a share, and a remark that not every row has.
Table sample() {
  Table table({{"name", "name", -6, ""}, {"busy_ps", "busy", 5}, {"remark", ""}});
  table.add({"dma", Cell("50%", 1500), {}});
  table.add({"act", {}, Cell("never: it is broken", "it is broken")});
  return table;
}

TEST(TableTest, textHasHeadsAndAlignsWhatHasAWidth) {
  EXPECT_EQ(sample().text(), "name    busy\n"
                             "dma      50%\n"
                             "act    never: it is broken\n");
}

TEST(TableTest, jsonHasTheValues) {
  EXPECT_EQ(
      sample().json(),
      Json::parse(R"([{"name":"dma","busy_ps":1500},{"name":"act","remark":"it is broken"}])"));
}

TEST(TableTest, markdownHasColumnsWithAHead) {
  EXPECT_EQ(sample().markdown(), "| name | busy |\n"
                                 "|---|---:|\n"
                                 "| dma | 50% |\n"
                                 "| act |  |\n");
}

TEST(TableTest, whatIsHiddenIsInJsonAlone) {
  Table table({{"name", "name", -6, ""}, {"runs", "runs", 5}});
  table.add({"dma", 0u});
  table.hideLast();
  EXPECT_EQ(table.text(), "name    runs\n");
  EXPECT_EQ(table.json(), Json::parse(R"([{"name":"dma","runs":0}])"));
}

TEST(TableTest, withoutHeadsThereIsNoHeadLine) {
  Table table({{"name", "", -6, ""}, {"summary", ""}});
  table.add({"a", "what it does"});
  EXPECT_EQ(table.text(), "a      what it does\n");
}

} // namespace
