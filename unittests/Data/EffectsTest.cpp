//===- EffectsTest.cpp - Which kernels can be followed, and how -----------===//

#include "tally/Data/Effects.h"

#include "tally/Data/Inputs.h"
#include "tally/Data/Npy.h"
#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

using namespace tally;

namespace {

Location at(uint32_t line) {
  return {0, line, 1};
}

/// What is said of a kernel when its data is to be followed.
std::string problems(KernelBuilder &builder) {
  Kernel kernel = builder.finish();
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  EXPECT_FALSE(diagnostics.hasErrors()) << render(diagnostics, {"k"});
  Bindings bindings(kernel);
  Runs runs(kernel, bindings, diagnostics);
  if (!diagnostics.hasErrors()) {
    Effects::of(kernel, runs, diagnostics);
  }
  return render(diagnostics, {"k"});
}

std::vector<uint64_t> shape(std::initializer_list<uint64_t> extents) {
  return extents;
}

/// An engine, X of [4, 2], and an open loop A of three iterations.
struct InLoop {
  KernelBuilder b{"k", at(1)};
  EngineId act = b.engine("act", at(2));
  BufferId x = b.buffer("X", shape({4, 2}), "", "f32", {}, at(3));

  InLoop() { b.beginLoop("A", KernelBuilder::constant(3), true, at(10)); }

  InstrId write(std::string_view name, std::string_view tile, std::string_view computes,
                uint32_t line = 11) {
    InstrId id = b.instr(name, b.queueOf(act), {}, at(line));
    b.computes(computes);
    b.access(AccessKind::Write, x, tile);
    return id;
  }

  std::string result() {
    b.endLoop();
    return problems(b);
  }
};

} // namespace

TEST(EffectsTest, everyWriterSaysWhat) {
  InLoop k;
  k.write("silent", "X[A, 0:2]", "", 12);
  k.b.instr("waits", k.b.queueOf(k.act)); // writes nothing
  EXPECT_EQ(k.result(),
            "k:12:1: error: the data of 'silent' cannot be followed: it does not say what "
            "it computes; add 'computes', as in computes \"r0\" for a copy\n");
}

TEST(EffectsTest, tilesLieInTheirBuffers) {
  InLoop k;
  k.write("fits", "X[A + 1, 0:2]", "0");
  k.write("early", "X[A - 1, 0:2]", "0", 12);
  k.write("late", "X[2 * A, 0:2]", "0", 13);
  k.write("wide", "X[A, 1:2]", "0", 14);
  k.write("apart", "X[A, 0:2:2]", "0", 15);
  EXPECT_EQ(
      k.result(),
      "k:12:1: error: the data of 'early' cannot be followed: 'X[A - 1, 0:2]' at A = 0 lies "
      "outside its buffer: dimension 1 of 2 is -1:1:1, but the buffer has 4 there\n"
      "k:14:1: error: the data of 'wide' cannot be followed: 'X[A, 1:2]' at A = 0 lies outside "
      "its buffer: dimension 2 of 2 is 1:2:1, but the buffer has 2 there\n"
      "k:15:1: error: the data of 'apart' cannot be followed: 'X[A, 0:2:2]' at A = 0 lies "
      "outside its buffer: dimension 2 of 2 is 0:2:2, but the buffer has 2 there\n"
      "k:13:1: error: the data of 'late' cannot be followed: 'X[2 * A, 0:2]' at A = 2 lies "
      "outside its buffer: dimension 1 of 2 is 4:1:1, but the buffer has 4 there\n");
}

TEST(EffectsTest, placesAreKnown) {
  InLoop k;
  k.write("elsewhere", "X[$n, 0:2]", "0", 12);
  k.write("anywhere", "X[@]", "0", 13);
  k.write("grows", "X[0:A + 1, 0]", "0", 14);
  EXPECT_EQ(
      k.result(),
      "k:12:1: error: the data of 'elsewhere' cannot be followed: the place of 'X[$n, 0:2]' "
      "depends on '$n', which has no value here; write a number\n"
      "k:13:1: error: the data of 'anywhere' cannot be followed: where in 'X[@]' it writes is "
      "not said; 'scatter' says it by indices\n"
      "k:14:1: error: the data of 'grows' cannot be followed: 'X[0:A + 1, 0]' is [1] and then "
      "[2]; tiles keep their size\n");
}

/// Where its guards do not hold, a tile is not touched, and may be beyond its buffer.
TEST(EffectsTest, guardedTilesLieInTheirBuffers) {
  InLoop k;
  k.write("fits", "X[2 * A, 0:2] if A < 2", "0");
  k.write("late", "X[2 * A, 0:2] if A > 0", "0", 13);
  EXPECT_EQ(k.result(),
            "k:13:1: error: the data of 'late' cannot be followed: 'X[2 * A, 0:2] if A > 0' at "
            "A = 2 lies outside its buffer: dimension 1 of 2 is 4:1:1, but the buffer has 4 "
            "there\n");
}

TEST(EffectsTest, whatIsKeptKeepsItsShape) {
  InLoop k;
  BufferId y = k.b.buffer("Y", shape({2, 2}), "", "f32");
  auto keep = [&](std::string_view tile) {
    k.b.instr(fmt::format("keep {}", tile), k.b.queueOf(k.act));
    k.b.computes("keep(r0)");
    k.b.access(AccessKind::Read, y, tile);
  };
  keep("Y");
  k.write("both", "X[0:2, 0:2]", "kept", 12);
  k.write("row", "X[0, 0:2]", "kept", 13);
  EXPECT_EQ(k.result(),
            "k:13:1: error: the data of 'row' cannot be followed: a result is [2, 2], but "
            "'X[0, 0:2]' is [2]\n");
}

/// The second result copies what the tile held before the first one was written, exactly.
TEST(EffectsTest, wholeNumbersAreExchanged) {
  KernelBuilder b{"k", at(1)};
  EngineId act = b.engine("act", at(2));
  BufferId x = b.buffer("X", shape({2}), "", "i32");
  BufferId y = b.buffer("Y", shape({2}), "", "i32");
  b.instr("exchange", b.queueOf(act));
  b.computes("r1; r0");
  for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
    b.access(kind, x, "X");
    b.access(kind, y, "Y");
  }
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  Bindings bindings(kernel);
  Runs runs(kernel, bindings, diagnostics);
  std::optional<Effects> effects = Effects::of(kernel, runs, diagnostics);
  ASSERT_TRUE(effects) << render(diagnostics, {"k"});
  Memory memory = emptyMemory(kernel, diagnostics);
  for (uint32_t i : {0, 1}) {
    memory[x].setBits(i, 16777217 + i); // no f32
    memory[y].setBits(i, 7 + i);
  }
  DataRun run(*effects, memory);
  run.commit(runs.order().front());
  for (uint32_t i : {0, 1}) {
    EXPECT_EQ(run.memory()[x].bits(i), 7 + i);
    EXPECT_EQ(run.memory()[y].bits(i), 16777217 + i);
  }
}

TEST(EffectsTest, thereIsOneSequentialRun) {
  KernelBuilder b("k", at(1));
  EngineId act = b.engine("act", at(2)), dma = b.engine("dma", at(3));
  b.beginLoop("A", b.value("n"), false, at(10));
  b.endLoop();
  InstrId first = b.instr("first", b.queueOf(act), {}, at(12));
  InstrId second = b.instr("second", b.queueOf(dma), {}, at(13));
  b.dep(second, first, {}, DepKind::RAW, at(14));
  EXPECT_EQ(problems(b),
            "k:10:1: error: engines may disagree how often 'A' runs, so there is no sequential run "
            "whose data could be compared; make it uniform\n"
            "k:14:1: error: 'first' needs 'second', which stands after it; the sequential run "
            "follows the text: write 'second' first\n");
}

TEST(EffectsTest, memoryHasFormatsAndPlaces) {
  KernelBuilder b("k", at(1));
  b.buffer("plain", shape({4}), "s", "", {}, at(2));
  b.buffer("half", shape({4}), "s", "f12", {}, at(3));
  b.buffer("low", shape({4}), "s", "f32", 100, at(4));
  b.buffer("over", shape({4}), "s", "bf16", 115, at(5));
  b.buffer("behind", shape({4}), "s", "bf16", 123, at(6));
  b.buffer("other", shape({4}), "t", "bf16", 100, at(7));
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  emptyMemory(kernel, diagnostics);
  EXPECT_EQ(
      render(diagnostics, {"k"}),
      "k:2:1: error: buffer 'plain' does not say what it holds; add type \"f32\", or another of "
      "f32, "
      "f16, bf16, fp8, fp8_e5m2, fp8_e3m4, fp8_e4m3fn, i8, u8, i16, u16, i32 and u32\n"
      "k:3:1: error: buffer 'half' holds 'f12', which is not a number format; there are f32, f16, "
      "bf16, fp8, fp8_e5m2, fp8_e3m4, fp8_e4m3fn, i8, u8, i16, u16, i32 and u32\n"
      "k:5:1: error: buffer 'over' lies over 'low'; data can be followed only where buffers are "
      "apart: leave the addresses out, or write one buffer\n"
      "k:4:1: note: 'low' is here\n");
  Diagnostics small;
  KernelBuilder large("k", at(1));
  large.buffer("X", shape({uint64_t(1) << 40, uint64_t(1) << 40}), "", "f32", {}, at(2));
  Kernel tooLarge = large.finish();
  emptyMemory(tooLarge, small);
  EXPECT_EQ(small.numErrors(), 1U);
}

/// Counts on over all trips of an outer loop, starts again inside it, and takes one of two
/// branches.
TEST(EffectsTest, runsKnowTheirIterations) {
  KernelBuilder b("k");
  EngineId act = b.engine("act");
  LoopId a = b.beginLoop("A", KernelBuilder::constant(2));
  b.beginLoop("B", b.value("n"));
  InstrId inner = b.instr("inner", b.queueOf(act));
  b.endLoop();
  InstrId outer = b.instr("outer", b.queueOf(act));
  b.endLoop();
  Kernel kernel = b.finish();
  Bindings bindings(kernel);
  bindings.set(LoopId(2), {3, 1});
  Diagnostics diagnostics;
  Runs runs(kernel, bindings, diagnostics);
  EXPECT_EQ(a, LoopId(1));
  EXPECT_EQ(runs.order(),
            (std::vector<Instance>{
                {inner, 0}, {inner, 1}, {inner, 2}, {outer, 0}, {inner, 3}, {outer, 1}}));
  EXPECT_EQ(iterationText(kernel, runs, {inner, 2}), "A = 0, B = 2");
  EXPECT_EQ(iterationText(kernel, runs, {inner, 3}), "A = 1, B = 0");
  EXPECT_EQ(runs.indices({inner, 3})[1].total, 3);
  EXPECT_EQ(iterationText(kernel, runs, {outer, 1}), "A = 1");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

std::string npy(const BufferData &data) {
  std::ostringstream out;
  EXPECT_TRUE(writeNpy(out, data));
  return out.str();
}

std::string problemOf(const std::string &file, BufferData data) {
  std::istringstream in(file);
  return readNpy(in, data);
}

} // namespace

TEST(EffectsTest, filesComeBack) {
  for (uint8_t i = 0; i < numFormats; ++i) {
    Format format{i};
    BufferData data(format, {3, 5});
    fill(data, {"X", -9, 9}, 1);
    BufferData back(format, {3, 5});
    std::istringstream in(npy(data));
    EXPECT_EQ(readNpy(in, back), "");
    EXPECT_FALSE(firstDifference(data, back)) << toString(format);
    EXPECT_EQ(npy(data).size() % 64, 15 * sizeOf(format)); // what is before them is aligned
  }
  BufferData data(Format::F32, {2});
  data.set(0, 1.00390625F);
  EXPECT_NE(npy(data).find(std::string("\0\0\xc0\x7f", 4)), std::string::npos); // poison is NaN
  BufferData rounded(Format::BF16, {2});
  std::istringstream in(npy(data));
  EXPECT_EQ(readNpy(in, rounded), "");
  EXPECT_EQ(rounded.value(0), 1.0F);
}

/// Others than NumPy write headers, too.
TEST(EffectsTest, headersMayDifferInBlanksAndCommas) {
  BufferData data(Format::F32, {2, 3});
  fill(data, {"X", -1, 1}, 1);
  std::string file = npy(data);
  std::string other = file;
  other.replace(other.find("(2, 3), }"), 9, "(2,3,) } ");
  EXPECT_NE(other, file);
  EXPECT_EQ(problemOf(other, data), "");
}

TEST(EffectsTest, wrongFilesAreRefused) {
  BufferData data(Format::F32, {2, 3});
  fill(data, {"X", -1, 1}, 1);
  std::string file = npy(data);
  EXPECT_EQ(problemOf(file, data), "");
  EXPECT_EQ(problemOf("no array", data), "it is not an NPY file");
  EXPECT_EQ(problemOf("", data), "it is not an NPY file");
  EXPECT_EQ(problemOf(file.substr(0, file.size() - 5), data), "it ends before element 4");
  EXPECT_EQ(problemOf(file, BufferData(Format::I32, {2, 3})), "it holds '<f4', but i32 is '<i4'");
  EXPECT_EQ(problemOf(file, BufferData(Format::F32, {6})),
            "its shape is (2,3), but the buffer's is (6,)");
  std::string other = file;
  other.replace(other.find("False"), 5, "True ");
  EXPECT_EQ(problemOf(other, data), "its elements are not in C order");
}
