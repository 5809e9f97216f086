//===- CheckReplay.cpp - Schedules as files -------------------------------===//
//
// Writes a schedule with all that is needed to repeat it (--witness), and performs one (--replay).
//
//===----------------------------------------------------------------------===//

#include "CheckAnswer.h"
#include "Interrupt.h"

#include "tally/Check/Causes.h"
#include "tally/Check/Schedule.h"
#include "tally/Model/Source.h"
#include "tally/Support/ReadFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tally::tool {
namespace {

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The options that say how code is compiled, as far as a schedule has them.
struct TextFlag {
  std::string_view name;
  std::string CommonOptions::*value;
  std::vector<std::string> allowed; ///< besides the default, which is not written down
};

std::vector<TextFlag> textFlags() {
  return {{"--barrier-participants", &CommonOptions::participants, {"all"}},
          {"--overflow", &CommonOptions::overflow, overflowNames()}};
}

constexpr std::pair<std::string_view, bool CommonOptions::*> flags[] = {
    {"--no-fold", &CommonOptions::noFold},
    {"--no-licm", &CommonOptions::noLicm},
    {"--no-cse", &CommonOptions::noCse}};

std::vector<std::string> compileFlags(const CommonOptions &common) {
  std::vector<std::string> given;
  for (const auto &[name, value, allowed] : textFlags()) {
    if (common.*value != CommonOptions().*value) {
      given.push_back(fmt::format("{}={}", name, common.*value));
    }
  }
  for (auto [name, value] : flags) {
    if (common.*value) {
      given.emplace_back(name);
    }
  }
  return given;
}

/// All that compileFlags() writes, quoted.
std::vector<std::string> knownFlags() {
  std::vector<std::string> known;
  for (const auto &[name, value, allowed] : textFlags()) {
    for (const std::string &text : allowed) {
      known.push_back(fmt::format("'{}={}'", name, text));
    }
  }
  for (auto [name, value] : flags) {
    known.push_back(fmt::format("'{}'", name));
  }
  return known;
}

/// Sets what compileFlags() wrote down; false for a flag that it never writes.
bool setCompileFlag(CommonOptions &common, const std::string &flag) {
  for (const auto &[name, value, allowed] : textFlags()) {
    for (const std::string &text : allowed) {
      if (flag == fmt::format("{}={}", name, text)) {
        common.*value = text;
        return true;
      }
    }
  }
  auto known = std::ranges::find(flags, flag, [](const auto &each) { return each.first; });
  if (known != std::end(flags)) {
    common.*known->second = true;
  }
  return known != std::end(flags);
}

} // namespace

void writeWitness(const CheckOptions &options, const Session &session, const Subject &subject,
                  const Fault &fault, uint32_t number) {
  ScheduleFile file;
  file.kernelFile = options.common.input;
  file.kernelName = subject.kernel.text(subject.kernel.name);
  file.codeFile = options.code;
  file.strategy = subject.isWritten ? std::string_view() : toString(subject.code.strategy);
  file.options = compileFlags(options.common);
  file.machine = session.hasMachineOfCode() ? "" : options.common.machine;
  file.trips = fault.trips;
  file.guards = fault.guards;
  file.inFlight = fault.inFlight;
  file.shows = fault.message;
  file.steps = nameSteps(subject.kernel, fault.steps);
  std::string path = numberedPath(options.witness, number);
  std::string text = writeScheduleFile(file);
  if (text.size() > scheduleInput.maxBytes) {
    complain(fmt::format("the schedule for '{}' has {} steps, more than --replay reads: at most {} "
                         "MiB; {}",
                         path, file.steps.size(), scheduleInput.maxBytes >> 20,
                         scheduleInput.wayOut),
             path);
  } else if (writeOutput(path, text)) {
    tellNote(fmt::format("the schedule '{}' shows: {}", path, fault.message));
  }
}

//===----------------------------------------------------------------------===//
// Performing
//===----------------------------------------------------------------------===//

namespace {

class Replay {
public:
  Replay(const Subject &subject, const Machine &machine, const ScheduleFile &file,
         const CheckOptions &given)
      : subject(subject), kernel(subject.kernel), machine(machine), file(file), given(given) {}

  Exit run() {
    Diagnostics diagnostics;
    Bindings bindings = Bindings::parse(kernel, file.trips, file.guards, diagnostics);
    std::vector<Step> steps = resolveSteps(kernel, file.steps, diagnostics);
    if (diagnostics.hasErrors()) {
      tool::tell(diagnostics, {given.replay});
      end();
    }
    RaceOptions options;
    options.inFlight = file.inFlight;
    size_t performed = 0;
    RaceResult result =
        checkSchedule(kernel, subject.code, machine, bindings, steps, options, performed);
    foldReports(bindings, options, result);
    compare(bindings, steps);
    return tell(result, performed);
  }

private:
  /// One schedule does not tell which reports have one cause; a check of the same trips does.
  void foldReports(const Bindings &bindings, const RaceOptions &options, RaceResult &result) {
    if (result.reports.size() < 2) {
      return;
    }
    std::vector<RaceResult> all = {checkRaces(kernel, subject.code, machine, bindings, options)};
    CauseOptions causes;
    causes.race = options;
    causes.mends = subject.isWritten;
    findCauses(kernel, subject.code, machine, std::span(&bindings, 1), all, causes);
    takeCauses(kernel, all.front(), result);
  }

  /// What differs from the dependences along the way, but for waits that may be longer.
  void compare(const Bindings &bindings, const std::vector<Step> &steps) {
    ExploreOptions options;
    options.inFlight = file.inFlight;
    options.mayOverwait = subject.mayOverwait;
    Lockstep lockstep(subject.heldTo(), subject.code, machine, bindings, options);
    ReplayResult replayed = replay(lockstep, steps);
    for (const Mismatch &mismatch : replayed.mismatches) {
      bool isAllowed = mismatch.kind == MismatchKind::Late && mismatch.instance.instr.valid() &&
                       subject.mayOverwait[mismatch.instance.instr];
      if (!isAllowed && !subject.isLoose(mismatch.dep)) {
        differences.push_back(describe(lockstep.specOf(), lockstep.implOf(), mismatch));
      }
    }
    for (EngineId engine : kernel.engines.ids()) {
      places += placeOf(lockstep.implOf(), replayed.last.impl, engine);
    }
  }

  /// Where an engine stands, and what it has in flight.
  std::string placeOf(const ImplSystem &system, const ImplState &state, EngineId engine) const {
    Blocked blocked = system.whyBlocked(state, engine);
    std::string place = fmt::format("  {}: ", kernel.nameOf(engine));
    if (blocked.kind == Blocked::Kind::Finished) {
      place += "at the end";
    } else {
      bool issues = blocked.op->kind == OpKind::Issue;
      place += issues ? fmt::format("at {}", nameWithSource(kernel, blocked.op->instr()))
                      : std::string("between instructions");
    }
    if (blocked.kind == Blocked::Kind::Wait) {
      place += fmt::format(", waits for '{}' >= {}, which holds {}",
                           subject.code.semaphores[blocked.semaphore].name, blocked.threshold,
                           blocked.value);
    }
    for (QueueId queue : kernel.engines[engine].queues) {
      const QueueState &q = state.queues[queue];
      for (uint32_t n = q.retired; n < q.issued; ++n) {
        place += n == q.retired ? "; in flight " : ", ";
        place += nameWithSource(kernel, system.instanceAt(queue, n).instr);
      }
    }
    return place + "\n";
  }

  Exit tell(const RaceResult &found, size_t performed) const {
    Verdict verdict =
        found.verdict == Verdict::No || !differences.empty() ? Verdict::No : Verdict::Undecided;
    RaceResult told = found;
    std::erase_if(told.reports,
                  [&](const RaceReport &report) { return report.isFolded && !given.all; });
    Result result(given.format, "tally-replay", 2);
    result.text = fmt::format("{} of {} performed, after which\n{}", performed,
                              counted(file.steps.size(), "step"), places);
    if (performed < file.steps.size()) {
      result.text += fmt::format("step {} cannot happen there\n", performed + 1);
    }
    for (const std::string &difference : differences) {
      result.text += difference + "\n";
    }
    result.text += render(told, kernel.files);
    result.text +=
        differences.empty() && found.reports.empty() ? "nothing wrong is to be seen\n" : "";
    result.text += fmt::format("verdict: {}\n", toString(verdict));
    result.set({{"kernel", kernel.text(kernel.name)},
                {"verdict", toString(verdict)},
                {"performed", performed},
                {"differences", differences},
                {"race", Json::parse(toJson(found, kernel.files))}});
    return result.print(Exit(exitStatus(verdict)));
  }

  const Subject &subject;
  const Kernel &kernel;
  const Machine &machine;
  const ScheduleFile &file;
  const CheckOptions &given;
  std::vector<std::string> differences;
  std::string places;
};

ScheduleFile loadSchedule(const std::string &path) {
  EndsOnSignals untilRead;
  FileText file = readFile(path, scheduleInput);
  if (!file.problem.empty()) {
    complain(fmt::format("cannot read the schedule '{}': {}", path, file.problem), path);
    end();
  }
  Diagnostics diagnostics;
  std::optional<ScheduleFile> schedule = readScheduleFile(file.text, diagnostics);
  tell(diagnostics, {path});
  return orEnd(std::move(schedule));
}

/// The command that the schedule was written by, but for files that are named now.
CheckOptions optionsOf(const CheckOptions &given, const ScheduleFile &file) {
  CheckOptions options = given;
  if (given.common.input.empty()) {
    options.common.input = file.kernelFile;
    options.code = file.codeFile;
  }
  // The schedule says the machine, or the code does.
  options.common.machine = file.machine.empty() ? given.common.machine : file.machine;
  options.common.machineGiven = !file.machine.empty();
  options.common.strategyGiven = !file.strategy.empty();
  options.common.strategy = file.strategy.empty() ? given.common.strategy : file.strategy;
  for (const std::string &flag : file.options) {
    if (!setCompileFlag(options.common, flag)) {
      Diagnostics diagnostics;
      diagnostics.error(file.optionsAt, fmt::format("the schedule has the unknown option '{}'; the "
                                                    "options of a schedule are {}",
                                                    flag, fmt::join(knownFlags(), ", ")));
      tell(diagnostics, {given.replay});
      end();
    }
  }
  return options;
}

} // namespace

Exit replaySchedule(const CheckOptions &given) {
  ScheduleFile file = loadSchedule(given.replay);
  CheckOptions options = optionsOf(given, file);
  Session session(options.common);
  std::vector<Subject> subjects = orEnd(makeSubjects(session.load(), options, session));
  auto subject = std::ranges::find_if(subjects, [&](const Subject &each) {
    return each.kernel.text(each.kernel.name) == file.kernelName;
  });
  if (subject == subjects.end()) {
    complain(fmt::format("'{}' holds no kernel '{}'", options.common.input, file.kernelName),
             options.common.input);
    end();
  }
  return Replay(*subject, session.machine(), file, given).run();
}

} // namespace tally::tool
