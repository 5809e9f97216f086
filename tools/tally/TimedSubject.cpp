//===- TimedSubject.cpp - What is run in time -----------------------------===//

#include "TimedSubject.h"

#include "tally/Compile/Ideal.h"

#include <fmt/format.h>

#include <cstdio>

namespace tally::tool {

static constexpr const char *ideal = "ideal";

std::vector<std::string> timedStrategies() {
  std::vector<std::string> names = strategyNames();
  names.emplace_back(ideal);
  return names;
}

bool isIdeal(const Subject &subject) {
  return subject.code.strategy == ideal;
}

/// The ideal run needs code without limits; it is made here from the kernel alone.
static bool makeIdeal(Session &session, Subject &subject, const Machine &machine) {
  Diagnostics diagnostics;
  std::optional<IdealCode> code = idealCode(subject.kernel, machine, diagnostics);
  if (!code) {
    session.report(subject.kernel, diagnostics);
    return false;
  }
  if (code->overWaiting > 0) {
    tellNote(fmt::format("{} dependences have no exact wait, so this is not quite the bound",
                         code->overWaiting));
  }
  subject.code = std::move(code->code);
  return true;
}

std::optional<std::vector<Subject>> timedSubjects(std::vector<LoadedKernel> kernels,
                                                  const CheckOptions &options, Session &session,
                                                  const Machine &machine) {
  if (options.common.strategy != ideal) {
    return makeSubjects(std::move(kernels), options, session, machine);
  }
  CheckOptions perLoop = options;
  perLoop.common.strategy = toString(Strategy::PerLoop);
  Machine unlimited = machine;
  unlimited.semaphores = unlimited.registersPerEngine = std::nullopt;
  std::optional<std::vector<Subject>> subjects =
      makeSubjects(std::move(kernels), perLoop, session, unlimited);
  for (size_t i = 0; subjects && i < subjects->size(); ++i) {
    if (!makeIdeal(session, (*subjects)[i], machine)) {
      return std::nullopt;
    }
  }
  return subjects;
}

std::optional<std::vector<Subject>> timedSubjects(const CheckOptions &options, Session &session,
                                                  const Machine &machine) {
  return timedSubjects(session.load(options.common.input, machine), options, session, machine);
}

} // namespace tally::tool
