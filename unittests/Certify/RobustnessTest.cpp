//===- RobustnessTest.cpp - Certificates that are too much ----------------===//
//
// Whatever its size and shape, a certificate ends in a verdict or an error, and never in a yes that
// was not earned. The tests have a million operations, bodies or brackets, numbers and expressions
// that explode, a stack that is small, and time that is up.
//
//===----------------------------------------------------------------------===//

#include "Checker.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace tally {
namespace {

/// loop A { make || use }, with more operations before those of the second engine's loop, or in it.
std::string pair(const std::string &before, const std::string &inside,
                 const std::string &arithmetic = "32 saturates unsigned",
                 const std::string &loopsBehind = "", const std::string &bodyBehind = "") {
  return fmt::format(R"((certificate 1
  (kernel "k") (strategy "per-loop") (machine "generic")
  (arithmetic {2})
  (engines "e" "f")
  (queues ("e" 0 1 whole) ("f" 1 1 whole))
  (loops ("A" loop){3})
  (instructions ("make" 0) ("use" 1))
  (body (loop 1 (block 0 1)){4})
  (dependences (0 1 (distance)))
  (semaphores "s")
  (code (0 (loop 1 (issue 0 (signal 0 1))))
        (1 {0} (move r0 0) (loop 1 (add r0 r0 1) {1} (issue 1 (wait 0 r0))))))
)",
                     before, inside, arithmetic, loopsBehind, bodyBehind);
}

template <typename F> std::string each(size_t count, F piece) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += piece(i);
  }
  return text;
}

std::string repeated(size_t count, const std::string &piece) {
  return each(count, [&](size_t) { return piece; });
}

void expectVerdict(const std::string &text, const std::string &start,
                   const std::string &option = "") {
  Answer answer = runChecker(text, option);
  EXPECT_TRUE(answer.output.starts_with(start)) << answer.output.substr(0, 500);
  EXPECT_EQ(answer.status, start == "certified" ? 0 : 2);
}

TEST(RobustnessTest, aMillionOperations) {
  expectVerdict(pair(repeated(1'000'000, "(move r1 7)"), ""), "certified");
}

TEST(RobustnessTest, manyOperationsInALoop) {
  expectVerdict(
      pair("",
           each(100'000, [](size_t i) { return fmt::format("(add r{} r0 {})", 1 + i % 50, i); })),
      "certified");
}

TEST(RobustnessTest, manyBodies) {
  constexpr size_t count = 50'000;
  expectVerdict(pair("", "", "32 saturates unsigned",
                     each(count, [](size_t i) { return fmt::format(" (\"L{}\" loop)", i); }),
                     each(count, [](size_t i) { return fmt::format(" (loop {})", i + 2); })),
                "certified");
}

/// Deep for a stack of one MiB, with no way to a larger one.
std::string deep() {
  return pair(
      "", each(100'000, [](size_t i) { return fmt::format("(add r{} r0 {})", 1 + i % 50, i); }));
}

constexpr const char *smallStack = "ulimit -Ss 1024; ulimit -Hs 1024; ";

TEST(RobustnessTest, aSmallStackIsNoCrash) {
  Answer answer = runChecker(deep(), "", smallStack);
  EXPECT_EQ(answer.output, "not covered: 'k' (per-loop): it is too large for the stack of this "
                           "process\n");
  EXPECT_EQ(answer.status, 2);
}

TEST(RobustnessTest, timeIsUp) {
  constexpr size_t count = 1'000'000;
  std::string text = pair("", "", "32 saturates unsigned",
                          each(count, [](size_t i) { return fmt::format(" (\"L{}\" loop)", i); }),
                          each(count, [](size_t i) { return fmt::format(" (loop {})", i + 2); }));
  Answer answer = runChecker(text, "--seconds=1");
  EXPECT_NE(answer.output.find("decided within 1 seconds"), std::string::npos)
      << answer.output.substr(0, 500);
  EXPECT_EQ(answer.status, 2);
}

/// What comes behind a certificate that fails is judged all the same.
TEST(RobustnessTest, oneFailureDoesNotHideTheNext) {
  Answer answer = runChecker(deep() + pair("", ""), "", smallStack);
  EXPECT_TRUE(answer.output.starts_with("not covered: 'k'")) << answer.output;
  EXPECT_NE(answer.output.find("\ncertified: 'k'"), std::string::npos) << answer.output;
  EXPECT_EQ(answer.status, 2);
}

/// Each squaring doubles an expression, and the number of bits of a number.
TEST(RobustnessTest, squarings) {
  for (const char *arithmetic : {"32 saturates unsigned", "32 wraps unsigned"}) {
    for (size_t count : {20, 60, 1000}) {
      std::string squares = "(gt r1 r0 7) (min r1 r1 r0)" + repeated(count, "(mul r1 r1 r1)");
      expectVerdict(pair("", squares, arithmetic), "certified");
    }
  }
  expectVerdict(pair("", "(add r1 r0 1)" + repeated(20, "(mul r1 r1 r1)")), "not covered");
  expectVerdict(pair("", "(add r1 r0 1)" + repeated(60, "(add r1 r1 r1)")), "not covered");
}

TEST(RobustnessTest, otherExpressionsThatGrow) {
  for (const char *o : {"min", "gt", "sub", "add", "mul"}) {
    std::string steps =
        "(gt r1 r0 7) (min r2 r0 1)" +
        repeated(40, fmt::format("({0} r3 r1 r2) (min r1 r3 r2) (min r2 r3 r1)", o));
    Answer answer = runChecker(pair("", steps, "32 wraps unsigned"), "--seconds=100");
    EXPECT_EQ(answer.output.find("within"), std::string::npos) << answer.output;
    EXPECT_EQ(answer.output.find("failed"), std::string::npos) << answer.output;
  }
}

/// Little memory for a checker, and no more.
constexpr const char *littleMemory = "ulimit -v 500000; ";

/// Each pass over the loop finds what the one register more holds that it moves. No run shows a
/// fault, and each of its steps takes as long as what it does, not as there are registers.
TEST(RobustnessTest, registersThatTakeTurns) {
  std::string turns =
      each(2'000, [](size_t i) { return fmt::format("(move r{} r{})", 2000 - i, 1999 - i); });
  Answer answer = runChecker(pair("", turns), "--seconds=60", littleMemory);
  EXPECT_EQ(answer.output, "not covered: 'k' (per-loop): engine 'f': what its registers hold in "
                           "'A' was not found in 64 passes\n");
}

/// The same for loops, one behind another: `use` waits for a product of all that they count.
TEST(RobustnessTest, loopsThatTakeTurns) {
  constexpr size_t count = 1'000;
  auto loop = [](size_t i) {
    return fmt::format("(loop {0} (add r{0} r0 1) (mul r0 r{0} r{1}))", i + 1, i);
  };
  std::string text = fmt::format(
      R"((certificate 1 (kernel "k") (strategy "per-loop") (machine "m")
  (arithmetic 32 saturates unsigned) (engines "e" "f") (queues ("e" 0 1 whole) ("f" 1 1 whole))
  (loops{}) (instructions ("make" 0) ("use" 1)) (body (block 0) {} (block 1))
  (dependences (0 1 (distance))) (semaphores "s")
  (code (0 (issue 0 (signal 0 1))) (1 {} (issue 1 (wait 0 r0))))))",
      each(count, [](size_t i) { return fmt::format(" (\"L{}\" loop)", i); }),
      each(count, [](size_t i) { return fmt::format(" (loop {})", i + 1); }), each(count, loop));
  Answer answer = runChecker(text, "--seconds=60", littleMemory);
  EXPECT_EQ(answer.output, "not covered: 'k' (per-loop): engine 'f', instruction 'use': waits for "
                           "'s' >= a value about which nothing is known, but dependence 'make' -> "
                           "'use' asks for 1\n");
}

/// Sixty sums under a mask of thirty factors, again and again.
std::string masks() {
  return each(30, [](size_t i) { return fmt::format("(gt r{} r0 {})", 10 + i, i); }) +
         "(move r1 r10)" +
         each(29, [](size_t i) { return fmt::format("(mul r1 r1 r{})", 11 + i); }) +
         "(add r2 r0 r0)" +
         each(60, [](size_t i) { return fmt::format("(sub r2 r2 {}) (add r2 r2 r0)", i + 1); }) +
         repeated(1'000, "(mul r3 r1 r2)");
}

TEST(RobustnessTest, stepsAreUp) {
  Answer answer = runChecker(pair("", masks()), "--steps=1000000");
  EXPECT_EQ(answer.output, "not covered: 'k' (per-loop): the checker takes more than 1000000 "
                           "steps; --steps=N gives it more\n");
  EXPECT_EQ(answer.status, 2);
  expectVerdict(pair("", ""), "certified", "--steps=1000000");
}

/// Each line of a replay has a number for each semaphore.
TEST(RobustnessTest, stepsOfAReplayAreUp) {
  std::string text = pair("", "");
  text.insert(text.rfind(')'),
              "(run (trips (0 1 9) (1 1 9)) (steps" + repeated(9, " (operate 0)") + "))");
  Answer all = runChecker(text, "--replay");
  EXPECT_EQ(all.output.find("stopped"), std::string::npos) << all.output;
  Answer some = runChecker(text, "--replay --steps=100");
  EXPECT_NE(some.output.find("stopped: it takes more than 100 steps; --steps=N gives it more"),
            std::string::npos)
      << some.output;
}

TEST(RobustnessTest, nesting) {
  for (size_t depth : {256, 257}) {
    auto nest = [&](const std::string &inside) {
      return each(depth, [](size_t i) { return fmt::format("(loop {} ", i + 1); }) + inside +
             std::string(depth, ')');
    };
    std::string text = fmt::format(
        R"((certificate 1 (kernel "k") (strategy "per-loop") (machine "m") (accesses derived)
  (arithmetic 32 saturates unsigned) (engines "e") (queues ("e" 0 1 whole))
  (loops{}) (instructions ("x" 0)) (body {}) (dependences) (semaphores) (code (0 {}))))",
        each(depth, [](size_t i) { return fmt::format(" (\"L{}\" loop)", i); }), nest("(block 0)"),
        nest("(issue 0)"));
    Answer answer = runChecker(text);
    EXPECT_EQ(answer.status, depth == 256 ? 0 : 2) << answer.output;
    if (depth == 257) {
      EXPECT_NE(answer.output.find("more than 256 loops and branches around one another"),
                std::string::npos)
          << answer.output;
    }
  }
}

TEST(RobustnessTest, brackets) {
  expectVerdict(std::string(1'000'000, '('), "error: ");
  expectVerdict("(certificate 1 " + std::string(1'000'000, '('), "error: ");
  expectVerdict(std::string(1'000'000, ')'), "error: ");
}

TEST(RobustnessTest, longTokens) {
  expectVerdict("(certificate 1 (kernel \"" + std::string(10'000'000, 'k') + "\"))", "error: ");
  expectVerdict(std::string(10'000'000, 'k'), "error: ");
  expectVerdict(pair("(move r1 " + std::string(1'000'000, '9') + ")", ""), "error: ");
}

TEST(RobustnessTest, nothing) {
  expectVerdict("", "error: ");
  expectVerdict("\n\n", "error: ");
  expectVerdict(std::string("\0\xff", 2), "error: ");
}

} // namespace
} // namespace tally
