//===- MayAskTest.cpp - Whether a dependence asks in some run ---------------===//
//
// Dependences of random kernels, against what runs owe; and the most entries of bodies, against
// those that runs have. Exact where only values decide how loops run: then all of these are tried.
//
//===----------------------------------------------------------------------===//

#include "tally/Run/MayAsk.h"

#include "fuzz/RandomKernel.h"

#include "tally/Model/KernelBuilder.h"
#include "tally/Model/Nest.h"
#include "tally/Model/Values.h"
#include "tally/Run/KernelCursor.h"
#include "tally/Run/Owed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

using namespace tally;

namespace {

using B = KernelBuilder;

constexpr uint64_t numKernels = 1'500;

/// 'p' -> 'c' at the given distances, inside two loops.
bool asks(Trip (*outer)(B &), Trip (*inner)(B &), int64_t far, int64_t near) {
  B b("k");
  EngineId e0 = b.engine("e0");
  EngineId e1 = b.engine("e1");
  LoopId i = b.beginLoop("i", outer(b));
  LoopId j = b.beginLoop("j", inner(b));
  InstrId p = b.instr("p", b.queueOf(e0));
  InstrId c = b.instr("c", b.queueOf(e1));
  b.endLoop();
  b.endLoop();
  b.dep(p, c, {{i, far}, {j, near}});
  return mayAsk(b.finish(), DepId(0));
}

TEST(MayAskTest, bounds) {
  auto upTo3 = [](B &b) { return b.value("m", 0, 3); };
  EXPECT_TRUE(asks(upTo3, upTo3, 2, 2));
  EXPECT_FALSE(asks(upTo3, upTo3, 3, 0));
  EXPECT_FALSE(asks(upTo3, upTo3, 0, 3));
}

TEST(MayAskTest, formulas) {
  auto n = [](B &b) { return b.formula("$n", 0, 4); };
  auto open = [](B &b) { return b.formula("$n"); };
  EXPECT_FALSE(asks(n, [](B &b) { return b.formula("i - i"); }, 0, 0));
  EXPECT_FALSE(asks(n, [](B &b) { return b.formula("$n - $n"); }, 0, 0));
  EXPECT_TRUE(asks(n, [](B &b) { return b.formula("4 - i"); }, 1, 2));
  EXPECT_FALSE(asks(n, [](B &b) { return b.formula("4 - i"); }, 1, 3)) << "i is 1 or more then";
  EXPECT_TRUE(asks(n, [](B &b) { return b.formula("i + 1"); }, 3, 3));
  EXPECT_FALSE(asks(n, [](B &b) { return b.formula("1 - i"); }, 1, 0));
  EXPECT_TRUE(asks(open, [](B &b) { return b.formula("$n - 100"); }, 0, 0));
}

/// Small ones, of which every second has only loops that values decide.
Kernel kernelOf(uint64_t seed) {
  fuzz::RandomKernelOptions options;
  options.maxDepth = 3;
  options.trips = {0, 4};
  options.formulaPercent = 60;
  options.conditionPercent = 30;
  options.ifPercent = seed % 2 == 0 ? 0 : 15;
  options.divergentPercent = 0;
  Kernel kernel = fuzz::randomKernel(seed, options);
  for (RunValue &value : kernel.values) {
    value.max = std::max<uint64_t>(std::min<uint64_t>(value.max.value_or(5), 5), value.min);
  }
  for (Loop &loop : kernel.loops) {
    bool isFree = loop.trip.kind == Trip::Kind::Value || loop.trip.kind == Trip::Kind::Guard;
    if (seed % 2 == 0 && loop.kind == LoopKind::Loop && isFree) {
      loop.trip = {.kind = Trip::Kind::Constant, .constant = seed % 4, .symbol = {}, .max = {}};
    }
  }
  boundFormulas(kernel);
  return kernel;
}

bool hasOnlyValues(const Kernel &kernel) {
  return std::ranges::all_of(kernel.loops, [](const Loop &loop) {
    bool isOpen = loop.trip.kind == Trip::Kind::Value || loop.trip.kind == Trip::Kind::Guard;
    return loop.kind == LoopKind::Root || (loop.kind == LoopKind::Loop && !isOpen);
  });
}

/// All choices of values; guards by a few seeds.
void forRuns(const Kernel &kernel, const std::function<void(const Bindings &)> &visit) {
  for (uint64_t seed = 0; seed < (hasOnlyValues(kernel) ? 1 : 6); ++seed) {
    Bindings bindings = fuzz::randomBindings(kernel, seed);
    std::function<void(uint32_t)> choose = [&](uint32_t next) {
      if (next == kernel.values.size()) {
        return visit(bindings);
      }
      const RunValue &value = kernel.values[RunValueId(next)];
      for (uint64_t number = value.min; number <= *value.max; ++number) {
        bindings.setValue(RunValueId(next), number);
        choose(next + 1);
      }
    };
    choose(0);
  }
}

TEST(MayAskTest, asRunsOwe) {
  size_t asking = 0, never = 0;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = kernelOf(seed);
    IdVector<DepId, bool> isOwed(kernel.deps.size(), false);
    forRuns(kernel, [&](const Bindings &bindings) {
      Owed owed(kernel, bindings, Fuel(1'000'000));
      ASSERT_TRUE(owed.complete());
      for (DepId dep : kernel.deps.ids()) {
        for (uint32_t run = 0; run < owed.numRuns(kernel.deps[dep].consumer); ++run) {
          isOwed[dep] = isOwed[dep] || owed.of(dep, run) != 0;
        }
      }
    });
    for (DepId dep : kernel.deps.ids()) {
      bool may = mayAsk(kernel, dep);
      EXPECT_TRUE(may || !isOwed[dep]) << "seed " << seed << ": " << describe(kernel, dep);
      EXPECT_TRUE(!may || isOwed[dep] || !hasOnlyValues(kernel))
          << "seed " << seed << ": " << describe(kernel, dep);
      asking += isOwed[dep];
      never += !may;
    }
  }
  fmt::print("{} ask, {} never do\n", asking, never);
  EXPECT_GT(asking, numKernels);
  EXPECT_GT(never * 10, numKernels);
}

TEST(MostEntriesTest, asRunsEnter) {
  size_t exact = 0;
  for (uint64_t seed = 1; seed <= numKernels; ++seed) {
    Kernel kernel = kernelOf(seed);
    IdVector<LoopId, uint64_t> most(kernel.loops.size(), 0);
    forRuns(kernel, [&](const Bindings &bindings) {
      IdVector<LoopId, uint64_t> entries(kernel.loops.size(), 0);
      Fuel fuel(1'000'000);
      KernelCursor cursor(kernel, bindings, EngineId(0), fuel);
      for (auto at = cursor.next(); at != KernelCursor::Stop::End; at = cursor.next()) {
        if (at == KernelCursor::Stop::Enter) {
          ++entries[cursor.body()];
        }
      }
      for (LoopId body : kernel.loops.ids()) {
        most[body] = std::max(most[body], entries[body]);
      }
    });
    for (LoopId body : kernel.loops.ids()) {
      std::optional<uint64_t> told = mostEntries(kernel, body);
      EXPECT_TRUE(!told || *told >= most[body]) << "seed " << seed << kernel.nameOf(body);
      if (hasOnlyValues(kernel)) {
        EXPECT_EQ(told, most[body]) << "seed " << seed << " " << kernel.nameOf(body);
        ++exact;
      }
    }
  }
  EXPECT_GT(exact, numKernels);
}

} // namespace
