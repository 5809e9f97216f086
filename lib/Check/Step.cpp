//===- Step.cpp - The smallest thing that can happen ----------------------===//

#include "tally/Check/Step.h"

#include <fmt/format.h>

namespace tally {

std::string_view toString(StepKind kind) {
  switch (kind) {
  case StepKind::Control:
    return "control";
  case StepKind::Issue:
    return "issue";
  case StepKind::Commit:
    return "commit";
  case StepKind::Deliver:
    return "deliver";
  case StepKind::Retire:
    return "retire";
  }
  return "";
}

std::string describe(const Kernel &kernel, const Step &step) {
  bool onEngine = step.kind == StepKind::Control || step.kind == StepKind::Issue;
  std::string_view who = onEngine ? kernel.nameOf(step.engine) : kernel.nameOf(step.queue);
  bool hasIndex = step.kind == StepKind::Commit || step.kind == StepKind::Deliver;
  return fmt::format("{} '{}'{}", toString(step.kind), who,
                     hasIndex ? fmt::format(" {}", step.index) : "");
}

} // namespace tally
