//===- MarkupTest.cpp - Times as text, lines of an axis -------------------===//

#include "Markup.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::report;

TEST(MarkupTest, nanosecondsAreExact) {
  EXPECT_EQ(nanoseconds(0), "0");
  EXPECT_EQ(nanoseconds(1), "0.001");
  EXPECT_EQ(nanoseconds(1'500), "1.5");
  EXPECT_EQ(nanoseconds(120'000), "120");
  EXPECT_EQ(nanoseconds(9'007'199'254'740'993), "9007199254740.993");
}

TEST(MarkupTest, times) {
  EXPECT_EQ(timeText(66'913'676), "66.913 us");
  EXPECT_EQ(percentText(1, 3), "33%");
  EXPECT_EQ(percentText(2, 3), "67%");
  EXPECT_EQ(percentText(1, 0), "0%");
}

/// Four to twelve lines, wherever there is room between picoseconds.
TEST(MarkupTest, axisHasEnoughLines) {
  for (Tick span = 12; span < 1'000'000'000'000; span += span / 7 + 1) {
    Tick step = axisStep(span);
    EXPECT_LE(span / step, 12u) << span;
    EXPECT_GE(span / step, 4u) << span;
  }
  EXPECT_EQ(axisStep(127'756'000), 20'000'000u);
  EXPECT_EQ(axisStep(1), 1u);
}

TEST(MarkupTest, axisText) {
  EXPECT_EQ(axisText(20'000'000, 20'000'000, 127'756'000), "20 us");
  EXPECT_EQ(axisText(12'500'000, 500'000, 12'800'000), "12.5 us");
  EXPECT_EQ(axisText(1'200, 200, 2'000), "1.2 ns");
  EXPECT_EQ(axisText(5'000'000, 1'000'000, 9'000'000), "5000 ns");
  EXPECT_EQ(axisText(20'000'000'000, 5'000'000'000, 40'000'000'000), "20 ms");
}

/// Whatever could end an attribute or begin an element.
TEST(MarkupTest, escape) {
  EXPECT_EQ(escape("a<b>&\"c\"'"), "a&lt;b&gt;&amp;&quot;c&quot;'");
}

/// Bytes that would make the document one that no reader accepts.
TEST(MarkupTest, noDocumentMayHold) {
  EXPECT_EQ(escape("a\x01\x7F\tb\nc"), "a???b\nc");
  EXPECT_EQ(escape("\xC3\xA4 \xE2\x86\x92 \xF0\x9F\x98\x80"),
            "\xC3\xA4 \xE2\x86\x92 \xF0\x9F\x98\x80");
  EXPECT_EQ(escape("\xC3"), "?");                // cut off
  EXPECT_EQ(escape("\xC3(\xA4"), "?(?");         // out of order
  EXPECT_EQ(escape("\xC0\xAF"), "??");           // too long a form
  EXPECT_EQ(escape("\xED\xA0\x80"), "???");      // half of a pair
  EXPECT_EQ(escape("\xF4\x90\x80\x80"), "????"); // beyond the last character
}

TEST(MarkupTest, shorten) {
  EXPECT_EQ(shorten("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shorten("abcdefghi", 8), "abcde...");
  EXPECT_EQ(shorten("abcd\xC3\xA4"
                    "efgh",
                    8),
            "abcd...");
}
