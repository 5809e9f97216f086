//===- Denied.h - Memory that addresses share and `noalias` denies --------===//
//
// `noalias` says that two buffers share nothing, whatever their addresses say. Where these say
// otherwise, it cannot be known which is right: no dependence between the two is looked for, and
// what is said about such a kernel names them.
//
//   X at 0, 64 bytes     Y at 32, 64 bytes, noalias ["X"]     denied
//   X at 0, 64 bytes     Y at 64, 64 bytes, noalias ["X"]     true anyway
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_DENIED_H
#define TALLY_DEPS_DENIED_H

#include "tally/Model/Kernel.h"

namespace tally {

/// One buffer that says `noalias` of an earlier one.
struct Denied {
  BufferId buffer;
  BufferId earlier;
  bool isKnown = false; ///< what is common, by their addresses; otherwise a size is not
};

/// Of those that instructions touch, both of them; in the order of the text.
std::vector<Denied> findDenied(const Kernel &kernel);

/// In words that go on after "that": `'Y' shares no memory with 'X', though ...`.
std::string deniedText(const Kernel &kernel, Denied denied);

/// One remark for each, at the buffer that says so.
void remarkDenied(const Kernel &kernel, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_DEPS_DENIED_H
