//===- PlanCommand.cpp - tally plan ---------------------------------------===//
//
// What a strategy decides: semaphores and who raises them, counters that engines keep, and one
// line for each dependence. With --diff, how two plans differ.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "PlanDiff.h"
#include "Session.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

namespace tally::tool {
namespace {

struct PlanCommand {
  CommonOptions common;
  std::string format = "text";
  bool diff = false;
  std::string other;   ///< --diff: the second kernel; empty: the first one again
  std::string against; ///< --diff: its strategy; empty: that of the first

  int run() const;

private:
  int show(Session &session, const Machine &machine) const;
  int compare(Session &session, const Machine &machine) const;
  CommonOptions second() const;
};

/// Kernels of one input with what was made of them; fewer than there are if some could not be
/// planned, which was then reported.
struct PlannedKernels {
  std::vector<LoadedKernel> loaded;
  std::vector<Compiled> compiled;

  PlannedKernels(Session &session, const CommonOptions &options, const Machine &machine)
      : loaded(session.loadWithDeps(options, machine)) {
    for (const LoadedKernel &each : loaded) {
      Diagnostics diagnostics;
      std::optional<Compiled> made = compile(each.kernel, options.request(), machine, diagnostics);
      session.report(each.kernel, diagnostics);
      if (made) {
        compiled.push_back(std::move(*made));
      }
    }
  }

  bool complete() const { return !loaded.empty() && compiled.size() == loaded.size(); }

  Planned operator[](size_t i) const { return {loaded[i].kernel, compiled[i]}; }

  /// The kernel of this name; if both inputs hold one kernel only, that one.
  const LoadedKernel *partner(const Kernel &kernel, size_t numOthers) const {
    for (const LoadedKernel &each : loaded) {
      bool sameName = each.kernel.text(each.kernel.name) == kernel.text(kernel.name);
      if (sameName || (loaded.size() == 1 && numOthers == 1)) {
        return &each;
      }
    }
    return nullptr;
  }
};

/// One kernel with its plan and code, and the ways to show them.
class PlanReport {
public:
  PlanReport(const Kernel &kernel, const Compiled &compiled, const Machine &machine)
      : kernel(kernel), plan(compiled.plan), code(compiled.code), machine(machine) {}

  std::string text() const {
    std::string out = fmt::format("kernel '{}', strategy '{}', machine '{}'\n",
                                  kernel.text(kernel.name), toString(code.strategy), machine.name);
    groups(out);
    barriers(out);
    resets(out);
    engines(out);
    dependences(out);
    return out;
  }

  Json json() const {
    Json object;
    object["kernel"] = kernel.text(kernel.name);
    object["strategy"] = toString(code.strategy);
    object["machine"] = machine.name;
    object["semaphores"] = semaphoresJson();
    object["groups"] = groupsJson();
    object["barriers"] = barriersJson();
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

  /// What is reserved and what the machine has, of semaphores or of an engine's registers.
  struct Supply {
    std::set<uint32_t> reserved; ///< those below the limit
    std::optional<uint32_t> limit;

    Supply(const std::vector<uint32_t> &numbers, std::optional<uint32_t> limit) : limit(limit) {
      for (uint32_t number : numbers) {
        if (!limit || number < *limit) {
          reserved.insert(number);
        }
      }
    }

    size_t left(size_t used) const {
      size_t gone = used + reserved.size();
      return *limit - std::min<size_t>(gone, *limit);
    }

    std::string text(size_t used) const {
      std::string text = limit ? fmt::format("{} of {}, {} left", used, *limit, left(used))
                               : fmt::format("{}", used);
      return reserved.empty() ? text : text + fmt::format(", {} reserved", reserved.size());
    }

    void addTo(Json &object, size_t used) const {
      object["limit"] = limit ? Json(*limit) : Json();
      object["left"] = limit ? Json(left(used)) : Json();
      object["reserved"] = reserved.size();
    }
  };

  Supply semaphores() const { return {kernel.reserved, machine.semaphores}; }

  Supply registersOf(EngineId engine) const {
    return {kernel.engines[engine].reserved, machine.registersPerEngine};
  }

  /// Those that code holds something in.
  std::vector<const Register *> usedRegisters(const EngineProgram &code) const {
    const std::vector<uint32_t> &reserved = kernel.engines[code.engine].reserved;
    std::vector<const Register *> used;
    for (RegId reg : code.registers.ids()) {
      if (std::ranges::find(reserved, reg.value) == reserved.end()) {
        used.push_back(&code.registers[reg]);
      }
    }
    return used;
  }

  std::string bodyName(const Group &group) const {
    if (!group.body.valid()) {
      return "*";
    }
    return group.body == rootLoop ? "ROOT" : std::string(kernel.nameOf(group.body));
  }

  void groups(std::string &out) const {
    line(out, "\nsemaphores: {}", semaphores().text(measure(kernel, code, 0).semaphores));
    for (GroupId g : plan.groups.ids()) {
      const Group &group = plan.groups[g];
      line(out, "  group {}: queue '{}' in {}, N = {}{}", g.value, kernel.nameOf(group.queue),
           bodyName(group), group.numSignals,
           group.pinned ? fmt::format(", pinned to semaphore {}", *group.pinned) : "");
    }
  }

  /// Calls `fn(place, loop, members)` for each, in text order.
  template <typename Fn> void forEachBarrier(Fn fn) const {
    for (LoopId loop : plan.barriers.ids()) {
      const LoopBarriers &at = plan.barriers[loop];
      for (auto [place, members] : {std::pair("entry", &at.entry), std::pair("back edge", &at.back),
                                    std::pair("exit", &at.exit)}) {
        if (!members->empty()) {
          fn(place, loop, namesOf(*members));
        }
      }
    }
  }

  std::vector<std::string> namesOf(const std::vector<EngineId> &members) const {
    std::vector<std::string> names;
    for (EngineId engine : members) {
      names.emplace_back(kernel.nameOf(engine));
    }
    return names;
  }

  void barriers(std::string &out) const {
    std::string_view title = "\nbarriers:\n";
    forEachBarrier([&](std::string_view place, LoopId loop, const std::vector<std::string> &names) {
      out += title;
      title = "";
      line(out, "  {} of '{}': {}", place, kernel.nameOf(loop), fmt::join(names, ", "));
    });
  }

  Json barriersJson() const {
    Json array = Json::array();
    forEachBarrier([&](std::string_view place, LoopId loop, const std::vector<std::string> &names) {
      array.push_back({{"place", place}, {"loop", kernel.nameOf(loop)}, {"engines", names}});
    });
    return array;
  }

  void resets(std::string &out) const {
    if (!plan.decisions.resets.empty()) {
      line(out, "\nresets:");
    }
    for (const ResetPoint &point : plan.decisions.resets) {
      line(out, "  every {} iterations of '{}'", point.every, kernel.nameOf(point.loop));
    }
  }

  void engines(std::string &out) const {
    line(out, "\nregisters:");
    for (const EngineProgram &code : code.engines) {
      std::vector<const Register *> used = usedRegisters(code);
      line(out, "  {}: {}", kernel.nameOf(code.engine), registersOf(code.engine).text(used.size()));
      for (const Register *reg : used) {
        if (!reg->role.text.empty()) {
          line(out, "    {}  {}", reg->name, reg->role.text);
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

  Json semaphoresJson() const {
    size_t used = measure(kernel, code, 0).semaphores;
    Json object = {{"used", used}};
    semaphores().addTo(object, used);
    return object;
  }

  Json groupsJson() const {
    Json array = Json::array();
    for (GroupId g : plan.groups.ids()) {
      const Group &group = plan.groups[g];
      Json object = {{"id", g.value},
                     {"queue", kernel.nameOf(group.queue)},
                     {"body", group.body.valid() ? Json(bodyName(group)) : Json()},
                     {"signals", group.numSignals},
                     {"pinned", group.pinned ? Json(*group.pinned) : Json()}};
      array.push_back(std::move(object));
    }
    return array;
  }

  Json resetsJson() const {
    Json array = Json::array();
    for (const ResetPoint &point : plan.decisions.resets) {
      array.push_back({{"loop", kernel.nameOf(point.loop)}, {"every", point.every}});
    }
    return array;
  }

  Json enginesJson() const {
    Json array = Json::array();
    for (const EngineProgram &code : code.engines) {
      std::vector<const Register *> used = usedRegisters(code);
      Json counters = Json::array();
      for (const Register *reg : used) {
        if (!reg->role.text.empty()) {
          counters.push_back(reg->role.text);
        }
      }
      Json object = {{"engine", kernel.nameOf(code.engine)}, {"registers", used.size()}};
      registersOf(code.engine).addTo(object, used.size());
      object["counters"] = std::move(counters);
      array.push_back(std::move(object));
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
  const Code &code;
  const Machine &machine;
};

int PlanCommand::run() const {
  Session session;
  std::optional<Machine> machine = session.machine(common);
  if (!machine) {
    return Exit::Undecided;
  }
  return diff ? compare(session, *machine) : show(session, *machine);
}

int PlanCommand::show(Session &session, const Machine &machine) const {
  PlannedKernels kernels(session, common, machine);
  if (!kernels.complete()) {
    return Exit::Undecided;
  }
  std::string text;
  Json document = {{"schema", "tally-plan"}, {"version", 1}, {"plans", Json::array()}};
  for (size_t i = 0; i < kernels.loaded.size(); ++i) {
    PlanReport report(kernels[i].kernel, kernels[i].compiled, machine);
    text += text.empty() ? "" : "\n";
    text += report.text();
    document["plans"].push_back(report.json());
  }
  bool written = writeOutput("-", format == "json" ? dump(document) + "\n" : text);
  return written ? Exit::Yes : Exit::Undecided;
}

CommonOptions PlanCommand::second() const {
  CommonOptions options = common;
  options.input = other.empty() ? common.input : other;
  options.strategy = against.empty() ? common.strategy : against;
  if (other.empty() || !against.empty()) {
    options.strategyOption = nullptr; // the first one has warned, or the strategy is named
  }
  return options;
}

int PlanCommand::compare(Session &session, const Machine &machine) const {
  PlannedKernels firsts(session, common, machine);
  Session sessionOfSecond; // a session reads one file
  PlannedKernels seconds(sessionOfSecond, second(), machine);
  if (!firsts.complete() || !seconds.complete()) {
    return Exit::Undecided;
  }
  std::string text;
  Json document = {{"schema", "tally-plan-diff"}, {"version", 1}, {"diffs", Json::array()}};
  for (size_t i = 0; i < firsts.loaded.size(); ++i) {
    const Kernel &kernel = firsts.loaded[i].kernel;
    const LoadedKernel *partner = seconds.partner(kernel, firsts.loaded.size());
    if (!partner) {
      Diagnostics missing;
      missing.error(kernel.where, fmt::format("'{}' has no kernel '{}' to compare this one with",
                                              other, kernel.text(kernel.name)));
      session.report(kernel, missing);
      return Exit::Undecided;
    }
    size_t p = static_cast<size_t>(partner - seconds.loaded.data());
    PlanDiff difference(firsts[i], seconds[p], machine);
    text += text.empty() ? "" : "\n";
    text += difference.text();
    document["diffs"].push_back(difference.json());
  }
  bool written = writeOutput("-", format == "json" ? dump(document) + "\n" : text);
  return written ? Exit::Yes : Exit::Undecided;
}

} // namespace

void addPlan(CLI::App &app, int &status) {
  auto command = std::make_shared<PlanCommand>();
  CLI::App *sub =
      app.add_subcommand("plan", "Semaphores, counters, and one line for each dependence");
  command->common.addInput(*sub);
  sub->add_flag("--diff", command->diff, "show how two plans differ");
  sub->add_option("second", command->other,
                  "with --diff: a second kernel; without, the first one again");
  sub->add_option("--against", command->against, "with --diff: the strategy of the second plan")
      ->check(oneOf("strategy", "strategies", plannedStrategies()));
  goesWith(*sub, {"second", "--against"}, "--diff");
  command->common.addStrategy(*sub, plannedStrategies());
  command->common.addMachine(*sub);
  sub->add_option("--format", command->format, "text or json")
      ->check(formatIn({"text", "json"}))
      ->capture_default_str();
  sub->footer("Examples:\n"
              "  tally plan kernel.mlir --sync=auto --machine=trn2\n"
              "  tally plan --diff old.mlir new.mlir\n"
              "  tally plan --diff kernel.mlir --sync=per-loop --against=auto");
  sub->callback([command, &status] { status = command->run(); });
}

} // namespace tally::tool
