//===- Step.cpp - The smallest thing that can happen ----------------------===//

#include "tally/Check/Step.h"

#include <fmt/format.h>

namespace tally {

std::string describe(const Kernel &kernel, const Step &step) {
  bool onEngine = step.kind == StepKind::Control || step.kind == StepKind::Issue;
  std::string_view who = onEngine ? kernel.nameOf(step.engine) : kernel.nameOf(step.queue);
  return fmt::format("{} '{}'{}", toString(step.kind), who,
                     hasIndex(step.kind) ? fmt::format(" {}", step.index) : "");
}

} // namespace tally
