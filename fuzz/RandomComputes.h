//===- RandomComputes.h - What instructions compute, from a seed ----------===//
//
// A few small buffers of several formats, and instructions that make whole numbers of what they
// read. So sums have one value, in whatever order they are added up, and each run that is in order
// ends with the same bits.
//
//   tally.instr "i3" on "e1" computes "mod(3 * r0 + r1 - L0, 251)"
//     reads ["X0[L0 mod 4:2]", "X2[1]"] writes ["X1[0:2, 3]"]
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_RANDOMCOMPUTES_H
#define TALLY_FUZZ_RANDOMCOMPUTES_H

#include "RandomTiles.h"

namespace tally::fuzz {

class ComputesDrawer final : public TileDrawer {
public:
  ComputesDrawer(KernelBuilder &builder, uint64_t seed);

  /// Up to two tiles that the instruction reads, mostly one that it writes, and what it computes.
  void draw(InstrId instr) override;

private:
  /// What an instruction works on: some rows, perhaps of all four columns.
  struct Extent {
    uint32_t rows = 1;
    bool isWide = false;
  };

  size_t bufferFor(bool isWide);
  std::string tileOf(size_t buffer, Extent extent);
  void drawReads();
  void drawResult();
  std::string result(bool mayBeLarge);
  std::string expression(uint32_t depth);
  std::string whole(uint32_t depth);
  std::string operand();

  std::vector<bool> isLarge; ///< buffers that hold large whole numbers exactly
  Extent extent;             ///< of the instruction
  uint32_t numReads = 0;
  bool hasRows = false; ///< some tile that it reads has all its rows ...
  bool isWide = false;  ///< ... and columns
};

} // namespace tally::fuzz

#endif // TALLY_FUZZ_RANDOMCOMPUTES_H
