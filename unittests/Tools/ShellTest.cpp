//===- ShellTest.cpp - Texts that mean something to a shell or to man -----===//
//
// shell.test looks at the commands of tally; here, help that holds what would end a part, or be a
// macro.
//
//===----------------------------------------------------------------------===//

#include "Completion.h"
#include "ManualPage.h"

#include <gtest/gtest.h>

using namespace tally::tool;

namespace {

CommandTree program(CommandOption option) {
  CommandTree below{"p q",
                    "it's [all]: of it",
                    "Examples:\n  p q\n\n.5 is a half\n\nExit status: 0",
                    "p q",
                    "p 1",
                    {std::move(option)},
                    {}};
  return {"p", "what it is", "", "p COMMAND ...", "p 1", {}, {below}};
}

CommandOption option(std::string help) {
  CommandOption made;
  made.names = {"-o", "--out"};
  made.help = std::move(help);
  made.value = "FILE";
  return made;
}

/// Whether a part stands in a text; otherwise the text.
testing::AssertionResult has(const std::string &text, std::string_view part) {
  return text.find(part) != text.npos ? testing::AssertionSuccess()
                                      : testing::AssertionFailure() << part << " not in\n"
                                                                    << text;
}

} // namespace

TEST(ManualPageTest, nothingInTextIsAMacro) {
  std::string page = manualPage(program(option(".5, or a\\b")).commands.front());
  EXPECT_TRUE(has(page, "\\fB\\-o\\fR, \\fB\\-\\-out\\fR=\\fIFILE\\fR\n\\&.5, or a\\eb\n"));
  EXPECT_TRUE(has(page, "p\\-q \\- it's [all]: of it\n"));
}

TEST(ManualPageTest, paragraphsOfTheFooterAreSections) {
  std::string page = manualPage(program(option("")).commands.front());
  EXPECT_TRUE(has(page, ".SH NOTES\n.PP\n\\&.5 is a half\n.SH EXAMPLES\n.nf\n  p q\n.fi\n"
                        ".SH EXIT STATUS\n.nf\nExit status: 0\n.fi\n.SH SEE ALSO\n\\fBp\\fR(1)\n"));
}

TEST(ManualPageTest, aProgramNamesItsCommands) {
  std::string page = manualPage(program(option("")));
  EXPECT_TRUE(has(page, ".TH P 1 \"\" \"p 1\"\n"));
  EXPECT_TRUE(has(page, ".SH COMMANDS\n.TP\n\\fBp\\-q\\fR(1)\n"));
  EXPECT_EQ(page.find("SEE ALSO"), page.npos);
}

TEST(CompletionTest, zshHelpEndsNoPart) {
  std::string script = zshCompletion(program(option("'a' [b]: c")));
  EXPECT_TRUE(has(script, "'--out=['\\''a'\\'' \\[b\\]\\: c]:value:_files'"));
  EXPECT_TRUE(has(script, "'-o+['"));
  EXPECT_TRUE(has(script, "'q:it'\\''s \\[all\\]\\: of it'"));
}

TEST(CompletionTest, eachKindOfValue) {
  CommandOption listed = option("");
  listed.value = "TEXT";
  listed.suggestions = {"a", "b"};
  listed.delimiter = ',';
  std::string bash = bashCompletion(program(listed));
  EXPECT_TRUE(has(bash, "' q -o' | ' q --out') values='a b' delimiter=, ;;"));
  EXPECT_TRUE(has(zshCompletion(program(listed)), ":value:_values -s , value a b'"));

  CommandOption asked = option("");
  asked.suggestedBy = "q list";
  EXPECT_TRUE(
      has(bashCompletion(program(asked)), "values=$(\"${COMP_WORDS[0]}\" q list 2>/dev/null"));
  EXPECT_TRUE(has(zshCompletion(program(asked)), ":value:{_p_rows q list; _files}'"));

  for (const char *shape : {"UINT", "LOOP=N"}) {
    CommandOption other = option("");
    other.value = shape;
    EXPECT_TRUE(has(bashCompletion(program(other)), "' q -o' | ' q --out') : ;;"));
    EXPECT_TRUE(has(zshCompletion(program(other)), ":value: '"));
  }
}
