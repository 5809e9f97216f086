//===- PlainTextTest.cpp - Plain text reads as the module does ------------===//
//
// Where the reader of plain text has an answer, reading the same text as a module gives the same
// kernels at the same places, and nothing to report. It has one for what tally prints.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"
#include "FurnishedKernel.h"
#include "Random.h"

#include "tally/IR/Load.h"
#include "tally/Transforms/Bridge.h"
#include "tally/Transforms/Passes.h"
#include "tally/Transforms/ReadModule.h"
#include "tally/Written/KernelJson.h"
#include "tally/Written/Text.h"

#include "mlir/IR/MLIRContext.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::oracle;

namespace {

const uint32_t numKernels = test::numKernels(300, 2000);
const uint32_t numMutants = test::numKernels(5000, 100000);

std::string textOf(uint64_t seed) {
  std::string text = "module {\n";
  written::appendKernelText(text, furnishedKernel(seed), 2);
  return text + "}\n";
}

using Texts = std::vector<std::string>;

/// A text in pieces: words, numbers, names in quotes, blanks, and each other character alone.
Texts piecesOf(const std::string &text) {
  Texts pieces;
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.'; };
  for (size_t at = 0, end = 0; at < text.size(); at = end) {
    end = at + 1;
    if (text[at] == '"') {
      end = std::min(text.find('"', end), text.size() - 1) + 1;
    }
    while (isWord(text[at]) && end < text.size() && isWord(text[end])) {
      ++end;
    }
    pieces.push_back(text.substr(at, end - at));
  }
  return pieces;
}

/// What is hard to read, of the same kind as a piece.
const Texts &hardLike(const std::string &piece) {
  static const Texts numbers = {"0",
                                "007",
                                "-1",
                                "- 1",
                                "0x10",
                                "1.5",
                                "1e3",
                                "1_0",
                                "12a",
                                "->",
                                "999999999999999999",
                                "9223372036854775807",
                                "9223372036854775808",
                                "18446744073709551615",
                                "18446744073709551616"};
  static const Texts names = {"\"\"",         "\"",       "\"a\\22\"", "\"a\\n\"",
                              "\"\xc3\xa9\"", "\"a\tb\"", "\"a\nb\"",  "\"//\"",
                              "@k",           "@1",       "@ k",       "%0"};
  static const Texts words = {"tally.", "tally. dep",   "tally.instr",    "tally.engine",
                              "min",    "max",          "trips",          "else",
                              "module", "loc(unknown)", "attributes {a}", "x.y"};
  static const Texts marks = {"//",
                              "\n",
                              "\r\n",
                              "// a\r",
                              "\t",
                              "{",
                              "}",
                              "{}",
                              "[",
                              "]",
                              "[]",
                              ",",
                              "=",
                              "==",
                              ">",
                              "^bb0:",
                              "#a",
                              "\xc3\xa9",
                              std::string(1, '\0')};
  auto first = static_cast<unsigned char>(piece.front());
  return first == '"' ? names : std::isdigit(first) ? numbers : std::isalpha(first) ? words : marks;
}

std::string joined(const Texts &pieces) {
  std::string result;
  for (const std::string &piece : pieces) {
    result += piece;
  }
  return result;
}

Texts linesOf(const std::string &text) {
  Texts lines;
  for (size_t at = 0, end = 0; at < text.size(); at = end) {
    end = text.find('\n', at) + 1;
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
}

/// A piece lost, doubled, exchanged, or made hard to read.
void makeMistake(Texts &pieces, fuzz::Random &random) {
  std::string &piece = pieces[random.below(pieces.size())];
  switch (random.below(6)) {
  case 0:
    piece.clear();
    break;
  case 1:
    piece += piece;
    break;
  case 2:
    std::swap(piece, pieces[random.below(pieces.size())]);
    break;
  default:
    if (!piece.empty()) {
      const Texts &hard = hardLike(piece);
      piece = hard[random.below(hard.size())];
    }
  }
}

/// Mistakes in words or, now and then, in whole lines.
std::string mistaken(const std::string &text, fuzz::Random &random) {
  Texts pieces = random.percent(20) ? linesOf(text) : piecesOf(text);
  for (uint64_t left = 1 + random.below(2); left != 0; --left) {
    makeMistake(pieces, random);
  }
  return joined(pieces);
}

std::string describe(const Kernel &kernel) {
  return dump(kernel) + writeKernelJson(kernel, {.locations = true});
}

class PlainTextTest : public testing::Test {
protected:
  PlainTextTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Compares the kernels of a text, if there is an answer.
  bool answersRightly(const std::string &text);

  mlir::MLIRContext context;
};

bool PlainTextTest::answersRightly(const std::string &text) {
  std::optional<std::vector<LoadedKernel>> plain =
      ir::readPlainText(*llvm::MemoryBuffer::getMemBufferCopy(text, "k.mlir"));
  if (!plain) {
    return false;
  }
  std::string said;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { said += diagnostic.str() + "\n"; });
  llvm::SourceMgr sources;
  auto module = readModule(llvm::MemoryBuffer::getMemBufferCopy(text, "k.mlir"), sources, &context);
  Diagnostics diagnostics;
  auto kernels = module ? loadKernels(*module, diagnostics) : std::vector<LoadedKernel>();
  EXPECT_EQ(said + render(diagnostics, {}), "") << text;
  EXPECT_EQ(plain->size(), kernels.size()) << text;
  for (size_t i = 0; i < std::min(plain->size(), kernels.size()); ++i) {
    EXPECT_EQ(describe((*plain)[i].kernel), describe(kernels[i].kernel)) << text;
  }
  return true;
}

} // namespace

TEST_F(PlainTextTest, whatIsPrintedHasAnAnswer) {
  for (uint64_t seed = 0; seed < numKernels && !HasFailure(); ++seed) {
    EXPECT_TRUE(answersRightly(textOf(seed))) << "seed " << seed;
  }
}

TEST_F(PlainTextTest, whatPeopleWroteReadsAsTheModule) {
  uint32_t answered = 0;
  for (const char *folder : {"kernels", "test"}) {
    for (const auto &entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(SOURCE_DIRECTORY) / folder)) {
      if (entry.path().extension() == ".mlir") {
        SCOPED_TRACE(entry.path());
        answered += answersRightly(
            (*llvm::MemoryBuffer::getFile(entry.path().string()))->getBuffer().str());
      }
    }
  }
  EXPECT_GE(answered, 10u);
}

/// Some mistakes are none, such as a blank more.
TEST_F(PlainTextTest, mistakesAreReadAsTheModuleReadsThem) {
  uint32_t answered = 0;
  for (uint64_t seed = 0; seed < numMutants && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    fuzz::Random random(seed);
    answered += answersRightly(mistaken(textOf(seed % 100), random));
  }
  EXPECT_GT(answered, numMutants / 100);
  EXPECT_LT(answered, numMutants / 2);
}

TEST_F(PlainTextTest, codeAndPlacesAndOtherFormsHaveNone) {
  const std::string engine = "  tally.engine \"e\"\n";
  const std::string kernel = "tally.kernel @k {\n" + engine + "  tally.instr \"a\" on \"e\"\n}\n";
  EXPECT_TRUE(answersRightly(kernel));
  EXPECT_TRUE(answersRightly("// one\nmodule {" + kernel + "} // end"));
  const std::vector<std::string> others = {
      "// one\r" + kernel,
      kernel + kernel,
      kernel + "tally.code @k strategy \"manual\" {}\n",
      "module @m {" + kernel + "}",
      "module {" + kernel,
      kernel + "}",
      kernel + "loc(unknown)",
      std::string(),
      "tally.kernel @k {\n  tally.instr \"a\" on \"e\"\n" + engine + "}\n",
      "tally.kernel @k {\n" + engine + "  tally.loop \"A\" trips " + std::string(1001, '0') +
          "1 {}\n}\n",
      "tally.kernel @ k {\n" + engine + "}\n",
      "tally.kernel @k {\n" + engine + "  tally.instr \"a\vb\" on \"e\"\n}\n",
      "tally.kernel @k {\n  tally. engine \"e\"\n}\n",
      "tally.kernel @k {\n  tally.engine \"e\" loc(\"k.py\":1:1)\n}\n",
      "tally.kernel @k {\n  \"tally.engine\"() : () -> ()\n}\n"};
  for (const std::string &other : others) {
    EXPECT_FALSE(ir::readPlainText(*llvm::MemoryBuffer::getMemBufferCopy(other, "k.mlir")))
        << other;
  }
}
