//===- Advice.h - What advice commands give -------------------------------===//
//
// `tally advise` gives nothing else; `sim` and `report` give it on top of what they say of a run.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_ADVICE_H
#define TALLY_TOOLS_TALLY_ADVICE_H

#include "Output.h"
#include "TimedSubject.h"

#include "tally/Advise/Advise.h"
#include "tally/Report/Report.h"

namespace tally::tool {

/// Ends the program if code is not such that advice could be about it.
void refuseAdvice(const std::vector<Subject> &subjects);

/// Of a kernel as it was loaded: dependences that were found for a run must not look as if they
/// were written. None, with the reasons reported, if there is no advice. What limits it is noted.
std::optional<Advice> adviceOn(const LoadedKernel &loaded, Session &session, const BoundRun &bound,
                               const TimeOptions &time, uint64_t effort);

/// What was found, the same as text and as members of a JSON object.
struct ShownAdvice {
  Json members;
  std::string text;
};

ShownAdvice shown(const Kernel &kernel, const Advice &advice, size_t mostRows);

/// The same for a page.
ReportAdvice forPage(const Kernel &kernel, const Advice &advice, const std::string &strategy);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_ADVICE_H
