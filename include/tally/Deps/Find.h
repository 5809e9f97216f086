//===- Find.h - From accesses to a kernel with dependences ----------------===//
//
// What every compiler does first with a kernel that says what its instructions touch, and no
// dependence: find them (Extract.h), remove what is implied (Implied.h), say which wait longer than
// they have to.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_FIND_H
#define TALLY_DEPS_FIND_H

#include "tally/Deps/Extract.h"

namespace tally {

struct FindOptions {
  ExtractOptions extract;
  bool keepImplied = false;
  bool checkTiles = true; ///< first see what is open about them (Bounds.h, Denied.h)
};

/// The kernel with its dependences; the same kernel if it does not ask for them (asksForDeps).
/// Remarks for those that wait longer; errors if they are not legal in this kernel, or tiles leave
/// their buffers.
Kernel findDeps(const Kernel &kernel, const FindOptions &options, Extractor &extractor,
                Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_DEPS_FIND_H
