//===- IslTest.cpp - Questions without an answer --------------------------===//

#include "Isl.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::deps;

TEST(IslTest, whatHasNoAnswerIsNeverEmpty) {
  IslContext context;
  for (const char *text : {"", "{ [i] : 0 <= i", "{ [i] : i <= n }", "no set"}) {
    context.startQuestion(1000);
    IslSet set = context.parse(text);
    EXPECT_TRUE(set.isBad()) << text;
    EXPECT_FALSE(set.isEmpty()) << text;
    EXPECT_FALSE((set - set).isEmpty()) << text;
    EXPECT_FALSE(set.smallest(0)) << text;
    EXPECT_TRUE(context.gaveUp()) << text;
  }
  context.startQuestion(1000);
  EXPECT_TRUE(context.parse("{ [i] : 0 < i < 0 }").isEmpty());
  EXPECT_FALSE(context.gaveUp());
}

TEST(IslTest, aRelationThatIsNoneLeadsNowhere) {
  IslContext context;
  context.startQuestion(1000);
  IslSet set = context.parse("{ [i] : 0 <= i < 4 }");
  EXPECT_FALSE(set.isBad());
  EXPECT_TRUE(context.leadsInto("no relation", set).isBad());
  EXPECT_TRUE(context.gaveUp());
}
