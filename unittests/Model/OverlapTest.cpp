//===- OverlapTest.cpp - Buffers that share memory ------------------------===//

#include "tally/Model/Overlap.h"
#include "Random.h"
#include "tally/Model/KernelBuilder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace tally;

namespace {

struct Placed {
  std::string_view name;
  std::string_view space;
  std::optional<uint64_t> address;
  uint64_t bytes;
  uint64_t partition = 0;
  uint64_t numPartitions = 1;
};

std::vector<std::string> overlapsOf(const std::vector<Placed> &buffers) {
  KernelBuilder b("k");
  IdVector<BufferId, Region> regions;
  for (const Placed &placed : buffers) {
    b.buffer(placed.name, {}, placed.space, {}, placed.address);
    regions.push(
        {placed.partition, placed.numPartitions, placed.address.value_or(0), placed.bytes});
  }
  Kernel kernel = b.finish();
  std::vector<std::string> texts;
  for (Overlap overlap : findOverlaps(kernel, regions)) {
    texts.push_back(std::string(kernel.text(kernel.buffers[overlap.low].name)) + " " +
                    std::string(kernel.text(kernel.buffers[overlap.high].name)));
  }
  return texts;
}

} // namespace

TEST(OverlapTest, oneBufferEndsWhereTheNextBegins) {
  EXPECT_TRUE(overlapsOf({{"X", "sbuf", 0, 16}, {"Y", "sbuf", 16, 16}}).empty());
  EXPECT_EQ(overlapsOf({{"X", "sbuf", 0, 17}, {"Y", "sbuf", 16, 16}}),
            std::vector<std::string>{"X Y"});
}

/// The order of the text is not that of memory; a long buffer reaches past its neighbour.
TEST(OverlapTest, farReachingBuffersAreFound) {
  EXPECT_EQ(overlapsOf({{"Z", "sbuf", 64, 4}, {"Y", "sbuf", 8, 4}, {"X", "sbuf", 0, 100}}),
            (std::vector<std::string>{"X Y", "X Z"}));
}

/// Spaces have addresses of their own, and what has no address is wherever there is room.
TEST(OverlapTest, otherSpacesAndNoAddressAreApart) {
  EXPECT_TRUE(
      overlapsOf({{"X", "sbuf", 0, 16}, {"Y", "psum", 0, 16}, {"Z", "sbuf", {}, 16}}).empty());
}

/// One whose size no number holds takes all that follows.
TEST(OverlapTest, hugeBuffersDoNotWrapAround) {
  EXPECT_EQ(overlapsOf({{"X", "sbuf", 8, UINT64_MAX}, {"Y", "sbuf", uint64_t(1) << 62, 1}}),
            std::vector<std::string>{"X Y"});
}

/// Y lies beside X in other partitions, and Z over both.
TEST(OverlapTest, partitionsAreApart) {
  EXPECT_EQ(overlapsOf({{"X", "sbuf", 0, 64, 0, 32},
                        {"Y", "sbuf", 16, 64, 32, 32},
                        {"Z", "sbuf", 32, 8, 31, 2}}),
            (std::vector<std::string>{"X Z", "Y Z"}));
}

/// Of random regions, the pairs that are found join what overlaps, and nothing else.
TEST(OverlapTest, pairsJoinWhatOverlaps) {
  fuzz::Random random(7);
  for (int round = 0; round < 2000; ++round) {
    KernelBuilder b("k");
    IdVector<BufferId, Region> regions;
    const auto count = static_cast<uint32_t>(random.in({2, 9}));
    const uint64_t mostPartitions = 1 + random.below(6);
    for (uint32_t i = 0; i < count; ++i) {
      uint64_t first = random.below(mostPartitions);
      regions.push(
          {first, 1 + random.below(mostPartitions - first), random.below(20), 1 + random.below(8)});
      b.buffer(fmt::format("X{}", i), {}, "s", {}, regions[BufferId(i)].firstByte);
    }
    auto names = [&] {
      IdVector<BufferId, BufferId> all;
      for (uint32_t i = 0; i < count; ++i) {
        all.push(BufferId(i));
      }
      return all;
    };
    IdVector<BufferId, BufferId> found = names(), expected = names();
    auto join = [](IdVector<BufferId, BufferId> &groups, BufferId x, BufferId y) {
      BufferId from = groups[x], to = groups[y];
      std::ranges::replace(groups, std::max(from, to), std::min(from, to));
    };
    for (Overlap overlap : findOverlaps(b.finish(), regions)) {
      EXPECT_TRUE(regions[overlap.low].meets(regions[overlap.high]));
      EXPECT_LE(regions[overlap.low].firstByte, regions[overlap.high].firstByte);
      join(found, overlap.low, overlap.high);
    }
    for (BufferId x : regions.ids()) {
      for (BufferId y : regions.ids()) {
        if (regions[x].meets(regions[y])) {
          join(expected, x, y);
        }
      }
    }
    ASSERT_TRUE(std::ranges::equal(found, expected)) << "round " << round;
  }
}

TEST(OverlapTest, elementBytesByName) {
  KernelBuilder b("k");
  std::vector<std::optional<uint64_t>> sizes;
  for (const char *type :
       {"bf16", "fp8", "i32", "f8E4M3", "i4", "float", "16", "", "fp8_e4m3", "i16x", "_i8"}) {
    b.buffer(type, {}, {}, type);
  }
  Kernel kernel = b.finish();
  for (BufferId id : kernel.buffers.ids()) {
    sizes.push_back(elementBytes(kernel, id));
  }
  std::optional<uint64_t> none;
  EXPECT_EQ(sizes, (std::vector<std::optional<uint64_t>>{2, 1, 4, none, none, none, none, none, 1,
                                                         none, none}));
}

/// Y begins in X and reaches into Z, V has no type; A is said to be with Z, and X not with V.
TEST(OverlapTest, whatTwoBuffersHaveInCommon) {
  KernelBuilder b("k");
  constexpr uint64_t shape[] = {4};
  BufferId x = b.buffer("X", shape, "sbuf", "i32", 0);
  BufferId y = b.buffer("Y", shape, "sbuf", "i32", 12);
  BufferId z = b.buffer("Z", shape, "sbuf", "i32", 24);
  BufferId v = b.buffer("V", shape, "sbuf", "", 8);
  BufferId a = b.buffer("A", shape);
  BufferId far = b.buffer("far", shape, "psum", "i32", 0);
  b.alias(a, z);
  b.noalias(v, x);
  Kernel kernel = b.finish();
  SharedMemory shared(kernel);
  EXPECT_EQ(shared.between(x, y), InCommon::Known);
  EXPECT_EQ(shared.between(y, x), InCommon::Known);
  EXPECT_EQ(shared.between(y, z), InCommon::Known);
  EXPECT_EQ(shared.between(x, z), InCommon::Nothing);
  EXPECT_EQ(shared.between(v, y), InCommon::Unknown);
  EXPECT_EQ(shared.between(v, x), InCommon::Nothing);
  EXPECT_EQ(shared.byAddress(v, x), InCommon::Unknown);
  EXPECT_EQ(shared.byAddress(z, a), InCommon::Nothing);
  EXPECT_EQ(shared.between(z, a), InCommon::Unknown);
  EXPECT_EQ(shared.between(x, a), InCommon::Nothing);
  EXPECT_EQ(shared.between(x, far), InCommon::Nothing);
  EXPECT_TRUE(shared.isAlone(far));
  EXPECT_FALSE(shared.isAlone(a));
  EXPECT_EQ(shared.groupOf(a), x);
  EXPECT_EQ(shared.membersOf(x), (std::vector<BufferId>{x, y, z, v, a}));
  EXPECT_FALSE(shared.isKnown(x));
  EXPECT_TRUE(shared.isKnown(far));
}
