//===- Recorded.h - One run, for the systems of the proof to repeat -------===//
//
// A random schedule of code and kernel on the transition systems of lib/Check, written down twice.
// One is the member `(run ...)` of a certificate, the other what `tally-certify --replay` ought to
// say of every state on the way (proof/extraction/replay.ml has the form of a line).
//
//===----------------------------------------------------------------------===//
#ifndef TALLY_UNITTESTS_CERTIFY_RECORDED_H
#define TALLY_UNITTESTS_CERTIFY_RECORDED_H

#include "tally/Check/Impl.h"
#include "tally/Check/Spec.h"

#include <string>
#include <vector>

namespace tally {

struct RecordedRun {
  std::string member;              ///< of a certificate
  std::vector<std::string> states; ///< a line each
  /// The code did what the kernel does not allow, and the run ends there.
  bool isStuck = false;
};

/// Runs to the end, or for `maxSteps`.
RecordedRun record(const Kernel &kernel, const Code &code, const Machine &machine,
                   const Bindings &bindings, uint64_t seed, uint32_t maxSteps,
                   const SpecReading &reading = {});

/// The certificate with one more member.
std::string withMember(std::string certificate, const std::string &member);

/// Whether the proof's systems said what is expected. Where they read a dependence as one that asks
/// for more, they may ask for more, and hold the instruction longer.
bool saysTheSame(const std::string &expected, const std::string &said);

} // namespace tally

#endif // TALLY_UNITTESTS_CERTIFY_RECORDED_H
