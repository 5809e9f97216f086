//===- PinsTest.cpp - Pins that contradict each other ---------------------===//

#include "tally/Model/Check.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Written/KernelJson.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// A { a, b on "p"; c on "c" } d on "p"
struct Code {
  KernelBuilder builder{"k", {0, 1, 1}};
  QueueId p = builder.queueOf(builder.engine("p"));
  QueueId q = builder.queueOf(builder.engine("c"));
  LoopId loop = builder.beginLoop("A", builder.value("n"));
  InstrId a = builder.instr("a", p, {}, {0, 2, 1});
  InstrId b = builder.instr("b", p, {}, {0, 3, 1});
  InstrId c = builder.instr("c", q, {}, {0, 4, 1});
  InstrId d;

  Code() {
    builder.endLoop();
    d = builder.instr("d", p, {}, {0, 5, 1});
  }

  std::string errors() {
    Diagnostics diagnostics;
    check(builder.finish(), diagnostics);
    return render(diagnostics, {"k"});
  }
};

} // namespace

TEST(PinsTest, oneQueueInOneBodyMayShare) {
  Code k;
  k.builder.pin(k.a, 3);
  k.builder.pin(k.b, 3);
  k.builder.pin(k.c, 4);
  k.builder.pin(k.d, 5);
  k.builder.reserveSemaphores(std::vector<uint32_t>{0, 1, 2, 6});
  EXPECT_EQ(k.errors(), "");
}

TEST(PinsTest, reservedSemaphoreIsNotPinned) {
  Code k;
  k.builder.reserveSemaphores(std::vector<uint32_t>{2, 3});
  k.builder.pin(k.a, 3);
  EXPECT_EQ(k.errors(), "k:2:1: error: 'a' is pinned to semaphore 3, which is reserved; pin it to "
                        "another one, or do not reserve this one\n"
                        "k:1:1: note: kernel 'k' reserves it here\n");
}

/// All at once: another queue, another body, and the two ends of a contradiction.
TEST(PinsTest, contradictionsAreErrors) {
  Code k;
  DepId dep = k.builder.dep(k.a, k.c, {}, DepKind::Unspecified, {0, 6, 1});
  k.builder.pin(k.a, 3);
  k.builder.pin(k.c, 3);
  k.builder.pin(k.d, 3);
  k.builder.pin(dep, 4);
  EXPECT_EQ(k.errors(),
            "k:4:1: error: 'c' is pinned to semaphore 3 like 'a', but is in another queue; only "
            "instructions of one queue in one body can share one\n"
            "k:2:1: note: 'a' is pinned here\n"
            "k:5:1: error: 'd' is pinned to semaphore 3 like 'a', but is in another body; only "
            "instructions of one queue in one body can share one\n"
            "k:2:1: note: 'a' is pinned here\n"
            "k:6:1: error: 'a' is pinned to semaphore 4 here, and to 3 elsewhere; an instruction "
            "raises one semaphore\n"
            "k:2:1: note: the other pin is here\n");
}

/// Parts of one instruction and of the next cannot be told apart.
TEST(PinsTest, nobodySharesOnAQueueThatCompletesInParts) {
  Code k;
  k.builder.setQueue(k.p, 16, Completion::Split);
  k.builder.pin(k.a, 3);
  k.builder.pin(k.b, 3);
  EXPECT_EQ(k.errors(),
            "k:3:1: error: 'b' is pinned to semaphore 3 like 'a', but queue 'p' "
            "completes in parts, so that each of its instructions needs one of its own\n"
            "k:2:1: note: 'a' is pinned here\n");
}

/// A pinned wait is a pin of its producer, and is written so.
TEST(PinsTest, jsonKeepsThem) {
  Code k;
  DepId dep = k.builder.dep(k.a, k.c);
  k.builder.pin(dep, 4);
  k.builder.reserveSemaphores(std::vector<uint32_t>{0, 1});
  k.builder.reserveRegisters(EngineId(1), std::vector<uint32_t>{2});
  std::string text = writeKernelJson(k.builder.finish());
  EXPECT_NE(text.find("\"reserves\": [0, 1],"), std::string::npos);
  EXPECT_NE(text.find("{\"name\": \"c\", \"reserves\": [2]}"), std::string::npos);
  EXPECT_NE(text.find("{\"instr\": \"a\", \"queue\": \"p\", \"semaphore\": 4}"), std::string::npos);
  Diagnostics diagnostics;
  std::optional<Kernel> read = readKernelJson(text, "k", diagnostics);
  ASSERT_TRUE(read) << render(diagnostics, {"k"});
  EXPECT_EQ(writeKernelJson(*read), text);
  size_t at = text.find("\"semaphore\": 4");
  EXPECT_FALSE(readKernelJson(text.replace(at, 14, "\"semaphore\": 65536"), "k", diagnostics));
}
