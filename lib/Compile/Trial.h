//===- Trial.h - A change of code or plan, tried by time ------------------===//

#ifndef TALLY_LIB_COMPILE_TRIAL_H
#define TALLY_LIB_COMPILE_TRIAL_H

#include "tally/Compile/Request.h"
#include "tally/Compile/Search.h"
#include "tally/Compile/Stopwatch.h"

namespace tally::compiling {

/// What a change of code does to a run, and what the search says of it.
class Trial {
public:
  Trial(const Kernel &kernel, const Request &request, const Machine &machine, Search &search);

  /// Of code as it is written: bodies of one pass share their waits. Nothing if runs cannot be
  /// timed.
  std::optional<Tick> timeOf(const Code &code);

  bool isSpent() const { return stopwatch.isSpent(); }

  struct Candidate {
    const Code &code;
    std::optional<Tick> time;
  };

  /// Notes that something was tried, if the search has measured what it began with.
  void record(Attempt::Step step, std::string what, bool isTaken, const Candidate &before,
              const Candidate &after);

private:
  CodeCost costOf(const Candidate &candidate) const;

  const Kernel &kernel;
  const Machine &machine;
  Search &search;
  Stopwatch stopwatch;
};

} // namespace tally::compiling

#endif // TALLY_LIB_COMPILE_TRIAL_H
