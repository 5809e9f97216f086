//===- BytecodeTarget.cpp - Any bytes into the bytecode reader ------------===//
//
// A damaged file may crash MLIR's own reader; a child process tries it first (ReadModule.h). Here
// the question is what becomes of files that get past it.
//
//===----------------------------------------------------------------------===//

#include "Input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!tally::fuzz::isBytecode(data, size)) {
    return -1;
  }
  tally::fuzz::kernelsIn(data, size);
  return 0;
}
