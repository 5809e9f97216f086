//===- LoadedKernel.h - What an input holds, whatever its form ------------===//
#ifndef TALLY_WRITTEN_LOADEDKERNEL_H
#define TALLY_WRITTEN_LOADEDKERNEL_H

#include "tally/Code/Code.h"

#include <optional>

namespace tally {

/// A kernel with the code that stands with it, if any.
struct LoadedKernel {
  Kernel kernel;
  std::optional<Code> code = {};
  bool depsFound = false;  ///< the dependences were found from accesses, not read
  bool isCompared = false; ///< it was said what the written ones leave open
  Location codeAt = {};    ///< where the code begins, if the text says so
};

} // namespace tally

#endif // TALLY_WRITTEN_LOADEDKERNEL_H
