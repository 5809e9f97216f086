//===- PlanCommand.cpp - tally plan ---------------------------------------===//
//
// What a strategy decides: semaphores and what raises them, counters that engines keep, and one
// line for each dependence. With --diff, how two plans differ.
//
//===----------------------------------------------------------------------===//

#include "PlanDiff.h"
#include "Progress.h"
#include "Result.h"
#include "Tables.h"

#include "tally/Compile/Regret.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace tally::tool {
namespace {

struct PlanCommand {
  CommonOptions common;
  std::string format = "text";
  bool diff = false;
  bool why = false;
  bool prices = false;
  std::string other;   ///< --diff: the second kernel; empty: the first one again
  std::string against; ///< --diff: its strategy; empty: that of the first

  void declareOn(CLI::App &command);
  int run() const;

private:
  int compare(Session &session) const;
  CommonOptions second() const;
};

/// A kernel with what was made of it.
struct PlannedKernel {
  LoadedKernel loaded;
  Compiled compiled;

  operator Planned() const { return {loaded.kernel, compiled}; }
};

std::vector<PlannedKernel> planAll(Session &session, const Request &request) {
  std::vector<LoadedKernel> kernels = session.loadWithDeps();
  std::vector<PlannedKernel> planned;
  for (LoadedKernel &loaded : kernels) {
    if (std::optional<Compiled> compiled = session.compile(loaded.kernel, request)) {
      planned.push_back({std::move(loaded), std::move(*compiled)});
    }
  }
  if (planned.size() != kernels.size()) {
    end();
  }
  return planned;
}

/// What is used of semaphores or of an engine's registers; in JSON also what the machine has, what
/// is left of it, and what is reserved.
std::vector<Cell> supply(size_t used, const std::vector<uint32_t> &numbers,
                         std::optional<uint32_t> limit) {
  std::set<uint32_t> reserved; // those below the limit
  for (uint32_t number : numbers) {
    if (!limit || number < *limit) {
      reserved.insert(number);
    }
  }
  std::string text = std::to_string(used);
  Json most, left;
  if (limit) {
    most = *limit;
    left = *limit - std::min<size_t>(used + reserved.size(), *limit);
    text += fmt::format(" of {}, {} left", *limit, dump(left));
  }
  text += reserved.empty() ? "" : fmt::format(", {} reserved", reserved.size());
  return {{text, used}, Cell::hidden(most), Cell::hidden(left), Cell::hidden(reserved.size())};
}

Cell timeCell(const std::optional<Tick> &time) {
  return time ? Cell(timeText(*time), *time) : Cell("-", Json());
}

/// By how much something takes longer, or gets larger: `+1.5%`; a dash if one of the two is not
/// known.
template <typename Number>
Cell changeCell(const std::optional<Number> &before, const std::optional<Number> &after) {
  if (!before || !after || *before == 0) {
    return {"-", Json()};
  }
  double change = static_cast<double>(*after) / static_cast<double>(*before) - 1;
  return {fmt::format("{:+.2f}%", 100 * change + 0.0), change};
}

/// What 'auto' tried: each way to start compared with the one that was taken, everything else with
/// what it changed.
Table attemptTable(const Search &search) {
  Table table({{"step"},
               {"taken", "", 3},
               {"time_ps", "time", 14},
               {"time_change", "change", 9},
               {"control"},
               {"control_change", "control", 9},
               {"over_waiting", "over-waiting", 14},
               {"operations", "code", 8},
               {"beyond"},
               {"what", "what", 0, "  "}});
  auto taken = std::ranges::find_if(search.attempts, &Attempt::taken);
  for (const Attempt &attempt : search.attempts) {
    const CodeCost &after = attempt.after;
    bool isPossible = after.beyond == 0;
    const CodeCost before = attempt.before                   ? *attempt.before
                            : taken != search.attempts.end() ? taken->after
                                                             : after;
    table.add({Cell::hidden(toString(attempt.step)),
               {attempt.taken ? "*" : "", attempt.taken},
               timeCell(after.time),
               changeCell(before.time, after.time),
               Cell::hidden(after.control),
               changeCell(std::optional(before.control), std::optional(after.control)),
               after.inexact,
               after.operations,
               Cell::hidden(after.beyond),
               {attempt.what + (isPossible ? "" : " (does not fit the machine)"), attempt.what}});
  }
  return table;
}

/// What was chosen of what the kernel leaves open, by code that is made quickly.
Table choiceTable(const std::vector<Choice> &choices) {
  Table table({{"before_ps", "before", 14}, {"after_ps", "after", 14}, {"what", "what", 0, "  "}});
  for (const Choice &choice : choices) {
    table.add({timeCell(choice.before), timeCell(choice.after), choice.what});
  }
  return table;
}

/// Text has those whose regret is above this.
Table regretTable(const std::vector<Regret> &regrets, double above = -1) {
  Table table({{"time_ps", "time", 14},
               {"best_ps", "best", 14},
               {"regret", "regret", 10},
               {"where", "where", 0, "  "}});
  for (const Regret &regret : regrets) {
    table.add({timeCell(regret.time),
               timeCell(regret.best),
               changeCell(regret.best, regret.time),
               {fmt::format("{}", fmt::join(regret.where, ", ")), regret.where}});
    if (regret.part().value_or(0) <= above) {
      table.hideLast();
    }
  }
  return table;
}

/// Each price that is not published at either end of its range, the largest regret first.
void addPrices(Result &result, const Kernel &kernel, const Compiled &compiled,
               const Request &request, const Machine &machine) {
  std::vector<Regret> all =
      regretsOverPrices(kernel, request, machine, compiled.code, [](const std::string &setting) {
        nowDoing(fmt::format("choosing code for {}", setting));
      });
  std::erase_if(all, [](const Regret &regret) { return !regret.part(); });
  if (all.empty()) {
    result.addMembers({{"price_regret", nullptr}, {"prices", Json::array()}});
    result.text += "\nat other prices: nothing could be compared, as a run takes no time or is too "
                   "long, or the machine says no range of a price\n";
    return;
  }
  auto byPart = [](const Regret &regret) { return -*regret.part(); };
  std::ranges::stable_sort(all, {}, byPart);
  double sum = 0;
  for (const Regret &regret : all) {
    sum += std::max(0.0, *regret.part());
  }
  double mean = sum / static_cast<double>(all.size());
  double most = std::max(0.0, *all.front().part());
  result.addMembers({{"price_regret", {{"cases", all.size()}, {"mean", mean}, {"most", most}}}});
  constexpr double leastShown = 0.00005;
  std::string title = fmt::format("\nat other prices, and the best code for these: {}, on average "
                                  "{:.2f}%, at most {:.2f}%\n",
                                  counted(all.size(), "case"), 100 * mean, 100 * most);
  Table table = regretTable(all, leastShown);
  if (most > leastShown) {
    result.addTable("prices", title, table);
  } else {
    result.text += title;
    result.addMembers({{"prices", table.json()}});
  }
}

/// Why the code is as it is: what was tried, and what other trips would have asked for.
void addWhy(Result &result, const Kernel &kernel, const Compiled &compiled, const Request &request,
            const Machine &machine) {
  const Search &search = compiled.search;
  result.addMembers({{"tried", search.numTried},
                     {"assumed", search.assumed},
                     {"issued", search.numIssued ? Json(*search.numIssued) : Json()}});
  std::string assumed = search.assumed.empty() ? ""
                                               : fmt::format("; open trips are assumed: {}",
                                                             fmt::join(search.assumed, ", "));
  if (search.numIssued) {
    assumed += fmt::format("; a run is too long, and is timed until {} instructions are issued",
                           *search.numIssued);
  }
  const Strategy made = compiled.plan.decisions.strategy;
  if (search.attempts.empty()) {
    result.addMembers({{"attempts", Json::array()}});
    result.text +=
        made == Strategy::Auto
            ? "\nwhy: nothing was tried, as that would have been too much work; a larger "
              "--effort tries more\n"
            : fmt::format("\nwhy: no code of its own is possible, so 'auto' took that of "
                          "'{}'; the message says why\n",
                          toString(made));
  } else {
    result.addTable("attempts",
                    fmt::format("\nwhy: {} tried{}\n", counted(search.numTried, "code"), assumed),
                    attemptTable(search));
  }
  std::vector<Regret> found = regretsOverTrips(kernel, request, machine, compiled.code);
  if (found.empty()) {
    result.addMembers({{"regrets", Json::array()}});
  } else {
    result.addTable("regrets", "\nat other trips, and the best code for these\n",
                    regretTable(found));
  }
}

int PlanCommand::run() const {
  Session session(common);
  if (diff) {
    return compare(session);
  }
  std::vector<PlannedKernel> all = planAll(session, common.request());
  const Machine &machine = session.machine();
  Result result(format, "tally-plan", 1, "plans");
  result.release();
  for (const PlannedKernel &planned : all) {
    const auto &[kernel, compiled] = Planned(planned);
    Table semaphores = semaphoreTable(kernel, compiled, machine);
    Table barriers = barrierTable(kernel, compiled.plan);
    Table resets = resetTable(kernel, compiled.plan);
    Json object = subjectJson(kernel, compiled.code, session);
    object["semaphores"] = semaphores.object(0);
    result.part();
    result.add(subjectText(kernel, compiled.code, session) + "\n", object);
    result.addTable("groups", "\nsemaphores: " + semaphores.text(),
                    groupTable(kernel, compiled.plan));
    result.addTable("barriers", barriers.size() == 0 ? "" : "\nbarriers:\n", barriers);
    result.addTable("resets", resets.size() == 0 ? "" : "\nresets:\n", resets);
    result.addTable("engines", "\nregisters:\n", registerTable(kernel, compiled.code, machine));
    result.addTable("dependences", "\ndependences:\n",
                    dependenceTable(kernel, compiled.plan, machine));
    if (why) {
      const std::vector<Choice> &choices = session.choicesOf(kernel);
      result.addTable("choices",
                      choices.empty() ? "" : "\nchosen, timed with code that is made quickly:\n",
                      choiceTable(choices));
      addWhy(result, kernel, compiled, common.request(), machine);
    }
    if (prices) {
      addPrices(result, kernel, compiled, common.request(), machine);
    }
  }
  result.repeatWith(session);
  return result.print();
}

CommonOptions PlanCommand::second() const {
  CommonOptions options = common;
  options.input = other.empty() ? common.input : other;
  options.isSecond = true;
  options.strategy = against.empty() ? common.strategy : against;
  // The first one has warned, or the strategy is named.
  options.strategyGiven = common.strategyGiven || other.empty() || !against.empty();
  return options;
}

int PlanCommand::compare(Session &session) const {
  std::vector<PlannedKernel> firsts = planAll(session, common.request());
  Session sessionOfSecond(second(), session);
  std::vector<PlannedKernel> seconds = planAll(sessionOfSecond, second().request());
  const bool isOnlyPair = firsts.size() == 1 && seconds.size() == 1;
  Result result(format, "tally-plan-diff", 1, "diffs");
  for (const PlannedKernel &first : firsts) {
    const Kernel &kernel = first.loaded.kernel;
    auto partner = std::ranges::find_if(seconds, [&](const PlannedKernel &each) {
      const Kernel &second = each.loaded.kernel;
      return isOnlyPair || second.text(second.name) == kernel.text(kernel.name);
    });
    if (partner == seconds.end()) {
      Diagnostics missing;
      missing.error(kernel.where, fmt::format("'{}' has no kernel '{}' to compare this one with",
                                              other, kernel.text(kernel.name)));
      session.report(kernel, missing);
      end();
    }
    Json difference = planDiff(first, *partner, session.machine(), session.machineReason());
    result.part();
    result.add(planDiffText(difference), difference);
  }
  result.repeatWith(session);
  return result.print();
}

void PlanCommand::declareOn(CLI::App &command) {
  common.addInput(command);
  declare(command,
          {{"--diff", diff, "show how two plans differ"},
           {"second", other, "with --diff: a second kernel; default: the first one again", file},
           {"--against", against, "with --diff: the strategy of the second plan",
            oneOf("strategy", "strategies", plannedStrategies())},
           {"--why", why,
            "what 'auto' tried and what each choice gained, and what its assumed trips cost at "
            "others"},
           {"--prices", prices,
            "with --why: what its choice costs where prices of the machine that are not published "
            "are at an end of their range"}});
  goesWith(command, {"--prices"}, "--why");
  goesNotWith(command, {"--why"}, "--diff");
  refuseIf(command, {"--why"}, "unless '--sync=auto' makes the code",
           [this] { return common.strategy != toString(Strategy::Auto); });
  goesWith(command, {"second", "--against"}, "--diff");
  common.addStrategy(command, plannedStrategies());
  common.addMachine(command);
  declare(command, {formatOption(format)});
}

} // namespace

Table semaphoreTable(const Kernel &kernel, const Compiled &compiled, const Machine &machine) {
  Table table({{"used", "", 0, ""}, {"limit"}, {"left"}, {"reserved"}});
  table.add(
      supply(measure(kernel, compiled.code, 0).semaphores, kernel.reserved, machine.semaphores));
  return table;
}

/// Of two that raise it in turn, both.
Cell joinedCell(const Kernel &kernel, const Group &group) {
  if (!group.isJoin()) {
    return Cell::hidden({});
  }
  std::string inThen(kernel.nameOf(group.inThen)), inElse(kernel.nameOf(group.inElse));
  return {fmt::format("'{}' and '{}'", inThen, inElse), Json{inThen, inElse}};
}

Table groupTable(const Kernel &kernel, const SyncPlan &plan) {
  Table table({{"id", "", 0, "  group "},
               {"queue", "", 0, ": queue '"},
               {"body", "", 0, "' in "},
               {"signals", "", 0, ", N = "},
               {"joined", "", 0, ", one of "},
               {"pinned", "", 0, ", pinned to semaphore "},
               {"loc", "", 0, "  "}});
  for (GroupId id : plan.groups.ids()) {
    const Group &group = plan.groups[id];
    const bool isOfBody = group.body.valid();
    table.add({id.value, kernel.nameOf(group.queue),
               !isOfBody                ? Cell("*", Json())
               : group.body == rootLoop ? Cell("ROOT")
                                        : Cell(kernel.nameOf(group.body)),
               group.numSignals, joinedCell(kernel, group),
               group.pinned ? Cell(*group.pinned) : Cell::hidden({}),
               sourceCell(kernel, isOfBody ? kernel.loops[group.body].where
                                           : kernel.queues[group.queue].where)});
  }
  return table;
}

Table barrierTable(const Kernel &kernel, const SyncPlan &plan) {
  Table table({{"place", "", 0, "  "},
               {"loop", "", 0, " of '"},
               {"engines", "", 0, "': "},
               {"loc", "", 0, "  "}});
  for (LoopId loop : plan.barriers.ids()) {
    const LoopBarriers &at = plan.barriers[loop];
    for (auto [place, members] : {std::pair("entry", &at.entry), std::pair("back edge", &at.back),
                                  std::pair("exit", &at.exit)}) {
      std::vector<std::string_view> names;
      for (EngineId engine : *members) {
        names.push_back(kernel.nameOf(engine));
      }
      if (!names.empty()) {
        table.add({place,
                   kernel.nameOf(loop),
                   {fmt::format("{}", fmt::join(names, ", ")), names},
                   sourceCell(kernel, kernel.loops[loop].where)});
      }
    }
  }
  return table;
}

Table resetTable(const Kernel &kernel, const SyncPlan &plan) {
  Table table({{"loop"},
               {"every", "", 0, "  every "},
               {"", "", 0, " iterations of '"},
               {"loc", "", 0, "  "}});
  for (const ResetPoint &point : plan.decisions.resets) {
    std::string loop(kernel.nameOf(point.loop));
    table.add({Cell::hidden(loop), point.every, loop + "'",
               sourceCell(kernel, kernel.loops[point.loop].where)});
  }
  return table;
}

Table registerTable(const Kernel &kernel, const Code &code, const Machine &machine) {
  Table table({{"engine", "", 0, "  "},
               {"registers", "", 0, ": "},
               {"limit"},
               {"left"},
               {"reserved"},
               {"counters", "", 0, ""}});
  for (const EngineProgram &program : code.engines) {
    const std::vector<uint32_t> &reserved = kernel.engines[program.engine].reserved;
    size_t used = 0;
    std::string roles;
    Json counters = Json::array();
    for (RegId id : program.registers.ids()) {
      const Register &reg = program.registers[id];
      bool isUsed = std::ranges::find(reserved, id.value) == reserved.end();
      used += isUsed;
      if (isUsed && !reg.role.text.empty()) {
        roles += fmt::format("\n    {}  {}", reg.name, reg.role.text);
        counters.push_back(reg.role.text);
      }
    }
    std::vector<Cell> cells = supply(used, reserved, machine.registersPerEngine);
    cells.insert(cells.begin(), kernel.nameOf(program.engine));
    cells.push_back({roles, std::move(counters)});
    table.add(std::move(cells));
  }
  return table;
}

Table dependenceTable(const Kernel &kernel, const SyncPlan &plan, const Machine &machine) {
  auto rowOf = [&kernel, &plan, &machine](size_t row) -> std::vector<Cell> {
    const DepId id(static_cast<uint32_t>(row));
    const Dep &dep = kernel.deps[id];
    const Wait &wait = plan.waits[id];
    bool waits = wait.group.valid();
    return {id.value,
            Cell::hidden(kernel.nameOf(dep.producer)),
            Cell::hidden(kernel.nameOf(dep.consumer)),
            describe(kernel, id),
            toString(wait.waitClass),
            Cell::hidden(wait.exact),
            waits ? Cell(fmt::format("group {}", wait.group.value), wait.group.value)
                  : Cell("-", Json()),
            Cell::hidden(plan.placeOf[dep.producer]),
            wait.threshold.valid()
                ? Cell(toString(plan.exprs, wait.threshold, plan.rings, plan.rounds, kernel))
                : Cell::hidden({}),
            waitCost(plan, machine, id),
            sourceCell(kernel, dep.where),
            wait.exact || !waits ? Cell() : "waits longer than the dependence asks"};
  };
  return Table({{"id", "", 3, "  "},
                {"producer"},
                {"consumer"},
                {"dependence", "", -40, "  "},
                {"class", "", -12},
                {"exact"},
                {"group"},
                {"place"},
                {"threshold", "", 0, " >= "},
                {"operations", "", 0, "  cost "},
                {"loc", "", 0, "  "},
                {"", "", 0, "\n       "}},
               kernel.deps.size(), rowOf);
}

void addPlan(CLI::App &app) {
  addCommand<PlanCommand>(app, {"plan", "Semaphores, counters, and one line for each dependence",
                                R"(Examples:
  tally plan k.mlir --sync=per-loop --machine=trn2       one strategy on one machine
  tally plan --diff old.mlir new.mlir                    what is different between two kernels
  tally plan --diff k.mlir --sync=per-loop --against=auto
                                                         what is different between two strategies
  tally plan k.mlir --machine=trn2 --why                 what 'auto' tried, and what it gained

Exit status: 0 done, 2 wrong input or use, or no plan is possible.)"});
}

} // namespace tally::tool
