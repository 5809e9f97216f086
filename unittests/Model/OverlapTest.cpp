//===- OverlapTest.cpp - Buffers that share memory ------------------------===//

#include "tally/Model/Overlap.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

struct Placed {
  std::string_view name;
  std::string_view space;
  std::optional<uint64_t> address;
  uint64_t bytes;
};

std::vector<std::string> overlapsOf(const std::vector<Placed> &buffers) {
  KernelBuilder b("k");
  IdVector<BufferId, uint64_t> bytes;
  for (const Placed &placed : buffers) {
    b.buffer(placed.name, {}, placed.space, {}, placed.address);
    bytes.push(placed.bytes);
  }
  Kernel kernel = b.finish();
  std::vector<std::string> texts;
  for (Overlap overlap : findOverlaps(kernel, bytes)) {
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
