//===- Costs.cpp - What each instruction of a kernel costs ----------------===//

#include "tally/Sim/Simulate.h"
#include "tally/Support/Counted.h"
#include "tally/Support/Names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tally {

namespace {

/// What a machine does not know of operations, each kind in one remark at the first of them.
class UnknownOperations {
public:
  UnknownOperations(const Kernel &kernel, const Timing &timing) : kernel(kernel), timing(timing) {}

  /// An operation that no instruction of this engine has named before.
  void see(const Instr &instr, std::string_view engine, std::string_view text,
           const InstrCost &cost) {
    if (text.empty()) {
      return;
    }
    std::string_view name = text.substr(0, text.find('('));
    if (cost.isAssumed) {
      assumed.add(instr.where, fmt::format("'{}'{}", text, questionFor(name)));
    }
    for (const std::string &size : timing.idleSizes(engine, text)) {
      idle.add(instr.where, fmt::format("'{}' of '{}'", size, name));
    }
  }

  void seeNameless() { ++numNameless; }

  void report(Diagnostics &diagnostics) const {
    if (!assumed.names.empty()) {
      bool isOne = assumed.names.size() == 1;
      diagnostics.remark(assumed.first,
                         fmt::format("the machine has no cost for the operation{} {} as {}; {} as "
                                     "'cost.default'",
                                     isOne ? "" : "s", listed(assumed.names),
                                     isOne ? "it stands" : "they stand",
                                     isOne ? "it costs" : "they cost"));
    }
    if (!idle.names.empty()) {
      diagnostics.remark(idle.first, fmt::format("no cost of the machine asks for {} {}",
                                                 idle.names.size() == 1 ? "size" : "sizes",
                                                 listed(idle.names)));
    }
    if (numNameless > 0) {
      bool isOne = numNameless == 1;
      diagnostics.remark(kernel.where,
                         fmt::format("{} of {} {} no operation; {} {} as 'cost.default'",
                                     numNameless, counted(kernel.instrs.size(), "instruction"),
                                     isOne ? "names" : "name", isOne ? "it" : "they",
                                     isOne ? "costs" : "cost"));
    }
  }

private:
  /// About the name that is meant, if this one is not known.
  std::string questionFor(std::string_view name) const {
    std::vector<std::string_view> known = timing.operations();
    std::string_view nearest =
        std::ranges::find(known, name) == known.end() ? nearestName(name, known) : "";
    return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
  }

  struct Kind {
    void add(Location where, std::string name) {
      if (known.insert(name).second) {
        first = names.empty() ? where : first;
        names.push_back(std::move(name));
      }
    }

    Location first;
    std::vector<std::string> names;
    std::set<std::string> known;
  };

  const Kernel &kernel;
  const Timing &timing;
  Kind assumed, idle;
  size_t numNameless = 0;
};

} // namespace

std::optional<InstrCosts> instructionCosts(const Kernel &kernel, const Timing &timing,
                                           Diagnostics &diagnostics) {
  InstrCosts costs;
  costs.reserve(kernel.instrs.size());
  // Instructions of the same operation on the same engine cost the same.
  std::map<std::pair<uint32_t, uint32_t>, std::optional<InstrCost>> known;
  size_t errorsBefore = diagnostics.numErrors();
  UnknownOperations unknown(kernel, timing);
  for (InstrId id : kernel.instrs.ids()) {
    const Instr &instr = kernel.instrs[id];
    EngineId engine = kernel.engineOf(id);
    auto [found, isNew] = known.try_emplace({engine.value, instr.operation.value});
    std::string_view text = instr.operation.valid() ? kernel.text(instr.operation) : "";
    if (text.empty()) {
      unknown.seeNameless();
    }
    if (isNew) {
      std::vector<std::string> errors;
      found->second = timing.costOf(kernel.nameOf(engine), text, errors);
      for (std::string &error : errors) {
        diagnostics.error(instr.where, std::move(error));
      }
      if (found->second) {
        unknown.see(instr, kernel.nameOf(engine), text, *found->second);
      }
    }
    costs.push(found->second.value_or(InstrCost()));
  }
  unknown.report(diagnostics);
  return diagnostics.numErrors() == errorsBefore ? std::optional(std::move(costs)) : std::nullopt;
}

} // namespace tally
