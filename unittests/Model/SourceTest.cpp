//===- SourceTest.cpp - Which places are shown ----------------------------===//

#include "tally/Model/Source.h"
#include "tally/Model/KernelBuilder.h"

#include <gtest/gtest.h>

using namespace tally;

namespace {

/// Instructions in the file that was read, elsewhere, and nowhere.
Kernel placed() {
  KernelBuilder b("k");
  QueueId queue = b.queueOf(b.engine("e"));
  b.instr("here", queue, {}, {b.file("k.json"), 3, 1});
  b.instr("elsewhere", queue, {}, {b.file("k\n.py"), 7, 5});
  b.instr("nowhere", queue);
  return b.finish();
}

TEST(SourceTest, onlyPlacesElsewhereAreShown) {
  Kernel kernel = placed();
  EXPECT_EQ(sourceText(kernel, kernel.instrs[InstrId(1)].where), "k\\0A.py:7:5");
  EXPECT_EQ(sourceText(kernel, kernel.instrs[InstrId(1)].where, "; "), "; k\\0A.py:7:5");
  EXPECT_EQ(sourceJson(kernel, kernel.instrs[InstrId(1)].where),
            R"({"file":"k\n.py","line":7,"column":5})");
  EXPECT_EQ(nameWithSource(kernel, InstrId(1)), "'elsewhere' (k\\0A.py:7:5)");
  for (InstrId instr : {InstrId(0), InstrId(2)}) {
    EXPECT_EQ(sourceText(kernel, kernel.instrs[instr].where, "; "), "");
    EXPECT_EQ(sourceJson(kernel, kernel.instrs[instr].where), "");
  }
  EXPECT_EQ(nameWithSource(kernel, InstrId(0)), "'here'");
}

/// A number that no file has is no place.
TEST(SourceTest, aFileIsInTheTable) {
  EXPECT_EQ(sourceText(placed(), {2, 1, 1}), "");
}

} // namespace
