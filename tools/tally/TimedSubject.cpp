//===- TimedSubject.cpp - What is run in time -----------------------------===//

#include "TimedSubject.h"

#include <fmt/format.h>

namespace tally::tool {

std::optional<std::vector<Subject>> timedSubjects(std::vector<LoadedKernel> kernels,
                                                  const CheckOptions &options, Session &session,
                                                  const Machine &machine) {
  std::optional<std::vector<Subject>> subjects =
      makeSubjects(std::move(kernels), options, session, machine);
  for (size_t i = 0; subjects && i < subjects->size(); ++i) {
    const Subject &subject = (*subjects)[i];
    if (subject.code.strategy == Strategy::Ideal && subject.numInexact > 0) {
      tellNote(fmt::format("{} dependences have no exact wait, so this is not quite the bound",
                           subject.numInexact));
    }
  }
  return subjects;
}

std::optional<std::vector<Subject>> timedSubjects(const CheckOptions &options, Session &session,
                                                  const Machine &machine) {
  return timedSubjects(session.load(options.common.input, machine), options, session, machine);
}

} // namespace tally::tool
