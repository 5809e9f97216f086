//===- Iterations.cpp - Where in its loops something happens --------------===//

#include "tally/Model/Iterations.h"

#include <fmt/format.h>

namespace tally {

std::string iterationText(const Kernel &kernel, std::span<const LoopIteration> around) {
  std::string text;
  for (const LoopIteration &at : around) {
    if (!kernel.loops[at.loop].isBranch()) {
      text +=
          fmt::format("{}{} = {}", text.empty() ? "" : ", ", kernel.nameOf(at.loop), at.iteration);
    }
  }
  return text;
}

} // namespace tally
