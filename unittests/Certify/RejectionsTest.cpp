//===- RejectionsTest.cpp - Everything that the checker can say no to -----===//
//
// One right certificate, and one change for each answer that tally-certify has: the table holds the
// text that is replaced, what it becomes, and what is said of the result.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tally {
namespace {

/// A { make more || ; B { use }; if c { done } }, with make used in the same iteration of A.
constexpr const char *rightCertificate = R"((certificate 1
  (kernel "k")
  (strategy "per-loop")
  (machine "generic")
  (arithmetic 32 saturates unsigned)
  (engines "e" "f")
  (queues ("e" 0 2 whole) ("f" 1 1 whole) ("g" 0 2 whole))
  (loops ("A" loop) ("B" loop) ("c" then) ("d" else))
  (instructions ("make" 0) ("more" 2) ("use" 1) ("done" 1))
  (body (loop 1 (block 0 1) (loop 2 (block 2)) (if 3 4 ((block 3)) ())))
  (dependences (0 2 (distance)))
  (semaphores "s" "t")
  (code
    (0 (loop 1 (issue 0 (signal 0 2)) (issue 1 (signal 1 2))))
    (1 (move r0 0)
       (loop 1 (add r0 r0 1) (mul r1 2 r0)
         (loop 2 (issue 2 (wait 0 r1)))
         (if 3 ((issue 3)) ())))))
)";

struct Change {
  const char *name;
  const char *from;
  const char *to;
  const char *verdict; ///< what comes before `: 'k'`; empty: it could not be read
  const char *says;    ///< somewhere in the answer
};

void PrintTo(const Change &change, std::ostream *out) {
  *out << change.name;
}

std::string changed(const Change &change) {
  std::string text = rightCertificate;
  size_t at = text.find(change.from);
  EXPECT_NE(at, std::string::npos) << change.from;
  return at == std::string::npos ? text
                                 : text.replace(at, std::string(change.from).size(), change.to);
}

class RejectionsTest : public testing::TestWithParam<Change> {};

TEST(RejectionsTest, nothingIsWrongBefore) {
  EXPECT_EQ(
      runChecker(rightCertificate).output,
      "certified: 'k' (per-loop): 4 instructions, 1 dependence; while no number reaches 2^32; if "
      "engines agree on trips and branches; 2 loops or branches are left out by engines with "
      "nothing "
      "to do there, and that this adds no waiting is not covered; for the dependences listed\n");
}

TEST_P(RejectionsTest, saysWhatIsWrong) {
  const Change &change = GetParam();
  Answer answer = runChecker(changed(change));
  EXPECT_NE(answer.output.find(change.says), std::string::npos) << answer.output;
  std::string verdict = change.verdict;
  EXPECT_TRUE(answer.output.starts_with(verdict.empty() ? "error: " : verdict + ": 'k'"))
      << answer.output;
  EXPECT_EQ(answer.status, verdict == "rejected" ? 1 : 2);
}

constexpr Change changes[] = {
    // The kernel's own tree.
    {"InstructionNowhere", "(block 0 1)", "(block 0)", "rejected",
     "instruction 'more' stands nowhere in the kernel"},
    {"InstructionTwice", "(block 0 1)", "(block 0 1 1)", "rejected",
     "the kernel has instruction 'more' twice"},
    {"LoopTwice", "(block 0 1) (loop 2", "(block 0 1) (loop 2) (loop 2", "rejected",
     "the kernel has loop 'B' twice"},
    {"BranchAsLoop", "(loop 2 (block 2))", "(loop 3 (block 2))", "rejected",
     "'c' is not in the kernel's tree what it is in its list of loops"},
    {"DistanceOnBranch", "(0 2 (distance))", "(0 2 (distance (3 1)))", "rejected",
     "the distance from 'make' to 'use' is on 'c', which is not a loop around both"},
    {"DistanceOnOneLoop", "(0 2 (distance))", "(0 2 (distance (2 1)))", "rejected",
     "the distance from 'make' to 'use' is on 'B', which is not a loop around both"},
    {"DistanceBelowZero", "(0 2 (distance))", "(0 2 (distance (1 -1)))", "rejected",
     "the distance from 'make' to 'use' on 'A' is -1, a run still to come"},
    {"ElementsOfOneLoop", "(0 2 (distance))", "(0 1 (element 0))", "rejected",
     "is element by element, and the two are not in two loops or nests of one body"},
    {"FlatOverTwoBodies", "(0 2 (distance))", "(0 2 (flat 1))", "rejected",
     "is flat, and the two are not in one body"},
    {"DistanceTooFar", "(0 2 (distance))", "(2 0 (distance (1 65)))", "not covered",
     "distance 65 on 'A' is more than the 64 iterations that are remembered"},
    {"BackwardAtZero", "(0 2 (distance))", "(2 0 (distance))", "rejected",
     "the kernel is not legal: dependence 'use' -> 'make'"},
    {"CircleInBlock", "(0 2 (distance))", "(0 2 (distance)) (1 0 (distance))", "rejected",
     "the kernel is not legal: dependence 'more' -> 'make'"},

    // Where the code runs what.
    {"NotIssued", "(issue 1 (signal 1 2))", "", "rejected", "instruction 'more' is not issued"},
    {"IssuedTwice", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2)) (issue 1 (signal 1 2))",
     "not covered", "instruction 'more' is issued in two places, as in unrolled code"},
    {"OtherOrder", "(issue 0 (signal 0 2)) (issue 1 (signal 1 2))",
     "(issue 1 (signal 1 2)) (issue 0 (signal 0 2))", "rejected",
     "engine 'e' issues 'more' before 'make', against the order of the kernel"},
    {"OtherEnginesInstruction", "(if 3 ((issue 3)) ())))))", "(if 3 ((issue 3) (issue 1)) ())))))",
     "rejected", "engine 'f' issues 'more', which is an instruction of engine 'e'"},
    {"OtherEngine", "(issue 1 (signal 1 2))))", ")) (2 (loop 1 (issue 1 (signal 1 2))))", "",
     "there is code for more than 2 engines"},
    {"InstructionAfterItsPlace", "(issue 0 (signal 0 2)) (issue 1 (signal 1 2))",
     "(issue 0 (signal 0 2)) (loop 2) (issue 1 (signal 1 2))", "not covered",
     "engine 'e' runs instruction 'more' out of the kernel's order"},
    {"LoopAfterItsPlace", "(loop 2 (issue 2 (wait 0 r1)))\n         (if 3 ((issue 3)) ())",
     "(if 3 ((issue 3)) ()) (loop 2 (issue 2 (wait 0 r1)))", "rejected",
     "engine 'f' issues 'done' before 'use', against the order of the kernel"},
    {"LoopOutsideItsBody", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2))) (loop 2",
     "not covered", "engine 'e' runs 'B' outside the body that holds it"},
    {"LoopAsBranch", "(loop 2 (issue 2 (wait 0 r1)))", "(if 2 ((issue 2 (wait 0 r1))) ())",
     "rejected", "engine 'f' takes 'B' for a loop or a conditional, which it is not"},
    {"UnrolledCode", "(loop 2 (issue 2 (wait 0 r1)))", "(issue 2 (wait 0 r1))", "not covered",
     "instruction 'use' is issued outside its body 'B', as in unrolled code"},

    // Semaphores.
    {"OtherAmount", "(signal 0 2)", "(signal 0 1)", "not covered",
     "instruction 'make' raises semaphore 's' by 1, and queue 'e' has weight 2; another amount "
     "than "
     "the weight is outside the theorem"},
    {"TwoQueues", "(signal 1 2)", "(signal 0 2)", "rejected",
     "semaphore 's' is raised by 'more', and by instructions of another body or queue"},
    {"NothingRaised", "(issue 0 (signal 0 2))", "(issue 0)", "rejected",
     "waits on semaphore 's', which no dependence asks for"},
    {"NobodyAsks", "(wait 0 r1)", "(wait 1 r1)", "rejected",
     "engine 'f', instruction 'use': waits on semaphore 't', which no dependence asks for"},
    {"ProducerWithoutSemaphore", "(0 2 (distance))", "(0 2 (distance)) (3 2 (distance (1 1)))",
     "rejected", "'done' raises no semaphore, for dependence 'done' -> 'use' at 'A' = 1"},
    {"NoWait", "(issue 2 (wait 0 r1))", "(issue 2)", "rejected",
     "with 2 iterations of 'A', 2 iterations of 'B', engine 'f' issues run 0 of 'use' when 'make' "
     "has retired 0 times, and its dependence asks for 1"},
    {"NoWaitInWords", "(issue 2 (wait 0 r1))", "(issue 2)", "rejected",
     "engine 'f', instruction 'use': no wait for dependence 'make' -> 'use', which asks "
     "for 's' >= 2*total(A)"},
    {"WrongThreshold", "(mul r1 2 r0)", "(mul r1 3 r0)", "rejected",
     "engine 'f', instruction 'use': waits for 's' >= 3*total(A), but dependence 'make' -> 'use' "
     "asks for 2*total(A)"},
    {"UnknownThreshold", "(wait 0 r1)", "(wait 0 r7)", "rejected",
     "waits for 's' >= a value about which nothing is known"},
    {"WaitForNothing", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2)) (wait 0 0)", "not covered",
     "engine 'e': a wait on 's' stands before no instruction"},

    // What the theorem does not speak about.
    {"SignedAndWrapping", "saturates unsigned", "wraps signed", "not covered",
     "a machine that wraps around and compares signed is outside the theorem"},
    {"Signal", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2)) (signal 1 1)", "not covered",
     "'signal' is outside the theorem"},
    {"Drain", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2)) (drain)", "not covered",
     "'drain' is outside the theorem"},
    {"When", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2)) (when r0) (when end)", "not covered",
     "resetting counters on the way (a bound 'max' on the trips, or --overflow=assume, avoids it) "
     "is outside the theorem"},
    {"WaitsLonger", "(dependences (0 2 (distance)))",
     "(dependences (0 2 (distance))) (waits-longer 0)", "not covered",
     "as registers ran out, the wait of 'use' for 'make' is longer than it has to be"},
    {"Barrier", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2)) (barrier 0)", "not covered",
     "'barrier' is outside the theorem"},
    {"NumberTooLarge", "(mul r1 2 r0)",
     "(mul r1 99999999999999999 r0) (mul r1 99999999999999999 r1)", "not covered",
     "a number is too large to be computed with"},
    // Modulo 2^63 the product is 2, which is the right factor.
    {"ProductThatWrapsAround", "(mul r1 2 r0)",
     "(mul r1 25445091914122223 r0) (mul r1 74545793622247865 r1) (mul r1 65444078437006862 r1)",
     "not covered", "a number is too large to be computed with"},

    // What no run that is tried can tell from right code; the second is right modulo 2^32.
    {"TooLateToBeSeen", "(mul r1 2 r0)", "(gt r2 r0 5000) (add r1 r0 r2) (mul r1 2 r1)",
     "not covered", "engine 'f', instruction 'use': waits for 's' >="},
    {"RightOnTheMachine", "(mul r1 2 r0)", "(mul r1 2 r0) (mul r1 2147483649 r1)", "not covered",
     "engine 'f', instruction 'use': waits for 's' >= 4294967298*total(A)"},

    {"TripsPastTheLimit", "(\"A\" loop)", "(\"A\" loop (trips 3000000000))", "",
     "'3000000000' is too large; the largest number here is 2147483647"},

    // What cannot be read.
    {"UnknownMember", "(machine \"generic\")", "(machine \"generic\") (verdict \"certified\")", "",
     "there is no member 'verdict'; there are kernel, strategy,"},
    {"MemberOutOfPlace", "(strategy \"per-loop\")\n  (machine \"generic\")",
     "(machine \"generic\")\n  (strategy \"per-loop\")", "",
     "'strategy' is out of its place; it stands before 'machine'"},
    {"MoreInAMember", "(machine \"generic\")", "(machine \"generic\" \"too\")", "",
     "expected one text in 'machine'"},
    {"SecondWait", "(issue 2 (wait 0 r1))", "(issue 2 (wait 0 r1) (wait 0 r1))", "",
     ":17:39: an issue has one (wait S T) and then one (signal S N); this wait is one too many, "
     "out "
     "of its place or malformed"},
    {"SecondSignal", "(issue 0 (signal 0 2))", "(issue 0 (signal 0 2) (signal 1 2))", "",
     "this signal is one too many, out of its place or malformed"},
    {"SignalBeforeWait", "(issue 2 (wait 0 r1))", "(issue 2 (signal 0 1) (wait 0 r1))", "",
     "this wait is one too many, out of its place or malformed"},
    {"WordInIssue", "(issue 3)", "(issue 3 now)", "", "expected (wait S T) or (signal S N)"},
    {"ComponentTwice", "(0 2 (distance))", "(0 2 (distance (1 1) (1 1)))", "",
     ":11:21: a distance on loop 1 stands here twice"},
    {"ComponentZero", "(0 2 (distance))", "(0 2 (distance (1 0)))", "",
     "a distance of 0 is left out"},
    {"ComponentOnTheKernel", "(0 2 (distance))", "(0 2 (distance (0 1)))", "",
     "number 0 is the kernel itself, no loop in it"},
    {"CodeTwice", "(0 (loop 1 (issue 0 (signal 0 2)) (issue 1 (signal 1 2))))", "(0) (0)", "",
     "there is code for more than 2 engines"},
    {"CodeOutOfPlace", "(0 (loop 1 (issue 0 (signal 0 2)) (issue 1 (signal 1 2))))", "(1)", "",
     "expected the code of engine 0; engines come in order, each once"},
    {"NoCode", "(0 (loop 1 (issue 0 (signal 0 2)) (issue 1 (signal 1 2))))", "", "",
     "expected the code of engine 0"},
    {"CounterTwice", "(loop 1 (add r0 r0 1)", "(loop 1 (counter r3) (counter r4) (add r0 r0 1)", "",
     "expected an operation, found 'counter'"},
    {"CounterTooLate", "(loop 1 (add r0 r0 1)", "(loop 1 (add r0 r0 1) (counter r3)", "",
     "expected an operation, found 'counter'"},
    {"MoreInAnOperation", "(add r0 r0 1)", "(add r0 r0 1 1)", "",
     "expected an operation, found 'add', unknown or with other operands"},
    {"ResultIsANumber", "(add r0 r0 1)", "(add 0 r0 1)", "", "expected a register"},
    {"RegisterTooHigh", "(move r0 0)", "(move r1048576 0)", "",
     "'1048576' is too large; the largest number here is 1048575"},
    {"LeadingZero", "(signal 0 2)", "(signal 0 02)", "",
     "expected a number such as 0 or 17, found '02'"},
    {"PlusSign", "(signal 0 2)", "(signal 0 +2)", "",
     "expected a number such as 0 or 17, found '+2'"},
    {"Hexadecimal", "(signal 0 2)", "(signal 0 0x2)", "",
     "expected a number such as 0 or 17, found '0x2'"},
    {"Underscore", "(signal 0 2)", "(signal 0 2_0)", "",
     "expected a number such as 0 or 17, found '2_0'"},
    {"Fraction", "(signal 0 2)", "(signal 0 2.0)", "",
     "expected a number such as 0 or 17, found '2.0'"},
    {"MinusZero", "(0 2 (distance))", "(0 2 (distance (1 -0)))", "", "found '-0'"},
    {"NumberPast63Bits", "(mul r1 2 r0)", "(mul r1 9223372036854775808 r0)", "",
     "'9223372036854775808' is too large"},
    {"NumberForAName", "(engines \"e\" \"f\")", "(engines 1 \"f\")", "",
     "expected quoted text, found '1'"},
    {"QueueOfNoEngine", "(\"g\" 0 2 whole)", "(\"g\" 2 2 whole)", "",
     "there is no engine 2; they are 0 to 1"},
    {"WeightZero", "(\"g\" 0 2 whole)", "(\"g\" 0 0 whole)", "", "expected a number from 1"},
    {"NameTwice", "(\"more\" 2)", "(\"make\" 2)", "", "two instructions are called 'make'"},
    {"SemaphoreNameTwice", "(semaphores \"s\" \"t\")", "(semaphores \"s\" \"s\")", "",
     "two semaphores are called 's'"},
    {"TripsOfABranch", "(\"c\" then)", "(\"c\" then (trips 1))", "", "a branch has no trips"},
    {"TripsTheWrongWayRound", "(\"A\" loop)", "(\"A\" loop (trips 2 1))", "",
     "expected (trips LEAST) or (trips LEAST MOST)"},
    {"UnknownWordOfALoop", "(\"A\" loop)", "(\"A\" loop uniform)", "",
     "expected divergent or nothing more, found 'uniform'"},
    {"UnknownAccesses", "(machine \"generic\")", "(machine \"generic\") (accesses proved)", "",
     "expected (accesses derived|held|ignored|untouched)"},
    {"WaitsLongerTwice", "(dependences (0 2 (distance)))",
     "(dependences (0 2 (distance))) (waits-longer 0 0)", "", "dependence 0 stands here twice"},
    {"TextBehindIt", "(if 3 ((issue 3)) ())))))", "(if 3 ((issue 3)) ())))))\n   more", "",
     ":19:4: expected (certificate 1 ...), found 'more'"},
    {"BracketBehindIt", "(if 3 ((issue 3)) ())))))", "(if 3 ((issue 3)) ())))))) ", "",
     "there is no list to close"},
    {"OtherByte", "(machine \"generic\")", "(machine \"generic\") \x7f", "",
     "byte \\7F stands outside of quoted text"},
    {"LineEndInAName", "\"k\"", "\"k\ncertified: 'x'\"", "", "the text does not end on its line"},
    {"LineEndBehindABackslash", "\"k\"", "\"k\\\ncertified: 'x'\"", "",
     "a backslash stands before a quote, a backslash or two of 0-9 and A-F"},
    {"ControlCharacterInAName", "\"k\"", "\"k\x1b[2K\"", "",
     "a control character in text is written \\1B"},
    {"OtherVersion", "(certificate 1", "(certificate 2", "", "only version 1 is known"},
    {"NoMember", "(machine \"generic\")", "", "", "the certificate has no 'machine'"},
    {"MemberTwice", "(machine \"generic\")", "(machine \"a\") (machine \"b\")", "",
     "'machine' stands here twice"},
    {"NoSuchInstruction", "(block 0 1)", "(block 0 9)", "",
     "there is no instruction 9; they are 0 to 3"},
    {"NoSuchLoop", "(0 2 (distance))", "(0 2 (distance (5 1)))", "",
     "there is no loop 5; they are 1 to 4, as 0 is the kernel itself"},
    {"NoOperation", "(issue 1 (signal 1 2))", "(jump 1)", "", "expected an operation"},
    {"NoStatement", "(block 0 1)", "(blok 0 1)", "", "expected a statement"},
    {"NoDistance", "(distance)", "(near)", "", "expected a distance"},
    {"NoNumber", "(signal 0 2)", "(signal 0 two)", "",
     "expected a number such as 0 or 17, found 'two'"},
    {"NegativeThreshold", "(wait 0 r1)", "(wait 0 -1)", "", "expected a number from 0, found '-1'"},
    {"TooManyBits", "(arithmetic 32", "(arithmetic 33", "", "a number has 2 to 32 bits"},
    {"TextWithoutEnd", "\"k\"", "\"k", "", "the text does not end on its line"},
};

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// "While no number reaches 2^4" is not a condition if the first iteration gets there.
TEST(RejectionsTest, conditionsThatNoRunMeetsAreNone) {
  std::string narrow = replaced(rightCertificate, "(arithmetic 32", "(arithmetic 4");
  EXPECT_NE(runChecker(narrow).output.find("while no number reaches 2^4;"), std::string::npos);
  std::string often = replaced(narrow, "(\"A\" loop)", "(\"A\" loop (trips 8))");
  EXPECT_EQ(runChecker(often).output,
            "not covered: 'k' (per-loop): with the fewest trips already, semaphore 's' reaches 16, "
            "and numbers are to stay below 2^4\n");
  std::string heavy =
      replaced(replaced(narrow, "\"e\" 0 2", "\"e\" 0 16"), "(signal 0 2)", "(signal 0 16)");
  heavy = replaced(heavy, "(mul r1 2 r0)", "(mul r1 16 r0)");
  EXPECT_NE(
      runChecker(heavy).output.find("with the fewest trips already, semaphore 's' reaches 16"),
      std::string::npos);
  std::string large = replaced(narrow, "(move r0 0)", "(move r0 0) (move r5 17)");
  EXPECT_NE(runChecker(large).output.find("engine 'f' computes 17"), std::string::npos);
}

/// Signed comparison takes half of what a number can hold.
TEST(RejectionsTest, theConditionKnowsTheSign) {
  std::string sign = replaced(rightCertificate, "unsigned", "signed");
  EXPECT_NE(runChecker(sign).output.find(
                "while no number reaches 2^31, as waits compare signed numbers;"),
            std::string::npos);
  std::string often = replaced(sign, "(\"A\" loop)", "(\"A\" loop (trips 1073741824))");
  EXPECT_NE(runChecker(often, "--quick").output.find("semaphore 's' reaches 2147483648"),
            std::string::npos);
}

/// A run that needs larger numbers than the machine has shows no fault; one without a guard does,
/// as its threshold goes below zero.
TEST(RejectionsTest, whatIsBeyondTheMachineIsNoFault) {
  std::string wraps = replaced(rightCertificate, "saturates", "wraps");
  std::string narrow = replaced(wraps, "(arithmetic 32", "(arithmetic 4");
  EXPECT_NE(runChecker(narrow).output.find("while no body is entered more than 2^2 times;"),
            std::string::npos);
  std::string least = replaced(wraps, "(arithmetic 32", "(arithmetic 2");
  EXPECT_EQ(
      runChecker(least).output,
      "not covered: 'k' (per-loop): it is not shown that no number goes below zero or reaches 2^2; "
      "with 2 iterations of 'A', 2 iterations of 'B', engine 'f' issues run 2 of 'use' when 'make' "
      "has retired 1 times, and its dependence asks for 2, but in that run semaphore 's' reaches "
      "4, "
      "and numbers are to stay below 2^2\n");
  std::string unguarded = replaced(narrow, "(mul r1 2 r0)", "(mul r1 2 r0) (sub r1 r1 4)");
  unguarded = replaced(unguarded, "(0 2 (distance))", "(0 2 (distance (1 2)))");
  EXPECT_NE(runChecker(unguarded).output.find("engine 'f' waits for 's' >= 14, which is 0, though "
                                              "run 0 of 'use' has all that it depends on"),
            std::string::npos)
      << runChecker(unguarded).output;
}

/// On a machine that wraps around: the kernel's own bounds, where they do.
TEST(RejectionsTest, boundsOfTheKernelAreUsed) {
  std::string wraps = replaced(rightCertificate, "saturates", "wraps");
  EXPECT_NE(runChecker(wraps).output.find("while no body is entered more than 2^24 times;"),
            std::string::npos);
  std::string bounded = replaced(wraps, "(\"A\" loop) (\"B\" loop)",
                                 "(\"A\" loop (trips 0 2147483647)) (\"B\" loop (trips 1 1))");
  EXPECT_NE(runChecker(bounded).output.find("while trips are within the kernel's bounds;"),
            std::string::npos);
  std::string often = replaced(wraps, "(\"A\" loop)", "(\"A\" loop (trips 16777217))");
  EXPECT_NE(runChecker(often, "--quick")
                .output.find("while no body is entered more than 2^24 times, and 'A' is "
                             "entered 16777217 times at least"),
            std::string::npos)
      << runChecker(often, "--quick").output;
}

/// Where engines may disagree, less is said.
TEST(RejectionsTest, disagreementIsNamed) {
  std::string one = replaced(rightCertificate, "(\"A\" loop)", "(\"A\" loop divergent)");
  EXPECT_NE(runChecker(one).output.find("engines may disagree about 'A', and that all data has "
                                        "arrived and nothing deadlocks is not covered;"),
            std::string::npos);
  std::string two = replaced(one, "(\"c\" then)", "(\"c\" then divergent)");
  EXPECT_NE(runChecker(two).output.find("engines may disagree about 'A' and 1 more,"),
            std::string::npos);
}

/// What the writer says is called that.
TEST(RejectionsTest, theWriterIsNamed) {
  for (auto [word, text] :
       {std::pair("derived", "derived from the kernel's accesses"),
        std::pair("held", "checked against the kernel's accesses"),
        std::pair("ignored", "not checked against the kernel's accesses"),
        std::pair("untouched", "its accesses are not seen to touch anything")}) {
    std::string noted = replaced(rightCertificate, "(machine \"generic\")",
                                 fmt::format("(machine \"generic\") (accesses {})", word));
    EXPECT_NE(runChecker(noted).output.find(
                  fmt::format("for the dependences listed (its writer says: {})", text)),
              std::string::npos);
  }
}

/// Names end where they seem to end, whatever is in them.
TEST(RejectionsTest, namesAreEscaped) {
  std::string text = rightCertificate;
  text.replace(text.find("\"k\""), 3, R"("k' (x): \0A\1B[1m\FF\\")");
  EXPECT_TRUE(runChecker(text).output.starts_with(
      R"(certified: 'k\' (x): \0A\1B[1m\FF\\' (per-loop): 4 instructions)"))
      << runChecker(text).output;
}

TEST(RejectionsTest, longNamesAreCut) {
  std::string text = rightCertificate;
  text.replace(text.find("\"k\""), 3, '"' + std::string(100'000, 'k') + '"');
  EXPECT_LT(runChecker(text).output.size(), 1000u);
  EXPECT_EQ(runChecker(text).status, 0);
}

/// Registers that all seem to hold trip(A), the number of the iteration: r10 does not, so that r11,
/// which is one more than r10 was, does not either, and so on.
TEST(RejectionsTest, whatTakesTooManyPassesIsNamed) {
  std::string start, steps;
  for (int r = 90; r > 10; --r) {
    start += fmt::format("(move r{} 0) ", r);
    steps += fmt::format("(add r{} r{} 1) ", r, r - 1);
  }
  std::string text = rightCertificate;
  auto insertBefore = [&](std::string_view what, const std::string &more) {
    text.insert(text.find(what), more);
  };
  insertBefore("(loop 1 (add", start + "(move r10 0) ");
  insertBefore("(mul r1", steps + "(mul r10 r0 3) ");
  EXPECT_EQ(runChecker(text).output,
            "not covered: 'k' (per-loop): engine 'f': what its registers hold in 'A' was not found "
            "in 64 passes\n");
}

INSTANTIATE_TEST_SUITE_P(All, RejectionsTest, testing::ValuesIn(changes),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace tally
