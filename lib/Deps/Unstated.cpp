//===- Unstated.cpp - Instructions that do not say what they touch --------===//

#include "tally/Deps/Unstated.h"

#include "tally/Support/Counted.h"

#include <fmt/format.h>

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
  std::vector<std::string> names;
  for (InstrId instr : unstated) {
    names.push_back(fmt::format("'{}'", kernel.nameOf(instr)));
  }
  return listed(names, mostNamed) +
         (unstated.size() == 1 ? " states no accesses; its dependences are not looked for"
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
