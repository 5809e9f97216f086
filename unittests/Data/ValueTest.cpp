//===- ValueTest.cpp - What functions make of tiles -----------------------===//
//
// One instruction at a time, on numbers that can be checked by hand; and large products and sums
// against double precision.
//
//===----------------------------------------------------------------------===//

#include "tally/Data/Effects.h"
#include "tally/Data/Inputs.h"
#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tally;

namespace {

/// A kernel of one instruction that reads whole buffers r0, r1, ... and writes (or adds to) `out`.
struct OneInstr {
  struct Input {
    std::vector<uint64_t> shape;
    std::vector<float> numbers; ///< empty: not written
    std::string type = "f32";
  };

  OneInstr(std::string_view computes, std::vector<Input> inputs, std::vector<uint64_t> outShape,
           std::string_view outType = "f32", AccessKind kind = AccessKind::Write,
           uint64_t trips = 1, std::string_view guard = {}) {
    KernelBuilder b("k");
    EngineId act = b.engine("act");
    std::vector<BufferId> ids;
    for (size_t i = 0; i < inputs.size(); ++i) {
      ids.push_back(b.buffer(fmt::format("in{}", i), inputs[i].shape, "", inputs[i].type));
    }
    out = b.buffer("out", outShape, "", outType);
    b.beginLoop("A", KernelBuilder::constant(trips));
    b.instr("i", b.queueOf(act));
    b.computes(computes);
    for (size_t i = 0; i < inputs.size(); ++i) {
      b.access(AccessKind::Read, ids[i], fmt::format("in{}{}", i, guard));
    }
    bool goesAnywhere = computes.find("scatter") != std::string_view::npos;
    b.access(kind, out, goesAnywhere ? "out[@]" : "out");
    b.endLoop();
    kernel = b.finish();
    check(kernel, problems);
    Bindings bindings(kernel);
    runs.emplace(kernel, bindings, problems);
    effects = Effects::of(kernel, *runs, problems);
    memory = emptyMemory(kernel, problems);
    for (size_t i = 0; i < inputs.size() && !problems.hasErrors(); ++i) {
      for (size_t e = 0; e < inputs[i].numbers.size(); ++e) {
        memory[ids[i]].set(e, inputs[i].numbers[e]);
      }
    }
  }

  /// All elements of `out`, poison as `?`.
  std::string result() {
    if (problems.hasErrors()) {
      return render(problems, {});
    }
    DataRun run(*effects, memory);
    for (Instance instance : runs->order()) {
      run.commit(instance);
    }
    faults.clear();
    for (const DataFault &fault : run.faults()) {
      faults.push_back(describe(kernel, *runs, fault));
    }
    std::vector<std::string> elements;
    values.clear();
    for (size_t i = 0; i < run.memory()[out].size(); ++i) {
      values.push_back(run.memory()[out].value(i));
      elements.push_back(run.memory()[out].isPoison(i) ? "?" : fmt::format("{}", values.back()));
    }
    return fmt::format("{}", fmt::join(elements, " "));
  }

  Kernel kernel;
  BufferId out;
  Diagnostics problems;
  std::optional<Runs> runs;
  std::optional<Effects> effects;
  Memory memory;
  std::vector<std::string> faults;
  std::vector<float> values;
};

std::string computed(std::string_view computes, std::vector<OneInstr::Input> inputs,
                     std::vector<uint64_t> outShape, std::string_view outType = "f32",
                     AccessKind kind = AccessKind::Write, uint64_t trips = 1) {
  return OneInstr(computes, std::move(inputs), std::move(outShape), outType, kind, trips).result();
}

const OneInstr::Input line{{4}, {1, -2, 3, 0.25F}};
const OneInstr::Input table{{2, 3}, {1, 2, 3, 4, 5, 6}};

} // namespace

TEST(ValueTest, elementByElement) {
  EXPECT_EQ(computed("r0 + 1", {line}, {4}), "2 -1 4 1.25");
  EXPECT_EQ(computed("2 - r0 * r0 / 2", {line}, {4}), "1.5 0 -2.5 1.96875");
  EXPECT_EQ(computed("-abs(r0)", {line}, {4}), "-1 -2 -3 -0.25");
  EXPECT_EQ(computed("max(r0, 0) + min(r0, 1)", {line}, {4}), "2 -2 4 0.5");
  EXPECT_EQ(computed("select(r0 <= 1, square(r0), 7)", {line}, {4}), "1 4 7 0.0625");
  EXPECT_EQ(computed("(r0 < 1) + (r0 == 1)", {line}, {4}), "1 1 0 1");
  EXPECT_EQ(computed("sqrt(r0) + rsqrt(r0) + reciprocal(r0)", {{{1}, {0.25F}}}, {1}), "6.5");
  EXPECT_EQ(computed("exp(r0 - r0) + silu(r0 - r0)", {line}, {4}), "1 1 1 1");
}

/// As in NumPy, whichever of two it is.
TEST(ValueTest, nanIsTheLargestAndTheSmallest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const OneInstr::Input left{{3}, {nan, 2, 3}}, right{{3}, {1, nan, 4}};
  EXPECT_EQ(computed("max(r0, r1)", {left, right}, {3}), "nan nan 4");
  EXPECT_EQ(computed("min(r0, r1)", {left, right}, {3}), "nan nan 3");
  for (const auto &row : {std::vector<float>{nan, 1, 2}, {1, nan, 2}, {1, 2, nan}}) {
    EXPECT_EQ(computed("max(r0) + min(r0)", {{{1, 3}, row}}, {1}), "nan");
  }
}

TEST(ValueTest, smallShapesGoWithLargeOnes) {
  EXPECT_EQ(computed("r0 * r1", {table, {{2}, {10, 100}}}, {2, 3}), "10 20 30 400 500 600");
  EXPECT_EQ(computed("r1 - r0", {table, {{1, 3}, {0, 1, 2}}}, {2, 3}), "-1 -1 -1 -4 -4 -4");
  EXPECT_EQ(computed("r0", {{{1, 3}, {7, 8, 9}}}, {2, 3}), "7 8 9 7 8 9");
  EXPECT_EQ(computed("5", {}, {2}), "5 5");
  EXPECT_EQ(computed("r0", {table}, {3, 2}), "1 2 3 4 5 6"); // as many: in order
}

TEST(ValueTest, axes) {
  EXPECT_EQ(computed("sum(r0)", {table}, {2}), "6 15");
  EXPECT_EQ(computed("max(r0) + min(r0)", {table}, {2}), "4 10");
  EXPECT_EQ(computed("transpose(r0)", {table}, {3, 2}), "1 4 2 5 3 6");
  // [2, 3] and [2, 1]: over the first axis.
  EXPECT_EQ(computed("matmul(r0, r1)", {table, {{2, 1}, {1, 10}}}, {3, 1}), "41 52 63");
}

/// utils/outside/computes.py holds all functions against NumPy; here is what each is meant to do.
TEST(ValueTest, severalAxes) {
  OneInstr::Input cube{{2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  EXPECT_EQ(computed("sum(r0, [0, 2])", {cube}, {2}), "30 48");
  EXPECT_EQ(computed("max(r0, [1])", {cube}, {2, 3}), "4 5 6 10 11 12");
  EXPECT_EQ(computed("product(r0, [0, 1, 2]) / 479001600", {cube}, {1}), "1");
  EXPECT_EQ(computed("permute(r0, [2, 0, 1])", {cube}, {3, 2, 2}), "1 4 7 10 2 5 8 11 3 6 9 12");
  EXPECT_EQ(computed("r0 + reshape(r1, [1, 3])", {table, {{3}, {10, 20, 30}}}, {2, 3}),
            "11 22 33 14 25 36");
  EXPECT_EQ(computed("index([2, 3], 0) * 10 + index([2, 3], 1)", {}, {2, 3}), "0 1 2 10 11 12");
  OneInstr iteration("A * 10 + index([2], 0)", {}, {2}, "f32", AccessKind::Write, 3);
  EXPECT_EQ(iteration.result(), "20 21");
}

TEST(ValueTest, alongRows) {
  EXPECT_EQ(computed("scan(*, +, 1, r0, 0)", {table}, {2, 3}), "1 3 6 4 9 15");
  EXPECT_EQ(computed("scan(max, -, r0, 1, r1)", {table, {{2}, {2, 9}}}, {2, 3}), "1 1 2 8 7 6");
  OneInstr::Input row{{5}, {3, 1, 3, -2, 7}};
  EXPECT_EQ(computed("top(r0, 3)", {row}, {3}), "7 3 3");
  EXPECT_EQ(computed("find(r0, top(r0, 3))", {row}, {3}), "4 0 2");
  EXPECT_EQ(computed("find(r0, r1)", {row, {{2}, {1, 5}}}, {2}), "1 -1");
  EXPECT_EQ(computed("replace(r0, top(r0, 2), -inf)", {row}, {5}), "-inf 1 3 -2 -inf");
}

TEST(ValueTest, wholeNumbers) {
  OneInstr::Input large{{2}, {16777216, -3}, "i32"};
  EXPECT_EQ(computed("r0", {large}, {2}, "i16"), "32767 -3");       // the nearest within range
  EXPECT_EQ(computed("bitor(r0, 0)", {large}, {2}, "i16"), "0 -3"); // the low bits
  EXPECT_EQ(computed("isub(iadd(imul(r0, 4096), 1), 16777216)", {{{1}, {4096}}}, {1}), "1");
  EXPECT_EQ(computed("shr(r0, 28) + sar(r0, 1)", {{{1}, {-3}, "i32"}}, {1}), "13");
  EXPECT_EQ(computed("bitxor(2.5, -1)", {}, {1}), "-3");
  EXPECT_EQ(computed("bits(r0) - 1065353216", {{{1}, {1}}}, {1}), "0");
  EXPECT_EQ(computed("frombits(1065353216)", {}, {1}), "1");
  EXPECT_EQ(computed("u8(r0) + bf16(r0) + fp8(r0)", {{{1}, {300.7F}}}, {1}), "inf");
  EXPECT_EQ(computed("u8(r0) + bf16(r0)", {{{1}, {300.7F}}}, {1}), "555");
}

TEST(ValueTest, rows) {
  OneInstr::Input index{{3}, {1, 0, 1}, "i32"};
  EXPECT_EQ(computed("gather(r0, r1)", {table, index}, {3, 3}), "4 5 6 1 2 3 4 5 6");
  EXPECT_EQ(computed("gather(r0, r1, r2)", {table, index, {{1}, {2}, "i32"}}, {3}), "6 3 6");
  EXPECT_EQ(computed("scatter(r0, r1)", {table, {{2}, {2, 0}, "i32"}}, {3, 3}),
            "4 5 6 ? ? ? 1 2 3");
}

TEST(ValueTest, sumsBeginWhereTheySay) {
  auto added = [](std::string_view computes) {
    return computed(computes, {line}, {4}, "f32", AccessKind::Accumulate, 3);
  };
  EXPECT_EQ(added("start(A, r0)"), "3 -6 9 0.75");
  EXPECT_EQ(added("start(r0)"), "1 -2 3 0.25");
  EXPECT_EQ(added("r0"), "? ? ? ?");
}

/// Only what is stored is rounded.
TEST(ValueTest, resultsAreRoundedOnce) {
  EXPECT_EQ(computed("r0 + 0.0078125 - 1", {{{1}, {1}}}, {1}, "bf16"), "0.0078125");
  EXPECT_EQ(computed("r0 + 0.00390625", {{{1}, {1}}}, {1}, "bf16"), "1"); // half: to even
  EXPECT_EQ(computed("r0 * 100", {line}, {4}, "fp8"), "96 -192 inf 24");  // halves: to even
  EXPECT_EQ(computed("r0", {{{2}, {1e20F, -3.5F}}}, {2}, "i32"), "2147483600 -4");
}

TEST(ValueTest, poisonSpreadsToWhatIsMadeOfIt) {
  OneInstr::Input nothing{{2}, {}};
  EXPECT_EQ(computed("r0 * 0", {nothing}, {2}), "? ?");
  EXPECT_EQ(computed("r0 + r1", {table, nothing}, {2, 3}), "? ? ? ? ? ?");
  EXPECT_EQ(computed("scan(+, +, r0, 0, 0)", {{{3}, {1, 2}}}, {3}), "1 3 ?");
  EXPECT_EQ(computed("top(r0, 1)", {{{2, 2}, {1, 2, 3}}}, {2}), "2 ?");
  EXPECT_EQ(computed("bitand(r0, 1)", {{{2}, {3}, "i32"}}, {2}), "1 ?");
  EXPECT_EQ(computed("select(r1 == 1, r0, r1)", {nothing, {{2}, {1, 5}}}, {2}), "? 5");
  // One poisoned element: its row of a sum, its column of a product.
  OneInstr::Input partly = {{2, 3}, {1, 2}};
  EXPECT_EQ(computed("sum(r0)", {partly}, {2}), "? ?");
  EXPECT_EQ(computed("matmul(r0, r1)", {table, partly}, {3, 3}), "? ? ? ? ? ? ? ? ?");
  OneInstr::Input column = {{3, 2}, {1, 2, 3, 4, 5}};
  EXPECT_EQ(computed("matmul(r0, r1)", {{{3, 1}, {1, 1, 1}}, column}, {1, 2}), "9 ?");
  // ... its row, if it is among the weights.
  EXPECT_EQ(computed("matmul(r0, r1)", {column, {{3, 1}, {1, 1, 1}}}, {2, 1}), "9 ?");
  EXPECT_EQ(computed("transpose(r0)", {column}, {2, 3}), "1 3 5 2 4 ?");
  EXPECT_EQ(computed("r0", {column}, {3, 2}), "1 2 3 4 5 ?"); // copied, in bits
}

TEST(ValueTest, faultsAreTold) {
  OneInstr poison("r0 + r1", {line, {{4}, {1, 2}}}, {4}, "f32", AccessKind::Write, 3);
  EXPECT_EQ(poison.result(), "2 0 ? ?");
  EXPECT_EQ(poison.faults,
            std::vector<std::string>{"'i' at A = 0 reads in1[2], which is not written yet (3 "
                                     "runs of it do so)"});
  OneInstr index("gather(r0, r1)", {table, {{2}, {1, 2}, "i32"}}, {2, 3});
  EXPECT_EQ(index.result(), "4 5 6 ? ? ?");
  EXPECT_EQ(index.faults,
            std::vector<std::string>{"'i' at A = 0 takes row 2 of 'in0', which has rows 0 to 1"});
  OneInstr row("gather(r0, r1)", {{{2, 2}, {1, 2, 3}}, {{2}, {1, 0}, "i32"}}, {2, 2});
  EXPECT_EQ(row.result(), "3 ? 1 2");
  EXPECT_EQ(row.faults,
            std::vector<std::string>{"'i' at A = 0 reads in0[1, 1], which is not written yet"});
  OneInstr copy("r0", {{{2}, {1}}}, {2});
  EXPECT_EQ(copy.result(), "1 ?");
  EXPECT_EQ(copy.faults,
            std::vector<std::string>{"'i' at A = 0 reads in0[1], which is not written yet"});
  OneInstr lost("scatter(r0, r1)", {table, {{2}, {1}, "i32"}}, {2, 3});
  EXPECT_EQ(lost.result(), "? ? ? ? ? ?");
  EXPECT_EQ(lost.faults, (std::vector<std::string>{
                             "'i' at A = 0 reads in1[1], which is not written yet",
                             "'i' at A = 0 takes rows of 'out' by an index that is not written "
                             "yet"}));
}

TEST(ValueTest, shapesMustFit) {
  auto refused = [](std::string_view computes, std::vector<OneInstr::Input> inputs,
                    std::vector<uint64_t> out, std::string_view why) {
    EXPECT_EQ(computed(computes, std::move(inputs), std::move(out)),
              fmt::format("error: the data of 'i' cannot be followed: {}\n", why));
  };
  refused("r0 + r1", {table, line}, {2, 3},
          "[2, 3] and [4] do not go together; along each axis they must be equal, or one of them "
          "1");
  refused("r0", {table}, {4}, "a result is [2, 3], but 'out' is [4]");
  refused("matmul(r0, r1)", {table, {{3, 2}, {}}}, {2, 2},
          "'matmul' takes [K, M] and [K, N], but its operands are [2, 3] and [3, 2]");
  refused("transpose(r0)", {line}, {4}, "'transpose' needs two axes, but its operand is [4]");
  refused("sum(sum(r0))", {line}, {1},
          "'sum' needs a last axis, but its operand is a single element");
  refused("sum(r0, [2])", {table}, {2}, "'sum' goes over axes from 0 to 1, each once; [2] are not");
  refused("sum(r0, [1, 1])", {table}, {2},
          "'sum' goes over axes from 0 to 1, each once; [1, 1] are not");
  refused("permute(r0, [0])", {table}, {2},
          "'permute' takes each axis of [2, 3] once, but it names [0]");
  refused("reshape(r0, [4])", {table}, {4},
          "'reshape' keeps all elements, but [2, 3] and [4] have not equally many");
  refused("reshape(r0, [4294967296, 4294967296])", {table}, {4},
          "[4294967296, 4294967296] has more than 268435456 elements, the most of one value; "
          "compute it in parts");
  refused("sum(index([16384, 16384], 0) + index([16384, 16384], 1))", {}, {16384},
          "its tiles and what it makes of them are more than 536870912 numbers, the most of one "
          "instruction; make it several instructions");
  refused("matmul(index([8192, 4096], 0), index([8192, 4096], 1))", {}, {4096, 4096},
          "'matmul' of [8192, 4096] and [8192, 4096] takes more than 34359738368 products; compute "
          "it in parts");
  refused("index([2], 1)", {}, {2}, "'index' needs an axis of [2], from 0, but it names 1");
  refused("top(r0, 4)", {table}, {2}, "'top' takes 1 to 3 of rows of [2, 3], not 4");
  refused("find(r0, r1)", {table, line}, {4},
          "'find' looks in each row of [2, 3] for a row of its own, but there are [4]");
  refused("find(r0, r1)", {line, {{1025}, {}}}, {1025},
          "'find' looks for at most 1024 numbers in a row, not 1025");
  refused("scan(+, +, r0, r0, r0)", {table}, {2, 3},
          "'scan' begins with [2, 3] for rows of [2, 3]; give one number for each row, or one for "
          "all");
  refused("kept", {}, {1}, "nothing is kept on queue 'act' before it");
  refused("gather(r0 + 1, r1)", {table, line}, {4, 3},
          "'gather' takes rows of a whole buffer; write X[@] for X");
  std::vector<uint64_t> tooLong{(1 << 24) + 1};
  refused("gather(r0, r1)", {{tooLong, {}}, line}, {4},
          "an index tells at most 16777216 rows apart; give the buffer fewer and larger ones");
  refused("scatter(r0, r1)", {line, line}, tooLong,
          "an index tells at most 16777216 rows apart; give the buffer fewer and larger ones");
  refused("scatter(r0, r1)", {table, line}, {4, 3},
          "'scatter' has 4 indices for rows of 3 elements, but the value is [2, 3]");
}

namespace {

std::vector<float> numbers(size_t count, uint64_t seed) {
  BufferData data(Format::F32, {count});
  fill(data, {"x", -1, 1}, seed);
  std::vector<float> result(count);
  data.load({0, count, 1}, result.data());
  return result;
}

} // namespace

/// 7 is no multiple of the rows that are taken together.
/// A tile whose guards do not hold reads as zeros: 3 is added in the second of three iterations
/// only.
TEST(ValueTest, guardedReads) {
  OneInstr sum("start(A, r0)", {{{1}, {3}}}, {1}, "f32", AccessKind::Accumulate, 3, " if A == 1");
  EXPECT_EQ(sum.result(), "3");
}

TEST(ValueTest, largeProductsAndSumsAreClose) {
  const uint64_t numK = 100, numM = 7, numN = 33;
  std::vector<float> a = numbers(numK * numM, 1), b = numbers(numK * numN, 2);
  OneInstr product("matmul(r0, r1)", {{{numK, numM}, a}, {{numK, numN}, b}}, {numM, numN});
  product.result();
  OneInstr sums("sum(r0)", {{{numK, numN}, b}}, {numK});
  sums.result();
  for (size_t m = 0; m < numM; ++m) {
    for (size_t n = 0; n < numN; ++n) {
      double sum = 0;
      for (size_t k = 0; k < numK; ++k) {
        sum += double(a[k * numM + m]) * double(b[k * numN + n]);
      }
      EXPECT_NEAR(product.values[m * numN + n], sum, 1e-5);
    }
  }
  for (size_t k = 0; k < numK; ++k) {
    double sum = 0;
    for (size_t n = 0; n < numN; ++n) {
      sum += double(b[k * numN + n]);
    }
    EXPECT_NEAR(sums.values[k], sum, 1e-5);
  }
}
