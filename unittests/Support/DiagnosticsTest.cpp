//===- DiagnosticsTest.cpp - How errors are collected and shown -----------===//

#include "tally/Support/Diagnostics.h"
#include "tally/Support/Printable.h"

#include <gtest/gtest.h>

using namespace tally;

TEST(DiagnosticsTest, startsEmpty) {
  Diagnostics diagnostics;
  EXPECT_FALSE(diagnostics.hasErrors());
  EXPECT_EQ(render(diagnostics, {}), "");
}

TEST(DiagnosticsTest, remarksAreNoErrors) {
  Diagnostics diagnostics;
  diagnostics.remark({}, "waits longer than it has to");
  EXPECT_FALSE(diagnostics.hasErrors());
  EXPECT_EQ(diagnostics.all().size(), 1u);
  diagnostics.error({}, "no such loop");
  diagnostics.error({}, "no such engine");
  EXPECT_TRUE(diagnostics.hasErrors());
  EXPECT_EQ(diagnostics.numErrors(), 2u);
}

TEST(DiagnosticsTest, rendersInClangStyle) {
  Diagnostics diagnostics;
  diagnostics.error({0, 13, 5}, "'load' waits for 'matmul' at distance 0")
      .note({1, 10, 7}, "producer is here");
  EXPECT_EQ(render(diagnostics, {"k.mlir", "lib.mlir"}),
            "k.mlir:13:5: error: 'load' waits for 'matmul' at distance 0\n"
            "lib.mlir:10:7: note: producer is here\n");
}

TEST(DiagnosticsTest, keepsTheOrderOfDiscovery) {
  Diagnostics diagnostics;
  diagnostics.error({0, 9, 1}, "second place");
  diagnostics.remark({0, 2, 1}, "first place");
  EXPECT_EQ(render(diagnostics, {"k"}), "k:9:1: error: second place\nk:2:1: remark: first place\n");
}

/// A place without a line is the file as a whole; without a file, nothing is shown.
TEST(DiagnosticsTest, rendersUnknownPlaces) {
  Diagnostic diagnostic;
  diagnostic.message = "no engine";
  EXPECT_EQ(render(diagnostic, {"k.json"}), "k.json: error: no engine\n");
  EXPECT_EQ(render(diagnostic, {}), "error: no engine\n");
  diagnostic.where = {4, 2, 1};
  EXPECT_EQ(render(diagnostic, {"k.json"}), "<unknown>:2:1: error: no engine\n");
}

TEST(DiagnosticsTest, aDiagnosticCanHaveManyNotes) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::Warning;
  diagnostic.message = "three";
  diagnostic.note({0, 1, 1}, "one").note({0, 2, 1}, "two");
  EXPECT_EQ(render(diagnostic, {"k"}), "k: warning: three\nk:1:1: note: one\nk:2:1: note: two\n");
}

/// Neither a message nor a file can begin a line or command a terminal.
TEST(DiagnosticsTest, controlCharactersAreEscaped) {
  Diagnostic diagnostic;
  diagnostic.where = {0, 1, 2};
  diagnostic.message = "no 'a\nverdict: yes'";
  diagnostic.note({}, "\x1b[31m\x7f\xc3\xa4");
  EXPECT_EQ(render(diagnostic, {"k\r"}), "k\\0D:1:2: error: no 'a\\0Averdict: yes'\n"
                                         "k\\0D: note: \\1B[31m\\7F\xc3\xa4\n");
}

/// What reads our text may stop at bytes that are no UTF-8, and JSON cannot hold them.
TEST(DiagnosticsTest, onlyUtf8IsShown) {
  for (const char *letters : {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xc2\xa0",
                              "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(isPrintable(letters));
    EXPECT_EQ(printable(letters), letters);
  }
  for (const char *bytes :
       {"\xff", "\x80", "\xc3", "\xc3(", "\xc1\x81", "\xe0\x80\x80", "\xed\xa0\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2\x9b"}) {
    EXPECT_FALSE(isPrintable(bytes));
    EXPECT_EQ(printable(bytes).find_first_of(bytes[0]), std::string::npos);
  }
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b\xe2\x80\xae"
                      "c\xe2\x81\xa6"),
            "a\\E2\\80\\A8b\\E2\\80\\AEc\\E2\\81\\A6");
  EXPECT_EQ(printable("\xe2\x80\x9c\xe2\x86\x92"), "\xe2\x80\x9c\xe2\x86\x92"); // a quote, an arrow
  EXPECT_EQ(printable("a\xff\xc3\xa4\xe2\x82"), "a\\FF\xc3\xa4\\E2\\82");
  EXPECT_EQ(unquotableName("engine", "\xff").substr(0, 53),
            "the engine '\\FF' holds bytes that are not a character");
}
