//===- AuthorTest.cpp - Writing kernels in C++ ----------------------------===//

#include "tally/Kernels/Author.h"

#include "tally/Written/KernelJson.h"

#include <gtest/gtest.h>

using namespace tally;

/// What an author writes is the kernel that a builder would make of it.
TEST(AuthorTest, writesWhatABuilderBuilds) {
  KernelAuthor k("double_buffer");
  EngineId act = k.engine("act");
  EngineId dma = k.engine("dma");
  QueueId loads = k.transfers("load");
  k.buffer("X", {2, 128}, "sbuf", "bf16");
  InstrId load;
  InstrId scale;
  LoopId a = k.loop("A", k.value("n", 1, 9), [&] {
    load = k.op(loads, "load", "dma_copy(bytes=256)", {.writes = {"X[A mod 2, 0:128]"}});
    scale = k.op(act, "scale", "activation(n=128)", {.reads = {"X[A  mod 2,0:128]"}});
  });
  k.raw(load, scale);
  k.war(scale, load, {{a, 2}});
  k.warFlat(scale, load, 2);
  Diagnostics diagnostics;
  std::optional<Kernel> written = k.finish(diagnostics);
  ASSERT_TRUE(written) << render(diagnostics, {});

  KernelBuilder b("double_buffer");
  b.engine("act");
  b.engine("dma");
  QueueId queue = b.queue("load", 16);
  BufferId x = b.buffer("X", std::vector<uint64_t>{2, 128}, "sbuf", "bf16");
  LoopId loop = b.beginLoop("A", b.value("n", 1, 9));
  InstrId p = b.instr("load", queue, "dma_copy(bytes=256)");
  b.access(AccessKind::Write, x, "X[A mod 2, 0:128]");
  InstrId c = b.instr("scale", b.queueOf(act), "activation(n=128)");
  b.access(AccessKind::Read, x, "X[A mod 2, 0:128]");
  b.endLoop();
  b.dep(p, c, {}, DepKind::RAW);
  b.dep(c, p, {{loop, 2}}, DepKind::WAR);
  b.depFlat(c, p, 2, DepKind::WAR);
  EXPECT_EQ(writeKernelJson(*written), writeKernelJson(b.finish()));
  EXPECT_EQ(dma, EngineId(1));
}

/// Several dependences are as many single ones, and a copy is a transfer that computes nothing.
TEST(AuthorTest, listsAndCopiesAreShorterToWrite) {
  auto write = [](bool isShort) {
    KernelAuthor k("k");
    EngineId act = k.engine("act");
    k.engine("dma");
    QueueId loads = k.transfers("load");
    k.buffer("H", {4, 128}, "hbm", "bf16");
    k.buffer("X", {2, 128}, "sbuf", "bf16");
    k.loop("A", k.value("n", 1, 4), [&] {
      InstrId load =
          isShort
              ? k.copy(loads, "load", 256, "H[A, 0:128]", "X[A mod 2, 0:128]")
              : k.op(loads, "load", "dma_copy(bytes=256)",
                     {.reads = {"H[A, 0:128]"}, .writes = {"X[A mod 2, 0:128]"}, .computes = "r0"});
      InstrId one = k.op(act, "one", "activation(n=128)", {.reads = {"X[A mod 2, 0:128]"}});
      InstrId two = k.op(act, "two", "activation(n=128)", {.reads = {"X[A mod 2, 0:128]"}});
      const LoopId a(1);
      if (isShort) {
        k.raw({{load, one}, {load, two}});
        k.war({{two, load}, {one, load}}, {{a, 2}});
        return;
      }
      k.raw(load, one);
      k.raw(load, two);
      k.war(two, load, {{a, 2}});
      k.war(one, load, {{a, 2}});
    });
    Diagnostics diagnostics;
    std::optional<Kernel> kernel = k.finish(diagnostics);
    EXPECT_TRUE(kernel) << render(diagnostics, {});
    return kernel ? writeKernelJson(*kernel) : "";
  };
  EXPECT_EQ(write(true), write(false));
}

/// All mistakes at once, each named with its instruction.
TEST(AuthorTest, saysWhatIsWrong) {
  KernelAuthor k("k");
  EngineId e = k.engine("e");
  k.buffer("X", {4});
  InstrId p = k.op(e, "P", "copy", {.reads = {"Y[0]"}, .writes = {"X[0"}});
  k.raw(p, p);
  Diagnostics diagnostics;
  EXPECT_FALSE(k.finish(diagnostics));
  std::string text = render(diagnostics, {});
  EXPECT_NE(text.find("tile 'Y[0]' of 'P': there is no buffer 'Y'"), std::string::npos) << text;
  EXPECT_NE(text.find("tile 'X[0' of 'P': column 4"), std::string::npos) << text;
  EXPECT_GE(diagnostics.numErrors(), 3u) << "and that P needs itself";
}
