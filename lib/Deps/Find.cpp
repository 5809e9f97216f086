//===- Find.cpp - From accesses to a kernel with dependences --------------===//

#include "tally/Deps/Find.h"

#include "tally/Deps/Bounds.h"
#include "tally/Deps/Denied.h"
#include "tally/Deps/Implied.h"
#include "tally/Model/Check.h"

namespace tally {

Kernel findDeps(const Kernel &kernel, const FindOptions &options, Extractor &extractor,
                Diagnostics &diagnostics) {
  if (!asksForDeps(kernel)) {
    return kernel;
  }
  if (options.checkTiles) {
    checkTiles(kernel, diagnostics);
    remarkDenied(kernel, diagnostics);
  }
  Extraction found = extractor.extract(kernel, options.extract);
  if (options.keepImplied) {
    shortenAll(found);
  } else {
    markImplied(kernel, found);
  }
  remarkExcess(kernel, found, diagnostics);
  Kernel result = withDeps(kernel, found);
  check(result, diagnostics);
  return result;
}

} // namespace tally
