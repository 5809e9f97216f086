//===- Certify.h - Asking the proved checker ------------------------------===//
//
// The checker is a program of its own, tally-certify, extracted from the proof: nothing
// that this program does can reach into its answer.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_TOOLS_TALLY_CERTIFY_H
#define TALLY_TOOLS_TALLY_CERTIFY_H

#include "Session.h"

#include "tally/Certify/Certificate.h"

namespace tally::tool {

/// Certifies compiled kernels, each planned with its options and with what became of its accesses,
/// and shows the verdicts. Yes if all are certified, No if one is rejected, Undecided if one is not
/// covered by the theorem or the checker cannot be run. The certificates are kept in the file
/// `keep`; "" keeps none.
Exit certify(const std::vector<LoadedKernel> &kernels, const std::vector<PlanDecisions> &plans,
             const std::vector<AccessesNote> &accesses, const Machine &machine,
             const std::string &keep);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_CERTIFY_H
