//===- TimedSubject.h - What is run in time -------------------------------===//
//
// Subjects as for `tally check`, and one more way to synchronise: `ideal`, the bound.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_TIMEDSUBJECT_H
#define TALLY_TOOLS_TALLY_TIMEDSUBJECT_H

#include "CheckCommand.h"

namespace tally::tool {

/// The code of these kernels; none, with the reasons reported.
std::optional<std::vector<Subject>> timedSubjects(std::vector<LoadedKernel> kernels,
                                                  const CheckOptions &options, Session &session,
                                                  const Machine &machine);

/// The same for the kernels of the input.
std::optional<std::vector<Subject>> timedSubjects(const CheckOptions &options, Session &session,
                                                  const Machine &machine);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_TIMEDSUBJECT_H
