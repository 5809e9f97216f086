//===- Held.h - Do written dependences imply what accesses ask for? -------===//
//
// A kernel with dependences is taken as it is written. Where it also says what its instructions
// touch, the two can be compared: each dependence that accesses ask for
// (Extract.h) has to follow from the written ones, by a chain as in Implied.h.
//
//   written   'load' -> 'scale'
//   asked     'load' -> 'bias'             follows: the engine issues 'scale' before 'bias'
//   asked     'scale' -> 'load' at A = 2   open
//
// What is open is missing, or follows in a way that the search does not see, or accesses are taken
// for more than they are (DerivedDep::excess). Which of these, a run that races shows.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_DEPS_HELD_H
#define TALLY_DEPS_HELD_H

#include "tally/Deps/Extract.h"

namespace tally {

struct Held {
  Extraction asked;         ///< by accesses, whatever is written; none is marked as implied
  std::vector<size_t> open; ///< into `asked.deps`: not seen to follow
};

/// Holds the written dependences of a kernel against its accesses.
Held holdDeps(const Kernel &kernel, const ExtractOptions &options, Extractor &extractor);

/// The kernel with what is open added to its own dependences, which keep their numbers; those that
/// are added follow in the order of `held.open`.
Kernel withOpenDeps(const Kernel &kernel, const Held &held);

} // namespace tally

#endif // TALLY_DEPS_HELD_H
