//===- PlanDiff.cpp - How two plans differ, dependence by dependence ------===//

#include "PlanDiff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally::tool {

PlanDiff::PlanDiff(const Planned &first, const Planned &second, const Machine &machine)
    : first(first), second(second) {
  pairUp(machine);
  findNeeds();
}

/// The semaphore by who raises it: numbers mean nothing in another plan.
PlanDiff::Waited PlanDiff::waited(const Planned &planned, const Machine &machine, DepId dep) {
  const Kernel &kernel = planned.kernel;
  const SyncPlan &plan = planned.compiled.plan;
  const Wait &wait = plan.waits[dep];
  Waited result;
  result.waitClass = toString(wait.waitClass);
  result.exact = wait.exact;
  result.operations = waitCost(plan, machine, dep);
  if (!wait.group.valid()) {
    return result;
  }
  const Group &group = plan.groups[wait.group];
  std::string_view body = !group.body.valid()      ? "all bodies"
                          : group.body == rootLoop ? "ROOT"
                                                   : kernel.nameOf(group.body);
  result.semaphore = fmt::format("'{}' in {}, N = {}, K = {}", kernel.nameOf(group.queue), body,
                                 group.numSignals, plan.placeOf[kernel.deps[dep].producer]);
  if (group.pinned) {
    result.semaphore += fmt::format(", pinned to {}", *group.pinned);
  }
  if (wait.threshold.valid()) {
    result.threshold = toString(plan.exprs, wait.threshold, plan.rings, kernel);
  }
  return result;
}

/// Equal dependences are paired in their order.
void PlanDiff::pairUp(const Machine &machine) {
  std::map<std::string, std::vector<size_t>> unpaired;
  for (DepId dep : first.kernel.deps.ids()) {
    std::string name = describe(first.kernel, dep);
    unpaired[name].push_back(pairs.size());
    pairs.push_back({name, waited(first, machine, dep), std::nullopt});
  }
  for (auto &[name, waiting] : unpaired) {
    std::ranges::reverse(waiting);
  }
  for (DepId dep : second.kernel.deps.ids()) {
    std::string name = describe(second.kernel, dep);
    std::vector<size_t> &waiting = unpaired[name];
    if (waiting.empty()) {
      pairs.push_back({name, std::nullopt, waited(second, machine, dep)});
      continue;
    }
    pairs[waiting.back()].second = waited(second, machine, dep);
    waiting.pop_back();
  }
}

void PlanDiff::findNeeds() {
  semaphores.first = measure(first.kernel, first.compiled.code, 0).semaphores;
  semaphores.second = measure(second.kernel, second.compiled.code, 0).semaphores;
  std::map<std::string_view, size_t> indexOf;
  auto need = [&](std::string_view engine) -> Need & {
    auto [found, isNew] = indexOf.try_emplace(engine, registers.size());
    if (isNew) {
      registers.push_back({std::string(engine)});
    }
    return registers[found->second];
  };
  for (const EngineProgram &code : first.compiled.code.engines) {
    need(first.kernel.nameOf(code.engine)).first = code.registers.size();
  }
  for (const EngineProgram &code : second.compiled.code.engines) {
    need(second.kernel.nameOf(code.engine)).second = code.registers.size();
  }
}

std::string PlanDiff::heading() const {
  auto side = [](const Planned &planned) {
    return fmt::format("kernel '{}', strategy '{}'", planned.kernel.text(planned.kernel.name),
                       toString(planned.compiled.code.strategy));
  };
  return fmt::format("- {}\n+ {}\n", side(first), side(second));
}

std::string PlanDiff::line(char sign, const Waited &waited) {
  std::string text = fmt::format("  {} {}", sign, waited.waitClass);
  if (!waited.semaphore.empty()) {
    text += fmt::format(": {}", waited.semaphore);
  }
  if (!waited.threshold.empty()) {
    text += fmt::format(": {}", waited.threshold);
  }
  return text + fmt::format("  cost {}{}\n", waited.operations,
                            waited.exact ? "" : ", waits longer than the dependence asks");
}

std::string PlanDiff::text() const {
  std::string text = heading();
  if (semaphores.first != semaphores.second) {
    text += fmt::format("semaphores: {} -> {}\n", semaphores.first, semaphores.second);
  }
  for (const Need &engine : registers) {
    if (engine.first != engine.second) {
      text +=
          fmt::format("registers of '{}': {} -> {}\n", engine.what, engine.first, engine.second);
    }
  }
  size_t same = 0;
  for (const Pair &pair : pairs) {
    if (pair.first == pair.second) {
      ++same;
      continue;
    }
    text += pair.dependence + "\n";
    text += pair.first ? line('-', *pair.first) : "";
    text += pair.second ? line('+', *pair.second) : "";
  }
  if (pairs.empty()) {
    return text + "nothing is compared: neither plan has a dependence\n";
  }
  return text + fmt::format("{} dependence{} {} waited for alike\n", same, same == 1 ? "" : "s",
                            same == 1 ? "is" : "are");
}

Json PlanDiff::json(const std::optional<Waited> &waited) {
  if (!waited) {
    return {};
  }
  auto text = [](const std::string &value) { return value.empty() ? Json() : Json(value); };
  return {{"class", waited->waitClass},
          {"exact", waited->exact},
          {"semaphore", text(waited->semaphore)},
          {"threshold", text(waited->threshold)},
          {"operations", waited->operations}};
}

Json PlanDiff::json() const {
  auto side = [](const Planned &planned) {
    return Json{{"kernel", planned.kernel.text(planned.kernel.name)},
                {"strategy", toString(planned.compiled.code.strategy)}};
  };
  Json object = {{"first", side(first)}, {"second", side(second)}};
  object["semaphores"] = {semaphores.first, semaphores.second};
  object["registers"] = Json::array();
  for (const Need &engine : registers) {
    object["registers"].push_back(
        {{"engine", engine.what}, {"first", engine.first}, {"second", engine.second}});
  }
  object["dependences"] = Json::array();
  size_t same = 0;
  for (const Pair &pair : pairs) {
    if (pair.first == pair.second) {
      ++same;
      continue;
    }
    object["dependences"].push_back({{"dependence", pair.dependence},
                                     {"first", json(pair.first)},
                                     {"second", json(pair.second)}});
  }
  object["same"] = same;
  return object;
}

} // namespace tally::tool
