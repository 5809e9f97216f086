//===- CheckAnswer.h - What tally check has found -------------------------===//
#ifndef TALLY_TOOLS_TALLY_CHECKANSWER_H
#define TALLY_TOOLS_TALLY_CHECKANSWER_H

#include "CheckCommand.h"
#include "Result.h"
#include "tally/Support/Counted.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::tool {

/// What one of the two ways to ask has found.
struct Answer {
  Verdict verdict = Verdict::Undecided;
  std::string text;
  Json json;
  std::vector<Fault> faults;
};

Answer exploreSubject(const CheckOptions &options, const Subject &subject, const Machine &machine,
                      const Given &given);
Answer raceSubject(const CheckOptions &options, const Subject &subject, const Machine &machine,
                   const Given &given);

/// Why nothing was compared; empty if something was. `hasNeeds`: there is something that the code
/// is held to; `runs`: all that were looked at; `isOneRun`: the user gives it.
std::string nothingToCompare(const Subject &subject, bool hasNeeds, const RunsDo &runs,
                             bool isOneRun);

/// The dependences that no run brings to bear, as texts.
std::vector<std::string> neverOwed(const Kernel &kernel, const RunsDo &runs);

/// Names the first few.
std::string neverText(std::span<const std::string> never);

} // namespace tally::tool

#endif // TALLY_TOOLS_TALLY_CHECKANSWER_H
