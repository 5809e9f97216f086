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
