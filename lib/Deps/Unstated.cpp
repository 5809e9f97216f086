//===- Unstated.cpp - Instructions that do not say what they touch --------===//

#include "tally/Deps/Unstated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

namespace tally {

std::vector<InstrId> unstatedAccesses(const Kernel &kernel) {
  std::vector<InstrId> unstated;
  for (InstrId instr : kernel.instrs.ids()) {
    if (!kernel.accesses.empty() && kernel.instrs[instr].accesses.empty()) {
      unstated.push_back(instr);
    }
  }
  return unstated;
}

std::string unstatedText(const Kernel &kernel, const std::vector<InstrId> &unstated) {
  constexpr size_t mostNamed = 4;
  auto name = [&](InstrId instr) { return fmt::format("'{}'", kernel.nameOf(instr)); };
  std::string names = fmt::format(
      "{}", fmt::join(unstated | std::views::take(mostNamed) | std::views::transform(name), ", "));
  if (unstated.size() > mostNamed) {
    names += fmt::format(" and {} more", unstated.size() - mostNamed);
  }
  return names + (unstated.size() == 1
                      ? " states no accesses; its dependences are not looked for"
                      : " state no accesses; their dependences are not looked for");
}

void remarkUnstated(const Kernel &kernel, Diagnostics &diagnostics) {
  std::vector<InstrId> unstated = unstatedAccesses(kernel);
  if (!unstated.empty()) {
    diagnostics.remark(kernel.instrs[unstated.front()].where,
                       unstatedText(kernel, unstated) + ", while other instructions say what they "
                                                        "touch; state them with 'reads', 'writes' "
                                                        "or 'accumulates'");
  }
}

} // namespace tally
