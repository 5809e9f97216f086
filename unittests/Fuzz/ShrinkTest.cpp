//===- ShrinkTest.cpp - The smallest kernel that still shows it -----------===//

#include "Shrink.h"
#include "RandomKernel.h"

#include "tally/Model/Check.h"
#include "tally/Written/Text.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

namespace {

bool isLegal(const Kernel &kernel) {
  Diagnostics diagnostics;
  check(kernel, diagnostics);
  return !diagnostics.hasErrors();
}

bool hasFlat(const Kernel &kernel) {
  return std::any_of(kernel.deps.begin(), kernel.deps.end(),
                     [](const Dep &dep) { return dep.form == DistanceForm::Flat; });
}

/// The first random kernel of which this holds.
Kernel firstWith(const Fails &fails) {
  RandomKernelOptions options;
  options.divergentPercent = 30;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Kernel kernel = randomKernel(seed, options);
    if (kernel.instrs.size() > 5 && fails(kernel)) {
      return kernel;
    }
  }
  ADD_FAILURE() << "no such kernel";
  return randomKernel(0, options);
}

} // namespace

/// One flat dependence needs its two ends, or one instruction in a loop, and nothing else.
TEST(ShrinkTest, onlyWhatMattersIsLeft) {
  Kernel shrunk = shrink(firstWith(hasFlat), hasFlat);
  EXPECT_TRUE(isLegal(shrunk));
  EXPECT_TRUE(hasFlat(shrunk));
  EXPECT_EQ(shrunk.deps.size(), 1u);
  EXPECT_LE(shrunk.instrs.size(), 2u);
  EXPECT_EQ(shrunk.engines.size(), 1u);
  EXPECT_EQ(shrunk.loops.size(), 1u) << dump(shrunk);
}

/// Loops around what matters stay; their trips become the smallest constant.
TEST(ShrinkTest, loopsThatMatterStay) {
  Fails twoDeep = [](const Kernel &kernel) {
    return std::any_of(kernel.instrs.begin(), kernel.instrs.end(), [&](const Instr &instr) {
      const Loop &home = kernel.loops[instr.home];
      return home.kind == LoopKind::Loop && home.depth == 2 &&
             kernel.loops[home.parent].kind == LoopKind::Loop;
    });
  };
  Kernel shrunk = shrink(firstWith(twoDeep), twoDeep);
  EXPECT_TRUE(twoDeep(shrunk));
  EXPECT_EQ(shrunk.instrs.size(), 1u);
  ASSERT_EQ(shrunk.loops.size(), 3u);
  EXPECT_EQ(shrunk.deps.size(), 0u);
  for (LoopId loop : {LoopId(1), LoopId(2)}) {
    EXPECT_EQ(shrunk.loops[loop].trip, KernelBuilder::constant(1));
    EXPECT_TRUE(shrunk.loops[loop].uniform);
  }
}

/// Only legal kernels are asked about, and never more of them than allowed.
/// Pins, reserved numbers and tiles go, and large weights become as small as they can be.
TEST(ShrinkTest, numbersAndTilesGo) {
  RandomKernelOptions options;
  options.pinPercent = options.reservePercent = options.heavyPercent = 100;
  options.tiles = Tiles::Inside;
  Fails isHeavy = [](const Kernel &kernel) {
    return std::ranges::any_of(kernel.queues, [](const Queue &queue) { return queue.weight >= 9; });
  };
  Kernel whole = randomKernel(3, options);
  ASSERT_FALSE(whole.pins.empty() || whole.accesses.empty() || whole.reserved.empty());
  Kernel shrunk = shrink(whole, isHeavy);
  EXPECT_TRUE(isHeavy(shrunk) && isLegal(shrunk));
  EXPECT_TRUE(shrunk.pins.empty() && shrunk.accesses.empty() && shrunk.buffers.empty());
  EXPECT_TRUE(shrunk.reserved.empty());
  for (const Engine &engine : shrunk.engines) {
    EXPECT_TRUE(engine.reserved.empty());
  }
  for (const Queue &queue : shrunk.queues) {
    EXPECT_LE(queue.weight, 9u);
  }
}

TEST(ShrinkTest, asksOnlyAboutLegalKernels) {
  uint32_t questions = 0;
  Fails fails = [&](const Kernel &kernel) {
    EXPECT_TRUE(isLegal(kernel)) << dump(kernel);
    ++questions;
    return kernel.deps.size() >= 2;
  };
  Kernel start = firstWith([](const Kernel &kernel) { return kernel.deps.size() >= 4; });
  EXPECT_EQ(shrink(start, fails).deps.size(), 2u);
  questions = 0;
  shrink(start, fails, /*maxQuestions=*/7);
  EXPECT_EQ(questions, 7u);
}

TEST(ShrinkTest, theSameKernelShrinksTheSameWay) {
  Kernel start = firstWith(hasFlat);
  EXPECT_EQ(dump(shrink(start, hasFlat)), dump(shrink(start, hasFlat)));
}

/// Opened, moved to other queues and rebuilt, but nothing may get lost that is not left out.
TEST(ShrinkTest, aKernelThatCannotShrinkIsUnchanged) {
  Kernel start = randomKernel(7, {});
  EXPECT_EQ(dump(shrink(start, [](const Kernel &) { return false; })), dump(start));
}
