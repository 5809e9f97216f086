//===- AdviseCommand.cpp - tally advise -----------------------------------===//
//
// What would make this kernel faster?
//
//===----------------------------------------------------------------------===//

#include "Advice.h"
#include "Interrupt.h"
#include "Result.h"

#include "tally/Written/KernelJson.h"

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
  std::optional<Advice> advice = adviceOn(one, session, bound, time, effort);
  if (!advice) {
    end();
  }
  Result result(format, "tally-advise", 1);
  result.repeatWith(session, &bound);
  result.addMembers({{"kernel", one.kernel.text(one.kernel.name)},
                     {"strategy", time.subject.common.strategy},
                     {"machine", session.machine().name},
                     {"seed", time.seed}});
  result.text += fmt::format("kernel '{}', strategy '{}', {}\n", one.kernel.text(one.kernel.name),
                             time.subject.common.strategy, machineText(session));
  const ShownAdvice found = shown(one.kernel, *advice, top);
  result.addMembers(valuesJson(bound));
  result.addMembers(found.members);
  result.text += fmt::format("{}total {}\n{}", valuesText(bound) + time.changesText(),
                             timeText(advice->total), found.text);
  if (!output.empty()) {
    LoadedKernel changed = one;
    changed.kernel = std::move(advice->changed);
    changed.code.reset(); // it is that of the kernel as it was
    const std::string text = output.ends_with(".json")
                                 ? writeKernelJson(changed.kernel, {.locations = true})
                                 : moduleText({changed});
    if (!writeOutput(output, text)) {
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
  declare(
      command,
      {{"--output,-o", output,
        "write the kernel with all that helps together to this file, as JSON if it ends with .json",
        onlyFile()},
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
