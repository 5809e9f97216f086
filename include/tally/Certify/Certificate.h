//===- Certificate.h - Kernel and code, for the proved checker ------------===//
//
// A certificate is a text that holds a kernel as it was read and the code of its
// engines as it is simulated and emitted. It holds nothing that was found on the way from one to
// the other: no plan, no groups, no classes. The program tally-certify, extracted from the
// proof, decides whether the code realises the kernel. docs/guide/certificate/Format.md has the
// format.
//
// The kernel side is printed from the kernel alone and the code side from the code
// alone, so that a mistake of the compiler cannot appear on both.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_CERTIFY_CERTIFICATE_H
#define TALLY_CERTIFY_CERTIFICATE_H

#include "tally/Code/Code.h"
#include "tally/Machine/Machine.h"

#include <string>
#include <vector>

namespace tally {

/// What became of what the kernel says its instructions touch.
enum class AccessesNote : uint8_t {
  NoneStated, ///< it says nothing
  Derived,    ///< the dependences were found from that
  Held,       ///< the dependences were written, and imply all that is asked for (Deps/Held.h)
  Ignored,    ///< the dependences were written, and that was not shown
  Untouched,  ///< Derived or Held, but no guard of what it says is seen to hold (Deps/Bounds.h)
};

/// What neither the kernel nor the code tells.
struct CertificateNotes {
  AccessesNote accesses = AccessesNote::NoneStated; ///< becomes part of the verdict
  std::vector<std::string> granted = {};            ///< what accesses rest on; the same

  /// Dependences whose waits remember fewer iterations than they need, as registers ran out
  /// (PlanDecisions::remembered): such code is not covered.
  std::vector<DepId> waitsLonger = {};

  /// Dependences that ask for nothing in any run, which bounds of single loops may not show
  /// (Run/MayAsk.h): if all are like that, nothing is compared.
  std::vector<DepId> neverAsks = {};
};

/// The certificate of code that verifyCode() accepts, for the arithmetic of the machine.
/// Any strategy: what the theorem does not cover is written down too, and left to the checker to
/// say.
std::string writeCertificate(const Kernel &kernel, const Code &code, const Machine &machine,
                             const CertificateNotes &notes = {});

} // namespace tally

#endif // TALLY_CERTIFY_CERTIFICATE_H
