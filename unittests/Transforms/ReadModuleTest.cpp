//===- ReadModuleTest.cpp - Errors of a whole file, in one run ------------===//

#include "tally/Transforms/ReadModule.h"
#include "tally/Transforms/Passes.h"

#include "mlir/IR/MLIRContext.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sys/time.h>

using namespace tally;

namespace {

/// What reading a text reports, one line each as `line:column: message`.
struct Reading {
  bool succeeded = false;
  std::vector<std::string> errors;
};

std::string describe(mlir::Diagnostic &diagnostic) {
  auto where = mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation());
  return where ? fmt::format("{}:{}: {}", where.getLine(), where.getColumn(), diagnostic.str())
               : diagnostic.str();
}

Reading read(llvm::StringRef text) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  Reading reading;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error) {
      reading.errors.push_back(describe(diagnostic));
    }
  });
  llvm::SourceMgr sources;
  auto module = readModule(llvm::MemoryBuffer::getMemBufferCopy(text, "k.mlir"), sources, &context);
  reading.succeeded = static_cast<bool>(module);
  return reading;
}

/// Whether exactly one error begins with `start`.
bool hasOne(const Reading &reading, std::string_view start) {
  auto begins = [&](const std::string &error) { return error.starts_with(start); };
  return std::count_if(reading.errors.begin(), reading.errors.end(), begins) == 1;
}

} // namespace

/// MLIR's own verifier would stop at the first kernel.
TEST(ReadModuleTest, allBadKernelsAreReported) {
  Reading reading = read(R"(tally.kernel @first {
  tally.engine "e"
  tally.instr "a" on "e"
  tally.instr "a" on "e"
  tally.instr "b" on "f"
}
tally.kernel @sound {
  tally.engine "e"
}
tally.kernel @second {
  tally.engine "e"
  tally.instr "c" on "nowhere"
}
)");
  EXPECT_FALSE(reading.succeeded);
  EXPECT_EQ(reading.errors.size(), 3u) << fmt::format("{}", fmt::join(reading.errors, "\n"));
  EXPECT_TRUE(hasOne(reading, "4:3: ")) << fmt::format("{}", fmt::join(reading.errors, "\n"));
  EXPECT_TRUE(hasOne(reading, "5:3: unknown queue 'f'"));
  EXPECT_TRUE(hasOne(reading, "12:3: unknown queue 'nowhere'"));
}

/// Code is judged with its kernel: a bad kernel elsewhere does not hide it, nor the other way
/// round.
TEST(ReadModuleTest, badCodeAndBadKernelsAreReported) {
  Reading reading = read(R"(tally.kernel @bad {
  tally.engine "e"
  tally.instr "c" on "nowhere"
}
tally.kernel @k {
  tally.engine "e"
}
tally.code @k {
  tally.program "x" {
  }
  tally.program "e" {
    tally.wait "s" >= 1
  }
}
)");
  EXPECT_FALSE(reading.succeeded);
  EXPECT_TRUE(hasOne(reading, "3:3: unknown queue 'nowhere'"));
  EXPECT_TRUE(hasOne(reading, "9:3: unknown engine 'x'"))
      << fmt::format("{}", fmt::join(reading.errors, "\n"));
  EXPECT_TRUE(hasOne(reading, "12:5: unknown semaphore 's'"));
}

/// Kernels may be sound and their code not, in more than one place.
TEST(ReadModuleTest, allBadCodeIsReported) {
  Reading reading = read(R"(tally.kernel @a {
  tally.engine "e"
}
tally.kernel @b {
  tally.engine "e"
}
tally.code @a {
  tally.program "x" {
  }
}
tally.code @b {
  tally.program "y" {
  }
}
tally.code @nobody {
}
)");
  EXPECT_FALSE(reading.succeeded);
  EXPECT_EQ(reading.errors.size(), 3u) << fmt::format("{}", fmt::join(reading.errors, "\n"));
  EXPECT_TRUE(hasOne(reading, "8:3: unknown engine 'x'"));
  EXPECT_TRUE(hasOne(reading, "12:3: unknown engine 'y'"));
  EXPECT_TRUE(hasOne(reading, "15:1: 'tally.code' op is for kernel 'nobody', which is not"));
}

TEST(ReadModuleTest, equalNamesAreReported) {
  Reading reading = read(R"(tally.kernel @a {
  tally.engine "e"
}
tally.kernel @a {
  tally.engine "e"
}
)");
  EXPECT_FALSE(reading.succeeded);
  EXPECT_TRUE(hasOne(reading, "4:1: there is another kernel 'a'; names of kernels"))
      << fmt::format("{}", fmt::join(reading.errors, "\n"));
}

TEST(ReadModuleTest, soundKernelsComeBack) {
  Reading reading = read(R"(tally.kernel @a {
  tally.engine "e"
}
tally.kernel @b {
  tally.engine "e"
}
)");
  EXPECT_EQ(fmt::format("{}", fmt::join(reading.errors, "\n")), "");
  EXPECT_TRUE(reading.succeeded);
}

/// Generic form can leave out the region that every module has, too.
TEST(ReadModuleTest, aModuleWithoutARegionIsAnError) {
  Reading reading = read(R"("builtin.module"() : () -> ())");
  EXPECT_FALSE(reading.succeeded);
  EXPECT_TRUE(hasOne(reading, "1:1: 'builtin.module' op requires one region"))
      << fmt::format("{}", reading.errors.empty() ? "no error" : reading.errors[0]);
}

/// Generic form can leave out the block that every module has; looking for it would crash.
TEST(ReadModuleTest, aModuleWithoutABlockIsAnError) {
  Reading reading = read(R"("builtin.module"() ({}) : () -> ())");
  EXPECT_FALSE(reading.succeeded);
  EXPECT_TRUE(hasOne(reading, "1:1: 'builtin.module' op region #0"))
      << fmt::format("{}", reading.errors.empty() ? "no error" : reading.errors[0]);
}

namespace {

/// Sends this process a signal every ten milliseconds, and lets it interrupt what waits.
class Alarms {
public:
  Alarms() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, &before);
    itimerval often{{0, 10'000}, {0, 10'000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }

  ~Alarms() {
    itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
  }

private:
  struct sigaction before = {};
};

} // namespace

/// A process goes first with bytecode, and a second of its time is the most that it may take: a
/// signal in this second is no reason to go on without it.
TEST(ReadModuleTest, signalsDoNotReplaceTheTrialOfBytecode) {
  auto file = llvm::MemoryBuffer::getFile(CORPUS_DIRECTORY "/bytecode/many-blocks.mlirbc");
  ASSERT_TRUE(file);
  Alarms alarms;
  Reading reading = read((*file)->getBuffer());
  EXPECT_EQ(reading.errors.size(), 1u) << fmt::format("{}", fmt::join(reading.errors, "\n"));
  EXPECT_TRUE(hasOne(reading, "0:0: damaged bytecode"));
}
