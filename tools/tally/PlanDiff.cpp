//===- PlanDiff.cpp - How two plans differ, dependence by dependence ------===//

#include "PlanDiff.h"

#include "tally/Model/Source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tally::tool {
namespace {

Json sideOf(const Planned &planned, const Machine &machine, const std::string &machineReason) {
  Json side = {{"kernel", planned.kernel.text(planned.kernel.name)},
               {"strategy", toString(planned.compiled.code.strategy)},
               {"machine", machine.name}};
  if (!machineReason.empty()) {
    side["machine_not_given"] = machineReason;
  }
  return side;
}

size_t semaphoresOf(const Planned &planned) {
  return measure(planned.kernel, planned.compiled.code, 0).semaphores;
}

/// How one dependence is waited for. The semaphore by who raises it: numbers mean nothing in
/// another plan.
Json waitOf(const Planned &planned, const Machine &machine, DepId dep) {
  const Kernel &kernel = planned.kernel;
  const SyncPlan &plan = planned.compiled.plan;
  const Wait &wait = plan.waits[dep];
  Json semaphore, threshold;
  if (wait.group.valid()) {
    const Group &group = plan.groups[wait.group];
    std::string_view body = !group.body.valid()      ? "all bodies"
                            : group.body == rootLoop ? "ROOT"
                                                     : kernel.nameOf(group.body);
    semaphore = fmt::format("'{}' in {}, N = {}, K = {}{}{}", kernel.nameOf(group.queue), body,
                            group.numSignals, plan.placeOf[kernel.deps[dep].producer],
                            group.isJoin()
                                ? fmt::format(", one of '{}' and '{}'", kernel.nameOf(group.inThen),
                                              kernel.nameOf(group.inElse))
                                : "",
                            group.pinned ? fmt::format(", pinned to {}", *group.pinned) : "");
    if (wait.threshold.valid()) {
      threshold = toString(plan.exprs, wait.threshold, plan.rings, plan.rounds, kernel);
    }
  }
  return {{"class", toString(wait.waitClass)},
          {"exact", wait.exact},
          {"semaphore", std::move(semaphore)},
          {"threshold", std::move(threshold)},
          {"operations", waitCost(plan, machine, dep)}};
}

/// A dependence by name, and where it says that it comes from.
Json pairOf(const Kernel &kernel, DepId dep, Json first, Json second) {
  Json pair = {{"dependence", describe(kernel, dep)},
               {"first", std::move(first)},
               {"second", std::move(second)}};
  std::string source = sourceJson(kernel, kernel.deps[dep].where);
  if (!source.empty()) {
    pair["loc"] = Json::parse(source);
  }
  return pair;
}

/// All dependences in the order of the first plan, then those only in the second. Equal ones are
/// paired in their order.
std::vector<Json> pairUp(const Planned &first, const Planned &second, const Machine &machine) {
  std::vector<Json> pairs;
  std::map<std::string, std::vector<size_t>> unpaired;
  for (DepId dep : first.kernel.deps.ids()) {
    std::string name = describe(first.kernel, dep);
    unpaired[name].push_back(pairs.size());
    pairs.push_back(pairOf(first.kernel, dep, waitOf(first, machine, dep), nullptr));
  }
  for (auto &[name, waiting] : unpaired) {
    std::ranges::reverse(waiting);
  }
  for (DepId dep : second.kernel.deps.ids()) {
    std::string name = describe(second.kernel, dep);
    std::vector<size_t> &waiting = unpaired[name];
    Json wait = waitOf(second, machine, dep);
    if (waiting.empty()) {
      pairs.push_back(pairOf(second.kernel, dep, nullptr, std::move(wait)));
      continue;
    }
    pairs[waiting.back()]["second"] = std::move(wait);
    waiting.pop_back();
  }
  return pairs;
}

/// By engine, those of the first plan before others.
Json registersOf(const Planned &first, const Planned &second) {
  Json registers = Json::array();
  std::map<std::string_view, size_t> indexOf;
  for (auto [planned, side] : {std::pair(&first, "first"), std::pair(&second, "second")}) {
    for (const EngineProgram &code : planned->compiled.code.engines) {
      std::string_view engine = planned->kernel.nameOf(code.engine);
      auto [found, isNew] = indexOf.try_emplace(engine, registers.size());
      if (isNew) {
        registers.push_back({{"engine", engine}, {"first", 0}, {"second", 0}});
      }
      registers[found->second][side] = code.registers.size();
    }
  }
  return registers;
}

std::string textOf(const Json &text) {
  return text.get<std::string>();
}

std::string changeText(const std::string &what, const Json &first, const Json &second) {
  return first == second ? "" : fmt::format("{}: {} -> {}\n", what, dump(first), dump(second));
}

/// `  k.py:12:1`
std::string sourceText(const Json &pair) {
  auto loc = pair.find("loc");
  return loc == pair.end() ? ""
                           : fmt::format("  {}:{}:{}", textOf((*loc)["file"]), dump((*loc)["line"]),
                                         dump((*loc)["column"]));
}

std::string waitText(char sign, const Json &wait) {
  std::string text;
  if (!wait.is_null()) {
    text = fmt::format("  {} {}", sign, textOf(wait["class"]));
    for (const char *part : {"semaphore", "threshold"}) {
      text += wait[part].is_null() ? "" : ": " + textOf(wait[part]);
    }
    text += fmt::format("  cost {}{}\n", dump(wait["operations"]),
                        wait["exact"] ? "" : ", waits longer than the dependence asks");
  }
  return text;
}

std::string sideText(const Json &side) {
  auto reason = side.find("machine_not_given");
  return fmt::format("kernel '{}', strategy '{}', machine '{}'{}", textOf(side["kernel"]),
                     textOf(side["strategy"]), textOf(side["machine"]),
                     reason == side.end() ? "" : fmt::format(" (not given: {})", textOf(*reason)));
}

} // namespace

Json planDiff(const Planned &first, const Planned &second, const Machine &machine,
              const std::string &machineReason) {
  std::vector<Json> pairs = pairUp(first, second, machine);
  size_t same =
      std::erase_if(pairs, [](const Json &pair) { return pair.at("first") == pair.at("second"); });
  return {{"first", sideOf(first, machine, machineReason)},
          {"second", sideOf(second, machine, machineReason)},
          {"semaphores", {semaphoresOf(first), semaphoresOf(second)}},
          {"registers", registersOf(first, second)},
          {"dependences", std::move(pairs)},
          {"same", same}};
}

std::string planDiffText(const Json &diff) {
  std::string text;
  for (auto [sign, side] : {std::pair('-', &diff["first"]), std::pair('+', &diff["second"])}) {
    text += fmt::format("{} {}\n", sign, sideText(*side));
  }
  text += changeText("semaphores", diff["semaphores"][0], diff["semaphores"][1]);
  for (const Json &engine : diff["registers"]) {
    text += changeText(fmt::format("registers of '{}'", textOf(engine["engine"])), engine["first"],
                       engine["second"]);
  }
  for (const Json &pair : diff["dependences"]) {
    text += fmt::format("{}{}\n{}{}", textOf(pair["dependence"]), sourceText(pair),
                        waitText('-', pair["first"]), waitText('+', pair["second"]));
  }
  const Json &same = diff["same"];
  return text + (same == 0 && diff["dependences"].empty()
                     ? "nothing is compared: neither plan has a dependence\n"
                     : fmt::format("{} dependence{} waited for alike\n", dump(same),
                                   same == 1 ? " is" : "s are"));
}

} // namespace tally::tool
