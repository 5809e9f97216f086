//===- Costs.cpp - What each instruction of a kernel costs ----------------===//

#include "tally/Sim/Simulate.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

#include <map>

namespace tally {

std::optional<InstrCosts> instructionCosts(const Kernel &kernel, const Timing &timing,
                                           Diagnostics &diagnostics) {
  InstrCosts costs;
  costs.reserve(kernel.instrs.size());
  // Instructions of the same operation on the same engine cost the same.
  std::map<std::pair<uint32_t, uint32_t>, std::optional<InstrCost>> known;
  size_t errorsBefore = diagnostics.numErrors();
  size_t numNameless = 0;
  for (InstrId id : kernel.instrs.ids()) {
    const Instr &instr = kernel.instrs[id];
    EngineId engine = kernel.engineOf(id);
    auto [found, isNew] = known.try_emplace({engine.value, instr.operation.value});
    std::string_view text = instr.operation.valid() ? kernel.text(instr.operation) : "";
    numNameless += text.empty();
    if (isNew) {
      std::vector<std::string> errors;
      found->second = timing.costOf(kernel.nameOf(engine), text, errors);
      for (std::string &error : errors) {
        diagnostics.error(instr.where, std::move(error));
      }
      if (found->second && found->second->isAssumed && !text.empty()) {
        diagnostics.remark(instr.where,
                           fmt::format("the machine has no cost for the operation '{}' "
                                       "as it stands; it costs as 'cost.default'",
                                       text));
      }
    }
    costs.push(found->second.value_or(InstrCost()));
  }
  if (numNameless > 0) {
    diagnostics.remark(kernel.where,
                       fmt::format("{} of {} {} no operation; {} "
                                   "{} as 'cost.default'",
                                   numNameless, counted(kernel.instrs.size(), "instruction"),
                                   numNameless == 1 ? "names" : "name",
                                   numNameless == 1 ? "it" : "they",
                                   numNameless == 1 ? "costs" : "cost"));
  }
  return diagnostics.numErrors() == errorsBefore ? std::optional(std::move(costs)) : std::nullopt;
}

} // namespace tally
