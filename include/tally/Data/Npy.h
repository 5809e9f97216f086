//===- Npy.h - Buffers as files that NumPy reads --------------------------===//
//
// The format NPY 1.0: a line that says what follows, and then the elements in order.
//
//   f32 '<f4'   f16 '<f2'   bf16 '<u2' and fp8 '|u1': their bits   whole numbers '<i4', '|u1', ...
//
// Poison is written as NaN, in whole numbers as the smallest one. Where a buffer does not hold
// whole numbers, a file of '<f4' is read, too, and rounded.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DATA_NPY_H
#define TALLY_DATA_NPY_H

#include "tally/Data/Memory.h"

#include <iosfwd>
#include <string>

namespace tally {

/// Adds an error for each buffer whose name would lead out of a folder of files.
void checkFileNames(const Kernel &kernel, Diagnostics &diagnostics);

/// The bits in which an element that was never written stands in a file.
uint32_t unwrittenBits(Format format);

/// Whether all of it could be written.
bool writeNpy(std::ostream &out, const BufferData &data);

/// Reads all elements of `data`, whose shape and format stay. Returns why it could not, or nothing.
std::string readNpy(std::istream &in, BufferData &data);

} // namespace tally

#endif // TALLY_DATA_NPY_H
