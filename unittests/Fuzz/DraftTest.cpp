//===- DraftTest.cpp - A kernel and its draft say the same ----------------===//

#include "tally/Model/Draft.h"

#include "Case.h"
#include "RandomKernel.h"
#include "tally/Written/KernelJson.h"

#include <gtest/gtest.h>

using namespace tally;
using namespace tally::fuzz;

/// What was not edited is as it was, in all that can be written down.
TEST(DraftTest, whatIsNotEditedStays) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const Kernel kernel = seed % 2 == 0 ? kernelOfSeed(seed) : randomKernel(seed, {});
    ASSERT_EQ(writeKernelJson(built(kernel, draftOf(kernel))), writeKernelJson(kernel)) << seed;
  }
}
