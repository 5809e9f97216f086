//===- StringPoolTest.cpp - Names as dense ids ----------------------------===//

#include "tally/Support/StringPool.h"

#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>

using namespace tally;

TEST(StringPoolTest, equalTextsHaveEqualIds) {
  StringPool pool;
  NameId a = pool.intern("load");
  NameId b = pool.intern("scale");
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.intern(std::string("lo") + "ad"), a);
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(pool[a], "load");
  EXPECT_EQ(pool[b], "scale");
}

TEST(StringPoolTest, noneIsEmpty) {
  StringPool pool;
  EXPECT_EQ(pool[NameId()], "");
}

/// An empty text is a text like any other, and is not none.
TEST(StringPoolTest, theEmptyTextHasAnId) {
  StringPool pool;
  EXPECT_FALSE(pool.find("").valid());
  NameId empty = pool.intern("");
  EXPECT_TRUE(empty.valid());
  EXPECT_EQ(pool.find(""), empty);
  EXPECT_EQ(pool[empty], "");
}

TEST(StringPoolTest, findDoesNotIntern) {
  StringPool pool;
  EXPECT_FALSE(pool.find("x").valid());
  EXPECT_EQ(pool.size(), 0u);
}

/// Zero bytes do not end a name, and a prefix is another name.
TEST(StringPoolTest, textsMayHoldAnyBytes) {
  StringPool pool;
  NameId shorter = pool.intern("a");
  NameId longer = pool.intern(std::string_view("a\0b", 3));
  EXPECT_NE(shorter, longer);
  EXPECT_EQ(pool[longer].size(), 3u);
}

/// The pool's own characters may move while one of them is being added.
TEST(StringPoolTest, aTextOfThePoolItselfCanBeInterned) {
  StringPool pool;
  NameId whole = pool.intern("a name that is longer than any inline buffer of a string");
  for (size_t length = 1; length < pool[whole].size(); ++length) {
    std::string expected(pool[whole].substr(0, length));
    NameId part = pool.intern(pool[whole].substr(0, length));
    EXPECT_EQ(pool[part], expected);
  }
}

TEST(StringPoolTest, tenThousandNamesStayFound) {
  StringPool pool;
  for (int i = 0; i < 10000; ++i) {
    ASSERT_EQ(pool.intern("i" + std::to_string(i)).value, static_cast<uint32_t>(i));
  }
  for (int i = 0; i < 10000; ++i) {
    ASSERT_EQ(pool.find("i" + std::to_string(i)).value, static_cast<uint32_t>(i));
  }
}

RC_GTEST_PROP(StringPoolTest, behavesLikeAMap, (const std::vector<std::string> &texts)) {
  StringPool pool;
  std::map<std::string, NameId> model;
  for (const std::string &text : texts) {
    NameId id = pool.intern(text);
    auto [entry, isNew] = model.emplace(text, id);
    RC_ASSERT(entry->second == id);
    RC_ASSERT(pool.size() == model.size());
  }
  for (const auto &[text, id] : model) {
    RC_ASSERT(pool[id] == text);
    RC_ASSERT(pool.find(text) == id);
  }
}
