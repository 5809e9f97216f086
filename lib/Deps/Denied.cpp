//===- Denied.cpp - Memory that addresses share and `noalias` denies ------===//

#include "tally/Deps/Denied.h"

#include "tally/Model/Overlap.h"

#include <fmt/format.h>

namespace tally {

std::vector<Denied> findDenied(const Kernel &kernel) {
  IdVector<BufferId, bool> isTouched(kernel.buffers.size(), false);
  for (const Access &access : kernel.accesses) {
    isTouched[access.buffer] = true;
  }
  SharedMemory shared(kernel);
  std::vector<Denied> denied;
  for (BufferId buffer : kernel.buffers.ids()) {
    for (BufferId earlier : kernel.buffers[buffer].noalias) {
      InCommon common = shared.byAddress(buffer, earlier);
      if (isTouched[buffer] && isTouched[earlier] && common != InCommon::Nothing) {
        denied.push_back({buffer, earlier, common == InCommon::Known});
      }
    }
  }
  return denied;
}

std::string deniedText(const Kernel &kernel, Denied denied) {
  auto name = [&](BufferId buffer) { return kernel.text(kernel.buffers[buffer].name); };
  return fmt::format("'{}' shares no memory with '{}', as its 'noalias' says, though their "
                     "addresses {}put one over the other",
                     name(denied.buffer), name(denied.earlier), denied.isKnown ? "" : "may ");
}

void remarkDenied(const Kernel &kernel, Diagnostics &diagnostics) {
  for (Denied denied : findDenied(kernel)) {
    const Buffer &buffer = kernel.buffers[denied.buffer];
    const Buffer &earlier = kernel.buffers[denied.earlier];
    diagnostics
        .remark(buffer.where,
                fmt::format("it is taken for granted that {}; no dependence between the two is "
                            "looked for; addresses that are apart need no 'noalias'",
                            deniedText(kernel, denied)))
        .note(earlier.where, fmt::format("'{}' is here", kernel.text(earlier.name)));
  }
}

} // namespace tally
