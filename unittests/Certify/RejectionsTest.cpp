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
      "certified: 'k' (per-loop): 4 instructions, 1 dependence; while no number reaches 2^32\n");
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
     "the distance from 'make' to 'use' is on 'c', which is no loop around both"},
    {"DistanceOnOneLoop", "(0 2 (distance))", "(0 2 (distance (2 1)))", "rejected",
     "the distance from 'make' to 'use' is on 'B', which is no loop around both"},
    {"DistanceBelowZero", "(0 2 (distance))", "(0 2 (distance (1 -1)))", "rejected",
     "the distance from 'make' to 'use' on 'A' is -1"},
    {"DistanceTooFar", "(0 2 (distance))", "(2 0 (distance (1 65)))", "not covered",
     "distance 65 on 'A' is more than the 64 iterations that are remembered"},
    {"BackwardAtZero", "(0 2 (distance))", "(2 0 (distance))", "rejected",
     "the kernel is not legal: dependence 'use' -> 'make' at 'A' = 0"},
    {"CircleInBlock", "(0 2 (distance))", "(0 2 (distance)) (1 0 (distance))", "rejected",
     "the kernel is not legal: dependence 'more' -> 'make' at 'A' = 0"},

    // Where the code runs what.
    {"NotIssued", "(issue 1 (signal 1 2))", "", "rejected", "instruction 'more' is not issued"},
    {"IssuedTwice", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2)) (issue 1 (signal 1 2))",
     "rejected", "instruction 'more' is issued in two places"},
    {"OtherOrder", "(issue 0 (signal 0 2)) (issue 1 (signal 1 2))",
     "(issue 1 (signal 1 2)) (issue 0 (signal 0 2))", "rejected",
     "the code does not issue the instructions in the kernel's order"},
    {"OtherEngine", "(issue 1 (signal 1 2))))", ")) (2 (loop 1 (issue 1 (signal 1 2))))", "",
     "there is no engine 2"},
    {"InstructionAfterItsPlace", "(issue 0 (signal 0 2)) (issue 1 (signal 1 2))",
     "(issue 0 (signal 0 2)) (loop 2) (issue 1 (signal 1 2))", "rejected",
     "engine 'e' runs instruction 'more' out of the kernel's order"},
    {"LoopAfterItsPlace", "(loop 2 (issue 2 (wait 0 r1)))\n         (if 3 ((issue 3)) ())",
     "(if 3 ((issue 3)) ()) (loop 2 (issue 2 (wait 0 r1)))", "rejected",
     "engine 'f' runs 'B' out of the kernel's order"},
    {"LoopOutsideItsBody", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2))) (loop 2", "rejected",
     "engine 'e' runs 'B' outside the body that holds it"},
    {"LoopAsBranch", "(loop 2 (issue 2 (wait 0 r1)))", "(if 2 ((issue 2 (wait 0 r1))) ())",
     "rejected", "engine 'f' takes 'B' for a loop or a conditional, which it is not"},
    {"UnrolledCode", "(loop 2 (issue 2 (wait 0 r1)))", "(issue 2 (wait 0 r1))", "not covered",
     "instruction 'use' is issued outside its body 'B', as in unrolled code"},

    // Semaphores.
    {"WrongAmount", "(signal 0 2)", "(signal 0 1)", "rejected",
     "instruction 'make' raises semaphore 's' by 1, and its queue 'e' by 2"},
    {"TwoQueues", "(signal 1 2)", "(signal 0 2)", "rejected",
     "semaphore 's' is raised by 'more', and by instructions of another body or queue"},
    {"NothingRaised", "(issue 0 (signal 0 2))", "(issue 0)", "rejected",
     "waits on semaphore 's', which no dependence asks for"},
    {"NobodyAsks", "(wait 0 r1)", "(wait 1 r1)", "rejected",
     "engine 'f', instruction 'use': waits on semaphore 't', which no dependence asks for"},
    {"ProducerWithoutSemaphore", "(0 2 (distance))", "(0 2 (distance)) (3 2 (distance (1 1)))",
     "rejected", "'done' raises no semaphore, for dependence 'done' -> 'use' at 'A' = 1"},
    {"NoWait", "(issue 2 (wait 0 r1))", "(issue 2)", "rejected",
     "engine 'f', instruction 'use': no wait for dependence 'make' -> 'use' at 'A' = 0, which asks "
     "for 's' >= 2*total(A)"},
    {"WrongThreshold", "(mul r1 2 r0)", "(mul r1 3 r0)", "rejected",
     "engine 'f', instruction 'use': waits for 's' >= 3*total(A), but dependence 'make' -> 'use' "
     "at "
     "'A' = 0 asks for 2*total(A)"},
    {"UnknownThreshold", "(wait 0 r1)", "(wait 0 r7)", "rejected",
     "waits for 's' >= a value about which nothing is known"},
    {"WaitForNothing", "(issue 1 (signal 1 2))", "(issue 1 (signal 1 2)) (wait 0 0)", "rejected",
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

    // What cannot be read.
    {"OtherVersion", "(certificate 1", "(certificate 2", "", "only version 1 is known"},
    {"NoMember", "(machine \"generic\")", "", "", "the certificate has no 'machine'"},
    {"MemberTwice", "(machine \"generic\")", "(machine \"a\") (machine \"b\")", "",
     "'machine' stands here twice"},
    {"NoSuchInstruction", "(block 0 1)", "(block 0 9)", "",
     "there is no instruction 9; there are 4"},
    {"NoOperation", "(issue 1 (signal 1 2))", "(jump 1)", "", "expected an operation"},
    {"NoStatement", "(block 0 1)", "(blok 0 1)", "", "expected a statement"},
    {"NoDistance", "(distance)", "(near)", "", "expected a distance"},
    {"NoNumber", "(signal 0 2)", "(signal 0 two)", "", "expected a number, found 'two'"},
    {"NegativeThreshold", "(wait 0 r1)", "(wait 0 -1)", "", "expected a number from 0, found -1"},
    {"TooManyBits", "(arithmetic 32", "(arithmetic 61", "", "a number has 1 to 60 bits"},
    {"TextWithoutEnd", "\"k\"", "\"k", "", "the text does not end on its line"},
};

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
            "rejected: 'k' (per-loop): engine 'f': what its registers hold in 'A' was not found in "
            "64 passes\n");
}

INSTANTIATE_TEST_SUITE_P(All, RejectionsTest, testing::ValuesIn(changes),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace tally
