//===- Unstated.h - Instructions that do not say what they touch ----------===//
//
// Where some instructions state what they touch and others do not, no dependence of the others is
// looked for: they are taken to touch nothing. What is said about such a kernel names them.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_UNSTATED_H
#define TALLY_DEPS_UNSTATED_H

#include "tally/Model/Kernel.h"

namespace tally {

/// The instructions that state no accesses; none where no instruction states any.
std::vector<InstrId> unstatedAccesses(const Kernel &kernel);

/// As a sentence: `'x' states no accesses; its dependences are not looked for`.
std::string unstatedText(const Kernel &kernel, const std::vector<InstrId> &unstated);

/// One remark for all of them, at the first.
void remarkUnstated(const Kernel &kernel, Diagnostics &diagnostics);

} // namespace tally

#endif // TALLY_DEPS_UNSTATED_H
