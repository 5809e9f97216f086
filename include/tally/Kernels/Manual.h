//===- Manual.h - The kernels' code as an expert would place it -----------===//
//
// What an expert of the machine does. Every producer that is waited for has its own semaphore, so
// its count needs no decoding. The hardware's loop counter is the threshold where it can be. Other
// thresholds are kept in registers and stepped once at the end of the loop.
//
//   loop A, counter i:
//     {load >= w}      scale {scale++}       w steps by 16: a transfer raises 16 times
//     {scale >= i}     store {store++}       no operation at all
//     [w := w + 16]
//
// For kernels of loops whose inner trips are constant. A distance k on a loop then is taken over
// all trips of it (the buffer's turns go on), which waits for no more than a person means.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_KERNELS_MANUAL_H
#define TALLY_KERNELS_MANUAL_H

#include "tally/Code/Code.h"

namespace tally {

/// Code for a kernel of the catalogue.
Code manualCode(const Kernel &kernel);

} // namespace tally

#endif // TALLY_KERNELS_MANUAL_H
