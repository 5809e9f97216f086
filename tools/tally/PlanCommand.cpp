//===- PlanCommand.cpp - tally plan ---------------------------------------===//
//
// What a strategy decides: semaphores and who raises them, counters that engines keep, and one
// line for each dependence.
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <memory>

namespace tally::tool {
namespace {

using Json = nlohmann::ordered_json;

struct PlanCommand {
  CommonOptions common;
  std::string format = "text";

  int run() const;
};

/// One kernel with its plan and code, and the ways to show them.
class PlanReport {
public:
  PlanReport(const Kernel &kernel, const Compiled &compiled, const Machine &machine)
      : kernel(kernel), plan(compiled.plan), program(compiled.program), machine(machine) {}

  std::string text() const {
    std::string out = fmt::format("kernel '{}', strategy '{}', machine '{}'\n",
                                  kernel.text(kernel.name), program.strategy, machine.name);
    groups(out);
    resets(out);
    engines(out);
    dependences(out);
    return out;
  }

  Json json() const {
    Json object;
    object["kernel"] = kernel.text(kernel.name);
    object["strategy"] = program.strategy;
    object["machine"] = machine.name;
    object["groups"] = groupsJson();
    object["resets"] = resetsJson();
    object["engines"] = enginesJson();
    object["dependences"] = dependencesJson();
    return object;
  }

private:
  template <typename... Args>
  static void line(std::string &out, fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }

  static std::string usedText(size_t used, const std::optional<uint32_t> &limit) {
    return limit ? fmt::format("{} of {}, {} left", used, *limit,
                               *limit - std::min<size_t>(used, *limit))
                 : fmt::format("{}", used);
  }

  std::string bodyName(const Group &group) const {
    if (!group.body.valid()) {
      return "*";
    }
    return group.body == rootLoop ? "ROOT" : std::string(kernel.nameOf(group.body));
  }

  void groups(std::string &out) const {
    line(out, "\nsemaphores: {}", usedText(program.semaphores.size(), machine.semaphores));
    for (GroupId g : plan.groups.ids()) {
      const Group &group = plan.groups[g];
      line(out, "  group {}: queue '{}' in {}, N = {}", g.value, kernel.nameOf(group.queue),
           bodyName(group), group.numSignals);
    }
  }

  void resets(std::string &out) const {
    if (!plan.options.resets.empty()) {
      line(out, "\nresets:");
    }
    for (const ResetPoint &point : plan.options.resets) {
      line(out, "  every {} iterations of '{}'", point.every, kernel.nameOf(point.loop));
    }
  }

  void engines(std::string &out) const {
    line(out, "\nregisters:");
    for (const EngineCode &code : program.engines) {
      line(out, "  {}: {}", kernel.nameOf(code.engine),
           usedText(code.registers.size(), machine.registersPerEngine));
      for (const Register &reg : code.registers) {
        if (!reg.role.empty()) {
          line(out, "    {}  {}", reg.name, reg.role);
        }
      }
    }
  }

  std::string thresholdText(const Wait &wait) const {
    return wait.threshold.valid() ? toString(plan.exprs, wait.threshold, plan.rings, kernel) : "";
  }

  void dependences(std::string &out) const {
    line(out, "\ndependences:");
    for (DepId d : kernel.deps.ids()) {
      const Wait &wait = plan.waits[d];
      std::string group = wait.group.valid() ? fmt::format("group {}", wait.group.value) : "-";
      std::string threshold = thresholdText(wait);
      line(out, "  {:>3}  {:<40} {:<12} {}{}{}  cost {}", d.value, describe(kernel, d),
           toString(wait.waitClass), group, threshold.empty() ? "" : " >= ", threshold,
           waitCost(plan, machine, d));
      if (!wait.exact && wait.group.valid()) {
        line(out, "       waits longer than the dependence asks");
      }
    }
  }

  Json groupsJson() const {
    Json array = Json::array();
    for (GroupId g : plan.groups.ids()) {
      const Group &group = plan.groups[g];
      Json object = {{"id", g.value},
                     {"queue", kernel.nameOf(group.queue)},
                     {"body", group.body.valid() ? Json(bodyName(group)) : Json()},
                     {"signals", group.numSignals}};
      array.push_back(std::move(object));
    }
    return array;
  }

  Json resetsJson() const {
    Json array = Json::array();
    for (const ResetPoint &point : plan.options.resets) {
      array.push_back({{"loop", kernel.nameOf(point.loop)}, {"every", point.every}});
    }
    return array;
  }

  Json enginesJson() const {
    Json array = Json::array();
    for (const EngineCode &code : program.engines) {
      Json counters = Json::array();
      for (const Register &reg : code.registers) {
        if (!reg.role.empty()) {
          counters.push_back(reg.role);
        }
      }
      array.push_back({{"engine", kernel.nameOf(code.engine)},
                       {"registers", code.registers.size()},
                       {"counters", std::move(counters)}});
    }
    return array;
  }

  Json dependencesJson() const {
    Json array = Json::array();
    for (DepId d : kernel.deps.ids()) {
      const Wait &wait = plan.waits[d];
      Json object;
      object["id"] = d.value;
      object["producer"] = kernel.nameOf(kernel.deps[d].producer);
      object["consumer"] = kernel.nameOf(kernel.deps[d].consumer);
      object["dependence"] = describe(kernel, d);
      object["class"] = toString(wait.waitClass);
      object["exact"] = wait.exact;
      object["group"] = wait.group.valid() ? Json(wait.group.value) : Json();
      object["place"] = plan.placeOf[kernel.deps[d].producer];
      object["threshold"] = wait.threshold.valid() ? Json(thresholdText(wait)) : Json();
      object["operations"] = waitCost(plan, machine, d);
      array.push_back(std::move(object));
    }
    return array;
  }

  const Kernel &kernel;
  const SyncPlan &plan;
  const Program &program;
  const Machine &machine;
};

int PlanCommand::run() const {
  Session session;
  std::optional<Machine> machine = session.machine(common.machine);
  if (!machine) {
    return Exit::Undecided;
  }
  std::vector<LoadedKernel> kernels = session.loadWithDeps(common, *machine);
  std::string text;
  Json document = {{"schema", "tally-plan"}, {"version", 1}, {"plans", Json::array()}};
  bool allPlanned = !kernels.empty();
  for (const LoadedKernel &loaded : kernels) {
    Diagnostics diagnostics;
    std::optional<Compiled> compiled =
        compile(loaded.kernel, common.compileOptions(), *machine, diagnostics);
    session.report(loaded.kernel, diagnostics);
    if (!compiled) {
      allPlanned = false;
      continue;
    }
    PlanReport report(loaded.kernel, *compiled, *machine);
    text += text.empty() ? "" : "\n";
    text += report.text();
    document["plans"].push_back(report.json());
  }
  if (!allPlanned) {
    return Exit::No;
  }
  bool written = session.write("-", format == "json" ? document.dump(2) + "\n" : text);
  return written ? Exit::Yes : Exit::Undecided;
}

} // namespace

void addPlan(CLI::App &app, int &status) {
  auto command = std::make_shared<PlanCommand>();
  CLI::App *sub =
      app.add_subcommand("plan", "Semaphores, counters, and one line for each dependence");
  command->common.addInput(*sub);
  command->common.addStrategy(*sub, plannedStrategies());
  command->common.addMachine(*sub);
  sub->add_option("--format", command->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  sub->callback([command, &status] { status = command->run(); });
}

} // namespace tally::tool
