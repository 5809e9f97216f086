//===- FewRuns.h - The same answers, run by run -----------------------------===//
//
// Two instructions with few runs each, whose numbers are all that there is: instead of asking isl
// about sets (Distances.cpp), each run of the consumer is looked at. It says the same, sooner.
//
//===----------------------------------------------------------------------===//

#ifndef TALLY_LIB_DEPS_FEWRUNS_H
#define TALLY_LIB_DEPS_FEWRUNS_H

#include "Distances.h"
#include "Period.h"

namespace tally::deps {

class FewRuns {
public:
  /// None if the nest is of another kind, or isl gives up.
  static std::optional<FewRuns> of(IslContext &context, const PairNest &nest);

  Distances distances() const;

  TableAnswer table() const { return periodOf(nest, needed); }

private:
  explicit FewRuns(const PairNest &nest) : nest(nest) {}

  bool look(IslContext &context);

  const PairNest &nest;
  std::vector<int64_t> last; ///< that each run of the consumer conflicts with, itself
  NeededRuns needed;
};

} // namespace tally::deps

#endif // TALLY_LIB_DEPS_FEWRUNS_H
