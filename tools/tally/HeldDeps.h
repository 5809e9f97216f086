//===- HeldDeps.h - Written dependences against accesses ------------------===//
#ifndef TALLY_TOOLS_TALLY_HELDDEPS_H
#define TALLY_TOOLS_TALLY_HELDDEPS_H

#include "Session.h"

#include "tally/Certify/Certificate.h"

namespace tally::tool {

/// Compares the dependences of a compiled kernel with its accesses, and says what is not seen to
/// follow from them: an error where a run of the code races for that, and otherwise a remark. None
/// if one is missing.
std::optional<AccessesNote> holdAccesses(Session &session, const LoadedKernel &loaded,
                                         const CommonOptions &options);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_HELDDEPS_H
