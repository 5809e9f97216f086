//===- BoundsTest.cpp - The floor of a kernel, against closed forms -------===//
//
//   load, 300 ns, with a transfer of 500 ns before   on e0
//   scale, 40 ns apart, 100 ns long                  on e1
//   store, as load                                   on e2
//
//===----------------------------------------------------------------------===//

#include "SimCase.h"

#include "tally/Sim/Bounds.h"

using namespace tally;

namespace {

constexpr InstrCost load = {
    .startup = 50 * ns, .interval = 500 * ns, .duration = 300 * ns, .isTransfer = true};
constexpr InstrCost scale = {.interval = 40 * ns, .duration = 100 * ns};
constexpr Tick throughAll = 2 * (50 + 500 + 300) * ns + 100 * ns;

/// A pipeline in a loop; what `store` frees, `load` may fill at distance `depth`.
Kernel pipeline(uint64_t trips, int64_t depth, DepKind kind) {
  KernelBuilder b("k");
  std::vector<EngineId> engines{b.engine("e0"), b.engine("e1"), b.engine("e2")};
  LoopId loop = b.beginLoop("A", KernelBuilder::constant(trips));
  InstrId first = b.instr("load", b.queueOf(engines[0]));
  InstrId second = b.instr("scale", b.queueOf(engines[1]));
  InstrId third = b.instr("store", b.queueOf(engines[2]));
  b.endLoop();
  b.dep(first, second, {}, DepKind::RAW);
  b.dep(second, third, {}, DepKind::RAW);
  b.dep(third, first, {{loop, depth}}, kind);
  return b.finish();
}

Floor floorWith(const Kernel &kernel, std::initializer_list<InstrCost> costs) {
  InstrCosts table;
  for (const InstrCost &cost : costs) {
    table.push(cost);
  }
  std::optional<Floor> floor = floorOf(kernel, table, Bindings(kernel), {UINT64_MAX});
  EXPECT_TRUE(floor);
  return floor.value_or(Floor());
}

} // namespace

/// All transfers of both queues share the bandwidth.
TEST(BoundsTest, bandwidth) {
  Floor floor = floorWith(pipeline(10, 2, DepKind::WAR), {load, scale, load});
  EXPECT_EQ(floor.by, Floor::By::Bandwidth);
  EXPECT_EQ(floor.total, (50 + 20 * 500 + 300) * ns);
}

TEST(BoundsTest, queue) {
  InstrCost slow = scale;
  slow.interval = 2000 * ns;
  Kernel kernel = pipeline(10, 2, DepKind::WAR);
  Floor floor = floorWith(kernel, {load, slow, load});
  EXPECT_EQ(floor.by, Floor::By::Queue);
  EXPECT_EQ(floor.total, (9 * 2000 + 100) * ns);
  EXPECT_EQ(describe(kernel, floor), "queue 'e1' works without a pause");
}

/// One way through a single iteration; room in a buffer counts for nothing, a value does.
TEST(BoundsTest, dependences) {
  Floor floor = floorWith(pipeline(1, 1, DepKind::WAR), {load, scale, load});
  EXPECT_EQ(floor.by, Floor::By::Dependences);
  EXPECT_EQ(floor.total, throughAll);
  EXPECT_EQ(floorWith(pipeline(10, 1, DepKind::RAW), {load, scale, load}).total, 10 * throughAll);
  InstrCost quick = load;
  quick.interval = 300 * ns;
  EXPECT_EQ(floorWith(pipeline(10, 2, DepKind::RAW), {quick, scale, scale}).total,
            5 * (50 + 300 + 300 + 100 + 100) * ns);
  for (DepKind kind : {DepKind::WAR, DepKind::WAW, DepKind::Unspecified}) {
    EXPECT_EQ(floorWith(pipeline(10, 1, kind), {load, scale, load}).total,
              (50 + 20 * 500 + 300) * ns);
  }
}

TEST(BoundsTest, noRunsTakeNoTime) {
  EXPECT_EQ(floorWith(pipeline(0, 1, DepKind::RAW), {load, scale, load}).total, 0u);
}

TEST(BoundsTest, tooManyRunsHaveNoFloor) {
  Kernel kernel = pipeline(1000, 1, DepKind::RAW);
  EXPECT_FALSE(floorOf(kernel, InstrCosts(3, scale), Bindings(kernel), {100}));
}

/// No kernel that check() accepts has such a circle, but engines that disagree on trips may.
TEST(BoundsTest, runsThatWaitForThemselvesHaveAnEnd) {
  EXPECT_GT(floorWith(pipeline(3, 0, DepKind::RAW), {load, scale, load}).total, 0u);
}
