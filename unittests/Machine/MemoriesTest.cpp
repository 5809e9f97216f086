//===- MemoriesTest.cpp - Whether buffers fit into a machine --------------===//

#include "tally/Machine/Memories.h"
#include "tally/Model/KernelBuilder.h"

#include <gmock/gmock.h>

using namespace tally;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

Machine small() {
  Machine machine = genericMachine();
  machine.name = "m";
  machine.memories = {{"sbuf", 4, 32}};
  return machine;
}

/// What is said of a kernel that `declare` gives buffers; mayFit() agrees.
template <typename Declare> std::string warningsOf(Declare declare) {
  KernelBuilder b("k");
  declare(b);
  Kernel kernel = b.finish();
  Diagnostics diagnostics;
  warnOfMemories(kernel, small(), diagnostics);
  EXPECT_EQ(mayFit(kernel, small()), diagnostics.all().empty());
  return render(diagnostics, {});
}

constexpr uint64_t plane[] = {4, 8};

std::string warningsOf(uint64_t address, Partitions partitions) {
  return warningsOf([&](KernelBuilder &b) {
    b.partitions(b.buffer("X", plane, "sbuf", "f32", address), partitions);
  });
}

} // namespace

TEST(MemoriesTest, partitionsAndTheirBytes) {
  EXPECT_THAT(warningsOf(0, {0, 0}), IsEmpty());
  EXPECT_THAT(warningsOf(1, {0, 0}), HasSubstr("'X' takes bytes of each partition up to 32, and "
                                               "'sbuf' of machine 'm' has 4 partitions of 32"));
  EXPECT_THAT(warningsOf(0, {1, 0}), HasSubstr("'X' takes partitions up to 4, and "));
  EXPECT_THAT(warningsOf(0, {0, 1}), HasSubstr("'X' takes partitions up to 7, and "));
}

TEST(MemoriesTest, flatMemoryIsTheFirstPartition) {
  auto at = [](uint64_t address, std::string_view space) {
    return warningsOf([&](KernelBuilder &b) { b.buffer("X", plane, space, "i8", address); });
  };
  EXPECT_THAT(at(0, "sbuf"), IsEmpty());
  EXPECT_THAT(at(1, "sbuf"), HasSubstr("'X' takes bytes of partition 0 up to 32, and "));
  EXPECT_THAT(at(1, "hbm"), IsEmpty());
  EXPECT_THAT(at(1, ""), IsEmpty());
}

/// What has an address may lie over others, and is not added up.
TEST(MemoriesTest, buffersWithoutAddressesAddUp) {
  auto three = [](std::string_view type, std::optional<uint64_t> address) {
    return warningsOf([&](KernelBuilder &b) {
      for (const char *name : {"X", "Y", "Z", "W"}) {
        b.buffer(name, plane, "sbuf", type, address);
      }
    });
  };
  EXPECT_THAT(three("i8", {}), IsEmpty());
  EXPECT_THAT(three("bf16", {}), HasSubstr("with buffer 'Z', those without addresses take 192 "
                                           "bytes, and 'sbuf' of machine 'm' has 4 partitions"));
  EXPECT_THAT(three("i8", 0), IsEmpty());
  EXPECT_THAT(three("", {}), IsEmpty()); // not known: at least a byte
}
