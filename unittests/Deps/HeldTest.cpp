//===- HeldTest.cpp - Written dependences against accesses ----------------===//
//
// What extraction keeps implies all that it found: so nothing is open if that is written, and
// something is if one of it is left out.
//
//===----------------------------------------------------------------------===//

#include "RandomAccesses.h"

#include "tally/Deps/Held.h"
#include "tally/Deps/Implied.h"
#include "tally/Deps/Render.h"
#include "tally/Kernels/Catalogue.h"
#include "tally/Model/KernelBuilder.h"
#include "tally/Written/Text.h"

#include <gmock/gmock.h>

using namespace tally;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// `'scale' -> 'load' at 'A' = 2 (...)` for each that is open.
std::vector<std::string> openOf(const Kernel &kernel, Extractor &extractor) {
  Held held = holdDeps(kernel, {}, extractor);
  std::vector<std::string> texts;
  for (size_t d : held.open) {
    texts.push_back(describe(kernel, held.asked, held.asked.deps[d]));
  }
  return texts;
}

std::vector<std::string> openOf(const Kernel &kernel) {
  Extractor extractor;
  return openOf(kernel, extractor);
}

/// loop A { load writes X[A mod 2]; scale, bias read it }, with these dependences.
Kernel ring(bool waits, bool frees) {
  KernelBuilder b("ring");
  QueueId act = b.queueOf(b.engine("act"));
  QueueId dma = b.queueOf(b.engine("dma"));
  const uint64_t shape[] = {2};
  BufferId x = b.buffer("X", shape);
  LoopId a = b.beginLoop("A", b.value("n"));
  InstrId load = b.instr("load", dma);
  b.access(AccessKind::Write, x, "X[A mod 2]");
  InstrId scale = b.instr("scale", act);
  b.access(AccessKind::Read, x, "X[A mod 2]");
  InstrId bias = b.instr("bias", act);
  b.access(AccessKind::Read, x, "X[A mod 2]");
  b.endLoop();
  if (waits) {
    b.dep(load, scale);
  }
  if (frees) {
    b.dep(bias, load, {{a, 2}});
  }
  return b.finish();
}

/// What was open and is written besides leaves nothing open; the others keep their numbers.
TEST(HeldTest, withWhatIsOpenNothingIs) {
  Kernel kernel = ring(/*waits=*/true, /*frees=*/false);
  Extractor extractor;
  Held held = holdDeps(kernel, {}, extractor);
  ASSERT_FALSE(held.open.empty());
  Kernel whole = withOpenDeps(kernel, held);
  ASSERT_EQ(whole.deps.size(), kernel.deps.size() + held.open.size());
  EXPECT_EQ(whole.deps[DepId(0)].producer, kernel.deps[DepId(0)].producer);
  EXPECT_EQ(whole.deps[DepId(0)].consumer, kernel.deps[DepId(0)].consumer);
  EXPECT_THAT(openOf(whole), IsEmpty());
}

TEST(HeldTest, whatFollowsIsNotOpen) {
  EXPECT_THAT(openOf(ring(true, true)), IsEmpty());
}

/// Who may fill a slot again waits for its readers; that it waits for the last writer follows only
/// from these.
TEST(HeldTest, whatIsMissingIsOpen) {
  EXPECT_THAT(
      openOf(ring(true, false)),
      Contains("'bias' -> 'load' at 'A' = 2 ('bias' reads X[A mod 2]; 'load' writes X[A mod "
               "2])"));
  EXPECT_THAT(openOf(ring(false, true)),
              Contains("'load' -> 'scale' ('load' writes X[A mod 2]; 'scale' reads X[A mod 2])"));
}

/// make, copy, use in a row on three engines: who waits for the copy waits for what it waited for.
Kernel row(bool second) {
  KernelBuilder b("row");
  QueueId queues[3];
  for (int q = 0; q < 3; ++q) {
    queues[q] = b.queueOf(b.engine(std::string(1, static_cast<char>('a' + q))));
  }
  BufferId x = b.buffer("X");
  InstrId make = b.instr("make", queues[0]);
  b.access(AccessKind::Write, x, "X");
  InstrId copy = b.instr("copy", queues[1]);
  b.access(AccessKind::Read, x, "X");
  InstrId use = b.instr("use", queues[2]);
  b.access(AccessKind::Read, x, "X");
  b.dep(make, copy);
  if (second) {
    b.dep(copy, use);
  }
  return b.finish();
}

TEST(HeldTest, straightLineCodeHasChainsToo) {
  EXPECT_THAT(openOf(row(true)), IsEmpty());
  EXPECT_THAT(openOf(row(false)), ElementsAre("'make' -> 'use' ('make' writes X; 'use' reads X)"));
}

/// Without one of the dependences that are kept, the rest does not imply all.
TEST(HeldTest, allThatIsKeptIsNeeded) {
  size_t numKept = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Kernel kernel = tally::oracle::randomAccesses(seed);
    Extractor extractor;
    Extraction found = extractor.extract(kernel, {});
    markImplied(kernel, found);
    EXPECT_THAT(openOf(withDeps(kernel, found), extractor), IsEmpty()) << seed;
    for (DerivedDep &derived : found.deps) {
      if (!derived.isImplied()) {
        derived.numSteps = 1; // as if it were
        EXPECT_FALSE(openOf(withDeps(kernel, found), extractor).empty())
            << seed << ": " << describe(kernel, found, derived) << '\n'
            << dump(withDeps(kernel, found));
        derived.numSteps = 0;
        ++numKept;
      }
    }
  }
  EXPECT_GT(numKept, 50u);
}

/// The lists by hand of the kernels that come with tally. They load ahead of their loops for a
/// later iteration than the first, which a chain to that iteration covers.
TEST(HeldTest, writtenKernelsFollow) {
  for (const char *name : {"adamw", "rmsnorm", "matmul-k-unrolled", "moe-384-4"}) {
    EXPECT_THAT(openOf(findKernel(name)->write(KernelSize::Small).kernel), IsEmpty()) << name;
  }
}

} // namespace
