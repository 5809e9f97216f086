//===- Prepare.cpp - From a kernel that was read to one to be compiled ----===//

#include "tally/Compile/Prepare.h"

#include "tally/Deps/Bounds.h"
#include "tally/Deps/Denied.h"
#include "tally/Deps/Find.h"
#include "tally/Deps/Unstated.h"

#include <fmt/format.h>

namespace tally {

void remarkAccesses(const Kernel &kernel, Diagnostics &diagnostics) {
  checkTiles(kernel, diagnostics); // the readers have refused tiles that surely leave
  remarkDenied(kernel, diagnostics);
  remarkUnstated(kernel, diagnostics);
}

/// Code that waits for nothing is seldom what is meant.
static void warnOfNone(const Kernel &kernel, Diagnostics &diagnostics) {
  diagnostics
      .remark(kernel.where, fmt::format("kernel '{}' has no written dependences, and as asked none "
                                        "are taken from its accesses, so its engines do not wait "
                                        "for one another",
                                        kernel.text(kernel.name)))
      .severity = Severity::Warning;
}

Kernel findAsked(const Kernel &kernel, const Request &request, const Machine &machine,
                 Extractor &extractor, Diagnostics &diagnostics) {
  if (!request.findDeps) {
    warnOfNone(kernel, diagnostics);
    return kernel;
  }
  const FindOptions options{
      {.queueOverlap = machine.queueOverlap}, request.keepImplied, /*checkTiles=*/false};
  return findDeps(kernel, options, extractor, diagnostics);
}

} // namespace tally
