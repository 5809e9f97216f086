//===- Promises.h - Up to how many entries code is right ------------------===//
//
// Under `--overflow=assume` a remark says of each loop whose counters may overflow up to how many
// entries of it the code is right. Runs that stay within are judged like any other.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_FUZZ_PROMISES_H
#define TALLY_FUZZ_PROMISES_H

#include "tally/Model/Bindings.h"

namespace tally::fuzz {

struct Promise {
  LoopId loop;
  uint64_t entries = 0; ///< over the whole run
};

/// What the remarks among these say.
std::vector<Promise> promisesOf(const Kernel &kernel, const Diagnostics &diagnostics);

/// Whether a run keeps to all of them, on every engine.
bool isPromised(const Kernel &kernel, const std::vector<Promise> &promises,
                const Bindings &bindings);

} // namespace tally::fuzz

#endif // TALLY_FUZZ_PROMISES_H
