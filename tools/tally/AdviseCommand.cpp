//===- AdviseCommand.cpp - tally advise -----------------------------------===//
//
// What would make this kernel faster?
//
//===----------------------------------------------------------------------===//

#include "CheckCommand.h"
#include "Interrupt.h"
#include "Progress.h"
#include "Result.h"
#include "Table.h"
#include "TimedSubject.h"

#include "tally/Advise/Advise.h"
#include "tally/Model/Source.h"
#include "tally/Support/Counted.h"

#include <fmt/format.h>

namespace tally::tool {
namespace {

struct AdviseCommand {
  TimeOptions time;
  uint64_t effort = 1;
  size_t top = 8;
  std::string output; ///< a file for the changed kernel; empty: none
  std::string format = "text";

  void declareOn(CLI::App &command);
  int run();
};

Cell totalCell(Tick total) {
  return {timeText(total), total};
}

Cell savedCell(Tick before, Tick after) {
  double part = before == 0 ? 0 : 1 - double(after) / double(before);
  return {fmt::format("{:.1f}%", 100 * part), part};
}

Table changesTable(const Kernel &kernel, const std::vector<Tried> &changes, Tick before) {
  Table table({{"kind"},
               {"total_ps", "total", 14},
               {"saves", "saves", 7},
               {"change", "", 0, "  "},
               {"bytes", "", 0, ""},
               {"race", "", 0, ""},
               {"loc", "", 0, ""}});
  for (const Tried &tried : changes) {
    Cell bytes = tried.bytes && *tried.bytes != 0
                     ? Cell(fmt::format(", {} bytes more", *tried.bytes), *tried.bytes)
                     : Cell();
    bool isYes = tried.race == Verdict::Yes;
    Cell race(isYes ? std::nullopt : std::optional<std::string>(" (race check: could not decide)"),
              isYes ? "yes" : "could not decide");
    Cell where = sourceCell(kernel, tried.where);
    where.text = tried.where.known()
                     ? std::optional(fmt::format(" [{}]", anyPlaceText(kernel, tried.where)))
                     : std::nullopt;
    table.add({Cell::hidden(toString(tried.change.kind)), totalCell(tried.total),
               savedCell(before, tried.total), tried.text, bytes, race, where});
  }
  return table;
}

std::string nameOf(const Kernel &kernel, const Part &part) {
  switch (part.kind) {
  case Part::Kind::Instr:
    return fmt::format("'{}'", kernel.nameOf(part.instr));
  case Part::Kind::Dep:
    return fmt::format("waiting of '{}' for '{}'", kernel.nameOf(part.consumer),
                       kernel.nameOf(part.instr));
  case Part::Kind::Control:
    return "all that synchronises";
  case Part::Kind::Bandwidth:
    break;
  }
  return "bytes of all transfers";
}

Table partsTable(const Kernel &kernel, const std::vector<Part> &parts, Tick before) {
  Table table({{"kind"}, {"total_ps", "total", 14}, {"saves", "saves", 7}, {"part", "", 0, "  "}});
  for (const Part &part : parts) {
    table.add({Cell::hidden(toString(part.kind)), totalCell(part.total),
               savedCell(before, part.total), nameOf(kernel, part)});
  }
  return table;
}

/// What is as in any run, and what was found.
void addAdvice(Result &output, const Kernel &kernel, const Advice &advice, const BoundRun &bound,
               const AdviseCommand &command) {
  output.addMembers(valuesJson(bound));
  output.addMembers({{"total_ps", advice.total},
                     {"tried", advice.numTried},
                     {"not_tried", advice.numLeft},
                     {"interrupted", advice.isStopped}});
  output.text += fmt::format("{}total {}\n", valuesText(bound) + command.time.changesText(),
                             timeText(advice.total));
  auto put = [&](std::string_view key, std::string_view title, const Table &table, bool isShown) {
    if (isShown && table.size() != 0) {
      output.addTable(key, title, table, command.top);
    } else {
      output.addMembers({{std::string(key), table.json()}});
    }
  };
  put("changes", "\nwhat helps, each by itself\n",
      changesTable(kernel, advice.single, advice.total), true);
  put("together", "\ntogether, one on top of the other\n",
      changesTable(kernel, advice.steps, advice.total), advice.steps.size() > 1);
  put("parts", "\nwhat binds: the total if this took no time\n",
      partsTable(kernel, advice.parts, advice.total), true);
  output.text += fmt::format("\n{} tried{}\n", counted(advice.numTried, "change"),
                             advice.single.empty() ? ", and none helps" : "");
  if (advice.numLeft != 0) {
    output.text += fmt::format("{} not tried in full, though promising: a larger --effort tries "
                               "more\n",
                               counted(advice.numLeft, "change"));
  }
}

int AdviseCommand::run() {
  Session session(time.subject.common, time.settings);
  std::vector<LoadedKernel> kernels = session.load();
  if (kernels.size() != 1) {
    fail(fmt::format("advice is for one kernel, but there are {}; name one with '--kernel'",
                     kernels.size()));
  }
  LoadedKernel &one = kernels[0];
  const BoundRun bound = session.bind(one.kernel, time.subject.values);
  if (!session.tilesStay(one.kernel, bound.bindings)) {
    end(Exit::No);
  }
  std::vector<std::string> trips = bound.given;
  trips.insert(trips.end(), bound.chosen.begin(), bound.chosen.end());
  AdviseOptions options;
  options.request = time.subject.common.request();
  options.effort = effort;
  options.progress = [](const std::string &doing) { nowDoing(doing); };
  options.stop = stopOnSignals();
  options.bindings = [&](const Kernel &kernel) {
    Diagnostics ignored; // they were all right for the kernel as it is
    return Bindings::parse(kernel, trips, bound.guards, ignored);
  };
  Diagnostics diagnostics;
  std::optional<Advice> advice = advise(one.kernel, session.machine(), options, diagnostics);
  session.report(one.kernel, diagnostics);
  if (!advice) {
    end();
  }
  Result result(format, "tally-advise", 1);
  result.repeatWith(session, &bound);
  result.addMembers({{"kernel", one.kernel.text(one.kernel.name)},
                     {"strategy", time.subject.common.strategy},
                     {"machine", session.machine().name}});
  result.text += fmt::format("kernel '{}', strategy '{}', {}\n", one.kernel.text(one.kernel.name),
                             time.subject.common.strategy, machineText(session));
  if (one.code) {
    tellNote("the file has code written by hand; advice is about code that is compiled");
  }
  if (!one.kernel.deps.empty()) {
    tellNote("the dependences of this kernel are written, and would not be right for other engines "
             "or more slots; without them, they are found, and these changes are tried, too");
  }
  addAdvice(result, one.kernel, *advice, bound, *this);
  if (!output.empty()) {
    LoadedKernel changed = one;
    changed.kernel = std::move(advice->changed);
    if (!writeOutput(output, moduleText({changed}))) {
      end();
    }
  }
  tellInterrupt();
  return result.print(advice->isStopped ? Exit::Undecided : Exit::Yes);
}

void AdviseCommand::declareOn(CLI::App &command) {
  time.subject.common.addInput(command);
  time.subject.common.hasOwnEffort = true;
  time.subject.common.addStrategy(command, plannedStrategies());
  time.add(command);
  declare(command, {{"--output,-o", output,
                     "write the kernel with all that helps together to this file", onlyFile()},
                    {"--effort", effort, "try as many times as much as usual", integerIn(1, 1000)},
                    {"--top", top, "how many lines to show of each list", integerIn(0)},
                    formatOption(format)});
  refuseIf(command, {"--top"}, "with '--format=json', which lists all",
           [this] { return format == "json"; });
}

constexpr const char *examples = R"(Examples:
  tally advise k.mlir --machine=trn2             what binds it, and what would help
  tally advise k.mlir --trips=n=64 -o faster.mlir the kernel with all that helps
  tally advise k.mlir --effort=10                try more

What is told was tried: dependences are found again, code is made, raced and simulated. None of it
changes what the kernel computes.

Exit status: 0 done, 2 interrupted, or wrong input or use.)";

} // namespace

void addAdvise(CLI::App &app) {
  addCommand<AdviseCommand>(
      app, {"advise", "What binds a kernel, and what would make it faster", examples});
}

} // namespace tally::tool
